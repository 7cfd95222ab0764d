//! Where lines come from: a keyboard with an editor and a memory, or a pipe.

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

use crate::terminal::{Input, Terminal};

/// Where lines come from.
pub enum From {
    /// Somebody types.
    Keyboard(Terminal),
    /// Something else gives them.
    Pipe(Lines<BufReader<Stdin>>),
}

impl From {
    /// Standard input, as it comes.
    pub fn pipe() -> Self {
        Self::Pipe(BufReader::new(tokio::io::stdin()).lines())
    }

    /// Whether somebody types.
    pub fn is_keyboard(&self) -> bool {
        matches!(self, Self::Keyboard(_))
    }

    /// The next line. To be waited for until it comes: a prompt is shown once.
    pub async fn next(&mut self, prompt: &str) -> Input {
        match self {
            Self::Keyboard(terminal) => terminal.line(prompt).await,
            Self::Pipe(lines) => tokio::select! {
                line = lines.next_line() => line.ok().flatten().map_or(Input::End, Input::Line),
                _ = tokio::signal::ctrl_c() => Input::Interrupt,
            },
        }
    }

    /// Something runs from now on: what is typed is gathered.
    pub fn watch(&self) {
        if let Self::Keyboard(terminal) = self {
            terminal.watch();
        }
    }

    /// Nothing runs any more. What was typed but not sent is in the next line.
    pub async fn unwatch(&mut self) {
        if let Self::Keyboard(terminal) = self {
            terminal.unwatch().await;
        }
    }

    /// What is typed while something runs. A pipe waits with its lines.
    pub async fn typed(&mut self) -> Input {
        match self {
            Self::Keyboard(terminal) => tokio::select! {
                input = terminal.typed() => input.unwrap_or(Input::End),
                _ = tokio::signal::ctrl_c() => Input::Interrupt,
            },
            Self::Pipe(_) => {
                let _ = tokio::signal::ctrl_c().await;
                Input::Interrupt
            }
        }
    }

    /// Puts something into the next line, for the person to send or to change.
    pub fn draft(&mut self, text: &str) {
        if let Self::Keyboard(terminal) = self {
            terminal.draft(text);
        }
    }
}
