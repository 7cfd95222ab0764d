//! Paths into JSON: steps, indices, slices and filters.

use super::{Parsed, Parser, follows_a_dot};
use crate::expr::ast::{Filter, FilterPart, Index, IndexKind, Path, SlicePart, Step, StepKind};
use crate::expr::lexer::TokenKind;
use crate::text::Span;

impl Parser<'_> {
    pub(super) fn path(&mut self) -> Parsed<Option<Path>> {
        let from = self.at;
        let mut steps = Vec::new();
        while let Some(kind) = self.step()? {
            let first = steps.last().map_or(from, |(_, next)| *next);
            let step = Step { span: self.span_from(first), kind };
            steps.push((step, self.at));
        }
        if steps.is_empty() {
            return Ok(None);
        }
        let steps = steps.into_iter().map(|(step, _)| step).collect();
        Ok(Some(Path { span: self.span_from(from), text: self.joined(from, self.at), steps }))
    }

    fn step(&mut self) -> Parsed<Option<StepKind>> {
        let taken = |parser: &mut Self, kind: fn(String) -> StepKind| {
            parser.advance();
            let name = parser.advance();
            kind(name.of(parser.text).to_owned())
        };
        let kind = match (self.peek(), self.kind(1)) {
            (Some(TokenKind::Dot), Some(TokenKind::Aggregate)) => taken(self, StepKind::Aggregate),
            (Some(TokenKind::Dot), Some(TokenKind::Asterisk)) => taken(self, |_| StepKind::All),
            (Some(TokenKind::Dot), Some(next)) if follows_a_dot(next) => taken(self, StepKind::Field),
            (Some(TokenKind::DoubleDot), Some(TokenKind::Asterisk)) => taken(self, |_| StepKind::DescendAll),
            (Some(TokenKind::DoubleDot), Some(TokenKind::Identifier)) => taken(self, StepKind::Descend),
            (Some(TokenKind::OpenBracket), _) => {
                self.advance();
                StepKind::Index(self.index()?)
            }
            (Some(TokenKind::Dot), Some(TokenKind::OpenBracket)) => {
                self.at += 2;
                StepKind::Index(self.index()?)
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    /// The inside of brackets, and the closing one. Filters may read the same brackets twice, so the outcome is kept.
    fn index(&mut self) -> Parsed<Index> {
        let from = self.at;
        let outcome = match self.indices.get(&from) {
            Some(known) => known.clone(),
            None => {
                let outcome = self.nested(Self::index_inside).map(|index| (index, self.at));
                self.indices.insert(from, outcome.clone());
                outcome
            }
        };
        let (index, next) = outcome?;
        self.at = next;
        Ok(index)
    }

    fn index_inside(&mut self) -> Parsed<Index> {
        let from = self.at;
        let kind = match self.index_kind() {
            Err(error) if self.tokens.get(from).map(|token| token.kind) == Some(TokenKind::OpenParen) => {
                self.at = from;
                match self.filter() {
                    Ok(kind) => kind,
                    Err(other) => {
                        return Err(if other.span.start > error.span.start { other } else { error });
                    }
                }
            }
            other => other?,
        };
        let span = self.span_from(from);
        let text = self.joined(from, self.at);
        self.expect(TokenKind::CloseBracket, "`]`")?;
        Ok(Index { span, text, kind })
    }

    fn index_kind(&mut self) -> Parsed<IndexKind> {
        if self.is(&[TokenKind::Number, TokenKind::CloseBracket]) {
            return Ok(IndexKind::Number(self.advance().of(self.text).to_owned()));
        }
        if self.is(&[TokenKind::Text, TokenKind::CloseBracket]) {
            return Ok(IndexKind::Text(self.advance().of(self.text).to_owned()));
        }
        match self.peek() {
            Some(TokenKind::Asterisk) => {
                self.advance();
                return Ok(IndexKind::All);
            }
            Some(TokenKind::Question) => return self.filter(),
            Some(TokenKind::Colon | TokenKind::Minus) => return self.slice(Vec::new()),
            _ => {}
        }
        let first = self.expression()?;
        match self.peek() {
            Some(TokenKind::Comma) => {
                let mut items = vec![first];
                while self.eat(TokenKind::Comma).is_some() {
                    items.push(self.expression()?);
                }
                self.closes(IndexKind::List(items))
            }
            Some(TokenKind::Colon) => self.slice(vec![SlicePart::Bound(first)]),
            _ => self.closes(IndexKind::Computed(Box::new(first))),
        }
    }

    /// An index is only what it seems when the bracket closes after it.
    fn closes(&self, kind: IndexKind) -> Parsed<IndexKind> {
        if self.peek() == Some(TokenKind::CloseBracket) {
            Ok(kind)
        } else {
            self.unexpected("an operator or `]`")
        }
    }

    fn slice(&mut self, mut parts: Vec<SlicePart>) -> Parsed<IndexKind> {
        let mut colons = 0;
        loop {
            match self.peek() {
                Some(TokenKind::Colon) if colons < 2 => {
                    self.advance();
                    colons += 1;
                    parts.push(SlicePart::Colon);
                }
                Some(TokenKind::CloseBracket) if colons > 0 => return Ok(IndexKind::Slice(parts)),
                // Bounds are separated by colons.
                _ if !matches!(parts.last(), None | Some(SlicePart::Colon)) => {
                    return self.unexpected("`:` or `]`");
                }
                Some(TokenKind::Minus) => {
                    self.advance();
                    parts.push(SlicePart::Negated(self.expression()?));
                }
                _ => parts.push(SlicePart::Bound(self.expression()?)),
            }
        }
    }

    fn filter(&mut self) -> Parsed<IndexKind> {
        let question = self.eat(TokenKind::Question).is_some();
        self.expect(TokenKind::OpenParen, "`(` and the condition of a filter")?;
        let from = self.at;
        let mut parts: Vec<FilterPart> = Vec::new();
        // Parentheses are ordinary pieces of a filter: it ends with the one before the bracket.
        while self.peek() != Some(TokenKind::CloseBracket) {
            parts.push(self.filter_part()?);
        }
        let closing = self.at.checked_sub(1).filter(|last| *last > from);
        let closed = closing
            .and_then(|last| self.tokens.get(last))
            .is_some_and(|token| token.kind == TokenKind::CloseParen);
        let ends_raw = parts.last().is_some_and(|part| part.value.is_none());
        let (Some(last), true, true) = (closing, closed, ends_raw) else { return self.unexpected("`)`") };
        parts.pop();
        let start = self.tokens.get(from).map_or(0, |token| token.span.start);
        let end = self.tokens.get(last).map_or(start, |token| token.span.start);
        let text = self.joined(from, last);
        Ok(IndexKind::Filter(Filter { question, text, span: Span::new(start, end), parts }))
    }

    fn filter_part(&mut self) -> Parsed<FilterPart> {
        use TokenKind as T;
        let from = self.at;
        let value = match self.peek() {
            Some(
                T::Question
                | T::At
                | T::FilterWord
                | T::Text
                | T::Number
                | T::Boolean
                | T::Identifier
                | T::Greater
                | T::Less
                | T::GreaterEqual
                | T::LessEqual
                | T::Equal
                | T::NotEqual
                | T::Plus
                | T::Minus
                | T::Slash
                | T::OpenParen
                | T::CloseParen
                | T::Dot
                | T::Comma
                | T::Colon
                | T::And
                | T::Or
                | T::Not
                | T::Asterisk,
            ) => {
                self.advance();
                None
            }
            _ => match self.reference()? {
                Some(kind) => Some(self.node(from, kind)?),
                None => {
                    return self.unexpected("a piece of a filter (`@.name`, an operator, a value) or `)]`");
                }
            },
        };
        Ok(FilterPart { span: self.span_from(from), text: self.joined(from, self.at), value })
    }
}
