//! The plain interactive mode: a prompt, streaming text, tool lines, questions. What is typed while a run goes on steers
//! it; Ctrl-C stops it.

mod asking;
mod slash;

use anyhow::Result;
use mica_agent::{Ask, Decisions, Outcome};
use mica_ai::Content;
use tokio::sync::{mpsc, oneshot};

use crate::keeping::Keeper;
use crate::questions::Question;
use crate::render::question::Length;
use crate::render::text::TextPrinter;
use crate::surroundings::Surroundings;
use crate::terminal::{Input, Terminal};
use crate::work::Work;
use asking::Open;
use slash::Said;

/// Talks with a person until they leave.
///
/// # Errors
/// When the agent cannot be asked at all.
#[allow(clippy::print_stdout, reason = "a program speaks")]
pub async fn run(
    work: &Work,
    surroundings: &Surroundings,
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
        let asks = seen_anew(work, waiting.asks.clone()).await;
        let running = async {
            match answers.await {
                Err(_) => Ok(Outcome::Suspended { asks: waiting.asks }),
                Ok(given) => work.resume_waiting(Decisions::to(&waiting.asks, given)).await,
            }
        };
        attend(work, running, Some(Question { asks, reply }), printer, &mut terminal, &mut questions).await?;
    }
    loop {
        let line = match terminal.line(&format!("{}> ", work.mode.get().name())).await {
            Input::Line(line) => line,
            Input::Interrupt | Input::Cleared => continue,
            Input::End => return Ok(()),
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(command) = line.strip_prefix('/') {
            match slash::command(work, surroundings, &mut terminal, command).await {
                Said::Text(text) => printer.tell(&text),
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
    asked: Option<Question>,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    questions: &mut mpsc::Receiver<Question>,
) -> Result<()> {
    terminal.watch();
    let outcome = listen(work, running, asked, printer, terminal, questions).await;
    terminal.unwatch().await;
    match outcome? {
        Outcome::Completed => {}
        Outcome::Exhausted { limit } => printer.say("…", &format!("stopped: {limit}")),
        Outcome::Suspended { .. } => printer.say("…", "waiting for an approval"),
        Outcome::Aborted => printer.say("…", "stopped"),
        Outcome::Failed { error } => printer.say("✗", &for_person(&error)),
    }
    for notice in work.undoing.take_notices() {
        printer.say("…", &notice);
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
    asked: Option<Question>,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    questions: &mut mpsc::Receiver<Question>,
) -> Result<Outcome> {
    tokio::pin!(running);
    // A question that waits until what was being typed is out of the way, and the one that is being answered.
    let (mut next, mut open): (Option<Question>, Option<Open>) = (asked, None);
    if next.is_some() {
        terminal.put_aside();
    }
    loop {
        tokio::select! {
            outcome = &mut running => return outcome,
            Some(question) = questions.recv() => {
                next = Some(question);
                terminal.put_aside();
            }
            typed = terminal.typed() => {
                match (typed, open.take()) {
                    (Some(Input::Cleared), answering) => match next.take() {
                        Some(question) => open = Some(begun(question, printer)),
                        None => open = answering,
                    },
                    (Some(Input::Line(line)), Some(asked)) => {
                        open = asked.answered(&line, printer);
                        if open.is_none() {
                            terminal.give_back();
                        }
                    }
                    (Some(Input::Line(line)), None) if slash::is_command(&line) => {
                        let said = slash::meanwhile(work, line.trim().trim_start_matches('/')).await;
                        printer.say("…", said.trim_end());
                    }
                    (Some(Input::Line(line)), None) if !line.trim().is_empty() => match work.agent.steer(line.trim()) {
                        Ok(()) => printer.say("…", "joins before the next step"),
                        Err(full) => printer.say("✗", &full.to_string()),
                    },
                    (Some(Input::Line(_)), None) => {}
                    (Some(Input::Interrupt | Input::End) | None, _) => {
                        next = None;
                        work.agent.abort();
                    }
                }
                printer.release();
            }
            _ = tokio::signal::ctrl_c() => {
                (next, open) = (None, None);
                work.agent.abort();
            }
        }
    }
}

fn begun(question: Question, printer: &TextPrinter) -> Open {
    let open = Open::new(question);
    open.ask(printer, Length::Short);
    open
}

/// Questions of a run that waited, with what their calls would do now: files may have changed meanwhile.
async fn seen_anew(work: &Work, mut asks: Vec<Ask>) -> Vec<Ask> {
    for ask in &mut asks {
        let name = ask.call.name.clone();
        let tool = work.agent.with(|cx| cx.tools.get(&name).cloned()).await.ok().flatten();
        if let (Some(tool), Some(arguments)) = (tool, ask.arguments.as_object()) {
            ask.preview = tool.preview(arguments).await;
        }
    }
    asks
}
