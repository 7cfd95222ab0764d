//! What a document tells about the surroundings of its expressions: the variables set so far, the parameters of the
//! resource and of the template.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Subject;
use crate::check::value::Value;
use crate::check::walk::{Placed, Role};
use crate::expr;
use crate::expr::check::{Atom, Env, InTemplate, Kind, Known, Wanted, kind_of};
use crate::json;
use crate::syntax::Element;

/// The surroundings, as far as the walk through the document has come.
pub(in crate::check::rules) struct Surroundings<'a> {
    subject: &'a Subject<'a>,
    /// The next element to look at.
    next: usize,
    variables: BTreeMap<String, Known>,
    path_parameters: Option<BTreeSet<String>>,
    template_parameters: Option<BTreeSet<String>>,
    in_template: InTemplate,
    /// Whether nothing outside of the document, and nothing that cannot be seen in it, sets variables.
    all_variables: bool,
    /// Names of path parameters that the flow sets itself.
    set_parameters: BTreeSet<String>,
}

impl<'a> Surroundings<'a> {
    pub(in crate::check::rules) fn new(subject: &'a Subject<'a>) -> Self {
        let set = subject.tree.placed().iter().filter_map(|placed| {
            let name = placed.is_mediator("property").then(|| placed.element.value("name")).flatten()?;
            name.strip_prefix("uri.var.").map(str::to_owned)
        });
        Self {
            subject,
            next: 0,
            variables: BTreeMap::new(),
            path_parameters: None,
            template_parameters: None,
            in_template: InTemplate::Unknown,
            all_variables: false,
            set_parameters: set.collect(),
        }
    }

    /// Looks at everything that stands before an element.
    pub(in crate::check::rules) fn reach(&mut self, placed: &Placed<'_>) {
        while self.next < placed.index {
            let Some(passed) = self.subject.tree.get(self.next).copied() else { return };
            self.next += 1;
            self.pass(&passed);
        }
    }

    fn pass(&mut self, placed: &Placed<'a>) {
        let element = placed.element;
        match placed.role {
            Role::Artifact => self.artifact(element),
            Role::Operation => self.operation(element),
            _ => {}
        }
        // Each resource is a flow of its own.
        if element.local() == "resource" && placed.role == Role::Part {
            self.variables.clear();
            self.path_parameters = Some(self.resource(element));
        }
        for attribute in ["target-variable", "counter-variable", "result-variable", "variable-name"] {
            if let Some(name) = element.value(attribute) {
                self.set(&name, Known::of(Kind::UNKNOWN));
            }
        }
        if placed.is_mediator("variable")
            && let Some(name) = element.value("name")
        {
            let known = self.assigned(element);
            self.set(&name, known);
        }
    }

    fn artifact(&mut self, element: Element<'a>) {
        self.variables.clear();
        self.path_parameters = None;
        self.template_parameters = None;
        self.in_template = match element.local() {
            "template" => InTemplate::Yes,
            // A sequence may be called by a template; these may not.
            "api" | "proxy" | "inboundEndpoint" | "task" => InTemplate::No,
            _ => InTemplate::Unknown,
        };
        let begins = matches!(element.local(), "api" | "proxy" | "inboundEndpoint");
        self.all_variables = begins && is_closed(self.subject, element);
        if element.local() == "template" {
            let declared = element.elements().filter(|one| one.local() == "parameter");
            let names = declared.filter_map(|one| one.value("name").map(std::borrow::Cow::into_owned));
            self.template_parameters = Some(names.collect());
        }
    }

    /// The result of an operation is a map of payload, headers and attributes.
    fn operation(&mut self, element: Element<'a>) {
        if let Some(variable) = element.first("responseVariable") {
            let name = variable.text().trim().to_owned();
            if !name.is_empty() {
                self.set(&name, Known::of(Kind::one(Atom::Map)));
            }
        }
    }

    /// The parameters in a resource's path, and those that the flow sets.
    fn resource(&self, element: Element<'a>) -> BTreeSet<String> {
        let template = element.value("uri-template").unwrap_or_default();
        let mut names = self.set_parameters.clone();
        for part in template.split('{').skip(1) {
            let inner = part.split('}').next().unwrap_or_default();
            let inner = inner.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
            names.extend(
                inner
                    .split(',')
                    .map(|name| name.trim_end_matches('*').split(':').next().unwrap_or_default().to_owned()),
            );
        }
        names
    }

    /// A variable may hold what it was set to at any of the places before.
    fn set(&mut self, name: &str, known: Known) {
        match self.variables.get_mut(name) {
            Some(before) if *before == known => {}
            Some(before) => *before = Known::of(before.kind.or(known.kind)),
            None => {
                self.variables.insert(name.to_owned(), known);
            }
        }
    }

    /// What a variable mediator sets.
    fn assigned(&self, element: Element<'a>) -> Known {
        if element.value("action").is_some_and(|action| action == "remove") {
            return Known::of(Kind::UNKNOWN);
        }
        let atom = match element.value("type").as_deref() {
            Some("STRING") => Atom::Text,
            Some("INTEGER") => Atom::Int,
            Some("LONG") => Atom::Long,
            Some("DOUBLE") => Atom::Double,
            Some("BOOLEAN") => Atom::Boolean,
            Some("XML") => Atom::Xml,
            Some("JSON") => {
                let value = element.value("value").and_then(|text| json::parse(&text).ok());
                return value.map_or(Known::of(Kind::UNKNOWN), |value| Known::json(&value));
            }
            Some(_) => return Known::of(Kind::UNKNOWN),
            None => return Known::of(self.untyped(element)),
        };
        Known::of(Kind::one(atom))
    }

    /// Without a type a variable holds the value itself.
    fn untyped(&self, element: Element<'a>) -> Kind {
        let Some(text) = element.value("expression") else { return Kind::UNKNOWN };
        let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let parsed = inner.and_then(|inner| expr::parse(inner).ok());
        let env = Env { variables: self.variables.clone(), wanted: Wanted::Object, ..Env::default() };
        // What always fails leaves an empty text behind.
        match parsed.map(|parsed| kind_of(&parsed, &env)) {
            Some(kind) if !kind.is_never() && !kind.is_open() => kind,
            _ => Kind::UNKNOWN,
        }
    }

    /// The surroundings of a value.
    pub(in crate::check::rules) fn env(&self, value: &Value<'_>) -> Env {
        Env {
            variables: self.variables.clone(),
            all_variables: self.all_variables,
            path_parameters: self.path_parameters.clone(),
            template_parameters: self.template_parameters.clone(),
            in_template: self.in_template,
            wanted: wanted(value),
            ..Env::default()
        }
    }
}

/// Mediators that set no variable but by an attribute that is read here.
const HARMLESS: [&str; 22] = [
    "call",
    "drop",
    "filter",
    "header",
    "log",
    "loopback",
    "payloadFactory",
    "property",
    "propertyGroup",
    "respond",
    "send",
    "sequence",
    "switch",
    "throwError",
    "validate",
    "variable",
    "xslt",
    "enqueue",
    "makefault",
    "rewrite",
    "store",
    "throttle",
];

/// Whether every step of an artifact is one that sets no variable unseen.
fn is_closed(subject: &Subject<'_>, artifact: Element<'_>) -> bool {
    let Some(placed) = subject.tree.entry(artifact) else { return false };
    let outside = ["inSequence", "outSequence", "faultSequence", "sequence", "onError"];
    let referred = |element: Element<'_>| outside.iter().any(|name| element.attribute(name).is_some());
    subject.tree.descendants(placed).iter().all(|one| {
        let element = one.element;
        let called = element.local() == "sequence" && element.attribute("key").is_some();
        let target = element.local() == "call" && element.first("target").is_some();
        let harmless = !one.is_step() || (one.role == Role::Mediator && HARMLESS.contains(&element.local()));
        harmless && !called && !target && !referred(element)
    }) && !referred(artifact)
}

/// What is made of a value's result.
fn wanted(value: &Value<'_>) -> Wanted {
    if value.is("variable", "expression") {
        return match value.placed.element.value("type").as_deref() {
            Some("STRING" | "XML") => Wanted::Text,
            _ => Wanted::Object,
        };
    }
    if value.placed.element.local() == "foreach" && value.attribute() == Some("collection") {
        return Wanted::Object;
    }
    Wanted::Text
}
