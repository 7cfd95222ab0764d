//! Guards that go missing: what stands in for one that worked, and what takes it away.

use super::*;
use crate::stage::pipe::Pipe;

/// Lets everything pass but `b.txt`.
const GUARD: &str = "export default (api) => { api.on('tool_call', (event) => event.input.path === 'b.txt' ? \
                     { block: true, reason: 'the guard says no' } : undefined); };\n";
const BROKEN: &str = "export default (api) => { api.on('tool_call', (;\n";
const OPEN: &str = "export default () => {};\n";

#[tokio::test]
async fn the_agent_does_not_change_what_is_trusted_nor_take_its_name() {
    let scenario = Scenario::new()
        .turn(writes(".mica/extensions/no.ts", OPEN))
        .turn(writes(".mica/extensions/NO.ts", OPEN))
        .turn(writes(".mica/extensions/no/index.ts", OPEN))
        .turn(done())
        .turn(writes("b.txt", "x"))
        .turn(done());
    let stage = Stage::new(scenario).await;
    project(&stage, "no.ts", GUARD);
    stage.does(&["trust"]).await;
    let mut pipe = Pipe::open(&stage, &["--yes"]);
    pipe.begin("turn it off").await;
    assert_eq!(pipe.outcome().await, "completed");
    let told = results(&stage);
    for refused in &told[1..] {
        assert!(refused.contains("a change would take it out of use"), "{told:?}");
    }
    assert!(told[0].contains("no/index.ts"), "{told:?}");
    pipe.begin("write").await;
    assert_eq!(pipe.outcome().await, "completed");
    assert!(results(&stage)[0].contains("the guard says no"), "{:?}", results(&stage));
    assert!(!stage.project().join("b.txt").exists());
    pipe.leave().await;
}

#[tokio::test]
async fn a_guard_that_breaks_or_loses_its_trust_is_closed_until_a_person_sees_to_it() {
    for whose in [user as fn(&Stage, &str, &str) -> PathBuf, project] {
        let mut scenario = Scenario::new();
        for _ in 0..5 {
            scenario = scenario.turn(writes("a.txt", "x")).turn(done());
        }
        let stage = Stage::new(scenario).await;
        let path = whose(&stage, "no.ts", GUARD);
        stage.ask(&["trust"]).await;
        let mut pipe = Pipe::open(&stage, &["--yes"]);
        pipe.begin("write").await;
        assert_eq!(pipe.outcome().await, "completed");
        assert!(stage.project().join("a.txt").exists());
        std::fs::remove_file(stage.project().join("a.txt")).unwrap();
        put(path.clone(), BROKEN);
        pipe.begin("write").await;
        let told =
            pipe.until(|line| line["ui"]["text"].as_str().is_some_and(|text| text.contains("guarded"))).await;
        let told = told["ui"]["text"].as_str().unwrap().to_owned();
        assert!(told.contains("every call is refused until it does"), "{told}");
        assert_eq!(pipe.outcome().await, "completed");
        assert!(
            results(&stage)[0].contains("the extension no says no: it guards calls"),
            "{:?}",
            results(&stage)
        );
        pipe.leave().await;
        // The next start does not forget it.
        let ran = runs(&stage, &["-p", "write", "--yes"]).await;
        assert!(ran.err.contains("extension no guarded calls and does not any more"), "{}", ran.err);
        assert!(!stage.project().join("a.txt").exists());
        // As it was, it works as it did.
        put(path.clone(), GUARD);
        runs(&stage, &["-p", "write", "--yes"]).await;
        assert!(stage.project().join("a.txt").exists());
        std::fs::remove_file(stage.project().join("a.txt")).unwrap();
        put(path, BROKEN);
        stage.does(&["ext", "disable", "no"]).await;
        runs(&stage, &["-p", "write", "--yes"]).await;
        assert!(stage.project().join("a.txt").exists(), "who turns it off does not miss it");
    }
}

#[tokio::test]
async fn there_is_no_run_without_what_was_named_for_it() {
    let stage = Stage::new(Scenario::new()).await;
    put(stage.project().join("no.ts"), BROKEN);
    for name in ["no.ts", "gone.ts"] {
        let ran = stage.ask(&["-p", "write", "--extension", name]).await;
        assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        assert!(ran.err.contains("mica: --extension ") && ran.err.contains(name), "{}", ran.err);
    }
    assert_eq!(stage.server.captured().len(), 0);
}
