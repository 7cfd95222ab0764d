//! Places by runtime, entries of the descriptor, names that are refused.

use super::*;

fn layout(version: Option<Version>) -> Layout {
    Layout::new(Path::new("/w"), Path::new("/w"), version, "order-map").unwrap()
}

#[test]
fn the_places_depend_on_the_runtime() {
    let new = layout(Some(Version::new(4, 4, 0)));
    assert_eq!(new.script(), "src/main/wso2mi/resources/datamapper/order-map/order-map.ts");
    assert_eq!(new.descriptor(), "src/main/wso2mi/resources/artifact.xml");
    assert_eq!(
        new.mediator(Kind::Xml, Kind::Json),
        "<datamapper config=\"resources:/datamapper/order-map/order-map.dmc\" inputSchema=\"resources:/datamapper/order-map/order-map_inputSchema.json\" inputType=\"XML\" outputSchema=\"resources:/datamapper/order-map/order-map_outputSchema.json\" outputType=\"JSON\"/>"
    );
    assert_eq!(layout(None), new);
    let old = layout(Some(Version::new(4, 3, 0)));
    assert_eq!(old.script(), "src/main/wso2mi/resources/registry/gov/datamapper/order-map/order-map.ts");
    assert_eq!(old.descriptor(), "src/main/wso2mi/resources/registry/artifact.xml");
    assert!(
        old.mediator(Kind::Csv, Kind::Csv)
            .starts_with("<datamapper config=\"gov:/datamapper/order-map/order-map.dmc\" ")
    );
    let module = Layout::new(Path::new("/w"), Path::new("/w/one"), None, "a").unwrap();
    assert_eq!(module.script(), "one/src/main/wso2mi/resources/datamapper/a/a.ts");
}

#[test]
fn bad_names_and_places_are_refused() {
    for name in ["", "1a", "a b", "a/b", "../a", "ä", "dm-utils"] {
        assert!(Layout::new(Path::new("/w"), Path::new("/w"), None, name).is_err(), "{name}");
    }
    assert!(Layout::new(Path::new("/w/in"), Path::new("/w"), None, "a").is_err());
}

const ENTRIES: &str = r#"    <artifact name="resources_datamapper_order_map_order_map_dmc" groupId="G" version="V" type="registry/resource" serverRole="EnterpriseIntegrator">
        <item>
            <file>order-map.dmc</file>
            <path>/_system/governance/mi-resources/datamapper/order-map</path>
            <mediaType>application/datamapper</mediaType>
            <properties/>
        </item>
    </artifact>
    <artifact name="resources_datamapper_order_map_order_map_inputSchema_json" groupId="G" version="V" type="registry/resource" serverRole="EnterpriseIntegrator">
        <item>
            <file>order-map_inputSchema.json</file>
            <path>/_system/governance/mi-resources/datamapper/order-map</path>
            <mediaType>application/json</mediaType>
            <properties/>
        </item>
    </artifact>
    <artifact name="resources_datamapper_order_map_order_map_outputSchema_json" groupId="G" version="V" type="registry/resource" serverRole="EnterpriseIntegrator">
        <item>
            <file>order-map_outputSchema.json</file>
            <path>/_system/governance/mi-resources/datamapper/order-map</path>
            <mediaType>application/json</mediaType>
            <properties/>
        </item>
    </artifact>
"#;

#[test]
fn the_descriptor_gains_entries() {
    let usual = ENTRIES.replace("\"G\"", &format!("\"{GROUP}\"")).replace("\"V\"", "\"1.0.0\"");
    let header = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let fresh = format!("{header}<artifacts>\n{usual}</artifacts>\n");
    let layout = layout(None);
    assert_eq!(layout.described(None).unwrap(), fresh);
    assert_eq!(layout.described(Some("<artifacts/>")).unwrap(), fresh.replace(header, "").trim_end());
    assert_eq!(layout.described(Some(&fresh)).unwrap(), fresh, "entries that are there are not doubled");
    let other = "<artifacts>\n    <artifact name=\"a\" groupId=\"org.x\" version=\"2.0\"/>\n</artifacts>\n";
    let like = ENTRIES.replace("\"G\"", "\"org.x\"").replace("\"V\"", "\"2.0\"");
    assert_eq!(
        layout.described(Some(other)).unwrap(),
        other.replace("</artifacts>", &format!("{like}</artifacts>"))
    );
    for (broken, why) in [("<artifacts>", "is broken"), ("<a/>", "has no <artifacts> at its root")] {
        assert!(layout.described(Some(broken)).unwrap_err().message.contains(why), "{broken}");
    }
}
