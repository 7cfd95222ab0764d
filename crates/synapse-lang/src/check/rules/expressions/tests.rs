//! Expressions in documents: their places, their repairs, and what the document tells about them.

use crate::check::{Setting, check};
use crate::diagnostic::{Diagnostic, Severity};
use crate::fix::{Extent, repair};
use crate::syntax::Document;

const API: &str = "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"a\" context=\"/a\">\n<resource methods=\"GET\" uri-template=\"/{id}\"><inSequence>\n";
const END: &str = "\n<respond/></inSequence></resource></api>";

fn look(text: &str) -> Vec<Diagnostic> {
    let mut found = check(&Document::parse(text), Setting::default());
    found.retain(|one| (300..500).contains(&one.code.0));
    found
}

/// What is found in a flow, as `code` and the source at the place.
#[track_caller]
fn finds(flow: &str, expected: &[&str]) {
    let text = format!("{API}{flow}{END}");
    let found: Vec<String> =
        look(&text).iter().map(|one| format!("{} {}", one.code.0, one.span.of(&text))).collect();
    assert_eq!(found, expected, "{flow}");
}

#[track_caller]
fn repairs(flow: &str, expected: &str) {
    // Variables that are not set in so short a flow are not what is repaired here.
    let look = |text: &str| {
        let mut found = look(text);
        found.retain(|one| one.code.0 != 449);
        found
    };
    let after = repair(&format!("{API}{flow}{END}"), Extent::Everything, look);
    assert_eq!(after.text, format!("{API}{expected}{END}"));
}

#[test]
fn places_are_those_of_the_source() {
    finds(
        "<filter xpath=\"${payload.a &lt; 3 and true}\"><then/></filter>",
        &["401 payload.a &lt; 3 and true"],
    );
    finds("<log><message>Total: ${'x' + 5}, ${payload.ok}</message></log>", &["407 5"]);
    finds("<log><message><![CDATA[${1 < 2 < 3}]]></message></log>", &["403 1 < 2 < 3"]);
}

#[test]
fn repairs_are_written_as_the_place_wants_it() {
    repairs(
        "<variable name=\"r\" expression=\"${vars['b'] &lt; 3}\"/>",
        "<variable name=\"r\" expression=\"${vars[&quot;b&quot;] &lt; 3}\"/>",
    );
    repairs(
        "<variable name=\"r\" expression='${vars[&apos;b&apos;] &lt; 3}'/>",
        "<variable name=\"r\" expression='${vars[\"b\"] &lt; 3}'/>",
    );
    repairs(
        "<log><message>${1 &lt; payload.x &lt; 3}</message></log>",
        "<log><message>${(1 &lt; payload.x) and (payload.x &lt; 3)}</message></log>",
    );
}

#[test]
fn variables_are_known_from_what_stands_before() {
    let set = "<variable name=\"n\" type=\"INTEGER\" value=\"5\"/>\n";
    finds(&format!("{set}<log><message>${{'x' + vars.n}}</message></log>"), &["407 vars.n"]);
    finds(&format!("{set}<log><message>${{vars.n + 1}}</message></log>"), &[]);
    // Set to one of two kinds, it is not certain any more.
    let other = "<variable name=\"n\" type=\"STRING\" value=\"5\"/>\n";
    let text = format!("{API}{set}{other}<log><message>${{'x' + vars.n}}</message></log>{END}");
    assert_eq!(look(&text).iter().map(|one| one.severity).collect::<Vec<_>>(), [Severity::Warning]);
    // What is set in another resource is not set here.
    let next = format!(
        "{set}<respond/></inSequence></resource><resource methods=\"POST\"><inSequence>\n<log><message>${{vars.n}}</message></log>"
    );
    finds(&next, &["449 n"]);
    // A called sequence may set anything.
    finds("<sequence key=\"other\"/><log><message>${vars.n}</message></log>", &[]);
}

#[test]
fn a_variable_without_a_type_holds_the_value_itself() {
    let set = "<variable name=\"id\" expression=\"${params.pathParams.id}\"/>\n";
    finds(&format!("{set}<log><message>${{'id-' + vars.id}}</message></log>"), &["408 vars.id"]);
    let set = "<variable name=\"started\" expression=\"${now()}\"/>\n";
    finds(&format!("{set}<filter xpath=\"${{vars.started > 5}}\"><then/></filter>"), &["412 vars.started"]);
    let typed = "<variable name=\"id\" type=\"STRING\" expression=\"${params.pathParams.id}\"/>\n";
    finds(&format!("{typed}<log><message>${{'id-' + vars.id}}</message></log>"), &[]);
}

#[test]
fn parameters_are_those_of_the_resource() {
    finds("<log><message>${params.pathParams.id}</message></log>", &[]);
    finds("<log><message>${params.pathParams.name}</message></log>", &["450 name"]);
    finds(
        "<property name=\"uri.var.name\" value=\"x\"/><log><message>${params.pathParams.name}</message></log>",
        &[],
    );
    finds("<log><message>${params.functionParams.x}</message></log>", &["448 params.functionParams.x"]);
}

#[test]
fn what_the_runtime_does_not_evaluate_is_not_checked() {
    finds("<log><message>${1 +\n'a'}</message></log>", &[]);
    finds("<property name=\"x\" value=\"${1 + 'a'}\"/>", &[]);
    let text = format!("{API}<log><message>${{1 + 'a'}}</message></log>{END}");
    let old = Setting { runtime: Some("4.3.0".parse().expect("a version")), ..Setting::default() };
    assert!(check(&Document::parse(text), old).iter().all(|one| one.code.0 != 407));
}
