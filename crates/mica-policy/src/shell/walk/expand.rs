//! Expansion of words: tildes, braces, variables, substitutions, arithmetic, splitting, patterns.

use super::{Held, Joint, OpaqueReason, State, Walker, Word};
use crate::shell::parse::name_length;
use crate::shell::syntax::{Change, Parameter, Part};
use crate::shell::word::{Arg, Piece, braces};

impl Walker<'_> {
    pub(super) fn expand(&mut self, word: &Word, state: &mut State) -> Vec<Arg> {
        let mut args = Vec::new();
        self.expand_into(word, state, &mut args);
        args
    }

    /// Expands a word that stays one: a value, a redirection.
    pub(super) fn expand_one(&mut self, word: &Word, state: &mut State) -> Arg {
        let mut fields = Fields::new(false);
        self.parts(&word.parts, state, &mut fields);
        let mut arg = fields.finish().into_iter().next().unwrap_or_default();
        arg.at = word.at.clone();
        arg
    }

    pub(super) fn expand_into(&mut self, word: &Word, state: &mut State, args: &mut Vec<Arg>) {
        let from = args.len();
        let braced = word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Text { text, quoted: false } if text.contains('{')));
        if braced {
            match braces(&word.parts) {
                Some(words) => words.iter().for_each(|parts| self.fields_of(parts, state, args)),
                None => {
                    self.fields_of(&word.parts, state, &mut Vec::new());
                    args.push(Arg::unknown());
                }
            }
        } else {
            self.fields_of(&word.parts, state, args);
        }
        for arg in args.iter_mut().skip(from) {
            arg.at = word.at.clone();
        }
    }

    fn fields_of(&mut self, parts: &[Part], state: &mut State, args: &mut Vec<Arg>) {
        let mut fields = Fields::new(true);
        self.parts(parts, state, &mut fields);
        args.extend(fields.finish());
    }

    fn parts(&mut self, parts: &[Part], state: &mut State, fields: &mut Fields) {
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text { text, quoted: true } => fields.quoted(text),
                Part::Text { text, quoted: false } => {
                    let mut rest = text.as_str();
                    if index == 0 {
                        rest = self.tilde(rest, parts.len() == 1, state, fields);
                    }
                    let later = parts.iter().skip(index + 1);
                    let closes_later = later
                        .into_iter()
                        .any(|part| matches!(part, Part::Text { text, quoted: false } if text.contains(']')));
                    fields.pattern(rest, closes_later);
                }
                Part::Parameter { parameter, quoted } => self.parameter(parameter, *quoted, state, fields),
                Part::Command { script, quoted } => {
                    self.aside(|walker, state| walker.sequence(script, state), state);
                    fields.unknown(None, false, *quoted);
                }
                Part::Process { script } => {
                    self.aside(|walker, state| walker.sequence(script, state), state);
                    // It is a descriptor of the shell's own.
                    fields.quoted("/dev/fd/63");
                }
                Part::Arith { inside, quoted } => {
                    self.arithmetic(inside, state);
                    fields.unknown(None, true, *quoted);
                }
            }
        }
    }

    /// Walks something in a shell of its own, between the words of a command.
    fn aside(&mut self, inside: impl FnOnce(&mut Self, &mut State), state: &State) {
        let (joint, fed) = (self.joint, self.fed);
        self.joint = Joint::Then;
        inside(self, &mut state.clone());
        self.joint = joint;
        self.fed = fed;
    }

    /// A tilde at the start. The answer is what is left of the text.
    fn tilde<'t>(&self, text: &'t str, whole: bool, state: &State, fields: &mut Fields) -> &'t str {
        let Some(behind) = text.strip_prefix('~') else { return text };
        let length = behind.find('/').unwrap_or(behind.len());
        let (user, rest) = behind.split_at(length);
        if length == behind.len() && !whole {
            // `~$X` and `~"x"` are no tildes, or name somebody who is not known.
            fields.unknown(None, false, true);
            return rest;
        }
        match user {
            "" => match state.lookup("HOME", self.facts) {
                Held::Text(home) => fields.quoted(&home),
                _ => fields.unknown(Some("HOME"), false, true),
            },
            "+" => match state.dirs.only() {
                Some(dir) => fields.quoted(dir),
                None => fields.unknown(Some("PWD"), false, true),
            },
            _ => fields.unknown(None, false, true),
        }
        rest
    }

    fn parameter(&mut self, parameter: &Parameter, quoted: bool, state: &mut State, fields: &mut Fields) {
        if let Some(subscript) = &parameter.subscript {
            let all =
                matches!(subscript.parts.as_slice(), [Part::Text { text, .. }] if text == "@" || text == "*");
            if !all {
                self.arithmetic(subscript, state);
            }
        }
        match parameter.change {
            Change::Slice => parameter.words.iter().for_each(|word| self.arithmetic(word, state)),
            Change::Indirect => self.opaque(OpaqueReason::Indirect, 0..0),
            _ => {}
        }
        for word in &parameter.words {
            self.expand_one(word, state);
        }
        let name = parameter.name.as_str();
        let held = if parameter.subscript.is_some() { Held::Unknown } else { state.lookup(name, self.facts) };
        match (parameter.change, held) {
            (Change::Plain, Held::Text(text)) => fields.value(&text, quoted),
            (Change::Default | Change::Assign, Held::Text(text)) if !text.is_empty() => {
                fields.value(&text, quoted);
            }
            (Change::Plain, Held::Number) | (Change::Length, _) => fields.unknown(Some(name), true, quoted),
            (Change::Assign, _) => {
                state.set(name, Held::Unknown);
                fields.unknown(Some(name), false, quoted);
            }
            _ => {
                let many = name == "@" || parameter.subscript.is_some();
                fields.unknown(Some(name), false, quoted && !many);
            }
        }
    }

    /// Arithmetic: every name in it is evaluated, and what it holds as well.
    pub(super) fn arithmetic(&mut self, inside: &Word, state: &mut State) {
        let mut names: Vec<String> = Vec::new();
        for part in &inside.parts {
            match part {
                Part::Text { text, .. } => {
                    names.extend(names_in(text));
                    if text.contains('`') || text.contains("$(") {
                        self.opaque(OpaqueReason::Arithmetic, inside.at.clone());
                    }
                }
                Part::Parameter { parameter, .. } => {
                    let word = Word { parts: vec![part.clone()], at: inside.at.clone() };
                    self.expand_one(&word, state);
                    if parameter.change != Change::Length {
                        names.push(parameter.name.clone());
                    }
                }
                Part::Arith { inside, .. } => self.arithmetic(inside, state),
                Part::Command { script, .. } => {
                    self.aside(|walker, state| walker.sequence(script, state), state);
                    self.opaque(OpaqueReason::Arithmetic, inside.at.clone());
                }
                Part::Process { script } => self.aside(|walker, state| walker.sequence(script, state), state),
            }
        }
        for name in names {
            let ours = state.held.contains_key(&name) || state.lost || self.function_body;
            if ours && !state.lookup(&name, self.facts).is_number() {
                self.opaque(OpaqueReason::Arithmetic, inside.at.clone());
            } else if name_length(&name) > 0 {
                state.set(&name, Held::Number);
            }
        }
    }

    /// `[[ … ]]`: its words, and arithmetic where it compares numbers.
    pub(super) fn test(&mut self, words: &[Word], state: &mut State) {
        const NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        for (index, word) in words.iter().enumerate() {
            self.expand_one(word, state);
            let plain = |index: Option<usize>| index.and_then(|index| words.get(index)).and_then(Word::plain);
            let before = plain(index.checked_sub(1));
            let behind = plain(index.checked_add(1));
            let compares = |word: Option<&str>| word.is_some_and(|word| NUMBERS.contains(&word));
            if compares(before) || compares(behind) {
                self.arithmetic(word, state);
            }
            if before == Some("-v") && word.plain().is_none_or(|name| name.contains('[')) {
                self.opaque(OpaqueReason::Arithmetic, word.at.clone());
            }
        }
    }
}

/// The names in an arithmetic text. `0x1f` has none.
fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|sign: char| sign.is_ascii_alphanumeric() || sign == '_') {
        let token = rest.get(start..).unwrap_or("");
        let length =
            token.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count().max(1);
        if name_length(token) > 0 {
            names.push(token.get(..length).unwrap_or("").to_owned());
        }
        rest = token.get(length..).unwrap_or("");
    }
    names
}

/// The words that one word becomes.
struct Fields {
    done: Vec<Arg>,
    open: Arg,
    /// Whether the open one exists even when it is empty.
    started: bool,
    splits: bool,
}

impl Fields {
    fn new(splits: bool) -> Self {
        Self { done: Vec::new(), open: Arg::default(), started: false, splits }
    }

    fn finish(mut self) -> Vec<Arg> {
        if self.started || !self.open.pieces.is_empty() || !self.splits {
            self.done.push(self.open);
        }
        self.done
    }

    fn quoted(&mut self, text: &str) {
        self.started = true;
        if !text.is_empty() {
            self.open.push(Piece::Text(text.to_owned()));
        }
    }

    fn unknown(&mut self, name: Option<&str>, number: bool, quoted: bool) {
        self.started = true;
        self.open.splits |= !quoted && !number && self.splits;
        self.open.push(Piece::Unknown { name: name.map(str::to_owned), number });
    }

    /// The value of a variable. Unquoted, it is split at blanks and its patterns are patterns.
    fn value(&mut self, text: &str, quoted: bool) {
        if quoted || !self.splits {
            self.quoted(text);
            return;
        }
        let blank = |sign: char| matches!(sign, ' ' | '\t' | '\n');
        if text.starts_with(blank) {
            self.cut();
        }
        let mut words = text.split(blank).filter(|word| !word.is_empty()).peekable();
        while let Some(word) = words.next() {
            self.pattern(word, false);
            if words.peek().is_some() {
                self.cut();
            }
        }
        if text.ends_with(blank) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.started || !self.open.pieces.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
        self.started = false;
    }

    /// Unquoted text: `*`, `?` and `[…]` are patterns.
    fn pattern(&mut self, text: &str, closes_later: bool) {
        if text.is_empty() {
            return;
        }
        self.started = true;
        let mut rest = text;
        while let Some(start) = rest.find(['*', '?', '[']) {
            let (before, sign) = rest.split_at(start);
            if !before.is_empty() {
                self.open.push(Piece::Text(before.to_owned()));
            }
            let length = if sign.starts_with('[') {
                // A `]` right behind the bracket, or behind its `!`, belongs to the class.
                let skip =
                    1 + usize::from(sign.get(1..).is_some_and(|behind| behind.starts_with(['!', '^'])));
                let skip = skip + usize::from(sign.get(skip..).is_some_and(|behind| behind.starts_with(']')));
                sign.get(skip..).and_then(|behind| behind.find(']')).map(|length| skip + length + 1)
            } else {
                Some(1)
            };
            rest = match length {
                Some(length) => {
                    self.open.push(Piece::Glob(sign.get(..length).unwrap_or("*").to_owned()));
                    sign.get(length..).unwrap_or("")
                }
                None if closes_later => {
                    self.open.push(Piece::Unknown { name: None, number: false });
                    sign.get(1..).unwrap_or("")
                }
                None => {
                    self.open.push(Piece::Text("[".to_owned()));
                    sign.get(1..).unwrap_or("")
                }
            };
        }
        if !rest.is_empty() {
            self.open.push(Piece::Text(rest.to_owned()));
        }
    }
}
