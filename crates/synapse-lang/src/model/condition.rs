//! Conditions of rules, written as short texts in the data: `@type = property and not @xpath`.
//!
//! ```text
//! condition = both { "or" both }          both = one { "and" one }
//! one       = "not" one | "(" condition ")" | thing [ test ] | "parent" "is" name
//! test      = "=" word | "!=" word | "is" word | "in" "[" word { "," word } "]"
//! thing     = "@name" (attribute) | "name" (child element) | "name@name" (attribute of the first such child)
//!           | "../@name" (attribute of the parent) | "text()" | "*" (any child element)
//! ```
//!
//! `=` compares exactly, `is` ignoring case, `in` exactly. A comparison with an absent attribute of the element itself
//! sees its default; an absent attribute of a child or of the parent compares with nothing.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::element::Element;

/// Something an element may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Thing {
    /// The attribute of that name, written `@name`.
    Attribute(String),
    /// A child element of that local name.
    Child(String),
    /// An attribute of the first child element of a local name, written `child@name`.
    ChildAttribute(String, String),
    /// An attribute of the parent element, written `../@name`.
    ParentAttribute(String),
    /// Text that is not only blanks, written `text()`.
    Text,
    /// Any child element, written `*`.
    AnyChild,
}

impl Thing {
    /// Whether an element that the model describes as `element` has it; an empty attribute that counts as absent is
    /// not there.
    pub fn is_in(&self, node: &impl Node, element: &Element) -> bool {
        match self {
            Self::Attribute(name) => {
                let blank = || element.attribute(name).is_some_and(|attribute| attribute.blank);
                node.attribute(name).is_some_and(|value| !value.trim().is_empty() || !blank())
            }
            Self::Child(name) => node.has_child(name),
            Self::ChildAttribute(..) | Self::ParentAttribute(_) => self.value(node).is_some(),
            Self::Text => node.has_text(),
            Self::AnyChild => node.has_any_child(),
        }
    }

    /// The value of an attribute, without surrounding blanks.
    fn value<'n>(&self, node: &'n impl Node) -> Option<&'n str> {
        let value = match self {
            Self::Attribute(name) => node.attribute(name),
            Self::ParentAttribute(name) => node.parent_attribute(name),
            Self::ChildAttribute(child, name) => node.child_values(child, name).first().copied().flatten(),
            Self::Child(_) | Self::Text | Self::AnyChild => None,
        };
        value.map(str::trim)
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute(name) => write!(f, "@{name}"),
            Self::Child(name) => f.write_str(name),
            Self::ChildAttribute(child, name) => write!(f, "{child}@{name}"),
            Self::ParentAttribute(name) => write!(f, "../@{name}"),
            Self::Text => f.write_str("text()"),
            Self::AnyChild => f.write_str("*"),
        }
    }
}

impl TryFrom<String> for Thing {
    type Error = BadCondition;

    fn try_from(text: String) -> Result<Self, BadCondition> {
        text.parse()
    }
}

impl FromStr for Thing {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Self, BadCondition> {
        match text {
            "" | "@" => Err(BadCondition { text: text.to_owned(), expected: "a name" }),
            "*" => Ok(Self::AnyChild),
            "text()" => Ok(Self::Text),
            _ => Ok(match text.split_once('@') {
                Some(("", name)) => Self::Attribute(name.to_owned()),
                Some(("../", name)) => Self::ParentAttribute(name.to_owned()),
                Some((child, name)) => Self::ChildAttribute(child.to_owned(), name.to_owned()),
                None => Self::Child(text.to_owned()),
            }),
        }
    }
}

/// An element of a document, as far as rules ask about it.
pub trait Node {
    /// The value of the attribute without namespace of that name.
    fn attribute(&self, name: &str) -> Option<&str>;
    /// Whether a child element has that local name.
    fn has_child(&self, name: &str) -> bool;
    /// Whether there is any child element.
    fn has_any_child(&self) -> bool;
    /// Whether there is text that is not only blanks.
    fn has_text(&self) -> bool;
    /// The local name of the parent element.
    fn parent(&self) -> Option<&str>;
    /// The value of the parent element's attribute without namespace of that name.
    fn parent_attribute(&self, name: &str) -> Option<&str>;
    /// The attribute `attribute` of every child element with the local name `child`.
    fn child_values(&self, child: &str, attribute: &str) -> Vec<Option<&str>>;
}

/// Something that holds for an element, or does not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Condition {
    /// The thing is there.
    Has(Thing),
    /// The attribute, or its default, has exactly one of the values.
    OneOf(Thing, Vec<String>),
    /// The attribute, or its default, has the value in any case.
    Is(Thing, String),
    /// The parent element has that local name.
    Parent(String),
    /// It does not hold.
    Not(Box<Condition>),
    /// All hold.
    And(Vec<Condition>),
    /// One holds.
    Or(Vec<Condition>),
}

impl Condition {
    /// Whether it holds for an element of a document that the model describes as `element`.
    pub fn holds(&self, node: &impl Node, element: &Element) -> bool {
        let value = |thing: &Thing| {
            let default = || match thing {
                Thing::Attribute(name) => {
                    element.attribute(name).and_then(|attribute| attribute.default.clone())
                }
                _ => None,
            };
            thing.value(node).map(str::to_owned).or_else(default)
        };
        match self {
            Self::Has(thing) => thing.is_in(node, element),
            Self::OneOf(thing, values) => value(thing).is_some_and(|value| values.contains(&value)),
            Self::Is(thing, wanted) => value(thing).is_some_and(|value| value.eq_ignore_ascii_case(wanted)),
            Self::Parent(name) => node.parent() == Some(name),
            Self::Not(inner) => !inner.holds(node, element),
            Self::And(all) => all.iter().all(|one| one.holds(node, element)),
            Self::Or(any) => any.iter().any(|one| one.holds(node, element)),
        }
    }

    /// Calls `visit` with every thing the condition asks about.
    pub fn things(&self, visit: &mut impl FnMut(&Thing)) {
        match self {
            Self::Has(thing) | Self::OneOf(thing, _) | Self::Is(thing, _) => visit(thing),
            Self::Parent(_) => {}
            Self::Not(inner) => inner.things(visit),
            Self::And(all) | Self::Or(all) => all.iter().for_each(|one| one.things(visit)),
        }
    }
}

/// A text that is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a condition: {expected} is missing")]
pub struct BadCondition {
    /// The whole text.
    pub text: String,
    /// What should have stood where reading stopped.
    pub expected: &'static str,
}

impl TryFrom<String> for Condition {
    type Error = BadCondition;

    fn try_from(text: String) -> Result<Self, BadCondition> {
        text.parse()
    }
}

impl FromStr for Condition {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Self, BadCondition> {
        let mut reader = Reader { text, words: words(text), at: 0 };
        let condition = reader.any()?;
        if reader.peek().is_some() { Err(reader.missing("and, or, or the end")) } else { Ok(condition) }
    }
}

/// Splits at blanks, and around the signs that stand for themselves.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for chunk in text.split_whitespace() {
        // `text()` is a word of its own although it ends in brackets.
        let mut rest = chunk;
        while !rest.is_empty() {
            let end = match rest.find(['(', ')', '[', ']', ',']) {
                Some(0) => 1,
                Some(at) if rest.get(..at + 2) == Some("text()") => at + 2,
                Some(at) => at,
                None => rest.len(),
            };
            let (word, after) = rest.split_at(end);
            words.push(word);
            rest = after;
        }
    }
    words
}

struct Reader<'a> {
    text: &'a str,
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self) -> Result<&'a str, BadCondition> {
        let word = self.peek().ok_or_else(|| self.missing("a word"))?;
        self.at += 1;
        Ok(word)
    }

    fn missing(&self, expected: &'static str) -> BadCondition {
        BadCondition { text: self.text.to_owned(), expected }
    }

    fn any(&mut self) -> Result<Condition, BadCondition> {
        let first = self.all()?;
        let mut list = vec![first];
        while self.take("or") {
            list.push(self.all()?);
        }
        Ok(single(list, Condition::Or))
    }

    fn all(&mut self) -> Result<Condition, BadCondition> {
        let mut list = vec![self.one()?];
        while self.take("and") {
            list.push(self.one()?);
        }
        Ok(single(list, Condition::And))
    }

    fn one(&mut self) -> Result<Condition, BadCondition> {
        if self.take("not") {
            return Ok(Condition::Not(Box::new(self.one()?)));
        }
        if self.take("(") {
            let inner = self.any()?;
            return if self.take(")") { Ok(inner) } else { Err(self.missing(")")) };
        }
        if self.take("parent") {
            return if self.take("is") {
                Ok(Condition::Parent(self.word()?.to_owned()))
            } else {
                Err(self.missing("is"))
            };
        }
        let thing: Thing = self.word()?.parse()?;
        if !matches!(thing, Thing::Attribute(_) | Thing::ChildAttribute(..) | Thing::ParentAttribute(_)) {
            return Ok(Condition::Has(thing));
        }
        if self.take("=") {
            Ok(Condition::OneOf(thing, vec![self.word()?.to_owned()]))
        } else if self.take("!=") {
            Ok(Condition::Not(Box::new(Condition::OneOf(thing, vec![self.word()?.to_owned()]))))
        } else if self.take("is") {
            Ok(Condition::Is(thing, self.word()?.to_owned()))
        } else if self.take("in") {
            if !self.take("[") {
                return Err(self.missing("["));
            }
            let mut values = vec![self.word()?.to_owned()];
            while self.take(",") {
                values.push(self.word()?.to_owned());
            }
            if self.take("]") { Ok(Condition::OneOf(thing, values)) } else { Err(self.missing("]")) }
        } else {
            Ok(Condition::Has(thing))
        }
    }
}

fn single(mut list: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    match list.pop() {
        Some(only) if list.is_empty() => only,
        Some(last) => {
            list.push(last);
            join(list)
        }
        None => join(list),
    }
}

#[cfg(test)]
mod tests;
