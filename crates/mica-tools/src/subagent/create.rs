//! `create_subagent`: sends an agent to do something, waits for it or not, and tells what it came to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{
    Access, Args, Effect, Listener, Outcome, RunError, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::report::Watch;
use super::{Place, Profile, Profiles, Report, Subagent, Subagents, Wanted, Who};
use crate::arguments::read;
use crate::tasks::{Ending, Feed, TaskKind, Tasks};

/// The name models call it by.
pub const NAME: &str = "create_subagent";

/// How many the run waits for at once. Each costs as much as a conversation; who needs more has not divided the work.
const AT_ONCE: usize = 8;

/// How long one that is told to stop may take to say how far it came: less than the engine gives the call that waits.
const PATIENCE: Duration = Duration::from_millis(1500);

/// A call takes as long as the work does, and people may be asked meanwhile. The limits of the run end it long before.
const DEADLINE: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateArgs {
    #[serde(default)]
    profile: Option<String>,
    description: String,
    prompt: String,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    resume: Option<String>,
}

/// Sends subagents.
pub struct CreateSubagent {
    subagents: Arc<dyn Subagents>,
    profiles: Profiles,
    tasks: Option<Tasks>,
    places: Arc<Semaphore>,
    /// Which task is which subagent: models mix the ids up, and both are plain.
    beside: Mutex<BTreeMap<String, String>>,
    spec: ToolSpec,
}

impl CreateSubagent {
    /// A tool for these profiles. Without a table of tasks, nothing works in the background.
    pub fn new(subagents: Arc<dyn Subagents>, profiles: Profiles, tasks: Option<Tasks>) -> Self {
        let beside = profiles.iter().any(|profile| profile.background) && tasks.is_some();
        let mut spec = ToolSpec::new(NAME, description(&profiles, beside), schema(&profiles, beside));
        spec.label = "Subagent".to_owned();
        spec.access = Access::Write;
        spec.effect = Effect::Unsafe;
        spec.deadline = DEADLINE;
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Self { subagents, profiles, tasks, places, beside: Mutex::default(), spec }
    }

    fn profile(&self, args: &CreateArgs) -> Result<Option<&Profile>, ToolError> {
        let Some(name) = &args.profile else { return Ok(None) };
        self.profiles.get(name).map(Some).ok_or_else(|| {
            let names = self.profiles.names().join(", ");
            ToolError::new(format!("There is no profile {name:?}; there are: {names}. Nothing was begun."))
        })
    }

    async fn made(&self, args: &CreateArgs, place: Place, cx: &ToolCx) -> Result<Subagent, ToolError> {
        let profile = self.profile(args)?;
        let resume = args.resume.as_ref().map(|id| self.of_task(id).unwrap_or_else(|| id.clone()));
        let who = match (&resume, profile) {
            (Some(id), profile) => Who::Again { id, profile: profile.map(|profile| profile.name.as_str()) },
            (None, Some(profile)) => Who::Fresh(profile),
            (None, None) => {
                let names = self.profiles.names().join(", ");
                let text = format!("Say which profile: {names}. Nothing was begun.");
                return Err(ToolError::new(text));
            }
        };
        let description = &args.description;
        self.subagents.make(Wanted { who, description, place, run: &cx.run, call: &cx.call }).await
    }

    /// The subagent that is a task.
    fn of_task(&self, task: &str) -> Option<String> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner).get(task).cloned()
    }

    /// Sends it and waits.
    async fn waited_for(&self, args: CreateArgs, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let Ok(_place) = self.places.try_acquire() else {
            let text =
                format!("{AT_ONCE} subagents are at work already, which is the most. Nothing was begun.");
            return Err(ToolError::new(text));
        };
        let subagent = self.made(&args, Place::Foreground, cx).await?;
        // What it does is told as events of its own.
        let watch = Watch::new(|_| {});
        attended(&subagent, args.prompt, &watch, &cx.cancel).await.into_result()
    }

    /// Sends it and goes on.
    async fn beside(&self, args: CreateArgs, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let refused = |why: &str| {
            Err(ToolError::new(format!("{why} Nothing was begun; send it without `background`.")))
        };
        let Some(tasks) = &self.tasks else { return refused("Nothing can work in the background here.") };
        if self.profile(&args)?.is_some_and(|profile| !profile.background) {
            return refused("This profile does not work in the background.");
        }
        // Before one is made, which is kept: what cannot begin must leave no trace. The token is its own, and not the
        // call's: it goes on when the run ends. The table ends it with the session.
        let feed = tasks.begin(TaskKind::AGENT, &args.description, CancellationToken::new())?;
        let subagent = match self.made(&args, Place::Background, cx).await {
            Ok(subagent) => subagent,
            Err(error) => {
                tasks.withdraw(feed);
                return Err(error);
            }
        };
        let (id, task) = (subagent.id.clone(), feed.id().clone());
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        beside.insert(task.to_string(), id.clone());
        drop(beside);
        tokio::spawn(on_its_own(subagent, args.prompt, feed));
        let text = format!(
            "The subagent works in the background as task {task}. You are told when it has ended; until then, go on with \
             something else, or wait with task_output, id \"{task}\". kill_task stops it. Its id to resume it with is \
             \"{id}\"."
        );
        Ok(ToolOutput::text(text).with_details(json!({ "subagent": { "id": id, "task": task } })))
    }
}

/// Sends a subagent for a tool, and waits for what it comes to. For tools that need a model for a part of their work: the
/// profile may be one that models cannot ask for ([`Profiles::internal`]). Its limits, approvals and events are those of any
/// subagent of the session.
///
/// # Errors
/// When it cannot be made. One that was sent and did not get done is no error here: its report says so.
pub async fn sent(
    subagents: &dyn Subagents,
    profile: &Profile,
    description: &str,
    prompt: impl Into<String>,
    cx: &ToolCx,
) -> Result<Report, ToolError> {
    let who = Who::Fresh(profile);
    let wanted = Wanted { who, description, place: Place::Foreground, run: &cx.run, call: &cx.call };
    let subagent = subagents.make(wanted).await?;
    let watch = Watch::new(|_| {});
    Ok(attended(&subagent, prompt.into(), &watch, &cx.cancel).await)
}

/// Asks a subagent, and watches it until it has ended or is told to stop.
async fn attended(
    subagent: &Subagent,
    prompt: String,
    watch: &Arc<Watch>,
    cancel: &CancellationToken,
) -> Report {
    let agent = &subagent.agent;
    agent.listen(Arc::clone(watch) as Arc<dyn Listener>);
    let outcome = {
        let running = agent.prompt(prompt);
        tokio::pin!(running);
        let ended = tokio::select! {
            // First the run, so that there is one to abort.
            biased;
            ended = &mut running => Some(ended),
            () = cancel.cancelled() => {
                agent.abort();
                tokio::time::timeout(PATIENCE, &mut running).await.ok()
            }
        };
        match ended {
            Some(Ok(outcome)) => outcome,
            Some(Err(busy)) => {
                let error = RunError::Hook { hook: "subagent".to_owned(), message: busy.to_string() };
                Outcome::Failed { error }
            }
            None => Outcome::Aborted,
        }
    };
    let seen = watch.seen();
    Report {
        id: subagent.id.clone(),
        profile: subagent.profile.clone(),
        run: seen.run.clone(),
        outcome,
        text: seen.said.clone(),
        turns: seen.turns,
        usage: seen.usage,
        tools: seen.tools.clone(),
        files: seen.files.clone(),
    }
}

/// Works as a task, and ends it with what it came to.
async fn on_its_own(subagent: Subagent, prompt: String, feed: Feed) {
    let feed = Arc::new(feed);
    let news = Arc::downgrade(&feed);
    let watch = Watch::new(move |line| {
        if let Some(feed) = news.upgrade() {
            feed.append(&line);
        }
    });
    let report = attended(&subagent, prompt, &watch, &feed.cancel().clone()).await;
    // With it ends what it began in the background, and from now on it can be resumed.
    drop(subagent);
    feed.append(&format!("\n{}\n\n{}\n", report.words(), report.facts()));
    let ending = match (&report.outcome, report.trouble()) {
        (Outcome::Aborted, _) => Ending::Stopped("was stopped".to_owned()),
        (_, None) => Ending::Done("is done".to_owned()),
        (_, Some(trouble)) => Ending::Failed(trouble),
    };
    // The watch holds it for a moment only while it tells something, and the run is over.
    if let Some(feed) = Arc::into_inner(feed) {
        feed.end(ending);
    }
}

#[async_trait]
impl Tool for CreateSubagent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// One that only looks runs beside others, and so does one that nobody waits for.
    fn access(&self, args: &Args) -> Access {
        let named = args.get("profile").and_then(Value::as_str).and_then(|name| self.profiles.get(name));
        let beside = args.get("background").and_then(Value::as_bool).unwrap_or(false);
        if beside || named.is_some_and(|profile| profile.read_only) { Access::Read } else { Access::Write }
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: CreateArgs = read(args)?;
        if args.prompt.trim().is_empty() {
            return Err(ToolError::new(
                "The prompt is empty: say what the subagent is to do. Nothing was begun.",
            ));
        }
        if args.background { self.beside(args, cx).await } else { self.waited_for(args, cx).await }
    }
}

fn description(profiles: &Profiles, beside: bool) -> String {
    let mut text = "Sends another agent to do a piece of work, with a window and a history of its own, and answers with its \
                    last words. It knows nothing of this conversation: the prompt must say all it needs, and what to \
                    answer with. It cannot send others or ask the user. Several calls in one answer run side by side, if \
                    their profiles only read. With `resume`, an earlier subagent goes on with new instructions and all \
                    that it knows already. What it takes counts in the limits of this run.\nProfiles:"
        .to_owned();
    for profile in profiles.iter() {
        let _ = write!(text, "\n- {}: {}.", profile.name, profile.description.trim().trim_end_matches('.'));
    }
    if beside {
        text.push_str("\nWith `background`, this answers at once with the id of a task, and you are told when it has ended.");
    }
    text
}

fn schema(profiles: &Profiles, beside: bool) -> Value {
    let mut properties = json!({
        "profile": {
            "type": "string",
            "description": format!(
                "Which kind of subagent: {}. Leave it out with `resume`: it stays what it was.",
                profiles.names().join(", ")
            ),
        },
        "description": { "type": "string", "description": "What it is to do, in 3 to 7 words, for the user." },
        "prompt": { "type": "string", "description": "All that it is told: the task, what is known, what to answer with." },
        "resume": { "type": "string", "description": "The id of an earlier subagent of this session that is to go on." },
    });
    if beside {
        properties["background"] = json!({
            "type": "boolean",
            "description": "Do not wait for it. Waits if left out.",
        });
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["description", "prompt"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests;
