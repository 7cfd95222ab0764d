//! One command after the other in the same boundary: the second finds nothing of the first.
//!
//! Each row leaves something, or tries to. Then everything that a command could find is described from inside, and is
//! held against the same description in a boundary that was built anew: they are the same, word for word.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "the outside world of a test has files and processes, and a test stops at the first surprise"
)]

mod stage;

use std::time::{Duration, Instant};

use mica_sandbox::{Boundary, Command, Finished, How, Sandbox, Stream, Tier};
use stage::{Stage, World};
use tokio_util::sync::CancellationToken;

/// Which boundary the next command is expected in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The same.
    Same,
    /// One that is built anew.
    Anew,
    /// It depends on the kernel.
    Any,
}

use Next::{Anew, Any, Same};

/// What is left, and where the next command runs.
const TABLE: &[(&str, Next)] = &[
    // Nothing is left of these.
    ("leave-nothing", Same),
    ("leave-file-and-remove-it", Same),
    ("leave-own-settings", Same),
    ("leave-memory", Same),
    ("leave-queue", Same),
    ("leave-semaphore", Same),
    ("leave-named-queue", Same),
    ("leave-abstract-socket", Same),
    ("leave-device-modes", Same),
    ("leave-keeper-limits", Same),
    // The keeper has rights that the command has not, so the command cannot change how it is scheduled.
    ("leave-nice-keeper", Same),
    ("leave-nice-user", Same),
    ("leave-idle-keeper", Same),
    ("leave-keeper-on-one-processor", Same),
    ("leave-keeper-last-at-disks", Same),
    ("leave-keeper-signals", Any),
    ("leave-terminal", Same),
    ("daemon", Same),
    ("double-fork", Same),
    ("deaf", Same),
    ("stopped", Same),
    ("many", Same),
    ("no-environment", Same),
    ("signal-keeper", Any),
    ("ptrace", Same),
    // Something is.
    ("leave-file", Anew),
    ("leave-hidden-file", Anew),
    ("leave-shared-memory-file", Anew),
    ("leave-run-folder", Anew),
    ("leave-link", Anew),
    ("leave-mode", Anew),
    ("leave-shared-memory-mode", Anew),
    // Older kernels have no such attributes of files in memory.
    ("leave-attribute", Any),
    ("leave-terminal-mode", Anew),
    ("leave-connection", Anew),
];

/// Runs an attempt.
async fn run(sandbox: &Sandbox, world: &World, boundary: &Boundary, name: &str) -> Finished {
    let cancel = CancellationToken::new();
    let finished = sandbox.run_to_end(world.command(name), boundary, 1 << 20, cancel).await;
    finished.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The number of the process that described, and the description.
async fn describe(sandbox: &Sandbox, world: &World, boundary: &Boundary) -> (u32, Vec<String>) {
    let finished = run(sandbox, world, boundary, "describe").await;
    assert_eq!(finished.ended.how, How::Exited(0), "{}", finished.errors.text());
    let text = finished.output.text();
    let (pid, rest) = text.split_once('\n').unwrap();
    // Mounts have numbers that nobody gets twice.
    let line = |line: &str| match line.split_once(" - ") {
        Some((mount, of)) => format!("{} - {of}", mount.split(' ').skip(3).collect::<Vec<_>>().join(" ")),
        None => line.to_owned(),
    };
    (pid.parse().unwrap(), rest.lines().map(line).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_one_command_is_found_by_the_next() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let mut wrong = Vec::new();
    for (name, next) in TABLE {
        let sandbox = stage.sandbox.clone().keeping_ready();
        let world = World::new(&stage, name);
        let boundary = world.boundary().read_only();
        let (first, expected) = describe(&stage.sandbox, &world, &boundary).await;
        assert_eq!(first, 2, "the first process after the keeper");
        let before = world.outside();
        // Tests beside this one change folders around the secrets, and then one is built anew that need not be.
        for last in [false, false, false, false, true] {
            let left = run(&sandbox, &world, &boundary, name).await;
            let (pid, found) = describe(&sandbox, &world, &boundary).await;
            for line in found.iter().filter(|line| !expected.contains(line)) {
                wrong.push(format!("{name}: found {line}"));
            }
            for line in expected.iter().filter(|line| !found.contains(line)) {
                wrong.push(format!("{name}: misses {line}"));
            }
            let said = left.output.text();
            match (next, pid != first) {
                (Same, false) if !last => continue,
                (Same, false) | (Anew, true) => {
                    wrong.push(format!("{name}: expected {next:?}, and it ran as {pid}: {said}"));
                }
                _ => {}
            }
            break;
        }
        if before != world.outside() {
            wrong.push(format!("{name}: outside has changed"));
        }
        if !world.left().is_empty() {
            wrong.push(format!("{name}: still running: {:?}", world.left()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Runs a line of shell.
async fn shell(sandbox: &Sandbox, world: &World, boundary: &Boundary, line: &str) -> Finished {
    let command = Command::new("sh", world.project()).arguments(["-c", line]);
    sandbox.run_to_end(command, boundary, 64 * 1024, CancellationToken::new()).await.unwrap()
}

/// The number of its own process: 2 in a boundary that was built anew.
async fn own_number(sandbox: &Sandbox, world: &World, boundary: &Boundary) -> u32 {
    shell(sandbox, world, boundary, "echo $$").await.output.text().trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_keeper_serves_many_and_each_is_counted_alone() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let sandbox = stage.sandbox.clone().keeping_ready();
    let boundary = world.boundary().read_only();
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let used = shell(&sandbox, &world, &boundary, busy).await.ended.usage;
    assert!(used.user_us > 10_000, "{used:?}");
    let (mut last, mut again) = (2, 0);
    for number in 0..50 {
        let finished = shell(&sandbox, &world, &boundary, &format!("echo $$; exit {number}")).await;
        assert_eq!(finished.ended.how, How::Exited(number));
        let pid: u32 = finished.output.text().trim().parse().unwrap();
        // Tests beside this one change folders around the secrets, and then one is built anew.
        assert!(pid == 2 || pid > last, "{pid} after {last}");
        again += u32::from(pid > last);
        last = pid;
        assert!(finished.ended.usage.user_us < used.user_us, "{:?} after {used:?}", finished.ended.usage);
    }
    assert!(again >= 10, "only {again} of 50");
}

/// Waits until a command was served by a boundary that has served another.
async fn served_again(sandbox: &Sandbox, world: &World, boundary: &Boundary) {
    let patience = Instant::now() + Duration::from_secs(100);
    while own_number(sandbox, world, boundary).await == 2 {
        assert!(Instant::now() < patience, "each is built anew");
    }
}

/// What may write, reach something or be stopped is never followed by another in the same boundary, nor is what was
/// built from something else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_are_built_anew() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let sandbox = stage.sandbox.clone().keeping_ready();
    let (writing, reading) = (world.boundary(), world.boundary().read_only());
    for _ in 0..3 {
        assert_eq!(own_number(&sandbox, &world, &writing).await, 2, "this may write");
    }
    let mut sockets = reading.clone();
    sockets.unix_sockets = mica_sandbox::UnixSockets::All;
    for _ in 0..2 {
        assert_eq!(own_number(&sandbox, &world, &sockets).await, 2, "this has sockets with names");
    }
    for _ in 0..2 {
        assert_eq!(own_number(&stage.sandbox, &world, &reading).await, 2, "nobody asked for it");
    }
    assert_eq!(own_number(&sandbox, &world, &reading).await, 2);
    served_again(&sandbox, &world, &reading).await;

    // An order may come too late for one command, and must not meet the next.
    let mut short = reading.clone();
    short.limits.wall = Some(Duration::from_millis(200));
    short.limits.grace = Duration::from_millis(100);
    let finished = shell(&sandbox, &world, &short, "sleep 100").await;
    assert!(!finished.ended.how.is_success());
    assert_eq!(own_number(&sandbox, &world, &reading).await, 2, "the one before was stopped");

    // Secrets and their surroundings are looked at each time.
    served_again(&sandbox, &world, &reading).await;
    std::fs::write(world.root.join("home/new"), "another secret").unwrap();
    std::fs::rename(world.root.join("home/new"), world.root.join("home/.netrc")).unwrap();
    let finished = shell(&sandbox, &world, &reading, "echo $$; cat ../.netrc").await;
    assert_eq!(finished.output.text(), "2\n");
    served_again(&sandbox, &world, &reading).await;
    std::fs::write(world.root.join("home/came-later"), "news").unwrap();
    let finished = shell(&sandbox, &world, &reading, "echo $$; cat ../came-later").await;
    assert_eq!(finished.output.text(), "2\nnews");
}

/// A secret that is replaced while a command runs is hidden again, and the boundary serves nobody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_mended_serves_nobody_else() {
    use tokio::io::AsyncWriteExt;
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let sandbox = stage.sandbox.clone().keeping_ready();
    let reading = world.boundary().read_only();
    let line =
        "echo ready; read x; while test -e ../.ssh/id_rsa; do :; done; echo hidden; cat ../.ssh/id_rsa";
    let command = Command::new("sh", world.project()).arguments(["-c", line]).with_input();
    let mut child = sandbox.spawn(command, &reading, CancellationToken::new()).await.unwrap();
    assert_eq!(child.next().await.unwrap().bytes, "ready\n");
    let folder = world.root.join("home/.ssh");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("id_rsa"), "another secret").unwrap();
    child.take_input().unwrap().write_all(b"go\n").await.unwrap();
    let mut said = Vec::new();
    while let Some(chunk) = child.next().await {
        if chunk.stream == Stream::Output {
            said.extend_from_slice(&chunk.bytes);
        }
    }
    assert_eq!(String::from_utf8_lossy(&said), "hidden\n");
    child.wait().await;
    assert_eq!(own_number(&sandbox, &world, &reading).await, 2);
}

/// The first child of a process.
fn child(of: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// Somebody ends the keeper between two commands, or the process that waits for the next one. That shares the keeper's memory, and
/// may have been in the middle of something.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_is_gone_is_not_waited_for() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let sandbox = stage.sandbox.clone().keeping_ready();
    let reading = world.boundary().read_only();
    let patience = Instant::now() + Duration::from_secs(100);
    let waiting = |stub: u32| child(stub).and_then(child);
    let victims: [fn(u32) -> Option<u32>; 3] = [Some, child, waiting];
    for victim in victims {
        assert_eq!(own_number(&sandbox, &world, &reading).await, 2);
        served_again(&sandbox, &world, &reading).await;
        while !stage::stubs().is_empty() {
            assert!(Instant::now() < patience);
            for pid in stage::stubs().into_iter().filter_map(victim) {
                let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(own_number(&sandbox, &world, &reading).await, 2);
        // Otherwise the next round finds this one.
        drop(shell(&sandbox, &world, &reading, "echo left > /tmp/left").await);
    }
}

/// The memory that a keeper has for itself, in kilobytes, and how it is: asleep, or busy.
fn keeper(stub: u32) -> Option<(u64, String)> {
    let keeper = child(stub)?;
    let status = std::fs::read_to_string(format!("/proc/{keeper}/status")).ok()?;
    let field =
        |name: &str| status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next();
    Some((field("VmData:")?.parse().ok()?, field("State:")?.to_owned()))
}

/// A command's process shares the keeper's memory until it is the command. Nothing of it stays there, and a keeper that waits does
/// not count as work of the machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_sleeps_and_does_not_grow() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let sandbox = stage.sandbox.clone().keeping_ready();
    let mut reading = world.boundary().read_only();
    reading.environment.insert("LONG".to_owned(), "x".repeat(50_000));
    let patience = Instant::now() + Duration::from_secs(100);
    // Tests beside this one change folders around the secrets, and then one is built anew.
    'anew: loop {
        assert!(Instant::now() < patience, "none serves long enough");
        own_number(&sandbox, &world, &reading).await;
        served_again(&sandbox, &world, &reading).await;
        let Some((before, _)) = stage::stubs().first().and_then(|stub| keeper(*stub)) else { continue };
        for _ in 0..60 {
            if own_number(&sandbox, &world, &reading).await == 2 {
                continue 'anew;
            }
        }
        let waiting = stage::stubs();
        assert_eq!(waiting.len(), 1);
        let stub = *waiting.first().unwrap();
        while keeper(stub).is_some_and(|(_, state)| state != "S") {
            assert!(Instant::now() < patience, "it does not sleep: {:?}", keeper(stub));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let Some((after, _)) = keeper(stub) else { continue };
        assert!(after <= before + 1000, "{before} kB, and 60 commands later {after} kB");
        break;
    }
}

#[test]
fn the_same_as_an_ordinary_user() {
    stage::as_ordinary_user(&[
        "nothing_of_one_command_is_found_by_the_next",
        "one_keeper_serves_many_and_each_is_counted_alone",
        "others_are_built_anew",
        "what_was_mended_serves_nobody_else",
        "a_keeper_that_is_gone_is_not_waited_for",
        "a_keeper_sleeps_and_does_not_grow",
    ]);
}
