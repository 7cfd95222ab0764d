//! What takes long: reading projects, and checking whole workspaces.
//!
//! One thread does one job after the other. The main loop hands out a job only when the last one is done, so that
//! neither ever waits for the other with a full channel.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use serde_json::{Value, json};
use synapse_lang::project::{Project, disk};

use crate::client::Client;
use crate::folder::{FolderId, Shared};
use crate::outbox::Outbox;
use crate::rpc::{REQUEST_CANCELLED, Refused};
use crate::server::Event;
use crate::view::View;
use crate::{Options, diagnostics, uri};

/// How many documents a partial answer holds.
const PORTION: usize = 50;

/// Something to do.
pub(crate) enum Job {
    /// Read a project.
    Load {
        /// Which.
        folder: FolderId,
        /// From where.
        root: PathBuf,
        /// The token of its progress, when the client shows it.
        token: Option<String>,
    },
    /// Check all files of the workspace.
    Check(Box<Check>),
}

/// A check of all files.
pub(crate) struct Check {
    /// The request.
    pub(crate) id: Value,
    /// The projects.
    pub(crate) folders: Vec<(PathBuf, Shared)>,
    /// The versions of open documents by address.
    pub(crate) versions: HashMap<String, i32>,
    /// What the client has, by address.
    pub(crate) previous: HashMap<String, String>,
    /// Where portions of the answer go.
    pub(crate) partial: Option<Value>,
    /// Where the progress goes.
    pub(crate) progress: Option<Value>,
    /// What the client can do.
    pub(crate) client: Client,
    /// How the server behaves.
    pub(crate) options: Options,
    /// Set when the answer is not wanted any more.
    pub(crate) cancelled: Arc<AtomicBool>,
}

/// What came of a job.
pub(crate) enum Report {
    /// A project was read.
    Loaded {
        /// Which.
        folder: FolderId,
        /// The project; an error when its folder cannot be read.
        project: io::Result<Box<Project>>,
        /// The token of its progress.
        token: Option<String>,
    },
    /// A check has its answer.
    Checked {
        /// The request.
        id: Value,
        /// The answer.
        answer: Result<Value, Refused>,
    },
}

/// Works until there are no more jobs, or until it is told to stop.
pub(crate) fn work(jobs: &Receiver<Job>, events: &SyncSender<Event>, outbox: &Outbox, stop: &AtomicBool) {
    for job in jobs {
        let report = match job {
            Job::Load { folder, root, token } => {
                let project = load(&root, token.as_deref(), outbox, stop).map(Box::new);
                Report::Loaded { folder, project, token }
            }
            Job::Check(check) => {
                let id = check.id.clone();
                let answer = crate::dispatch::guarded(|| run_check(&check, outbox, stop));
                Report::Checked { id, answer }
            }
        };
        if stop.load(Ordering::Relaxed) || events.send(Event::Worker(report)).is_err() {
            return;
        }
    }
}

/// Reads a project as [`disk::read`] does, telling how far it is.
fn load(
    root: &std::path::Path,
    token: Option<&str>,
    outbox: &Outbox,
    stop: &AtomicBool,
) -> io::Result<Project> {
    let mut paths = Vec::new();
    disk::walk(root, &mut paths)?;
    let mut project = Project::default();
    project.set_inherited_runtime(disk::inherited_runtime(root));
    let (count, mut told) = (paths.len(), 0);
    for (done, path) in paths.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(name) = disk::relative(root, path) else { continue };
        if !disk::matters(&name) {
            project.mention(name);
        } else if let Some(text) = disk::text(path) {
            project.set(name, text);
        }
        let percent = done * 100 / count.max(1);
        if let Some(token) = token
            && percent >= told + 10
        {
            told = percent;
            let value = json!({ "kind": "report", "percentage": percent, "message": format!("{done}/{count} files") });
            outbox.notify("$/progress", json!({ "token": token, "value": value }));
        }
    }
    Ok(project)
}

fn run_check(check: &Check, outbox: &Outbox, stop: &AtomicBool) -> Result<Value, Refused> {
    if let Some(token) = &check.progress {
        let value = json!({ "kind": "begin", "title": "Checking Synapse artifacts", "cancellable": true });
        outbox.notify("$/progress", json!({ "token": token, "value": value }));
    }
    let answer = check_all(check, outbox, stop);
    if let Some(token) = &check.progress {
        outbox.notify("$/progress", json!({ "token": token, "value": { "kind": "end" } }));
    }
    answer
}

fn check_all(check: &Check, outbox: &Outbox, stop: &AtomicBool) -> Result<Value, Refused> {
    let mut items = Vec::new();
    for (root, shared) in &check.folders {
        let paths: Vec<String> = shared.read().files().map(|(path, _)| path.to_owned()).collect();
        for path in paths {
            if stop.load(Ordering::Relaxed) || check.cancelled.load(Ordering::Relaxed) {
                let message = "the check was cancelled".to_owned();
                return Err(Refused { code: REQUEST_CANCELLED, message });
            }
            let uri = uri::of(&root.join(&path));
            let project = shared.read();
            let Some(file) = project.file(&path) else { continue };
            let view = View {
                uri: &uri,
                document: file.document(),
                file,
                project: &project,
                path: &path,
                root: Some(root),
                ready: true,
                client: &check.client,
                options: &check.options,
                memo: None,
            };
            let sent = diagnostics::sent(&view, &view.diagnostics());
            let previous = check.previous.get(uri.as_ref()).map(String::as_str);
            if sent.is_empty() && previous.is_none() {
                continue;
            }
            let mut item = diagnostics::report(&sent, previous);
            if let Some(item) = item.as_object_mut() {
                item.insert("uri".to_owned(), json!(uri));
                item.insert("version".to_owned(), json!(check.versions.get(uri.as_ref())));
            }
            items.push(item);
            if let Some(token) = check.partial.as_ref().filter(|_| items.len() >= PORTION) {
                let portion = std::mem::take(&mut items);
                outbox.notify("$/progress", json!({ "token": token, "value": { "items": portion } }));
            }
        }
    }
    if let Some(token) = &check.partial {
        let portion = std::mem::take(&mut items);
        outbox.notify("$/progress", json!({ "token": token, "value": { "items": portion } }));
    }
    Ok(json!({ "items": items }))
}
