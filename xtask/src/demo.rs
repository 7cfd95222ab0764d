//! `demo`: the shortest way to see mica at work.

use crate::failure::Result;
use crate::process;

pub(crate) const ABOUT: &str =
    "watch mica add to a small project and repair what its checks find; see `demo --help` for your own model";

/// Builds and runs the demo, which takes all arguments. `demo wires` is the one of the provider layer.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some((first, rest)) = arguments.split_first()
        && first == "wires"
    {
        return example("mica-testkit", "wires", rest);
    }
    eprintln!("Building mica and its demo. The first build takes some minutes.");
    // Both at once, so that they share what they are built from; the demo finds the program beside itself.
    process::run(process::cargo().args([
        "build",
        "--quiet",
        "--package",
        "mica",
        "--bin",
        "mica",
        "--example",
        "demo",
    ]))?;
    example("mica", "demo", arguments)
}

fn example(package: &str, name: &str, arguments: &[String]) -> Result<()> {
    process::run(
        process::cargo()
            .args(["run", "--quiet", "--package", package, "--example", name, "--"])
            .args(arguments),
    )
}
