//! Where lines come from: a keyboard with an editor and a memory, or a pipe.
//!
//! Promise: what is typed keeps its order, whether it was typed at a prompt or while something ran, sent or half written.

use std::collections::VecDeque;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader, Stdin};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::terminal::{Input, Terminal};

/// Bytes of a line of a pipe at most. What is said is shorter.
const LONGEST: usize = 1 << 20;

/// Where lines come from.
pub struct From {
    lines: Source,
    typed: Typed,
    /// Whether the end came while nobody waited for a line.
    ended: bool,
    /// Ctrl-C where no key says so.
    signal: Option<Signal>,
    /// Why the last line could not be taken.
    problem: Option<String>,
}

enum Source {
    /// Somebody types.
    Keyboard(Terminal),
    /// Something else gives them.
    Pipe(BufReader<Stdin>),
}

/// What was typed while nobody waited for it, the oldest first: what was not sent, then lines, then the beginning of one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Typed {
    /// What is put into prompts, one after the other, for the person to send or to change.
    held: VecDeque<String>,
    /// Lines that were sent.
    ahead: VecDeque<String>,
    /// What was typed of a line that was not sent yet.
    rest: String,
}

/// What a prompt gets of it.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// A line, as if it had been typed there.
    Line(String),
    /// What the prompt begins with.
    Begins(String),
}

impl Typed {
    /// A line came, or the rest of one.
    fn came(&mut self, line: &str) {
        let line = format!("{}{line}", std::mem::take(&mut self.rest));
        if !line.trim().is_empty() {
            self.ahead.push_back(line);
        }
    }

    /// What was sent is put into prompts instead. Says whether there was something.
    fn hold(&mut self) -> bool {
        let is_some = !self.ahead.is_empty();
        self.held.append(&mut self.ahead);
        is_some
    }

    /// What the next prompt gets.
    fn next(&mut self) -> Next {
        if self.held.is_empty() {
            let line = self.ahead.pop_front();
            return line.map_or_else(|| Next::Begins(std::mem::take(&mut self.rest)), Next::Line);
        }
        // What was typed behind something that waits in a prompt waits behind it.
        self.hold();
        if !self.rest.is_empty() {
            self.held.push_back(std::mem::take(&mut self.rest));
        }
        Next::Begins(self.held.pop_front().unwrap_or_default())
    }
}

impl From {
    /// Standard input, as it comes.
    pub fn pipe() -> Self {
        Self::of(Source::Pipe(BufReader::new(tokio::io::stdin())))
    }

    /// Somebody who types.
    pub fn keyboard(terminal: Terminal) -> Self {
        Self::of(Source::Keyboard(terminal))
    }

    fn of(lines: Source) -> Self {
        Self { lines, typed: Typed::default(), ended: false, signal: interrupts(), problem: None }
    }

    /// The end came: it is the next thing that is read.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Whether somebody types.
    pub fn is_keyboard(&self) -> bool {
        matches!(self.lines, Source::Keyboard(_))
    }

    /// The next line. To be waited for until it comes: a prompt is shown once.
    pub async fn next(&mut self, prompt: &str) -> Input {
        let begins = match self.typed.next() {
            Next::Line(line) => return Input::Line(line),
            Next::Begins(_) if self.ended => return Input::End,
            Next::Begins(text) => text,
        };
        match &mut self.lines {
            Source::Keyboard(terminal) => {
                terminal.draft(&begins);
                let input = terminal.line(prompt).await;
                // What comes from here on is meant for what this line begins.
                self.signal = interrupts();
                input
            }
            Source::Pipe(lines) => tokio::select! {
                line = read(lines) => match line {
                    None => Input::End,
                    Some(Ok(line)) => Input::Line(line),
                    Some(Err(problem)) => {
                        self.problem = Some(problem);
                        Input::Cleared
                    }
                },
                () = interrupted(&mut self.signal) => Input::Interrupt,
            },
        }
    }

    /// Why the last line could not be taken, once.
    pub fn problem(&mut self) -> Option<String> {
        self.problem.take()
    }

    /// Something runs from now on: what is typed is gathered.
    pub fn watch(&self) {
        if let Source::Keyboard(terminal) = &self.lines {
            terminal.watch();
        }
    }

    /// Nothing runs any more. What was typed but not sent is in the next line.
    pub async fn unwatch(&mut self) {
        if let Source::Keyboard(terminal) = &mut self.lines {
            terminal.unwatch().await;
            terminal.unheard().iter().for_each(|line| self.typed.came(line));
            self.typed.rest.push_str(&terminal.undraft());
        }
    }

    /// A line came while nobody waited for one.
    pub fn came(&mut self, line: &str) {
        self.typed.came(line);
    }

    /// Puts what came while nobody waited into prompts instead of taking it: whoever wrote it did not know what it would be
    /// an answer to. Says whether there was something.
    pub fn hold(&mut self) -> bool {
        self.typed.hold()
    }

    /// What is typed while something runs. A pipe waits with its lines.
    pub async fn typed(&mut self) -> Input {
        let input = match &mut self.lines {
            Source::Keyboard(terminal) => tokio::select! {
                input = terminal.typed() => input.unwrap_or(Input::End),
                () = interrupted(&mut self.signal) => Input::Interrupt,
            },
            Source::Pipe(_) => {
                interrupted(&mut self.signal).await;
                Input::Interrupt
            }
        };
        if input == Input::Interrupt {
            // As at a prompt: who breaks off does not want the half line either.
            self.typed.rest.clear();
        }
        input
    }

    /// Puts something into the next line, for the person to send or to change.
    pub fn draft(&mut self, text: &str) {
        self.typed.held.push_front(text.to_owned());
    }
}

fn interrupts() -> Option<Signal> {
    // Who cannot be told ends as programs do.
    signal(SignalKind::interrupt()).ok()
}

/// Waits for Ctrl-C.
async fn interrupted(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// The next line of a pipe, or why it cannot be taken: half of a line, or another than was meant, is never done.
async fn read(lines: &mut (impl AsyncBufRead + Unpin)) -> Option<Result<String, String>> {
    let (mut line, mut length) = (Vec::new(), 0);
    loop {
        let bytes = lines.fill_buf().await.ok()?;
        if bytes.is_empty() {
            if length == 0 {
                return None;
            }
            break;
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        let free = LONGEST.saturating_sub(line.len());
        line.extend_from_slice(part.get(..part.len().min(free)).unwrap_or_default());
        length += part.len();
        let taken = part.len() + usize::from(end.is_some());
        lines.consume(taken);
        if end.is_some() {
            break;
        }
    }
    if length > LONGEST {
        return Some(Err(format!(
            "a line of {length} bytes is too long, and was not taken; {LONGEST} is the most"
        )));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Some(String::from_utf8(line).map_err(|error| {
        let shown: String = String::from_utf8_lossy(error.as_bytes()).chars().take(60).collect();
        format!("a line is no text in UTF-8, and was not taken: {shown}")
    }))
}

#[cfg(test)]
mod tests;
