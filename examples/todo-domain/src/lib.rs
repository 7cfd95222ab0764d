//! A list of things to do, as a domain. `docs/domain-guide.md` builds it step by step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mica_agent::tool::{Access, Approval, Effect};
use mica_agent::{Tool, ToolError, ToolOutput, TypedTool};
use mica_domain::cards::{Kind, Kinds, Probe, Thing};
use mica_domain::{
    Act, Capability, Domain, Minted, Org, OrgView, Page, RefKinds, Section, Static, Turn, TurnView,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// Names it.
    pub id: String,
    /// What is to be done.
    pub title: String,
    /// The key of the call that made it, so that it is made once.
    #[serde(skip)]
    pub made_by: String,
}

/// The product: a list that a team shares.
#[derive(Clone, Default)]
pub struct Todos {
    /// Who shares it.
    pub team: String,
    /// What is on it.
    pub items: Arc<Mutex<Vec<Item>>>,
}

impl Todos {
    /// What is on the list.
    pub fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// What is to be done.
    title: String,
}

#[derive(Deserialize, JsonSchema)]
struct Which {
    /// The id of the item.
    item: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Todos {
    fn list(&self) -> Arc<dyn Tool> {
        let here = self.clone();
        Arc::new(TypedTool::new("todo_list", "Lists what is to be done, with ids.", move |_: Nothing, _| {
            let items = here.items().clone();
            let line = |item: &Item| format!("{} {}", item.id, item.title);
            let text = items.iter().map(line).collect::<Vec<_>>().join("\n");
            async move { Ok(ToolOutput::text(text).with_details(json!({ "items": items }))) }
        }))
    }

    fn add(&self) -> Arc<dyn Tool> {
        let here = self.clone();
        let tool = TypedTool::new("todo_add", "Puts something on the list.", move |args: Add, cx| {
            let mut items = here.items();
            let id = format!("todo-{}", items.len() + 1);
            let known = items.iter().find(|item| item.made_by == cx.effect_key).cloned();
            let item = known.unwrap_or_else(|| {
                let item = Item { id, title: args.title, made_by: cx.effect_key };
                items.push(item.clone());
                item
            });
            let output = ToolOutput::text(format!("{} is on the list", item.id)).with_details(json!(item));
            async move { Ok(output) }
        });
        Arc::new(tool.with(|spec| (spec.access, spec.effect) = (Access::Write, Effect::Keyed)))
    }

    fn remove(&self) -> Arc<dyn Tool> {
        let here = self.clone();
        let tool = TypedTool::new("todo_remove", "Takes an item off the list.", move |args: Which, _| {
            let mut items = here.items();
            let before = items.len();
            items.retain(|item| item.id != args.item);
            let gone = if items.len() < before {
                Ok(ToolOutput::text(format!("{} is gone", args.item)))
            } else {
                Err(ToolError::new(format!("There is no item {}. Look with todo_list.", args.item)))
            };
            async move { gone }
        });
        Arc::new(tool.with(|spec| {
            (spec.access, spec.effect, spec.approval) = (Access::Write, Effect::Idempotent, Approval::Needed);
        }))
    }
}

const REMOVING: &str = "Ask nothing before todo_remove: the user is asked anyway.";

impl Domain for Todos {
    fn name(&self) -> &str {
        "todo"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let remove = Act::of("todo_remove")
            .needing("todo.remove")
            .digesting(|args| format!("Remove {}", json!(args)["item"]))
            .minting(|args, _| Minted { text: "It would be gone.".to_owned(), details: json!(args) });
        vec![
            Capability::new(Page::Global, "lists what is to be done", vec![self.list()]),
            Capability::new(Page::named("list"), "changes the list", vec![self.add(), self.remove()])
                .with_prompt(|tools| tools.when("todo_remove", REMOVING).map(str::to_owned))
                .filling_from("todo_remove", "item", "item")
                .acting(remove),
        ]
    }

    fn statics(&self) -> Vec<Section<Static>> {
        vec![Section::<Static>::fixed("identity", "You keep a list of things to do. Be brief.")]
    }

    fn org(&self, _: &OrgView<'_>) -> Vec<Section<Org>> {
        vec![Section::<Org>::new("team", format!("The list belongs to {}.", self.team))]
    }

    fn turn(&self, _: &TurnView<'_>) -> Vec<Section<Turn>> {
        vec![Section::<Turn>::new("count", format!("{} items are on the list.", self.items().len()))]
    }

    fn ref_kinds(&self) -> RefKinds {
        RefKinds::default().one("item")
    }

    fn cards(&self) -> Kinds {
        Kinds::default()
            .thing(Thing::new("item", "title").from_tool("todo_list"))
            .card(Kind::many("item-list", "item", "Several items of the list."))
            .probe(Probe::new("item", "id").with("title").keeping("title"))
    }
}
