//! The kernel: mounts, namespaces, devices, and calls that reach around other checks.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use super::{Attempt, answer, held, path, senseless};

const NONE: *const u8 = std::ptr::null();

pub(crate) const LIST: &[(&str, Attempt)] = &[
    ("mount", |w| {
        let at = path(&w.project(""));
        let kind = c"tmpfs".as_ptr();
        answer(unsafe { libc::mount(kind, at.as_ptr(), kind, 0, NONE.cast()) }.into()).map(drop)
    }),
    ("remount", |_| {
        let flags = libc::MS_REMOUNT | libc::MS_BIND;
        let root = c"/".as_ptr();
        answer(unsafe { libc::mount(NONE.cast(), root, NONE.cast(), flags, NONE.cast()) }.into()).map(drop)
    }),
    ("unmount", |w| {
        let at = path(&w.home(".ssh"));
        answer(unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) }.into()).map(drop)
    }),
    ("new-mount-api", |_| call(libc::SYS_fsopen, [c"tmpfs".as_ptr() as i64, 0, 0, 0])),
    ("open-tree", |_| call(libc::SYS_open_tree, [libc::AT_FDCWD.into(), c"/".as_ptr() as i64, 1, 0])),
    ("unshare-user", |_| answer(unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into()).map(drop)),
    ("unshare-mount", |_| answer(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into()).map(drop)),
    ("clone-user", |_| {
        let flags = i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
        let child = answer(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
        if child == 0 {
            unsafe { libc::_exit(0) };
        }
        Ok(())
    }),
    ("clone3-user", |_| {
        let mut arguments = [0u64; 11];
        arguments[0] = libc::CLONE_NEWUSER as u64;
        arguments[4] = libc::SIGCHLD as u64;
        let child = answer(unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), 88) })?;
        if child == 0 {
            unsafe { libc::_exit(0) };
        }
        Ok(())
    }),
    ("enter-namespace", |w| {
        let space = fs::File::open(format!("/proc/{}/ns/mnt", w.victim))?;
        answer(unsafe { libc::setns(std::os::fd::AsRawFd::as_raw_fd(&space), 0) }.into()).map(drop)
    }),
    ("enter-process", |w| {
        let victim = answer(unsafe { libc::syscall(libc::SYS_pidfd_open, w.victim, 0) })?;
        answer(unsafe { libc::setns(victim as i32, libc::CLONE_NEWUTS) }.into()).map(drop)
    }),
    ("pivot-root", |_| call(libc::SYS_pivot_root, [c".".as_ptr() as i64, c".".as_ptr() as i64, 0, 0])),
    ("chroot", |_| answer(unsafe { libc::chroot(c".".as_ptr()) }.into()).map(drop)),
    ("bpf", |_| {
        let mut map = [2u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        call(libc::SYS_bpf, [0, map.as_mut_ptr() as i64, 48, 0])
    }),
    ("perf", |_| {
        let mut attributes = [0u32; 32];
        (attributes[0], attributes[1]) = (1, 128);
        answer(unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 0) })
            .map(drop)
    }),
    ("io-uring", |_| {
        let mut parameters = [0u32; 30];
        call(libc::SYS_io_uring_setup, [4, parameters.as_mut_ptr() as i64, 0, 0])
    }),
    ("user-faults", |_| call(libc::SYS_userfaultfd, [1, 0, 0, 0])),
    ("keys", |_| call(libc::SYS_keyctl, [0, -3, 1, 0])),
    ("add-key", |_| {
        let (kind, name) = (c"user".as_ptr() as i64, c"probe".as_ptr() as i64);
        answer(unsafe { libc::syscall(libc::SYS_add_key, kind, name, c"x".as_ptr(), 1, -3) }).map(drop)
    }),
    ("file-handles", |w| {
        #[repr(C)]
        struct Handle {
            bytes: u32,
            kind: i32,
            data: [u8; 128],
        }
        let mut handle = Handle { bytes: 128, kind: 0, data: [0; 128] };
        let (place, mut mount) = (path(&w.outside("file")), 0i32);
        answer(unsafe {
            libc::syscall(
                libc::SYS_name_to_handle_at,
                libc::AT_FDCWD,
                place.as_ptr(),
                &mut handle,
                &mut mount,
                0,
            )
        })?;
        let root = fs::File::open(w.project(""))?;
        let root = std::os::fd::AsRawFd::as_raw_fd(&root);
        answer(unsafe { libc::syscall(libc::SYS_open_by_handle_at, root, &mut handle, libc::O_WRONLY) })
            .map(drop)
    }),
    ("shared-memory", |_| {
        // One that everybody of this user could find. It goes with the last that uses it.
        let memory = answer(unsafe { libc::shmget(0x6d69, 4096, libc::IPC_CREAT | 0o600) }.into())?;
        answer(unsafe { libc::shmctl(memory as i32, libc::IPC_RMID, std::ptr::null_mut()) }.into()).map(drop)
    }),
    ("message-queue", |_| {
        let queue = answer(unsafe { libc::msgget(0x6d69, libc::IPC_CREAT | 0o600) }.into())?;
        answer(unsafe { libc::msgctl(queue as i32, libc::IPC_RMID, std::ptr::null_mut()) }.into()).map(drop)
    }),
    ("watch-everything", |_| call(libc::SYS_fanotify_init, [0, 0, 0, 0])),
    ("module", |_| match call(libc::SYS_init_module, [c"x".as_ptr() as i64, 1, c"".as_ptr() as i64, 0]) {
        // The kernel looked at it: it only was no module.
        Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => Ok(()),
        other => other,
    }),
    ("kernel-log", |_| call(libc::SYS_syslog, [10, 0, 0, 0])),
    ("host-name", |_| answer(unsafe { libc::sethostname(c"probe".as_ptr(), 5) }.into()).map(drop)),
    ("clock", |_| {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
        answer(unsafe { libc::clock_settime(libc::CLOCK_REALTIME, &now) }.into()).map(drop)
    }),
    ("reboot", |_| {
        // Without the magic numbers nothing can happen; the kernel says so only to those who may ask.
        match call(libc::SYS_reboot, [0, 0, 0, 0]) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            other => other,
        }
    }),
    ("second-table", |_| {
        // getpid in the second table of x86-64.
        if cfg!(not(target_arch = "x86_64")) {
            return Err(senseless("there is one table"));
        }
        call(0x4000_0000 + 39, [0; 4])
    }),
    ("second-table-ptrace", |_| call(0x4000_0000 + 521, [0; 4])),
    ("ports", |_| {
        #[cfg(target_arch = "x86_64")]
        return call(libc::SYS_ioperm, [0x80, 1, 1, 0]);
        #[cfg(not(target_arch = "x86_64"))]
        Err(senseless("no ports"))
    }),
    ("type-into-terminal", |_| {
        let terminal = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY) };
        let any = if terminal >= 0 { terminal } else { 0 };
        answer(unsafe { libc::ioctl(any, libc::TIOCSTI, c"x".as_ptr()) }.into()).map(drop)
    }),
    ("controlling-terminal", |_| OpenOptions::new().write(true).open("/dev/tty").map(drop)),
    ("other-terminals", |_| {
        let others = fs::read_dir("/dev/pts")?.flatten().filter(|entry| entry.file_name() != "ptmx");
        let opened = others.filter(|entry| {
            OpenOptions::new().write(true).custom_flags(libc::O_NOCTTY).open(entry.path()).is_ok()
        });
        if opened.count() > 0 { Ok(()) } else { Err(held("none")) }
    }),
    ("disk", |_| {
        let disk = ["/dev/vda", "/dev/sda", "/dev/nvme0n1"].iter().find(|disk| fs::metadata(disk).is_ok());
        fs::File::open(disk.unwrap_or(&"/dev/vda")).map(drop)
    }),
    ("memory-device", |_| fs::File::open("/dev/mem").map(drop)),
    ("kernel-messages", |_| OpenOptions::new().write(true).open("/dev/kmsg").map(drop)),
    ("make-disk", |w| {
        let disk = libc::makedev(254, 0);
        let at = path(&w.project("disk"));
        answer(unsafe { libc::mknod(at.as_ptr(), libc::S_IFBLK | 0o600, disk) }.into()).map(drop)
    }),
    ("core-pattern", |_| writable("/proc/sys/kernel/core_pattern")),
    ("system-requests", |_| writable("/proc/sysrq-trigger")),
    ("system-settings", |_| writable("/proc/sys/vm/drop_caches")),
    ("device-settings", |_| {
        let settings =
            ["/sys/kernel/mm/transparent_hugepage/enabled", "/sys/power/state", "/sys/kernel/profiling"];
        writable(settings.iter().find(|path| fs::metadata(path).is_ok()).unwrap_or(&"/sys/none"))
    }),
    ("control-groups", |_| {
        let folders = ["/sys/fs/cgroup/unified/probe", "/sys/fs/cgroup/pids/probe", "/sys/fs/cgroup/probe"];
        let made = folders.iter().find(|folder| fs::create_dir(folder).is_ok());
        made.map(|folder| drop(fs::remove_dir(folder))).ok_or_else(|| held("none was made"))
    }),
    ("map-users", |_| fs::write("/proc/self/uid_map", "0 0 1")),
    ("executable-of-keeper", |_| {
        let keeper = unsafe { libc::getppid() };
        OpenOptions::new().append(true).open(format!("/proc/{keeper}/exe")).map(drop)
    }),
    ("own-executable", |_| {
        let own = fs::read_link("/proc/self/exe")?;
        fs::rename(&own, own.with_extension("moved"))?;
        fs::rename(own.with_extension("moved"), own)
    }),
];

fn writable(path: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path).map(drop)
}

fn call(number: i64, arguments: [i64; 4]) -> io::Result<()> {
    let [a, b, c, d] = arguments;
    answer(unsafe { libc::syscall(number, a, b, c, d) }).map(drop)
}
