//! Cases that pages would be too long for.

use crate::check::{Setting, check as check_document};
use crate::diagnostic::Severity;
use crate::fix;
use crate::syntax::Document;

/// The findings of this family, as `code severity text`, in a document.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let document = Document::parse(text);
    let found = check_document(&document, Setting::default());
    let own = found.iter().filter(|one| (500..600).contains(&one.code.0));
    let said: Vec<String> = own
        .map(|one| format!("{} {} {}", one.code.0, one.severity.word(), one.span.of(document.source())))
        .collect();
    assert_eq!(said, expected, "{text}");
}

fn sequence(steps: &str) -> String {
    format!("<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"S\">{steps}</sequence>")
}

fn api(steps: &str, rest: &str) -> String {
    format!(
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" context=\"/a\"><resource>\
         <inSequence>{steps}</inSequence>{rest}</resource></api>"
    )
}

fn proxy(attributes: &str, target: &str, parts: &str) -> String {
    format!(
        "<proxy xmlns=\"http://ws.apache.org/ns/synapse\" name=\"P\" {attributes}><target {target}>\
         <inSequence><log/></inSequence></target>{parts}</proxy>"
    )
}

#[test]
fn each_list_tells_its_own_dead_steps_once() {
    check(&sequence("<log/><respond/>"), &[]);
    check(&sequence("<drop/><log/><property name=\"a\" value=\"b\"/>"), &["501 warning log"]);
    check(
        &sequence("<drop/><filter xpath=\"a\"><then><drop/><log/></then></filter>"),
        &["501 warning filter"],
    );
    check(
        &sequence("<filter xpath=\"a\"><then><drop/><log/></then></filter><drop/><call/>"),
        &["501 warning log", "501 warning call"],
    );
    check(&sequence("<throwError/><http.get configKey=\"C\"/>"), &["501 warning http.get"]);
    check(&sequence("<send/><log/>"), &["501 warning log"]);
    check(&sequence("<aggregate><onComplete expression=\"a\"><drop/></onComplete></aggregate><log/>"), &[]);
    check(
        &sequence("<iterate expression=\"a\"><target><sequence><drop/></sequence></target></iterate><log/>"),
        &[],
    );
}

#[test]
fn removing_dead_steps_keeps_the_comment_before_them() {
    let text = sequence("\n    <respond/>\n    <log/>\n    <drop/>\n");
    let repaired = fix::repair(&text, fix::Extent::Everything, |text| {
        check_document(&Document::parse(text), Setting::default())
    });
    assert_eq!(repaired.text, sequence("\n    <respond/>\n"));
}

#[test]
fn only_untouched_requests_go_back_to_their_api() {
    check(&api("<send/>", ""), &["502 warning send"]);
    check(&api("<filter xpath=\"a\"><then><send/></then></filter>", ""), &["502 warning send"]);
    check(&api("<log/><call blocking=\"true\"/><respond/>", ""), &["503 warning call"]);
    for before in [
        "<call><endpoint key=\"E\"/></call>",
        "<header name=\"To\" value=\"http://h\"/>",
        "<propertyGroup><property name=\"RESPONSE\" value=\"true\"/></propertyGroup>",
        "<sequence key=\"Other\"/>",
        "<class name=\"a.B\"/>",
        "<http.get configKey=\"C\"/>",
        "<property name=\"{$ctx:name}\" value=\"a\"/>",
    ] {
        check(&api(&format!("{before}<send/>"), ""), &[]);
    }
    check(&sequence("<send/>"), &[]);
}

#[test]
fn only_clients_that_wait_are_missed() {
    check(&api("<log/>", ""), &["504 warning inSequence"]);
    check(&api("", ""), &[]);
    check(&api("<property name=\"FORCE_SC_ACCEPTED\" value=\"true\" scope=\"axis2\"/>", ""), &[]);
    check(&api("<clone><target sequence=\"Elsewhere\"/></clone>", ""), &[]);
    check(&api("<throttle id=\"t\"><onAccept><respond/></onAccept></throttle>", ""), &[]);
    check(&proxy("transports=\"http\"", "", ""), &["504 warning inSequence"]);
    check(&proxy("transports=\"jms\"", "", ""), &[]);
    check(&proxy("", "", ""), &[]);
    check(&proxy("transports=\"http\"", "endpoint=\"E\"", ""), &[]);
    check(&proxy("transports=\"http\"", "", "<parameter name=\"transport.vfs.FileURI\">/a</parameter>"), &[]);
}

#[test]
fn response_flows_are_judged_when_there_are_responses() {
    let out = "<outSequence><log/></outSequence>";
    check(&api("<send><endpoint key=\"E\"/></send>", out), &["505 warning outSequence"]);
    check(&api("<loopback/>", out), &["505 warning outSequence"]);
    check(&api("<call><endpoint key=\"E\"/></call><respond/>", out), &[]);
    check(&api("<respond/>", "<faultSequence><log/></faultSequence>"), &["507 info faultSequence"]);
    check(&api("<respond/>", "<faultSequence/>"), &[]);
}

#[test]
fn the_older_foreach_is_judged_by_depth() {
    let older = |steps: &str| {
        sequence(&format!("<foreach expression=\"//a\"><sequence>{steps}</sequence></foreach>"))
    };
    check(&older("<send/>"), &["508 error send"]);
    check(&older("<callout serviceURL=\"http://h\"/>"), &["508 error callout"]);
    check(
        &older("<filter xpath=\"a\"><then><call><endpoint key=\"E\"/></call></then></filter>"),
        &["508 warning call"],
    );
    check(&older("<log/>"), &[]);
}

#[test]
fn units_are_guessed_only_where_they_are_plain() {
    let aggregate = |timeout: &str| {
        sequence(&format!(
            "<aggregate><completeCondition timeout=\"{timeout}\"/><onComplete expression=\"a\"><drop/></onComplete></aggregate>"
        ))
    };
    for (timeout, severity) in [
        ("1000", Some(Severity::Warning)),
        ("30000", Some(Severity::Warning)),
        ("30", None),
        ("1800", None),
        ("36000", None),
    ] {
        let expected: Vec<String> =
            severity.iter().map(|one| format!("510 {} {timeout}", one.word())).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(&aggregate(timeout), &expected);
    }
    let duration = |number: &str| {
        format!(
            "<endpoint xmlns=\"http://ws.apache.org/ns/synapse\" name=\"E\"><address uri=\"http://h\"><timeout>\
             <duration>{number}</duration><responseAction>fault</responseAction></timeout></address></endpoint>"
        )
    };
    check(&duration("30"), &["510 info 30"]);
    check(&duration("30000"), &[]);
}

#[test]
fn an_answer_is_put_only_behind_a_step_that_is_closed() {
    let offered = |steps: &str| {
        let document = Document::parse(api(steps, ""));
        let found = check_document(&document, Setting::default());
        found.iter().filter(|one| one.code.0 == 504).map(|one| one.fixes.len()).collect::<Vec<_>>()
    };
    assert_eq!(offered("<clone><target><sequence><log/></sequence></target></clone>"), [1]);
    assert_eq!(offered("<log></log>"), [1]);
    assert_eq!(offered("<clone><target><sequence><log/></sequence></target></clne a=\"b\"/>"), [0]);
}
