//! What the tests of this crate share: a workspace in a temporary folder, and calls on it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use mica_agent::{RunId, Tool, ToolCx, ToolOutput};
use mica_ai::Content;
use mica_ai::id::CallId;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::journal::{FileChange, Journal};
use crate::workspace::Workspace;

/// A workspace that is deleted with the test. It has a folder beside it that nobody may touch.
pub(crate) struct Desk {
    outer: TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) journal: Arc<Kept>,
}

/// A journal that keeps everything, or refuses it.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) changes: Mutex<Vec<FileChange>>,
    pub(crate) refuses: Mutex<bool>,
}

impl Journal for Kept {
    fn changing(&self, _: &FileChange) -> Result<(), String> {
        if *self.refuses.lock().unwrap() { Err("the disk is full".to_owned()) } else { Ok(()) }
    }

    fn changed(&self, change: FileChange) {
        self.changes.lock().unwrap().push(change);
    }
}

impl Desk {
    /// A workspace with files.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let outer = TempDir::new().unwrap();
        fs::create_dir(outer.path().join("work")).unwrap();
        fs::create_dir(outer.path().join("spill")).unwrap();
        fs::write(outer.path().join("secret"), "secret").unwrap();
        let journal = Arc::new(Kept::default());
        let workspace = Workspace::new(outer.path().join("work"))
            .unwrap()
            .with_readable(outer.path().join("spill"))
            .unwrap()
            .with_journal(Arc::clone(&journal) as Arc<dyn Journal>);
        let desk = Self { outer, workspace, journal };
        for (path, bytes) in files {
            desk.put(path, bytes);
        }
        desk
    }

    /// A path in the workspace, made without the code that is tested.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.workspace.root().join(path)
    }

    /// A path beside the workspace.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.outer.path()).unwrap().join(path)
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), bytes).unwrap();
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }
}

/// A context for a call.
pub(crate) fn cx() -> ToolCx {
    ToolCx::new(RunId::fresh(), CallId::from("call-1"), CancellationToken::new(), |_| {})
}

/// Calls a tool. What the model would read, either way.
pub(crate) async fn call(tool: &dyn Tool, args: Value) -> Result<String, String> {
    call_whole(tool, args).await.map(|output| text(&output))
}

/// Calls a tool.
pub(crate) async fn call_whole(tool: &dyn Tool, args: Value) -> Result<ToolOutput, String> {
    let Value::Object(args) = args else { return Err("arguments are an object".to_owned()) };
    tool.call(args, &cx()).await.map_err(|error| error.message)
}

/// The text of a result.
pub(crate) fn text(output: &ToolOutput) -> String {
    let texts = output.content.iter().map(|content| match content {
        Content::Text { text } => text.clone(),
        Content::Image(image) => format!("<{}>", image.media_type),
    });
    texts.collect::<Vec<_>>().join("|")
}
