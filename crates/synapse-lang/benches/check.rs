//! What a check costs: a large API is checked in full, beside a bare pass of `quick-xml` over the same bytes; and a
//! project of two thousand artifacts is read from disk and checked, file after file on one core, beside bare passes over
//! the same files.
//!
//! The pass of the peer looks at every event and keeps nothing. All take turns in the same run.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::exit,
    reason = "a benchmark is a program"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use quick_xml::events::Event;
use synapse_lang::check::{Setting, check};
use synapse_lang::project::disk;
use synapse_lang::syntax::Document;

const ROUNDS: usize = 20;
const LINES: usize = 17_500;
const ARTIFACTS: usize = 2_000;
/// The most that a check may cost, in bare passes and in time.
const RATIO: f64 = 25.0;
const TIME: Duration = Duration::from_millis(50);
const PROJECT: Duration = Duration::from_secs(2);

fn main() {
    let is_met = [large(), project()];
    if is_met.contains(&false) {
        std::process::exit(1);
    }
}

/// One large file.
fn large() -> bool {
    let source = api();
    println!(
        "an API of {} lines and {} bytes, best of {ROUNDS} rounds",
        source.lines().count(),
        source.len()
    );
    let (mut checked, mut tree, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let mut findings = 0;
    for _ in 0..ROUNDS {
        bare.push(timed(|| pass(&source)));
        tree.push(timed(|| Document::parse(source.as_str()).elements().count()));
        checked.push(timed(|| {
            findings = check(&Document::parse(source.as_str()), Setting::default()).len();
            findings
        }));
    }
    let (checked, tree, bare) = (best(&checked), best(&tree), best(&bare));
    let ratio = checked.as_secs_f64() / bare.as_secs_f64();
    println!("  floor: quick-xml, events        {bare:>10.2?}");
    println!("  floor: the syntax tree          {tree:>10.2?}");
    println!(
        "  checked ({findings} findings)   {checked:>10.2?}   at most {TIME:?}: {}",
        word(checked < TIME)
    );
    println!("  in bare passes                  {ratio:>10.1}   at most {RATIO}: {}", word(ratio < RATIO));
    checked < TIME && ratio < RATIO
}

/// A project, cold: nothing of it is in memory of the process.
fn project() -> bool {
    let folder = std::env::temp_dir().join(format!("mica-bench-{}", std::process::id()));
    let bytes = write_project(&folder);
    println!("a project of {ARTIFACTS} artifacts and {bytes} bytes, best of 3");
    let (mut whole, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        bare.push(timed(|| {
            let mut paths = Vec::new();
            disk::walk(&folder, &mut paths).unwrap();
            paths.iter().map(|path| pass(&disk::text(path).unwrap())).sum()
        }));
        whole.push(timed(|| {
            let project = disk::read(&folder).unwrap();
            project.files().map(|(path, _)| project.check_file(path).len()).sum()
        }));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let (whole, bare) = (best(&whole), best(&bare));
    println!("  floor: read, quick-xml events   {bare:>10.2?}");
    println!(
        "  read and checked, one core      {whole:>10.2?}   at most {PROJECT:?}: {}   {:.1} bare passes",
        word(whole < PROJECT),
        whole.as_secs_f64() / bare.as_secs_f64()
    );
    whole < PROJECT
}

fn word(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

/// Writes APIs, sequences and endpoints that call each other; answers how many bytes they have.
fn write_project(folder: &Path) -> usize {
    let artifacts = folder.join("src/main/wso2mi/artifacts");
    let mut bytes = 0;
    let mut write = |kind: &str, name: &str, text: String| {
        let folder = artifacts.join(kind);
        std::fs::create_dir_all(&folder).unwrap();
        bytes += text.len();
        std::fs::write(folder.join(format!("{name}.xml")), text).unwrap();
    };
    let one = api_of(2);
    for number in 0..ARTIFACTS {
        match number % 4 {
            0 => {
                let named = one.replace("\"Orders\"", &format!("\"Api{number}\""));
                let named = named.replace("\"/orders\"", &format!("\"/orders{number}\""));
                write(
                    "apis",
                    &format!("Api{number}"),
                    named.replace("OrdersEndpoint", &format!("E{}", number + 1)),
                );
            }
            1 => write(
                "endpoints",
                &format!("E{number}"),
                format!(
                    "<endpoint xmlns=\"http://ws.apache.org/ns/synapse\" name=\"E{number}\">\n    <http method=\"get\" uri-template=\"http://host/{number}\"/>\n</endpoint>\n"
                ),
            ),
            _ => {
                let called = if number + 4 < ARTIFACTS { number + 4 } else { number };
                let steps = "    <log category=\"INFO\">\n        <message>At ${vars.step} of ${payload.id}</message>\n    </log>\n    <variable name=\"step\" type=\"INTEGER\" expression=\"${payload.step + 1}\"/>\n".repeat(10);
                write(
                    "sequences",
                    &format!("S{number}"),
                    format!(
                        "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"S{number}\">\n{steps}    <sequence key=\"S{called}\"/>\n</sequence>\n"
                    ),
                );
            }
        }
    }
    bytes
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
    // Each resource has thirty-one lines.
    api_of(LINES / 31)
}

fn api_of(resources: usize) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<api context=\"/orders\" name=\"Orders\" xmlns=\"http://ws.apache.org/ns/synapse\">\n",
    );
    for number in 0..resources {
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
