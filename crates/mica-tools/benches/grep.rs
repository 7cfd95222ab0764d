//! How long a search takes, against `rg` with the same flags on the same tree in the same run.
//!
//! The tree has about 200 MB of text, made from a fixed seed under `target/`, and is kept for the next run. `rg` is started
//! as a process, which is a few milliseconds of its time; the tool is called in this one. Both are measured in turn, so
//! that whatever else the machine does meets both.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measuring program: it starts processes, prints, and stops at the first surprise"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use mica_agent::{RunId, Tool, ToolCx};
use mica_ai::id::CallId;
use mica_tools::{Grep, Workspace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The size of the tree.
const TREE: u64 = 200 << 20;
/// Bytes of one file, on average.
const FILE: u64 = 20 << 10;
/// Files of one folder.
const FOLDER: u64 = 40;
/// Runs of each case and of each side.
const RUNS: usize = 9;
/// The bar: how much longer than `rg` the tool may take.
const BAR: f64 = 1.3;
/// Part of the name of the tree, so that a change here makes a new one.
const EDITION: u32 = 1;

struct Case {
    name: &'static str,
    args: Value,
    flags: &'static [&'static str],
}

fn cases() -> Vec<Case> {
    vec![
        Case { name: "rare word", args: json!({"pattern": "quetzalcoatl"}), flags: &["quetzalcoatl"] },
        Case {
            name: "rare word, any case",
            args: json!({"pattern": "quetzalcoatl", "ignore_case": true}),
            flags: &["-i", "quetzalcoatl"],
        },
        // `rg` has no limit for all files together; one for each file is the nearest it has.
        Case {
            name: "common word, limit 100",
            args: json!({"pattern": "sequence", "limit": 100}),
            flags: &["--max-count", "100", "sequence"],
        },
        Case {
            name: "regex",
            args: json!({"pattern": r"fn \w+_zebra\d+\(.*\) -> \w+"}),
            flags: &[r"fn \w+_zebra\d+\(.*\) -> \w+"],
        },
        Case {
            name: "regex without a literal",
            args: json!({"pattern": r"\b[a-z]{4}\d{5}[a-z]\b"}),
            flags: &[r"\b[a-z]{4}\d{5}[a-z]\b"],
        },
        Case {
            name: "count",
            args: json!({"pattern": "zebra", "mode": "count"}),
            flags: &["--count", "zebra"],
        },
        Case {
            name: "files with matches",
            args: json!({"pattern": "zebra", "mode": "files"}),
            flags: &["--files-with-matches", "zebra"],
        },
        Case {
            name: "context",
            args: json!({"pattern": "quetzalcoatl", "context": 2}),
            flags: &["--context", "2", "quetzalcoatl"],
        },
    ]
}

fn main() -> ExitCode {
    let told = Command::new("rg").arg("--version").stderr(Stdio::null()).output();
    let Ok(told) = told else {
        println!("skipped: there is no `rg` in PATH to compare with (install ripgrep)");
        return ExitCode::SUCCESS;
    };
    let version = String::from_utf8_lossy(&told.stdout).lines().next().unwrap_or_default().to_owned();
    let tree = tree();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let grep = Grep::new(&Workspace::new(&tree).unwrap());
    println!("grep against {version}: {RUNS} of each in turn, the quickest of each, over {} MB", TREE >> 20);
    let mut met = true;
    for case in cases() {
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..RUNS {
            let began = Instant::now();
            let status = Command::new("rg")
                .args(["--no-config", "--color=never", "--line-number", "--heading", "--no-require-git"])
                .args(case.flags)
                .arg(".")
                .current_dir(&tree)
                .stdout(Stdio::null())
                .status()
                .unwrap();
            assert!(status.success(), "rg found nothing: the case compares nothing");
            theirs = theirs.min(began.elapsed());
            let cx = ToolCx::new(RunId::fresh(), CallId::from("bench"), CancellationToken::new(), |_| {});
            let Value::Object(args) = case.args.clone() else { unreachable!("cases are objects") };
            let began = Instant::now();
            let output = runtime.block_on(grep.call(args, &cx)).unwrap();
            ours = ours.min(began.elapsed());
            assert!(output.details.unwrap()["matches"].as_u64().unwrap() > 0);
        }
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        met &= ratio <= BAR;
        println!(
            "  {:<24} {:>7.1} ms   rg {:>7.1} ms   ratio {ratio:.2}{}",
            case.name,
            ours.as_secs_f64() * 1e3,
            theirs.as_secs_f64() * 1e3,
            if ratio <= BAR { "" } else { "  ABOVE the bar" }
        );
    }
    println!("the bar is a ratio of {BAR}: {}", if met { "met" } else { "NOT met" });
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The folder with the tree, made when it is not there.
fn tree() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let tree = target.join(format!("grep-tree-{EDITION}"));
    if !tree.join("done").exists() {
        let _ = fs::remove_dir_all(&tree);
        println!("making a tree of {} MB in {}", TREE >> 20, tree.display());
        make(&tree);
        fs::write(tree.join("done"), "").unwrap();
    }
    tree
}

fn make(tree: &Path) {
    const WORDS: [&str; 24] = [
        "sequence", "mediator", "payload", "let", "return", "value", "header", "property", "if", "else",
        "struct", "impl", "match", "error", "result", "option", "string", "buffer", "index", "count",
        "request", "response", "while", "break",
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut made = 0;
    let mut file = 0;
    while made < TREE {
        let folder = tree.join(format!("part{:03}/module{:02}", file / FOLDER / 10, file / FOLDER % 10));
        fs::create_dir_all(&folder).unwrap();
        let size = FILE / 4 + random.below(FILE * 3 / 2);
        let mut text = String::new();
        while (text.len() as u64) < size {
            for _ in 0..random.below(3) {
                text.push_str("    ");
            }
            for _ in 0..2 + random.below(9) {
                let word = WORDS[random.below(WORDS.len() as u64) as usize];
                let _ = write!(text, "{word} ");
            }
            match random.below(2_000) {
                0 => text.push_str("// a zebra"),
                1 => {
                    let _ = write!(text, "fn make_zebra{}(a: u32) -> String", random.below(99));
                }
                2 if random.below(60) == 0 => text.push_str("// Quetzalcoatl, the quetzalcoatl"),
                3 if random.below(60) == 0 => {
                    let _ = write!(text, "abcd{:05}z", random.below(99_999));
                }
                _ => {
                    let _ = write!(text, "= {};", random.below(1_000));
                }
            }
            text.push('\n');
        }
        made += text.len() as u64;
        let ending = ["rs", "xml", "ts", "md"][random.below(4) as usize];
        fs::write(folder.join(format!("file{file:05}.{ending}")), text).unwrap();
        file += 1;
    }
    fs::write(tree.join(".gitignore"), "*.log\ntarget/\n").unwrap();
    fs::create_dir_all(tree.join("target")).unwrap();
    fs::write(tree.join("target/ignored.rs"), "quetzalcoatl zebra\n").unwrap();
}

/// Numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
