//! What scripts can ask: functions by name, each judged by the permissions, and answered by the world.
//!
//! Scripts run on a thread of their own that does nothing else; whatever waits is done on the runtime of the program.

use std::sync::Arc;
use std::time::Duration;

use mica_script::Host;
use mica_script::host::Answer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use super::permission::{Grants, Permission};
use super::running::{Calls, Under};
use super::wire;
use crate::world::{Choice, Deliver, Exec, Fetch, Outgoing, Program, Refusal, Severity, Voice, World};

/// How long a program or a request may take, unless the script says something else, and at most.
const USUAL: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(600);

/// Bytes of a value that is kept or stored.
const KEPT: usize = 256 << 10;

/// Letters of a key, a status or a title.
const SHORT: usize = 500;

/// What the functions of one script work with.
#[derive(Clone)]
pub(super) struct Powers {
    pub(super) name: Arc<str>,
    /// What it stores values under.
    pub(super) stores_as: Arc<str>,
    pub(super) world: Arc<dyn World>,
    pub(super) grants: Grants,
    pub(super) calls: Calls,
    pub(super) runtime: Handle,
}

/// All functions of one script.
pub(super) fn functions(powers: &Powers) -> Host {
    let host = state(Host::new(), powers);
    let host = people(host, powers);
    let host = speech(host, powers);
    reach(host, powers)
}

/// What is, and what is shown.
fn state(host: Host, powers: &Powers) -> Host {
    let now = |host: Host, name: &str, answer: fn(&Powers, Vec<Value>) -> Answer| {
        let powers = powers.clone();
        host.with(name, move |args| answer(&powers, args))
    };
    let host = now(host, "hasUI", |powers, _| Ok(powers.world.has_ui().into()));
    let host = now(host, "cwd", |powers, _| Ok(powers.world.cwd().to_string_lossy().into()));
    let host = now(host, "isIdle", |powers, _| Ok(powers.world.is_idle().into()));
    let host = now(host, "usage", |powers, _| {
        let usage = powers.world.usage();
        #[allow(clippy::cast_precision_loss, reason = "a share of tokens")]
        let percent = if usage.window == 0 { 0.0 } else { 100.0 * usage.tokens as f64 / usage.window as f64 };
        Ok(json!({ "tokens": usage.tokens, "contextWindow": usage.window, "percent": percent }))
    });
    let host = now(host, "systemPrompt", |powers, _| Ok(powers.world.system_prompt().into()));
    let host = now(host, "tools", |powers, _| {
        serde_json::to_value(powers.world.tools()).map_err(|error| error.to_string())
    });
    let host = now(host, "thinkingLevel", |powers, _| Ok(powers.world.thinking_level().into()));
    let host = now(host, "setThinkingLevel", |powers, args| {
        powers.grants.need(&Permission::Agent)?;
        let (level,): (String,) = read(args)?;
        done(powers.world.set_thinking_level(&powers.name, &level))
    });
    let host = now(host, "setActiveTools", |powers, args| {
        powers.grants.need(&Permission::Agent)?;
        let (names,): (Vec<String>,) = read(args)?;
        done(powers.world.set_active_tools(&powers.name, &names))
    });
    let host = now(host, "abort", |powers, _| {
        powers.world.abort(&powers.name);
        Ok(Value::Null)
    });
    let host = now(host, "notify", |powers, args| {
        let (text, severity): (String, Severity) = read(args)?;
        powers.world.notify(&powers.name, &short(&text, 16 * SHORT), severity);
        Ok(Value::Null)
    });
    let host = now(host, "setStatus", |powers, args| {
        let (key, text): (String, Option<String>) = read(args)?;
        powers.world.set_status(
            &powers.name,
            &short(&key, SHORT),
            text.map(|text| short(&text, SHORT)).as_deref(),
        );
        Ok(Value::Null)
    });
    now(host, "progress", |powers, args| {
        let (call, news): (u64, String) = read(args)?;
        if let Some(progress) = powers.calls.of(call).progress {
            progress(news);
        }
        Ok(Value::Null)
    })
}

/// Questions to a person. Whoever waits for the script has no clock meanwhile.
fn people(host: Host, powers: &Powers) -> Host {
    let host = later(host, powers, "confirm", |powers, args| async move {
        let (call, title, message): (u64, String, String) = read(args)?;
        let Under { patience, cancel, .. } = powers.calls.of(call);
        if !powers.world.has_ui() {
            return Ok(false.into());
        }
        let (title, message) = (short(&title, SHORT), short(&message, 16 * SHORT));
        Ok(patience.person(powers.world.confirm(&powers.name, &title, &message, &cancel)).await.into())
    });
    let host = later(host, powers, "select", |powers, args| async move {
        #[derive(Deserialize)]
        struct Offered {
            label: String,
            description: Option<String>,
        }
        let (call, title, offered): (u64, String, Vec<Offered>) = read(args)?;
        let Under { patience, cancel, .. } = powers.calls.of(call);
        if !powers.world.has_ui() || offered.is_empty() {
            return Ok(Value::Null);
        }
        let choices: Vec<Choice> = offered
            .into_iter()
            .map(|one| Choice {
                label: short(&one.label, SHORT),
                description: one.description.map(|text| short(&text, SHORT)),
            })
            .collect();
        let picked = powers.world.select(&powers.name, &title, &choices, &cancel);
        Ok(json!(patience.person(picked).await.filter(|picked| *picked < choices.len())))
    });
    later(host, powers, "input", |powers, args| async move {
        let (call, title, placeholder): (u64, String, String) = read(args)?;
        let Under { patience, cancel, .. } = powers.calls.of(call);
        if !powers.world.has_ui() {
            return Ok(Value::Null);
        }
        let written = powers.world.input(&powers.name, &title, &placeholder, &cancel);
        Ok(json!(patience.person(written).await))
    })
}

/// What is said and kept in the session.
fn speech(host: Host, powers: &Powers) -> Host {
    let sending = powers.clone();
    let host = host.with("sendMessage", move |args| {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Sent {
            custom_type: Option<String>,
            content: Value,
            details: Option<Value>,
            display: bool,
            deliver: Deliver,
            trigger: bool,
            voice: Voice,
        }
        sending.grants.need(&Permission::Messages)?;
        let (sent,): (Sent,) = read(args)?;
        let message = Outgoing {
            custom_type: sent.custom_type,
            content: wire::content(sent.content)?,
            voice: sent.voice,
            deliver: sent.deliver,
            trigger: sent.trigger,
            display: sent.display,
            details: sent.details,
        };
        done(sending.world.send_message(&sending.name, message))
    });
    let host = later(host, powers, "appendEntry", |powers, args| async move {
        let (custom_type, data): (String, Value) = read(args)?;
        fits(&data)?;
        let kept = powers.world.append_entry(&powers.name, &short(&custom_type, SHORT), data).await;
        kept.map(Value::from).map_err(|refusal| refusal.to_string())
    });
    later(host, powers, "entries", |powers, _| async move {
        let entries = powers.world.entries(&powers.name).await.map_err(|refusal| refusal.to_string())?;
        serde_json::to_value(entries).map_err(|error| error.to_string())
    })
}

/// What reaches out of the session.
fn reach(host: Host, powers: &Powers) -> Host {
    let host = later(host, powers, "exec", |powers, args| async move {
        let (call, exec): (u64, wire::ExecAsked) = read(args)?;
        let what = match (exec.argv, exec.command) {
            (Some(argv), None) if !argv.is_empty() => Program::Argv(argv),
            (None, Some(command)) => Program::Shell(command),
            _ => return Err("exec needs a program and its arguments, or a command".to_owned()),
        };
        let wanted = match &what {
            Program::Argv(argv) => argv.first().filter(|program| !program.contains('/')).cloned(),
            Program::Shell(_) => None,
        };
        powers.grants.need(&Permission::Exec(wanted))?;
        let timeout = limited(exec.timeout);
        let exec = Exec { what, cwd: exec.cwd.map(Into::into), stdin: exec.stdin, timeout };
        let ran = powers.world.exec(&powers.name, exec, &powers.calls.of(call).cancel).await;
        serde_json::to_value(ran.map_err(|refusal| refusal.to_string())?).map_err(|error| error.to_string())
    });
    let host = later(host, powers, "fetch", |powers, args| async move {
        let (call, asked): (u64, wire::FetchAsked) = read(args)?;
        let host = asked.host().ok_or_else(|| format!("{}: no address of the web", asked.url))?;
        powers.grants.need(&Permission::Fetch(Some(host)))?;
        let fetch = Fetch {
            method: asked.method.unwrap_or_else(|| "GET".to_owned()).to_ascii_uppercase(),
            url: asked.url,
            headers: asked.headers,
            body: asked.body,
            timeout: limited(asked.timeout),
        };
        let got = powers.world.fetch(&powers.name, fetch, &powers.calls.of(call).cancel).await;
        serde_json::to_value(got.map_err(|refusal| refusal.to_string())?).map_err(|error| error.to_string())
    });
    let host = later(host, powers, "stored", |powers, args| async move {
        powers.grants.need(&Permission::Storage)?;
        let (key,): (String,) = read(args)?;
        let stored =
            powers.world.stored(&powers.stores_as, &key).await.map_err(|refusal| refusal.to_string())?;
        Ok(stored.unwrap_or_default())
    });
    let host = later(host, powers, "store", |powers, args| async move {
        powers.grants.need(&Permission::Storage)?;
        let (key, value): (String, Value) = read(args)?;
        if key.is_empty() || key.len() > SHORT {
            return Err(format!("a key has 1 to {SHORT} letters"));
        }
        fits(&value)?;
        done(powers.world.store(&powers.stores_as, &key, Some(value).filter(|value| !value.is_null())).await)
    });
    later(host, powers, "storedKeys", |powers, _| async move {
        powers.grants.need(&Permission::Storage)?;
        let keys =
            powers.world.stored_keys(&powers.stores_as).await.map_err(|refusal| refusal.to_string())?;
        Ok(json!(keys))
    })
}

/// A function that takes a while, done on the runtime of the program. It ends when nobody waits for it any more.
fn later<F>(host: Host, powers: &Powers, name: &str, answer: fn(Powers, Vec<Value>) -> F) -> Host
where
    F: Future<Output = Answer> + Send + 'static,
{
    let powers = powers.clone();
    host.with_async(name, move |args| {
        let asking = powers.calls.asking();
        let task = AbortOnDropHandle::new(powers.runtime.spawn(answer(powers.clone(), args)));
        async move {
            let answer = task.await.unwrap_or_else(|_| Err("the program could not do this".to_owned()));
            drop(asking);
            answer
        }
    })
}

fn read<T: DeserializeOwned>(args: Vec<Value>) -> Result<T, String> {
    serde_json::from_value(Value::Array(args)).map_err(|error| format!("wrong arguments: {error}"))
}

fn done(made: Result<(), Refusal>) -> Answer {
    made.map(|()| Value::Null).map_err(|refusal| refusal.to_string())
}

fn fits(value: &Value) -> Result<(), String> {
    let bytes = value.to_string().len();
    if bytes > KEPT { Err(format!("the value has {bytes} bytes, more than {KEPT}")) } else { Ok(()) }
}

/// Milliseconds of a script as a time that has an end.
fn limited(timeout: Option<f64>) -> Duration {
    let asked = timeout.filter(|ms| ms.is_finite() && *ms > 0.0);
    asked.map_or(USUAL, |ms| Duration::from_secs_f64((ms / 1e3).min(LONGEST.as_secs_f64())))
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
