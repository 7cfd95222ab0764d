//! `mica check`.

use serde_json::{Value, json};

use crate::{BARE, CLEAN, SEQUENCES, Stage, sequence};

const TEXT: &str = "\
a.xml:2:43: error SYN0201: \"payload.name\" is read as XPath here, looks for an element of that name and finds nothing; a Synapse expression stands in ${}
 2 |     <variable name=\"customer\" expression=\"payload.name\"/>
   |                                           ^^^^^^^^^^^^
   at run time: the value is empty, and the flow goes on
   fix: Wrap it in ${} (mica fix)

1 error in 1 of 2 files, TIME. `mica fix` repairs 1.
`mica explain SYN0201` says more about a code.
";

fn stage() -> Stage {
    Stage::new(&[("a.xml", &sequence("a", BARE)), ("b.xml", &sequence("b", CLEAN)), ("notes.txt", "x")])
}

#[test]
fn findings_are_told_with_excerpt_reason_and_repair() {
    let ran = stage().run(&["check", "--severity", "warning"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(1), TEXT, ""));
}

#[test]
fn a_clean_file_is_no_error() {
    let ran = stage().run(&["check", "b.xml", "--severity", "warning"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "No findings in 1 file, TIME.\n"));
}

#[test]
fn json_has_every_file_and_exact_places() {
    let ran = stage().run(&["check", "--format", "json", "--severity", "warning"]);
    assert_eq!(ran.code, Some(1));
    let message = "\"payload.name\" is read as XPath here, looks for an element of that name and finds nothing; a Synapse expression stands in ${}";
    let place = |more: Value| {
        let mut whole = json!({ "line": 2, "column": 43, "endLine": 2, "endColumn": 55 });
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        whole
    };
    let insert = |column: u32, text: &str| json!({ "line": 2, "column": column, "endLine": 2, "endColumn": column, "text": text });
    let finding = place(json!({
        "code": "SYN0201", "class": "EMPTY", "severity": "error", "message": message,
        "fixes": [{ "title": "Wrap it in ${}", "safety": "safe", "edits": [insert(43, "${"), insert(55, "}")] }],
    }));
    assert_eq!(
        serde_json::from_str::<Value>(&ran.out).unwrap(),
        json!({
            "files": [
                { "path": "a.xml", "kind": "sequence", "diagnostics": [finding] },
                { "path": "b.xml", "kind": "sequence", "diagnostics": [] },
            ],
            "summary": { "files": 2, "errors": 1, "warnings": 0, "hints": 0 },
        })
    );
}

#[test]
fn columns_count_code_units_of_utf_16() {
    let steps = "    <variable name=\"\u{1f600}\u{e9}\" expression=\"payload.name\"/>";
    let stage = Stage::new(&[("a.xml", &sequence("a", steps))]);
    let ran = stage.run(&["check", "a.xml", "--format", "json", "--severity", "error"]);
    let whole: Value = serde_json::from_str(&ran.out).unwrap();
    let finding = &whole["files"][0]["diagnostics"][0];
    // The face counts twice.
    assert_eq!((&finding["column"], &finding["endColumn"]), (&json!(38), &json!(50)));
}

#[test]
fn workflow_commands_are_one_row_each() {
    let ran = stage().run(&["check", "--format", "github", "--severity", "error"]);
    assert_eq!(
        ran.out,
        "::error file=a.xml,line=2,col=43,endLine=2,endColumn=55,title=SYN0201 bare-expression::\"payload.name\" is read \
         as XPath here, looks for an element of that name and finds nothing; a Synapse expression stands in ${}\n"
    );
}

#[test]
fn what_cannot_run_is_two() {
    for (arguments, told) in [
        (&["check", "nowhere"][..], "mica: nowhere: there is no such file or folder\n"),
        (
            &["check", "--runtime", "9.9"],
            "mica: --runtime: the language of 9.9.0 is not described; known are 4.1, 4.2, 4.3, 4.4, 4.5, 4.6\n",
        ),
        (
            &["check", "--runtime", "new"],
            "mica: --runtime: \"new\" is not a version: versions look like 4.4.0; known are 4.1, 4.2, 4.3, 4.4, 4.5, 4.6\n",
        ),
    ] {
        let ran = stage().run(arguments);
        assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (Some(2), told, ""), "{arguments:?}");
    }
    assert_eq!(stage().run(&["check", "--severity", "fatal"]).code, Some(2));
    assert_eq!(stage().run(&["check", "--path", "a.xml"]).code, Some(2), "--path belongs to --stdin");
}

#[cfg(unix)]
#[test]
fn one_file_that_cannot_be_read_does_not_hide_the_others() {
    use std::os::unix::ffi::OsStrExt;
    let stage = stage();
    let name = std::ffi::OsStr::from_bytes(b"c\xff.xml");
    std::fs::write(stage.path().join(name), sequence("c", CLEAN)).unwrap();
    let ran = stage.run(&["check", "--severity", "warning"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), TEXT));
    assert!(ran.err.ends_with("c\u{fffd}.xml: its name is not UTF-8\n"), "{}", ran.err);
}

#[test]
fn the_runtime_decides_what_is_known() {
    let stage = Stage::new(&[("a.xml", &sequence("a", CLEAN))]);
    assert_eq!(stage.run(&["check", "a.xml", "--runtime", "4.4.0"]).code, Some(0));
    let ran = stage.run(&["check", "a.xml", "--runtime", "4.3"]);
    assert_eq!(ran.code, Some(1), "expressions and variables came with 4.4: {}", ran.out);
}

#[test]
fn a_file_is_checked_with_its_project_in_view() {
    let here = format!("{SEQUENCES}/a.xml");
    // The folder says that these are sequences; alone, nobody knows.
    let wrong = "<endpoint xmlns=\"http://ws.apache.org/ns/synapse\" name=\"a\"><address uri=\"http://a\"/></endpoint>\n";
    let stage = Stage::new(&[(&here, wrong), (&format!("{SEQUENCES}/b.xml"), &sequence("b", BARE))]);
    let paths = |arguments: &[&str]| -> Vec<(String, usize)> {
        let ran = stage.run(&[&["check", "--format", "json", "--severity", "warning"], arguments].concat());
        let whole: Value = serde_json::from_str(&ran.out).unwrap();
        let files = whole["files"].as_array().unwrap().iter();
        files
            .map(|file| {
                (file["path"].as_str().unwrap().to_owned(), file["diagnostics"].as_array().unwrap().len())
            })
            .collect()
    };
    let (a, b) = (here.clone(), format!("{SEQUENCES}/b.xml"));
    let in_project = paths(&["project"]);
    assert_eq!(in_project.iter().map(|(path, _)| path).collect::<Vec<_>>(), [&a, &b]);
    assert_eq!(in_project[1].1, 1);
    assert!(in_project[0].1 > 0, "an endpoint among sequences");
    assert_eq!(paths(&[&a]), [in_project[0].clone()], "only the file that was named");
    assert_eq!(paths(&[SEQUENCES]), in_project);
    // Every path once, however often it is named; a folder above finds the project.
    assert_eq!(paths(&["project", &a, "."]), in_project);
    assert_eq!(paths(&["--standalone", &a]), [(a, 0)]);
}

#[test]
fn a_text_on_standard_input_stands_for_its_file() {
    let stage = stage();
    let ran = stage.run_with(
        &["check", "--stdin", "--path", "b.xml", "--severity", "warning"],
        &[],
        &sequence("b", BARE),
    );
    let expect = TEXT.replace("a.xml", "b.xml").replace("1 of 2 files", "1 of 1 file");
    assert_eq!((ran.code, ran.out), (Some(1), expect));
    let ran = stage.run_with(&["check", "--stdin", "--severity", "warning"], &[], &sequence("b", CLEAN));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "No findings in 1 file, TIME.\n"));
    // In a project, the others are in view and the file is the one from standard input.
    let path = format!("{SEQUENCES}/new.xml");
    stage.write(&format!("{SEQUENCES}/old.xml"), sequence("old", CLEAN).as_bytes());
    let ran = stage.run_with(
        &["check", "--stdin", "--path", &path, "--format", "json", "--severity", "error"],
        &[],
        &sequence("new", BARE),
    );
    let whole: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(whole["files"].as_array().unwrap().len(), 1);
    assert_eq!((&whole["files"][0]["path"], &whole["summary"]["errors"]), (&json!(path), &json!(1)));
}

#[test]
fn colours_are_for_terminals_and_who_asks() {
    let stage = stage();
    let coloured =
        |variables: &[(&str, &str)]| stage.run_with(&["check"], variables, "").out.contains('\u{1b}');
    assert!(!coloured(&[]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn a_file_cannot_command_the_terminal() {
    let stage = Stage::new(&[("a.xml", &sequence("a", "<lgo\u{1b}[2J\u{202e}/>"))]);
    let ran = stage.run(&["check", "a.xml"]);
    assert_eq!(ran.code, Some(1));
    assert!(!ran.out.contains(['\u{1b}', '\u{202e}']), "{}", ran.out);
}

#[test]
fn other_encodings_are_read() {
    let text = format!("\u{feff}{}", sequence("a", BARE));
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let stage = Stage::new(&[]);
    stage.write("a.xml", &wide);
    let ran = stage.run(&["check", "a.xml", "--severity", "error"]);
    assert_eq!((ran.code, ran.out), (Some(1), TEXT.replace("1 of 2 files", "1 of 1 file")));
}

#[test]
fn a_folder_can_be_named_with_the_flag_of_runs() {
    let stage = Stage::new(&[("inner/a.xml", &sequence("a", BARE))]);
    let ran = stage.run(&["-C", "inner", "check", "--severity", "error"]);
    assert_eq!(ran.out, TEXT.replace("1 of 2 files", "1 of 1 file"));
}
