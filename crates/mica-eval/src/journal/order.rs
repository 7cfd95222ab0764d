//! Puts what was told of calls that ran side by side into the order of the calls.
//!
//! Which of them ends first is the machine's business and says nothing about a product. Everything else stays where it
//! was told: events of one call in their order, calls in the order the model made them, and each place keeps its number.

use std::collections::BTreeMap;

use serde_json::Value;

/// The lines of a journal, with the events of calls call by call.
pub(super) fn by_call(lines: &[String]) -> Vec<String> {
    let events: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap_or_default()).collect();
    let mut ranks: BTreeMap<&str, usize> = BTreeMap::new();
    let mut runs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        let rank = ranks.len();
        if let Some(call) = made(event) {
            ranks.entry(call).or_insert(rank);
        }
        runs.entry(event["run"].as_str().unwrap_or_default()).or_default().push(index);
    }
    let mut ordered = lines.to_vec();
    for places in runs.into_values() {
        let of = |index: usize| events.get(index).and_then(about);
        // Places one after the other that are all about calls.
        for stretch in places.chunk_by(|one, next| of(*one).is_some() && of(*next).is_some()) {
            let rank = |index: usize| of(index).and_then(|call| ranks.get(call)).copied();
            let mut sorted = stretch.to_vec();
            sorted.sort_by_key(|index| rank(*index).unwrap_or(usize::MAX));
            for (place, from) in stretch.iter().zip(&sorted).filter(|(place, from)| place != from) {
                let (Some(there), Some(moved)) = (events.get(*place), events.get(*from)) else { continue };
                let mut moved = moved.clone();
                if let Some(number) = there.get("seq") {
                    moved["seq"] = number.clone();
                }
                if let Some(line) = ordered.get_mut(*place) {
                    *line = moved.to_string();
                }
            }
        }
    }
    ordered
}

/// The call that a model made with this event.
fn made(event: &Value) -> Option<&str> {
    let delta = &event["delta"];
    delta["call"].as_str().filter(|_| event["type"] == "answer" && delta["type"] == "call_start")
}

/// The call that an event is about.
fn about(event: &Value) -> Option<&str> {
    match event["type"].as_str()? {
        "call_start" | "call_progress" | "call_end" | "question" | "question_over" | "approval_given" => {
            event["call"].as_str()
        }
        "approval_asked" => event["ask"]["call"]["id"].as_str(),
        "message" => event["message"]["call"].as_str(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whoever_is_faster_the_journal_is_the_same() {
        let answer = |call: &str| json!({ "run": "r", "type": "answer", "delta": { "type": "call_start", "call": call } });
        let start = |call: &str| json!({ "run": "r", "type": "call_start", "call": call });
        let end = |call: &str| json!({ "run": "r", "type": "call_end", "call": call });
        let result = |call: &str| json!({ "run": "r", "type": "message", "message": { "role": "tool_result", "call": call } });
        let turn = || json!({ "run": "r", "type": "turn_end" });
        let other = || json!({ "run": "other", "type": "run_start" });
        let lines = |events: Vec<Value>| -> Vec<String> {
            let numbered = events.into_iter().enumerate().map(|(index, mut event)| {
                event["seq"] = json!(index);
                event.to_string()
            });
            numbered.collect()
        };
        let begin = || vec![answer("b"), answer("a")];
        let one = [
            begin(),
            vec![
                start("b"),
                start("a"),
                end("a"),
                other(),
                end("b"),
                result("b"),
                result("a"),
                turn(),
                end("b"),
            ],
        ];
        let two = [
            begin(),
            vec![
                start("b"),
                start("a"),
                end("b"),
                other(),
                result("b"),
                end("a"),
                result("a"),
                turn(),
                end("b"),
            ],
        ];
        let expect = [
            begin(),
            vec![
                start("b"),
                end("b"),
                result("b"),
                other(),
                start("a"),
                end("a"),
                result("a"),
                turn(),
                end("b"),
            ],
        ];
        assert_eq!(by_call(&lines(one.concat())), lines(expect.concat()));
        assert_eq!(by_call(&lines(two.concat())), lines(expect.concat()));
        assert_eq!(by_call(&["no event".to_owned()]), ["no event"]);
    }
}
