//! `mica doctor`: what is configured and reachable, and how to mend what is not.

mod added;
mod mi;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mica_ai::{Request, User};
use mica_sandbox::{Sandbox, Stub, Tier};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::cli::RunFlags;
use crate::config::Config;
use crate::reach::{self, Reach};
use crate::surroundings::Surroundings;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What.
    pub what: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    fn good(what: &str, found: impl Into<String>) -> Self {
        Self { what: what.to_owned(), ok: true, found: found.into(), fix: None }
    }

    fn bad(what: &str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.to_owned(), ok: false, found: found.into(), fix: Some(fix.into()) }
    }
}

/// Looks at everything.
pub async fn run(flags: &RunFlags, surroundings: &Surroundings, ask: bool) -> Vec<Finding> {
    let mut findings = vec![Finding::good("folder", surroundings.folder.display().to_string())];
    findings.push(sandbox().await);
    let sessions = surroundings.data.join("sessions");
    findings.push(match std::fs::create_dir_all(&sessions) {
        Ok(()) => Finding::good("sessions", sessions.display().to_string()),
        Err(error) => Finding::bad(
            "sessions",
            format!("{}: {error}", sessions.display()),
            "set MICA_HOME to a folder that can be written",
        ),
    });
    let config = match Config::read(surroundings, flags) {
        Ok(config) => config,
        Err(error) => {
            findings.push(Finding::bad("settings", format!("{error:#}"), "mend the file"));
            return findings;
        }
    };
    for note in &config.notes {
        findings.push(Finding::bad("settings", note.clone(), "mica trust"));
    }
    let values = match config.values() {
        Ok(values) => values,
        Err(error) => {
            findings.push(Finding::bad("settings", format!("{error:#}"), "mend the file"));
            return findings;
        }
    };
    findings.push(Finding::good("settings", sources(&config)));
    findings.extend(servers(surroundings));
    findings.extend(added::findings(&values, surroundings).await);
    findings.extend(mi::findings(&values.mi, surroundings));
    let reach = match Reach::find(&values, flags, surroundings) {
        Ok(reach) => reach,
        Err(error) => {
            findings.push(Finding::bad(
                "endpoints",
                format!("{error:#}"),
                "set the variables of one endpoint, or --base-url",
            ));
            return findings;
        }
    };
    for endpoint in reach.endpoints.iter() {
        findings.push(Finding::good(
            "endpoint",
            format!("{} ({}) at {}", endpoint.name, endpoint.kind, endpoint.address),
        ));
    }
    for note in &reach.endpoints.notes {
        findings.push(Finding::good("note", note.to_string()));
    }
    let choice = match reach.choose(&values) {
        Ok(choice) => choice,
        Err(error) => {
            findings.push(Finding::bad(
                "model",
                format!("{error:#}"),
                "--model NAME; `mica models` lists those that are known",
            ));
            return findings;
        }
    };
    findings.push(Finding::good(
        "model",
        format!("{} over {} at {}", choice.model.id, choice.dialect, choice.url()),
    ));
    findings.push(if ask {
        asked(&values, surroundings, &choice).await
    } else {
        Finding::good("answer", "not asked for: `mica doctor --ask` asks the model one short question")
    });
    findings
}

/// Which MCP servers are configured. None is started.
fn servers(surroundings: &Surroundings) -> Vec<Finding> {
    let read = match crate::equipment::mcp::configured(surroundings) {
        Ok(read) => read,
        Err(error) => return vec![Finding::bad("MCP servers", format!("{error:#}"), "mend the file")],
    };
    let mut findings = Vec::new();
    let names: Vec<&str> = read.servers.iter().map(|server| server.name.as_str()).collect();
    if !names.is_empty() {
        findings.push(Finding::good(
            "MCP servers",
            format!("{} (not tried: `mica mcp list --check` does)", names.join(", ")),
        ));
    }
    let bad = |problem: &mica_ext::mcp::Problem| {
        Finding::bad("MCP servers", problem.to_string(), "mend mcp.json, or `mica mcp remove` it")
    };
    findings.extend(read.problems.iter().map(bad));
    findings
}

/// How commands are confined here.
async fn sandbox() -> Finding {
    let report = Sandbox::negotiate(Stub::this_program()).await.report().clone();
    let found = format!("{}: {}", report.tier, report.tier.about());
    match report.tier {
        Tier::Namespaces => Finding::good("sandbox", found),
        Tier::Landlock => Finding::good("sandbox", format!("{found}. Not enforced: {}", report.reasons())),
        Tier::None => Finding::bad(
            "sandbox",
            format!("{found}. Not enforced: {}", report.reasons()),
            "use a Linux kernel with Landlock (5.13 or newer, and named in /sys/kernel/security/lsm)",
        ),
    }
}

async fn asked(
    values: &crate::config::Values,
    surroundings: &Surroundings,
    choice: &mica_ai::endpoint::Choice,
) -> Finding {
    let means = match reach::means(values, surroundings) {
        Ok(means) => means,
        Err(error) => return Finding::bad("answer", format!("{error:#}"), "check the system's certificates"),
    };
    let mut request = Request::new(Arc::clone(&choice.model));
    request.max_output = Some(64);
    request.messages.push(User::text("Answer with the one word: ready").into());
    let began = Instant::now();
    let stream = means.provider(choice).stream(Arc::new(request), CancellationToken::new());
    match tokio::time::timeout(Duration::from_secs(60), stream.outcome()).await {
        Err(_) => Finding::bad("answer", "none within 60 s", "check the network and the proxy"),
        Ok(outcome) => match outcome.into_result() {
            Ok(answer) => Finding::good(
                "answer",
                format!("{:?} after {:.1} s", answer.text().trim(), began.elapsed().as_secs_f32()),
            ),
            Err(error) => {
                // People are told what happened and what to do; what happened is told already.
                let (found, told) = (error.to_string(), error.for_user());
                let fix =
                    told.strip_prefix(&found).map_or(told.as_str(), |fix| fix.trim_start_matches(['.', ' ']));
                Finding::bad("answer", &found, fix)
            }
        },
    }
}

/// Where settings come from, the strongest first.
fn sources(config: &Config) -> String {
    let sources: Vec<&str> = config.layers.iter().rev().map(|layer| layer.source.as_str()).collect();
    format!("from {}", sources.join(", then "))
}

/// The findings for people.
pub fn print(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let mark = if finding.ok { "ok " } else { "BAD" };
        // A finding that lists things has one on each row.
        let found = finding
            .found
            .replace("one of: ", "one of:\n                ")
            .replace("; ", "\n                ");
        let _ = writeln!(out, "{mark}  {:<10} {found}", finding.what);
        if let Some(fix) = &finding.fix {
            let _ = writeln!(out, "     {:<10} → {fix}", "");
        }
    }
    out
}
