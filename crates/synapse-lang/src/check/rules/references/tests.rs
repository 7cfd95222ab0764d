//! Projects that would be too long for a page.

use crate::project::Project;

const XMLNS: &str = "xmlns=\"http://ws.apache.org/ns/synapse\"";
const WHOLE: &str =
    "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties></project>";
const PART: &str = "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties><dependencies>\
     <dependency><artifactId>common</artifactId><type>car</type></dependency></dependencies></project>";

fn project(pom: &str, files: &[(&str, String)]) -> Project {
    let mut project = Project::default();
    project.set("pom.xml", pom);
    for (path, text) in files {
        project.set(format!("src/main/wso2mi/{path}"), text.as_str());
    }
    project
}

/// The findings of this family in the first file, as `code severity text`.
#[track_caller]
fn check(pom: &str, files: &[(&str, String)], expected: &[&str]) {
    let project = project(pom, files);
    let path = format!("src/main/wso2mi/{}", files[0].0);
    let found = project.check_file(&path);
    let source = project.file(&path).unwrap().document().source();
    let own = found.iter().filter(|one| (900..1000).contains(&one.code.0) && one.code.0 != 909);
    let said: Vec<String> =
        own.map(|one| format!("{} {} {}", one.code.0, one.severity.word(), one.span.of(source))).collect();
    assert_eq!(said, expected, "{}", files[0].1);
}

fn sequence(name: &str, steps: &str) -> (&'static str, String) {
    let path: &'static str = match name {
        "A" => "artifacts/sequences/A.xml",
        "B" => "artifacts/sequences/B.xml",
        _ => "artifacts/sequences/C.xml",
    };
    (path, format!("<sequence {XMLNS} name=\"{name}\">{steps}</sequence>"))
}

#[test]
fn what_is_missing_is_certain_only_in_a_whole_project() {
    let call = sequence("A", "<call><endpoint key=\"E\"/></call>");
    check(WHOLE, std::slice::from_ref(&call), &["901 error E"]);
    check(PART, &[call], &["901 warning E"]);
    check(WHOLE, &[sequence("A", "<sequence key=\"main\"/><sequence key=\"fault\"/>")], &[]);
    check(WHOLE, &[sequence("A", "<sequence key=\"{${vars.next}}\"/>")], &[]);
    check(WHOLE, &[sequence("A", "<sequence key=\"B\"/>"), sequence("B", "<log/>")], &[]);
    check(
        WHOLE,
        &[sequence("A", "<call-template target=\"org.example.lib.Run\"/>")],
        &["901 warning org.example.lib.Run"],
    );
    check(WHOLE, &[sequence("A", "<xslt key=\"style\"/>")], &["901 warning style"]);
    check(
        WHOLE,
        &[sequence("A", "<sequence name=\"in\" onError=\"Gone\"><log/></sequence>")],
        &["901 warning Gone"],
    );
    check(WHOLE, &[sequence("A", "<store messageStore=\"S\"/>")], &["901 error S"]);
    check(WHOLE, &[sequence("A", "<dataServiceCall serviceName=\"D\"/>")], &["901 error D"]);
}

#[test]
fn parameters_of_artifacts_name_things_too() {
    let task = |to: &str| {
        (
            "artifacts/tasks/T.xml",
            format!(
                "<task {XMLNS} name=\"T\" class=\"org.apache.synapse.startup.tasks.MessageInjector\"><trigger count=\"1\"/>\
                 <property name=\"injectTo\" value=\"{to}\"/><property name=\"sequenceName\" value=\"S\"/>\
                 <property name=\"proxyName\" value=\"P\"/></task>"
            ),
        )
    };
    check(WHOLE, &[task("sequence")], &["901 error S"]);
    check(WHOLE, &[task("proxy")], &["901 error P"]);
    check(WHOLE, &[task("main")], &[]);
    let inbound = (
        "artifacts/inbound-endpoints/I.xml",
        format!("<inboundEndpoint {XMLNS} name=\"I\" protocol=\"http\" sequence=\"A\" onError=\"Gone\"/>"),
    );
    check(WHOLE, &[inbound, sequence("A", "<log/>")], &["901 warning Gone"]);
    let bound = |to: &str| {
        (
            "artifacts/apis/A.xml",
            format!("<api {XMLNS} name=\"A\" context=\"/a\" binds-to=\"{to}\"><resource/></api>"),
        )
    };
    check(WHOLE, &[bound("default")], &[]);
    check(WHOLE, &[bound("default, Gone")], &["901 error default, Gone"]);
}

#[test]
fn resources_are_files_or_entries() {
    let uses = |key: &str| sequence("A", &format!("<xslt key=\"{key}\"/>"));
    let file = |path: &'static str| (path, "text".to_owned());
    check(WHOLE, &[uses("gov:/x/a.xslt"), file("resources/registry/gov/x/a.xslt")], &[]);
    check(WHOLE, &[uses("conf:x/a.xslt"), file("resources/registry/conf/x/a.xslt")], &[]);
    check(WHOLE, &[uses("resources:/x/a.xslt"), file("resources/x/a.xslt")], &[]);
    check(
        WHOLE,
        &[uses("gov:/x/b.xslt"), file("resources/registry/gov/x/a.xslt")],
        &["902 warning gov:/x/b.xslt"],
    );
    check(WHOLE, &[uses("file:/opt/a.xslt")], &[]);
    check(WHOLE, &[uses("resources:datamapper/m/m.dmc"), file("resources/datamapper/m/m.ts")], &[]);
    let descriptor = "<artifacts><artifact name=\"a\" type=\"registry/resource\"><item><file>b.xslt</file>\
                      <path>/_system/governance/x</path></item></artifact></artifacts>";
    check(WHOLE, &[uses("gov:/x/b.xslt"), ("resources/artifact.xml", descriptor.to_owned())], &[]);
    check(PART, &[uses("gov:/x/b.xslt")], &[]);
}

#[test]
fn circles_are_told_with_their_way() {
    let files = [
        sequence("A", "<sequence key=\"B\"/>"),
        sequence("B", "<sequence key=\"C\"/>"),
        sequence("C", "<sequence key=\"A\"/>"),
    ];
    check(WHOLE, &files, &["908 warning B"]);
    let project = project(WHOLE, &files);
    let found = project.check_file("src/main/wso2mi/artifacts/sequences/A.xml");
    let circle = found.iter().find(|one| one.code.0 == 908).unwrap();
    assert_eq!(circle.message, "This comes back here without end: A → B → C → A");
    check(WHOLE, &[sequence("A", "<sequence key=\"A\"/>")], &["908 warning A"]);
    check(
        WHOLE,
        &[sequence("A", "<filter xpath=\"${payload.more}\"><then><sequence key=\"A\"/></then></filter>")],
        &["908 info A"],
    );
    check(WHOLE, &[sequence("A", "<sequence key=\"B\"/>"), sequence("B", "<sequence key=\"B\"/>")], &[]);
}

#[test]
fn endpoints_can_go_round_too() {
    let endpoint = |file: &'static str, name: &str, inside: &str| {
        (file, format!("<endpoint {XMLNS} name=\"{name}\">{inside}</endpoint>"))
    };
    let (one, two) = ("artifacts/endpoints/1.xml", "artifacts/endpoints/2.xml");
    let failover = |key: &str| format!("<failover><endpoint key=\"{key}\"/></failover>");
    check(
        WHOLE,
        &[endpoint(one, "E", &failover("F")), endpoint(two, "F", &failover("E"))],
        &["908 warning F"],
    );
    check(
        WHOLE,
        &[endpoint(one, "E", &failover("F")), endpoint(two, "F", "<address uri=\"http://h\"/>")],
        &[],
    );
}

#[test]
fn a_missing_parameter_is_filled_in() {
    let template = (
        "artifacts/templates/T.xml",
        format!(
            "<template {XMLNS} name=\"T\"><parameter name=\"a\" isMandatory=\"true\"/><sequence><log><message>${{params.functionParams.a}}</message></log></sequence></template>"
        ),
    );
    let call = sequence("A", "\n    <call-template target=\"T\"/>\n");
    check(WHOLE, &[call.clone(), template.clone()], &["903 error T"]);
    let project = project(WHOLE, &[call, template]);
    let path = "src/main/wso2mi/artifacts/sequences/A.xml";
    let found = project.check_file(path);
    let edits: Vec<_> =
        found.iter().filter(|one| one.code.0 == 903).flat_map(|one| &one.fixes[0].edits).collect();
    let text = crate::fix::apply(project.file(path).unwrap().document().source(), &edits).unwrap();
    let expected = "\n    <call-template target=\"T\">\n        <with-param name=\"a\" value=\"\"/>\n    </call-template>\n";
    assert_eq!(text, sequence("A", expected).1);
}

#[test]
fn names_and_paths_are_taken_once() {
    let api = |file: &'static str, name: &str, context: &str| {
        (file, format!("<api {XMLNS} name=\"{name}\" {context}><resource/></api>"))
    };
    let (one, two) = ("artifacts/apis/1.xml", "artifacts/apis/2.xml");
    check(WHOLE, &[api(one, "A", "context=\"/a\""), api(two, "A", "context=\"/b\"")], &["906 error A"]);
    check(WHOLE, &[api(one, "A", "context=\"/a\""), api(two, "B", "context=\"/a/\"")], &["907 error A"]);
    check(PART, &[api(one, "A", "context=\"/a\""), api(two, "B", "context=\"/a\"")], &["907 warning A"]);
    let version = |number: &str| format!("context=\"/a\" version=\"{number}\" version-type=\"url\"");
    check(WHOLE, &[api(one, "A", &version("1")), api(two, "B", &version("2"))], &[]);
    check(WHOLE, &[api(one, "A", "context=\"/a\" port=\"1\""), api(two, "B", "context=\"/a\"")], &[]);
}

#[test]
fn classes_and_connectors_come_from_somewhere() {
    let class = sequence("A", "<class name=\"com.example.B\"/>");
    check(WHOLE, std::slice::from_ref(&class), &["910 warning com.example.B"]);
    let library = WHOLE.replace("</project>", "<dependencies><dependency><groupId>a</groupId><artifactId>b</artifactId></dependency></dependencies></project>");
    check(&library, &[class], &[]);
    check(WHOLE, &[sequence("A", "<class name=\"org.wso2.carbon.X\"/>")], &[]);
    let uses = sequence("A", "<kafkaTransport.publish/><kafkaTransport.publish/>");
    check(WHOLE, std::slice::from_ref(&uses), &["912 warning kafkaTransport.publish"]);
    let pom = WHOLE.replace(
        "</project>",
        "<dependencies><dependency><groupId>org.wso2.integration.connector</groupId>\
         <artifactId>mi-connector-kafka</artifactId><version>1</version><type>zip</type></dependency></dependencies></project>",
    );
    check(&pom, std::slice::from_ref(&uses), &[]);
    check(WHOLE, &[uses, ("resources/connectors/kafka-connector-3.zip", String::new())], &[]);
}

/// The operations with these prefixes that are reported when these artifacts are listed, with the repair.
#[track_caller]
fn prefixes(artifacts: &[&str], used: &[&str], expected: &[&str]) {
    let listed: String = artifacts
        .iter()
        .map(|artifact| {
            format!(
                "<dependency><groupId>org.wso2.integration.connector</groupId><artifactId>{artifact}</artifactId>\
                 <version>1</version><type>zip</type></dependency>"
            )
        })
        .collect();
    let pom = WHOLE.replace("</project>", &format!("<dependencies>{listed}</dependencies></project>"));
    let steps: String = used.iter().map(|prefix| format!("<{prefix}.run>x</{prefix}.run>")).collect();
    let steps = sequence("A", &steps);
    let project = project(&pom, std::slice::from_ref(&steps));
    let path = format!("src/main/wso2mi/{}", steps.0);
    let source = project.file(&path).unwrap().document().source();
    let found = project.check_file(&path);
    let said = found.iter().filter(|one| one.code.0 == 912).map(|one| {
        let edits = one.fixes.iter().flat_map(|fix| &fix.edits);
        let edits: Vec<&str> = edits.map(|edit| edit.text.as_str()).collect();
        format!("{} {}", one.span.of(source), edits.join(" ")).trim().to_owned()
    });
    assert_eq!(said.collect::<Vec<_>>(), expected, "{artifacts:?}");
}

#[test]
fn misspelt_prefixes_of_connectors_are_found() {
    let http = &["mi-connector-http"];
    prefixes(http, &["http"], &[]);
    prefixes(
        http,
        &["htttp", "htttp", "httpp"],
        &["htttp.run http.run http.run", "htttp.run http.run http.run", "httpp.run http.run http.run"],
    );
    prefixes(http, &["httxyz", "httxyz"], &["httxyz.run"]);
    prefixes(&["http-connector"], &["htpt"], &["htpt.run http.run http.run"]);
    prefixes(
        &["mi-connector-kafka"],
        &["kafkaTransport", "kafkaTransprt", "kafka"],
        &[
            "kafkaTransprt.run kafkaTransport.run kafkaTransport.run",
            "kafka.run kafkaTransport.run kafkaTransport.run",
        ],
    );
    prefixes(&["kafka-connector"], &["kafkaTransport", "kafka"], &[]);
    // Case is not held against anybody, and what is near may be another connector.
    prefixes(
        &["mi-module-csv", "mi-connector-smpp", "mi-module-fhirbase"],
        &["CSV", "SMPP", "fhirBase"],
        &[],
    );
    prefixes(&["mi-connector-amazons3"], &["amazonsqs"], &["amazonsqs.run"]);
    // Others are named after their prefix, or nearly so.
    prefixes(&["mi-connector-orders"], &["orders", "order", "ordersApi"], &[]);
    prefixes(&["mi-connector-orders"], &["ordres"], &["ordres.run orders.run orders.run"]);
    prefixes(&["mi-connector-googlecalendar"], &["googleCalendarV3"], &[]);
    prefixes(&["acme-http-tools"], &["htttp"], &[]);
}
