//! The matrix of mediators and the places in them that are evaluated.

use synapse_lang::model::{Content, Element, Kind, Place, Refusal};

use super::{Table, model};

/// How deep children are followed: `args/arg/@expression`.
const DEPTH: usize = 3;

/// The places of one mediator, by who evaluates them.
#[derive(Default)]
struct Places {
    path: Vec<String>,
    value: Vec<String>,
    template: Vec<String>,
    other: Vec<String>,
    refused: Vec<String>,
}

/// One row for each mediator with a place that is evaluated. Those that are kept for old projects only are left out.
pub(super) fn table() -> String {
    let mut table = Table::new(&[
        "mediator",
        "takes `${…}`",
        "takes `{${…}}`",
        "text with `${…}`",
        "XPath, json-eval; no `${…}`",
        "takes `${…}` and fails",
    ]);
    for mediator in model().mediators().filter(|one| one.legacy.is_none() && !one.shallow) {
        let mut places = Places::default();
        places.walk(mediator, "", DEPTH);
        if !places.is_empty() {
            let Places { path, value, template, other, refused } = places;
            let mut row = vec![format!("`{}`", mediator.name)];
            row.extend([path, value, template, other, refused].map(|names| names.join(" ")));
            table.row(&row);
        }
    }
    table.finish()
}

impl Places {
    fn is_empty(&self) -> bool {
        [&self.path, &self.value, &self.template, &self.other, &self.refused].iter().all(|one| one.is_empty())
    }

    fn walk(&mut self, element: &Element, path: &str, depth: usize) {
        for one in &element.attributes {
            self.add(one.place, one.refuses.as_ref(), format!("`{path}@{}`", one.name));
        }
        if depth == 0 {
            return;
        }
        for (_, part) in model().parts(element) {
            // Endpoints have rows of their own elsewhere, and a list of mediators begins anew.
            let elsewhere = part.kind != Kind::Part || part.name == "endpoint" || part.id == element.id;
            if elsewhere || matches!(part.content, Content::Markup) && part.attributes.is_empty() {
                continue;
            }
            if let Some(text) = &part.text {
                self.add(text.place, text.refuses.as_ref(), format!("`{path}{}`", part.name));
            }
            self.walk(part, &format!("{path}{}/", part.name), depth - 1);
        }
    }

    fn add(&mut self, place: Place, refusal: Option<&Refusal>, name: String) {
        let into = match (place, refusal) {
            (Place::Literal | Place::Resolved, _) => return,
            (Place::Path | Place::Template, Some(_)) => &mut self.refused,
            // What stands in the braces must be XPath there.
            (Place::Value, Some(_)) | (Place::XPath | Place::Query, _) => &mut self.other,
            (Place::Path, None) => &mut self.path,
            (Place::Value, None) => &mut self.value,
            (Place::Template, None) => &mut self.template,
        };
        if !into.contains(&name) {
            into.push(name);
        }
    }
}
