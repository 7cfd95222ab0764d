//! What a session goes on with in another process.

use super::*;

/// Keeps why the window changed.
#[derive(Default)]
struct Windows(Mutex<Vec<String>>);

#[async_trait]
impl Listener for Windows {
    async fn event(&self, event: Event) {
        if let EventKind::Window { change } = event.kind {
            self.0.lock().unwrap().push(format!("{}: {}", change.kind, change.reason));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_requests_begin_with_after_a_restart_is_told_with_its_reason() {
    let mut world = World::new();
    let windows = Arc::new(Windows::default());
    let told = |windows: &Windows| std::mem::take(&mut *windows.0.lock().unwrap());
    for (version, expect) in [
        (0, None),
        (0, None),
        (1, Some("tools that are described otherwise: set")),
        (2, Some("new tools: more; tools that are described otherwise: set")),
        (2, None),
        (3, Some("tools that are described otherwise: set; the prompt says something else")),
        (
            1,
            Some(
                "tools that are gone: more; tools that are described otherwise: set; the prompt says something else",
            ),
        ),
    ] {
        world.ledger.version = version;
        let mut setup = world.setup(Scenario::new().otherwise(Turn::new().text("Done.")));
        setup.listeners = vec![Arc::clone(&windows) as _];
        let copilot = world.open(setup).await;
        copilot.say(says("Hello.")).await.unwrap();
        world.desk.path = copilot.path();
        let expect = expect.map(|why| format!("opened: since the session was last at work: {why}"));
        assert_eq!(told(&windows), expect.into_iter().collect::<Vec<_>>(), "{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_with_its_model_and_on_its_page() {
    let mut world = World::new();
    let plain = || Scenario::new().otherwise(Turn::new().text("Done."));
    let copilot = world.open(world.setup(plain())).await;
    copilot.say(Said { surroundings: Some(Surroundings::on("books")), ..says("Hello.") }).await.unwrap();
    world.desk.path = copilot.path();
    let other = Arc::new(Model::assumed("other", Dialect::Messages));
    copilot.switch(Arc::new(ScriptedModel::new(plain())), Arc::clone(&other)).await.unwrap();
    drop(copilot);
    // Without anybody who finds it: said, and gone on with what is there.
    let copilot = world.again().await;
    assert_eq!(
        copilot.notices(),
        ["this session went on with the model other, which is not to be had here; it goes on with scripted"]
    );
    assert_eq!(copilot.domain().snapshot().page.as_deref(), Some("books"));
    drop(copilot);
    let mut setup = world.setup(plain());
    setup.models = Some(Arc::new(move |name, dialect| {
        assert_eq!((name, dialect), ("other", Dialect::Messages));
        Some((Arc::new(ScriptedModel::new(plain())) as _, Arc::clone(&other)))
    }));
    let copilot = world.open(setup).await;
    assert_eq!(copilot.notices(), Vec::<String>::new());
    assert_eq!(copilot.agent().with(|cx| cx.model.id.clone()).await.unwrap(), "other");
    copilot.notify("It is done.", "job", "job:1", None).await.unwrap();
    assert_eq!(copilot.domain().snapshot().page.as_deref(), Some("books"), "news go on where it was");
}
