//! Flows that would be too long for a page.

use crate::check::{Setting, check as check_document};
use crate::syntax::Document;

/// The findings of this family, as `code text`, in the request flow of an API.
#[track_caller]
fn check(steps: &str, expected: &[&str]) {
    let text = format!(
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" context=\"/a\"><resource uri-template=\"/{{id}}\">\
         <inSequence>{steps}<respond/></inSequence></resource></api>"
    );
    own(&text, expected);
}

#[track_caller]
fn own(text: &str, expected: &[&str]) {
    let document = Document::parse(text);
    let found = check_document(&document, Setting::default());
    let own = found.iter().filter(|one| (650..700).contains(&one.code.0) || one.code.0 == 449);
    let said: Vec<String> =
        own.map(|one| format!("{} {}", one.code.0, one.span.of(document.source()))).collect();
    assert_eq!(said, expected, "{text}");
}

const READ: &str = "<log><message>${vars.x}</message></log>";
const SET: &str = "<variable name=\"x\" value=\"1\"/>";

#[test]
fn a_variable_is_set_before_it_is_read() {
    check(READ, &["449 x"]);
    check(&format!("{SET}{READ}"), &[]);
    check(&format!("{READ}{SET}"), &["449 x"]);
    check(&format!("{SET}<variable name=\"x\" action=\"remove\"/>{READ}"), &["449 x"]);
    check("<variable name=\"x\" expression=\"${vars.x + 1}\"/>", &["449 x"]);
    check("<log><message>${vars[\"a b\"]}</message></log>", &["449 \"a b\""]);
}

#[test]
fn results_of_steps_are_variables() {
    for step in [
        "<call><endpoint key=\"E\"/><target type=\"variable\">x</target></call>",
        "<http.get configKey=\"C\"><responseVariable>x</responseVariable></http.get>",
        "<foreach collection=\"${payload.a}\" update-original=\"false\" target-variable=\"x\" result-content-type=\"JSON\"><sequence><log/></sequence></foreach>",
        "<scatter-gather target=\"Variable\" target-variable=\"x\" result-content-type=\"JSON\"><aggregation expression=\"${payload}\"/><sequence><log/></sequence></scatter-gather>",
        "<script language=\"js\"><![CDATA[mc.setVariable('x', 1);]]></script>",
    ] {
        check(&format!("{step}{READ}"), &[]);
        check(&format!("{step}{}", READ.replace("vars.x", "vars.other")), &["449 other"]);
    }
}

#[test]
fn what_is_not_in_view_may_set_anything() {
    for step in [
        "<class name=\"a.B\"/>",
        "<script language=\"js\" key=\"gov:/a.js\" function=\"f\"/>",
        "<script language=\"js\"><![CDATA[mc.setVariable(name, 1);]]></script>",
        "<http.get configKey=\"C\"/>",
        "<sequence key=\"Elsewhere\"/>",
        "<sequence key=\"{${payload.next}}\"/>",
        "<call-template target=\"Elsewhere\"/>",
        "<call><endpoint key=\"E\"/><target type=\"variable\">{${payload.name}}</target></call>",
    ] {
        check(&format!("{step}{READ}"), &[]);
        check(&format!("{READ}{step}"), &["449 x"]);
    }
}

#[test]
fn branches_join() {
    let filter = |then: &str, other: &str| {
        format!("<filter xpath=\"${{payload.a}}\"><then>{then}</then><else>{other}</else></filter>{READ}")
    };
    check(&filter(SET, "<log/>"), &["651 x"]);
    check(&filter(SET, SET), &[]);
    check(&filter(SET, "<drop/>"), &[]);
    check(&filter("<respond/>", "<log/>"), &["449 x"]);
    let switch = |default: &str| {
        format!("<switch source=\"${{payload.a}}\"><case regex=\"a\">{SET}</case>{default}</switch>{READ}")
    };
    check(&switch(""), &["651 x"]);
    check(&switch(&format!("<default>{SET}</default>")), &[]);
    check(&format!("<validate><schema key=\"s\"/><on-fail>{SET}{READ}</on-fail></validate>"), &[]);
}

#[test]
fn absence_that_is_asked_for_is_expected() {
    check("<log><message>${exists(vars.x) ? vars.x : 'none'}</message></log>", &[]);
    check(&format!("<filter xpath=\"${{exists(vars.x)}}\"><then>{READ}</then></filter>"), &[]);
    check(&format!("<filter xpath=\"${{exists(vars.x)}}\"><then><log/></then></filter>{READ}"), &["651 x"]);
}

#[test]
fn copies_keep_what_is_set_in_them() {
    let foreach = |inside: &str| {
        format!(
            "<foreach collection=\"${{payload.a}}\" parallel-execution=\"false\" counter-variable=\"i\"><sequence>{inside}</sequence></foreach>"
        )
    };
    check(&format!("{}{READ}", foreach(SET)), &["652 x"]);
    check(&format!("{SET}{}{READ}", foreach(SET)), &["652 x"]);
    check(&format!("{}{SET}{READ}", foreach(SET)), &[]);
    check(&foreach(&format!("{SET}{READ}")), &[]);
    check(&foreach("<log><message>${vars.i}</message></log>"), &[]);
    check(&format!("{}<log><message>${{vars.i}}</message></log>", foreach("<log/>")), &["449 i"]);
    check(&format!("{}<class name=\"a.B\"/>{READ}", foreach(SET)), &[]);
    // In a sequence of its own too, where anything may have been set before.
    own(
        &format!(
            "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"S\">{}{READ}</sequence>",
            foreach(SET)
        ),
        &["652 x"],
    );
}

#[test]
fn properties_stay_in_copies_too() {
    let foreach = "<foreach collection=\"${payload.a}\"><sequence><property name=\"p\" value=\"1\"/>\
                   <property name=\"q\" value=\"1\" scope=\"axis2\"/></sequence></foreach>";
    let log = |expression: &str| {
        format!("{foreach}<log level=\"custom\"><property name=\"l\" expression=\"{expression}\"/></log>")
    };
    check(&log("${props.synapse.p}"), &["652 p"]);
    check(&log("get-property('p')"), &["652 get-property('p')"]);
    check(&log("$ctx:p"), &["652 $ctx:p"]);
    check(&log("get-property('axis2', 'p')"), &[]);
    check(&log("${props.axis2.q}"), &[]);
    check(&log("$ctx:other"), &[]);
    check(
        &log("${props.synapse.p}").replace("</foreach>", "</foreach><property name=\"p\" value=\"2\"/>"),
        &[],
    );
}

#[test]
fn later_flows_see_what_was_set_anywhere() {
    let api = |handlers: &str, rest: &str| {
        format!(
            "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" context=\"/a\"><resource><inSequence>\
             <filter xpath=\"${{payload.a}}\"><then>{SET}<loopback/></then></filter><respond/></inSequence>{rest}\
             </resource>{handlers}</api>"
        )
    };
    own(&api("", &format!("<outSequence>{READ}<send/></outSequence>")), &[]);
    let other = READ.replace("vars.x", "vars.other");
    own(&api("", &format!("<faultSequence>{other}<respond/></faultSequence>")), &["449 other"]);
    let handlers = "<handlers><handler class=\"a.B\"/></handlers>";
    own(&api(handlers, &format!("<faultSequence>{other}<respond/></faultSequence>")), &[]);
}

#[test]
fn a_value_fits_the_type_of_its_variable() {
    let set = |kind: &str, expression: &str| {
        format!("<variable name=\"x\" type=\"{kind}\" expression=\"${{{expression}}}\"/>")
    };
    check(&set("DOUBLE", "5 - 2"), &["653 DOUBLE"]);
    check(&set("INTEGER", "5 - 2"), &[]);
    check(&set("INTEGER", "now()"), &["653 INTEGER"]);
    check(&set("LONG", "length('abc')"), &["653 LONG"]);
    check(&set("STRING", "5 - 2"), &[]);
    check(&set("INTEGER", "payload.n"), &[]);
    check(&set("BOOLEAN", "'true'"), &["653 BOOLEAN"]);
    check(
        &format!(
            "{}{}",
            set("LONG", "now()"),
            "<variable name=\"y\" type=\"INTEGER\" expression=\"${vars.x}\"/>"
        ),
        &["653 INTEGER"],
    );
}
