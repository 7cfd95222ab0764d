//! `/memory`: the person looks at the memory and changes it. What they type themselves needs no question.

use async_trait::async_trait;
use mica_ext::concern::Failure;
use mica_ext::memory::{Memory, MemoryError, Scope, Section};
use mica_ext::{Command, Typed};

/// What it is called.
pub const NAME: &str = "memory";

/// What can be typed.
const USE: &str =
    "/memory shows it; /memory add [global] WORDS adds a note; /memory forget [global] WORDS takes one out";

/// The command.
pub struct MemoryCommand {
    memory: Memory,
}

impl MemoryCommand {
    /// For this memory.
    pub fn new(memory: Memory) -> Self {
        Self { memory }
    }
}

#[async_trait]
impl Command for MemoryCommand {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "what is remembered for later sessions; `add WORDS` and `forget WORDS` change it"
    }

    async fn run(&self, arguments: &str) -> Result<Typed, Failure> {
        let (memory, arguments) = (self.memory.clone(), arguments.trim().to_owned());
        let done = tokio::task::spawn_blocking(move || typed(&memory, &arguments)).await;
        done.map_err(|error| error.to_string())?.map(|text| Typed::Handled(Some(text)))
    }
}

fn typed(memory: &Memory, arguments: &str) -> Result<String, Failure> {
    let told = |error: MemoryError| error.told();
    let (verb, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let (scope, words) = match rest.trim().split_once(' ') {
        Some(("global", words)) => (Scope::Global, words),
        Some(("project", words)) => (Scope::Project, words),
        _ => (Scope::Project, rest.trim()),
    };
    match verb {
        "" | "show" => Ok(shown(memory)),
        "add" if !words.is_empty() => {
            let line = memory.add(scope, Section::Context, words).map_err(told)?;
            Ok(format!("remembered in {}: {line}", memory.path(scope).display()))
        }
        "forget" if !words.is_empty() => {
            let line = memory.forget(scope, words).map_err(told)?;
            Ok(format!("no longer in {}: {line}", memory.path(scope).display()))
        }
        _ => Ok(USE.to_owned()),
    }
}

/// All of it, for people.
pub fn shown(memory: &Memory) -> String {
    let mut text = String::new();
    for scope in Scope::ALL {
        let notes = match memory.notes(scope) {
            Ok(Some(notes)) => notes.trim().to_owned(),
            Ok(None) => "(nothing)".to_owned(),
            Err(error) => error.told(),
        };
        let notes = crate::render::question::plain_lines(&notes);
        text.push_str(&format!("{} memory, {}\n{notes}\n\n", scope.name(), memory.path(scope).display()));
    }
    text.trim_end().to_owned()
}
