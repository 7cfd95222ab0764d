//! `mica desk`: the help desk in the terminal. Lines are said to the copilot, commands begin with a slash.

mod answers;
mod asked;
mod cards;
mod clock;
mod commands;
mod edits;
mod flags;
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

use anyhow::{Context as _, Result};
use jiff::tz::TimeZone;
use mica_policy::budget::Limits;
use pack_desk::office::{Means, Office};
use pack_desk::{Store, store};

use crate::cli::RunFlags;
use crate::cli::desk::DeskFlags;
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
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let colour = terminal && surroundings.variable("NO_COLOR").is_none();
    let printer = TextPrinter::new(std::io::stdout(), std::io::stderr(), colour, Audience::Reader);
    let screen = Arc::new(Screen::new(Arc::clone(&printer), colour));
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
    let asking = if run.yes { Asking::Nobody } else { Asking::Person };
    if flags.is_once() {
        if script.is_some() {
            screen.complain(
                "desk: no model is asked, a script answers; `mica doctor` says how to configure one",
            );
        }
        let left = Box::pin(once::once(&mut room, flags, asking)).await;
        room.leave().await;
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
    work.end().await;
    room.leave().await;
    left
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
