//! Processes: looking into others, signalling them, staying behind.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;

use super::{Attempt, World, answer, held, senseless};

pub(crate) const LIST: &[(&str, Attempt)] = &[
    ("victim-environment", |w| {
        let text = fs::read(format!("/proc/{}/environ", w.victim))?;
        if text.windows(11).any(|part| part == b"VICTIM_SEEN") { Ok(()) } else { Err(held("not there")) }
    }),
    ("victim-command-line", |w| {
        let text = fs::read(format!("/proc/{}/cmdline", w.victim))?;
        if text.windows(6).any(|part| part == b"victim") { Ok(()) } else { Err(held("not there")) }
    }),
    ("victim-root", |w| fs::read_dir(format!("/proc/{}/root/", w.victim)).map(drop)),
    ("victim-folder", |w| fs::read_dir(format!("/proc/{}/cwd/", w.victim)).map(drop)),
    ("victim-descriptors", |w| list(&format!("/proc/{}/fd", w.victim))),
    ("victim-memory", |w| {
        fs::OpenOptions::new().write(true).open(format!("/proc/{}/mem", w.victim)).map(drop)
    }),
    ("victim-maps", |w| {
        let text = fs::read_to_string(format!("/proc/{}/maps", w.victim))?;
        if text.contains("probe") { Ok(()) } else { Err(held("not there")) }
    }),
    ("ptrace", |w| {
        let none = std::ptr::null_mut::<u8>();
        answer(unsafe { libc::ptrace(libc::PTRACE_SEIZE, w.victim, none, none) }).map(drop)
    }),
    ("ptrace-own-child", |_| {
        let none = std::ptr::null_mut::<u8>();
        answer(unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) }).map(drop)
    }),
    ("read-memory", |w| {
        let mut buffer = [0u8; 8];
        let own = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: 8 };
        let maps = fs::read_to_string(format!("/proc/{}/maps", w.victim)).unwrap_or_default();
        let at =
            maps.split('-').next().and_then(|text| usize::from_str_radix(text, 16).ok()).unwrap_or(0x1000);
        let theirs = libc::iovec { iov_base: at as *mut _, iov_len: 8 };
        answer(unsafe { libc::process_vm_readv(w.victim, &own, 1, &theirs, 1, 0) } as i64).map(drop)
    }),
    ("signal", |w| answer(unsafe { libc::kill(w.victim, libc::SIGTERM) }.into()).map(drop)),
    ("signal-thread", |w| {
        answer(unsafe { libc::syscall(libc::SYS_tgkill, w.victim, w.victim, libc::SIGTERM) }).map(drop)
    }),
    ("signal-descriptor", |w| {
        let victim = answer(unsafe { libc::syscall(libc::SYS_pidfd_open, w.victim, 0) })?;
        let none = std::ptr::null::<u8>();
        answer(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, victim, libc::SIGTERM, none, 0) })
            .map(drop)
    }),
    ("take-descriptor", |w| {
        let victim = answer(unsafe { libc::syscall(libc::SYS_pidfd_open, w.victim, 0) })?;
        answer(unsafe { libc::syscall(libc::SYS_pidfd_getfd, victim, 0, 0) }).map(drop)
    }),
    ("limits-of-others", |w| {
        let limit = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
        let none = std::ptr::null_mut();
        answer(unsafe { libc::prlimit(w.victim, libc::RLIMIT_CORE, &limit, none) }.into()).map(drop)
    }),
    ("signal-keeper", |_| {
        let keeper = unsafe { libc::getppid() };
        if keeper == 0 {
            return Err(senseless("no parent to be seen"));
        }
        answer(unsafe { libc::kill(keeper, libc::SIGKILL) }.into())?;
        // The first process of a namespace does not even notice.
        for _ in 0..50 {
            pause(20);
            if unsafe { libc::getppid() } != keeper {
                return Ok(());
            }
        }
        Err(held("it is still there"))
    }),
    ("keeper-descriptors", |_| list(&format!("/proc/{}/fd", unsafe { libc::getppid() }))),
    ("keeper-environment", |_| fs::read(format!("/proc/{}/environ", unsafe { libc::getppid() })).map(drop)),
    ("inherited-descriptors", |_| {
        let mine: Vec<String> = fs::read_dir("/proc/self/fd")?
            .flatten()
            .filter_map(|entry| {
                let number: i32 = entry.file_name().to_str()?.parse().ok()?;
                let to = fs::read_link(entry.path()).ok()?;
                let to = to.to_string_lossy().into_owned();
                (number > 2 && !to.starts_with("/proc/")).then_some(to)
            })
            .collect();
        if mine.is_empty() { Err(held("none")) } else { Ok(()) }
    }),
    ("environment-secrets", |_| {
        let found = ["AZURE_API_KEY", "SSH_AUTH_SOCK", "GITHUB_TOKEN", "LD_PRELOAD"];
        if found.iter().any(|name| std::env::var_os(name).is_some()) { Ok(()) } else { Err(held("none")) }
    }),
    ("rights-of-root", |_| {
        let status = fs::read_to_string("/proc/self/status")?;
        let rights = status.lines().filter(|line| line.starts_with("CapEff") || line.starts_with("CapPrm"));
        if rights.clone().any(|line| line.split_whitespace().nth(1) != Some("0000000000000000")) {
            Ok(())
        } else {
            Err(held("none"))
        }
    }),
    ("rights-after-exec", |w| again(w, "rights-of-root")),
    ("new-privileges", |_| {
        let status = fs::read_to_string("/proc/self/status")?;
        if status.lines().any(|line| line == "NoNewPrivs:\t0") { Ok(()) } else { Err(held("switched off")) }
    }),
    ("setuid-program", |w| {
        let program = w.outside("setuid");
        if !program.exists() {
            return Err(senseless("only root can make such a program"));
        }
        let output = std::process::Command::new(program).args(["who", "x", "0"]).output()?;
        if output.stdout == b"0\n" { Ok(()) } else { Err(held("not root")) }
    }),
    ("who", |_| {
        println!("{}", unsafe { libc::geteuid() });
        std::process::exit(0)
    }),
    ("become-root", |_| {
        if unsafe { libc::geteuid() } == 0 {
            return Err(senseless("is root"));
        }
        answer(unsafe { libc::setuid(0) }.into()).map(drop)
    }),
    ("become-other", |_| answer(unsafe { libc::syscall(libc::SYS_setuid, 4242) }).map(drop)),
    ("memory-program", |w| {
        // A program that has no place in any file system is confined like every other.
        let file = answer(unsafe { libc::memfd_create(c"x".as_ptr(), 0) }.into())?;
        let place = format!("/proc/self/fd/{file}");
        fs::write(&place, fs::read("/proc/self/exe")?)?;
        let status = std::process::Command::new(place).args(["create"]).arg(&w.root).arg("0").status()?;
        if status.success() { Ok(()) } else { Err(held("it was held, too")) }
    }),
    ("loader", |w| {
        let loader = "/lib64/ld-linux-x86-64.so.2";
        let own = fs::read_link("/proc/self/exe")?;
        let status =
            std::process::Command::new(loader).arg(own).arg("create").arg(&w.root).arg("0").status()?;
        if status.success() { Ok(()) } else { Err(held("it was held, too")) }
    }),
    // Staying behind. These succeed in starting; the test looks whether anybody is left.
    ("daemon", |_| stay(Stay { session: true, ..Stay::default() })),
    ("double-fork", |_| stay(Stay { session: true, twice: true, ..Stay::default() })),
    ("deaf", |_| stay(Stay { session: true, twice: true, deaf: true, ..Stay::default() })),
    ("stopped", |_| stay(Stay { stopped: true, ..Stay::default() })),
    ("no-environment", |_| stay(Stay { session: true, twice: true, again: true, ..Stay::default() })),
    ("many", |_| (0..20).try_for_each(|_| stay(Stay { session: true, twice: true, ..Stay::default() }))),
    ("sleep", |_| {
        println!("ready");
        pause(600_000);
        Ok(())
    }),
    ("sleep-deaf", |_| {
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
        stay(Stay { session: true, twice: true, deaf: true, ..Stay::default() })?;
        println!("ready");
        pause(600_000);
        Ok(())
    }),
    ("victim", |_| {
        pause(600_000);
        Ok(())
    }),
];

/// How to stay behind.
#[derive(Default, Clone, Copy)]
pub(crate) struct Stay {
    pub(crate) session: bool,
    pub(crate) twice: bool,
    pub(crate) deaf: bool,
    pub(crate) stopped: bool,
    pub(crate) again: bool,
}

/// Leaves a process that holds the pipes and sleeps.
pub(crate) fn stay(how: Stay) -> io::Result<()> {
    match answer(unsafe { libc::fork() }.into())? {
        0 => {
            if how.session {
                unsafe { libc::setsid() };
            }
            if how.twice && unsafe { libc::fork() } != 0 {
                std::process::exit(0);
            }
            if how.deaf {
                for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
                    unsafe { libc::signal(signal, libc::SIG_IGN) };
                }
            }
            if how.stopped {
                unsafe { libc::raise(libc::SIGSTOP) };
            }
            if how.again {
                let root = std::env::args().nth(2).unwrap();
                let failed = std::process::Command::new("/proc/self/exe")
                    .args(["victim", &root, "0"])
                    .env_clear()
                    .exec();
                eprintln!("{failed}");
            }
            pause(600_000);
            std::process::exit(0);
        }
        _ => Ok(()),
    }
}

/// Looks behind the entries of a folder: root can open one whose contents it is then not told.
fn list(folder: &str) -> io::Result<()> {
    let first = fs::read_dir(folder)?.next().ok_or_else(|| held("empty"))?;
    fs::read_link(first?.path()).map(drop)
}

fn again(world: &World, name: &str) -> io::Result<()> {
    let status = std::process::Command::new("/proc/self/exe").arg(name).arg(&world.root).arg("0").status()?;
    if status.success() { Ok(()) } else { Err(held("held after exec, too")) }
}

pub(crate) fn pause(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}
