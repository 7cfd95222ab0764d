//! `run_unit_tests`: runs the tests of the project with Maven and the Micro Integrator, and says which failed, where and
//! why. Without either, the tests are checked as far as that is possible without running them.

mod report;
mod standing;
mod surefire;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::typed::schema_of;
use mica_agent::{Access, Approval, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_sandbox::How;
use mica_tools::FileUse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::arguments::{count, read, shortened};
use super::maven::{self, Goal, MavenLog};
use super::program::{NotRun, Ran};
use super::{Runtime, Wanted, archive, contained, server};

pub(super) use report::{Case, Outcome};

/// The name models call it by.
pub(super) const NAME: &str = "run_unit_tests";
/// Where the tests are.
const FOLDER: &str = "src/test/wso2mi";
/// Where the plugin writes what came of them, in `target`.
const REPORT: &str = "unit-test-report.json";
/// Where those of Java tests are.
const REPORTS: &str = "surefire-reports";
/// Bytes of a report.
const LARGEST: u64 = 16 << 20;
/// The port of the unit test server.
const PORT: u16 = 9008;
/// Bytes of what was expected and what came.
const VALUE: usize = 1_500;
/// Failures that are told.
const TOLD: usize = 30;

/// Which tests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TestArgs {
    /// The tests of one file of src/test/wso2mi, such as OrdersTest.xml. All of them if left out.
    test_file: Option<String>,
    /// Only check the test files, and run nothing.
    check_only: Option<bool>,
    /// Hosts to download Maven's plugins from. Without, and without hosts in the user's settings, Maven is offline. The
    /// user is asked about it.
    network: Option<Vec<String>>,
    /// The project's folder, relative to the workspace, when there are several.
    project: Option<String>,
}

/// Runs tests.
pub struct RunUnitTests {
    spec: ToolSpec,
    runtime: Runtime,
}

impl RunUnitTests {
    /// The tool.
    pub fn new(runtime: &Runtime) -> Self {
        let description = "Runs the project's unit tests (src/test/wso2mi/*.xml, and Java tests) with Maven on a Micro Integrator \
                           that is started for it, and answers which passed and which failed, with the line of the test case, \
                           what was expected and what came. The test files are checked first: artifacts that do not exist, \
                           names that are there twice. Without Maven or a configured runtime only that is done.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<TestArgs>());
        spec.label = "Run unit tests".to_owned();
        spec.access = Access::Exclusive;
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        spec.deadline = runtime.settings().build_timeout + Duration::from_secs(60);
        Self { spec, runtime: runtime.clone() }
    }
}

#[async_trait]
impl Tool for RunUnitTests {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, args: &Args) -> Access {
        let check_only = args.get("check_only").and_then(serde_json::Value::as_bool) == Some(true);
        if check_only { Access::Read } else { self.spec.access }
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: TestArgs = read(args)?;
        let runtime = &self.runtime.of_project(args.project.as_deref(), Wanted::Part)?;
        let project = runtime.project();
        let (root, wanted) = (project.clone(), args.test_file.clone());
        let standing = tokio::task::spawn_blocking(move || standing::Standing::of(&root, wanted.as_deref()));
        let standing = standing
            .await
            .unwrap_or_else(|error| Err(format!("Reading the tests broke: {error}.")))
            .map_err(ToolError::new)?;
        if args.check_only == Some(true) {
            return Ok(ToolOutput::text(standing.told())
                .with_details(json!({ "checked": standing.files.len(), "ran": false })));
        }
        let home = match runtime.home() {
            Ok(home) => home,
            Err(reason) => return Ok(not_run(&standing, &reason)),
        };
        let script = home.join("bin/micro-integrator.sh");
        let properties = properties(&script, args.test_file.as_deref());
        let pom = contained::text(&project, Path::new("pom.xml"), LARGEST).unwrap_or_default();
        // The profile takes the server from the command line; projects without it have properties for the same.
        let goals: &[&str] = if pom.contains("<id>test</id>") { &["test", "-Ptest"] } else { &["test"] };
        let mut call = runtime.maven(Goal {
            arguments: goals,
            properties: &properties,
            hosts: maven::hosts(args.network.as_deref().unwrap_or_default())?,
            offline: false,
            wall: runtime.settings().build_timeout,
        })?;
        let writable = server::writable(&home).map_err(|error| {
            ToolError::new(format!("The server cannot be used: {error}. No test was run."))
        })?;
        call.program.writable.extend(writable);
        remove_old(&project)?;
        let log = Arc::new(Mutex::new((MavenLog::new(&project), report::Console::default())));
        let hears = Arc::clone(&log);
        let line = move |line: &str| {
            let mut both = hears.lock().unwrap_or_else(PoisonError::into_inner);
            both.0.line(line);
            both.1.line(line);
        };
        let ran = match runtime.run(call.program, "tests", cx, line).await {
            Ok((ran, _)) => ran,
            Err(NotRun::Missing) => return Ok(not_run(&standing, &maven::missing("mvn"))),
            Err(NotRun::Other(words)) => return Err(ToolError::new(words)),
        };
        let console = log.lock().unwrap_or_else(PoisonError::into_inner).1.cases();
        let mut cases = match read_cases(&project).await {
            (Some(cases), java) => [cases, java].concat(),
            (None, java) => [console, java].concat(),
        };
        standing.place(&mut cases);
        let mut notes = call.notes;
        notes.extend(runtime.relative_to());
        if call.is_offline {
            notes.push("Maven was offline".to_owned());
        }
        let both = log.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(told(&standing, &cases, &both.0, &ran, &notes))
    }
}

/// Removes the reports of earlier runs, where they are the project's.
fn remove_old(project: &Path) -> Result<(), ToolError> {
    let target = archive::target(project, project)
        .map_err(|reason| ToolError::new(format!("{reason} No test was run.")))?;
    let Some(target) = target else { return Ok(()) };
    // What is not there need not go, and a link goes itself, and not what it leads to.
    let _ = std::fs::remove_file(target.join(REPORT));
    let _ = std::fs::remove_dir_all(target.join(REPORTS));
    let _ = std::fs::remove_file(target.join(REPORTS));
    Ok(())
}

/// What the plugin's report says, when there is one, and what those of Java tests say.
async fn read_cases(project: &Path) -> (Option<Vec<Case>>, Vec<Case>) {
    let project = project.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let Ok(Some(target)) = archive::target(&project, &project) else { return (None, Vec::new()) };
        let text = contained::text(&target, Path::new(REPORT), LARGEST).ok();
        (text.map(|text| report::read(&text, &project)), surefire::read(&target, REPORTS, &project))
    });
    reading.await.unwrap_or_default()
}

/// What tells the plugin about the server, in the ways of newer and older projects.
fn properties(script: &Path, file: Option<&str>) -> Vec<String> {
    let script = script.display();
    let mut properties = vec!["maven.test.skip=false".to_owned()];
    for (new, old, value) in [
        ("test.server.type", "testServerType", "local".to_owned()),
        ("test.server.host", "testServerHost", "localhost".to_owned()),
        ("test.server.port", "testServerPort", PORT.to_string()),
        ("test.server.path", "testServerPath", script.to_string()),
    ] {
        properties.extend([format!("{new}={value}"), format!("{old}={value}")]);
    }
    let name = file.map(|file| file.trim_start_matches(FOLDER).trim_start_matches('/'));
    properties.extend(name.map(|name| format!("testFile={name}")));
    properties
}

fn not_run(standing: &standing::Standing, reason: &str) -> ToolOutput {
    let text = format!(
        "The tests were not run: {reason}\nThey were checked without running them:\n{}",
        standing.told()
    );
    ToolOutput::text(text).with_details(json!({ "checked": standing.files.len(), "ran": false }))
}

fn told(
    standing: &standing::Standing,
    cases: &[Case],
    log: &MavenLog,
    ran: &Ran,
    notes: &[String],
) -> ToolOutput {
    let failed: Vec<&Case> = cases.iter().filter(|case| case.outcome == Outcome::Failed).collect();
    let of = |outcome: Outcome| cases.iter().filter(|case| case.outcome == outcome).count();
    let seconds = ran.ended.elapsed.as_secs_f32();
    let mut lines = Vec::new();
    if cases.is_empty() {
        let how = match ran.ended.how {
            How::Exited(code) => format!("exit code {code}"),
            how => format!("it {how}"),
        };
        lines.push(format!("No test was run: Maven ended after {seconds:.1} s ({how}) without a report."));
        lines.extend(maven::told(&log.findings(), 10, log.project()));
        if log.findings().is_empty() {
            lines.push(
                "Check that pom.xml has the synapse-unit-test-maven-plugin, and that there are test cases. The last lines:"
                    .to_owned(),
            );
            let last = log.last();
            lines.extend(last.iter().skip(last.len().saturating_sub(15)).map(|line| format!("  {line}")));
        }
    } else {
        let skipped = match of(Outcome::Skipped) {
            0 => String::new(),
            many => format!(", {many} skipped"),
        };
        lines.push(format!(
            "{}: {} passed, {} failed{skipped}, in {seconds:.1} s.",
            count(cases.len(), "test case"),
            of(Outcome::Passed),
            failed.len()
        ));
    }
    for case in failed.iter().take(TOLD) {
        lines.push(format!("FAILED {}", case.title()));
        for failure in &case.failures {
            lines.push(format!("  {}", shortened(&failure.what, VALUE)));
            for (name, value) in [("expected", &failure.expected), ("actual", &failure.actual)] {
                if let Some(value) = value {
                    lines.push(format!("    {name}: {}", shortened(value, VALUE)));
                }
            }
        }
    }
    if failed.len() > TOLD {
        lines.push(format!("… and {} more that failed", failed.len() - TOLD));
    }
    let passed: Vec<String> =
        cases.iter().filter(|case| case.outcome == Outcome::Passed).map(|case| case.name.clone()).collect();
    if !passed.is_empty() {
        lines.push(format!("Passed: {}.", shortened(&passed.join(", "), VALUE)));
    }
    let findings = standing.findings();
    if !findings.is_empty() {
        lines.push("The test files themselves:".to_owned());
        lines.extend(findings.iter().map(|finding| format!("  {finding}")));
    }
    lines.extend(notes.iter().map(|note| format!("[{note}]")));
    if let Some(log) = &ran.log {
        lines.push(format!("[all output: {}]", log.display()));
    }
    let mut details = json!({
        "ran": true, "passed": of(Outcome::Passed), "failed": failed.len(), "skipped": of(Outcome::Skipped),
        "milliseconds": u64::try_from(ran.ended.elapsed.as_millis()).unwrap_or(u64::MAX), "log": ran.log,
    });
    FileUse { read: Vec::new(), changed: ran.changed.clone() }.tell(&mut details);
    ToolOutput::text(lines.join("\n")).with_details(details)
}
