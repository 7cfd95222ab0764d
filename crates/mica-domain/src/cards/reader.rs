//! Finds fences and links in an answer, while it is still being written.
//!
//! Promises: the pieces, put together as they were written, are the answer, letter for letter; they are the same however
//! the answer was cut on its way; of a fence or a link that is not whole yet nothing is given out. What is no card stays
//! text: code, fences of other kinds, fences whose content is not what their kind has.
//!
//! Models imitate what they see of themselves. So the lines that they see of an older card are a card, too, when they write
//! them instead of a fence.

use std::sync::Arc;

use mica_context::fence::OUTSIDE;
use serde_json::Value;

use super::kind::{PREFIX, Payload, Ready, SCHEME, follows};
use super::probe::id_of;
use super::view::SHOWN;

/// Bytes of a fence at most. A longer one is text: it would be held back for too long.
const LONGEST_FENCE: usize = 64 << 10;

/// Characters of a link at most, and bytes of a line that opens or closes a fence.
const LONGEST_LINE: usize = 600;

/// Lines of an imitated card at most.
const MOST_LINES: usize = 200;

/// Bytes before the mark of a fence at most.
const LONGEST_INDENT: usize = 100;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A link to a thing, inside words.
    Link(Href),
    /// A fence that is a card.
    Fence(Fence),
}

/// A link, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Href {
    /// The words that link.
    pub label: String,
    /// What it links to.
    pub thing: String,
    /// Its id, as it was written.
    pub id: String,
    /// The whole address.
    pub href: String,
    /// All of it, as it was written.
    pub raw: String,
}

/// A fence, as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Fence {
    /// The kind of card.
    pub kind: String,
    /// What it shows.
    pub payload: Written,
    /// All of it, as it was written.
    pub raw: String,
}

/// What is in a fence.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// Ids of things, as they were written, none of them twice.
    Ids {
        /// What they are.
        thing: String,
        /// The ids.
        ids: Vec<String>,
    },
    /// Everything there is to show.
    Data(Value),
}

impl Piece {
    /// As it was written.
    pub fn raw(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Link(link) => &link.raw,
            Self::Fence(fence) => &fence.raw,
        }
    }
}

/// Reads one text of an answer, bit by bit.
pub struct Reader {
    ready: Arc<Ready>,
    state: State,
    /// What was not given out yet. In `Line` never more than one line.
    held: String,
    out: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// A line begins, and may be the first of a fence.
    Start,
    /// In a line that begins no fence.
    Line,
    /// In the first line of a block of code, which was given out as far as it is there: whether it opens one is seen at its
    /// end.
    Opening { line: String },
    /// In a block of code, at the begin of a line.
    Code(Mark),
    /// In a line inside a block of code.
    CodeLine(Mark),
    /// In a card: all of it is held.
    Card { fence: Mark, kind: String, opening: usize },
    /// In the lines that a model sees of a card, written by a model: all of it is held, and whole until `lines`.
    Echo(Echo),
}

/// Lines that a model sees of a card, as far as they are there.
#[derive(Debug, Clone, PartialEq)]
struct Echo {
    kind: String,
    count: usize,
    ids: Vec<String>,
    lines: usize,
    /// Whether a boundary was begun around them, which then has to end, too.
    fenced: bool,
}

impl Echo {
    /// Whether a line is the next one.
    fn takes(&mut self, line: &str) -> bool {
        if self.ids.is_empty() && !self.fenced && is_boundary(line, "<") {
            self.fenced = true;
            return true;
        }
        if self.ids.len() == self.count {
            return self.fenced && is_boundary(line, "</");
        }
        let id = echoed(line);
        let is_next = id.is_some();
        self.ids.extend(id);
        is_next
    }

    /// Whether nothing more must come.
    fn is_whole(&self) -> bool {
        self.ids.len() == self.count
    }
}

/// Whether a line begins or ends the boundary that names stand behind.
fn is_boundary(line: &str, opens: &str) -> bool {
    let line = line.trim_end();
    let rest = line.strip_prefix(opens).and_then(|rest| rest.strip_prefix(OUTSIDE));
    rest.is_some_and(|rest| rest.ends_with('>') && rest.starts_with([' ', '>'])) && line.len() <= LONGEST_LINE
}

/// What a block of code is between.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mark {
    letter: char,
    length: usize,
}

impl Mark {
    /// The mark that a line begins with, and what is behind it.
    fn of(line: &str) -> Option<(Self, &str)> {
        let marked = line.trim_start_matches([' ', '\t']);
        let letter = marked.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
        let rest = marked.trim_start_matches(letter);
        let (indent, length) = (line.len() - marked.len(), marked.len() - rest.len());
        (length >= 3 && indent <= LONGEST_INDENT).then_some((Self { letter, length }, rest))
    }

    /// Whether a line is nothing but marks that close this one.
    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim_end_matches('\n');
        Self::of(line).is_some_and(|(mark, rest)| {
            let fits = mark.letter == self.letter && mark.length >= self.length;
            fits && rest.trim().is_empty() && line.len() <= LONGEST_LINE
        })
    }

    /// Whether a line that is not whole yet may come to close this one.
    fn may_be_closed_by(self, begun: &str) -> bool {
        let rest = begun.trim_start_matches([' ', '\t']);
        rest.trim_start_matches(self.letter).trim().is_empty() && begun.len() <= LONGEST_LINE
    }
}

/// What the begin of a line may come to be.
enum Begin {
    /// Not to be told yet.
    Open,
    /// A block of code, but no card.
    Code,
    /// Words.
    Words,
}

fn begin(begun: &str) -> Begin {
    if begun.starts_with(SHOWN) || (SHOWN.starts_with(begun) && !begun.is_empty()) {
        return if begun.len() <= LONGEST_LINE { Begin::Open } else { Begin::Words };
    }
    let line = begun.trim_start_matches([' ', '\t']);
    let Some((mark, rest)) = Mark::of(begun) else {
        let is_mark = |letter: char| line.chars().all(|other| other == letter);
        let may_be_mark = line.is_empty() || is_mark('`') || is_mark('~');
        let is_near = begun.len() - line.len() <= LONGEST_INDENT;
        return if may_be_mark && is_near { Begin::Open } else { Begin::Words };
    };
    let may_be_card = rest.starts_with(PREFIX) || PREFIX.starts_with(rest);
    let is_open = mark.letter == '`' && may_be_card && begun.len() <= LONGEST_LINE;
    if is_open { Begin::Open } else { Begin::Code }
}

/// The kind that the first line of a fence names.
fn named(line: &str) -> Option<(Mark, &str)> {
    let line = line.trim_end_matches('\n');
    let (mark, rest) = Mark::of(line)?;
    let kind = rest.strip_prefix(PREFIX)?.trim_end();
    let is_kind = mark.letter == '`' && line.len() <= LONGEST_LINE;
    is_kind.then_some((mark, kind))
}

impl Reader {
    /// A reader of one text.
    pub fn new(ready: Arc<Ready>) -> Self {
        Self { ready, state: State::Start, held: String::new(), out: Vec::new() }
    }

    /// All pieces of a text that is whole.
    pub fn all(ready: Arc<Ready>, text: &str) -> Vec<Piece> {
        let mut reader = Self::new(ready);
        let mut pieces = reader.push(text);
        for piece in reader.end() {
            join(&mut pieces, piece);
        }
        pieces
    }

    /// Takes more of the text; answers what can be given out.
    pub fn push(&mut self, more: &str) -> Vec<Piece> {
        for bit in more.split_inclusive('\n') {
            self.held.push_str(bit);
            self.step(bit.ends_with('\n'));
        }
        std::mem::take(&mut self.out)
    }

    /// Whether something is held back: a card that is being written, for example.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// The text ended; answers the rest. A fence that was never closed goes to the end of the text.
    pub fn end(mut self) -> Vec<Piece> {
        match std::mem::replace(&mut self.state, State::Start) {
            State::Card { fence, kind, opening } => self.close(fence, &kind, opening, true),
            State::Echo(mut echo) => {
                let last = self.held.split_off(echo.lines);
                if last.is_empty() || echo.takes(&last) {
                    self.held.push_str(&last);
                    self.echo(echo);
                } else {
                    self.echo(echo);
                    let is_mark = Mark::of(&last).is_some();
                    self.held = last;
                    if is_mark {
                        self.give_out();
                    } else {
                        self.words(true);
                    }
                }
            }
            State::Start if Mark::of(&self.held).is_none() => self.words(true),
            State::Line => self.words(true),
            _ => {
                let held = std::mem::take(&mut self.held);
                self.text(held);
            }
        }
        self.out
    }

    /// Goes on with what is held. `whole`: it ends with the end of a line.
    fn step(&mut self, whole: bool) {
        match self.state.clone() {
            State::Start if whole => self.first_line(),
            State::Start => match begin(&self.held) {
                Begin::Open => {}
                Begin::Code => self.state = State::Opening { line: self.give_out() },
                Begin::Words => {
                    self.state = State::Line;
                    self.words(false);
                }
            },
            State::Line => {
                self.words(whole);
                if whole {
                    self.state = State::Start;
                }
            }
            State::Opening { mut line } => {
                line.push_str(&self.give_out());
                self.state = match (whole, opened(&line)) {
                    (true, Some(fence)) => State::Code(fence),
                    (true, None) => State::Start,
                    (false, _) => State::Opening { line },
                };
            }
            State::Code(fence) if whole => {
                let line = self.give_out();
                self.state = if fence.is_closed_by(&line) { State::Start } else { State::Code(fence) };
            }
            State::Code(fence) if fence.may_be_closed_by(&self.held) => {}
            State::Code(fence) | State::CodeLine(fence) => {
                self.give_out();
                self.state = if whole { State::Code(fence) } else { State::CodeLine(fence) };
            }
            State::Echo(mut echo) => {
                let line = self.held.get(echo.lines..).unwrap_or_default();
                if !whole && line.len() <= LONGEST_LINE {
                    return;
                }
                let had = echo.is_whole();
                if whole && echo.takes(line) {
                    if echo.is_whole() && (had || !echo.fenced) {
                        self.state = State::Start;
                        self.echo(echo);
                    } else {
                        echo.lines = self.held.len();
                        self.state = State::Echo(echo);
                    }
                    return;
                }
                // What was there is a card, or was none. The line may begin something else.
                let line = self.held.split_off(echo.lines);
                self.echo(echo);
                (self.held, self.state) = (line, State::Start);
                self.step(whole);
            }
            State::Card { fence, kind, opening } => {
                if !whole {
                    self.too_long(fence);
                    return;
                }
                let last = self.held.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
                if fence.is_closed_by(last) {
                    self.state = State::Start;
                    self.close(fence, &kind, opening, false);
                } else {
                    self.too_long(fence);
                }
            }
        }
    }

    /// A whole line is held, and is the first thing in its line.
    fn first_line(&mut self) {
        if let Some((fence, kind)) = named(&self.held)
            && self.ready.card(kind).is_some()
        {
            self.state = State::Card { fence, kind: kind.to_owned(), opening: self.held.len() };
            return;
        }
        if let Some((kind, count)) = heading(&self.held, &self.ready) {
            let echo = Echo { kind, count, ids: Vec::new(), lines: self.held.len(), fenced: false };
            match count {
                0 => self.echo(echo),
                _ => self.state = State::Echo(echo),
            }
            return;
        }
        if Mark::of(&self.held).is_none() {
            self.words(true);
            return;
        }
        // Nothing is looked for in a line that begins with a mark, whether it opens something or not.
        let line = self.give_out();
        if let Some(fence) = opened(&line) {
            self.state = State::Code(fence);
        }
    }

    /// The lines of an imitated card are over.
    fn echo(&mut self, echo: Echo) {
        let Echo { kind, count, ids, .. } = echo;
        let raw = std::mem::take(&mut self.held);
        let value = ids.into_iter().collect::<Value>().to_string();
        match self
            .written(&kind, &value)
            .filter(|written| matches!(written, Written::Ids { ids, .. } if ids.len() == count))
        {
            Some(payload) => self.out.push(Piece::Fence(Fence { kind, payload, raw })),
            None => self.text(raw),
        }
    }

    /// A card that grows without an end is a block of code.
    fn too_long(&mut self, fence: Mark) {
        let whole = self.held.ends_with('\n');
        let last = self.held.rsplit('\n').next().unwrap_or_default();
        if self.held.len() > LONGEST_FENCE && (whole || !fence.may_be_closed_by(last)) {
            self.give_out();
            self.state = if whole { State::Code(fence) } else { State::CodeLine(fence) };
        }
    }

    /// A card is whole.
    fn close(&mut self, fence: Mark, kind: &str, opening: usize, at_end: bool) {
        let raw = std::mem::take(&mut self.held);
        let inner = raw.get(opening..).unwrap_or_default();
        // At the end of the text the last line may close the fence, and need not.
        let last = inner.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
        let inner = match (at_end, fence.is_closed_by(last)) {
            (_, true) => inner.trim_end_matches('\n').strip_suffix(last).unwrap_or_default(),
            (_, false) => inner,
        };
        match self.written(kind, inner) {
            Some(payload) => self.out.push(Piece::Fence(Fence { kind: kind.to_owned(), payload, raw })),
            None => self.text(raw),
        }
    }

    /// What a fence says, when it is what its kind has.
    fn written(&self, kind: &str, inner: &str) -> Option<Written> {
        let card = self.ready.card(kind)?;
        let value: Value = serde_json::from_str(inner).ok()?;
        let (Payload::One { of } | Payload::Many { of }) = &card.kind.payload else {
            let schema = card.schema.as_ref()?;
            return follows(schema, &value).ok().map(|()| Written::Data(value));
        };
        let mut ids = Vec::new();
        for id in listed(&value)? {
            let id = id_of(id)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let fits = match card.kind.payload {
            Payload::One { .. } => ids.len() == 1,
            _ => true,
        };
        fits.then(|| Written::Ids { thing: of.clone(), ids })
    }

    /// Gives out words, and links among them. Unless they are `whole`, a link that may still come is held back.
    fn words(&mut self, whole: bool) {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while let Some(at) = rest.find('[') {
            let (before, from) = rest.split_at(at);
            match link(from, &self.ready) {
                Linked::Whole(link) => {
                    self.text(before.to_owned());
                    rest = from.get(link.raw.len()..).unwrap_or_default();
                    self.out.push(Piece::Link(link));
                }
                Linked::Begun if !whole => {
                    self.text(before.to_owned());
                    from.clone_into(&mut self.held);
                    return;
                }
                Linked::Begun | Linked::None => {
                    let (bracket, behind) = from.split_at(1);
                    self.text(format!("{before}{bracket}"));
                    rest = behind;
                }
            }
        }
        self.text(rest.to_owned());
    }

    /// Gives out all that is held, as text.
    fn give_out(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.text(held.clone());
        held
    }

    fn text(&mut self, text: String) {
        join(&mut self.out, Piece::Text(text));
    }
}

/// Adds a piece; words are joined to those before them.
pub(crate) fn join(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (_, Piece::Text(text)) if text.is_empty() => {}
        (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

/// The kind and the number of things in the first line that a model sees of a card.
fn heading(line: &str, ready: &Ready) -> Option<(String, usize)> {
    let (kind, count) = line.trim_end().strip_prefix(SHOWN)?.strip_suffix(']')?.split_once(", ")?;
    let count = count.parse().ok().filter(|count| *count <= MOST_LINES)?;
    let has_ids = ready.card(kind)?.kind.payload.thing().is_some();
    (has_ids && line.trim_end_matches('\n').len() <= LONGEST_LINE).then(|| (kind.to_owned(), count))
}

/// The id in one of the other lines.
fn echoed(line: &str) -> Option<String> {
    let is_short = line.trim_end_matches('\n').len() <= LONGEST_LINE;
    let (number, rest) = line.trim_end().split_once(". ")?;
    let (_, id) = rest.strip_suffix(')')?.rsplit_once("(id: ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_short && is_number).then(|| id_of(&Value::from(id))).flatten()
}

/// The mark of the block of code that a line opens: what stands behind backquotes has none.
fn opened(line: &str) -> Option<Mark> {
    let (mark, rest) = Mark::of(line)?;
    (mark.letter == '~' || !rest.contains('`')).then_some(mark)
}

/// The ids in a payload: `{ "ids": […] }`, `{ "id": … }` or a list alone.
fn listed(value: &Value) -> Option<Vec<&Value>> {
    match value {
        Value::Array(list) => Some(list.iter().collect()),
        Value::Object(members) => match (members.get("ids"), members.get("id")) {
            (Some(Value::Array(list)), None) => Some(list.iter().collect()),
            (None, Some(id)) => Some(vec![id]),
            _ => None,
        },
        _ => None,
    }
}

enum Linked {
    /// A link to a thing.
    Whole(Href),
    /// It may come to be one.
    Begun,
    /// No such link.
    None,
}

/// What the text at a bracket is.
fn link(text: &str, ready: &Ready) -> Linked {
    let near = match text.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => text.get(..at).unwrap_or_default(),
        None => text,
    };
    let is_cut = near.len() < text.len();
    let begun = if is_cut { Linked::None } else { Linked::Begun };
    let Some(inner) = near.strip_prefix('[') else { return Linked::None };
    let Some(end) = inner.find(['[', ']', '\n']) else { return begun };
    let (label, behind) = inner.split_at(end);
    let Some(behind) = behind.strip_prefix(']') else { return Linked::None };
    let to = format!("({SCHEME}");
    let Some(address) = behind.strip_prefix(&to) else {
        return if to.starts_with(behind) { begun } else { Linked::None };
    };
    let Some(end) = address.find(|letter: char| letter == ')' || letter.is_whitespace()) else {
        return begun;
    };
    let (address, behind) = address.split_at(end);
    let Some((thing, id)) =
        address.split_once('/').filter(|(thing, id)| ready.thing(thing).is_some() && !id.is_empty())
    else {
        return Linked::None;
    };
    if !behind.starts_with(')') {
        return Linked::None;
    }
    let raw = near.get(..near.len() - behind.len() + 1).unwrap_or_default();
    Linked::Whole(Href {
        label: label.to_owned(),
        thing: thing.to_owned(),
        id: id.to_owned(),
        href: format!("{SCHEME}{address}"),
        raw: raw.to_owned(),
    })
}

#[cfg(test)]
mod tests;
