//! A run as text: the answer on standard output, what the agent does on standard error.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::{Ask, Event, EventKind, Listener};
use mica_ai::message::ResultStatus;
use mica_ai::{Message, StreamEvent, Usage};
use serde_json::Value;

use super::paint::{self, Style};
use super::question::{Length, Paint, plain, question};
use super::{checks, todos};
use mica_domain::keeping::word;

/// Who reads what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Somebody who watches. What the model thinks is shown, dimly, behind a mark.
    Person,
    /// Somebody, or something, that reads the answer later.
    Reader,
}

/// Prints events as they come.
pub struct TextPrinter {
    inner: Mutex<Inner>,
}

struct Inner {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    colour: bool,
    audience: Audience,
    /// Whether somebody watches `out`: then every piece is shown at once. A pipe gets whole lines, which costs a tenth.
    watched: bool,
    /// Whether the last thing that was printed left its line open.
    line_open: bool,
    /// Whether the open line is one of the model's thoughts, which are no part of the answer.
    thinks: bool,
    /// The last word of an open line of the answer.
    word: String,
    /// What the row of a person who types has on it.
    shown: String,
    /// What happened since a person began to type, told when they are done.
    held: Option<Vec<EventKind>>,
    /// What the run took so far.
    turns: u32,
    usage: Usage,
    /// The subagents at work, and in which turn each is.
    subagents: BTreeMap<String, u32>,
}

/// Columns of a row about a call. The smallest terminals in use have 80.
const WIDTH: usize = 79;

/// Tools whose calls are not announced.
const QUIET: [&str; 2] = [mica_tools::ask_user_question::NAME, mica_tools::todo_write::NAME];

/// What is kept for a person who types for long. Then it is told all the same.
const HELD: usize = 4096;

impl TextPrinter {
    /// Prints answers to `out` and everything else to `err`.
    pub fn new(
        out: impl Write + IsTerminal + Send + 'static,
        err: impl Write + Send + 'static,
        colour: bool,
        audience: Audience,
    ) -> Arc<Self> {
        let inner = Inner {
            watched: out.is_terminal(),
            out: Box::new(out),
            err: Box::new(err),
            colour,
            audience,
            line_open: false,
            thinks: false,
            word: String::new(),
            shown: String::new(),
            held: None,
            turns: 0,
            usage: Usage::default(),
            subagents: BTreeMap::new(),
        };
        Arc::new(Self { inner: Mutex::new(inner) })
    }

    /// Says something that no event tells.
    pub fn say(&self, mark: &str, text: &str) {
        // A reader that went away is no reason to stop working: the session has it all.
        let _ = self.inner().note(mark, text);
    }

    /// Says something that no event tells, but not into what a person types: it waits as events do.
    pub fn aside(&self, mark: &str, text: &str) {
        let mut inner = self.inner();
        let _ = if inner.held.is_some() {
            inner.tell(EventKind::Notice { text: text.to_owned() })
        } else {
            inner.note(mark, text)
        };
    }

    /// Asks a person about a call: not dim, because it waits for them.
    pub fn ask(&self, ask: &Ask, length: Length) {
        let mut inner = self.inner();
        let paint = if inner.colour { Paint::Colours } else { Paint::Plain };
        let _ = inner.ask(&question(ask, length, paint));
    }

    /// Asks a person what a running call wants to know.
    pub fn inquire(&self, question: &str) {
        let _ = self.inner().ask(question);
    }

    /// Says something to a person that they asked for, as it is.
    pub fn tell(&self, text: &str) {
        let _ = self.inner().plainly(text);
    }

    /// Shows what a person is typing, on a row of its own. What happens meanwhile is held back.
    pub fn typing(&self, line: &str, width: usize) {
        let _ = self.inner().typing(line, width);
    }

    /// What a person typed is sent. What happens is still held back, so that what is said to it comes first.
    pub fn typed(&self, line: &str) {
        let mut inner = self.inner();
        let _ = inner.typing("", 0).and_then(|()| writeln!(inner.err, "\r\x1b[K» {line}"));
    }

    /// The person types no more, and nothing is sent.
    pub fn untyped(&self) {
        let mut inner = self.inner();
        if inner.held.is_some() {
            let _ = write!(inner.err, "\r\x1b[K").and_then(|()| inner.err.flush());
        }
        let _ = inner.release();
    }

    /// Tells what was held back.
    pub fn release(&self) {
        let _ = self.inner().release();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Listener for TextPrinter {
    async fn event(&self, event: Event) {
        let _ = self.inner().tell(event.kind);
    }
}

impl Inner {
    /// Prints an event, or keeps it while somebody types.
    fn tell(&mut self, event: EventKind) -> std::io::Result<()> {
        match &mut self.held {
            None => self.print(&event),
            Some(held) => {
                held.push(event);
                if held.len() < HELD { Ok(()) } else { self.release() }
            }
        }
    }

    fn typing(&mut self, line: &str, width: usize) -> std::io::Result<()> {
        if self.held.is_none() {
            // A word that is cut goes to where the answer goes on.
            if self.colour && !self.word.is_empty() && self.line_open {
                write!(self.out, "\x1b[{}D\x1b[K", self.word.chars().count())?;
            } else {
                self.word.clear();
            }
            let word = std::mem::take(&mut self.word);
            self.end_line()?;
            self.word = word;
            self.held = Some(Vec::new());
        }
        // The end of a line that is too long for one row: a row can be cleared, several cannot.
        let room = width.saturating_sub(4);
        let hidden = line.chars().count().saturating_sub(room);
        let shown: String = line.chars().skip(hidden).collect();
        if shown != self.shown || shown.is_empty() {
            write!(self.err, "\r\x1b[K» {shown}")?;
            self.shown = shown;
        }
        self.err.flush()
    }

    fn release(&mut self) -> std::io::Result<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        self.shown.clear();
        if !self.word.is_empty() {
            self.line_open = true;
            self.out.write_all(self.word.as_bytes())?;
            self.out.flush()?;
        }
        for event in held {
            self.print(&event)?;
        }
        Ok(())
    }

    fn print(&mut self, event: &EventKind) -> std::io::Result<()> {
        match event {
            EventKind::Answer { delta, .. } => self.delta(delta)?,
            EventKind::AnswerEnd { .. } => self.end_line()?,
            // What they are about is shown as it should be read: the question when it is asked, the list when it is kept.
            EventKind::CallStart { tool, .. } if QUIET.contains(&tool.as_str()) => {}
            EventKind::CallEnd { details: Some(details), .. } => {
                if let Some(list) = todos::of(details) {
                    self.note("●", &list)?;
                }
                for row in checks::rows(details, WIDTH) {
                    self.row(row.mark, &row.text, row.style)?;
                }
                if let Some(mode) = details.get("mode").and_then(Value::as_str) {
                    self.note("…", &format!("{} mode", plain(mode)))?;
                }
            }
            EventKind::CallStart { label, arguments, .. } => {
                let room = WIDTH.saturating_sub(label.chars().count() + 3);
                self.note("●", format!("{label} {}", brief(arguments, room)).trim_end())?;
            }
            EventKind::Message { message: Message::ToolResult(result) }
                if result.status == ResultStatus::Failed =>
            {
                let text: Vec<String> = result
                    .content
                    .iter()
                    .filter_map(|content| match content {
                        mica_ai::Content::Text { text } => first_words(text),
                        mica_ai::Content::Image(_) => None,
                    })
                    .collect();
                self.note("✗", &format!("{}: {}", result.tool, text.join(" ")))?;
            }
            EventKind::Retry(retry) => {
                let wait = retry.wait.as_secs_f32();
                self.note(
                    "…",
                    &format!(
                        "{} (attempt {} of {}, again in {wait:.1} s)",
                        retry.error, retry.attempt, retry.attempts
                    ),
                )?;
            }
            EventKind::Window { change } => {
                self.note(
                    "…",
                    &format!(
                        "{}: {} ({} → {} tokens)",
                        change.kind.replace('_', " "),
                        change.reason,
                        change.before,
                        change.after
                    ),
                )?;
            }
            EventKind::Notice { text } => self.note("…", text)?,
            EventKind::Subagent { agent, event } => self.subagent(agent, event)?,
            EventKind::TurnStart { turn, .. } => self.turns = *turn,
            EventKind::Usage { usage } => self.usage = *usage,
            EventKind::RunEnd { .. } if self.usage.total() > 0 => {
                let taken = taken(self.turns, &std::mem::take(&mut self.usage));
                self.note("…", &taken)?;
            }
            // Among them what is asked: whoever takes the answer asks.
            _ => {}
        }
        Ok(())
    }

    /// A row for each step of a subagent: what it says is for the agent that sent it, and not shown.
    fn subagent(&mut self, agent: &str, event: &EventKind) -> std::io::Result<()> {
        let text = match event {
            EventKind::TurnStart { turn } => {
                self.subagents.insert(agent.to_owned(), *turn);
                return Ok(());
            }
            EventKind::CallStart { label, arguments, .. } => {
                let turn = self.subagents.get(agent).copied().unwrap_or(1);
                let head = format!("{agent} turn {turn}: {label} ");
                let room = WIDTH.saturating_sub(head.chars().count() + 2);
                format!("{head}{}", brief(arguments, room))
            }
            EventKind::Message { message: Message::ToolResult(result) }
                if result.status == ResultStatus::Failed =>
            {
                format!("{agent} {} did not work", result.tool)
            }
            EventKind::Retry(retry) => format!("{agent} {} (attempt {})", retry.error, retry.attempt),
            EventKind::Window { change } => {
                format!("{agent} {}: {}", change.kind.replace('_', " "), change.reason)
            }
            EventKind::RunEnd { outcome } => {
                let turns = self.subagents.remove(agent).unwrap_or(0);
                let turns = if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") };
                format!("{agent} {} after {turns}", word(outcome))
            }
            _ => return Ok(()),
        };
        self.note("↳", &text)
    }

    fn delta(&mut self, delta: &StreamEvent) -> std::io::Result<()> {
        match delta {
            StreamEvent::TextDelta { text, .. } => {
                self.line_open = !text.ends_with('\n');
                match text.rfind(char::is_whitespace) {
                    None => self.word.push_str(text),
                    Some(at) => self.word = text.get(at..).unwrap_or_default().trim_start().to_owned(),
                }
                self.out.write_all(text.as_bytes())?;
                if self.watched { self.out.flush() } else { Ok(()) }
            }
            StreamEvent::TextEnd { .. } => self.end_line(),
            StreamEvent::ThinkingDelta { text, .. } if self.audience == Audience::Person => {
                let mut shown = String::with_capacity(text.len() + 2);
                for piece in text.split_inclusive('\n') {
                    if !self.line_open {
                        shown.push_str("~ ");
                    }
                    shown.push_str(piece);
                    self.line_open = !piece.ends_with('\n');
                }
                self.thinks = self.line_open;
                let shown = if self.colour { format!("\x1b[2m{shown}\x1b[0m") } else { shown };
                self.err.write_all(shown.as_bytes())?;
                self.err.flush()
            }
            StreamEvent::ThinkingEnd { .. } if self.audience == Audience::Person => self.end_line(),
            _ => Ok(()),
        }
    }

    fn end_line(&mut self) -> std::io::Result<()> {
        self.word.clear();
        if self.line_open {
            self.line_open = false;
            // What is not the answer ends where it stands: standard output has the answer alone.
            if std::mem::take(&mut self.thinks) {
                return writeln!(self.err);
            }
            writeln!(self.out)?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// As [`Inner::end_line`]; what a person typed has ended it already.
    fn fresh_line(&mut self) -> std::io::Result<()> {
        if self.held.is_some() { Ok(()) } else { self.end_line() }
    }

    /// Asks, after all that was held back: somebody who is typing should know what they answer.
    fn ask(&mut self, question: &str) -> std::io::Result<()> {
        if self.held.is_some() {
            write!(self.err, "\r\x1b[K")?;
            self.release()?;
        }
        self.end_line()?;
        writeln!(self.err, "? {question}")
    }

    fn plainly(&mut self, text: &str) -> std::io::Result<()> {
        self.fresh_line()?;
        writeln!(self.out, "{}", text.trim_end())?;
        self.out.flush()
    }

    fn note(&mut self, mark: &str, text: &str) -> std::io::Result<()> {
        self.row(mark, text, Style::Dim)
    }

    fn row(&mut self, mark: &str, text: &str, style: Style) -> std::io::Result<()> {
        self.fresh_line()?;
        let paint = paint::Paint { colour: self.colour, width: WIDTH };
        // Standard error has no buffer, so a line is handed over whole and not in pieces.
        let line = format!("{}\n", paint.paint(style, &format!("{mark} {text}")));
        self.err.write_all(line.as_bytes())
    }
}

/// The first line of a result. One that only leads up to what somebody said inside a boundary has that as well, without
/// the boundary, which is for the model.
fn first_words(text: &str) -> Option<String> {
    let mut lines = text.lines();
    let first = plain(lines.next()?);
    let is_boundary = |line: &str| line.starts_with('<') && line.ends_with('>');
    let said = lines.next().filter(|line| is_boundary(line)).and_then(|_| lines.next());
    Some(match said.filter(|said| !is_boundary(said)) {
        Some(said) => format!("{first} {}", plain(said)),
        None => first,
    })
}

/// What a run took, in one row.
pub fn taken(turns: u32, usage: &Usage) -> String {
    let turns = if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") };
    let cached = match usage.cache_hit_ratio() * 100.0 {
        share if share >= 0.5 => format!(" ({share:.0} % from cache)"),
        _ => String::new(),
    };
    let cost = usage.cost.map(|cost| format!(", {}", cost.total())).unwrap_or_default();
    format!("{turns}, {} tokens in{cached}, {} out{cost}", usage.input, usage.output)
}

/// Arguments in one row of so many characters at most. What says where or what comes first, and no value takes all the room.
pub fn brief(arguments: &Value, longest: usize) -> String {
    let Value::Object(members) = arguments else { return clip(&plain(&arguments.to_string()), longest) };
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    let leads = |name: &str| matches!(name, "path" | "command");
    members.sort_by_key(|(name, _)| !leads(name));
    let mut text = String::new();
    let mut left = members.len();
    for (name, value) in members {
        let value = match value {
            Value::String(text) => plain(&text.replace('\n', "⏎")),
            other => plain(&other.to_string()),
        };
        let gap = if text.is_empty() { "" } else { " " };
        // Two for the mark that something is missing.
        let used = text.chars().count() + gap.len() + name.chars().count() + 1 + 2;
        // What is left is shared by those that still come; a path and a command are of more use whole.
        let room = longest.saturating_sub(used);
        let share = if leads(name) { room } else { room / left.max(1) };
        if share < 8 {
            text.push_str(" …");
            break;
        }
        text.push_str(&format!("{gap}{}={}", plain(name), clip(&value, share)));
        left -= 1;
    }
    text
}

fn clip(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_says_most_comes_first() {
        let check = |arguments: Value, expected: &str| assert_eq!(brief(&arguments, 40), expected);
        check(json!({ "background": true, "command": "mvn test" }), "command=mvn test background=true");
        check(
            json!({ "background": true, "command": "mvn -q -Dtest=One clean install verify" }),
            "command=mvn -q -Dtest=One clean insta… …",
        );
        check(json!({ "limit": 3, "path": "src/a.rs" }), "path=src/a.rs limit=3");
    }
}
