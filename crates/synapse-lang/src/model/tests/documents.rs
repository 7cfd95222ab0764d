//! Holds the data against documents: real artifacts, of which nothing may be called wrong, the examples, and mistakes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use roxmltree::Node as Xml;

use crate::diagnostic::Class;
use crate::model::{Content, Element, Kind, Model, Node, Parameter, Place, SYNAPSE_NAMESPACE, TextValue};

struct Here<'a, 'i>(Xml<'a, 'i>);

fn elements<'a, 'i>(node: Xml<'a, 'i>) -> impl Iterator<Item = Xml<'a, 'i>> {
    node.children().filter(Xml::is_element)
}

impl Node for Here<'_, '_> {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.0.attribute(name)
    }
    fn has_child(&self, name: &str) -> bool {
        elements(self.0).any(|child| child.tag_name().name() == name)
    }
    fn has_any_child(&self) -> bool {
        elements(self.0).next().is_some()
    }
    fn has_text(&self) -> bool {
        self.0
            .children()
            .any(|child| child.text().is_some_and(|text| child.is_text() && !text.trim().is_empty()))
    }
    fn parent(&self) -> Option<&str> {
        self.0.parent_element().map(|parent| parent.tag_name().name())
    }
    fn parent_attribute(&self, name: &str) -> Option<&str> {
        self.0.parent_element().and_then(|parent| parent.attribute(name))
    }
    fn child_values(&self, child: &str, attribute: &str) -> Vec<Option<&str>> {
        elements(self.0)
            .filter(|one| one.tag_name().name() == child)
            .map(|one| one.attribute(attribute))
            .collect()
    }
}

#[derive(Default)]
struct Report {
    wrong: Vec<String>,
    /// Attributes and children the data do not have: never wrong, but a hint at what is missing.
    unknown: BTreeMap<String, usize>,
    softer: BTreeMap<String, usize>,
    files: usize,
    seen: BTreeMap<String, usize>,
}

impl Report {
    fn say(&mut self, class: Class, file: &Path, node: Xml<'_, '_>, what: &str) {
        if matches!(class, Class::Deploy | Class::Fault | Class::Crash) {
            let line = node.document().text_pos_at(node.range().start).row;
            self.wrong.push(format!("{}:{line}: <{}> {what}", file.display(), node.tag_name().name()));
        } else {
            *self
                .softer
                .entry(format!("{}: <{}> {what}", class.word(), node.tag_name().name()))
                .or_default() += 1;
        }
    }

    fn walk(&mut self, model: &Model, file: &Path, element: &Element, node: Xml<'_, '_>) {
        *self.seen.entry(element.id.clone()).or_default() += 1;
        if element.shallow {
            return;
        }
        let here = Here(node);
        for attribute in model.attributes(element) {
            let Some(value) = node.attribute(attribute.name.as_str()) else {
                if let Some(class) = attribute.required {
                    self.say(class, file, node, &format!("has no @{}", attribute.name));
                }
                continue;
            };
            if attribute.blank && value.is_empty() {
                continue;
            }
            let dynamic = match attribute.place {
                Place::Literal => false,
                Place::Resolved => value.starts_with('$'),
                _ => value.starts_with('{') || attribute.place == Place::Path,
            };
            if let (Some(class), true) = (attribute.empty, value.is_empty()) {
                self.say(class, file, node, &format!("has an empty @{}", attribute.name));
            }
            if let (Some(class), false) =
                (attribute.wrong, dynamic || value.starts_with('$') || attribute.value.takes(value))
            {
                self.say(class, file, node, &format!("has @{}={value:?}", attribute.name));
            }
        }
        for attribute in node.attributes().filter(|attribute| attribute.namespace().is_none()) {
            if model.attribute(element, attribute.name()).is_none() {
                *self.unknown.entry(format!("{}/@{}", element.id, attribute.name())).or_default() += 1;
            }
        }
        for rule in &element.rules {
            if let Some(broken) = rule.broken(&here, element) {
                self.say(broken.class, file, node, broken.message);
            }
        }
        for (child, part) in model.parts(element) {
            let count = elements(node).filter(|one| one.tag_name().name() == part.name).count();
            if child.when.as_ref().is_some_and(|when| !when.holds(&here, element)) {
                continue;
            }
            if count < usize::from(child.min) {
                self.say(child.missing, file, node, &format!("has {count} {}", part.name));
            }
            if child.max.is_some_and(|max| count > usize::from(max)) {
                self.say(child.extra, file, node, &format!("has {count} {}", part.name));
            }
        }
        let holds = |text: &&TextValue| text.when.as_ref().is_none_or(|when| when.holds(&here, element));
        if let Some(text) = element.text.as_ref().filter(holds) {
            let written: String =
                node.children().filter_map(|child| child.text().filter(|_| child.is_text())).collect();
            let written = written.trim();
            if let (Some(class), true) = (text.empty, written.is_empty() && !here.has_any_child()) {
                self.say(class, file, node, "has no text");
            }
            let dynamic = written.is_empty() || written.starts_with(['$', '{']);
            if let (Some(class), false) = (text.wrong, dynamic || text.value.takes(written)) {
                self.say(class, file, node, &format!("has the text {written:?}"));
            }
        }
        for child in elements(node) {
            self.step(model, file, element, child);
        }
        self.parameters(model, file, element, node);
    }

    /// Holds the parameters of an implementation against its catalogue.
    fn parameters(&mut self, model: &Model, file: &Path, element: &Element, node: Xml<'_, '_>) {
        let value = |name: &str| {
            let default = || element.attribute(name).and_then(|attribute| attribute.default.as_deref());
            node.attribute(name).or_else(default)
        };
        let Some(catalogue) = value("protocol")
            .or_else(|| value("class"))
            .and_then(|name| model.catalogue(&element.name, name))
        else {
            return;
        };
        let given = |one: &Xml<'_, '_>| matches!(one.tag_name().name(), "parameter" | "property");
        let given: Vec<Xml<'_, '_>> = node.descendants().filter(given).collect();
        let names = || given.iter().filter_map(|one| one.attribute("name"));
        for wanted in &catalogue.parameters {
            if let Some(class) = wanted.required.filter(|_| !names().any(|name| name == wanted.name)) {
                self.say(class, file, node, &format!("has no parameter {}", wanted.name));
            }
            let text =
                given.iter().find(|one| one.attribute("name") == Some(&wanted.name)).and_then(Xml::text);
            if text.is_some_and(|text| !text.starts_with('$') && !wanted.value.takes(text.trim())) {
                self.say(wanted.wrong, file, node, &format!("has {}={text:?}", wanted.name));
            }
        }
        let known = |name: &str| {
            let fits = |one: &Parameter| one.name == name || one.prefix && name.starts_with(&one.name);
            catalogue.parameters.iter().any(fits)
        };
        for name in names().filter(|name| !known(name)) {
            *self.unknown.entry(format!("{} {}: {name}", catalogue.of, catalogue.title)).or_default() += 1;
        }
    }

    fn step(&mut self, model: &Model, file: &Path, parent: &Element, child: Xml<'_, '_>) {
        let name = child.tag_name().name();
        let siblings = Here(child.parent_element().unwrap_or(child));
        match model.child(parent, name, |part| siblings.has_child(part)) {
            Some(element) => {
                let namespace = child.tag_name().namespace().unwrap_or_default();
                if element.kind == Kind::Mediator && !element.namespace.takes(namespace) {
                    self.say(Class::Deploy, file, child, "stands in the wrong namespace");
                }
                self.walk(model, file, element, child);
            }
            None if matches!(parent.content, Content::Markup | Content::Mixed) => {}
            None if parent.takes_mediators(|part| siblings.has_child(part)) => {
                if !name.contains('.') && name != "description" {
                    self.say(Class::Deploy, file, child, &format!("is no mediator (in {})", parent.id));
                }
            }
            None => *self.unknown.entry(format!("{}/{name}", parent.id)).or_default() += 1,
        }
    }
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|end| end == "xml") {
            into.push(path);
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the real artifacts lie outside the project")]
fn nothing_in_real_artifacts_is_called_wrong() {
    let Ok(folder) = std::env::var("MICA_ORACLES") else {
        eprintln!("skipped: MICA_ORACLES does not name a folder of real artifacts");
        return;
    };
    let model = Model::get();
    let mut paths = Vec::new();
    files(&Path::new(&folder).join("xml"), &mut paths);
    paths.sort();
    let mut report = Report::default();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        // Some files start with blanks or a mark before the declaration, which this reader does not forgive.
        let Ok(document) = roxmltree::Document::parse(text.trim_start_matches('\u{feff}').trim_start())
        else {
            eprintln!("not read: {}", path.display());
            continue;
        };
        report.files += 1;
        let root = document.root_element();
        let namespace = root.tag_name().namespace().unwrap_or_default();
        let fragment =
            path.parent().is_some_and(|parent| parent.to_string_lossy().ends_with("(no-namespace)"));
        let found = model.artifact_named(root.tag_name().name());
        match found.filter(|found| fragment || found.namespace.takes(namespace)) {
            // The steps of a fragment stand in no namespace either; nothing in them deploys as it is.
            Some(_) if fragment => {}
            Some(element) => report.walk(model, path, element, root),
            None => report.wrong.push(format!(
                "{}: no artifact {} in {namespace:?}",
                path.display(),
                root.tag_name().name()
            )),
        }
    }
    let mut summary = String::new();
    let _ = writeln!(summary, "{} files, {} kinds of elements", report.files, report.seen.len());
    for (what, count) in report.unknown.iter().chain(&report.softer) {
        let _ = writeln!(summary, "{count:5} {what}");
    }
    eprintln!("{summary}");
    assert!(report.files > 0, "no artifacts under {folder}");
    assert!(report.wrong.is_empty(), "{} wrong:\n{}", report.wrong.len(), report.wrong.join("\n"));
}

/// The document an example stands for: steps and endpoints get an artifact around them.
fn whole(element: &Element, xml: &str) -> String {
    match element.kind {
        Kind::Mediator => {
            format!("<sequence name=\"example\" xmlns=\"{SYNAPSE_NAMESPACE}\">{xml}</sequence>")
        }
        Kind::Endpoint => {
            format!("<endpoint name=\"example\" xmlns=\"{SYNAPSE_NAMESPACE}\">{xml}</endpoint>")
        }
        Kind::Artifact | Kind::Part => xml.to_owned(),
    }
}

#[test]
fn examples_follow_the_data() {
    let model = Model::get();
    let mut count = 0;
    for element in model.elements() {
        for example in &element.examples {
            let text = whole(element, &example.xml);
            let document =
                roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", element.id));
            let root = document.root_element();
            let namespace = root.tag_name().namespace().unwrap_or_default();
            let artifact =
                model.artifact(root.tag_name().name(), namespace).unwrap_or_else(|| panic!("{}", element.id));
            let mut report = Report::default();
            report.walk(model, Path::new(&element.id), artifact, root);
            assert_eq!(report.wrong, Vec::<String>::new(), "{}", example.title);
            assert_eq!(report.unknown, BTreeMap::new(), "{}: {}", element.id, example.title);
            assert_eq!(report.softer, BTreeMap::new(), "{}: {}", element.id, example.title);
            assert!(
                report.seen.contains_key(&element.id),
                "{}: {} does not show it",
                element.id,
                example.title
            );
            count += 1;
        }
    }
    assert!(count > 50, "only {count} examples");
}

/// What the data say about a document: the wrong and the softer findings, without their places.
fn findings(xml: &str) -> Vec<String> {
    let model = Model::get();
    let mediator =
        xml.trim_start_matches('<').split([' ', '/', '>']).next().and_then(|name| model.mediator(name));
    let text = match mediator {
        Some(element) if !xml.contains("xmlns") => whole(element, xml),
        _ => xml.to_owned(),
    };
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    let artifact =
        model.artifact(root.tag_name().name(), root.tag_name().namespace().unwrap_or_default()).unwrap();
    let mut report = Report::default();
    report.walk(model, Path::new(""), artifact, root);
    let wrong = report.wrong.iter().map(|line| line.split_once(": ").map_or("", |(_, what)| what).to_owned());
    wrong.chain(report.softer.into_keys()).collect()
}

/// Mistakes the runtime refuses or passes over; every one must be found, and nothing else with it.
#[test]
fn mistakes_are_found() {
    for (xml, expect) in [
        (r#"<log level="FULL"/>"#, &[r#"<log> has @level="FULL""#][..]),
        (r#"<log><property name="a" value=""/></log>"#, &["<property> has an empty @value"]),
        (r#"<log><property name="a"/></log>"#, &["<property> a log property needs a value or an expression"]),
        (
            r#"<property name="a"/>"#,
            &[
                "<property> a property needs a value, an XML child or an expression; with more than one, the first of these counts",
            ],
        ),
        (r#"<property name="a" action="remove"/>"#, &[]),
        (r#"<property name="a" value="1" scope="synapse"/>"#, &[r#"<property> has @scope="synapse""#]),
        (r#"<property name="a" value="1" group="1"/>"#, &["<property> group needs a pattern"]),
        (r#"<variable name="a" value="1" type="int"/>"#, &[r#"<variable> has @type="int""#]),
        (
            r#"<variable name="a" value="1" expression="${payload}"/>"#,
            &["ignored: <variable> a variable needs a value or an expression; with both, the value counts"],
        ),
        (
            r#"<call-template target="t"><with-param name="a" expression="${payload}"/></call-template>"#,
            &["<with-param> has no @value"],
        ),
        (
            r#"<filter xpath="${true}"><else><drop/></else></filter>"#,
            &[
                "<filter> else needs a then beside it; without then every child is a step of the then branch",
                "<else> is no mediator (in filter)",
            ],
        ),
        (r#"<filter source="//a"><then/></filter>"#, &["<filter> source needs a regex"]),
        (
            r#"<in><sequence/></in>"#,
            &["<sequence> a sequence is either a reference (key) or written in place (name)"],
        ),
        (
            r#"<api name="a" context="/a" transports="" port="" xmlns="http://ws.apache.org/ns/synapse"><resource methods="" inSequence="" uri-template="/a" url-mapping=""><inSequence/></resource></api>"#,
            &[],
        ),
        (
            r#"<sequence key="a" onError="b"/>"#,
            &["<sequence> a reference cannot have an onError; put it on the sequence it names"],
        ),
        (
            r#"<foreach collection="${payload.a}" counter-variable="i"><sequence/></foreach>"#,
            &[r#"<foreach> counter-variable needs parallel-execution="false""#],
        ),
        (
            r#"<foreach collection="${payload.a}" update-original="false"><sequence/></foreach>"#,
            &[
                r#"<foreach> update-original="false" needs a target-variable"#,
                r#"<foreach> update-original="false" needs a result-content-type"#,
            ],
        ),
        (
            r#"<scatter-gather content-type="JSON" target="variable"><aggregation expression="${payload}"/><sequence/></scatter-gather>"#,
            &[
                "<scatter-gather> has no @result-content-type",
                r#"<scatter-gather> target="Variable" needs a target-variable"#,
            ],
        ),
        (
            r#"<iterate expression="//a" attachPath="//b"><target sequence="s"/></iterate>"#,
            &[r#"<iterate> attachPath needs preservePayload="true""#],
        ),
        (
            r#"<validate><schema key="a"/><on-fail/></validate>"#,
            &["<on-fail> on-fail needs at least one step"],
        ),
        (
            r#"<send><endpoint><loadbalance policy="roundRobin" algorithm="a.B"><endpoint key="a"/></loadbalance></endpoint></send>"#,
            &["<loadbalance> policy and algorithm exclude each other"],
        ),
        (
            r#"<enrich><source type="body"/><target type="envelope"/></enrich>"#,
            &["<enrich> the body cannot be copied to the envelope, to the body or to a key"],
        ),
        (r#"<transaction action="suspend"/>"#, &[r#"<transaction> has @action="suspend""#]),
        (
            r#"<script language="js" function="f">a</script>"#,
            &["<script> function needs a key; a script written in place runs as a whole"],
        ),
        (
            r#"<call><endpoint><http method="Fetch" uri-template="http://h"><timeout><responseAction>never</responseAction></timeout></http></endpoint></call>"#,
            &[r#"<responseAction> has the text "never""#, r#"ignored: <http> has @method="Fetch""#],
        ),
        (
            r#"<call><endpoint><http><suspendOnFailure><progressionFactor>1,5</progressionFactor></suspendOnFailure></http></endpoint></call>"#,
            &[r#"<progressionFactor> has the text "1,5""#],
        ),
        (
            r#"<call><endpoint/></call>"#,
            &[
                "<endpoint> an endpoint needs exactly one kind; of two, only the first in the runtime's order counts",
            ],
        ),
        (
            r#"<call><endpoint><http><authentication><oauth/></authentication></http></endpoint></call>"#,
            &["<oauth> oauth needs exactly one grant"],
        ),
        (r#"<in><respondd/></in>"#, &["<respondd> is no mediator (in in)"]),
        (
            r#"<api name="a" context="a" version="1" transports="http https" xmlns="http://ws.apache.org/ns/synapse"><resource methods="GET,POST"/></api>"#,
            &[
                r#"<api> has @context="a""#,
                r#"<api> has @transports="http https""#,
                "<api> version needs a version-type: context or url",
                r#"<resource> has @methods="GET,POST""#,
            ],
        ),
        (
            r#"<task name="t" xmlns="http://ws.apache.org/ns/synapse"><trigger interval="5" cron="0 * * * * ?"/></task>"#,
            &["<trigger> cron and interval exclude each other"],
        ),
        (
            r#"<proxy name="p" xmlns="http://ws.apache.org/ns/synapse"><target outSequence="s"/></proxy>"#,
            &["<target> a target needs an inSequence or an endpoint"],
        ),
        (
            r#"<messageProcessor name="p" xmlns="http://ws.apache.org/ns/synapse"/>"#,
            &["<messageProcessor> has no @class", "<messageProcessor> has no @messageStore"],
        ),
        (
            r#"<inboundEndpoint name="i" protocol="http" xmlns="http://ws.apache.org/ns/synapse"/>"#,
            &["surprise: <inboundEndpoint> has no parameter inbound.http.port"],
        ),
    ] {
        assert_eq!(findings(xml), expect, "{xml}");
    }
}
