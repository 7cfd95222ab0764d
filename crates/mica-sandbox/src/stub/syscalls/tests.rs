//! The program by halves says of every call what the plain list says, in far fewer steps.

use super::*;

const ALLOW: u32 = 0x7fff_0000;
/// Mostly what `x86_64` and `aarch64` are called there.
const ARCHITECTURES: [u32; 3] = [0xc000_003e, 0xc000_00b7, 0x4000_0003];

/// What a program says of a call, and after how many steps.
fn play(program: &BpfProgram, number: u32, architecture: u32, arguments: [u64; 6]) -> (u32, usize) {
    let word = |offset: u32| -> u32 {
        match offset {
            0 => number,
            4 => architecture,
            16.. => {
                let argument = arguments[(offset as usize - 16) / 8];
                u32::try_from(if offset.is_multiple_of(8) { argument & 0xffff_ffff } else { argument >> 32 })
                    .unwrap()
            }
            _ => panic!("no word at {offset}"),
        }
    };
    let (mut at, mut steps, mut value) = (0usize, 0, 0u32);
    loop {
        let step = &program[at];
        steps += 1;
        at += 1;
        let mut branch = |is: bool| at += usize::from(if is { step.jt } else { step.jf });
        match step.code {
            0x20 => value = word(step.k),
            0x05 => at += step.k as usize,
            0x15 => branch(value == step.k),
            0x25 => branch(value > step.k),
            0x35 => branch(value >= step.k),
            0x54 => value &= step.k,
            0x06 => return (step.k, steps),
            other => panic!("no step {other:#x}"),
        }
    }
}

/// All calls with their rules, and how each is refused.
fn calls() -> BTreeMap<i64, (Vec<SeccompRule>, i32)> {
    let mut calls: BTreeMap<i64, (Vec<SeccompRule>, i32)> =
        ABSENT.iter().map(|call| (*call, (Vec::new(), libc::ENOSYS))).collect();
    calls.extend(REFUSED.iter().chain(SHARED).map(|call| (*call, (Vec::new(), libc::EPERM))));
    let one_of = |argument, values: &[u64]| -> Vec<SeccompRule> {
        let rule =
            |value: &u64| SeccompRule::new(vec![when(argument, SeccompCmpOp::Eq, *value).unwrap()]).unwrap();
        values.iter().map(rule).collect()
    };
    calls.insert(libc::SYS_ioctl, (one_of(1, &[1, 5, 9]), libc::EPERM));
    calls.insert(libc::SYS_socket, (one_of(0, &[1, 7]), libc::EPERM));
    calls
}

/// The same as one list after the other.
fn lists() -> Vec<BpfProgram> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    let list = |errno: i32| {
        let rules: Rules = calls()
            .into_iter()
            .filter(|(_, (_, how))| *how == errno)
            .map(|(call, (rules, _))| (call, rules))
            .collect();
        let refuse = SeccompAction::Errno(errno.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).unwrap();
        BpfProgram::try_from(filter).unwrap()
    };
    vec![list(libc::ENOSYS), list(libc::EPERM)]
}

#[test]
fn every_call_is_answered_as_by_a_plain_list() {
    let (program, lists) = (program(calls()).unwrap(), lists());
    let mut refused = 0;
    let mut most = 0;
    for number in 0..1_000 {
        for architecture in ARCHITECTURES {
            for argument in [0, 1, 5, 7, 9, u64::MAX] {
                let arguments = [argument; 6];
                // Of several filters the strictest holds; allowing has the largest number.
                let expected =
                    lists.iter().map(|list| play(list, number, architecture, arguments).0).min().unwrap();
                let (answer, steps) = play(&program, number, architecture, arguments);
                assert_eq!(answer, expected, "call {number} of {architecture:#x} with {argument}");
                refused += usize::from(answer != ALLOW);
                most = most.max(steps);
            }
        }
    }
    assert!(refused > 0);
    assert!(most < 45, "{most} steps");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_second_table_is_refused_as_a_whole() {
    let program = program(calls()).unwrap();
    for number in [0x4000_0000, 0x4000_0001, 0x4000_0000 + 59, u32::MAX] {
        let (answer, _) = play(&program, number, ARCHITECTURES[0], [0; 6]);
        assert_eq!(answer, 0x0005_0000 | libc::ENOSYS.unsigned_abs(), "{number:#x}");
    }
}
