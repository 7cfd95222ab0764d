//! `mica desk`: the help desk in the terminal. Lines are said to the copilot, commands begin with a slash.

mod answers;
mod asked;
mod cards;
mod clock;
mod commands;
mod edits;
mod flags;
mod fold;
mod lines;
mod listening;
mod once;
mod places;
mod room;
mod screen;
mod stopping;
mod talking;
mod tour;

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use jiff::tz::TimeZone;
use mica_policy::budget::Limits;
use pack_desk::office::{Means, Office, Work};
use pack_desk::{Store, store};

use crate::cli::desk::DeskFlags;
use crate::cli::{Form, RunFlags};
use crate::config::Config;
use crate::exit::Exit;
use crate::reach::{self, Reach};
use crate::render::text::{Audience, TextPrinter};
use crate::surroundings::Surroundings;
use crate::terminal::Terminal;
use clock::Clock;
use commands::needs::{self, Needs};
use lines::From;
use listening::Listening;
use room::Room;
use screen::Screen;
use talking::Asking;

/// Works at the desk: once, or with a person until they leave.
///
/// # Errors
/// Data that cannot be used, a member or page that is not there, a model that cannot be asked.
pub async fn run(flags: &DeskFlags, run: &RunFlags, surroundings: &Surroundings) -> Result<Exit> {
    let ran = Box::pin(work(flags, run, surroundings)).await;
    if let (Err(problem), Form::Json) = (&ran, flags.format) {
        once::broken(problem);
    }
    ran
}

async fn work(flags: &DeskFlags, run: &RunFlags, surroundings: &Surroundings) -> Result<Exit> {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let colour = terminal && surroundings.variable("NO_COLOR").is_none();
    let printer = TextPrinter::new(std::io::stdout(), std::io::stderr(), colour, Audience::Reader);
    let screen = Arc::new(Screen::new(Arc::clone(&printer), colour, terminal));
    if let Some(problem) = flags::problem(flags, run) {
        screen.complain(&format!("mica: {problem}"));
        return Ok(Exit::Usage);
    }
    let folder = flags
        .data
        .as_ref()
        .map_or_else(|| surroundings.data.join("desk"), |data| surroundings.folder.join(data));
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let store = Store::open(folder.join("desk.db"))?;
    let clock = Clock::open(&store).await?;
    let filled = store::seed::fill(&store, clock.now())?;
    let zone = TimeZone::get(&flags.zone)
        .with_context(|| format!("--zone {}: there is no such zone", flags.zone))?;
    let member = store.look(|connection| pack_desk::ids::member(connection, &flags.member))?;
    let page = flags.page.as_deref().map(places::page).transpose()?;
    let (provider, model, settings, limits, script) = answering(flags, run, surroundings)?;
    let means = Means {
        store,
        // When it began, and something that nobody else drew.
        life: format!("desk-{}", mica_ai::id::MessageId::fresh()),
        now: clock.shared(),
        zone,
        provider,
        model,
        settings,
        limits,
        folder: folder.join("sessions"),
        listeners: vec![Arc::new(Listening(Arc::clone(&screen)))],
        around: None,
    };
    let office = Office::new(means)?;
    let mut room = Room::enter(office, clock, member, &flags.conversation, Arc::clone(&screen)).await?;
    if let Some(page) = page {
        commands::placing::page(&mut room, page)?;
    }
    for id in &flags.open {
        needs::check(&room, Needs::Thing, id, "open").await?;
        commands::placing::open(&mut room, id)?;
    }
    room.keep_place().await?;
    let asking = if run.yes { Asking::Nobody } else { Asking::Person };
    if flags.is_once() {
        if script.is_some() {
            screen.complain(
                "desk: no model is asked, a script answers; `mica doctor` says how to configure one",
            );
        }
        let left = Box::pin(once::once(&mut room, flags, run, asking)).await;
        leave(&room, None).await;
        return left;
    }
    if filled {
        screen.tell(&format!("A fresh desk, with customers who were made up: {}", folder.display()));
    }
    screen.tell(&format!("desk  {} at {}  (/help, /quit)", room.who, room.said_now()));
    if let Some(script) = script {
        screen.tell(script);
    }
    if room.page.is_some() || !room.opened.is_empty() {
        screen.tell(&commands::placing::place(&room));
    }
    if room.is_cut_off().await {
        screen.tell("… what you said last has no answer: say it again, or go on with something else");
    }
    // While somebody is there, so are the agents: times come, work ends, threads are gone on with.
    let work = room.office.begin().await?;
    let mut from = if terminal {
        let (terminal, asides) = Terminal::open_beside(printer, Some(folder.join("history")));
        screen.beside(asides);
        From::keyboard(terminal)
    } else {
        From::pipe()
    };
    let left = Box::pin(talking::talk(&mut room, &mut from, asking)).await;
    leave(&room, Some(work)).await;
    left
}

/// How long what this process held may take to be let go of, when somebody leaves at once.
const PARTING: Duration = Duration::from_millis(500);

/// Leaves: what goes on is ended, and what this process held is free for others. Who does not want to wait for that does not.
async fn leave(room: &Room, work: Option<Work>) {
    if room.hurries {
        // What goes on ends with the program.
        drop(work);
        let _ = tokio::time::timeout(PARTING, room.leave()).await;
        return;
    }
    let well = async {
        if let Some(work) = work {
            work.end().await;
        }
        room.leave().await;
    };
    tokio::select! {
        () = well => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

type Answering =
    (Arc<dyn mica_ai::Provider>, Arc<mica_ai::Model>, mica_agent::Settings, Limits, Option<&'static str>);

/// Who answers: the model that is configured, or the script that comes along when none is.
fn answering(flags: &DeskFlags, run: &RunFlags, surroundings: &Surroundings) -> Result<Answering> {
    let scripted = || {
        let (provider, model) = tour::model()?;
        Ok((provider, model, mica_agent::Settings::default(), Limits::default(), Some(tour::NOTE)))
    };
    if flags.scripted {
        return scripted();
    }
    let values = Config::read(surroundings, run)?.values()?;
    // Nothing is configured, and no model was asked for: the desk can be tried all the same.
    let (known, problems) = Reach::known(&values, run, surroundings)?;
    if known.endpoints.is_empty() && problems.is_empty() && values.model.is_none() {
        return scripted();
    }
    let reach = Reach::find(&values, run, surroundings)?;
    let choice = reach.choose(&values)?;
    let provider = reach::means(&values, surroundings)?.provider(&choice);
    let effort = reach::effort(&values)?;
    let settings = mica_agent::Settings { max_output: values.max_output, effort, cache_key: None };
    let limits = crate::work::limits(&values);
    Ok((provider, Arc::clone(&choice.model), settings, limits, None))
}
