//! Remembering a yes: what is proposed, what is picked, what it covers at once, and what goes wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Ask, Context, Decision, HookStack, Hooks, Outcome, Proposal, Scope, Verdict};
use mica_testkit::Turn;
use serde_json::{Value, json};
use support::{Rig, calls, ended, says};

fn about(word: &str) -> Proposal {
    Proposal::new(Scope::Session, word, format!("saying {word}"))
}

fn remember(word: &str) -> Decision {
    // Whoever picks says which one, and need not repeat what it means.
    Decision::AllowAndRemember { remember: Proposal::new(Scope::Session, word, "") }
}

/// A gate that asks about each word until it may remember it.
#[derive(Default)]
struct Words {
    known: Mutex<Vec<String>>,
    /// What it answers instead of remembering.
    problem: Option<String>,
    silent: Mutex<bool>,
}

#[async_trait]
impl Hooks for Words {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        let word = gated.args.get("say").and_then(Value::as_str).unwrap_or_default();
        if self.known.lock().unwrap().iter().any(|known| known == word) {
            return Verdict::Allow;
        }
        let proposals = if *self.silent.lock().unwrap() { Vec::new() } else { vec![about(word)] };
        Verdict::Ask { reason: format!("say {word}?"), rule: None, proposals }
    }

    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        assert_eq!(ask.proposals, std::slice::from_ref(proposal), "the whole proposal, as it was made");
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        self.known.lock().unwrap().push(proposal.key.clone());
        Ok(())
    }
}

/// Answers round by round, and keeps what it was asked.
struct Person {
    rounds: Mutex<Vec<Vec<Decision>>>,
    asked: Mutex<Vec<String>>,
}

impl Person {
    fn who_says<const N: usize>(rounds: [Vec<Decision>; N]) -> Arc<Self> {
        let mut rounds = Vec::from(rounds);
        rounds.reverse();
        Arc::new(Self { rounds: Mutex::new(rounds), asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Hooks for Person {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let calls: Vec<&str> = asks.iter().map(|ask| ask.call.id.as_str()).collect();
        self.asked.lock().unwrap().push(calls.join(" "));
        self.rounds.lock().unwrap().pop()
    }
}

fn three(words: [&str; 3]) -> [Turn; 2] {
    let [a, b, c] = words.map(|word| json!({ "say": word }));
    [calls([("a", "look", a), ("b", "look", b), ("c", "look", c)]), says("Done.")]
}

#[tokio::test(start_paused = true)]
async fn an_answer_covers_others_of_its_batch() {
    let person = Person::who_says([
        vec![remember("x"), Decision::Later, Decision::Later],
        vec![Decision::Deny { reason: "no".to_owned() }],
    ]);
    let rig = Rig::with(three(["x", "x", "y"]), vec![Arc::new(Words::default()), person.clone()]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(person.asked(), ["a b c", "c"]);
    assert_eq!(rig.ran(), ["a", "b"]);
    let told = rig.told();
    let approvals: Vec<&String> =
        told.iter().filter(|told| told.starts_with("asked") || told.starts_with("given")).collect();
    assert_eq!(
        approvals,
        ["asked a", "asked b", "asked c", "given a allow", "given b allow", "asked c", "given c deny"]
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_remembered_counts_for_the_turns_that_follow() {
    let person = Person::who_says([vec![remember("x")]]);
    let turns = [
        calls([("a", "look", json!({ "say": "x" }))]),
        calls([("b", "look", json!({ "say": "x" }))]),
        says("Done."),
    ];
    let rig = Rig::with(turns, vec![Arc::new(Words::default()), person.clone()]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!((person.asked(), rig.ran()), (vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_no_of_the_same_round_holds_although_it_is_covered() {
    let no = Decision::Deny { reason: "not this".to_owned() };
    let person = Person::who_says([vec![no, remember("x"), Decision::Later]]);
    let rig = Rig::with(three(["x", "x", "x"]), vec![Arc::new(Words::default()), person.clone()]);
    rig.prompt("Go.").await;
    assert_eq!(person.asked(), ["a b c"]);
    assert_eq!(rig.ran(), ["b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn later_is_asked_again_only_behind_something_that_was_decided() {
    // Nothing decided: asking again would never end.
    let person = Person::who_says([vec![Decision::Later; 3]]);
    let rig = Rig::with(three(["x", "y", "z"]), vec![Arc::new(Words::default()), person.clone()]);
    rig.prompt("Go.").await;
    assert_eq!(person.asked(), ["a b c"]);
    assert_eq!(rig.ran(), Vec::<String>::new());
    // Without anything remembered, too.
    let person = Person::who_says([
        vec![Decision::Later, Decision::Allow, Decision::Later],
        vec![Decision::Allow, Decision::Later],
        vec![Decision::Allow],
    ]);
    let rig = Rig::with(three(["x", "y", "z"]), vec![Arc::new(Words::default()), person.clone()]);
    rig.prompt("Go.").await;
    assert_eq!(person.asked(), ["a b c", "a c", "c"]);
    assert_eq!(rig.ran(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_kept_is_told_and_the_call_runs() {
    let words = Words { problem: Some("the disk is full".to_owned()), ..Words::default() };
    let person =
        Person::who_says([vec![remember("x"), Decision::Later, Decision::Allow], vec![Decision::Allow]]);
    let rig = Rig::with(three(["x", "x", "y"]), vec![Arc::new(words), person.clone()]);
    rig.prompt("Go.").await;
    assert_eq!(rig.ran(), ["a", "b", "c"]);
    assert_eq!(person.asked(), ["a b c", "b"], "nothing was remembered, so it is asked");
    let notice = "notice could not be remembered: saying x (the disk is full)".to_owned();
    assert!(rig.told().contains(&notice));
}

#[tokio::test(start_paused = true)]
async fn a_suspended_run_remembers_when_it_goes_on() {
    let words = Arc::new(Words::default());
    let rig = Rig::with(three(["x", "x", "y"]), vec![words.clone()]);
    let Outcome::Suspended { asks } = rig.prompt("Go.").await else { panic!("not suspended") };
    // As a session keeps it.
    let kept: Vec<Ask> = serde_json::from_value(serde_json::to_value(&asks).unwrap()).unwrap();
    assert_eq!(kept[0].proposals, [about("x")]);
    assert_eq!(ended(&rig.resume([("a", remember("x"))]).await), "completed");
    assert_eq!(rig.ran(), ["a", "b"], "the second is covered, and the third has no answer");
    assert_eq!(
        rig.said().await[4],
        "result c failed: Nobody answered whether this call may run, so it was not run."
    );
}

#[tokio::test(start_paused = true)]
async fn a_proposal_that_is_not_made_any_more_is_a_yes_for_once() {
    let words = Arc::new(Words::default());
    let rig = Rig::with(three(["x", "x", "y"]), vec![words.clone()]);
    rig.prompt("Go.").await;
    *words.silent.lock().unwrap() = true;
    assert_eq!(ended(&rig.resume([("a", remember("x")), ("c", remember("other"))]).await), "completed");
    assert_eq!(rig.ran(), ["a", "c"]);
    assert_eq!(*words.known.lock().unwrap(), Vec::<String>::new());
    let notices: Vec<String> = rig.told().into_iter().filter(|told| told.starts_with("notice")).collect();
    let why = "it is not proposed any more; the call is allowed this once";
    assert_eq!(
        notices,
        [
            format!("notice could not be remembered: x ({why})"),
            format!("notice could not be remembered: other ({why})"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn later_on_a_suspended_run_is_asked_again() {
    let rig = Rig::with(three(["x", "x", "y"]), vec![Arc::new(Words::default())]);
    rig.prompt("Go.").await;
    let again = rig.resume([("a", remember("x")), ("b", Decision::Later), ("c", Decision::Later)]).await;
    assert_eq!(ended(&again), "suspended c", "the first two are covered by now");
    assert_eq!(rig.ran(), Vec::<String>::new());
    assert_eq!(ended(&rig.resume([("c", Decision::Allow)]).await), "completed");
    assert_eq!(rig.ran(), ["a", "b", "c"]);
}

/// Says one thing about every call.
struct Says(Verdict);

#[async_trait]
impl Hooks for Says {
    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        self.0.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_answers_every_question_is_proposed() {
    let asks = |proposals: &[Proposal]| Verdict::Ask {
        reason: "really?".to_owned(),
        rule: None,
        proposals: proposals.to_vec(),
    };
    let offers = |word: &str| Verdict::Offer { proposals: vec![about(word)] };
    for (verdicts, tool, expected) in [
        (vec![asks(&[about("x"), about("y")])], "look", Some(vec!["x", "y"])),
        // Another gate would go on asking.
        (vec![asks(&[about("x")]), asks(&[])], "look", Some(vec![])),
        (vec![asks(&[about("x"), about("y")]), asks(&[about("y")])], "look", Some(vec!["y"])),
        (vec![offers("x"), asks(&[])], "risky", Some(vec![])),
        // What is offered counts where the tool's own specification asks.
        (vec![offers("x"), Verdict::Pass, offers("y")], "risky", Some(vec!["x", "y"])),
        (vec![offers("x")], "look", None),
        (vec![offers("x"), Verdict::Allow], "risky", None),
    ] {
        let stack = HookStack::new(
            verdicts.iter().map(|verdict| Arc::new(Says(verdict.clone())) as Arc<dyn Hooks>).collect(),
        );
        let rig = Rig::with([calls([("a", tool, json!({}))]), says("Done.")], vec![Arc::new(stack)]);
        let proposed = match rig.prompt("Go.").await {
            Outcome::Suspended { asks } => {
                Some(asks[0].proposals.iter().map(|proposal| proposal.key.clone()).collect::<Vec<_>>())
            }
            _ => None,
        };
        assert_eq!(
            proposed,
            expected.map(|keys| keys.into_iter().map(str::to_owned).collect()),
            "{verdicts:?}"
        );
    }
}

#[test]
fn decisions_are_written_so_that_all_can_read_them() {
    let project = Proposal::new(Scope::Project, "k", "what it is");
    for (decision, written) in [
        (Decision::Allow, json!({ "answer": "allow" })),
        (
            Decision::AllowAndRemember { remember: project },
            json!({ "answer": "allow", "remember": { "scope": "project", "key": "k", "text": "what it is" } }),
        ),
        (
            Decision::AllowWith { arguments: json!({ "a": 1 }) },
            json!({ "answer": "allow_with", "arguments": { "a": 1 } }),
        ),
        (Decision::Deny { reason: "r".to_owned() }, json!({ "answer": "deny", "reason": "r" })),
        (Decision::Refuse { reason: "r".to_owned() }, json!({ "answer": "refuse", "reason": "r" })),
        (Decision::Later, json!({ "answer": "later" })),
    ] {
        assert_eq!(serde_json::to_value(&decision).unwrap(), written);
        assert_eq!(serde_json::from_value::<Decision>(written).unwrap(), decision);
    }
    let old = r#"{"call":"c1","shown":"s","answer":"allow"}"#;
    let answer: mica_agent::Answer = serde_json::from_str(old).unwrap();
    assert_eq!(
        (answer.decision.clone(), serde_json::to_string(&answer).unwrap().as_str()),
        (Decision::Allow, old)
    );
    let new = r#"{"call":"c1","shown":"s","answer":"allow","remember":{"scope":"session","key":"k"}}"#;
    let answer: mica_agent::Answer = serde_json::from_str(new).unwrap();
    assert_eq!(answer.decision.remembers(), Some(&Proposal::new(Scope::Session, "k", "")));
}
