//! Repairs as code actions.

use std::collections::HashMap;

use gen_lsp_types::{CodeActionParams, TextEdit};
use serde_json::{Value, json};
use synapse_lang::check;
use synapse_lang::diagnostic::{Diagnostic, Safety};
use synapse_lang::fix::{self, Extent};
use synapse_lang::syntax::Document;

use crate::capabilities::FIX_ALL;
use crate::view::View;
use crate::{diagnostics, formatting, rename};

/// The actions for a range: every repair of a finding there, and all safe repairs of the document in one.
pub(crate) fn actions(
    view: &View<'_>,
    found: &[Diagnostic],
    params: &CodeActionParams,
    version: Option<i32>,
) -> Vec<Value> {
    let only = params.context.only.as_ref().map(|kinds| json!(kinds));
    let wants = |kind: &str| wants(only.as_ref(), kind);
    let mut actions = Vec::new();
    if wants("quickfix") {
        let asked =
            synapse_lang::text::Span::new(view.offset(params.range.start), view.offset(params.range.end));
        let there = found.iter().filter(|one| one.span.start <= asked.end && asked.start <= one.span.end);
        for one in there {
            for (rank, repair) in one.fixes.iter().enumerate() {
                let edits = repair.edits.iter();
                let edits =
                    edits.map(|edit| TextEdit { range: view.range(edit.span), new_text: edit.text.clone() });
                let mut action = json!({
                    "title": repair.title,
                    "kind": "quickfix",
                    "diagnostics": [diagnostics::one_sent(view, one)],
                    "edit": edit(view, edits.collect(), version),
                });
                if rank == 0 && repair.safety == Safety::Safe {
                    set(&mut action, "isPreferred", Value::Bool(true));
                }
                actions.push(action);
            }
        }
    }
    let safe = |one: &Diagnostic| one.fixes.iter().any(|repair| repair.safety == Safety::Safe);
    if wants(FIX_ALL) && found.iter().any(safe) {
        let mut action = json!({ "title": "Apply all safe repairs", "kind": FIX_ALL });
        if view.client.resolves_actions {
            set(&mut action, "data", json!({ "uri": view.uri, "version": version }));
        } else {
            set(&mut action, "edit", fix_all(view, version));
        }
        actions.push(action);
    }
    actions
}

fn set(action: &mut Value, name: &str, value: Value) {
    if let Some(action) = action.as_object_mut() {
        action.insert(name.to_owned(), value);
    }
}

/// Whether a kind of action is asked for: kinds are paths, and a parent asks for all below it.
fn wants(only: Option<&Value>, kind: &str) -> bool {
    let Some(only) = only.and_then(Value::as_array) else { return true };
    only.iter().filter_map(Value::as_str).any(|wanted| {
        wanted.is_empty()
            || kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The edit that applies all safe repairs of a document.
pub(crate) fn fix_all(view: &View<'_>, version: Option<i32>) -> Value {
    let look = |text: &str| check::check(&Document::parse(text), view.setting());
    let repaired = fix::repair(view.document.source(), Extent::Safe, look);
    edit(view, formatting::difference(view, &repaired.text, None), version)
}

fn edit(view: &View<'_>, edits: Vec<TextEdit>, version: Option<i32>) -> Value {
    let versions: HashMap<String, i32> =
        version.map(|version| (view.uri.as_ref().to_owned(), version)).into_iter().collect();
    rename::workspace_edit(view, vec![(view.uri.clone(), edits)], &versions)
}
