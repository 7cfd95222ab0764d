//! Outlines, folds, selections, tokens and linked names.

use serde_json::{Value, json};
use synapse_ls::Options;

use crate::client::{Client, Folder, at};
use crate::sequence;

const API: &str = "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/orders\">\n  <resource methods=\"GET\" uri-template=\"/{id}\">\n    <inSequence>\n      <log/>\n      <respond/>\n    </inSequence>\n  </resource>\n</api>\n";

fn names(symbols: &Value, depth: usize, into: &mut Vec<String>) {
    for one in symbols.as_array().into_iter().flatten() {
        into.push(format!("{}{} {}", "  ".repeat(depth), one["name"].as_str().unwrap(), one["kind"]));
        names(&one["children"], depth + 1, into);
    }
}

#[test]
fn outlines_are_trees_or_lists() {
    let document = json!({ "textDocument": { "uri": "file:///alone/a.xml" } });
    let mut client = Client::start();
    client.open("file:///alone/a.xml", API);
    let symbols = client.request("textDocument/documentSymbol", document.clone()).unwrap();
    let mut found = Vec::new();
    names(&symbols, 0, &mut found);
    assert_eq!(
        found,
        ["api Orders 5", "  resource GET /{id} 6", "    inSequence 6", "      log 12", "      respond 12"]
    );
    assert_eq!(symbols[0]["selectionRange"]["start"], json!({ "line": 0, "character": 1 }));
    let mut plain = Client::with(json!({}), None, Options::default());
    plain.open("file:///alone/a.xml", API);
    let symbols = plain.request("textDocument/documentSymbol", document).unwrap();
    let list: Vec<&str> =
        symbols.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(list, ["api Orders", "resource GET /{id}", "inSequence", "log", "respond"]);
    assert_eq!(symbols[0]["location"]["uri"], "file:///alone/a.xml");
}

#[test]
fn very_deep_documents_have_an_outline() {
    let mut client = Client::start();
    let uri = "file:///alone/deep.xml";
    client.open(uri, &format!("<sequence name='s'>{}", "<filter><then>".repeat(20_000)));
    let symbols =
        client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } })).unwrap();
    assert_eq!(symbols[0]["name"], "sequence s");
    let selection =
        json!({ "textDocument": { "uri": uri }, "positions": [{ "line": 0, "character": 200_000 }] });
    assert!(client.request("textDocument/selectionRange", selection).is_ok());
}

#[test]
fn artifacts_are_found_by_name() {
    let folder = Folder::new();
    let mut client = Client::start_in(folder.root());
    let found = client.request("workspace/symbol", json!({ "query": "oep" })).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!((&found[0]["name"], &found[0]["containerName"]), (&json!("OrdersEP"), &json!("Endpoint")));
    assert_eq!(found[0]["location"]["uri"], folder.uri("endpoints/OrdersEP.xml"));
    let all = client.request("workspace/symbol", json!({ "query": "" })).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 5);
}

#[test]
fn elements_and_comments_of_several_lines_fold() {
    let mut client = Client::start();
    let uri = "file:///alone/a.xml";
    client.open(uri, &format!("{API}<!-- a\nb -->\n"));
    let folds =
        client.request("textDocument/foldingRange", json!({ "textDocument": { "uri": uri } })).unwrap();
    let lines: Vec<(u64, u64, Value)> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["startLine"].as_u64().unwrap(), one["endLine"].as_u64().unwrap(), one["kind"].clone())
        })
        .collect();
    assert_eq!(
        lines,
        [(0, 6, Value::Null), (1, 5, Value::Null), (2, 4, Value::Null), (8, 9, json!("comment"))]
    );
}

#[test]
fn selections_grow() {
    let mut client = Client::start();
    let (text, position) = at("<a><b c=\"va|l\"/></a>");
    let uri = "file:///alone/a.xml";
    client.open(uri, &text);
    let params = json!({ "textDocument": { "uri": uri }, "positions": [position] });
    let answer = client.request("textDocument/selectionRange", params).unwrap();
    let mut one = &answer[0];
    let mut found = Vec::new();
    while one.is_object() {
        let column = |end: &str| one["range"][end]["character"].as_u64().unwrap() as usize;
        found.push(text[column("start")..column("end")].to_owned());
        one = &one["parent"];
    }
    assert_eq!(found, ["val", "c=\"val\"", "<b c=\"val\"/>", "<a><b c=\"val\"/></a>"]);
}

#[test]
fn the_parts_of_expressions_are_tokens() {
    let mut client = Client::start();
    let uri = "file:///alone/a.xml";
    let text = sequence("\n<log><message>${vars.x + toUpper('a') > 1}\n${payload.b}</message></log>");
    client.open(uri, &text);
    let ask = json!({ "textDocument": { "uri": uri } });
    let tokens = client.request("textDocument/semanticTokens/full", ask.clone()).unwrap();
    let legend = client.welcome["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let lines: Vec<&str> = text.split('\n').collect();
    let shown = |tokens: &Value| {
        let data: Vec<usize> =
            tokens["data"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap() as usize).collect();
        let (mut line, mut column) = (0, 0);
        data.chunks(5)
            .map(|one| {
                column = if one[0] == 0 { column + one[1] } else { one[1] };
                line += one[0];
                (lines[line][column..column + one[2]].to_owned(), legend[one[3]].as_str().unwrap().to_owned())
            })
            .collect::<Vec<_>>()
    };
    let pair = |text: &str, kind: &str| (text.to_owned(), kind.to_owned());
    let first = [
        pair("vars", "keyword"),
        pair("x", "variable"),
        pair("+", "operator"),
        pair("toUpper", "function"),
        pair("'a'", "string"),
        pair(">", "operator"),
        pair("1", "number"),
    ];
    let second = [pair("payload", "keyword"), pair("b", "property")];
    assert_eq!(shown(&tokens), [&first[..], &second[..]].concat());
    let mut ranged = ask;
    ranged["range"] = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 5 } });
    let tokens = client.request("textDocument/semanticTokens/range", ranged).unwrap();
    assert_eq!(tokens["data"], json!([]));
}

#[test]
fn names_of_tags_change_together() {
    let mut client = Client::start();
    for text in ["<a><bo|dy>x</body></a>", "<a><body>x</bo|dy></a>"] {
        let linked = client.ask_at_cursor("textDocument/linkedEditingRange", text);
        let starts: Vec<&Value> =
            linked["ranges"].as_array().unwrap().iter().map(|range| &range["start"]["character"]).collect();
        assert_eq!(starts, [4, 12], "{text}");
    }
    assert_eq!(client.ask_at_cursor("textDocument/linkedEditingRange", "<a|/>"), Value::Null);
}
