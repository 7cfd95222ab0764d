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

    let mut plain = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        assert!(tokio::process::Command::new("true").output().await.unwrap().status.success());
        plain.push(began.elapsed());
    }
    let plain = middle(plain);
    println!("`true` from start to end, median of {STARTS}");
    println!("  {:<12} {:>8.2} ms", "plain", ms(plain));
    let mut met = true;
    for tier in Tier::ALL {
        let Ok(sandbox) = sandbox.at_tier(tier) else {
            println!("  {tier:<12} not reached: {}", sandbox.report().reasons());
            continue;
        };
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let began = Instant::now();
            let command = Command::new("true", project.path());
            let finished =
                sandbox.run_to_end(command, &boundary, 1024, CancellationToken::new()).await.unwrap();
            assert!(finished.ended.how.is_success());
            times.push(began.elapsed());
        }
        let took = middle(times);
        let more = took.saturating_sub(plain);
        print!(
            "  {:<12} {:>8.2} ms  {:>5.2} times, {:.2} ms more",
            tier.name(),
            ms(took),
            ms(took) / ms(plain),
            ms(more)
        );
        if tier == sandbox.report().tier && tier == Tier::Namespaces || tier == Tier::Landlock {
            met &= more < MORE;
            print!("  bar {} ms: {}", MORE.as_millis(), if more < MORE { "met" } else { "NOT MET" });
        }
        println!();
    }
    met
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
