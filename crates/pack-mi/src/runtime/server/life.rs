//! The server's life: start, readiness, status, stop.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mica_agent::{ToolCx, ToolError, ToolOutput};
use mica_sandbox::How;
use mica_tools::tasks::Until;
use mica_tools::{Ending, TaskKind, TaskState};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ports::Ports;
use super::{Running, Said, locked, management, prepare};
use crate::runtime::Runtime;
use crate::runtime::arguments::count;
use crate::runtime::contained;
use crate::runtime::loopback::{LocalRequest, Method};
use crate::runtime::program::{NotRun, Program, Reach};
use crate::runtime::server_logs::{self, Level};
use crate::runtime::source::Sources;

/// How often readiness is asked for.
const EVERY: Duration = Duration::from_millis(500);
/// Last lines that are told of a server that died.
const LAST: usize = 15;

/// What the readiness probe says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Health {
    /// It serves.
    Ready,
    /// It runs and does not serve, in its own words.
    NotReady(String),
    /// Nobody answers.
    Silent,
}

pub(super) async fn health(runtime: &Runtime, ports: Ports) -> Health {
    let request = LocalRequest {
        method: Method::Get,
        url: format!("http://localhost:{}/healthz", ports.readiness),
        authorization: None,
        body: None,
        timeout: Duration::from_secs(5),
    };
    match runtime.shared.client.send(request).await {
        Err(_) => Health::Silent,
        Ok(answer) => {
            let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
            let status = body.get("status").and_then(Value::as_str).unwrap_or_default();
            if answer.status == 200 && status == "ready" {
                return Health::Ready;
            }
            Health::NotReady(super::super::arguments::shortened(answer.body.trim(), 500))
        }
    }
}

/// The server that this session started and that still runs.
fn own(runtime: &Runtime) -> Option<Running> {
    let running = locked(&runtime.server.running).clone()?;
    let tasks = runtime.shared.tasks.list();
    let runs = tasks.iter().any(|task| task.id == running.task && task.state == TaskState::Running);
    runs.then_some(running)
}

/// Starts the server and waits until it is ready.
pub(super) async fn start(runtime: &Runtime, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let home = runtime.home().map_err(ToolError::new)?;
    let script = home.join("bin/micro-integrator.sh");
    if !script.is_file() {
        return Err(ToolError::new(format!(
            "There is no bin/micro-integrator.sh in {}, so it is no Micro Integrator. The user has to correct mi.runtime.",
            home.display()
        )));
    }
    let mut notes = Vec::new();
    let failed = |what: &str, error: &std::io::Error, notes: &[String]| {
        with_notes(ToolError::new(format!("{what}: {error}. The server was not started.")), notes)
    };
    let ports = Ports::coming(&runtime.project(), &home);
    if let Some(running) = own(runtime) {
        let text = format!("The server runs already, as {}.", running.task);
        return Ok(ToolOutput::text(text).with_details(json!({ "task": { "id": running.task } })));
    }
    if health(runtime, ports).await != Health::Silent || runtime.shared.client.listens(ports.management).await
    {
        return Ok(ToolOutput::text(format!(
            "A server listens at the ports of this one already ({} or {}); this session did not start it. It was left as it \
             is: deploy works with it when it is the one in {}.",
            ports.readiness,
            ports.management,
            home.display()
        )));
    }
    let put = prepare::settings(&runtime.project(), &home)
        .map_err(|error| failed("deployment/deployment.toml could not be put into place", &error, &notes))?;
    notes.extend(put);
    let put = prepare::libraries(&runtime.project(), &home)
        .map_err(|error| failed("deployment/libs could not be copied", &error, &notes))?;
    notes.extend(put);
    let variables = prepare::variables(&runtime.project(), &runtime.settings().variables)
        .map_err(|error| failed(".env could not be read", &error, &notes))?;
    if !variables.is_empty() {
        let names: Vec<&str> = variables.keys().map(String::as_str).collect();
        notes.push(format!("{} of .env: {}", count(variables.len(), "variable"), names.join(", ")));
    }

    let mut program = Program::new("sh", &home);
    program.arguments = vec!["bin/micro-integrator.sh".to_owned()];
    program.environment = variables;
    program.writable =
        writable(&home).map_err(|error| failed("Its folders cannot be used", &error, &notes))?;
    program.reach = Reach::Everything;
    program.grace = runtime.settings().stop_timeout;
    program.is_server = true;
    let launched = launch(runtime, program, cx).await.map_err(|error| with_notes(error, &notes))?;
    let done = wait_ready(runtime, ports, &launched, cx).await;
    launched.is_watched.store(false, Ordering::Release);
    let (text, is_ready) = match done {
        Waited::Ready(after) => (
            format!("The server is ready after {:.1} s. HTTP is at {}.", after.as_secs_f32(), ports.http),
            true,
        ),
        Waited::Late => {
            let last = last_lines(&launched.running.said.text(), 5);
            (
                format!(
                    "The server was started and is not ready after {} s. It goes on starting: look with status, or stop it. Its \
                     last lines:\n{last}",
                    runtime.settings().server_timeout.as_secs()
                ),
                false,
            )
        }
        Waited::Died(how) => {
            let why = why_it_died(&launched.running.said.text(), &runtime.project());
            let error = ToolError::new(format!("The server {how} before it was ready.\n{why}"));
            return Err(with_notes(error, &notes));
        }
        Waited::Cut => {
            let _ = end(runtime, &launched.running).await;
            let error = ToolError::new("The start was stopped, and the server with it.");
            return Err(with_notes(error, &notes));
        }
    };
    let id = &launched.running.task;
    let mut lines =
        vec![text, format!("It runs in the background as {id}, until it is stopped or the session ends.")];
    lines.extend(notes.iter().map(|note| format!("[{note}]")));
    Ok(ToolOutput::text(lines.join("\n")).with_details(json!({
        "task": { "id": id }, "ready": is_ready, "ports": { "http": ports.http, "management": ports.management },
    })))
}

/// What was done before a start failed stays done, and is told with why it failed.
fn with_notes(mut error: ToolError, notes: &[String]) -> ToolError {
    for note in notes {
        error.message.push_str(&format!("\n[{note}]"));
    }
    error
}

/// What a server that runs has to write of its home. The rest is code that its user runs without a sandbox.
const WRITABLE: [&str; 7] = [
    "repository",
    "conf",
    "tmp",
    "logs",
    "registry",
    // Libraries are wrapped into bundles at each start.
    "dropins",
    "wso2/components/default/configuration",
];

/// The folders that a server may write. Those that it makes by itself are made for it.
///
/// # Errors
/// When one is a link, which could make any folder writable.
pub(in crate::runtime) fn writable(home: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for name in WRITABLE {
        let path = Path::new(name);
        let about = |error| std::io::Error::other(format!("{name}: {error}"));
        if matches!(name, "repository" | "tmp") {
            folders.push(contained::made(home, path).map_err(about)?);
        } else {
            folders.extend(contained::folder(home, path).map_err(about)?);
        }
    }
    Ok(folders)
}

/// A server that was just launched.
struct Launched {
    running: Running,
    /// Whether what it prints is told as the call's progress.
    is_watched: Arc<AtomicBool>,
}

async fn launch(runtime: &Runtime, program: Program, cx: &ToolCx) -> Result<Launched, ToolError> {
    let cancel = CancellationToken::new();
    let tasks = &runtime.shared.tasks;
    let feed = tasks.begin(TaskKind::new("server"), "Micro Integrator", cancel.clone())?;
    let said = Arc::new(Said::default());
    let is_watched = Arc::new(AtomicBool::new(true));
    let running =
        Running { task: feed.id().clone(), said: Arc::clone(&said), since: (runtime.shared.clock)() };
    let (tell, told) = tokio::sync::oneshot::channel();
    let (worker, cx, watched) = (runtime.clone(), cx.clone(), Arc::clone(&is_watched));
    tokio::spawn(async move {
        let started = match worker.start(&program, "server", &cx, cancel).await {
            Ok(started) => started,
            Err(error) => {
                let _ = tell.send(Err((error, feed)));
                return;
            }
        };
        let _ = tell.send(Ok(()));
        let ran = started
            .finish(|text| {
                feed.append(text);
                said.push(text);
                if watched.load(Ordering::Acquire) {
                    cx.progress(text);
                }
            })
            .await;
        let words = ran.ended.how.to_string();
        feed.end(match ran.ended.how {
            How::Exited(0) => Ending::Done(words),
            How::Cancelled => Ending::Stopped(words),
            How::Lost => Ending::Lost,
            _ => Ending::Failed(words),
        });
    });
    match told.await {
        Ok(Ok(())) => {}
        Ok(Err((error, feed))) => {
            tasks.withdraw(feed);
            return Err(match error {
                NotRun::Missing => ToolError::new("There is no sh to run the server's script with."),
                NotRun::Other(words) => ToolError::new(words),
            });
        }
        Err(_) => return Err(ToolError::new("Starting the server broke. Nothing was run.")),
    }
    *locked(&runtime.server.running) = Some(running.clone());
    Ok(Launched { running, is_watched })
}

/// How waiting for readiness ended.
enum Waited {
    Ready(Duration),
    Late,
    Died(Ending),
    Cut,
}

async fn wait_ready(runtime: &Runtime, ports: Ports, launched: &Launched, cx: &ToolCx) -> Waited {
    let began = Instant::now();
    let until = began + runtime.settings().server_timeout;
    let tasks = &runtime.shared.tasks;
    let never = CancellationToken::new();
    let probing = async {
        loop {
            tokio::time::sleep(EVERY).await;
            if health(runtime, ports).await == Health::Ready {
                return;
            }
        }
    };
    let dying = async {
        // A task that is forgotten has ended.
        let _ =
            tasks.wait(launched.running.task.as_str(), Until::End, Duration::from_secs(86_400), &never).await;
        match tasks.list().into_iter().find(|task| task.id == launched.running.task).map(|task| task.state) {
            Some(TaskState::Ended(ending)) => ending,
            _ => Ending::Lost,
        }
    };
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => Waited::Cut,
        ending = dying => Waited::Died(ending),
        () = probing => Waited::Ready(began.elapsed()),
        () = tokio::time::sleep_until(until) => Waited::Late,
    }
}

/// The cause of a server's death, from what it printed.
fn why_it_died(said: &str, project: &Path) -> String {
    const KNOWN: [(&str, &str); 6] = [
        (
            "You must set the JAVA_HOME variable",
            "The user sets mi.java_home to a JDK that the server supports.",
        ),
        (
            "JAVA_HOME is not defined correctly",
            "The user sets mi.java_home to a JDK that the server supports.",
        ),
        (
            "UnsupportedClassVersionError",
            "The Java is too old for this server: the user sets mi.java_home to a newer JDK.",
        ),
        ("is supported only on JDK", "The user sets mi.java_home to a JDK that the server supports."),
        (
            "Address already in use",
            "Another program has one of its ports: stop it, or set [server] offset in deployment.toml.",
        ),
        ("OutOfMemoryError", "The server has too little memory: JVM_MEM_OPTS in .env gives it more."),
    ];
    let mut lines = Vec::new();
    let entries = server_logs::entries(said);
    if let Some(entry) = entries.iter().rev().find(|entry| entry.level == Level::Error) {
        lines.push(format!("Its last error: {}: {}", entry.short_logger(), entry.message));
        if let Some(cause) = entry.root() {
            lines.push(format!("Caused by: {}: {}", cause.class, cause.message));
        }
        if let Some(sources) = Sources::read(project) {
            lines.extend(sources.origin(entry).places.iter().map(|place| format!("Place: {place}")));
        }
    }
    if let Some((_, help)) = KNOWN.iter().find(|(sign, _)| said.contains(sign)) {
        lines.push(format!("→ {help}"));
    }
    lines.push(format!("Its last lines:\n{}", last_lines(said, LAST)));
    lines.join("\n")
}

fn last_lines(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(most));
    last.map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Stops a server of this session.
async fn end(runtime: &Runtime, running: &Running) -> Option<Ending> {
    let tasks = &runtime.shared.tasks;
    let id = running.task.as_str();
    tasks.stop(id).ok()?;
    let never = CancellationToken::new();
    let longest = runtime.settings().stop_timeout + Duration::from_secs(5);
    let _ = tasks.wait(id, Until::End, longest, &never).await;
    match tasks.list().into_iter().find(|task| task.id == running.task)?.state {
        TaskState::Ended(ending) => {
            *locked(&runtime.server.running) = None;
            // The end was told here, and is no news any more.
            let _ = tasks.read(id, u64::MAX);
            Some(ending)
        }
        TaskState::Running => None,
    }
}

/// Stops the server, whoever started it.
pub(super) async fn stop(runtime: &Runtime, cx: &ToolCx) -> Result<String, ToolError> {
    let home = runtime.home().map_err(ToolError::new)?;
    if let Some(running) = own(runtime) {
        return match end(runtime, &running).await {
            Some(ending) => Ok(format!("The server {ending}.")),
            None => Err(ToolError::new(format!(
                "The server ({}) was told to stop and has not yet.",
                running.task
            ))),
        };
    }
    let ports = Ports::running(&home);
    let listens = async || {
        runtime.shared.client.listens(ports.readiness).await
            || runtime.shared.client.listens(ports.management).await
    };
    if !listens().await {
        return Ok("The server does not run.".to_owned());
    }
    let order =
        management::Order { kind: "server", name: None, action: "shutdown", level: None, class: None };
    management::control(runtime, &order).await?;
    let until = Instant::now() + runtime.settings().stop_timeout;
    while Instant::now() < until && !cx.cancel.is_cancelled() {
        if !listens().await {
            return Ok(
                "The server was not started by this session; its management API stopped it.".to_owned()
            );
        }
        tokio::time::sleep(EVERY).await;
    }
    Err(ToolError::new(
        "The server was told to stop by its management API and still listens. Look again with status.",
    ))
}

/// Stops and starts.
pub(super) async fn restart(runtime: &Runtime, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    stop(runtime, cx).await?;
    start(runtime, cx).await
}

/// How the server is.
pub(super) async fn status(runtime: &Runtime) -> Result<ToolOutput, ToolError> {
    let home = runtime.home().map_err(ToolError::new)?;
    let ports = Ports::running(&home);
    let own = own(runtime);
    let health = health(runtime, ports).await;
    let client = &runtime.shared.client;
    let whose = match &own {
        Some(running) => {
            let ran = (runtime.shared.clock)().duration_since(running.since).unwrap_or_default();
            format!(", started by this session as {} {} s ago", running.task, ran.as_secs())
        }
        None => ", not started by this session".to_owned(),
    };
    let mut lines = vec![match (&health, &own) {
        (Health::Ready, _) => format!("The server is ready{whose}."),
        (Health::NotReady(words), _) => format!("The server runs and is not ready{whose}: {words}"),
        (Health::Silent, Some(_)) => format!("The server is starting{whose}."),
        (Health::Silent, None) => "The server does not run.".to_owned(),
    }];
    let mut listening = Vec::new();
    for (name, port) in [
        ("HTTP", ports.http),
        ("HTTPS", ports.https),
        ("readiness", ports.readiness),
        ("management", ports.management),
    ] {
        let state = if client.listens(port).await { "listens" } else { "closed" };
        listening.push(format!("{name} {port} {state}"));
    }
    lines.push(format!("Ports: {}.", listening.join(", ")));
    let mut artifacts = Value::Null;
    if health != Health::Silent {
        match management::overview(runtime, ports).await {
            Ok((told, found)) => {
                lines.extend(told);
                artifacts = found;
            }
            Err(reason) => lines.push(format!("The management API does not answer: {reason}.")),
        }
    }
    lines.push(format!("Logs: {}.", server_logs::names(&home.join(server_logs::FOLDER))));
    lines.push(format!("[{}]", home.display()));
    Ok(ToolOutput::text(lines.join("\n")).with_details(json!({
        "ready": health == Health::Ready, "own": own.map(|running| running.task), "artifacts": artifacts,
    })))
}
