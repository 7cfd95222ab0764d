//! A world that remembers what it was asked, extensions from text, and a run with a scripted model.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{
    Agent, Args, Ask, Context, Decision, Hooks, Outcome, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
};
use mica_ai::{Content, Dialect, Message, Model};
use mica_ext::script::{self, Bundle, LoadError, Setting};
use mica_ext::world::{
    Choice, Exec, Executed, Fetch, Fetched, Kept, Outgoing, Program, Refusal, Severity, ToolInfo, WindowUse,
};
use mica_ext::{Extension, Extensions, World};
use mica_testkit::{Call, Scenario, ScriptedModel, Step, Turn};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A world that remembers.
#[derive(Default)]
pub struct Stage {
    pub asked: Mutex<Vec<String>>,
    /// What people answer; without an answer nobody is there.
    pub answers: Mutex<Option<VecDeque<Value>>>,
    pub log: Mutex<Vec<String>>,
    pub stored: Mutex<BTreeMap<String, Value>>,
    pub kept: Mutex<Vec<Kept>>,
    /// Programs wait for this, when it is there.
    pub gate: Mutex<Option<Arc<tokio::sync::Notify>>>,
    /// How long a person thinks about a question, and a program takes.
    pub takes: Mutex<Duration>,
}

impl Stage {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// With a person who answers so.
    pub fn with_person(answers: impl IntoIterator<Item = Value>) -> Arc<Self> {
        let stage = Self::default();
        *stage.answers.lock().unwrap() = Some(answers.into_iter().collect());
        Arc::new(stage)
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    async fn take_time(&self) {
        let takes = *self.takes.lock().unwrap();
        tokio::time::sleep(takes).await;
    }

    fn ask(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }

    fn answer(&self) -> Option<Value> {
        self.answers.lock().unwrap().as_mut()?.pop_front()
    }
}

#[async_trait]
impl World for Stage {
    fn cwd(&self) -> PathBuf {
        PathBuf::from("/project")
    }

    fn has_ui(&self) -> bool {
        self.answers.lock().unwrap().is_some()
    }

    async fn confirm(&self, by: &str, title: &str, message: &str, cancel: &CancellationToken) -> bool {
        self.ask(format!("{by} confirm {title:?} {message:?}"));
        tokio::select! {
            () = self.take_time() => {}
            () = cancel.cancelled() => self.ask(format!("{by} withdrawn")),
        }
        self.answer().and_then(|answer| answer.as_bool()).unwrap_or(false)
    }

    async fn select(
        &self,
        by: &str,
        title: &str,
        choices: &[Choice],
        _: &CancellationToken,
    ) -> Option<usize> {
        let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
        self.ask(format!("{by} select {title:?} {labels:?}"));
        self.answer().and_then(|answer| answer.as_u64()).map(|picked| usize::try_from(picked).unwrap())
    }

    async fn input(&self, by: &str, title: &str, placeholder: &str, _: &CancellationToken) -> Option<String> {
        self.ask(format!("{by} input {title:?} {placeholder:?}"));
        self.answer().and_then(|answer| answer.as_str().map(str::to_owned))
    }

    fn notify(&self, by: &str, text: &str, severity: Severity) {
        self.ask(format!("{by} notify {text:?} {severity:?}"));
    }

    fn set_status(&self, by: &str, key: &str, text: Option<&str>) {
        self.ask(format!("{by} status {key} {text:?}"));
    }

    fn send_message(&self, by: &str, message: Outgoing) -> Result<(), Refusal> {
        let Outgoing { content, voice, deliver, trigger, .. } = message;
        self.ask(format!("{by} says {content:?} {voice:?} {deliver:?} {trigger}"));
        Ok(())
    }

    async fn append_entry(&self, _: &str, custom_type: &str, data: Value) -> Result<String, Refusal> {
        let mut kept = self.kept.lock().unwrap();
        let id = format!("e{}", kept.len());
        kept.push(Kept { id: id.clone(), custom_type: custom_type.to_owned(), data });
        Ok(id)
    }

    async fn entries(&self, _: &str) -> Result<Vec<Kept>, Refusal> {
        Ok(self.kept.lock().unwrap().clone())
    }

    fn tools(&self) -> Vec<ToolInfo> {
        let tool =
            |name: &str, active| ToolInfo { name: name.to_owned(), description: String::new(), active };
        vec![tool("edit", false), tool("read", true)]
    }

    fn set_active_tools(&self, by: &str, names: &[String]) -> Result<(), Refusal> {
        self.ask(format!("{by} tools {names:?}"));
        Ok(())
    }

    fn thinking_level(&self) -> String {
        "low".to_owned()
    }

    fn set_thinking_level(&self, by: &str, level: &str) -> Result<(), Refusal> {
        self.ask(format!("{by} thinks {level}"));
        Ok(())
    }

    fn abort(&self, by: &str) {
        self.ask(format!("{by} aborts"));
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn usage(&self) -> WindowUse {
        WindowUse { tokens: 50, window: 200 }
    }

    fn system_prompt(&self) -> String {
        "Be good.".to_owned()
    }

    async fn exec(&self, by: &str, exec: Exec, _: &CancellationToken) -> Result<Executed, Refusal> {
        let line = match &exec.what {
            Program::Argv(argv) => format!("{argv:?}"),
            Program::Shell(command) => command.clone(),
        };
        self.ask(format!("{by} exec {line} {:?} {:?}", exec.cwd, exec.timeout));
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.notified().await;
        }
        self.take_time().await;
        Ok(Executed { stdout: "out".to_owned(), code: Some(0), ..Executed::default() })
    }

    async fn fetch(&self, by: &str, fetch: Fetch, _: &CancellationToken) -> Result<Fetched, Refusal> {
        self.ask(format!("{by} fetch {} {} {:?}", fetch.method, fetch.url, fetch.headers));
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Ok(Fetched { status: 200, headers, body: "{\"a\":1}".to_owned(), url: fetch.url })
    }

    async fn stored(&self, _: &str, key: &str) -> Result<Option<Value>, Refusal> {
        Ok(self.stored.lock().unwrap().get(key).cloned())
    }

    async fn store(&self, _: &str, key: &str, value: Option<Value>) -> Result<(), Refusal> {
        let mut stored = self.stored.lock().unwrap();
        match value {
            Some(value) => stored.insert(key.to_owned(), value),
            None => stored.remove(key),
        };
        Ok(())
    }

    async fn stored_keys(&self, _: &str) -> Result<Vec<String>, Refusal> {
        Ok(self.stored.lock().unwrap().keys().cloned().collect())
    }

    fn log(&self, by: &str, severity: Severity, line: &str) {
        self.log.lock().unwrap().push(format!("{by} {severity:?} {line}"));
    }
}

/// Loads an extension called `x` from text, with everything granted that it declares.
///
/// It may compute for longer than a busy machine needs: what is stopped after the usual second is loaded with [`hasty`].
pub async fn load(stage: &Arc<Stage>, source: &str) -> Result<Extension, LoadError> {
    loaded(stage, source, Some(Duration::from_secs(60))).await
}

/// The same, as the only one there is.
pub async fn only(stage: &Arc<Stage>, source: &str) -> Extensions {
    Extensions::new(vec![load(stage, source).await.unwrap()])
}

/// The same with the usual time for computing.
#[allow(dead_code, reason = "not every suite has scripts that compute without an end")]
pub async fn hasty(stage: &Arc<Stage>, source: &str) -> Result<Extension, LoadError> {
    loaded(stage, source, None).await
}

async fn loaded(stage: &Arc<Stage>, source: &str, time: Option<Duration>) -> Result<Extension, LoadError> {
    let bundle = Bundle::of_source("x", source).unwrap();
    let granted = bundle.manifest().permissions.clone();
    let mut setting = Setting::new(stage.clone()).granting(granted);
    setting.limits.time = time.unwrap_or(setting.limits.time);
    script::load(&bundle, setting).await
}

/// A factory with this body.
pub fn factory(body: &str) -> String {
    format!("export default async (api: any) => {{\n{body}\n}};\n")
}

/// A tool that says what it was called with, or fails with it.
pub struct Echo(ToolSpec);

impl Echo {
    pub fn named(name: &str) -> Arc<dyn Tool> {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        Arc::new(Self(ToolSpec::new(name, "Says it again.", schema)))
    }
}

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let text = Value::Object(args.clone()).to_string();
        if args.contains_key("fail") { Err(ToolError::new(text)) } else { Ok(ToolOutput::text(text)) }
    }
}

/// Says yes to every question.
#[derive(Default)]
pub struct Yes(pub Mutex<Vec<String>>);

#[async_trait]
impl Hooks for Yes {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        self.0.lock().unwrap().extend(asks.iter().map(|ask| ask.reason.clone()));
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }
}

/// What became of a run.
pub struct Ran {
    /// What the model read of each call.
    pub results: Vec<String>,
    /// What a person was asked about.
    pub asks: Vec<String>,
    pub model: ScriptedModel,
    pub notices: Vec<String>,
}

/// A run that calls these tools, each in a turn of its own.
pub async fn run(extensions: &Extensions, calls: &[(&str, Value)]) -> Ran {
    let script = calls.iter().enumerate().fold(Scenario::new(), |script, (at, (tool, args))| {
        let call = Call::new(*tool, args.clone()).with_id(format!("c{at}"));
        script.turn(Turn::new().step(Step::Call(call)))
    });
    let model = ScriptedModel::new(script.turn(Turn::new().text("Done.")));
    let mut context =
        Context::new(Arc::new(model.clone()), Arc::new(Model::assumed("scripted", Dialect::Responses)));
    context.tools.add(Echo::named("echo"));
    for tool in extensions.tools(|name| name == "echo") {
        context.tools.add(tool);
    }
    let yes = Arc::new(Yes::default());
    let agent = Agent::new(context, vec![Arc::new(extensions.clone()), yes.clone()]);
    agent.listen(Arc::new(extensions.clone()));
    let outcome = agent.prompt("Go.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let results = agent.with(|cx| cx.messages.iter().filter_map(result).collect()).await.unwrap();
    let asks = yes.0.lock().unwrap().clone();
    Ran { results, asks, model, notices: notices(extensions) }
}

/// What people were told.
pub fn notices(extensions: &Extensions) -> Vec<String> {
    extensions.take_notices().iter().map(ToString::to_string).collect()
}

fn result(message: &Message) -> Option<String> {
    let Message::ToolResult(result) = message else { return None };
    let texts = result.content.iter().map(|part| match part {
        Content::Text { text } => text.clone(),
        Content::Image(image) => format!("[{}]", image.media_type),
    });
    Some(texts.collect::<Vec<_>>().join("|"))
}
