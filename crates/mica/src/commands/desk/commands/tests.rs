//! Commands: every one with every role, and what they show.

use std::sync::Arc;

use jiff::tz::TimeZone;
use mica_domain::Records as _;
use mica_policy::budget::Limits;
use pack_desk::office::{Means, Office};
use pack_desk::store::{Hand, activity, mail, seed, threads};
use pack_desk::{Desk, Store};

use super::super::clock::Clock;
use super::super::screen::Screen;
use super::super::{places, tour};
use super::*;
use crate::render::text::{Audience, TextPrinter};

/// A desk of its own, with a bundle about a thread, and mail that can be taken back.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    async fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let mut maya = place.room("member:maya").await;
        command_line(&mut maya, "inbound contact:ana-silva | Printer is down | It stopped.").await.unwrap();
        let hand = Hand { who: "member:maya".to_owned(), at: maya.clock.now(), key: None };
        let store = maya.office.means().store.clone();
        let sent = store.write(move |tx| {
            let thread = threads::get(tx, "thread:1053")?;
            let to = mail::recipient(tx, &thread)?;
            mail::send(tx, &hand, &thread, &to, "Hello")
        });
        sent.await.unwrap();
        place
    }

    async fn room(&self, who: &str) -> Room {
        let store = Store::open(self.folder.path().join("desk.db")).unwrap();
        let clock = Clock::open(&store).await.unwrap();
        seed::fill(&store, clock.now()).unwrap();
        let (provider, model) = tour::model().unwrap();
        let means = Means {
            store,
            life: mica_ai::id::fresh(),
            now: clock.shared(),
            zone: TimeZone::get("Europe/Berlin").unwrap(),
            provider,
            model,
            settings: mica_agent::Settings::default(),
            limits: Limits::default(),
            folder: self.folder.path().join("sessions"),
            listeners: Vec::new(),
            around: None,
        };
        let printer = TextPrinter::new(std::io::stdout(), std::io::stderr(), false, Audience::Reader);
        let screen = Arc::new(Screen::new(printer, false, false));
        screen.keep();
        let office = Office::new(means).unwrap();
        Room::enter(office, clock, who.to_owned(), "main", screen).await.unwrap()
    }
}

/// All that a command could have changed.
async fn standing(room: &Room) -> String {
    let store = &room.office.means().store;
    let seen = store
        .look(|connection| {
            Ok((activity::newest(connection, None, Some(50))?, mail::outbox(connection, None)?))
        })
        .unwrap();
    let bundles = room.office.bundles().list().await.unwrap();
    let runs = room.office.runs().await.unwrap().len();
    format!("{seen:?} {bundles:?} {runs} {:?}", store.get("clock", "offset").await.unwrap())
}

const BUNDLE: &str = "fire/new-mail/message:1061-1";

/// Every command as it is typed, and who may: an admin, an agent, a viewer.
const TYPED: &[(&str, &str)] = &[
    ("/page inbox", "admin agent viewer"),
    ("/open thread:1053", "admin agent viewer"),
    ("/close", "admin agent viewer"),
    ("/mention company:initech", "admin agent viewer"),
    ("/tools", "admin agent viewer"),
    ("/inbox", "admin agent viewer"),
    ("/tasks", "admin agent viewer"),
    ("/show thread:1053", "admin agent viewer"),
    ("/today", "admin agent viewer"),
    ("/bundles", "admin agent viewer"),
    ("/bundle fire/new-mail/message:1061-1", "admin agent viewer"),
    ("/snooze fire/new-mail/message:1061-1 tomorrow 9am", "admin agent"),
    ("/renew fire/new-mail/message:1061-1", "admin agent"),
    ("/approve fire/new-mail/message:1061-1", "admin agent"),
    ("/reject fire/new-mail/message:1061-1 no", "admin agent"),
    ("/waiting", "admin agent viewer"),
    ("/inbound contact:ana-silva | Again | Hello.", "admin agent"),
    ("/note thread:1053 just words", "admin agent viewer"),
    ("/assign thread:1053 jonas", "admin agent"),
    ("/assign thread:1053 triage", "admin agent"),
    ("/tell triage Hello", "admin agent"),
    ("/sweep", "admin agent"),
    ("/runs", "admin agent viewer"),
    ("/outbox", "admin agent viewer"),
    ("/unsend mail:001", "admin agent"),
    ("/undo", "admin agent viewer"),
    ("/undo 0001", "admin agent"),
    ("/clock", "admin agent viewer"),
    ("/clock +1h", "admin"),
    ("/help", "admin agent viewer"),
    ("/quit", "admin agent viewer"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_command_wants_the_right_that_it_needs() {
    for command in COMMANDS {
        let name = command.names[0];
        let typed = |(line, _): &(&str, &str)| line[1..].split(' ').next() == Some(name);
        assert!(TYPED.iter().any(typed), "/{name} is not tried");
    }
    for (who, role) in [("member:maya", "admin"), ("member:jonas", "agent"), ("member:tomas", "viewer")] {
        let place = Place::new().await;
        let mut room = place.room(who).await;
        for (line, may) in TYPED {
            let before = standing(&room).await;
            let did = command_line(&mut room, &line[1..]).await;
            let problem = did.as_ref().err().map(|error| format!("{error:#}")).unwrap_or_default();
            let refused = problem.contains(" may not ");
            assert_eq!(refused, !may.contains(role), "{role} {line}: {problem}");
            if refused {
                assert_eq!(standing(&room).await, before, "{role} {line}");
            }
        }
    }
}

const PAGE: &str = include_str!("../../../../../../docs/desk.md");

/// What the help says can be typed is what the page says.
#[test]
fn the_page_has_every_command_and_every_flag() {
    for command in COMMANDS {
        let typed = format!("/{} {}", command.names[0], command.form.replace('|', "\\|"));
        let typed = format!("`{}`", typed.trim_end());
        assert!(PAGE.contains(&typed), "{typed} is missing");
    }
    let program = <crate::cli::Cli as clap::CommandFactory>::command();
    let desk = program.get_subcommands().find(|command| command.get_name() == "desk").unwrap();
    let of_runs = program.get_arguments().filter(|argument| argument.get_long() != Some("plain"));
    for flag in desk.get_arguments().chain(of_runs).filter_map(|argument| argument.get_long()) {
        let is_there = PAGE.contains(&format!("`--{flag}`")) || PAGE.contains(&format!("`--{flag} "));
        assert!(is_there || ["help", "version"].contains(&flag), "--{flag} is missing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_says_why() {
    let place = Place::new().await;
    let mut maya = place.room("member:maya").await;
    let did = command_line(&mut maya, &format!("reject {BUNDLE} wrong customer")).await.unwrap();
    let Did::Said(said) = did else { panic!("{did:?}") };
    assert!(
        said.starts_with(&format!("{BUNDLE}  thread:1061  new-mail: rejected: wrong customer\n")),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_said_anything_about_is_refused() {
    let place = Place::new().await;
    let room = place.room("member:maya").await;
    let refused = needs::check(&room, Needs::Tool("no_such_tool"), "", "try").await.unwrap_err();
    assert_eq!(refused.to_string(), "nobody may do that: it is not said what no_such_tool needs");
    for command in COMMANDS {
        for needs in [command.needs.0, command.needs.1] {
            if let Needs::Tool(tool) = needs {
                let act = Desk::acts().into_iter().find(|act| act.tool == tool);
                assert!(act.is_some_and(|act| act.needs.is_some()), "/{}: {tool}", command.names[0]);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_of_who_may_not_set_agents_to_work_calls_none() {
    let place = Place::new().await;
    let mut tomas = place.room("member:tomas").await;
    let runs = tomas.office.runs().await.unwrap().len();
    let Did::Said(said) = command_line(&mut tomas, "note thread:1053 @Triage look").await.unwrap() else {
        panic!()
    };
    assert_eq!(
        said,
        "noted on thread:1053\nno agent was called: member:tomas may write notes, and not set agents to work\n"
    );
    assert_eq!(tomas.office.runs().await.unwrap().len(), runs);
    let mut jonas = place.room("member:jonas").await;
    let Did::Said(said) = command_line(&mut jonas, "note thread:1053 @Triage look").await.unwrap() else {
        panic!()
    };
    assert!(said.contains("agent:triage looked at thread:1053"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_those_of_the_page_and_of_the_member() {
    let place = Place::new().await;
    let names = |text: &str| -> Vec<String> {
        let words = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        words.map(str::to_owned).collect()
    };
    let mut tomas = place.room("member:tomas").await;
    // Nothing was said yet, and the page was just changed.
    tomas.page = Some(places::page("inbox").unwrap().to_owned());
    assert_eq!(
        names(&placing::tools(&tomas).unwrap()),
        [
            "add_note",
            "find_threads",
            "get_record",
            "get_thread",
            "list_members",
            "list_tasks",
            "plan_create",
            "plan_update_step",
            "search_articles",
            "search_records",
            "set_variable",
            "suggest_replies"
        ]
    );
    let mut maya = place.room("member:maya").await;
    maya.page = Some("agents".to_owned());
    let all = names(&placing::tools(&maya).unwrap());
    assert!(
        all.contains(&"set_agent_prompt".to_owned()) && !all.contains(&"create_task".to_owned()),
        "{all:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn values_stay_as_they_were_typed() {
    let place = Place::new().await;
    let mut maya = place.room("member:maya").await;
    let line = format!("approve {BUNDLE} temp_1 title=\"Ring Ana_Silva  back\"");
    command_line(&mut maya, &line).await.unwrap();
    let bundle = maya.office.bundles().get(BUNDLE).await.unwrap();
    assert_eq!(bundle.actions[0].arguments()["title"], "Ring Ana_Silva  back");
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_text_moves_no_cursor_and_fakes_no_row() {
    let place = Place::new().await;
    let mut maya = place.room("member:maya").await;
    let mail = "inbound evil\x1b[2J@example.test | Hi\x1b]0;x\x07 there | one\\ntwo\x1b[31m";
    let _ = command_line(&mut maya, mail).await;
    let note = "note company:initech first\x1b[2J";
    command_line(&mut maya, note).await.unwrap();
    for line in
        ["inbox", "runs", "today", "bundles", "show company:initech", "show thread:1062", "outbox", "tasks"]
    {
        let Ok(Did::Said(said)) = command_line(&mut maya, line).await else { continue };
        assert!(!said.contains(['\x1b', '\x07']), "{line}: {said:?}");
        assert!(!said.contains("\\u{a}"), "{line}: {said:?}");
    }
}

#[tokio::test]
async fn a_yes_goes_to_the_question_on_the_screen_as_it_stands_there() {
    let place = Place::new().await;
    let mut maya = place.room("member:maya").await;
    let mut jonas = place.room("member:jonas").await;
    for room in [&mut maya, &mut jonas] {
        room.take("Mark Initech as active.").await.unwrap();
        assert!(room.question().unwrap().unwrap().contains("+status: active"));
    }
    jonas.answer("y").await.unwrap();
    // As it happens while somebody thinks: the question is made anew, and they did not see it.
    maya.look_again().await.unwrap();
    let refused = maya.answer("y").await.unwrap_err().to_string();
    assert!(
        refused.starts_with("not done: what update_record rests on has changed since it was shown"),
        "{refused}"
    );
    // Once they have, it counts.
    assert!(maya.question().unwrap().is_some());
    assert!(matches!(maya.answer("y").await.unwrap(), Did::Ran(_)));
    assert_eq!(
        maya.answer("y").await.unwrap_err().to_string(),
        "that is not asked any more: somebody answered it, or its time was over"
    );
}

#[tokio::test]
async fn a_short_name_is_the_whole_first_part_of_one() {
    let place = Place::new().await;
    let mut maya = place.room("member:maya").await;
    maya.take("Mark Initech as active.").await.unwrap();
    let name = maya.questions_as_data().unwrap()[0]["name"].as_str().unwrap().to_owned();
    let first = name.split('-').next().unwrap();
    for (text, is_one) in [(name.as_str(), true), (first, true), (&first[..1], false), ("", false)] {
        assert_eq!(maya.named(text).unwrap().is_some(), is_one, "{text:?}");
    }
}

/// Maya asks for something, is shown the question, and leaves; meanwhile Jonas has the same done. The question's name.
async fn overtaken(place: &Place) -> String {
    let mut maya = place.room("member:maya").await;
    maya.take("Mark Initech as active.").await.unwrap();
    let shown = command_line(&mut maya, "waiting").await.unwrap();
    let Did::Said(shown) = shown else { panic!("{shown:?}") };
    drop(maya);
    let mut jonas = place.room("member:jonas").await;
    jonas.take("Mark Initech as active.").await.unwrap();
    jonas.approve_all().await.unwrap();
    named(&shown)
}

fn named(shown: &str) -> String {
    shown.lines().find_map(|line| line.trim().strip_prefix("its name: ")).unwrap().to_owned()
}

/// What is approved by name is what people were shown under it, also when another process showed it.
#[tokio::test]
async fn a_yes_by_name_counts_for_what_was_shown() {
    let place = Place::new().await;
    let name = overtaken(&place).await;
    let mut maya = place.room("member:maya").await;
    let refused = command_line(&mut maya, &format!("approve {name}")).await.unwrap_err().to_string();
    assert!(refused.starts_with("not done: what it rests on has changed since it was shown."), "{refused}");
    drop(maya);
    // The old name stands for what was shown then, however often it is said; the question as it is now has its own.
    let mut maya = place.room("member:maya").await;
    let again = command_line(&mut maya, &format!("approve {name}")).await.unwrap_err().to_string();
    assert_eq!(again, refused);
    let anew = named(&refused);
    assert_ne!(anew, name);
    let done = command_line(&mut maya, &format!("approve {anew}")).await.unwrap();
    assert!(matches!(done, Did::Ran(_)), "{done:?}");
    // Whoever answers what was answered reads what became of it.
    let over = command_line(&mut maya, &format!("approve {anew}")).await.unwrap_err().to_string();
    assert_eq!(over, format!("{anew} was answered: member:maya said yes"));
}

#[tokio::test]
async fn a_no_by_name_counts_for_what_it_is_now() {
    let place = Place::new().await;
    let name = overtaken(&place).await;
    let mut maya = place.room("member:maya").await;
    let done = command_line(&mut maya, &format!("reject {name}")).await.unwrap();
    assert!(matches!(done, Did::Ran(_)), "{done:?}");
    assert_eq!(maya.questions().unwrap(), "");
}
