//! The management API: what it knows and what it can be told is data (`management.toml`).

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use mica_agent::{ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ports::Ports;
use crate::runtime::Runtime;
use crate::runtime::arguments::shortened;
use crate::runtime::loopback::{LocalError, LocalRequest, LocalResponse, Method};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer that are told.
const TOLD: usize = 20_000;
/// Names of one kind that a look lists.
const NAMES: usize = 30;

#[derive(Deserialize)]
struct Tables {
    kind: Vec<Kind>,
    order: Vec<Ordered>,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
    path: Option<String>,
    name: Option<String>,
    #[serde(default)]
    needs: bool,
    overview: Option<String>,
}

#[derive(Deserialize)]
struct Ordered {
    order: String,
    method: Method,
    kinds: Vec<String>,
    body: BTreeMap<String, String>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    // A test reads it; should it ever not be readable, nothing is known.
    let nothing = || Tables { kind: Vec::new(), order: Vec::new() };
    TABLES.get_or_init(|| toml::from_str(include_str!("management.toml")).unwrap_or_else(|_| nothing()))
}

fn kind_of(word: &str) -> Result<&'static Kind, ToolError> {
    let kinds = &tables().kind;
    kinds.iter().find(|one| one.kind == word).ok_or_else(|| {
        let known: Vec<&str> = kinds.iter().map(|one| one.kind.as_str()).collect();
        let said = if word.is_empty() {
            "artifact_type is missing".to_owned()
        } else {
            format!("There is no artifact_type {word:?}")
        };
        ToolError::new(format!("{said}. There are: {}.", known.join(", ")))
    })
}

/// An order.
pub(super) struct Order<'a> {
    pub(super) kind: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) action: &'a str,
    pub(super) level: Option<&'a str>,
    pub(super) class: Option<&'a str>,
}

/// The API, with somebody logged in.
struct Api<'a> {
    runtime: &'a Runtime,
    base: String,
    token: String,
}

impl<'a> Api<'a> {
    async fn log_in(runtime: &'a Runtime, ports: Ports) -> Result<Self, String> {
        let settings = runtime.settings();
        let base = settings
            .management
            .clone()
            .unwrap_or_else(|| format!("https://localhost:{}/management", ports.management));
        let base = base.trim_end_matches('/').to_owned();
        let basic = BASE64_STANDARD.encode(format!("{}:{}", settings.login.user, settings.login.password));
        let request = LocalRequest {
            method: Method::Get,
            url: format!("{base}/login"),
            authorization: Some(format!("Basic {basic}")),
            body: None,
            timeout: TIMEOUT,
        };
        let answer = runtime.shared.client.send(request).await.map_err(|error| match error {
            LocalError::Refused => {
                "nobody listens there; the server does not run, or its management API is off".to_owned()
            }
            error => error.to_string(),
        })?;
        if matches!(answer.status, 401 | 403) {
            return Err(format!(
                "the server refuses the login of {:?}; the user sets mi.management_user and mi.management_password_env",
                settings.login.user
            ));
        }
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        match body.get("AccessToken").and_then(Value::as_str) {
            Some(token) if answer.status == 200 => Ok(Self { runtime, base, token: token.to_owned() }),
            _ => Err(format!("the login was answered with {} and no token", answer.status)),
        }
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Result<LocalResponse, String> {
        let request = LocalRequest {
            method,
            url: format!("{}/{path}", self.base),
            authorization: Some(format!("Bearer {}", self.token)),
            body: body.map(|body| body.to_string()),
            timeout: TIMEOUT,
        };
        self.runtime.shared.client.send(request).await.map_err(|error| error.to_string())
    }
}

fn ports(runtime: &Runtime) -> Result<Ports, ToolError> {
    let home = runtime.home().map_err(ToolError::new)?;
    Ok(Ports::running(&home))
}

fn unreachable(reason: &str) -> ToolError {
    ToolError::new(format!("The management API cannot be used: {reason}."))
}

/// Asks about artifacts.
pub(super) async fn query(
    runtime: &Runtime,
    kind: &str,
    name: Option<&str>,
) -> Result<ToolOutput, ToolError> {
    let kind = kind_of(kind)?;
    let path = path_of(kind, name)?;
    let api = Api::log_in(runtime, ports(runtime)?).await.map_err(|reason| unreachable(&reason))?;
    let answer = api.send(Method::Get, &path, None).await.map_err(|reason| unreachable(&reason))?;
    told(&answer, kind, name)
}

/// The path of a question.
fn path_of(kind: &Kind, name: Option<&str>) -> Result<String, ToolError> {
    let path = kind.path.as_deref().unwrap_or(&kind.kind);
    match (&kind.name, name) {
        (Some(parameter), Some(name)) => Ok(format!("{path}?{parameter}={}", encoded(name))),
        (None, Some(_)) => {
            Err(ToolError::new(format!("{} are not asked for by name: leave artifact_name out.", kind.kind)))
        }
        (Some(parameter), None) if kind.needs => {
            Err(ToolError::new(format!("{} needs artifact_name (the {parameter}).", kind.kind)))
        }
        _ => Ok(path.to_owned()),
    }
}

/// Gives an order.
pub(super) async fn control(runtime: &Runtime, order: &Order<'_>) -> Result<ToolOutput, ToolError> {
    let kind = kind_of(order.kind)?;
    let (ordered, body) = body_of(order)?;
    let api = Api::log_in(runtime, ports(runtime)?).await.map_err(|reason| unreachable(&reason))?;
    let path = kind.path.as_deref().unwrap_or(&kind.kind);
    let answer = api.send(ordered.method, path, Some(body)).await.map_err(|reason| unreachable(&reason))?;
    told(&answer, kind, order.name)
}

/// The order in the table, and its body.
fn body_of(order: &Order<'_>) -> Result<(&'static Ordered, Value), ToolError> {
    let all = &tables().order;
    let Some(found) = all.iter().find(|one| one.order == order.action) else {
        let known: Vec<&str> = all.iter().map(|one| one.order.as_str()).collect();
        return Err(ToolError::new(format!(
            "There is no control_action {:?}. There are: {}.",
            order.action,
            known.join(", ")
        )));
    };
    if !found.kinds.iter().any(|kind| kind == order.kind) {
        return Err(ToolError::new(format!(
            "{} is for {}, and not for {}.",
            order.action,
            found.kinds.join(", "),
            order.kind
        )));
    }
    let mut body = Map::new();
    for (member, value) in &found.body {
        let given = match value.as_str() {
            "{name}" => Some(
                order.name.ok_or_else(|| ToolError::new(format!("{} needs artifact_name.", order.action)))?,
            ),
            "{level}" => {
                Some(order.level.ok_or_else(|| ToolError::new(format!("{} needs level.", order.action)))?)
            }
            "{class}" => order.class,
            text => Some(text),
        };
        if let Some(given) = given {
            body.insert(member.clone(), json!(given));
        }
    }
    Ok((found, Value::Object(body)))
}

fn told(answer: &LocalResponse, kind: &Kind, name: Option<&str>) -> Result<ToolOutput, ToolError> {
    let pretty = serde_json::from_str::<Value>(&answer.body)
        .ok()
        .and_then(|body| serde_json::to_string_pretty(&body).ok())
        .unwrap_or_else(|| answer.body.clone());
    let pretty = shortened(pretty.trim(), TOLD);
    match answer.status {
        200..=299 if pretty.is_empty() => Ok(ToolOutput::text("Done.")),
        200..=299 => Ok(ToolOutput::text(pretty)),
        404 => Err(ToolError::new(format!(
            "The server has no {}{}. {}",
            kind.kind,
            name.map(|name| format!(" {name:?}")).unwrap_or_default(),
            shortened(&pretty, 500)
        ))),
        status => {
            Err(ToolError::new(format!("The server answered with {status}: {}", shortened(&pretty, 1_000))))
        }
    }
}

/// What is deployed, in lines and as data.
pub(super) async fn overview(runtime: &Runtime, ports: Ports) -> Result<(Vec<String>, Value), String> {
    let api = Api::log_in(runtime, ports).await?;
    let mut lines = Vec::new();
    let mut found = Map::new();
    for kind in &tables().kind {
        let Some(title) = &kind.overview else { continue };
        let Ok(answer) = api.send(Method::Get, &kind.kind, None).await else { continue };
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let names = |list: &str| -> Vec<String> {
            let all = body.get(list).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(|one| {
                let name = one.get("name").and_then(Value::as_str)?;
                let more = one.get("version").or_else(|| one.get("context")).and_then(Value::as_str);
                Some(more.map_or_else(|| name.to_owned(), |more| format!("{name} {more}")))
            })
            .take(NAMES)
            .collect()
        };
        let (mut good, bad) = (names("list"), names("faultyList"));
        good.extend(names("activeList"));
        if !good.is_empty() {
            lines.push(format!("{title}: {}.", good.join(", ")));
        }
        if !bad.is_empty() {
            lines.push(format!("{title} that FAILED to deploy: {}.", bad.join(", ")));
        }
        found.insert(kind.kind.clone(), json!({ "active": good, "faulty": bad }));
    }
    if lines.is_empty() {
        lines.push("Nothing is deployed.".to_owned());
    }
    Ok((lines, Value::Object(found)))
}

/// A value of a query.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests;
