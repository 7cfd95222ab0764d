//! Answers in words.

use serde_json::json;

use super::*;

fn no(reason: Option<&str>) -> Answer {
    Answer::No { reason: reason.map(str::to_owned) }
}

#[test]
fn only_what_is_clear_decides() {
    for (line, expect) in [
        ("y", Answer::Yes),
        ("Yes", Answer::Yes),
        ("yes, please", Answer::Yes),
        ("Yes please!", Answer::Yes),
        ("ok", Answer::Yes),
        ("OK.", Answer::Yes),
        ("sure", Answer::Yes),
        ("sure, go ahead", Answer::Yes),
        ("go ahead", Answer::Yes),
        ("do it", Answer::Yes),
        ("please do", Answer::Yes),
        ("of course", Answer::Yes),
        ("sounds good", Answer::Yes),
        ("n", no(None)),
        ("no", no(None)),
        ("No.", no(None)),
        ("n it is not theirs", no(Some("it is not theirs"))),
        ("no, wrong customer", no(Some("wrong customer"))),
        ("no - because Ana left", no(Some("Ana left"))),
        ("don't", no(None)),
        ("Don’t send it", no(Some("send it"))),
        ("do not send it", no(Some("send it"))),
        ("reject", no(None)),
        ("l", Answer::Later),
        ("later", Answer::Later),
        ("Not now.", Answer::Later),
        ("e body=Hello", Answer::Edit("body=Hello".to_owned())),
        ("Edit body=a b", Answer::Edit("body=a b".to_owned())),
        ("e", Answer::Edit(String::new())),
        // A yes with something to it is none, and a no that is none is none.
        ("yes, but send it tomorrow", Answer::Unclear),
        ("ok?", Answer::Unclear),
        ("sure about that?", Answer::Unclear),
        ("no problem", Answer::Unclear),
        ("no worries, go ahead", Answer::Unclear),
        ("no wait, yes", Answer::Unclear),
        ("do", Answer::Unclear),
        ("maybe", Answer::Unclear),
        ("who is Ana?", Answer::Unclear),
        ("nobody asked for that", Answer::Unclear),
        ("yesterday", Answer::Unclear),
        ("", Answer::Unclear),
        ("…", Answer::Unclear),
    ] {
        assert_eq!(read(line), expect, "{line:?}");
    }
}

#[test]
fn changes_have_the_kind_of_what_they_change() {
    let now = json!({ "body": "Hi", "count": 2, "tags": ["a"], "flag": true });
    for (text, expect) in [
        ("body=Hello = Ana_Silva", Ok(json!({ "body": "Hello = Ana_Silva" }))),
        ("body=\"Hello Ana\"", Ok(json!({ "body": "Hello Ana" }))),
        ("body=Hello\\n\\nAna", Ok(json!({ "body": "Hello\n\nAna" }))),
        ("body=\"Hello Ana\" count=3 new=me", Ok(json!({ "body": "Hello Ana", "count": 3, "new": "me" }))),
        ("count=3", Ok(json!({ "count": 3 }))),
        ("tags=one, two_b", Ok(json!({ "tags": ["one", "two_b"] }))),
        ("tags=[\"x\"]", Ok(json!({ "tags": ["x"] }))),
        ("flag=false", Ok(json!({ "flag": false }))),
        ("new=3", Ok(json!({ "new": "3" }))),
        ("{\"count\": 4}", Ok(json!({ "count": 4 }))),
        ("count=many", Err("\"many\" does not fit: it is a number")),
        ("hello", Err("write for example: e body=Hello Ana, or e {\"body\": \"Hello Ana\"}")),
    ] {
        let changed = changes(text, &now).map(serde_json::Value::Object).map_err(|error| error.to_string());
        assert_eq!(changed, expect.map_err(str::to_owned), "{text}");
    }
}
