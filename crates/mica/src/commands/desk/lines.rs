//! Where lines come from: a keyboard with an editor and a memory, or a pipe.

use std::collections::VecDeque;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

use crate::terminal::{Input, Terminal};

/// Where lines come from.
pub struct From {
    lines: Source,
    /// Lines that came while nobody waited for one.
    ahead: VecDeque<String>,
    /// Whether the end came then.
    ended: bool,
}

enum Source {
    /// Somebody types.
    Keyboard(Terminal),
    /// Something else gives them.
    Pipe(Lines<BufReader<Stdin>>),
}

impl From {
    /// Standard input, as it comes.
    pub fn pipe() -> Self {
        Self {
            lines: Source::Pipe(BufReader::new(tokio::io::stdin()).lines()),
            ahead: VecDeque::new(),
            ended: false,
        }
    }

    /// Somebody who types.
    pub fn keyboard(terminal: Terminal) -> Self {
        Self { lines: Source::Keyboard(terminal), ahead: VecDeque::new(), ended: false }
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
        if let Some(line) = self.ahead.pop_front() {
            return Input::Line(line);
        }
        if self.ended {
            return Input::End;
        }
        match &mut self.lines {
            Source::Keyboard(terminal) => terminal.line(prompt).await,
            Source::Pipe(lines) => tokio::select! {
                line = lines.next_line() => line.ok().flatten().map_or(Input::End, Input::Line),
                _ = tokio::signal::ctrl_c() => Input::Interrupt,
            },
        }
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
            self.ahead.extend(terminal.unheard());
        }
    }

    /// A line came while nobody waited for one.
    pub fn came(&mut self, line: String) {
        if !line.trim().is_empty() {
            self.ahead.push_back(line);
        }
    }

    /// Puts what came while nobody waited into the next line instead of taking it: whoever wrote it did not know what
    /// it would be an answer to. Says whether there was something.
    pub fn hold(&mut self) -> bool {
        let held: Vec<String> = self.ahead.drain(..).collect();
        self.draft(&held.join(" "));
        !held.is_empty()
    }

    /// What is typed while something runs. A pipe waits with its lines.
    pub async fn typed(&mut self) -> Input {
        match &mut self.lines {
            Source::Keyboard(terminal) => tokio::select! {
                input = terminal.typed() => input.unwrap_or(Input::End),
                _ = tokio::signal::ctrl_c() => Input::Interrupt,
            },
            Source::Pipe(_) => {
                let _ = tokio::signal::ctrl_c().await;
                Input::Interrupt
            }
        }
    }

    /// Puts something into the next line, for the person to send or to change.
    pub fn draft(&mut self, text: &str) {
        if let Source::Keyboard(terminal) = &mut self.lines {
            terminal.draft(text);
        }
    }
}
