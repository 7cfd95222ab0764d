//! The plain interactive mode: a prompt, streaming text, tool lines, questions. What is typed while a run goes on steers
//! it; Ctrl-C stops it.

mod asking;
mod inquiring;
mod reloading;
pub mod slash;

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::Poll;

use anyhow::Result;
use mica_agent::{Ask, Decisions, Outcome};
use mica_ai::Content;
use mica_ext::World as _;
use tokio::sync::{mpsc, oneshot};

use crate::inquiries::{Inquiries, Posed};
use crate::questions::{Asker, Question};
use crate::render::question::Length;
use crate::render::text::TextPrinter;
use crate::saying::{Heard, Said};
use crate::surroundings::Surroundings;
use crate::terminal::{Input, Terminal};
use crate::work::Work;
use asking::Open;
use inquiring::Inquiring;
use mica_domain::keeping::Keeper;

/// What a run wants of a person.
pub struct Wants {
    /// Approvals of calls.
    pub questions: mpsc::Receiver<Question>,
    /// What running calls want to know.
    pub inquiries: Inquiries,
    /// What a subagent in the background asked when the run ended: it is asked again with the next one.
    pub left: Option<Question>,
}

/// What a person will be asked.
enum Pending {
    Calls(Question),
    Inquiry(Posed),
}

impl Pending {
    /// Asks the first of it.
    fn begin(self, printer: &TextPrinter) -> Asked {
        match self {
            Self::Calls(question) => {
                let open = Open::new(question);
                open.ask(printer, Length::Short);
                Asked::Calls(open)
            }
            Self::Inquiry(posed) => {
                let inquiring = Inquiring::new(posed);
                inquiring.ask(printer);
                Asked::Inquiry(inquiring)
            }
        }
    }
}

/// What a person is being asked.
enum Asked {
    Calls(Open),
    Inquiry(Inquiring),
}

impl Asked {
    /// Takes an answer. `None` when all are given.
    fn answered(self, line: &str, printer: &TextPrinter) -> Option<Self> {
        match self {
            Self::Calls(open) => open.answered(line, printer).map(Self::Calls),
            Self::Inquiry(inquiring) => inquiring.answered(line, printer).map(Self::Inquiry),
        }
    }
}

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
    mut wants: Wants,
) -> Result<()> {
    let choice = work.choice();
    let mode = work.mode.get().name();
    println!("mica  {} at {}  ({mode} mode; /help)", choice.model.name, choice.endpoint.name);
    for clash in slash::clashes(work) {
        printer.say("…", &clash);
    }
    let starts = async {
        work.session_starts().await;
        Ok(Said::Handled(None))
    };
    Box::pin(attend(work, starts, printer, &mut terminal, &mut wants)).await?;
    // A run that was waiting for this person goes on with their answers.
    if let Some(waiting) = work.keeper.as_ref().and_then(Keeper::waiting) {
        let (reply, answers) = oneshot::channel();
        let asks = seen_anew(work, waiting.asks.clone()).await;
        let running = async {
            match answers.await {
                Err(_) => Ok(Outcome::Suspended { asks: waiting.asks.clone() }),
                Ok(given) => work.resume_waiting(Decisions::to(&waiting.asks, given)).await,
            }
            .map(Said::Ran)
        };
        wants.left = Some(Question { asks, reply, asker: Asker::Suspended });
        // Large, and made once.
        Box::pin(attend(work, running, printer, &mut terminal, &mut wants)).await?;
    }
    loop {
        // What extensions want a run to begin with comes before the prompt.
        while let Some(content) = work.loading.around.next_run() {
            let running = async { work.unasked(content).await.map(Said::Ran) };
            Box::pin(attend(work, running, printer, &mut terminal, &mut wants)).await?;
        }
        let status = work.loading.around.screen.status_line();
        let status = status.map(|status| format!("[{status}] ")).unwrap_or_default();
        // What is asked from now on, from the background, waits for the next thing that is done.
        let listens = work.loading.around.listens();
        let line = terminal.line(&format!("{status}{}> ", work.mode.get().name())).await;
        drop(listens);
        let line = match line {
            Input::Line(line) => line,
            Input::Interrupt | Input::Cleared => continue,
            Input::End => return Ok(()),
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        reloading::look(work, surroundings, printer, &mut terminal, &mut wants).await?;
        if let Some(command) = line.strip_prefix('!') {
            let running = work.shell(command);
            Box::pin(attend(work, running, printer, &mut terminal, &mut wants)).await?;
            continue;
        }
        if slash::is_command(line)
            && let Some(command) = line.strip_prefix('/')
        {
            match slash::command(work, surroundings, printer, &mut terminal, &mut wants, command).await {
                slash::Said::Text(text) => printer.tell(&text),
                slash::Said::Quit => return Ok(()),
            }
            continue;
        }
        let running = async {
            match work.hear(line).await {
                Heard::Say(text) if text == line && line.starts_with('/') => {
                    Ok(Said::Handled(Some(slash::unknown(line))))
                }
                heard => work.heard(heard, &mica_domain::Surroundings::default()).await,
            }
        };
        Box::pin(attend(work, running, printer, &mut terminal, &mut wants)).await?;
    }
}

/// Runs while listening to the person, and says how it ended.
async fn attend(
    work: &Work,
    running: impl Future<Output = Result<Said>>,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    wants: &mut Wants,
) -> Result<()> {
    tokio::pin!(running);
    let listens = work.loading.around.listens();
    // What is done at once needs nobody, and takes no key from the prompt.
    let at_once = if wants.left.is_none() { futures::poll!(&mut running) } else { Poll::Pending };
    let listened = match at_once {
        Poll::Ready(said) => said.map(|said| (said, None)),
        Poll::Pending => {
            terminal.watch();
            let asked = wants.left.take().filter(|question| !question.reply.is_closed());
            let listened = listen(work, running, asked, printer, terminal, wants).await;
            terminal.unwatch().await;
            listened
        }
    };
    drop(listens);
    let (said, left) = listened?;
    match said {
        Said::Handled(None) | Said::Ran(Outcome::Completed) => {}
        Said::Handled(Some(text)) => printer.tell(&text),
        Said::Refused(reason) => printer.say("✗", &reason),
        Said::Ran(Outcome::Exhausted { limit }) => printer.say("…", &format!("stopped: {limit}")),
        Said::Ran(Outcome::Suspended { .. }) => printer.say("…", "waiting for an approval"),
        Said::Ran(Outcome::Aborted) => printer.say("…", "stopped"),
        Said::Ran(Outcome::Failed { error }) => printer.say("✗", &for_person(&error)),
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
    if left.is_some() {
        printer.say(
            "…",
            "a subagent in the background waits for your answer; it is asked again with your next prompt",
        );
    }
    wants.left = left;
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
    mut running: Pin<&mut impl Future<Output = Result<Said>>>,
    asked: Option<Question>,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    wants: &mut Wants,
) -> Result<(Said, Option<Question>)> {
    // What was typed meanwhile and extensions look at, one after the other: one of them may ask something.
    let mut typed = VecDeque::<String>::new();
    let mut hearing: Option<Pin<Box<dyn Future<Output = Heard> + Send + '_>>> = None;
    // Questions that wait, the first until what was being typed is out of the way; and the one that is being answered.
    let mut next: VecDeque<Pending> = asked.map(Pending::Calls).into_iter().collect();
    let mut open: Option<Asked> = None;
    // What was asked when the run was stopped. Whoever is not stopped by it still waits.
    let mut stopped: Vec<Question> = Vec::new();
    if !next.is_empty() {
        terminal.put_aside();
    }
    loop {
        tokio::select! {
            said = &mut running => return Ok((said?, left(open, next, stopped))),
            heard = heard(&mut hearing) => {
                meanwhile(work, heard, printer);
                hearing = typed.pop_front().map(|line| hears(work, line));
            }
            pending = wanted(wants) => {
                next.push_back(pending);
                if open.is_none() && next.len() == 1 {
                    terminal.put_aside();
                }
            }
            came = terminal.typed() => {
                match (came, open.take()) {
                    (Some(Input::Cleared), None) => open = next.pop_front().map(|pending| pending.begin(printer)),
                    (Some(Input::Cleared), answering) => open = answering,
                    (Some(Input::Line(line)), Some(asked)) => {
                        open = asked.answered(&line, printer);
                        if open.is_none() {
                            open = next.pop_front().map(|pending| pending.begin(printer));
                        }
                        if open.is_none() {
                            terminal.give_back();
                        }
                    }
                    (Some(Input::Line(line)), None) if slash::is_command(&line) => {
                        let said = slash::meanwhile(work, line.trim().trim_start_matches('/')).await;
                        printer.say("…", said.trim_end());
                    }
                    (Some(Input::Line(line)), None) if !line.trim().is_empty() => match &hearing {
                        Some(_) => typed.push_back(line),
                        None => hearing = Some(hears(work, line)),
                    },
                    (Some(Input::Line(_)), None) => {}
                    (Some(Input::Interrupt | Input::End) | None, answering) => {
                        stopped.extend(of_others(answering, std::mem::take(&mut next)));
                        if let Some(said) = stop(work) {
                            return Ok((said, left(None, next, stopped)));
                        }
                    }
                }
                printer.release();
            }
            _ = tokio::signal::ctrl_c() => {
                stopped.extend(of_others(open.take(), std::mem::take(&mut next)));
                if let Some(said) = stop(work) {
                    return Ok((said, left(None, next, stopped)));
                }
            }
        }
    }
}

/// Stops what goes on: a run, or a command that a person typed, both of which say so themselves. What an extension does for a
/// person is not waited for any more.
fn stop(work: &Work) -> Option<Said> {
    if work.loading.around.is_idle() && !work.stop_shell() {
        return Some(Said::Refused("stopped".to_owned()));
    }
    work.agent.abort();
    None
}

/// What becomes of a line that is typed while the agent works.
fn hears(work: &Work, line: String) -> Pin<Box<dyn Future<Output = Heard> + Send + '_>> {
    Box::pin(async move { work.hear(line.trim()).await })
}

/// Waits for what becomes of a line; for ever, when there is none.
async fn heard(hearing: &mut Option<Pin<Box<dyn Future<Output = Heard> + Send + '_>>>) -> Heard {
    match hearing {
        Some(hearing) => hearing.await,
        None => std::future::pending().await,
    }
}

/// Does what became of a line that was typed while the agent works.
fn meanwhile(work: &Work, heard: Heard, printer: &TextPrinter) {
    match heard {
        Heard::Say(line) => match work.agent.steer(line) {
            Ok(()) => printer.say("…", "joins before the next step"),
            Err(full) => printer.say("✗", &full.to_string()),
        },
        Heard::Handled(Some(text)) => printer.say("…", text.trim_end()),
        Heard::Handled(None) => {}
        Heard::Refused(reason) => printer.say("✗", &reason),
    }
}

/// The question that somebody waits for although the run has ended: a subagent in the background.
fn left(open: Option<Asked>, next: VecDeque<Pending>, stopped: Vec<Question>) -> Option<Question> {
    let mut all = stopped.into_iter().chain(of_others(open, next));
    all.find(|question| !question.reply.is_closed())
}

/// The questions that a stop does not answer. What the run itself asks is withdrawn with it, and a suspended run waits on.
fn of_others(open: Option<Asked>, next: VecDeque<Pending>) -> impl Iterator<Item = Question> {
    let open = open.and_then(|asked| match asked {
        Asked::Calls(open) => Some(open.into_question()),
        Asked::Inquiry(_) => None,
    });
    let next = next.into_iter().filter_map(|pending| match pending {
        Pending::Calls(question) => Some(question),
        Pending::Inquiry(_) => None,
    });
    open.into_iter().chain(next).filter(|question| question.asker == Asker::Working)
}

/// The next thing that a run wants of a person.
async fn wanted(wants: &mut Wants) -> Pending {
    tokio::select! {
        Some(question) = wants.questions.recv() => Pending::Calls(question),
        posed = wants.inquiries.next() => Pending::Inquiry(posed),
    }
}

/// Questions of a run that waited, with what their calls would do now: files may have changed meanwhile.
async fn seen_anew(work: &Work, mut asks: Vec<Ask>) -> Vec<Ask> {
    for ask in &mut asks {
        let name = ask.call.name.clone();
        let tool = work.agent.with(|cx| cx.tools.find(&name)).await.ok().flatten();
        if let (Some(tool), Some(arguments)) = (tool, ask.arguments.as_object()) {
            ask.preview = tool.preview(arguments).await;
        }
    }
    asks
}
