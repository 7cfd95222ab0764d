//! What looking through a project of 20,000 files takes before and after a command: cold, when everything is read and
//! kept, and warm, when nothing changed. Against the least that anybody does: asking the system about each file once.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measuring program: it prints, and stops at the first surprise"
)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use mica_session::RunId;
use mica_session::undo::Undo;

const FOLDERS: usize = 400;
const FILES: usize = 50;
const ROUNDS: usize = 9;
/// The bar for a warm look: so many times the least.
const BAR: f64 = 2.0;

fn main() {
    let outer = tempfile::tempdir().unwrap();
    let project = outer.path().join("project");
    for folder in 0..FOLDERS {
        let folder = project.join(format!("d{}/d{folder}", folder % 20));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..FILES {
            let text = format!("{}/{file}\n", folder.display()).repeat(40);
            fs::write(folder.join(format!("file{file}.txt")), text).unwrap();
        }
    }
    let open = || Undo::new(&outer.path().join("undo"), &project, jiff::Timestamp::now).unwrap();
    let undo = open();
    let run = RunId::from("bench");
    let cold = timed(|| undo.command_begins(&run, "cold").unwrap());
    timed(|| drop(undo.command_ended("cold").unwrap()));
    // What was made just now is not trusted until the clock has ticked.
    let mut number = 0;
    let mut once = |undo: &Undo| {
        number += 1;
        let call = format!("call-{number}");
        let begin = timed(|| undo.command_begins(&run, &call).unwrap());
        let end = timed(|| assert!(undo.command_ended(&call).unwrap().changed.is_empty()));
        (begin, end)
    };
    once(&undo);
    let mut begins = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..ROUNDS {
        let (begin, end) = once(&undo);
        begins.push(begin);
        ends.push(end);
    }
    drop(undo);
    let later = once(&open()).0;
    let mut least: Vec<f64> = (0..ROUNDS).map(|_| timed(|| stat_all(&project))).collect();
    let (begin, end, least) = (median(&mut begins), median(&mut ends), median(&mut least));
    println!("{} files, median of {ROUNDS} rounds", FOLDERS * FILES);
    println!("cold: {cold:.0} ms, everything is read and kept");
    println!("warm: {begin:.1} ms before a command, {end:.1} ms after it");
    println!("the first one of another process: {later:.1} ms");
    println!(
        "asking about each file once, one after the other: {least:.1} ms; ratio {:.2}",
        begin.max(end) / least
    );
    let met = begin.max(end) / least < BAR;
    println!("bar for the ratio {BAR}: {}", if met { "met" } else { "NOT MET" });
    if !met {
        std::process::exit(1);
    }
}

fn timed(deed: impl FnOnce()) -> f64 {
    let began = Instant::now();
    deed();
    began.elapsed().as_secs_f64() * 1_000.0
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn stat_all(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.metadata().unwrap().is_dir() {
            stat_all(&entry.path());
        }
    }
}
