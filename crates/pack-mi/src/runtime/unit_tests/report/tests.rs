//! Reports of the plugin, and what is read of them.

use super::*;

fn shown(cases: &[Case]) -> Vec<String> {
    let failure = |one: &Failure| {
        let more = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!(" {name}={value}")).unwrap_or_default()
        };
        format!(" | {}{}{}", one.what, more("expected", &one.expected), more("actual", &one.actual))
    };
    cases
        .iter()
        .map(|case| {
            let failures: String = case.failures.iter().map(failure).collect();
            format!("{:?} {}{failures}", case.outcome, case.title())
        })
        .collect()
}

#[test]
fn the_report_is_read() {
    let text = r#"{
      "/p/src/test/wso2mi/OrdersTest.xml": {
        "deploymentStatus": "PASSED", "mediationStatus": "PASSED",
        "testCases": [
          {"testCaseName": "gets", "mediationStatus": "PASSED", "assertionStatus": "PASSED"},
          {"testCaseName": "adds", "mediationStatus": "PASSED", "assertionStatus": "FAILED", "failureAssertions": [
            {"assertionType": "assertEquals", "assertionExpression": "$statusCode", "actual": "500", "expected": "200",
             "message": "should be 200", "assertionDescription": null},
            {"assertionType": "assertNotNull", "assertionExpression": "$body", "actual": "null", "expected": null, "message": "no body"}]},
          {"testCaseName": "breaks", "mediationStatus": "FAILED", "assertionStatus": "SKIPPED", "exception": "no endpoint"}
        ]
      },
      "/p/src/test/wso2mi/Bad.xml": {"deploymentStatus": "FAILED", "deploymentException": "no such artifact", "mediationStatus": "SKIPPED"},
      "/p/src/test/wso2mi/Half.xml": {"deploymentStatus": "PASSED", "mediationStatus": "FAILED", "currentTestCase": "second",
         "mediationException": "timed out", "testCases": [{"testCaseName": "first", "mediationStatus": "PASSED", "assertionStatus": "PASSED"}]},
      "Time elapsed (ms)": 1200
    }"#;
    assert_eq!(
        shown(&read(text, Path::new("/p"))),
        [
            "Passed src/test/wso2mi/OrdersTest.xml gets",
            "Failed src/test/wso2mi/OrdersTest.xml adds | assertEquals of $statusCode: should be 200 expected=200 actual=500 | assertNotNull of $body: no body actual=null",
            "Failed src/test/wso2mi/OrdersTest.xml breaks | The flow failed: no endpoint",
            "Failed src/test/wso2mi/Bad.xml (all of it) | The artifacts could not be deployed: no such artifact",
            "Passed src/test/wso2mi/Half.xml first",
            "Failed src/test/wso2mi/Half.xml second | The flow failed: timed out",
        ]
    );
    for text in ["", "[]", "{", "{\"a\": 1}", "{\"a\": {\"testCases\": 3}}"] {
        assert_eq!(read(text, Path::new("/p")), [], "{text}");
    }
}

#[test]
fn what_is_printed_is_read_where_there_is_no_report() {
    let printed = "\
[INFO] Test Suite Name: OrdersTest.xml
[INFO] ==============================================
[INFO] Pass Test Cases: 1
[INFO] Failure Test Cases: 1
[INFO]
[INFO] +----------------------+----------------+---------------+---------------+
[INFO] |   TEST CASE          |   DEPLOYMENT   |   MEDIATION   |   ASSERTION   |
[INFO] +----------------------+----------------+---------------+---------------+
[INFO] | Test Case - gets     |    PASSED      |    PASSED     |    PASSED     |
[INFO] | Test Case - adds     |    PASSED      |    PASSED     |    FAILED     |
[INFO] +----------------------+----------------+---------------+---------------+
[INFO] Failed Test Case(s):
[INFO] |   TEST CASE          |   FAILURE STATE   |       EXCEPTION / ERROR MESSAGE      |
[INFO] | Test Case - adds     |    ASSERTION      | should be 200                        |
[INFO] Failed Assertion(s):
[INFO] |   TEST CASE          |   ASSERT EXPRESSION   |       FAILURE      |
[INFO] | Test Case - adds     | assertEquals - $statusCode | Actual Response:   |
[INFO] |                      |                       | 500                |
";
    let mut console = Console::default();
    printed.lines().for_each(|line| console.line(line));
    assert_eq!(
        shown(&console.cases()),
        [
            "Passed OrdersTest.xml gets",
            "Failed OrdersTest.xml adds | ASSERTION: should be 200 | assertEquals - $statusCode: Actual Response: 500",
        ]
    );
}
