//! What a person types with a slash: looks at the run and its session, and changes where the conversation stands.

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Parser as _;
use mica_ai::Message;
use mica_ext::extensions::CommandInfo;
use mica_policy::mode::Mode;
use mica_session::undo::Way;
use mica_session::{Body, EntryId, Kind, Session};

use super::{Wants, attend, reloading, text_of};
use crate::approvals::name;
use crate::cli::{Cli, Command};
use crate::commands::sessions::{self, find, tree};
use crate::commands::undo::{self, Asked};
use crate::equipment::extensions::rows;
use crate::equipment::people;
use crate::render::question::plain;
use crate::render::text::TextPrinter;
use crate::saying;
use crate::surroundings::Surroundings;
use crate::switching;
use crate::terminal::{Input, Terminal};
use crate::work::Work;
use mica_domain::keeping::Keeper;
use mica_domain::keeping::window;

const HELP: &str = "\
/help              this
/mode [MODE]       how much may be done: ask, plan or edit
/compact [FOCUS]   summarise the conversation before the next answer
/undo-compact      take the last summary back: everything is in the window again
/undo [RUN]        take back what the last run changed in files, or everything since RUN; flags as `mica undo`
/redo              take back the last undo
/tree              what was said, where it forks, and where you are
/goto ENTRY        go on from there; a message of yours is in the prompt again
/label ENTRY TEXT  mark an entry; without TEXT the mark goes
/name TEXT         name this session
/fork [ENTRY]      a new session with what was said until there
/todos             what is to be done, as the agent keeps it
/rules             what was remembered of your approvals
/rules forget N    take one of them back
/usage             what the last run took, and how full the window is
/tools             what the model can call
/agents            which subagents it can send
/model [NAME]      which model is asked, and where; or ask another one from now on
/ext               which extensions there are, and what became of each
/reload            load extensions anew; changed files are by themselves, before your next input
/session           where this is kept
/quit              leave (also Ctrl-D)

!COMMAND           run a command in the sandbox; the model is told with the next thing you say

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
    printer: &TextPrinter,
    terminal: &mut Terminal,
    wants: &mut Wants,
    command: &str,
) -> Said {
    let (name, rest) = split(command);
    Said::Text(match name {
        "quit" | "exit" | "q" => return Said::Quit,
        "undo" | "redo" => {
            restore(work, surroundings, name, rest).await.unwrap_or_else(|error| format!("{error:#}"))
        }
        "reload" => match reloading::anew(work, surroundings, printer, terminal, wants).await {
            Ok(told) if told.is_empty() => "nothing changed".to_owned(),
            Ok(told) => told.join("\n"),
            Err(error) => format!("{error:#}"),
        },
        "tree" | "goto" | "label" | "name" | "fork" | "undo-compact" => {
            history(work, surroundings, terminal, name, rest)
                .await
                .unwrap_or_else(|error| format!("{error:#}"))
        }
        "model" if !rest.is_empty() => {
            // An extension that hears of it may ask something.
            let switching = async {
                work.switch(rest).await?;
                Ok(saying::Said::Handled(None))
            };
            match Box::pin(attend(work, switching, printer, terminal, wants)).await {
                Ok(()) => work.asked(),
                Err(error) => format!("{error:#}"),
            }
        }
        _ => about(work, name, rest).await,
    })
}

/// Does what a command says while a run goes on.
pub async fn meanwhile(work: &Work, command: &str) -> String {
    let (name, rest) = split(command);
    match name {
        "quit" | "exit" | "q" => "a run is going on: Ctrl-C stops it, then /quit leaves".to_owned(),
        "undo" | "redo" | "tree" | "goto" | "label" | "name" | "fork" | "undo-compact" | "reload" => {
            format!("/{name} is for between runs: Ctrl-C stops this one")
        }
        // Extensions hear of it, and what they ask would be asked in here.
        "model" if !rest.is_empty() => switching::BUSY.to_owned(),
        _ => about(work, name, rest).await,
    }
}

/// Whether a line is a command of the program itself. Those of extensions are theirs; a path, for example, is something to say.
pub fn is_command(line: &str) -> bool {
    let name = line.trim().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| COMMANDS.contains(&name))
}

/// What extensions bring that cannot be had here.
pub fn clashes(work: &Work) -> Vec<String> {
    let commands =
        work.extensions().commands().into_iter().filter(|command| COMMANDS.contains(&&*command.name));
    let commands = commands.map(|command| {
        format!(
            "extension {}: its command /{} is not used: mica has one of this name",
            command.extension, command.name
        )
    });
    let keys = work.extensions().shortcuts().into_iter();
    let keys = keys.map(|key| {
        format!("extension {}: its key {} is not bound: keys are not, here", key.extension, key.key)
    });
    commands.chain(keys).collect()
}

/// What is said to a command that nobody has.
pub fn unknown(line: &str) -> String {
    let (name, _) = split(line.trim_start_matches('/'));
    format!("there is no command /{name}; /help lists them")
}

/// Whether a name is that of a command already.
pub fn is_taken(name: &str) -> bool {
    COMMANDS.contains(&name)
}

const COMMANDS: [&str; 24] = [
    "ext",
    "reload",
    "help",
    "?",
    "quit",
    "exit",
    "q",
    "mode",
    "compact",
    "undo",
    "redo",
    "undo-compact",
    "tree",
    "goto",
    "label",
    "name",
    "fork",
    "todos",
    "rules",
    "usage",
    "tools",
    "agents",
    "model",
    "session",
];

fn split(command: &str) -> (&str, &str) {
    let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
    (name, rest.trim())
}

/// What concerns the run.
async fn about(work: &Work, name: &str, rest: &str) -> String {
    match name {
        "help" | "?" => {
            let more = work.extensions().commands();
            let lines = more.iter().filter(|command| !is_taken(&command.name)).map(|command| {
                let CommandInfo { name, description, extension } = command;
                format!("/{name:<17} {} ({extension})\n", plain(description))
            });
            format!("{HELP}{}", lines.collect::<String>())
        }
        "ext" => match work.loading.rows().as_slice() {
            [] => "there are no extensions; `mica docs extensions` tells how to write one".to_owned(),
            rows => rows::text(rows),
        },
        "mode" if rest.is_empty() => work.mode.get().name().to_owned(),
        "mode" => match rest.parse::<Mode>().map_err(Into::into).and_then(|mode| work.set_mode(mode)) {
            Ok(()) => format!("{} mode", work.mode.get().name()),
            Err(error) => format!("{error:#}"),
        },
        "compact" => {
            work.window.request_compaction((!rest.is_empty()).then(|| rest.to_owned()));
            "the conversation is summarised before the next answer".to_owned()
        }
        "todos" => work.people.list(),
        "rules" => rules(work, rest).await.unwrap_or_else(|error| format!("{error:#}")),
        "usage" => work.usage().await,
        "tools" => work.tools().await,
        "agents" => work.agents(),
        "model" => work.asked(),
        "session" => work.place(),
        other => unknown(other),
    }
}

/// What was remembered, by numbers, and taking it back.
async fn rules(work: &Work, rest: &str) -> Result<String> {
    let list = work.approvals.list();
    let (verb, number) = split(rest);
    match verb {
        "" if list.is_empty() => Ok("nothing is remembered: a question offers what can be".to_owned()),
        "" => {
            let rows = list.iter().enumerate().map(|(index, approval)| {
                format!("{}  this {}  {}", index + 1, approval.scope, plain(name(approval)))
            });
            Ok(rows.collect::<Vec<_>>().join("\n"))
        }
        "forget" => {
            let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let approval = index.and_then(|index| list.get(index));
            let approval = approval.context("say which one: /rules forget N; /rules has the numbers")?;
            work.approvals.forget(approval).await?;
            Ok(format!("asked about again: {}", plain(name(approval))))
        }
        _ => bail!("/rules lists what is remembered, and /rules forget N takes it back"),
    }
}

/// Takes back what runs changed in files, or the last undo. Flags are those of the command.
async fn restore(work: &Work, surroundings: &Surroundings, name: &str, rest: &str) -> Result<String> {
    let words = ["mica", name].into_iter().chain(rest.split_whitespace());
    // What clap says of a wrong flag ends with a pointer to its own help.
    let cli = Cli::try_parse_from(words).map_err(|error| {
        anyhow!(error.to_string().lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
    })?;
    let (folder, undoing) = (&surroundings.folder, work.undoing.clone());
    let asked = match &cli.command {
        Some(Command::Undo { list: true, .. }) => {
            return undo::list(undoing.undo(), jiff::Timestamp::now(), surroundings.columns);
        }
        Some(Command::Undo { run, restore, .. }) => {
            Asked::from_flags(Way::Undo, run.as_deref(), restore, folder)
        }
        Some(Command::Redo { restore }) => Asked::from_flags(Way::Redo, None, restore, folder),
        _ => bail!("say /undo or /redo"),
    };
    Ok(tokio::task::spawn_blocking(move || undoing.perform(&asked)).await??.text)
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
        "name" => keeper.change(|session| sessions::name(session, rest)),
        "label" => {
            let (entry, text) = rest.split_once(' ').unwrap_or((rest, ""));
            if entry.is_empty() {
                bail!("say which entry and what to call it: /label ENTRY TEXT; /tree shows the entries");
            }
            let text = Some(text.trim()).filter(|text| !text.is_empty());
            keeper.change(|session| sessions::label(session, entry, text))
        }
        "fork" => {
            let at = Some(rest).filter(|rest| !rest.is_empty());
            let fork = sessions::fork(&sessions::folder(surroundings), &keeper.session(), at)?;
            let id = fork.header().id.short();
            Ok(format!("{id} is a new session; this one goes on. `mica --resume {id}` opens it"))
        }
        "undo-compact" => {
            let said = keeper.change(sessions::uncompact)?;
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
    let said = keeper.change(|session| sessions::go(session, to, summary.as_deref()))?;
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
    work.people.todos.restore(people::todos(keeper));
    work.window.rewritten("navigation");
    Ok(())
}
