//! Parses expressions: accepts exactly what the runtime's grammar accepts, and says what is wrong with the rest.
//!
//! The grammar is parsed by descent with one token of look-ahead; only the inside of brackets has alternatives that
//! need a second try, and those are remembered by place, so that the work stays linear in the length of the text.
//! Nesting is bounded ([`MAX_NESTING`], [`MAX_DEPTH`]): beyond it there is an error instead of a stack overflow.

use super::ast::{
    Access, Call, Expression, Index, Lookup, Name, NameForm, Node, NodeKind, Operator, Place, Suffix,
    Variable,
};
use super::hint::{self, Hint, Trap};
use super::lexer::{Token, TokenKind, lex};
use crate::text::Span;
use std::collections::HashMap;

mod path;

/// How many parentheses, brackets and calls may stand inside each other.
pub const MAX_NESTING: usize = 64;

/// How deep a tree may be, long chains of operators included.
pub const MAX_DEPTH: u16 = 512;

/// How long a text may be, in bytes.
pub const MAX_LENGTH: usize = 1 << 20;

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct SyntaxError {
    /// Where.
    pub span: Span,
    /// What is wrong there.
    pub problem: Problem,
    /// How to write it instead, when that is evident.
    pub hint: Option<Hint>,
}

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Something else was expected.
    Unexpected {
        /// What stands there; empty at the end of the text.
        found: String,
        /// What could have stood there.
        expected: &'static str,
    },
    /// The expression ends here, but the text goes on.
    Leftover {
        /// What stands there.
        found: String,
    },
    /// The text is empty, or nothing of it is left after dropping.
    Empty,
    /// More nesting or longer chains than the parser takes.
    TooDeep,
    /// More text than the parser takes.
    TooLong,
}

impl SyntaxError {
    /// The problem and the hint in one or two sentences.
    #[must_use]
    pub fn message(&self) -> String {
        let problem = match &self.problem {
            Problem::Unexpected { found, expected } if found.is_empty() => {
                format!("the expression ends where {expected} is expected")
            }
            Problem::Unexpected { found, expected } => {
                format!("`{found}` stands where {expected} is expected")
            }
            Problem::Leftover { found } => format!("the expression is complete before `{found}`"),
            Problem::Empty => "the expression is empty".to_owned(),
            Problem::TooDeep => "the expression is nested too deeply; split it into variables".to_owned(),
            Problem::TooLong => "the expression is too long".to_owned(),
        };
        match &self.hint {
            Some(hint) => format!("{problem}: {}", hint.message),
            None => problem,
        }
    }
}

/// Parses an expression, the text between `${` and `}`.
///
/// # Errors
/// The first thing that the runtime's grammar does not accept, with its place and, for the well-known traps, the way out.
pub fn parse(text: &str) -> Result<Expression, SyntaxError> {
    if text.len() > MAX_LENGTH {
        return Err(SyntaxError { span: Span::at(0), problem: Problem::TooLong, hint: None });
    }
    let lexed = lex(text);
    let mut parser = Parser { text, tokens: &lexed.tokens, at: 0, nesting: 0, indices: HashMap::new() };
    let outcome = parser.whole();
    match outcome {
        Ok(root) => Ok(Expression { source: text.to_owned(), root, dropped: lexed.dropped }),
        Err(mut error) => {
            if error.hint.is_none() {
                error.hint = hint::explain(text, &lexed, &error);
            }
            Err(error)
        }
    }
}

type Parsed<T> = Result<T, SyntaxError>;

const OPERAND: &str =
    "a value (a literal, `payload`, `vars.x`, `headers.x`, a function call or a parenthesis)";

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    nesting: usize,
    /// What stands in the brackets that open before a token, once it is known.
    indices: HashMap<usize, Parsed<(Index, usize)>>,
}

impl Parser<'_> {
    fn whole(&mut self) -> Parsed<Node> {
        if self.tokens.is_empty() {
            return Err(SyntaxError { span: self.here(), problem: Problem::Empty, hint: None });
        }
        let root = self.expression()?;
        match self.tokens.get(self.at) {
            None => Ok(root),
            Some(token) => {
                let found = token.span.of(self.text).to_owned();
                Err(SyntaxError { span: token.span, problem: Problem::Leftover { found }, hint: None })
            }
        }
    }

    fn peek(&self) -> Option<TokenKind> {
        self.kind(0)
    }

    fn kind(&self, ahead: usize) -> Option<TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    fn is(&self, kinds: &[TokenKind]) -> bool {
        kinds.iter().enumerate().all(|(ahead, kind)| self.kind(ahead) == Some(*kind))
    }

    fn here(&self) -> Span {
        let end = Span::at(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        self.tokens.get(self.at).map_or(end, |token| token.span)
    }

    fn advance(&mut self) -> Span {
        let span = self.here();
        self.at += 1;
        span
    }

    fn eat(&mut self, kind: TokenKind) -> Option<Span> {
        (self.peek() == Some(kind)).then(|| self.advance())
    }

    fn unexpected<T>(&self, expected: &'static str) -> Parsed<T> {
        let span = self.here();
        let found = span.of(self.text).to_owned();
        Err(SyntaxError { span, problem: Problem::Unexpected { found, expected }, hint: None })
    }

    fn expect(&mut self, kind: TokenKind, expected: &'static str) -> Parsed<Span> {
        match self.eat(kind) {
            Some(span) => Ok(span),
            None => self.unexpected(expected),
        }
    }

    /// The texts of the tokens between two places, joined without what stood between them.
    fn joined(&self, from: usize, to: usize) -> String {
        self.tokens.iter().take(to).skip(from).map(|token| token.span.of(self.text)).collect()
    }

    /// From the start of a token to the end of the last one that was read.
    fn span_from(&self, from: usize) -> Span {
        let start = self.tokens.get(from).map_or_else(|| self.here().start, |token| token.span.start);
        let end = self
            .at
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or(start, |token| token.span.end);
        Span::new(start, end)
    }

    fn node(&self, from: usize, kind: NodeKind) -> Parsed<Node> {
        let span = self.span_from(from);
        let mut node = Node { span, kind, depth: 0 };
        let below = node.children().iter().map(|child| child.depth).max().unwrap_or(0);
        if below >= MAX_DEPTH {
            return Err(SyntaxError { span, problem: Problem::TooDeep, hint: None });
        }
        node.depth = below + 1;
        Ok(node)
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            return Err(SyntaxError { span: self.here(), problem: Problem::TooDeep, hint: None });
        }
        self.nesting += 1;
        let outcome = parse(self);
        self.nesting -= 1;
        outcome
    }

    fn expression(&mut self) -> Parsed<Node> {
        self.nested(|parser| {
            let from = parser.at;
            let condition = parser.comparison()?;
            if parser.eat(TokenKind::Question).is_none() {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(TokenKind::Colon, "`:` and the value for the other case")?;
            let otherwise = parser.expression()?;
            let kind = NodeKind::Conditional {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            parser.node(from, kind)
        })
    }

    fn comparison(&mut self) -> Parsed<Node> {
        self.chain(Self::logical, |kind| match kind {
            TokenKind::Greater => Some(Operator::Greater),
            TokenKind::Less => Some(Operator::Less),
            TokenKind::GreaterEqual => Some(Operator::GreaterEqual),
            TokenKind::LessEqual => Some(Operator::LessEqual),
            TokenKind::Equal => Some(Operator::Equal),
            TokenKind::NotEqual => Some(Operator::NotEqual),
            _ => None,
        })
    }

    /// `and` and `or` have the same rank and group to the right.
    fn logical(&mut self) -> Parsed<Node> {
        let mut operands = vec![(self.at, self.additive()?)];
        let mut operators = Vec::new();
        loop {
            let operator = match self.peek() {
                Some(TokenKind::And) => Operator::And,
                Some(TokenKind::Or) => Operator::Or,
                _ => break,
            };
            operators.push((operator, self.advance()));
            operands.push((self.at, self.additive()?));
        }
        let Some((_, mut right)) = operands.pop() else { return self.unexpected(OPERAND) };
        while let (Some((from, left)), Some((operator, at))) = (operands.pop(), operators.pop()) {
            let kind = NodeKind::Binary { operator, at, left: Box::new(left), right: Box::new(right) };
            right = self.node(from, kind)?;
        }
        Ok(right)
    }

    fn additive(&mut self) -> Parsed<Node> {
        self.chain(Self::term, |kind| match kind {
            TokenKind::Plus => Some(Operator::Add),
            TokenKind::Minus => Some(Operator::Subtract),
            _ => None,
        })
    }

    fn term(&mut self) -> Parsed<Node> {
        self.chain(Self::factor, |kind| match kind {
            TokenKind::Asterisk => Some(Operator::Multiply),
            TokenKind::Slash => Some(Operator::Divide),
            TokenKind::Percent => Some(Operator::Modulo),
            _ => None,
        })
    }

    /// Operands joined by operators of one rank, grouped to the left.
    fn chain(
        &mut self,
        operand: fn(&mut Self) -> Parsed<Node>,
        operator: fn(TokenKind) -> Option<Operator>,
    ) -> Parsed<Node> {
        let from = self.at;
        let mut left = operand(self)?;
        while let Some(operator) = self.peek().and_then(operator) {
            let at = self.advance();
            let right = operand(self)?;
            let kind = NodeKind::Binary { operator, at, left: Box::new(left), right: Box::new(right) };
            left = self.node(from, kind)?;
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Node> {
        let from = self.at;
        let text = self.here().of(self.text).to_owned();
        let kind = match self.peek() {
            Some(TokenKind::Null) => self.literal(NodeKind::Null),
            Some(TokenKind::Boolean) => self.literal(NodeKind::Boolean(text == "true")),
            Some(TokenKind::Number) => self.literal(NodeKind::Number(text)),
            Some(TokenKind::Text) => self.literal(NodeKind::Text(text)),
            Some(TokenKind::OpenBracket) => {
                self.advance();
                NodeKind::Array(self.list(TokenKind::CloseBracket, "`,` or `]`")?)
            }
            Some(TokenKind::OpenParen) => {
                self.advance();
                let inner = self.expression()?;
                self.expect(TokenKind::CloseParen, "an operator or `)`")?;
                NodeKind::Group(Box::new(inner))
            }
            _ => match self.reference()? {
                Some(kind) => kind,
                None => return self.unexpected(OPERAND),
            },
        };
        self.node(from, kind)
    }

    fn literal(&mut self, kind: NodeKind) -> NodeKind {
        self.advance();
        kind
    }

    /// Expressions between commas, up to and with the closing token.
    fn list(&mut self, close: TokenKind, expected: &'static str) -> Parsed<Vec<Node>> {
        let mut items = Vec::new();
        if self.eat(close).is_some() {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if self.eat(TokenKind::Comma).is_none() {
                self.expect(close, expected)?;
                return Ok(items);
            }
        }
    }

    /// What may stand in an expression and in a filter alike: roots and calls.
    fn reference(&mut self) -> Parsed<Option<NodeKind>> {
        let kind = match self.peek() {
            Some(TokenKind::Payload) => self.payload()?,
            Some(TokenKind::Vars) => self.variable()?,
            Some(TokenKind::Function) => self.call()?,
            Some(TokenKind::Headers) => self.lookup(Place::Header)?,
            Some(TokenKind::Configs) => self.lookup(Place::Config)?,
            Some(TokenKind::Params) => {
                self.advance();
                self.expect(TokenKind::Dot, "`.queryParams`, `.pathParams` or `.functionParams`")?;
                let place = match self.here().of(self.text) {
                    "queryParams" => Place::QueryParam,
                    "pathParams" => Place::PathParam,
                    "functionParams" => Place::FunctionParam,
                    _ => return self.unexpected("`queryParams`, `pathParams` or `functionParams`"),
                };
                self.lookup(place)?
            }
            Some(TokenKind::Properties) => {
                self.advance();
                self.expect(TokenKind::Dot, "`.synapse` or `.axis2`")?;
                let place = match self.here().of(self.text) {
                    "synapse" => Place::Synapse,
                    "axis2" => Place::Axis2,
                    _ => return self.unexpected("`synapse` or `axis2`"),
                };
                self.lookup(place)?
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn payload(&mut self) -> Parsed<NodeKind> {
        let from = self.at;
        self.advance();
        let path = self.path()?;
        Ok(NodeKind::Payload(Access { text: self.joined(from, self.at), path }))
    }

    fn variable(&mut self) -> Parsed<NodeKind> {
        let from = self.at;
        self.advance();
        let name = if self.is(&[TokenKind::Dot, TokenKind::Text]) {
            self.advance();
            let span = self.advance();
            Name { value: span.of(self.text).to_owned(), span, form: NameForm::DotText }
        } else {
            self.name("the name of a variable: `.name` or `[\"name\"]`")?
        };
        let path = self.path()?;
        Ok(NodeKind::Variable(Variable { text: self.joined(from, self.at), name, path }))
    }

    fn lookup(&mut self, place: Place) -> Parsed<NodeKind> {
        self.advance();
        let name = self.name("a name: `.name` or `[\"name\"]`")?;
        Ok(NodeKind::Lookup(Lookup { place, name }))
    }

    fn name(&mut self, expected: &'static str) -> Parsed<Name> {
        let dotted = self.eat(TokenKind::Dot).is_some();
        if dotted && self.peek().is_some_and(follows_a_dot) {
            let span = self.advance();
            return Ok(Name { value: span.of(self.text).to_owned(), span, form: NameForm::Dot });
        }
        if self.eat(TokenKind::OpenBracket).is_none() {
            return self.unexpected(expected);
        }
        let span = self.expect(TokenKind::Text, "a name in quotes")?;
        self.expect(TokenKind::CloseBracket, "`]`")?;
        let written = span.of(self.text);
        let value = written.get(1..written.len().saturating_sub(1)).unwrap_or_default().to_owned();
        let form = if written.starts_with('"') { NameForm::DoubleQuoted } else { NameForm::SingleQuoted };
        Ok(Name { value, span, form })
    }

    fn call(&mut self) -> Parsed<NodeKind> {
        let name_span = self.advance();
        let name = name_span.of(self.text).to_owned();
        self.expect(TokenKind::OpenParen, "`(`")?;
        let arguments = self.list(TokenKind::CloseParen, "`,` or `)`")?;
        let from = self.at;
        let suffix = if self.is(&[TokenKind::Dot, TokenKind::SecondaryFunction, TokenKind::OpenParen]) {
            self.at += 3;
            let arguments = self.list(TokenKind::CloseParen, "`,` or `)`")?;
            let span = self.span_from(from);
            // The runtime parses these forms and then finds nothing to make of them.
            let known = (name == "registry" && !arguments.is_empty())
                || !matches!(&*name, "registry" | "object" | "array");
            if !known {
                let message = "`.property(name)` with a name belongs after `registry(path)`".to_owned();
                let problem = Problem::Leftover { found: span.of(self.text).to_owned() };
                return Err(SyntaxError { span, problem, hint: Some(Hint::say(Trap::Call, message)) });
            }
            Some(Suffix::Property { span, arguments })
        } else {
            self.path()?.map(Suffix::Path)
        };
        Ok(NodeKind::Call(Call { name, name_span, arguments, suffix }))
    }
}

/// Tokens that are field names after a dot.
const fn follows_a_dot(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::Identifier
            | T::Vars
            | T::Payload
            | T::Headers
            | T::Configs
            | T::Params
            | T::Properties
            | T::ParamKind
            | T::PropertyScope
            | T::Function
            | T::SecondaryFunction
    )
}

#[cfg(test)]
mod tests;
