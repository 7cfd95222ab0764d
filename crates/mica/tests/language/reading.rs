//! `mica explain`, and what the commands share.

use crate::Stage;

#[test]
fn a_page_is_found_by_code_and_by_name() {
    let stage = Stage::new(&[]);
    let page = stage.run(&["explain", "SYN0201"]);
    assert_eq!(page.code, Some(0));
    let begin = "SYN0201 bare-expression (error)\nAt run time: the value is empty, and the flow goes on\n\n\
                 Synapse expression without ${}\n\nIn this attribute `${\u{2026}}` is a Synapse expression";
    assert!(page.out.starts_with(begin), "{}", page.out);
    assert!(
        page.out.contains(
            "\n\nBad:\n    <property name=\"customer\" expression=\"payload.name\"/>\n\nRepaired:\n"
        )
    );
    for same in ["201", "syn0201", "bare-expression", "Bare-Expression"] {
        assert_eq!(stage.run(&["explain", same]).out, page.out, "{same}");
    }
    assert!(stage.run(&["explain", "--list"]).out.contains("SYN0201  error    bare-expression"));
}

#[test]
fn an_unknown_name_gets_near_ones() {
    let ran = Stage::new(&[]).run(&["explain", "unknown-mediatr"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let begin = "mica: there is no finding \"unknown-mediatr\"; near are SYN0101 unknown-mediator";
    assert!(ran.err.starts_with(begin), "{}", ran.err);
    assert_eq!(Stage::new(&[]).run(&["explain"]).code, Some(2));
}

#[test]
fn completions_and_the_manual_know_the_commands() {
    let stage = Stage::new(&[]);
    let home = [("MICA_HOME", "home")];
    for command in ["check", "fix", "expr", "explain", "graph", "format", "outline", "knowledge", "lsp"] {
        let completions = stage.run_with(&["completions", "bash"], &home, "").out;
        assert!(
            completions.contains(&format!("mica__subcmd__{command}"))
                || completions.contains(&format!("mica__{command}")),
            "{command}"
        );
        let manual = stage.run_with(&["man"], &home, "").out;
        assert!(manual.contains(&format!("mica\\-{command}(1)")), "{command}");
    }
}
