//! `build_project`: builds the project with Maven, and says what came of it: archives, or errors with their places.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use mica_agent::typed::schema_of;
use mica_agent::{Access, Approval, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_sandbox::{How, Limit};
use mica_tools::FileUse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

use super::arguments::{count, read, size};
use super::maven::{self, Goal, Kind, MavenLog};
use super::program::Ran;
use super::{Runtime, Wanted, archive};

/// The name models call it by.
pub(super) const NAME: &str = "build_project";
/// Errors that are told. The rest have the same causes, and are in the log.
const TOLD: usize = 20;
/// Last lines that are told when nothing else says why.
const LAST: usize = 15;

/// How to build.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BuildArgs {
    /// Run the project's tests, too. They are skipped if left out.
    tests: Option<bool>,
    /// Hosts to download dependencies from, such as those of the repositories in pom.xml. Without, and without hosts in the
    /// user's settings, the build is offline. The user is asked about it.
    network: Option<Vec<String>>,
    /// Build offline although hosts are configured.
    offline: Option<bool>,
    /// Seconds after which it is stopped.
    timeout_seconds: Option<u64>,
    /// The project's folder, relative to the workspace, when there are several.
    project: Option<String>,
}

/// Builds.
pub struct BuildProject {
    spec: ToolSpec,
    runtime: Runtime,
}

impl BuildProject {
    /// The tool.
    pub fn new(runtime: &Runtime) -> Self {
        let longest = runtime.settings().build_timeout;
        let description = format!(
            "Builds the project with Maven (mvnw when the project has one) and answers with the archives in target/, or with \
             the errors by file and line. Old archives are removed first, so what is there afterwards is from this \
             build. It can take minutes, at most {} seconds. Offline unless hosts are given. All output is in a log, \
             whose path is told.",
            longest.as_secs()
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<BuildArgs>());
        spec.label = "Build project".to_owned();
        spec.access = Access::Exclusive;
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        // The build has its own time; this is for what is around it.
        spec.deadline = longest + Duration::from_secs(60);
        Self { spec, runtime: runtime.clone() }
    }
}

#[async_trait]
impl Tool for BuildProject {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: BuildArgs = read(args)?;
        let runtime = self.runtime.of_project(args.project.as_deref(), Wanted::Whole)?;
        let longest = runtime.settings().build_timeout;
        let wall =
            args.timeout_seconds.map_or(longest, |seconds| Duration::from_secs(seconds.max(1))).min(longest);
        let properties =
            if args.tests == Some(true) { vec![] } else { vec!["maven.test.skip=true".to_owned()] };
        let call = runtime.maven(Goal {
            arguments: &["clean", "install"],
            properties: &properties,
            hosts: maven::hosts(args.network.as_deref().unwrap_or_default())?,
            offline: args.offline == Some(true),
            wall,
        })?;
        let project = runtime.project();
        let mut notes = call.notes;
        notes.extend(runtime.relative_to());
        let old = SetAside::of(&project)?;
        if !old.shown.is_empty() {
            notes.push(format!("old archives were removed first: {}", old.shown.join(", ")));
        }
        let name = if call.shown.starts_with("./mvnw") { "./mvnw" } else { "mvn" };
        let log = std::sync::Arc::new(std::sync::Mutex::new(MavenLog::new(&project)));
        let hears = std::sync::Arc::clone(&log);
        let line =
            move |line: &str| hears.lock().unwrap_or_else(std::sync::PoisonError::into_inner).line(line);
        let (ran, _) = match runtime.run(call.program, "build", cx, line).await {
            Ok(ran) => ran,
            Err(error) => {
                old.put_back();
                return Err(error.or_missing(|| maven::missing(name)));
            }
        };
        drop(old);
        let log = log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(told(&Built {
            shown: &call.shown,
            is_offline: call.is_offline,
            project: &project,
            ran: &ran,
            log: &log,
            notes,
            wall,
        }))
    }
}

/// The archives of earlier builds, out of the way: one that is left over would be taken for a new one. They are gone when
/// this is dropped, unless nothing was built and they are put back.
struct SetAside {
    moved: Vec<(PathBuf, PathBuf)>,
    shown: Vec<String>,
}

impl SetAside {
    fn of(project: &Path) -> Result<Self, ToolError> {
        let refused = |reason: String| ToolError::new(format!("{reason} Nothing was built."));
        let archives = archive::built(project).map_err(refused)?;
        let mut aside = Self { moved: Vec::new(), shown: Vec::new() };
        for old in archives {
            let mut name = old.path.clone().into_os_string();
            name.push(".old");
            let to = PathBuf::from(name);
            if let Err(error) = std::fs::rename(&old.path, &to) {
                aside.put_back();
                let path = old.path.display();
                return Err(refused(format!("The old archive {path} cannot be removed: {error}.")));
            }
            aside.shown.push(relative(project, &old.path));
            aside.moved.push((old.path, to));
        }
        Ok(aside)
    }

    fn put_back(mut self) {
        for (was, now) in self.moved.drain(..) {
            if let Err(error) = std::fs::rename(&now, &was) {
                tracing::warn!(%error, path = %was.display(), "an archive could not be put back");
            }
        }
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        for (_, now) in &self.moved {
            // A build that cleans has removed it already.
            let _ = std::fs::remove_file(now);
        }
    }
}

fn relative(project: &Path, path: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).display().to_string()
}

/// A build that has ended.
struct Built<'a> {
    shown: &'a str,
    is_offline: bool,
    project: &'a Path,
    ran: &'a Ran,
    log: &'a MavenLog,
    notes: Vec<String>,
    wall: Duration,
}

fn told(built: &Built<'_>) -> ToolOutput {
    let Built { shown, ran, log, project, .. } = built;
    let seconds = ran.ended.elapsed.as_secs_f32();
    let archives = archive::built(project).unwrap_or_default();
    let findings = log.findings();
    let succeeded = ran.ended.how.is_success() && log.succeeded() != Some(false);
    let mut lines = Vec::new();
    if succeeded {
        lines.push(format!("The build succeeded after {seconds:.1} s: {shown}"));
        if archives.is_empty() {
            lines.push(
                "It made no archive (target/*.car). Check that pom.xml has the vscode-car-plugin with its goal car, and that \
                 there are artifacts in src/main/wso2mi/artifacts."
                    .to_owned(),
            );
        }
        for one in &archives {
            lines.push(format!("  {} ({})", relative(project, &one.path), size(one.bytes)));
        }
        if !findings.is_empty() {
            // The plugin that packs archives goes on when it cannot read an artifact.
            lines.push(format!(
                "It printed {} all the same, so something may be missing in the archive:",
                count(findings.len(), "error")
            ));
            lines.extend(maven::told(&findings, TOLD, project));
        }
    } else {
        lines.push(format!("The build failed: {}. It was: {shown}", ending(built)));
        if !findings.is_empty() {
            lines.push(format!("{}:", count(findings.len(), "error")));
            lines.extend(maven::told(&findings, TOLD, project));
        }
        if findings.is_empty() || !matches!(ran.ended.how, How::Exited(_)) {
            let last = log.last();
            lines.push("Its last lines:".to_owned());
            lines.extend(last.iter().skip(last.len().saturating_sub(LAST)).map(|line| format!("  {line}")));
        }
        if built.is_offline
            && findings.iter().any(|one| one.kind == Kind::Plugin || one.kind == Kind::Dependency)
        {
            lines.push(
                "→ The build was offline, which may be why: build with `network`, or with hosts in mi.network."
                    .to_owned(),
            );
        }
        if !built.is_offline && ran.missed_network() {
            lines.push(
                "→ The sandbox refused hosts that were not granted; they are in the log. Name them in `network`."
                    .to_owned(),
            );
        }
    }
    lines.extend(built.notes.iter().map(|note| format!("[{note}]")));
    lines.extend(ran.ended.notices.iter().map(|note| format!("[{note}]")));
    if let Some(log) = &ran.log {
        lines.push(format!("[all output: {}]", log.display()));
    }
    let mut details = json!({
        "command": shown,
        "succeeded": succeeded,
        "how": ran.ended.how,
        "milliseconds": u64::try_from(ran.ended.elapsed.as_millis()).unwrap_or(u64::MAX),
        "tier": ran.ended.tier,
        "offline": built.is_offline,
        "archives": archives.iter().map(|one| json!({ "path": one.path, "bytes": one.bytes })).collect::<Vec<_>>(),
        "errors": findings,
        "log": ran.log,
    });
    FileUse { read: Vec::new(), changed: ran.changed.clone() }.tell(&mut details);
    ToolOutput::text(lines.join("\n")).with_details(details)
}

fn ending(built: &Built<'_>) -> String {
    let seconds = built.ran.ended.elapsed.as_secs_f32();
    match built.ran.ended.how {
        How::Exited(code) => format!("exit code {code} after {seconds:.1} s"),
        How::Limit(Limit::Wall) => {
            format!("its time of {} s was up, and everything it had started was ended", built.wall.as_secs())
        }
        How::Cancelled => format!("it was stopped after {seconds:.1} s, with everything it had started"),
        how => format!("it {how} after {seconds:.1} s"),
    }
}
