//! A project and a store in a temporary folder, and those who change the project.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::Timestamp;
use tempfile::TempDir;

use crate::entry::RunId;
use crate::undo::{Announced, Commanded, ContentHash, OnConflict, ScanLimits, Undo};

pub(super) struct Stage {
    folder: TempDir,
    pub(super) data: PathBuf,
    pub(super) undo: Undo,
    pub(super) limits: ScanLimits,
    /// Seconds of the test's own clock; the system's when negative.
    clock: Arc<AtomicI64>,
    calls: AtomicU64,
}

/// What is at a path, for comparing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Snap {
    File(Vec<u8>, u32),
    Link(PathBuf),
    Folder(u32),
}

pub(super) type Snapshot = BTreeMap<PathBuf, Snap>;

pub(super) fn paths(paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    paths.into_iter().map(|path| path.display().to_string()).collect()
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::with(ScanLimits::default())
    }

    pub(super) fn with(limits: ScanLimits) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        let data = folder.path().join("undo");
        let clock = Arc::new(AtomicI64::new(-1));
        let undo = open(&data, &folder.path().join("project"), &limits, &clock);
        Self { folder, data, undo, limits, clock, calls: AtomicU64::new(0) }
    }

    /// As another process would open it.
    pub(super) fn another(&self) -> Undo {
        open(&self.data, &self.path(""), &self.limits, &self.clock)
    }

    /// As if the process was killed and another one began.
    pub(super) fn restart(&mut self) {
        self.undo = self.another();
    }

    pub(super) fn now(&self, seconds: i64) {
        self.clock.store(1_800_000_000 + seconds, Ordering::SeqCst);
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("project").join(path)
    }

    /// A file beside the project, in a folder of its own.
    pub(super) fn outside(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.folder.path().join("outside");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
        folder.join(name)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn call(&self) -> String {
        format!("call-{}", self.calls.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn announce(&self, run: &str, path: &str, text: &str) -> String {
        self.announce_with(&self.undo, run, path, text)
    }

    fn announce_with(&self, undo: &Undo, run: &str, path: &str, text: &str) -> String {
        let (path, call) = (self.path(path), self.call());
        let before = fs::read(&path).ok();
        undo.changing(Announced {
            run: &RunId::from(run),
            call: &call,
            path: &path
                .parent()
                .unwrap()
                .canonicalize()
                .map_or(path.clone(), |at| at.join(path.file_name().unwrap())),
            before: before.as_deref(),
            after: ContentHash::of(text.as_bytes()),
        })
        .unwrap();
        call
    }

    /// As a tool changes a file.
    pub(super) fn edit(&self, run: &str, path: &str, text: &str) {
        self.edit_with(&self.undo, run, path, text);
    }

    pub(super) fn edit_with(&self, undo: &Undo, run: &str, path: &str, text: &str) {
        let call = self.announce_with(undo, run, path, text);
        // Tools replace files: the mode stays.
        let mode = fs::metadata(self.path(path)).ok().map(|facts| facts.permissions());
        self.write(path, text);
        if let Some(mode) = mode {
            fs::set_permissions(self.path(path), mode).unwrap();
        }
        undo.changed(&call, &self.path(path).canonicalize().unwrap()).unwrap();
    }

    /// As a command changes files.
    pub(super) fn command(&self, run: &str, deed: impl FnOnce()) -> Commanded {
        let call = self.call();
        self.undo.command_begins(&RunId::from(run), &call).unwrap();
        deed();
        self.undo.command_ended(&call).unwrap()
    }

    /// Undoes, and answers what was restored.
    pub(super) fn undone(&self, run: Option<&str>) -> Vec<String> {
        let plan = self.undo.plan_undo(run, &[]).unwrap();
        assert!(plan.lost.is_empty(), "{:?}", plan.lost);
        let done = self.undo.carry_out(&plan, OnConflict::Refuse).unwrap_or_else(|error| {
            panic!("{error}: {:#?}", plan.conflicts);
        });
        paths(done.restored.into_iter().map(|step| step.path.0))
    }

    pub(super) fn redone(&self) {
        let plan = self.undo.plan_redo(&[]).unwrap();
        self.undo.carry_out(&plan, OnConflict::Refuse).unwrap_or_else(|error| {
            panic!("{error}: {:#?}", plan.conflicts);
        });
    }

    /// A file of the store.
    pub(super) fn store(&self, name: &str) -> PathBuf {
        fs::read_dir(&self.data).unwrap().next().unwrap().unwrap().path().join(name)
    }

    /// Takes the last line of the log away.
    pub(super) fn cut_last_line(&self) {
        let log = self.store("log.jsonl");
        let text = fs::read_to_string(&log).unwrap();
        let end = text.trim_end().rfind('\n').unwrap() + 1;
        fs::write(&log, &text[..end]).unwrap();
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let root = self.path("");
        let mut found = Snapshot::new();
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let facts = fs::symlink_metadata(&path).unwrap();
                let mode = facts.permissions().mode() & 0o7777;
                let snap = if facts.is_symlink() {
                    Snap::Link(fs::read_link(&path).unwrap())
                } else if facts.is_dir() {
                    open.push(path.clone());
                    Snap::Folder(mode)
                } else {
                    Snap::File(fs::read(&path).unwrap(), mode)
                };
                found.insert(path.strip_prefix(&root).unwrap().to_owned(), snap);
            }
        }
        found
    }
}

fn open(data: &Path, project: &Path, limits: &ScanLimits, clock: &Arc<AtomicI64>) -> Undo {
    let clock = Arc::clone(clock);
    let time = move || match clock.load(Ordering::SeqCst) {
        negative if negative < 0 => Timestamp::now(),
        seconds => Timestamp::from_second(seconds).unwrap(),
    };
    Undo::new(data, project, time).unwrap().with_limits(limits.clone())
}
