//! What the program costs before and between answers: start, the time between turns, and memory.
//!
//! The real binary against a model on loopback that notes when bytes come and go. The floors, measured in the same
//! run, are what no such program can go below: starting a process at all, starting one that makes a single request
//! with the same HTTP client, that process's memory; and between turns, asking again at once with a body of the same
//! size, and writing the same bytes and waiting for the disk once. A slow machine or a busy disk shows in those.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measuring program: it starts processes, prints, and stops at the first surprise"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Starts for each figure.
const STARTS: usize = 21;
/// Tool turns of the long run.
const TURNS: usize = 50;
/// The bars.
const START: Duration = Duration::from_millis(20);
const BETWEEN: Duration = Duration::from_millis(1);
const MEMORY_KB: u64 = 30 * 1024;
const MORE: Duration = Duration::from_millis(5);
/// What a user may have gathered.
const SKILLS: usize = 100;
const SERVERS: usize = 20;
/// Says to this program that it is the floor's process, and what to ask.
const FLOOR: &str = "MICA_BENCH_FLOOR";
/// Says to the floor's process how many times to ask after the first one.
const FLOOR_TURNS: &str = "MICA_BENCH_FLOOR_TURNS";
/// Bytes of a first request, and what a turn adds: as mica sends them here.
const FIRST_BODY: usize = 9_000;
const TURN_BODY: usize = 2_200;
/// Bytes that a turn writes to a session: an answer, a result, and the mark of the next turn.
const TURN_ENTRIES: [usize; 3] = [520, 2_290, 150];

fn main() {
    if let Some(url) = std::env::var_os(FLOOR) {
        return bare(url.to_str().unwrap());
    }
    let mut is_met = true;
    let mut bar = |what: &str, figure: String, bar: String, met: bool| {
        println!("  {what:<44} {figure:>9}  bar {bar:>6}: {}", if met { "met" } else { "NOT MET" });
        is_met &= met;
    };

    println!("start to first request, median of {STARTS}");
    let nothing =
        middle((0..STARTS).map(|_| timed(|| assert!(Command::new("true").status().unwrap().success()))));
    println!("  {:<44} {:>9}", "floor: a process that does nothing, to its end", ms(nothing));
    let floor = middle((0..STARTS).map(|_| start(&Stage::new(0), &mut floor_command)));
    println!("  {:<44} {:>9}", "floor: a process with the HTTP client alone", ms(floor));
    for (what, more) in [("mica -p hi --no-session", &["--no-session"][..]), ("mica -p hi", &[])] {
        let took = middle((0..STARTS).map(|_| start(&Stage::new(0), &mut |stage| stage.mica(more))));
        bar(what, ms(took), ms(START), took < START);
    }

    println!(
        "the same with {SKILLS} skills and {SERVERS} MCP servers configured, in turns with a start without"
    );
    let mut pairs: Vec<[(Duration, usize); 2]> = Vec::new();
    for _ in 0..STARTS {
        let plain = sized(&Stage::new(0));
        pairs.push([plain, sized(&Stage::new(0).equipped())]);
    }
    let [without, with] = [0, 1].map(|which| middle(pairs.iter().map(|pair| pair[which].0)));
    println!("  {:<44} {:>9}", "without", ms(without));
    println!("  {:<44} {:>9}", "with", ms(with));
    let more = with.saturating_sub(without);
    bar("what they add", ms(more), ms(MORE), more < MORE);
    let [before, after] = pairs[0].map(|(_, bytes)| bytes);
    println!(
        "  {:<44} {before} bytes, then {after}: {} for each skill",
        "the first request",
        (after - before) / SKILLS
    );

    println!("end of an answer to the next request, {TURNS} tool turns");
    let floor_memory = long(&Stage::new(0), &mut floor_command).1;
    let (asking, _) = long(&Stage::new(TURNS), &mut floor_command);
    let mut memory = Vec::new();
    // Before and after what is measured: a disk that others use is not the same from one second to the next.
    let mut waiting = disk();
    for (what, more) in [("not kept", &["--no-session"][..]), ("in a session", &[])] {
        let (between, peak) = long(&Stage::new(TURNS), &mut |stage| stage.mica(more));
        assert_eq!(between.len(), TURNS, "{what}");
        let (p50, p95) = percentiles(between);
        bar(&format!("{what}, p50 (p95 {})", ms(p95)), ms(p50), ms(BETWEEN), p50 < BETWEEN);
        memory.push((what, peak));
    }
    waiting.extend(disk());
    for (what, times) in [("the HTTP client alone", asking), ("the disk alone", waiting)] {
        let (p50, p95) = percentiles(times);
        println!("  {:<44} {:>9}", format!("floor: {what}, p50 (p95 {})", ms(p95)), ms(p50));
    }

    println!("most resident memory until the last request, {TURNS} tool turns");
    println!("  {:<44} {:>9}", "floor: a process with the HTTP client alone", mb(floor_memory));
    for (what, peak) in memory {
        bar(what, mb(peak), mb(MEMORY_KB), peak < MEMORY_KB);
    }
    if !is_met {
        std::process::exit(1);
    }
}

/// The floor's process: the HTTP client, and requests one after the other.
fn bare(url: &str) {
    let turns: usize = std::env::var(FLOOR_TURNS).unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut body = if turns == 0 { "{}".to_owned() } else { "x".repeat(FIRST_BODY) };
        for _ in 0..=turns {
            let request = client.post(format!("{url}/chat/completions")).body(body.clone());
            request.send().await.unwrap().bytes().await.unwrap();
            body.push_str(&"x".repeat(TURN_BODY));
        }
    });
}

fn floor_command(stage: &Stage) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env_clear().env(FLOOR, stage.url()).env(FLOOR_TURNS, stage.turns.to_string());
    command
}

/// A project, a home, and a model that asks for so many files before it is done.
struct Stage {
    folder: tempfile::TempDir,
    turns: usize,
    address: String,
    noted: Arc<Mutex<Noted>>,
}

/// When bytes came and went.
#[derive(Default)]
struct Noted {
    came: Vec<Instant>,
    answered: Vec<Instant>,
    /// Bytes of the first request.
    first: usize,
    /// Peak memory of the process, at its last request.
    peak: u64,
    process: Option<u32>,
}

impl Stage {
    fn new(turns: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        for number in 0..turns {
            let words = format!("{number}: a line of words as files have them\n").repeat(50);
            std::fs::write(project.join(format!("f{number}.txt")), words).unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let noted = Arc::new(Mutex::new(Noted::default()));
        let shared = Arc::clone(&noted);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream.unwrap(), turns, &shared));
            }
        });
        Self { folder, turns, address, noted }
    }

    /// With what a user may have gathered: skills, and servers that would be started when they are needed.
    fn equipped(self) -> Self {
        let config = self.folder.path().join("home/config");
        for number in 0..SKILLS {
            let folder = config.join(format!("skills/skill-{number:03}"));
            std::fs::create_dir_all(folder.join("references")).unwrap();
            let about = "Does something particular with files of a particular kind. Use when the user speaks of them.";
            let head = format!("---\nname: skill-{number:03}\ndescription: \"{about}\"\nlicense: MIT\n---\n");
            std::fs::write(
                folder.join("SKILL.md"),
                head + &"A line of instructions, as skills have them.\n".repeat(200),
            )
            .unwrap();
            std::fs::write(folder.join("references/more.md"), "More of it.\n".repeat(500)).unwrap();
        }
        let servers: serde_json::Map<String, Value> =
            (0..SERVERS).map(|number| (format!("s{number}"), json!({ "command": "false" }))).collect();
        std::fs::write(config.join("mcp.json"), json!({ "mcpServers": servers }).to_string()).unwrap();
        self
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    fn mica(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", self.folder.path().join("home"))
            .current_dir(self.folder.path().join("project"))
            .args(["-p", "hi", "--model", "scripted", "--dialect", "chat", "--base-url", &self.url()])
            .args(["--max-turns", "100"])
            .args(more);
        command
    }

    fn run(&self, command: &mut Command) -> Instant {
        let began = Instant::now();
        let mut noted = self.noted.lock().unwrap();
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        noted.process = Some(child.id());
        drop(noted);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
        began
    }
}

/// From the start of the process to its first request.
fn start(stage: &Stage, command: &mut dyn FnMut(&Stage) -> Command) -> Duration {
    let began = stage.run(&mut command(stage));
    stage.noted.lock().unwrap().came[0] - began
}

/// From the start of mica to its first request, and how long that is.
fn sized(stage: &Stage) -> (Duration, usize) {
    let took = start(stage, &mut |stage| stage.mica(&["--no-session"]));
    (took, stage.noted.lock().unwrap().first)
}

/// From each answer to the next request, and the most memory in KiB.
fn long(stage: &Stage, command: &mut dyn FnMut(&Stage) -> Command) -> (Vec<Duration>, u64) {
    stage.run(&mut command(stage));
    let noted = stage.noted.lock().unwrap();
    let between = noted.came[1..].iter().zip(&noted.answered).map(|(came, answered)| *came - *answered);
    (between.collect(), noted.peak)
}

fn serve(stream: TcpStream, turns: usize, noted: &Mutex<Noted>) {
    stream.set_nodelay(true).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        // The first byte of a request, before it is read.
        if reader.fill_buf().map_or(0, <[u8]>::len) == 0 {
            return;
        }
        let came = Instant::now();
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let mut noted = noted.lock().unwrap();
        let number = noted.came.len();
        noted.came.push(came);
        if number == 0 {
            noted.first = length;
        }
        if number == turns {
            noted.peak = peak(noted.process.unwrap());
        }
        let answer = answer(number, turns);
        noted.answered.push(Instant::now());
        drop(noted);
        writer.write_all(&answer).unwrap();
    }
}

fn answer(number: usize, turns: usize) -> Vec<u8> {
    let (delta, finish) = if number < turns {
        let arguments = json!({ "path": format!("f{number}.txt") }).to_string();
        let function = json!({ "name": "file_read", "arguments": arguments });
        let call =
            json!({ "index": 0, "id": format!("call_{number}"), "type": "function", "function": function });
        (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
    } else {
        (json!({ "role": "assistant", "content": "Done." }), "stop")
    };
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk =
            json!({ "id": "c", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let usage = json!({ "id": "c", "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 5 } });
    let body = [
        chunk(delta, Value::Null),
        chunk(json!({}), json!(finish)),
        format!("data: {usage}\n\n"),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).into_bytes()
}

/// The most memory a process had so far, in KiB.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// What the turns of a session write, appended to a file, and the wait until it is on the disk.
fn disk() -> Vec<Duration> {
    let folder = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut turn = || {
        for entry in TURN_ENTRIES {
            file.write_all(&vec![b'x'; entry]).unwrap();
        }
        file.sync_data().unwrap();
    };
    (0..TURNS).map(|_| timed(&mut turn)).collect()
}

/// The median, and what 19 of 20 are below.
fn percentiles(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn middle(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn mb(kib: u64) -> String {
    format!("{:.1} MB", kib as f64 / 1024.0)
}
