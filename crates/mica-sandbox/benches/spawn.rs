//! What a boundary costs: `true` in each tier, against `true` started plainly in the same run.
//!
//! Times by the clock grow with whatever else the machine does; processor time, of the program and all that it starts,
//! hardly does.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measuring program: it starts processes, prints, and stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mica_sandbox::{Around, Boundary, Command, Places, Sandbox, Stub, Tier};
use tokio_util::sync::CancellationToken;

/// Starts for each figure.
const STARTS: usize = 101;
/// How long the quickest models take to answer.
const PAUSE: Duration = Duration::from_millis(50);
/// The bar: how much longer the default tier may take.
const MORE: Duration = Duration::from_millis(5);

fn main() -> ExitCode {
    if mica_sandbox::stub::is_called(std::env::args_os()) {
        return mica_sandbox::stub::run();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let met = runtime.block_on(measure());
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn measure() -> bool {
    let sandbox = Sandbox::negotiate(Stub::this_program()).await;
    let project = tempfile::tempdir().unwrap();
    let home = std::env::home_dir();
    let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let around = Around { home: home.as_deref(), environment: &environment, temporary: Path::new("/tmp") };
    let boundary = Boundary::project(project.path(), &around, &Places::builtin().unwrap()).unwrap();

    println!("`true` from start to end, {STARTS} of each in turn: the quickest tenth, and the median");
    println!(
        "ready: with a pause before each, as long as a quick model takes, in which the next boundary is built"
    );
    println!(
        "again: without a pause, where nothing but private folders can be written, so that one boundary serves all"
    );
    let mut met = true;
    let ways =
        Tier::ALL.into_iter().flat_map(|tier| [Way::Anew, Way::Ready, Way::Again].map(|way| (tier, way)));
    for (tier, way) in ways.filter(|(tier, way)| *way != Way::Again || *tier == Tier::Namespaces) {
        let Ok(mut sandbox) = sandbox.at_tier(tier) else {
            println!("  {tier:<12} not reached: {}", sandbox.report().reasons());
            continue;
        };
        let mut boundary = boundary.clone();
        if way != Way::Anew {
            sandbox = sandbox.keeping_ready();
        }
        if way == Way::Again {
            boundary = boundary.read_only();
        }
        let (mut plain, mut boxed) = (Vec::new(), Vec::new());
        let mut of_plain = Duration::ZERO;
        settle().await;
        let processor = processor_time();
        // In turn, so that whatever else the machine does meets both.
        for _ in 0..STARTS {
            if way == Way::Ready {
                tokio::time::sleep(PAUSE).await;
            }
            let began = Instant::now();
            assert!(tokio::process::Command::new("true").output().await.unwrap().status.success());
            plain.push(began.elapsed());
            let began = Instant::now();
            let command = Command::new("true", project.path());
            let finished =
                sandbox.run_to_end(command, &boundary, 1024, CancellationToken::new()).await.unwrap();
            assert!(finished.ended.how.is_success());
            boxed.push(began.elapsed());
        }
        drop(sandbox);
        settle().await;
        let processor_of_both = processor_time().saturating_sub(processor);
        for _ in 0..STARTS {
            assert!(tokio::process::Command::new("true").output().await.unwrap().status.success());
        }
        settle().await;
        of_plain += processor_time().saturating_sub(processor).saturating_sub(processor_of_both);
        plain.sort_unstable();
        boxed.sort_unstable();
        // A busy machine shows in the median first: three processes wait for their turn, and not one.
        for (what, at) in [("quick", STARTS / 10), ("median", STARTS / 2)] {
            let more = boxed[at].saturating_sub(plain[at]);
            let (one, other) = (ms(plain[at]), ms(boxed[at]));
            let name = format!("{}{}", tier.name(), way.name());
            print!(
                "  {name:<18} {what:<7} {other:>6.2} ms, plain {one:>5.2} ms: {:>5.2} times, {:>5.2} ms more",
                other / one,
                ms(more)
            );
            if what == "quick" && tier != Tier::None {
                met &= more < MORE;
                print!("  bar {} ms: {}", MORE.as_millis(), if more < MORE { "met" } else { "NOT MET" });
            }
            println!();
        }
        if way == Way::Again {
            // The keeper still runs, and what it waited for is counted when it has ended.
            continue;
        }
        let each = |time: Duration| ms(time) / STARTS as f64;
        println!(
            "  {:<18} processor {:>6.2} ms, plain {:>5.2} ms",
            "",
            each(processor_of_both.saturating_sub(of_plain)),
            each(of_plain)
        );
    }
    met
}

/// In which boundary a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Anew,
    Ready,
    Again,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Anew => "",
            Self::Ready => ", ready",
            Self::Again => ", again",
        }
    }
}

/// Waits until what has ended was waited for, so that it counts.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Waiting for one waits for all that were left behind.
    assert!(tokio::process::Command::new("true").output().await.unwrap().status.success());
}

/// Processor time of this program, and of all that it has started and waited for.
fn processor_time() -> Duration {
    /// The kernel counts in hundredths of a second here.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(4);
    let ticks: u32 = fields.filter_map(|field| field.parse::<u32>().ok()).sum();
    TICK * ticks
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
