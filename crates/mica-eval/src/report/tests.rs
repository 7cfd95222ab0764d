//! Reports as people and programs read them.

use quick_xml::events::Event;

use super::*;
use crate::junit::junit;

fn report() -> Report {
    let case = |name: &str, status, problem: Option<&str>, checks| CaseReport {
        name: name.to_owned(),
        about: "It <shows> \"it\".".to_owned(),
        product: "desk".to_owned(),
        digest: "d".to_owned(),
        status,
        problem: problem.map(str::to_owned),
        seconds: 0.25,
        requests: 1,
        usage: Usage::default(),
        journal: None,
        notes: Vec::new(),
        checks,
    };
    let check = |what: &str, judged, expected: &str, found: &str| Check {
        at: "step 2".to_owned(),
        what: what.to_owned(),
        passed: false,
        judged,
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    Report::new(vec![
        case(
            "b",
            Status::Failed,
            None,
            vec![
                check("text", false, "\"x\" in it", "a & b\u{1}"),
                check("calls", false, "one\ntwo\n", "one\nthree\n"),
                check("judge", true, "It is nice.", ""),
            ],
        ),
        case("a", Status::Passed, None, Vec::new()),
        case("c", Status::Error, Some("no\nmodel"), Vec::new()),
        case("d", Status::Skipped, Some("live"), Vec::new()),
    ])
    .taking(0.5)
}

#[test]
fn people_read_what_was_expected_and_what_was_there() {
    assert_eq!(
        report().text(),
        "ok    a (0.2 s)\nFAIL  b (0.2 s)\n      It <shows> \"it\".\n      step 2: text\n        expected: \"x\" in it\n        \
         found:    a & b\\u{1}\n      step 2: calls\n        --- expected\n        +++ found\n        @@ -1,2 +1,2 @@\n         \
         one\n        -two\n        +three\n      step 2: judge (judged)\n        expected: It is nice.\n        found:    \
         nothing\nERROR c (0.2 s)\n      It <shows> \"it\".\n      no\n      model\nskip  d (0.2 s)\n      It <shows> \
         \"it\".\n      live\n1 passed, 1 failed, 1 could not be played, 1 left out in 0.5 s (1.0 s of playing)\n"
    );
}

#[test]
fn programs_read_the_same_again() {
    let report = report();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

#[test]
fn junit_is_xml_with_a_test_for_each_case() {
    let text = junit(&report()).unwrap();
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut found = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) | Event::Empty(element) => {
                let attributes: Vec<String> = element
                    .attributes()
                    .map(|attribute| {
                        let attribute = attribute.unwrap();
                        let key: &str = attribute.key.as_ref();
                        format!("{key}={}", attribute.value)
                    })
                    .collect();
                let name = element.name();
                let name: &str = name.as_ref();
                found.push(format!("{name} {}", attributes.join(" ")));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let totals = "name=mica eval tests=4 failures=1 errors=1 skipped=1 time=0.500";
    assert_eq!(
        found,
        [
            format!("testsuites {totals}").as_str(),
            format!("testsuite {totals}").as_str(),
            "testcase classname=desk name=a time=0.250",
            "testcase classname=desk name=b time=0.250",
            "failure message=It &lt;shows&gt; &quot;it&quot;.",
            "testcase classname=desk name=c time=0.250",
            "error message=no&#10;model",
            "testcase classname=desk name=d time=0.250",
            "skipped message=live",
        ]
    );
    assert!(!text.contains('\u{1}'), "{text}");
}
