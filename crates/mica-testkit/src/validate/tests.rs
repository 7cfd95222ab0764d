//! What providers refuse is refused, in their words; what they take is taken.

use mica_ai::model::CacheFacts;
use serde_json::json;

use super::*;
use crate::seal;

fn wrong(dialect: Dialect, body: &Value) -> String {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", http::HeaderValue::from_static("2023-06-01"));
    let facts = ModelFacts {
        rejects: vec![Parameter::Temperature],
        cache: Some(CacheFacts { max_marks: 4, ..crate::cache::usual(dialect) }),
    };
    let check = Check { strict: Strict::default(), facts: Some(&facts), model: "m", headers: &headers };
    request(dialect, body, &check).err().map_or("fine".to_owned(), |wrong| wrong.message)
}

#[track_caller]
fn check(dialect: Dialect, body: &Value, starts: &str) {
    let message = wrong(dialect, body);
    assert!(message.starts_with(starts), "{message}");
}

mod responses {
    use super::*;

    fn input(items: &Value) -> Value {
        json!({ "model": "m", "store": false, "input": items })
    }

    #[track_caller]
    fn check_input(items: &Value, starts: &str) {
        check(Dialect::Responses, &input(items), starts);
    }

    fn call(id: &str) -> Value {
        json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "{}" })
    }

    fn output(id: &str) -> Value {
        json!({ "type": "function_call_output", "call_id": id, "output": "x" })
    }

    #[test]
    fn calls_and_outputs_are_paired() {
        check_input(&json!([call("a"), call("b"), output("b"), output("a")]), "fine");
        check_input(&json!([call("a")]), "No tool output found for function call a.");
        check_input(&json!([output("a")]), "No tool call found for function call output with call_id a.");
        check_input(&json!([output("a"), call("a")]), "No tool call found");
        check_input(&json!([call("a"), output("a"), output("a")]), "Duplicate tool output");
    }

    #[test]
    fn ids_are_found_only_where_things_are_stored() {
        let item = json!([{ "type": "reasoning", "id": "rs_1", "summary": [] }]);
        check_input(&item, "Item with id 'rs_1' not found.");
        check(Dialect::Responses, &json!({ "model": "m", "input": item }), "fine");
        let call = json!([{ "type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}" }, output("a")]);
        check_input(&call, "Item with id 'fc_1' not found.");
        check_input(
            &json!([{ "type": "message", "id": "msg_1", "role": "assistant", "content": [] }]),
            "fine",
        );
    }

    #[test]
    fn encrypted_reasoning_belongs_to_its_model() {
        let item = |model| json!([{ "type": "reasoning", "summary": [], "encrypted_content": seal::encrypted(model, "x") }]);
        check_input(&item("m"), "fine");
        check_input(&item("other"), "The encrypted content gAAA... could not be verified.");
    }

    #[test]
    fn long_call_ids_wrong_parts_and_too_many_breakpoints_are_refused() {
        let long = "c".repeat(65);
        check_input(&json!([call(&long), output(&long)]), "Invalid 'input[0].call_id': string too long.");
        let part = json!([{ "role": "user", "content": [{ "type": "output_text", "text": "x" }] }]);
        check_input(&part, "Invalid value: 'output_text'.");
        let marked = |count: usize| {
            let part = json!({ "type": "input_text", "text": "x", "prompt_cache_breakpoint": {} });
            json!([{ "role": "user", "content": vec![part; count] }])
        };
        check_input(&marked(3), "fine");
        check_input(&marked(4), "A maximum of 3 prompt cache breakpoints");
        let explicit =
            json!({ "model": "m", "input": marked(4), "prompt_cache_options": { "mode": "explicit" } });
        check(Dialect::Responses, &explicit, "fine");
    }
}

mod messages {
    use super::*;

    fn body(messages: &Value) -> Value {
        json!({ "model": "m", "max_tokens": 10, "messages": messages })
    }

    #[track_caller]
    fn check_messages(messages: &Value, starts: &str) {
        check(Dialect::Messages, &body(messages), starts);
    }

    fn user(content: &Value) -> Value {
        json!({ "role": "user", "content": content })
    }

    fn calls(ids: &[&str]) -> Value {
        let blocks: Vec<Value> =
            ids.iter().map(|id| json!({ "type": "tool_use", "id": id, "name": "f", "input": {} })).collect();
        json!({ "role": "assistant", "content": blocks })
    }

    fn result(id: &str) -> Value {
        json!({ "type": "tool_result", "tool_use_id": id, "content": "x" })
    }

    #[test]
    fn calls_are_answered_in_the_next_message_and_results_come_first() {
        let hello = user(&json!("hello"));
        let text = json!({ "type": "text", "text": "note" });
        check_messages(
            &json!([hello, calls(&["a", "b"]), user(&json!([result("b"), result("a"), text]))]),
            "fine",
        );
        check_messages(
            &json!([hello, calls(&["a", "b"]), user(&json!([result("a")]))]),
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.",
        );
        check_messages(
            &json!([hello, calls(&["a"]), user(&json!([text, result("a")]))]),
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.",
        );
        check_messages(&json!([hello, calls(&["a"])]), "messages.1: `tool_use` ids were found without");
        check_messages(
            &json!([user(&json!([result("a")]))]),
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.",
        );
        check_messages(
            &json!([hello, calls(&["a"]), user(&json!([result("a"), result("a")]))]),
            "messages.2.content.1: each tool_use must have a single result.",
        );
        check_messages(
            &json!([hello, calls(&["a|b"]), user(&json!([result("a|b")]))]),
            "messages.1.content.0.id: String",
        );
    }

    #[test]
    fn texts_say_something() {
        check_messages(
            &json!([user(&json!([{ "type": "text", "text": "" }]))]),
            "messages: text content blocks must be non-empty",
        );
        check_messages(
            &json!([user(&json!([{ "type": "text", "text": " \n" }]))]),
            "messages: text content blocks must contain",
        );
        check_messages(&json!([user(&json!(""))]), "messages.0: all messages must have non-empty content");
        check_messages(
            &json!([user(&json!("a")), { "role": "assistant", "content": "b " }]),
            "messages: final assistant content",
        );
        check_messages(
            &json!([{ "role": "assistant", "content": "b" }]),
            "messages: first message must use the \"user\" role",
        );
        check_messages(&json!([]), "messages: at least one message is required");
    }

    #[test]
    fn marks_are_few_and_the_long_ones_come_first() {
        let marked = |ttl: &str| json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral", "ttl": ttl } });
        let with = |system: Vec<Value>, content: Vec<Value>| json!({ "model": "m", "max_tokens": 10, "system": system, "messages": [user(&json!(content))] });
        let four = with(vec![marked("1h"), marked("5m")], vec![marked("5m"), marked("5m")]);
        check(Dialect::Messages, &four, "fine");
        let five = with(vec![marked("5m"); 2], vec![marked("5m"); 3]);
        check(Dialect::Messages, &five, "A maximum of 4 blocks with cache_control may be provided. Found 5.");
        let order = with(vec![marked("5m")], vec![marked("1h")]);
        check(
            Dialect::Messages,
            &order,
            "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come",
        );
        let empty = json!({ "type": "text", "text": "", "cache_control": { "type": "ephemeral" } });
        check(
            Dialect::Messages,
            &with(vec![empty], vec![]),
            "system.0.text: cache_control cannot be set for empty text",
        );
    }

    #[test]
    fn thinking_is_taken_back_only_as_it_was_given() {
        let think = |text: &str, signature: String| {
            json!([user(&json!("a")), { "role": "assistant", "content": [
                { "type": "thinking", "thinking": text, "signature": signature },
                { "type": "text", "text": "b" },
            ]}, user(&json!("c"))])
        };
        check_messages(&think("x", seal::signature("m", "x")), "fine");
        check_messages(
            &think("y", seal::signature("m", "x")),
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        );
        check_messages(
            &think("x", seal::signature("other", "x")),
            "messages.1.content.0: Invalid `signature`",
        );
    }

    #[test]
    fn parameters_fit_together() {
        let with = |more: Value| {
            let mut body = body(&json!([user(&json!("a"))]));
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        check(
            Dialect::Messages,
            &with(json!({ "temperature": 0.5 })),
            "`temperature` is not supported by this model.",
        );
        let small = with(json!({ "thinking": { "type": "enabled", "budget_tokens": 100 } }));
        check(Dialect::Messages, &small, "thinking.enabled.budget_tokens: Input should be greater");
        let large = with(json!({ "thinking": { "type": "enabled", "budget_tokens": 2000 } }));
        check(Dialect::Messages, &large, "`max_tokens` must be greater than");
        let forced = with(json!({ "thinking": { "type": "adaptive" }, "tool_choice": { "type": "any" } }));
        check(Dialect::Messages, &forced, "Thinking may not be enabled when tool_choice forces tool use.");
        check(
            Dialect::Messages,
            &json!({ "model": "m", "messages": [user(&json!("a"))] }),
            "max_tokens: Field required",
        );
    }
}

mod chat {
    use super::*;

    #[track_caller]
    fn check_messages(messages: &Value, starts: &str) {
        check(Dialect::Chat, &json!({ "model": "m", "messages": messages }), starts);
    }

    fn calls(ids: &[&str]) -> Value {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } }))
            .collect();
        json!({ "role": "assistant", "tool_calls": calls })
    }

    fn result(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "x" })
    }

    #[test]
    fn calls_are_answered_before_anything_else_is_said() {
        let user = json!({ "role": "user", "content": "a" });
        check_messages(&json!([user, calls(&["a", "b"]), result("b"), result("a"), user]), "fine");
        check_messages(
            &json!([user, calls(&["a", "b"]), result("a"), user]),
            "An assistant message with 'tool_calls' must be",
        );
        check_messages(
            &json!([user, calls(&["a"])]),
            "An assistant message with 'tool_calls' must be followed",
        );
        check_messages(
            &json!([user, result("a")]),
            "Invalid parameter: messages with role 'tool' must be a response",
        );
        check_messages(
            &json!([user, calls(&["a"]), result("a"), result("a")]),
            "Invalid parameter: messages with role 'tool'",
        );
        check_messages(
            &json!([user, { "role": "assistant", "content": "x", "tool_calls": [] }]),
            "Invalid 'messages[1].tool_calls'",
        );
        check_messages(
            &json!([user, { "role": "assistant", "content": null }]),
            "Invalid value for 'content'",
        );
    }

    #[test]
    fn tools_have_good_names_once() {
        let tool = |name: &str| json!({ "type": "function", "function": { "name": name } });
        let with = |tools: Vec<Value>| json!({ "model": "m", "messages": [{ "role": "user", "content": "a" }], "tools": tools });
        check(Dialect::Chat, &with(vec![tool("a"), tool("b_c-d")]), "fine");
        check(Dialect::Chat, &with(vec![tool("a.b")]), "tools.0.name: String should match pattern");
        check(Dialect::Chat, &with(vec![tool("a"), tool("a")]), "tools: Tool names must be unique.");
    }
}
