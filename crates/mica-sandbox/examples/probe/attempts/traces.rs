//! Leaving something for the next command in the same boundary, and describing everything that one could find.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::{Attempt, answer, held, path};

/// Folders that are private.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
/// What everybody could find who knows it.
const KEY: i32 = 0x6d69;
const QUEUE: &std::ffi::CStr = c"/mica-left";
const PORT: u16 = 4711;

pub(crate) const LIST: &[(&str, Attempt)] = &[
    ("leave-nothing", |_| Ok(())),
    ("leave-file-and-remove-it", |_| {
        PRIVATE.iter().try_for_each(|folder| {
            let file = Path::new(folder).join("left");
            fs::write(&file, "text")?;
            fs::remove_file(file)
        })
    }),
    ("leave-file", |_| fs::write("/tmp/left", "text")),
    ("leave-hidden-file", |_| fs::write("/var/tmp/.left", "text")),
    ("leave-shared-memory-file", |_| fs::write("/dev/shm/left", "text")),
    ("leave-run-folder", |_| fs::create_dir("/run/left")),
    ("leave-link", |_| std::os::unix::fs::symlink("/etc/passwd", "/tmp/left")),
    ("leave-mode", |_| fs::set_permissions("/tmp", fs::Permissions::from_mode(0o700))),
    ("leave-shared-memory-mode", |_| fs::set_permissions("/dev/shm", fs::Permissions::from_mode(0o700))),
    ("leave-attribute", |_| {
        let (folder, name) = (c"/tmp", c"user.left");
        answer(unsafe { libc::setxattr(folder.as_ptr(), name.as_ptr(), c"x".as_ptr().cast(), 1, 0) }.into())
            .map(drop)
    }),
    ("leave-device-modes", |_| {
        let mut changed = 0;
        for place in ["/dev", "/dev/null", "/dev/.covered", "/dev/urandom"] {
            changed += u32::from(fs::set_permissions(place, fs::Permissions::from_mode(0o777)).is_ok());
        }
        if changed > 0 { Ok(()) } else { Err(held("none was changed")) }
    }),
    ("leave-terminal-mode", |_| fs::set_permissions("/dev/pts/ptmx", fs::Permissions::from_mode(0o600))),
    ("leave-terminal", |_| {
        let terminal = fs::File::options().read(true).write(true).open("/dev/ptmx")?;
        std::mem::forget(terminal);
        super::processes::stay(super::processes::Stay { session: true, ..Default::default() })
    }),
    ("leave-memory", |_| {
        answer(unsafe { libc::shmget(KEY, 4096, libc::IPC_CREAT | 0o600) }.into()).map(drop)
    }),
    ("leave-queue", |_| answer(unsafe { libc::msgget(KEY, libc::IPC_CREAT | 0o600) }.into()).map(drop)),
    ("leave-semaphore", |_| {
        answer(unsafe { libc::semget(KEY, 1, libc::IPC_CREAT | 0o600) }.into()).map(drop)
    }),
    ("leave-named-queue", |_| {
        let how = libc::O_CREAT | libc::O_RDWR;
        let none = std::ptr::null::<libc::c_void>();
        answer(unsafe { libc::syscall(libc::SYS_mq_open, QUEUE.as_ptr().add(1), how, 0o600, none) }).map(drop)
    }),
    ("leave-connection", |_| {
        // The side that closes first keeps the connection for a minute.
        let listener = TcpListener::bind(("127.0.0.1", PORT))?;
        let mut one = TcpStream::connect(("127.0.0.1", PORT))?;
        let (mut other, _) = listener.accept()?;
        other.write_all(b"x")?;
        one.read_exact(&mut [0])?;
        drop(other);
        Ok(())
    }),
    ("leave-abstract-socket", |_| {
        use std::os::linux::net::SocketAddrExt;
        let address = std::os::unix::net::SocketAddr::from_abstract_name("left")?;
        std::mem::forget(std::os::unix::net::UnixListener::bind_addr(&address)?);
        Ok(())
    }),
    ("leave-own-settings", |_| {
        unsafe {
            libc::umask(0o777);
            libc::setpriority(libc::PRIO_PROCESS, 0, 7);
            libc::signal(libc::SIGTERM, libc::SIG_IGN);
        }
        std::env::set_current_dir("/")?;
        let limit = libc::rlimit { rlim_cur: 16, rlim_max: 16 };
        answer(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }.into()).map(drop)
    }),
    ("leave-nice-keeper", |_| {
        answer(unsafe { libc::setpriority(libc::PRIO_PROCESS, 1, 7) }.into()).map(drop)
    }),
    ("leave-nice-user", |_| {
        let user = unsafe { libc::getuid() };
        answer(unsafe { libc::setpriority(libc::PRIO_USER, user, 7) }.into()).map(drop)
    }),
    ("leave-idle-keeper", |_| {
        let how = libc::sched_param { sched_priority: 0 };
        answer(unsafe { libc::sched_setscheduler(1, libc::SCHED_IDLE, &how) }.into()).map(drop)
    }),
    ("leave-keeper-on-one-processor", |_| {
        if std::thread::available_parallelism()?.get() == 1 {
            return Err(super::senseless("there is one only"));
        }
        let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        unsafe { libc::CPU_SET(0, &mut one) };
        answer(unsafe { libc::sched_setaffinity(1, size_of_val(&one), &one) }.into()).map(drop)
    }),
    ("leave-keeper-last-at-disks", |_| {
        const IDLE: i32 = 3 << 13;
        answer(unsafe { libc::syscall(libc::SYS_ioprio_set, 1, 1, IDLE) }).map(drop)
    }),
    ("leave-keeper-limits", |_| {
        let limit = libc::rlimit { rlim_cur: 16, rlim_max: 16 };
        let none = std::ptr::null_mut();
        answer(unsafe { libc::prlimit(1, libc::RLIMIT_NOFILE, &limit, none) }.into()).map(drop)
    }),
    ("leave-keeper-signals", |_| {
        for signal in (1..=64).filter(|signal| *signal != libc::SIGCONT) {
            unsafe { libc::kill(1, signal) };
        }
        Ok(())
    }),
    ("describe", |world| {
        describe(world);
        Ok(())
    }),
];

/// Everything that one command could find of another, apart from times and numbers of processes. The first line is the own
/// number.
fn describe(world: &super::World) {
    println!("{}", std::process::id());
    for folder in PRIVATE.into_iter().chain(["/dev", "/dev/pts"]) {
        files(Path::new(folder));
    }
    for name in ["shm", "sem", "msg"] {
        show(&format!("/proc/sysvipc/{name}"));
    }
    for name in ["dev", "tcp", "tcp6", "udp", "udp6", "raw", "unix"] {
        show(&format!("/proc/net/{name}"));
    }
    unsafe {
        println!("memory {}", libc::shmget(KEY, 0, 0));
        println!("queue {}", libc::msgget(KEY, 0));
        println!("semaphore {}", libc::semget(KEY, 0, 0));
        println!(
            "named queue {}",
            libc::syscall(libc::SYS_mq_open, QUEUE.as_ptr().add(1), libc::O_RDONLY, 0, 0)
        );
    }
    println!("port {:?}", TcpListener::bind_without_reuse(PORT));
    for pid in [0, 1] {
        let mut processors = [0u8; 128];
        unsafe {
            println!(
                "process {pid}: nice {} policy {} disks {} processors {} {processors:?}",
                libc::getpriority(libc::PRIO_PROCESS, pid as u32),
                libc::sched_getscheduler(pid),
                libc::syscall(libc::SYS_ioprio_get, 1, pid),
                libc::syscall(libc::SYS_sched_getaffinity, pid, processors.len(), processors.as_mut_ptr()),
            );
        }
    }
    let mask = unsafe { libc::umask(0o22) };
    println!("mask {mask:o} in {:?}", std::env::current_dir());
    for resource in 0..16 {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        unsafe { libc::getrlimit(resource, &mut limit) };
        println!("limit {resource}: {} {}", limit.rlim_cur, limit.rlim_max);
    }
    let mut variables: Vec<_> = std::env::vars().filter(|(name, _)| name != "MICA_SANDBOX").collect();
    variables.sort();
    println!("{variables:?}");
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status
        .lines()
        .filter(|line| ["Sig", "Shd", "Cap", "NoNew", "Seccomp"].iter().any(|word| line.starts_with(word)))
    {
        println!("{line}");
    }
    let mut open: Vec<String> = fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some(format!("{:?} {}", entry.file_name(), kind(&fs::read_link(entry.path()).ok()?)))
        })
        .collect();
    open.sort();
    println!("{open:?}");
    let mut others: Vec<i32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != std::process::id() as i32)
        .collect();
    others.sort_unstable();
    println!("others {others:?}");
    show("/proc/self/mountinfo");
    println!("{:?}", fs::write(world.project("new"), "x").map_err(|error| error.kind()));
}

/// What a descriptor is, without its number.
fn kind(path: &Path) -> String {
    let name = path.to_string_lossy().replace(&std::process::id().to_string(), "self");
    name.split(':').next().unwrap_or_default().to_owned()
}

fn show(name: &str) {
    println!("{name}: {}", fs::read_to_string(name).unwrap_or_else(|error| error.to_string()));
}

fn files(place: &Path) {
    let Ok(meta) = place.symlink_metadata() else { return };
    let mut names = [0u8; 256];
    let length = unsafe { libc::llistxattr(path(place).as_ptr(), names.as_mut_ptr().cast(), names.len()) }
        .max(0) as usize;
    println!(
        "{} {:o} {}:{} {} {:?}",
        place.display(),
        meta.mode(),
        meta.uid(),
        meta.gid(),
        if meta.is_dir() { 0 } else { meta.size() },
        String::from_utf8_lossy(&names[..length])
    );
    if meta.is_dir() {
        let mut names: Vec<_> =
            fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        names.sort_by(|one, other| one.as_os_str().as_bytes().cmp(other.as_os_str().as_bytes()));
        names.iter().filter(|name| name.parent() == Some(place)).for_each(|name| files(name));
    }
}

/// Listening as careless programs do.
trait WithoutReuse {
    fn bind_without_reuse(port: u16) -> io::Result<()>;
}

impl WithoutReuse for TcpListener {
    fn bind_without_reuse(port: u16) -> io::Result<()> {
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: port.to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from_be_bytes([127, 0, 0, 1]).to_be() },
            sin_zero: [0; 8],
        };
        unsafe {
            let socket = answer(libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0).into())? as i32;
            let length = size_of_val(&address) as u32;
            let bound = answer(libc::bind(socket, (&raw const address).cast(), length).into());
            libc::close(socket);
            bound.map(drop)
        }
    }
}
