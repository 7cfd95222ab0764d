//! What answers come to, event by event.

#![allow(clippy::needless_pass_by_value, reason = "tables read better with values")]

use serde_json::json;

use super::*;

fn ran(end: End, stdout: &[u8], stderr: &str) -> Ran {
    Ran { end, stdout: stdout.to_vec(), is_cut: false, stderr: stderr.into() }
}

fn exit(code: i32, stdout: &str, stderr: &str) -> Ran {
    ran(End::Exited(code), stdout.as_bytes(), stderr)
}

/// What is said, as a line that can be compared.
fn line(answer: &Answer) -> String {
    let mut line = match answer.wish {
        None => "-".to_owned(),
        Some(wish) => format!("{wish:?}").to_lowercase(),
    };
    let mut put = |name: &str, text: &Option<String>| {
        if let Some(text) = text {
            line.push_str(&format!(" {name}={text:?}"));
        }
    };
    put("reason", &answer.reason);
    put("halt", &answer.halt);
    put("context", &answer.context);
    put("output", &answer.output);
    put("message", &answer.message);
    put("input", &answer.input.as_ref().map(|input| Value::Object(input.clone()).to_string()));
    put("problem", &answer.problem);
    line
}

fn check(event: HookEvent, ran: &Ran, expect: &str) {
    assert_eq!(line(&read(event, ran, false)), expect, "{event}: {ran:?}");
}

const PRE: HookEvent = HookEvent::PreToolUse;

/// A clear no before a call, for a reason that is also told.
fn refused(problem: &str) -> String {
    format!("deny reason={problem:?} problem={problem:?}")
}

#[test]
fn every_field_of_an_answer_is_read() {
    let say = |value: Value| exit(0, &value.to_string(), "");
    let specific = |event: &str, mut inner: Value| {
        inner["hookEventName"] = event.into();
        say(json!({ "hookSpecificOutput": inner }))
    };
    for (decision, expect) in [("allow", "allow"), ("deny", "deny"), ("ask", "ask"), ("defer", "ask")] {
        let answer = specific(
            "PreToolUse",
            json!({ "permissionDecision": decision, "permissionDecisionReason": "why" }),
        );
        check(PRE, &answer, &format!("{expect} reason=\"why\""));
    }
    check(
        PRE,
        &specific(
            "PreToolUse",
            json!({ "permissionDecision": "allow", "updatedInput": { "command": "ls" } }),
        ),
        "allow input=\"{\\\"command\\\":\\\"ls\\\"}\"",
    );
    check(
        PRE,
        &specific("PreToolUse", json!({ "updatedInput": { "command": "ls" }, "additionalContext": "c" })),
        "- context=\"c\" input=\"{\\\"command\\\":\\\"ls\\\"}\"",
    );
    check(PRE, &say(json!({ "decision": "approve", "reason": "fine" })), "allow reason=\"fine\"");
    check(PRE, &say(json!({ "decision": "block", "reason": "no" })), "deny reason=\"no\"");
    check(
        PRE,
        &say(json!({ "continue": false, "stopReason": "enough" })),
        "deny reason=\"enough\" halt=\"enough\"",
    );
    check(PRE, &say(json!({ "continue": true, "suppressOutput": true })), "-");
    check(PRE, &say(json!({ "systemMessage": "look" })), "- message=\"look\"");
    // Without the name of the event, and without the object around it, a no is still one.
    check(PRE, &say(json!({ "hookSpecificOutput": { "permissionDecision": "deny" } })), "deny");
    check(
        PRE,
        &say(json!({ "permissionDecision": "deny", "permissionDecisionReason": "r" })),
        "deny reason=\"r\"",
    );

    check(
        HookEvent::PostToolUse,
        &say(json!({ "decision": "block", "reason": "lint failed" })),
        "deny reason=\"lint failed\"",
    );
    check(
        HookEvent::PostToolUse,
        &specific("PostToolUse", json!({ "additionalContext": "c", "updatedToolOutput": "short" })),
        "- context=\"c\" output=\"short\"",
    );
    check(
        HookEvent::PostToolUse,
        &specific(
            "PostToolUse",
            json!({ "updatedMCPToolOutput": { "content": [{ "type": "text", "text": "t" }] } }),
        ),
        "- output=\"t\"",
    );
    check(
        HookEvent::PermissionRequest,
        &specific("PermissionRequest", json!({ "decision": { "behavior": "deny", "message": "not now" } })),
        "deny reason=\"not now\"",
    );
    check(
        HookEvent::PermissionRequest,
        &specific(
            "PermissionRequest",
            json!({ "decision": { "behavior": "allow", "updatedInput": { "a": 1 } } }),
        ),
        "allow input=\"{\\\"a\\\":1}\"",
    );
    check(
        HookEvent::Stop,
        &say(json!({ "decision": "block", "reason": "test it" })),
        "deny reason=\"test it\"",
    );
    check(
        HookEvent::UserPromptSubmit,
        &specific("UserPromptSubmit", json!({ "additionalContext": "it is Monday" })),
        "- context=\"it is Monday\"",
    );
}

#[test]
fn before_a_call_everything_unclear_is_a_no() {
    check(PRE, &exit(0, "", "some log"), "-");
    check(PRE, &exit(0, "checked 3 files\nall fine\n", ""), "-");
    check(PRE, &exit(0, "[info] fine\n", ""), "-");
    check(PRE, &exit(0, "{}", ""), "-");
    for (run, problem) in [
        (exit(1, "", "Traceback: boom"), "it ended with code 1: Traceback: boom"),
        (exit(3, "{\"decision\": \"approve\"}", ""), "it ended with code 3"),
        (
            exit(127, "", "sh: nope: not found"),
            "it could not be started (code 127; is the program there, and executable?): sh: nope: not found",
        ),
        (ran(End::Signalled(11), b"", ""), "it was ended by signal 11"),
        (ran(End::TimedOut, b"{\"decision\": \"approve\"}", ""), "its time was up, and it was stopped"),
        (ran(End::Cancelled, b"", ""), "it was stopped before it answered"),
        (ran(End::NotRun("no sandbox".to_owned()), b"", ""), "it was not run: no sandbox"),
        (
            exit(0, "{\"decision\": \"app", ""),
            "it printed something that looks like JSON and cannot be read as such: \"{\\\"decision\\\": \\\"app\"",
        ),
        (
            exit(0, "{\"decision\": \"approve\"}\n{oops\n", ""),
            "it printed something that looks like JSON and cannot be read as such: \
             \"{\\\"decision\\\": \\\"approve\\\"}\\n{oops\"",
        ),
        (
            exit(0, "{\"permission\": \"deny\", \"why\": 1}", ""),
            "it answered JSON that says nothing mica knows (its keys are permission, why)",
        ),
        (
            exit(0, "{\"approve\": false}", ""),
            "it answered JSON that says nothing mica knows (its keys are approve)",
        ),
        (
            exit(0, "{\"decision\": \"maybe\"}", ""),
            "`decision` is \"maybe\"; it can be \"approve\" or \"block\"",
        ),
        (exit(0, "{\"continue\": \"no\"}", ""), "`continue` is \"no\"; it can be true or false"),
        (exit(0, "{\"reason\": 5}", ""), "`reason` is 5; it is a text"),
        (exit(0, "{\"hookSpecificOutput\": []}", ""), "`hookSpecificOutput` is no object"),
        (
            exit(0, "{\"hookSpecificOutput\": {\"hookEventName\": \"PostToolUse\"}}", ""),
            "`hookSpecificOutput` is for PostToolUse, and this is PreToolUse",
        ),
        (
            exit(0, "{\"hookSpecificOutput\": {\"permissionDecision\": \"yes\"}}", ""),
            "`permissionDecision` is \"yes\"; it can be \"allow\", \"ask\" or \"deny\"",
        ),
        (
            exit(0, "{\"hookSpecificOutput\": {\"updatedInput\": \"ls\"}}", ""),
            "`updatedInput` is \"ls\"; it is an object",
        ),
        (
            ran(End::Exited(0), b"{\"decision\": \"approve\", \"reason\": \"\xff\"}", ""),
            "its answer is no UTF-8: \"{\\\"decision\\\": \\\"approve\\\", \\\"reason\\\": \\\"\u{fffd}\\\"}\"",
        ),
    ] {
        check(PRE, &run, &refused(problem));
    }
}

#[test]
fn a_no_in_the_wrong_place_or_misspelt_is_still_no_yes() {
    let garbled = |text: &str| {
        refused(&format!("it printed something that looks like JSON and cannot be read as such: {text:?}"))
    };
    let unknown =
        |whose: &str, key: &str| refused(&format!("{whose} has a key that mica does not know: {key:?}"));
    for (text, expect) in [
        (r#"{"decision":{"behavior":"deny"}}"#, "deny".to_owned()),
        (r#"{"decision":{"behavior":"deny","message":"m"}}"#, "deny reason=\"m\"".to_owned()),
        (
            r#"{"decision":{"behaviour":"deny"}}"#,
            refused("`behavior` is None; it can be \"allow\" or \"deny\""),
        ),
        (r#"{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#, "deny".to_owned()),
        (r#"{"hookSpecificOutput":{"decision":"block","reason":"r"}}"#, "deny reason=\"r\"".to_owned()),
        (
            r#"{"hookSpecificOutput":{"permissionDecison":"deny"}}"#,
            unknown("`hookSpecificOutput`", "permissionDecison"),
        ),
        (
            r#"{"permissionDecision":"deny","hookSpecificOutput":{"additionalContext":"x"}}"#,
            "deny context=\"x\"".to_owned(),
        ),
        (
            r#"{"decision":"block","reason":"r","hookSpecificOutput":{"permissionDecision":"allow"}}"#,
            "deny reason=\"r\"".to_owned(),
        ),
        (
            r#"{"decision":"approve","reason":"r","hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            "deny reason=\"r\"".to_owned(),
        ),
        (r#"{"reason":"dangerous"}"#, refused("it gave a reason, and no decision")),
        (r#"{"decison":"block","reason":"r"}"#, unknown("its answer", "decison")),
        (r#"{"systemMessage":"m","permissionDecison":"deny"}"#, unknown("its answer", "permissionDecison")),
        (r#"[{"decision":"block"}]"#, garbled(r#"[{"decision":"block"}]"#)),
        (r#"[{"decision":"bl"#, garbled(r#"[{"decision":"bl"#)),
        (r#"result: {"decision":"block"}"#, garbled(r#"result: {"decision":"block"}"#)),
        ("result: {\n  'decision' : 'block'\n}", garbled("result: {\n  'decision' : 'block'\n}")),
        // What is said about decisions, and decides nothing, is a log.
        ("took the decision: none\n[{\"file\": 1}]\n", "-".to_owned()),
        (
            r#"{"hookSpecificOutput":{"updatedInput":{"a":1},"permissionDecisionReason":"r"}}"#,
            "- reason=\"r\" input=\"{\\\"a\\\":1}\"".to_owned(),
        ),
    ] {
        check(PRE, &exit(0, text, ""), &expect);
    }
}

#[test]
fn the_strictest_of_several_answers_counts_and_logs_around_them_do_no_harm() {
    let two = "{\"decision\":\"approve\"}\n{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\",\
               \"permissionDecisionReason\":\"r\"}}";
    check(PRE, &exit(0, two, ""), "deny reason=\"r\"");
    check(
        PRE,
        &exit(0, "Shell ready\n[1] started\n{\"decision\":\"block\",\"reason\":\"r\"}\nbye\n", ""),
        "deny reason=\"r\"",
    );
    check(PRE, &exit(0, "{\n  \"decision\": \"approve\"\n}{\"continue\": true}", ""), "allow");
    // A no that can be read stays the reason.
    check(
        PRE,
        &exit(0, "{\"decision\":\"block\",\"reason\":\"r\"}\n{cut", ""),
        "deny reason=\"r\" problem=\"it printed something that looks like JSON and cannot be read as such\"",
    );
}

#[test]
fn code_two_is_a_no_whatever_was_printed() {
    check(PRE, &exit(2, "", "not like this\n"), "deny reason=\"not like this\"");
    check(PRE, &exit(2, "{\"decision\":\"approve\"}", "no"), "deny reason=\"no\"");
    check(
        PRE,
        &exit(2, "{\"decision\":\"block\",\"reason\":\"from JSON\"}", ""),
        "deny reason=\"from JSON\"",
    );
    check(
        PRE,
        &exit(2, "{\"decision\":\"blo", ""),
        "deny reason=\"it ended with code 2 and gave no reason\"",
    );
    check(HookEvent::Stop, &exit(2, "", "run the tests"), "deny reason=\"run the tests\"");
    check(HookEvent::UserPromptSubmit, &exit(2, "", "no keys"), "deny reason=\"no keys\"");
    check(HookEvent::PostToolUse, &exit(2, "", "unformatted"), "deny reason=\"unformatted\"");
    // Nothing can be held up here.
    check(HookEvent::SessionStart, &exit(2, "", "oops"), "- problem=\"oops\"");
    check(HookEvent::Notification, &exit(2, "", ""), "- problem=\"it ended with code 2\"");
}

#[test]
fn elsewhere_what_goes_wrong_is_only_told_unless_the_entry_says_otherwise() {
    for event in HookEvent::ALL.into_iter().filter(|event| *event != PRE) {
        check(event, &exit(1, "", "boom"), "- problem=\"it ended with code 1: boom\"");
        check(event, &ran(End::TimedOut, b"", ""), "- problem=\"its time was up, and it was stopped\"");
    }
    let answer = read(HookEvent::UserPromptSubmit, &exit(1, "", "boom"), true);
    assert_eq!(line(&answer), refused("it ended with code 1: boom"));
}

#[test]
fn plain_words_are_told_to_the_model_where_a_session_or_a_prompt_begins() {
    for event in [HookEvent::SessionStart, HookEvent::UserPromptSubmit] {
        check(event, &exit(0, "  the branch is main\n", "log"), "- context=\"the branch is main\"");
        check(event, &exit(0, "{ code }\n", ""), "- context=\"{ code }\"");
        check(event, &exit(0, "see:\n{\"a\": 1}\n", ""), "- context=\"see:\\n{\\\"a\\\": 1}\"");
        check(event, &exit(0, "{}", ""), "-");
        check(event, &exit(0, "", ""), "-");
    }
    check(HookEvent::PostToolUse, &exit(0, "formatted 3 files", ""), "-");
    check(HookEvent::Stop, &exit(0, "bye", ""), "-");
}

#[test]
fn what_is_long_is_shortened_and_what_was_cut_is_no_answer() {
    let long = format!("begin{}end", "x".repeat(30_000));
    let answer = read(HookEvent::SessionStart, &exit(0, &long, ""), false);
    let context = answer.context.unwrap();
    assert!(context.starts_with("beginxxx") && context.ends_with("xxxend"), "both ends are there");
    assert!(context.contains("\n[20009 letters were left out]\n"), "{}", context.len());
    let cut = Ran { is_cut: true, ..exit(0, "{\"decision\":\"approve\"}", "") };
    check(
        PRE,
        &cut,
        &refused(
            "it printed more than is read, so its answer cannot be relied on: \"{\\\"decision\\\":\\\"approve\\\"}\"",
        ),
    );
    let words = Ran { is_cut: true, ..exit(0, "words without end", "") };
    let unread = "it printed more than is read, so its answer cannot be relied on: \"words without end\"";
    check(PRE, &words, &refused(unread));
    check(HookEvent::PostToolUse, &words, &format!("- problem={unread:?}"));
    check(HookEvent::SessionStart, &words, "- context=\"words without end\"");
    check(PRE, &exit(2, "", &"y".repeat(10)), "deny reason=\"yyyyyyyyyy\"");
    assert_eq!(read(PRE, &exit(2, "", &"y".repeat(50_000)), false).reason.unwrap().len(), 3999 + 31);
}

#[test]
fn what_a_terminal_would_obey_is_taken_out() {
    check(PRE, &exit(2, "", "\u{1b}[31mno\u{7}\r\nnever"), "deny reason=\"[31mno\\nnever\"");
}
