//! Completion, in every kind of place.

use serde_json::{Value, json};
use synapse_ls::Options;

use crate::client::{Client, Folder, at};
use crate::sequence;

/// The labels for the cursor in some steps.
fn labels(client: &mut Client, text: &str) -> Vec<String> {
    let list = client.ask_at_cursor("textDocument/completion", text);
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

fn item(client: &mut Client, text: &str, label: &str) -> Value {
    let list = client.ask_at_cursor("textDocument/completion", text);
    let items = list["items"].as_array().unwrap();
    items.iter().find(|item| item["label"] == label).unwrap_or_else(|| panic!("no {label} in {list}")).clone()
}

fn inserted(item: &Value) -> &str {
    item["textEdit"]["newText"].as_str().unwrap()
}

#[test]
fn steps_are_offered_where_steps_may_stand() {
    let mut client = Client::start();
    let found = labels(&mut client, &sequence("<|"));
    assert!(found.contains(&"log".to_owned()) && found.contains(&"variable".to_owned()), "{found:?}");
    assert!(!found.contains(&"inSequence".to_owned()), "{found:?}");
    let log = item(&mut client, &sequence("<lo|"), "log");
    assert_eq!(inserted(&log), "log>$0</log>");
    assert_eq!(log["insertTextFormat"], 2);
    assert_eq!(log["detail"], "Writes a line to the log of the runtime.");
    let property = item(&mut client, &sequence("<|"), "property");
    assert_eq!(inserted(&property), "property name=\"$1\"/>$0");
    // In a tag that goes on, only the name is wanted.
    assert_eq!(inserted(&item(&mut client, &sequence("<lo| level=\"full\"/>"), "log")), "log");
    // Between tags the bracket is missing too.
    let typed = item(&mut client, &sequence("lo|"), "log");
    assert_eq!(inserted(&typed), "<log>$0</log>");
    assert_eq!(typed["textEdit"]["range"]["start"]["character"], sequence("").find("</").unwrap());
}

#[test]
fn parts_are_offered_as_often_as_they_may_stand() {
    let mut client = Client::start();
    let api = |inside: &str| {
        format!("<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" context=\"/a\">{inside}</api>")
    };
    assert_eq!(
        labels(&mut client, &api("<resource><|</resource>")),
        ["inSequence", "outSequence", "faultSequence", "description"]
    );
    assert_eq!(
        labels(&mut client, &api("<resource><inSequence/><|</resource>")),
        ["outSequence", "faultSequence", "description"]
    );
}

#[test]
fn artifacts_are_offered_in_an_empty_document() {
    let mut client = Client::start();
    let api = item(&mut client, "<|", "api");
    assert_eq!(
        inserted(&api),
        "api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"$1\" context=\"$2\">$0</api>"
    );
    assert_eq!(labels(&mut client, "<api/>\n<|"), [""; 0]);
}

#[test]
fn end_tags_close_what_is_open() {
    let mut client = Client::start();
    for (text, expected) in [
        ("<sequence name='s'><log></|", "log>"),
        ("<sequence name='s'><log></lo|", "log>"),
        ("<sequence name='s'><log></|>", "log"),
        ("<sequence name='s'><log/></|", "sequence>"),
    ] {
        let list = client.ask_at_cursor("textDocument/completion", text);
        let items = list["items"].as_array().unwrap();
        assert_eq!(items.iter().map(inserted).collect::<Vec<_>>(), [expected], "{text}");
    }
}

#[test]
fn attributes_are_offered_once() {
    let mut client = Client::start();
    let found = labels(&mut client, &sequence("<log level=\"full\" |/>"));
    assert_eq!(
        found,
        [
            "category",
            "separator",
            "logFullPayload",
            "logMessageID",
            "description",
            "statistics",
            "trace",
            "traceFilter"
        ]
    );
    let one = item(&mut client, &sequence("<log cat|/>"), "category");
    assert_eq!(inserted(&one), "category=\"$1\"");
    assert_eq!(one["sortText"], "2category");
    // With its value there, only the name is replaced.
    assert_eq!(inserted(&item(&mut client, &sequence("<log cat|=\"INFO\"/>"), "category")), "category");
    // What newer versions brought is not offered for older ones.
    let options = Options { runtime: Some(synapse_lang::model::Version::new(4, 3, 0)), ..Options::default() };
    let mut old = Client::with(crate::client::abilities(), None, options);
    assert_eq!(
        labels(&mut old, &sequence("<log |/>")),
        ["level", "category", "separator", "description", "statistics", "trace", "traceFilter"]
    );
}

#[test]
fn values_of_closed_sets_are_offered() {
    let mut client = Client::start();
    assert_eq!(labels(&mut client, &sequence("<log level=\"|\"/>")), ["simple", "headers", "full", "custom"]);
    assert_eq!(labels(&mut client, &sequence("<log logMessageID=\"t|\"/>")), ["true", "false"]);
    let api = "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" context=\"/a\"><resource methods=\"GET P|\"/></api>";
    let post = item(&mut client, api, "POST");
    let start = api.find("P|").unwrap();
    assert_eq!(post["textEdit"]["range"]["start"]["character"], start);
}

#[test]
fn names_of_the_project_are_offered() {
    let folder = Folder::new();
    let mut client = Client::start_in(folder.root());
    let mut in_project = |steps: &str| {
        let (text, position) = at(&sequence(steps));
        let uri = folder.uri("sequences/S.xml");
        client.open(&uri, &text);
        let list = client.request_at("textDocument/completion", &uri, &position, &Value::Null);
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        let items = list["items"].as_array().unwrap();
        items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(in_project("<sequence key=\"|\"/>")[..3], ["Audit", "Main", "S"]);
    assert_eq!(in_project("<call><endpoint key=\"|\"/></call>")[..1], ["OrdersEP"]);
    assert_eq!(in_project("<call-template target=\"|\"/>"), ["Notify"]);
    assert_eq!(in_project("<http.get configKey=\"|\"/>"), ["Conn"]);
    assert_eq!(
        in_project("<call-template target=\"Notify\"><with-param name=\"|\"/></call-template>"),
        ["kind", "note"]
    );
    assert_eq!(
        in_project(
            "<call-template target=\"Notify\"><with-param name=\"kind\" value=\"1\"/><with-param name=\"|\"/></call-template>"
        ),
        ["note"]
    );
    assert_eq!(in_project("<log><message>${configs.|}</message></log>"), ["port", "url"]);
    let keys = in_project("<xslt key=\"|\"/>");
    assert_eq!(keys[..2], ["Conn", "resources:json/schema.json"]);
}

#[test]
fn expressions_offer_roots_functions_and_names() {
    let mut client = Client::start();
    let found = labels(&mut client, &sequence("<log><message>${|}</message></log>"));
    assert_eq!(found[..6], ["payload", "vars", "headers", "params", "props", "configs"]);
    assert!(found.contains(&"toUpper".to_owned()));
    let function = item(&mut client, &sequence("<log><message>${toU|}</message></log>"), "toUpper");
    assert_eq!(inserted(&function), "toUpper($1)$0");
    assert_eq!(function["detail"], "toUpper(text)");
    let steps = "<variable name=\"first\" value=\"1\"/><log><message>${vars.|}</message></log><variable name=\"later\" value=\"1\"/>";
    let list = client.ask_at_cursor("textDocument/completion", &sequence(steps));
    let items = list["items"].as_array().unwrap().iter();
    let ranked: Vec<&str> = items.map(|item| item["sortText"].as_str().unwrap()).collect();
    assert_eq!(ranked, ["1first", "2later"]);
    assert_eq!(
        labels(&mut client, &sequence("<log><message>${params.|}</message></log>")),
        ["pathParams", "queryParams", "functionParams"]
    );
    assert_eq!(
        labels(&mut client, &sequence("<log><message>${props.|}</message></log>")),
        ["synapse", "axis2"]
    );
    assert_eq!(labels(&mut client, &sequence("<log><message>${payload.|}</message></log>")), [""; 0]);
    assert_eq!(labels(&mut client, &sequence("<log><message>${'text |}</message></log>")), [""; 0]);
    assert_eq!(labels(&mut client, &sequence("<log><message>${payload.a |}</message></log>")), ["and", "or"]);
    let api = "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" context=\"/a\"><resource uri-template=\"/o/{id}/{+rest}?page={page}\"><inSequence><log><message>${params.ROOT.|}</message></log></inSequence></resource></api>";
    assert_eq!(labels(&mut client, &api.replace("ROOT", "pathParams")), ["id", "rest"]);
    assert_eq!(labels(&mut client, &api.replace("ROOT", "queryParams")), ["page"]);
}

#[test]
fn names_that_need_brackets_get_them() {
    let mut client = Client::start();
    let steps = "<variable name=\"a.b\" value=\"1\"/><property name=\"x\" expression=\"${vars.|}\"/>";
    let one = item(&mut client, &sequence(steps), "a.b");
    assert_eq!(inserted(&one), "[&quot;a.b&quot;]");
    let dot = sequence(steps).find(".|").unwrap();
    assert_eq!(one["textEdit"]["range"]["start"]["character"], dot);
}

#[test]
fn properties_headers_and_parameters_are_offered() {
    let mut client = Client::start();
    let found = labels(&mut client, &sequence("<property name=\"|\" scope=\"axis2\"/>"));
    assert!(found.contains(&"HTTP_SC".to_owned()), "{found:?}");
    let found = labels(&mut client, &sequence("<header name=\"|\" scope=\"transport\"/>"));
    assert!(found.contains(&"Content-Type".to_owned()), "{found:?}");
    let inbound = "<inboundEndpoint xmlns=\"http://ws.apache.org/ns/synapse\" name=\"I\" protocol=\"http\"><parameters><parameter name=\"|\"/></parameters></inboundEndpoint>";
    let found = labels(&mut client, inbound);
    assert!(found.contains(&"inbound.http.port".to_owned()), "{found:?}");
}

#[test]
fn expressions_are_offered_in_the_form_of_their_place() {
    let mut client = Client::start();
    let path = item(&mut client, &sequence("<property name=\"a\" expression=\"|\"/>"), "${\u{2026}}");
    assert_eq!(inserted(&path), "\\${$1\\}");
    let value = "<call-template target=\"T\"><with-param name=\"a\" value=\"|\"/></call-template>";
    assert_eq!(inserted(&item(&mut client, &sequence(value), "{${\u{2026}}}")), "{\\${$1\\}\\}");
}

#[test]
fn clients_without_snippets_get_plain_text() {
    let mut client = Client::with(json!({}), None, Options::default());
    let log = item(&mut client, &sequence("<lo|"), "log");
    assert_eq!(inserted(&log), "log></log>");
    assert_eq!(log.get("insertTextFormat"), None);
    assert_eq!(log["documentation"]["kind"], "plaintext");
}
