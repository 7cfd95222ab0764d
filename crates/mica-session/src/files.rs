//! Everything that this crate writes to a disk, in one place.
//!
//! Promise: an append either is whole in the file or the file has the length it had before. Files that are replaced are
//! replaced as a whole, by renaming. What is made here only its owner can read: people tell agents what they would not
//! tell each other.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether an append must have reached the disk before the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It must. For what must not be lost even when the power fails: user messages, answers, results.
    Now,
    /// The system may take its time. It survives the end of the program, and the next append with `Now` covers it.
    Lazy,
}

/// What an append needs of a file. A trait, so that a test can run out of disk.
pub(crate) trait Log {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    fn set_len(&mut self, length: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

impl Log for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // One writer holds the lock, so seeking and writing need not be one step.
        self.seek(SeekFrom::Start(offset))?;
        // A line is one system call, unless the system takes it in parts.
        self.write_all(bytes)
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        File::set_len(self, length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Appends lines to a log, or leaves it as it was.
pub(crate) struct Appender {
    log: Box<dyn Log + Send + Sync>,
    /// The length up to which the file has whole lines.
    length: u64,
    /// Whether there may be something behind that length which could not be taken back.
    soiled: bool,
}

impl Appender {
    pub(crate) fn new(log: impl Log + Send + Sync + 'static, length: u64) -> Self {
        Self { log: Box::new(log), length, soiled: false }
    }

    #[cfg(test)]
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends lines and answers where they begin. When it fails, nothing was appended.
    pub(crate) fn append(&mut self, lines: &[u8], durability: Durability) -> io::Result<u64> {
        if self.soiled {
            self.log.set_len(self.length)?;
            self.soiled = false;
        }
        let start = self.length;
        let written = self.log.write_at(start, lines).and_then(|()| match durability {
            Durability::Now => self.log.sync(),
            Durability::Lazy => Ok(()),
        });
        if let Err(error) = written {
            // After a failed sync the system does not say what is on the disk, so the line is taken back as well: an
            // error means "not appended", without a case in which it is half true.
            self.soiled = self.log.set_len(start).is_err();
            return Err(error);
        }
        self.length = start + lines.len() as u64;
        Ok(start)
    }

    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.log.sync()
    }
}

/// Opens an existing log for appending.
pub(crate) fn open_log(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Makes a log that begins with these bytes. They and the file's name are on the disk when this returns.
pub(crate) fn create_log(path: &Path, beginning: &[u8]) -> io::Result<File> {
    let mut file = for_owner().create_new(true).open(path)?;
    let written = file.write_all(beginning).and_then(|()| file.sync_data()).and_then(|()| sync_parent(path));
    if let Err(error) = written {
        // It is ours and nobody has seen it: a file without a whole header would only be in the way.
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Makes a folder and those above it, and sees to it that their names are on the disk.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    match folder_for_owner().create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync_parent(path)
}

/// Makes a folder in one that is there, for what can be made again.
#[cfg(unix)]
pub(crate) fn make_cache_folder(path: &Path) -> io::Result<()> {
    match folder_for_owner().create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Cuts a file at a length, on the disk.
pub(crate) fn cut(file: &File, length: u64) -> io::Result<()> {
    file.set_len(length)?;
    file.sync_data()
}

/// Writes a file that must not be there yet, on the disk.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_log(path, bytes).map(drop)
}

/// Whether a replaced file must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// It can be made again.
    Cache,
    /// Its bytes must be; its name comes to the disk with whatever is waited for next.
    #[cfg_attr(not(unix), allow(dead_code, reason = "undo is for Unix"))]
    Bytes,
    /// It cannot.
    Truth,
}

/// Makes names of files that are about to replace others differ within the process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Who may read a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Its owner: it may hold what people would not tell each other.
    Owner,
    /// Whoever may read files that the user makes.
    Usual,
}

/// Replaces a file as a whole, also where its folder is not there yet: for everybody who keeps something in a file of their
/// own. Others see the old bytes or the new ones, and when it fails the old ones stay.
///
/// # Errors
/// When it cannot be written.
pub fn replace_file(path: &Path, bytes: &[u8], worth: Worth, readers: Readers) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    replace_for(path, bytes, worth, readers)
}

/// Replaces a file as a whole. Others see the old bytes or the new ones.
pub(crate) fn replace(path: &Path, bytes: &[u8], worth: Worth) -> io::Result<()> {
    replace_for(path, bytes, worth, Readers::Owner)
}

fn replace_for(path: &Path, bytes: &[u8], worth: Worth, readers: Readers) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // The process and the number in the name keep two writers that replace the same file from writing into one.
    name.push(format!(".{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    let beside = path.with_file_name(name);
    let mut options = match readers {
        Readers::Owner => for_owner(),
        Readers::Usual => File::options(),
    };
    let replaced = options
        .write(true)
        .create_new(true)
        .open(&beside)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            match worth {
                Worth::Truth => file.sync_all(),
                Worth::Bytes => file.sync_data(),
                Worth::Cache => Ok(()),
            }
        })
        .and_then(|()| fs::rename(&beside, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
        return replaced;
    }
    if worth == Worth::Truth { sync_parent(path) } else { Ok(()) }
}

/// Gives a file a second name, or copies it where that cannot be done.
pub(crate) fn duplicate(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() || fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    replace(to, &fs::read(from)?, Worth::Truth)
}

/// Opens the file of a lock, made when it is not there. What it says is not touched.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    for_owner().create(true).truncate(false).open(path)
}

/// Says in a lock who holds it.
pub(crate) fn write_holder(file: &mut File, pid: u32) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{pid}")
}

/// How files are made: for reading and writing, by their owner.
fn for_owner() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn folder_for_owner() -> DirBuilder {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Removes a file or a folder with all that is in it. What is not there is removed already.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Puts the names in a folder on the disk. Systems on which folders cannot be opened do so by themselves.
#[cfg(unix)]
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(crate) fn sync_parent(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
