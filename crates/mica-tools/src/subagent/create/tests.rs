//! What the model sees of the tool, and which calls run beside others. How subagents work is tested with the whole program.

use super::*;

struct Nobody;

#[async_trait]
impl Subagents for Nobody {
    async fn make(&self, wanted: Wanted<'_>) -> Result<Subagent, ToolError> {
        Err(ToolError::new(format!("nobody for {:?}", wanted.who)))
    }
}

fn tool() -> CreateSubagent {
    CreateSubagent::new(Arc::new(Nobody), Profiles::builtin().unwrap(), None)
}

fn args(value: &Value) -> Args {
    value.as_object().unwrap().clone()
}

async fn refusal(value: &Value) -> String {
    let cx = ToolCx::new("run".into(), "call".into(), CancellationToken::new(), |_| {});
    tool().call(args(value), &cx).await.unwrap_err().message
}

#[test]
fn those_that_only_look_run_beside_others() {
    let tool = tool();
    for (value, expected) in [
        (json!({ "profile": "explore" }), Access::Read),
        (json!({ "profile": "general" }), Access::Write),
        (json!({ "profile": "general", "background": true }), Access::Read),
        (json!({ "resume": "explore-1" }), Access::Write),
        (json!({ "profile": "nobody" }), Access::Write),
        (json!({ "profile": "Explore" }), Access::Read),
    ] {
        assert_eq!(tool.access(&args(&value)), expected, "{value}");
    }
    assert_eq!(tool.touches(&args(&json!({ "profile": "general" }))), [], "it may touch everything");
}

#[test]
fn only_what_is_there_is_offered() {
    let tool = tool();
    let properties = &tool.spec().schema["properties"];
    let which = "Which kind of subagent: explore, general. Leave it out with `resume`: it stays what it was.";
    assert_eq!(properties["profile"], json!({ "type": "string", "description": which }));
    assert_eq!(properties.get("background"), None, "there is no table of tasks");
    assert!(!tool.spec().description.contains("background"), "{}", tool.spec().description);
    assert!(tool.spec().description.contains("\n- explore: finds things out"), "{}", tool.spec().description);
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let errand = |more: &Value| {
        let mut value = json!({ "description": "an errand", "prompt": "go" });
        value.as_object_mut().unwrap().extend(args(more));
        value
    };
    for (value, expected) in [
        (errand(&json!({})), "Say which profile: explore, general. Nothing was begun."),
        (
            errand(&json!({ "profile": "cook" })),
            "There is no profile \"cook\"; there are: explore, general. Nothing was begun.",
        ),
        (
            errand(&json!({ "profile": "explore", "prompt": " " })),
            "The prompt is empty: say what the subagent is to do. Nothing was begun.",
        ),
        (
            errand(&json!({ "profile": "explore", "background": true })),
            "Nothing can work in the background here. Nothing was begun; send it without `background`.",
        ),
        (
            errand(&json!({ "resume": "explore-1", "profile": "explore" })),
            "nobody for Again { id: \"explore-1\", profile: Some(\"explore\") }",
        ),
        (
            errand(&json!({ "resume": "explore-1", "profile": "EXPLORE" })),
            "nobody for Again { id: \"explore-1\", profile: Some(\"explore\") }",
        ),
    ] {
        assert_eq!(refusal(&value).await, expected, "{value}");
    }
}

/// Makes none, and counts how often it was asked to.
#[derive(Default)]
struct Refusing(std::sync::atomic::AtomicUsize);

#[async_trait]
impl Subagents for Refusing {
    async fn make(&self, _: Wanted<'_>) -> Result<Subagent, ToolError> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Err(ToolError::new("Not today."))
    }
}

/// There is a place first, and then a subagent: with all places taken none is made, and one that is not made leaves no task.
#[tokio::test]
async fn a_place_is_taken_before_one_is_made() {
    use mica_context::spill::{SpillFolder, SpillLimits};
    let home = tempfile::tempdir().unwrap();
    let folder = Arc::new(SpillFolder::new(home.path().join("spill"), SpillLimits::default()));
    let limits = crate::TaskLimits { running: 1, ..crate::TaskLimits::default() };
    let tasks = Tasks::new(folder, Arc::new(|| std::time::SystemTime::UNIX_EPOCH), limits);
    let makes = Arc::new(Refusing::default());
    let profiles = Profiles::builtin().unwrap();
    let tool = CreateSubagent::new(Arc::clone(&makes) as Arc<dyn Subagents>, profiles, Some(tasks.clone()));
    let errand =
        json!({ "profile": "explore", "description": "an errand", "prompt": "go", "background": true });
    let cx = ToolCx::new("run".into(), "call".into(), CancellationToken::new(), |_| {});
    let said = tool.call(args(&errand), &cx).await.unwrap_err().message;
    assert_eq!((said.as_str(), tasks.list(), tasks.take_endings()), ("Not today.", vec![], vec![]));
    let taken = tasks.begin(TaskKind::SHELL, "make", CancellationToken::new()).unwrap();
    let said = tool.call(args(&errand), &cx).await.unwrap_err().message;
    assert!(said.contains("shell-2"), "{said}");
    assert_eq!(makes.0.load(std::sync::atomic::Ordering::SeqCst), 1, "none was made without a place");
    drop(taken);
}
