//! Examples that hold and examples that do not, block by block.

use super::*;

const HEAD: &str = "+++\nname = \"a\"\ntitle = \"A\"\ndescription = \"D.\"\nmin_runtime = \"4.4.0\"\n\
                    [[section]]\nname = \"one\"\ndescription = \"O.\"\n+++\n## One\n\n";

/// A document with one section of that body, and what does not hold in it. Lines count from the body's first.
fn check(body: &str, expect: &[&str]) {
    let text = format!("{HEAD}{body}");
    let before = HEAD.lines().count();
    let failures = prove("a.md", &text).failures;
    let shown: Vec<String> =
        failures.iter().map(|one| format!("{}: {}", one.line - before, one.what)).collect();
    assert_eq!(shown, expect, "{body}");
}

#[test]
fn good_xml_has_no_findings() {
    check("```xml\n<log><message>${payload.a}</message></log>\n```\n", &[]);
    check(
        "```xml\n\n<logg/>\n```\n",
        &["3: SYN0101 (error): <logg> is not a mediator; did you mean <log>? [4.4.0 4.5.0 4.6.0]"],
    );
}

#[test]
fn bad_xml_has_its_findings() {
    check("```xml bad=SYN0101\n<logg/>\n```\n", &[]);
    check("```xml bad=SYN0101\n<log/>\n```\n", &["1: SYN0101 is not found for 4.4.0; found is nothing"]);
    check(
        "```xml bad=nothing\n<log/>\n```\n",
        &["1: bad: \"nothing\" is not a code: codes look like SYN0123"],
    );
}

#[test]
fn runtimes_are_narrowed() {
    check("```xml since=4.6.0\n<log/>\n```\n", &[]);
    check("```xml until=4.3.0\n<log/>\n```\n", &["1: there is no runtime that the example is for"]);
    check(
        "```xml sinse=4.6.0\n<log/>\n```\n",
        &["1: `sinse` is no option of such a block; there are bad, since, until, inert"],
    );
}

#[test]
fn inert_xml_is_well_formed() {
    check("```xml inert\n<project><a/></project>\n```\n", &[]);
    assert_eq!(prove("a.md", &format!("{HEAD}```xml inert\n<a>\n<b></a>\n```\n")).failures.len(), 1);
}

#[test]
fn expressions_give_what_the_lines_say() {
    let with = |lines: &str, expect: &[&str]| {
        let context =
            "```context\n{\"payload\":{\"n\":1,\"list\":[1,2],\"s\":\"x\"},\"vars\":{\"v\":3}}\n```\n";
        check(&format!("{context}```expr\n{lines}\n```\n"), expect);
    };
    with("payload.n + vars.v -> 4", &[]);
    with("payload.list[0] + 1 -> 2.0", &[]);
    with("payload.list[0] + 1 -> 2", &["5: `payload.list[0] + 1` gives 2.0 (Double)"]);
    with("payload.s -> \"x\"  # a comment", &[]);
    with("# a comment\npayload.n -> \"1\"", &["6: `payload.n` gives 1 (JsonPrimitive/Long)"]);
    with("payload.list -> [1, 2]", &[]);
    with("'a -> b' -> \"a -> b\"", &[]);
    with("payload.none -> error", &[]);
    with("payload.n -> error", &["5: `payload.n` gives 1 (JsonPrimitive/Long)"]);
    with("vars['v'] -> crash", &[]);
    with("payload.none -> crash", &["5: `payload.none` gives error: No results for path: $['none']"]);
    with("payload.n > 0 and true !! SYN0401", &[]);
    with("payload.n !! SYN0401", &["5: SYN0401 is not found in `payload.n`; found is nothing"]);
    with("payload.n > 0 and true -> error !! SYN0401", &[]);
    with(
        "payload.n",
        &[
            "5: the line says neither what the expression gives (` -> JSON`, ` -> error`) nor what the checker says (` !! SYN0401`)",
        ],
    );
}

#[test]
fn contexts_end_with_their_section() {
    let head = HEAD.replace("+++\n## One", "[[section]]\nname = \"two\"\ndescription = \"T.\"\n+++\n## One");
    let text = format!(
        "{head}```context\n{{\"vars\":{{\"v\":1}}}}\n```\n```expr\nvars.v -> 1\n```\n## Two\n```expr\nvars.v -> 1\n```\n"
    );
    let failures = prove("a.md", &text).failures;
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].what, "`vars.v` gives error: Variable v is not defined");
}

#[test]
fn messages_are_read_in_the_form_people_think_in() {
    let context = "```context\n{\"properties\":{\"synapse\":{\"a\":\"1\"},\"axis2\":{\"b\":\"x\"}},\
                   \"params\":{\"pathParams\":{\"id\":\"12\"},\"queryParams\":{\"q\":\"y\"},\"functionParams\":{\"p\":\"z\"}},\
                   \"vars\":{\"long\":5000000000,\"double\":1.5,\"text\":\"t\",\"flag\":true,\"map\":{\"k\":[1]},\"exact\":{\"type\":\"long\",\"value\":5}},\
                   \"headers\":{\"H\":\"h\"},\"configs\":{\"c\":\"d\"}}\n```\n";
    let lines = "props.synapse.a -> 1\nprops.axis2.b -> \"x\"\nparams.pathParams.id -> 12\n\
                 params.queryParams.q -> \"y\"\nparams.functionParams.p -> \"z\"\nvars.long > 1 -> error\nvars.double -> 1.5\n\
                 vars.text -> \"t\"\nvars.flag -> true\nvars.map.k -> [1]\nvars.exact > 1 -> error\nheaders.H -> \"h\"\nconfigs.c -> \"d\"";
    check(&format!("{context}```expr\n{lines}\n```\n"), &[]);
    check(
        "```context\n{\"props\":{}}\n```\n",
        &[
            "1: the context is no message: unknown field `props`, expected one of `payload`, `content_type`, `vars`, `headers`, `syn`, `ax`, `func`, `reg`, `configs`, `namespaces`, `time_zone`, `now`",
        ],
    );
}

#[test]
fn json_is_json_and_blocks_have_a_language() {
    check("```json\n{\"a\": 1}\n```\n", &[]);
    check("```json\n{\"a\": }\n```\n", &["2: the block is no JSON: expected value at line 1 column 7"]);
    check("```\nx\n```\n", &["1: the block has no language; plain text is `text`"]);
    check("```text\nx\n```\n", &[]);
}
