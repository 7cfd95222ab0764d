//! `fuzz`: builds and runs the fuzz targets with libFuzzer, on the stable toolchain.
//!
//! The coverage that steers libFuzzer comes from an LLVM pass that stable rustc runs when it is asked to by name;
//! `docs/decisions/003-fuzzing-on-stable.md` has the story. There is no address sanitizer, which needs a nightly
//! compiler; the crates forbid unsafe code, so panics, hangs and memory use are what there is to find.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::{process, workspace};

pub(crate) const ABOUT: &str = "fuzz what reads bytes from outside";
pub(crate) const HELP: &str = "\
Usage: cargo xtask fuzz [targets...] [--seconds N]
       cargo xtask fuzz <target> --input FILE
       cargo xtask fuzz --list

Builds the fuzz targets in fuzz/ and runs them one after the other, all of them or those that are named.
It needs a C++ compiler, because libFuzzer is built from source; it needs no nightly toolchain.

  --seconds N    how long each target runs (60)
  --input FILE   run one input, for example one that crashed, and stop
  --list         print the names of the targets

Inputs that reach new code are kept in fuzz/corpus/<target>; fuzz/seeds/<target> and a dialect's fixtures are what it
starts from. A crash fails the command and leaves its input in fuzz/artifacts/<target>.
";

/// The instrumentation that cargo-fuzz asks for, without the sanitizer.
const FLAGS: &[&str] = &[
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

const DEFAULT_SECONDS: u64 = 60;

/// One input may take this long. Readers of streams need microseconds; ten seconds is a hang.
const INPUT_TIMEOUT: Duration = Duration::from_secs(10);

/// Memory at most, in MiB. Ten times what a target with a full corpus was seen to use.
const MEMORY_LIMIT: u32 = 2048;

/// What the arguments ask for.
#[derive(Debug, PartialEq)]
struct Plan {
    targets: Vec<String>,
    work: Work,
}

#[derive(Debug, PartialEq)]
enum Work {
    List,
    Fuzz { seconds: u64 },
    Reproduce { input: PathBuf },
}

/// Builds and runs the targets.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let fuzz = workspace::root().join("fuzz");
    let plan = plan(arguments, &targets(&workspace::read(&fuzz.join("Cargo.toml"))?)?)?;
    if plan.work == Work::List {
        plan.targets.iter().for_each(|target| println!("{target}"));
        return Ok(());
    }
    let folder = build(&fuzz, &plan.targets)?;
    match plan.work {
        Work::List => Ok(()),
        Work::Reproduce { input } => {
            let target = &plan.targets[0];
            process::run(program(&folder, target).arg(std::path::absolute(&input).unwrap_or(input)))?;
            println!("{target}: the input does no harm");
            Ok(())
        }
        Work::Fuzz { seconds } => {
            let mut failed = Vec::new();
            for target in &plan.targets {
                if let Err(failure) = fuzz_one(&fuzz, &folder, target, seconds) {
                    eprintln!("{failure}");
                    failed.push(target.as_str());
                }
            }
            if failed.is_empty() {
                Ok(())
            } else {
                Err(Failure::new(format!("failed: {}", failed.join(", "))))
            }
        }
    }
}

fn plan(arguments: &[String], known: &[String]) -> Result<Plan> {
    let mut targets = Vec::new();
    let mut work = Work::Fuzz { seconds: DEFAULT_SECONDS };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => work = Work::List,
            "--seconds" => {
                let given = arguments.next().map(String::as_str).unwrap_or_default();
                let seconds = given.parse().ok().filter(|&seconds| seconds > 0).ok_or_else(|| {
                    Failure::usage(format!("--seconds needs a whole number above 0, and has {given:?}"))
                })?;
                work = Work::Fuzz { seconds };
            }
            "--input" => {
                let input = arguments.next().ok_or_else(|| Failure::usage("--input needs a file"))?;
                work = Work::Reproduce { input: input.into() };
            }
            name if known.iter().any(|target| target == name) => targets.push(name.to_owned()),
            other => {
                let all = known.join(", ");
                return Err(Failure::usage(format!(
                    "unknown fuzz target or option {other:?}: the targets are {all}; see `cargo xtask fuzz --help`"
                )));
            }
        }
    }
    if matches!(work, Work::Reproduce { .. }) && targets.len() != 1 {
        return Err(Failure::usage("--input needs exactly one target: the one that the input is for"));
    }
    if targets.is_empty() {
        targets = known.to_vec();
    }
    Ok(Plan { targets, work })
}

/// The targets that a manifest declares.
fn targets(manifest: &str) -> Result<Vec<String>> {
    let table: toml::Table =
        manifest.parse().map_err(|error| Failure::new(format!("fuzz/Cargo.toml is no manifest: {error}")))?;
    let bins = table.get("bin").and_then(toml::Value::as_array);
    Ok(bins.into_iter().flatten().filter_map(|bin| Some(bin.get("name")?.as_str()?.to_owned())).collect())
}

/// Builds targets, and answers the folder they are in.
fn build(fuzz: &Path, targets: &[String]) -> Result<PathBuf> {
    let host = host()?;
    let into = workspace::target().join("fuzz");
    eprintln!("Building {}. The first build takes about two minutes.", targets.join(", "));
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--manifest-path"]).arg(fuzz.join("Cargo.toml"));
    // With a target named, even the host's own, build scripts and macros are built without the flags.
    cargo.args(["--target", &host, "--target-dir"]).arg(&into);
    for target in targets {
        cargo.args(["--bin", target]);
    }
    // The encoded form wins over every other way to set flags, so that nothing of the caller's is mixed in.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    process::run(&mut cargo).map_err(|failure| {
        Failure::new(format!("{failure}\nlibFuzzer is built from C++ source: is there a C++ compiler?"))
    })?;
    Ok(into.join(host).join("release"))
}

/// The platform this runs on, in rustc's words.
fn host() -> Result<String> {
    let told = process::output(process::program("rustc").arg("-vV"))?;
    told.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Failure::new("`rustc -vV` does not name its host"))
}

fn program(folder: &Path, target: &str) -> Command {
    let mut program = process::program(folder.join(target));
    program.arg(format!("-timeout={}", INPUT_TIMEOUT.as_secs())).arg(format!("-rss_limit_mb={MEMORY_LIMIT}"));
    program
}

/// Runs one target for a while, and prints a line on how it went.
fn fuzz_one(fuzz: &Path, folder: &Path, target: &str, seconds: u64) -> Result<()> {
    let corpus = fuzz.join("corpus").join(target);
    let artifacts = fuzz.join("artifacts").join(target);
    let seeds = fuzz.join("seeds").join(target);
    let logs = workspace::target().join("fuzz").join("logs");
    for folder in [&corpus, &artifacts, &logs] {
        workspace::make_folder(folder)?;
    }
    let log = logs.join(format!("{target}.log"));
    eprintln!("Fuzzing {target} for {seconds} s. Log: {}", near(&log));
    let file = std::fs::File::create(&log)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", log.display())))?;
    let also =
        file.try_clone().map_err(|error| Failure::new(format!("cannot write {}: {error}", log.display())))?;
    let mut program = program(folder, target);
    program.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    program.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(corpus);
    // A dialect's fixtures are the best seeds there are for its mapper.
    let fixtures = workspace::root().join("crates/mica-ai/src/dialect").join(target).join("fixtures");
    for folder in [seeds, fixtures] {
        if folder.is_dir() {
            program.arg(folder);
        }
    }
    let status = program
        .stdin(Stdio::null())
        .stdout(also)
        .stderr(file)
        .status()
        .map_err(|error| Failure::new(format!("cannot start the fuzz target {target}: {error}")))?;
    let told = String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()).into_owned();
    let figures = Figures::of(&told);
    let verdict = verdict(target, status.success(), &figures, &told);
    println!("{target:<12} {figures}  {}", if verdict.is_ok() { "ok" } else { "FAILED" });
    verdict
}

/// Whether a run counts as passed. One that saw no coverage tried bytes at random, and has proved nothing.
fn verdict(target: &str, passed: bool, figures: &Figures, log: &str) -> Result<()> {
    if !passed {
        return Err(Failure::new(report(target, log)));
    }
    if figures.coverage == 0 {
        let text = "  libFuzzer saw no coverage: this compiler does not take the flags in xtask/src/fuzz.rs";
        return Err(Failure::new(text));
    }
    Ok(())
}

/// What a run came to.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    runs: u64,
    per_second: u64,
    coverage: u64,
    kept: u64,
}

impl Figures {
    /// Reads libFuzzer's own words.
    fn of(log: &str) -> Self {
        let mut figures = Self::default();
        for line in log.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("stat::number_of_executed_units:") => figures.runs = number(words.next()),
                Some("stat::average_exec_per_sec:") => figures.per_second = number(words.next()),
                Some("stat::new_units_added:") => figures.kept = number(words.next()),
                Some(first) if first.starts_with('#') && words.any(|word| word == "cov:") => {
                    figures.coverage = number(words.next());
                }
                _ => {}
            }
        }
        figures
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { runs, per_second, coverage, kept } = self;
        write!(f, "{runs:>10} runs {per_second:>8}/s  coverage {coverage:>6}  new inputs {kept:>6}")
    }
}

fn number(word: Option<&str>) -> u64 {
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// What failed, where its input is, and how to see it again.
fn report(target: &str, log: &str) -> String {
    let mut text = String::new();
    let telling = |line: &&str| line.contains("panicked at") || line.contains("ERROR: libFuzzer");
    let lines: Vec<&str> = log.lines().collect();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| telling(line)) {
        let _ = writeln!(text, "  {line}");
        // A panic says where on its first line, and what on the next ones.
        for more in lines[index + 1..].iter().take(if line.contains("panicked at") { 3 } else { 0 }) {
            let _ = writeln!(text, "  {more}");
        }
    }
    match log.lines().find_map(|line| line.split_once("Test unit written to ")) {
        Some((_, path)) => {
            let path = near(Path::new(path.trim()));
            let _ = write!(text, "  input: {path}\n  again: cargo xtask fuzz {target} --input {path}");
        }
        None => text.push_str("  libFuzzer left no input; its log says why"),
    }
    text
}

/// A path as seen from the root.
fn near(path: &Path) -> String {
    path.strip_prefix(workspace::root()).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(arguments: &[&str]) -> Result<Plan> {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        plan(&arguments, &["sse".to_owned(), "chat".to_owned()])
    }

    #[test]
    fn all_targets_run_when_none_is_named() {
        let plan = plan_of(&["--seconds", "5"]).expect("a plan");
        assert_eq!(
            plan,
            Plan { targets: vec!["sse".into(), "chat".into()], work: Work::Fuzz { seconds: 5 } }
        );
    }

    #[test]
    fn an_input_is_for_one_target() {
        assert!(plan_of(&["--input", "crash"]).is_err());
        assert!(plan_of(&["sse", "chat", "--input", "crash"]).is_err());
        let plan = plan_of(&["chat", "--input", "crash"]).expect("a plan");
        assert_eq!(
            plan,
            Plan { targets: vec!["chat".into()], work: Work::Reproduce { input: "crash".into() } }
        );
    }

    #[test]
    fn figures_are_the_last_ones_told() {
        let log = "#2\tINITED cov: 40 ft: 41 corp: 1/1b\n#99\tNEW    cov: 143 ft: 900 corp: 20/1Kb\n\
                   Done 1230896 runs in 31 second(s)\nstat::number_of_executed_units: 1230896\n\
                   stat::average_exec_per_sec:     39706\nstat::new_units_added:          1859\n";
        let figures = Figures::of(log);
        assert_eq!(figures, Figures { runs: 1_230_896, per_second: 39_706, coverage: 143, kept: 1859 });
    }

    #[test]
    fn a_crash_is_told_with_its_input() {
        let log = "thread '<unnamed>' panicked at targets/sse.rs:20:5:\nassertion failed: a\nleft: 1\nright: 2\nnote\n\
                   ==7== ERROR: libFuzzer: deadly signal\nTest unit written to fuzz/artifacts/sse/crash-1\n";
        assert_eq!(
            report("sse", log),
            "  thread '<unnamed>' panicked at targets/sse.rs:20:5:\n  assertion failed: a\n  left: 1\n  right: 2\n\
             \x20 ==7== ERROR: libFuzzer: deadly signal\n  input: fuzz/artifacts/sse/crash-1\n\
             \x20 again: cargo xtask fuzz sse --input fuzz/artifacts/sse/crash-1"
        );
    }

    #[test]
    fn a_run_without_coverage_is_a_failure() {
        let seen = Figures { coverage: 9, ..Figures::default() };
        assert!(verdict("sse", true, &seen, "").is_ok());
        assert!(verdict("sse", false, &seen, "").is_err());
        // What libFuzzer prints, exit code 0, when the target was built without the flags.
        let log = "WARNING: no interesting inputs were found so far. Is the code instrumented for coverage?\n\
                   #892014\tDONE   corp: 1/1b lim: 4096 exec/s: 223003 rss: 27Mb\n";
        assert!(verdict("sse", true, &Figures::of(log), log).is_err());
    }

    #[test]
    fn the_manifest_and_the_folder_name_the_same_targets() {
        let fuzz = workspace::root().join("fuzz");
        let mut declared =
            targets(&workspace::read(&fuzz.join("Cargo.toml")).expect("a manifest")).expect("targets");
        let mut files: Vec<String> = std::fs::read_dir(fuzz.join("targets"))
            .expect("a folder")
            .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
            .collect();
        declared.sort_unstable();
        files.sort_unstable();
        assert_eq!(declared, files);
    }
}
