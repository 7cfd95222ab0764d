//! The system calls that no safe library has. The only file with `unsafe` in it.
//!
//! All of them run in the stub, which has one thread: no lock can be held by a thread that a fork does not copy.

#![allow(unsafe_code, reason = "each call says why it is sound")]

use std::io;

/// Which side of a fork.
pub(crate) enum Side {
    Parent(i32),
    Child,
}

/// Forks. The caller has one thread, which [`one_thread`] has checked.
pub(crate) fn fork() -> io::Result<Side> {
    // SAFETY: the process has one thread, so the child has all of the parent's memory in a consistent state.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Side::Child),
        pid => Ok(Side::Parent(pid)),
    }
}

/// Ends at once, without running what others registered for the end of the program.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: takes no pointers, and does not return.
    unsafe { libc::_exit(code) }
}

/// Sends a signal. `-1` is everybody that can be reached, which in a process namespace is everybody in it.
pub(crate) fn kill(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::kill(pid, signal) }.into())
}

/// A child that has ended: which, how, and what it used with those that it waited for itself.
pub(crate) struct Gone {
    pub(crate) pid: i32,
    pub(crate) status: i32,
    pub(crate) user: libc::timeval,
    pub(crate) system: libc::timeval,
    pub(crate) resident: libc::c_long,
}

/// Waits for any child; without `patience` only for one that has ended already, and then none means that all still run.
/// Having no child is an error.
pub(crate) fn wait_any(patience: bool) -> io::Result<Option<Gone>> {
    let how = if patience { 0 } else { libc::WNOHANG };
    loop {
        let mut status = 0;
        // SAFETY: all bytes zero is a valid `rusage`, and both pointers are to locals.
        let (pid, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(-1, &raw mut status, how, &raw mut usage), usage)
        };
        match pid {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            0 => return Ok(None),
            pid => {
                let (user, system, resident) = (usage.ru_utime, usage.ru_stime, usage.ru_maxrss);
                return Ok(Some(Gone { pid, status, user, system, resident }));
            }
        }
    }
}

/// How this process is scheduled, in the kernel's own words: policy and priority, processors, priority at disks. What
/// is started later inherits it.
#[cfg(target_os = "linux")]
pub(crate) fn scheduling() -> io::Result<Vec<u8>> {
    /// More than the kernel has to say so far.
    const ATTRIBUTES: usize = 128;
    /// A bit for each of more processors than there are in a machine.
    const PROCESSORS: usize = 1024;
    const OF_PROCESS: i32 = 1;
    let (mut attributes, mut processors) = ([0u8; ATTRIBUTES], [0u8; PROCESSORS]);
    // SAFETY: both buffers are as long as is said, and 0 is this process.
    unsafe {
        check(libc::syscall(libc::SYS_sched_getattr, 0, attributes.as_mut_ptr(), ATTRIBUTES, 0))?;
        check(libc::syscall(libc::SYS_sched_getaffinity, 0, PROCESSORS, processors.as_mut_ptr()))?;
    }
    // SAFETY: takes no pointers.
    let disks = unsafe { libc::syscall(libc::SYS_ioprio_get, OF_PROCESS, 0) };
    Ok([attributes.as_slice(), &processors, &disks.to_le_bytes()].concat())
}

/// Closes every descriptor from `first` on.
#[cfg(target_os = "linux")]
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: called when the stub starts, before it owns a descriptor from `first` on.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) })
}

/// Leaves namespaces for new ones.
#[cfg(target_os = "linux")]
pub(crate) fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: takes no pointers; descriptors stay shared, since CLONE_FILES is never among the flags.
    check(unsafe { libc::unshare(flags) }.into())
}

/// Adds flags to a mount and all below it.
#[cfg(target_os = "linux")]
pub(crate) fn set_mount_flags(mount: std::os::fd::BorrowedFd<'_>, flags: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let attributes = Attributes { set: flags, clear: 0, propagation: 0, user_namespace: 0 };
    let how = libc::AT_EMPTY_PATH | AT_RECURSIVE;
    // SAFETY: the path is a terminated string, and the attributes are as long as is said.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            how,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    })
}

#[cfg(target_os = "linux")]
const AT_RECURSIVE: i32 = 0x8000;

/// Switches the loopback interface on.
#[cfg(target_os = "linux")]
pub(crate) fn loopback_up() -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let socket = std::net::UdpSocket::bind(("0.0.0.0", 0))?;
    // SAFETY: all bytes zero is a valid `ifreq`; the name is shorter than its field, and the pointer is to a local.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        check(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw mut request).into())
    }
}

/// The version of Landlock's interface; 0 when there is none.
#[cfg(target_os = "linux")]
pub(crate) fn landlock_abi() -> i32 {
    // SAFETY: without attributes, and with the flag for it, the call only answers a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, 1u32) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Whether the process has one thread.
#[cfg(target_os = "linux")]
pub(crate) fn one_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

fn check(answer: libc::c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
