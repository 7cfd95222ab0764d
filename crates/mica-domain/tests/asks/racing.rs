//! Several answer at once, or while somebody looks.

use super::*;

#[tokio::test(start_paused = true)]
async fn of_two_who_answer_at_once_one_counts_and_neither_fails() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let no = Choice::Reject { reason: "wait".to_owned() };
    let (maya, omar) = (person("maya"), person("omar"));
    let (first, second) =
        tokio::join!(copilot.decide([(&asked, yes())], &maya), copilot.decide([(&asked, no)], &omar));
    let late = [first.unwrap(), second.unwrap()].map(|answered| answered.decided.late.len());
    assert_eq!(late.iter().sum::<usize>(), 1, "{late:?}");
    copilot.idle().await;
    assert!(copilot.waiting().is_empty());
    let deeds = world.deeds().await;
    let log = world.ledger.log();
    match deeds[0].as_str() {
        "maya approved" => assert_eq!(log, ["lumen = active, due , by maya"]),
        "omar rejected: wait" => assert_eq!(log, Vec::<String>::new()),
        other => panic!("{other}"),
    }
}

/// Waits until something was decided.
async fn recorded(world: &World) {
    while world.deeds().await.is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_decides_while_somebody_looks_has_the_run_go_on() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let held = Arc::clone(&world.ledger.looks).acquire_owned().await.unwrap();
    let looking = tokio::spawn({
        let copilot = copilot.clone();
        async move { copilot.questions().await }
    });
    while world.ledger.looking.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let maya = person("maya");
    let deciding = copilot.decide([(&asked, yes())], &maya);
    let released = async {
        // From then on nothing keeps them from going on but who looks.
        while copilot.approvals().cards().unwrap()[0].state == CardState::Pending {
            tokio::task::yield_now().await;
        }
        drop(held);
    };
    let (answered, ()) = tokio::join!(deciding, released);
    assert!(matches!(answered.unwrap().turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    assert_eq!(looking.await.unwrap().unwrap(), [asked]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_on_record_is_carried_out_although_whoever_gave_it_is_gone() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let (asked, maya) = (copilot.waiting().remove(0), person("maya"));
    tokio::select! {
        biased;
        answered = copilot.decide([(&asked, yes())], &maya) => panic!("{answered:?}"),
        () = recorded(&world) => {}
    }
    while world.ledger.log().is_empty() {
        tokio::task::yield_now().await;
    }
    copilot.idle().await;
    assert_eq!(copilot.waiting(), []);
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

/// Somebody elsewhere answers at once, while the run still looks for somebody in place.
struct Elsewhere {
    copilot: OnceLock<Copilot>,
    choice: Choice,
    then: Option<Decision>,
}

#[async_trait]
impl Hooks for Elsewhere {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let said = asks.iter().map(|ask| (ask, self.choice.clone()));
        let answered = self.copilot.get().unwrap().decide(said, &person("maya")).await.unwrap();
        assert!(answered.turned.is_none(), "the run that goes on has it");
        self.then.clone().map(|then| vec![then; asks.len()])
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_decided_before_the_run_waits_is_carried_out_by_that_run() {
    let no = || Choice::Reject { reason: "wait".to_owned() };
    let deny = || Decision::Deny { reason: "not now".to_owned() };
    let done: &[&str] = &["lumen = active, due , by maya"];
    for (choice, then, log, deed) in [
        (yes(), None, done, "maya approved"),
        (no(), None, &[][..], "maya rejected: wait"),
        // And whoever is in place answers it, too, otherwise: the first one counts.
        (no(), Some(Decision::Allow), &[], "maya rejected: wait"),
        (yes(), Some(deny()), done, "maya approved"),
        (yes(), Some(Decision::Allow), done, "maya approved"),
    ] {
        let mut world = World::new();
        let scenario =
            Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
        let elsewhere = Arc::new(Elsewhere { copilot: OnceLock::new(), choice, then });
        let mut setup = world.setup(scenario);
        setup.hooks = vec![Arc::clone(&elsewhere) as _];
        setup.present = Some("omar".to_owned());
        let copilot = world.open(setup).await;
        assert!(elsewhere.copilot.set(copilot.clone()).is_ok());
        let turned = copilot.say(says("Do it.")).await.unwrap();
        assert!(matches!(turned.outcome, Outcome::Completed), "{:?}", turned.outcome);
        assert_eq!(copilot.waiting(), []);
        assert_eq!(world.ledger.log(), log);
        assert_eq!(world.deeds().await, [deed]);
    }
}
