//! A writer that is killed at random instants: everything it was told is saved is there, every time.
//!
//! Every other time the power fails as well: of what was not yet on the disk for certain, a random part is cut off or
//! turned into NUL bytes, as file systems do. What was appended with `Durability::Now` must still be there.
//!
//! The writer is this test program, started again as a child that appends until it is killed. It reports each entry
//! only after `append` has returned, so what the parent has read was acknowledged.

#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the test starts itself as a process, hands it a folder, and stops at the first surprise"
)]

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mica_ai::message::{Block, Content, Image, ImageSource, Text};
use mica_ai::{Assistant, Dialect, Message, Origin, User};
use mica_session::{Access, Body, Durability, EntryId, Kind, Notice, Session, Sessions};

const FOLDER: &str = "MICA_SESSION_CRASH_FOLDER";
const KILLS: usize = 60;

fn sessions(folder: &Path) -> Sessions {
    Sessions::new(folder, jiff::Timestamp::now)
}

/// Not a test of its own: the child of the one below. Without a folder it does nothing.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let store = sessions(folder.as_ref());
    let mut out = std::io::stdout().lock();
    let mut random = fastrand::Rng::new();
    loop {
        let known = store.list(None).sessions;
        let mut session = match known.first() {
            Some(first) if random.u8(..) > 20 => store.open(&first.path, Access::Write).unwrap(),
            _ => store.create("/home/user/x".as_ref(), None).unwrap(),
        };
        let id = session.header().id;
        for _ in 0..random.usize(1..40) {
            let (body, durability) = something(&session, &mut random);
            let entry = session.append(body, durability).unwrap();
            let length = std::fs::metadata(session.path()).unwrap().len();
            writeln!(out, "\nsaved {id} {entry} {length} {durability:?}").unwrap();
            out.flush().unwrap();
        }
    }
}

fn something(session: &Session, random: &mut fastrand::Rng) -> (Body, Durability) {
    let letters = |random: &mut fastrand::Rng, most: usize| "abc ".repeat(random.usize(0..most));
    match random.u8(0..10) {
        0..5 => (Message::from(User::text(letters(random, 200))).into(), Durability::Now),
        5..7 => {
            // Long lines: the larger a write, the likelier it is cut in two.
            let origin = Origin { dialect: Dialect::Chat, provider: "p".to_owned(), model: "m".to_owned() };
            let mut answer = Assistant::empty("a".into(), origin);
            answer.blocks.push(Block::Text(Text { text: letters(random, 60_000), ..Text::default() }));
            (Message::from(answer).into(), Durability::Lazy)
        }
        7 => {
            let data = ImageSource::Base64("QUJD".repeat(5000 + random.usize(0..5)).into());
            let image = Content::Image(Image { media_type: "image/png".to_owned(), source: data });
            (Message::from(User { id: "u".into(), content: vec![image] }).into(), Durability::Now)
        }
        8 => (Body::TurnOpen { run: None }, Durability::Lazy),
        _ => {
            let spoken = session.tree().nodes().iter().filter(|node| !node.kind.is_aside());
            let targets: Vec<EntryId> = spoken.map(|node| node.id).collect();
            (Body::Leaf { target: random.choice(targets) }, Durability::Lazy)
        }
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the child was told is saved: one line of its report.
struct Saved {
    session: String,
    entry: EntryId,
    length: u64,
    on_disk: bool,
}

fn saved(line: &str) -> Option<Saved> {
    let mut words = line.strip_prefix("saved ")?.split(' ');
    Some(Saved {
        session: words.next()?.to_owned(),
        entry: words.next()?.parse().ok()?,
        length: words.next()?.parse().ok()?,
        on_disk: words.next()? == "Now",
    })
}

/// Reads what the child reports, kills it after a random while, and reads the rest.
fn run_until_killed(folder: &Path, random: &mut fastrand::Rng) -> Vec<Saved> {
    let mut child = start(folder);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut reports = Vec::new();
    let enough = random.usize(1..60);
    while reports.len() < enough {
        reports.extend(saved(&lines.next().expect("the child goes on until it is killed")));
    }
    // A random instant within an append, not just after one.
    let until = Instant::now() + Duration::from_micros(random.u64(0..3000));
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    // The last line may be cut off by the kill, and then it was not acknowledged.
    reports.extend(lines.filter_map(|line| saved(&line)));
    child.wait().unwrap();
    reports
}

/// What a session must have.
#[derive(Default)]
struct Expected {
    entries: Vec<EntryId>,
    /// How many of them, and how much of the file, are on the disk for certain.
    certain: usize,
    length: u64,
}

/// Loses a random part of what is not on the disk for certain.
fn fail_power(path: &Path, expected: &mut Expected, random: &mut fastrand::Rng) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len();
    // A header is on the disk before anything else, and so is what was there when the last append waited for it.
    let certain = expected.length.max(first_line(path));
    file.set_len(random.u64(certain..=length)).unwrap();
    if random.bool() {
        file.set_len(length).unwrap();
    }
    expected.entries.truncate(expected.certain);
}

fn first_line(path: &Path) -> u64 {
    let mut line = Vec::new();
    let mut file = BufReader::new(std::fs::File::open(path).unwrap());
    file.read_until(b'\n', &mut line).unwrap();
    line.len() as u64
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let folder = tempfile::tempdir().unwrap();
    let store = sessions(folder.path());
    let mut random = fastrand::Rng::new();
    let mut sessions: HashMap<String, Expected> = HashMap::new();
    let (mut torn, mut completed) = (0, 0);
    for kill in 0..KILLS {
        let mut touched = HashSet::new();
        for report in run_until_killed(folder.path(), &mut random) {
            let expected = sessions.entry(report.session.clone()).or_default();
            expected.entries.push(report.entry);
            if report.on_disk {
                (expected.certain, expected.length) = (expected.entries.len(), report.length);
            }
            touched.insert(report.session);
        }
        for id in touched {
            let path: PathBuf = store.find(&id).unwrap();
            let expected = sessions.get_mut(&id).unwrap();
            if kill % 2 == 1 {
                fail_power(&path, expected, &mut random);
            }
            let session =
                store.open(&path, Access::Write).unwrap_or_else(|error| panic!("kill {kill}: {error}"));
            for notice in session.notices() {
                match notice {
                    Notice::TornTail { .. } => torn += 1,
                    Notice::TailCompleted => completed += 1,
                    other => panic!("kill {kill}: {other}"),
                }
            }
            let nodes = session.tree().nodes();
            // More than was acknowledged may be there, such as the entry of the append that was killed.
            let mut here = nodes.iter().map(|node| node.id);
            assert!(
                expected.entries.iter().all(|entry| here.any(|one| one == *entry)),
                "kill {kill}: an entry that was acknowledged is not there, or not in its order"
            );
            assert!(nodes.iter().all(|node| node.kind != Kind::Malformed && node.kind != Kind::Unknown));
        }
    }
    // At the end all of it is read, blobs included.
    for id in sessions.keys() {
        let session = store.open(&store.find(id).unwrap(), Access::Read).unwrap();
        let all = session.entries(session.tree().nodes().iter().map(|node| node.id)).unwrap();
        assert_eq!(all.notices, []);
    }
    println!("{KILLS} kills, {torn} torn tails, {completed} completed, {} sessions", sessions.len());
}
