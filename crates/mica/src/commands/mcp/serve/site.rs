//! What the server may look at: the folders it was started for, guarded like the files of an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use mica_agent::{RunId, ToolCx};
use mica_ai::id::CallId;
use mica_tools::{Change, Workspace};
use pack_mi::Checker;
use pack_mi::project::MiProject;
use synapse_lang::model::Version;
use synapse_lang::project::Project;
use tokio_util::sync::CancellationToken;

use super::answer::Refusal;
use crate::sources::{self, Checkable, Sources, View};

/// Bytes of a text that is handed over, at most.
const LARGEST: usize = 4 << 20;

/// What the server may look at. Clones are handles to the same.
#[derive(Clone)]
pub struct Site {
    workspace: Workspace,
    /// All folders, without links in them. The first is what relative paths are relative to.
    roots: Arc<[PathBuf]>,
    checker: Checker,
    may_write: bool,
    /// Fires when nobody waits for the call any more.
    given_up: CancellationToken,
}

impl Site {
    /// For folders that exist.
    ///
    /// # Errors
    /// When one does not.
    pub fn new(roots: &[PathBuf], may_write: bool) -> Result<Self> {
        let mut real = Vec::new();
        for root in roots {
            let shown = root.display();
            let folder =
                root.canonicalize().with_context(|| format!("--root {shown}: there is no such folder"))?;
            anyhow::ensure!(folder.is_dir(), "--root {shown}: that is no folder");
            if !real.contains(&folder) {
                real.push(folder);
            }
        }
        let first = real.first().context("there is no folder to look at")?;
        let mut workspace = Workspace::new(first)?;
        for other in real.iter().skip(1) {
            workspace =
                if may_write { workspace.with_writable(other)? } else { workspace.with_readable(other)? };
        }
        let checker = Checker::new(first.clone());
        let given_up = CancellationToken::new();
        Ok(Self { workspace, roots: real.into(), checker, may_write, given_up })
    }

    /// The same for one call, which writes nothing once this has fired.
    #[must_use]
    pub fn until(&self, given_up: CancellationToken) -> Self {
        Self { given_up, ..self.clone() }
    }

    /// Whether files may be written.
    pub fn may_write(&self) -> bool {
        self.may_write
    }

    /// The folders.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The files, guarded, for the tools of the agent.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The place of a path that exists and may be read.
    ///
    /// # Errors
    /// When it leads out of the folders, is not there, or holds secrets.
    pub fn place(&self, path: &str) -> Result<PathBuf, Refusal> {
        Ok(self.workspace.readable(path)?.path())
    }

    /// A path as clients see and send it.
    pub fn shown(&self, path: &Path) -> String {
        let inside = self.roots.first().and_then(|root| path.strip_prefix(root).ok());
        sources::shown(inside.filter(|inside| !inside.as_os_str().is_empty()).unwrap_or(path))
    }

    /// Projects that lie in the folders are looked at whole.
    pub fn view(&self, standalone: bool) -> View {
        if standalone { View::Standalone } else { View::Within(self.roots.to_vec()) }
    }

    /// The runtime of the project, unless a call says otherwise.
    ///
    /// # Errors
    /// When it is no version that is known.
    pub fn runtime(&self, asked: Option<&str>) -> Result<Option<Version>, Refusal> {
        if asked.is_some() {
            return sources::runtime(asked).map_err(|error| {
                let text = error.to_string();
                Refusal::new(text.strip_prefix("--").unwrap_or(&text))
            });
        }
        Ok(self.project(None)?.and_then(|project| project.version()))
    }

    /// The files that paths mean, with their projects. Those that may not be read are left out, and told.
    ///
    /// # Errors
    /// When a path means nothing that may be read.
    pub fn files(&self, paths: &[String], view: &View) -> Result<Sources, Refusal> {
        let mut real = Vec::new();
        for path in paths {
            real.push(self.place(path)?);
        }
        if real.is_empty() {
            real.extend(self.roots.iter().cloned());
        }
        let mut sources =
            Sources::find(&real, view.clone()).map_err(|error| Refusal::new(error.to_string()))?;
        let Sources { targets, unreadable, .. } = &mut sources;
        targets.retain(|target| {
            let readable = target.file.to_str().map(|path| self.workspace.readable(path));
            match readable {
                Some(Ok(_)) => true,
                Some(Err(error)) => {
                    unreadable.push(error.for_model());
                    false
                }
                None => false,
            }
        });
        for target in targets {
            target.shown = self.shown(&target.file);
        }
        Ok(sources)
    }

    /// A text that is looked at as if it were in a file, with its project.
    ///
    /// # Errors
    /// When it is too large, or the file would be where nothing may be.
    pub fn text(&self, text: &str, name: Option<&str>, view: &View) -> Result<(Sources, Checkable), Refusal> {
        if text.len() > LARGEST {
            return Err(Refusal::new(format!("The text has {} bytes; {LARGEST} are taken.", text.len())));
        }
        let place = match name {
            Some(name) => Some(self.workspace.resolve(name)?.path()),
            None => None,
        };
        let (mut sources, what) = Sources::unsaved(place.as_deref(), text, view)
            .map_err(|error| Refusal::new(error.to_string()))?;
        for target in &mut sources.targets {
            target.shown = place.as_deref().map_or_else(|| "<text>".to_owned(), |path| self.shown(path));
        }
        Ok((sources, what))
    }

    /// Puts a new text in the place of a file, whole, and only over what is known.
    ///
    /// # Errors
    /// When it may not be written, or is not what it was.
    pub fn write(&self, path: &str, before: &str, after: &str) -> Result<(), Refusal> {
        let known = self.workspace.changeable(path)?;
        if known.as_deref() != Some(before) {
            return Err(Refusal::new(format!(
                "{path} is not written in UTF-8, or changed meanwhile. Nothing was written."
            )));
        }
        if self.given_up.is_cancelled() {
            return Err(Refusal::new("Nobody waits for this call any more. Nothing was written."));
        }
        let change = Change { path: path.to_owned(), before: known, after: after.to_owned() };
        self.workspace.change(&[change], &context())?;
        Ok(())
    }

    /// The project of a path, or of the folders, as its build files tell it.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn project(&self, path: Option<&str>) -> Result<Option<MiProject>, Refusal> {
        let Some(root) = self.project_root(path)? else { return Ok(None) };
        Ok(MiProject::read(&root))
    }

    /// The root of the project of a path; without one, of the first folder: around it, itself, or right below it.
    ///
    /// # Errors
    /// When the path leads nowhere.
    pub fn project_root(&self, path: Option<&str>) -> Result<Option<PathBuf>, Refusal> {
        let view = self.view(false);
        if let Some(path) = path {
            let place = self.place(path)?;
            let below = || Checker::new(place.clone()).root();
            return Ok(view.root_of(&place).or_else(below).filter(|root| self.holds(root)));
        }
        Ok(self.checker.root().filter(|root| self.holds(root)))
    }

    /// The project of the folders with all its artifacts, as it is now.
    pub fn with_project<T>(&self, look: impl FnOnce(&Project) -> T) -> Option<T> {
        self.checker.root().filter(|root| self.holds(root))?;
        self.checker.with_project(look)
    }

    fn holds(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// What tools of the agent are given: nobody watches.
pub fn context() -> ToolCx {
    ToolCx::new(RunId::fresh(), CallId::from("mcp"), CancellationToken::new(), |_| {})
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write files of their own")]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_nobody_waits_for_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        std::fs::write(&file, "before").unwrap();
        let site = Site::new(&[folder.path().to_owned()], true).unwrap();
        let given_up = CancellationToken::new();
        let call = site.until(given_up.clone());
        given_up.cancel();
        let refused = call.write("a.xml", "before", "after").unwrap_err();
        assert_eq!(refused.to_string(), "Nobody waits for this call any more. Nothing was written.");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
        // Others are not that call.
        site.write("a.xml", "before", "after").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "after");
    }
}
