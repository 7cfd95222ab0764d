//! The keeper: the command's parent. It waits, hands on orders, and sees to it that nothing is left when it ends.
//!
//! With namespaces it is the first process of its process namespace, and the kernel ends all others with it. Without,
//! it is a subreaper: whatever loses its parent becomes its child, so nothing gets away by forking twice.

use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::process::ExitStatus;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::process::Pid;

use super::Stop;
use super::channel::Channel;
use super::command::Confinement;
#[cfg(target_os = "linux")]
use super::guard::Guard;
use super::raw::{self, Gone};
use super::start::start;
#[cfg(target_os = "linux")]
use super::traces::Traces;
use crate::plan::{Errand, Order, Plan, Reachable, Report, Usage, proxy_variables};
use crate::tier::Tier;

/// How often children that lost their parents are looked for. They are zombies, which cost a row in a table.
const REAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };

/// The life of the stub.
pub(crate) fn stub() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    raw::close_from(3)?;
    let mut channel = Channel::take()?;
    let plan = channel.plan()?;
    let kept = match plan.tier {
        #[cfg(target_os = "linux")]
        Tier::Namespaces => super::namespaces::enter(&plan, &mut channel),
        #[cfg(not(target_os = "linux"))]
        Tier::Namespaces => Err(Stop::new("namespaces", "there are none on this system")),
        Tier::None | Tier::Landlock => {
            let proxy = if let Reachable::Port(port) = plan.network { Some(port) } else { None };
            become_subreaper().and_then(|()| keep(&plan, &mut channel, proxy, Reach::Family))
        }
    };
    if let Err(Stop { stage, reason, errno }) = kept {
        channel.report(&Report::Failed { stage, reason, errno });
        return Err(std::io::ErrorKind::Other.into());
    }
    Ok(())
}

/// Whom signals go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All that descend from this process.
    Family,
    /// All that are in this process namespace.
    #[cfg(target_os = "linux")]
    Namespace,
}

#[cfg(target_os = "linux")]
fn become_subreaper() -> Result<(), Stop> {
    if !raw::one_thread() {
        return Err(Stop::new("threads", "the stub has more than one thread: call it first thing in main"));
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(Stop::at("subreaper"))?;
    hide();
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() -> Result<(), Stop> {
    Ok(())
}

/// Nobody looks into the keeper: it holds the socket to the program.
#[cfg(target_os = "linux")]
pub(crate) fn hide() {
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Waits for what is to be run, and runs it and everything it starts to the end. When the plan allows it and nothing is
/// left of that, waits for more.
pub(crate) fn keep(plan: &Plan, channel: &mut Channel, proxy: Option<u16>, reach: Reach) -> Result<(), Stop> {
    let confinement = Confinement::of(plan)?;
    #[cfg(target_os = "linux")]
    let before = match reach {
        // What cannot be compared serves one command only.
        Reach::Namespace if plan.again => Traces::of(plan).ok(),
        _ => None,
    };
    let mut keeper = Keeper {
        plan,
        confinement: &confinement,
        reach,
        proxy,
        #[cfg(target_os = "linux")]
        covered: if reach == Reach::Namespace { super::mounts::covered(plan) } else { Vec::new() },
        #[cfg(target_os = "linux")]
        stack: raw::Stack::new().map_err(Stop::at("stack"))?,
    };
    channel.report(&Report::Ready { around: confinement.around() });
    while let Some(begun) = keeper.next(channel)? {
        let mounts = keeper.serve(channel, &begun)?;
        #[cfg(target_os = "linux")]
        if mounts == Mounts::Untouched
            && before.as_ref().is_some_and(|before| Traces::of(plan).is_ok_and(|now| now == *before))
        {
            channel.report(&Report::Again);
            continue;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = mounts;
        break;
    }
    Ok(())
}

/// What stays the same from command to command.
struct Keeper<'a> {
    plan: &'a Plan,
    confinement: &'a Confinement,
    reach: Reach,
    /// The port that programs are sent to.
    proxy: Option<u16>,
    /// What is hidden and was there.
    #[cfg(target_os = "linux")]
    covered: Vec<&'a PathBuf>,
    #[cfg(target_os = "linux")]
    stack: raw::Stack,
}

/// A command that runs.
struct Begun<'a> {
    child: i32,
    #[cfg(target_os = "linux")]
    guard: Option<Guard<'a>>,
    #[cfg(not(target_os = "linux"))]
    plan: std::marker::PhantomData<&'a Plan>,
}

/// Whether the mounts are those that were built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mounts {
    Untouched,
    /// Somebody outside replaced what some lie on.
    Renewed,
}

impl<'a> Keeper<'a> {
    /// Waits for the next command and starts it. None when none comes any more.
    fn next(&mut self, channel: &mut Channel) -> Result<Option<Begun<'a>>, Stop> {
        #[cfg(target_os = "linux")]
        if self.reach == Reach::Namespace && self.proxy.is_none() && super::ahead::can_wait(self.plan) {
            // Before the command runs: nothing that is replaced from then on is missed.
            let guard = Some(Guard::of(self.plan));
            let (covered, stack) = (&self.covered, &mut self.stack);
            if let Some(child) = super::ahead::wait(self.plan, channel, self.confinement, covered, stack)? {
                return Ok(Some(Begun { child, guard }));
            }
        }
        let Some((errand, streams)) = channel.errand().map_err(Stop::at("errand"))? else { return Ok(None) };
        let errand = self.with_proxy(errand);
        #[cfg(target_os = "linux")]
        {
            let mut guard = None;
            if self.reach == Reach::Namespace {
                super::mounts::cover_again(&self.covered)?;
                super::mounts::except(self.plan)?;
                guard = Some(Guard::of(self.plan));
            }
            let child = start(self.plan, self.confinement, &errand, &streams, &mut self.stack)?;
            Ok(Some(Begun { child, guard }))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let child = start(self.plan, self.confinement, &errand, &streams)?;
            Ok(Some(Begun { child, plan: std::marker::PhantomData }))
        }
    }

    /// An errand with what sends programs to the proxy, where there is one.
    fn with_proxy(&self, mut errand: Errand) -> Errand {
        errand.environment.extend(self.proxy.into_iter().flat_map(proxy_variables));
        errand
    }

    /// Runs a command to its end, and reports that.
    fn serve(&self, channel: &mut Channel, begun: &Begun<'_>) -> Result<Mounts, Stop> {
        channel.report(&Report::Started);
        let mut used = Usage::default();
        let (status, mounts) = watch(
            begun.child,
            channel,
            self.reach,
            &mut used,
            #[cfg(target_os = "linux")]
            begun.guard.as_ref(),
        )?;
        match self.reach {
            Reach::Family => end_family(&mut used),
            #[cfg(target_os = "linux")]
            Reach::Namespace => end_namespace(&mut used),
        }
        channel.report(&Report::Ended { code: status.code(), signal: status.signal(), usage: used });
        // Whoever waits for that goes first where there is no processor for both.
        std::thread::yield_now();
        Ok(mounts)
    }
}

/// Waits for the command, and does what it is told meanwhile.
fn watch(
    child: i32,
    channel: &mut Channel,
    reach: Reach,
    used: &mut Usage,
    #[cfg(target_os = "linux")] guard: Option<&Guard<'_>>,
) -> Result<(ExitStatus, Mounts), Stop> {
    #[allow(unused_mut, reason = "there are mounts on Linux only")]
    let mut mounts = Mounts::Untouched;
    #[cfg(target_os = "linux")]
    let ended = Pid::from_raw(child).ok_or_else(|| Stop::new("wait", "no process")).and_then(|pid| {
        rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).map_err(Stop::at("pidfd"))
    })?;
    loop {
        if let Some(status) = reap(child, used) {
            return Ok((status, mounts));
        }
        let (has_order, nothing_came) = {
            let mut watched = vec![PollFd::from_borrowed_fd(channel.as_fd(), PollFlags::IN)];
            #[cfg(target_os = "linux")]
            {
                watched.push(PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN));
                let news = guard.and_then(Guard::news);
                watched.extend(news.map(|news| PollFd::from_borrowed_fd(news, PollFlags::IN)));
            }
            match poll(&mut watched, Some(&REAP)) {
                Ok(came) => (watched.first().is_some_and(|order| !order.revents().is_empty()), came == 0),
                Err(rustix::io::Errno::INTR) => (false, false),
                Err(error) => return Err(Stop::at("wait")(error)),
            }
        };
        #[cfg(target_os = "linux")]
        if let Some(guard) = guard
            && (guard.has_heard() || nothing_came)
        {
            match guard.renew() {
                Ok(renewed) => {
                    if !renewed.is_empty() {
                        mounts = Mounts::Renewed;
                    }
                    renewed.iter().for_each(|report| channel.report(report));
                }
                Err(Stop { stage, reason, .. }) => {
                    mounts = Mounts::Renewed;
                    channel.report(&Report::Open { stage, reason });
                    signal_all(child, libc::SIGKILL, reach);
                }
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = nothing_came;
        if has_order {
            match channel.order() {
                Some(order) if order == Order::Terminate as u8 => signal_all(child, libc::SIGTERM, reach),
                // An end of the channel is an end of the program, and nobody is left to wait for the command.
                _ => signal_all(child, libc::SIGKILL, reach),
            }
        }
    }
}

/// Waits for all children that have ended, and answers how one of them did.
fn reap(wanted: i32, used: &mut Usage) -> Option<ExitStatus> {
    while let Ok(Some(gone)) = raw::wait_any(false) {
        add(&gone, used);
        if gone.pid == wanted {
            return Some(ExitStatus::from_raw(gone.status));
        }
    }
    None
}

/// Counts what a child used. Each is counted by its own parent, so nobody counts twice.
fn add(gone: &Gone, used: &mut Usage) {
    let micros = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
    };
    // Linux counts in kilobytes, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    used.user_us += micros(gone.user);
    used.system_us += micros(gone.system);
    used.max_resident = used.max_resident.max(u64::try_from(gone.resident).unwrap_or(0) * unit);
}

fn signal_all(child: i32, signal: i32, reach: Reach) {
    match reach {
        #[cfg(target_os = "linux")]
        Reach::Namespace => {
            let _ = raw::kill(-1, signal);
            // What is stopped cannot end.
            let _ = raw::kill(-1, libc::SIGCONT);
        }
        Reach::Family => {
            #[cfg(target_os = "linux")]
            for member in super::family::descendants() {
                let _ = raw::kill(member, signal);
                let _ = raw::kill(member, libc::SIGCONT);
            }
            // Elsewhere, the group that the command leads is all that can be found.
            let _ = raw::kill(-child, signal);
            let _ = raw::kill(child, signal);
        }
    }
}

/// Ends everybody that is left. Each round stops all, so that nobody forks behind its back, and then ends them.
fn end_family(used: &mut Usage) {
    #[cfg(target_os = "linux")]
    loop {
        // No child is left: nobody who descends from here is.
        match raw::wait_any(false) {
            Err(_) => return,
            Ok(Some(gone)) => {
                add(&gone, used);
                continue;
            }
            Ok(None) => {}
        }
        for signal in [libc::SIGSTOP, libc::SIGKILL] {
            for member in super::family::descendants() {
                let _ = raw::kill(member, signal);
            }
        }
        // All that were found are ending, so this waits for no longer than the kernel needs.
        if let Ok(Some(gone)) = raw::wait_any(true) {
            add(&gone, used);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = used;
}

/// Ends everybody that is left in the namespace. Whoever loses a parent there becomes a child of this process.
#[cfg(target_os = "linux")]
fn end_namespace(used: &mut Usage) {
    loop {
        match raw::wait_any(false) {
            Err(_) => return,
            Ok(Some(gone)) => {
                add(&gone, used);
                continue;
            }
            Ok(None) => {}
        }
        let _ = raw::kill(-1, libc::SIGKILL);
        if let Ok(Some(gone)) = raw::wait_any(true) {
            add(&gone, used);
        }
    }
}
