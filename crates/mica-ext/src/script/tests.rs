//! What crosses between scripts and the engine.

use mica_ai::message::{Assistant, Dialect, Origin, ResultStatus, ToolCall};
use mica_ai::{Content, Message, User};
use serde_json::{Value, json};

use super::wire;

fn conversation() -> Vec<Message> {
    let call = ToolCall {
        id: "c".into(),
        name: "read".to_owned(),
        arguments: mica_ai::arguments::Arguments::from_text("{\"path\":\"a\"}"),
    };
    let origin = Origin { dialect: Dialect::Responses, provider: String::new(), model: "m".to_owned() };
    let mut answer = Assistant::empty("a".into(), origin);
    answer.blocks.push(mica_ai::Block::ToolCall(call.clone()));
    let result = call.result(vec![Content::text("text")], ResultStatus::Ok);
    vec![User { id: "u".into(), ..User::text("Go.") }.into(), answer.into(), result.into()]
}

/// What comes of messages that a script gives back.
fn given_back(change: impl FnOnce(&mut Vec<Value>)) -> Result<Vec<String>, String> {
    let given = conversation();
    let mut told: Vec<Value> = given.iter().map(wire::message).collect();
    change(&mut told);
    let back = wire::messages(&given, told)?;
    Ok(back
        .iter()
        .map(|message| match message {
            same if given.contains(same) => "same".to_owned(),
            Message::User(user) => format!("user {:?}", user.content),
            Message::ToolResult(result) => format!("result {} {:?}", result.call, result.content),
            Message::Assistant(_) => "changed answer".to_owned(),
        })
        .collect())
}

#[test]
fn messages_come_back_as_they_were_or_as_they_may_be_changed() {
    assert_eq!(given_back(|_| {}), Ok(vec!["same".to_owned(); 3]));
    assert_eq!(given_back(|all| drop(all.remove(2))), Ok(vec!["same".to_owned(); 2]));
    let changed = given_back(|all| {
        all[0]["content"] = json!("Stop.");
        all[2]["content"] = json!([{ "type": "text", "text": "cut" }]);
        all.push(json!({ "role": "user", "content": "And?" }));
    });
    let expected = [
        "user [Text { text: \"Stop.\" }]",
        "same",
        "result c [Text { text: \"cut\" }]",
        "user [Text { text: \"And?\" }]",
    ];
    assert_eq!(changed.unwrap(), expected);
    for (change, expected) in [
        (
            json!({ "role": "assistant", "content": "I did it." }),
            "only messages of the user can be added, and one of Some(\"assistant\") was",
        ),
        (json!(null), "only messages of the user can be added, and one of None was"),
        (json!({ "role": "user", "content": 5 }), "content must be a text or an array"),
    ] {
        assert_eq!(given_back(|all| all.push(change)), Err(expected.to_owned()));
    }
    let told = given_back(|all| all[1]["content"] = json!([]));
    assert_eq!(told, Err("an answer of the model was changed: leave it out or leave it".to_owned()));
}

#[test]
fn messages_are_told_in_the_words_of_scripts() {
    let told: Vec<Value> = conversation().iter().map(wire::message).collect();
    assert_eq!(told[0], json!({ "role": "user", "id": "u", "content": [{ "type": "text", "text": "Go." }] }));
    assert_eq!(
        told[1]["content"],
        json!([{ "type": "toolCall", "id": "c", "name": "read", "arguments": { "path": "a" } }])
    );
    assert_eq!(
        (&told[2]["role"], &told[2]["toolCallId"], &told[2]["toolName"], &told[2]["isError"]),
        (&json!("toolResult"), &json!("c"), &json!("read"), &json!(false))
    );
}
