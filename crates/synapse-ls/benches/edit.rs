//! What an edit costs: one character changes in a large API, and the client asks for its findings, through pipes and
//! threads as in an editor. Beside it, what the parts of that work cost alone, in the same run.
//!
//! With `-- memory`, a project of two thousand artifacts is read instead, each of which runs the next, and the memory of
//! the process is printed. The last runs the first; with `-- memory chain` it runs none.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark is a program"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use synapse_lang::check::{self, Findings, Interest, Setting, Subject, value, walk::Tree};
use synapse_lang::model::{Model, Version};
use synapse_lang::project::Project;
use synapse_lang::syntax::Document;
use synapse_ls::{Options, serve};

const ROUNDS: usize = 60;
const LINES: usize = 17_500;
const ARTIFACTS: usize = 2_000;
/// The most that an edit may take, in milliseconds.
const MOST_MILLISECONDS: f64 = 10.0;
/// The most memory that a project may take, in megabytes.
const MOST_MEGABYTES: f64 = 60.0;

fn main() {
    if std::env::args().any(|argument| argument == "memory") {
        memory(std::env::args().any(|argument| argument == "chain"));
    } else {
        edits();
    }
}

fn edits() {
    let source = api();
    println!("an API of {} lines and {} bytes, {ROUNDS} rounds", source.lines().count(), source.len());
    let mut client = Client::start(&Value::Null);
    let uri = "file:///bench/api.xml";
    client.open(uri, &source);
    let ask = json!({ "textDocument": { "uri": uri } });
    let findings = client.request("textDocument/diagnostic", &ask);
    let mut codes = BTreeMap::new();
    for one in findings["items"].as_array().unwrap() {
        *codes.entry(one["code"].to_string()).or_insert(0) += 1;
    }
    println!("findings           {codes:?}");
    let line = LINES / 2;
    let mut through = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        let place = json!({ "line": line, "character": 0 });
        let next = json!({ "line": line, "character": 1 });
        let text = if round % 2 == 0 { " " } else { "" };
        let end = if round % 2 == 0 { &place } else { &next };
        let change = json!([{ "range": { "start": place, "end": end }, "text": text }]);
        let document = json!({ "uri": uri, "version": round + 2 });
        client
            .notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": change }));
        black_box(client.request("textDocument/diagnostic", &ask));
        through.push(start.elapsed());
    }
    let document = Document::parse(source.as_str());
    let model = Model::get();
    let mut project = Project::default();
    let parts: [(&str, Duration); 5] = [
        ("  read the tree", best(|| Document::parse(source.as_str()).elements().count())),
        ("  place elements", best(|| Tree::of(&document, model).placed().len())),
        ("  read values", best(|| value::of(&Tree::of(&document, model), model).len())),
        ("  take into project", best(|| project.set("a.xml", source.as_str()))),
        ("  check", best(|| check::check(&document, Setting::default()).len())),
    ];
    through.sort_unstable();
    let (fastest, middle) = (through[0], through[ROUNDS / 2]);
    let ratio = middle.as_secs_f64() * 1000.0 / MOST_MILLISECONDS;
    println!(
        "edit to findings   {middle:>10.2?}   fastest {fastest:.2?}, {ratio:.2} of {MOST_MILLISECONDS} ms"
    );
    for (name, time) in parts {
        println!("{name:<19}{time:>10.2?}");
    }
    by_rule(&document);
}

/// The rules that cost most, each alone, by the codes that they report.
fn by_rule(document: &Document) {
    let model = Model::get();
    let tree = Tree::of(document, model);
    let values = value::of(&tree, model);
    let (runtime, elements) = (Version::NEWEST, tree.placed().len());
    let subject = Subject { document, path: None, runtime, project: None, model, tree, values };
    let mut costs: Vec<(Duration, &'static [u16])> = check::rules::all()
        .map(|rule| {
            let cost = best(|| {
                let mut findings = Findings::default();
                let shown = |local: &str| match rule.interest() {
                    Interest::None => false,
                    Interest::Every => true,
                    Interest::Named(names) => names.contains(&local),
                };
                for placed in subject.tree.placed().iter().filter(|placed| shown(placed.element.local())) {
                    rule.element(&subject, placed, &mut findings);
                }
                for value in &subject.values {
                    rule.value(&subject, value, &mut findings);
                }
                rule.document(&subject, &mut findings);
                findings.len()
            });
            (cost, rule.codes())
        })
        .collect();
    costs.sort_unstable();
    println!(
        "{} rules over {elements} elements and {} values; the most expensive alone:",
        costs.len(),
        subject.values.len()
    );
    for (cost, codes) in costs.iter().rev().take(8) {
        println!("  {cost:>10.2?}  {codes:?}");
    }
}

fn memory(is_chain: bool) {
    let folder = tempfile::tempdir().unwrap();
    let artifacts = folder.path().join("src/main/wso2mi/artifacts/sequences");
    std::fs::create_dir_all(&artifacts).unwrap();
    let mut bytes = 0;
    for number in 0..ARTIFACTS {
        let text = sequence(number, is_chain && number + 1 == ARTIFACTS);
        bytes += text.len();
        std::fs::write(artifacts.join(format!("Sequence{number}.xml")), text).unwrap();
    }
    let before = resident();
    let start = Instant::now();
    let uri = format!("file://{}", folder.path().display());
    let mut client = Client::start(&json!([{ "uri": uri, "name": "bench" }]));
    while client.request("workspace/symbol", &json!({ "query": "Sequence0" }))[0].is_null() {}
    let loaded = start.elapsed();
    let held = resident();
    let start = Instant::now();
    let answer = client.request("workspace/diagnostic", &json!({ "previousResultIds": [] }));
    let checked = start.elapsed();
    let found = answer["items"].as_array().unwrap().len();
    println!(
        "{ARTIFACTS} artifacts of {bytes} bytes, read in {loaded:.2?}, all checked in {checked:.2?}, {found} with findings"
    );
    println!("memory before      {before:>8.1} MB");
    println!("project held       {held:>8.1} MB   {:.2} of {MOST_MEGABYTES} MB", held / MOST_MEGABYTES);
    println!("after the check    {:>8.1} MB", resident());
}

/// The resident memory of this process in megabytes; zero where that cannot be told.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: f64 =
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0.0);
    kilobytes / 1024.0
}

fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let once = |work: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    (0..ROUNDS / 2).map(|_| once(&mut work)).min().unwrap_or_default()
}

/// An API with everything that flows usually have.
fn api() -> String {
    let mut text =
        String::from("<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Big\" context=\"/big\">\n");
    let per_resource = steps(0).lines().count() + 8;
    for number in 1..=LINES / per_resource {
        let _ = writeln!(
            text,
            "    <resource methods=\"POST\" uri-template=\"/orders/{number}/{{id}}\">\n        <inSequence>"
        );
        text.push_str(&steps(number));
        text.push_str("            <respond/>\n        </inSequence>\n        <faultSequence>\n            <respond/>\n        </faultSequence>\n    </resource>\n");
    }
    text.push_str("</api>\n");
    text
}

fn steps(number: usize) -> String {
    format!(
        r#"            <variable name="total{number}" type="DOUBLE" expression="${{payload.order.total * 1.2}}"/>
            <log category="INFO">
                <message>Order ${{payload.order.id}} of ${{headers.Host}}: ${{vars.total{number}}}</message>
            </log>
            <filter xpath="${{(vars.total{number} > 100) and exists(payload.order.customer)}}">
                <then>
                    <property name="HTTP_SC" value="202" scope="axis2"/>
                    <call>
                        <endpoint>
                            <http method="post" uri-template="http://localhost:9000/orders/{{uri.var.id}}"/>
                        </endpoint>
                    </call>
                </then>
                <else>
                    <payloadFactory media-type="json" template-type="default">
                        <format>{{"id": ${{payload.order.id}}, "name": "${{toUpper(payload.order.name)}}"}}</format>
                        <args/>
                    </payloadFactory>
                </else>
            </filter>
            <switch source="${{payload.order.kind}}">
                <case regex="new">
                    <log category="DEBUG">
                        <message>a new order</message>
                    </log>
                </case>
                <default/>
            </switch>
            <property name="step{number}" expression="${{vars.total{number} + 1}}"/>
"#
    )
}

fn sequence(number: usize, is_last: bool) -> String {
    let next = format!("    <sequence key=\"Sequence{}\"/>\n", (number + 1) % ARTIFACTS);
    format!(
        "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Sequence{number}\">\n{}{}</sequence>\n",
        steps(number),
        if is_last { "" } else { &next },
    )
}

struct Client {
    to_server: PipeWriter,
    from_server: BufReader<PipeReader>,
    next: i64,
}

impl Client {
    fn start(folders: &Value) -> Self {
        let (server_input, to_server) = std::io::pipe().unwrap();
        let (client_input, server_output) = std::io::pipe().unwrap();
        std::thread::spawn(move || serve(BufReader::new(server_input), server_output, Options::default()));
        let mut client = Self { to_server, from_server: BufReader::new(client_input), next: 0 };
        let abilities = json!({ "textDocument": { "diagnostic": {} } });
        client.request("initialize", &json!({ "capabilities": abilities, "workspaceFolders": folders }));
        client.notify("initialized", &json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.to_server, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "xml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        loop {
            let mut message = self.read();
            if message["id"] == self.next {
                return message["result"].take();
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.from_server.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            length = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        }
        let mut body = vec![0; length];
        self.from_server.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }
}
