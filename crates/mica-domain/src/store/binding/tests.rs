use serde_json::json;

use super::*;
use crate::store::Given;
use crate::store::tests::{loose, store};

fn reply() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "required": ["thread", "body", "sender"],
        "properties": {
            "thread": { "type": "string", "description": "Which thread." },
            "body": { "type": "string" },
            "sender": { "type": "string" },
            "tag": true,
        },
    });
    ToolSpec::new("reply", "Replies.", schema)
}

fn bindings() -> Bindings {
    let reference = |text: &str| Reference::parse(text).unwrap();
    Bindings::default().over([
        Binding::constant("reply", "sender", "support@example.org"),
        Binding::reference("reply", "thread", reference("var:thread.id")),
        Binding::reference("reply", "tag", reference("var:tag")),
        Binding::constant("reply", "body", "never"),
        Binding::model("reply", "body"),
    ])
}

#[test]
fn what_is_bound_stays_in_the_schema() {
    let shaped = bindings().shaped(&reply()).unwrap();
    assert_eq!(
        shaped.schema,
        json!({
            "type": "object",
            "required": ["thread", "body"],
            "properties": {
                "thread": {
                    "type": "string",
                    "description": "Which thread. Filled in from var:thread.id: leave it out. What is written here is not used.",
                },
                "body": { "type": "string" },
                "sender": { "type": "string", "description": "Set for you: leave it out. What is written here is not used." },
                "tag": { "description": "Filled in from var:tag: leave it out. What is written here is not used." },
            },
        })
    );
    assert_eq!(bindings().shaped(&ToolSpec::new("look", "Looks.", json!({}))), None);
}

#[tokio::test]
async fn what_is_bound_is_put_in() {
    let given = Given { bindings: bindings(), ..Given::default() };
    let store = store(&loose(), given);
    let args = |value: Value| value.as_object().unwrap().clone();
    let mut without = args(json!({ "thread": "t9", "body": "Hi", "tag": "mine" }));
    assert_eq!(
        store.bind(&reply(), &mut without).unwrap_err(),
        "reply was not run: thread is required, and is filled in from var:thread.id. var:thread.id stands for nothing: there is no \
         var:thread. There is: sys:now. Do first what gives it a value, then call reply again."
    );
    assert_eq!(
        without,
        args(json!({ "body": "Hi", "sender": "support@example.org" })),
        "nothing of the model's is left"
    );

    store.write(&Reference::var("thread"), json!({ "id": "t1" })).await.unwrap();
    let mut with = args(json!({ "thread": "t9", "body": "Hi", "sender": "ceo@example.org" }));
    for _ in 0..2 {
        store.bind(&reply(), &mut with).unwrap();
        assert_eq!(with, args(json!({ "thread": "t1", "body": "Hi", "sender": "support@example.org" })));
    }
}

#[test]
fn what_is_bound_must_be_there() {
    assert_eq!(bindings().check([&reply()]), Ok(()));
    let wrong = Bindings::default().over([Binding::constant("reply", "recipient", 1)]);
    assert_eq!(
        wrong.check([&reply()]).unwrap_err().to_string(),
        "reply.recipient is bound, but is not an argument of a tool"
    );
    assert!(Bindings::default().over([Binding::model("reply", "body")]).is_empty());
}

#[test]
fn bindings_are_data() {
    let written = json!([
        { "tool": "reply", "argument": "sender", "to": { "constant": "x" } },
        { "tool": "reply", "argument": "thread", "to": { "ref": "tool:find_threads.items[0].id" } },
        { "tool": "reply", "argument": "body", "to": "model" },
    ]);
    let read: Vec<Binding> = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
    let wrong = serde_json::from_value::<Bound>(json!({ "ref": "tool:" })).unwrap_err();
    assert!(wrong.to_string().starts_with("\"tool:\" is not understood at character 6"), "{wrong}");
}
