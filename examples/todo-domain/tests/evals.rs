//! The list as a product of evals: the cases in `evals` are played in it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mica_domain::Domain;
use mica_eval::copilot::{CopilotStage, Here, World};
use mica_eval::finding::find;
use mica_eval::{Opening, Product, Report, Runner, Stage, StageError, Status};
use serde_json::{Value, json};
use todo_domain::{Item, Todos};

/// The product.
struct Todo;

/// A list, which outlives the process that shows it.
struct Shared(Todos);

#[async_trait]
impl Product for Todo {
    fn name(&self) -> &str {
        "todo"
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Stage>, StageError> {
        let todos = Todos { team: "Blue".to_owned(), ..Todos::default() };
        for (name, value) in &opening.setup {
            let ("items", Value::Array(titles)) = (name.as_str(), value) else {
                return Err(StageError::unknown("thing in a setup", name, ["items"]));
            };
            for title in titles.iter().filter_map(Value::as_str) {
                let id = format!("todo-{}", todos.items().len() + 1);
                todos.items().push(Item { id, title: title.to_owned(), made_by: String::new() });
            }
        }
        Ok(Box::new(CopilotStage::open(&opening, Shared(todos)).await?))
    }
}

#[async_trait]
impl World for Shared {
    async fn domain(&mut self) -> Result<Arc<dyn Domain>, StageError> {
        Ok(Arc::new(self.0.clone()))
    }

    async fn look(&mut self, _: &Here, what: &str) -> Result<Value, StageError> {
        match what {
            "items" => Ok(json!(*self.0.items())),
            _ => Err(StageError::unknown("thing to look at", what, ["items"])),
        }
    }
}

async fn played(paths: &[PathBuf]) -> Report {
    told(paths, None).await
}

/// Plays cases, and writes what they tell into a folder.
async fn told(paths: &[PathBuf], journals: Option<PathBuf>) -> Report {
    let scratch = tempfile::tempdir().unwrap();
    let runner = Runner { journals, ..Runner::new(vec![Arc::new(Todo)], scratch.path()) };
    Arc::new(runner).play(&find(paths).unwrap(), |_| {}).await
}

fn evals() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("evals")
}

#[tokio::test]
async fn all_cases_pass() {
    let report = played(&[evals()]).await;
    assert_eq!(report.cases.len(), 5);
    assert!(report.is_fine(), "{}", report.text());
}

#[tokio::test]
async fn a_case_can_fail() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(evals().join("add_and_remove.toml")).unwrap();
    for (name, of, with) in [
        ("approved", "answer = [{ approve = true }]", "answer = [{ deny = \"No.\" }]"),
        ("asked", "tool = \"todo_remove\"", "tool = \"todo_add\""),
        ("page", "page = \"list\"", ""),
    ] {
        assert!(text.contains(of), "{name}");
        let path = folder.path().join(format!("{name}.toml"));
        std::fs::write(&path, text.replace(of, with)).unwrap();
        let report = played(&[path]).await;
        assert_ne!(report.cases[0].status, Status::Passed, "{name}");
    }
}

#[tokio::test]
async fn every_case_tells_the_same_bytes_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for name in ["one", "two"] {
        let report = told(&[evals()], Some(folder.path().join(name))).await;
        let read = |name: &str, case: &str| {
            std::fs::read_to_string(folder.path().join(name).join(format!("{case}.jsonl"))).unwrap()
        };
        all.push(report.cases.iter().map(|case| read(name, &case.name)).collect::<Vec<String>>());
    }
    assert_eq!(all[0].len(), 5);
    assert!(all[0].iter().all(|journal| journal.contains("run_end")));
    assert_eq!(all[0], all[1]);
}

/// What happens to those who write a case for the first time: each mistake is said in words that mend it.
#[tokio::test]
async fn mistakes_are_said_in_words_that_mend_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(evals().join("stood_in.toml")).unwrap();
    let mistakes = [
        (
            "setup.items",
            "setup.item",
            "there is no thing in a setup \"item\"; did you mean \"items\"? (there are: items)",
        ),
        ("outputs = [", "output = [", "`mock[0].output`: this is a list; a text is expected"),
        (
            "tool = \"todo_list\"\n",
            "tool = \"todos_list\"\n",
            "mock 1: there is no tool \"todos_list\"; did you mean \"todo_list\"?",
        ),
        ("says = \"It", "say = \"It", "unknown key `say`; did you mean `says`?"),
        (
            "times = 2",
            "times = \"twice\"",
            "`step[0].expect.called[0].times`: this is the text \"twice\"; a whole number from 0 on is expected",
        ),
        ("[after.items]", "[after.itmes]", "there is no thing to look at \"itmes\"; did you mean \"items\"?"),
        (
            "same = true",
            "same = \"yes\"",
            "`after.items.same`: this is the text \"yes\"; true or false is expected",
        ),
        ("[[step]]", "[step]", "`step`: this is a table; a list is expected"),
        ("page = \"list\"", "page = 7", "`step[0].page`: this is 7; a text is expected"),
        ("clock = 2026-03-02T09:00:00Z", "clock = 2026-03-02", "`clock`: \"2026-03-02\" is no point in time"),
    ];
    for (index, (of, with, said)) in mistakes.iter().enumerate() {
        assert!(text.contains(of), "{of}");
        let path = folder.path().join(format!("{index}.toml"));
        std::fs::write(&path, text.replacen(of, with, 1)).unwrap();
        let found = match find(std::slice::from_ref(&path)) {
            Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            Ok(_) => played(&[path]).await.cases[0].problem.clone().unwrap_or_default(),
        };
        assert!(found.contains(said), "{with}: {found}");
    }
}
