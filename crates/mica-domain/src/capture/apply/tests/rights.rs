//! What somebody approves is done in their name, while they are there and may approve it.

use super::*;

#[tokio::test]
async fn whoever_approves_needs_the_rights() {
    let mut actions = chain();
    actions[0].right = Some("tasks.write".to_owned());
    let stage = stage(actions).await;
    let judge = Judge::new([Act::of("same").needing("notes.write")], Autonomy::default());
    let approvers = Approvers::default().with("unsafe", ["lead"]);
    let applier = stage.applier.clone().judging(Arc::new(judge)).approved_by(approvers);
    let fresh = applier.bundles.get("b").await.unwrap();
    let bob = Person::new("bob", Rights::of(["tasks.read"]));
    let refused = applier.apply("b", &Picked::all(&fresh), &bob).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "bob may not approve temp_1 (keyed needs the right tasks.write), temp_3 (unsafe needs the right lead), temp_4 \
         (same needs the right notes.write)"
    );
    assert_eq!(stage.world.done(), []);
    let eve = Person::new("eve", Rights::of(["tasks.write", "notes.write"]));
    let bundle = applier.apply("b", &Picked::some(["temp_1", "temp_2", "temp_4"]), &eve).await.unwrap();
    assert_eq!((bundle.state, bundle.trail[0].by.as_str()), (State::PartiallyApproved, "eve"));
}

/// Those who are there, by what they may do.
struct Team(Result<Vec<(&'static str, Rights)>, &'static str>);

#[async_trait]
impl People for Team {
    async fn person(&self, name: &str) -> Result<Option<Person>, String> {
        let all = self.0.as_ref().map_err(|problem| (*problem).to_owned())?;
        Ok(all.iter().find(|(who, _)| *who == name).map(|(who, rights)| Person::new(*who, rights.clone())))
    }
}

/// Somebody approved two, and the process died at a point. The first needs no right, the second does.
async fn left(point: usize) -> Stage {
    let mut second = action(2, "keyed", None);
    second.right = Some("tasks.write".to_owned());
    let stage = stage(vec![action(1, "keyed", None), second]).await;
    let bob = Person::new("bob", Rights::of(["tasks.write"]));
    let faults = Faults::at(point);
    let dying = process("one", &stage.world, &stage.records, &faults);
    let picked = Picked::some(["temp_1", "temp_2"]);
    assert!(faults.until_death(dying.apply("b", &picked, &bob)).await.is_none());
    stage
}

/// Right after the decision.
const DECIDED: usize = 2;
/// After the first effect, before that is on record.
const IN_THE_MIDDLE: usize = 6;

#[tokio::test]
async fn what_somebody_approved_is_done_while_they_are_there_and_may_approve_it() {
    let with_right = || Team(Ok(vec![("ann", Rights::none()), ("bob", Rights::of(["tasks.write"]))]));
    let without = || Team(Ok(vec![("ann", Rights::All), ("bob", Rights::none())]));
    let gone = || Team(Ok(vec![("ann", Rights::All)]));
    let lost = "bob approved it and may not do it any more: the right tasks.write is missing";
    let left_us = "bob approved it and is not there any more";
    let skipped = |why: &str| format!("skipped: {why}");
    let done = |number: usize| format!("done \"K-{number}\"");
    let cases = [
        (DECIDED, with_right(), vec![done(1), done(2)], 2, None),
        (DECIDED, without(), vec![done(1), skipped(lost)], 1, Some(lost)),
        // Also what needs no right at all.
        (DECIDED, gone(), vec![skipped(left_us), skipped(left_us)], 0, Some(left_us)),
        (IN_THE_MIDDLE, gone(), vec!["unknown".to_owned(), skipped(left_us)], 1, Some(left_us)),
    ];
    for all_at_once in [false, true] {
        for (point, people, expect, effects, revoked) in &cases {
            let stage = left(*point).await;
            let mut next = process("two", &stage.world, &stage.records, &Faults::none());
            next.clock = Arc::new(|| at(100_000));
            let bundle = match all_at_once {
                true => next.resume_all(people).await.unwrap().remove(0),
                false => next.resume("b", people).await.unwrap(),
            };
            assert_eq!(told(&bundle), *expect, "{point}");
            assert_eq!(stage.world.done().len(), *effects, "{point}: {:?}", stage.world.told());
            let last = &bundle.trail[bundle.trail.len() - 1];
            let on_record = match &last.deed {
                Deed::Revoked { reason } => Some((last.by.as_str(), reason.as_str())),
                _ => None,
            };
            assert_eq!(on_record, revoked.map(|why| ("bob", why)), "{point}");
            assert_eq!((&bundle.lease, next.bundles.get("b").await.unwrap()), (&None, bundle.clone()));
            // What was not tried may be decided by somebody else.
            if told(&bundle).iter().any(|one| one.starts_with("skipped")) {
                let picked = Picked::all(&bundle);
                let bundle = next.apply("b", &picked, &ann()).await.unwrap();
                assert!(told(&bundle).iter().all(|one| one.starts_with("done")), "{:?}", told(&bundle));
            }
        }
    }
}

#[tokio::test]
async fn who_cannot_be_looked_up_has_nothing_done_and_keeps_nobody_from_the_rest() {
    let stage = left(DECIDED).await;
    let mut other = bundle("a", 1, vec![action(1, "same", None)]);
    other.about.subject = None;
    stage.applier.bundles.add(other).await.unwrap();
    let faults = Faults::at(DECIDED);
    let dying = process("one", &stage.world, &stage.records, &faults);
    assert!(faults.until_death(dying.apply("a", &Picked::some(["temp_1"]), &ann())).await.is_none());
    /// The list of people cannot be read where bob would stand.
    struct Torn;
    #[async_trait]
    impl People for Torn {
        async fn person(&self, name: &str) -> Result<Option<Person>, String> {
            match name {
                "bob" => Err("the list is torn".to_owned()),
                name => Ok(Some(Person::new(name, Rights::All))),
            }
        }
    }
    let mut next = process("two", &stage.world, &stage.records, &Faults::none());
    next.clock = Arc::new(|| at(100_000));
    let before = next.bundles.get("b").await.unwrap();
    let error = next.resume_all(&Torn).await.unwrap_err();
    let words = "bob approved it, and cannot be looked up: the list is torn; nothing was done";
    assert_eq!(error.to_string(), words);
    assert_eq!(next.bundles.get("b").await.unwrap(), before);
    assert_eq!(stage.world.told(), [r#"bundle/a/temp_1 same {"title":"a1"}"#]);
}

/// Tools ask whose yes they run on, also where another process goes on.
#[tokio::test]
async fn calls_are_carried_out_on_the_yes_of_whoever_approved_them() {
    struct Asking(Arc<dyn Tool>, Arc<Mutex<Vec<Option<String>>>>);
    #[async_trait]
    impl Tool for Asking {
        fn spec(&self) -> &mica_agent::ToolSpec {
            self.0.spec()
        }
        async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            self.1.lock().unwrap().push(crate::approvals::approver());
            self.0.call(args, cx).await
        }
    }
    let heard: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
    let stage = left(DECIDED).await;
    let mut next = process("two", &stage.world, &stage.records, &Faults::none());
    next.clock = Arc::new(|| at(100_000));
    let inner = next.tools.find("keyed").unwrap();
    next.tools.add(Arc::new(Asking(inner, Arc::clone(&heard))));
    next.resume("b", &Everybody).await.unwrap();
    next.bundles.add(bundle("c", 2, vec![action(1, "keyed", None)])).await.unwrap();
    next.apply("c", &Picked::some(["temp_1"]), &ann()).await.unwrap();
    let who: Vec<Option<String>> = ["bob", "bob", "ann"].map(|who| Some(who.to_owned())).to_vec();
    assert_eq!(*heard.lock().unwrap(), who);
}
