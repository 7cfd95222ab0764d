//! Every example of every connector goes through the checker.

use synapse_lang::project::Project;

use super::super::snapshot;
use super::*;
use crate::pom::{self, Connector};

/// What the checker finds in an example, for a runtime, when the build file names the connector.
fn findings(definition: &Definition, example: &Example, runtime: Version) -> Vec<String> {
    let mut project = Project::default();
    let connector = Connector::new(&*definition.group, &*definition.artifact, "1.0.0");
    project.set("pom.xml", pom::add("<project/>", &connector).unwrap().unwrap());
    project.set_runtime(Some(runtime));
    let mut paths = Vec::new();
    if let Some((path, entry)) = &example.connection {
        project.set(path.as_str(), entry.as_str());
        paths.push(path.clone());
    }
    let namespace = "xmlns=\"http://ws.apache.org/ns/synapse\"";
    for name in ["request", "fault"] {
        let path = format!("src/main/wso2mi/artifacts/sequences/{name}.xml");
        project.set(path, format!("<sequence {namespace} name=\"{name}\"><log/></sequence>"));
    }
    if let Some(step) = &example.step {
        let path = if step.starts_with("<inboundEndpoint") {
            project.set("src/main/wso2mi/artifacts/inbound-endpoints/In.xml", step.as_str());
            "src/main/wso2mi/artifacts/inbound-endpoints/In.xml"
        } else {
            let text = format!(
                "<api {namespace} name=\"Use\" context=\"/use\"><resource methods=\"GET\" uri-template=\"/\"><inSequence>\n{step}\
                 <respond/></inSequence></resource></api>\n"
            );
            project.set("src/main/wso2mi/artifacts/apis/Use.xml", text);
            "src/main/wso2mi/artifacts/apis/Use.xml"
        };
        paths.push(path.to_owned());
    }
    let found = paths.iter().flat_map(|path| project.check_file(path));
    found.map(|one| format!("{} {}", one.code, one.message)).collect()
}

#[test]
fn examples_check_clean_on_every_runtime() {
    for definition in snapshot::all() {
        for runtime in [Version::OLDEST, Version::NEWEST] {
            let operations = definition.operations.iter().filter(|one| !one.hidden && one.name != "init");
            let operations: Vec<Option<&Operation>> = operations.map(Some).chain([None]).collect();
            let connections: Vec<Option<&Connection>> =
                definition.connections.iter().map(Some).chain([None]).collect();
            let pairs =
                operations.iter().map(|one| (*one, None)).chain(connections.iter().map(|one| (None, *one)));
            for (operation, connection) in pairs {
                let example = example(definition, runtime, connection, operation);
                let found = findings(definition, &example, runtime);
                assert!(found.is_empty(), "{} {runtime}: {found:?}\n{example:#?}", definition.name);
            }
        }
    }
}

#[test]
fn an_example_shows_kind_and_name_of_the_connection() {
    let http = snapshot::all().iter().find(|one| one.name == "http").unwrap();
    let example = example(http, Version::EXPRESSIONS, http.connection("https"), http.operation("get"));
    let (path, entry) = example.connection.unwrap();
    assert_eq!(path, "src/main/wso2mi/artifacts/local-entries/HTTP_CONNECTION.xml");
    assert_eq!(
        entry,
        "<localEntry xmlns=\"http://ws.apache.org/ns/synapse\" key=\"HTTP_CONNECTION\">\n    <http.init>\n        \
         <connectionType>HTTPS</connectionType>\n        <name>HTTP_CONNECTION</name>\n        <baseUrl>to be set</baseUrl>\n    \
         </http.init>\n</localEntry>\n"
    );
    assert_eq!(
        example.step.as_deref(),
        Some(
            "<http.get configKey=\"HTTP_CONNECTION\">\n    <responseVariable>http_get_1</responseVariable>\n</http.get>\n"
        )
    );
    assert_eq!(example.note, None);
}
