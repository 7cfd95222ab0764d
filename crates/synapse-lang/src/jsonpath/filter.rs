//! Filters: from `[?(@.n > 1 && !@.gone)]` to a tree of comparisons.
//!
//! The reading rules are the library's, including what they do to texts without blanks: a path runs up to the
//! next comparison sign, blank or closing parenthesis, so `@.a&&@.b` is one path, and a word operator runs up
//! to the next blank.

use super::Path;
use super::compile::{self, MAX_NESTING};
use super::cursor::{Cursor, Stop, invalid, unescape};
use crate::java::{Decimal, Pattern, PatternFlags};

/// A condition on an item.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    /// One holds.
    Any(Vec<Self>),
    /// All hold.
    All(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// A comparison.
    Relation(Box<Relation>),
}

/// A comparison.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub(super) left: Operand,
    pub(super) operator: Operator,
    pub(super) right: Operand,
}

/// One side of a comparison as written.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// A path; with `exists` only whether it leads somewhere counts.
    Path { path: Path, exists: bool, should_exist: bool },
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number.
    Number(Decimal),
    /// A string.
    Text(String),
    /// An array or object, still text.
    Json(String),
    /// `/pattern/flags`.
    Pattern(Pattern),
}

/// How two sides are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    GreaterOrEqual,
    LessOrEqual,
    Equal,
    SameKindAndEqual,
    NotEqual,
    NotSameKindOrNotEqual,
    Less,
    Greater,
    Regex,
    NotIn,
    In,
    Contains,
    All,
    Size,
    Exists,
    Type,
    Matches,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
}

/// Every operator by its text, compared without regard to case.
const OPERATORS: [(&str, Operator); 21] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("==", Operator::Equal),
    ("===", Operator::SameKindAndEqual),
    ("!=", Operator::NotEqual),
    ("!==", Operator::NotSameKindOrNotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=~", Operator::Regex),
    ("nin", Operator::NotIn),
    ("in", Operator::In),
    ("contains", Operator::Contains),
    ("all", Operator::All),
    ("size", Operator::Size),
    ("exists", Operator::Exists),
    ("type", Operator::Type),
    ("matches", Operator::Matches),
    ("empty", Operator::Empty),
    ("subsetof", Operator::SubsetOf),
    ("anyof", Operator::AnyOf),
    ("noneof", Operator::NoneOf),
];

/// Compiles a filter, brackets included.
pub(super) fn compile(text: &str, depth: usize) -> Result<Filter, Stop> {
    let mut cursor = Cursor::new(text);
    cursor.trim();
    if !cursor.current_is('[')? || !cursor.last_is(']') {
        return invalid("a filter has the form [?(…)]");
    }
    cursor.at += 1;
    cursor.drop_last();
    cursor.trim();
    if !cursor.current_is('?')? {
        return invalid("a filter has the form [?(…)]");
    }
    cursor.at += 1;
    cursor.trim();
    if !cursor.current_is('(')? || !cursor.last_is(')') {
        return invalid("a filter has the form [?(…)]");
    }
    let mut compiler = Compiler { cursor, depth, parens: 0 };
    let filter = compiler.any()?;
    compiler.cursor.skip_blanks();
    if compiler.cursor.in_bounds() {
        return invalid("the filter should end here");
    }
    Ok(filter)
}

struct Compiler {
    cursor: Cursor,
    depth: usize,
    parens: usize,
}

impl Compiler {
    fn any(&mut self) -> Result<Filter, Stop> {
        let mut filters = vec![self.all()?];
        loop {
            let back = self.cursor.at;
            if !self.cursor.take("||") {
                self.cursor.at = back;
                break;
            }
            filters.push(self.all()?);
        }
        Ok(if filters.len() == 1 { filters.swap_remove(0) } else { Filter::Any(filters) })
    }

    fn all(&mut self) -> Result<Filter, Stop> {
        let mut filters = vec![self.operand()?];
        loop {
            let back = self.cursor.at;
            if !self.cursor.take("&&") {
                self.cursor.at = back;
                break;
            }
            filters.push(self.operand()?);
        }
        Ok(if filters.len() == 1 { filters.swap_remove(0) } else { Filter::All(filters) })
    }

    fn operand(&mut self) -> Result<Filter, Stop> {
        self.parens += 1;
        if self.parens > MAX_NESTING * 4 {
            return Err(Stop::Broken("too many parentheses in each other".to_owned()));
        }
        let filter = self.operand_inside();
        self.parens -= 1;
        filter
    }

    fn operand_inside(&mut self) -> Result<Filter, Stop> {
        self.cursor.skip_blanks();
        let back = self.cursor.at;
        if self.cursor.current_is('!')? {
            self.cursor.at += 1;
            self.cursor.skip_blanks();
            if matches!(self.cursor.current()?, '$' | '@') {
                self.cursor.at = back;
            } else {
                return Ok(Filter::Not(Box::new(self.operand()?)));
            }
        }
        if self.cursor.current_is('(')? {
            self.cursor.at += 1;
            let filter = self.any()?;
            self.cursor.expect(')')?;
            return Ok(filter);
        }
        self.relation()
    }

    fn relation(&mut self) -> Result<Filter, Stop> {
        let left = self.value()?;
        let back = self.cursor.at;
        match self.operator().and_then(|operator| Ok((operator, self.value()?))) {
            Ok((operator, right)) => {
                return Ok(Filter::Relation(Box::new(Relation { left, operator, right })));
            }
            Err(Stop::Invalid(_)) => self.cursor.at = back,
            Err(broken @ Stop::Broken(_)) => return Err(broken),
        }
        let Operand::Path { path, should_exist, .. } = left else {
            return invalid("a literal is no condition");
        };
        let left = Operand::Path { path, exists: true, should_exist };
        let right = Operand::Bool(should_exist);
        Ok(Filter::Relation(Box::new(Relation { left, operator: Operator::Exists, right })))
    }

    fn operator(&mut self) -> Result<Operator, Stop> {
        self.cursor.skip_blanks();
        let from = self.cursor.at;
        let signs = is_sign(self.cursor.current()?);
        while self.cursor.in_bounds() {
            let character = self.cursor.current()?;
            if if signs { !is_sign(character) } else { character == ' ' } {
                break;
            }
            self.cursor.at += 1;
        }
        let text = self.cursor.slice(from, self.cursor.at)?;
        let known = OPERATORS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        known.map_or_else(|| invalid(format!("'{text}' is no operator")), |(_, operator)| Ok(*operator))
    }

    fn value(&mut self) -> Result<Operand, Stop> {
        self.cursor.skip_blanks();
        match self.cursor.current()? {
            '$' | '@' => self.path(),
            '!' => {
                self.cursor.at += 1;
                self.cursor.skip_blanks();
                if matches!(self.cursor.current()?, '$' | '@') {
                    self.path()
                } else {
                    invalid("'!' is unexpected")
                }
            }
            quote @ ('\'' | '"') => self.text(quote),
            't' | 'f' => self.boolean(),
            'n' => self.null(),
            open @ ('{' | '[') => self.json(open),
            '/' => self.pattern(),
            _ => self.number(),
        }
    }

    fn path(&mut self) -> Result<Operand, Stop> {
        let before = self.cursor.significant_before(self.cursor.at);
        let negated = before.is_some_and(|at| self.cursor.char_at(at) == Ok('!'));
        let from = self.cursor.at;
        self.cursor.at += 1;
        while self.cursor.in_bounds() {
            if self.cursor.current()? == '[' {
                let Some(end) = self.cursor.find_closing(self.cursor.at, '[', ']', false)? else {
                    return invalid("a bracket does not close");
                };
                self.cursor.at = end + 1;
            }
            let character = self.cursor.current()?;
            let closes = character == ')' && !self.closes_function(from)?;
            if !self.cursor.in_bounds() || is_sign(character) || character == ' ' || closes {
                break;
            }
            self.cursor.at += 1;
        }
        let text = self.cursor.slice(from, self.cursor.at)?;
        let path = compile::nested(&text, self.depth, &mut 0).map_err(|stop| {
            // However it failed, the library calls a bad path invalid.
            let (Stop::Invalid(reason) | Stop::Broken(reason)) = stop;
            Stop::Invalid(reason)
        })?;
        Ok(Operand::Path { path, exists: false, should_exist: !negated })
    }

    /// Whether the parenthesis here ends a call without arguments, as in `@.a.length()`.
    fn closes_function(&self, from: usize) -> Result<bool, Stop> {
        let Some(open) = self.cursor.significant_before(self.cursor.at) else { return Ok(false) };
        if self.cursor.char_at(open)? != '(' {
            return Ok(false);
        }
        for at in (from + 1..open).rev() {
            if self.cursor.char_at(at)? == '.' {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn text(&mut self, quote: char) -> Result<Operand, Stop> {
        let from = self.cursor.at;
        let Some(end) = self.cursor.find_unescaped(from, quote) else {
            return invalid("a string does not end");
        };
        self.cursor.at = end + 1;
        Ok(Operand::Text(unescape(&self.cursor.slice(from + 1, end)?)?))
    }

    fn boolean(&mut self) -> Result<Operand, Stop> {
        for (word, truth) in [("true", true), ("false", false)] {
            if self.cursor.take(word) {
                return Ok(Operand::Bool(truth));
            }
        }
        invalid("true or false is expected")
    }

    fn null(&mut self) -> Result<Operand, Stop> {
        if self.cursor.take("null") { Ok(Operand::Null) } else { invalid("null is expected") }
    }

    fn json(&mut self, open: char) -> Result<Operand, Stop> {
        let close = if open == '[' { ']' } else { '}' };
        let from = self.cursor.at;
        let Some(end) = self.cursor.find_closing(from, open, close, false)? else {
            return invalid("a bracket does not close");
        };
        self.cursor.at = end + 1;
        Ok(Operand::Json(self.cursor.slice(from, end + 1)?))
    }

    fn number(&mut self) -> Result<Operand, Stop> {
        let from = self.cursor.at;
        while self.cursor.in_bounds() && matches!(self.cursor.current()?, '0'..='9' | '-' | '.' | 'E' | 'e') {
            self.cursor.at += 1;
        }
        let text = self.cursor.slice(from, self.cursor.at)?;
        let number = Decimal::parse(&text);
        number.map(Operand::Number).ok_or_else(|| Stop::Broken(format!("'{text}' is no number")))
    }

    /// Reads `/pattern/flags`. The flags run up to the next `=`, else up to the next `)`.
    fn pattern(&mut self) -> Result<Operand, Stop> {
        let from = self.cursor.at;
        let Some(slash) = self.cursor.find_unescaped(from, '/') else {
            return invalid("a pattern does not end");
        };
        let mut end = slash + 1;
        if self.cursor.has(end) {
            let sign = self.cursor.find(from + 1, '=').filter(|sign| *sign > slash);
            let stop = sign.or_else(|| self.cursor.find_unescaped(from, ')'));
            let stop = stop.filter(|stop| *stop >= end);
            end = stop.ok_or_else(|| Stop::Broken("a pattern is not closed".to_owned()))?;
        }
        self.cursor.at = end;
        let whole = self.cursor.slice(from, end)?;
        let last = whole.rfind('/').unwrap_or_default();
        let (body, flags) =
            (whole.get(1..last).unwrap_or_default(), whole.get(last + 1..).unwrap_or_default());
        let pattern = Pattern::compile(body, PatternFlags::of_letters(flags));
        pattern.map(Operand::Pattern).map_err(|error| Stop::Broken(error.to_string()))
    }
}

const fn is_sign(character: char) -> bool {
    matches!(character, '<' | '>' | '=' | '~' | '!')
}
