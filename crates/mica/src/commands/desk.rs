//! `mica desk`: the help desk in the terminal. Lines are said to the copilot, commands begin with a slash.

mod commands;
mod listening;
mod room;
mod tour;

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use jiff::tz::TimeZone;
use mica_agent::Outcome;
use mica_policy::budget::Limits;
use pack_desk::office::{Means, Office};
use pack_desk::{Desk, Store, store};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::cli::RunFlags;
use crate::cli::desk::DeskFlags;
use crate::config::Config;
use crate::exit::Exit;
use crate::reach::{self, Reach};
use crate::surroundings::Surroundings;
use listening::Listening;
use room::{Clock, Did, Room};

/// Works at the desk: once, or with a person until they leave.
///
/// # Errors
/// Data that cannot be used, a member or page that is not there, a model that cannot be asked.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
pub async fn run(flags: &DeskFlags, run: &RunFlags, surroundings: &Surroundings) -> Result<Exit> {
    let folder = flags
        .data
        .as_ref()
        .map_or_else(|| surroundings.data.join("desk"), |data| surroundings.folder.join(data));
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let store = Store::open(folder.join("desk.db"))?;
    let clock = Clock::open(&store)?;
    let filled = store::seed::fill(&store, clock.now())?;
    let zone = TimeZone::get(&flags.zone)
        .with_context(|| format!("--zone {}: there is no such zone", flags.zone))?;
    let member = store.look(|connection| pack_desk::ids::member(connection, &flags.member))?;
    if let Some(page) = &flags.page
        && !Desk::PAGES.contains(&page.as_str())
    {
        bail!("there is no page {page:?}; the pages are: {}", Desk::PAGES.join(", "));
    }
    let (provider, model, settings, limits, script) = answering(flags, run, surroundings)?;
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let colour = terminal && surroundings.variable("NO_COLOR").is_none();
    let listening = Arc::new(Listening::new(colour));
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
        listeners: vec![listening],
        around: None,
    };
    let office = Office::new(means)?;
    let mut room = Room::enter(office, clock, member, &flags.conversation, colour).await?;
    room.page.clone_from(&flags.page);
    for id in &flags.open {
        room.open(id)?;
    }
    if !flags.say.is_empty() {
        if script.is_some() {
            eprintln!("desk: no model is asked, a script answers; `mica doctor` says how to configure one");
        }
        let left = once(&mut room, &flags.say, run.yes).await;
        room.leave().await;
        return left;
    }
    if filled {
        println!("A fresh desk, with customers who were made up: {}", folder.display());
    }
    println!("desk  {} at {}  (/help, /quit)", room.who, room.said_now());
    if let Some(script) = script {
        println!("{script}");
    }
    // While somebody is there, so are the agents: times come, work ends, threads are gone on with.
    let work = room.office.begin().await?;
    let left = talk(&mut room, terminal).await;
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

/// How often it is looked whether background work has ended.
const LOOK: Duration = Duration::from_millis(250);
/// How often it is looked whether something happened while nobody types.
const GLANCE: Duration = Duration::from_secs(1);
/// How often at most before leaving.
const PATIENCE: u32 = 40;

/// Says or does some things, and leaves.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
async fn once(room: &mut Room, lines: &[String], yes: bool) -> Result<Exit> {
    let mut exit = Exit::Done;
    for line in lines {
        match room.take(line).await {
            Ok(Did::Said(text)) => println!("{}", text.trim_end()),
            Ok(Did::Ran(mut outcome)) => {
                while yes && matches!(outcome, Outcome::Suspended { .. }) {
                    outcome = room.approve_all().await?;
                }
                if let Outcome::Suspended { .. } = &outcome {
                    eprintln!("{}", room.questions()?);
                    eprintln!(
                        "desk: it waits for an answer; `mica desk` asks again, and --yes says yes to everything"
                    );
                }
                if let Outcome::Failed { error } = &outcome {
                    eprintln!("desk: {}", crate::interactive::for_person(error));
                }
                exit = Exit::from(&outcome);
            }
            Ok(Did::Quit) => break,
            Err(error) => {
                eprintln!("desk: {error:#}");
                return Ok(Exit::Error);
            }
        }
        room.settle().await?;
    }
    // What was begun in the background is waited for a little: the next start would go on with it.
    for _ in 0..PATIENCE {
        if !room.office.is_watching().await? {
            break;
        }
        tokio::time::sleep(LOOK).await;
        room.settle().await?;
    }
    Ok(exit)
}

/// Talks with a person until they leave. Works from a pipe as well.
#[allow(clippy::print_stdout, reason = "a program speaks")]
async fn talk(room: &mut Room, terminal: bool) -> Result<Exit> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        room.settle().await?;
        let asked = !room.waiting().is_empty();
        if asked {
            println!("{}", room.question()?);
        }
        if terminal || asked {
            print!("{}", if asked { "answer> ".to_owned() } else { room.prompt() });
            std::io::stdout().flush()?;
        }
        let line = loop {
            tokio::select! {
                line = lines.next_line() => break line?,
                _ = tokio::signal::ctrl_c() => return Ok(Exit::Aborted),
                () = tokio::time::sleep(GLANCE), if terminal => {
                    if room.settle().await? {
                        print!("{}", room.prompt());
                        std::io::stdout().flush()?;
                    }
                }
            }
        };
        let Some(line) = line else {
            if asked {
                println!("\nleft waiting; it is asked again next time");
            }
            return Ok(Exit::Done);
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if !terminal {
            println!("> {line}");
        }
        let did =
            if asked && !line.starts_with('/') { room.answer(line).await } else { room.take(line).await };
        match did {
            Ok(Did::Said(text)) => println!("{}", text.trim_end()),
            Ok(Did::Ran(outcome)) => room.tell(&outcome),
            Ok(Did::Quit) => return Ok(Exit::Done),
            // A mistake of a person, or of the moment: they are told, and go on.
            Err(error) => println!("✗ {error:#}"),
        }
    }
}
