//! Archives as they are in projects, and such as nobody should be able to hurt with.

#![allow(clippy::unwrap_used, reason = "other tests make archives with this")]

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use super::*;

/// An archive with these entries.
pub(crate) fn zipped(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (path, text) in entries {
        writer.start_file(*path, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A small connector with everything that is read.
pub(crate) const ORDERS: &[(&str, &str)] = &[
    (
        "connector.xml",
        "<?xml version=\"1.0\"?>\n<connector><component name=\"orders\" package=\"com.example\">\
         <dependency component=\"config\"/><dependency component=\"items\"/>\
         <description>Orders of\n  the shop</description></component><displayName>Shop orders</displayName></connector>",
    ),
    (
        "config/component.xml",
        "<component name=\"config\" type=\"synapse/template\"><subComponents><component name=\"init\"><file>init.xml</file>\
         <description>Connects</description><hidden>true</hidden></component></subComponents></component>",
    ),
    (
        "config/init.xml",
        "<template xmlns=\"http://ws.apache.org/ns/synapse\" name=\"init\"><parameter name=\"name\"/>\
         <parameter name=\"host\" description=\"The server\"/><sequence/></template>",
    ),
    (
        "items/component.xml",
        "<component name=\"items\" type=\"synapse/template\"><subComponents>\
         <component name=\"find\"><file>find.xml</file><displayName>Find</displayName><description>Finds an order</description></component>\
         <component name=\"purge\"><file>missing.xml</file></component></subComponents></component>",
    ),
    (
        "items/find.xml",
        "<template xmlns=\"http://ws.apache.org/ns/synapse\" name=\"find\"><parameter name=\"id\" description=\"\"/>\
         <parameter name=\"state\" description=\"Its state\"/><parameter name=\"trace\" description=\"For support\"/>\
         <parameter name=\"responseVariable\"/><sequence/></template>",
    ),
    (
        "uischema/find.json",
        r#"{"connectorName":"orders","operationName":"find","title":"Find an order","elements":[{"type":"attributeGroup",
        "value":{"groupName":"General","elements":[
        {"type":"attribute","value":{"name":"configRef","inputType":"connection","allowedConnectionTypes":["SHOP"],"required":"true"}},
        {"type":"attribute","value":{"name":"id","displayName":"Id","inputType":"stringOrExpression","required":"true","helpTip":"Which order"}},
        {"type":"attribute","value":{"name":"formOnly","inputType":"string","required":"false"}},
        {"type":"attribute","value":{"name":"state","inputType":"combo","comboValues":["open","paid"],"defaultValue":"open","required":false,
         "enableCondition":["AND",{"id":"1"},["OR",{"a":"x"},{"a":"y"}]]}},
        {"type":"attribute","value":{"name":"responseVariable","inputType":"string","required":"true"}}]}}]}"#,
    ),
    (
        "uischema/shop.json",
        r#"{"connectorName":"orders","connectionName":"SHOP","title":"Shop","elements":[{"type":"attribute","value":{
        "name":"connectionName","inputType":"string","required":"true"}},{"type":"attribute","value":{"name":"host","inputType":"string",
        "required":"true"}},{"type":"attribute","value":{"name":"tls","inputType":"checkbox","defaultValue":false}}]}"#,
    ),
    (
        "outputschema/find.json",
        r#"{"type":"object","properties":{"payload":{"type":"object","properties":{"lines":{"type":"array","items":{"properties":
        {"sku":{"type":"string","description":"Article"}}}}}},"attributes":{"type":["object","null"]}}}"#,
    ),
    ("lib/orders.jar", "not read"),
];

fn read_orders() -> Definition {
    read_from(Cursor::new(zipped(ORDERS)), "mi-connector-orders-1.2.0.zip").unwrap()
}

#[test]
fn everything_that_is_described_is_read() {
    let definition = read_orders();
    let (name, title, summary) = (&*definition.name, &*definition.title, &*definition.summary);
    assert_eq!((name, title, summary), ("orders", "Shop orders", "Orders of the shop"));
    assert_eq!(
        (&*definition.artifact, definition.version.as_deref()),
        ("mi-connector-orders", Some("1.2.0"))
    );
    assert_eq!(definition.init, Init::LocalEntry);
    let names: Vec<(&str, bool)> = definition.operations.iter().map(|one| (&*one.name, one.hidden)).collect();
    assert_eq!(names, [("init", true), ("find", false), ("purge", false)]);

    let find = definition.operation("ORDERS.find").or(definition.operation("find")).unwrap();
    assert_eq!(
        (find.description.as_str(), &*find.connections),
        ("Finds an order", ["SHOP".to_owned()].as_slice())
    );
    let parameters: Vec<(&str, bool)> =
        find.parameters.as_ref().unwrap().iter().map(|one| (&*one.name, one.required)).collect();
    // The form's order first; what only the form has is no parameter, what only the template has is one.
    assert_eq!(parameters, [("id", true), ("state", false), ("responseVariable", true), ("trace", false)]);
    let state = &find.parameters.as_ref().unwrap()[1];
    let expect = Parameter {
        name: "state".into(),
        required: false,
        kind: Some("one of".into()),
        description: "Its state".into(),
        default: Some("open".into()),
        values: vec!["open".into(), "paid".into()],
        condition: Some("(id = 1 and (a = x or a = y))".into()),
    };
    assert_eq!(*state, expect);
    assert_eq!(
        find.output,
        [
            "payload (object)",
            "payload.lines (array)",
            "payload.lines[].sku (string): Article",
            "attributes (object or null)"
        ]
    );
    assert_eq!(definition.operation("purge").unwrap().parameters, None, "its template is not there");

    let shop = definition.connection("shop").unwrap();
    let parameters: Vec<(&str, &str)> =
        shop.parameters.as_ref().unwrap().iter().map(|one| (&*one.name, &*one.description)).collect();
    assert_eq!(parameters, [("host", "The server"), ("tls", "")]);
}

#[test]
fn a_checker_is_told_what_is_certain() {
    let definition = read_orders();
    let all = definition.checkable().unwrap();
    let parameters = |name: &str| {
        let one = all.iter().find(|one| one.name == name).unwrap();
        one.parameters.map(|all| all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>())
    };
    assert_eq!(parameters("find"), Some(vec!["id", "state", "responseVariable", "trace"]));
    assert_eq!(parameters("purge"), None);
    let without: Vec<(&str, &str)> =
        ORDERS.iter().copied().filter(|(path, _)| *path != "items/component.xml").collect();
    let torn = read_from(Cursor::new(zipped(&without)), "x.zip").unwrap();
    assert_eq!(torn.checkable(), None, "a component is named and not there");
    let snapshot = snapshot::all().iter().find(|one| one.name == "http").unwrap();
    assert_eq!(snapshot.checkable(), None, "a snapshot is no proof");
}

#[test]
fn names_of_archives_say_artifact_and_version() {
    for (name, expect) in [
        ("mi-connector-http-0.1.9.zip", ("mi-connector-http", Some("0.1.9"))),
        ("mi-module-hl7v2tofhir-1.0.1-SNAPSHOT.ZIP", ("mi-module-hl7v2tofhir", Some("1.0.1-SNAPSHOT"))),
        ("custom.zip", ("custom", None)),
        ("", ("mi-connector-x", None)),
    ] {
        let (artifact, version) = coordinates(name, "x");
        assert_eq!((artifact.as_str(), version.as_deref()), expect, "{name}");
    }
}

#[test]
fn archives_that_would_hurt_are_refused() {
    let check = |bytes: Vec<u8>, expect: &str| {
        let error = read_from(Cursor::new(bytes), "x.zip").unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    };
    check(b"no archive at all".to_vec(), "x.zip is not a zip archive that can be read");
    check(zipped(&[("readme.xml", "<a/>")]), "x.zip is no connector");
    check(zipped(&[("connector.xml", "<connector/>")]), "x.zip is no connector");
    check(
        zipped(&[("connector.xml", "<connector><component name=' '/></connector>")]),
        "x.zip is no connector",
    );
    // Megabytes of blanks take kilobytes.
    let bomb = " ".repeat(2 << 20);
    check(
        zipped(&[("connector.xml", &bomb)]),
        "x.zip is larger than a connector can be: connector.xml has more than",
    );
    let many: Vec<(String, String)> =
        (0..20).map(|at| (format!("uischema/{at}.json"), " ".repeat(1 << 20))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    check(zipped(&many), "x.zip is larger than a connector can be: its descriptions");
    let crowd: Vec<String> = (0..=MOST_ENTRIES).map(|at| format!("{at}.txt")).collect();
    let crowd: Vec<(&str, &str)> = crowd.iter().map(|path| (path.as_str(), "")).collect();
    check(zipped(&crowd), "x.zip is larger than a connector can be: 5001 entries");
}

#[test]
fn a_small_archive_cannot_ask_for_much_work() {
    // Each folder would be read as often as it is named, and each template for each operation.
    let again = "<dependency component=\"c\"/>".repeat(30_000);
    let connector = format!("<connector><component name=\"c\">{again}</component></connector>");
    let operation = "<component name=\"o\"><file>o.xml</file></component>".repeat(10_000);
    let component = format!("<component><subComponents>{operation}</subComponents></component>");
    let parameters = "<parameter name=\"p\"/>".repeat(20_000);
    let template = format!("<template>{parameters}</template>");
    let entries = [("connector.xml", &*connector), ("c/component.xml", &*component), ("c/o.xml", &*template)];
    let read = read_from(Cursor::new(zipped(&entries)), "x.zip").unwrap();
    assert_eq!(read.operations.len(), OPERATIONS);
    assert!(read.operations.iter().all(|one| one.parameters.as_ref().unwrap().len() == PARAMETERS));
    assert!(!read.complete, "what was left out may be anything");
}

#[test]
fn names_that_lead_out_mean_nothing() {
    let entries = [("../connector.xml", ORDERS[0].1), ("/connector.xml", ORDERS[0].1)];
    let error = read_from(Cursor::new(zipped(&entries)), "x.zip").unwrap_err().to_string();
    assert!(error.starts_with("x.zip is no connector"), "{error}");
}

#[test]
fn a_cut_archive_is_no_panic() {
    let whole = zipped(ORDERS);
    for end in (0..whole.len()).step_by(37) {
        assert!(read_from(Cursor::new(&whole[..end]), "x.zip").is_err(), "{end}");
    }
    for at in (0..whole.len()).step_by(11) {
        let mut broken = whole.clone();
        broken[at] ^= 0x5a;
        let _ = read_from(Cursor::new(broken), "x.zip");
    }
}
