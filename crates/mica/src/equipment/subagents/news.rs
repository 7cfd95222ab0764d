//! Tells a run what happened beside it: that something in the background has ended, once, and what became of subagents
//! that were at work when the program ended.

use std::path::Path;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mica_agent::Hooks;
use mica_ai::message::ToolCall;
use mica_ai::{Message, User};
use mica_session::{Access, Kind, Sessions};
use mica_tools::subagent;
use mica_tools::{TaskInfo, TaskState, Tasks, WeakTasks};

use super::links::{self, Link};
use super::{Base, Crew, session_part};

/// Characters of what a subagent said that are told with its end. The rest is read as the output of its task.
const TOLD: usize = 8_000;

/// Tells a run what happened beside it.
pub struct News {
    /// It has the tool that has the hooks that have this.
    crew: Weak<Crew>,
    /// It is among the gates that subagents share, and one in the background must not keep the session's tasks going.
    tasks: WeakTasks,
    /// Whether it was looked what an earlier program left.
    looked: AtomicBool,
}

impl News {
    /// News of a crew, and of all tasks.
    pub fn new(crew: Weak<Crew>, tasks: WeakTasks) -> Self {
        Self { crew, tasks, looked: AtomicBool::new(false) }
    }

    fn with_base<T>(&self, look: impl FnOnce(&Base) -> Option<T>) -> Option<T> {
        look(self.crew.upgrade()?.base.get()?)
    }

    /// What is told of subagents that were in the background when an earlier program ended.
    fn left_behind(&self) -> Vec<String> {
        if self.looked.swap(true, Ordering::SeqCst) {
            return Vec::new();
        }
        let told = self.with_base(|base| {
            let keeper = base.keeper.as_ref()?;
            let mut told = Vec::new();
            for link in links::untold(keeper) {
                told.push(cut_off(base, &link));
                // When it cannot be kept, it is told again next time.
                let _ = links::told(keeper, &link.agent);
            }
            Some(told)
        });
        told.unwrap_or_default()
    }
}

#[async_trait]
impl Hooks for News {
    async fn steering(&self) -> Vec<Message> {
        let tasks = self.tasks.upgrade();
        let endings = tasks.as_ref().map(Tasks::take_endings).unwrap_or_default();
        let left_behind = self.left_behind().into_iter().map(|text| note(&text));
        let news = tasks.iter().flat_map(|tasks| endings.iter().filter_map(|task| ended(tasks, task)));
        let told: Vec<String> = left_behind.chain(news).collect();
        if !endings.is_empty() {
            // Those that are told now are not told when the session is opened again.
            self.with_base(|base| {
                let keeper = base.keeper.as_ref()?;
                for link in links::untold(keeper).iter().filter(|link| has_ended(base, link)) {
                    let _ = links::told(keeper, &link.agent);
                }
                Some(())
            });
        }
        told.into_iter().map(|text| User::text(text).into()).collect()
    }

    fn left(&self, call: &ToolCall) -> Option<String> {
        if call.name != subagent::NAME {
            return None;
        }
        self.with_base(|base| {
            let link = links::sent_by(base.keeper.as_ref()?, call)?;
            let (agent, kept) = (&link.agent, is_kept(base, &link));
            kept.then(|| {
                format!(
                    "No result: the program ended while the subagent {agent} was at work. What it said and did until then \
                     is kept, and files that it changed stay changed. To go on with it, call {} with resume \"{agent}\".",
                    subagent::NAME
                )
            })
        })
    }
}

/// What an ended task is told as. A command is told without its output, whose reader is `task_output`.
fn ended(tasks: &Tasks, task: &TaskInfo) -> Option<String> {
    let TaskState::Ended(ending) = &task.state else { return None };
    let (id, title) = (&task.id, &task.title);
    if !id.as_str().starts_with("agent-") {
        return Some(note(&format!("The task {id} ({title}) has ended: it {ending}.")));
    }
    let note = note(&format!("The subagent {id} ({title}) has ended: it {ending}."));
    let printed = tasks.peek(id.as_str()).unwrap_or_default();
    Some(format!("{note}\n\n{}", subagent::fenced(&tail(printed.trim()))))
}

fn note(text: &str) -> String {
    format!("[Note from the system, not from the user: {text}]")
}

/// What became of a subagent that an earlier program had in the background.
fn cut_off(base: &Base, link: &Link) -> String {
    let Link { agent, description, .. } = link;
    if !is_kept(base, link) {
        return format!(
            "The subagent {agent} ({description}) ended with the program, and is cleaned up by now."
        );
    }
    let how = if has_ended(base, link) { "has ended, and its end was not told" } else { "was cut off" };
    format!(
        "The subagent {agent} ({description}) {how} when the program ended. Its conversation is kept: call {} with resume \
         \"{agent}\" to have it tell what it found, or go on.",
        subagent::NAME
    )
}

fn is_kept(base: &Base, link: &Link) -> bool {
    let path = base.keeper.as_ref().map(|keeper| keeper.session().path().to_owned());
    path.is_some_and(|path| base.sessions.child(&path, session_part(&link.agent)).is_ok())
}

fn has_ended(base: &Base, link: &Link) -> bool {
    let parent = base.keeper.as_ref().map(|keeper| keeper.session().path().to_owned());
    parent.is_none_or(|parent| last_run_has_ended(&base.sessions, &parent, &link.agent))
}

/// Whether the last run of a subagent has an end. One that has no session has said nothing yet: it is about to begin.
fn last_run_has_ended(sessions: &Sessions, parent: &Path, agent: &str) -> bool {
    let Ok(path) = sessions.child(parent, session_part(agent)) else { return false };
    let Ok(session) = sessions.open(&path, Access::Read) else { return true };
    let last = session.tree().branch().into_iter().rev().map(|node| node.kind);
    last.into_iter().find(|kind| matches!(kind, Kind::RunStart | Kind::RunEnd)) == Some(Kind::RunEnd)
}

/// The end of a text: last words are last.
fn tail(text: &str) -> String {
    let left_out = text.chars().count().saturating_sub(TOLD);
    if left_out == 0 {
        return text.to_owned();
    }
    let shown: String = text.chars().skip(left_out).collect();
    format!("[{left_out} characters left out; task_output has them]\n{shown}")
}

#[cfg(test)]
mod tests;
