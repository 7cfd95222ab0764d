//! Attempts to get out of the sandbox, made for real, in every tier that is reached here.
//!
//! The table says for each attempt and tier whether it is held. Without confinement nearly all succeed, which shows
//! that the attempts are good ones; where a tier cannot hold something, the table says so. What is outside is looked at
//! from outside, before and after: the word of the attempt alone does not count.

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

use mica_sandbox::{How, Tier};
use stage::{Stage, World};

/// What is expected of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// It gets out, or does what it should be able to.
    Out,
    /// It is held.
    Held,
    /// Root gets out, others are held by the system.
    Root,
    /// It depends on the machine.
    Any,
    /// Too dangerous without a boundary.
    Skip,
}

use Expect::{Any, Held, Out, Root, Skip};

/// Attempt, and what is expected in the tiers `none`, `landlock` and `namespaces`.
const TABLE: &[(&str, [Expect; 3])] = &[
    // What must work.
    ("inside-write", [Out, Out, Out]),
    ("inside-chmod", [Out, Out, Out]),
    ("inside-temporary", [Out, Out, Out]),
    ("inside-read", [Out, Out, Out]),
    ("inside-rename", [Out, Out, Out]),
    ("inside-git-index", [Out, Out, Out]),
    ("inside-null", [Out, Out, Out]),
    ("inside-home-read", [Out, Out, Out]),
    ("inside-pair", [Out, Out, Out]),
    // Landlock has no loopback of its own to offer, so there is none.
    ("inside-loopback", [Out, Held, Out]),
    // Writing outside.
    ("create", [Out, Held, Held]),
    ("overwrite", [Out, Held, Held]),
    ("append", [Out, Held, Held]),
    ("truncate", [Out, Held, Held]),
    ("open-truncate", [Out, Held, Held]),
    ("mkdir", [Out, Held, Held]),
    ("unlink", [Out, Held, Held]),
    ("rmdir", [Out, Held, Held]),
    ("symlink-create", [Out, Held, Held]),
    ("rename-out", [Out, Held, Held]),
    ("rename-in", [Out, Held, Held]),
    ("rename-within-outside", [Out, Held, Held]),
    ("link-out", [Out, Held, Held]),
    ("link-in-and-write", [Out, Held, Held]),
    ("symlink-to-file", [Out, Held, Held]),
    ("symlink-to-folder", [Out, Held, Held]),
    ("symlink-race", [Any, Held, Held]),
    ("hard-link-race", [Out, Held, Held]),
    ("rename-race", [Any, Held, Held]),
    ("exchange", [Out, Held, Held]),
    ("proc-root", [Out, Held, Held]),
    ("proc-cwd", [Out, Held, Held]),
    ("thread-root", [Out, Held, Held]),
    ("dot-dot", [Out, Held, Held]),
    ("reopen-for-writing", [Out, Held, Held]),
    ("folder-descriptor", [Out, Held, Held]),
    ("chdir", [Out, Held, Held]),
    ("fifo", [Out, Held, Held]),
    ("socket-file", [Out, Held, Held]),
    ("temporary-file", [Out, Held, Held]),
    // Landlock does not know modes, owners, times and attributes. Read-only mounts do.
    ("chmod", [Out, Out, Held]),
    ("chown", [Out, Out, Held]),
    ("times", [Out, Out, Held]),
    ("attribute", [Out, Out, Held]),
    ("device-mode", [Root, Root, Held]),
    ("home-write", [Out, Held, Held]),
    ("home-profile", [Out, Held, Held]),
    ("shared-temporary", [Out, Held, Any]),
    // Frozen: Landlock cannot take something out of a writable folder. Mounts can.
    ("hook-create", [Out, Out, Held]),
    ("hook-overwrite", [Out, Out, Held]),
    ("hook-chmod", [Out, Out, Held]),
    ("hook-rename-over", [Out, Out, Held]),
    ("hook-through-link", [Out, Out, Held]),
    ("hook-folder-moved", [Out, Out, Held]),
    ("repository-moved", [Out, Out, Held]),
    ("repository-exchanged", [Out, Out, Held]),
    ("project-moved", [Out, Held, Held]),
    ("config-overwrite", [Out, Out, Held]),
    ("config-replace", [Out, Out, Held]),
    ("config-unlink", [Out, Out, Held]),
    ("config-hard-link", [Out, Out, Held]),
    ("settings-create", [Out, Out, Held]),
    ("settings-as-link", [Out, Out, Held]),
    // Reading what is hidden.
    ("read-key", [Out, Held, Held]),
    ("list-keys", [Out, Held, Held]),
    ("read-cloud", [Out, Held, Held]),
    ("read-netrc", [Out, Held, Held]),
    ("read-docker", [Out, Held, Held]),
    ("read-browser", [Out, Held, Held]),
    ("read-history", [Out, Held, Held]),
    ("read-key-through-link", [Out, Held, Held]),
    ("read-key-through-root", [Out, Held, Held]),
    ("read-key-hard-link", [Out, Held, Held]),
    ("read-key-moved", [Out, Held, Held]),
    ("read-key-reopen", [Out, Held, Held]),
    ("execute-hidden", [Out, Held, Held]),
    ("read-shadow", [Root, Held, Held]),
    ("read-shared-temporary", [Out, Held, Held]),
    // Other processes.
    ("victim-environment", [Out, Held, Held]),
    // Everybody may see command lines where there is one view of all processes.
    ("victim-command-line", [Out, Out, Held]),
    ("victim-root", [Out, Held, Held]),
    ("victim-folder", [Out, Held, Held]),
    ("victim-descriptors", [Out, Held, Held]),
    ("victim-memory", [Out, Held, Held]),
    ("victim-maps", [Out, Held, Held]),
    ("ptrace", [Out, Held, Held]),
    ("ptrace-own-child", [Out, Held, Held]),
    ("read-memory", [Out, Held, Held]),
    ("signal", [Out, Held, Held]),
    ("signal-thread", [Out, Held, Held]),
    ("signal-descriptor", [Out, Held, Held]),
    ("take-descriptor", [Out, Held, Held]),
    ("limits-of-others", [Out, Held, Held]),
    ("signal-keeper", [Out, Held, Held]),
    ("keeper-descriptors", [Root, Held, Held]),
    ("keeper-environment", [Root, Held, Held]),
    ("inherited-descriptors", [Held, Held, Held]),
    ("environment-secrets", [Held, Held, Held]),
    ("rights-of-root", [Root, Held, Held]),
    ("rights-after-exec", [Root, Held, Held]),
    ("new-privileges", [Held, Held, Held]),
    ("setuid-program", [Any, Held, Held]),
    ("become-root", [Held, Held, Held]),
    ("become-other", [Root, Held, Held]),
    ("memory-program", [Out, Held, Held]),
    ("loader", [Any, Held, Held]),
    // The network.
    ("tcp", [Out, Held, Held]),
    ("tcp-any", [Out, Held, Held]),
    ("tcp6", [Any, Held, Held]),
    ("tcp-mapped", [Any, Held, Held]),
    ("udp", [Out, Held, Held]),
    ("tcp-listen", [Out, Held, Held]),
    ("raw", [Root, Held, Held]),
    ("raw6", [Any, Held, Held]),
    ("packet", [Any, Held, Held]),
    ("netlink", [Out, Held, Held]),
    ("vsock", [Any, Held, Held]),
    ("crypto-socket", [Any, Held, Held]),
    ("unix-path", [Out, Held, Held]),
    ("unix-path-datagram", [Out, Held, Held]),
    ("unix-abstract", [Out, Held, Held]),
    ("shell-tcp", [Any, Held, Held]),
    // The kernel.
    ("mount", [Skip, Held, Held]),
    ("remount", [Skip, Held, Held]),
    ("unmount", [Skip, Held, Held]),
    ("new-mount-api", [Any, Held, Held]),
    ("open-tree", [Any, Held, Held]),
    ("unshare-user", [Any, Held, Held]),
    ("unshare-mount", [Root, Held, Held]),
    ("clone-user", [Any, Held, Held]),
    ("clone3-user", [Any, Held, Held]),
    ("enter-namespace", [Root, Held, Held]),
    ("enter-process", [Root, Held, Held]),
    ("pivot-root", [Skip, Held, Held]),
    ("chroot", [Root, Held, Held]),
    ("bpf", [Any, Held, Held]),
    ("perf", [Any, Held, Held]),
    ("io-uring", [Any, Held, Held]),
    ("user-faults", [Any, Held, Held]),
    ("keys", [Any, Held, Held]),
    ("add-key", [Any, Held, Held]),
    ("file-handles", [Root, Held, Held]),
    // With namespaces, these are its own.
    ("shared-memory", [Out, Held, Out]),
    ("message-queue", [Out, Held, Out]),
    ("watch-everything", [Any, Held, Held]),
    ("module", [Any, Held, Held]),
    ("kernel-log", [Any, Held, Held]),
    ("host-name", [Skip, Held, Held]),
    ("clock", [Skip, Held, Held]),
    ("reboot", [Skip, Held, Held]),
    ("second-table", [Any, Held, Held]),
    ("second-table-ptrace", [Any, Held, Held]),
    ("ports", [Any, Held, Held]),
    ("type-into-terminal", [Any, Held, Held]),
    ("controlling-terminal", [Held, Held, Held]),
    ("other-terminals", [Any, Held, Held]),
    ("disk", [Any, Held, Held]),
    ("memory-device", [Any, Held, Held]),
    ("kernel-messages", [Any, Held, Held]),
    ("make-disk", [Root, Held, Held]),
    ("core-pattern", [Root, Held, Held]),
    ("system-requests", [Any, Held, Held]),
    ("system-settings", [Any, Held, Held]),
    ("device-settings", [Any, Held, Held]),
    ("control-groups", [Any, Held, Held]),
    ("map-users", [Any, Held, Held]),
    ("executable-of-keeper", [Any, Held, Held]),
    ("own-executable", [Any, Held, Held]),
    // Staying behind: starting works everywhere, and nobody is left.
    ("daemon", [Out, Out, Out]),
    ("double-fork", [Out, Out, Out]),
    ("deaf", [Out, Out, Out]),
    ("stopped", [Out, Out, Out]),
    ("no-environment", [Out, Out, Out]),
    ("many", [Out, Out, Out]),
    // Limits that hold in every tier.
    ("core-dump", [Held, Held, Held]),
];

/// What must work, and does not where nothing but private folders can be written.
const WRITES: [&str; 4] = ["inside-write", "inside-chmod", "inside-rename", "inside-git-index"];

/// In which boundary an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One that is built for it.
    Anew,
    /// One that stood before.
    Ready,
    /// One that has served another command.
    Again,
}

async fn every_attempt(tier: Tier, way: Way) {
    let Some(stage) = Stage::new(tier).await else { return };
    let column = Tier::ALL.iter().position(|known| *known == tier).unwrap();
    let (mut wrong, mut made, mut held) = (Vec::new(), 0, 0);
    for (name, row) in TABLE {
        let expect = if way == Way::Again && WRITES.contains(name) { Held } else { row[column] };
        if expect == Skip {
            continue;
        }
        let world = World::new(&stage, name);
        let before = world.outside();
        let tried = match way {
            Way::Anew => stage.attempt(&world, name).await,
            Way::Ready => stage.attempt_when_ready(&world, name).await,
            Way::Again => stage.attempt_again(&world, name).await,
        };
        let (how, said) = match tried {
            Ok(finished) => (finished.ended.how, finished.output.text() + &finished.errors.text()),
            // The keeper may be ended before it could say that it had begun.
            Err(error) if *name == "signal-keeper" => (How::Lost, error.to_string()),
            Err(error) => panic!("{name}: {error}"),
        };
        let out = match how {
            How::Exited(0) => true,
            How::Exited(1) => false,
            How::Exited(3) => continue,
            // Somebody who ended its own keeper ended with it.
            How::Lost if *name == "signal-keeper" => true,
            how => {
                wrong.push(format!("{name}: {how}: {said}"));
                continue;
            }
        };
        made += 1;
        held += usize::from(!out);
        let right = match expect {
            Out => out,
            Held => !out,
            Root => out == stage.is_root,
            Any | Skip => true,
        };
        if !right {
            wrong.push(format!("{name}: expected {expect:?}: {said}"));
        }
        if expect == Held || name.starts_with("inside-") {
            let after = world.outside();
            let changes: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
            let gone: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
            if !changes.is_empty() || !gone.is_empty() {
                wrong.push(format!("{name}: outside has changed: {changes:?} {gone:?}"));
            }
        }
        let mut left = world.left();
        // Without a keeper nobody waits for the last of them: the kernel ends them, in its time.
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(100);
        while *name == "signal-keeper" && !left.is_empty() && std::time::Instant::now() < patience {
            std::thread::yield_now();
            left = world.left();
        }
        if !left.is_empty() {
            wrong.push(format!("{name}: still running: {left:?}"));
        }
    }
    eprintln!("{tier}: {made} attempts, {held} held (root: {})", stage.is_root);
    assert_eq!(wrong, Vec::<String>::new());
    assert!(made >= 60, "only {made} attempts made sense here");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_confinement_the_attempts_are_good_ones() {
    every_attempt(Tier::None, Way::Anew).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn landlock_holds() {
    every_attempt(Tier::Landlock, Way::Anew).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn landlock_holds_when_it_stood_before() {
    every_attempt(Tier::Landlock, Way::Ready).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namespaces_hold() {
    every_attempt(Tier::Namespaces, Way::Anew).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namespaces_hold_when_they_stood_before() {
    every_attempt(Tier::Namespaces, Way::Ready).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namespaces_hold_again() {
    every_attempt(Tier::Namespaces, Way::Again).await;
}

// Root has ways that others do not, and others have user namespaces that root hardly needs: both are tried.

#[test]
fn an_ordinary_user_gets_out_without_confinement() {
    stage::as_ordinary_user(&["without_confinement_the_attempts_are_good_ones"]);
}

#[test]
fn landlock_holds_an_ordinary_user() {
    stage::as_ordinary_user(&["landlock_holds", "landlock_holds_when_it_stood_before"]);
}

#[test]
fn namespaces_hold_an_ordinary_user() {
    stage::as_ordinary_user(&["namespaces_hold", "namespaces_hold_when_they_stood_before"]);
}

#[test]
fn namespaces_hold_an_ordinary_user_again() {
    stage::as_ordinary_user(&["namespaces_hold_again"]);
}
