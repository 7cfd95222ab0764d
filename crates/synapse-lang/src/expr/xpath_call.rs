//! `xpath()`: an XPath on the message, or on an XML variable, with the runtime's variables and functions.

use super::context::{Context, Variable};
use super::value::{Failure, crash, refuse};
use super::xml_payload;
use crate::java;
use crate::xpath::{self, Environment, EvaluateError, Forest, NodeRef, Value, tree::Kind};
use std::collections::BTreeMap;

/// The result as text: the texts of all selected nodes, one after the other.
pub(super) fn text(context: &Context, path: &str, variable: Option<&str>) -> Result<String, Failure> {
    let (world, value) = evaluate(context, path, variable)?;
    Ok(match value {
        Value::Nodes(nodes) => nodes.into_iter().map(|node| node_text(&world.forest, node)).collect(),
        Value::Number(number) => java::double_to_string(number),
        other => other.to_text(&world.forest),
    })
}

/// The result as nodes; anything else is a failed cast in the engine.
pub(super) fn nodes(context: &Context, path: &str, variable: Option<&str>) -> Result<Vec<String>, Failure> {
    match evaluate(context, path, variable)? {
        (world, Value::Nodes(nodes)) => Ok(nodes.into_iter().map(|node| world.forest.write(node)).collect()),
        _ => crash("java.lang.ClassCastException: the XPath gives no nodes"),
    }
}

/// An element gives its own text and, when that is blank, itself as XML.
fn node_text(forest: &Forest, node: NodeRef) -> String {
    match forest.kind(node) {
        Some(Kind::Element(_)) => {
            let own = forest.own_text(node);
            let blank = own.chars().all(|character| character <= ' ' || character == '\u{a0}');
            if blank { forest.write(node) } else { own }
        }
        Some(Kind::Root) => forest.write(node),
        _ => forest.string(node),
    }
}

fn evaluate<'a>(
    context: &'a Context,
    path: &str,
    variable: Option<&str>,
) -> Result<(World<'a>, Value), Failure> {
    let mut world =
        World { context, forest: Forest::default(), envelope: None, start: None, variables: BTreeMap::new() };
    let full = match variable {
        None => {
            world.add_message();
            path.to_owned()
        }
        Some("") => return refuse("Invalid variable name provided for XPATH function"),
        Some(name) => match name.split_once('.') {
            Some((name, key)) => {
                world.start_in_map(name, key)?;
                path.to_owned()
            }
            None => {
                world.add_message();
                format!("$var:{name}{path}")
            }
        },
    };
    let parsed = match xpath::parse(&full) {
        Ok(parsed) => parsed,
        Err(error) => return refuse(format!("Invalid XPATH expression : {path} ({error})")),
    };
    world.add_variables(&full);
    let value = xpath::evaluate(&parsed, &world).or_else(|error| {
        crash(format!("org.apache.synapse.SynapseException: Evaluation of the XPath expression {full} resulted in an error: {error}"))
    })?;
    Ok((world, value))
}

struct World<'a> {
    context: &'a Context,
    forest: Forest,
    /// The SOAP envelope.
    envelope: Option<NodeRef>,
    start: Option<NodeRef>,
    /// The root elements of XML variables.
    variables: BTreeMap<&'a str, NodeRef>,
}

impl<'a> World<'a> {
    /// The message as a SOAP envelope, which every message is to an XPath.
    fn add_message(&mut self) {
        let Ok(root) = self.forest.add(&xml_payload::envelope(self.context)) else { return };
        self.envelope = self.root_element(root);
        self.start = self.envelope;
    }

    fn root_element(&self, root: NodeRef) -> Option<NodeRef> {
        let children = self.forest.children(root);
        children.into_iter().find(|child| matches!(self.forest.kind(*child), Some(Kind::Element(_))))
    }

    /// The element of an envelope by its local name.
    fn envelope_child(&self, name: &str) -> Option<NodeRef> {
        let children = self.forest.children(self.envelope?);
        children.into_iter().find(
            |child| matches!(self.forest.kind(*child), Some(Kind::Element(found)) if found.local == name),
        )
    }

    /// Starts in the document of a field of a map.
    fn start_in_map(&mut self, name: &str, key: &str) -> Result<(), Failure> {
        let map = match self.context.vars.get(name) {
            None => return refuse(format!("Variable '{name}' is not defined")),
            Some(Variable::Map(map)) => map,
            Some(_) => return refuse(format!("Variable '{name}' is not a Map type")),
        };
        let no_element = || refuse(format!("Field '{key}' of variable '{name}' is not an XML element"));
        let Some(Variable::Xml(text)) = map.get(key) else { return no_element() };
        match self.forest.add(text) {
            Ok(root) => self.start = Some(root),
            Err(_) => return no_element(),
        }
        Ok(())
    }

    /// Reads the XML variables that the path can name.
    fn add_variables(&mut self, path: &str) {
        for (name, variable) in &self.context.vars {
            if let Variable::Xml(text) = variable
                && path.contains(&format!("$var:{name}"))
                && let Ok(root) = self.forest.add(text)
                && let Some(element) = self.root_element(root)
            {
                self.variables.insert(name, element);
            }
        }
    }

    fn property(&self, scope: &str, name: &str) -> String {
        let context = self.context;
        let found = match scope {
            "default" | "synapse" => return self.default_property(name),
            "axis2" => context.ax.get(name),
            "transport" => context.headers.get(name),
            "func" => context.func.as_ref().and_then(|parameters| parameters.get(name)),
            "registry" => {
                let (path, property) =
                    name.split_once('@').map_or((name, None), |(path, name)| (path, Some(name)));
                let resource = context.reg.get(path);
                let text = match property {
                    Some(property) => resource.and_then(|resource| resource.property(property)),
                    None => resource.map(super::context::Resource::text),
                };
                return text.unwrap_or_default().to_owned();
            }
            _ => None,
        };
        found.cloned().unwrap_or_default()
    }

    /// A property of the message, or one of the names that the runtime answers itself.
    fn default_property(&self, name: &str) -> String {
        if let Some(value) = self.context.syn.get(name) {
            return value.clone();
        }
        match name {
            "SYSTEM_TIME" => self.context.now.to_string(),
            "MESSAGE_FORMAT" => "pox".to_owned(),
            _ => String::new(),
        }
    }
}

impl Environment for World<'_> {
    fn forest(&self) -> &Forest {
        &self.forest
    }

    fn start(&self) -> Option<NodeRef> {
        self.start
    }

    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.context.namespaces.get(prefix).map(String::as_str)
    }

    /// A variable that is not set is an empty text.
    fn variable(&self, prefix: Option<&str>, local: &str) -> Option<Value> {
        let nodes = |node: Option<NodeRef>| Value::Nodes(node.into_iter().collect());
        Some(match (prefix, local) {
            (None, "body") => nodes(self.envelope_child("Body")),
            (None, "header") => nodes(self.envelope_child("Header")),
            (None, "env") => nodes(self.envelope),
            (None | Some("ctx"), name) => {
                Value::Text(self.context.syn.get(name).cloned().unwrap_or_default())
            }
            (Some("axis2"), name) => Value::Text(self.property("axis2", name)),
            (Some("trp"), name) => Value::Text(self.property("transport", name)),
            (Some("func"), name) => Value::Text(self.property("func", name)),
            (Some("url"), name) => Value::Text(self.property("default", &format!("query.param.{name}"))),
            (Some("operation" | "sys"), _) => Value::Text(String::new()),
            (Some("var"), name) => match self.context.vars.get(name) {
                None | Some(Variable::Map(_)) => Value::Text(String::new()),
                Some(Variable::Int(int)) => Value::Number(f64::from(*int)),
                #[expect(clippy::cast_precision_loss, reason = "XPath has no other numbers")]
                Some(Variable::Long(long)) => Value::Number(*long as f64),
                Some(Variable::Double(double)) => Value::Number(*double),
                Some(Variable::Boolean(truth)) => Value::Bool(*truth),
                Some(Variable::String(text)) => Value::Text(text.clone()),
                Some(Variable::Json(json)) => Value::Text(json.0.to_string()),
                Some(Variable::Xml(_)) => nodes(self.variables.get(name).copied()),
            },
            _ => return None,
        })
    }

    fn function(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, EvaluateError>> {
        let texts = arguments.iter().map(|value| value.to_text(&self.forest)).collect::<Vec<_>>();
        let texts = texts.iter().map(String::as_str).collect::<Vec<_>>();
        let result = match (name, texts.as_slice()) {
            ("get-property", [name]) => self.default_property(name),
            ("get-property", [scope, name]) => self.property(scope, name),
            ("get-property", _) => return Some(Err(EvaluateError::Arguments(name.to_owned()))),
            _ => return super::functions::xpath_text_function(name, &texts),
        };
        Some(Ok(Value::Text(result)))
    }
}
