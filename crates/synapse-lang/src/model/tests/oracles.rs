//! Holds the data against real artifacts: nothing in a document that deploys may be called wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use roxmltree::Node as Xml;

use crate::diagnostic::Class;
use crate::model::{Content, Element, Kind, Model, Node, Parameter, Place, SYNAPSE_NAMESPACE};

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
        if let Some(text) = &element.text {
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
                self.say(Class::Fault, file, node, &format!("has {}={text:?}", wanted.name));
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
