//! `mica sandbox` as a person uses it: exit codes, denials, and that nothing outlives the program.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test starts the program, and stops at the first surprise"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn mica(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
    command.args(words).current_dir(folder).env("MICA_HOME", folder.join("mica-home")).stdin(Stdio::null());
    command
}

/// Whether the sandbox confines here. Some containers allow nothing of it.
fn confines(folder: &Path) -> bool {
    let output = mica(folder, &["sandbox", "explain", "--format", "json"]).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let confines = value["tier"] != "none";
    if !confines {
        eprintln!("not tried: {}", value["missing"]);
    }
    confines
}

#[test]
fn codes_say_what_happened() {
    let folder = tempfile::tempdir().unwrap();
    if !confines(folder.path()) {
        return;
    }
    std::fs::write(folder.path().join("text"), "no program").unwrap();
    let table: [(&[&str], i32); 7] = [
        (&["sandbox", "run", "--", "true"], 0),
        (&["sandbox", "run", "--", "sh", "-c", "exit 42"], 42),
        (&["sandbox", "run", "--time", "1", "--", "sleep", "60"], 124),
        (&["sandbox", "run", "--write", "missing", "--", "true"], 125),
        (&["sandbox", "run", "--", "./text"], 126),
        (&["sandbox", "run", "--", "no-such-program"], 127),
        (&["sandbox", "run", "--net", "https://example.org", "--", "true"], 2),
    ];
    for (words, code) in table {
        let output = mica(folder.path(), words).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn denials_are_told() {
    // What is below a folder that everybody shares is not there inside, and cannot be denied.
    let usual = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let shared = ["/tmp", "/var/tmp"].iter().any(|shared| usual.starts_with(shared));
    let folder = if shared { tempfile::tempdir_in("/srv") } else { tempfile::tempdir_in(usual) };
    let Ok(folder) = folder else {
        eprintln!("not tried: there is no folder that is not shared");
        return;
    };
    if !confines(folder.path()) {
        return;
    }
    let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
    std::fs::create_dir(&inside).unwrap();
    let line = format!("echo x > made; echo x > {}", outside.display());
    let output = mica(&inside, &["sandbox", "run", "--", "sh", "-c", &line]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let expect = format!("mica: denied by the sandbox: writing {}", outside.display());
    assert_eq!(told.lines().last(), Some(expect.as_str()), "{told}");
    assert!(inside.join("made").exists() && !outside.exists());
}

/// Whatever ends the program, the commands end with it: here nobody is left to tell them.
#[test]
fn a_killed_program_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    if !confines(folder.path()) {
        return;
    }
    for tier in ["landlock", "none", "namespaces"] {
        let mark = format!("{}.{}", 7000 + std::process::id(), tier.len());
        let line = format!("setsid sh -c 'trap \"\" TERM; sleep {mark}' & echo ready; sleep {mark}");
        let words = ["sandbox", "run", "--tier", tier, "--", "sh", "-c", &line];
        let mut program = mica(folder.path(), &words).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = String::new();
        BufReader::new(program.stdout.take().unwrap()).read_line(&mut told).unwrap();
        if told.is_empty() {
            continue;
        }
        assert_eq!(told, "ready\n");
        program.kill().unwrap();
        program.wait().unwrap();
        let until = Instant::now() + Duration::from_secs(100);
        while !running(&mark).is_empty() {
            assert!(Instant::now() < until, "{tier}: still running: {:?}", running(&mark));
            std::thread::yield_now();
        }
    }
}

fn running(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(&format!("sleep {mark}"))).collect()
}
