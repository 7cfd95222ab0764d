//! What a person types. One thread owns the keyboard: it edits a line when nothing runs, and gathers whole lines while
//! something does.
//!
//! While a run goes on the terminal does not echo: a key would land in the middle of what is printed. What is typed is
//! shown on a row of its own instead, and the printer waits until it is sent.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rustyline::{EventHandler, ExternalPrinter};
use tokio::sync::mpsc;

use crate::render::question::plain;
use crate::render::text::TextPrinter;
use crate::terminal::bound::Pressed;
use crate::terminal::keys::Keys;

pub mod bound;
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
    /// A key that an extension bound. The next line begins as this one was.
    Key(String),
    /// The line is empty now, as [`Terminal::put_aside`] asked: every line from here on is an answer.
    Cleared,
}

/// Says something above the line that is being edited.
pub struct Asides(Box<dyn ExternalPrinter + Send>);

impl Asides {
    /// Prints whole lines. The one that is edited is shown again below them.
    pub fn print(&mut self, text: String) {
        // A terminal that is gone hears nothing.
        let _ = self.0.print(text);
    }
}

/// What the keyboard's thread should do next.
enum Task {
    /// Show a prompt and edit a line that begins as this. These keys end it, too.
    Edit { prompt: String, initial: String, keys: Vec<String> },
    /// Listen for lines until told otherwise.
    Watch,
}

/// What the keyboard's thread tells.
enum Told {
    Input(Input),
    /// It listens no more, and this was typed but not sent.
    Still(String),
    /// A key that was bound, and what the line was.
    Key(String, String),
}

/// The keyboard.
pub struct Terminal {
    tasks: SyncSender<Task>,
    told: mpsc::Receiver<Told>,
    watching: Arc<AtomicBool>,
    /// The number of the question that is open, 0 when none is: what was being typed is put aside until it is answered.
    /// Numbers, because one question may follow another before the keyboard's thread has looked.
    asking: Arc<AtomicU64>,
    questions: u64,
    /// Lines that were sent when nobody listened any more.
    ahead: VecDeque<Input>,
    /// What the next line begins as.
    draft: String,
    /// Keys that end a line.
    keys: Vec<String>,
}

/// The number that no question has.
const NO_QUESTION: u64 = 0;

/// Lines that were typed ahead. A person does not type more.
const AHEAD: usize = 64;

impl Terminal {
    /// Takes the keyboard. Lines can be edited and are remembered in `history`; what is typed while something runs is
    /// shown by `printer`.
    pub fn open(printer: Arc<TextPrinter>, history: Option<PathBuf>) -> Self {
        Self::taken(printer, history, None)
    }

    /// The same, for who has something to say while a line is edited.
    pub fn open_beside(printer: Arc<TextPrinter>, history: Option<PathBuf>) -> (Self, Option<Asides>) {
        let (sender, asides) = sync_channel(1);
        let terminal = Self::taken(printer, history, Some(sender));
        (terminal, asides.recv().ok().flatten())
    }

    fn taken(
        printer: Arc<TextPrinter>,
        history: Option<PathBuf>,
        asides: Option<SyncSender<Option<Asides>>>,
    ) -> Self {
        let (tasks, work) = sync_channel(4);
        let (sender, told) = mpsc::channel(AHEAD);
        let watching = Arc::new(AtomicBool::new(false));
        let asking = Arc::new(AtomicU64::new(NO_QUESTION));
        let flags = Flags { watching: Arc::clone(&watching), asking: Arc::clone(&asking) };
        std::thread::spawn(move || {
            let mut editor = Editor::new(history);
            if let Some(asides) = asides {
                let _ = asides.send(editor.as_mut().and_then(Editor::asides));
            }
            keyboard(&work, &sender, &flags, &printer, editor);
        });
        Self {
            tasks,
            told,
            watching,
            asking,
            questions: NO_QUESTION,
            ahead: VecDeque::new(),
            draft: String::new(),
            keys: Vec::new(),
        }
    }

    /// Binds these keys for the lines to come, and no others. Those that cannot be are left out.
    pub fn bind(&mut self, keys: Vec<String>) {
        self.keys = keys;
    }

    /// Asks for a line.
    pub async fn line(&mut self, prompt: &str) -> Input {
        if let Some(input) = self.ahead.pop_front() {
            return input;
        }
        let initial = std::mem::take(&mut self.draft);
        let (prompt, keys) = (prompt.to_owned(), self.keys.clone());
        if self.tasks.send(Task::Edit { prompt, initial, keys }).is_err() {
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

    /// Takes what the next line would begin as out again.
    pub fn undraft(&mut self) -> String {
        std::mem::take(&mut self.draft)
    }

    /// Listens for lines while something runs.
    pub fn watch(&self) {
        self.watching.store(true, Ordering::SeqCst);
        let _ = self.tasks.send(Task::Watch);
    }

    /// Puts what is being typed aside, because a question comes that it is no answer to. [`Input::Cleared`] says when it
    /// is done; lines that were sent before are no answers either.
    pub fn put_aside(&mut self) {
        self.questions += 1;
        self.asking.store(self.questions, Ordering::SeqCst);
    }

    /// The question is answered: what was put aside is being typed again.
    pub fn give_back(&self) {
        self.asking.store(NO_QUESTION, Ordering::SeqCst);
    }

    /// Stops listening. What was typed but not sent is in the next line.
    pub async fn unwatch(&mut self) {
        self.watching.store(false, Ordering::SeqCst);
        self.give_back();
        loop {
            match self.told.recv().await {
                None => return,
                // It was meant for the run that has ended.
                Some(Told::Input(Input::Interrupt | Input::Cleared) | Told::Key(..)) => {}
                Some(Told::Input(input)) => self.ahead.push_back(input),
                Some(Told::Still(rest)) => return self.draft(&rest),
            }
        }
    }

    /// Takes the lines that were sent when nobody listened any more.
    pub fn unheard(&mut self) -> Vec<String> {
        let (lines, rest): (Vec<Input>, Vec<Input>) =
            self.ahead.drain(..).partition(|input| matches!(input, Input::Line(_)));
        self.ahead.extend(rest);
        let text = |input| match input {
            Input::Line(line) => Some(line),
            _ => None,
        };
        lines.into_iter().filter_map(text).collect()
    }

    /// The next line that was typed meanwhile.
    pub async fn typed(&mut self) -> Option<Input> {
        match self.told.recv().await? {
            Told::Input(input) => Some(input),
            Told::Key(key, line) => {
                self.draft = line;
                Some(Input::Key(key))
            }
            Told::Still(_) => None,
        }
    }
}

/// What the keyboard's thread is told while it listens.
struct Flags {
    watching: Arc<AtomicBool>,
    asking: Arc<AtomicU64>,
}

fn keyboard(
    work: &Receiver<Task>,
    told: &mpsc::Sender<Told>,
    flags: &Flags,
    printer: &TextPrinter,
    mut editor: Option<Editor>,
) {
    let mut before = Before::default();
    while let Ok(task) = work.recv() {
        let answer = match task {
            Task::Edit { prompt, initial, keys } => match &mut editor {
                None => Told::Input(Input::End),
                Some(editor) => {
                    before.gather();
                    match before.inputs.pop_front() {
                        Some(Input::Line(line)) => editor.typed(&prompt, format!("{initial}{line}")),
                        Some(input) => Told::Input(input),
                        None => {
                            editor.bind(keys);
                            editor.line(&prompt, &format!("{initial}{}", std::mem::take(&mut before.rest)))
                        }
                    }
                }
            },
            Task::Watch => Told::Still(watch(told, flags, printer, std::mem::take(&mut before))),
        };
        if told.blocking_send(answer).is_err() {
            return;
        }
    }
}

/// What was typed before a prompt was there. The line editor drops what it reads behind the line that it takes, so none of
/// this is left to it.
#[derive(Default)]
struct Before {
    inputs: VecDeque<Input>,
    rest: String,
}

impl Before {
    /// Takes what was typed by now. It waits for nothing.
    fn gather(&mut self) {
        let mut keys = Keys::take();
        keys.begin(&std::mem::take(&mut self.rest));
        self.inputs.extend(keys.pending());
        self.rest = keys.line();
    }
}

/// Passes on whole lines while the flag is up, first those that came before. Returns what was typed but not sent.
fn watch(told: &mpsc::Sender<Told>, flags: &Flags, printer: &TextPrinter, before: Before) -> String {
    let mut keys = Keys::take();
    keys.begin(&before.rest);
    for input in before.inputs {
        if told.blocking_send(Told::Input(input)).is_err() {
            return String::new();
        }
    }
    let mut question = NO_QUESTION;
    while flags.watching.load(Ordering::SeqCst) {
        let asked = flags.asking.load(Ordering::SeqCst);
        if asked != question && asked == NO_QUESTION {
            keys.give_back();
        } else if asked != question {
            keys.put_aside();
            printer.untyped();
            if told.blocking_send(Told::Input(Input::Cleared)).is_err() {
                return String::new();
            }
        }
        question = asked;
        let before = keys.line().len();
        let inputs = keys.read();
        let sent = !inputs.is_empty();
        for input in inputs {
            match &input {
                Input::Line(line) => printer.typed(line),
                Input::Interrupt | Input::End | Input::Cleared | Input::Key(_) => printer.untyped(),
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
    keys.give_back();
    keys.line()
}

/// A line editor with a memory.
struct Editor {
    editor: rustyline::DefaultEditor,
    history: Option<PathBuf>,
    /// Keys of extensions that are bound.
    keys: Vec<String>,
    pressed: Pressed,
}

impl Editor {
    fn new(history: Option<PathBuf>) -> Option<Self> {
        let mut editor = rustyline::DefaultEditor::new().ok()?;
        if let Some(history) = &history {
            // The first time there is none.
            let _ = editor.load_history(history);
        }
        Some(Self { editor, history, keys: Vec::new(), pressed: Pressed::default() })
    }

    fn asides(&mut self) -> Option<Asides> {
        self.editor.create_external_printer().ok().map(|printer| Asides(Box::new(printer)))
    }

    fn bind(&mut self, keys: Vec<String>) {
        if keys == self.keys {
            return;
        }
        for key in self.keys.iter().filter_map(|key| bound::read(key).ok()) {
            self.editor.unbind_sequence(key);
        }
        for (name, key) in keys.iter().filter_map(|key| Some((key, bound::read(key).ok()?))) {
            self.editor.bind_sequence(key, EventHandler::Conditional(self.pressed.by(name)));
        }
        self.keys = keys;
    }

    /// A line that was typed before its prompt was there.
    fn typed(&mut self, prompt: &str, line: String) -> Told {
        let mut out = std::io::stdout().lock();
        // A terminal that is gone shows nothing.
        let _ = writeln!(out, "{prompt}{}", plain(&line)).and_then(|()| out.flush());
        self.keep(&line);
        Told::Input(Input::Line(line))
    }

    fn keep(&mut self, line: &str) {
        if !line.trim().is_empty() && self.editor.add_history_entry(line).unwrap_or(false) {
            self.remember();
        }
    }

    fn line(&mut self, prompt: &str, initial: &str) -> Told {
        let read = self.editor.readline_with_initial(prompt, (initial, ""));
        if let (Some(key), Ok(line)) = (self.pressed.take(), &read) {
            return Told::Key(key, line.clone());
        }
        Told::Input(match read {
            Ok(line) => {
                self.keep(&line);
                Input::Line(line)
            }
            Err(rustyline::error::ReadlineError::Interrupted) => Input::Interrupt,
            Err(_) => Input::End,
        })
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
