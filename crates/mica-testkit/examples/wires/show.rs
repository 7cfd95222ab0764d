//! What the demo prints: one line per block, aligned, coloured only on a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::Instant;

use mica_ai::endpoint::Choice;
use mica_ai::{StreamEvent, Usage};

use crate::setup::Target;

/// Where lines go.
pub(crate) struct Screen {
    colour: bool,
    width: usize,
}

/// Prints a line. A closed pipe is no reason to panic.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a problem.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

const DIM: &str = "2";
const BOLD: &str = "1";
const CYAN: &str = "36";
const GREEN: &str = "32";
const MAGENTA: &str = "35";
const YELLOW: &str = "33";
const RED: &str = "31";

/// The width of everything before the words of a block.
const MARGIN: usize = 36;

impl Screen {
    /// The terminal this program runs in, or whatever stands in for one.
    pub(crate) fn of_this_terminal() -> Self {
        Self { colour: std::io::stdout().is_terminal(), width: 120 }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Says who will answer.
    pub(crate) fn intro(&self, target: &Target) {
        match &target.server {
            Some(server) => {
                line(&self.paint(BOLD, "No endpoint is asked: a scripted model answers."));
                let text = format!(
                    "It plays over real HTTP at {}, on all three wires. Its words are a script; framing, usage, cache and \
                     prices are computed.\n\
                     For a real model set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME with AZURE_OPENAI_API_KEY, \
                     ANTHROPIC_FOUNDRY_RESOURCE with ANTHROPIC_FOUNDRY_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY or \
                     MICA_LOCAL_BASE_URL, and say --model NAME.",
                    server.url("")
                );
                for text in wrap(&text, self.width) {
                    line(&text);
                }
            }
            None => line(&self.paint(BOLD, "A configured endpoint answers; tokens may cost money.")),
        }
    }

    /// Begins a conversation.
    pub(crate) fn heading(&self, choice: &Choice) {
        line("");
        let title = format!("{}  {} at {}", choice.dialect, choice.model.id, choice.endpoint.name);
        line(&format!("{}  {}", self.paint(BOLD, &title), self.paint(DIM, &choice.url())));
    }

    /// Shows what somebody else than the model said.
    pub(crate) fn said(&self, who: &str, text: &str) {
        self.row("", who, CYAN, "", text);
    }

    fn row(&self, time: &str, what: &str, colour: &str, count: &str, text: &str) {
        let head = format!(
            "{} {} {} ",
            self.paint(DIM, &format!("{time:>8}")),
            self.paint(colour, &format!("{what:<9}")),
            self.paint(DIM, &format!("{count:>15}"))
        );
        let mut lines = wrap(text, self.width - MARGIN).into_iter();
        line(&format!("{head} {}", lines.next().unwrap_or_default()));
        for rest in lines {
            line(format!("{:MARGIN$}{rest}", "").trim_end());
        }
    }

    /// Watches an answer that was asked for at `began`.
    pub(crate) fn watch(&self, began: Instant) -> Watch<'_> {
        Watch { screen: self, began, first: None, open: BTreeMap::new() }
    }
}

/// An answer that is being shown.
pub(crate) struct Watch<'a> {
    screen: &'a Screen,
    began: Instant,
    first: Option<Instant>,
    open: BTreeMap<usize, Open>,
}

/// A block that is not complete.
#[derive(Default)]
struct Open {
    what: String,
    text: String,
    deltas: usize,
}

impl Watch<'_> {
    /// Takes an event: shows a block when it is complete, and the end.
    pub(crate) fn event(&mut self, event: &StreamEvent, now: Instant) {
        if event.is_output() {
            self.first.get_or_insert(now);
        }
        match event {
            StreamEvent::Retry(retry) => {
                let wait = format!("again in {:.1} s", retry.wait.as_secs_f64());
                self.screen.row(&self.at(now), "retry", YELLOW, &wait, &retry.error.to_string());
            }
            StreamEvent::TextStart { block, .. } => self.open(*block, "text"),
            StreamEvent::ThinkingStart { block } => self.open(*block, "thinking"),
            StreamEvent::CallStart { block, tool, .. } => self.open(*block, &format!("call {tool}")),
            StreamEvent::TextDelta { block, text }
            | StreamEvent::ThinkingDelta { block, text }
            | StreamEvent::CallDelta { block, json: text } => {
                let open = self.open.entry(*block).or_default();
                open.text.push_str(text);
                open.deltas += 1;
            }
            StreamEvent::TextEnd { block }
            | StreamEvent::ThinkingEnd { block }
            | StreamEvent::CallEnd { block } => self.close(*block, now),
            StreamEvent::Done { message } => {
                let first = self.first.map_or_else(|| "–".to_owned(), |first| self.at(first));
                let text =
                    format!("{:?}, first words after {first}; {}", message.stop, tokens(&message.usage));
                self.screen.row(&self.at(now), "done", GREEN, "", &text);
            }
            StreamEvent::Error { error, .. } => {
                self.screen.row(&self.at(now), "failed", RED, error.kind(), &error.for_user());
            }
            StreamEvent::Image { .. } => self.screen.row(&self.at(now), "image", MAGENTA, "", "a picture"),
            StreamEvent::Start { .. } | StreamEvent::Usage(_) => {}
        }
    }

    fn open(&mut self, block: usize, what: &str) {
        self.open.insert(block, Open { what: what.to_owned(), ..Open::default() });
    }

    fn close(&mut self, block: usize, now: Instant) {
        let Some(open) = self.open.remove(&block) else { return };
        let count = format!("{} deltas", open.deltas);
        let (what, text) = match open.what.strip_prefix("call ") {
            Some(tool) => ("call", format!("{tool} {}", open.text)),
            None => (open.what.as_str(), open.text),
        };
        let colour = match what {
            "thinking" => DIM,
            "call" => MAGENTA,
            _ => BOLD,
        };
        self.screen.row(&self.at(now), what, colour, &count, &text);
    }

    fn at(&self, now: Instant) -> String {
        format!("{:.2} s", now.duration_since(self.began).as_secs_f64())
    }
}

/// Tokens and money in words.
fn tokens(usage: &Usage) -> String {
    let mut text = format!("{} in", usage.input);
    if usage.cache_read > 0 {
        let _ =
            write!(text, " ({} read from cache, {:.0} %)", usage.cache_read, 100.0 * usage.cache_hit_ratio());
    }
    if usage.cache_write > 0 {
        let _ = write!(text, " ({} written to cache)", usage.cache_write);
    }
    let _ = write!(text, ", {} out", usage.output);
    if usage.reasoning > 0 {
        let _ = write!(text, " ({} thinking)", usage.reasoning);
    }
    match usage.cost {
        Some(cost) => {
            let _ = write!(text, ", {}", cost.total());
        }
        None => text.push_str(", price unknown"),
    }
    text
}

/// Breaks text at spaces. Line breaks in it stay; a long word goes over the edge and not in two.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}
