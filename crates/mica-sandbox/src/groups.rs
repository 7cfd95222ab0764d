//! Control groups: limits for everything that a command starts taken together, where the system lets the user set them.
//!
//! Other limits hold for one process at a time. A group is made for each command, below the group that this program is
//! in or beside it, and is gone with the command. Only the second version of control groups can be handed to users, so
//! only that one is used. Where there are none, or none were handed over, nothing is missing but these limits.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::boundary::Limits;

/// Where the second version is, alone or beside the first.
const MOUNTED: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// How long a group may take to become empty, and how often it is looked at meanwhile.
const EMPTYING: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(20);

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Where groups can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Groups {
    parent: PathBuf,
    /// Bytes of memory of the machine.
    memory: Option<u64>,
}

impl Groups {
    /// Looks for a place, and tries it.
    ///
    /// # Errors
    /// In words, why there is none.
    pub(crate) fn find() -> Result<Self, String> {
        let mount = MOUNTED.iter().map(Path::new).find(|path| path.join("cgroup.controllers").is_file());
        let mount = mount.ok_or("the second version of control groups is not mounted")?;
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
        Self::at(mount, &own, memory)
    }

    fn at(mount: &Path, own: &str, memory: Option<u64>) -> Result<Self, String> {
        let own =
            own.lines().find_map(|line| line.strip_prefix("0::/")).ok_or("this program is in no group")?;
        if own.split('/').any(|part| part == "..") {
            return Err("this program's group is outside of what it can see".to_owned());
        }
        let own = mount.join(own);
        // A group that has processes can hand nothing down, so the place is usually beside this program's own.
        let beside = own.parent().filter(|_| own != mount).map(Path::to_owned);
        let mut why = "no controllers are handed down".to_owned();
        for parent in beside.into_iter().chain([own]) {
            let handed = fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default();
            if !handed.split_whitespace().any(|name| name == "pids" || name == "memory") {
                continue;
            }
            let groups = Self { parent, memory };
            match groups.make(&Limits::default()) {
                Ok(_) => return Ok(groups),
                Err(error) => why = format!("{}: {error}", groups.parent.display()),
            }
        }
        Err(why)
    }

    /// Makes a group with limits, and nobody in it.
    pub(crate) fn make(&self, limits: &Limits) -> io::Result<Group> {
        let name = format!("mica-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let group = Group { folder: self.parent.join(name) };
        fs::create_dir(&group.folder)?;
        let memory = limits.total_memory.or(self.memory.map(|all| all / 5 * 4));
        // A controller that was not handed down has no file, and nothing to limit.
        for (file, limit) in [("pids.max", limits.processes), ("memory.max", memory)] {
            if let Some(limit) = limit.filter(|_| group.folder.join(file).exists()) {
                group.tell(file, &limit.to_string())?;
            }
        }
        Ok(group)
    }
}

impl Groups {
    /// Puts a process into a group of its own.
    pub(crate) fn take_in(&self, limits: &Limits, process: u32) -> io::Result<Group> {
        let group = self.make(limits)?;
        group.add(process)?;
        Ok(group)
    }
}

/// A group of one command. Ends everybody in it when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
}

impl Group {
    /// Puts a process in, and with it everything it starts from now on.
    pub(crate) fn add(&self, process: u32) -> io::Result<()> {
        self.tell("cgroup.procs", &process.to_string())
    }

    /// Turns a switch. It makes none: what the kernel does not have cannot be told.
    fn tell(&self, file: &str, text: &str) -> io::Result<()> {
        fs::OpenOptions::new().write(true).open(self.folder.join(file))?.write_all(text.as_bytes())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.tell("cgroup.kill", "1");
        if fs::remove_dir(&self.folder).is_ok() {
            return;
        }
        // A group can be removed when nobody is in it any more, and the kernel takes its time to end them.
        let folder = std::mem::take(&mut self.folder);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let began = tokio::time::Instant::now();
                while folder.exists() && began.elapsed() < EMPTYING && fs::remove_dir(&folder).is_err() {
                    tokio::time::sleep(AGAIN).await;
                }
            });
        }
    }
}

/// The machine's memory in `/proc/meminfo`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree that looks like the kernel's, with files where it has switches.
    #[allow(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn tree(handed: &str) -> tempfile::TempDir {
        let mount = tempfile::tempdir().unwrap();
        fs::create_dir_all(mount.path().join("user/app.scope")).unwrap();
        for folder in ["", "user", "user/app.scope"] {
            fs::write(mount.path().join(folder).join("cgroup.subtree_control"), "").unwrap();
        }
        fs::write(mount.path().join("user/cgroup.subtree_control"), handed).unwrap();
        mount
    }

    #[test]
    fn a_place_is_beside_the_own_group() {
        let mount = tree("cpu memory pids\n");
        let groups = Groups::at(mount.path(), "1:name=x:/\n0::/user/app.scope\n", Some(1000)).unwrap();
        assert_eq!(groups.parent, mount.path().join("user"));
        let left: Vec<_> = fs::read_dir(mount.path().join("user")).unwrap().flatten().collect();
        assert_eq!(left.len(), 2, "the trial is gone: {left:?}");
    }

    #[test]
    fn where_nothing_is_handed_down_there_are_none() {
        let none = |handed: &str, own: &str| Groups::at(tree(handed).path(), own, None).unwrap_err();
        assert_eq!(none("cpu", "0::/user/app.scope"), "no controllers are handed down");
        assert_eq!(none("pids", "0::/"), "no controllers are handed down");
        assert_eq!(none("pids", "4:memory:/x"), "this program is in no group");
        assert_eq!(none("pids", "0::/../x"), "this program's group is outside of what it can see");
    }

    #[test]
    fn limits_are_told_where_there_is_a_switch() {
        let mount = tree("memory pids");
        let groups = Groups { parent: mount.path().to_owned(), memory: Some(1000) };
        let group = groups.make(&Limits::default()).unwrap();
        assert_eq!(fs::read_dir(&group.folder).unwrap().count(), 0, "no switch, nothing told");
        group.add(7).unwrap_err();
        fs::File::create(group.folder.join("cgroup.procs")).unwrap();
        group.add(7).unwrap();
        assert_eq!(fs::read_to_string(group.folder.join("cgroup.procs")).unwrap(), "7");
    }

    #[test]
    fn nobody_is_taken_in_where_joining_is_refused() {
        let mount = tree("memory pids");
        let groups = Groups { parent: mount.path().to_owned(), memory: None };
        let refused = groups.take_in(&Limits::default(), 7).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound, "nothing to join with");
        let left = fs::read_dir(mount.path()).unwrap().flatten().map(|entry| entry.file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("mica-")).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[tokio::test]
    async fn a_group_is_removed_when_it_has_become_empty() {
        let mount = tree("memory pids");
        let group =
            Groups { parent: mount.path().to_owned(), memory: None }.make(&Limits::default()).unwrap();
        let (folder, busy) = (group.folder.clone(), group.folder.join("busy"));
        fs::create_dir(&busy).unwrap();
        drop(group);
        tokio::task::yield_now().await;
        assert!(folder.is_dir());
        fs::remove_dir(&busy).unwrap();
        let gone = async {
            while folder.exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), gone).await.unwrap();
    }

    #[test]
    fn the_machine_has_memory() {
        assert_eq!(total("MemTotal:       24 kB\nMemFree: 3 kB\n"), Some(24 * 1024));
        assert_eq!(total("nothing"), None);
    }
}
