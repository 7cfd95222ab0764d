//! Projects, documents and their findings: the part of the state that texts change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gen_lsp_types::Uri;
use serde_json::json;
use synapse_lang::diagnostic::Diagnostic;
use synapse_lang::project::disk;

use super::{Published, Server};
use crate::buffer::{Buffer, Home};
use crate::dispatch::guarded;
use crate::folder::FolderId;
use crate::view::View;
use crate::worker::Job;
use crate::{diagnostics, uri};

impl Server {
    /// Takes in a project, and reads it in the background.
    pub(crate) fn add_project(&mut self, root: PathBuf) {
        let Some(id) = self.folders.add(root.clone(), self.options.runtime) else { return };
        let token = self.client.progress.then(|| format!("synapse-load-{id}"));
        if let Some(token) = &token {
            self.ask("window/workDoneProgress/create", json!({ "token": token }));
            let title = format!("Reading {}", root.file_name().unwrap_or(root.as_os_str()).to_string_lossy());
            let value = json!({ "kind": "begin", "title": title, "percentage": 0 });
            self.outbox.notify("$/progress", json!({ "token": token, "value": value }));
        }
        self.enqueue(Job::Load { folder: id, root, token });
        // Documents that stood alone and lie in it belong to it now.
        let alone = self.buffers.iter().filter(|(_, buffer)| matches!(buffer.home, Home::Alone(..)));
        let uris: Vec<String> = alone.map(|(uri, _)| uri.clone()).collect();
        for uri in uris {
            let home = self.home(&Uri(uri.clone()));
            if let Some(buffer) = self.buffers.get_mut(&uri) {
                buffer.home = home;
            }
            self.text_changed(&uri, Duration::ZERO);
        }
    }

    /// Forgets the projects below a folder; their open documents stand alone.
    pub(crate) fn remove_projects(&mut self, folder: &Path) {
        let gone = self.folders.remove_below(folder);
        let orphans: Vec<String> = self
            .buffers
            .iter()
            .filter(|(_, buffer)| matches!(&buffer.home, Home::Folder(id, _) if gone.contains(id)))
            .map(|(uri, _)| uri.clone())
            .collect();
        for uri in orphans {
            if let Some(buffer) = self.buffers.get_mut(&uri) {
                buffer.home = Home::Alone(Box::default(), Home::alone_path(&uri));
            }
            self.text_changed(&uri, Duration::ZERO);
        }
    }

    /// Where a document belongs. A project that it lies in is taken in when it was not known.
    pub(crate) fn home(&mut self, uri: &Uri) -> Home {
        let alone = || Home::Alone(Box::default(), Home::alone_path(uri.as_ref()));
        let Some(path) = uri::path(uri) else { return alone() };
        if self.folders.locate(&path).is_none()
            && let Some(root) = path.parent().and_then(disk::root_of)
        {
            self.add_project(root);
        }
        match self.folders.locate(&path) {
            Some((id, inside)) if disk::matters(&inside) && !is_left_out(&inside) => Home::Folder(id, inside),
            _ => alone(),
        }
    }

    /// Takes in the new text of a buffer, whose diagnostics are due after a while.
    pub(crate) fn text_changed(&mut self, uri: &str, after: Duration) {
        self.generation += 1;
        let Some(buffer) = self.buffers.get_mut(uri) else { return };
        let text = Arc::clone(&buffer.text);
        let due = Instant::now() + after;
        match &mut buffer.home {
            Home::Alone(project, path) => {
                project.set(*path, text);
                self.dirty.insert(uri.to_owned(), due);
            }
            Home::Folder(id, path) => {
                let id = *id;
                if let Some(folder) = self.folders.get(id) {
                    folder.project.write().set(path.as_str(), text);
                }
                self.mark(id, due);
            }
        }
    }

    /// Notes that a project has changed: what is open of it is looked at again.
    pub(crate) fn project_changed(&mut self, id: FolderId) {
        self.generation += 1;
        self.mark(id, Instant::now());
    }

    fn mark(&mut self, id: FolderId, due: Instant) {
        for (uri, buffer) in &self.buffers {
            if matches!(&buffer.home, Home::Folder(of, _) if *of == id) {
                self.dirty.insert(uri.clone(), due);
            }
        }
    }

    /// Takes in a file as it is on the disk, unless it is open. Answers the project that it belongs to.
    pub(crate) fn look_at_disk(&mut self, path: &Path) -> Option<FolderId> {
        let (id, inside) = self.folders.locate(path)?;
        let open =
            |buffer: &Buffer| matches!(&buffer.home, Home::Folder(of, own) if *of == id && *own == inside);
        if is_left_out(&inside) || self.buffers.values().any(open) {
            return None;
        }
        let folder = self.folders.get(id)?;
        if !folder.ready {
            self.changed.push((id, path.to_path_buf()));
            return None;
        }
        let mut project = folder.project.write();
        if path.is_file() {
            match disk::text(path).filter(|_| disk::matters(&inside)) {
                Some(text) => project.set(inside.as_str(), text),
                None => project.mention(inside),
            }
        } else {
            // A folder that is gone is one event for all that was in it.
            let below = format!("{inside}/");
            let files = project.files().map(|(path, _)| path.to_owned());
            let others = project.other_files().map(str::to_owned);
            let gone: Vec<String> = files.chain(others).filter(|path| path.starts_with(&below)).collect();
            for path in gone {
                project.remove(&path);
            }
            project.remove(&inside);
        }
        Some(id)
    }

    /// Forgets a buffer; the disk counts again.
    pub(crate) fn close(&mut self, uri: &Uri) {
        let Some(buffer) = self.buffers.remove(uri.as_ref()) else { return };
        self.dirty.remove(uri.as_ref());
        self.checked.remove(uri.as_ref());
        self.published.remove(uri.as_ref());
        if let Home::Folder(id, _) = buffer.home {
            if let Some(path) = uri::path(uri) {
                self.look_at_disk(&path);
            }
            self.project_changed(id);
        }
        if !self.client.pulls {
            self.outbox.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }));
        }
    }

    /// Shows a document with its surroundings; nothing when it is not known, or not Synapse.
    pub(crate) fn with_view<R>(&self, uri: &Uri, look: impl FnOnce(&View<'_>) -> R) -> Option<R> {
        let (client, options) = (&self.client, &self.options);
        let buffer = self.buffers.get(uri.as_ref());
        let memo = buffer.map(|buffer| &buffer.memo);
        let located = match buffer.map(|buffer| &buffer.home) {
            Some(Home::Alone(project, path)) => {
                let file = project.file(path)?;
                let document = file.document();
                let view = View {
                    uri,
                    document,
                    file,
                    project,
                    path,
                    root: None,
                    ready: true,
                    client,
                    options,
                    memo,
                };
                return Some(look(&view));
            }
            Some(Home::Folder(id, path)) => (*id, path.clone()),
            None => self.folders.locate(&uri::path(uri)?)?,
        };
        let (id, path) = located;
        let folder = self.folders.get(id)?;
        let project = folder.project.read();
        let file = project.file(&path)?;
        Some(look(&View {
            uri,
            document: file.document(),
            file,
            project: &project,
            path: &path,
            root: Some(&folder.root),
            ready: folder.ready,
            client,
            options,
            memo,
        }))
    }

    /// What is wrong with a document; asked again for the same text, the same list.
    pub(crate) fn findings(&mut self, uri: &Uri) -> Option<Arc<Vec<Diagnostic>>> {
        if let Some((generation, found)) = self.checked.get(uri.as_ref())
            && *generation == self.generation
        {
            return Some(Arc::clone(found));
        }
        let mut found = Vec::new();
        self.with_view(uri, |view| found = view.diagnostics())?;
        let found = Arc::new(found);
        if self.buffers.contains_key(uri.as_ref()) {
            self.checked.insert(uri.as_ref().to_owned(), (self.generation, Arc::clone(&found)));
        }
        Some(found)
    }

    /// Sends the diagnostics that are due, to clients that do not ask for them.
    pub(super) fn publish_due(&mut self) {
        let now = Instant::now();
        let due: Vec<String> =
            self.dirty.iter().filter(|(_, at)| **at <= now).map(|(uri, _)| uri.clone()).collect();
        for uri in due {
            self.dirty.remove(&uri);
            if self.client.pulls {
                continue;
            }
            let version = self.buffers.get(&uri).map(|buffer| buffer.version);
            let address = Uri(uri.clone());
            let sent = guarded(|| {
                let found = self.findings(&address);
                Ok(found.and_then(|found| self.with_view(&address, |view| diagnostics::sent(view, &found))))
            });
            let Ok(Some(sent)) = sent else { continue };
            let published = Published { version, items: diagnostics::result_id(&sent) };
            if self.published.get(&uri) == Some(&published) {
                continue;
            }
            self.published.insert(uri, published);
            let params = json!({ "uri": address, "version": version, "diagnostics": sent });
            self.outbox.notify("textDocument/publishDiagnostics", params);
        }
    }
}

/// Whether a path of a project is in a folder that is never read: built, hidden, or installed.
fn is_left_out(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') || matches!(part, "target" | "node_modules"))
}
