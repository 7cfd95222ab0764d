//! The plain interactive mode: a prompt, streaming text, tool lines, questions. What is typed while a run goes on steers
//! it; Ctrl-C stops it.

use anyhow::Result;
use mica_agent::{Ask, Decision, Outcome};
use mica_policy::mode::Mode;
use tokio::sync::mpsc;

use crate::questions::Question;
use crate::render::text::brief;
use crate::terminal::{Input, Terminal};
use crate::work::Work;

const HELP: &str = "\
/help              this
/mode [MODE]       how much may be done: ask, plan or edit
/compact [FOCUS]   summarise the conversation before the next answer
/usage             what the conversation took so far
/tools             what the model can call
/session           where this is kept
/quit              leave (also Ctrl-D)

While the agent works, what you type joins before its next step; Ctrl-C stops it.
";

/// Talks with a person until they leave.
///
/// # Errors
/// When the agent cannot be asked at all.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
pub async fn run(work: &Work, mut terminal: Terminal, mut questions: mpsc::Receiver<Question>) -> Result<()> {
    println!(
        "mica  {} at {}  ({} mode; /help)",
        work.choice.model.name,
        work.choice.endpoint.name,
        work.mode.get().name()
    );
    loop {
        let line = match terminal.line(&format!("{}> ", work.mode.get().name())).await {
            Input::Line(line) => line,
            Input::Interrupt => continue,
            Input::End => return Ok(()),
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(command) = line.strip_prefix('/') {
            match command_of(work, command).await {
                Said::Text(text) => println!("{}", text.trim_end()),
                Said::Quit => return Ok(()),
            }
            continue;
        }
        terminal.watch();
        let outcome = attend(work, line, &mut terminal, &mut questions).await;
        terminal.unwatch();
        match outcome? {
            Outcome::Completed => {}
            Outcome::Exhausted { limit } => eprintln!("… stopped: {limit}"),
            Outcome::Suspended { .. } => eprintln!("… waiting for an approval"),
            Outcome::Aborted => eprintln!("… stopped"),
            Outcome::Failed { error } => eprintln!("✗ {}", for_person(&error)),
        }
        for message in work.agent.take_back() {
            eprintln!("… not sent: {message:?}");
        }
    }
}

/// What to tell a person about a failure.
pub fn for_person(error: &mica_agent::RunError) -> String {
    match error {
        mica_agent::RunError::Model(error) => error.for_user(),
        other => other.to_string(),
    }
}

/// Runs a prompt while listening to the person.
#[allow(clippy::print_stderr, reason = "a program speaks")]
async fn attend(
    work: &Work,
    prompt: &str,
    terminal: &mut Terminal,
    questions: &mut mpsc::Receiver<Question>,
) -> Result<Outcome> {
    let running = work.prompt(prompt);
    tokio::pin!(running);
    let mut open: Option<Open> = None;
    loop {
        tokio::select! {
            outcome = &mut running => return outcome,
            Some(question) = questions.recv() => {
                let asking = Open { question, given: Vec::new() };
                asking.ask();
                open = Some(asking);
            }
            typed = terminal.typed() => match (typed, open.take()) {
                (Some(Input::Line(line)), Some(asked)) => open = asked.answered(&line),
                (Some(Input::Line(line)), None) if !line.trim().is_empty() => match work.agent.steer(line.trim()) {
                    Ok(()) => eprintln!("… joins before the next step"),
                    Err(full) => eprintln!("✗ {full}"),
                },
                (Some(Input::Line(_)), None) => {}
                (Some(Input::Interrupt | Input::End) | None, _) => work.agent.abort(),
            },
            _ = tokio::signal::ctrl_c() => work.agent.abort(),
        }
    }
}

/// A question that is being answered, one call after the other.
struct Open {
    question: Question,
    given: Vec<Decision>,
}

impl Open {
    fn current(&self) -> Option<&Ask> {
        self.question.asks.get(self.given.len())
    }

    #[allow(clippy::print_stderr, reason = "a program speaks")]
    fn ask(&self) {
        if let Some(ask) = self.current() {
            eprintln!("? {} {}", ask.call.name, brief(&ask.arguments));
            eprintln!("  {}. [y]es, [n]o, or say what to do instead:", ask.reason.trim_end_matches('.'));
        }
    }

    /// Takes an answer. `None` when all are given.
    fn answered(mut self, line: &str) -> Option<Self> {
        self.given.push(match line.trim() {
            "y" | "yes" => Decision::Allow,
            "" | "n" | "no" => Decision::Deny { reason: "no".to_owned() },
            other => Decision::Deny { reason: other.to_owned() },
        });
        if self.given.len() == self.question.asks.len() {
            let _ = self.question.reply.send(self.given);
            return None;
        }
        self.ask();
        Some(self)
    }
}

enum Said {
    Text(String),
    Quit,
}

async fn command_of(work: &Work, command: &str) -> Said {
    let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
    let rest = rest.trim();
    Said::Text(match name {
        "help" | "?" => HELP.to_owned(),
        "quit" | "exit" | "q" => return Said::Quit,
        "mode" if rest.is_empty() => work.mode.get().name().to_owned(),
        "mode" => match rest.parse::<Mode>() {
            Ok(mode) => {
                work.mode.set(mode);
                format!("{} mode", mode.name())
            }
            Err(error) => error.to_string(),
        },
        "compact" => {
            work.window.request_compaction((!rest.is_empty()).then(|| rest.to_owned()));
            "the conversation is summarised before the next answer".to_owned()
        }
        "usage" => work.usage().await,
        "tools" => work.tools().await,
        "session" => work.place(),
        other => format!("there is no command /{other}; /help lists them"),
    })
}
