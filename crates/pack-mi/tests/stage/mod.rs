//! What the tests of the runtime share: a project, a server beside it, and the tools on them.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "helpers of tests are tests, and each test uses a part of the stage"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use mica_agent::{Args, RunId, Tool, ToolCx, ToolError, ToolOutput};
use mica_ai::Content;
use mica_ai::id::CallId;
use mica_context::spill::{SpillFolder, SpillLimits};
use mica_sandbox::{Around, Boundary, Places, Sandbox, Stub, Tier};
use mica_tools::{Ground, TaskLimits, Tasks, Workspace};
use pack_mi::runtime::{Given, LocalClient, Runtime, RuntimeSettings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// The program that plays the others.
pub(crate) fn stand_in() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("examples/stand_in");
    assert!(path.exists(), "{} is missing: cargo build -p pack-mi --example stand_in", path.display());
    path
}

/// A folder that is not inside one that everybody shares: the sandbox has its own of those.
fn base() -> PathBuf {
    let usual = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    if !["/tmp", "/var/tmp"].iter().any(|shared| usual.starts_with(shared)) {
        return usual;
    }
    let writable = |folder: &PathBuf| tempfile::tempdir_in(folder).is_ok();
    ["/srv", "/opt", "/home"].map(PathBuf::from).into_iter().find(writable).unwrap_or(usual)
}

pub(crate) struct TestGround {
    project: PathBuf,
    outer: PathBuf,
    sandbox: OnceCell<Sandbox>,
    path: Mutex<Option<String>>,
}

impl TestGround {
    /// Has programs looked for elsewhere.
    pub(crate) fn with_path(&self, path: &str) {
        *self.path.lock().unwrap() = Some(path.to_owned());
    }
}

#[async_trait]
impl Ground for TestGround {
    async fn sandbox(&self) -> Result<Sandbox, ToolError> {
        Ok(self.sandbox.get_or_init(|| Sandbox::negotiate(Stub::at(stand_in()))).await.clone())
    }

    fn boundary(&self) -> Result<Boundary, ToolError> {
        let mut environment: BTreeMap<String, String> = std::env::vars().collect();
        environment.extend(self.path.lock().unwrap().clone().map(|path| ("PATH".to_owned(), path)));
        let temporary = std::env::temp_dir();
        let around = Around { home: Some(&self.outer), environment: &environment, temporary: &temporary };
        let places = Places::builtin().unwrap();
        let mut boundary = Boundary::project(&self.project, &around, &places).unwrap();
        // The programs of the tests are where they are built.
        boundary.readable.push(stand_in());
        Ok(boundary)
    }
}

/// A project with a server beside it.
pub(crate) struct Stage {
    outer: TempDir,
    pub(crate) tasks: Tasks,
    pub(crate) ground: Arc<TestGround>,
    pub(crate) offset: u16,
}

impl Stage {
    pub(crate) fn new() -> Self {
        std::fs::create_dir_all(base()).unwrap();
        let outer = tempfile::tempdir_in(base()).unwrap();
        std::fs::create_dir_all(outer.path().join("project")).unwrap();
        let project = outer.path().join("project").canonicalize().unwrap();
        let logs = Arc::new(SpillFolder::new(outer.path().join("logs"), SpillLimits::default()));
        let tasks = Tasks::new(logs, Arc::new(SystemTime::now), TaskLimits::default());
        let ground = Arc::new(TestGround {
            project,
            outer: outer.path().canonicalize().unwrap(),
            sandbox: OnceCell::new(),
            path: Mutex::default(),
        });
        Self { outer, tasks, ground, offset: free_offset() }
    }

    /// The sandbox, or a printed word about what is not reached.
    pub(crate) async fn is_confined(&self) -> bool {
        let tier = self.ground.sandbox().await.unwrap().tier();
        if tier == Tier::None {
            println!("SKIP: nothing confines programs here");
        }
        tier != Tier::None
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.outer.path().join("project").canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.outer.path().canonicalize().unwrap().join("server")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.outer.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn put(&self, path: &str, text: &str) -> PathBuf {
        put(&self.project().join(path), text)
    }

    /// A server that behaves in a way.
    pub(crate) fn install_server(&self, behaviour: &str) {
        let script = format!("#!/bin/sh\nexec {} server \"$@\"\n", stand_in().display());
        put(&self.home().join("bin/micro-integrator.sh"), &script);
        put(&self.home().join("conf/deployment.toml"), "[server]\nhostname = \"theirs\"\n");
        put(&self.home().join("behaviour"), behaviour);
        self.put("deployment/deployment.toml", &format!("[server]\noffset = {}\n", self.offset));
    }

    pub(crate) fn settings(&self) -> RuntimeSettings {
        RuntimeSettings {
            runtime: self.home().is_dir().then(|| self.home()),
            server_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(5),
            deploy_timeout: Duration::from_secs(20),
            ..RuntimeSettings::default()
        }
    }

    pub(crate) fn runtime(&self, settings: RuntimeSettings) -> Runtime {
        let given = Given {
            ground: Arc::clone(&self.ground) as Arc<dyn Ground>,
            tasks: self.tasks.clone(),
            logs: Arc::new(SpillFolder::new(self.beside("logs"), SpillLimits::default())),
            clock: Arc::new(SystemTime::now),
            client: Arc::new(LocalClient),
            settings,
        };
        Runtime::new(&Workspace::new(self.project()).unwrap(), given)
    }
}

pub(crate) fn put(path: &Path, text: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    path.to_owned()
}

/// An offset whose ports nobody has. Tests run side by side, each with its own.
fn free_offset() -> u16 {
    let start = u16::try_from(std::process::id() % 400).unwrap() * 100;
    (0..300)
        .map(|step| 500 + (start + step * 130) % 40_000)
        .find(|offset| {
            let free = |base: u16| std::net::TcpListener::bind(("127.0.0.1", base - 10 + offset)).is_ok();
            [8290, 8253, 9201, 9164].into_iter().all(free)
        })
        .expect("free ports")
}

/// What a call said on its way.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<String>>);

impl Heard {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) fn cx(cancel: &CancellationToken) -> (ToolCx, Heard) {
    let heard = Heard::default();
    let hears = heard.clone();
    let cx = ToolCx::new(RunId::fresh(), CallId::from("c"), cancel.clone(), move |news| {
        hears.0.lock().unwrap().push_str(&news);
    });
    (cx, heard)
}

pub(crate) fn args(value: Value) -> Args {
    let Value::Object(args) = value else { panic!("{value} is no object") };
    args
}

pub(crate) fn tool(runtime: &Runtime, name: &str) -> Arc<dyn Tool> {
    runtime.tools().into_iter().find(|tool| tool.spec().name == name).unwrap()
}

/// Calls a tool: its text, or its error.
pub(crate) async fn call(runtime: &Runtime, name: &str, value: Value) -> Result<String, String> {
    let (cx, _) = cx(&CancellationToken::new());
    tool(runtime, name)
        .call(args(value), &cx)
        .await
        .map(|output| text(&output))
        .map_err(|error| error.message)
}

pub(crate) fn text(output: &ToolOutput) -> String {
    let texts = output.content.iter().filter_map(|content| match content {
        Content::Text { text } => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}
