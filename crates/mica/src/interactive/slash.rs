//! What a person types with a slash: looks at the run and its session, and changes where the conversation stands.

use anyhow::{Context as _, Result, bail};
use mica_ai::Message;
use mica_policy::mode::Mode;
use mica_session::{Body, EntryId, Kind, Session};

use super::text_of;
use crate::commands::sessions::{self, find, tree};
use crate::keeping::Keeper;
use crate::surroundings::Surroundings;
use crate::terminal::{Input, Terminal};
use crate::window;
use crate::work::Work;

const HELP: &str = "\
/help              this
/mode [MODE]       how much may be done: ask, plan or edit
/compact [FOCUS]   summarise the conversation before the next answer
/undo-compact      take the last summary back: everything is in the window again
/tree              what was said, where it forks, and where you are
/goto ENTRY        go on from there; a message of yours is in the prompt again
/label ENTRY TEXT  mark an entry; without TEXT the mark goes
/name TEXT         name this session
/fork [ENTRY]      a new session with what was said until there
/usage             what the last run took, and how full the window is
/tools             what the model can call
/model             which model is asked, and where
/session           where this is kept
/quit              leave (also Ctrl-D)

An ENTRY is the end of an id that /tree shows, or a label.
While the agent works, what you type joins before its next step; Ctrl-C stops it.
";

/// What comes of a command.
pub enum Said {
    /// Something to read.
    Text(String),
    /// The person leaves.
    Quit,
}

/// Does what a command says.
pub async fn command(
    work: &Work,
    surroundings: &Surroundings,
    terminal: &mut Terminal,
    command: &str,
) -> Said {
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
        "model" if rest.is_empty() => work.asked(),
        "model" => {
            "the model of a conversation is chosen at the start: mica --continue --model NAME".to_owned()
        }
        "session" => work.place(),
        "tree" | "goto" | "label" | "name" | "fork" | "undo-compact" => {
            history(work, surroundings, terminal, name, rest)
                .await
                .unwrap_or_else(|error| format!("{error:#}"))
        }
        other => format!("there is no command /{other}; /help lists them"),
    })
}

/// What concerns the session.
async fn history(
    work: &Work,
    surroundings: &Surroundings,
    terminal: &mut Terminal,
    name: &str,
    rest: &str,
) -> Result<String> {
    let keeper =
        work.keeper.as_ref().context("this conversation is not kept, so there is no history to look at")?;
    match name {
        "tree" => Ok(tree::text(&keeper.session(), tree::Rows::Spoken, surroundings.columns)),
        "name" => sessions::name(&mut keeper.session(), rest),
        "label" => {
            let (entry, text) = rest.split_once(' ').unwrap_or((rest, ""));
            if entry.is_empty() {
                bail!("say which entry and what to call it: /label ENTRY TEXT; /tree shows the entries");
            }
            let text = Some(text.trim()).filter(|text| !text.is_empty());
            sessions::label(&mut keeper.session(), entry, text)
        }
        "fork" => {
            let at = Some(rest).filter(|rest| !rest.is_empty());
            let fork = sessions::fork(&sessions::folder(surroundings), &keeper.session(), at)?;
            let id = fork.header().id.short();
            Ok(format!("{id} is a new session; this one goes on. `mica --resume {id}` opens it"))
        }
        "undo-compact" => {
            let said = sessions::uncompact(&mut keeper.session())?;
            reload(work, keeper).await?;
            Ok(said)
        }
        _ => go(work, keeper, terminal, rest).await,
    }
}

/// Goes elsewhere in the conversation, and asks what should be remembered of the branch that is left.
async fn go(work: &Work, keeper: &Keeper, terminal: &mut Terminal, entry: &str) -> Result<String> {
    if entry.is_empty() {
        bail!("say where to go: /goto ENTRY; /tree shows the entries");
    }
    let (to, words) = {
        let session = keeper.session();
        destination(&session, find::place(session.tree(), entry)?)?
    };
    let leaves = {
        let session = keeper.session();
        leaves_something(&session, to)
    };
    let mut summary = None;
    if leaves {
        match terminal.line("what should be remembered of the branch you leave? (Enter: nothing) ").await {
            Input::Line(line) => summary = Some(line),
            _ => return Ok("you are where you were".to_owned()),
        }
    }
    let said = sessions::go(&mut keeper.session(), to, summary.as_deref())?;
    reload(work, keeper).await?;
    if let Some(words) = words {
        terminal.draft(&words);
    }
    Ok(said)
}

/// Where to go for an entry, and what to put into the prompt: a message of the person's own is to be said again, so the
/// conversation stands before it.
fn destination(session: &Session, entry: Option<EntryId>) -> Result<(Option<EntryId>, Option<String>)> {
    let node = entry.and_then(|id| session.tree().node(id));
    let Some(node) = node.filter(|node| node.kind == Kind::User) else { return Ok((entry, None)) };
    let words = match session.entry(node.id)?.body {
        Body::Message { message: Message::User(user) } => text_of(&user.content),
        _ => String::new(),
    };
    Ok((node.parent, Some(words)))
}

/// Whether something was said on the current branch that is not on the way to there.
fn leaves_something(session: &Session, to: Option<EntryId>) -> bool {
    let tree = session.tree();
    let stays: Vec<EntryId> = tree.path(to).iter().map(|node| node.id).collect();
    tree.branch().iter().any(|node| node.kind == Kind::Assistant && !stays.contains(&node.id))
}

/// Puts what the session says now into the window.
async fn reload(work: &Work, keeper: &Keeper) -> Result<()> {
    let messages = window::restore(&keeper.session().live()?);
    work.agent.with(|cx| cx.messages = messages).await?;
    work.window.rewritten("navigation");
    Ok(())
}
