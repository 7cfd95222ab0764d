//! The data hold together: everything is named once, described, and leads somewhere.

use std::collections::BTreeSet;

use super::*;

mod documents;

#[test]
fn the_embedded_data_can_be_read() {
    let model = Model::parse(EMBEDDED).unwrap();
    assert_eq!(model.elements().count(), Model::get().elements().count());
    assert!(model.mediators().count() > 50, "{}", model.mediators().count());
    assert!(model.artifacts().count() > 15, "{}", model.artifacts().count());
}

/// Collects what is wrong, so that one run names everything.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn when(&mut self, wrong: bool, say: impl FnOnce() -> String) {
        if wrong {
            self.0.push(say());
        }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "{}", self.0.join("\n"));
        }
    }
}

#[test]
fn nothing_is_described_twice() {
    let mut faults = Faults::default();
    let model = Model::get();
    let mut seen = BTreeSet::new();
    for element in model.elements() {
        faults.when(!seen.insert(&element.id), || format!("{} stands twice", element.id));
        let mut names = BTreeSet::new();
        for attribute in model.attributes(element) {
            faults.when(!names.insert(&attribute.name), || {
                format!("{}/@{} stands twice", element.id, attribute.name)
            });
        }
        let mut parts = BTreeSet::new();
        for (child, part) in model.parts(element) {
            faults.when(!parts.insert(&part.name), || format!("{} lists {} twice", element.id, child.part));
        }
    }
    for kind in [Kind::Artifact, Kind::Mediator, Kind::Endpoint] {
        let mut names = BTreeSet::new();
        for element in model.elements().filter(|element| element.kind == kind) {
            faults.when(!names.insert(&element.name), || format!("two {kind:?} are called {}", element.name));
        }
    }
    let mut properties = BTreeSet::new();
    for property in model.properties() {
        faults.when(!properties.insert((&property.name, &property.scope)), || {
            format!("{} stands twice", property.name)
        });
    }
    for catalogue in &model.data.catalogue {
        let mut names = BTreeSet::new();
        for one in &catalogue.parameters {
            faults
                .when(!names.insert(&one.name), || format!("{}: {} stands twice", catalogue.name, one.name));
        }
    }
}

#[test]
fn every_reference_between_parts_leads_somewhere() {
    let mut faults = Faults::default();
    let model = Model::get();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for element in model.elements() {
        for child in &element.children {
            used.insert(&child.part);
            faults.when(model.element(&child.part).is_none(), || {
                format!("{}: no part {}", element.id, child.part)
            });
            faults.when(child.max.is_some_and(|max| max < child.min), || {
                format!("{}: {} max < min", element.id, child.part)
            });
        }
        if let Content::MediatorsUnless(part) = &element.content {
            faults.when(model.part(element, part).is_none(), || format!("{}: no part {part}", element.id));
        }
        let text = matches!(element.content, Content::Text | Content::Mixed);
        faults.when(
            element.content == Content::Text && element.text.is_none() && element.kind != Kind::Part,
            || format!("{} has text that nothing describes", element.id),
        );
        faults.when(element.text.is_some() && !text, || {
            format!("{} describes a text it does not have", element.id)
        });
        let mut check = |thing: &Thing| {
            let known = match thing {
                Thing::Attribute(name) => model.attribute(element, name).is_some(),
                Thing::Child(name) => model.part(element, name).is_some(),
                Thing::ChildAttribute(child, name) => {
                    model.part(element, child).is_some_and(|(_, part)| model.attribute(part, name).is_some())
                }
                Thing::ParentAttribute(name) => model
                    .elements()
                    .filter(|parent| parent.children.iter().any(|child| child.part == element.id))
                    .all(|parent| model.attribute(parent, name).is_some()),
                Thing::Text | Thing::AnyChild => true,
            };
            faults.when(!known, || {
                format!("a rule of {} speaks of {thing}, which it does not have", element.id)
            });
        };
        for rule in &element.rules {
            rule.things(&mut check);
        }
        if let Some(when) = element.text.as_ref().and_then(|text| text.when.as_ref()) {
            when.things(&mut check);
        }
        for when in element.attributes.iter().filter_map(|one| one.wrong_when.as_ref()) {
            when.things(&mut check);
        }
        if let Flow::Ends { when: Some(when), .. } = &element.flow {
            when.things(&mut check);
        }
        for mistake in &element.mistakes {
            let (name, value) =
                mistake.wrong.split_once('=').map_or((mistake.wrong.as_str(), None), |(n, v)| (n, Some(v)));
            let thing: Thing = name.parse().unwrap();
            match (&thing, value) {
                (Thing::Attribute(name), Some(value)) => {
                    let takes =
                        model.attribute(element, name).is_none_or(|attribute| attribute.value.takes(value));
                    faults.when(takes, || format!("{}: {} is no mistake", element.id, mistake.wrong));
                }
                _ => {
                    // What is called a mistake may still be known, when old documents have it; then it is not read.
                    let right = mistake.right.as_deref().unwrap_or_default();
                    faults.when(right == mistake.wrong, || {
                        format!("{}: {} is no mistake", element.id, mistake.wrong)
                    });
                }
            }
            if let Some(right) = &mistake.right {
                let (name, value) =
                    right.split_once('=').map_or((right.as_str(), None), |(n, v)| (n, Some(v)));
                let known = match name.parse().unwrap() {
                    Thing::Attribute(name) => model
                        .attribute(element, &name)
                        .is_some_and(|attribute| value.is_none_or(|value| attribute.value.takes(value))),
                    Thing::Child(name) => model.part(element, &name).is_some(),
                    _ => false,
                };
                faults.when(!known, || format!("{}: {right} is not right either", element.id));
            }
        }
    }
    for part in
        model.elements().filter(|element| element.kind == Kind::Part && element.id != "endpoint.definition")
    {
        faults.when(!used.contains(part.id.as_str()), || format!("nothing uses {}", part.id));
    }
}

#[test]
fn everything_says_what_it_is_for() {
    let mut faults = Faults::default();
    let model = Model::get();
    let bad = |text: &str| {
        text.trim().is_empty() || text.len() > 140 || !text.ends_with('.') || text.contains('\n')
    };
    for element in model.elements() {
        faults.when(bad(&element.summary), || format!("{}: {}", element.id, element.summary));
        faults.when(element.kind != Kind::Part && element.title.is_empty(), || {
            format!("{} has no title", element.id)
        });
        faults.when((element.kind == Kind::Mediator) != element.group.is_some(), || {
            format!("{}: group", element.id)
        });
        faults.when((element.kind == Kind::Artifact) != element.file.is_some(), || {
            format!("{}: file", element.id)
        });
        for attribute in &element.attributes {
            faults.when(bad(&attribute.summary), || {
                format!("{}/@{}: {}", element.id, attribute.name, attribute.summary)
            });
        }
        for rule in &element.rules {
            faults.when(rule.message().is_empty(), || format!("{}: a rule without a message", element.id));
        }
    }
    for attribute in model.common_attributes() {
        faults.when(bad(&attribute.summary), || attribute.name.clone());
    }
    for one in model.properties() {
        faults.when(bad(&one.summary), || format!("{}: {}", one.name, one.summary));
        faults.when(model.scope(&one.scope).is_none(), || format!("{}: no scope {}", one.name, one.scope));
        faults.when((one.java == JavaType::Any) != one.wrong_type.is_none(), || {
            format!("{}: type and class", one.name)
        });
    }
    for catalogue in &model.data.catalogue {
        faults.when(bad(&catalogue.summary), || format!("{}: {}", catalogue.name, catalogue.summary));
        faults
            .when(model.artifact_named(&catalogue.of).is_none(), || format!("no artifact {}", catalogue.of));
        for one in &catalogue.parameters {
            faults.when(bad(&one.summary), || format!("{} {}: {}", catalogue.name, one.name, one.summary));
        }
    }
    let others = model.scopes().iter().map(|one| (&one.name, &one.summary));
    let others = others.chain(model.special_names().iter().map(|one| (&one.name, &one.summary)));
    let others = others.chain(model.external_forms().iter().map(|one| (&one.form, &one.summary)));
    for (name, summary) in others.chain(model.connector_rules().iter().map(|one| (&one.name, &one.summary))) {
        faults.when(bad(summary), || format!("{name}: {summary}"));
    }
}

#[test]
fn versions_and_defaults_fit() {
    let mut faults = Faults::default();
    let model = Model::get();
    let known: Vec<Version> = model.releases().iter().map(|release| release.version).collect();
    assert!(known.is_sorted());
    assert_eq!((known.first(), known.last()), (Some(&Version::OLDEST), Some(&Version::NEWEST)));
    let mut version = |who: &str, versions: [Option<Version>; 2]| {
        for one in versions.into_iter().flatten() {
            faults.when(!known.contains(&one), || format!("{who}: there is no version {one}"));
        }
    };
    for element in model.elements() {
        version(&element.id, [element.since, element.until]);
        for attribute in model.attributes(element) {
            version(&format!("{}/@{}", element.id, attribute.name), [attribute.since, attribute.until]);
        }
    }
    for catalogue in &model.data.catalogue {
        version(&catalogue.name, [catalogue.since, None]);
    }
    for element in model.elements() {
        for attribute in model.attributes(element) {
            let who = || format!("{}/@{}", element.id, attribute.name);
            let fits = attribute.default.as_deref().is_none_or(|default| attribute.value.takes(default));
            faults.when(!fits, || format!("{}: the default is not allowed", who()));
            for newer in &attribute.newer {
                let fits = known.contains(&newer.since) && attribute.value.takes(&newer.value);
                faults.when(!fits, || format!("{}: {newer:?}", who()));
            }
            let clash = attribute.blank && (attribute.required.is_some() || attribute.empty.is_some());
            faults.when(clash, || format!("{}: an empty value is both fine and not", who()));
            let closed = attribute.value.choices().is_some();
            faults.when(closed && attribute.wrong.is_none(), || {
                format!("{}: a closed set without a class", who())
            });
            let number =
                matches!(attribute.value, ValueType::Integer { .. } | ValueType::Long | ValueType::Number);
            faults
                .when(attribute.unit.is_some() && !number, || format!("{}: a unit without a number", who()));
        }
    }
}

#[test]
fn children_are_found_by_where_they_stand() {
    let model = Model::get();
    let filter = model.mediator("filter").unwrap();
    let id = |parent: &Element, local: &str, there: &[&str]| {
        model.child(parent, local, |name| there.contains(&name)).map(|element| element.id.clone())
    };
    assert_eq!(id(filter, "then", &["then"]).as_deref(), Some("filter.then"));
    assert_eq!(id(filter, "else", &["then", "else"]).as_deref(), Some("filter.else"));
    assert_eq!(id(filter, "else", &["else"]), None);
    assert_eq!(id(filter, "log", &["log"]).as_deref(), Some("log"));
    assert_eq!(id(filter, "log", &["then", "log"]), None);
    let log = model.mediator("log").unwrap();
    assert_eq!(id(log, "property", &["property"]).as_deref(), Some("log.property"));
    assert_eq!(id(log, "log", &["log"]), None);
    let api = model.artifact("api", SYNAPSE_NAMESPACE).unwrap();
    assert_eq!(id(api, "resource", &[]).as_deref(), Some("api.resource"));
    assert_eq!(model.artifact("api", "").map(|api| &api.id), None);
    assert_eq!(model.artifact_named("api").map(|api| api.id.as_str()), Some("artifact.api"));
}

/// The few facts every other one leans on; they would show a misread table at once.
#[test]
fn well_known_facts_stand() {
    let model = Model::get();
    let attribute = |id: &str, name: &str| model.attribute(model.element(id).unwrap(), name).unwrap();
    assert_eq!(attribute("filter", "xpath").place, Place::Path);
    assert_eq!(attribute("call-template.with-param", "value").place, Place::Value);
    assert_eq!(attribute("variable", "value").place, Place::Literal);
    assert_eq!(attribute("endpoint.http", "uri-template").place, Place::Resolved);
    assert_eq!(
        attribute("iterate", "expression").refuses.as_ref().map(|one| one.class),
        Some(crate::diagnostic::Class::Crash)
    );
    assert_eq!(attribute("scatter-gather.aggregation", "timeout").unit, Some(Unit::Milliseconds));
    assert_eq!(attribute("aggregate.completeCondition", "timeout").unit, Some(Unit::Seconds));
    assert_eq!(attribute("payloadFactory", "media-type").default.as_deref(), Some("xml"));
    assert_eq!(model.mediator("respond").unwrap().flow, Flow::Ends { how: Ending::Responds, when: None });
    // What is like another has the other's attributes and its own.
    assert_eq!(attribute("endpoint.address", "format").wrong, Some(crate::diagnostic::Class::Ignored));
    assert_eq!(attribute("artifact.endpoint", "name").required, Some(crate::diagnostic::Class::Surprise));
    assert_eq!(attribute("endpoint", "name").required, None);
    assert_eq!(model.property("HTTP_SC").map(|one| one.scope.as_str()), Some("axis2"));
    assert_eq!(model.property("uri.var.id").map(|one| one.scope.as_str()), Some("default"));
    assert_eq!(model.property("NO_ENTITY_BODY").map(|one| one.java), Some(JavaType::Boolean));
    assert_eq!(model.property("my.own"), None);
    for (version, expect) in
        [((4, 3, 0), false), ((4, 4, 0), true), ((4, 4, 2), true), ((5, 0, 0), true), ((4, 0, 0), false)]
    {
        let (major, minor, patch) = version;
        assert_eq!(
            model.has_feature(Version::new(major, minor, patch), "expressions"),
            expect,
            "{version:?}"
        );
    }
    assert!(model.protocols().any(|one| one.name == "kafka"));
    assert!(model.catalogue("inboundEndpoint", "file").is_some());
}
