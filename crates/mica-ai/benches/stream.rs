//! What a long answer costs: 20,000 text deltas over loopback HTTP, on each dialect.
//!
//! The peer is the least that any client does: `reqwest` reads the same response, events are split at blank lines and
//! each is parsed with `serde_json`. Both run on one thread, take turns, and are measured by the CPU time of that
//! thread; the server has its own. Printed: the ratio, allocations for each delta, and how memory grows.

#![allow(
    unsafe_code,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measuring program: it counts allocations, prints, and stops at the first surprise"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use mica_ai::auth::NoCredential;
use mica_ai::endpoint::Settings;
use mica_ai::http::HttpTransport;
use mica_ai::{Dialect, Message, Model, Provider, Remote, Request, StreamEvent, User};
use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

const DELTAS: usize = 20_000;
const ROUNDS: usize = 15;
/// The bar: no more than this much CPU time for each unit of the peer's.
const BAR: f64 = 1.5;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!(
        "{DELTAS} text deltas over loopback, CPU time of the client's thread, median of {ROUNDS} rounds"
    );
    println!(
        "{:<10} {:>9} {:>9} {:>7}   {:>13} {:>13}   {:>20}",
        "dialect", "mica ms", "peer ms", "ratio", "mica allocs/Δ", "peer allocs/Δ", "mica peak − answer KB"
    );
    let mut worst: f64 = 0.0;
    for dialect in Dialect::ALL {
        worst = worst.max(runtime.block_on(measure(dialect)));
    }
    println!("worst ratio {worst:.2}, bar {BAR}: {}", if worst <= BAR { "met" } else { "NOT MET" });
    if worst > BAR {
        std::process::exit(1);
    }
}

async fn measure(dialect: Dialect) -> f64 {
    let server = Server::start(dialect);
    let url = server.url(DELTAS);
    // First: it sets up TLS for both.
    let mica = mica(dialect, &url);
    let peer = Peer::new();
    // Once each before counting: connections, lazy statics, the allocator's own warm-up.
    peer.drain(&url).await;
    answer(&mica, dialect).await;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Who goes first alternates, so that neither always finds the caches warm.
        if round % 2 == 0 {
            ours.push(cost(answer(&mica, dialect)).await);
            theirs.push(cost(peer.drain(&url)).await);
        } else {
            theirs.push(cost(peer.drain(&url)).await);
            ours.push(cost(answer(&mica, dialect)).await);
        }
    }
    let (our, their) = (median(&mut ours), median(&mut theirs));
    let ratio = our.cpu.as_secs_f64() / their.cpu.as_secs_f64();
    // Flat memory: what is held beyond the answer itself does not depend on its length.
    let mut overheads = Vec::new();
    for deltas in [DELTAS / 4, DELTAS, DELTAS * 4] {
        let mica = self::mica(dialect, &server.url(deltas));
        answer(&mica, dialect).await;
        let (peak, length) = peak(answer(&mica, dialect)).await;
        overheads.push(format!("{}", peak.saturating_sub(length) / 1024));
    }
    println!(
        "{:<10} {:>9.2} {:>9.2} {:>7.2}   {:>13.2} {:>13.2}   {:>20}",
        dialect.name(),
        our.cpu.as_secs_f64() * 1e3,
        their.cpu.as_secs_f64() * 1e3,
        ratio,
        our.allocations as f64 / DELTAS as f64,
        their.allocations as f64 / DELTAS as f64,
        overheads.join(" / "),
    );
    ratio
}

/// Reads an answer the way an agent does: every event looked at, the message kept. Answers the message's length.
async fn answer(provider: &Remote, dialect: Dialect) -> usize {
    let mut request = Request::new(Arc::new(Model::assumed("bench", dialect)));
    request.messages = vec![Message::User(User::text("go on"))];
    let mut stream = provider.stream(Arc::new(request), CancellationToken::new());
    let mut deltas = 0;
    while let Some(event) = stream.next().await {
        match event {
            StreamEvent::TextDelta { text, .. } => {
                deltas += 1;
                black_box(text);
            }
            StreamEvent::Done { message } => {
                assert!(deltas >= DELTAS / 4, "{deltas} deltas came through");
                return message.text().len();
            }
            StreamEvent::Error { error, .. } => panic!("{error}"),
            _ => {}
        }
    }
    unreachable!("a stream ends with a terminal event")
}

fn mica(dialect: Dialect, url: &str) -> Remote {
    let transport = Arc::new(HttpTransport::new().unwrap());
    let settings =
        format!("[[endpoints]]\nkind = \"local\"\nbase_url = {url:?}\nauth = {{ kind = \"none\" }}");
    let endpoints = Settings::parse(&settings).unwrap().resolve(&|_| None).unwrap();
    let endpoint = Arc::clone(endpoints.iter().next().unwrap());
    Remote::new(endpoint, dialect, Arc::new(NoCredential), transport)
}

/// The least a client does.
struct Peer {
    client: reqwest::Client,
}

impl Peer {
    fn new() -> Self {
        Self { client: reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap() }
    }

    async fn drain(&self, url: &str) -> usize {
        let response = self.client.post(url).body("{}").send().await.unwrap();
        let mut body = response.bytes_stream();
        let mut buffer: Vec<u8> = Vec::new();
        let mut events = 0;
        while let Some(bytes) = body.next().await {
            let bytes: Bytes = bytes.unwrap();
            buffer.extend_from_slice(&bytes);
            let mut start = 0;
            while let Some(length) = find(&buffer[start..]) {
                for line in buffer[start..start + length].split(|byte| *byte == b'\n') {
                    if let Some(data) = line.strip_prefix(b"data: ")
                        && data != b"[DONE]"
                    {
                        let value: serde_json::Value = serde_json::from_slice(data).unwrap();
                        black_box(value);
                        events += 1;
                    }
                }
                start += length + 2;
            }
            buffer.drain(..start);
        }
        assert!(events >= DELTAS, "{events} events came through");
        events
    }
}

fn find(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, b"\n\n")
}

/// Serves answers of any length, each event in a chunk of its own, as fast as it is read.
struct Server {
    address: String,
}

impl Server {
    fn start(dialect: Dialect) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                std::thread::spawn(move || serve(stream, dialect));
            }
        });
        Self { address }
    }

    fn url(&self, deltas: usize) -> String {
        format!("http://{}/{deltas}", self.address)
    }
}

fn serve(stream: TcpStream, dialect: Dialect) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let mut responses: Vec<(usize, Vec<u8>)> = Vec::new();
    loop {
        let (mut deltas, mut length) = (0, 0);
        for number in 0.. {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if number == 0 {
                deltas = line.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if !responses.iter().any(|(known, _)| *known == deltas) {
            responses.push((deltas, response(dialect, deltas)));
        }
        let response = &responses.iter().find(|(known, _)| *known == deltas).unwrap().1;
        if writer.write_all(response).is_err() {
            return;
        }
    }
}

fn response(dialect: Dialect, deltas: usize) -> Vec<u8> {
    let mut out =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let mut event = |text: String| {
        out.extend_from_slice(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    };
    match dialect {
        Dialect::Responses => {
            event(named(
                "response.created",
                r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}"#,
            ));
            event(named(
                "response.output_item.added",
                r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}"#,
            ));
            for number in 0..deltas {
                event(named(
                    "response.output_text.delta",
                    &format!(
                        r#"{{"type":"response.output_text.delta","sequence_number":{number},"item_id":"msg_68f0a1","output_index":0,"content_index":0,"delta":"{}","logprobs":[],"obfuscation":"x9Kd2"}}"#,
                        word(number)
                    ),
                ));
            }
            event(named(
                "response.completed",
                r#"{"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":10,"output_tokens":20}}}"#,
            ));
        }
        Dialect::Messages => {
            event(named(
                "message_start",
                r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}"#,
            ));
            event(named(
                "content_block_start",
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            ));
            for number in 0..deltas {
                event(named(
                    "content_block_delta",
                    &format!(
                        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{}"}}}}"#,
                        word(number)
                    ),
                ));
            }
            event(named("content_block_stop", r#"{"type":"content_block_stop","index":0}"#));
            event(named(
                "message_delta",
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":20}}"#,
            ));
            event(named("message_stop", r#"{"type":"message_stop"}"#));
        }
        Dialect::Chat => {
            for number in 0..deltas {
                event(format!(
                    "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"bench\",\"system_fingerprint\":\"fp_1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n",
                    word(number)
                ));
            }
            event("data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n".into());
            event("data: {\"id\":\"chatcmpl-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":20}}\n\n".into());
            event("data: [DONE]\n\n".into());
        }
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

fn named(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// Words as answers have them: mostly short, now and then an escape.
fn word(number: usize) -> &'static str {
    ["the ", "quick ", "brown ", "fox ", "jumps\\n", "over ", "a ", "lazy ", "dog. ", "Grüße "][number % 10]
}

#[derive(Clone, Copy)]
struct Cost {
    cpu: Duration,
    allocations: u64,
}

async fn cost<T>(work: impl Future<Output = T>) -> Cost {
    let (before, counted) = (thread_time(), ALLOCATIONS.get());
    black_box(work.await);
    Cost { cpu: thread_time() - before, allocations: ALLOCATIONS.get() - counted }
}

fn median(costs: &mut [Cost]) -> Cost {
    costs.sort_by_key(|cost| cost.cpu);
    costs[costs.len() / 2]
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// The most memory held at once while some work was done, beyond what was held before.
async fn peak<T>(work: impl Future<Output = T>) -> (usize, T) {
    let before = LIVE.get();
    PEAK.set(before);
    let answer = work.await;
    (usize::try_from(PEAK.get() - before).unwrap_or(0), answer)
}

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// Counts what the measuring thread allocates.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(grown: i64) {
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + grown);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
    if grown > 0 {
        let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
