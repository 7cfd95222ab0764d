//! Definitions, references and build facts of small projects.

use super::*;

const SEQUENCE: &str = "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Audit\"><log/></sequence>";
const CALLER: &str =
    "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Main\"><sequence key=\"Audit\"/></sequence>";

#[test]
fn what_a_file_defines_is_found_until_it_is_gone() {
    let mut project = Project::default();
    project.set("a.xml", SEQUENCE);
    project.set("b.xml", CALLER);
    let sites: Vec<&str> = project.definitions(RefKind::Sequence, "Audit").map(|(path, _)| path).collect();
    assert_eq!(sites, ["a.xml"]);
    let places: Vec<&str> = project.references(RefKind::Sequence, "Audit").map(|(path, _)| path).collect();
    assert_eq!(places, ["b.xml"]);
    project.set("a.xml", SEQUENCE.replace("Audit", "Trace"));
    assert_eq!(project.definitions(RefKind::Sequence, "Audit").count(), 0);
    let mut names: Vec<&str> = project.names(RefKind::Sequence).collect();
    names.sort_unstable();
    assert_eq!(names, ["Main", "Trace"]);
    project.remove("b.xml");
    assert_eq!(project.references(RefKind::Sequence, "Audit").count(), 0);
}

#[test]
fn templates_have_parameters_and_connections_are_no_plain_entries() {
    let mut project = Project::default();
    project.set(
        "t.xml",
        "<template xmlns=\"http://ws.apache.org/ns/synapse\" name=\"T\"><parameter name=\"a\" isMandatory=\"true\"/>\
         <parameter name=\"b\" isMandatory=\"true\" defaultValue=\"1\"/><sequence/></template>",
    );
    project.set(
        "c.xml",
        "<localEntry xmlns=\"http://ws.apache.org/ns/synapse\" key=\"C\"><http.init><name>C</name></http.init></localEntry>",
    );
    let (_, template) = project.definitions(RefKind::Template, "T").next().unwrap();
    let parameters: Vec<(&str, bool)> =
        template.parameters.iter().map(|one| (one.name.as_str(), one.mandatory)).collect();
    assert_eq!(parameters, [("a", true), ("b", false)]);
    assert_eq!(project.definitions(RefKind::Connection, "C").count(), 1);
    assert_eq!(project.definitions(RefKind::LocalEntry, "C").count(), 0);
}

#[test]
fn the_runtime_is_read_from_the_build_file() {
    let check = |properties: &str, expected: Option<Version>| {
        let mut project = Project::default();
        project.set("pom.xml", format!("<project><properties>{properties}</properties></project>"));
        assert_eq!(project.runtime(), expected, "{properties}");
    };
    check("<project.runtime.version>4.3.0</project.runtime.version>", Some(Version::new(4, 3, 0)));
    check(
        "<dockerfile.base.image>wso2/wso2mi:4.2.0-alpine</dockerfile.base.image>",
        Some(Version::new(4, 2, 0)),
    );
    check("<dockerfile.base.image>wso2/wso2mi:latest</dockerfile.base.image>", None);
    check("", None);
}

#[test]
fn configurables_are_known_once_any_is_declared() {
    let mut project = Project::default();
    assert_eq!(project.declares_config("url"), None);
    project.set("src/main/wso2mi/resources/conf/config.properties", "# names\nurl:string\nport = int\n");
    assert_eq!(project.declares_config("url"), Some(true));
    assert_eq!(project.declares_config("port"), Some(true));
    assert_eq!(project.declares_config("host"), Some(false));
}

#[test]
fn a_project_is_closed_when_nothing_is_elsewhere() {
    let mut project = Project::default();
    project.set("src/main/wso2mi/artifacts/sequences/Audit.xml", SEQUENCE);
    assert!(!project.is_closed(), "without a build file");
    project.set("pom.xml", "<project/>");
    assert!(project.is_closed());
    project.set(
        "pom.xml",
        "<project><dependencies><dependency><type>car</type></dependency></dependencies></project>",
    );
    assert!(!project.is_closed(), "it depends on another");
}

#[test]
fn what_steps_set_is_known_until_the_last_one_is_gone() {
    let sets = |name: &str| {
        format!(
            "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"{name}\"><variable name=\"x\" value=\"1\"/><variable name=\"x\" value=\"2\"/></sequence>"
        )
    };
    let mut project = Project::default();
    project.set("a.xml", sets("A"));
    project.set("b.xml", sets("B"));
    project.set("a.xml", SEQUENCE);
    assert!(project.writes_variable("x"));
    project.remove("b.xml");
    assert!(!project.writes_variable("x"));
    assert!(!project.has_opaque_steps());
    project.set("a.xml", CALLER.replace("<sequence key=\"Audit\"/>", "<class name=\"a.B\"/>"));
    assert!(project.has_opaque_steps());
    project.set("a.xml", SEQUENCE);
    assert!(!project.has_opaque_steps());
}

#[test]
fn computed_names_are_counted_by_kind() {
    let mut project = Project::default();
    project.set("a.xml", CALLER.replace("\"Audit\"", "\"{${vars.next}}\""));
    assert!(project.names_by_expression(RefKind::Sequence));
    assert!(!project.names_by_expression(RefKind::Endpoint));
    project.set("a.xml", CALLER);
    assert!(!project.names_by_expression(RefKind::Sequence));
}

#[test]
fn contexts_carry_the_version_that_is_part_of_the_path() {
    let check = |attributes: &str, expected: &str| {
        let mut project = Project::default();
        let api = format!(
            "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" {attributes}><resource/></api>"
        );
        project.set("a.xml", api);
        let found: Vec<&str> = project.contexts(expected).collect();
        assert_eq!(found, ["a.xml"], "{attributes}");
    };
    check("context=\"/a/\"", "/a");
    check("context=\"/a\" version=\"1\" version-type=\"url\"", "/a/1");
    check("context=\"/{version}/a\" version=\"1\" version-type=\"context\"", "/1/a");
}

#[test]
fn operations_that_a_connector_in_the_project_does_not_have_are_found() {
    let flow = |operation: &str| {
        format!(
            "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Main\"><orders.{operation}/></sequence>"
        )
    };
    let found = |project: &Project| -> Vec<String> {
        let found = project.check_file("a.xml").into_iter().filter(|one| one.code.0 == 1104);
        found.map(|one| one.message.to_string()).collect()
    };
    let mut project = Project::default();
    project.set("a.xml", flow("fnd"));
    assert_eq!(found(&project), Vec::<String>::new(), "nobody knows the connector");
    let known = BTreeMap::from([("orders".to_owned(), BTreeSet::from(["find".to_owned()]))]);
    let stamp = project.stamp("a.xml");
    project.set_connectors(known.clone());
    assert_eq!(found(&project), ["The orders connector has no operation fnd"]);
    assert_ne!(project.stamp("a.xml"), stamp);
    let stamp = project.stamp("a.xml");
    project.set_connectors(known);
    assert_eq!(project.stamp("a.xml"), stamp, "the same again changes nothing");
    project.set("a.xml", flow("find"));
    assert_eq!(found(&project), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let link = folder.join("pom.xml");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    assert_eq!(disk::text(&link), None);
    assert_eq!(disk::inherited_runtime(folder), None);
}
