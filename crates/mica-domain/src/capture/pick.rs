//! What a person picks of a bundle, and whether it can be done like that.

use std::collections::BTreeMap;

use mica_agent::{Args, ToolSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::{Action, Status};
use super::bundle::{Bundle, State};
use super::error::CaptureError;
use super::order::order;
use super::temp::Names;
use crate::approvals::{Approvers, Deed, Person, amend};
use crate::autonomy::Judge;

/// One action that was picked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// Which.
    pub action: String,
    /// Arguments that were changed.
    #[serde(default)]
    pub edits: Args,
}

/// What a person picked of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Picked(pub Vec<Pick>);

impl Picked {
    /// All of it that is still open.
    pub fn all(bundle: &Bundle) -> Self {
        let open = bundle.actions.iter().filter(|action| action.is_open());
        Self(open.map(|action| Pick { action: action.id.clone(), edits: Args::new() }).collect())
    }

    /// Some of it.
    pub fn some<'a>(actions: impl IntoIterator<Item = &'a str>) -> Self {
        let pick = |action: &str| Pick { action: action.to_owned(), edits: Args::new() };
        Self(actions.into_iter().map(pick).collect())
    }

    /// With an argument changed.
    #[must_use]
    pub fn editing(mut self, action: &str, argument: impl Into<String>, value: Value) -> Self {
        if let Some(pick) = self.0.iter_mut().find(|pick| pick.action == action) {
            pick.edits.insert(argument.into(), value);
        }
        self
    }
}

/// What decisions are judged by.
pub(super) struct Rules<'a> {
    pub(super) tools: &'a ToolSet,
    pub(super) judge: &'a Judge,
    pub(super) approvers: &'a Approvers,
}

/// Takes a person's picks into a bundle, or says all that is wrong with them. Nothing is done yet.
pub(super) fn decided(
    bundle: &mut Bundle,
    picked: &Picked,
    person: &Person,
    rules: &Rules<'_>,
) -> Result<Deed, CaptureError> {
    let mut problems = Vec::new();
    let mut denied = Vec::new();
    let mut edits = BTreeMap::new();
    if picked.0.is_empty() {
        problems.push("nothing was picked".to_owned());
    }
    for pick in &picked.0 {
        let id = &pick.action;
        let Some(action) = bundle.actions.iter_mut().find(|action| action.id == *id) else {
            problems.push(format!("there is no action {id}"));
            continue;
        };
        if action.status == Status::Picked {
            problems.push(format!("{id} was picked twice"));
            continue;
        }
        if !action.is_open() {
            problems.push(format!("{id} {}", settled(&action.status)));
            continue;
        }
        let Some(tool) = rules.tools.find(&action.tool) else {
            problems.push(format!("{id} needs the tool {}, which is not there any more", action.tool));
            continue;
        };
        // As it was when it was captured, and as the product says it now.
        let now = rules.judge.act(&action.tool).and_then(|act| act.needs.as_deref());
        for right in [action.right.as_deref(), now] {
            if let Err(missing) = rules.approvers.may(person, &action.tool, right) {
                let words = format!("{id} ({} needs {missing})", action.tool);
                if !denied.contains(&words) {
                    denied.push(words);
                }
            }
        }
        match (amend(tool.spec(), action.standing(), &action.amendable, &pick.edits), &action.tried) {
            (Ok(None), Some(_)) => {}
            (Ok(None), None) => (action.amended, action.changed) = (None, None),
            (Ok(Some(_)), Some(_)) => problems.push(format!(
                "{id} may have been done already, as it was approved before, so it cannot be changed now: approve it \
                 unchanged, which does not do it twice and says what became of it"
            )),
            (Ok(Some(amended)), None) => {
                edits.insert(id.clone(), amended.clone());
                action.amended = Some(amended);
            }
            (Err(wrong), _) => problems.extend(wrong.into_iter().map(|problem| format!("{id}: {problem}"))),
        }
        action.status = Status::Picked;
    }
    if !denied.is_empty() {
        return Err(CaptureError::NotAllowed { person: person.name.clone(), actions: denied });
    }
    problems.extend(rewired(bundle));
    if !problems.is_empty() {
        return Err(CaptureError::Picks { problems });
    }
    order(&bundle.actions)?;
    let rest = bundle.actions.iter().any(|action| action.status == Status::Open);
    bundle.state = if rest { State::PartiallyApproved } else { State::Approved };
    Ok(Deed::Approved { what: picked.0.iter().map(|pick| pick.action.clone()).collect(), edits })
}

/// Finds again what the picked actions need, which edits may have changed, and says what of it will not be there.
fn rewired(bundle: &mut Bundle) -> Vec<String> {
    let mut problems = Vec::new();
    let known: BTreeMap<String, Action> =
        bundle.actions.iter().map(|action| (action.id.clone(), action.clone())).collect();
    let order: Vec<String> = bundle.actions.iter().map(|action| action.id.clone()).collect();
    for action in bundle.actions.iter_mut().filter(|action| action.status == Status::Picked) {
        let names = Names::of(action.arguments());
        if action.amended.is_some() {
            action.needs = names.all().filter(|name| known.contains_key(*name)).map(str::to_owned).collect();
        } else if action.tried.is_none() {
            // As it was captured: an edit of an earlier decision may have changed it.
            let elsewhere = action.needs.iter().filter(|need| !known.contains_key(*need)).cloned();
            let before = order.iter().take_while(|other| **other != action.id);
            let here = before.filter(|other| names.all().any(|name| name == other.as_str())).cloned();
            action.needs = here.chain(elsewhere).collect();
        }
        for need in &action.needs {
            let id = &action.id;
            match known.get(need).map(|other| (&other.status, other)) {
                Some((Status::Picked, other)) if !other.makes.is_empty() => {}
                Some((Status::Done { made: Some(_), .. }, _)) => {}
                Some((Status::Done { made: None, .. }, _)) => {
                    problems.push(format!("{id} needs {need}, which was done without saying what it made"));
                }
                Some((Status::Picked, _)) => {
                    problems.push(format!("{id} needs {need}, which makes nothing new"));
                }
                Some(_) => problems.push(format!("{id} needs {need}, which is not picked")),
                None => problems.push(format!("{id} needs {need}, which is not in this bundle")),
            }
        }
    }
    problems
}

fn settled(status: &Status) -> &'static str {
    match status {
        Status::Done { .. } => "is done already",
        Status::Began => "is being done",
        Status::Failed { .. } => "failed, and what it changed until then is unknown: it is not tried again",
        Status::Unknown { .. } => "may have been done already: it is not tried again",
        Status::Open | Status::Picked | Status::Skipped { .. } => "cannot be picked",
    }
}
