//! Reads a script with the grammar of bash: lists, pipelines, compound commands, redirections, here-documents.
//!
//! Promises: it never panics, takes time linear in the text for what does not nest, and nests to a limit. When it
//! cannot read on, it says where and why, and hands over what it had read: bash runs the lines before a mistake.

mod compound;
mod word;

use super::syntax::{
    Assign, Item, Kind, Link, Node, Pipeline, Redirect, RedirectKind, Sequence, Value, Word,
};

/// How deep a script may nest. People stop at five.
pub(super) const MAX_DEPTH: usize = 48;

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) reason: StopReason,
    pub(super) at: usize,
}

/// Why reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    /// A quote, bracket or substitution does not end.
    Unclosed,
    /// Something stands where the grammar has no place for it.
    Unexpected,
    /// It nests too deep.
    TooDeep,
    /// A NUL byte, which no shell reads.
    Nul,
}

type Parsed<T> = Result<T, Stop>;

/// Reads a script. What was read before a mistake is in the sequence.
pub(super) fn parse(source: &str) -> (Sequence, Option<Stop>) {
    parse_at(source, 0)
}

/// Reads a script that is itself inside of others.
pub(super) fn parse_at(source: &str, depth: usize) -> (Sequence, Option<Stop>) {
    parse_with(source, depth, &mut 0)
}

/// Reads a script that is part of another, and shares its retries: they multiply where such scripts nest.
fn parse_with(source: &str, depth: usize, retries: &mut usize) -> (Sequence, Option<Stop>) {
    if let Some(at) = source.find('\0') {
        return (Sequence::default(), Some(Stop { reason: StopReason::Nul, at }));
    }
    let mut parser = Parser::new(source, depth);
    parser.retries = *retries;
    let mut sequence = Sequence::default();
    let stop = match parser.sequence_into(&mut sequence, &[]) {
        Ok(()) if parser.pos < source.len() => Some(parser.unexpected()),
        Ok(()) => None,
        Err(stop) => Some(stop),
    };
    fill_all(&mut sequence, &mut parser.bodies);
    *retries = parser.retries;
    (sequence, stop)
}

/// A here-document whose text has not come yet.
struct Pending {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    slot: usize,
}

pub(super) struct Parser<'a> {
    source: &'a str,
    pos: usize,
    depth: usize,
    pending: Vec<Pending>,
    /// Texts of here-documents, by slot, in the order their operators were read.
    bodies: Vec<Option<Word>>,
    /// How often something was read twice because the first reading did not fit. Bounded, because such readings nest.
    retries: usize,
}

/// How often one script may be read anew from some point.
const MAX_RETRIES: usize = 64;

const RESERVED: [&str; 17] = [
    "then", "do", "done", "fi", "elif", "else", "esac", "}", "]]", "in", "if", "while", "until", "for",
    "case", "select", "function",
];

impl<'a> Parser<'a> {
    fn new(source: &'a str, depth: usize) -> Self {
        Self { source, pos: 0, depth, pending: Vec::new(), bodies: Vec::new(), retries: 0 }
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.pos..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn peek_byte(&self) -> Option<u8> {
        self.source.as_bytes().get(self.pos).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.pos += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    fn stop(&self, reason: StopReason) -> Stop {
        Stop { reason, at: self.pos }
    }

    fn unexpected(&self) -> Stop {
        self.stop(StopReason::Unexpected)
    }

    fn unclosed(&self, at: usize) -> Stop {
        Stop { reason: StopReason::Unclosed, at }
    }

    /// Goes one level deeper for the time of `inside`.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.stop(StopReason::TooDeep));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Goes back, to read it as something else.
    fn retry(&mut self, from: usize) -> Parsed<()> {
        self.pos = from;
        self.retries += 1;
        if self.retries > MAX_RETRIES { Err(self.stop(StopReason::TooDeep)) } else { Ok(()) }
    }

    /// Skips blanks, escaped newlines and comments. Not newlines.
    fn blanks(&mut self) {
        let mut word_may_start = self.pos == 0
            || self
                .source
                .as_bytes()
                .get(self.pos.wrapping_sub(1))
                .is_none_or(|before| b" \t\n;&|()<>".contains(before));
        loop {
            match self.peek_byte() {
                Some(b' ' | b'\t') => {
                    self.pos += 1;
                    word_may_start = true;
                }
                Some(b'\\') if self.rest().starts_with("\\\n") => self.pos += 2,
                Some(b'#') if word_may_start => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.pos += length;
                }
                _ => return,
            }
        }
    }

    /// Takes one newline, and the here-documents that begin behind it.
    fn newline(&mut self) -> Parsed<bool> {
        if self.peek_byte() != Some(b'\n') {
            return Ok(false);
        }
        self.pos += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.here_document(&pending)?;
        }
        Ok(true)
    }

    fn newlines(&mut self) -> Parsed<()> {
        loop {
            self.blanks();
            if !self.newline()? {
                return Ok(());
            }
        }
    }

    fn here_document(&mut self, pending: &Pending) -> Parsed<()> {
        let start = self.pos;
        let mut body = String::new();
        loop {
            if self.pos >= self.source.len() {
                // Bash warns and takes what there is.
                break;
            }
            let line_end = self.rest().find('\n').map_or(self.source.len(), |length| self.pos + length);
            let line = self.source.get(self.pos..line_end).unwrap_or("");
            self.pos = (line_end + 1).min(self.source.len());
            let line = if pending.strip_tabs { line.trim_start_matches('\t') } else { line };
            if line == pending.delimiter {
                break;
            }
            // An escaped newline joins lines before the delimiter is looked for; whoever writes one has to ask.
            if !pending.quoted && line.ends_with('\\') {
                return Err(Stop { reason: StopReason::Unexpected, at: line_end });
            }
            body.push_str(line);
            body.push('\n');
        }
        let word = if pending.quoted {
            Word::text(body, true, start..self.pos)
        } else {
            let mut inner = Parser::new(&body, self.depth);
            inner.retries = self.retries;
            let parts = self.nested(|_| inner.here_text());
            self.retries = inner.retries;
            let parts = parts.map_err(|stop| Stop { at: start, ..stop })?;
            Word { parts, at: start..self.pos }
        };
        if let Some(slot) = self.bodies.get_mut(pending.slot) {
            *slot = Some(word);
        }
        Ok(())
    }

    /// Whether a reserved word stands here.
    fn at_reserved(&self, word: &str) -> bool {
        let rest = self.rest();
        rest.strip_prefix(word).is_some_and(|after| {
            after.chars().next().is_none_or(|next| " \t\n;&|()<>".contains(next)) || after.starts_with("\\\n")
        })
    }

    fn eat_reserved(&mut self, word: &str) -> bool {
        let found = self.at_reserved(word);
        if found {
            self.pos += word.len();
        }
        found
    }

    fn expect_reserved(&mut self, word: &str) -> Parsed<()> {
        self.newlines()?;
        if self.eat_reserved(word) { Ok(()) } else { Err(self.missing()) }
    }

    fn missing(&self) -> Stop {
        if self.pos >= self.source.len() { self.unclosed(self.pos) } else { self.unexpected() }
    }

    /// Reads commands until one of `ends` stands at the beginning of a command, or the text or a `)` ends it.
    fn sequence(&mut self, ends: &[&str]) -> Parsed<Sequence> {
        let mut sequence = Sequence::default();
        self.nested(|parser| parser.sequence_into(&mut sequence, ends))?;
        Ok(sequence)
    }

    /// As [`Self::sequence`], and there must be a command.
    fn commands(&mut self, ends: &[&str]) -> Parsed<Sequence> {
        let sequence = self.sequence(ends)?;
        if sequence.items.is_empty() { Err(self.missing()) } else { Ok(sequence) }
    }

    fn sequence_into(&mut self, sequence: &mut Sequence, ends: &[&str]) -> Parsed<()> {
        loop {
            self.newlines()?;
            if self.pos >= self.source.len() || self.peek_byte() == Some(b')') {
                return Ok(());
            }
            if ends.iter().any(|end| self.at_reserved(end))
                || (ends.contains(&";;") && self.rest().starts_with(";"))
            {
                return Ok(());
            }
            let mut item = self.item()?;
            self.blanks();
            let mut more = true;
            if self.rest().starts_with(";;") || self.rest().starts_with(";&") {
                more = false;
            } else if self.eat(";") {
            } else if self.peek_byte() == Some(b'&') && !self.rest().starts_with("&&") {
                self.pos += 1;
                item.background = true;
            } else if self.peek_byte() == Some(b'\n') {
                self.newline()?;
            } else {
                more = false;
            }
            sequence.items.push(item);
            if !more {
                return Ok(());
            }
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let link = if self.eat("&&") {
                Link::And
            } else if self.eat("||") {
                Link::Or
            } else {
                return Ok(Item { first, rest, background: false });
            };
            self.newlines()?;
            rest.push((link, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.blanks();
        let mut negated = false;
        while self.eat_reserved("!") {
            negated = !negated;
            self.blanks();
        }
        let start = self.pos;
        if self.eat_reserved("time") {
            self.blanks();
            while self.eat_reserved("-p") || self.eat_reserved("--") {
                self.blanks();
            }
            let inner = if self.at_command_end() {
                Pipeline { negated: false, commands: Vec::new() }
            } else {
                self.nested(Self::pipeline)?
            };
            let kind = Kind::Time(Box::new(inner));
            let node = Node { kind, redirects: Vec::new(), at: start..self.pos };
            return Ok(Pipeline { negated, commands: vec![node] });
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.rest().starts_with("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(Pipeline { negated, commands });
            }
            self.newlines()?;
            commands.push(self.command()?);
        }
    }

    fn at_command_end(&self) -> bool {
        self.peek_byte().is_none_or(|next| b"\n;&|)".contains(&next))
    }

    fn command(&mut self) -> Parsed<Node> {
        self.blanks();
        let start = self.pos;
        if let Some(kind) = self.compound()? {
            let mut redirects = Vec::new();
            loop {
                self.blanks();
                match self.redirect()? {
                    Some(redirect) => redirects.push(redirect),
                    None => break,
                }
            }
            self.blanks();
            if !(self.at_command_end() || RESERVED.iter().any(|word| self.at_reserved(word))) {
                return Err(self.unexpected());
            }
            return Ok(Node { kind, redirects, at: start..self.pos });
        }
        self.simple(start)
    }

    fn simple(&mut self, start: usize) -> Parsed<Node> {
        let mut assigns = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        let mut redirects = Vec::new();
        let mut declares = false;
        loop {
            self.blanks();
            if self.at_command_end() {
                break;
            }
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if (words.is_empty() || declares)
                && let Some(assign) = self.assignment(declares)?
            {
                assigns.push(assign);
                continue;
            }
            if self.peek_byte() == Some(b'(') {
                return Err(self.unexpected());
            }
            let word = self.word()?;
            if words.is_empty() {
                let name = word.plain();
                if let Some(name) = name.filter(|_| assigns.is_empty() && redirects.is_empty()) {
                    if RESERVED.contains(&name) {
                        return Err(Stop { reason: StopReason::Unexpected, at: start });
                    }
                    let before = self.pos;
                    self.blanks();
                    if self.eat("(") {
                        self.blanks();
                        if !self.eat(")") {
                            return Err(self.unexpected());
                        }
                        let name = name.to_owned();
                        return self.function(name, start);
                    }
                    self.pos = before;
                    declares = matches!(name, "declare" | "typeset" | "local" | "export" | "readonly");
                }
            }
            words.push(word);
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(self.missing());
        }
        Ok(Node { kind: Kind::Simple { assigns, words }, redirects, at: start..self.pos })
    }

    /// An assignment, if one stands here. Behind `declare` only lists are taken; the rest are words to it.
    fn assignment(&mut self, lists_only: bool) -> Parsed<Option<Assign>> {
        let start = self.pos;
        let name_length = name_length(self.rest());
        if name_length == 0 {
            return Ok(None);
        }
        let name = self.rest().get(..name_length).unwrap_or("").to_owned();
        self.pos += name_length;
        let mut subscript = None;
        if self.peek_byte() == Some(b'[') && !lists_only {
            // `a[i]=` is an assignment, `a[i]` a glob: it shows behind the bracket.
            let mut ahead = Parser::new(self.source, self.depth);
            ahead.pos = self.pos + 1;
            ahead.retries = self.retries;
            let inside = ahead.until_bracket();
            self.retries = ahead.retries;
            match inside {
                Ok(word) if ahead.rest().starts_with('=') || ahead.rest().starts_with("+=") => {
                    self.pos = ahead.pos;
                    subscript = Some(word);
                }
                _ => {
                    self.retry(start)?;
                    return Ok(None);
                }
            }
        }
        let append = self.eat("+=");
        if !(append || self.eat("=")) || (lists_only && self.peek_byte() != Some(b'(')) {
            self.pos = start;
            return Ok(None);
        }
        let value = if self.eat("(") {
            let mut words = Vec::new();
            loop {
                self.newlines()?;
                if self.eat(")") {
                    break;
                }
                if self.peek_byte().is_none_or(|next| b";&|<>(".contains(&next)) {
                    return Err(self.missing());
                }
                words.push(self.word()?);
            }
            Value::Array(words)
        } else if self.peek_byte().is_none_or(|next| b" \t\n;&|()<>".contains(&next)) {
            Value::Word(Word { parts: Vec::new(), at: self.pos..self.pos })
        } else {
            Value::Word(self.word()?)
        };
        Ok(Some(Assign { name, append, subscript, value }))
    }

    fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.pos;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let mut behind = digits;
        if self.peek_byte() == Some(b'{') {
            let length = name_length(self.rest().get(1..).unwrap_or(""));
            if length > 0 && self.rest().as_bytes().get(length + 1) == Some(&b'}') {
                behind = length + 2;
            }
        }
        let operator = self.rest().get(behind..).unwrap_or("");
        let (length, kind) = if behind == 0 && operator.starts_with("&>>") {
            (3, RedirectKind::Write)
        } else if behind == 0 && operator.starts_with("&>") {
            (2, RedirectKind::Write)
        } else if operator.starts_with("<<<") {
            (3, RedirectKind::Here)
        } else if operator.starts_with("<<") {
            self.pos += behind + 2;
            return self.here_operator(start).map(Some);
        } else if operator.starts_with(">>") || operator.starts_with(">|") {
            (2, RedirectKind::Write)
        } else if operator.starts_with("<>") {
            (2, RedirectKind::ReadWrite)
        } else if operator.starts_with(">&") || operator.starts_with("<&") {
            (2, RedirectKind::Duplicate)
        } else if operator.starts_with(">(") || operator.starts_with("<(") {
            // A substitution, which begins a word.
            return Ok(None);
        } else if operator.starts_with('>') {
            (1, RedirectKind::Write)
        } else if operator.starts_with('<') {
            (1, RedirectKind::Read)
        } else {
            return Ok(None);
        };
        self.pos += behind + length;
        self.blanks();
        if self.at_command_end() {
            return Err(self.missing());
        }
        let target = self.word()?;
        Ok(Some(Redirect { kind, target, at: start..self.pos }))
    }

    fn here_operator(&mut self, start: usize) -> Parsed<Redirect> {
        let strip_tabs = self.eat("-");
        self.blanks();
        if self.at_command_end() {
            return Err(self.missing());
        }
        let word = self.word()?;
        let (delimiter, quoted) = word.delimiter().ok_or_else(|| self.unexpected())?;
        let slot = self.bodies.len();
        self.bodies.push(None);
        self.pending.push(Pending { delimiter, quoted, strip_tabs, slot });
        // Filled in when the text has been read; the slot is remembered in the range until then.
        Ok(Redirect {
            kind: RedirectKind::Here,
            target: Word { parts: Vec::new(), at: usize::MAX..slot },
            at: start..self.pos,
        })
    }
}

/// How many bytes at the start are a name.
pub(super) fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_') {
        return 0;
    }
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// Puts the texts of here-documents where their operators were read. One whose text never came is empty.
fn fill_all(sequence: &mut Sequence, bodies: &mut [Option<Word>]) {
    for item in &mut sequence.items {
        fill_pipeline(&mut item.first, bodies);
        for (_, pipeline) in &mut item.rest {
            fill_pipeline(pipeline, bodies);
        }
    }
}

fn fill_pipeline(pipeline: &mut Pipeline, bodies: &mut [Option<Word>]) {
    for node in &mut pipeline.commands {
        fill_node(node, bodies);
    }
}

fn fill_node(node: &mut Node, bodies: &mut [Option<Word>]) {
    for redirect in &mut node.redirects {
        if redirect.target.at.start == usize::MAX {
            redirect.target =
                bodies.get_mut(redirect.target.at.end).and_then(Option::take).unwrap_or_default();
        }
    }
    match &mut node.kind {
        Kind::Group(body) | Kind::Subshell(body) | Kind::For { body, .. } | Kind::ForArith { body, .. } => {
            fill_all(body, bodies);
        }
        Kind::If { arms, otherwise } => {
            for (condition, body) in arms {
                fill_all(condition, bodies);
                fill_all(body, bodies);
            }
            if let Some(body) = otherwise {
                fill_all(body, bodies);
            }
        }
        Kind::While { condition, body } => {
            fill_all(condition, bodies);
            fill_all(body, bodies);
        }
        Kind::Case { arms, .. } => arms.iter_mut().for_each(|(_, body)| fill_all(body, bodies)),
        Kind::Function { body, .. } | Kind::Coproc(body) => fill_node(body, bodies),
        Kind::Time(pipeline) => fill_pipeline(pipeline, bodies),
        Kind::Simple { .. } | Kind::Test(_) | Kind::Arith(_) => {}
    }
}

#[cfg(test)]
mod tests;
