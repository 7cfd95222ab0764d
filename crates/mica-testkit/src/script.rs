//! The engine behind server, transport and model: takes requests, keeps them, checks them, and chooses the answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use mica_ai::{Dialect, Usage};
use serde_json::Value;
use tokio::time::Instant;

use crate::answer::{Answer, Body, Head, Playback};
use crate::cache::{self, CacheReport, CacheSim, Prompt, Ticket};
use crate::capture::Captured;
use crate::fault::Fault;
use crate::ids::Ids;
use crate::route::{Route, Vendor};
use crate::scenario::{Scenario, Turn, TurnUsage};
use crate::seen::Seen;
use crate::wire::{CREATED, Stage};
use crate::{spoil, validate, wire};

/// A scenario being played. Shared by everything that plays it; nothing is held across waits.
#[derive(Debug)]
pub struct Script {
    scenario: Scenario,
    began: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: usize,
    /// How many requests were answered by turns that are played in order.
    in_order: usize,
    captured: VecDeque<Captured>,
    cache: CacheSim,
    reports: VecDeque<CacheReport>,
    skipped: Duration,
    abandoned: usize,
}

/// A request as a wire brings it.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Script {
    /// A script at its beginning.
    pub fn new(scenario: impl Into<Scenario>) -> Arc<Self> {
        Arc::new(Self { scenario: scenario.into(), began: Instant::now(), state: Mutex::default() })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The requests so far, oldest first; at most as many as the limits allow.
    pub fn captured(&self) -> Vec<Captured> {
        self.lock().captured.iter().cloned().collect()
    }

    /// The last request.
    pub fn last(&self) -> Option<Captured> {
        self.lock().captured.back().cloned()
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.lock().requests
    }

    /// What the prompt cache made of each request that was answered, oldest first.
    pub fn cache_reports(&self) -> Vec<CacheReport> {
        self.lock().reports.iter().cloned().collect()
    }

    /// How many answers the client left before their end.
    pub fn abandoned(&self) -> usize {
        self.lock().abandoned
    }

    /// Lets time pass for the prompt cache, in addition to tokio's clock.
    pub fn skip(&self, time: Duration) {
        self.lock().skipped += time;
    }

    /// The answer to a request on a wire.
    pub fn answer(&self, request: &Incoming) -> Answer {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let route = Route::find(&request.method, path);
        let json: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let number = self.capture(request, path, query, &route, &json);
        let vendor = route.vendor();
        if !self.is_authorized(&request.headers) {
            return failure(401, &vendor.unauthorized());
        }
        match route {
            Route::Unknown { .. } => failure(404, &vendor.not_found(&request.method, path)),
            Route::Models { .. } => {
                let vendor = if request.headers.contains_key("anthropic-version") {
                    Vendor::Anthropic
                } else {
                    vendor
                };
                let names: Vec<&str> = self.scenario.models.keys().map(String::as_str).collect();
                let names = if names.is_empty() { vec!["scripted"] } else { names };
                json_answer(200, HeaderMap::new(), &vendor.models(&names))
            }
            Route::Ask { dialect, vendor, deployment } => {
                self.ask(number, dialect, vendor, deployment.as_deref(), &request.headers, &json)
            }
        }
    }

    /// The body of an answer as it is played.
    pub fn play(self: &Arc<Self>, answer: Answer) -> (Head, Playback) {
        (answer.head, Playback::new(Arc::clone(self), answer.body, answer.ticket))
    }

    fn ask(
        &self,
        number: usize,
        dialect: Dialect,
        vendor: Vendor,
        deployment: Option<&str>,
        headers: &HeaderMap,
        body: &Value,
    ) -> Answer {
        if !body.is_object() {
            let message = "We could not parse the JSON body of your request.";
            return failure(400, &vendor.error(400, "invalid_json", message, None));
        }
        let seen = Seen::on_wire(dialect, body, deployment);
        let facts = self.scenario.models.get(&seen.model);
        let check = validate::Check { strict: self.scenario.strict, facts, model: &seen.model, headers };
        if let Err(wrong) = validate::request(dialect, body, &check) {
            return failure(
                wrong.status,
                &vendor.error(wrong.status, wrong.code, &wrong.message, wrong.param.as_deref()),
            );
        }
        let Some(turn) = self.choose(&seen) else {
            let message = format!("The script has no turn for request {number}.");
            return failure(400, &vendor.error(400, "script_exhausted", &message, None));
        };
        if let Some(error) = &turn.error {
            return http_error(error);
        }
        let mut after = Duration::ZERO;
        match &turn.fault {
            Some(Fault::Http(error)) => return http_error(error),
            Some(Fault::Reset) => return Answer { head: Head::Reset, body: Body::empty(), ticket: None },
            Some(Fault::Refused) => return Answer { head: Head::Refused, body: Body::empty(), ticket: None },
            Some(Fault::EmptyBody) => {
                return send(200, event_stream(HeaderMap::new()), Duration::ZERO, Body::empty(), None);
            }
            Some(Fault::Html) => {
                let mut headers = HeaderMap::new();
                headers.insert("content-type", HeaderValue::from_static("text/html; charset=utf-8"));
                let page = "<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n";
                return send(200, headers, Duration::ZERO, Body::whole(page), None);
            }
            Some(Fault::SlowHead { ms }) => after = Duration::from_millis(*ms),
            _ => {}
        }
        let prompt = Prompt::on_wire(dialect, body, &seen.model);
        let facts = facts.and_then(|facts| facts.cache.clone()).unwrap_or_else(|| cache::usual(dialect));
        let (usage, ticket) = self.account(turn, &prompt, &facts);
        let pacing = turn.pacing.unwrap_or(self.scenario.pacing);
        let mut ids = Ids::new(&self.scenario.name, number);
        let headers = usual_headers(vendor, &mut ids);
        let stage = Stage {
            turn,
            request: body,
            pacing,
            options: self.scenario.wire,
            vendor,
            model: &seen.model,
            usage,
            created: CREATED + number as u64,
            ids,
        };
        let is_stream = body["stream"].as_bool().unwrap_or(false);
        if is_stream && turn.fault != Some(Fault::JsonInstead) {
            let frames = wire::stream(dialect, stage);
            let body = spoil::stream(dialect, frames, pacing, turn.fault.as_ref());
            send(200, event_stream(headers), after, body, ticket)
        } else {
            let body = wire::whole(dialect, stage).to_string();
            send(200, json_type(headers), after, spoil::whole(body, pacing, turn.fault.as_ref()), ticket)
        }
    }

    /// The turn that answers a request, and the next one moves up.
    pub(crate) fn choose(&self, seen: &Seen) -> Option<&Turn> {
        let fits = |turn: &&Turn| turn.when.as_ref().is_some_and(|when| when.fits(seen));
        if let Some(turn) = self.scenario.turns.iter().find(fits) {
            return Some(turn);
        }
        let mut state = self.lock();
        let mut before = 0;
        for turn in self.scenario.turns.iter().filter(|turn| turn.when.is_none()) {
            before += turn.repeat;
            if state.in_order < before {
                state.in_order += 1;
                return Some(turn);
            }
        }
        self.scenario.otherwise.as_deref()
    }

    /// What an answer reports as usage, and what the cache will learn from it.
    pub(crate) fn account(
        &self,
        turn: &Turn,
        prompt: &Prompt,
        facts: &mica_ai::model::CacheFacts,
    ) -> (Option<Usage>, Option<Ticket>) {
        let mut state = self.lock();
        let now = self.began.elapsed() + state.skipped;
        let (report, ticket) = state.cache.ask(prompt, facts, now);
        let usage = match turn.usage {
            TurnUsage::Absent => None,
            TurnUsage::Exact(usage) => Some(usage),
            TurnUsage::Auto => {
                let (output, reasoning) = turn.output_tokens();
                Some(Usage {
                    input: report.input(),
                    cache_read: report.read,
                    cache_write: report.written,
                    cache_write_long: report.written_long,
                    output,
                    reasoning,
                    cost: None,
                })
            }
        };
        if state.reports.len() >= self.scenario.limits.captured {
            state.reports.pop_front();
        }
        state.reports.push_back(report);
        (usage, Some(ticket))
    }

    /// An answer begins to stream: from now on others can read what it wrote to the cache.
    pub(crate) fn streaming(&self, ticket: Ticket) {
        let mut state = self.lock();
        let now = self.began.elapsed() + state.skipped;
        state.cache.streaming(ticket, now);
    }

    pub(crate) fn left(&self) {
        self.lock().abandoned += 1;
    }

    pub(crate) fn next_number(&self) -> usize {
        let mut state = self.lock();
        state.requests += 1;
        state.requests - 1
    }

    fn capture(&self, request: &Incoming, path: &str, query: &str, route: &Route, json: &Value) -> usize {
        let mut state = self.lock();
        let number = state.requests;
        state.requests += 1;
        if state.captured.len() >= self.scenario.limits.captured {
            state.captured.pop_front();
        }
        state.captured.push_back(Captured {
            number,
            method: request.method.clone(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            json: json.clone(),
            dialect: route.dialect(),
        });
        number
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(key) = &self.scenario.key else {
            return true;
        };
        let given = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        given("api-key") == key
            || given("x-api-key") == key
            || given("authorization").strip_prefix("Bearer ") == Some(key)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that panics elsewhere must not hide its message behind a poisoned lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn send(status: u16, headers: HeaderMap, after: Duration, body: Body, ticket: Option<Ticket>) -> Answer {
    Answer { head: Head::Send { status, headers, after }, body, ticket }
}

fn json_type(mut headers: HeaderMap) -> HeaderMap {
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers
}

fn event_stream(mut headers: HeaderMap) -> HeaderMap {
    headers.insert("content-type", HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    headers
}

fn json_answer(status: u16, headers: HeaderMap, body: &Value) -> Answer {
    send(status, json_type(headers), Duration::ZERO, Body::whole(body.to_string()), None)
}

pub(crate) fn failure(status: u16, body: &Value) -> Answer {
    json_answer(status, HeaderMap::new(), body)
}

fn http_error(error: &crate::preset::ErrorAnswer) -> Answer {
    let preset = error.resolve();
    let mut headers = preset.header_map();
    if !headers.contains_key("content-type") {
        headers = json_type(headers);
    }
    let body = if preset.body.is_empty() { Body::empty() } else { Body::whole(preset.body) };
    send(preset.status, headers, Duration::ZERO, body, None)
}

/// What providers add to every answer.
fn usual_headers(vendor: Vendor, ids: &mut Ids) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut add = |name: &'static str, value: &str| {
        if let Ok(value) = value.parse::<HeaderValue>() {
            headers.insert(name, value);
        }
    };
    let id = ids.request();
    match vendor {
        Vendor::Azure => {
            add("apim-request-id", &id);
            add("x-request-id", &id);
            add("x-ms-region", "Sweden Central");
        }
        Vendor::OpenAi => add("x-request-id", &format!("req_{}", id.replace('-', ""))),
        Vendor::Anthropic => add("request-id", &ids.claude("req")),
    }
    if vendor != Vendor::Anthropic {
        add("x-ratelimit-limit-requests", "1000");
        add("x-ratelimit-remaining-requests", "999");
        add("x-ratelimit-limit-tokens", "1000000");
        add("x-ratelimit-remaining-tokens", "990000");
    }
    headers
}
