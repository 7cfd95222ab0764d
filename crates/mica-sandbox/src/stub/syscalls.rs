//! System calls, by seccomp: a list of what no command here needs and many escapes do.
//!
//! A list of what is allowed would be stricter and would break programs with every new kernel; Landlock and the
//! namespaces do the confining, and this closes the doors around them.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::Stop;
use crate::boundary::UnixSockets;
use crate::plan::{Plan, Reachable};
use crate::tier::Tier;

/// Refused with "not permitted".
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // Large parts of the kernel that are reached past the other checks.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    // Keys are shared with everything else of the user.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
];

/// Shared memory, queues and semaphores with numbers or names of their own. Landlock does not know them, so they are
/// refused where they would be shared with the outside.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Answered with "no such call", because programs then take the older way: `clone3` hides its flags from a filter.
const ABSENT: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Commands to a terminal that type into it or change what it is.
const TERMINAL: &[libc::Ioctl] = &[libc::TIOCSTI, libc::TIOCSETD, libc::TIOCCONS, TIOCLINUX];
/// Pastes on a text console.
const TIOCLINUX: libc::Ioctl = 0x541C;

/// New namespaces, as flags of `clone`.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// What may not be called. Holds for nobody yet.
pub(crate) struct Filters(BpfProgram);

/// The filters of a plan.
pub(crate) fn filters(plan: &Plan) -> Result<Filters, Stop> {
    let absent = ABSENT.iter().map(|call| (*call, (Vec::new(), libc::ENOSYS)));
    let refused =
        refused(plan).map_err(failed)?.into_iter().map(|(call, rules)| (call, (rules, libc::EPERM)));
    program(absent.chain(refused).collect()).map(Filters).map_err(failed)
}

impl Filters {
    /// Confines this process and all it starts.
    pub(crate) fn confine(&self) -> Result<(), Stop> {
        apply_filter(&self.0).map_err(failed)
    }
}

fn failed(error: seccompiler::Error) -> Stop {
    Stop::new("seccomp", error)
}

/// When a call is refused; without a rule, always.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Loads a word of what is known of a call; the number is the first.
const LOAD_WORD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_AT_LEAST: u16 = 0x35;

/// One program for all calls. Each call has a part of its own, which says something about every call, and the numbers
/// lead to the part by halves: the kernel plays a program for every call there is when it is put in force, and one that
/// asks for one call after the other takes as long as starting a process does.
fn program(calls: BTreeMap<i64, (Vec<SeccompRule>, i32)>) -> Result<BpfProgram, seccompiler::Error> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    let mut parts = Vec::new();
    for (call, (rules, errno)) in calls {
        let refuse = SeccompAction::Errno(errno.unsigned_abs());
        let rules = BTreeMap::from([(call, rules)]);
        let part = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
        parts.push((u32::try_from(call).unwrap_or(u32::MAX), BpfProgram::try_from(part)?));
    }
    let mut program = Vec::new();
    #[cfg(target_arch = "x86_64")]
    program.extend(second_table());
    program.push(sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 });
    program.extend(by_halves(&parts));
    Ok(program)
}

/// Leads a number to the part that begins at it or, where there is none, at the next smaller one. It asks for no other
/// call than its own and allows all others.
fn by_halves(parts: &[(u32, BpfProgram)]) -> BpfProgram {
    let (lower, upper) = parts.split_at(parts.len() / 2);
    let Some((first, part)) = upper.first() else { return Vec::new() };
    if lower.is_empty() {
        return part.clone();
    }
    let lower = by_halves(lower);
    // Only an unconditional jump reaches far enough.
    let over = u32::try_from(lower.len()).unwrap_or(u32::MAX);
    let mut program = vec![
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: *first },
        sock_filter { code: JUMP, jt: 0, jf: 0, k: over },
    ];
    program.extend(lower);
    program.extend(by_halves(upper));
    program
}

/// x86-64 has a second table of calls, whose numbers begin at 0x4000_0000 and pass any list made for the first one. It
/// is refused as a whole.
#[cfg(target_arch = "x86_64")]
fn second_table() -> BpfProgram {
    const RETURN: u16 = 0x06;
    const ERRNO: u32 = 0x0005_0000;
    vec![
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: 0x4000_0000 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERRNO | libc::ENOSYS.unsigned_abs() },
    ]
}

fn refused(plan: &Plan) -> Result<Rules, seccompiler::Error> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    if plan.tier == Tier::Landlock {
        rules.extend(SHARED.iter().map(|call| (*call, Vec::new())));
    }
    let mut clone = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        clone.push(SeccompRule::new(vec![when(0, SeccompCmpOp::MaskedEq(flag), flag)?])?);
    }
    rules.insert(libc::SYS_clone, clone);
    let mut ioctl = Vec::new();
    #[allow(clippy::unnecessary_cast, reason = "the C libraries do not agree on the type")]
    for command in TERMINAL {
        ioctl.push(SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, *command as u64)?])?);
    }
    rules.insert(libc::SYS_ioctl, ioctl);
    // Limits of other processes; 0 is this one.
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![when(0, SeccompCmpOp::Ne, 0)?])?]);
    if plan.network != Reachable::Everything {
        rules.insert(libc::SYS_socket, sockets(plan)?);
        rules.insert(libc::SYS_socketpair, pairs()?);
    }
    Ok(rules)
}

/// Which sockets are refused.
fn sockets(plan: &Plan) -> Result<Vec<SeccompRule>, seccompiler::Error> {
    // A rule is a set of conditions that all hold, so "none of these families" is one rule.
    let mut families = Vec::new();
    if plan.unix_sockets == UnixSockets::All {
        families.push(libc::AF_UNIX);
    }
    let internet = match plan.network {
        // In a network namespace of its own, a socket reaches its own loopback only.
        _ if plan.tier == Tier::Namespaces => Internet::All,
        Reachable::Port(_) => Internet::Streams,
        _ => Internet::None,
    };
    if internet != Internet::None {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let mut rules = Vec::new();
    if families.is_empty() {
        return Ok(rules);
    }
    let others = families.iter().map(|family| when(0, SeccompCmpOp::Ne, number(*family)));
    rules.push(SeccompRule::new(others.collect::<Result<_, _>>()?)?);
    for family in [libc::AF_INET, libc::AF_INET6] {
        // The low bits are the kind; the others say how the descriptor behaves.
        const KIND: u64 = 0xf;
        let raw = [libc::SOCK_RAW, libc::SOCK_SEQPACKET, libc::SOCK_RDM];
        let datagrams = (internet == Internet::Streams).then_some(libc::SOCK_DGRAM);
        for kind in raw.into_iter().chain(datagrams) {
            rules.push(SeccompRule::new(vec![
                when(0, SeccompCmpOp::Eq, number(family))?,
                when(1, SeccompCmpOp::MaskedEq(KIND), number(kind))?,
            ])?);
        }
        // TCP has relatives among the streams that Landlock's ports do not cover.
        if internet == Internet::Streams {
            rules.push(SeccompRule::new(vec![
                when(0, SeccompCmpOp::Eq, number(family))?,
                when(2, SeccompCmpOp::Ne, 0)?,
                when(2, SeccompCmpOp::Ne, number(libc::IPPROTO_TCP))?,
            ])?);
        }
    }
    Ok(rules)
}

#[derive(PartialEq, Eq)]
enum Internet {
    None,
    Streams,
    All,
}

fn pairs() -> Result<Vec<SeccompRule>, seccompiler::Error> {
    Ok(vec![SeccompRule::new(vec![when(0, SeccompCmpOp::Ne, number(libc::AF_UNIX))?])?])
}

fn number(constant: i32) -> u64 {
    u64::from(constant.unsigned_abs())
}

fn when(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)?)
}

#[cfg(test)]
mod tests;
