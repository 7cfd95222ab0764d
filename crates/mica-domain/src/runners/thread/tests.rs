//! Every message is answered, none twice: whatever comes in between, and whatever instant a process ends at.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use mica_agent::{Outcome, RunError};
use serde_json::json;

use super::*;
use crate::records::InMemory;
use crate::runners::clock::later;
use crate::runners::fake::{Fake, Line, Stepped, Steps, at, completed};

#[derive(Clone, Default)]
struct Mail {
    messages: Arc<Mutex<Vec<ThreadMessage>>>,
    steps: Arc<Steps>,
}

impl Mail {
    fn add(&self, id: &str, by: By, text: &str) {
        let message = ThreadMessage { id: id.to_owned(), by, text: text.to_owned() };
        self.messages.lock().unwrap().push(message);
    }

    fn inbound(&self, id: &str) {
        self.add(id, By::Inbound { name: "Ann".to_owned() }, &format!("words of {id}"));
    }
}

#[async_trait]
impl Thread for Mail {
    async fn messages(&self, _: &str, after: Option<&str>) -> Result<Vec<ThreadMessage>, String> {
        self.steps.step().await;
        let messages = self.messages.lock().unwrap();
        let from = after.and_then(|after| messages.iter().position(|message| message.id == after));
        Ok(messages.iter().skip(from.map_or(0, |from| from + 1)).cloned().collect())
    }

    async fn reply(&self, _: &str, reply: &Reply) -> Result<(), String> {
        self.steps.step().await;
        let by = By::Own { key: Some(reply.key.clone()) };
        if !self.messages.lock().unwrap().iter().any(|message| message.by == by) {
            self.add(&format!("re:{}", reply.to), by, &reply.text);
        }
        self.steps.step().await;
        Ok(())
    }
}

#[derive(Clone)]
struct Stage {
    records: InMemory,
    mail: Mail,
    fake: Fake,
}

const START: &str = "2026-03-01T12:00:00Z";

fn after(seconds: u64) -> Timestamp {
    later(at(START), Duration::from_secs(seconds))
}

impl Stage {
    fn new() -> Self {
        Self { records: InMemory::default(), mail: Mail::default(), fake: Fake::new() }
    }

    /// The agent in a process of its own.
    fn agent(&self, steps: &Arc<Steps>, now: Timestamp) -> ThreadAgent {
        let mail = Mail { steps: Arc::clone(steps), ..self.mail.clone() };
        let records = Stepped::new(&self.records, steps);
        ThreadAgent::new(
            ThreadSetup::new("desk", Rights::none()),
            Arc::new(mail),
            Arc::new(self.fake.stepped(steps)),
            Arc::new(records),
            Arc::new(move || now),
        )
    }

    async fn attend(&self, seconds: u64) -> Attended {
        self.agent(&Arc::default(), after(seconds)).attend("t/1").await.unwrap()
    }

    fn lines(&self) -> Vec<Line> {
        self.fake.lines("thread/desk/t%2F1")
    }

    /// Every message of the thread is in the session once, every one from outside is answered, and the model answered
    /// each once.
    fn check(&self, case: &str) {
        let messages = self.mail.messages.lock().unwrap().clone();
        let inbound: Vec<&str> = messages
            .iter()
            .filter(|message| matches!(message.by, By::Inbound { .. }))
            .map(|message| message.id.as_str())
            .collect();
        let lines = self.lines();
        let heard: Vec<&str> = lines.iter().filter_map(|(.., source)| source.as_deref()).collect();
        assert_eq!(heard, inbound, "{case}: each once, in order");
        let answered: usize = lines
            .iter()
            .filter_map(|(by, text, _)| (*by == "assistant").then(|| text.strip_prefix("ok "))?)
            .map(|told| told.parse::<usize>().unwrap())
            .sum();
        assert_eq!(answered, inbound.len(), "{case}: {lines:#?}");
        let replies: Vec<&str> = messages
            .iter()
            .filter(|message| matches!(message.by, By::Own { .. }))
            .map(|message| message.text.as_str())
            .collect();
        let said: Vec<&str> =
            lines.iter().filter(|line| line.0 == "assistant").map(|line| line.1.as_str()).collect();
        assert_eq!(replies, said, "{case}: what was said was sent, once");
    }
}

#[tokio::test]
async fn a_message_is_answered() {
    let stage = Stage::new();
    assert_eq!(stage.attend(0).await, Attended::Done { answers: 0 }, "nothing was said");
    assert_eq!(stage.lines(), []);
    stage.mail.inbound("m1");
    assert_eq!(stage.attend(0).await, Attended::Done { answers: 1 });
    assert_eq!(stage.attend(0).await, Attended::Done { answers: 0 });
    stage.check("one");
    let opens = stage.fake.session("thread/desk/t%2F1").lock().unwrap().opens.clone().unwrap();
    assert_eq!((opens.profile.audience, opens.profile.surface), (Audience::Customer, Surface::Thread));
    assert_eq!(opens.autonomy, Autonomy::all(crate::ApprovalMode::Capture));
}

/// Three messages come while others are answered, at every point at which something else can happen.
#[tokio::test]
async fn what_comes_meanwhile_is_answered_too() {
    let mut cases = 0;
    for point in 0..60 {
        for apart in [1, 4] {
            let stage = Stage::new();
            stage.mail.inbound("m1");
            let steps: Arc<Steps> = Arc::default();
            let (sender, mut wanted) = tokio::sync::mpsc::channel(8);
            steps.when({
                let stage = stage.clone();
                move |passed| {
                    for (number, id) in ["m2", "m3", "m4"].into_iter().enumerate() {
                        if passed == point + number * apart {
                            stage.mail.inbound(id);
                            sender.try_send(()).unwrap();
                        }
                    }
                }
            });
            let first = stage.agent(&steps, after(0));
            let mut others = tokio::task::JoinSet::new();
            let mut first = tokio::spawn(async move { first.attend("t/1").await });
            loop {
                tokio::select! {
                    biased;
                    Some(()) = wanted.recv() => {
                        let other = stage.agent(&Arc::default(), after(0));
                        others.spawn(async move { other.attend("t/1").await.unwrap() });
                    }
                    done = &mut first => {
                        done.unwrap().unwrap();
                        break;
                    }
                }
            }
            while let Some(other) = others.join_next().await {
                assert!(matches!(other.unwrap(), Attended::Handed | Attended::Done { .. }));
            }
            while wanted.try_recv().is_ok() {
                stage.attend(0).await;
            }
            let came = stage.mail.messages.lock().unwrap().iter().filter(|m| m.id.starts_with('m')).count();
            cases += usize::from(came == 4);
            stage.check(&format!("{came} by {point}, {apart} apart"));
            assert_eq!(stage.agent(&Arc::default(), after(0)).position("t/1").await.unwrap().held, None);
        }
    }
    assert!(cases > 30, "{cases}");
}

/// The process ends at every point, another message comes, and the next process goes on.
#[tokio::test]
async fn a_crash_loses_nothing_and_repeats_nothing() {
    let mut points = 0;
    for point in 0.. {
        let mut over = false;
        for more in [false, true] {
            let stage = Stage::new();
            stage.mail.inbound("m1");
            let steps = Steps::stopping(point);
            let agent = stage.agent(&steps, after(0));
            over = steps.run(async { drop(agent.attend("t/1").await) }).await;
            if more {
                stage.mail.inbound("m2");
                let early = stage.attend(1).await;
                assert!(matches!(early, Attended::Handed | Attended::Done { .. }), "{point}: {early:?}");
            }
            let swept = stage.agent(&Arc::default(), after(61)).sweep().await.unwrap();
            assert!(swept.len() <= 1);
            // Nobody began before the first point was passed, so nothing is left that a sweep could see.
            if point < 3 {
                stage.attend(61).await;
            }
            stage.check(&format!("ended at {point}, then {more}"));
        }
        points = point;
        if over {
            break;
        }
    }
    assert_eq!(points, 19, "all points were tried");
}

#[tokio::test]
async fn roles_are_kept_when_a_session_catches_up() {
    let stage = Stage::new();
    let name = |name: &str| name.to_owned();
    stage.mail.inbound("m1");
    stage.mail.add("a1", By::Own { key: None }, "Hello Ann.");
    stage.mail.add("t1", By::Teammate { name: name("Bo") }, "I took care of </teammate> it.");
    stage.mail.add("n1", By::Note { name: name("Cy") }, "She is a VIP.");
    assert_eq!(stage.attend(0).await, Attended::Done { answers: 0 }, "Bo answered");
    assert_eq!(stage.lines(), []);
    stage.mail.add("m2", By::Inbound { name: name("Ann <b>") }, "And now?");
    stage.mail.add("n2", By::Note { name: name("Cy") }, "Careful.");
    stage.attend(0).await;
    let expected = [
        ("user", "<message from=\"Ann\">\nwords of m1\n</message>", Some("m1")),
        ("assistant", "Hello Ann.", Some("a1")),
        (
            "user",
            "Background: a teammate answered in this thread. Nothing is asked of you here.\n\
             <teammate from=\"Bo\">\nI took care of &lt;/teammate> it.\n</teammate>",
            Some("t1"),
        ),
        (
            "user",
            "Background: a teammate left a note that whoever is outside cannot see. Do not quote it to them.\n\
             <note from=\"Cy\">\nShe is a VIP.\n</note>",
            Some("n1"),
        ),
        (
            "user",
            "Background: a teammate left a note that whoever is outside cannot see. Do not quote it to them.\n\
             <note from=\"Cy\">\nCareful.\n</note>",
            Some("n2"),
        ),
        ("user", "<message from=\"Ann  b \">\nAnd now?\n</message>", Some("m2")),
        ("assistant", "ok 4", None),
    ];
    let lines = stage.lines();
    let lines: Vec<_> =
        lines.iter().map(|(by, text, source)| (*by, text.as_str(), source.as_deref())).collect();
    assert_eq!(lines, expected);
    stage.attend(0).await;
    assert_eq!(stage.lines().len(), expected.len(), "what it knows is not said again");
}

#[tokio::test]
async fn what_fails_is_tried_again_and_given_up() {
    let failing = |_: &[Line]| Turned {
        outcome: Outcome::Failed { error: RunError::Record { message: "the disk is full".to_owned() } },
        ..completed("")
    };
    let mut stage = Stage::new();
    stage.fake = Fake::new().answering(failing);
    stage.mail.inbound("m1");
    let problem = "the session could not be written: the disk is full".to_owned();
    for _ in 0..3 {
        let agent = stage.agent(&Arc::default(), after(0));
        let swept = agent.sweep().await.unwrap();
        let attended = match swept.into_iter().next() {
            Some((_, attended)) => attended.unwrap(),
            None => stage.attend(0).await,
        };
        assert_eq!(attended, Attended::Failed { problem: problem.clone() });
    }
    let position = stage.agent(&Arc::default(), after(0)).position("t/1").await.unwrap();
    assert_eq!(position.given_up, ["m1"]);
    assert_eq!(position.problem, Some(problem));
    assert_eq!(stage.lines().len(), 1, "it was said once");
    stage.fake = Fake { answers: Fake::new().answers, ..stage.fake };
    assert_eq!(stage.attend(0).await, Attended::Done { answers: 0 });
    stage.mail.inbound("m2");
    assert_eq!(stage.attend(0).await, Attended::Done { answers: 1 });
    stage.check("the next one is answered with it in view");
}

#[tokio::test]
async fn an_answer_that_waits_for_a_person_is_sent_when_they_decided() {
    let stage = Stage::new();
    stage.mail.inbound("m1");
    let ask: mica_agent::Ask = serde_json::from_value(json!({
        "call": { "id": "c", "name": "send", "arguments": "{}" }, "label": "send", "arguments": {}, "reason": "It sends.",
    }))
    .unwrap();
    let asks = vec![ask];
    let suspended = Fake {
        answers: Arc::new({
            let asks = asks.clone();
            move |_: &[Line]| Turned { outcome: Outcome::Suspended { asks: asks.clone() }, ..completed("") }
        }),
        ..stage.fake.clone()
    };
    let waiting = Stage { fake: suspended, ..stage.clone() };
    assert_eq!(waiting.attend(0).await, Attended::Waiting);
    let session = stage.fake.session("thread/desk/t%2F1");
    session.lock().unwrap().asks = asks;
    stage.mail.inbound("m2");
    assert_eq!(stage.attend(0).await, Attended::Waiting, "nothing comes between a person and a question");
    session.lock().unwrap().asks.clear();
    session.lock().unwrap().lines.push(("assistant", "ok 1".to_owned(), None));
    assert_eq!(stage.attend(0).await, Attended::Done { answers: 2 });
    stage.check("both");
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_keeps_its_thread() {
    let stage = Stage::new();
    stage.mail.inbound("m1");
    let begun = tokio::time::Instant::now();
    let clock: Clock = Arc::new(move || later(at(START), begun.elapsed()));
    struct Slow(Fake);
    #[async_trait]
    impl Opening for Slow {
        async fn open(&self, opens: &Opens, extras: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
            tokio::time::sleep(Duration::from_secs(600)).await;
            self.0.open(opens, extras).await
        }
        async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
            self.0.reopen(session).await
        }
    }
    let agent = |opening: Arc<dyn Opening>| {
        let (mail, records) = (Arc::new(stage.mail.clone()), Arc::new(stage.records.clone()));
        ThreadAgent::new(ThreadSetup::new("desk", Rights::none()), mail, opening, records, Arc::clone(&clock))
    };
    let slow = agent(Arc::new(Slow(stage.fake.clone())));
    let running = tokio::spawn(async move { slow.attend("t/1").await });
    tokio::time::sleep(Duration::from_secs(300)).await;
    let other = agent(Arc::new(stage.fake.clone()));
    assert_eq!(other.attend("t/1").await.unwrap(), Attended::Handed, "it shows signs of life");
    assert_eq!(running.await.unwrap().unwrap(), Attended::Done { answers: 1 });
    stage.check("slow");

    // One that was taken for dead finds that out, and sends nothing.
    stage.mail.inbound("m2");
    let slow = agent(Arc::new(Slow(stage.fake.clone())));
    let lost = tokio::spawn(async move { slow.attend("t/1").await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    let hold = Hold::new(Arc::new(stage.records.clone()), "desk", "t/1", Duration::from_secs(60));
    hold.take(later(clock(), Duration::from_secs(61))).await.unwrap().unwrap();
    assert_eq!(lost.await.unwrap(), Err(ThreadError::Lost { thread: "t/1".to_owned() }));
    assert_eq!(stage.lines().len(), 2);
}
