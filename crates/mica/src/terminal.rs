//! What a person types. One thread owns the keyboard: it edits a line when nothing runs, and gathers whole lines while
//! something does.
//!
//! While a run goes on the terminal does not echo: a key would land in the middle of what is printed. What is typed is
//! shown on a row of its own instead, and the printer waits until it is sent.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tokio::sync::mpsc;

use crate::render::text::TextPrinter;
use crate::terminal::keys::Keys;

mod keys;

/// Something a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the end of the input.
    End,
}

/// What the keyboard's thread should do next.
enum Task {
    /// Show a prompt and edit a line that begins as this.
    Edit { prompt: String, initial: String },
    /// Listen for lines until told otherwise.
    Watch,
}

/// What the keyboard's thread tells.
enum Told {
    Input(Input),
    /// It listens no more, and this was typed but not sent.
    Still(String),
}

/// The keyboard.
pub struct Terminal {
    tasks: SyncSender<Task>,
    told: mpsc::Receiver<Told>,
    watching: Arc<AtomicBool>,
    /// Lines that were sent when nobody listened any more.
    ahead: VecDeque<Input>,
    /// What the next line begins as.
    draft: String,
}

/// Lines that were typed ahead. A person does not type more.
const AHEAD: usize = 64;

impl Terminal {
    /// Takes the keyboard. Lines can be edited and are remembered in `history`; what is typed while something runs is
    /// shown by `printer`.
    pub fn open(printer: Arc<TextPrinter>, history: Option<PathBuf>) -> Self {
        let (tasks, work) = sync_channel(4);
        let (sender, told) = mpsc::channel(AHEAD);
        let watching = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&watching);
        std::thread::spawn(move || keyboard(&work, &sender, &flag, &printer, history));
        Self { tasks, told, watching, ahead: VecDeque::new(), draft: String::new() }
    }

    /// Asks for a line.
    pub async fn line(&mut self, prompt: &str) -> Input {
        if let Some(input) = self.ahead.pop_front() {
            return input;
        }
        let initial = std::mem::take(&mut self.draft);
        if self.tasks.send(Task::Edit { prompt: prompt.to_owned(), initial }).is_err() {
            return Input::End;
        }
        self.typed().await.unwrap_or(Input::End)
    }

    /// Puts something into the next line, for the person to send or to change.
    pub fn draft(&mut self, text: &str) {
        if !self.draft.is_empty() && !text.is_empty() {
            self.draft.push(' ');
        }
        // The editor has one row of text: a break would send it.
        self.draft.push_str(&text.replace('\n', " "));
    }

    /// Listens for lines while something runs.
    pub fn watch(&self) {
        self.watching.store(true, Ordering::SeqCst);
        let _ = self.tasks.send(Task::Watch);
    }

    /// Stops listening. What was typed but not sent is in the next line.
    pub async fn unwatch(&mut self) {
        self.watching.store(false, Ordering::SeqCst);
        loop {
            match self.told.recv().await {
                None => return,
                // It was meant for the run that has ended.
                Some(Told::Input(Input::Interrupt)) => {}
                Some(Told::Input(input)) => self.ahead.push_back(input),
                Some(Told::Still(rest)) => return self.draft(&rest),
            }
        }
    }

    /// The next line that was typed meanwhile.
    pub async fn typed(&mut self) -> Option<Input> {
        match self.told.recv().await? {
            Told::Input(input) => Some(input),
            Told::Still(_) => None,
        }
    }
}

fn keyboard(
    work: &Receiver<Task>,
    told: &mpsc::Sender<Told>,
    watching: &AtomicBool,
    printer: &TextPrinter,
    history: Option<PathBuf>,
) {
    let mut editor = Editor::new(history);
    while let Ok(task) = work.recv() {
        let answer = match task {
            Task::Edit { prompt, initial } => {
                Told::Input(editor.as_mut().map_or(Input::End, |editor| editor.line(&prompt, &initial)))
            }
            Task::Watch => Told::Still(watch(told, watching, printer)),
        };
        if told.blocking_send(answer).is_err() {
            return;
        }
    }
}

/// Passes on whole lines while the flag is up. Returns what was typed but not sent.
fn watch(told: &mpsc::Sender<Told>, watching: &AtomicBool, printer: &TextPrinter) -> String {
    let mut keys = Keys::take();
    while watching.load(Ordering::SeqCst) {
        let before = keys.line().len();
        let inputs = keys.read();
        let sent = !inputs.is_empty();
        for input in inputs {
            match &input {
                Input::Line(line) => printer.typed(line),
                Input::Interrupt | Input::End => printer.untyped(),
            }
            if told.blocking_send(Told::Input(input)).is_err() {
                return String::new();
            }
        }
        let line = keys.line();
        if !line.is_empty() {
            printer.typing(&line, keys.width());
        } else if before > 0 && !sent {
            printer.untyped();
        }
    }
    printer.untyped();
    keys.line()
}

/// A line editor with a memory.
struct Editor {
    editor: rustyline::DefaultEditor,
    history: Option<PathBuf>,
}

impl Editor {
    fn new(history: Option<PathBuf>) -> Option<Self> {
        let mut editor = rustyline::DefaultEditor::new().ok()?;
        if let Some(history) = &history {
            // The first time there is none.
            let _ = editor.load_history(history);
        }
        Some(Self { editor, history })
    }

    fn line(&mut self, prompt: &str, initial: &str) -> Input {
        match self.editor.readline_with_initial(prompt, (initial, "")) {
            Ok(line) => {
                if !line.trim().is_empty() && self.editor.add_history_entry(&line).unwrap_or(false) {
                    self.remember();
                }
                Input::Line(line)
            }
            Err(rustyline::error::ReadlineError::Interrupted) => Input::Interrupt,
            Err(_) => Input::End,
        }
    }

    fn remember(&mut self) {
        if let Some(history) = &self.history {
            if let Some(folder) = history.parent() {
                let _ = std::fs::create_dir_all(folder);
            }
            let _ = self.editor.append_history(history);
        }
    }
}
