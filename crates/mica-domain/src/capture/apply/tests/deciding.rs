//! What is left of a bundle, because it was not picked or failed, can be rejected and put off like all of it.

use super::*;

/// Approved: the first was done, the second failed, the third was left out because of that.
async fn failed() -> Stage {
    let mut actions = chain();
    actions[1].args.insert("fail".to_owned(), json!(true));
    let stage = stage(actions).await;
    let fresh = stage.applier.bundles.get("b").await.unwrap();
    let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
    assert_eq!((&bundle.state, bundle.is_undecided()), (&State::Approved, true));
    stage
}

/// The first and the last were picked and done, the others are open.
async fn in_part() -> Stage {
    let stage = stage(chain()).await;
    let bundle = stage.applier.apply("b", &Picked::some(["temp_1", "temp_4"]), &ann()).await.unwrap();
    assert_eq!((&bundle.state, bundle.is_undecided()), (&State::PartiallyApproved, true));
    stage
}

#[tokio::test]
async fn the_rest_is_rejected_and_what_was_done_stays_done() {
    for stage in [failed().await, in_part().await] {
        let Stage { applier, world, .. } = &stage;
        let before = applier.bundles.get("b").await.unwrap();
        let bundle = applier.bundles.reject("b", "enough", &ann(), at(200)).await.unwrap();
        assert_eq!((&bundle.state, &bundle.actions), (&State::Rejected, &before.actions));
        assert_eq!(bundle.trail.last().unwrap().deed, Deed::Rejected { reason: "enough".to_owned() });
        assert_eq!((bundle.is_open(), bundle.is_begun(), bundle.is_at_rest()), (false, true, true));
        let refused = applier.apply("b", &Picked::all(&bundle), &ann()).await.unwrap_err();
        assert_eq!(refused.to_string(), "bundle b was rejected");
        let again = applier.bundles.reject("b", "enough", &ann(), at(201)).await.unwrap_err();
        assert_eq!(again.to_string(), "bundle b was rejected");
        assert_eq!(world.done().len(), 2);
    }
}

#[tokio::test]
async fn the_rest_is_put_off_and_comes_back_at_its_time() {
    for (stage, after) in [(failed().await, State::Approved), (in_part().await, State::Approved)] {
        let Stage { applier, .. } = &stage;
        let bundle = applier.bundles.snooze("b", at(300), &ann(), at(200)).await.unwrap();
        assert_eq!(bundle.state, State::Snoozed { until: at(300) });
        assert_eq!(applier.bundles.waiting(at(299)).await.unwrap(), []);
        assert_eq!(applier.bundles.waiting(at(300)).await.unwrap(), std::slice::from_ref(&bundle));
        // What was done of it is not done again.
        let mut rest = Picked::all(&bundle);
        rest.0.retain(|pick| pick.action != "temp_1");
        let bundle = applier.apply("b", &rest, &ann()).await.unwrap();
        assert_eq!(bundle.state, after);
        let keys: Vec<String> = stage.world.done().iter().map(|done| done.key.clone()).collect();
        assert_eq!(keys.iter().filter(|key| *key == "bundle/b/temp_1").count(), 1, "{keys:?}");
    }
}

#[tokio::test]
async fn what_is_all_done_has_nothing_left_to_decide() {
    let stage = stage(vec![action(1, "keyed", None)]).await;
    stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap();
    let words = "bundle b was approved already, and nothing of it is left to do";
    let bundles = &stage.applier.bundles;
    assert_eq!(bundles.reject("b", "no", &ann(), at(200)).await.unwrap_err().to_string(), words);
    assert_eq!(bundles.snooze("b", at(300), &ann(), at(200)).await.unwrap_err().to_string(), words);
}

/// Whoever applies it is not interrupted, and what they were picked to do is not taken back halfway.
#[tokio::test]
async fn what_is_being_done_cannot_be_rejected_or_put_off() {
    let stage = stage(chain()).await;
    // The first is on record, the second is not begun.
    let faults = Faults::at(8);
    let dying = process("one", &stage.world, &stage.records, &faults);
    let picked = Picked::some(["temp_1", "temp_2"]);
    assert!(faults.until_death(dying.apply("b", &picked, &ann())).await.is_none());
    let bundles = &stage.applier.bundles;
    for now in [at(101), at(100_000)] {
        let error = bundles.reject("b", "no", &ann(), now).await.unwrap_err();
        assert!(matches!(&error, CaptureError::UnderWay { holder, .. } if holder == "one"), "{error}");
        let error = bundles.snooze("b", at(200_000), &ann(), now).await.unwrap_err();
        assert!(matches!(error, CaptureError::UnderWay { .. }), "{error}");
    }
}
