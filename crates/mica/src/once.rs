//! One run: a prompt in, an answer out, an exit code.

use std::io::{IsTerminal, Read};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use mica_agent::{Decision, Decisions, Hooks, Listener, Outcome, Preview};
use mica_ai::Message;
use mica_ext::World as _;
use serde_json::json;

use crate::cli::given::typed;
use crate::cli::{Output, RunFlags};
use crate::config::Values;
use crate::equipment::extensions::screen::Errors;
use crate::exit::Exit;
use crate::interactive::{for_person, slash};
use crate::questions::Unwatched;
use crate::render::json::{JsonLines, Summary};
use crate::render::question;
use crate::render::text::{Audience, TextPrinter};
use crate::saying::{Heard, Said};
use crate::surroundings::Surroundings;
use crate::tidying::Tidying;
use crate::work::{Parts, Work};

/// Runs once.
///
/// # Errors
/// When there is no prompt, or the agent cannot be put together.
#[allow(clippy::print_stderr, reason = "a program speaks")]
pub async fn run(values: &Values, flags: &RunFlags, surroundings: &Surroundings) -> Result<Exit> {
    let output = flags.output.unwrap_or_default();
    let lines = JsonLines::new(std::io::stdout());
    let listener: Option<Arc<dyn Listener>> = match output {
        Output::Text => {
            let colour = std::io::stderr().is_terminal() && surroundings.variable("NO_COLOR").is_none();
            let audience = if flags.show_thinking { Audience::Person } else { Audience::Reader };
            Some(TextPrinter::new(std::io::stdout(), std::io::stderr(), colour, audience))
        }
        Output::StreamJson => Some(lines.clone()),
        Output::Json => None,
    };
    let prompt = prompt(flags, surroundings)?;
    let listeners = listener.into_iter().collect();
    // A run that is kept waits for somebody who answers. One that is not kept cannot.
    let approver = flags.no_session.then(|| Arc::new(Unwatched) as Arc<dyn Hooks>);
    let work = Work::begin(Parts {
        values,
        flags,
        surroundings,
        approver,
        person: None,
        listeners,
        screen: Arc::new(Errors),
    })?;
    let _ends = work.loading.around.until_dropped();
    for notice in work.notices.iter().chain(&work.load_first().await) {
        eprintln!("mica: {notice}");
    }
    if let Some(unusable) = work.loading.unusable() {
        eprintln!("mica: {unusable}");
        return Ok(Exit::Usage);
    }
    work.session_starts().await;

    let running = async {
        let waiting = work.keeper.as_ref().and_then(mica_domain::keeping::Keeper::waiting);
        match (waiting, prompt) {
            (None, None) => bail!("there is nothing to do: give a prompt with -p"),
            // Something new to say: what the last run waited for is answered as left behind.
            (_, Some(prompt)) => match work.hear(&prompt).await {
                Heard::Say(text) if text == prompt => match slash::misplaced(&work, &prompt) {
                    Some(reason) => Ok(Said::Misplaced(reason)),
                    None => work.heard(Heard::Say(text), &mica_domain::Surroundings::default()).await,
                },
                heard => work.heard(heard, &mica_domain::Surroundings::default()).await,
            },
            // The run that waited goes on: what the rules allow now is allowed, the rest is asked again.
            (Some(waiting), None) => {
                let answers =
                    waiting.asks.iter().map(|_| if flags.yes { Decision::Allow } else { refused() });
                work.resume_waiting(Decisions::to(&waiting.asks, answers)).await.map(Said::Ran)
            }
        }
    };

    let tidying = Tidying::begin(values, surroundings);
    tokio::pin!(running);
    let said = loop {
        tokio::select! {
            said = &mut running => break said?,
            // A run says itself that it was stopped. What an extension does for a person is not waited for any more.
            _ = tokio::signal::ctrl_c() => {
                if work.loading.around.is_idle() {
                    return Ok(Exit::Aborted);
                }
                work.agent.abort();
            }
        }
    };
    let outcome = match said {
        Said::Ran(outcome) => unasked(&work, outcome).await?,
        other => {
            work.close().await;
            return Ok(told(other, output, &lines));
        }
    };
    for task in work.close().await {
        eprintln!("mica: {task} works in the background and did not end with the run");
    }
    if output == Output::Json {
        lines.line(&summary(&work, &outcome).await?);
    }
    match &outcome {
        Outcome::Completed | Outcome::Aborted => {}
        Outcome::Exhausted { limit } => eprintln!("mica: {limit}"),
        Outcome::Suspended { asks } => {
            for ask in asks {
                eprintln!("mica: {} needs an approval: {}", question::short(ask), ask.reason);
                if let Some(Preview::Text { text, .. }) = &ask.preview {
                    text.lines().for_each(|line| eprintln!("  {}", question::plain(line)));
                }
            }
            if let Some(id) = work.session_id() {
                eprintln!("mica: go on with `{} --yes`, or allow calls with --allow", again(flags, &id));
            }
        }
        Outcome::Failed { error } => eprintln!("mica: {}", for_person(error)),
    }
    for notice in work.undoing.take_notices() {
        eprintln!("mica: {notice}");
    }
    tidying.end().await;
    Ok(Exit::from(&outcome))
}

/// Flags that say how this run was begun and heard, and nothing about how the session goes on.
const OF_THIS_RUN: &[&str] = &[
    "--prompt",
    "--output",
    "--show-thinking",
    "--continue",
    "--resume",
    "--no-session",
    "--yes",
    "--plain",
];

/// The command that goes on with a session as it was begun: what guarded it guards it then too.
fn again(flags: &RunFlags, id: &str) -> String {
    let given = flags.given();
    let kept = given.iter().filter(|given| !OF_THIS_RUN.contains(&given.flag));
    format!("mica --resume {id}{}", typed(kept))
}

/// Goes on with what extensions want runs to begin with.
async fn unasked(work: &Work, mut outcome: Outcome) -> Result<Outcome> {
    while matches!(outcome, Outcome::Completed) {
        let Some(content) = work.loading.around.next_run() else { break };
        outcome = work.unasked(content).await?;
    }
    Ok(outcome)
}

/// Tells what came of something that was not for the model.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
fn told(said: Said, output: Output, lines: &JsonLines) -> Exit {
    let (outcome, text) = match said {
        Said::Refused(reason) => ("refused", Some(reason)),
        Said::Misplaced(reason) => ("misplaced", Some(reason)),
        Said::Handled(shown) => ("handled", shown),
        Said::Ran(_) => ("completed", None),
    };
    let exit = match outcome {
        "refused" => Exit::Error,
        "misplaced" => Exit::Usage,
        _ => Exit::Done,
    };
    match (output, text) {
        (Output::Json | Output::StreamJson, text) => lines.line(&json!({ "outcome": outcome, "text": text })),
        (Output::Text, Some(text)) if exit != Exit::Done => eprintln!("mica: {text}"),
        (Output::Text, Some(text)) => println!("{text}"),
        (Output::Text, None) => {}
    }
    exit
}

fn refused() -> Decision {
    Decision::Refuse { reason: "the run was continued without an approval".to_owned() }
}

async fn summary<'a>(work: &Work, outcome: &'a Outcome) -> Result<Summary<'a>> {
    let (text, tally) = work
        .agent
        .with(|cx| {
            let answer = cx.messages.iter().rev().find_map(|message| match message {
                Message::Assistant(answer) => Some(answer.text()),
                _ => None,
            });
            (answer.unwrap_or_default(), cx.tally.clone())
        })
        .await?;
    let subagents = Some(tally.delegated).filter(|usage| usage.total() > 0);
    let (turns, usage) = (tally.turns, tally.usage);
    Ok(Summary { outcome, text, session: work.session_id(), turns, usage, subagents })
}

/// The prompt: what was given, and what is piped in.
fn prompt(flags: &RunFlags, surroundings: &Surroundings) -> Result<Option<String>> {
    let given = flags.prompt.as_deref().filter(|prompt| *prompt != "-" && !prompt.trim().is_empty());
    let wants_input = flags.prompt.as_deref() == Some("-") || !surroundings.stdin_is_terminal;
    let mut piped = String::new();
    if wants_input {
        std::io::stdin().read_to_string(&mut piped).context("standard input cannot be read")?;
    }
    let piped = Some(piped.trim_end()).filter(|text| !text.is_empty());
    Ok(match (given, piped) {
        (Some(given), Some(piped)) => Some(format!("{given}\n\n<input>\n{piped}\n</input>")),
        (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
        (None, None) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_goes_on_with_what_it_was_begun_with() {
        assert_eq!(again(&RunFlags::default(), "s1"), "mica --resume s1");
        let flags = RunFlags {
            prompt: Some("go".to_owned()),
            model: Some("here/small".to_owned()),
            base_url: Some("http://localhost:1/v1?a=b".to_owned()),
            max_turns: Some(3),
            allow: vec!["shell(git *)".to_owned()],
            extension: vec!["guard.ts".into(), "it's mine.ts".into()],
            ..RunFlags::default()
        };
        assert_eq!(
            again(&flags, "s1"),
            r"mica --resume s1 --model here/small --base-url 'http://localhost:1/v1?a=b' --max-turns 3 --allow 'shell(git *)' --extension guard.ts --extension 'it'\''s mine.ts'"
        );
    }
}
