//! Remembered approvals through the whole path: a model calls, gates ask, a person picks, and later calls are judged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::{
    Access, Agent, Approval, Args, Ask, Context, Decision, Decisions, Effect, Event, EventKind, Hooks,
    Listener, Outcome, Proposal, Scope, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
};
use mica_ai::{Dialect, Model};
use mica_policy::shell::{Place, Remembered, ShellGate, ShellRules, Unseen};
use mica_policy::{
    Action, Approvals, FileGate, Mode, ModeGate, ModeSwitch, ModeTable, RuleGate, RuleSet, Subjects,
};
use mica_testkit::{Call, Scenario, ScriptedModel, Step, Turn};
use serde_json::{Value, json};

/// A tool that notes what it was called with.
struct Noting {
    spec: ToolSpec,
    seen: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Tool for Noting {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let what = args.values().next().and_then(Value::as_str).unwrap_or_default().to_owned();
        self.seen.lock().unwrap().push(what);
        Ok(ToolOutput::text("done"))
    }
}

/// What a person does about a question.
type Answers = Box<dyn Fn(&Ask) -> Decision + Send + Sync>;

/// A person, who answers one question after the other, and lets what is remembered count in between.
struct Person {
    answers: Answers,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Hooks for Person {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let ask = asks.first()?;
        let what = ask.arguments.as_object()?.values().next()?.as_str()?.to_owned();
        self.asked.lock().unwrap().push(what);
        let mut decisions = vec![(self.answers)(ask)];
        decisions.resize(asks.len(), Decision::Later);
        Some(decisions)
    }
}

#[derive(Default)]
struct Notices(Mutex<Vec<String>>);

#[async_trait]
impl Listener for Notices {
    async fn event(&self, event: Event) {
        if let EventKind::Notice { text } = event.kind {
            self.0.lock().unwrap().push(text);
        }
    }
}

struct Desk {
    agent: Agent,
    person: Arc<Person>,
    approvals: Approvals,
    mode: ModeSwitch,
    seen: Arc<Mutex<Vec<String>>>,
    notices: Arc<Notices>,
}

fn place() -> Place {
    Place {
        root: "/project".to_owned(),
        cwd: "/project".to_owned(),
        temp: vec!["/tmp".to_owned()],
        home: Some("/home/user".to_owned()),
        disk: Arc::new(Unseen),
    }
}

fn desk(turns: Vec<Turn>, answers: impl Fn(&Ask) -> Decision + Send + Sync + 'static) -> Desk {
    with_rules(turns, RuleSet::default(), answers)
}

fn with_rules(
    turns: Vec<Turn>,
    rules: RuleSet,
    answers: impl Fn(&Ask) -> Decision + Send + Sync + 'static,
) -> Desk {
    let model = ScriptedModel::new(turns.into_iter().fold(Scenario::new(), Scenario::turn));
    let facts = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(model), facts);
    let seen = Arc::new(Mutex::new(Vec::new()));
    for (name, access, effect, approval) in [
        // It looks in plan mode and changes in edit mode, so its gate judges, and not its declaration.
        ("shell", Access::Read, Effect::Unsafe, Approval::NotNeeded),
        ("file_write", Access::Write, Effect::Idempotent, Approval::Needed),
    ] {
        let schema = json!({ "type": "object" });
        let spec = ToolSpec { access, effect, approval, ..ToolSpec::new(name, name, schema) };
        context.tools.add(Arc::new(Noting { spec, seen: seen.clone() }));
    }
    let approvals = Approvals::default();
    let mode = ModeSwitch::new(Mode::Edit);
    let person = Arc::new(Person { answers: Box::new(answers), asked: Mutex::default() });
    let tables = ShellRules::builtin().unwrap();
    let table = Mode::ALL.into_iter().fold(ModeTable::builtin(), |table, mode| {
        let tools = "shell".parse().unwrap();
        table.except(mica_policy::mode::Exception { mode, tools, cell: mica_policy::mode::Cell::Allow })
    });
    let hooks: Vec<Arc<dyn Hooks>> = vec![
        Arc::new(ModeGate::new(mode.clone(), table, None)),
        Arc::new(
            ShellGate::new("shell", "command", place(), tables, mode.clone()).sharing(approvals.clone()),
        ),
        Arc::new(FileGate::new(place(), approvals.clone()).tool("file_write", "path")),
        Arc::new(RuleGate::new(rules)),
        person.clone(),
    ];
    let agent = Agent::new(context, hooks);
    let notices = Arc::new(Notices::default());
    agent.listen(notices.clone());
    Desk { agent, person, approvals, mode, seen, notices }
}

impl Desk {
    async fn runs(&self) -> Outcome {
        self.agent.prompt("Go.").await.unwrap()
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.person.asked.lock().unwrap())
    }

    fn ran(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    fn remembered(&self) -> Vec<String> {
        let list = self.approvals.list();
        list.iter().map(|approval| format!("{} {}", approval.scope, approval.text)).collect()
    }
}

fn calls(tool: &str, argument: &str, values: &[&str]) -> Turn {
    values.iter().enumerate().fold(Turn::new(), |turn, (index, value)| {
        let call = Call::new(tool, json!({ argument: value })).with_id(format!("c{index}"));
        turn.step(Step::Call(call))
    })
}

fn commands(commands: &[&str]) -> Vec<Turn> {
    vec![calls("shell", "command", commands), Turn::new().text("Done.")]
}

fn writes(paths: &[&str]) -> Vec<Turn> {
    vec![calls("file_write", "path", paths), Turn::new().text("Done.")]
}

/// Picks the proposal of a scope where there is one, else says yes for once.
fn picking(scope: Scope) -> impl Fn(&Ask) -> Decision + Send + Sync {
    move |ask| match ask.proposals.iter().find(|proposal| proposal.scope == scope) {
        Some(proposal) => Decision::AllowAndRemember { remember: proposal.clone() },
        None => Decision::Allow,
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_of_three_covers_the_second() {
    let batch = ["mvn test", "cd sub && mvn test -q | tail -5", "git push"];
    let desk = desk(commands(&batch), |ask| {
        if ask.arguments["command"] == "mvn test" { picking(Scope::Session)(ask) } else { Decision::Allow }
    });
    assert!(matches!(desk.runs().await, Outcome::Completed));
    assert_eq!(desk.asked(), ["mvn test", "git push"]);
    assert_eq!(desk.ran(), batch);
    assert_eq!(desk.remembered(), ["session commands that begin with: mvn test"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_remembered_covers_nothing_dangerous() {
    let mut turns = commands(&["git push origin main", "npm run build"]);
    let later = [
        "git push --force",
        "git push; rm x",
        "npm run build > out.txt",
        "npm run build; $X",
        "PATH=. npm run build",
        "bash -c 'git push'",
        "npm run deploy",
    ];
    turns.extend(commands(&later));
    turns.extend(commands(&["sudo git push", "git push > /etc/passwd"]));
    let desk = desk(turns, picking(Scope::Project));
    desk.runs().await;
    assert_eq!(desk.asked(), ["git push origin main", "npm run build"]);
    desk.ran();
    desk.runs().await;
    assert_eq!(desk.asked(), later, "each of them is asked about");
    desk.ran();
    desk.runs().await;
    assert_eq!((desk.asked(), desk.ran()), (Vec::new(), Vec::new()), "the floor stays");
}

#[tokio::test(start_paused = true)]
async fn interpreters_opaque_and_destructive_commands_are_never_proposed() {
    let never = [
        "python3 x.py",
        "python3 -c 'print(1)'",
        "node build.js",
        "bash build.sh",
        "bash -c 'mvn test'",
        "./build.sh",
        "eval \"$X\"",
        "$X test",
        "mvn $X",
        "rm -r src",
        "git reset --hard",
        "git push --force",
        "mv a b",
        "frobnicate now",
        "mvn test && npm test",
    ];
    let desk = desk(commands(&never), |ask| {
        assert_eq!(ask.proposals, [], "{}", ask.arguments);
        Decision::Allow
    });
    desk.runs().await;
    assert_eq!(desk.asked(), never);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_proposed_is_not_remembered() {
    // An answer that names what the question does not have, and a list that somebody wrote by hand.
    let made_up = |_: &Ask| Decision::AllowAndRemember {
        remember: Proposal::new(Scope::Project, "shell: rm", "commands that begin with: rm"),
    };
    let desk = desk(commands(&["rm -r src", "python3 x.py", "rm -r lib"]), made_up);
    for prefix in ["rm", "python3", "bash", "git"] {
        let prefix = prefix.parse().unwrap();
        desk.approvals.remember(Remembered { prefix, scope: Scope::Project }.proposal());
    }
    desk.runs().await;
    assert_eq!(desk.asked(), ["rm -r src", "python3 x.py", "rm -r lib"]);
    assert_eq!(
        *desk.notices.0.lock().unwrap(),
        vec![
            "could not be remembered: shell: rm (it is not proposed any more; the call is allowed this once)";
            3
        ]
    );
    // A question that was tampered with is not believed either.
    let gate = ShellGate::new("shell", "command", place(), ShellRules::builtin().unwrap(), desk.mode.clone());
    let arguments = json!({ "command": "rm -r src" });
    let call = mica_ai::message::ToolCall {
        id: "c".into(),
        name: "shell".to_owned(),
        arguments: mica_ai::arguments::Arguments::from_value(&arguments),
    };
    let rm = Remembered { prefix: "rm".parse().unwrap(), scope: Scope::Project }.proposal();
    let ask = Ask::new(call, arguments, String::new(), None).proposing(vec![rm.clone()]);
    assert_eq!(
        Hooks::remember(&gate, &ask, &rm).await,
        Err("the rules do not propose it for the command \"rm -r src\"".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn modes_stay_what_they_are() {
    let mut turns = Vec::new();
    for _ in 0..4 {
        turns.extend(commands(&["mvn test"]));
        turns.extend(writes(&["src/a.rs"]));
    }
    let desk = desk(turns, picking(Scope::Session));
    desk.runs().await;
    desk.runs().await;
    assert_eq!(desk.asked(), ["mvn test", "src/a.rs"]);
    assert_eq!(desk.ran(), ["mvn test", "src/a.rs"]);
    for mode in [Mode::Plan, Mode::Ask] {
        desk.mode.set(mode);
        desk.runs().await;
        desk.runs().await;
        assert_eq!((desk.asked(), desk.ran()), (Vec::new(), Vec::new()), "{mode} mode looks only");
    }
    desk.mode.set(Mode::Edit);
    desk.runs().await;
    desk.runs().await;
    assert_eq!((desk.asked(), desk.ran().len()), (Vec::new(), 2), "and it is remembered in edit mode");
}

#[tokio::test(start_paused = true)]
async fn all_changes_to_files_but_for_those_that_matter_more() {
    let ordinary = ["src/a.rs", "/project/b.txt", "docs/x/../y.md"];
    let special = [
        "AGENTS.md",
        ".github/workflows/ci.yml",
        ".git/config",
        ".mica/config.toml",
        ".env",
        "../x",
        "/etc/x",
    ];
    let mut turns = writes(&ordinary);
    turns.extend(writes(&special));
    turns.extend(writes(&special));
    let desk = desk(turns, picking(Scope::Session));
    desk.runs().await;
    assert_eq!(desk.asked(), ["src/a.rs"]);
    assert_eq!(desk.ran(), ordinary);
    assert_eq!(desk.remembered(), ["session all changes to files in this project"]);
    for _ in 0..2 {
        desk.runs().await;
        assert_eq!(desk.asked(), special, "asked about every time, and nothing is proposed");
    }
}

#[tokio::test(start_paused = true)]
async fn changes_to_files_are_remembered_for_a_session_only() {
    let desk = desk(writes(&["src/a.rs"]), |ask| {
        assert_eq!(ask.proposals, [FileGate::proposal()]);
        Decision::Deny { reason: "no".to_owned() }
    });
    desk.approvals.remember(Proposal { scope: Scope::Project, ..FileGate::proposal() });
    desk.runs().await;
    assert_eq!((desk.asked().len(), desk.ran().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn rules_that_ask_go_on_asking_and_rules_that_allow_are_not_asked() {
    let rules = || RuleSet::new(Subjects::new().below("/project").path("file_write", "path"));
    let asks = rules().and(Action::Ask, "file_write(src/**)").unwrap();
    let desk = with_rules(writes(&["a.txt", "src/a.rs", "b.txt"]), asks, |ask| {
        let proposed = usize::from(ask.arguments["path"] == "a.txt");
        assert_eq!(ask.proposals.len(), proposed, "what would not be heard is not proposed");
        picking(Scope::Session)(ask)
    });
    desk.runs().await;
    assert_eq!(desk.asked(), ["a.txt", "src/a.rs"]);
    let allows = rules().and(Action::Allow, "file_write").unwrap();
    let desk = with_rules(writes(&["a.txt"]), allows, |_| panic!("nothing is asked"));
    desk.runs().await;
    assert_eq!(desk.ran(), ["a.txt"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_is_asked_again() {
    let mut turns = commands(&["mvn test"]);
    turns.extend(commands(&["mvn test"]));
    turns.extend(commands(&["mvn test"]));
    let desk = desk(turns, picking(Scope::Project));
    desk.runs().await;
    desk.runs().await;
    assert_eq!(desk.asked().len(), 1);
    let approval = desk.approvals.list().remove(0);
    assert!(desk.approvals.forget(&approval) && !desk.approvals.forget(&approval));
    desk.runs().await;
    assert_eq!(desk.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waited_remembers_by_the_rules_of_today() {
    // Nobody was there; the question is kept, and answered in another process with other rules.
    let turns = commands(&["mvn test", "mvn test -q"]);
    let nobody = desk(turns.clone(), |_| panic!("nobody is asked"));
    let hooks: Vec<Arc<dyn Hooks>> = vec![Arc::new(ShellGate::new(
        "shell",
        "command",
        place(),
        ShellRules::builtin().unwrap(),
        nobody.mode.clone(),
    ))];
    let model = ScriptedModel::new(turns.into_iter().fold(Scenario::new(), Scenario::turn));
    let mut context = Context::new(Arc::new(model), Arc::new(Model::assumed("scripted", Dialect::Responses)));
    nobody.agent.with(|cx| context.tools = cx.tools.clone()).await.unwrap();
    let agent = Agent::new(context, hooks);
    let notices = Arc::new(Notices::default());
    agent.listen(notices.clone());
    let Outcome::Suspended { asks } = agent.prompt("Go.").await.unwrap() else { panic!("not suspended") };
    let kept: Vec<Ask> = serde_json::from_str(&serde_json::to_string(&asks).unwrap()).unwrap();
    let project = kept[0].proposals.iter().find(|proposal| proposal.scope == Scope::Project).unwrap();
    let yes = Decision::AllowAndRemember { remember: project.clone() };
    let outcome = agent.resume(Decisions::to(&kept[..1], [yes])).await.unwrap();
    assert!(matches!(outcome, Outcome::Completed));
    assert_eq!(nobody.ran(), ["mvn test", "mvn test -q"], "the second is covered by the first");
    assert_eq!(*notices.0.lock().unwrap(), Vec::<String>::new());
}
