//! `mica format`, `mica outline` and `mica graph`.

use serde_json::Value;

use crate::{SEQUENCES, Stage, sequence};

#[test]
fn files_are_indented_once() {
    let messy = sequence("a", "<log/><filter xpath=\"${true}\"><then><drop/></then></filter>");
    let neat = sequence(
        "a",
        "    <log/>\n    <filter xpath=\"${true}\">\n        <then>\n            <drop/>\n        </then>\n    </filter>",
    );
    let stage = Stage::new(&[("a.xml", &messy), ("b.xml", &neat), ("c.xml", "<html> <p/></html>\n")]);
    let ran = stage.run(&["format", "--check"]);
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(1), "a.xml\n", "1 file would change, 1 as they should be.\n")
    );
    assert_eq!(stage.read("a.xml"), messy);
    assert_eq!(stage.run(&["format"]).code, Some(0));
    assert_eq!(stage.read("a.xml"), neat);
    assert_eq!(stage.read("c.xml"), "<html> <p/></html>\n", "what is no artifact is not ours");
    assert_eq!(stage.run(&["format", "--check"]).code, Some(0));
    let ran = stage.run_with(&["format", "--stdin"], &[], &messy);
    assert_eq!((ran.code, ran.out), (Some(0), neat));
}

#[test]
fn what_is_not_well_formed_is_left_alone() {
    let broken = sequence("a", "<log>");
    let stage = Stage::new(&[("a.xml", &broken)]);
    let ran = stage.run(&["format"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("mica: a.xml:2:"), "{}", ran.err);
    assert!(ran.err.contains(": left alone, because it is not well-formed: "), "{}", ran.err);
    assert_eq!(stage.read("a.xml"), broken);
    let ran = stage.run_with(&["format", "--stdin"], &[], &broken);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
}

#[test]
fn an_outline_names_steps_and_their_lines() {
    let stage = Stage::new(&[("a.xml", &sequence("a", "    <log/>\n    <sequence key=\"b\"/>"))]);
    let ran = stage.run(&["outline", "a.xml"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "    1  sequence a\n    2    log\n    3    sequence b\n")
    );
    let ran = stage.run(&["outline", "a.xml", "--format", "json"]);
    let items: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&items[2]["label"], &items[2]["depth"]), (&Value::from("sequence b"), &Value::from(1)));
    assert_eq!(items[2]["selection"]["line"], 3);
    assert_eq!(stage.run(&["outline", "gone.xml"]).code, Some(2));
}

#[test]
fn a_graph_has_calls_and_what_is_missing() {
    let stage = Stage::new(&[(&format!("{SEQUENCES}/a.xml"), &sequence("a", "    <sequence key=\"b\"/>"))]);
    let ran = stage.run(&["graph", "project"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (
            Some(0),
            "flowchart LR\n    n0[\"a<br/><small>sequence</small>\"]\n    n1[\"b<br/><small>sequence, missing</small>\"]\n    \
             n0 --> n1\n    classDef missing stroke:#c62828,stroke-dasharray:4 3,color:#c62828\n    class n1 missing\n"
        )
    );
    let ran = stage.run(&["graph", "project", "--format", "json"]);
    let graph: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(graph["nodes"][0]["path"], "src/main/wso2mi/artifacts/sequences/a.xml");
    assert!(stage.run(&["graph", "project", "--format", "svg"]).out.starts_with("<svg xmlns="));
    assert!(stage.run(&["graph", "project", "--format", "dot"]).out.starts_with("digraph calls {"));
    assert_eq!(stage.run(&["graph", "nowhere"]).code, Some(2));
}

#[test]
fn an_editor_is_served_until_it_says_goodbye() {
    let stage = Stage::new(&[]);
    let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let said: String = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ]
    .map(frame)
    .concat();
    let ran = stage.run_with(&["lsp"], &[], &said);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains(r#""documentFormattingProvider":true"#), "{}", ran.out);
}
