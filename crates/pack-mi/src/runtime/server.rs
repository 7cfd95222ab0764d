//! `server_management`: starts and stops the Micro Integrator, deploys to it, and asks its management API.
//!
//! Promises: a server that this session started ends with it; a start is waited for by its readiness, and ends early with
//! the cause when the server dies; what is overwritten in the server's folder is told and backed up; nobody is shown values
//! of `.env`, passwords or tokens.

mod deploy;
mod life;
mod management;
mod ports;
mod prepare;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::typed::schema_of;
use mica_agent::{Access, Approval, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_tools::TaskId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::arguments::read;
use super::{Runtime, Wanted};

pub(super) use life::writable;

/// The name models call it by.
pub(super) const NAME: &str = "server_management";
/// Lines of the server's output that are kept for finding out why it died.
const SAID: usize = 400;

/// What to do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ServerArgs {
    /// start, stop and restart the server; status: ports, health, and what is deployed; deploy: puts the archives of target/
    /// into the server and waits until they run; undeploy takes them away; query and control use the management API.
    action: Action,
    /// For query and control: the kind of artifact, such as apis, proxy-services, endpoints, sequences, tasks, applications,
    /// inbound-endpoints, data-services, message-processors, logging, server.
    artifact_type: Option<String>,
    /// For query: one of them. For control: which one.
    artifact_name: Option<String>,
    /// For control: activate, deactivate, enableTracing, disableTracing, enableStatistics, disableStatistics, trigger,
    /// setLogLevel, restart, restartGracefully, shutdown, shutdownGracefully.
    control_action: Option<String>,
    /// For setLogLevel: the level, such as DEBUG.
    level: Option<String>,
    /// For setLogLevel of a logger that the server does not know yet: its class.
    logger_class: Option<String>,
    /// The project's folder, relative to the workspace, when there are several.
    project: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Start,
    Stop,
    Restart,
    Status,
    Deploy,
    Undeploy,
    Query,
    Control,
}

/// Whether an action changes nothing.
pub(super) fn only_looks(action: &str) -> bool {
    matches!(action, "status" | "query")
}

/// The server that this session started, if any.
#[derive(Default)]
pub(super) struct Kept {
    running: Mutex<Option<Running>>,
}

/// A server that this session started.
#[derive(Clone)]
struct Running {
    task: TaskId,
    said: Arc<Said>,
    since: std::time::SystemTime,
}

/// The last lines that the server printed.
#[derive(Default)]
struct Said {
    lines: Mutex<VecDeque<String>>,
}

impl Said {
    fn push(&self, text: &str) {
        let mut lines = locked(&self.lines);
        for line in text.lines() {
            if lines.len() == SAID {
                lines.pop_front();
            }
            lines.push_back(line.to_owned());
        }
    }

    fn text(&self) -> String {
        let lines = locked(&self.lines);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Nothing here is left half changed by a panic: lines are appended, states replaced.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Manages the server.
pub struct ServerManagement {
    spec: ToolSpec,
    runtime: Runtime,
}

impl ServerManagement {
    /// The tool.
    pub fn new(runtime: &Runtime) -> Self {
        let settings = runtime.settings();
        let description = format!(
            "Manages the Micro Integrator that the user configured: start (waits until it is ready, up to {} seconds; it runs \
             as a background task and ends with the session), stop, restart, status, deploy (copies target/*.car, \
             replaces older archives of this project, waits for the server's word), undeploy, query and control of its \
             management API. status and query only look. Stop a server that you started when it is not needed any more.",
            settings.server_timeout.as_secs()
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<ServerArgs>());
        spec.label = "Micro Integrator".to_owned();
        spec.access = Access::Exclusive;
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        // A restart has the time of a stop and of a start.
        spec.deadline = settings.server_timeout
            + settings.stop_timeout
            + settings.deploy_timeout
            + Duration::from_secs(30);
        Self { spec, runtime: runtime.clone() }
    }
}

#[async_trait]
impl Tool for ServerManagement {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, args: &Args) -> Access {
        let action = args.get("action").and_then(|action| action.as_str()).unwrap_or_default();
        if only_looks(action) { Access::Read } else { self.spec.access }
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: ServerArgs = read(args)?;
        // What is copied is a project's own; a server that runs is looked at without one.
        let is_of_project = matches!(args.action, Action::Deploy | Action::Undeploy);
        let runtime = &if is_of_project || args.project.is_some() {
            self.runtime.of_project(args.project.as_deref(), Wanted::Whole)?
        } else {
            self.runtime.clone()
        };
        match args.action {
            Action::Start => life::start(runtime, cx).await,
            Action::Stop => life::stop(runtime, cx).await.map(ToolOutput::text),
            Action::Restart => life::restart(runtime, cx).await,
            Action::Status => life::status(runtime).await,
            Action::Deploy => deploy::deploy(runtime, cx).await,
            Action::Undeploy => deploy::undeploy(runtime, cx).await,
            Action::Query => {
                let kind = args.artifact_type.as_deref().unwrap_or_default();
                management::query(runtime, kind, args.artifact_name.as_deref()).await
            }
            Action::Control => {
                let order = management::Order {
                    kind: args.artifact_type.as_deref().unwrap_or_default(),
                    name: args.artifact_name.as_deref(),
                    action: args.control_action.as_deref().unwrap_or_default(),
                    level: args.level.as_deref(),
                    class: args.logger_class.as_deref(),
                };
                management::control(runtime, &order).await
            }
        }
    }
}
