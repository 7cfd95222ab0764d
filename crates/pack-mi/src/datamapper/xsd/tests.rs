//! XSDs that are read, and those that need another file.

#![allow(clippy::needless_pass_by_value, reason = "expectations read best as they are")]

use serde_json::json;

use super::*;

fn schema(inside: &str) -> String {
    format!(r#"<xs:schema xmlns:xs="{XSD}" xmlns="urn:a" targetNamespace="urn:a">{inside}</xs:schema>"#)
}

fn check(inside: &str, title: &str, expected: Shape) {
    let read = read(&schema(inside)).unwrap();
    assert_eq!((read.title.as_str(), read.kind, &read.shape), (title, Kind::Xml, &expected), "{inside}");
}

fn refused(inside: &str, expected: &str) {
    assert_eq!(read(&schema(inside)).unwrap_err().to_string(), expected);
}

#[test]
fn elements_types_and_occurrences() {
    check(
        r#"<xs:element name="order"><xs:complexType>
             <xs:sequence>
               <xs:element name="id" type="xs:int"/>
               <xs:element name="note" type="xs:string" minOccurs="0"/>
               <xs:element name="line" type="Line" maxOccurs="unbounded"/>
               <xs:choice><xs:element name="card" type="xs:string"/><xs:element name="cash" type="xs:boolean"/></xs:choice>
             </xs:sequence>
             <xs:attribute name="channel" use="required"><xs:simpleType><xs:restriction base="xs:string">
               <xs:enumeration value="web"/><xs:enumeration value="shop"/></xs:restriction></xs:simpleType></xs:attribute>
             <xs:attribute name="lang" type="xs:language"/>
           </xs:complexType></xs:element>
           <xs:complexType name="Line"><xs:sequence><xs:element ref="sku"/><xs:element name="price" type="Price"/></xs:sequence></xs:complexType>
           <xs:complexType name="Price"><xs:simpleContent><xs:extension base="Amount"><xs:attribute name="currency" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>
           <xs:simpleType name="Amount"><xs:restriction base="xs:decimal"><xs:minInclusive value="0"/></xs:restriction></xs:simpleType>
           <xs:element name="sku" type="xs:token"/>"#,
        "order",
        Shape::Object(vec![
            Field::new("id", Shape::Number),
            Field::optional("note", Shape::Text),
            Field::new(
                "line",
                Shape::Object(vec![
                    Field::new("sku", Shape::Text),
                    Field::new(
                        "price",
                        Shape::Object(vec![
                            Field::new("_ELEMVAL", Shape::Number),
                            Field::optional("attr_currency", Shape::Text),
                        ]),
                    ),
                ])
                .list(),
            ),
            Field::optional("card", Shape::Text),
            Field::optional("cash", Shape::Truth),
            Field::new("attr_channel", Shape::Exactly(vec![json!("web"), json!("shop")])),
            Field::optional("attr_lang", Shape::Text),
        ]),
    );
}

#[test]
fn extensions_groups_and_types_that_hold_themselves() {
    check(
        r#"<xs:element name="part" type="Part"/>
           <xs:complexType name="Base"><xs:sequence><xs:element name="id" type="xs:long"/></xs:sequence></xs:complexType>
           <xs:complexType name="Part"><xs:complexContent><xs:extension base="Base">
             <xs:sequence><xs:group ref="Names" minOccurs="0"/><xs:element name="part" type="Part" minOccurs="0" maxOccurs="5"/></xs:sequence>
             <xs:attributeGroup ref="Marks"/>
           </xs:extension></xs:complexContent></xs:complexType>
           <xs:group name="Names"><xs:sequence><xs:element name="name" nillable="true" type="xs:string"/></xs:sequence></xs:group>
           <xs:attributeGroup name="Marks"><xs:attribute name="mark" type="xs:boolean"/></xs:attributeGroup>"#,
        "part",
        Shape::Object(vec![
            Field::new("id", Shape::Number),
            Field::optional("name", Shape::OneOf(vec![Shape::Text, Shape::Null])),
            Field::optional("part", Shape::Any.list()),
            Field::optional("attr_mark", Shape::Truth),
        ]),
    );
}

#[test]
fn what_needs_another_file_is_refused() {
    refused(
        r#"<xs:include schemaLocation="types.xsd"/><xs:element name="a"/>"#,
        "it is no usable XSD: xs:include of \"types.xsd\" is not followed: give one file that has everything, or a sample message",
    );
    refused(
        r#"<xs:element name="a" type="Gone"/>"#,
        "it is no usable XSD: there is no global xs:complexType \"Gone\"",
    );
    refused("", "it is no usable XSD: there is no global xs:element to begin with");
    assert_eq!(read("<a/>").unwrap_err().to_string(), "it is no usable XSD: the root is no xs:schema");
}

#[test]
fn schemas_without_an_end_are_refused() {
    let deep = "it is no usable XSD: its parts are nested more than 100 times";
    refused(
        r#"<xs:element name="a"><xs:complexType><xs:group ref="G"/></xs:complexType></xs:element><xs:group name="G"><xs:sequence><xs:group ref="G"/></xs:sequence></xs:group>"#,
        deep,
    );
    refused(
        r#"<xs:element name="a" type="A"/><xs:simpleType name="A"><xs:restriction base="B"/></xs:simpleType><xs:simpleType name="B"><xs:restriction base="A"/></xs:simpleType>"#,
        deep,
    );
    let (open, close) = (
        "<xs:element name=\"a\"><xs:complexType><xs:sequence>",
        "</xs:sequence></xs:complexType></xs:element>",
    );
    refused(&format!("{}{}", open.repeat(5_000), close.repeat(5_000)), deep);
    let mut types: String = (0..40)
        .map(|n| format!("<xs:complexType name=\"T{n}\"><xs:sequence><xs:element name=\"a\" type=\"T{0}\"/><xs:element name=\"b\" type=\"T{0}\"/></xs:sequence></xs:complexType>", n + 1))
        .collect();
    types += "<xs:complexType name=\"T40\"/><xs:element name=\"a\" type=\"T0\"/>";
    let error = read(&schema(&types)).unwrap_err().to_string();
    assert!(error.starts_with("it is no usable XSD: it"), "{error}");
}
