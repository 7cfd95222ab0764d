//! What a person types. One thread owns the keyboard: it edits a line when nothing runs, and listens for whole lines
//! while something does.

use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tokio::sync::mpsc;

/// Something a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C at the prompt.
    Interrupt,
    /// Ctrl-D, or the end of the input.
    End,
}

/// What the keyboard's thread should do next.
enum Task {
    /// Show a prompt and edit a line.
    Edit(String),
    /// Listen for lines until told otherwise.
    Watch,
}

/// The keyboard.
pub struct Terminal {
    tasks: SyncSender<Task>,
    inputs: mpsc::Receiver<Input>,
    watching: Arc<AtomicBool>,
}

/// Lines that were typed ahead. A person does not type more; a pipe waits.
const AHEAD: usize = 64;

impl Terminal {
    /// Takes the keyboard. With a person at it, lines can be edited and are remembered in `history`.
    pub fn open(person: bool, history: Option<PathBuf>) -> Self {
        let (tasks, work) = sync_channel(4);
        let (sender, inputs) = mpsc::channel(AHEAD);
        let watching = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&watching);
        std::thread::spawn(move || keyboard(&work, &sender, &flag, person, history));
        Self { tasks, inputs, watching }
    }

    /// Asks for a line.
    pub async fn line(&mut self, prompt: &str) -> Input {
        if self.tasks.send(Task::Edit(prompt.to_owned())).is_err() {
            return Input::End;
        }
        self.inputs.recv().await.unwrap_or(Input::End)
    }

    /// Listens for lines while something runs.
    pub fn watch(&self) {
        self.watching.store(true, Ordering::SeqCst);
        let _ = self.tasks.send(Task::Watch);
    }

    /// Stops listening.
    pub fn unwatch(&self) {
        self.watching.store(false, Ordering::SeqCst);
    }

    /// The next line that was typed meanwhile.
    pub async fn typed(&mut self) -> Option<Input> {
        self.inputs.recv().await
    }
}

fn keyboard(
    work: &Receiver<Task>,
    inputs: &mpsc::Sender<Input>,
    watching: &AtomicBool,
    person: bool,
    history: Option<PathBuf>,
) {
    let mut editor = person.then(|| Editor::new(history)).flatten();
    while let Ok(task) = work.recv() {
        let input = match task {
            Task::Edit(prompt) => match &mut editor {
                Some(editor) => editor.line(&prompt),
                None => plain_line(),
            },
            Task::Watch => {
                watch(inputs, watching);
                continue;
            }
        };
        if inputs.blocking_send(input).is_err() {
            return;
        }
    }
}

/// Passes on whole lines while the flag is up. Looks before it reads, so that no line is taken from the editor that
/// comes after.
fn watch(inputs: &mpsc::Sender<Input>, watching: &AtomicBool) {
    while watching.load(Ordering::SeqCst) {
        if !is_ready() {
            continue;
        }
        let input = plain_line();
        let ended = input == Input::End;
        if inputs.blocking_send(input).is_err() || ended {
            return;
        }
    }
}

/// Whether a line waits on standard input; waits a moment for one.
#[cfg(unix)]
fn is_ready() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    poll(&mut fds, Some(&moment)).is_ok_and(|ready| ready > 0)
}

/// Elsewhere lines are only taken at the prompt.
#[cfg(not(unix))]
#[allow(clippy::disallowed_methods, reason = "there is nothing to wait on; the flag ends it")]
fn is_ready() -> bool {
    std::thread::sleep(std::time::Duration::from_millis(100));
    false
}

fn plain_line() -> Input {
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => Input::End,
        Ok(_) => Input::Line(line.trim_end_matches(['\n', '\r']).to_owned()),
    }
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

    fn line(&mut self, prompt: &str) -> Input {
        match self.editor.readline(prompt) {
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
