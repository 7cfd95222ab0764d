//! The last steps of the command's own process: streams, limits, rights, filters, and then it is the command.

use std::ffi::{CStr, CString};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::Stop;
use super::channel::Streams;
use super::raw::{self, Strings};
use crate::boundary::Limits;
use crate::plan::{Errand, Plan};
use crate::tier::Tier;

/// Where programs are when nothing says where.
const PATH: &str = "/bin:/usr/bin";
const SHELL: &CStr = c"/bin/sh";

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

/// The program that an errand names, as the kernel takes it.
pub(crate) struct Program {
    /// What it may be; the first one that is there is it. None: nothing is run.
    files: Vec<CString>,
    arguments: Strings,
    environment: Strings,
}

impl Program {
    pub(crate) fn of(errand: &Errand) -> Result<Self, Stop> {
        let string = |text: String| CString::new(text).map_err(Stop::at("exec"));
        let files = match (errand.program.as_str(), errand.environment.get("PATH")) {
            ("", _) => Vec::new(),
            (path, _) if path.contains('/') => vec![string(path.to_owned())?],
            (name, folders) => {
                let folders = folders.map_or(PATH, String::as_str).split(':');
                // Nothing between two colons is the folder of the command.
                let all = folders.map(|folder| if folder.is_empty() { "." } else { folder });
                all.map(|folder| string(format!("{folder}/{name}"))).collect::<Result<_, Stop>>()?
            }
        };
        let words = std::iter::once(&errand.program).chain(&errand.arguments);
        let arguments: Vec<CString> = words.map(|word| string(word.clone())).collect::<Result<_, Stop>>()?;
        let variables = errand.environment.iter().map(|(name, value)| string(format!("{name}={value}")));
        let environment = variables.collect::<Result<_, Stop>>()?;
        Ok(Self { files, arguments: Strings::new(arguments), environment: Strings::new(environment) })
    }

    /// Becomes it. Coming back means that it did not.
    fn execute(&self) -> Stop {
        if let Err(error) = raw::usual_signals() {
            return Stop::at("signals")(error);
        }
        let mut told = std::io::Error::from_raw_os_error(libc::ENOENT);
        for file in &self.files {
            let error = raw::execute(file, &self.arguments, &self.environment);
            match error.raw_os_error() {
                // There may be another one later on the way. That one could not be run is said when there is none.
                Some(libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT) => {}
                Some(libc::EACCES) => told = error,
                // A script that does not say for what: for the shell.
                Some(libc::ENOEXEC) => {
                    let own = self.arguments.strings().iter().skip(1).cloned();
                    let words = [SHELL.to_owned(), file.clone()].into_iter().chain(own).collect();
                    return Stop::at("exec")(raw::execute(SHELL, &Strings::new(words), &self.environment));
                }
                _ => return Stop::at("exec")(error),
            }
        }
        Stop::at("exec")(told)
    }
}

/// Becomes the command. Coming back means that it did not.
pub(crate) fn become_it(
    plan: &Plan,
    confinement: &Confinement,
    program: &Program,
    streams: &Streams,
) -> Stop {
    match enter(plan).and_then(|()| confine(plan, confinement)).and_then(|()| take(streams)) {
        Ok(()) => begin(program),
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
        raw::unshare(libc::CLONE_NEWIPC).map_err(Stop::at("messages"))?;
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

/// Becomes the command in a process that is confined and has its streams. Coming back means that it did not.
pub(crate) fn begin(program: &Program) -> Stop {
    if program.files.is_empty() {
        // A trial: the boundary stands, and there is nothing to run in it.
        raw::exit(0);
    }
    program.execute()
}

/// Puts the command's streams where it looks for them.
pub(crate) fn take([input, output, errors]: &Streams) -> Result<(), Stop> {
    rustix::stdio::dup2_stdin(input).map_err(Stop::at("streams"))?;
    rustix::stdio::dup2_stdout(output).map_err(Stop::at("streams"))?;
    rustix::stdio::dup2_stderr(errors).map_err(Stop::at("streams"))
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
