//! What a model is told about the cards it can show.
//!
//! Promise: a card whose ids come from tools that are not there is not spoken of, nor is a thing.

use mica_context::section::ToolNames;

use super::kind::{Kind, Kinds, PREFIX, Payload, SCHEME, Thing};
use crate::capability::Words;
use crate::section::{Piece, Tier};

impl Kinds {
    /// The cards that make sense with these tools.
    pub fn offered<'a>(&'a self, tools: &'a ToolNames) -> impl Iterator<Item = &'a Kind> {
        self.cards.iter().filter(move |card| {
            let of = card.payload.thing();
            let thing = of.and_then(|name| self.things.iter().find(|thing| thing.name == name));
            let own = (!card.from.is_empty()).then_some(&card.from);
            is_there(own.or(thing.map(|thing| &thing.from)).map_or(&[], Vec::as_slice), tools)
        })
    }

    /// The things that can be linked to with these tools.
    pub fn linked<'a>(&'a self, tools: &'a ToolNames) -> impl Iterator<Item = &'a Thing> {
        self.things.iter().filter(|thing| is_there(&thing.from, tools))
    }

    /// What the model is told, as a section of the prompt. `None` when there is nothing to show.
    pub fn section(&self, tools: &ToolNames) -> Option<Piece> {
        let (id, words) = ("cards".to_owned(), Words::Own);
        Some(Piece { id, tier: Tier::Org, text: self.catalogue(tools)?, words })
    }

    /// The same, as text.
    pub fn catalogue(&self, tools: &ToolNames) -> Option<String> {
        let cards: Vec<&Kind> = self.offered(tools).collect();
        let things: Vec<&str> = self.linked(tools).map(|thing| thing.name.as_str()).collect();
        if cards.is_empty() && things.is_empty() {
            return None;
        }
        let mut text = String::from(ABOUT);
        for card in &cards {
            let example = match &card.payload {
                Payload::One { .. } => "{ \"id\": \"ID\" }".to_owned(),
                Payload::Many { .. } => "{ \"ids\": [\"ID\", \"ID\"] }".to_owned(),
                Payload::Data { example, .. } => example.to_string(),
            };
            let about = if card.about.is_empty() { String::new() } else { format!(": {}", card.about) };
            text.push_str(&format!("\n- `{PREFIX}{}`{about}\n  {example}", card.name));
        }
        if cards.iter().any(|card| card.payload.thing().is_some()) {
            text.push_str(IDS);
        }
        if !things.is_empty() {
            text.push_str(&format!(
                "\nInside a sentence, link to a thing that a tool found: [its name]({SCHEME}THING/ID), where THING is {}.",
                one_of(&things)
            ));
        }
        Some(text)
    }
}

const ABOUT: &str = "# Cards\n\nWhat you found is best shown as a card. Write a fence on lines of its own, with the name of the \
                     card behind the backquotes and JSON inside:\n\n```mica:NAME\n{ … }\n```\n\nThese cards can be shown:";

const IDS: &str = "\nWrite ids exactly as tools gave them, in the order in which you speak of them, and nothing else: names and \
                   other fields are filled in for the user, so do not repeat in words what a card shows. A card you showed \
                   before appears in this conversation as \"[Shown: NAME, count]\" with numbered lines; the user who speaks of \
                   the second one means line 2. To show a card, always write a fence, never such lines.";

fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn is_there(from: &[String], tools: &ToolNames) -> bool {
    from.is_empty() || from.iter().any(|tool| tools.has(tool))
}
