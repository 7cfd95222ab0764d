//! The system calls that no safe library has. The only file with `unsafe` in it.
//!
//! All of them run in the stub, which has one thread: no lock can be held by a thread that a fork does not copy.

#![allow(unsafe_code, reason = "each call says why it is sound")]

use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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

/// Memory for the stack of a process that shares this one's, with a page below it that nobody can touch.
#[cfg(target_os = "linux")]
pub(crate) struct Stack {
    lowest: *mut libc::c_void,
}

#[cfg(target_os = "linux")]
impl Stack {
    /// Room for what is done until a process is the command, many times over. What is not touched costs nothing.
    const ROOM: usize = 512 << 10;
    /// As large as a page is anywhere.
    const GUARD: usize = 64 << 10;

    pub(crate) fn new() -> io::Result<Self> {
        let (all, how) = (Self::GUARD + Self::ROOM, libc::PROT_READ | libc::PROT_WRITE);
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE;
        // SAFETY: a new place in memory, wherever there is one.
        let lowest = unsafe { libc::mmap(std::ptr::null_mut(), all, how, kind, -1, 0) };
        if lowest == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self { lowest };
        // SAFETY: the beginning of what was just made, which nothing is in yet.
        check(unsafe { libc::mprotect(lowest, Self::GUARD, libc::PROT_NONE) }.into())?;
        Ok(stack)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: made in `new`, of this length, and nobody runs on it: whoever did has ended or is another program.
        unsafe { libc::munmap(self.lowest, Self::GUARD + Self::ROOM) };
    }
}

/// Starts a process that shares this one's memory, and waits until it has ended or is another program. What it changed in
/// memory stays changed; its descriptors, its folder, its rights and all else of it are its own. When `work` comes back, the
/// process ends. When somebody ends it in the middle, memory may be in the middle of something, too: then this one ends.
///
/// Waits as anybody waits: a process that the kernel itself stops meanwhile, as for `vfork`, counts as busy, and this may take as
/// long as a boundary stands.
#[cfg(target_os = "linux")]
pub(crate) fn share(stack: &mut Stack, mut work: &mut dyn FnMut()) -> io::Result<i32> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    use rustix::thread::{Timespec, futex};

    /// What the kernel clears when the other one has left this memory.
    const IS_HERE: u32 = 1;
    /// Older kernels do not for a process that ends by some signals: after this long it is asked about.
    const DOUBT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

    /// A panic does not get out of here: it ends the process.
    extern "C" fn begin(work: *mut libc::c_void) -> libc::c_int {
        // SAFETY: what `share` handed over, which waits until this is over.
        let work = unsafe { &mut *work.cast::<&mut dyn FnMut()>() };
        work();
        IS_WHOLE.store(true, Ordering::Release);
        NOT_RUN
    }

    IS_WHOLE.store(false, Ordering::Release);
    let here = AtomicU32::new(IS_HERE);
    let flags = libc::CLONE_VM | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: it is as if `work` were called here. This process has no other threads ([`one_thread`]), and what follows asks
    // the kernel without the C library and touches nothing but its own stack, until the other one has left this memory: so
    // one of both uses it at any time. The other has a stack of its own, whose upper end is within what was mapped and aligned as
    // pages are; `here` lives until then.
    let child = unsafe {
        let top = stack.lowest.byte_add(Stack::GUARD + Stack::ROOM);
        libc::clone(begin, top, flags, (&raw mut work).cast(), nothing, nothing, here.as_ptr())
    };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    let has_ended = || {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        Pid::from_raw(child).is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), how), Ok(None)))
    };
    while here.load(Ordering::Acquire) == IS_HERE {
        let waited = futex::wait(&here, futex::Flags::empty(), IS_HERE, Some(&DOUBT));
        if waited == Err(rustix::io::Errno::TIMEDOUT) && has_ended() {
            break;
        }
    }
    if !IS_WHOLE.load(Ordering::Acquire) {
        exit(NOT_RUN);
    }
    Ok(child)
}

/// Whether a process that shares memory has nothing more to do in it.
#[cfg(target_os = "linux")]
static IS_WHOLE: AtomicBool = AtomicBool::new(true);

/// The exit code of a process that did not become its command.
pub(crate) const NOT_RUN: i32 = 127;

/// Becomes another program. Coming back means that it did not.
pub(crate) fn execute(path: &CStr, arguments: &Strings, environment: &Strings) -> io::Error {
    #[cfg(target_os = "linux")]
    IS_WHOLE.store(true, Ordering::Release);
    // SAFETY: all are terminated, as the strings in them are, and live longer than this.
    unsafe { libc::execve(path.as_ptr(), arguments.pointers.as_ptr(), environment.pointers.as_ptr()) };
    let error = io::Error::last_os_error();
    #[cfg(target_os = "linux")]
    IS_WHOLE.store(false, Ordering::Release);
    error
}

/// Strings as the kernel takes them.
pub(crate) struct Strings {
    strings: Vec<CString>,
    /// One for each, and an end.
    pointers: Vec<*const libc::c_char>,
}

impl Strings {
    pub(crate) fn new(strings: Vec<CString>) -> Self {
        let ends = std::iter::once(std::ptr::null());
        let pointers = strings.iter().map(|string| string.as_ptr()).chain(ends).collect();
        Self { strings, pointers }
    }

    pub(crate) fn strings(&self) -> &[CString] {
        &self.strings
    }
}

/// Signals as a program expects them at its start: none is held back, and writing where nobody reads ends it. The runtime of
/// this one ignores that.
pub(crate) fn usual_signals() -> io::Result<()> {
    // SAFETY: the set is a local that is filled before it is read; both calls change this process only.
    unsafe {
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        check(libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()).into())?;
        if libc::signal(libc::SIGPIPE, libc::SIG_DFL) == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Ends at once, without running what others registered for the end of the program.
pub(crate) fn exit(code: i32) -> ! {
    #[cfg(target_os = "linux")]
    IS_WHOLE.store(true, Ordering::Release);
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
