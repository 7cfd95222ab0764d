//! What a boundary costs: `true` in each tier, against `true` started plainly in the same run.

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
    let mut met = true;
    for (tier, ready) in Tier::ALL.into_iter().flat_map(|tier| [(tier, false), (tier, true)]) {
        let Ok(mut sandbox) = sandbox.at_tier(tier) else {
            println!("  {tier:<12} not reached: {}", sandbox.report().reasons());
            continue;
        };
        if ready {
            sandbox = sandbox.keeping_ready();
        }
        let (mut plain, mut boxed) = (Vec::new(), Vec::new());
        // In turn, so that whatever else the machine does meets both.
        for _ in 0..STARTS {
            if ready {
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
        plain.sort_unstable();
        boxed.sort_unstable();
        // A busy machine shows in the median first: three processes wait for their turn, and not one.
        for (what, at) in [("quick", STARTS / 10), ("median", STARTS / 2)] {
            let more = boxed[at].saturating_sub(plain[at]);
            let (one, other) = (ms(plain[at]), ms(boxed[at]));
            let name = format!("{}{}", tier.name(), if ready { ", ready" } else { "" });
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
    }
    met
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
