//! The attempts, by name.

mod files;
mod kernel;
mod network;
mod processes;
mod resources;
mod traces;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where the attempts happen.
pub(crate) struct World {
    pub(crate) root: PathBuf,
    pub(crate) victim: i32,
    pub(crate) rest: Vec<String>,
}

impl World {
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root.join("outside").join(name)
    }
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        self.root.join("home").join(name)
    }
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        self.root.join("home/project").join(name)
    }
    pub(crate) fn number(&self, at: usize) -> u16 {
        self.rest.get(at).and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

pub(crate) type Attempt = fn(&World) -> io::Result<()>;

pub(crate) fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(root), Some(victim)) = (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("probe NAME WORLD PID …");
        return ExitCode::from(3);
    };
    let world = World { root: root.into(), victim: victim.parse().unwrap_or(0), rest: arguments.collect() };
    let lists = [files::LIST, processes::LIST, network::LIST, kernel::LIST, resources::LIST, traces::LIST];
    let Some((_, attempt)) = lists.iter().flat_map(|list| list.iter()).find(|(known, _)| *known == name)
    else {
        eprintln!("{name} is no attempt");
        return ExitCode::from(3);
    };
    match attempt(&world) {
        Ok(()) => {
            println!("out: {name}");
            ExitCode::SUCCESS
        }
        Err(error) if error.kind() == io::ErrorKind::Unsupported && error.raw_os_error().is_none() => {
            println!("senseless: {name}: {error}");
            ExitCode::from(3)
        }
        Err(error) => {
            println!("held: {name}: {error}");
            ExitCode::from(1)
        }
    }
}

/// Turns the answer of a system call into a result.
pub(crate) fn answer(number: i64) -> io::Result<i64> {
    if number < 0 { Err(io::Error::last_os_error()) } else { Ok(number) }
}

pub(crate) fn senseless(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why.to_owned())
}

pub(crate) fn held(why: &str) -> io::Error {
    io::Error::other(why.to_owned())
}

pub(crate) fn path(path: &Path) -> std::ffi::CString {
    std::ffi::CString::new(path.to_str().unwrap()).unwrap()
}
