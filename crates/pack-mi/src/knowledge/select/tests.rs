//! What is found, however it is spelled, and what is told when it is not.

use super::*;

fn library() -> Library {
    let document = |name: &str, extra: &str| {
        format!(
            "+++\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D.\"\n{extra}[[section]]\nname = \"type_system\"\n\
             description = \"S.\"\n[[section]]\nname = \"type_coercion\"\ndescription = \"C.\"\n[[section]]\nname = \"jsonpath\"\n\
             description = \"J.\"\n+++\n## Type system\n\na\n\n## Type coercion\n\nb\n\n## JSONPath\n\nc\n"
        )
    };
    let files = [
        ("synapse-expression-spec.md", document("synapse-expression-spec", "aliases = [\"expressions\"]\n")),
        ("synapse-edge-cases.md", document("synapse-edge-cases", "")),
        ("unit-test-reference.md", document("unit-test-reference", "aliases = [\"unit-test-guide\"]\n")),
        ("data-mapper-reference.md", document("data-mapper-reference", "min_runtime = \"4.4.0\"\n")),
    ];
    let library = Library::read(files.iter().map(|(file, text)| (*file, text.as_str())));
    assert_eq!(library.bad(), []);
    library
}

#[track_caller]
fn check(asked: &str, expect: Result<&str, &str>) {
    let library = library();
    let found = library.select(asked).map(|one| one.to_string()).map_err(|error| error.to_string());
    assert_eq!(found.as_deref().map_err(String::as_str), expect, "{asked}");
}

#[test]
fn names_are_found_however_they_are_spelled() {
    for asked in [
        "synapse-expression-spec",
        "synapse_expression_spec",
        "Synapse Expression Spec",
        "SYNAPSE-EXPRESSION-SPEC",
        "synapseExpressionSpec",
        "`synapse-expression-spec`",
        " \"synapse-expression-spec\" ",
        "synapse-expression-spec.md",
        "expression-spec",
        "expressions",
        "expression",
        "synapse-ex",
        "synapse-expression-spec:",
    ] {
        check(asked, Ok("synapse-expression-spec"));
    }
    check("unit test guide", Ok("unit-test-reference"));
    check("unit", Ok("unit-test-reference"));
}

#[test]
fn sections_are_found_however_they_are_spelled() {
    for asked in
        ["type_coercion", "type-coercion", "Type Coercion", "typeCoercion", "TYPE COERCION", "type_c"]
    {
        check(&format!("edge-cases:{asked}"), Ok("synapse-edge-cases:type_coercion"));
    }
    check("edge cases : json path", Ok("synapse-edge-cases:jsonpath"));
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let all = "synapse-expression-spec, synapse-edge-cases, unit-test-reference, data-mapper-reference";
    check(
        "synapse-expresion-spec",
        Err("no reference `synapse-expresion-spec`; did you mean `synapse-expression-spec`?"),
    );
    check("edge-casse", Err("no reference `edge-casse`; did you mean `synapse-edge-cases`?"));
    check("soap", Err(&format!("no reference `soap`; there are: {all}")));
    check(
        "synapse",
        Err("`synapse` is the beginning of several references: synapse-expression-spec, synapse-edge-cases"),
    );
    check(
        "jsonpath",
        Err(
            "no reference `jsonpath`; that is a section: ask for `synapse-expression-spec:jsonpath` or `synapse-edge-cases:jsonpath` or `unit-test-reference:jsonpath` or `data-mapper-reference:jsonpath`",
        ),
    );
    check(" ", Err(&format!("nothing was asked for; ask for `name` or `name:section`. There are: {all}")));
    check(
        ":operators",
        Err(&format!("nothing was asked for; ask for `name` or `name:section`. There are: {all}")),
    );
    check(
        "edge-cases:overflow",
        Err(
            "`synapse-edge-cases` has no section `overflow`; its sections are: type_system, type_coercion, jsonpath",
        ),
    );
    check(
        "edge-cases:jsonpaht",
        Err(
            "`synapse-edge-cases` has no section `jsonpaht`; did you mean `jsonpath`? Its sections are: type_system, type_coercion, jsonpath",
        ),
    );
    check(
        "edge-cases:type",
        Err(
            "`synapse-edge-cases` has no section `type`; its sections are: type_system, type_coercion, jsonpath",
        ),
    );
}

#[test]
fn runtimes_gate() {
    let library = library();
    let selected = library.select("data-mapper").unwrap();
    let at = |version: Option<&str>| {
        let version = version.map(|text| text.parse().unwrap());
        gate(&selected.to_string(), selected.runtimes(), version).map_err(|error| error.to_string())
    };
    assert_eq!(at(Some("4.4.0")), Ok(Gate::Open));
    assert_eq!(at(Some("4.6.0")), Ok(Gate::Open));
    assert_eq!(
        at(Some("4.3.0")),
        Err("`data-mapper-reference` needs MI 4.4.0 or later; this project says 4.3.0 in pom.xml".to_owned())
    );
    assert_eq!(at(None), Ok(Gate::Unknown { needs: "4.4.0 or later".to_owned() }));
}
