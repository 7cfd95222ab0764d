//! Unit tests are run with a stand-in for Maven that writes what the plugin writes; without Maven or a server they are
//! checked.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use stage::{Stage, call};

const TESTS: &str = "run_unit_tests";

const SUITE: &str = "<unit-test>\n<artifacts><test-artifact><artifact>src/main/wso2mi/artifacts/apis/Orders.xml</artifact></test-artifact></artifacts>\n<test-cases>\n<test-case name=\"gets\"><input/><assertions><assertNotNull><actual>$body</actual><message>m</message></assertNotNull></assertions></test-case>\n<test-case name=\"adds\"><input/><assertions><assertEquals><actual>$statusCode</actual><expected><![CDATA[200]]></expected><message>should be 200</message></assertEquals></assertions></test-case>\n</test-cases></unit-test>";

fn staged() -> Stage {
    let stage = Stage::new();
    stage.put("pom.xml", "<project><profiles><profile><id>test</id></profile></profiles></project>");
    stage.put(
        "src/main/wso2mi/artifacts/apis/Orders.xml",
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/o\"><resource methods=\"GET\"><inSequence><respond/></inSequence></resource></api>",
    );
    stage.put("src/test/wso2mi/OrdersTest.xml", SUITE);
    stage
}

fn wrapper(stage: &Stage, body: &str) {
    let path = stage.put("mvnw", &format!("#!/bin/sh\necho \"$@\" > called\n{body}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_their_place_and_both_values() {
    let stage = staged();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    wrapper(
        &stage,
        r#"mkdir -p target/surefire-reports
cat > target/unit-test-report.json <<END
{"$PWD/src/test/wso2mi/OrdersTest.xml": {"deploymentStatus": "PASSED", "mediationStatus": "PASSED", "testCases": [
  {"testCaseName": "gets", "mediationStatus": "PASSED", "assertionStatus": "PASSED"},
  {"testCaseName": "adds", "mediationStatus": "PASSED", "assertionStatus": "FAILED", "failureAssertions": [
    {"assertionType": "assertEquals", "assertionExpression": "\$statusCode", "actual": "500", "expected": "200", "message": "should be 200"}]}]},
 "Time elapsed (ms)": 12}
END
cat > target/surefire-reports/TEST-com.acme.XTest.xml <<END
<testsuite><testcase name="java" classname="com.acme.XTest"/></testsuite>
END
echo '[INFO] BUILD FAILURE'; exit 1"#,
    );
    let runtime = stage.runtime(stage.settings());
    let text = call(&runtime, TESTS, json!({"test_file": "OrdersTest.xml"})).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("3 test cases: 2 passed, 1 failed, in "), "{text}");
    assert_eq!(
        lines[1..6],
        [
            "FAILED src/test/wso2mi/OrdersTest.xml:5 adds",
            "  assertEquals of $statusCode: should be 200",
            "    expected: 200",
            "    actual: 500",
            "Passed: gets, java.",
        ],
        "{text}"
    );
    let called = std::fs::read_to_string(stage.project().join("called")).unwrap();
    let script = stage.home().join("bin/micro-integrator.sh");
    for part in [
        "-B -o test -Ptest ",
        "-Dmaven.test.skip=false",
        "-DtestServerType=local",
        "-Dtest.server.port=9008",
        &format!("-DtestServerPath={}", script.display()),
        "-DtestFile=OrdersTest.xml",
    ] {
        assert!(called.contains(part), "{part} in {called}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_fails_before_the_tests_is_told_as_such() {
    let stage = staged();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    wrapper(&stage, "echo \"[ERROR] $PWD/src/main/java/A.java:[3,4] no such thing\"; exit 1");
    let text = call(&stage.runtime(stage.settings()), TESTS, json!({})).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("No test was run: Maven ended after ")
            && lines[0].ends_with("(exit code 1) without a report."),
        "{text}"
    );
    assert_eq!(lines[1], "src/main/java/A.java:3:4: no such thing");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_that_are_no_files_are_not_waited_for() {
    let stage = staged();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    wrapper(
        &stage,
        "mkdir -p target/surefire-reports; mkfifo target/unit-test-report.json; mkfifo target/surefire-reports/TEST-a.xml; \
         ln -s /dev/zero target/surefire-reports/TEST-b.xml",
    );
    let runtime = stage.runtime(stage.settings());
    let text =
        tokio::time::timeout(std::time::Duration::from_secs(110), call(&runtime, TESTS, json!({}))).await;
    let text = text.unwrap().unwrap();
    assert!(text.starts_with("No test was run: Maven ended after "), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_or_maven_tests_are_checked() {
    let stage = staged();
    if !stage.is_confined().await {
        return;
    }
    let clean = "1 test file with 2 test cases, nothing is wrong with them.\nsrc/test/wso2mi/OrdersTest.xml: gets, adds";
    let runtime = stage.runtime(stage.settings());
    let text = call(&runtime, TESTS, json!({})).await.unwrap();
    assert!(text.starts_with("The tests were not run: No Micro Integrator is configured."), "{text}");
    assert!(text.ends_with(clean), "{text}");
    assert_eq!(call(&runtime, TESTS, json!({"check_only": true})).await.unwrap(), clean);
    stage.install_server("");
    stage.ground.with_path("/nothing");
    let text = call(&stage.runtime(stage.settings()), TESTS, json!({})).await.unwrap();
    assert!(text.starts_with("The tests were not run: Maven is not installed here"), "{text}");
    assert_eq!(
        call(&runtime, TESTS, json!({"test_file": "Nobody.xml"})).await.unwrap_err(),
        "There is no test file \"Nobody.xml\". There are: src/test/wso2mi/OrdersTest.xml."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_projects_one_has_to_be_said() {
    let stage = Stage::new();
    stage.put("one/src/main/wso2mi/artifacts/apis/.keep", "");
    stage.put("two/src/main/wso2mi/artifacts/apis/Orders.xml", "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/o\"><resource methods=\"GET\"><inSequence><respond/></inSequence></resource></api>");
    stage.put("two/src/test/wso2mi/OrdersTest.xml", SUITE);
    let runtime = stage.runtime(stage.settings());
    let several = "There are several projects here: one, two. Say project.";
    for (tool, args) in [
        (TESTS, json!({"check_only": true})),
        ("build_project", json!({})),
        ("server_management", json!({"action": "deploy"})),
    ] {
        assert_eq!(call(&runtime, tool, args).await.unwrap_err(), several, "{tool}");
    }
    assert_eq!(
        call(&runtime, TESTS, json!({"check_only": true, "project": "two"})).await.unwrap(),
        "1 test file with 2 test cases, nothing is wrong with them.\nsrc/test/wso2mi/OrdersTest.xml: gets, adds"
    );
    assert_eq!(
        call(&runtime, "build_project", json!({"project": "two"})).await.unwrap_err(),
        "There is no pom.xml in two, so Maven cannot build it. Nothing was run."
    );
    if !stage.is_confined().await {
        return;
    }
    stage.put("two/pom.xml", "<project/>");
    let path = stage.put(
        "two/mvnw",
        "#!/bin/sh\nmkdir target; echo x > target/two_1.0.0.car; echo '[INFO] BUILD SUCCESS'\n",
    );
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = call(&runtime, "build_project", json!({"project": "two"})).await.unwrap();
    assert!(text.contains("\n  target/two_1.0.0.car (2 B)\n[paths are relative to two]\n"), "{text}");
}
