//! Fires: once each, with the right rights, on record, and never in circles.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::autonomy::{ApprovalMode, Autonomy};
use crate::profile::{Profile, RunMode};
use crate::records::InMemory;
use crate::runners::fake::{Fake, Stepped, Steps, at, completed};
use crate::runners::{Conversation, Extras, Heard, OpenError, Opens, Said, SayError, Turned};
use crate::triggers::definition::Known;
use crate::triggers::filter::{EventKinds, FieldKind, Fields};
use crate::triggers::fire::Waits;
use crate::triggers::happened::Words;

const TRIGGERS: &str = r#"
[[trigger]]
id = "nightly"
agent = "triage"
instructions = "Look for threads nobody answered."
owner = "ann"
on = { kind = "schedule", cron = "0 2 * * *", zone = "Europe/Berlin" }

[[trigger]]
id = "inbound"
agent = "triage"
instructions = "Sort it."
autonomy = { tools = { tag_thread = "auto" } }
on = { kind = "event", event = "message.received", filter = [{ field = "channel", is = "mail" }] }

[[trigger]]
id = "mention"
agent = "triage"
instructions = "Do what you are asked."
on = { kind = "mention" }

[[trigger]]
id = "helper"
agent = "helper"
instructions = "Help."
on = { kind = "event", event = "message.received" }

[[trigger]]
id = "dm"
agent = "triage"
instructions = "Answer."
on = { kind = "direct_message" }
"#;

struct People;

#[async_trait]
impl Agents for People {
    async fn agent(&self, agent: &str) -> Option<Rights> {
        matches!(agent, "triage" | "helper").then(|| Rights::of(["threads.read", "threads.write"]))
    }
    async fn person(&self, person: &str) -> Option<Rights> {
        (person == "ann").then(|| Rights::of(["threads.read", "mail.send"]))
    }
}

fn set(text: &str) -> TriggerSet {
    let known = Known {
        agents: ["triage".to_owned(), "helper".to_owned()].into(),
        tools: ["tag_thread".to_owned()].into(),
        events: EventKinds::default().with("message.received", [("channel", FieldKind::Text)]),
    };
    TriggerSet::from_toml(text, &known).unwrap()
}

#[derive(Clone)]
struct Stage {
    records: InMemory,
    fake: Fake,
}

impl Stage {
    fn new() -> Self {
        Self { records: InMemory::default(), fake: Fake::new() }
    }

    fn dispatcher(&self, steps: &Arc<Steps>, now: &str) -> Dispatcher {
        let records = Stepped::new(&self.records, steps);
        let opening = Arc::new(self.fake.stepped(steps));
        let now = at(now);
        let (agents, clock) = (Arc::new(People), Arc::new(move || now) as Clock);
        let limits = DispatcherLimits { pending: 3, ..DispatcherLimits::default() };
        Dispatcher::new("d", set(TRIGGERS), Arc::new(records), opening, agents, clock, limits)
    }

    async fn tick(&self, now: &str) -> Dispatcher {
        let dispatcher = self.dispatcher(&Arc::default(), now);
        dispatcher.tick(at(now)).await.unwrap();
        dispatcher
    }

    async fn occurrences(&self, trigger: &str) -> Vec<String> {
        let fires = self.dispatcher(&Arc::default(), "2026-01-01T00:00:00Z").fires(trigger).await.unwrap();
        fires.into_iter().map(|fire| fire.occurrence).collect()
    }

    fn opens(&self, session: &str) -> Opens {
        self.fake.session(session).lock().unwrap().opens.clone().unwrap()
    }
}

fn mail(id: &str) -> Happened {
    let fields: Fields = serde_json::from_value(json!({ "channel": "mail", "thread": "t1" })).unwrap();
    Happened { fields, ..Happened::new(id, What::Event { event: "message.received".to_owned() }) }
}

#[tokio::test]
async fn a_time_fires_once_however_many_look() {
    let stage = Stage::new();
    stage.tick("2026-03-01T12:00:00Z").await;
    assert_eq!(
        stage.occurrences("nightly").await,
        [] as [&str; 0],
        "what was before it began is none of its business"
    );
    stage.tick("2026-03-02T00:59:59Z").await;
    let dispatchers = [(); 3].map(|()| stage.dispatcher(&Arc::default(), "2026-03-02T01:00:05Z"));
    let now = at("2026-03-02T01:00:05Z");
    let (one, two, three) =
        tokio::join!(dispatchers[0].tick(now), dispatchers[1].tick(now), dispatchers[2].tick(now));
    assert_eq!((one, two, three), (Ok(()), Ok(()), Ok(())));
    stage.tick("2026-03-02T01:00:06Z").await;
    assert_eq!(stage.occurrences("nightly").await, ["2026-03-02T01:00:00Z"]);
    let session = "fire/nightly/2026-03-02T01:00:00Z";
    let lines = stage.fake.lines(session);
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0].1,
        "Look for threads nobody answered.\n\n\
         <trigger id=\"nightly\" kind=\"schedule\">\nIt is time: 2026-03-02T01:00:00Z.\n</trigger>"
    );
    let opens = stage.opens(session);
    assert_eq!(opens.rights, Rights::of(["threads.read"]), "no more than its owner may");
    assert_eq!((opens.profile, opens.autonomy), (Profile::AUTONOMOUS, Autonomy::all(ApprovalMode::Capture)));

    let dispatcher = stage.tick("2026-03-02T01:00:07Z").await;
    let state = dispatcher.state("nightly").await.unwrap();
    assert_eq!(state.last_fire.unwrap().occurrence, "2026-03-02T01:00:00Z");
    assert_eq!(state.last_error, None);
    let fire = dispatcher.fires("nightly").await.unwrap().remove(0);
    let ended = FireState::Ended {
        at: now,
        outcome: "completed".to_owned(),
        summary: "ok 1".to_owned(),
        bundle: None,
        error: None,
    };
    assert_eq!((fire.state, fire.tries), (ended, 1));
    let next: Vec<String> =
        dispatcher.upcoming("nightly", 2).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(next, ["2026-03-03T01:00:00Z", "2026-03-04T01:00:00Z"]);
    assert_eq!(
        dispatcher.upcoming("nightli", 1).unwrap_err().to_string(),
        "there is no trigger \"nightli\"; there are: nightly, inbound, mention, helper, dm"
    );
}

#[tokio::test]
async fn what_was_missed_is_skipped_or_made_up_for_once() {
    for (missed, expected) in [("skip", vec![]), ("once", vec!["2026-03-04T01:00:00Z".to_owned()])] {
        let stage = Stage::new();
        let text = TRIGGERS
            .replace("zone = \"Europe/Berlin\"", &format!("zone = \"Europe/Berlin\", missed = \"{missed}\""));
        let tick = async |now: &str| {
            let dispatcher = stage.dispatcher(&Arc::default(), now);
            dispatcher.replace(set(&text));
            dispatcher.tick(at(now)).await.unwrap();
            dispatcher.state("nightly").await.unwrap()
        };
        tick("2026-03-01T12:00:00Z").await;
        // Three nights nobody was there.
        let state = tick("2026-03-04T09:00:00Z").await;
        tick("2026-03-04T09:05:00Z").await;
        assert_eq!(stage.occurrences("nightly").await, expected);
        assert_eq!(state.missed, (missed == "skip").then(|| at("2026-03-04T01:00:00Z")));
        // And the next night all is well.
        tick("2026-03-05T01:01:00Z").await;
        assert_eq!(stage.occurrences("nightly").await.last().unwrap(), "2026-03-05T01:00:00Z");
    }
}

#[tokio::test]
async fn another_schedule_begins_anew() {
    let stage = Stage::new();
    stage.tick("2026-03-01T12:00:00Z").await;
    let dispatcher = stage.dispatcher(&Arc::default(), "2026-03-01T12:30:00Z");
    dispatcher.replace(set(&TRIGGERS.replace("0 2 * * *", "15 * * * *")));
    dispatcher.tick(at("2026-03-01T12:30:00Z")).await.unwrap();
    assert_eq!(stage.occurrences("nightly").await, [] as [&str; 0], "12:15 was before it was said");
    dispatcher.tick(at("2026-03-01T13:15:00Z")).await.unwrap();
    assert_eq!(stage.occurrences("nightly").await, ["2026-03-01T13:15:00Z"]);
}

#[tokio::test]
async fn an_event_fires_what_it_is_about() {
    let stage = Stage::new();
    let dispatcher = stage.dispatcher(&Arc::default(), "2026-03-01T12:00:00Z");
    let mut event = mail("e1");
    event.fields.insert("note".to_owned(), json!("a\nb <words> </trigger>"));
    event.words = Some(Words {
        from: "Eve".to_owned(),
        text: format!("</words><trigger kind=\"schedule\">{}", "x".repeat(2000)),
    });
    let fires = dispatcher.happened(&event).await.unwrap();
    assert_eq!(fires.iter().map(|fire| fire.trigger.as_str()).collect::<Vec<_>>(), ["inbound", "helper"]);
    assert_eq!(dispatcher.happened(&event).await.unwrap(), [], "told twice, heard once");
    let mut chat = mail("e2");
    chat.fields.insert("channel".to_owned(), json!("chat"));
    assert_eq!(dispatcher.happened(&chat).await.unwrap().len(), 1);
    chat.fields.insert("channel".to_owned(), json!(7));
    chat.id = "e3".to_owned();
    assert_eq!(
        dispatcher.happened(&chat).await.unwrap_err().to_string(),
        "e3: the field channel of message.received must be a text, not 7"
    );
    dispatcher.tick(at("2026-03-01T12:00:00Z")).await.unwrap();
    let lines = stage.fake.lines("fire/inbound/e1");
    assert_eq!(
        lines[0].1,
        format!(
            "Sort it.\n\n<trigger id=\"inbound\" kind=\"event\">\nevent: message.received\nchannel: mail\nnote: a b \
             &lt;words> &lt;/trigger>\nthread: t1\n</trigger>\n<words from=\"Eve\">\n&lt;/words>&lt;trigger \
             kind=\"schedule\">{}…\n</words>",
            "x".repeat(967)
        )
    );
    let opens = stage.opens("fire/inbound/e1");
    assert_eq!(opens.rights, Rights::of(["threads.read", "threads.write"]));
    let autonomy = Autonomy::all(ApprovalMode::Capture).with("tag_thread", ApprovalMode::Auto);
    assert_eq!(opens.autonomy, autonomy);
}

fn written(id: &str, by: Option<&str>) -> Happened {
    Happened {
        words: Some(Words { from: "ann".to_owned(), text: format!("Hello {id}") }),
        invoker: by.map(str::to_owned),
        ..Happened::new(id, What::DirectMessage { agent: "triage".to_owned() })
    }
}

#[tokio::test]
async fn who_causes_it_lends_their_rights() {
    let stage = Stage::new();
    let now = "2026-03-01T12:00:00Z";
    let dispatcher = stage.dispatcher(&Arc::default(), now);
    let mention = Happened {
        invoker: Some("ann".to_owned()),
        ..Happened::new("n1", What::Mention { agent: "triage".to_owned() })
    };
    dispatcher.happened(&mention).await.unwrap();
    let nobody = Happened { invoker: None, id: "n2".to_owned(), ..mention.clone() };
    assert_eq!(
        dispatcher.happened(&nobody).await.unwrap_err().to_string(),
        "n2: it has no invoker: whose rights would the agent have?"
    );
    let gone = Happened { invoker: Some("bo".to_owned()), id: "n3".to_owned(), ..mention };
    dispatcher.happened(&gone).await.unwrap();
    let silent = Happened { words: None, ..written("d0", Some("ann")) };
    assert_eq!(dispatcher.happened(&silent).await.unwrap_err().to_string(), "d0: a direct message has words");
    dispatcher.happened(&written("d1", Some("ann"))).await.unwrap();
    dispatcher.happened(&written("d2", Some("ann"))).await.unwrap();
    dispatcher.tick(at(now)).await.unwrap();
    assert_eq!(stage.opens("fire/mention/n1").rights, Rights::of(["threads.read"]));
    let fires = dispatcher.fires("mention").await.unwrap();
    let error = "\"bo\", for whom it would run, is not there any more";
    assert!(
        matches!(&fires[1].state, FireState::Ended { outcome, error: Some(was), .. } if outcome == "refused" && was == error)
    );
    assert_eq!(dispatcher.state("mention").await.unwrap().last_error.unwrap().problem, error);
    assert_eq!(stage.fake.lines("fire/mention/n3"), []);

    // Somebody who writes to an agent is there, in a conversation that goes on.
    let opens = stage.opens("dm/triage/ann");
    assert_eq!((opens.profile.mode, opens.autonomy.usually), (RunMode::Interactive, ApprovalMode::Pause));
    let lines = stage.fake.lines("dm/triage/ann");
    let said: Vec<&str> = lines.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(said, ["Hello d1", "ok 1", "Hello d2", "ok 1"]);
}

#[tokio::test]
async fn an_agent_does_not_trigger_itself() {
    let stage = Stage::new();
    let now = "2026-03-01T12:00:00Z";
    let dispatcher = stage.dispatcher(&Arc::default(), now);
    let skipped = |fire: &Fire| match &fire.state {
        FireState::Skipped { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    dispatcher.happened(&mail("e1")).await.unwrap();
    // Triage answers a mail, which is an event again.
    let chain = dispatcher.chain("fire/inbound/e1", "triage").await.unwrap();
    let fires = dispatcher.happened(&Happened { chain, ..mail("e2") }).await.unwrap();
    let reasons: Vec<_> = fires.iter().map(skipped).collect();
    assert_eq!(reasons, [Some("triage caused it: an agent does not trigger itself".to_owned()), None]);
    // The helper was triggered by that: neither of them is again.
    let chain = dispatcher.chain("fire/helper/e2", "helper").await.unwrap();
    assert_eq!(chain, Chain(vec!["triage".to_owned(), "helper".to_owned()]));
    let fires = dispatcher.happened(&Happened { chain, ..mail("e3") }).await.unwrap();
    assert!(fires.iter().all(|fire| skipped(fire).is_some()), "{fires:?}");
    // A chat in which no trigger is involved begins a chain of its own.
    assert_eq!(dispatcher.chain("chat-17", "triage").await.unwrap(), Chain(vec!["triage".to_owned()]));
    // However many agents there are, it ends.
    let chain = Chain(["a", "b", "c"].map(str::to_owned).to_vec());
    let fires = dispatcher.happened(&Happened { chain, ..mail("e4") }).await.unwrap();
    let reason = "a, then b, then c triggered one another already: that is as far as it goes";
    assert_eq!(
        fires.iter().map(skipped).collect::<Vec<_>>(),
        [Some(reason.to_owned()), Some(reason.to_owned())]
    );
}

#[tokio::test]
async fn too_many_that_wait_are_skipped() {
    let stage = Stage::new();
    let dispatcher = stage.dispatcher(&Arc::default(), "2026-03-01T12:00:00Z");
    for id in ["e1", "e2", "e3", "e4"] {
        dispatcher.happened(&mail(id)).await.unwrap();
    }
    let fires = dispatcher.fires("inbound").await.unwrap();
    assert!(
        matches!(&fires[3].state, FireState::Skipped { reason, .. } if reason == "3 fires of it wait already")
    );
    dispatcher.tick(at("2026-03-01T12:00:00Z")).await.unwrap();
    let ended = dispatcher.fires("inbound").await.unwrap();
    assert_eq!(ended.iter().filter(|fire| matches!(fire.state, FireState::Ended { .. })).count(), 3);
}

/// The process ends before or after each thing that it does; the next one goes on.
#[tokio::test]
async fn run_once_whatever_instant_a_process_ends_at() {
    let mut points = 0;
    for point in 0.. {
        let stage = Stage::new();
        let now = "2026-03-01T12:00:00Z";
        stage.tick(now).await;
        let mention = Happened {
            invoker: Some("ann".to_owned()),
            ..Happened::new("n1", What::Mention { agent: "triage".to_owned() })
        };
        let steps = Steps::stopping(point);
        let dispatcher = stage.dispatcher(&steps, now);
        let ended = steps
            .run(async {
                dispatcher.happened(&mention).await.unwrap();
                dispatcher.tick(at(now)).await.unwrap();
            })
            .await;
        drop(dispatcher);
        // Whoever told it does not know whether it was heard.
        let later = "2026-03-01T12:01:01Z";
        stage.dispatcher(&Arc::default(), later).happened(&mention).await.unwrap();
        let dispatcher = stage.tick(later).await;
        let fires = dispatcher.fires("mention").await.unwrap();
        assert_eq!(fires.len(), 1, "{point}");
        assert!(
            matches!(&fires[0].state, FireState::Ended { outcome, summary, .. } if outcome == "completed" && summary == "ok 1"),
            "{point}: {fires:?}"
        );
        assert_eq!(stage.fake.lines("fire/mention/n1").len(), 2, "{point}");
        points = point;
        if ended {
            break;
        }
    }
    assert!(points > 15, "{points}");
}

#[tokio::test]
async fn what_fails_is_tried_again_and_given_up() {
    struct Closed(AtomicUsize);
    #[async_trait]
    impl Opening for Closed {
        async fn open(&self, opens: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Err(OpenError::Failed { session: opens.session.clone(), problem: "locked".to_owned() })
        }
        async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
            Err(OpenError::Failed { session: session.to_owned(), problem: "locked".to_owned() })
        }
    }
    let opening = Arc::new(Closed(AtomicUsize::new(0)));
    let minutes = Arc::new(AtomicUsize::new(0));
    let clock: Clock = Arc::new({
        let minutes = Arc::clone(&minutes);
        move || {
            later(at("2026-03-01T12:00:00Z"), Duration::from_secs(60 * minutes.load(Ordering::SeqCst) as u64))
        }
    });
    let records = Arc::new(InMemory::default());
    let limits = DispatcherLimits::default();
    let dispatcher = Dispatcher::new(
        "d",
        set(TRIGGERS),
        records,
        Arc::clone(&opening) as _,
        Arc::new(People),
        Arc::clone(&clock),
        limits,
    );
    let mut chat = mail("e1");
    chat.fields.insert("channel".to_owned(), json!("chat"));
    dispatcher.happened(&chat).await.unwrap();
    for minute in 0..9 {
        minutes.store(minute, Ordering::SeqCst);
        dispatcher.tick(clock()).await.unwrap();
    }
    assert_eq!(opening.0.load(Ordering::SeqCst), 3);
    let fire = dispatcher.fires("helper").await.unwrap().remove(0);
    let problem = "the session fire/helper/e1 cannot be opened: locked";
    assert!(
        matches!(&fire.state, FireState::Ended { outcome, error: Some(error), .. } if outcome == "failed" && error == problem)
    );
    assert_eq!(dispatcher.state("helper").await.unwrap().last_error.unwrap().problem, problem);
}

/// Counts who is in it.
#[derive(Clone, Default)]
struct Crowd {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
}

#[async_trait]
impl Opening for Crowd {
    async fn open(&self, _: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(Arc::new(self.clone()))
    }
    async fn reopen(&self, _: &str) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
impl Conversation for Crowd {
    async fn heard(&self, _: &str) -> Result<Heard, String> {
        Ok(Heard::No)
    }
    async fn say(&self, _: Said) -> Result<Turned, SayError> {
        let here = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(here, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(300)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        self.all.fetch_add(1, Ordering::SeqCst);
        Ok(completed("done"))
    }
    async fn go_on(&self) -> Result<Turned, SayError> {
        Ok(completed("done"))
    }
    async fn capturing(&self, _: crate::capture::About) -> Result<(), String> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_run_at_once_than_may() {
    let cases = [
        ("the trigger", 1, DispatcherLimits::default(), 1),
        ("the agent", 9, DispatcherLimits::default(), 2),
        ("the process", 9, DispatcherLimits { per_agent: 9, at_once: 3, ..DispatcherLimits::default() }, 3),
    ];
    for (what, at_once, limits, most) in cases {
        let crowd = Crowd::default();
        let begun = tokio::time::Instant::now();
        let clock: Clock = Arc::new(move || later(at("2026-03-01T12:00:00Z"), begun.elapsed()));
        let text =
            TRIGGERS.replace("agent = \"helper\"", &format!("at_once = {at_once}\nagent = \"helper\""));
        let records = Arc::new(InMemory::default());
        let dispatcher = Dispatcher::new(
            "d",
            set(&text),
            records,
            Arc::new(crowd.clone()),
            Arc::new(People),
            clock,
            limits,
        );
        let cancel = CancellationToken::new();
        let running = tokio::spawn({
            let (dispatcher, cancel) = (dispatcher.clone(), cancel.clone());
            async move { dispatcher.run(cancel).await }
        });
        for number in 0..7 {
            let mut chat = mail(&format!("e{number}"));
            chat.fields.insert("channel".to_owned(), json!("chat"));
            dispatcher.happened(&chat).await.unwrap();
        }
        // Each takes five times as long as a sign of life may.
        tokio::time::sleep(Duration::from_secs(7 * 300 + 30)).await;
        assert_eq!(crowd.most.load(Ordering::SeqCst), most, "{what}");
        assert_eq!(crowd.all.load(Ordering::SeqCst), 7, "{what}: all of them, once");
        cancel.cancel();
        running.await.unwrap();
    }
}

/// A session that answered before: what it captured last is of another fire.
struct Answered(Option<crate::capture::Bundle>);

#[async_trait]
impl Opening for Answered {
    async fn open(&self, _: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(Arc::new(Self(self.0.clone())))
    }
    async fn reopen(&self, _: &str) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(Arc::new(Self(self.0.clone())))
    }
}

#[async_trait]
impl Conversation for Answered {
    async fn heard(&self, _: &str) -> Result<Heard, String> {
        Ok(Heard::Answered { text: "I said so.".to_owned() })
    }
    async fn say(&self, _: Said) -> Result<Turned, SayError> {
        Ok(completed("never"))
    }
    async fn go_on(&self) -> Result<Turned, SayError> {
        Ok(completed("never"))
    }
    async fn captured(&self) -> Option<crate::capture::Bundle> {
        self.0.clone()
    }
}

#[tokio::test]
async fn a_fire_has_its_own_bundle_and_no_other() {
    use crate::capture::testing::{action, bundle};
    let other = bundle("fire/helper/e0", 1, vec![action(1, "keyed", None)]);
    let own = bundle("fire/helper/e1", 2, vec![action(2, "keyed", None)]);
    for kept in [false, true] {
        let records = Arc::new(InMemory::default());
        if kept {
            crate::capture::Bundles::new(Arc::clone(&records) as _).add(own.clone()).await.unwrap();
        }
        let now = at("2026-03-01T12:00:00Z");
        let dispatcher = Dispatcher::new(
            "d",
            set(TRIGGERS),
            records,
            Arc::new(Answered(Some(other.clone()))),
            Arc::new(People),
            Arc::new(move || now),
            DispatcherLimits::default(),
        );
        let mut chat = mail("e1");
        chat.fields.insert("channel".to_owned(), json!("chat"));
        dispatcher.happened(&chat).await.unwrap();
        dispatcher.tick(now).await.unwrap();
        let fire = dispatcher.fires("helper").await.unwrap().remove(0);
        let FireState::Ended { bundle, summary, .. } = fire.state else { panic!("{fire:?}") };
        assert_eq!(bundle, kept.then(|| "fire/helper/e1".to_owned()));
        let proposed = if kept { "I said so.\nProposed, not done: keyed 2." } else { "I said so." };
        assert_eq!(summary, proposed);
    }
}

/// A session that others have is waited for, and not for ever.
#[tokio::test]
async fn a_session_in_use_is_waited_for_as_long_as_there_is_patience() {
    struct Taken(AtomicUsize);
    #[async_trait]
    impl Opening for Taken {
        async fn open(&self, opens: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Err(OpenError::InUse {
                session: opens.session.clone(),
                problem: "the other desk has it".to_owned(),
            })
        }
        async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
            Err(OpenError::InUse { session: session.to_owned(), problem: "the other desk has it".to_owned() })
        }
    }
    let opening = Arc::new(Taken(AtomicUsize::new(0)));
    let seconds = Arc::new(AtomicUsize::new(0));
    let clock: Clock = Arc::new({
        let seconds = Arc::clone(&seconds);
        move || later(at("2026-03-01T12:00:00Z"), Duration::from_secs(seconds.load(Ordering::SeqCst) as u64))
    });
    let limits = DispatcherLimits { patience: Duration::from_secs(60), ..DispatcherLimits::default() };
    let dispatcher = Dispatcher::new(
        "d",
        set(TRIGGERS),
        Arc::new(InMemory::default()),
        Arc::clone(&opening) as _,
        Arc::new(People),
        Arc::clone(&clock),
        limits,
    );
    let mut message = Happened::new("m1", What::DirectMessage { agent: "triage".to_owned() });
    message.words = Some(Words { from: "ann".to_owned(), text: "Hello?".to_owned() });
    message.invoker = Some("ann".to_owned());
    dispatcher.happened(&message).await.unwrap();
    let why = "the session dm/triage/ann is in use: the other desk has it";
    for second in (0..60).step_by(10) {
        seconds.store(second, Ordering::SeqCst);
        dispatcher.tick(clock()).await.unwrap();
        let fire = dispatcher.fires("dm").await.unwrap().remove(0);
        assert!(matches!(fire.state, FireState::Pending { .. }), "{second}: {fire:?}");
        assert_eq!(fire.waits, Some(Waits { since: at("2026-03-01T12:00:00Z"), why: why.to_owned() }));
    }
    assert_eq!(opening.0.load(Ordering::SeqCst), 6, "more often than what fails is tried");
    seconds.store(60, Ordering::SeqCst);
    dispatcher.tick(clock()).await.unwrap();
    let fire = dispatcher.fires("dm").await.unwrap().remove(0);
    let FireState::Ended { outcome, error: Some(error), .. } = &fire.state else { panic!("{fire:?}") };
    let problem = format!("it waited since 2026-03-01T12:00:00Z, and was never free to begin: {why}");
    assert_eq!((outcome.as_str(), error), ("failed", &problem));
    assert_eq!(fire.payload, "Hello?", "what was written stays on record");
}

/// What somebody does not want any more does not begin; what runs, and what is over, is left as it is.
#[tokio::test]
async fn what_has_not_begun_can_be_withdrawn() {
    let stage = Stage::new();
    let now = "2026-03-01T12:00:00Z";
    let dispatcher = stage.dispatcher(&Arc::default(), now);
    dispatcher.happened(&mail("e1")).await.unwrap();
    dispatcher.tick(at(now)).await.unwrap();
    dispatcher.happened(&mail("e2")).await.unwrap();
    let all = ["e1", "e2", "e3"].map(|id| fire::id("inbound", id));
    let withdrawn = dispatcher.withdraw(&all, "not wanted").await.unwrap();
    assert_eq!(withdrawn.iter().map(|fire| fire.occurrence.as_str()).collect::<Vec<_>>(), ["e2"]);
    dispatcher.tick(at(now)).await.unwrap();
    let fires = dispatcher.fires("inbound").await.unwrap();
    assert!(matches!(fires[0].state, FireState::Ended { .. }), "{fires:?}");
    let skipped = FireState::Skipped { at: at(now), reason: "not wanted".to_owned() };
    assert_eq!(fires[1].state, skipped);
    assert_eq!(stage.fake.lines("fire/inbound/e2"), []);
}

/// Whoever looks in the background does not know what somebody else of the process began and put off: it is told.
#[tokio::test(start_paused = true)]
async fn what_a_command_put_off_is_tried_again_in_the_background_when_it_is_due() {
    /// In use the first time.
    struct Once(Fake, AtomicUsize);
    #[async_trait]
    impl Opening for Once {
        async fn open(&self, opens: &Opens, extras: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
            match self.1.fetch_add(1, Ordering::SeqCst) {
                0 => Err(OpenError::InUse { session: opens.session.clone(), problem: "taken".to_owned() }),
                _ => self.0.open(opens, extras).await,
            }
        }
        async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
            self.0.reopen(session).await
        }
    }
    let begun = tokio::time::Instant::now();
    let clock: Clock = Arc::new(move || later(at("2026-03-01T12:00:00Z"), begun.elapsed()));
    let dispatcher = Dispatcher::new(
        "d",
        set(TRIGGERS),
        Arc::new(InMemory::default()),
        Arc::new(Once(Fake::new(), AtomicUsize::new(0))),
        Arc::new(People),
        Arc::clone(&clock),
        DispatcherLimits::default(),
    );
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let (dispatcher, cancel) = (dispatcher.clone(), cancel.clone());
        async move { dispatcher.run(cancel).await }
    });
    // It looks, and finds nothing.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut chat = mail("e1");
    chat.fields.insert("channel".to_owned(), json!("chat"));
    dispatcher.happened(&chat).await.unwrap();
    dispatcher.tick(clock()).await.unwrap();
    let state = async || dispatcher.fires("helper").await.unwrap().remove(0).state;
    assert!(matches!(state().await, FireState::Pending { .. }), "{:?}", state().await);
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert!(matches!(state().await, FireState::Ended { .. }), "{:?}", state().await);
    cancel.cancel();
    running.await.unwrap();
}
