//! What the program told, in a form that is the same whenever the same case is played.
//!
//! It is another process, with its own clock and ids that nobody else has. So ids are counted in the order they appear,
//! and times, durations and ports are written as what they are. How far calls are is left out, and with it the numbers of
//! events: the pieces that a pipe is read in are the machine's. All else is as it was printed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fancy_regex::Regex;
use serde_json::{Value, json};

/// What differs from run to run, and what is written for it. Ids are counted.
static OTHERWISE: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    const ALL: [(&str, &str); 6] = [
        (r"(?<=127\.0\.0\.1:)\d{2,5}", "PORT"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", "TIME"),
        (r"\b\d{4}-\d\d-\d\d\b", "DAY"),
        (r"\b\d{8}T\d{6}Z", "TIME"),
        // The folder of sessions is named after the place of the project.
        (r"(?<=/sessions/project-)[0-9a-f]{12}", "PLACE"),
        (r"\b\d+(?:\.\d+)? ?(?:ms|s)\b", "SPAN"),
    ];
    ALL.iter().filter_map(|(pattern, word)| Some((Regex::new(pattern).ok()?, *word))).collect()
});

static ID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}").ok()
});

static SHORT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{8}\b(?!-)").ok());

/// Writes down what the program told.
#[derive(Default)]
pub(super) struct Telling {
    ids: BTreeMap<String, usize>,
}

impl Telling {
    /// An event, when it is one that is told each time.
    pub(super) fn event(&mut self, event: &Value) -> Option<String> {
        if event["type"] == "call_progress" {
            return None;
        }
        let mut event = event.clone();
        if let Some(members) = event.as_object_mut() {
            members.shift_remove("seq");
        }
        Some(self.same(event).to_string())
    }

    /// A command, and what came of it.
    pub(super) fn command(&mut self, args: &[String], code: i32, out: &str, err: &str) -> String {
        self.same(json!({ "type": "command", "args": args, "exit": code, "out": out, "err": err }))
            .to_string()
    }

    fn same(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(members) => members.into_iter().map(|member| self.same(member)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(key, member)| {
                    // Numbers have no form by which they could be told apart; what they are is in their name.
                    let timed = member.is_number()
                        && (key.ends_with("_ms") || key == "milliseconds" || key == "seconds");
                    let member = if timed { Value::String("SPAN".to_owned()) } else { self.same(member) };
                    (self.text(&key), member)
                })
                .collect(),
            other => other,
        }
    }

    /// Ids that are shown by their end or their beginning.
    fn short(&self, text: &str) -> String {
        let mut all = String::new();
        let mut done = 0;
        for found in SHORT.iter().flat_map(|short| short.find_iter(text)).flatten() {
            let part = found.as_str();
            let meant = self.ids.iter().find(|(id, _)| id.ends_with(part) || id.starts_with(part));
            let Some((_, number)) = meant else { continue };
            all.push_str(text.get(done..found.start()).unwrap_or_default());
            all.push_str(&format!("{number:08x}"));
            done = found.end();
        }
        all.push_str(text.get(done..).unwrap_or_default());
        all
    }

    fn text(&mut self, text: &str) -> String {
        let mut counted = String::new();
        let mut done = 0;
        for found in ID.iter().flat_map(|id| id.find_iter(text)).flatten() {
            let next = self.ids.len() + 1;
            let number = *self.ids.entry(found.as_str().to_owned()).or_insert(next);
            counted.push_str(text.get(done..found.start()).unwrap_or_default());
            counted.push_str(&format!("00000000-0000-7000-8000-{number:012x}"));
            done = found.end();
        }
        counted.push_str(text.get(done..).unwrap_or_default());
        let mut text = self.short(&counted);
        for (pattern, word) in OTHERWISE.iter() {
            text = pattern.replace_all(&text, *word).into_owned();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_written_the_same() {
        let told = |first: &str, second: &str, port: u16, time: &str, took: &str| {
            let mut telling = Telling::default();
            let event = json!({
                "seq": port,
                "run": first,
                "message": { "id": second, "text": format!("{first} at http://127.0.0.1:{port}/v1, {time}, took {took}") },
                "wait_ms": port,
                "number": 3,
            });
            telling.event(&event).unwrap()
        };
        let (one, two) = ("01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058");
        let expect = "{\"run\":\"00000000-0000-7000-8000-000000000001\",\"message\":{\"id\":\
                      \"00000000-0000-7000-8000-000000000002\",\"text\":\"00000000-0000-7000-8000-000000000001 at \
                      http://127.0.0.1:PORT/v1, TIME, took SPAN\"},\"wait_ms\":\"SPAN\",\"number\":3}";
        assert_eq!(told(one, two, 4711, "2026-11-15T19:00:00.5Z", "1.5 s"), expect);
        assert_eq!(told(two, one, 80, "2026-11-16 07:00", "250ms"), expect);
        let mut telling = Telling::default();
        telling.event(&json!(one)).unwrap();
        assert_eq!(telling.event(&json!({ "type": "call_progress", "news": "x" })), None);
        assert_eq!(
            telling.command(&["undo".to_owned()], 0, "undid run 099a8057, not 12345678", ""),
            r#"{"type":"command","args":["undo"],"exit":0,"out":"undid run 00000001, not 12345678","err":""}"#
        );
    }
}
