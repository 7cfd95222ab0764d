//! Exact texts, and poms made by chance.

use proptest::prelude::*;

use super::*;

fn kafka() -> Connector {
    Connector::new("org.wso2.integration.connector", "mi-connector-kafka", "3.3.11")
}

const BLOCK: &str = "        <dependency>
            <groupId>org.wso2.integration.connector</groupId>
            <artifactId>mi-connector-kafka</artifactId>
            <version>3.3.11</version>
            <type>zip</type>
            <exclusions>
                <exclusion>
                    <groupId>*</groupId>
                    <artifactId>*</artifactId>
                </exclusion>
            </exclusions>
        </dependency>
";

const ONE_LINE: &str = "<dependency><groupId>org.wso2.integration.connector</groupId><artifactId>mi-connector-kafka\
                        </artifactId><version>3.3.11</version><type>zip</type><exclusions><exclusion><groupId>*</groupId>\
                        <artifactId>*</artifactId></exclusion></exclusions></dependency>";

/// Adding gives the text, and removing gives the first one back.
fn check(before: &str, expect: &str) {
    let after = add(before, &kafka()).unwrap().unwrap();
    assert_eq!(after, expect);
    let back = remove(&after, &kafka().group, &kafka().artifact).unwrap().unwrap();
    assert_eq!(back, before);
    assert_eq!(add(&after, &kafka()).unwrap(), None, "it is there already");
}

#[test]
fn a_dependency_joins_those_that_are_there() {
    let other = "        <!-- keep -->\n        <dependency>\n            <groupId>a</groupId>\n        </dependency> <!-- why -->\n";
    let before =
        format!("<project>\n    <dependencies>\n{other}\n    </dependencies>\n    <build/>\n</project>");
    let expect = format!(
        "<project>\n    <dependencies>\n{other}{BLOCK}\n    </dependencies>\n    <build/>\n</project>"
    );
    check(&before, &expect);
}

#[test]
fn a_list_is_made_behind_the_properties() {
    let head = "\u{feff}<?xml version=\"1.0\"?>\n<project>\n    <artifactId>a</artifactId>\n    <properties>\n    </properties> <!-- set by hand -->\n";
    let tail = "\n    <build/>\n</project>\n";
    check(&format!("{head}{tail}"), &format!("{head}    <dependencies>\n{BLOCK}    </dependencies>\n{tail}"));
}

#[test]
fn line_ends_tabs_and_prefixes_stay() {
    let crlf = "<project>\r\n    <artifactId>a</artifactId>\r\n</project>\r\n";
    let block = BLOCK.replace('\n', "\r\n");
    check(
        crlf,
        &format!(
            "<project>\r\n    <artifactId>a</artifactId>\r\n    <dependencies>\r\n{block}    </dependencies>\r\n</project>\r\n"
        ),
    );
    let tabs = "<project>\n\t<artifactId>a</artifactId>\n</project>";
    let block = BLOCK.replace("    ", "\t");
    check(
        tabs,
        &format!(
            "<project>\n\t<artifactId>a</artifactId>\n\t<dependencies>\n{block}\t</dependencies>\n</project>"
        ),
    );
    let prefixed =
        "<m:project xmlns:m=\"http://maven.apache.org/POM/4.0.0\"><m:version>1</m:version></m:project>";
    let after = add(prefixed, &kafka()).unwrap().unwrap();
    assert!(Document::parse(after.as_str()).problems().is_empty());
    assert_eq!(after.matches("<m:exclusion>").count(), 1);
    assert_eq!(remove(&after, &kafka().group, &kafka().artifact).unwrap().as_deref(), Some(prefixed));
}

#[test]
fn a_text_of_one_line_stays_one() {
    let head = "<project><artifactId>a</artifactId>";
    check(&format!("{head}</project>"), &format!("{head}<dependencies>{ONE_LINE}</dependencies></project>"));
    let other = "<dependency><groupId>a</groupId></dependency>";
    check(
        &format!("{head}<dependencies>{other}</dependencies></project>"),
        &format!("{head}<dependencies>{other}{ONE_LINE}</dependencies></project>"),
    );
}

#[test]
fn an_empty_list_is_filled_and_goes_with_its_last_entry() {
    let full = format!("<project>\n    <dependencies>\n{BLOCK}    </dependencies>\n</project>");
    for empty in ["<dependencies/>", "<dependencies></dependencies>", "<dependencies>\n    </dependencies>"] {
        let before = format!("<project>\n    {empty}\n</project>");
        let after = add(&before, &kafka()).unwrap().unwrap();
        assert_eq!(after, full, "{empty}");
    }
    let alone = add("<project a='b' />\n", &kafka()).unwrap().unwrap();
    assert_eq!(alone, format!("<project a='b'><dependencies>{ONE_LINE}</dependencies></project>\n"));
    let back = remove(&full, &kafka().group, &kafka().artifact).unwrap();
    assert_eq!(back.as_deref(), Some("<project>\n</project>"));
}

#[test]
fn versions_are_changed_where_they_are_written() {
    let pom = |version: &str, properties: &str| {
        format!(
            "<project><properties>{properties}</properties><dependencies><dependency><groupId>g</groupId>\
             <artifactId>a</artifactId>{version}</dependency></dependencies></project>"
        )
    };
    let to = Connector::new("g", "a", "2.0.0");
    let check = |before: String, expect: Result<Option<String>, PomError>| {
        assert_eq!(set_version(&before, &to), expect, "{before}");
    };
    check(pom("<version> 1.0.0\n</version>", ""), Ok(Some(pom("<version> 2.0.0\n</version>", ""))));
    check(pom("<version>2.0.0</version>", ""), Ok(None));
    check(pom("", ""), Ok(Some(pom("<version>2.0.0</version>", ""))));
    check(pom("<version/>", ""), Ok(Some(pom("<version>2.0.0</version>", ""))));
    check(
        pom("<version>${v}</version>", "<v>1.0.0</v>"),
        Ok(Some(pom("<version>${v}</version>", "<v>2.0.0</v>"))),
    );
    check(
        pom("<version>${v}</version>", "<v>1.0.0</v><w>${v}</w>"),
        Ok(Some(pom("<version>2.0.0</version>", "<v>1.0.0</v><w>${v}</w>"))),
    );
    let elsewhere = PomError::VersionElsewhere { artifact: "a".into(), property: "v".into() };
    check(pom("<version>${v}</version>", ""), Err(elsewhere));
    let nobody = Connector::new("g", "b", "1");
    let missing = PomError::NoSuchDependency { artifact: "b".into() };
    assert_eq!(set_version(&pom("", ""), &nobody), Err(missing));
}

#[test]
fn what_is_no_pom_is_refused() {
    let broken = PomError::NotWellFormed {
        problem: Document::parse("<project>\n<a>\n</project>").problems()[0].to_string(),
        line: 2,
    };
    assert_eq!(add("<project>\n<a>\n</project>", &kafka()), Err(broken));
    let other = PomError::NotAPom { found: "<settings>".into() };
    assert_eq!(add("<settings/>", &kafka()), Err(other.clone()));
    assert_eq!(remove("<settings/>", "g", "a"), Err(other));
    assert!(matches!(add("", &kafka()), Err(PomError::NotWellFormed { .. } | PomError::NotAPom { .. })));
    assert_eq!(remove("<project/>", "g", "a"), Ok(None));
}

/// A build file made of parts, in some order and some layout.
fn poms() -> impl Strategy<Value = String> {
    let blank = prop_oneof![
        Just(""),
        Just("\n"),
        Just("\n  "),
        Just("\r\n\t"),
        Just("\n\n    "),
        Just("  "),
        Just(" <!-- a > b -->"),
        Just("\n    <!-- <dependencies> -->\n    "),
    ];
    let dependency = (0u8..3, blank.clone()).prop_map(|(id, blank)| {
        format!(
            "<dependency>{blank}<groupId>g</groupId>{blank}<artifactId>a{id}</artifactId></dependency>{blank}"
        )
    });
    let list = (blank.clone(), prop::collection::vec(dependency, 1..4))
        .prop_map(|(blank, all)| format!("<dependencies>{blank}{}</dependencies>", all.concat()));
    let part = prop_oneof![
        Just("<artifactId>x</artifactId>".to_owned()),
        Just("<properties><a>1</a></properties>".to_owned()),
        Just("<build><plugins/></build>".to_owned()),
        Just("<profiles><profile><dependencies><dependency/></dependencies></profile></profiles>".to_owned()),
        Just("<![CDATA[<dependencies>]]>".to_owned()),
    ];
    let parts = prop::collection::vec((blank.clone(), part), 0..6);
    (any::<bool>(), parts, prop::option::of(list), blank.clone(), 0usize..6).prop_map(
        |(mark, parts, list, last, at)| {
            let mut inner: Vec<String> =
                parts.into_iter().map(|(blank, part)| format!("{blank}{part}")).collect();
            if let Some(list) = list {
                inner.insert(at.min(inner.len()), format!("{last}{list}"));
            }
            let mark = if mark { "\u{feff}" } else { "" };
            format!("{mark}<project>{}{last}</project>{last}", inner.concat())
        },
    )
}

proptest! {
    #[test]
    fn what_is_added_and_removed_leaves_the_same_bytes(before in poms()) {
        let after = add(&before, &kafka()).unwrap().unwrap();
        prop_assert!(Document::parse(after.as_str()).problems().is_empty(), "{}", after);
        let version = version_of(&after, &kafka().group, &kafka().artifact).unwrap();
        prop_assert_eq!(version.as_deref(), Some("3.3.11"));
        let back = remove(&after, &kafka().group, &kafka().artifact).unwrap();
        prop_assert_eq!(back.as_deref(), Some(before.as_str()));
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        let _ = add(&text, &kafka());
        let _ = remove(&text, "g", "a");
        let _ = set_version(&text, &kafka());
    }
}
