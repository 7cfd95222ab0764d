//! `mica hooks`: look at the commands that are hooked to events, and try them.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use mica_ext::hooks::answer::{Answer, Wish};
use mica_ext::hooks::commands::Trial;
use mica_ext::hooks::event::Named;
use mica_ext::hooks::payload::sample;
use mica_ext::hooks::{CommandHooks, Hook, HookEvent, Owner, vocabulary};
use mica_policy::mode::{Mode, ModeSwitch};
use serde_json::{Value, json};

use crate::cli::{Form, HooksCommand};
use crate::config::Values;
use crate::equipment::{self, hooks};
use crate::render::question::{plain, plain_page};
use crate::surroundings::Surroundings;

/// The text to print.
///
/// # Errors
/// An event that there is not, or input that is no JSON.
pub async fn run(command: &HooksCommand, values: &Values, surroundings: &Surroundings) -> Result<String> {
    match command {
        HooksCommand::List { format } => Ok(list(values, surroundings, *format)),
        HooksCommand::Test { event, tool, input } => {
            test(values, surroundings, event, tool, input.as_deref()).await
        }
    }
}

/// The hooks that count here, and what is wrong.
pub fn list(values: &Values, surroundings: &Surroundings, form: Form) -> String {
    let loaded = hooks::load(surroundings, values);
    let configured = &loaded.configured;
    if form == Form::Json {
        let untrusted: Vec<String> = loaded.untrusted.iter().map(|path| path.display().to_string()).collect();
        let problems: Vec<Value> = configured
            .problems
            .iter()
            .map(|problem| json!({ "place": problem.place, "message": problem.message }))
            .collect();
        let closed: Vec<String> = configured.closed.iter().map(|closed| closed.matcher.to_string()).collect();
        let all: Vec<Value> = configured.hooks.iter().map(row).collect();
        let all = json!({ "hooks": all, "problems": problems, "closed": closed, "untrusted": untrusted, "differs": loaded.differs });
        return format!("{all}\n");
    }
    let mut out = String::new();
    if values.hooks.enabled == Some(false) {
        out.push_str("hooks are off: the setting hooks.enabled is false\n");
    } else if configured.hooks.is_empty() && configured.closed.is_empty() {
        let _ = writeln!(
            out,
            "nothing is hooked to anything; hooks are in {} and in .mica/hooks.json of a project",
            hooks::user_file(surroundings).display()
        );
    }
    for event in HookEvent::ALL {
        let of_event: Vec<&Hook> = configured.hooks.iter().filter(|hook| hook.event == event).collect();
        if of_event.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{event}");
        for hook in of_event {
            let _ = writeln!(
                out,
                "  {}  {}  ({})",
                plain(&hook.matcher.to_string()),
                plain(&hook.exec.to_string()),
                plain(&notes(hook).join(", "))
            );
            let _ = writeln!(out, "      {}", plain(&hook.place));
        }
    }
    for path in &loaded.untrusted {
        let _ = writeln!(
            out,
            "not used, because it is not trusted: {}; look at it with `mica trust --list`, then run `mica trust`",
            plain(&path.display().to_string())
        );
    }
    for problem in configured.problems.iter().map(ToString::to_string).chain(loaded.differs.iter().cloned()) {
        let _ = writeln!(out, "wrong: {problem}");
    }
    for closed in &configured.closed {
        let _ = writeln!(
            out,
            "calls of {} are not run until this is mended: {}",
            plain(&closed.matcher.to_string()),
            plain(&closed.problem.place)
        );
    }
    // What is wrong may quote the file.
    plain_page(&out)
}

fn owner(hook: &Hook) -> &'static str {
    match hook.owner {
        Owner::User => "yours",
        Owner::Project => "the project's",
    }
}

fn notes(hook: &Hook) -> Vec<String> {
    let mut notes = vec![owner(hook).to_owned(), format!("{} s", hook.timeout.as_secs_f64())];
    if hook.vocabulary != vocabulary::Vocabulary::Mica {
        notes.push(format!("words of {}", hook.vocabulary.name()));
    }
    if hook.is_async {
        notes.push("nobody waits for it".to_owned());
    }
    if hook.once {
        notes.push("once in a session".to_owned());
    }
    if !hook.network.is_empty() {
        notes.push(format!("reaches {}", hook.network.join(", ")));
    }
    notes
}

fn row(hook: &Hook) -> Value {
    json!({
        "event": hook.event.name(),
        "matcher": hook.matcher.to_string(),
        "command": hook.exec.to_string(),
        "owner": if hook.owner == Owner::User { "user" } else { "project" },
        "vocabulary": hook.vocabulary.name(),
        "timeout": hook.timeout.as_secs_f64(),
        "async": hook.is_async,
        "once": hook.once,
        "network": hook.network,
        "place": hook.place,
    })
}

async fn test(
    values: &Values,
    surroundings: &Surroundings,
    event: &str,
    tool: &str,
    input: Option<&str>,
) -> Result<String> {
    let Named::Known(event) = HookEvent::named(event) else {
        let all: Vec<&str> = HookEvent::ALL.iter().map(|event| event.name()).collect();
        bail!("there is no event {event:?}; the events are {}", all.join(", "));
    };
    let tool = vocabulary::ours(tool);
    let args = match input {
        None if tool == "shell" => json!({ "command": "echo hello" }),
        None => json!({ "path": "a.txt" }),
        Some(text) => serde_json::from_str(text).context("--input is no JSON")?,
    };
    let args = args.as_object().cloned().ok_or_else(|| anyhow!("--input is no JSON object"))?;
    let loaded = hooks::load(surroundings, values);
    let mut out = String::new();
    for problem in &loaded.configured.problems {
        let _ = writeln!(out, "wrong: {}", plain(&problem.to_string()));
    }
    let ground = equipment::ground_of(values, surroundings)?;
    let runner = hooks::Sandboxed::new(ground, surroundings, values, loaded.watched);
    let mode = ModeSwitch::new(Mode::default());
    let session = hooks::HookSession::new(None, surroundings.folder.clone(), mode, false);
    let commands = CommandHooks::new(loaded.configured, Arc::new(runner), Arc::new(session));
    let trials = commands.trial(&sample(event, tool, &args)).await;
    if trials.is_empty() {
        let _ = writeln!(out, "no hook of {event} matches; `mica hooks list` shows those that there are");
    }
    for trial in &trials {
        if let Some(hook) = commands.configured().hooks.get(trial.index) {
            shown(&mut out, hook, trial);
        }
    }
    Ok(out)
}

fn shown(out: &mut String, hook: &Hook, trial: &Trial) {
    let Trial { stdin, ran, answer, .. } = trial;
    let pretty = serde_json::from_str::<Value>(stdin).ok();
    let pretty = pretty.and_then(|value| serde_json::to_string_pretty(&value).ok());
    let _ = writeln!(out, "{} ({})", plain(&hook.exec.to_string()), plain(&hook.place));
    let mut part = |name: &str, text: &str| {
        if !text.trim().is_empty() {
            let _ = writeln!(out, "  {name}");
            text.trim_end().lines().for_each(|line| {
                let _ = writeln!(out, "    {}", plain(line));
            });
        }
    };
    part("reads", pretty.as_deref().unwrap_or(stdin));
    part("prints", &String::from_utf8_lossy(&ran.stdout));
    part("complains", &String::from_utf8_lossy(&ran.stderr));
    let _ = writeln!(out, "  ends: {}", plain(&ended(&ran.end)));
    let _ = writeln!(out, "  means: {}\n", plain(&meaning(hook, answer)));
}

fn ended(end: &hooks::End) -> String {
    use hooks::End;
    match end {
        End::Exited(code) => format!("with code {code}"),
        End::Signalled(signal) => format!("by signal {signal}"),
        End::TimedOut => "its time was up".to_owned(),
        End::Limited(limit) => limit.clone(),
        End::Cancelled => "it was stopped".to_owned(),
        End::NotRun(reason) => format!("it was not run: {reason}"),
    }
}

fn meaning(hook: &Hook, answer: &Answer) -> String {
    let mut means = vec![match answer.wish {
        None => "no objection".to_owned(),
        Some(Wish::Allow) if hook.owner == Owner::Project => {
            "yes, which counts for nothing from a project's hook".to_owned()
        }
        Some(Wish::Allow) => "nobody needs to be asked".to_owned(),
        Some(Wish::Ask) => "a person is asked".to_owned(),
        Some(Wish::Deny) => "no".to_owned(),
    }];
    let mut add = |what: &str, text: Option<String>| means.extend(text.map(|text| format!("{what}: {text}")));
    add("because", answer.reason.clone());
    add("the run ends", answer.halt.clone());
    add("the model is told", answer.context.clone());
    add("the input becomes", answer.input.clone().map(|input| Value::Object(input).to_string()));
    add("the result becomes", answer.output.clone());
    add("people are told", answer.message.clone());
    add("wrong", answer.problem.clone());
    means.join("; ")
}
