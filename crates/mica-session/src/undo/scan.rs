//! A look at all files of a project: what the system says of each, and the bytes of those that say something new.
//!
//! Promise: it ends. Entries, bytes and time are bounded; what is beyond is noticed and not kept, and the scan says so.
//! A scan with nothing new reads no file.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use rustix::io::Errno;

use super::beneath::{self, Root};
use super::blobs::Blobs;
use super::folders::{self, Rules};
use super::state::{ContentHash, FileState, Stamp, State};
use crate::files::Worth;

/// How much a scan takes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanLimits {
    /// Bytes of a file that is kept.
    pub file: u64,
    /// Bytes of all files that are kept. The smallest are kept first.
    pub total: u64,
    /// Bytes of an ignored file that is kept. Small ones are settings as a rule; large ones are made.
    pub ignored_file: u64,
    /// Bytes of all ignored files that are kept.
    pub ignored_total: u64,
    /// Files and folders that are looked at.
    pub entries: usize,
    /// How long looking may take.
    pub looking: Duration,
    /// How long keeping may take.
    pub keeping: Duration,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            file: 8 << 20,
            total: 512 << 20,
            ignored_file: 256 << 10,
            ignored_total: 16 << 20,
            entries: 200_000,
            looking: Duration::from_secs(5),
            keeping: Duration::from_secs(15),
        }
    }
}

/// What is known of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) state: State,
    /// For files and links.
    pub(crate) stamp: Option<Stamp>,
    /// It changed so shortly before it was looked at that it may have changed again without a new stamp.
    pub(crate) racy: bool,
    /// There was no time to keep it, or it could not be: that is tried again.
    pub(crate) hurried: bool,
    pub(crate) ignored: bool,
}

/// What a scan found, by path relative to the project.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// Keyed by text and not by path: a path is hashed step by step, which takes longer than asking the system.
    pub(crate) entries: HashMap<OsString, Entry>,
    /// Whether everything was looked at.
    pub(crate) complete: bool,
}

/// What a file is called whose clock may not have ticked since. Kernels tick every 1 to 10 ms.
const TICK: i64 = 20_000_000;

/// Something whose bytes are to be read.
struct Fresh {
    path: PathBuf,
    stamp: Stamp,
    mode: u32,
    ignored: bool,
}

/// A folder to look into.
struct Job {
    path: PathBuf,
    rules: Arc<Rules>,
}

/// What the threads share.
struct Walk<'a> {
    root: &'a Root,
    before: &'a Scan,
    outside: Option<&'a Path>,
    /// Folders that wait, and how many threads are at work.
    jobs: Mutex<(Vec<Job>, usize)>,
    more: Condvar,
    seen: AtomicUsize,
    /// Whether something is not what it was before. Files that have to be read count for themselves.
    differs: AtomicBool,
    incomplete: AtomicUsize,
    limit: usize,
    until: Instant,
}

/// What one thread found.
#[derive(Default)]
struct Found {
    entries: Vec<(OsString, Entry)>,
    /// What is as it was before.
    known: Vec<OsString>,
    fresh: Vec<Fresh>,
    /// Folders that turned out to be caches, or that nobody may look into.
    closed: Vec<PathBuf>,
}

/// Scans. `before` is the last scan: what it knows and what did not change since is taken from it. `outside` is a folder
/// below the project that is none of its business. `now` is the time in nanoseconds. `None`: nothing is new.
pub(crate) fn scan(
    root: &Root,
    before: &Scan,
    blobs: &Blobs,
    limits: &ScanLimits,
    outside: Option<&Path>,
    now: i64,
) -> Option<Scan> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 8);
    let walk = Walk {
        root,
        before,
        outside,
        jobs: Mutex::new((vec![Job { path: PathBuf::new(), rules: Rules::of_project(root.path()) }], 0)),
        more: Condvar::new(),
        seen: AtomicUsize::new(0),
        differs: AtomicBool::new(false),
        incomplete: AtomicUsize::new(0),
        limit: limits.entries,
        until: Instant::now() + limits.looking,
    };
    let found: Vec<Found> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| walk.work())).collect();
        // A thread that panicked has found nothing; then the scan is not complete.
        threads
            .into_iter()
            .map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    walk.incomplete.fetch_add(1, Ordering::Relaxed);
                    Found::default()
                })
            })
            .collect()
    });
    let complete = walk.incomplete.load(Ordering::Relaxed) == 0;
    let count: usize = found.iter().map(|part| part.known.len()).sum();
    let nothing_read = found.iter().all(|part| part.fresh.is_empty() && part.closed.is_empty());
    let differs = walk.differs.load(Ordering::Relaxed);
    if nothing_read && !differs && count == before.entries.len() && complete == before.complete {
        return None;
    }
    let mut entries = HashMap::with_capacity(before.entries.len().max(64));
    let (mut fresh, mut closed) = (Vec::new(), Vec::new());
    for part in found {
        let known = part.known.into_iter();
        entries.extend(
            known
                .filter_map(|path| Some((before.entries.get(&path)?.clone(), path)))
                .map(|(entry, path)| (path, entry)),
        );
        entries.extend(part.entries);
        fresh.extend(part.fresh);
        closed.extend(part.closed);
    }
    entries.extend(closed.into_iter().map(|path| (path.into_os_string(), plain(State::Other))));
    let kept = |ignored: bool| -> u64 {
        let mine = entries.values().filter(|entry: &&Entry| entry.ignored == ignored);
        mine.filter_map(|entry| match &entry.state {
            State::File(file) if file.hash.is_some() => Some(file.size),
            _ => None,
        })
        .sum()
    };
    let budgets = if fresh.is_empty() { (0, 0) } else { (kept(false), kept(true)) };
    entries.extend(keep(root, fresh, budgets, blobs, limits, threads, now));
    Some(Scan { entries, complete })
}

impl Walk<'_> {
    fn work(&self) -> Found {
        let mut found = Found::default();
        while let Some(job) = self.next() {
            self.look_into(&job, &mut found);
            let mut jobs = self.jobs();
            jobs.1 -= 1;
            if jobs.1 == 0 && jobs.0.is_empty() {
                self.more.notify_all();
            }
        }
        found
    }

    fn jobs(&self) -> MutexGuard<'_, (Vec<Job>, usize)> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Job> {
        let mut jobs = self.jobs();
        loop {
            if let Some(job) = jobs.0.pop() {
                jobs.1 += 1;
                return Some(job);
            }
            if jobs.1 == 0 {
                return None;
            }
            jobs = self.more.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn look_into(&self, job: &Job, found: &mut Found) {
        if Instant::now() > self.until || self.seen.load(Ordering::Relaxed) > self.limit {
            self.incomplete.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let opened = self
            .root
            .open(&job.path, OFlags::RDONLY | OFlags::DIRECTORY)
            .and_then(|folder| Ok((Dir::read_from(&folder)?, folder)));
        let (listing, folder) = match opened {
            Ok(opened) => opened,
            // It went meanwhile.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return,
            Err(Errno::ACCESS) => return found.closed.push(job.path.clone()),
            Err(_) => {
                self.incomplete.fetch_add(1, Ordering::Relaxed);
                return;
            }
        };
        let names: Vec<(Vec<u8>, FileType)> = listing
            .flatten()
            .map(|entry| (entry.file_name().to_bytes().to_vec(), entry.file_type()))
            .filter(|(name, _)| name != b"." && name != b".." && !beneath::is_temporary(name))
            .collect();
        self.seen.fetch_add(names.len(), Ordering::Relaxed);
        let here = self.root.path().join(&job.path);
        let is_root = job.path.as_os_str().is_empty();
        if !is_root && names.iter().any(|(name, _)| folders::is_cache(name)) {
            found.closed.push(job.path.clone());
            return;
        }
        let rules = if is_root {
            Arc::clone(&job.rules)
        } else {
            let has_lists = names.iter().any(|(name, _)| folders::is_list(name));
            Rules::below(&job.rules, here.clone(), has_lists)
        };
        let mut below = Vec::new();
        for (name, kind) in &names {
            let name = OsStr::from_bytes(name);
            let path = job.path.join(name);
            let Ok(facts) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind =
                if *kind == FileType::Unknown { FileType::from_raw_mode(facts.st_mode) } else { *kind };
            match kind {
                FileType::Directory => {
                    let absolute = here.join(name);
                    if self.outside.is_some_and(|outside| absolute == outside) {
                        continue;
                    }
                    let beside = |file: &str| names.iter().any(|(name, _)| name == file.as_bytes());
                    let text = name.to_string_lossy();
                    if folders::is_left_out(&text, &absolute, &rules, beside) {
                        // Histories and settings are nobody's business here, not even that they are there.
                        if !folders::is_off_limits(&text) {
                            self.found(found, path, State::Other);
                        }
                        continue;
                    }
                    let state = State::Folder { mode: Some(beneath::mode(&facts)) };
                    self.found(found, path.clone(), state);
                    below.push(Job { path, rules: Arc::clone(&rules) });
                }
                FileType::RegularFile if name == ".git" => {}
                FileType::RegularFile | FileType::Symlink => {
                    let stamp = beneath::stamp(&facts);
                    let mode = beneath::mode(&facts);
                    if self.is_known(&path, stamp, mode) {
                        found.known.push(path.into_os_string());
                    } else if kind == FileType::Symlink {
                        let Ok(target) = self.root.target(&path) else { continue };
                        let entry = Entry {
                            state: State::Link { target },
                            stamp: Some(stamp),
                            racy: false,
                            hurried: false,
                            ignored: false,
                        };
                        self.differs.store(true, Ordering::Relaxed);
                        found.entries.push((path.into_os_string(), entry));
                    } else {
                        let ignored = rules.ignores(&here.join(name), false);
                        found.fresh.push(Fresh { path, stamp, mode, ignored });
                    }
                }
                _ => self.found(found, path, State::Other),
            }
        }
        if !below.is_empty() {
            self.jobs().0.append(&mut below);
            self.more.notify_all();
        }
    }

    /// Something without a stamp was found.
    fn found(&self, found: &mut Found, path: PathBuf, state: State) {
        let path = path.into_os_string();
        let entry = plain(state);
        if self.before.entries.get(&path) == Some(&entry) {
            found.known.push(path);
        } else {
            self.differs.store(true, Ordering::Relaxed);
            found.entries.push((path, entry));
        }
    }

    /// Whether the last scan knows a file, and it did not change since.
    fn is_known(&self, path: &Path, stamp: Stamp, mode: u32) -> bool {
        let Some(entry) = self.before.entries.get(path.as_os_str()) else { return false };
        let same_mode = !matches!(&entry.state, State::File(file) if file.mode != Some(mode));
        !entry.racy && !entry.hurried && entry.stamp == Some(stamp) && same_mode
    }
}

fn plain(state: State) -> Entry {
    Entry { state, stamp: None, racy: false, hurried: false, ignored: false }
}

/// Reads and keeps what is new, the smallest first, as far as the limits go.
fn keep(
    root: &Root,
    mut fresh: Vec<Fresh>,
    (kept, kept_ignored): (u64, u64),
    blobs: &Blobs,
    limits: &ScanLimits,
    threads: usize,
    now: i64,
) -> Vec<(OsString, Entry)> {
    fresh.sort_by_key(|file| file.stamp.size);
    let (kept, kept_ignored) = (AtomicU64::new(kept), AtomicU64::new(kept_ignored));
    let until = Instant::now() + limits.keeping;
    let next = AtomicUsize::new(0);
    let one = |file: &Fresh| -> Option<(OsString, Entry)> {
        let Fresh { path, stamp, mode, ignored } = file;
        let (of_file, of_all, so_far) = if *ignored {
            (limits.ignored_file, limits.ignored_total, &kept_ignored)
        } else {
            (limits.file, limits.total, &kept)
        };
        let hurried = Instant::now() > until;
        let fits = stamp.size <= of_file && so_far.load(Ordering::Relaxed) + stamp.size <= of_all;
        let mut entry = Entry {
            state: State::File(FileState {
                hash: None,
                size: stamp.size,
                mode: Some(*mode),
                stamp: Some(*stamp),
            }),
            stamp: Some(*stamp),
            racy: now.saturating_sub(stamp.ctime.max(stamp.mtime)) < TICK,
            hurried: hurried && fits,
            ignored: *ignored,
        };
        if hurried || !fits {
            return Some((path.clone().into_os_string(), entry));
        }
        match root.read(path, of_file) {
            Ok(Some((bytes, facts))) => {
                let hash = ContentHash::of(&bytes);
                let size = bytes.len() as u64;
                let read = beneath::stamp(&facts);
                // A blob that cannot be written, on a full disk for example, leaves the file noticed only, for now.
                if blobs.keep(&hash, &bytes, Worth::Cache).is_ok() {
                    so_far.fetch_add(size, Ordering::Relaxed);
                    let mode = Some(beneath::mode(&facts));
                    entry.state = State::File(FileState { hash: Some(hash), size, mode, stamp: Some(read) });
                } else {
                    entry.hurried = true;
                }
                entry.racy |= read != *stamp;
                entry.stamp = Some(read);
                Some((path.clone().into_os_string(), entry))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // Too large by now, or nobody may read it.
            Ok(None) | Err(_) => Some((path.clone().into_os_string(), entry)),
        }
    };
    let worker = || {
        let mut done = Vec::new();
        while let Some(file) = fresh.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.extend(one(file));
        }
        done
    };
    if fresh.len() < 8 {
        return worker();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}
