//! Random valid artifacts: a walk through the model that fills in what is required and some of what is not.
//!
//! Every decision is the next number of a list, so that a failing artifact shrinks with the list.

use std::fmt::Write as _;

use synapse_lang::model::{
    Attribute, Content, Element, Model, Namespace, Node, Place, Rule, SYNAPSE_NAMESPACE, Thing, ValueType,
    Version,
};

/// Attributes that need more than the model to be filled in: their value must fit another one, or a fact.
const LEFT_OUT: &[(&str, &str)] = &[
    ("property", "type"),
    ("variable", "type"),
    ("payloadFactory.arg", "evaluator"),
    ("dataServiceCall.param", "evaluator"),
    ("xquery.variable", "type"),
    ("data.query", "useConfig"),
    ("call", "axis2xml"),
    ("call", "repository"),
];

/// Parts that name each other by attributes; a random one names nothing.
const LEFT_OUT_PARTS: &[&str] = &["data.operation", "data.resource", "data.call-query", "data.param"];

/// Attributes that are always there, because something else must fit their value.
const FIXED: &[(&str, &str, &str)] = &[
    ("header", "name", "To"),
    ("payloadFactory", "media-type", "text"),
    ("resource", "uri-template", "/a/{id}"),
    ("makefault", "version", "soap11"),
    ("makefault.code", "value", "soap11Env:Server"),
];

/// Steps that may stand in the sequence of an element only for some of its attributes, which a rule in code knows.
const LEFT_OUT_STEPS: &[(&str, &[&str])] = &[("foreach", &["call", "callout", "send"])];

/// How deep steps are nested.
const DEEPEST: usize = 4;

/// The next decision, and the next after it; only zeros when there are no more.
pub(crate) struct Decisions {
    numbers: std::vec::IntoIter<u16>,
    names: usize,
}

impl Decisions {
    pub(crate) fn new(numbers: Vec<u16>) -> Self {
        Self { numbers: numbers.into_iter(), names: 0 }
    }

    /// One of `count`; the first when nothing is left to decide.
    pub(crate) fn among(&mut self, count: usize) -> usize {
        usize::from(self.numbers.next().unwrap_or_default()) % count.max(1)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.among(count) == count - 1
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.among(from.len());
        from.get(at)
    }

    /// A number that no other name has.
    fn fresh(&mut self) -> usize {
        self.names += 1;
        self.names
    }
}

/// An element that is put together.
pub(crate) struct Made {
    definition: &'static Element,
    attributes: Vec<(String, String)>,
    children: Vec<Made>,
    text: String,
    parent: Option<String>,
    parent_attributes: Vec<(String, String)>,
}

impl Node for Made {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn has_child(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.definition.name == name)
    }

    fn has_any_child(&self) -> bool {
        !self.children.is_empty()
    }

    fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    fn parent_attribute(&self, name: &str) -> Option<&str> {
        self.parent_attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn child_values(&self, child: &str, attribute: &str) -> Vec<Option<&str>> {
        let named = self.children.iter().filter(|one| one.definition.name == child);
        named.map(|one| one.attribute(attribute)).collect()
    }
}

/// A random artifact; nothing when the decisions lead to one that cannot be made whole.
pub(crate) fn artifact(decisions: &mut Decisions) -> Option<String> {
    let model = Model::get();
    let kinds: Vec<&'static Element> =
        model.artifacts().filter(|one| !one.shallow && exists(one.since, one.until)).collect();
    let definition = decisions.pick(&kinds)?;
    let made = make(model, definition, None, 0, decisions)?;
    let mut out = String::new();
    write(&made, definition.namespace == Namespace::Synapse, 0, &mut out);
    Some(out)
}

fn exists(since: Option<Version>, until: Option<Version>) -> bool {
    Version::NEWEST.has(since, until)
}

fn make(
    model: &'static Model,
    definition: &'static Element,
    parent: Option<&Made>,
    depth: usize,
    decisions: &mut Decisions,
) -> Option<Made> {
    let mut made = Made {
        definition,
        attributes: Vec::new(),
        children: Vec::new(),
        text: String::new(),
        parent: parent.map(|one| one.definition.name.clone()),
        parent_attributes: parent.map(|one| one.attributes.clone()).unwrap_or_default(),
    };
    for attribute in &definition.attributes {
        let left_out = LEFT_OUT.contains(&(definition.id.as_str(), attribute.name.as_str()));
        let fixed = fixed(definition, attribute).is_some();
        if fixed
            || attribute.required.is_some()
            || (!left_out && exists(attribute.since, attribute.until) && decisions.one_in(4))
        {
            let value = attribute_value(definition, attribute, decisions);
            made.attributes.push((attribute.name.clone(), value));
        }
    }
    if definition.shallow {
        return Some(made);
    }
    fill(model, &mut made, depth, decisions)?;
    mend_all(model, &mut made, depth, decisions)?;
    // What was mended here may be something that the children look at.
    let attributes = made.attributes.clone();
    for child in &mut made.children {
        child.parent_attributes.clone_from(&attributes);
        mend_all(model, child, depth + 1, decisions)?;
    }
    Some(made)
}

fn mend_all(model: &'static Model, made: &mut Made, depth: usize, decisions: &mut Decisions) -> Option<()> {
    for _ in 0..12 {
        if !mend(model, made, depth, decisions)? {
            return Some(());
        }
    }
    None
}

/// The children and the text.
fn fill(model: &'static Model, made: &mut Made, depth: usize, decisions: &mut Decisions) -> Option<()> {
    let definition = made.definition;
    let steps_only = matches!(definition.content, Content::MediatorsUnless(_)) && decisions.among(2) == 0;
    if !steps_only {
        for (child, part) in model.parts(definition) {
            if part.until.is_some() {
                continue;
            }
            let left_out = LEFT_OUT_PARTS.contains(&part.id.as_str());
            let optional = !left_out && depth < DEEPEST && child.max != Some(0) && decisions.one_in(4);
            for _ in 0..child.min.max(u16::from(optional)) {
                let part = make(model, part, Some(made), depth + 1, decisions)?;
                made.children.push(part);
            }
        }
        if let Content::MediatorsUnless(part) = &definition.content
            && !made.has_child(part)
        {
            let (_, part) = model.part(definition, part)?;
            let part = make(model, part, Some(made), depth + 1, decisions)?;
            made.children.push(part);
        }
    }
    match definition.content {
        Content::Mediators => steps(model, made, depth, decisions)?,
        Content::MediatorsUnless(_) if steps_only => steps(model, made, depth, decisions)?,
        Content::Text => made.text = text_value(made, decisions),
        Content::Mixed if made.children.is_empty() && decisions.among(2) == 0 => {
            made.text = text_value(made, decisions);
        }
        _ => {}
    }
    Some(())
}

fn steps(model: &'static Model, made: &mut Made, depth: usize, decisions: &mut Decisions) -> Option<()> {
    let around = made.parent.as_deref();
    let left_out =
        LEFT_OUT_STEPS.iter().find(|(one, _)| around == Some(*one)).map_or(&[][..], |(_, steps)| steps);
    let fits = |one: &&Element| {
        !one.shallow && exists(one.since, one.until) && !left_out.contains(&one.name.as_str())
    };
    let all: Vec<&'static Element> = model.mediators().filter(fits).collect();
    for _ in 0..=decisions.among(3) {
        let step = if depth >= DEEPEST { model.mediator("log")? } else { decisions.pick(&all)? };
        // What the parent reads as a part is no step there.
        let is_part = model.part(made.definition, &step.name).is_some();
        if let Some(step) = make(model, step, Some(made), depth + 1, decisions).filter(|_| !is_part) {
            made.children.push(step);
        }
    }
    Some(())
}

/// Puts one broken rule right; whether there was one.
fn mend(model: &'static Model, made: &mut Made, depth: usize, decisions: &mut Decisions) -> Option<bool> {
    let definition = made.definition;
    for rule in &definition.rules {
        let Some(broken) = rule.broken(made, definition) else { continue };
        match (rule, broken.what) {
            (_, Some(Thing::Attribute(name))) => made.attributes.retain(|(key, _)| *key != name),
            (Rule::Distinct { .. }, Some(Thing::Child(name))) => {
                let at = made.children.iter().rposition(|child| child.definition.name == name)?;
                made.children.remove(at);
            }
            (_, Some(Thing::Child(name))) => made.children.retain(|child| child.definition.name != name),
            (_, Some(Thing::AnyChild)) => made.children.clear(),
            (_, Some(Thing::Text)) => made.text.clear(),
            (Rule::OneOf { of, .. }, None) => {
                let thing = decisions.pick(of)?.clone();
                add(model, made, &thing, depth, decisions)?;
            }
            (Rule::Required { what, .. }, None) => add(model, made, what, depth, decisions)?,
            // A combination that is wrong as such: what need not be there goes.
            _ => {
                let needed =
                    |name: &str| definition.attribute(name).is_some_and(|one| one.required.is_some());
                let before = made.attributes.len();
                made.attributes.retain(|(name, _)| needed(name));
                if made.attributes.len() == before {
                    return None;
                }
            }
        }
        return Some(true);
    }
    Some(false)
}

fn add(
    model: &'static Model,
    made: &mut Made,
    thing: &Thing,
    depth: usize,
    decisions: &mut Decisions,
) -> Option<()> {
    match thing {
        Thing::Attribute(name) => {
            let attribute = made.definition.attribute(name)?;
            let value = attribute_value(made.definition, attribute, decisions);
            made.attributes.retain(|(key, _)| key != name);
            made.attributes.push((name.clone(), value));
        }
        Thing::Child(name) => {
            let (_, part) = model.part(made.definition, name)?;
            if depth > DEEPEST + 3 {
                return None;
            }
            let part = make(model, part, Some(made), depth + 1, decisions)?;
            made.children.push(part);
        }
        Thing::Text => made.text = text_value(made, decisions),
        Thing::AnyChild => steps(model, made, depth, decisions)?,
        Thing::ChildAttribute(..) | Thing::ParentAttribute(_) => return None,
    }
    Some(())
}

fn attribute_value(element: &Element, attribute: &Attribute, decisions: &mut Decisions) -> String {
    match fixed(element, attribute) {
        Some(value) => value.to_owned(),
        None => value(attribute.place, attribute.refuses.is_some(), &attribute.value, decisions),
    }
}

fn fixed(element: &Element, attribute: &Attribute) -> Option<&'static str> {
    let one = FIXED.iter().find(|(id, name, _)| *id == element.id && *name == attribute.name);
    one.map(|(_, _, value)| *value)
}

fn text_value(made: &Made, decisions: &mut Decisions) -> String {
    match &made.definition.text {
        Some(text) if text.when.as_ref().is_none_or(|when| when.holds(made, made.definition)) => {
            value(text.place, text.refuses.is_some(), &text.value, decisions)
        }
        _ => "text".to_owned(),
    }
}

fn value(place: Place, refuses: bool, kind: &ValueType, decisions: &mut Decisions) -> String {
    match place {
        Place::Path if refuses => "//a".to_owned(),
        Place::Path => "${payload.a}".to_owned(),
        Place::XPath | Place::Query => "//a".to_owned(),
        Place::Template => "text ${payload.a}".to_owned(),
        Place::Value if !refuses && decisions.one_in(3) => "{${vars.a}}".to_owned(),
        Place::Value | Place::Literal | Place::Resolved => literal(kind, decisions),
    }
}

fn literal(kind: &ValueType, decisions: &mut Decisions) -> String {
    let fresh = decisions.fresh();
    match kind {
        ValueType::Integer { min, max } => {
            let number = 5_i64.max(min.unwrap_or(0));
            max.map_or(number, |max| number.min(max)).to_string()
        }
        ValueType::Long | ValueType::Numbers => "1000".to_owned(),
        ValueType::Number => "1.5".to_owned(),
        ValueType::Boolean(_) => if decisions.among(2) == 0 { "true" } else { "false" }.to_owned(),
        ValueType::Choice { values, .. } | ValueType::Words(values) | ValueType::Suggest(values) => {
            decisions.pick(values).cloned().unwrap_or_default()
        }
        ValueType::Regex => format!("a{fresh}.*"),
        ValueType::ClassName => "com.example.Audit".to_owned(),
        ValueType::Path => format!("/p{fresh}"),
        ValueType::Uri => "http://orders.example".to_owned(),
        ValueType::UriTemplate => "http://orders.example/{uri.var.a}".to_owned(),
        ValueType::Cron => "0 0 * * * ?".to_owned(),
        ValueType::Json => "{}".to_owned(),
        ValueType::Text | ValueType::Name | ValueType::QName | ValueType::Any => format!("n{fresh}"),
    }
}

fn write(made: &Made, declare: bool, depth: usize, out: &mut String) {
    let name = &made.definition.name;
    let blanks = "    ".repeat(depth);
    let _ = write!(out, "{blanks}<{name}");
    if declare {
        let _ = write!(out, " xmlns=\"{SYNAPSE_NAMESPACE}\"");
    }
    if made.definition.id == "makefault.code" {
        out.push_str(" xmlns:soap11Env=\"http://schemas.xmlsoap.org/soap/envelope/\"");
    }
    for (key, value) in &made.attributes {
        let _ = write!(out, " {key}=\"{}\"", synapse_lang::syntax::escape_attribute(value, '"'));
    }
    if made.children.is_empty() && made.text.is_empty() {
        out.push_str("/>\n");
    } else if made.children.is_empty() {
        let _ = writeln!(out, ">{}</{name}>", synapse_lang::syntax::escape_text(&made.text));
    } else {
        out.push_str(">\n");
        for child in &made.children {
            write(child, false, depth + 1, out);
        }
        let _ = writeln!(out, "{blanks}</{name}>");
    }
}
