//! Which cards a product has, as data.
//!
//! A product names the things its ids stand for, the cards that show them and the shapes they have in what tools give. All
//! of it can be written in a file; nothing of it is code.

use mica_policy::validate::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::probe::{Probe, ReadyProbe};

/// What every fence of a card begins with, behind the backquotes.
pub const PREFIX: &str = "mica:";

/// What every link to a thing begins with.
pub const SCHEME: &str = "mica://";

/// The cards, links and probes of a product. Data: it can be written in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Kinds {
    /// What ids stand for.
    pub things: Vec<Thing>,
    /// What can be shown.
    pub cards: Vec<Kind>,
    /// How things are found in what tools gave. The first that fits an object counts.
    pub probes: Vec<Probe>,
}

/// Something that ids stand for: a record, a thread, a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// Its name, as in `mica://record/ID`.
    pub name: String,
    /// How one is said in one line.
    pub line: Line,
    /// Tools that its ids come from: one of them is enough. Empty: they may come from anywhere.
    #[serde(default)]
    pub from: Vec<String>,
}

/// How a snapshot is said in one line. Only what is named here reaches a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The field that names it.
    pub name: String,
    /// Fields that say more, in order.
    #[serde(default)]
    pub details: Vec<String>,
}

/// A kind of card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// The name of its fence, without the prefix: `record-list`.
    pub name: String,
    /// What is in the fence.
    pub payload: Payload,
    /// When the model should show one: the end of a sentence.
    #[serde(default)]
    pub about: String,
    /// Tools without which it makes no sense: one of them is enough. Empty: those of its thing.
    #[serde(default)]
    pub from: Vec<String>,
}

/// What is in a fence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// `{ "id": … }`: one thing.
    One {
        /// What it is.
        of: String,
    },
    /// `{ "ids": […] }`: several.
    Many {
        /// What they are.
        of: String,
    },
    /// Everything there is to show.
    Data {
        /// JSON Schema that it must follow.
        schema: Value,
        /// One that does, for the model to see.
        example: Value,
    },
}

impl Payload {
    /// What its ids stand for.
    pub fn thing(&self) -> Option<&str> {
        match self {
            Self::One { of } | Self::Many { of } => Some(of),
            Self::Data { .. } => None,
        }
    }
}

impl Thing {
    /// A thing that a field of its snapshots names.
    pub fn new(name: impl Into<String>, named_by: impl Into<String>) -> Self {
        let line = Line { name: named_by.into(), details: Vec::new() };
        Self { name: name.into(), line, from: Vec::new() }
    }

    /// Says more in its line.
    #[must_use]
    pub fn detail(mut self, field: impl Into<String>) -> Self {
        self.line.details.push(field.into());
        self
    }

    /// Its ids come from a tool.
    #[must_use]
    pub fn from_tool(mut self, tool: impl Into<String>) -> Self {
        self.from.push(tool.into());
        self
    }
}

impl Kind {
    /// A card of one thing.
    pub fn one(name: impl Into<String>, of: impl Into<String>, about: impl Into<String>) -> Self {
        Self::new(name, Payload::One { of: of.into() }, about)
    }

    /// A card of several things.
    pub fn many(name: impl Into<String>, of: impl Into<String>, about: impl Into<String>) -> Self {
        Self::new(name, Payload::Many { of: of.into() }, about)
    }

    /// A card that has everything it shows.
    pub fn data(name: impl Into<String>, schema: Value, example: Value, about: impl Into<String>) -> Self {
        Self::new(name, Payload::Data { schema, example }, about)
    }

    fn new(name: impl Into<String>, payload: Payload, about: impl Into<String>) -> Self {
        Self { name: name.into(), payload, about: about.into(), from: Vec::new() }
    }

    /// It makes no sense without a tool.
    #[must_use]
    pub fn from_tool(mut self, tool: impl Into<String>) -> Self {
        self.from.push(tool.into());
        self
    }
}

/// What is wrong with the cards of a product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// A name that cannot stand in a fence or a link.
    #[error("{name:?} is no name for a {what}: use small letters, digits and \"-\", a letter first")]
    Name {
        /// What it is the name of.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two of the same name.
    #[error("there are two {what}s named {name}")]
    Twice {
        /// What they are.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// Something is said of a thing that is not there.
    #[error("{by} is about {thing}, which is no thing")]
    UnknownThing {
        /// Who says so.
        by: String,
        /// The thing.
        thing: String,
    },
    /// The schema of a card cannot be used, or its example does not follow it.
    #[error("the card {card}: {problem}")]
    Data {
        /// The card.
        card: String,
        /// What is wrong.
        problem: String,
    },
    /// A probe cannot be used.
    #[error("the probe for {thing}: {problem}")]
    Probe {
        /// What it finds.
        thing: String,
        /// What is wrong.
        problem: String,
    },
    /// The line of a thing says a field that none of its probes keeps.
    #[error("the line of {thing} says {field}, which no probe for it keeps")]
    Line {
        /// The thing.
        thing: String,
        /// The field.
        field: String,
    },
}

/// A card whose schema is compiled.
#[derive(Debug)]
pub(crate) struct ReadyKind {
    pub(crate) kind: Kind,
    pub(crate) schema: Option<Schema>,
}

/// The cards of a product, checked, with everything compiled that can be.
#[derive(Debug)]
pub struct Ready {
    pub(crate) kinds: Kinds,
    pub(crate) cards: Vec<ReadyKind>,
    pub(crate) probes: Vec<ReadyProbe>,
}

impl Ready {
    /// The kind of a name.
    pub(crate) fn card(&self, name: &str) -> Option<&ReadyKind> {
        self.cards.iter().find(|card| card.kind.name == name)
    }

    /// The thing of a name.
    pub fn thing(&self, name: &str) -> Option<&Thing> {
        self.kinds.things.iter().find(|thing| thing.name == name)
    }
}

impl Kinds {
    /// Adds a thing.
    #[must_use]
    pub fn thing(mut self, thing: Thing) -> Self {
        self.things.push(thing);
        self
    }

    /// Adds a card.
    #[must_use]
    pub fn card(mut self, card: Kind) -> Self {
        self.cards.push(card);
        self
    }

    /// Adds a probe.
    #[must_use]
    pub fn probe(mut self, probe: Probe) -> Self {
        self.probes.push(probe);
        self
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty() && self.cards.is_empty()
    }

    /// Checks it, and compiles what can be.
    ///
    /// # Errors
    /// [`KindError`]: a mistake of the product.
    pub fn ready(self) -> Result<Ready, KindError> {
        distinct("thing", self.things.iter().map(|thing| thing.name.as_str()))?;
        distinct("card", self.cards.iter().map(|card| card.name.as_str()))?;
        let is_thing = |by: String, name: &str| match self.things.iter().any(|thing| thing.name == name) {
            true => Ok(()),
            false => Err(KindError::UnknownThing { by, thing: name.to_owned() }),
        };
        let mut cards = Vec::new();
        for kind in &self.cards {
            if let Some(thing) = kind.payload.thing() {
                is_thing(format!("the card {}", kind.name), thing)?;
            }
            cards.push(ReadyKind { schema: schema(kind)?, kind: kind.clone() });
        }
        let mut probes = Vec::new();
        for probe in &self.probes {
            is_thing("a probe".to_owned(), &probe.thing)?;
            probes.push(
                probe.ready().map_err(|problem| KindError::Probe { thing: probe.thing.clone(), problem })?,
            );
        }
        for thing in &self.things {
            let of: Vec<&Probe> = self.probes.iter().filter(|probe| probe.thing == thing.name).collect();
            let said = [&thing.line.name].into_iter().chain(&thing.line.details);
            let unknown =
                said.into_iter().find(|field| !of.iter().any(|probe| probe.fields.contains_key(*field)));
            if let (false, Some(field)) = (of.is_empty(), unknown) {
                return Err(KindError::Line { thing: thing.name.clone(), field: field.clone() });
            }
        }
        Ok(Ready { cards, probes, kinds: self })
    }
}

fn distinct<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), KindError> {
    let mut seen = Vec::new();
    for name in names {
        let is_letter =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) || !name.chars().all(is_letter) {
            return Err(KindError::Name { what, name: name.to_owned() });
        }
        if seen.contains(&name) {
            return Err(KindError::Twice { what, name: name.to_owned() });
        }
        seen.push(name);
    }
    Ok(())
}

fn schema(kind: &Kind) -> Result<Option<Schema>, KindError> {
    let Payload::Data { schema, example } = &kind.payload else { return Ok(None) };
    let wrong = |problem: String| KindError::Data { card: kind.name.clone(), problem };
    let schema = Schema::compile(schema).map_err(|bad| wrong(bad.to_string()))?;
    match follows(&schema, example) {
        Ok(()) => Ok(Some(schema)),
        Err(problem) => Err(wrong(format!("its example does not follow its schema: {problem}"))),
    }
}

/// Whether data follows the schema of its card, as it is: nothing is put right.
pub(crate) fn follows(schema: &Schema, data: &Value) -> Result<(), String> {
    let Value::Object(members) = data else { return Err("it is no object".to_owned()) };
    match schema.judge(&mut members.clone()) {
        Ok(coercions) if coercions.is_empty() => Ok(()),
        Ok(_) => Err("a value has another type".to_owned()),
        Err(invalid) => {
            let complaints: Vec<String> = invalid.complaints.iter().map(ToString::to_string).collect();
            Err(complaints.join("; "))
        }
    }
}

#[cfg(test)]
mod tests;
