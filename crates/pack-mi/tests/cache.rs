//! What the cache gives back over a conversation about a project that changes meanwhile: ten prompts through the real loop,
//! the real pack and each wire, with files read, written, checked and repaired on disk. Figures, and a floor.
//!
//! Ideal is every token that an earlier request of the session had sent. Run with `--no-capture` to see the figures.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use mica_agent::{Agent, Ask, Context, Decision, Hooks, Outcome};
use mica_ai::auth::NoCredential;
use mica_ai::endpoint::{AuthSettings, EndpointSettings, HostKind};
use mica_ai::message::ResultStatus;
use mica_ai::model::{Effort, PriceRow, Prices};
use mica_ai::usage::Usd;
use mica_ai::{Catalogue, Content, Dialect, Message, Model, Remote, Usage};
use mica_context::section::context_block;
use mica_context::segments::CacheCheck;
use mica_context::{Journal, WindowKeeper, tokens};
use mica_domain::{DomainHooks, Facts, Instructions, Surroundings};
use mica_testkit::cache::{self, Prompt as Sent};
use mica_testkit::{CacheReport, Scenario, Script, ScriptedTransport, Turn};
use mica_tools::{Sight, Workspace};
use pack_mi::{Checker, MiPack};
use serde_json::{Value, json};
use tempfile::TempDir;

const ARTIFACTS: &str = "src/main/wso2mi/artifacts";
const API: &str = "src/main/wso2mi/artifacts/apis/OrdersAPI.xml";
const PROMPTS: usize = 10;
/// The share of the ideal that has to be read.
const FLOOR: f64 = 0.98;

/// Says yes to everything.
struct Yes;

#[async_trait]
impl Hooks for Yes {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }
}

#[derive(Default)]
struct Misses(Mutex<Vec<CacheCheck>>);

impl Journal for Misses {
    fn missed(&self, check: &CacheCheck) {
        self.0.lock().unwrap().push(check.clone());
    }
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sequence(name: &str, body: &str) -> String {
    format!("<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"{name}\">\n{body}</sequence>\n")
}

/// What a flow usually has: some lines, not the same twice.
fn steps(number: usize) -> String {
    let step = |step: usize| {
        format!(
            "    <log category=\"INFO\">\n        <message>Flow {number}, step {step}: ${{payload.order.id}}</message>\n    \
             </log>\n    <property name=\"step{number}x{step}\" value=\"{}\" scope=\"default\" type=\"STRING\"/>\n",
            number * 97 + step
        )
    };
    (0..12).map(step).collect()
}

fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    let pom = "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties></project>";
    put(folder.path(), "pom.xml", pom);
    put(folder.path(), "AGENTS.md", "Sequences are named for what they do.\n");
    for number in 0..PROMPTS {
        let name = format!("Flow{number}");
        put(folder.path(), &format!("{ARTIFACTS}/sequences/{name}.xml"), &sequence(&name, &steps(number)));
    }
    let call = |number: usize| format!("            <sequence key=\"Flow{number}\"/>\n");
    let calls: String = (0..PROMPTS).map(call).collect();
    let api = format!(
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"OrdersAPI\" context=\"/orders\">\n    <resource methods=\"GET\" \
         uri-template=\"/{{id}}\">\n        <inSequence>\n{calls}            <respond/>\n        </inSequence>\n    \
         </resource>\n</api>\n"
    );
    put(folder.path(), API, &api);
    folder
}

/// Ten prompts. Every other one writes a new sequence with a mistake and repairs it; the others use it in the API. One
/// checks the whole project, one lifts the runtime.
fn conversation() -> Scenario {
    let mut scenario = Scenario::new().named("ten prompts");
    for prompt in 0..PROMPTS {
        let flow = format!("{ARTIFACTS}/sequences/Flow{prompt}.xml");
        scenario = scenario.turn(
            Turn::new()
                .thinking(format!("What does flow {prompt} do, and who runs it?"))
                .text("I look at it.")
                .call("file_read", json!({ "path": flow }))
                .call("grep", json!({ "pattern": format!("Flow{prompt}\"") })),
        );
        let made = format!("Made{}", prompt - prompt % 2);
        let path = format!("{ARTIFACTS}/sequences/{made}.xml");
        if prompt % 2 == 0 {
            let mistake = "    <variable name=\"total\" expression=\"payload.price\"/>\n";
            let content = sequence(&made, &format!("{}{mistake}", steps(prompt + 50)));
            let write = json!({ "path": path, "content": content });
            scenario = scenario
                .turn(Turn::new().text("I write it.").call("file_write", write))
                .turn(Turn::new().text("I repair that.").call("apply_code_action", json!({ "path": path })));
        } else {
            let old = format!("<sequence key=\"Flow{prompt}\"/>");
            let new = format!("{old}\n            <sequence key=\"{made}\"/>");
            scenario = scenario
                .turn(Turn::new().call("file_read", json!({ "path": API })))
                .turn(Turn::new().call("file_edit", json!({ "path": API, "old": old, "new": new })));
        }
        if prompt == 4 {
            scenario = scenario.turn(Turn::new().text("All of it?").call("validate_code", json!({})));
        }
        if prompt == 6 {
            let lift = json!({ "path": "pom.xml", "old": "4.4.0", "new": "4.5.0" });
            scenario = scenario
                .turn(Turn::new().call("file_read", json!({ "path": "pom.xml" })))
                .turn(Turn::new().call("file_edit", lift));
        }
        let end = format!("Prompt {prompt} is done, and what it wrote is checked.");
        scenario = scenario.turn(Turn::new().text(end));
    }
    scenario
}

/// The sections that each prompt tells.
const TOLD: [&[&str]; PROMPTS] = [
    &["runtime", "project", "now"],
    &["project"],
    &["editor"],
    &["project"],
    &["editor gone"],
    &["project"],
    &[],
    &["runtime", "project"],
    &[],
    &["project"],
];

struct Session {
    agent: Agent,
    domain: Arc<DomainHooks>,
    script: Arc<Script>,
    model: Model,
    misses: Arc<Misses>,
    time: Arc<AtomicU64>,
}

fn model(name: &str, dialect: Dialect) -> Model {
    let mut model = (*Catalogue::builtin().resolve(name).unwrap().model).clone();
    model.dialect = dialect;
    model.deployment = name.to_owned();
    if model.prices.is_none() {
        // Where the catalogue has no prices yet: those of GPT-5.5, and the quarter more that writes cost.
        let base = PriceRow {
            input: Usd::from_dollars(5.0),
            output: Usd::from_dollars(30.0),
            cache_read: Some(Usd::from_dollars(0.5)),
            cache_write: Some(Usd::from_dollars(6.25)),
            cache_write_long: None,
        };
        model.prices = Some(Prices { base, tiers: Vec::new() });
    }
    model
}

/// The pack in a folder.
fn domain(folder: &Path) -> Arc<DomainHooks> {
    let workspace = Workspace::new(folder).unwrap();
    let facts = Facts {
        folder: workspace.root().to_owned(),
        system: "linux (x86_64)".to_owned(),
        under_git: false,
        date: Some("Friday, 2026-01-02".to_owned()),
    };
    let limit = mica_domain::instructions::LIMIT;
    let instructions = Instructions::read(folder, mica_domain::Trust::Trusted, limit).unwrap();
    let checker = Checker::new(workspace.root());
    let pack = MiPack::new(&workspace, Sight::Blind, facts, instructions, checker);
    Arc::new(DomainHooks::new(Arc::new(pack), &Surroundings::default()))
}

fn session(folder: &Path, model: Model) -> Session {
    let transport = ScriptedTransport::new(conversation().model(&model));
    let script = Arc::clone(transport.script());
    let mut settings = EndpointSettings::new(HostKind::Foundry);
    settings.resource = Some("scripted".into());
    settings.auth = Some(AuthSettings::None {});
    let (endpoint, _) = settings.resolve(&|_| None).unwrap();
    let remote = Remote::new(Arc::new(endpoint), model.dialect, Arc::new(NoCredential), Arc::new(transport));
    let domain = domain(folder);
    let resolved = domain.resolve(&|_| true).unwrap();
    let mut context = Context::new(Arc::new(remote), Arc::new(model.clone()));
    context.settings.effort = Some(Effort::Low);
    context.settings.cache_key = Some("session-1".into());
    context.system = domain.prompt(&resolved).unwrap().system();
    context.tools = resolved.tools;
    let time = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&time);
    let misses = Arc::new(Misses::default());
    let sections = Arc::clone(&domain);
    let keeper = WindowKeeper::new(Arc::new(move || {
        SystemTime::UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst))
    }))
    .journal(misses.clone())
    .turn_sections(Arc::new(move |tools| sections.turn(tools)));
    let hooks: Vec<Arc<dyn Hooks>> = vec![domain.clone(), Arc::new(Yes), Arc::new(keeper)];
    Session { agent: Agent::new(context, hooks), domain, script, model, misses, time }
}

impl Session {
    /// Says something, and answers which requests it took.
    async fn prompt(&self, number: usize) -> std::ops::Range<usize> {
        // An editor has a file open for two prompts.
        let facts = if matches!(number, 2 | 3) { json!({ "open_file": API }) } else { json!({}) };
        let here = Surroundings { facts: facts.as_object().unwrap().clone(), ..Surroundings::default() };
        self.domain.message(&here);
        let before = self.script.requests();
        let words = format!("Prompt {number}: see to flow {number}, and make it log what it does.");
        let outcome = self.agent.prompt(words).await.unwrap();
        assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
        self.time.fetch_add(90, Ordering::SeqCst);
        self.script.skip(Duration::from_secs(90));
        before..self.script.requests()
    }

    async fn messages(&self) -> Vec<Message> {
        self.agent.with(|cx| cx.messages.clone()).await.unwrap()
    }

    /// For each request, the tokens of its longest prefix that an earlier one had sent.
    fn ideal(&self) -> Vec<u64> {
        let captured = self.script.captured();
        let texts = |json: &Value| -> Vec<String> {
            let prompt = Sent::on_wire(self.model.dialect, json, &self.model.deployment);
            prompt.blocks.into_iter().map(|block| block.text).collect()
        };
        let sent: Vec<Vec<String>> = captured.iter().map(|request| texts(&request.json)).collect();
        let longest = |at: usize| sent[..at].iter().map(|earlier| common(&sent[at], earlier)).max();
        (0..sent.len()).map(|at| cache::tokens(longest(at).unwrap_or(0))).collect()
    }
}

/// Bytes that two prompts have in common from their beginnings: whole blocks, and the first that differs as far as it goes.
fn common(one: &[String], other: &[String]) -> usize {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let part = match (one.get(same), other.get(same)) {
        (Some(one), Some(other)) => {
            one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
        }
        _ => 0,
    };
    one[..same].iter().map(String::len).sum::<usize>() + part
}

/// The ids of the sections that a user message tells.
fn sections_of(message: &Message) -> Option<Vec<String>> {
    let Message::User(user) = message else { return None };
    let blocks = user.content.iter().filter_map(|part| match part {
        Content::Text { text } if context_block::is_block(text) => Some(text),
        _ => None,
    });
    let ids = blocks.flat_map(|block| block.split("<section id=\"").skip(1)).map(|rest| {
        let (id, rest) = rest.split_once('"').unwrap();
        if rest.starts_with(" state=\"gone\"") { format!("{id} gone") } else { id.to_owned() }
    });
    Some(ids.collect())
}

#[tokio::test(start_paused = true)]
async fn the_cache_holds_while_the_project_changes() {
    let models = [
        model("claude-opus-4-8", Dialect::Messages),
        model("gpt-5.6-sol", Dialect::Responses),
        model("gpt-5.5", Dialect::Responses),
    ];
    for model in models {
        let folder = project();
        let session = session(folder.path(), model);
        let mut taken = Vec::new();
        for number in 0..PROMPTS {
            taken.push(session.prompt(number).await);
        }
        let messages = session.messages().await;
        let failed = messages.iter().find(
            |message| matches!(message, Message::ToolResult(result) if result.status != ResultStatus::Ok),
        );
        assert_eq!(failed, None, "every call of the conversation works");

        let (reports, ideal) = (session.script.cache_reports(), session.ideal());
        for (at, ideal) in ideal.iter().enumerate().skip(1) {
            assert_eq!(*ideal, reports[at - 1].input(), "request {at} begins with all of the one before");
        }
        let usages: Vec<Usage> = messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant(answer) => Some(answer.usage),
                _ => None,
            })
            .collect();
        let prices = session.model.prices.clone().unwrap();
        let cost = |usage: &Usage| prices.cost(usage).total().dollars();
        let plain = |usage: &Usage| Usage { cache_read: 0, cache_write: 0, cache_write_long: 0, ..*usage };
        let input = |reports: &[CacheReport]| reports.iter().map(CacheReport::input).sum::<u64>();
        let read = |reports: &[CacheReport]| reports.iter().map(|report| report.read).sum::<u64>();
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        println!("{} on {}:", session.model.id, session.model.dialect);
        for (number, range) in taken.iter().enumerate() {
            let (reports, usages) = (&reports[range.clone()], &usages[range.clone()]);
            println!(
                "  prompt {number}: {} requests, {:>6} tokens in, {:>5.1} % read, ${:.4}",
                range.len(),
                input(reports),
                100.0 * share(read(reports), input(reports)),
                usages.iter().map(cost).sum::<f64>()
            );
        }
        let of_ideal = share(read(&reports), ideal.iter().sum());
        let cached: f64 = usages.iter().map(cost).sum();
        let uncached: f64 = usages.iter().map(|usage| cost(&plain(usage))).sum();
        println!(
            "  in all: {} requests, {} tokens in, {:.1} % read, {:.2} % of the ideal; ${cached:.4} instead of ${uncached:.4}",
            reports.len(),
            input(&reports),
            100.0 * share(read(&reports), input(&reports)),
            100.0 * of_ideal
        );
        assert!(of_ideal >= FLOOR, "{}: {of_ideal}", session.model.id);
        assert_eq!(session.misses.0.lock().unwrap().len(), 0, "nothing is told when nothing is missed");
        let told: Vec<Vec<String>> = messages.iter().filter_map(sections_of).collect();
        assert_eq!(told, TOLD, "what is so of the project is told when it changed, and only then");
    }
}

/// What a model reads before a word is said. Every request carries it, so it stays small.
#[test]
fn the_static_part_stays_small() {
    let folder = project();
    let domain = domain(folder.path());
    let resolved = domain.resolve(&|_| true).unwrap();
    let system = domain.prompt(&resolved).unwrap().system();
    let first = tokens::of_text(&system[0]);
    let all: u64 = system.iter().map(|text| tokens::of_text(text)).sum();
    let tools = resolved.tools.definitions();
    let mut sizes: Vec<(u64, &str)> =
        tools.iter().map(|tool| (tokens::of_tool(tool), tool.name.as_str())).collect();
    let defined: u64 = sizes.iter().map(|(size, _)| size).sum();
    println!(
        "static sections {first} tokens, with those of the project {all}; {} tools {defined}; together {}",
        tools.len(),
        all + defined
    );
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    println!("the largest tools: {:?}", &sizes[..sizes.len().min(5)]);
    assert!(first > 500, "there is something to measure");
    assert!(all + defined < 12_000, "{all} + {defined}");
}
