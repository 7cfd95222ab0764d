//! The last steps of the command's own process: streams, limits, rights, filters, and then it is the command.

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::Stop;
use super::channel::Streams;
use crate::boundary::Limits;
use crate::plan::{Errand, Plan};
use crate::tier::Tier;

/// What confines the command's process, made before there is one: making it takes a while, and using it does not.
pub(crate) struct Confinement {
    #[cfg(target_os = "linux")]
    kernel: Option<(super::files::Rules, super::syscalls::Filters)>,
}

impl Confinement {
    pub(crate) fn of(plan: &Plan) -> Result<Self, Stop> {
        #[cfg(target_os = "linux")]
        {
            if plan.tier == Tier::None {
                return Ok(Self { kernel: None });
            }
            Ok(Self { kernel: Some((super::files::rules(plan)?, super::syscalls::filters(plan)?)) })
        }
        #[cfg(not(target_os = "linux"))]
        if plan.tier == Tier::None {
            Ok(Self {})
        } else {
            Err(Stop::new("tier", "only the tier none exists on this system"))
        }
    }

    /// The folders around what is hidden.
    pub(crate) fn around(&self) -> Vec<std::path::PathBuf> {
        #[cfg(target_os = "linux")]
        return self.kernel.as_ref().map(|(files, _)| files.around.clone()).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        Vec::new()
    }
}

/// Becomes the command. Coming back means that it did not.
pub(crate) fn become_it(plan: &Plan, confinement: &Confinement, errand: &Errand, streams: Streams) -> Stop {
    match enter(plan).and_then(|()| confine(plan, confinement)) {
        Ok(()) => begin(errand, streams),
        Err(stop) => stop,
    }
}

/// Goes to the folder of the command.
pub(crate) fn enter(plan: &Plan) -> Result<(), Stop> {
    rustix::process::chdir(&plan.folder).map_err(Stop::at(format!("folder {}", plan.folder.display())))
}

/// Gives up all that the command may not have. Needs to know nothing of it.
pub(crate) fn confine(plan: &Plan, confinement: &Confinement) -> Result<(), Stop> {
    // A session of its own has no terminal, so nothing can be typed into the user's.
    rustix::process::setsid().map_err(Stop::at("session"))?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    limit(&plan.limits, plan.tier)?;
    #[cfg(target_os = "linux")]
    if plan.tier == Tier::Namespaces {
        // Shared memory, queues and semaphores outlive those who made them. Each command has its own, so none finds
        // those of another.
        super::raw::unshare(libc::CLONE_NEWIPC).map_err(Stop::at("messages"))?;
    }
    #[cfg(target_os = "linux")]
    if let Some((files, calls)) = &confinement.kernel {
        super::capabilities::give_up(plan.tier)?;
        rustix::thread::set_no_new_privs(true).map_err(Stop::at("privileges"))?;
        files.confine()?;
        calls.confine()?;
    } else {
        let _ = rustix::thread::set_no_new_privs(true);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = confinement;
    Ok(())
}

/// Becomes the command in a process that is confined. Coming back means that it did not.
pub(crate) fn begin(errand: &Errand, streams: Streams) -> Stop {
    match take(streams) {
        // A trial: the boundary stands, and there is nothing to run in it.
        Ok(()) if errand.program.is_empty() => super::raw::exit(0),
        Ok(()) => exec(errand),
        Err(stop) => stop,
    }
}

fn take([input, output, errors]: Streams) -> Result<(), Stop> {
    rustix::stdio::dup2_stdin(&input).map_err(Stop::at("streams"))?;
    rustix::stdio::dup2_stdout(&output).map_err(Stop::at("streams"))?;
    rustix::stdio::dup2_stderr(&errors).map_err(Stop::at("streams"))
}

#[allow(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
fn exec(errand: &Errand) -> Stop {
    let mut command = Command::new(&errand.program);
    command.args(&errand.arguments).env_clear().envs(&errand.environment);
    Stop::at("exec")(command.exec())
}

fn limit(limits: &Limits, tier: Tier) -> Result<(), Stop> {
    // The kernel warns at the first figure and ends the process at the second.
    set(Resource::Cpu, limits.cpu_seconds, 1)?;
    set(Resource::Fsize, limits.file_size, 0)?;
    set(Resource::Nofile, limits.open_files, 0)?;
    set(Resource::Core, Some(0), 0)?;
    // Private memory that can be written. The address space would be the wrong measure: Java and JavaScript reserve far
    // more of it than they use.
    set(Resource::Data, limits.memory, 0)?;
    #[cfg(target_os = "linux")]
    if let Some(processes) = limits.processes {
        // A user namespace has a count of its own. Without one, everything else that the user runs counts, too.
        // Nobody counts root's, so nobody has to know how many there are.
        let counts = tier != Tier::Namespaces && !rustix::process::getuid().is_root();
        let others = if counts { tasks_of_user() } else { 0 };
        set(Resource::Nproc, Some(processes + others), 0)?;
    }
    let _ = tier;
    Ok(())
}

fn set(resource: Resource, limit: Option<u64>, more: u64) -> Result<(), Stop> {
    let Some(limit) = limit else { return Ok(()) };
    // A limit that is in force already is never raised.
    let old = rustix::process::getrlimit(resource).maximum;
    let under = |figure: u64| old.map_or(figure, |old| old.min(figure));
    setrlimit(resource, Rlimit { current: Some(under(limit)), maximum: Some(under(limit + more)) })
        .map_err(Stop::at(format!("limit {resource:?}")))
}

/// Threads of all processes of this user. The count of links of `/proc/<pid>/task` is theirs and two more.
#[cfg(target_os = "linux")]
fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()))
        .filter_map(|entry| std::fs::metadata(entry.path().join("task")).ok())
        .filter(|task| task.uid() == user)
        .map(|task| task.nlink().saturating_sub(2))
        .sum()
}
