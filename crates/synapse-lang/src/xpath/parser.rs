//! Parses XPath 1.0 by descent.

use super::ast::{Axis, Expr, ExprKind, Name, Operator, Step, Test, XPath};
use super::lexer::{Token, TokenKind, lex};
use crate::text::Span;

/// How many parentheses, predicates and calls may stand inside each other.
pub const MAX_NESTING: usize = 48;

/// How many operators may stand in one chain.
const MAX_CHAIN: usize = 400;

/// Why a text is no XPath.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct XPathError {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

/// Parses an XPath.
///
/// # Errors
/// The first place that is no XPath 1.0.
pub fn parse(text: &str) -> Result<XPath, XPathError> {
    let tokens = lex(text)?;
    let mut parser = Parser { text, tokens: &tokens, at: 0, nesting: 0 };
    let root = parser.expression()?;
    match parser.peek() {
        None => Ok(XPath { source: text.to_owned(), root }),
        Some(_) => parser.fail("the XPath is complete before"),
    }
}

type Parsed<T> = Result<T, XPathError>;

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    nesting: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<TokenKind> {
        self.kind(0)
    }

    fn kind(&self, ahead: usize) -> Option<TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
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

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    fn fail<T>(&self, what: &str) -> Parsed<T> {
        let span = self.here();
        let message = match span.of(self.text) {
            "" => format!("{what} the end"),
            found => format!("{what} `{found}`"),
        };
        Err(XPathError { span, message })
    }

    fn expect(&mut self, kind: TokenKind, sign: &str) -> Parsed<()> {
        if self.eat(kind) { Ok(()) } else { self.fail(&format!("`{sign}` is expected instead of")) }
    }

    fn span_from(&self, from: usize) -> Span {
        let start = self.tokens.get(from).map_or_else(|| self.here().start, |token| token.span.start);
        let end = self
            .at
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or(start, |token| token.span.end);
        Span::new(start, end)
    }

    fn expr(&self, from: usize, kind: ExprKind) -> Expr {
        Expr { span: self.span_from(from), kind }
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            return Err(XPathError {
                span: self.here(),
                message: "the XPath is nested too deeply".to_owned(),
            });
        }
        self.nesting += 1;
        let outcome = parse(self);
        self.nesting -= 1;
        outcome
    }

    fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.chain(0))
    }

    /// Operators by rank, loosest first; all group to the left.
    fn chain(&mut self, rank: usize) -> Parsed<Expr> {
        use TokenKind as T;
        const RANKS: [&[(T, Operator)]; 6] = [
            &[(T::Or, Operator::Or)],
            &[(T::And, Operator::And)],
            &[(T::Equal, Operator::Equal), (T::NotEqual, Operator::NotEqual)],
            &[
                (T::Less, Operator::Less),
                (T::LessEqual, Operator::LessEqual),
                (T::Greater, Operator::Greater),
                (T::GreaterEqual, Operator::GreaterEqual),
            ],
            &[(T::Plus, Operator::Add), (T::Minus, Operator::Subtract)],
            &[(T::Times, Operator::Multiply), (T::Div, Operator::Divide), (T::Mod, Operator::Modulo)],
        ];
        let Some(operators) = RANKS.get(rank) else { return self.unary() };
        let from = self.at;
        let mut left = self.chain(rank + 1)?;
        let mut length = 0;
        while let Some((_, operator)) = operators.iter().find(|(kind, _)| self.peek() == Some(*kind)) {
            self.advance();
            length += 1;
            if length > MAX_CHAIN {
                return self.fail("the chain of operators is too long before");
            }
            let right = self.chain(rank + 1)?;
            left = self.expr(from, ExprKind::Binary(*operator, Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let from = self.at;
        if self.eat(TokenKind::Minus) {
            let inner = self.nested(Self::unary)?;
            return Ok(self.expr(from, ExprKind::Negate(Box::new(inner))));
        }
        let mut left = self.path()?;
        let mut length = 0;
        while self.eat(TokenKind::Pipe) {
            length += 1;
            if length > MAX_CHAIN {
                return self.fail("the union is too long before");
            }
            let right = self.path()?;
            left = self.expr(from, ExprKind::Binary(Operator::Union, Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn path(&mut self) -> Parsed<Expr> {
        use TokenKind as T;
        let from = self.at;
        match self.peek() {
            Some(T::Slash) => {
                self.advance();
                let steps = if self.starts_step() { self.steps(Vec::new())? } else { Vec::new() };
                Ok(self.expr(from, ExprKind::Path { absolute: true, steps }))
            }
            Some(T::SlashSlash) => {
                let any = self.any_depth();
                let steps = self.steps(vec![any])?;
                Ok(self.expr(from, ExprKind::Path { absolute: true, steps }))
            }
            Some(T::Literal | T::Number | T::Dollar | T::OpenParen) => self.filter(),
            Some(T::Name) if self.is_call() => self.filter(),
            _ if self.starts_step() => {
                let steps = self.steps(Vec::new())?;
                Ok(self.expr(from, ExprKind::Path { absolute: false, steps }))
            }
            _ => self.fail("a value is expected instead of"),
        }
    }

    /// `name(` or `prefix:name(`, but no node test.
    fn is_call(&self) -> bool {
        use TokenKind as T;
        let plain = self.kind(1) == Some(T::OpenParen) && !is_node_type(self.here().of(self.text));
        plain
            || (self.kind(1) == Some(T::Colon)
                && self.kind(2) == Some(T::Name)
                && self.kind(3) == Some(T::OpenParen))
    }

    fn starts_step(&self) -> bool {
        use TokenKind as T;
        matches!(self.peek(), Some(T::Name | T::Star | T::At | T::Dot | T::DotDot))
    }

    /// `//` as the step that it abbreviates.
    fn any_depth(&mut self) -> Step {
        let span = self.advance();
        Step { span, axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
    }

    fn steps(&mut self, mut steps: Vec<Step>) -> Parsed<Vec<Step>> {
        loop {
            steps.push(self.step()?);
            match self.peek() {
                Some(TokenKind::Slash) => {
                    self.advance();
                }
                Some(TokenKind::SlashSlash) => {
                    let any = self.any_depth();
                    steps.push(any);
                }
                _ => return Ok(steps),
            }
        }
    }

    fn step(&mut self) -> Parsed<Step> {
        use TokenKind as T;
        let from = self.at;
        let whole = |parser: &Self, axis| Step {
            span: parser.span_from(from),
            axis,
            test: Test::Node,
            predicates: Vec::new(),
        };
        if self.eat(T::Dot) {
            return Ok(whole(self, Axis::Itself));
        }
        if self.eat(T::DotDot) {
            return Ok(whole(self, Axis::Parent));
        }
        let axis = if self.eat(T::At) {
            Axis::Attribute
        } else if self.peek() == Some(T::Name) && self.kind(1) == Some(T::ColonColon) {
            let Some(axis) = Axis::from_name(self.here().of(self.text)) else {
                return self.fail("there is no axis");
            };
            self.at += 2;
            axis
        } else {
            Axis::Child
        };
        let test = self.test()?;
        let predicates = self.predicates()?;
        Ok(Step { span: self.span_from(from), axis, test, predicates })
    }

    fn test(&mut self) -> Parsed<Test> {
        use TokenKind as T;
        match (self.peek(), self.kind(1), self.kind(2)) {
            (Some(T::Star), ..) => {
                self.advance();
                Ok(Test::Any(None))
            }
            (Some(T::Name), Some(T::Colon), Some(T::Star)) => {
                let prefix = self.advance().of(self.text).to_owned();
                self.at += 2;
                Ok(Test::Any(Some(prefix)))
            }
            (Some(T::Name), Some(T::OpenParen), _) => self.node_type(),
            (Some(T::Name), ..) => self.name().map(Test::Name),
            _ => self.fail("a name is expected instead of"),
        }
    }

    fn node_type(&mut self) -> Parsed<Test> {
        let word = self.here().of(self.text);
        let test = match word {
            "node" => Test::Node,
            "text" => Test::Text,
            "comment" => Test::Comment,
            "processing-instruction" => Test::Instruction(None),
            _ => return self.fail("there is no node test"),
        };
        self.at += 2;
        let test = match (test, self.peek()) {
            (Test::Instruction(_), Some(TokenKind::Literal)) => {
                let name = unquoted(self.advance().of(self.text));
                Test::Instruction(Some(name))
            }
            (test, _) => test,
        };
        self.expect(TokenKind::CloseParen, ")")?;
        Ok(test)
    }

    fn name(&mut self) -> Parsed<Name> {
        let from = self.at;
        if self.peek() != Some(TokenKind::Name) {
            return self.fail("a name is expected instead of");
        }
        let first = self.advance().of(self.text).to_owned();
        if self.peek() == Some(TokenKind::Colon) {
            self.advance();
            // Words that join operands elsewhere are ordinary names behind a colon.
            if !matches!(
                self.peek(),
                Some(TokenKind::Name | TokenKind::And | TokenKind::Or | TokenKind::Mod | TokenKind::Div)
            ) {
                return self.fail("a name is expected instead of");
            }
            let local = self.advance().of(self.text).to_owned();
            return Ok(Name { span: self.span_from(from), prefix: Some(first), local });
        }
        Ok(Name { span: self.span_from(from), prefix: None, local: first })
    }

    fn predicates(&mut self) -> Parsed<Vec<Expr>> {
        let mut predicates = Vec::new();
        while self.eat(TokenKind::OpenBracket) {
            predicates.push(self.expression()?);
            self.expect(TokenKind::CloseBracket, "]")?;
        }
        Ok(predicates)
    }

    fn filter(&mut self) -> Parsed<Expr> {
        use TokenKind as T;
        let from = self.at;
        let scalar = matches!(self.peek(), Some(T::Literal | T::Number));
        let primary = self.primary()?;
        let predicates = self.predicates()?;
        let steps = match self.peek() {
            Some(T::Slash | T::SlashSlash) if scalar => {
                return self.fail("a text or number has no children, so there is nothing for");
            }
            Some(T::Slash) => {
                self.advance();
                self.steps(Vec::new())?
            }
            Some(T::SlashSlash) => {
                let any = self.any_depth();
                self.steps(vec![any])?
            }
            _ => Vec::new(),
        };
        if predicates.is_empty() && steps.is_empty() {
            return Ok(primary);
        }
        Ok(self.expr(from, ExprKind::Filter { primary: Box::new(primary), predicates, steps }))
    }

    fn primary(&mut self) -> Parsed<Expr> {
        use TokenKind as T;
        let from = self.at;
        let kind = match self.peek() {
            Some(T::Literal) => ExprKind::Literal(unquoted(self.advance().of(self.text))),
            Some(T::Number) => ExprKind::Number(self.advance().of(self.text).parse().unwrap_or(f64::NAN)),
            Some(T::Dollar) => {
                self.advance();
                ExprKind::Variable(self.name()?)
            }
            Some(T::OpenParen) => {
                self.advance();
                let inner = self.expression()?;
                self.expect(T::CloseParen, ")")?;
                return Ok(inner);
            }
            _ => {
                let name = self.name()?;
                self.expect(T::OpenParen, "(")?;
                let mut arguments = Vec::new();
                if !self.eat(T::CloseParen) {
                    loop {
                        arguments.push(self.expression()?);
                        if !self.eat(T::Comma) {
                            break;
                        }
                    }
                    self.expect(T::CloseParen, ")")?;
                }
                ExprKind::Call(name, arguments)
            }
        };
        Ok(self.expr(from, kind))
    }
}

fn is_node_type(word: &str) -> bool {
    matches!(word, "node" | "text" | "comment" | "processing-instruction")
}

fn unquoted(literal: &str) -> String {
    literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default().to_owned()
}
