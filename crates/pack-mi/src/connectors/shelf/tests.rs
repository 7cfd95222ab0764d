//! Finding connectors by what people call them.

use super::*;

fn shelf() -> Shelf {
    Shelf::new(None, &Archives::default(), Stocked::default())
}

#[test]
fn names_are_forgiving() {
    let shelf = shelf();
    for (name, expect) in [
        ("http", "mi-connector-http"),
        ("HTTP", "mi-connector-http"),
        ("mi-connector-http", "mi-connector-http"),
        ("HTTP Connector", "mi-connector-http"),
        ("esb-connector-amazons3", "mi-connector-amazons3"),
        ("s3", "mi-connector-amazons3"),
        ("Amazon S3", "mi-connector-amazons3"),
        ("kafka", "mi-connector-kafka"),
        ("kafkaTransport", "mi-connector-kafka"),
        ("mi-inbound-kafka", "mi-inbound-kafka"),
        ("kafka inbound", "mi-inbound-kafka"),
        ("jms", "jms"),
        ("inbound http", "http"),
        ("salesforce", "mi-connector-salesforce"),
        ("Salesforce REST", "mi-connector-salesforcerest"),
        ("google sheets", "mi-connector-googlespreadsheet"),
        ("csv", "mi-module-csv"),
        ("database", "mi-connector-db"),
        ("mongo", "mi-connector-mongodb"),
    ] {
        let found = shelf.find(name).unwrap_or_else(|like| panic!("{name}: {like:?}"));
        assert_eq!(found.definition.artifact, expect, "{name}");
    }
    let salesforce = shelf.find("salesforce").unwrap();
    assert!(salesforce.others.contains(&"salesforcerest".to_owned()), "{:?}", salesforce.others);
}

#[test]
fn unknown_names_suggest() {
    let shelf = shelf();
    for (name, expect) in
        [("kafak", "kafkaTransport"), ("mongod", "mongodb"), ("gogle-spreadsheet", "googlespreadsheet")]
    {
        let like = shelf.find(name).unwrap_err();
        assert_eq!(like.first().map(String::as_str), Some(expect), "{name}: {like:?}");
    }
    assert_eq!(shelf.find("xyzzy").unwrap_err(), Vec::<String>::new());
    assert_eq!(shelf.find("").unwrap_err(), Vec::<String>::new());
}
