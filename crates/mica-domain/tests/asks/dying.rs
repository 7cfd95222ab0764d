//! The process dies between an answer and what comes of it.

use super::*;

/// The process dies between a decision and what comes of it.
#[tokio::test(start_paused = true)]
async fn what_was_decided_before_a_crash_is_carried_out_as_whoever_decided_if_it_still_holds() {
    struct Case {
        meanwhile: fn(&World),
        log: &'static [&'static str],
        deeds: &'static [&'static str],
        waits: bool,
    }
    let cases = [
        Case {
            meanwhile: |_| {},
            log: &["lumen = active, due , by maya"],
            deeds: &["maya approved"],
            waits: false,
        },
        Case {
            meanwhile: |world| world.ledger.put("lumen", "paused"),
            log: &[],
            deeds: &[
                "maya approved",
                "nobody outdated: lumen: version 1 → version 2; value of lumen: trial → paused",
            ],
            waits: true,
        },
        Case {
            meanwhile: |world| {
                world.staff.0.lock().unwrap().insert("maya".to_owned(), Rights::of(["read"]));
            },
            log: &[],
            deeds: &[
                "maya approved",
                "nobody revoked: maya approved it, and may not approve it any more: the right write is missing. Nothing was \
                 done.",
            ],
            waits: false,
        },
        Case {
            meanwhile: |world| drop(world.staff.0.lock().unwrap().remove("maya")),
            log: &[],
            deeds: &[
                "maya approved",
                "nobody revoked: maya approved it, and may not approve it any more: they are not there any more. Nothing was \
                 done.",
            ],
            waits: false,
        },
    ];
    for case in cases {
        let mut world = World::new();
        let copilot = world.asking(paid()).await;
        let asks = copilot.waiting();
        copilot.approvals().decide(&asks, [(asks[0].call.id.clone(), yes())], &person("maya")).await.unwrap();
        drop(copilot);
        (case.meanwhile)(&world);
        // Somebody else opens it, and sits there.
        let mut setup = world.setup(Scenario::new().otherwise(Turn::new().text("Done.")));
        setup.present = Some("omar".to_owned());
        let copilot = world.open(setup).await;
        let answered = copilot.expire().await.unwrap();
        assert_eq!(answered.turned.is_none(), case.waits);
        assert_eq!(copilot.waiting().len(), usize::from(case.waits));
        assert_eq!(world.ledger.log(), case.log);
        assert_eq!(world.deeds().await, case.deeds);
        if case.waits {
            // And then by somebody who is there.
            let now = copilot.waiting().remove(0);
            copilot.decide([(&now, yes())], &person("omar")).await.unwrap();
            assert_eq!(world.ledger.log(), ["lumen = active, due , by omar"]);
        }
    }
}

/// Says yes to the first call, then thinks about the second one for ever.
#[derive(Default)]
struct Slow {
    thinks: Notify,
}

#[async_trait]
impl Hooks for Slow {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        if asks.len() == 1 {
            self.thinks.notify_one();
            std::future::pending::<()>().await;
        }
        Some(vec![Decision::Allow, Decision::Later])
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_said_in_place_is_not_lost_when_the_process_dies_over_the_rest() {
    let mut world = World::new();
    let slow = Arc::new(Slow::default());
    let mut setup = world.setup(both());
    setup.hooks = vec![Arc::clone(&slow) as _];
    setup.present = Some("omar".to_owned());
    let copilot = world.open(setup).await;
    let running = tokio::spawn({
        let copilot = copilot.clone();
        async move { copilot.say(says("Do both.")).await }
    });
    slow.thinks.notified().await;
    // What a process that dies here leaves.
    let left = world.desk.folder.path().join("left.jsonl");
    std::fs::copy(copilot.path().unwrap(), &left).unwrap();
    running.abort();
    world.desk.path = Some(left);
    let copilot = world.again().await;
    let asks = copilot.waiting();
    assert_eq!(asks.len(), 2);
    assert_eq!(copilot.approvals().standing(&asks).unwrap().open, [asks[1].call.id.clone()]);
    let no = Choice::Reject { reason: "no".to_owned() };
    copilot.decide([(&asks[1], no)], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by omar"]);
    assert_eq!(world.deeds().await, ["omar approved", "maya rejected: no"]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_cannot_be_read_is_asked_for_again_and_keeps_nobody_out() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let card = copilot.approvals().cards().unwrap().remove(0);
    let session = copilot.keeper().unwrap().session().header().id.to_string();
    let record = format!("{session}/{}", card.id);
    let garbage = json!("{\"state\":{\"is\":\"appro");
    world.records.put("approval", &record, &garbage, None).await.unwrap();
    drop(copilot);
    let copilot = world.again().await;
    assert_eq!(
        copilot.notices(),
        [format!(
            "what was decided about {:?} (set) cannot be read, so it counts as not approved and is asked again; the record \
             approval {record} is left as it is",
            card.digest
        )]
    );
    assert!(copilot.expire().await.unwrap().turned.is_none(), "nobody said yes");
    assert_eq!((copilot.waiting(), world.ledger.log()), (vec![asked.clone()], Vec::new()));
    let answered = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    assert_eq!(world.records.get("approval", &record).await.unwrap().unwrap().doc, garbage);
}

/// The process dies after a question was taken back, and before what was said instead is kept.
#[tokio::test(start_paused = true)]
async fn a_question_that_was_taken_back_for_nothing_is_asked_again() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let card = copilot.approvals().cards().unwrap().remove(0).id;
    let change = json!({ "settled": { "card": card, "state": { "is": "superseded" } } });
    copilot.side().append("approvals", change).await.unwrap();
    drop(copilot);
    let copilot = world.again().await;
    assert!(copilot.expire().await.unwrap().turned.is_none(), "nobody answered");
    assert_eq!(copilot.waiting(), std::slice::from_ref(&asked));
    copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}
