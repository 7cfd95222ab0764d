//! What a full check costs: a large API, beside a bare pass of `quick-xml` over the same bytes; and a project.
//!
//! The pass of the peer looks at every event and keeps nothing. It takes turns with the check in the same run, so the
//! ratio does not depend on the machine. The project is read, indexed and checked on two threads. A figure beyond its
//! bar ends the program with 1.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark is a program")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use quick_xml::events::Event;
use synapse_lang::check::{self, Setting, walk};
use synapse_lang::diagnostic::{Diagnostic, Severity};
use synapse_lang::model::Model;
use synapse_lang::project::Project;
use synapse_lang::syntax::Document;

const ROUNDS: usize = 30;
const LINES: usize = 17_500;
const ARTIFACTS: usize = 2_000;
/// The most that reading and checking the API may take.
const API_BAR: Duration = Duration::from_millis(50);
/// The most that it may cost, in bare passes.
const RATIO_BAR: f64 = 25.0;
/// The most that the project may take.
const PROJECT_BAR: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    // The model is read at first use; a program pays for that once.
    let start = Instant::now();
    let elements = Model::get().elements().count();
    println!("the model, read once  {:>10.2?}   {elements} elements", start.elapsed());
    let one = api();
    let many = project();
    if one & many { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn api() -> bool {
    let source = large_api();
    println!("an API of {} lines and {} bytes, {ROUNDS} rounds", source.lines().count(), source.len());
    let mut found = checked(&source);
    found.retain(|one| one.severity > Severity::Hint);
    let noise: Vec<_> = found.iter().take(5).map(|one| format!("{} {}", one.code, one.message)).collect();
    assert!(found.is_empty(), "the API is meant to be clean, and has {} findings: {noise:#?}", found.len());
    let (mut whole, mut bare, mut tree, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let document = Document::parse(source.as_str());
    for _ in 0..ROUNDS {
        whole.push(timed(|| checked(&source).len()));
        bare.push(timed(|| pass(&source)));
        tree.push(timed(|| Document::parse(source.as_str()).elements().count()));
        places.push(timed(|| walk::Tree::of(&document, Model::get()).placed().len()));
    }
    let (whole, bare, tree, places) = (best(&whole), best(&bare), best(&tree), best(&places));
    let ratio = whole.as_secs_f64() / bare.as_secs_f64();
    println!("quick-xml, events     {bare:>10.2?}");
    println!("syntax tree           {tree:>10.2?}   ratio {:.2}", tree.as_secs_f64() / bare.as_secs_f64());
    println!("places in the model   {places:>10.2?}");
    println!("read and checked      {whole:>10.2?}   ratio {ratio:.2} (at most {RATIO_BAR}, {API_BAR:?})");
    whole <= API_BAR && ratio <= RATIO_BAR
}

fn project() -> bool {
    let files: Vec<(String, String)> = (0..ARTIFACTS).map(artifact).collect();
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    println!("a project of {ARTIFACTS} artifacts and {bytes} bytes, on two threads");
    let mut times = Vec::new();
    let mut findings = 0;
    for _ in 0..3 {
        let start = Instant::now();
        let mut project = Project::default();
        for (path, text) in &files {
            project.set(path.as_str(), text.as_str());
        }
        let (first, second) = files.split_at(files.len() / 2);
        let project = &project;
        let check = |part: &[(String, String)]| -> usize {
            part.iter().map(|(path, _)| project.check_file(path).len()).sum()
        };
        findings = std::thread::scope(|scope| {
            let other = scope.spawn(|| check(second));
            check(first) + other.join().unwrap()
        });
        times.push(start.elapsed());
    }
    let took = best(&times);
    println!("read, indexed, checked{took:>10.2?}   (at most {PROJECT_BAR:?}), {findings} findings");
    took <= PROJECT_BAR
}

fn checked(source: &str) -> Vec<Diagnostic> {
    check::check(&Document::parse(source), Setting::default())
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

/// The steps of one resource: forty-five lines as people write them.
fn steps(out: &mut String, number: usize) {
    let _ = write!(
        out,
        r#"            <log category="INFO" level="custom">
                <property name="id" expression="${{params.pathParams.id}}"/>
                <property name="step" value="{number}"/>
            </log>
            <variable name="total{number}" type="STRING" expression="${{payload.order.total}}"/>
            <property name="uri.var.id" expression="${{params.pathParams.id}}"/>
            <property name="HTTP_METHOD" value="POST" scope="axis2"/>
            <header name="Accept" value="application/json" scope="transport"/>
            <!-- Large orders go another way. -->
            <filter xpath="${{payload.order.open == 'true'}}">
                <then>
                    <payloadFactory media-type="json">
                        <format>{{"id": "${{payload.id}}", "customer": {{"name": "${{payload.customer.name}}", "kind": "$1"}}}}</format>
                        <args>
                            <arg expression="$.kind" evaluator="json"/>
                        </args>
                    </payloadFactory>
                    <http.post configKey="Orders{number}">
                        <relativePath>/orders/{number}</relativePath>
                        <requestBodyType>JSON</requestBodyType>
                        <requestBodyJson>{{${{payload}}}}</requestBodyJson>
                        <responseVariable>answer{number}</responseVariable>
                        <overwriteBody>true</overwriteBody>
                    </http.post>
                    <call>
                        <endpoint key="OrdersEndpoint"/>
                    </call>
                </then>
                <else>
                    <switch source="${{payload.kind}}">
                        <case regex="gold">
                            <sequence key="Gold"/>
                        </case>
                        <case regex="silver">
                            <call-template target="Silver">
                                <with-param name="customer" value="{{${{payload.customer.name}}}}"/>
                            </call-template>
                        </case>
                        <default>
                            <log category="WARN">
                                <message>Unknown kind ${{payload.kind}} of order ${{payload.id}}</message>
                            </log>
                        </default>
                    </switch>
                </else>
            </filter>
"#
    );
}

/// An API as people write them, only longer.
fn large_api() -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<api context=\"/orders\" name=\"Orders\" xmlns=\"http://ws.apache.org/ns/synapse\">\n",
    );
    // Each resource has fifty-four lines.
    for number in 0..LINES.div_ceil(54) {
        let _ = write!(
            out,
            "    <resource methods=\"GET POST\" uri-template=\"/orders/{{id}}/{number}\">\n        <inSequence>\n"
        );
        steps(&mut out, number);
        out.push_str("            <respond/>\n        </inSequence>\n        <faultSequence>\n");
        out.push_str("            <sequence key=\"Fault\"/>\n        </faultSequence>\n    </resource>\n");
    }
    out.push_str("</api>\n");
    out
}

/// A file of a project: sequences, and an endpoint, a template or an API now and then.
fn artifact(number: usize) -> (String, String) {
    const HEAD: &str = "xmlns=\"http://ws.apache.org/ns/synapse\"";
    let folder = "src/main/wso2mi/artifacts";
    match number % 10 {
        0 => (
            format!("{folder}/endpoints/Endpoint{number}.xml"),
            format!(
                "<endpoint {HEAD} name=\"Endpoint{number}\">\n    <http method=\"get\" uri-template=\"https://orders.example/{{uri.var.id}}\">\n        <timeout>\n            <duration>30000</duration>\n            <responseAction>fault</responseAction>\n        </timeout>\n    </http>\n</endpoint>\n"
            ),
        ),
        1 => (
            format!("{folder}/templates/Template{number}.xml"),
            format!(
                "<template {HEAD} name=\"Template{number}\">\n    <parameter name=\"who\" isMandatory=\"true\"/>\n    <sequence>\n        <log>\n            <message>${{params.functionParams.who}}</message>\n        </log>\n    </sequence>\n</template>\n"
            ),
        ),
        2 => {
            let mut text = format!(
                "<api {HEAD} name=\"Api{number}\" context=\"/api{number}\">\n    <resource methods=\"GET\" uri-template=\"/{{id}}\">\n        <inSequence>\n"
            );
            steps(&mut text, number);
            text.push_str("            <respond/>\n        </inSequence>\n    </resource>\n</api>\n");
            (format!("{folder}/apis/Api{number}.xml"), text)
        }
        _ => {
            let mut text = format!("<sequence {HEAD} name=\"Sequence{number}\">\n");
            steps(&mut text, number);
            text.push_str("</sequence>\n");
            (format!("{folder}/sequences/Sequence{number}.xml"), text)
        }
    }
}
