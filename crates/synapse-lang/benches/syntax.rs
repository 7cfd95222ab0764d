//! What a tree costs: a large API is read into a tree, beside a bare pass of `quick-xml` over the same bytes.
//!
//! The pass of the peer looks at every event and keeps nothing; it neither builds a tree nor resolves namespaces nor
//! looks at attributes. With `-- garbage KIND`, a hundred megabytes of garbage are read once instead. A second peer, `roxmltree`, builds a tree of well-formed text. All take turns in the same run.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark is a program")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use quick_xml::events::Event;
use synapse_lang::syntax::Document;

const ROUNDS: usize = 60;
const LINES: usize = 17_500;
/// The most that a tree may cost, in bare passes.
const BAR: f64 = 3.0;

fn main() {
    if let Some(kind) = std::env::args().skip_while(|argument| argument != "garbage").nth(1) {
        return garbage(&kind);
    }
    let source = api();
    println!("an API of {} lines and {} bytes, {ROUNDS} rounds", source.lines().count(), source.len());
    let (mut ours, mut bare, mut tree) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(|| Document::parse(source.as_str()).elements().count()));
        bare.push(timed(|| pass(&source)));
        tree.push(timed(|| roxmltree::Document::parse(&source).unwrap().descendants().count()));
    }
    let (ours, bare, tree) = (best(&ours), best(&bare), best(&tree));
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("syntax tree        {ours:>10.2?}");
    println!("quick-xml, events  {bare:>10.2?}   ratio {ratio:.2} (at most {BAR})");
    println!("roxmltree, tree    {tree:>10.2?}   ratio {:.2}", ours.as_secs_f64() / tree.as_secs_f64());
}

/// Reads a hundred megabytes that are no document, and prints what that takes.
fn garbage(kind: &str) {
    const SIZE: usize = 100 << 20;
    let repeated = |piece: &str| piece.repeat(SIZE / piece.len());
    let source = match kind {
        "noise" => {
            // A small generator of its own: the same bytes in every run.
            let mut state = 0x2545_f491_4f6c_dd1d_u64;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from((state >> 32) as u8 & 0x7f)
            };
            std::iter::repeat_with(&mut next).take(SIZE).collect()
        }
        "ends" => "<a>".repeat(1_000_000) + &"</b>".repeat((SIZE - 3_000_000) / 4),
        "prefixes" => "<a xmlns:p='u' p:x='1' y:z=''>".repeat(SIZE / 30),
        other => repeated(other),
    };
    let source: std::sync::Arc<str> = source.into();
    let before = memory();
    let start = Instant::now();
    let document = Document::parse(std::sync::Arc::clone(&source));
    let took = start.elapsed();
    println!(
        "{kind:?}: {took:.2?}, {} MB more at the peak, {} elements, {} problems",
        memory().saturating_sub(before) / 1024,
        document.elements().count(),
        document.problems().len()
    );
    let start = Instant::now();
    drop(document);
    println!("dropped in {:.2?}", start.elapsed());
}

/// The most memory that this process ever had, in kilobytes; zero where the system does not say.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

fn pass(source: &str) -> usize {
    let mut reader = quick_xml::Reader::from_str(source);
    let mut events = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return events,
            event => {
                black_box(&event);
                events += 1;
            }
        }
    }
}

fn timed(work: impl FnOnce() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// The best round: what else runs on the machine only ever adds.
fn best(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

/// An API as people write them, only longer.
fn api() -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<api context=\"/orders\" name=\"Orders\" xmlns=\"http://ws.apache.org/ns/synapse\">\n",
    );
    // Each resource has thirty-one lines.
    for number in 0..LINES / 31 {
        let _ = write!(
            out,
            r#"    <resource methods="GET POST" uri-template="/orders/{{id}}/{number}">
        <inSequence>
            <log category="INFO" level="custom">
                <property name="id" expression="${{params.pathParams.id}}"/>
                <property name="step" value="{number}"/>
            </log>
            <variable name="total" type="DOUBLE" expression="${{payload.total * 1.2}}"/>
            <!-- Large orders go another way. -->
            <filter xpath="${{vars.total &gt; 100 &amp;&amp; payload.open}}">
                <then>
                    <payloadFactory media-type="json">
                        <format><![CDATA[{{"id": $1, "total": $2}}]]></format>
                        <args>
                            <arg expression="${{payload.id}}"/>
                            <arg expression="${{vars.total}}"/>
                        </args>
                    </payloadFactory>
                    <call>
                        <endpoint key="OrdersEndpoint"/>
                    </call>
                </then>
                <else>
                    <sequence key="SmallOrders"/>
                </else>
            </filter>
            <respond/>
        </inSequence>
        <faultSequence>
            <sequence key="Fault"/>
        </faultSequence>
    </resource>
"#
        );
    }
    out.push_str("</api>\n");
    out
}
