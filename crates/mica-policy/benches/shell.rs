//! What the judgement of a command costs: nanoseconds for each of some ordinary command lines.
//!
//! Printed: the time of each, the worst, and the ratio to the limit of 50 µs.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a measuring program: it prints, and stops at the first surprise"
)]

use std::hint::black_box;
use std::time::Instant;

use mica_policy::Mode;
use mica_policy::shell::{ShellFacts, ShellRules, judge};

const ROUNDS: u32 = 3_000;
/// An ordinary command takes no longer than this.
const BAR: f64 = 50_000.0;

fn main() {
    let rules = ShellRules::builtin().unwrap();
    let facts = ShellFacts::of_project("/home/user/project").with_home("/home/user");
    let mut worst: f64 = 0.0;
    for command in [
        "ls -la",
        "git status",
        "git log --oneline -20 | head -5",
        "cd src && grep -rn 'foo bar' . --include='*.rs' | sort -u",
        "cat a.xml | grep api | wc -l",
        "mvn -q -DskipTests clean install",
        "find . -name '*.java' -not -path './target/*' | xargs grep -l Foo",
        "for f in src/*.rs; do echo \"$f\"; head -5 \"$f\"; done",
        "rm -rf build && mkdir -p build && cp -r src/* build/ > /tmp/log 2>&1",
        "bash -c 'cd sub && npm run build'",
    ] {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            black_box(judge(black_box(command), &facts, &rules, Mode::Edit));
        }
        let each = start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS);
        worst = worst.max(each);
        println!("{each:>9.0} ns  {command}");
    }
    let chain = vec!["git status"; 1000].join(" && ");
    let start = Instant::now();
    black_box(judge(black_box(&chain), &facts, &rules, Mode::Edit));
    println!(
        "{:>9.0} ns  for each of 1000 commands in one chain",
        start.elapsed().as_secs_f64() * 1e9 / 1000.0
    );
    println!("worst {worst:.0} ns, {:.2} of the limit of {BAR:.0} ns", worst / BAR);
    assert!(worst <= BAR, "an ordinary command took {worst:.0} ns");
}
