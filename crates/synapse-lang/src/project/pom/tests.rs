//! Values that lead to others, and where a runtime is stated.

use super::*;

fn chain(poms: &[&str]) -> Vec<Pom> {
    poms.iter().map(|text| Pom::read(text).unwrap()).collect()
}

#[test]
fn the_runtime_is_found_wherever_it_is_stated() {
    let check = |poms: &[&str], expect: Option<(&str, Statement, usize)>| {
        let found = runtime(&chain(poms));
        let expect = expect.map(|(version, how, at)| (version.parse().unwrap(), how, at));
        assert_eq!(found, expect, "{poms:?}");
    };
    let of = |properties: &str| {
        format!("<project><version>1.0</version><properties>{properties}</properties></project>")
    };
    let property = of("<project.runtime.version>4.4.0</project.runtime.version>");
    check(&[&property], Some(("4.4.0", Statement::Property, 0)));
    let image = of("<dockerfile.base.image>wso2/wso2mi:4.2.0-alpine</dockerfile.base.image>");
    check(&[&image], Some(("4.2.0", Statement::Image, 0)));
    let ported = of("<dockerfile.base.image>registry.example.org:5000/wso2mi:4.3.0</dockerfile.base.image>");
    check(&[&ported], Some(("4.3.0", Statement::Image, 0)));
    let named =
        of("<mi.version>4.3.0</mi.version><project.runtime.version>${mi.version}</project.runtime.version>\
         <dockerfile.base.image>wso2/wso2mi:${project.runtime.version}</dockerfile.base.image>");
    check(&[&named], Some(("4.3.0", Statement::Property, 0)));
    // The module is asked first, also when only its image says anything.
    check(&[&image, &property], Some(("4.2.0", Statement::Image, 0)));
    check(&[&of(""), &property], Some(("4.4.0", Statement::Property, 1)));
    // A property of the module counts in what the parent says.
    let open = of("<project.runtime.version>${mi}</project.runtime.version>");
    check(&[&of("<mi>4.6.0</mi>"), &open], Some(("4.6.0", Statement::Property, 1)));
    check(&[&open], None);
    check(&[&of("<project.runtime.version>${a}</project.runtime.version><a>${b}</a><b>${a}</b>")], None);
    check(&[&of("<project.runtime.version>latest</project.runtime.version>")], None);
    check(&[&of("")], None);
}

#[test]
fn references_are_resolved_in_the_middle_of_a_text() {
    let poms = chain(&[
        "<project><artifactId>a</artifactId><parent><groupId>g</groupId><artifactId>p</artifactId>\
         <version>2.1</version></parent><properties><x>${y}!</x></properties></project>",
        "<project><version>9</version><properties><x>parent</x><y>why</y></properties></project>",
    ]);
    for (text, expect) in [
        ("plain", Some("plain")),
        ("${x}", Some("why!")),
        ("<${y}|${y}>", Some("<why|why>")),
        ("${project.version}-${project.groupId}-${project.artifactId}", Some("2.1-g-a")),
        ("${nobody.says}", None),
        ("${open", None),
    ] {
        assert_eq!(resolve(&poms, text).as_deref(), expect, "{text}");
    }
    assert_eq!(property(&poms, "x").as_deref(), Some("why!"));
}

#[test]
fn parents_lie_above_unless_they_say_otherwise() {
    let path = |inner: &str| {
        let text = format!("<project><parent><artifactId>p</artifactId>{inner}</parent></project>");
        Pom::read(&text).unwrap().parent.unwrap().path
    };
    assert_eq!(path(""), Some("../pom.xml".to_owned()));
    assert_eq!(path("<relativePath>../../build</relativePath>"), Some("../../build".to_owned()));
    assert_eq!(path("<relativePath/>"), None);
    assert_eq!(Pom::read("<settings/>"), None);
    assert_eq!(Pom::read("not xml"), None);
}
