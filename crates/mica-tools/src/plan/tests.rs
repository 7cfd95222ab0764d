//! Planning: what each mode allows, which plan is presented, and what it comes to.

#![allow(clippy::disallowed_methods, reason = "helpers of tests are tests")]

use std::sync::Mutex;

use mica_agent::hooks::Gated;
use mica_agent::{Args, Context, Hooks, Preview, Verdict};
use mica_ai::message::ToolCall;
use mica_ai::{Dialect, Model};
use mica_policy::mode::ModeSwitch;
use mica_policy::{Action, RuleGate, RuleSet};
use serde_json::{Value, json};

use super::*;
use crate::testing::{Desk, call, call_whole, text};

/// A mode that is kept, or cannot be.
#[derive(Default)]
struct Switch(ModeSwitch, Mutex<bool>);

impl Modes for Switch {
    fn mode(&self) -> Mode {
        self.0.get()
    }

    fn set(&self, mode: Mode) -> Result<(), String> {
        if *self.1.lock().unwrap() {
            return Err("the disk is full".to_owned());
        }
        self.0.set(mode);
        Ok(())
    }
}

struct Stage {
    desk: Desk,
    switch: Arc<Switch>,
    planning: Planning,
}

fn stage(mode: Mode) -> Stage {
    let desk = Desk::with(&[]);
    let workspace = desk.workspace.clone().with_writable(desk.beside("one.plans")).unwrap();
    let plans = Plans::new(&workspace, &desk.beside("one.plans"), || "2026-03-01".to_owned()).unwrap();
    let switch = Arc::new(Switch::default());
    switch.0.set(mode);
    let planning = Planning::new(switch.clone(), Some(plans));
    Stage { desk, switch, planning }
}

impl Stage {
    fn plan(&self, name: &str, text: &str) -> String {
        std::fs::create_dir_all(self.desk.beside("one.plans")).unwrap();
        let path = self.desk.beside(&format!("one.plans/{name}"));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// What the gate says about a call, and the arguments that it leaves.
    async fn gate(&self, tool: &dyn Tool, args: Value) -> (String, Value) {
        self.gates(&PlanGate::new(self.planning.clone()), tool, args).await
    }

    async fn gates(&self, gate: &dyn Hooks, tool: &dyn Tool, args: Value) -> (String, Value) {
        let model = mica_testkit::ScriptedModel::new(mica_testkit::Scenario::new());
        let cx = Context::new(Arc::new(model), Arc::new(Model::assumed("scripted", Dialect::Chat)));
        let spec = tool.spec();
        let call = ToolCall {
            id: "c".into(),
            name: spec.name.clone(),
            arguments: mica_ai::arguments::Arguments::from_text("{}"),
        };
        let Value::Object(args) = args else { unreachable!() };
        let mut gated = Gated { call: &call, spec, args };
        let verdict = match gate.gate(&mut gated, &cx).await {
            Verdict::Deny { reason, .. } => reason,
            other => format!("{other:?}"),
        };
        (verdict, Value::Object(gated.args))
    }
}

#[tokio::test]
async fn plan_mode_is_entered_from_edit_and_says_where_the_plan_goes() {
    let stage = stage(Mode::Edit);
    let tool = EnterPlanMode::new(stage.planning.clone());
    let ask = json!({ "title": "Add retries" });
    assert_eq!(stage.gate(&tool, ask.clone()).await.0, "Pass", "the person is asked, as the tool says");
    let output = call_whole(&tool, ask.clone()).await.unwrap();
    let folder = stage.desk.beside("one.plans");
    let file = folder.join("2026-03-01-add-retries.md");
    assert!(
        text(&output).contains(&format!("Write the plan to {} with", file.display())),
        "{}",
        text(&output)
    );
    assert_eq!(output.details, Some(json!({ "mode": "plan", "plan": file })));
    assert_eq!(stage.switch.mode(), Mode::Plan);
    assert_eq!(stage.gate(&tool, ask.clone()).await.0, "Allow", "again it changes nothing");
    stage.plan("2026-03-01-add-retries.md", "x");
    let again = call(&tool, ask.clone()).await.unwrap();
    assert!(again.contains("2026-03-01-add-retries-2.md"), "a plan is not written over: {again}");
    stage.switch.0.set(Mode::Ask);
    assert!(stage.gate(&tool, ask).await.0.starts_with("The mode is ask, which the user has chosen"));
}

#[tokio::test]
async fn what_is_presented_is_the_plan_that_was_changed_last() {
    let stage = stage(Mode::Plan);
    let tool = ExitPlanMode::new(stage.planning.clone());
    let folder = stage.desk.beside("one.plans").display().to_string();
    let none = format!(
        "There is no plan yet. Write it as a Markdown file in {folder}, or give it as `plan` of exit_plan_mode."
    );
    assert_eq!(stage.gate(&tool, json!({})).await.0, none);
    stage.plan("empty.md", " \n");
    stage.plan("notes.txt", "no plan");
    assert_eq!(stage.gate(&tool, json!({})).await.0, none);
    let old = stage.plan("b.md", "# Old");
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    for path in [old, stage.plan("empty.md", "")] {
        std::fs::File::options().append(true).open(path).unwrap().set_modified(past).unwrap();
    }
    let path = stage.plan("a.md", "# Retries\n\n1. Add them.\n");
    let (verdict, args) = stage.gate(&tool, json!({})).await;
    assert_eq!((verdict.as_str(), &args), ("Pass", &json!({ "plan": "# Retries\n\n1. Add them.\n" })));
    let Value::Object(shown) = args.clone() else { unreachable!() };
    let preview = tool.preview(&shown).await.unwrap();
    let expected =
        Preview::Text { title: "Retries".to_owned(), text: "# Retries\n\n1. Add them.\n".to_owned() };
    assert_eq!(preview, expected);
    let output = call_whole(&tool, args).await.unwrap();
    assert!(text(&output).contains(&format!("It is kept in {path}.")), "{}", text(&output));
    assert_eq!(
        (stage.switch.mode(), output.details),
        (Mode::Edit, Some(json!({ "mode": "edit", "plan": path })))
    );
}

#[tokio::test]
async fn who_allows_everything_has_not_read_the_plan() {
    let stage = stage(Mode::Plan);
    let (enter, exit) =
        (EnterPlanMode::new(stage.planning.clone()), ExitPlanMode::new(stage.planning.clone()));
    let plan = json!({ "plan": "# Retries" });
    let rules = |rules: &[&str]| {
        let set = rules.iter().fold(RuleSet::default(), |set, rule| set.and(Action::Allow, rule).unwrap());
        RuleGate::new(set)
    };
    // No opinion: the tool says that a person is asked.
    assert_eq!(exit.spec().approval, mica_agent::Approval::Needed);
    assert_eq!(stage.gates(&rules(&["*"]), &exit, plan.clone()).await.0, "Pass");
    assert_eq!(stage.gates(&rules(&["*", "exit_plan_mode"]), &exit, plan).await.0, "Allow");
    // What nobody could end is not begun.
    let title = json!({ "title": "Retries" });
    let refused = "The mode stays as it is: calls are allowed beforehand in this run, and only a person can agree to a plan. \
                   Say in a few words what you intend, and go on as far as the mode lets you.";
    assert_eq!(stage.gates(&rules(&["*"]), &enter, title.clone()).await.0, refused);
    assert_eq!(stage.gates(&rules(&["file_write"]), &enter, title.clone()).await.0, "Pass");
    assert_eq!(stage.gates(&rules(&["*", "enter_plan_mode"]), &enter, title).await.0, "Allow");
}

#[tokio::test]
async fn a_plan_in_words_is_kept_in_a_file() {
    let stage = stage(Mode::Plan);
    let tool = ExitPlanMode::new(stage.planning.clone());
    let given = json!({ "plan": "## Move the orders\n\nFirst this." });
    assert_eq!(stage.gate(&tool, given.clone()).await, ("Pass".to_owned(), given.clone()));
    call(&tool, given.clone()).await.unwrap();
    let file = stage.desk.beside("one.plans/2026-03-01-move-the-orders.md");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "## Move the orders\n\nFirst this.\n");
    // The same once more, as after a crash: the file that is there is taken.
    stage.switch.0.set(Mode::Plan);
    call(&tool, given).await.unwrap();
    assert_eq!(std::fs::read_dir(stage.desk.beside("one.plans")).unwrap().count(), 1);
    let large = json!({ "plan": "x".repeat(200_000) });
    stage.switch.0.set(Mode::Plan);
    assert_eq!(
        stage.gate(&tool, large).await.0,
        "The plan has 200000 bytes; 131072 are the most. Shorten it."
    );
}

#[tokio::test]
async fn leaving_without_being_in_it_is_refused_kindly() {
    let stage = stage(Mode::Edit);
    let tool = ExitPlanMode::new(stage.planning.clone());
    let refused = "The mode is edit, not plan: there is nothing to leave. Go on with the work.";
    assert_eq!(stage.gate(&tool, json!({})).await.0, refused);
    assert_eq!(call(&tool, json!({ "plan": "x" })).await.unwrap_err(), refused);
    assert!(!stage.desk.beside("one.plans").exists());
}

#[tokio::test]
async fn a_mode_that_cannot_be_kept_does_not_change() {
    let stage = stage(Mode::Plan);
    *stage.switch.1.lock().unwrap() = true;
    let error = call(&ExitPlanMode::new(stage.planning.clone()), json!({ "plan": "x" })).await.unwrap_err();
    assert_eq!(error, "The mode could not be changed: the disk is full.");
    assert_eq!(stage.switch.mode(), Mode::Plan);
}

#[tokio::test]
async fn without_files_the_plan_is_said() {
    let switch = Arc::new(Switch::default());
    switch.0.set(Mode::Plan);
    let planning = Planning::new(switch.clone(), None);
    let stage = Stage { desk: Desk::with(&[]), switch, planning };
    let tool = ExitPlanMode::new(stage.planning.clone());
    assert_eq!(
        stage.gate(&tool, json!({})).await.0,
        "There is no plan yet. Give it as `plan` of exit_plan_mode."
    );
    assert!(call(&tool, json!({ "plan": "x" })).await.unwrap().starts_with(
        "The plan is agreed to, by the person or by a rule of theirs that names exit_plan_mode. The mode"
    ));
    assert_eq!(stage.switch.mode(), Mode::Edit);
}

#[test]
fn the_model_is_told_its_mode() {
    let stage = stage(Mode::Ask);
    let folder = stage.desk.beside("one.plans").display().to_string();
    let told = |mode: Mode, presents: bool| {
        stage.switch.0.set(mode);
        stage.planning.section(presents)
    };
    assert_eq!(told(Mode::Ask, true), "The mode is ask: look and answer. Nothing can be changed.");
    assert_eq!(told(Mode::Edit, true), "The mode is edit: what the user asks for can be done.");
    assert_eq!(
        told(Mode::Plan, true),
        format!(
            "The mode is plan: look at whatever you need, and change nothing but the plan. Write it as a Markdown file in \
             {folder}, the only folder that can be written now. When the plan is whole, call exit_plan_mode: the user \
             reads it and agrees, or says what to change."
        )
    );
    assert!(told(Mode::Plan, false).ends_with("End with the plan, and let the user decide."));
    for mode in [Mode::Ask, Mode::Plan] {
        let told = subagent_section(mode);
        let name = mode.name();
        assert_eq!(
            told,
            format!(
                "The mode is {name}: look at whatever you need, and answer what you were asked. Nothing can be changed."
            )
        );
    }
    assert_eq!(subagent_section(Mode::Edit), "The mode is edit: what you were asked for can be done.");
}

#[tokio::test]
async fn the_folder_is_made_with_the_first_plan_and_holds_files_only_below() {
    let stage = stage(Mode::Plan);
    let workspace = stage.desk.workspace.clone().with_writable(stage.desk.beside("one.plans")).unwrap();
    let write = crate::FileWrite::new(&workspace);
    let path = stage.desk.beside("one.plans/a.md").display().to_string();
    let said = call(&write, json!({ "path": path, "content": "# A\n" })).await.unwrap();
    assert_eq!(said, format!("Created {path} (1 lines, 4 bytes)."));
    let read = crate::FileRead::new(&workspace, crate::Sight::Blind);
    assert!(call(&read, json!({ "path": path })).await.unwrap().contains("# A"));
    let beside = stage.desk.beside("secret").display().to_string();
    assert!(call(&write, json!({ "path": beside, "content": "x" })).await.unwrap_err().contains("outside"));
    let args: Args = serde_json::from_value(json!({ "path": path })).unwrap();
    assert_eq!(write.touches(&args).len(), 1);
}
