//! The plain interactive mode: a prompt, streaming text, tool lines, questions. What is typed while a run goes on steers
//! it; Ctrl-C stops it.

use anyhow::Result;
use mica_agent::{Ask, Decision, Decisions, Outcome};
use mica_ai::Content;
use mica_policy::mode::Mode;
use tokio::sync::{mpsc, oneshot};

use crate::keeping::Keeper;
use crate::questions::Question;
use crate::render::text::{TextPrinter, brief};
use crate::terminal::{Input, Terminal};
use crate::work::Work;

const HELP: &str = "\
/help              this
/mode [MODE]       how much may be done: ask, plan or edit
/compact [FOCUS]   summarise the conversation before the next answer
/usage             what the last run took, and how full the window is
/tools             what the model can call
/model [NAME]      which model is asked, and where; or ask another one from now on
/session           where this is kept
/quit              leave (also Ctrl-D)

While the agent works, what you type joins before its next step; Ctrl-C stops it.
";

/// Talks with a person until they leave.
///
/// # Errors
/// When the agent cannot be asked at all.
#[allow(clippy::print_stdout, reason = "a program speaks")]
pub async fn run(
    work: &Work,
    printer: &TextPrinter,
    mut terminal: Terminal,
    mut questions: mpsc::Receiver<Question>,
) -> Result<()> {
    let choice = work.choice();
    let mode = work.mode.get().name();
    println!("mica  {} at {}  ({mode} mode; /help)", choice.model.name, choice.endpoint.name);
    // A run that was waiting for this person goes on with their answers.
    if let Some(waiting) = work.keeper.as_ref().and_then(Keeper::waiting) {
        let (reply, answers) = oneshot::channel();
        let asks = waiting.asks.clone();
        let running = async {
            match answers.await {
                Err(_) => Ok(Outcome::Suspended { asks: waiting.asks }),
                Ok(given) => work.resume_waiting(Decisions::to(&waiting.asks, given)).await,
            }
        };
        let open = Open { question: Question { asks, reply }, given: Vec::new() };
        open.ask(printer);
        attend(work, running, Some(open), printer, &mut terminal, &mut questions).await?;
    }
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
        attend(work, work.prompt(line), None, printer, &mut terminal, &mut questions).await?;
    }
}

/// Runs while listening to the person, and says how it ended.
async fn attend(
    work: &Work,
    running: impl Future<Output = Result<Outcome>>,
    open: Option<Open>,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    questions: &mut mpsc::Receiver<Question>,
) -> Result<()> {
    terminal.watch();
    let outcome = listen(work, running, open, printer, terminal, questions).await;
    terminal.unwatch().await;
    match outcome? {
        Outcome::Completed => {}
        Outcome::Exhausted { limit } => printer.say("…", &format!("stopped: {limit}")),
        Outcome::Suspended { .. } => printer.say("…", "waiting for an approval"),
        Outcome::Aborted => printer.say("…", "stopped"),
        Outcome::Failed { error } => printer.say("✗", &for_person(&error)),
    }
    let unsaid = work.agent.take_back();
    if !unsaid.is_empty() {
        printer.say("…", "what you typed was not sent; it is in the prompt");
    }
    for message in unsaid {
        terminal.draft(&text_of(&message.content));
    }
    Ok(())
}

fn text_of(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text { text } => Some(text.as_str()),
        Content::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// What to tell a person about a failure.
pub fn for_person(error: &mica_agent::RunError) -> String {
    match error {
        mica_agent::RunError::Model(error) => error.for_user(),
        other => other.to_string(),
    }
}

async fn listen(
    work: &Work,
    running: impl Future<Output = Result<Outcome>>,
    mut open: Option<Open>,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    questions: &mut mpsc::Receiver<Question>,
) -> Result<Outcome> {
    tokio::pin!(running);
    loop {
        tokio::select! {
            outcome = &mut running => return outcome,
            Some(question) = questions.recv() => {
                let asking = Open { question, given: Vec::new() };
                asking.ask(printer);
                open = Some(asking);
            }
            typed = terminal.typed() => {
                match (typed, open.take()) {
                (Some(Input::Line(line)), Some(asked)) => open = asked.answered(&line, printer),
                (Some(Input::Line(line)), None) if is_command(&line) => {
                    match command_of(work, line.trim().trim_start_matches('/')).await {
                        Said::Text(text) => printer.say("…", text.trim_end()),
                        Said::Quit => printer.say("…", "a run is going on: Ctrl-C stops it, then /quit leaves"),
                    }
                }
                (Some(Input::Line(line)), None) if !line.trim().is_empty() => match work.agent.steer(line.trim()) {
                    Ok(()) => printer.say("…", "joins before the next step"),
                    Err(full) => printer.say("✗", &full.to_string()),
                },
                (Some(Input::Line(_)), None) => {}
                (Some(Input::Interrupt | Input::End) | None, _) => work.agent.abort(),
            }
                printer.release();
            }
            _ = tokio::signal::ctrl_c() => {
                open = None;
                work.agent.abort();
            }
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

    fn ask(&self, printer: &TextPrinter) {
        if let Some(ask) = self.current() {
            let what = format!("{} {}", ask.call.name, brief(&ask.arguments));
            let why = ask.reason.trim_end_matches('.');
            printer.ask(&format!("{what}\n  {why}. [y]es, [n]o, or say what to do instead:"));
        }
    }

    /// Takes an answer. `None` when all are given. An empty line is no answer: Enter is hit too easily.
    fn answered(mut self, line: &str, printer: &TextPrinter) -> Option<Self> {
        self.given.push(match line.trim() {
            "" => {
                self.ask(printer);
                return Some(self);
            }
            "y" | "yes" | "Y" => Decision::Allow,
            "n" | "no" | "N" => Decision::Deny { reason: "no".to_owned() },
            other => Decision::Deny { reason: other.to_owned() },
        });
        if self.given.len() == self.question.asks.len() {
            let _ = self.question.reply.send(self.given);
            return None;
        }
        self.ask(printer);
        Some(self)
    }
}

/// Whether a line that is typed while the agent works is a command. A path, for example, is something to say.
fn is_command(line: &str) -> bool {
    let name = line.trim().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| COMMANDS.contains(&name))
}

const COMMANDS: [&str; 11] =
    ["help", "?", "quit", "exit", "q", "mode", "compact", "usage", "tools", "model", "session"];

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
        "mode" => match rest.parse::<Mode>().map_err(Into::into).and_then(|mode| work.set_mode(mode)) {
            Ok(()) => format!("{} mode", work.mode.get().name()),
            Err(error) => format!("{error:#}"),
        },
        "compact" => {
            work.window.request_compaction((!rest.is_empty()).then(|| rest.to_owned()));
            "the conversation is summarised before the next answer".to_owned()
        }
        "usage" => work.usage().await,
        "tools" => work.tools().await,
        "model" if rest.is_empty() => work.asked(),
        "model" => match work.switch(rest).await {
            Ok(()) => work.asked(),
            Err(error) => format!("{error:#}"),
        },
        "session" => work.place(),
        other => format!("there is no command /{other}; /help lists them"),
    })
}
