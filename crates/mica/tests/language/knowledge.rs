//! `mica knowledge`: what people and programs get of the references.

use serde_json::Value;

use crate::{Ran, Stage};

fn json(ran: &Ran) -> Value {
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn references_are_listed_with_sizes_and_runtimes() {
    let stage = Stage::new(&[]);
    let list = stage.run(&["knowledge", "list"]);
    assert_eq!((list.code, list.err.as_str()), (Some(0), ""));
    let line = list.out.lines().position(|line| line.starts_with("synapse-expression-spec ("));
    let rest: Vec<&str> = list.out.lines().skip(line.unwrap()).take(3).collect();
    assert!(rest[0].ends_with(" tokens, MI 4.4.0 or later)"), "{rest:?}");
    assert!(rest[2].starts_with("    operators type_system type_coercion "), "{rest:?}");

    let all = json(&stage.run(&["knowledge", "list", "--format", "json"]));
    let one = all.as_array().unwrap().iter().find(|one| one["name"] == "synapse-expression-spec").unwrap();
    assert_eq!(one["minRuntime"], "4.4.0");
    assert_eq!(one["maxRuntime"], Value::Null);
    assert_eq!(one["sections"][2]["name"], "type_coercion");
    assert!(one["tokens"].as_u64().unwrap() > one["sections"][2]["tokens"].as_u64().unwrap());

    let old = json(&stage.run(&["knowledge", "list", "--runtime", "4.3", "--format", "json"]));
    assert!(!old.as_array().unwrap().iter().any(|one| one["name"] == "synapse-expression-spec"));
}

#[test]
fn references_and_sections_are_shown_as_markdown() {
    let stage = Stage::new(&[]);
    let section = stage.run(&["knowledge", "show", "expression_spec:Type-Coercion"]);
    assert_eq!(section.code, Some(0));
    assert!(section.out.starts_with("## Type coercion\n\nNo operator converts"), "{}", section.out);
    assert!(section.out.contains("\n| integer with double | double |"), "placeholders are filled");
    let two = stage.run(&["knowledge", "show", "edge-cases:null_gotchas", "edge-cases:type_gotchas"]);
    assert!(
        two.out.starts_with("## Null gotchas\n") && two.out.contains("\n\n## Type gotchas\n"),
        "{}",
        two.out
    );
    assert!(
        stage.run(&["knowledge", "show", "edge-cases"]).out.starts_with("# Synapse expressions: edge cases")
    );
}

#[test]
fn what_is_not_there_is_told() {
    let stage = Stage::new(&[]);
    for (arguments, expect) in [
        (
            &["show", "synapse-expresion-spec"][..],
            "mica: no reference `synapse-expresion-spec`; did you mean `synapse-expression-spec`? `mica knowledge list` lists all\n",
        ),
        (
            &["show", "expression-spec:jsonpaths"],
            "mica: `synapse-expression-spec` has no section `jsonpaths`; did you mean `jsonpath`? Its sections are: operators, \
             type_system, type_coercion, null_handling, overflow, literals, identifiers, jsonpath, contexts\n",
        ),
        (
            &["show", "--runtime", "4.3", "edge-cases"],
            "mica: `synapse-edge-cases` needs MI 4.4.0 or later, not 4.3.0\n",
        ),
        (
            &["list", "--runtime", "3.0"],
            "mica: --runtime: the language of 3.0.0 is not described; known are 4.1, 4.2, 4.3, 4.4, 4.5, 4.6\n",
        ),
        (&["search", " "], "mica: there is nothing to search for; give identifiers, operators or words\n"),
    ] {
        let ran = stage.run(&[&["knowledge"], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(2), "", expect), "{arguments:?}");
    }
}

#[test]
fn searches_give_rows_and_their_places() {
    let stage = Stage::new(&[]);
    let ran = stage.run(&["knowledge", "search", "integer", "+", "double", "--limit", "1"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(ran.code, Some(0));
    assert_eq!(lines[0], "synapse-expression-spec:type_coercion");
    assert!(lines[3].starts_with("    | integer with double | double |"), "{lines:?}");

    let found = json(&stage.run(&["knowledge", "search", "--format", "json", "formatDateTime"]));
    assert_eq!(found["hits"][0]["selector"], "synapse-function-reference:datetime");
    assert!(found["hits"][0]["header"].as_str().unwrap().starts_with("| function |"));

    let none = stage.run(&["knowledge", "search", "zeppelin"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), "Nothing fits \"zeppelin\".\n"));
}

#[test]
fn an_export_overwrites_only_its_own_files() {
    let stage = Stage::new(&[("taken/llms.txt", "mine\n"), ("file", "x")]);
    let first = stage.run(&["knowledge", "export", "out/docs"]);
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""));
    let list = stage.read("out/docs/llms.txt");
    assert!(list.starts_with("# Synapse and WSO2 Micro Integrator: references\n\n> "), "{list}");
    assert!(list.contains("](synapse-edge-cases.md): "), "{list}");
    let page = stage.read("out/docs/synapse-expression-spec.md");
    assert!(page.starts_with("# Synapse expressions: the language\n\n> Grammar and meaning"), "{page}");
    assert!(page.contains("\n| integer with double |") && !page.contains("\n{{"), "placeholders are filled");
    let files = std::fs::read_dir(stage.path().join("out/docs")).unwrap().count();
    assert_eq!(first.out, format!("{files} files are in out/docs\n"));

    // Again over its own, not over others.
    assert_eq!(stage.run(&["knowledge", "export", "out/docs"]).code, Some(0));
    let refused = stage.run(&["knowledge", "export", "taken"]);
    assert_eq!(refused.code, Some(2));
    assert_eq!(
        refused.err,
        "mica: taken has files that this command did not write: llms.txt. Nothing was written; choose another folder, or \
         overwrite them with --force\n"
    );
    assert_eq!(stage.read("taken/llms.txt"), "mine\n");
    assert_eq!(std::fs::read_dir(stage.path().join("taken")).unwrap().count(), 1);
    assert_eq!(stage.run(&["knowledge", "export", "--force", "taken"]).code, Some(0));
    assert_eq!(stage.read("taken/llms.txt"), list);
    assert_eq!(stage.run(&["knowledge", "export", "file"]).err, "mica: file is no folder\n");
}
