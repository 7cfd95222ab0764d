//! From the text of a path to its tokens.

use super::cursor::{Cursor, Stop, invalid, unescape};
use super::filter::{self, Filter};
use super::{Path, PathError};

/// How many tokens a path may have: far more than people write, few enough for any stack.
const MAX_TOKENS: usize = 256;

/// How deep filters and function arguments may lie in each other.
pub(super) const MAX_NESTING: usize = 16;

/// One step of a path.
#[derive(Debug, Clone)]
pub(super) enum Token {
    /// `.name`, `['name']`, `['a','b']`.
    Property { names: Vec<String>, quote: char },
    /// `[0]`, `[-1]`, `[0,2]`.
    Index(Vec<i32>),
    /// `[1:3]`; at least one bound is there.
    Slice { from: Option<i32>, to: Option<i32> },
    /// `*`, `[*]`.
    Wildcard,
    /// `..`.
    Scan,
    /// `[?(…)]`.
    Filter(Filter),
    /// `.name(…)`.
    Function { name: String, parameters: Vec<Parameter> },
}

/// An argument of a function.
#[derive(Debug, Clone)]
pub(super) enum Parameter {
    /// A path, read from the root of the document.
    Path(Path),
    /// JSON as text.
    Json(String),
}

impl Token {
    pub(super) fn is_definite(&self) -> bool {
        match self {
            Self::Index(indices) => indices.len() == 1,
            Self::Property { .. } | Self::Function { .. } => true,
            Self::Slice { .. } | Self::Wildcard | Self::Scan | Self::Filter(_) => false,
        }
    }

    /// Whether it takes each of several names on its own, because more of the path follows.
    pub(super) fn iterates_names(&self, is_leaf: bool) -> bool {
        !is_leaf && matches!(self, Self::Property { names, .. } if names.len() > 1)
    }
}

impl Path {
    pub(super) fn new(from_root: bool, tokens: Vec<Token>) -> Self {
        let last = tokens.len().saturating_sub(1);
        let is_definite =
            |(at, token): (usize, &Token)| token.is_definite() && !token.iterates_names(at == last);
        let definite = tokens.iter().enumerate().take_while(|item| is_definite(*item)).count();
        Self { from_root, tokens, definite }
    }

    /// Whether all tokens before a place name one thing at most.
    pub(super) const fn is_definite_before(&self, at: usize) -> bool {
        at <= self.definite
    }

    pub(super) const fn all_definite(&self) -> bool {
        self.is_definite_before(self.tokens.len())
    }
}

pub(super) fn compile(text: &str) -> Result<Path, PathError> {
    let mut at = 0;
    nested(text, 0, &mut at).map_err(|stop| {
        let (Stop::Invalid(reason) | Stop::Broken(reason)) = stop;
        PathError { at, reason }
    })
}

/// Compiles a path that lies in another one. `place` tells how far it came.
pub(super) fn nested(text: &str, depth: usize, place: &mut usize) -> Result<Path, Stop> {
    if depth > MAX_NESTING {
        return Err(Stop::Broken(format!("more than {MAX_NESTING} filters in each other")));
    }
    let mut cursor = Cursor::new(text);
    cursor.trim();
    if !matches!(cursor.char_at(0)?, '$' | '@') {
        cursor = Cursor::new(&format!("$.{text}"));
        cursor.trim();
    }
    if cursor.last_is('.') {
        return invalid("a path must not end with '.'");
    }
    let mut compiler = Compiler { cursor, depth, tokens: Vec::new() };
    let path = compiler.path();
    *place = compiler.cursor.at;
    path
}

struct Compiler {
    cursor: Cursor,
    depth: usize,
    tokens: Vec<Token>,
}

impl Compiler {
    fn path(&mut self) -> Result<Path, Stop> {
        while self.cursor.in_bounds() && matches!(self.cursor.current()?, ' ' | '\t' | '\r' | '\n') {
            self.cursor.at += 1;
        }
        let from_root = match self.cursor.current()? {
            '$' => true,
            '@' => false,
            _ => return invalid("a path starts with '$' or '@'"),
        };
        if !self.cursor.at_tail() {
            self.cursor.at += 1;
            if !matches!(self.cursor.current()?, '.' | '[') {
                return invalid("'.' or '[' is expected");
            }
            self.steps()?;
        }
        Ok(turn_scanned_function(Path::new(from_root, std::mem::take(&mut self.tokens))))
    }

    fn push(&mut self, token: Token) -> Result<(), Stop> {
        if self.tokens.len() >= MAX_TOKENS {
            return Err(Stop::Broken(format!("more than {MAX_TOKENS} steps")));
        }
        self.tokens.push(token);
        Ok(())
    }

    fn steps(&mut self) -> Result<(), Stop> {
        loop {
            match self.cursor.current()? {
                '[' => self.bracket()?,
                '.' => {
                    if self.dot()? {
                        continue;
                    }
                }
                '*' => {
                    self.cursor.at += 1;
                    self.push(Token::Wildcard)?;
                }
                _ => self.name_or_function()?,
            }
            if self.cursor.at_tail() {
                return Ok(());
            }
        }
    }

    /// `.` and `..`; another step must follow, so the answer is always to go on.
    fn dot(&mut self) -> Result<bool, Stop> {
        if self.cursor.next_is('.') {
            self.push(Token::Scan)?;
            self.cursor.at += 2;
        } else if self.cursor.at_tail() {
            return invalid("a path must not end with '.'");
        } else {
            self.cursor.at += 1;
        }
        if self.cursor.current_is('.')? {
            return invalid("'.' is not valid here");
        }
        Ok(true)
    }

    fn bracket(&mut self) -> Result<(), Stop> {
        let at = self.cursor.at;
        match self.cursor.significant_after(at) {
            quote @ ('\'' | '"') => self.quoted_names(quote),
            '0'..='9' | '-' | ':' => self.indices(),
            '*' => {
                let star = self.cursor.find_significant(at, '*')?.unwrap_or(at);
                let Some(end) = self.cursor.find_significant(star, ']')? else {
                    return invalid("']' is expected after '*'");
                };
                self.cursor.at = end + 1;
                self.push(Token::Wildcard)
            }
            '?' => self.filter(),
            _ => invalid("a filter, a quoted name, an index or '*' is expected in brackets"),
        }
    }

    fn filter(&mut self) -> Result<(), Stop> {
        let open = self.cursor.at;
        let wrong = || Stop::Invalid("a filter has the form [?(…)]".to_owned());
        let question = self.cursor.find_significant(open, '?')?.ok_or_else(wrong)?;
        let paren = self.cursor.find_significant(question, '(')?.ok_or_else(wrong)?;
        let close = self.cursor.find_closing(paren, '(', ')', true)?.ok_or_else(wrong)?;
        if self.cursor.significant_after(close) != ']' {
            return Err(wrong());
        }
        let end = self.cursor.find_significant(close, ']')?.ok_or_else(wrong)?;
        let criteria = self.cursor.slice(open, end + 1)?;
        let filter = filter::compile(&criteria, self.depth + 1)?;
        self.cursor.at = end + 1;
        self.push(Token::Filter(filter))
    }

    fn indices(&mut self) -> Result<(), Stop> {
        let from = self.cursor.at + 1;
        let wrong = || Stop::Invalid("this is no index and no slice".to_owned());
        let end = self.cursor.find(from, ']').ok_or_else(wrong)?;
        let text = self.cursor.slice(from, end)?;
        let text = text.trim_matches(|c: char| c <= ' ');
        if !text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ':' | ' ')) {
            return Err(wrong());
        }
        let integer = |text: &str| crate::java::parse_int(text).ok_or_else(wrong);
        let token = if text.contains(':') {
            if text.contains([' ', ',']) {
                return Err(wrong());
            }
            let mut bounds = text.split(':');
            let mut bound = || bounds.next().filter(|bound| !bound.is_empty()).map(integer).transpose();
            let (from, to) = (bound()?, bound()?);
            if from.is_none() && to.is_none() {
                return Err(wrong());
            }
            Token::Slice { from, to }
        } else {
            // Empty places at the end are dropped, as Java's split does.
            let listed = text.trim_end_matches([',', ' ']);
            Token::Index(
                listed.split(',').map(|index| integer(index.trim_matches(' '))).collect::<Result<_, _>>()?,
            )
        };
        self.cursor.at = end + 1;
        self.push(token)
    }

    fn quoted_names(&mut self, quote: char) -> Result<(), Stop> {
        let mut names = Vec::new();
        let mut start = self.cursor.at + 1;
        let (mut end, mut at) = (0, start);
        let (mut in_name, mut in_escape, mut after_comma) = (false, false, false);
        while self.cursor.has(at) {
            let character = self.cursor.char_at(at)?;
            if in_escape {
                in_escape = false;
            } else if character == '\\' {
                in_escape = true;
            } else if character == ']' && !in_name {
                if after_comma {
                    return invalid("a name is missing after ','");
                }
                break;
            } else if character == quote {
                if in_name {
                    if !matches!(self.cursor.significant_after(at), ']' | ',') {
                        return invalid("',' or ']' is expected after a name");
                    }
                    end = at;
                    names.push(unescape(&self.cursor.slice(start, end)?)?);
                    in_name = false;
                } else {
                    start = at + 1;
                    in_name = true;
                    after_comma = false;
                }
            } else if character == ',' && !in_name {
                if after_comma {
                    return invalid("a name is missing after ','");
                }
                after_comma = true;
            }
            at += 1;
        }
        if in_name {
            return invalid("a name does not end");
        }
        let Some(close) = self.cursor.find_significant(end, ']')? else {
            return invalid("']' is expected after a name");
        };
        self.cursor.at = close + 1;
        if names.is_empty() {
            return invalid("a name is expected");
        }
        self.push(Token::Property { names, quote })
    }

    fn name_or_function(&mut self) -> Result<(), Stop> {
        if self.cursor.current_is(' ')? {
            return invalid("a name is expected");
        }
        let start = self.cursor.at;
        let mut at = start;
        let (mut end, mut is_function) = (0, false);
        while self.cursor.has(at) {
            match self.cursor.char_at(at)? {
                ' ' => return invalid("names with blanks are written ['like this']"),
                '.' | '[' => {
                    end = at;
                    break;
                }
                '(' => {
                    is_function = true;
                    end = at;
                    break;
                }
                _ => at += 1,
            }
        }
        if end == 0 {
            end = self.cursor.len();
        }
        let name = self.cursor.slice(start, end)?;
        if !is_function {
            self.cursor.at = end;
            return self.push(Token::Property { names: vec![name], quote: '\'' });
        }
        self.check_parentheses(at)?;
        let mut parameters = Vec::new();
        if self.cursor.has(at + 1) {
            if self.cursor.char_at(at + 1)? == ')' {
                // The library stops on the parenthesis: whatever follows it starts with it.
                self.cursor.at = at + 1;
            } else {
                self.cursor.at = end + 1;
                parameters = self.parameters()?;
            }
        } else {
            self.cursor.at = at;
        }
        self.push(Token::Function { name, parameters })
    }

    fn check_parentheses(&self, open: usize) -> Result<(), Stop> {
        let mut count = 1_usize;
        for at in open + 1..self.cursor.len() {
            match self.cursor.char_at(at)? {
                ')' => count -= 1,
                '(' => count += 1,
                _ => {}
            }
            if count == 0 {
                return Ok(());
            }
        }
        invalid("the arguments of a function are not closed")
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, Stop> {
        let mut parameters = Vec::new();
        let (mut paren, mut bracket, mut brace, mut quotes) = (1_i32, 0_i32, 0_i32, 0_i32);
        let mut prior = '\0';
        let mut text = String::new();
        let mut is_path: Option<bool> = None;
        let mut ended = false;
        while self.cursor.in_bounds() && !ended {
            let character = self.cursor.current()?;
            self.cursor.at += 1;
            if is_path.is_none() {
                match character {
                    ' ' | '\t' | '\r' | '\n' => continue,
                    '{' | '0'..='9' | '"' | '-' => is_path = Some(false),
                    '$' | '@' => is_path = Some(true),
                    _ => {}
                }
            }
            match character {
                '"' if prior != '\\' && quotes > 0 => quotes -= 1,
                '"' => quotes += 1,
                '(' => paren += 1,
                '{' => brace += 1,
                '[' => bracket += 1,
                '}' | ']' => {
                    let group = if character == '}' { &mut brace } else { &mut bracket };
                    if *group == 0 {
                        return invalid(format!("'{character}' closes nothing"));
                    }
                    *group -= 1;
                }
                ')' | ',' => {
                    if character == ')' {
                        paren -= 1;
                        if paren < 0 || prior == '(' {
                            text.push(character);
                        }
                    }
                    let closed = quotes == 0 && brace == 0 && bracket == 0;
                    if closed && (paren == 0 && character == ')' || paren == 1) {
                        ended = paren == 0;
                        if let Some(is_path) = is_path.take() {
                            let text = std::mem::take(&mut text);
                            parameters.push(self.parameter(text, is_path)?);
                        }
                    }
                }
                '\\' => {
                    let next = self.cursor.current()?;
                    if quotes == 1 && matches!(next, ',' | '"') {
                        text.push(next);
                        self.cursor.at += 1;
                        prior = '\0';
                        continue;
                    }
                }
                _ => {}
            }
            if is_path.is_some() && !(character == ',' && brace == 0 && bracket == 0 && paren == 1) {
                text.push(character);
            }
            prior = character;
        }
        if brace != 0 || paren != 0 || bracket != 0 {
            return invalid("the arguments of a function are not closed");
        }
        Ok(parameters)
    }

    fn parameter(&self, text: String, is_path: bool) -> Result<Parameter, Stop> {
        if !is_path {
            return Ok(Parameter::Json(text));
        }
        if self.depth >= MAX_NESTING {
            return Err(Stop::Broken(format!("more than {MAX_NESTING} paths in each other")));
        }
        let mut compiler = Self { cursor: Cursor::new(&text), depth: self.depth + 1, tokens: Vec::new() };
        compiler.path().map(Parameter::Path)
    }
}

/// The library turns `$..path.function()` into `$.function($..path)`; other indefinite paths stay, and their
/// function is called for each match.
fn turn_scanned_function(mut path: Path) -> Path {
    let is_scanned = matches!(path.tokens.first(), Some(Token::Scan))
        && matches!(path.tokens.last(), Some(Token::Function { .. }));
    if !is_scanned {
        return path;
    }
    let Some(at) = path.tokens.iter().position(|token| matches!(token, Token::Function { .. })) else {
        return path;
    };
    let mut after = path.tokens.split_off(at).into_iter();
    let Some(Token::Function { name, .. }) = after.next() else { return path };
    let from_root = path.from_root;
    let inner = Parameter::Path(Path::new(from_root, path.tokens));
    let mut tokens = vec![Token::Function { name, parameters: vec![inner] }];
    tokens.extend(after);
    Path::new(from_root, tokens)
}
