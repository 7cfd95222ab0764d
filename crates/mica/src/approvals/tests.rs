//! Approvals that are there again: after a restart, in another session, for another process; and not in a fork.

#![allow(clippy::disallowed_methods, reason = "tests have a clock and write files")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use mica_agent::{
    Agent, Args, Decision, Event, EventKind, Listener, Outcome, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
};
use mica_ai::{Dialect, Message, Model};
use mica_policy::shell::{Place, Remembered, ShellGate, ShellRules, Unseen};
use mica_policy::{Mode, ModeSwitch};
use mica_session::{Access, Sessions};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use serde_json::json;

use super::*;
use crate::surroundings::Surroundings;

/// A tool of the name that runs commands. It runs none.
struct Shell(ToolSpec);

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("done"))
    }
}

/// A person who picks by scope, and counts how often they were asked.
struct Person {
    picks: Option<Scope>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Hooks for Person {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let decide = |ask: &Ask| {
            self.asked.lock().unwrap().push(ask.arguments["command"].as_str().unwrap().to_owned());
            let fits = |proposal: &&Proposal| Some(proposal.scope) == self.picks;
            ask.proposals
                .iter()
                .find(fits)
                .map_or(Decision::Allow, |proposal| Decision::AllowAndRemember { remember: proposal.clone() })
        };
        Some(asks.iter().map(decide).collect())
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

/// A home and a project.
struct House {
    folder: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, project: &str) -> ProjectFile {
        ProjectFile::of(&Surroundings {
            variables: BTreeMap::new(),
            folder: Path::new("/projects").join(project),
            config: self.folder.path().join("config"),
            data: self.folder.path().join("data"),
            stdin_is_terminal: false,
            columns: 80,
        })
    }

    fn sessions(&self) -> Sessions {
        Sessions::new(self.folder.path().join("data/sessions"), jiff::Timestamp::now)
    }

    fn keeper(&self) -> Keeper {
        let mut session = self.sessions().create(Path::new("/projects/one"), None).unwrap();
        let said = Message::from(mica_ai::User::text("hello"));
        session.append(said, mica_session::Durability::Now).unwrap();
        Keeper::new(session)
    }

    fn reopened(&self, keeper: Keeper) -> Keeper {
        let path = keeper.session().path().to_owned();
        drop(keeper);
        Keeper::new(self.sessions().open(&path, Access::Write).unwrap())
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("config/shell-approvals.json")).unwrap()
    }
}

/// Runs commands one after the other, as a process of its own would. Answers what was asked, and what was told.
async fn process(
    house: &House,
    project: &str,
    keeper: Option<&Keeper>,
    picks: Option<Scope>,
    commands: &[&str],
) -> (Vec<String>, Vec<String>) {
    let mut notices = Vec::new();
    let kept = KeptApprovals::open(keeper, house.file(project), &mut notices);
    let turns = commands.iter().map(|command| Turn::new().call("shell", json!({ "command": command })));
    let scenario = turns.fold(Scenario::new(), Scenario::turn).turn(Turn::new().text("Done."));
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
    let spec = ToolSpec::new("shell", "Runs a command.", json!({ "type": "object" }));
    context.tools.add(Arc::new(Shell(spec)));
    let root = format!("/projects/{project}");
    let place = Place { cwd: root.clone(), root, temp: Vec::new(), home: None, disk: Arc::new(Unseen) };
    let rules = ShellRules::builtin().unwrap();
    let gate = ShellGate::new("shell", "command", place, rules, ModeSwitch::new(Mode::Edit));
    let person = Arc::new(Person { picks, asked: Mutex::default() });
    let hooks: Vec<Arc<dyn Hooks>> =
        vec![Arc::new(gate.sharing(kept.approvals().clone())), Arc::new(kept), person.clone()];
    let agent = Agent::new(context, hooks);
    let heard = Arc::new(Notices::default());
    agent.listen(heard.clone());
    assert!(matches!(agent.prompt("Go.").await.unwrap(), Outcome::Completed));
    notices.extend(heard.0.lock().unwrap().drain(..));
    let asked = person.asked.lock().unwrap().clone();
    (asked, notices)
}

fn command(prefix: &str, scope: Scope) -> Proposal {
    Remembered { prefix: prefix.parse().unwrap(), scope }.proposal()
}

#[tokio::test]
async fn what_is_remembered_for_a_project_counts_in_later_sessions_of_it() {
    let house = House::new();
    let project = Some(Scope::Project);
    let (asked, notices) = process(&house, "one", None, project, &["mvn test", "mvn test -q"]).await;
    assert_eq!((asked, notices), (vec!["mvn test".to_owned()], vec![]));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&house.text()).unwrap(),
        json!({ "/projects/one": [{ "prefix": ["mvn", "test"], "scope": "project" }] })
    );
    let (asked, _) = process(&house, "one", Some(&house.keeper()), None, &["mvn test", "git push"]).await;
    assert_eq!(asked, ["git push"]);
    let (asked, _) = process(&house, "two", None, None, &["mvn test"]).await;
    assert_eq!(asked, ["mvn test"], "another project knows nothing of it");
}

#[tokio::test]
async fn what_is_remembered_for_a_session_is_there_when_it_goes_on_and_nowhere_else() {
    let house = House::new();
    let keeper = house.keeper();
    let (asked, _) =
        process(&house, "one", Some(&keeper), Some(Scope::Session), &["mvn test", "mvn test"]).await;
    assert_eq!(asked, ["mvn test"]);
    let keeper = house.reopened(keeper);
    let (asked, _) = process(&house, "one", Some(&keeper), None, &["mvn test"]).await;
    assert_eq!(asked, Vec::<String>::new());
    let (asked, _) = process(&house, "one", Some(&house.keeper()), None, &["mvn test"]).await;
    assert_eq!(asked, ["mvn test"], "another session");
    // On another branch of the same session it counts; in a fork, which has a copy of the entry, it does not.
    let leaf = keeper.session().tree().leaf().unwrap();
    let fork = Keeper::new(house.sessions().fork(&keeper.session(), leaf).unwrap());
    assert_eq!(session::of(&fork.session()), []);
    keeper.change(|session| anyhow::Ok(session.navigate(None)?)).unwrap();
    assert_eq!(session::of(&keeper.session()), [command("mvn test", Scope::Session)]);
    // Taken back, it stays so.
    let kept = KeptApprovals::open(Some(&keeper), house.file("one"), &mut Vec::new());
    kept.forget(&command("mvn test", Scope::Session)).await.unwrap();
    let again = kept.forget(&command("mvn test", Scope::Session)).await.unwrap_err();
    assert_eq!(again.to_string(), "commands that begin with: mvn test is not remembered");
    drop(kept);
    let keeper = house.reopened(keeper);
    assert_eq!(session::of(&keeper.session()), []);
}

#[tokio::test]
async fn without_a_session_it_counts_until_the_end() {
    let house = House::new();
    let (asked, notices) =
        process(&house, "one", None, Some(Scope::Session), &["mvn test", "mvn test", "git push"]).await;
    assert_eq!((asked, notices), (vec!["mvn test".to_owned(), "git push".to_owned()], vec![]));
    let (asked, _) = process(&house, "one", None, None, &["mvn test"]).await;
    assert_eq!(asked, ["mvn test"]);
}

#[tokio::test]
async fn a_damaged_file_gives_nothing_and_is_left_alone() {
    let house = House::new();
    let path = house.folder.path().join("config/shell-approvals.json");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let damaged = r#"{ "/projects/one": [{ "prefix": ["mvn", "test"], "scope": "project" "#;
    std::fs::write(&path, damaged).unwrap();
    let (asked, notices) =
        process(&house, "one", None, Some(Scope::Project), &["mvn test", "mvn test"]).await;
    assert_eq!(asked, ["mvn test"], "asked once, and then it counts until the end");
    let mend = format!("{} is damaged; mend or delete it", path.display());
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(
        notices[0].starts_with(&format!("approvals for this project do not count: {mend}: ")),
        "{notices:?}"
    );
    let told = "could not be remembered: commands that begin with: mvn test (it counts until mica ends, and is not kept";
    assert!(notices[1].starts_with(&format!("{told}: {mend}: ")), "{notices:?}");
    assert_eq!(house.text(), damaged);
}

#[tokio::test]
async fn what_another_process_changes_counts_from_the_next_turn_on() {
    let house = House::new();
    let kept = KeptApprovals::open(None, house.file("one"), &mut Vec::new());
    let host = Proposal::new(Scope::Project, "web: example.org", "pages of example.org");
    house.file("one").remember(&host).unwrap();
    house.file("one").remember(&command("mvn test", Scope::Project)).unwrap();
    house.file("one").remember(&host).unwrap();
    house.file("two").remember(&command("git push", Scope::Project)).unwrap();
    assert_eq!(kept.list(), []);
    kept.refresh();
    assert_eq!(kept.list(), [command("mvn test", Scope::Project), host.clone()]);
    kept.approvals().remember(command("npm test", Scope::Session));
    house.file("one").forget(&host).unwrap();
    kept.refresh();
    assert_eq!(
        kept.list(),
        [command("npm test", Scope::Session), command("mvn test", Scope::Project)],
        "and what is of the session stays"
    );
    std::fs::write(house.folder.path().join("config/shell-approvals.json"), "garbage").unwrap();
    kept.refresh();
    assert_eq!(kept.list(), [command("npm test", Scope::Session)]);
    assert!(!house.folder.path().join("config/shell-approvals.new").exists());
}

#[test]
fn many_who_remember_at_once_lose_nothing() {
    let house = House::new();
    std::thread::scope(|scope| {
        for index in 0..8 {
            let file = house.file("one");
            scope.spawn(move || {
                let key = format!("web: {index}");
                file.remember(&Proposal::new(Scope::Project, key, "")).unwrap();
            });
        }
    });
    let mut keys: Vec<String> =
        house.file("one").read().unwrap().into_iter().map(|approval| approval.key).collect();
    keys.sort();
    assert_eq!(keys, (0..8).map(|index| format!("web: {index}")).collect::<Vec<_>>());
}

#[test]
fn whatever_it_says_what_stands_in_the_file_is_for_the_project() {
    let house = House::new();
    std::fs::create_dir_all(house.folder.path().join("config")).unwrap();
    let text = r#"{ "/projects/one": [{ "scope": "session", "key": "file changes", "text": "" }] }"#;
    std::fs::write(house.folder.path().join("config/shell-approvals.json"), text).unwrap();
    assert_eq!(house.file("one").read().unwrap(), [Proposal::new(Scope::Project, "file changes", "")]);
}
