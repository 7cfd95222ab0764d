//! The list as a product of evals: the cases in `evals` are played in it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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
    let scratch = tempfile::tempdir().unwrap();
    let runner = Arc::new(Runner {
        products: vec![Arc::new(Todo)],
        live: None,
        play_live: false,
        record: false,
        jobs: 2,
        deadline: Duration::from_secs(30),
        scratch: scratch.path().to_owned(),
        journals: None,
    });
    runner.play(&find(paths).unwrap(), |_| {}).await
}

fn evals() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("evals")
}

#[tokio::test]
async fn all_cases_pass() {
    let report = played(&[evals()]).await;
    assert_eq!(report.cases.len(), 3);
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
