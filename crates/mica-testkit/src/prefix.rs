//! Whether each request of a conversation is a byte prefix of the next, on any wire: what a prompt cache needs.

use std::collections::BTreeMap;

use mica_ai::Dialect;
use serde_json::value::RawValue;

/// Looks at the bodies of requests in the order they were sent: what grows must grow at the end, and everything else must
/// stay the same bytes.
///
/// # Errors
/// In words, for the first request that is no prefix of the next.
pub fn grows_at_the_end<B: AsRef<[u8]>>(dialect: Dialect, bodies: &[B]) -> Result<(), String> {
    // On Responses and Chat the system prompt is the first of what grows, or a field of its own.
    let grows = if dialect == Dialect::Responses { "input" } else { "messages" };
    let mut parts: Vec<BTreeMap<String, &RawValue>> = Vec::with_capacity(bodies.len());
    for body in bodies {
        parts.push(
            serde_json::from_slice(body.as_ref()).map_err(|error| format!("{dialect}: no JSON: {error}"))?,
        );
    }
    for (number, pair) in parts.windows(2).enumerate() {
        let [one, next] = pair else { continue };
        for (name, part) in one.iter().filter(|(name, _)| *name != grows) {
            if next.get(name).map(|next| next.get()) != Some(part.get()) {
                return Err(format!("{dialect}: {name} of request {number} changed: {part}"));
            }
        }
        let of = |request: &BTreeMap<String, &RawValue>| {
            request.get(grows).map_or("", |part| part.get()).to_owned()
        };
        let (before, after) = (of(one), of(next));
        let Some(before) = before.strip_suffix(']') else {
            return Err(format!("{dialect}: request {number} has no {grows}"));
        };
        if !after.starts_with(before) || after.len() <= before.len() + 1 {
            return Err(format!("{dialect}: request {number} is no prefix of the next\n{before}\n{after}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_found() {
        let check = |one: &str, next: &str, expect: Result<(), &str>| {
            let found = grows_at_the_end(Dialect::Messages, &[one, next]);
            assert_eq!(found, expect.map_err(str::to_owned), "{one} {next}");
        };
        check(r#"{"tools":[1],"messages":[1]}"#, r#"{"tools":[1],"messages":[1,2]}"#, Ok(()));
        check(
            r#"{"tools":[1],"messages":[1]}"#,
            r#"{"tools":[2],"messages":[1,2]}"#,
            Err("messages: tools of request 0 changed: [1]"),
        );
        check(
            r#"{"messages":[1,2]}"#,
            r#"{"messages":[1,3,4]}"#,
            Err("messages: request 0 is no prefix of the next\n[1,2\n[1,3,4]"),
        );
        check(
            r#"{"messages":[1]}"#,
            r#"{"messages":[1]}"#,
            Err("messages: request 0 is no prefix of the next\n[1\n[1]"),
        );
    }
}
