//! What a server says, and where that is in a project.

use super::super::server_logs::entries;
use super::*;

const API: &str = r#"<api xmlns="http://ws.apache.org/ns/synapse" name="Orders" context="/orders">
  <resource methods="GET" uri-template="/{id}">
    <inSequence>
      <log><message>one</message></log>
      <call><endpoint key="ep2"/></call>
      <property name="a" expression="${payload.a.b}"/>
      <respond/>
    </inSequence>
  </resource>
  <resource methods="POST">
    <inSequence>
      <property name="b" value="1"/>
      <class name="com.acme.Pricing"/>
      <event topic="x"/>
    </inSequence>
  </resource>
</api>
"#;

fn check(log: &str, expected: &[&str]) {
    let sources = Sources::of(&[
        ("src/main/wso2mi/artifacts/apis/Orders.xml", API),
        ("src/main/java/com/acme/Pricing.java", "class Pricing {}"),
        (
            "src/main/wso2mi/artifacts/sequences/Audit.xml",
            "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Audit\">\n  <variable name=\"x\"/>\n</sequence>\n",
        ),
    ]);
    let entries = entries(log);
    let places = sources.origin(&entries[0]).places;
    let shown: Vec<String> =
        places.iter().map(|place| place.to_string().replace("src/main/wso2mi/artifacts/", "")).collect();
    assert_eq!(shown, expected, "{log}");
}

const TIME: &str = "[2026-05-12 10:20:30,456]";

#[test]
fn code_of_the_project_is_found_by_its_frames_and_the_step_that_calls_it() {
    check(
        &format!(
            "{TIME} ERROR {{ClassMediator}} - {{api:Orders}} Error org.apache.synapse.SynapseException: it failed\n\
             \tat org.apache.synapse.mediators.ext.ClassMediator.mediate(ClassMediator.java:87)\n\
             Caused by: java.lang.NullPointerException: x\n\
             \tat java.base/java.util.Objects.requireNonNull(Objects.java:1)\n\
             \tat com.acme.Pricing.mediate(Pricing.java:42)\n"
        ),
        &[
            "src/main/java/com/acme/Pricing.java:42 (Pricing.mediate)",
            "apis/Orders.xml:13 (class com.acme.Pricing)",
        ],
    );
}

#[test]
fn a_step_is_found_by_the_class_that_runs_it() {
    check(
        &format!("{TIME} ERROR {{PropertyMediator}} - {{api:Orders GET /orders/7}} cannot set"),
        &["apis/Orders.xml:6 (property a)"],
    );
    // Without the resource it is one of two.
    check(
        &format!("{TIME} ERROR {{PropertyMediator}} - {{api:Orders}} cannot set"),
        &["apis/Orders.xml:6 (property a)", "apis/Orders.xml:12 (property b)"],
    );
    check(
        &format!("{TIME} ERROR {{Axis2Sender}} - {{api:Orders POST /orders}} unexpected"),
        &["apis/Orders.xml:10 (resource POST)"],
    );
    check(&format!("{TIME} ERROR {{Axis2Sender}} - {{api:Nobody}} unexpected"), &[]);
}

#[test]
fn names_and_expressions_in_messages_are_found() {
    check(
        &format!(
            "{TIME}  INFO {{LogMediator}} - {{api:Orders}} Cause = Couldn't find the endpoint with the key : ep2, more"
        ),
        &["apis/Orders.xml:5 (names endpoint ep2)", "apis/Orders.xml:4 (log)"],
    );
    check(
        &format!(
            "{TIME}  WARN {{SynapseExpression}} - {{api:Orders}} Error while evaluating ${{payload.a.b}}: null"
        ),
        &["apis/Orders.xml:6 (${payload.a.b})", "apis/Orders.xml:1 (api Orders)"],
    );
}

#[test]
fn what_could_not_be_deployed_is_found_with_what_the_checks_say() {
    check(
        &format!(
            "{TIME} ERROR {{CappDeployer}} - Error occurred while deploying the Carbon application: o_1.0.0.car org.apache.axis2.deployment.DeploymentException: API Deployment from the file : /s/tmp/carbonapps/-1234/1o_1.0.0.car/Orders_1.0.0/Orders-1.0.0.xml : Failed.\n\
             \tat org.apache.synapse.deployers.X.y(X.java:1)\n\
             Caused by: org.apache.synapse.SynapseException: Unknown mediator referenced by configuration element : {{http://ws.apache.org/ns/synapse}}event\n"
        ),
        &["apis/Orders.xml:14 (event)"],
    );
    check(
        &format!(
            "{TIME} ERROR {{SequenceDeployer}} - Sequence Deployment from the file : /s/Audit_1.0.0/Audit-1.0.0.xml : Failed. java.lang.RuntimeException: no\n"
        ),
        &[
            "sequences/Audit.xml:2 (SYN0120: A variable needs a value or an expression; with both, the value counts; the artifact does not deploy)",
        ],
    );
}
