//! Namespaces of its own: users, mounts, processes, network, names, control groups. Those of messages are the command's.

use std::os::fd::AsFd;

use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use super::channel::Channel;
use super::keeper::{Reach, hide, keep};
use super::raw::{self, Side};
use super::{Stop, mounts};
use crate::plan::{Plan, Reachable};

/// Leaves for new namespaces and keeps the command there.
pub(crate) fn enter(plan: &Plan, channel: &mut Channel) -> Result<(), Stop> {
    if !raw::one_thread() {
        return Err(Stop::new("threads", "the stub has more than one thread: call it first thing in main"));
    }
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut spaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    if plan.network != Reachable::Everything {
        spaces |= libc::CLONE_NEWNET;
    }
    raw::unshare(spaces).map_err(Stop::at("user namespace"))?;
    // The user keeps the name and the number: tools that ask who they are get the answer they expect.
    tell("/proc/self/setgroups", "deny")?;
    tell("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    tell("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    match raw::fork().map_err(Stop::at("process namespace"))? {
        Side::Parent(first) => {
            // The first process reports; this one only lasts until all of the namespace are gone.
            let _ = waitpid(Pid::from_raw(first), WaitOptions::empty());
            Ok(())
        }
        Side::Child => {
            let code = match first(plan, channel) {
                Ok(()) => 0,
                Err(Stop { stage, reason, errno }) => {
                    channel.report(&crate::plan::Report::Failed { stage, reason, errno });
                    1
                }
            };
            raw::exit(code);
        }
    }
}

/// The first process of the namespace. When it ends, the kernel ends all others.
fn first(plan: &Plan, channel: &mut Channel) -> Result<(), Stop> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(Stop::at("parent"))?;
    mounts::build(plan)?;
    hide();
    if plan.network != Reachable::Everything {
        raw::loopback_up().map_err(Stop::at("loopback"))?;
    }
    let mut proxy = None;
    if plan.network == Reachable::Inside {
        // A socket belongs to the network it was made in, whoever holds it: the program accepts connections from in
        // here, and makes its own out there.
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(Stop::at("proxy"))?;
        let port = listener.local_addr().map_err(Stop::at("proxy"))?.port();
        channel.hand_out(listener.as_fd()).map_err(Stop::at("proxy"))?;
        proxy = Some(port);
    }
    keep(plan, channel, proxy, Reach::Namespace)
}

#[allow(clippy::disallowed_methods, reason = "these are no files, but questions to the kernel")]
fn tell(path: &str, text: &str) -> Result<(), Stop> {
    std::fs::write(path, text).map_err(Stop::at(path))
}
