//! What is picked is done in order, with true ids, and nothing else is; what is wrong with picks is said before.

use super::*;

#[tokio::test]
async fn all_of_it_in_order_with_true_ids() {
    let stage = stage(chain()).await;
    let fresh = stage.applier.bundles.get("b").await.unwrap();
    let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
    assert_eq!(
        stage.world.told(),
        [
            r#"bundle/b/temp_1 keyed {"title":"a1"}"#,
            r#"bundle/b/temp_2 keyed {"title":"a2","on":"K-1"}"#,
            r#"bundle/b/temp_3 unsafe {"title":"about K-1 and K-2","on":"K-2"}"#,
            r#"bundle/b/temp_4 same {"title":"a4"}"#,
        ]
    );
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-2""#, "done 3", r#"done "I-a4""#]);
    let became: Vec<String> = bundle.became().map(|(id, real)| format!("{id} {real}")).collect();
    assert_eq!(became, [r#"temp_1 "K-1""#, r#"temp_2 "K-2""#, "temp_3 3", r#"temp_4 "I-a4""#]);
    assert_eq!((&bundle.state, &bundle.lease), (&State::Approved, &None));
    assert_eq!(stage.applier.bundles.get("b").await.unwrap(), bundle, "what is answered is what is kept");
    let again = stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap_err();
    assert_eq!(again.to_string(), "bundle b was approved already, and nothing of it is left to do");
    assert_eq!(stage.applier.resume("b", &Everybody).await.unwrap(), bundle, "nothing is left");
    assert_eq!(stage.world.done().len(), 4);
}

#[tokio::test]
async fn some_of_it_now_and_the_rest_later() {
    let stage = stage(chain()).await;
    let Stage { applier, world, .. } = &stage;
    let refused = applier.apply("b", &Picked::some(["temp_3", "temp_4"]), &ann()).await.unwrap_err();
    let words = "temp_3 needs temp_1, which is not picked; temp_3 needs temp_2, which is not picked";
    assert_eq!(refused.to_string(), words);
    assert_eq!(applier.bundles.get("b").await.unwrap().state, State::Fresh, "nothing was decided");

    let picked = Picked::some(["temp_4", "temp_1"]);
    let bundle = applier.apply("b", &picked, &ann()).await.unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, "open", "open", r#"done "I-a4""#]);
    assert_eq!(bundle.state, State::PartiallyApproved);

    // What it needs is done already, so it can be picked alone.
    let bundle = applier.apply("b", &Picked::some(["temp_2"]), &ann()).await.unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-3""#, "open", r#"done "I-a4""#]);
    let bundle = applier.apply("b", &Picked::all(&bundle), &ann()).await.unwrap();
    assert_eq!((told(&bundle)[2].as_str(), bundle.state), ("done 4", State::Approved));
    assert_eq!(world.done().len(), 4);
    let who: Vec<(i64, &str)> =
        bundle.trail.iter().map(|trace| (trace.at.as_second(), trace.by.as_str())).collect();
    assert_eq!(who, [(at(100).as_second(), "ann"); 3]);
}

#[tokio::test]
async fn what_is_wrong_with_picks_is_said_before_anything_is_done() {
    let stage = stage(chain()).await;
    let check = async |picked: Picked, expect: &str| {
        let error = stage.applier.apply("b", &picked, &ann()).await.unwrap_err();
        assert_eq!(error.to_string(), expect);
    };
    check(Picked::default(), "nothing was picked").await;
    check(Picked::some(["temp_9"]), "there is no action temp_9").await;
    check(Picked::some(["temp_1", "temp_1"]), "temp_1 was picked twice").await;
    check(
        Picked::some(["temp_1"]).editing("temp_1", "title", json!("")).editing("temp_1", "fail", json!(true)),
        "temp_1: fail may not be changed; what may be changed is: title, on",
    )
    .await;
    check(
        Picked::some(["temp_1"]).editing("temp_1", "title", json!("")),
        "temp_1: /title: must have 1 characters or more",
    )
    .await;
    // An edit that needs something needs it to be picked, and nothing may need itself.
    check(
        Picked::some(["temp_1"]).editing("temp_1", "on", json!("temp_4")),
        "temp_1 needs temp_4, which is not picked",
    )
    .await;
    check(
        Picked::some(["temp_1", "temp_2"]).editing("temp_1", "on", json!("temp_2")),
        "these actions need each other: temp_1, temp_2, temp_3",
    )
    .await;
    assert_eq!(stage.world.done(), []);
    assert_eq!(stage.applier.bundles.get("b").await.unwrap().trail, []);
}

#[tokio::test]
async fn edits_are_done_and_kept() {
    let stage = stage(chain()).await;
    let picked = Picked::some(["temp_1", "temp_2", "temp_4"])
        .editing("temp_1", "title", json!("better"))
        .editing("temp_2", "on", json!("temp_4"))
        .editing("temp_4", "title", json!("a4"));
    let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
    // What was changed to need another comes behind it.
    assert_eq!(
        stage.world.told(),
        [
            r#"bundle/b/temp_1 keyed {"title":"better"}"#,
            r#"bundle/b/temp_4 same {"title":"a4"}"#,
            r#"bundle/b/temp_2 keyed {"title":"a2","on":"I-a4"}"#,
        ]
    );
    let Deed::Approved { what, edits } = &bundle.trail[0].deed else { panic!("{:?}", bundle.trail) };
    assert_eq!(*what, ["temp_1", "temp_2", "temp_4"]);
    assert_eq!(
        serde_json::to_value(edits).unwrap(),
        json!({ "temp_1": { "title": "better" }, "temp_2": { "title": "a2", "on": "temp_4" } })
    );
    assert_eq!(bundle.actions[0].args, action(1, "keyed", None).args, "what was proposed stays on record");
    // People read what was done, and what was proposed.
    let shown: Vec<String> = bundle.actions.iter().map(Action::shown).collect();
    assert_eq!(
        shown,
        [
            "keyed (title: better) (proposed: keyed 1)",
            "keyed (title: a2, on: temp_4) (proposed: keyed 2)",
            "unsafe 3",
            "same 4"
        ]
    );
    let changes: Vec<_> = bundle.actions.iter().flat_map(Action::changes).collect();
    assert_eq!(
        changes,
        [
            ("title", Some(&json!("a1")), Some(&json!("better"))),
            ("on", Some(&json!("temp_1")), Some(&json!("temp_4")))
        ]
    );
}

#[tokio::test]
async fn what_needs_a_failure_is_skipped_and_may_be_tried_again() {
    let mut actions = chain();
    actions[1].args.insert("fail".to_owned(), json!(true));
    actions[1].amendable.push("fail".to_owned());
    let stage = stage(actions).await;
    let fresh = stage.applier.bundles.get("b").await.unwrap();
    let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
    assert_eq!(
        told(&bundle),
        [r#"done "K-1""#, "failed: it is closed", "skipped: temp_2 failed", r#"done "I-a4""#]
    );
    assert_eq!((&bundle.state, bundle.is_open()), (&State::Approved, true));
    let picked = Picked::all(&bundle).editing("temp_2", "fail", json!(false));
    let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
    assert_eq!(told(&bundle), [r#"done "K-1""#, r#"done "K-3""#, "done 4", r#"done "I-a4""#]);
    assert_eq!(stage.world.done().len(), 4);
}

#[tokio::test]
async fn an_unsafe_failure_is_not_tried_again() {
    let mut only = action(1, "unsafe", None);
    only.args.insert("fail".to_owned(), json!(true));
    let stage = stage(vec![only]).await;
    let bundle = stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap();
    assert_eq!((told(&bundle), bundle.is_open()), (vec!["failed: it is closed".to_owned()], false));
    assert!(stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.is_err());
}

#[tokio::test]
async fn a_result_that_does_not_say_what_it_made_leads_nowhere() {
    let mut actions = chain();
    actions[0].makes.push("/made/name".to_owned());
    let stage = stage(actions).await;
    let fresh = stage.applier.bundles.get("b").await.unwrap();
    let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
    assert_eq!(
        told(&bundle),
        [
            "done null",
            "skipped: temp_1 was done, but did not say what it made",
            "skipped: temp_1 was done, but did not say what it made",
            r#"done "I-a4""#
        ]
    );
}

/// What somebody changed counts for the decision they made, and no longer.
#[tokio::test]
async fn an_edit_does_not_stick_to_what_came_to_nothing() {
    let mut actions = chain();
    actions[0].amendable.push("fail".to_owned());
    let stage = stage(actions).await;
    let picked = Picked::some(["temp_1", "temp_2"])
        .editing("temp_1", "fail", json!(true))
        .editing("temp_2", "title", json!("mine"))
        .editing("temp_2", "on", json!("temp_1"));
    let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
    assert_eq!(told(&bundle), ["failed: it is closed", "skipped: temp_1 failed", "open", "open"]);
    assert_eq!(bundle.actions.iter().filter(|action| action.amended.is_some()).count(), 0);
    assert_eq!(bundle.actions.iter().map(Action::shown).collect::<Vec<_>>()[..2], ["keyed 1", "keyed 2"]);
    let Deed::Approved { edits, .. } = &bundle.trail[0].deed else { panic!("{:?}", bundle.trail) };
    assert_eq!(edits.len(), 2, "who wanted what stays on record");
    assert_eq!(stage.applier.form(&bundle.actions[1])[0].value, json!("a2"), "shown is what would be done");
    stage.applier.apply("b", &Picked::some(["temp_1", "temp_2"]), &ann()).await.unwrap();
    assert_eq!(
        stage.world.told(),
        [r#"bundle/b/temp_1 keyed {"title":"a1"}"#, r#"bundle/b/temp_2 keyed {"title":"a2","on":"K-1"}"#]
    );
}

/// A tool may have lost an argument since: what it would drop is not done as if it did it.
#[tokio::test]
async fn what_its_tool_does_not_know_any_more_is_not_dropped_unseen() {
    struct Open(mica_agent::ToolSpec);
    #[async_trait]
    impl Tool for Open {
        fn spec(&self) -> &mica_agent::ToolSpec {
            &self.0
        }
        async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            Ok(ToolOutput::text("made"))
        }
    }
    let mut stage = stage(vec![action(1, "keyed", None)]).await;
    let schema = json!({ "type": "object", "properties": { "titles": { "type": "string" } } });
    stage.applier.tools.add(Arc::new(Open(mica_agent::ToolSpec::new("keyed", "", schema))));
    let bundle = stage.applier.apply("b", &Picked::some(["temp_1"]), &ann()).await.unwrap();
    let why = "failed: \"title\" is no argument of keyed. Did you mean \"titles\"? It takes: titles.";
    assert_eq!(told(&bundle), [why]);
}
