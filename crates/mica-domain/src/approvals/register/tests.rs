//! Questions of a run that waits: answered by people, in time or not, before and after a reload.

use std::sync::atomic::{AtomicI64, Ordering};

use mica_agent::{Agent, Approval, Effect, Outcome, Proposal, Scope, Tool, ToolCx, ToolError, ToolOutput};
use mica_ai::{Content, Dialect, Model};
use mica_testkit::{Scenario, ScriptedModel, Turn};

use serde_json::json;

use super::super::{Deed, FieldKind, trail};
use super::*;
use crate::act::Act;
use crate::autonomy::Autonomy;
use crate::records::InMemory;
use crate::rights::Rights;
use crate::side::Loose;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// Says what it was called with.
struct Reply(ToolSpec);

#[async_trait]
impl Tool for Reply {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(format!("sent {}", Value::Object(args))))
    }
}

fn reply() -> Reply {
    let schema = json!({
        "type": "object",
        "properties": { "to": { "type": "string" }, "body": { "type": "string", "minLength": 2 } },
        "required": ["to", "body"],
    });
    let mut spec = ToolSpec::new("reply", "Replies.", schema);
    (spec.label, spec.approval, spec.effect) = ("Reply".to_owned(), Approval::Needed, Effect::Keyed);
    Reply(spec)
}

struct Stage {
    agent: Agent,
    register: Arc<Register>,
    side: Arc<dyn Side>,
    records: Arc<dyn Records>,
    clock: Arc<AtomicI64>,
}

impl Stage {
    fn new(scenario: Scenario, terms: Terms) -> Self {
        let side: Arc<dyn Side> = Arc::new(Loose::default());
        let records: Arc<dyn Records> = Arc::new(InMemory::default());
        let clock = Arc::new(AtomicI64::new(0));
        let register = register(&side, &records, &clock, terms);
        let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
        let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
        context.tools = [reply()].into_iter().collect();
        let agent = Agent::new(context, vec![Arc::clone(&register) as Arc<dyn Hooks>]);
        agent.listen(Arc::clone(&register) as Arc<dyn Listener>);
        Self { agent, register, side, records, clock }
    }

    async fn asks(&self, prompt: &str) -> Vec<Ask> {
        suspended(self.agent.prompt(prompt).await.unwrap())
    }

    async fn results(&self) -> Vec<String> {
        let messages = self.agent.with(|cx| cx.messages.clone()).await.unwrap();
        let results = messages.iter().filter_map(|message| match message {
            Message::ToolResult(result) => match &result.content[0] {
                Content::Text { text } => Some(text.clone()),
                _ => None,
            },
            _ => None,
        });
        results.collect()
    }

    fn states(&self) -> Vec<CardState> {
        self.register.cards().unwrap().into_iter().map(|card| card.state).collect()
    }
}

fn register(
    side: &Arc<dyn Side>,
    records: &Arc<dyn Records>,
    clock: &Arc<AtomicI64>,
    terms: Terms,
) -> Arc<Register> {
    let act = Act::of("reply")
        .needing("mail.send")
        .amending("body")
        .shown_as("mail")
        .digesting(|args| format!("To {}", args["to"].as_str().unwrap_or("nobody")));
    let judge = Arc::new(Judge::new([act], Autonomy::default()));
    let clock = Arc::clone(clock);
    let now = Arc::new(move || at(clock.load(Ordering::SeqCst)));
    Arc::new(Register::new("s1", Arc::clone(side), Arc::clone(records), judge, terms, now))
}

fn suspended(outcome: Outcome) -> Vec<Ask> {
    match outcome {
        Outcome::Suspended { asks } => asks,
        other => panic!("{other:?}"),
    }
}

fn ann() -> Person {
    Person::new("ann", Rights::of(["mail.send"]))
}

fn approve() -> Choice {
    Choice::Approve { edits: Args::new() }
}

fn edit(value: &Value) -> Choice {
    Choice::Approve { edits: value.as_object().unwrap().clone() }
}

fn approved(by: &str) -> CardState {
    CardState::Approved { by: Some(by.to_owned()), amended: None }
}

fn two() -> Scenario {
    Scenario::new()
        .turn(
            Turn::new()
                .call("reply", json!({ "to": "bob", "body": "hello" }))
                .call("reply", json!({ "to": "eve", "body": "hello" })),
        )
        .turn(Turn::new().text("Done."))
}

#[tokio::test(start_paused = true)]
async fn a_card_is_data_with_a_form() {
    let stage = Stage::new(two(), Terms::default());
    let asks = stage.asks("Reply to both.").await;
    let cards = stage.register.cards().unwrap();
    assert_eq!(cards.len(), 2);
    let card = &cards[0];
    assert_eq!((card.kind.as_str(), card.title.as_str(), card.digest.as_str()), ("mail", "Reply", "To bob"));
    assert_eq!(
        (&card.call, &card.shown, &card.state),
        (&asks[0].call.id, &asks[0].shown, &CardState::Pending)
    );
    assert_eq!((card.asked, card.expires), (at(0), Some(at(7 * 24 * 3600))));
    let fields: Vec<_> =
        card.fields.iter().map(|field| (field.name.as_str(), field.value.clone(), field.amendable)).collect();
    assert_eq!(fields, [("to", json!("bob"), false), ("body", json!("hello"), true)]);
    assert_eq!(card.fields[1].kind, FieldKind::Text { long: false, format: None });
    let written = serde_json::to_value(card).unwrap();
    assert_eq!(written["state"], json!({ "is": "pending" }));
    assert_eq!(serde_json::from_value::<ApprovalCard>(written).unwrap(), *card);
}

#[tokio::test(start_paused = true)]
async fn people_answer_one_after_the_other_and_the_run_goes_on() {
    let stage = Stage::new(two(), Terms::default());
    let asks = stage.asks("Reply to both.").await;
    let ids: Vec<CallId> = asks.iter().map(|ask| ask.call.id.clone()).collect();

    // What cannot be decided like that decides nothing.
    let bob = Person::new("bob", Rights::none());
    let check = async |choice: Choice, person: &Person, expect: &str| {
        let said = [(ids[1].clone(), approve()), (ids[0].clone(), choice)];
        let error = stage.register.decide(&asks, said, person).await.unwrap_err();
        assert_eq!(error.to_string(), expect);
    };
    check(approve(), &bob, "bob may not approve reply: the right mail.send is missing").await;
    check(edit(&json!({ "to": "me" })), &ann(), "reply: to may not be changed; what may be changed is: body")
        .await;
    check(edit(&json!({ "body": "x" })), &ann(), "reply: /body: must have 2 characters or more").await;
    let unknown = stage.register.decide(&asks, [("zz".into(), approve())], &ann()).await.unwrap_err();
    assert_eq!(unknown.to_string(), "no question about the call zz is open");
    assert_eq!(stage.states(), [CardState::Pending, CardState::Pending]);

    // One now, with a change; the run waits for the other.
    stage.clock.store(10, Ordering::SeqCst);
    let decided = stage
        .register
        .decide(&asks, [(ids[0].clone(), edit(&json!({ "to": "bob", "body": "bye" })))], &ann())
        .await;
    assert_eq!(decided.unwrap(), Decided { open: vec![ids[1].clone()], ..Decided::default() });
    // After a reload it is the same, and somebody without the right may still say no.
    let again = register(&stage.side, &stage.records, &stage.clock, Terms::default());
    stage.clock.store(20, Ordering::SeqCst);
    let no = Choice::Reject { reason: "eve is on holiday".to_owned() };
    let decided = again.decide(&asks, [(ids[1].clone(), no)], &bob).await.unwrap();
    let decisions = decided.decisions.unwrap();
    assert_eq!(again.standing(&asks).unwrap().decisions.as_ref(), Some(&decisions), "also after a crash");

    stage.register.reload();
    let outcome = stage.agent.resume(decisions).await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    assert_eq!(
        stage.results().await,
        [r#"sent {"to":"bob","body":"bye"}"#, "The person declined: eve is on holiday"]
    );
    let amended = json!({ "to": "bob", "body": "bye" }).as_object().unwrap().clone();
    let yes = CardState::Approved { by: Some("ann".to_owned()), amended: Some(amended.clone()) };
    let no = CardState::Rejected { by: Some("bob".to_owned()), reason: "eve is on holiday".to_owned() };
    assert_eq!(stage.states(), [yes, no]);

    let trail = trail(&*stage.records).await.unwrap();
    let who: Vec<_> = trail.iter().map(|entry| (entry.trace.at, entry.trace.by.as_str())).collect();
    assert_eq!(who, [(at(10), "ann"), (at(20), "bob")]);
    let edits = BTreeMap::from([(ids[0].to_string(), amended)]);
    assert_eq!(trail[0].trace.deed, Deed::Approved { what: vec![ids[0].to_string()], edits });
    assert!(trail[0].about.starts_with("approval/s1/q1-"), "{}", trail[0].about);
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_counts() {
    let stage = Stage::new(two(), Terms::default());
    let asks = stage.asks("Reply to both.").await;
    let all = |choice: &Choice| -> Vec<(CallId, Choice)> {
        asks.iter().map(|ask| (ask.call.id.clone(), choice.clone())).collect()
    };
    // Another process, which knows nothing of what is decided here: only the records are shared.
    let apart: Arc<dyn Side> = Arc::new(Loose::default());
    for change in stage.side.all(SIDE).unwrap() {
        apart.append(SIDE, change).await.unwrap();
    }
    let other = register(&apart, &stage.records, &stage.clock, Terms::default());
    let no = Choice::Reject { reason: "no".to_owned() };
    let first = other.decide(&asks, all(&no), &ann()).await.unwrap();
    assert_eq!(first.late, []);
    let second =
        stage.register.decide(&asks, all(&approve()), &Person::new("eve", Rights::All)).await.unwrap();
    assert_eq!(second.late.len(), 2, "somebody had answered");
    assert_eq!(second.decisions, first.decisions);
    assert_eq!(trail(&*stage.records).await.unwrap().len(), 2);
    let third = stage.register.decide(&asks, all(&approve()), &ann()).await.unwrap();
    assert_eq!((third.late.len(), third.decisions), (2, first.decisions));
}

#[tokio::test(start_paused = true)]
async fn a_question_whose_time_is_over_is_a_no_that_the_model_reads() {
    let hour = Terms { time_to_live: Some(SignedDuration::from_hours(1)), ..Terms::default() };
    let stage = Stage::new(two(), hour);
    let asks = stage.asks("Reply to both.").await;
    stage.clock.store(3599, Ordering::SeqCst);
    assert_eq!(stage.register.expire(&asks).await.unwrap().open.len(), 2, "not yet");
    let said = [(asks[1].call.id.clone(), approve())];
    stage.register.decide(&asks, said, &ann()).await.unwrap();
    stage.clock.store(3600, Ordering::SeqCst);
    assert_eq!(stage.states(), [CardState::Expired, approved("ann")], "it is shown at once");
    // Whoever answers now is late.
    let late = stage.register.decide(&asks, [(asks[0].call.id.clone(), approve())], &ann()).await.unwrap();
    assert_eq!(late.late, [asks[0].call.id.clone()]);
    assert_eq!(stage.register.expire(&asks).await.unwrap().decisions, late.decisions);

    let outcome = stage.agent.resume(late.decisions.unwrap()).await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let expired = format!(
        "Refused without asking a person: nobody answered until {}, and the question is closed. Nothing was done. Things may \
         have changed since: look again before you ask again.",
        at(3600)
    );
    assert_eq!(stage.results().await, [expired.as_str(), r#"sent {"to":"eve","body":"hello"}"#]);
    let trail = trail(&*stage.records).await.unwrap();
    assert_eq!((trail[1].trace.by.as_str(), &trail[1].trace.deed), ("nobody", &Deed::Expired));
}

#[tokio::test(start_paused = true)]
async fn whoever_says_something_else_supersedes_the_question() {
    let scenario = two()
        .turn(Turn::new().call("reply", json!({ "to": "bob", "body": "hello" })))
        .turn(Turn::new().text("Done."));
    let stage = Stage::new(scenario, Terms::default());
    stage.asks("Reply to both.").await;
    stage.agent.prompt("Never mind.").await.unwrap();
    assert_eq!(stage.states(), [CardState::Superseded, CardState::Superseded]);
    // The same call again is another question.
    let asks = stage.asks("Do it after all.").await;
    assert_eq!(stage.states()[2..], [CardState::Pending]);
    let decided = stage.register.decide(&asks, [(asks[0].call.id.clone(), approve())], &ann()).await.unwrap();
    stage.agent.resume(decided.decisions.unwrap()).await.unwrap();
    assert_eq!(stage.states()[2..], [approved("ann")]);
}

/// Answers everything in place with yes.
struct Terminal;

#[async_trait]
impl Hooks for Terminal {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_in_place_is_kept_too() {
    let side: Arc<dyn Side> = Arc::new(Loose::default());
    let records: Arc<dyn Records> = Arc::new(InMemory::default());
    let register = register(&side, &records, &Arc::default(), Terms::default());
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(two())), model);
    context.tools = [reply()].into_iter().collect();
    let agent = Agent::new(context, vec![Arc::clone(&register) as Arc<dyn Hooks>, Arc::new(Terminal)]);
    agent.listen(Arc::clone(&register) as Arc<dyn Listener>);
    agent.prompt("Reply to both.").await.unwrap();
    let states: Vec<CardState> = register.cards().unwrap().into_iter().map(|card| card.state).collect();
    assert_eq!(
        states,
        [CardState::Approved { by: None, amended: None }, CardState::Approved { by: None, amended: None }]
    );
    let trail = trail(&*records).await.unwrap();
    assert_eq!((trail.len(), trail[0].trace.by.as_str()), (2, "somebody who gave no name"));
}

/// A stage with somebody in place.
fn in_place(
    scenario: Scenario,
    present: Option<&str>,
    make: impl FnOnce(&Arc<Register>) -> Arc<dyn Hooks>,
) -> Stage {
    let side: Arc<dyn Side> = Arc::new(Loose::default());
    let records: Arc<dyn Records> = Arc::new(InMemory::default());
    let clock = Arc::default();
    let register = Arc::into_inner(register(&side, &records, &clock, Terms::default())).unwrap();
    let register = Arc::new(register.answered_by(present.map(str::to_owned)));
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
    context.tools = [reply()].into_iter().collect();
    let agent = Agent::new(context, vec![make(&register), Arc::clone(&register) as Arc<dyn Hooks>]);
    agent.listen(Arc::clone(&register) as Arc<dyn Listener>);
    Stage { agent, register, side, records, clock }
}

/// Answers in place, after somebody elsewhere said something already.
struct TooLate {
    register: Arc<Register>,
    first: Choice,
    then: Decision,
}

#[async_trait]
impl Hooks for TooLate {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let said: Vec<_> = asks.iter().map(|ask| (ask.call.id.clone(), self.first.clone())).collect();
        self.register.decide(asks, said, &ann()).await.unwrap();
        Some(asks.iter().map(|_| self.then.clone()).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn who_answers_in_place_does_not_overrule_who_answered_before() {
    let no = || Choice::Reject { reason: "no".to_owned() };
    let amended = json!({ "to": "bob", "body": "bye" });
    let deny = || Decision::Deny { reason: "not now".to_owned() };
    let refuse = || Decision::Refuse { reason: "nobody is there".to_owned() };
    let sent = r#"sent {"to":"bob","body":"hello"}"#;
    let check = async |first: Choice, then: Decision, expect: Option<&str>| {
        let scenario = Scenario::new()
            .turn(Turn::new().call("reply", json!({ "to": "bob", "body": "hello" })))
            .turn(Turn::new().text("Done."));
        let case = format!("{first:?} {then:?}");
        let stage = in_place(scenario, Some("omar"), |register| {
            Arc::new(TooLate { register: Arc::clone(register), first, then })
        });
        let outcome = stage.agent.prompt("Reply.").await.unwrap();
        match expect {
            Some(expect) => assert_eq!(stage.results().await, [expect], "{case}"),
            None => {
                // Nothing is done, and what was said first is what the run goes on with.
                let asks = suspended(outcome);
                assert_eq!(stage.results().await, Vec::<String>::new(), "{case}");
                let decisions = stage.register.standing(&asks).unwrap().decisions.unwrap();
                stage.agent.resume(decisions).await.unwrap();
            }
        }
        let trail = trail(&*stage.records).await.unwrap();
        assert_eq!(trail.len(), 1, "{case}");
        assert_eq!(trail[0].trace.by, "ann", "{case}");
        stage.results().await
    };
    assert_eq!(check(no(), Decision::Allow, None).await, ["The person declined: no"]);
    assert_eq!(check(approve(), deny(), None).await, [sent]);
    assert_eq!(check(approve(), refuse(), None).await, [sent]);
    let other = Decision::AllowWith { arguments: amended.clone() };
    assert_eq!(check(approve(), other, None).await, [sent]);
    assert_eq!(
        check(edit(&json!({ "body": "bye" })), Decision::Allow, None).await,
        [r#"sent {"to":"bob","body":"bye"}"#]
    );
    // What comes to the same is no other answer.
    check(approve(), Decision::Allow, Some(sent)).await;
    check(no(), deny(), Some("The person declined: not now")).await;
    check(no(), refuse(), Some("Refused without asking a person: nobody is there")).await;
}

/// Asks about everything until it may remember that it may; then nobody is asked any more. Answers in place, one by one.
#[derive(Default)]
struct Rule {
    known: std::sync::atomic::AtomicBool,
    refuses: bool,
}

#[async_trait]
impl Hooks for Rule {
    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        if self.known.load(Ordering::SeqCst) {
            return Verdict::Allow;
        }
        let proposals = vec![Proposal::new(Scope::Session, "all", "every reply")];
        Verdict::Ask { reason: "it leaves the house".to_owned(), rule: None, proposals }
    }

    async fn remember(&self, _: &Ask, _: &Proposal) -> Result<(), String> {
        self.known.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        if self.refuses {
            return Some(
                asks.iter().map(|_| Decision::Refuse { reason: "nobody is there".to_owned() }).collect(),
            );
        }
        let remember = Proposal::new(Scope::Session, "all", "every reply");
        Some(vec![Decision::AllowAndRemember { remember }, Decision::Later])
    }
}

#[tokio::test(start_paused = true)]
async fn the_trail_names_nobody_for_what_no_person_said() {
    let check = async |refuses: bool, expect: [(&str, CardState); 2]| {
        let stage = in_place(two(), Some("omar"), |_| Arc::new(Rule { refuses, ..Rule::default() }));
        stage.agent.prompt("Reply to both.").await.unwrap();
        let (by, states): (Vec<_>, Vec<_>) = expect.into_iter().unzip();
        assert_eq!(stage.states(), states);
        let trail = trail(&*stage.records).await.unwrap();
        assert_eq!(trail.iter().map(|entry| entry.trace.by.as_str()).collect::<Vec<_>>(), by);
    };
    let refused = || CardState::Rejected { by: None, reason: "nobody is there".to_owned() };
    check(true, [("nobody", refused()), ("nobody", refused())]).await;
    let covered = CardState::Approved { by: None, amended: None };
    check(false, [("omar", approved("omar")), ("nobody", covered)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_on_the_yes_that_it_has_and_on_no_other() {
    let stage = Stage::new(two(), Terms::default());
    let asks = stage.asks("Reply to both.").await;
    let register = &stage.register;
    let call = asks[0].call.id.clone();
    let said = asks.iter().map(|ask| (ask.call.id.clone(), approve()));
    let decisions = register.decide(&asks, said, &ann()).await.unwrap().decisions.unwrap();
    register.record(Record::Answered(&decisions.0)).await.unwrap();
    assert_eq!(register.approver(&call).as_deref(), Some("ann"));
    // What it rests on changed before it ran, and somebody without a name answered in place.
    let anew = Ask { changed: vec!["bob: here → away".to_owned()], ..asks[0].clone() };
    register.record(Record::Asked(std::slice::from_ref(&anew))).await.unwrap();
    assert_eq!(register.approver(&call), None);
    register.record(Record::Answered(&[Answer::to(&anew, Decision::Allow)])).await.unwrap();
    assert_eq!(register.approver(&call), None);
    assert_eq!(register.approver(&asks[1].call.id).as_deref(), Some("ann"));
    // The calls of the next answer may have the same ids.
    let next: Message = mica_ai::User::text("And now?").into();
    register.record(Record::Message(&next)).await.unwrap();
    assert_eq!(register.approver(&asks[1].call.id), None);
}

#[tokio::test(start_paused = true)]
async fn no_yes_counts_behind_which_something_cannot_be_read() {
    let stage = Stage::new(two(), Terms::default());
    let asks = stage.asks("Reply to both.").await;
    let no = Choice::Reject { reason: "no".to_owned() };
    let said = [(asks[0].call.id.clone(), approve()), (asks[1].call.id.clone(), no)];
    stage.register.decide(&asks, said, &ann()).await.unwrap();
    stage.side.append(SIDE, json!({ "unheard_of": 1 })).await.unwrap();
    stage.register.reload();
    let rejected = CardState::Rejected { by: Some("ann".to_owned()), reason: "no".to_owned() };
    assert_eq!(stage.states(), [CardState::Superseded, rejected.clone()]);
    stage.register.asked_still(&asks).await.unwrap();
    assert_eq!(stage.register.standing(&asks).unwrap().open, [asks[0].call.id.clone()]);
    assert_eq!(stage.states(), [CardState::Superseded, rejected, CardState::Pending]);
}

#[tokio::test(start_paused = true)]
async fn questions_are_counted_across_answers_and_end_the_run() {
    let call = |to: &str| Turn::new().call("reply", json!({ "to": to, "body": "hello" }));
    let scenario = Scenario::new()
        .turn(call("a"))
        .turn(call("b"))
        .turn(Turn::new().text("That is all I may ask."))
        .turn(call("c"))
        .turn(Turn::new().text("Done."));
    let stage = Stage::new(scenario, Terms { most: 2, ..Terms::default() });
    let mut outcome = stage.agent.prompt("Reply to many.").await.unwrap();
    for _ in 0..2 {
        let asks = suspended(outcome);
        let said = [(asks[0].call.id.clone(), approve())];
        let decided = stage.register.decide(&asks, said, &ann()).await.unwrap();
        outcome = stage.agent.resume(decided.decisions.unwrap()).await.unwrap();
    }
    let Outcome::Exhausted { limit } = outcome else { panic!("{outcome:?}") };
    assert_eq!(limit.to_string(), "the limit of approvals is reached: 2 questions to people in one run");
    // The next run counts anew.
    let asks = stage.asks("One more.").await;
    let decided = stage.register.decide(&asks, [(asks[0].call.id.clone(), approve())], &ann()).await.unwrap();
    let outcome = stage.agent.resume(decided.decisions.unwrap()).await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
}
