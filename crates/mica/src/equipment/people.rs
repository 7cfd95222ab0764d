//! What the agent and a person do together: a list of what is to be done, questions, and planning before building.
//!
//! All of it is always among the tools, so that the cached prompt stays what it is; where something makes no sense, it
//! answers with the reason.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use mica_context::section::{Rendered, ToolNames};
use mica_domain::{Capability, Page};
use mica_ext::memory::Asking;
use mica_policy::mode::{Cell, Exception, Mode, PlanFolder};
use mica_policy::rules::BadRule;
use mica_session::entry::Body;
use mica_session::{Durability, Kind};
use mica_tools::todo_write::{self, Notebook};
use mica_tools::{
    AskUserQuestion, Modes, Nobody, Person, PlanGate, Planning, Plans, Todo, TodoWrite, Todos, Workspace,
    plan,
};

use super::Part;
use mica_domain::keeping::Keeper;

/// Whose entry it is that has the list of what is to be done.
const TODOS: &str = "mica.todos";

/// What the agent and a person do together.
pub struct People {
    /// What is to be done.
    pub todos: Todos,
    planning: Planning,
    person: Arc<dyn Person>,
    is_watched: bool,
    folder: Option<PlanFolder>,
}

impl People {
    /// For a session, with somebody who can be asked or nobody. `plans` is where plans go; the workspace may write it.
    ///
    /// # Errors
    /// A folder for plans that cannot be one.
    #[allow(clippy::disallowed_methods, reason = "the binary knows what day it is")]
    pub fn new(
        modes: Arc<dyn Modes>,
        keeper: Option<&Keeper>,
        person: Option<Arc<dyn Person>>,
        workspace: &Workspace,
        plans: Option<&Path>,
    ) -> Result<Self> {
        let mut todos = Todos::default();
        if let Some(keeper) = keeper {
            todos = todos.keeping(Arc::new(InSession(keeper.clone())));
            todos.restore(self::todos(keeper));
        }
        let today = || jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
        let plans = plans.map(|folder| Plans::new(workspace, folder, today)).transpose()?;
        let folder = plans.as_ref().map(|plans| {
            let workspace = workspace.clone();
            PlanFolder::new(plans.folder(), move |path| {
                workspace.resolve(path).ok().map(|place| place.path())
            })
            .writer(mica_tools::file_write::NAME, "path")
            .writer(mica_tools::file_edit::NAME, "path")
        });
        let planning = Planning::new(modes, plans);
        let is_watched = person.is_some();
        let person = person.unwrap_or_else(|| Arc::new(Nobody));
        Ok(Self { todos, planning, person, is_watched, folder })
    }

    /// Who can be asked.
    pub fn person(&self) -> Arc<dyn Person> {
        Arc::clone(&self.person)
    }

    /// The tools, and who has a say about them.
    pub(super) fn part(&self) -> Part {
        let list = TodoWrite::new(&self.todos);
        let ask = AskUserQuestion::new(Arc::clone(&self.person));
        let keeps = Capability::new(Page::Global, "keeps a list of what is to be done", vec![Arc::new(list)]);
        let asks = Capability::new(Page::Global, "asks the person", vec![Arc::new(ask)]);
        let plans = Capability::new(Page::Global, "plans before it builds", self.planning.tools());
        let gate = PlanGate::new(self.planning.clone());
        Part { capabilities: vec![keeps, asks, plans], hooks: vec![Arc::new(gate)], ..Part::default() }
    }

    /// What the modes do with these tools: none of them touches the project, and planning judges for itself.
    ///
    /// # Errors
    /// Never: the names are names.
    pub fn exceptions() -> Result<Vec<Exception>, BadRule> {
        let mut exceptions = Vec::new();
        for tool in [todo_write::NAME, plan::ENTER, plan::EXIT] {
            for mode in [Mode::Ask, Mode::Plan] {
                exceptions.push(Exception { mode, tools: tool.parse()?, cell: Cell::Allow });
            }
        }
        Ok(exceptions)
    }

    /// Whether somebody can be asked about what is remembered.
    pub fn asking(&self) -> Asking {
        if self.is_watched { Asking::Person } else { Asking::Nobody }
    }

    /// The one place that plan mode may write to.
    pub fn plan_folder(&self) -> Option<PlanFolder> {
        self.folder.clone()
    }

    /// What changes while a session lives, for the model.
    pub fn sections(&self, tools: &ToolNames) -> Vec<Rendered> {
        let todos = self.todos.section().filter(|_| tools.has(todo_write::NAME));
        vec![
            Rendered::turn("mode", Some(self.planning.section(tools.has(plan::EXIT)))),
            Rendered::turn("todos", todos),
        ]
    }

    /// The list, for a person.
    pub fn list(&self) -> String {
        match self.todos.get().as_slice() {
            [] => "there is no list of what is to be done".to_owned(),
            todos => crate::render::todos::list(todos),
        }
    }
}

/// The list of what is to be done, as it stands on the current branch.
pub fn todos(keeper: &Keeper) -> Vec<Todo> {
    let found = keeper.newest(Kind::Custom, |body| match body {
        Body::Custom { custom, value } if custom == TODOS => serde_json::from_value(value).ok(),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Keeps the list in a session.
struct InSession(Keeper);

#[async_trait]
impl Notebook for InSession {
    async fn keep(&self, todos: &[Todo]) -> Result<(), String> {
        let value = serde_json::to_value(todos).map_err(|error| error.to_string())?;
        // The mark of the turn that follows is waited for, and makes this safe with it.
        self.0.append(Body::Custom { custom: TODOS.to_owned(), value }, Durability::Lazy).await
    }
}
