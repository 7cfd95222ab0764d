//! Processes die in the middle, come back, and work at the same bundle: each effect happens once.

use super::*;

#[tokio::test]
async fn of_two_who_decide_at_once_one_wins() {
    let stage = stage(chain()).await;
    let (one, other) = (process("one", &stage.world, &stage.records, &Faults::none()), stage.applier.clone());
    // Both have read the bundle before either wrote.
    let picks = (Picked::some(["temp_1", "temp_2"]), Picked::some(["temp_1", "temp_4"]));
    let (bob, eve) = (Person::new("bob", Rights::All), Person::new("eve", Rights::All));
    let made = futures_join(one.apply("b", &picks.0, &bob), other.apply("b", &picks.1, &eve)).await;
    let conflict =
        CaptureError::Records(RecordError::Conflict { kind: "bundle".to_owned(), id: "b".to_owned() });
    let (won, lost) = if made.0.is_ok() { made } else { (made.1, made.0) };
    assert!(
        matches!(&lost, Err(error) if *error == conflict || matches!(error, CaptureError::UnderWay { .. })),
        "{lost:?}"
    );
    let won = won.unwrap();
    assert_eq!(won.trail.len(), 1);
    assert_eq!(stage.world.done().len(), 2);
}

async fn futures_join<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    tokio::join!(one, other)
}

#[tokio::test]
async fn others_wait_until_the_time_of_whoever_died_is_over() {
    let stage = stage(vec![action(1, "keyed", None)]).await;
    // Dies after the effect, before that is written.
    let faults = Faults::at(6);
    let dying = process("one", &stage.world, &stage.records, &faults);
    assert!(faults.until_death(dying.apply("b", &Picked::some(["temp_1"]), &ann())).await.is_none());
    assert_eq!(told(&stage.applier.bundles.get("b").await.unwrap()), ["began"]);

    let clock = Arc::new(AtomicI64::new(101));
    let mut other = stage.applier.clone();
    other.holder = "other".to_owned();
    let read = Arc::clone(&clock);
    other.clock = Arc::new(move || at(read.load(Ordering::SeqCst)));
    let waiting = other.resume("b", &Everybody).await.unwrap_err();
    let until = at(100 + 120 + 60);
    assert_eq!(waiting, CaptureError::UnderWay { id: "b".to_owned(), holder: "one".to_owned(), until });
    assert_eq!(other.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap_err(), waiting);
    assert_eq!(other.resume_all(&Everybody).await, Ok(Vec::new()), "it is left to whoever works at it");
    clock.store(281, Ordering::SeqCst);
    let bundle = other.resume_all(&Everybody).await.unwrap().remove(0);
    assert_eq!((told(&bundle), stage.world.done().len()), (vec![r#"done "K-1""#.to_owned()], 1));
}

/// All is done, and only that is not written: others wait for that, too, and it is whole when it is over.
#[tokio::test]
async fn one_who_died_at_the_very_end() {
    let stage = stage(vec![action(1, "keyed", None), action(2, "keyed", None)]).await;
    // The decision, two writes and an effect, and then the end.
    let faults = Faults::at(2 + 2 + 2 + 2 + 1);
    let dying = process("one", &stage.world, &stage.records, &faults);
    assert!(faults.until_death(dying.apply("b", &Picked::some(["temp_1"]), &ann())).await.is_none());
    let left = stage.applier.bundles.get("b").await.unwrap();
    assert_eq!(
        (told(&left), left.lease.is_some()),
        (vec![r#"done "K-1""#.to_owned(), "open".to_owned()], true)
    );
    let waiting = stage.applier.apply("b", &Picked::some(["temp_2"]), &ann()).await.unwrap_err();
    assert!(matches!(waiting, CaptureError::UnderWay { .. }), "{waiting}");
    let one = process("one", &stage.world, &stage.records, &Faults::none());
    assert_eq!(one.resume_all(&Everybody).await.unwrap()[0].lease, None);
    let bundle = stage.applier.apply("b", &Picked::some(["temp_2"]), &ann()).await.unwrap();
    assert_eq!((bundle.state, stage.world.done().len()), (State::Approved, 2));
}

/// Whoever was taken for dead and comes back writes nothing any more, and does nothing more.
#[tokio::test]
async fn one_who_comes_back_from_the_dead_stops() {
    let stage = stage(chain()).await;
    let records = stage.records.clone();
    let world = Arc::clone(&stage.world);
    let taking_over = stage.applier.clone();
    let over: Arc<Mutex<Option<Bundle>>> = Arc::default();
    /// In the middle of its effect, another process takes over.
    struct Slow {
        inner: Arc<dyn Tool>,
        other: Applier,
        over: Arc<Mutex<Option<Bundle>>>,
    }
    #[async_trait]
    impl Tool for Slow {
        fn spec(&self) -> &mica_agent::ToolSpec {
            self.inner.spec()
        }
        async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            let made = self.inner.call(args, cx).await;
            let mut other = self.other.clone();
            other.clock = Arc::new(|| at(100_000));
            other.holder = "other".to_owned();
            let bundle = other.resume("b", &Everybody).await.unwrap();
            *self.over.lock().unwrap() = Some(bundle);
            made
        }
    }
    let mut one = process("one", &world, &records, &Faults::none());
    let inner = one.tools.find("keyed").unwrap();
    one.tools.add(Arc::new(Slow { inner, other: taking_over, over: Arc::clone(&over) }));
    let fresh = one.bundles.get("b").await.unwrap();
    let error = one.apply("b", &Picked::all(&fresh), &ann()).await.unwrap_err();
    assert_eq!(error.to_string(), "bundle b was changed by somebody else");
    let bundle = over.lock().unwrap().take().unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-2""#, "done 3", r#"done "I-a4""#]);
    assert_eq!(world.done().len(), 4);
}

/// Dies at one point, is gone on with, and dies at another, for all points there are.
#[tokio::test]
async fn wherever_processes_die_nothing_is_done_twice_and_everything_ends() {
    let picked = Picked::some(["temp_1", "temp_2", "temp_3", "temp_4"]);
    let points = {
        let stage = stage(chain()).await;
        let faults = Faults::none();
        process("p", &stage.world, &stage.records, &faults).apply("b", &picked, &ann()).await.unwrap();
        faults.passed()
    };
    // Ten writes (the decision, two for each action, the end) and four effects, each with a before and an after.
    assert_eq!(points, 2 * 10 + 2 * 4);
    let mut unknown = BTreeSet::new();
    for first in 1..=points {
        for second in 0..=points {
            let stage = stage(chain()).await;
            for point in [first, second] {
                let faults = Faults::at(point);
                let process = process("p", &stage.world, &stage.records, &faults);
                faults
                    .until_death(async {
                        // A person who finds it fresh decides again; what was decided goes on by itself.
                        if process.resume("b", &Everybody).await.unwrap().state == State::Fresh {
                            process.apply("b", &picked, &ann()).await.unwrap();
                        }
                    })
                    .await;
            }
            let last = process("p", &stage.world, &stage.records, &Faults::none());
            let mut bundle = last.resume("b", &Everybody).await.unwrap();
            if bundle.state == State::Fresh {
                bundle = last.apply("b", &picked, &ann()).await.unwrap();
            }
            let at = format!("died at {first} and {second}: {:?}", told(&bundle));
            assert_eq!(
                (&bundle.state, &bundle.lease, bundle.trail.len()),
                (&State::Approved, &None, 1),
                "{at}"
            );
            assert!(bundle.actions.iter().all(|action| action.status.is_final()), "{at}");
            check_effects(&stage.world, &bundle, &at);
            let is_unknown = matches!(bundle.actions[2].status, Status::Unknown { .. });
            if is_unknown {
                unknown.insert(first);
            }
            for (place, made) in [(0, r#"done "K-1""#), (1, r#"done "K-2""#), (3, r#"done "I-a4""#)] {
                assert_eq!(told(&bundle)[place], made, "{at}");
            }
        }
    }
    assert!(unknown.len() > 2, "an unsafe effect was under way when a process died: {unknown:?}");
}

/// Somebody else writes the bundle right before whoever goes on with it does: it is theirs, and no failure.
#[tokio::test]
async fn whoever_is_overtaken_while_they_go_on_leaves_it_to_the_other() {
    struct Overtaken(InMemory);
    #[async_trait]
    impl Points for Overtaken {
        async fn writes(&self) {
            let kept = self.0.get("bundle", "b").await.unwrap().unwrap();
            self.0.put("bundle", "b", &kept.doc, Some(kept.version)).await.unwrap();
        }
    }
    let stage = stage(vec![action(1, "keyed", None)]).await;
    let faults = Faults::at(6);
    let dying = process("one", &stage.world, &stage.records, &faults);
    assert!(faults.until_death(dying.apply("b", &Picked::some(["temp_1"]), &ann())).await.is_none());
    let mut late = process("two", &stage.world, &stage.records, &Faults::none());
    late.clock = Arc::new(|| at(100_000));
    late.bundles = {
        let overtaken = Arc::new(Overtaken(stage.records.clone()));
        Bundles::new(Arc::new(Passing::new(&stage.records, &overtaken)))
    };
    let conflict = RecordError::Conflict { kind: "bundle".to_owned(), id: "b".to_owned() };
    assert_eq!(late.resume("b", &Everybody).await, Err(CaptureError::Records(conflict)));
    assert_eq!(late.resume_all(&Everybody).await, Ok(Vec::new()));
    assert_eq!(stage.world.done().len(), 1);
}

/// Who is still there, whatever the clock says.
struct There(Mutex<BTreeSet<&'static str>>);

#[async_trait]
impl Holders for There {
    async fn is_at_it(&self, holder: &str) -> Option<bool> {
        (holder != "stranger").then(|| self.0.lock().unwrap().contains(holder))
    }
}

#[tokio::test]
async fn nobody_waits_for_who_is_gone_and_nobody_takes_over_from_who_is_not() {
    for (holder, there, now, taken) in [
        ("one", true, 100_000, false),
        ("one", false, 101, true),
        // Of whom nobody knows anything the time counts.
        ("stranger", false, 101, false),
        ("stranger", false, 100_000, true),
    ] {
        let stage = stage(vec![action(1, "keyed", None)]).await;
        let faults = Faults::at(6);
        let dying = process(holder, &stage.world, &stage.records, &faults);
        assert!(faults.until_death(dying.apply("b", &Picked::some(["temp_1"]), &ann())).await.is_none());
        let here = if there { BTreeSet::from([holder]) } else { BTreeSet::new() };
        let mut other = process("two", &stage.world, &stage.records, &Faults::none());
        other.clock = Arc::new(move || at(now));
        let other = other.beside(Arc::new(There(Mutex::new(here))));
        let resumed = other.resume("b", &Everybody).await;
        assert_eq!(resumed.is_ok(), taken, "{holder} {there} {now}: {resumed:?}");
        assert_eq!(stage.world.done().len(), 1);
    }
}
