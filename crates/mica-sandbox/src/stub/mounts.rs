//! The file system as the command sees it: everything read-only, writable roots put back, exceptions on top of those,
//! secrets covered, shared folders and devices replaced.
//!
//! Landlock knows nothing of modes, owners, times and attributes; a read-only mount does.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxAttributes, StatxFlags, statx};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_change,
    move_mount, open_tree,
};

use super::files::DEVICES;
use super::{Stop, raw};
use crate::plan::Plan;

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
/// An empty file that nobody can open: it covers files. It stays, in a folder that the command cannot write, because more may
/// have to be covered later.
const SHADE: &str = "/dev/.covered";
/// Linux has a highest process number for each process namespace since then. Before, the file is the machine's.
const OWN_PID_MAX: (u32, u32) = (6, 14);
/// The kernel takes no lower one.
const LOWEST_PID_MAX: u64 = 301;

/// Builds it, but for the exceptions.
pub(crate) fn build(plan: &Plan) -> Result<(), Stop> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(Stop::at("mounts"))?;

    // What is taken now is as it was, and can be put back when everything else has changed. Shorter paths first, so
    // that a root inside another one lies on top of it.
    let mut roots: Vec<(&PathBuf, bool)> = plan.writable.iter().map(|root| (root, true)).collect();
    let in_shared = |root: &&PathBuf| plan.shared.iter().any(|shared| root.starts_with(shared));
    let kept = plan.readable.iter().chain([&plan.folder]).filter(in_shared);
    roots.extend(
        kept.filter(|root| !plan.writable.iter().any(|other| root.starts_with(other)))
            .map(|root| (root, false)),
    );
    roots.sort_by_key(|(root, _)| root.components().count());
    roots.dedup();
    let mut taken = Vec::new();
    for (root, writable) in roots {
        taken.push((root, take(root)?, writable));
    }
    let devices: Vec<(&str, OwnedFd)> =
        DEVICES.iter().filter_map(|device| Some((*device, take(Path::new(device)).ok()?))).collect();

    let everything = open_tree(CWD, "/", OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(Stop::at("mounts"))?;
    raw::set_mount_flags(everything.as_fd(), READ_ONLY | NO_SETUID).map_err(Stop::at("mounts: read-only"))?;

    let size = plan.limits.temporary.map(|bytes| format!(",size={bytes}")).unwrap_or_default();
    make_devices(devices)?;
    // A link (`/var/run`) leads to one of the others.
    let is_folder = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|kind| kind.is_dir());
    for folder in plan.shared.iter().filter(is_folder) {
        empty(folder, &format!("mode=1777{size}"), MountFlags::empty())?;
    }
    for (root, tree, writable) in taken {
        if !writable {
            raw::set_mount_flags(tree.as_fd(), READ_ONLY).map_err(at("read-only", root))?;
        }
        raw::set_mount_flags(tree.as_fd(), NO_SETUID).map_err(at("root", root))?;
        put_back(root, &tree)?;
    }
    cover(&plan.hidden)?;
    processes(plan)
}

/// Makes the exceptions in writable roots, as they are now: some of them may have come to be since the rest was built.
pub(crate) fn except(plan: &Plan) -> Result<(), Stop> {
    plan.frozen.iter().try_for_each(|path| freeze(plan, path))
}

fn at<E: Into<std::io::Error>>(what: &str, path: &Path) -> impl FnOnce(E) -> Stop {
    Stop::at(format!("{what} {}", path.display()))
}

/// A copy of a mount and all below it, attached nowhere.
fn take(path: &Path) -> Result<OwnedFd, Stop> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags).map_err(at("root", path))
}

fn put_back(path: &Path, tree: &OwnedFd) -> Result<(), Stop> {
    if path.symlink_metadata().is_err() {
        // Only below a folder that is empty now, because it was replaced.
        let is_file = rustix::fs::fstat(tree).is_ok_and(|stat| {
            rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Directory
        });
        let folder = if is_file { path.parent().unwrap_or(path) } else { path };
        std::fs::create_dir_all(folder).map_err(at("root", path))?;
        if is_file {
            std::fs::File::create(path).map_err(at("root", path))?;
        }
    }
    move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(at("root", path))
}

/// The writable root that a path is in.
pub(crate) fn root_of<'a>(plan: &'a Plan, path: &Path) -> Option<&'a Path> {
    let around = plan.writable.iter().map(PathBuf::as_path).filter(|root| path.starts_with(root));
    around.max_by_key(|root| root.as_os_str().len())
}

/// Whether a mount lies on this very place.
pub(crate) fn is_mount(path: &Path) -> bool {
    statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Makes a path inside a writable root read-only. The folders on the way become mounts, too: a mount cannot be moved
/// away, and a folder that only has one inside can.
pub(crate) fn freeze(plan: &Plan, path: &Path) -> Result<(), Stop> {
    let Some(root) = root_of(plan, path) else {
        return Ok(());
    };
    let Ok(kind) = path.symlink_metadata() else {
        return Ok(());
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(());
    };
    // Through a link on the way, it is somewhere else, and that is where a mount goes.
    match folder.canonicalize() {
        Ok(real) if real != folder => return freeze(plan, &real.join(name)),
        _ => {}
    }
    let mut way: Vec<&Path> =
        path.ancestors().skip(1).take_while(|folder| *folder != root && folder.starts_with(root)).collect();
    way.reverse();
    for folder in way.into_iter().filter(|folder| !is_mount(folder)) {
        let tree = take(folder)?;
        put_back(folder, &tree)?;
    }
    if kind.is_symlink() {
        // Nothing can lie on a link. What it leads to is frozen when it is in a writable root, and is read-only when not;
        // a link that the command replaces is put back afterwards.
        return match path.canonicalize() {
            Ok(real) if real != path => freeze(plan, &real),
            _ => Ok(()),
        };
    }
    let tree = take(path)?;
    raw::set_mount_flags(tree.as_fd(), READ_ONLY).map_err(at("exception", path))?;
    put_back(path, &tree)
}

/// Covers what is secret with something that nobody can open.
pub(crate) fn cover(hidden: &[PathBuf]) -> Result<(), Stop> {
    let there: Vec<(PathBuf, bool)> = hidden
        .iter()
        // Most are not there, and one question is less than one for each folder on the way.
        .filter(|path| path.exists())
        .filter_map(|path| path.canonicalize().ok())
        .filter_map(|path| path.metadata().ok().map(|kind| (path, kind.is_dir())))
        .collect();
    for (path, is_folder) in &there {
        if *is_folder {
            empty(path, "mode=0000,size=4k", MountFlags::RDONLY)?;
        }
    }
    for (path, _) in there.iter().filter(|(path, is_folder)| !is_folder && path.exists()) {
        let tree = take(Path::new(SHADE))?;
        raw::set_mount_flags(tree.as_fd(), READ_ONLY).map_err(at("cover", path))?;
        put_back(path, &tree)?;
    }
    Ok(())
}

/// What is secret and there, now that it is covered. When one that is not comes to be while the boundary stands, the program
/// uses another one.
pub(crate) fn covered(plan: &Plan) -> Vec<&PathBuf> {
    plan.hidden.iter().filter(|path| path.exists()).collect()
}

/// Covers those of them again that are not any more: they were replaced while the boundary stood and nobody kept it.
pub(crate) fn cover_again(covered: &[&PathBuf]) -> Result<(), Stop> {
    let is_open = |path: &&&PathBuf| is_covered(path) == Some(false);
    covered.iter().filter(is_open).try_for_each(|path| cover(std::slice::from_ref(path)))
}

/// Whether all of them still are, for certain.
pub(crate) fn are_covered(covered: &[&PathBuf]) -> bool {
    covered.iter().all(|path| is_covered(path) == Some(true))
}

/// Nothing when it cannot be seen.
fn is_covered(path: &Path) -> Option<bool> {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::empty()).ok()?;
    Some(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

fn empty(path: &Path, options: &str, more: MountFlags) -> Result<(), Stop> {
    let options = std::ffi::CString::new(options).map_err(|error| Stop::new("mount", error))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | more;
    mount("tmpfs", path, "tmpfs", flags, Some(options.as_c_str())).map_err(at("empty folder", path))
}

/// A folder of devices with nothing in it but those that are everybody's, and terminals of its own.
fn make_devices(devices: Vec<(&str, OwnedFd)>) -> Result<(), Stop> {
    let folder = Path::new("/dev");
    // Without NODEV: the devices are mounts on it, with their own flags, and nobody can make new ones.
    mount("tmpfs", folder, "tmpfs", MountFlags::NOSUID, Some(c"mode=0755,size=64k"))
        .map_err(at("devices", folder))?;
    for (path, tree) in devices {
        // Devices can be written all the same. What cannot be changed is their modes, owners and times.
        raw::set_mount_flags(tree.as_fd(), READ_ONLY).map_err(at("device", Path::new(path)))?;
        put_back(Path::new(path), &tree)?;
    }
    let shade = rustix::fs::open(
        SHADE,
        OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC,
        Mode::empty(),
    );
    drop(shade.map_err(at("devices", Path::new(SHADE)))?);
    for name in ["shm", "pts"] {
        std::fs::create_dir(folder.join(name)).map_err(at("devices", folder))?;
    }
    let links = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ];
    for (name, to) in links {
        std::os::unix::fs::symlink(to, folder.join(name)).map_err(at("devices", folder))?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    // Before something else lies on it, so that only this is read-only.
    let own = open_tree(CWD, folder, OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(at("devices", folder))?;
    raw::set_mount_flags(own.as_fd(), READ_ONLY).map_err(at("devices", folder))?;
    mount("devpts", "/dev/pts", "devpts", flags, Some(c"newinstance,ptmxmode=0666,mode=0600"))
        .map_err(at("terminals", folder))
}

/// A view of the processes in here, and none of those outside.
fn processes(plan: &Plan) -> Result<(), Stop> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).map_err(Stop::at("view of processes"))?;
    if let Some(processes) = plan.limits.processes
        && kernel() >= OWN_PID_MAX
    {
        // The other limit does not hold for root.
        let highest = processes.max(LOWEST_PID_MAX).to_string();
        let file = rustix::fs::open(
            "/proc/sys/kernel/pid_max",
            rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CLOEXEC,
            Mode::empty(),
        );
        if let Ok(file) = file {
            let _ = rustix::io::write(&file, highest.as_bytes());
        }
    }
    mount_bind("/proc", "/proc").map_err(Stop::at("view of processes"))?;
    let view =
        open_tree(CWD, "/proc", OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(Stop::at("view of processes"))?;
    raw::set_mount_flags(view.as_fd(), READ_ONLY).map_err(Stop::at("view of processes: read-only"))
}

/// The version of the kernel.
fn kernel() -> (u32, u32) {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy().into_owned();
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_seen_to_be_covered_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (mount, plain) = (PathBuf::from("/proc"), folder.path().to_owned());
        let missing = plain.join("missing");
        assert!(are_covered(&[]) && are_covered(&[&mount]));
        assert!(!are_covered(&[&mount, &plain]));
        assert!(!are_covered(&[&mount, &missing]), "nobody knows");
    }
}
