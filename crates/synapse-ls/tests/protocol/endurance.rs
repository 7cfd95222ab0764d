//! Every example of the language is opened, edited badly, and asked everything, everywhere.

use serde_json::{Value, json};
use synapse_lang::model::Model;

use crate::client::Client;
use crate::sequence;

/// What people leave behind in the middle of typing.
const PIECES: [&str; 10] = ["<", "\"", "${", "</", "&", "}", "<log level=\"", "${vars.", "\u{1f600}", ""];
const AT_A_PLACE: [&str; 7] = [
    "hover",
    "definition",
    "documentHighlight",
    "completion",
    "signatureHelp",
    "linkedEditingRange",
    "prepareRename",
];
const OF_A_DOCUMENT: [&str; 4] = ["documentSymbol", "foldingRange", "semanticTokens/full", "diagnostic"];

/// A small generator of its own: the same edits in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Asks; whatever the answer is, the server must not have failed.
fn ask(client: &mut Client, method: &str, params: Value) {
    if let Err(error) = client.request(method, params.clone()) {
        assert_eq!(error["code"], -32803, "{method} {params}: {error}");
    }
}

#[test]
fn nothing_that_is_typed_makes_a_feature_fail() {
    let mut client = Client::start();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let examples = Model::get().elements().flat_map(|element| &element.examples);
    let mut asked = 0;
    for (index, example) in examples.enumerate() {
        let uri = format!("file:///alone/{index}.xml");
        let mut text = sequence(&format!("\n{}\n", example.xml));
        client.open(&uri, &text);
        for version in 2..=4 {
            let lines: Vec<&str> = text.split('\n').collect();
            let line = numbers.below(lines.len());
            let mut cuts: Vec<usize> = lines[line].char_indices().map(|(at, _)| at).collect();
            cuts.push(lines[line].len());
            let (from, to) = (cuts[numbers.below(cuts.len())], cuts[numbers.below(cuts.len())]);
            let (from, to) = (from.min(to), from.max(to));
            let piece = PIECES[numbers.below(PIECES.len())];
            let place = |character: usize| json!({ "line": line, "character": character });
            let range = json!({ "start": place(from), "end": place(to) });
            client.change(&uri, version, json!([{ "range": range, "text": piece }]));
            let changed = format!("{}{piece}{}", &lines[line][..from], &lines[line][to..]);
            let mut lines: Vec<&str> = lines.clone();
            lines[line] = &changed;
            let cursor = place(from + piece.len());
            text = lines.join("\n");
            let document = json!({ "uri": uri });
            for method in AT_A_PLACE {
                let params = json!({ "textDocument": document, "position": cursor });
                ask(&mut client, &format!("textDocument/{method}"), params);
                asked += 1;
            }
            for method in OF_A_DOCUMENT {
                ask(&mut client, &format!("textDocument/{method}"), json!({ "textDocument": document }));
            }
            let everything = json!({ "start": place(0), "end": place(999) });
            let params =
                json!({ "textDocument": document, "range": everything, "context": { "diagnostics": [] } });
            ask(&mut client, "textDocument/codeAction", params);
        }
        // The server has the same text as we: an edit in the wrong place would show as another outline.
        let mut fresh = json!({ "textDocument": { "uri": uri } });
        let edited = client.request("textDocument/documentSymbol", fresh.clone()).unwrap();
        let again = format!("file:///alone/{index}-again.xml");
        client.open(&again, &text);
        fresh["textDocument"]["uri"] = json!(again);
        assert_eq!(client.request("textDocument/documentSymbol", fresh).unwrap(), edited, "{text}");
    }
    assert!(asked > 1000, "only {asked} questions: are there examples?");
}
