//! What a command can leave behind in a boundary when everything that it started has ended.
//!
//! It is looked at before the first command and after each one. When it is the same, the next command finds what it would
//! find in a boundary that was built anew, and this one serves it too; when it is not, or cannot be told, it does not.
//!
//! A command in such a boundary writes nothing but its private folders. What else it could change, and why that is all:
//!
//! - *processes* have all ended; shared memory, queues and semaphores are in a namespace of each command's own;
//! - *private folders*, terminals included: compared here, name by name. Other mounts are read-only;
//! - *the network*: its own loopback is all there is. Connections outlive processes, and none can have been made when
//!   nothing went over it;
//! - *the keeper*: it has rights in its namespaces that the command has given up, so the kernel lets no command change how
//!   it is scheduled, which those after it would inherit; that is compared here all the same. Its limits, its memory and its
//!   descriptors cannot be reached (seccomp, and it is not dumpable), and it is the first process of its namespace, which
//!   no signal from in there ends or stops;
//! - *settings of the kernel* and control groups are read-only mounts, keys and names of the machine are refused.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

use super::{Stop, raw};
use crate::plan::Plan;

/// Terminals that a command made are listed here until they are closed.
const TERMINALS: &str = "/dev/pts";
/// What went over each interface.
const INTERFACES: &str = "/proc/net/dev";
/// More than there is in folders that were just made. What is fuller than that is not worth comparing.
const MOST: usize = 64;

/// What there is.
#[derive(PartialEq, Eq)]
pub(crate) struct Traces {
    files: Vec<Trace>,
    interfaces: Vec<u8>,
    scheduling: Vec<u8>,
}

/// One file or folder. Its times do not count: a temporary file that was removed leaves nothing but those.
#[derive(PartialEq, Eq)]
struct Trace {
    path: PathBuf,
    device: (u32, u32),
    inode: u64,
    mode: u16,
    owner: (u32, u32),
    links: u32,
    size: u64,
    attributes: u64,
    extended: usize,
}

impl Traces {
    /// Looks at everything.
    ///
    /// # Errors
    /// When something cannot be looked at.
    pub(crate) fn of(plan: &Plan) -> Result<Self, Stop> {
        let mut files = Vec::new();
        let terminals = PathBuf::from(TERMINALS);
        for folder in plan.shared.iter().chain([&terminals]) {
            // A link leads to one of the others.
            if folder.symlink_metadata().is_ok_and(|kind| kind.is_dir()) {
                walk(folder, None, &mut files)?;
            }
        }
        let interfaces = std::fs::read(INTERFACES).map_err(Stop::at("traces: network"))?;
        let scheduling = raw::scheduling().map_err(Stop::at("traces: scheduling"))?;
        Ok(Self { files, interfaces, scheduling })
    }
}

/// A folder and all below it, up to where other mounts begin.
fn walk(path: &Path, within: Option<(u32, u32)>, files: &mut Vec<Trace>) -> Result<(), Stop> {
    let failed = || Stop::at("traces: private folders");
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)
        .map_err(|error| failed()(std::io::Error::from(error)))?;
    let device = (found.stx_dev_major, found.stx_dev_minor);
    // What is on another mount cannot be written; that it is there still is what counts.
    let is_other = within.is_some_and(|within| within != device)
        || (within.is_some() && found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
    let is_folder = u32::from(found.stx_mode) & libc::S_IFMT == libc::S_IFDIR;
    let mut trace = Trace {
        path: path.to_owned(),
        device,
        inode: found.stx_ino,
        mode: found.stx_mode,
        owner: (found.stx_uid, found.stx_gid),
        links: found.stx_nlink,
        size: found.stx_size,
        attributes: found.stx_attributes.bits(),
        extended: 0,
    };
    if is_other {
        // Others may change it meanwhile, in their own ways.
        trace = Trace { mode: 0, owner: (0, 0), links: 0, size: 0, attributes: 0, ..trace };
        files.push(trace);
        return Ok(());
    }
    // Lists of who may do what count among these.
    let mut names = [0u8; 256];
    trace.extended = match rustix::fs::llistxattr(path, names.as_mut_slice()) {
        Ok(length) => length,
        Err(rustix::io::Errno::OPNOTSUPP) => 0,
        Err(error) => return Err(failed()(std::io::Error::from(error))),
    };
    files.push(trace);
    if files.len() > MOST {
        return Err(Stop::new("traces", "there is too much to compare"));
    }
    if is_folder {
        let entries = std::fs::read_dir(path).map_err(failed())?;
        let names: std::io::Result<Vec<OsString>> =
            entries.map(|entry| entry.map(|entry| entry.file_name())).collect();
        let mut names = names.map_err(failed())?;
        names.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
        for name in names {
            walk(&path.join(name), Some(device), files)?;
        }
    }
    Ok(())
}
