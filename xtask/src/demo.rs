//! `demo`: the shortest way to see mica stream.

use crate::failure::Result;
use crate::process;

pub(crate) const ABOUT: &str =
    "stream from a scripted model, or from an endpoint of yours; see `demo --help`";

/// Builds and runs the demo, which takes all arguments.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    eprintln!(
        "Building the demo (the example `demo` of mica-testkit). The first build takes a minute or two."
    );
    process::run(
        process::cargo()
            .args(["run", "--quiet", "--package", "mica-testkit", "--example", "demo", "--"])
            .args(arguments),
    )
}
