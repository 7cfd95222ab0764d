//! The files can be read, and say nothing twice.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_file_is_read() {
    for (index, text) in FILES.iter().enumerate() {
        let page: Result<Page, _> = toml::from_str(text);
        assert!(page.is_ok(), "file {index}: {}", page.err().unwrap());
    }
    let connectors = all().iter().filter(|one| one.kind == Kind::Connector).count();
    let bundled = all().iter().filter(|one| one.kind == Kind::Bundled).count();
    assert_eq!((connectors, bundled, all().len()), (43, 13, 58));
}

#[test]
fn nothing_is_said_twice_or_left_empty() {
    let mut names = BTreeSet::new();
    for one in all() {
        assert!(names.insert((one.kind, one.name.clone())), "{} twice", one.name);
        assert!(!one.summary.is_empty() && !one.title.is_empty(), "{}", one.name);
        assert!(!one.has_coordinates || one.version.is_some(), "{} has coordinates and no version", one.name);
        let mut operations = BTreeSet::new();
        for operation in &one.operations {
            let name = &operation.name;
            assert!(operations.insert(name), "{}.{name} twice", one.name);
            assert!(!name.contains(char::is_whitespace), "{}.{name}", one.name);
            let mut parameters = BTreeSet::new();
            for parameter in operation.parameters.iter().flatten() {
                assert!(parameters.insert(&parameter.name), "{}.{name} {} twice", one.name, parameter.name);
            }
        }
        for connection in &one.connections {
            let mut parameters = BTreeSet::new();
            for parameter in connection.parameters.iter().flatten() {
                let name = &parameter.name;
                assert!(parameters.insert(name), "{} {} {name} twice", one.name, connection.name);
                assert!(!matches!(name.as_str(), "name" | "connectionType"), "{} {name}", one.name);
            }
        }
    }
}

#[test]
fn parameters_are_rows() {
    let whole = Parameter {
        name: "mode".into(),
        required: true,
        default: Some("Complete File".into()),
        description: "What is read".into(),
        values: vec!["Complete File".into(), "Up To Line".into()],
        ..Parameter::default()
    };
    assert_eq!(parameter("mode! (Complete File, Up To Line) = Complete File | What is read"), whole);
    let typed =
        Parameter { name: "a".into(), kind: Some("boolean or expression".into()), ..Parameter::default() };
    assert_eq!(parameter("a boolean or expression"), typed);
    let short = Parameter { name: "b".into(), required: true, ..Parameter::default() };
    assert_eq!(parameter("b!"), short);
}
