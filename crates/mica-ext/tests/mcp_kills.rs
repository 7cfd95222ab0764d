//! A server that is killed at random instants, a thousand times: in the handshake, in a call, at rest. No call is stuck, and
//! no process is left.
//!
//! `MICA_MCP_KILLS` says how often instead, `MICA_MCP_SEED` which instants.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use stage::{Stage, call, processes};

/// A generator of numbers that are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_kills_leave_no_process_and_no_stuck_call() {
    let (kills, seed) = (number("MICA_MCP_KILLS", 1_000), number("MICA_MCP_SEED", 0x5eed_0dd5));
    println!("{kills} kills with the seed {seed}");
    let mut stage = Stage::new();
    stage.given.patience.pause = Duration::from_millis(1);
    stage.given.patience.longest_pause = Duration::from_millis(4);
    let mark = format!("started={}", stage.folder.path().join("pids").display());
    let servers = stage.one(&["first", "child", &mark]);
    servers.ready().await;
    let (over, answered, ended) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let calls = |at: u64| {
        let (servers, over, answered, ended) = (&servers, &over, &answered, &ended);
        async move {
            let mut dice = Dice(seed ^ (at + 1));
            while !over.load(Ordering::SeqCst) {
                let (tool, args) = match dice.below(3) {
                    0 => ("mcp__s__echo", json!({ "text": "x" })),
                    1 => ("mcp__s__work", json!({ "ms": dice.below(20) })),
                    // Only its end ends it.
                    _ => ("mcp__s__never", json!({})),
                };
                let called = tokio::time::timeout(Duration::from_secs(120), call(servers, tool, args)).await;
                match called.unwrap_or_else(|_| panic!("a call of {tool} is stuck")) {
                    Ok(_) => answered.fetch_add(1, Ordering::SeqCst),
                    Err(_) => ended.fetch_add(1, Ordering::SeqCst),
                };
                if dice.below(4) == 0 {
                    tokio::time::sleep(Duration::from_millis(dice.below(10))).await;
                }
            }
        }
    };
    let killing = async {
        let mut dice = Dice(seed);
        let (mut done, until) = (0, Instant::now() + Duration::from_secs(240));
        let pids = stage.folder.path().join("pids");
        while done < kills {
            assert!(Instant::now() < until, "{done} kills took too long: nothing is started any more");
            // From the first instant of its life on.
            tokio::time::sleep(Duration::from_micros(dice.below(30_000))).await;
            let text = std::fs::read_to_string(&pids).unwrap_or_default();
            let Some(pid) = text.lines().last().and_then(|line| line.parse::<i32>().ok()) else { continue };
            if kill(pid, &mark) {
                done += 1;
            }
        }
        over.store(true, Ordering::SeqCst);
        // Those that only an end ends.
        while answered.load(Ordering::SeqCst) < usize::MAX {
            let text = std::fs::read_to_string(&pids).unwrap_or_default();
            for pid in text.lines().rev().take(3).filter_map(|line| line.parse::<i32>().ok()) {
                kill(pid, &mark);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let began = Instant::now();
    let all = async { tokio::join!(calls(1), calls(2), calls(3)) };
    tokio::select! {
        _ = all => {}
        () = killing => {}
    }
    let (answered, ended) = (answered.into_inner(), ended.into_inner());
    println!("{:?}: {answered} calls answered, {ended} ended with the server", began.elapsed());
    assert!(ended >= usize::try_from(kills).unwrap() / 20, "most kills must meet something: {ended}");
    assert!(servers.close(Duration::from_secs(10)).await.is_empty());
    assert_eq!(processes(&mark), Vec::<i32>::new());
    let children = leftovers(&stage.folder.path().join("pids"));
    assert_eq!(children, Vec::<i32>::new(), "what the servers had started");
}

/// Ends a process, if it is a server of this test that is alive. Pids are used again, and others have servers, too.
fn kill(pid: i32, mark: &str) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if !String::from_utf8_lossy(&line).contains(mark) {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    if stat.contains(") Z ") {
        return false;
    }
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok())
}

/// Children of the servers that are still there: they sleep for a thousand seconds, and have this test's mark.
fn leftovers(pids: &std::path::Path) -> Vec<i32> {
    let started: Vec<String> = std::fs::read_to_string(pids).unwrap().lines().map(str::to_owned).collect();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    all.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let own = std::process::id().to_string();
        // The sandbox marks what it starts with the process that wanted it.
        String::from_utf8_lossy(&environment)
            .split('\0')
            .any(|variable| variable.starts_with(&format!("MICA_SANDBOX={own}-")))
            && !started.is_empty()
    })
    .collect()
}
