//! Nobody knows whether something was done: it is not done in another shape, and can be found out.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_tool_that_breaks_or_never_ends() {
    struct Odd(mica_agent::ToolSpec);
    #[async_trait]
    impl Tool for Odd {
        fn spec(&self) -> &mica_agent::ToolSpec {
            &self.0
        }
        async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            if args["title"] == "a1" {
                panic!("at the disco");
            }
            std::future::pending().await
        }
    }
    for (effect, expect) in [(Effect::Keyed, "unknown"), (Effect::Unsafe, "unknown")] {
        let mut stage =
            stage(vec![action(1, "odd", None), action(2, "odd", None), action(3, "keyed", Some(2))]).await;
        let mut spec = mica_agent::ToolSpec::new("odd", "", json!({ "type": "object" }));
        spec.effect = effect;
        stage.applier.tools.add(Arc::new(Odd(spec)));
        let fresh = stage.applier.bundles.get("b").await.unwrap();
        let bundle = stage.applier.apply("b", &Picked::all(&fresh), &ann()).await.unwrap();
        let skipped = "skipped: nobody knows whether temp_2 was done";
        assert_eq!(told(&bundle), [expect, expect, skipped]);
        let Status::Unknown { reason } = &bundle.actions[1].status else { panic!() };
        assert_eq!(reason, "it did not finish within 120 s");
    }
}

/// A tool whose first call has its effect and never says so.
struct Silent {
    inner: Arc<dyn Tool>,
    silent: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Tool for Silent {
    fn spec(&self) -> &mica_agent::ToolSpec {
        self.inner.spec()
    }
    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
        let made = self.inner.call(args, cx).await;
        if self.silent.swap(false, Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        made
    }
}

/// Nobody knows whether it was done: it is not done in another shape, and can be found out.
#[tokio::test(start_paused = true)]
async fn what_may_have_been_done_cannot_be_changed_before_that_is_known() {
    for (tool, made) in [("keyed", r#"done "K-1""#), ("same", r#"done "I-better""#)] {
        let mut stage = stage(vec![action(1, tool, None)]).await;
        let inner = stage.applier.tools.find(tool).unwrap();
        stage.applier.tools.add(Arc::new(Silent { inner, silent: true.into() }));
        let picked = Picked::some(["temp_1"]).editing("temp_1", "title", json!("better"));
        let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
        assert_eq!((told(&bundle), stage.world.done().len()), (vec!["unknown".to_owned()], 1));
        assert_eq!(stage.applier.form(&bundle.actions[0])[0].value, json!("better"));

        let other = Picked::some(["temp_1"]).editing("temp_1", "title", json!("a1"));
        let refused = stage.applier.apply("b", &other, &ann()).await.unwrap_err();
        let words = "temp_1 may have been done already, as it was approved before, so it cannot be changed now: approve it \
                     unchanged, which does not do it twice and says what became of it";
        assert_eq!(refused.to_string(), words);
        // A form sends back what it showed: that is no change.
        let bundle = stage.applier.apply("b", &picked, &ann()).await.unwrap();
        assert_eq!(told(&bundle), [made]);
        assert_eq!(bundle.actions[0].tried, None);
        let all = stage.world.done();
        let shapes: BTreeSet<String> = all.iter().map(|done| done.args.to_string()).collect();
        assert_eq!(shapes, [r#"{"title":"better"}"#.to_owned()].into(), "{tool}: in one shape");
    }
}

/// What was in doubt and failed the second time may still have been done the first time.
#[tokio::test(start_paused = true)]
async fn a_failure_does_not_end_the_doubt_about_an_earlier_try() {
    struct Moody(Silent, std::sync::atomic::AtomicUsize);
    #[async_trait]
    impl Tool for Moody {
        fn spec(&self) -> &mica_agent::ToolSpec {
            self.0.spec()
        }
        async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, mica_agent::ToolError> {
            match self.1.fetch_add(1, Ordering::SeqCst) {
                1 => Err(mica_agent::ToolError::new("the line is down")),
                _ => self.0.call(args, cx).await,
            }
        }
    }
    let mut stage = stage(vec![action(1, "keyed", None)]).await;
    let inner = stage.applier.tools.find("keyed").unwrap();
    stage.applier.tools.add(Arc::new(Moody(Silent { inner, silent: true.into() }, 0.into())));
    let (as_it_is, changed) =
        (Picked::some(["temp_1"]), Picked::some(["temp_1"]).editing("temp_1", "title", json!("x")));
    assert_eq!(told(&stage.applier.apply("b", &as_it_is, &ann()).await.unwrap()), ["unknown"]);
    assert_eq!(
        told(&stage.applier.apply("b", &as_it_is, &ann()).await.unwrap()),
        ["failed: the line is down"]
    );
    assert!(matches!(stage.applier.apply("b", &changed, &ann()).await, Err(CaptureError::Picks { .. })));
    assert_eq!(told(&stage.applier.apply("b", &as_it_is, &ann()).await.unwrap()), [r#"done "K-1""#]);
    assert_eq!(stage.world.done().len(), 1);
}
