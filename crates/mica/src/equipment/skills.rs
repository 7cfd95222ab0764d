//! Skills and prompt templates of a session: those of the project that are trusted, those of the user, and those that come
//! along.
//!
//! Promise: they are found once, before anything is said, and stay what they are for the session. A skill that the user adds
//! meanwhile is told at the tail.

mod builtin;
pub mod listing;
pub mod parts;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::Tool;
use mica_context::section::{Rendered, ToolNames};
use mica_domain::{Capability, Page};
use mica_ext::concern::Failure;
use mica_ext::skills::find::{self, Root};
use mica_ext::skills::{Began, Chosen, Found, LoadSkill, News, Skill, Skills, UseSkill, Whose, load};
use mica_ext::templates::{self, Template};
use mica_ext::{Command, Factory, Origin, Registry};
use mica_tools::file_read;

use super::begun::Begun;
use super::{Fresh, Part};
use crate::config::Values;
use crate::interactive::slash;
use crate::makes;
use crate::surroundings::Surroundings;

/// The name of the section that tells what is new.
const NEWS: &str = "new-skills";

/// The name of the section that tells what is other than it was when a session began that goes on.
const CHANGES: &str = "changed-skills";

/// What they are for, in a line.
const LOADS: &str = "loads skills";

/// Commands that people can type, registered whenever extensions are loaded.
pub(super) struct Typable {
    name: &'static str,
    /// Those that were found at the start. Later ones are found anew.
    first: Mutex<Option<Vec<Arc<dyn Command>>>>,
    again: Again,
}

/// Finds commands anew.
type Again = Box<dyn Fn() -> Vec<Arc<dyn Command>> + Send + Sync>;

impl Typable {
    /// Commands under a name that lists and notices show.
    pub(super) fn new(name: &'static str, first: Vec<Arc<dyn Command>>, again: Again) -> Self {
        Self { name, first: Mutex::new(Some(first)), again }
    }
}

#[async_trait]
impl Factory for Typable {
    fn name(&self) -> &str {
        self.name
    }

    async fn register(&self, registry: &mut Registry) -> Result<(), Failure> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        registry.commands.extend(first.unwrap_or_else(|| (self.again)()));
        Ok(())
    }
}

/// What a session knows of skills and templates.
pub struct Knowhow {
    /// The skills.
    pub skills: Skills,
    /// Those that the prompt names.
    began: Began,
    /// Whether they are those of a process before this one.
    goes_on: bool,
    templates: Vec<Template>,
    roots: Vec<Root>,
    /// Files that look like skills and are not used.
    others: Vec<PathBuf>,
    values: Values,
    surroundings: Surroundings,
    /// Whether the pack of Micro Integrator projects is used here. It was looked up on the way.
    pub is_mi: bool,
}

/// Everything that was looked at, for whoever lists it.
pub struct Looked {
    /// What was found on the disk.
    pub found: Vec<mica_ext::skills::LeftOut>,
    /// What was chosen of it.
    pub chosen: Chosen,
    roots: Vec<Root>,
    is_mi: bool,
}

/// Looks for skills.
pub fn look(values: &Values, surroundings: &Surroundings) -> Looked {
    let settings = &values.skills;
    let is_mi = makes::profiles_of(values.pack.as_deref(), &surroundings.folder).is_some();
    let mut roots = roots(surroundings);
    if settings.disabled() {
        roots.clear();
    }
    let Found { mut skills, left_out } = find::find(&roots);
    if !settings.disabled() && settings.builtin.unwrap_or(true) {
        skills.extend(builtin::skills().filter(|skill| suits(skill, is_mi)));
    }
    skills.retain(|skill| !settings.disable.contains(&skill.name));
    let chosen = Skills::choose(skills, &mut |skill, _| {
        parts::of_skill(skill).is_ok_and(|part| part.is_trusted(surroundings))
    });
    Looked { found: left_out, chosen, roots, is_mi }
}

/// All folders that are looked into, those that count more first.
pub fn roots(surroundings: &Surroundings) -> Vec<Root> {
    let home = surroundings.variable("HOME").map(PathBuf::from);
    [find::of_project(&surroundings.folder), find::of_user(&surroundings.config, home.as_deref())].concat()
}

/// Whether one that comes along has something to say here.
fn suits(skill: &Skill, is_mi: bool) -> bool {
    is_mi || skill.metadata.get("pack").is_none_or(|pack| pack != pack_mi::MiPack::NAME)
}

impl Knowhow {
    /// Finds skills and templates, and says what a person should know of them.
    pub fn find(values: &Values, surroundings: &Surroundings, notices: &mut Vec<String>) -> Self {
        let Looked { found, chosen, roots, is_mi } = look(values, surroundings);
        for left in &found {
            notices.push(format!("the skill {} is not used: {}", left.path.display(), left.reason));
        }
        for (skill, by) in &chosen.hidden {
            // What comes along is meant to be replaced.
            if skill.whose != Whose::BuiltIn {
                notices.push(format!("the skill {} is not used: {by} has the same name", skill.place()));
            }
        }
        for (skill, reason) in &chosen.untrusted {
            if let Some(reason) = reason {
                notices.push(format!("the skill {} cannot be trusted: {reason}", skill.place()));
            }
        }
        let hidden = chosen.hidden.iter().filter_map(|(skill, _)| skill.file());
        let others = found.into_iter().map(|left| left.path).chain(hidden).collect();
        let skills = chosen.skills;
        let templates = templates(surroundings, notices);
        let (values, surroundings) = (values.clone(), surroundings.clone());
        let began = Began::of(&skills);
        Self { skills, began, goes_on: false, templates, roots, others, values, surroundings, is_mi }
    }

    /// For a session that goes on: its prompt says what it said, and what is other is told at the tail.
    #[must_use]
    pub fn going_on(mut self, begun: Option<&Begun>) -> Self {
        if let Some(begun) = begun {
            (self.began, self.goes_on) = (begun.skills.clone(), true);
        }
        self
    }

    /// What the prompt has of it.
    pub fn began(&self) -> &Began {
        &self.began
    }

    /// Folders outside the project that tools must be able to read.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.skills.folders(&self.roots)
    }

    /// What it brings.
    pub(super) fn part(&self) -> Part {
        let (values, surroundings) = (self.values.clone(), self.surroundings.clone());
        let again = move || Self::find(&values, &surroundings, &mut Vec::new()).commands();
        let commands = Typable::new("skills", self.commands(), Box::new(again));
        let mut part = Part { factories: vec![(Origin::Compiled, Arc::new(commands))], ..Part::default() };
        if let Some(tool) = LoadSkill::since(&self.skills, &self.began) {
            let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(tool)];
            part.capabilities.push(Capability::new(Page::Global, LOADS, tools));
            let (skills, began) = (self.skills.clone(), self.began.clone());
            part.anew = Some(Arc::new(move |_| {
                let tool = LoadSkill::since(&skills, &began).map(|tool| Arc::new(tool) as Arc<dyn Tool>);
                let tools: Vec<Arc<dyn Tool>> = tool.into_iter().collect();
                Fresh { capabilities: vec![Capability::new(Page::Global, LOADS, tools)], hooks: Vec::new() }
            }));
        }
        let mut news =
            News::new(&self.roots, &self.skills.of_session(&self.began), self.others.iter().cloned());
        if self.goes_on {
            news = news.going_on();
            let changed = self.began.changed(&self.skills);
            part.tail.push(Arc::new(move |_: &ToolNames| vec![Rendered::turn(CHANGES, changed.clone())]));
        }
        part.tail.push(Arc::new(move |tools: &ToolNames| {
            // They are read as files are, so without that there is nothing to tell.
            let text = if tools.has(file_read::NAME) { news.text() } else { None };
            vec![Rendered::turn(NEWS, text)]
        }));
        part
    }

    /// What people can type.
    fn commands(&self) -> Vec<Arc<dyn Command>> {
        let skills = UseSkill::all(&self.skills).map(|command| Arc::new(command) as Arc<dyn Command>);
        let prompts = self.templates.iter().map(|template| Arc::new(template.clone()) as Arc<dyn Command>);
        skills.chain(prompts).collect()
    }

    /// What the prompt says of skills, when they can be loaded.
    pub fn index(&self) -> Option<(&'static str, String)> {
        self.began.index.clone().map(|text| (load::NAME, text))
    }
}

/// The templates: those of the project that are trusted before those of the user.
fn templates(surroundings: &Surroundings, notices: &mut Vec<String>) -> Vec<Template> {
    let mut all = Vec::new();
    let mut left_out = Vec::new();
    for found in of_project(&surroundings.folder) {
        left_out.extend(found.left_out);
        let trusted = |template: &Template| parts::of_template(template).is_trusted(surroundings);
        all.extend(found.templates.into_iter().filter(trusted));
    }
    let user = templates::read(&surroundings.config.join("prompts"), Whose::User, None);
    all.extend(user.templates);
    left_out.extend(user.left_out);
    let is_taken = |name: &str| slash::is_taken(name) || name == super::memory::command::NAME;
    let chosen = templates::choose(all, &is_taken);
    left_out.extend(chosen.left_out);
    for left in left_out {
        notices.push(format!("the prompt {} is not used: {}", left.path.display(), left.reason));
    }
    chosen.templates
}

/// The templates of a project, trusted or not.
fn of_project(folder: &Path) -> impl Iterator<Item = templates::Found> {
    templates::OF_PROJECTS
        .iter()
        .map(move |name| templates::read(&folder.join(name), Whose::Project, Some(folder)))
}
