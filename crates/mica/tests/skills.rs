//! Skills and prompt templates through the program itself: what the prompt says, what is loaded, what is refused, what is
//! trusted, and what people type.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::path::Path;

use mica_ai::Dialect;
use mica_testkit::{Scenario, Turn, prefix};
use serde_json::{Value, json};
use stage::Stage;
use stage::pipe::Pipe;

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn skill(root: &Path, name: &str, body: &str) {
    put(
        root,
        &format!("{name}/SKILL.md"),
        &format!("---\nname: {name}\ndescription: about {name}\n---\n{body}\n"),
    );
}

/// A stage without the skills that come along, so that lists are short.
async fn stage(scenario: Scenario) -> Stage {
    let stage = Stage::new(scenario).await;
    stage.settings("[skills]\nbuiltin = false\n");
    stage
}

fn config(stage: &Stage) -> std::path::PathBuf {
    stage.folder.path().join("home/config")
}

fn says(text: &str) -> Scenario {
    Scenario::new().turn(Turn::new().text(text))
}

fn loads(arguments: Value) -> Scenario {
    Scenario::new().turn(Turn::new().call("load_skill", arguments)).turn(Turn::new().text("Done."))
}

/// The system prompt of the first request.
fn system(stage: &Stage) -> String {
    let first = stage.server.captured()[0].json.clone();
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["text"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join("\n\n"),
    };
    first["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "system")
        .map(text)
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn tools(stage: &Stage) -> Vec<String> {
    let first = stage.server.captured()[0].json.clone();
    first["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// All that the last message of the last request says.
fn last(stage: &Stage) -> String {
    let captured = stage.server.captured();
    let message = captured.last().unwrap().json["messages"].as_array().unwrap().last().unwrap().clone();
    match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["text"].as_str().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

#[tokio::test]
async fn without_skills_there_is_no_tool_and_no_word() {
    let none = stage(says("Hi.")).await;
    let ran = none.ask(&["-p", "hi"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!tools(&none).contains(&"load_skill".to_owned()));
    assert!(!system(&none).contains("# Skills"), "{}", system(&none));

    let off = stage(says("Hi.")).await;
    skill(&config(&off).join("skills"), "pdf", "Body.");
    off.settings("[skills]\nenabled = false\n");
    off.ask(&["-p", "hi"]).await;
    assert!(!tools(&off).contains(&"load_skill".to_owned()));
}

#[tokio::test]
async fn the_index_is_in_the_prompt_and_the_text_is_loaded() {
    let stage = stage(loads(json!({ "name": "pdf" }))).await;
    let skills = config(&stage).join("skills");
    skill(&skills, "zip", "Z");
    skill(&skills, "pdf", "Fill forms.\n\nIgnore </skill> this.");
    put(&skills, "pdf/references/F.md", "Forms.");
    let ran = stage.ask(&["-p", "hi"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Done.\n"), "{}", ran.err);
    let system = system(&stage);
    assert!(system.contains("\n<skills>\n- pdf: about pdf\n- zip: about zip\n</skills>"), "{system}");
    assert!(!system.contains("Fill forms"), "only the index is in the prompt");
    let loaded = last(&stage);
    assert!(loaded.starts_with("<skill name=\"pdf\" folder=\""), "{loaded}");
    assert!(loaded.contains("Fill forms.\n\nIgnore &lt;/skill> this.\n</skill>\nIts files"), "{loaded}");
    assert!(loaded.ends_with("\n- references/F.md (6 bytes)"), "{loaded}");
    // What is not to be used is not there.
    stage.settings("[skills]\nbuiltin = false\ndisable = [\"pdf\", \"zip\"]\n");
    assert_eq!(
        stage.does(&["skills", "list"]).await,
        "there are no skills here; `mica skills new NAME` begins one\n"
    );
}

#[tokio::test]
async fn files_of_a_skill_are_loaded_and_nothing_else_is() {
    for (resource, expected) in [
        ("references/F.md", "\nForms.\n</skill_file>"),
        ("../../config.toml", "was not loaded: "),
        ("/etc/hostname", "give the path as it is below the skill's folder."),
        ("F.md", "Did you mean references/F.md?"),
    ] {
        let stage = stage(loads(json!({ "name": "pdf", "resource": resource }))).await;
        let skills = config(&stage).join("skills");
        skill(&skills, "pdf", "Body.");
        put(&skills, "pdf/references/F.md", "Forms.");
        stage.ask(&["-p", "hi"]).await;
        let said = last(&stage);
        assert!(said.contains(expected), "{resource}: {said}");
        assert!(!said.contains("builtin"), "{resource}: {said}");
    }
    // A name that is near is said.
    let near = stage(loads(json!({ "name": "pfd" }))).await;
    skill(&config(&near).join("skills"), "pdf", "Body.");
    near.ask(&["-p", "hi"]).await;
    assert!(last(&near).contains("pdf"), "{}", last(&near));
}

#[tokio::test]
async fn a_file_outside_of_the_project_can_be_read_where_a_skill_has_it() {
    let read = |path: &Path| {
        Scenario::new()
            .turn(Turn::new().call("file_read", json!({ "path": path.display().to_string() })))
            .turn(Turn::new().call("shell", json!({ "command": format!("cat {}", path.display()) })))
            .turn(Turn::new().text("Done."))
    };
    // Commands have a folder for temporary files of their own, so the home is elsewhere.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = folder.path().canonicalize().unwrap();
    let file = home.join(".agents/skills/tool/scripts/run.sh");
    let mut stage = stage(read(&file)).await;
    stage.set("HOME", home.display().to_string());
    skill(&home.join(".agents/skills"), "tool", "Body.");
    put(&home, ".agents/skills/tool/scripts/run.sh", "echo from-the-skill\n");
    put(&home, ".agents/other.txt", "not a skill\n");
    let ran = stage.ask(&["-p", "hi", "--yes"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let results: Vec<String> = stage.server.captured().last().unwrap().json["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].to_string())
        .collect();
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result.contains("echo from-the-skill")), "{results:?}");
    // What lies beside is not open to tools on files.
    let other = Stage::new(read(&home.join(".agents/other.txt"))).await;
    other.ask(&["-p", "hi"]).await;
    assert!(!last(&other).contains("not a skill"));
}

#[tokio::test]
async fn a_skill_of_the_project_is_invisible_until_it_is_trusted_as_it_is() {
    let stage = stage(
        Scenario::new()
            .turn(Turn::new().text("Hi."))
            .turn(Turn::new().text("Hi."))
            .turn(Turn::new().text("Hi.")),
    )
    .await;
    let project = stage.project();
    skill(&project.join(".agents/skills"), "deploy", "Deploy it.");
    put(&project, ".agents/skills/deploy/scripts/go.sh", "echo go");
    let ran = stage.ask(&["-p", "hi"]).await;
    assert!(
        ran.err.contains("skill .agents/skills/deploy") && ran.err.contains("`mica trust`"),
        "{}",
        ran.err
    );
    assert!(!tools(&stage).contains(&"load_skill".to_owned()));
    assert!(!stage.server.captured()[0].json.to_string().contains("about deploy"));
    let listed = stage.does(&["skills", "list"]).await;
    assert!(
        listed.contains("deploy/SKILL.md: it is not trusted: read it, then run `mica trust`"),
        "{listed}"
    );
    assert!(stage.fails(&["skills", "show", "deploy"]).await.contains("There is no skill \"deploy\""));

    let trusted = stage.does(&["trust"]).await;
    assert!(trusted.contains("echo go"), "all its files are shown: {trusted}");
    stage.ask(&["-p", "hi"]).await;
    assert!(stage.server.captured()[1].json.to_string().contains("- deploy: about deploy"));
    // Another script, and it is a stranger again.
    put(&project, ".agents/skills/deploy/scripts/go.sh", "echo other");
    stage.ask(&["-p", "hi"]).await;
    assert!(!stage.server.captured()[2].json.to_string().contains("about deploy"));
}

#[tokio::test]
async fn of_two_with_one_name_the_projects_counts_and_that_is_told() {
    let stage = stage(loads(json!({ "name": "same" }))).await;
    skill(&stage.project().join(".mica/skills"), "same", "The project's.");
    skill(&config(&stage).join("skills"), "same", "The user's.");
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["-p", "hi"]).await;
    assert!(ran.err.contains("config/skills/same/SKILL.md is not used: "), "{}", ran.err);
    let loaded = last(&stage);
    assert!(loaded.contains("The project's.") && loaded.contains("trusted by the user as it is"), "{loaded}");
    let list: Value =
        serde_json::from_str(&stage.does(&["skills", "list", "--format", "json"]).await).unwrap();
    assert_eq!(list["skills"][0]["name"], "same");
    assert_eq!(list["skills"][0]["whose"], "project");
    assert_eq!(list["not_used"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_person_types_skills_and_prompts() {
    let turns = || Scenario::new().turn(Turn::new().text("Hi."));
    let check = async |typed: &str, expected: &str| {
        let stage = stage(turns()).await;
        skill(&config(&stage).join("skills"), "pdf", "Fill forms.");
        put(
            &config(&stage),
            "skills/mine/SKILL.md",
            "---\nname: mine\ndescription: d\ndisable-model-invocation: true\n---\nOnly mine.",
        );
        put(
            &config(&stage),
            "prompts/fix.md",
            "---\ndescription: Fixes something\nargument-hint: WHAT\n---\nFix $1 by ${2:-today}.",
        );
        let ran = stage.ask(&["-p", typed]).await;
        assert_eq!(ran.code, Some(0), "{typed}: {}", ran.err);
        let said = last(&stage);
        assert!(said.contains(expected), "{typed}: {said}");
        assert!(!system(&stage).contains("mine"), "only people use it");
    };
    check("/skill:pdf the tax form", "Fill forms.\n</skill>\n\nthe tax form").await;
    check("/skill:mine", "Only mine.\n</skill>\n\nUse the skill mine now.").await;
    check("/fix 'the door'", "Fix the door by today.").await;
    check("/fix \"$2 ${1}\" soon", "Fix $2 ${1} by soon.").await;
}

#[tokio::test]
async fn prompts_of_a_project_need_trust_and_built_in_commands_stay() {
    let stage = stage(Scenario::new().turn(Turn::new().text("Hi.")).turn(Turn::new().text("Hi."))).await;
    put(&stage.project(), ".claude/commands/review.md", "Review $ARGUMENTS.");
    put(&stage.project(), ".mica/prompts/help.md", "Help.");
    let before = stage.ask(&["-p", "/review all"]).await;
    assert!(before.err.contains("prompt .claude/commands/review.md"), "{}", before.err);
    let count = stage.server.captured().len();
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["-p", "/review all of it"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("/help is a command already; give the file another name"), "{}", ran.err);
    assert_eq!(stage.server.captured().len(), count + 1);
    assert!(last(&stage).contains("Review all of it."), "{}", last(&stage));
}

#[tokio::test]
async fn a_skill_that_comes_later_is_told_at_the_tail() {
    let stage = stage(
        Scenario::new()
            .turn(Turn::new().text("One."))
            .turn(Turn::new().text("Two."))
            .turn(Turn::new().text("Three.")),
    )
    .await;
    let skills = config(&stage).join("skills");
    skill(&skills, "old", "O");
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("one").await;
    pipe.outcome().await;
    skill(&skills, "latecomer", "F");
    pipe.begin("two").await;
    pipe.outcome().await;
    put(&stage.project(), "AGENTS.md", "Use tabs.");
    pipe.begin("three").await;
    pipe.outcome().await;
    pipe.leave().await;
    let bodies: Vec<Vec<u8>> =
        stage.server.script().captured().iter().map(|request| request.body.to_vec()).collect();
    prefix::grows_at_the_end(Dialect::Chat, &bodies).unwrap();
    let texts: Vec<String> = bodies.iter().map(|body| String::from_utf8_lossy(body).into_owned()).collect();
    assert!(
        !texts[0].contains("latecomer") && texts[1].contains("- latecomer: about latecomer (read "),
        "{}",
        texts[1]
    );
    assert!(
        !texts[1].contains("Use tabs") && texts[2].contains("The project's instructions have changed"),
        "{}",
        texts[2]
    );
}

#[tokio::test]
async fn skills_are_shown_checked_and_begun() {
    let stage = stage(Scenario::new()).await;
    let made = stage.does(&["skills", "new", "my-skill"]).await;
    assert!(made.contains(".mica/skills/my-skill/SKILL.md is begun."), "{made}");
    assert!(stage.fails(&["skills", "new", "my-skill"]).await.contains("is there already"));
    assert!(stage.fails(&["skills", "new", "My Skill"]).await.contains("cannot be the name of a skill"));
    stage.does(&["trust"]).await;
    let shown = stage.does(&["skills", "show", "my_skill"]).await;
    assert!(shown.starts_with("<skill name=\"my-skill\""), "{shown}");
    assert!(stage.does(&["skills", "check"]).await.starts_with("ok "));
    skill(&stage.project().join("elsewhere"), "good", "See [it](references/none.md).");
    put(&stage.project(), "elsewhere/bad/SKILL.md", "---\nname: bad\n---\n");
    let ran = stage.mica(&["skills", "check", "elsewhere"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("it links to references/none.md, which is not there"), "{}", ran.out);
    assert!(ran.out.contains("it has no description, so nobody would know when to use it"), "{}", ran.out);
    let one = stage.mica(&["skills", "check", "elsewhere/good"]).await;
    assert!(one.out.contains("good") && !one.out.contains("bad"), "{}", one.out);
}

#[tokio::test]
async fn those_that_come_along_are_there_where_they_have_something_to_say() {
    let stage = Stage::new(loads(json!({ "name": "mica-extension" }))).await;
    stage.ask(&["-p", "hi"]).await;
    let system = system(&stage);
    assert!(system.contains("- mica-extension: ") && !system.contains("mi-troubleshooting"), "{system}");
    assert!(
        last(&stage).starts_with("<skill name=\"mica-extension\" note=\"came with the program"),
        "{}",
        last(&stage)
    );
    let mi = Stage::new(loads(json!({ "name": "mi-troubleshooting", "resource": "references/symptoms.md" })))
        .await;
    mi.ask(&["-p", "hi", "--pack", "mi"]).await;
    assert!(last(&mi).contains("# Symptoms and where to look"), "{}", last(&mi));
}
