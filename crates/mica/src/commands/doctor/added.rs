//! What others added at run time, for `mica doctor`: hooks, extensions, skills, and what of a project is not trusted.

use std::sync::Arc;

use mica_ext::World;
use mica_ext::world::NoWorld;

use super::Finding;
use crate::config::{Values, project};
use crate::equipment::extensions::Shelf;
use crate::equipment::extensions::rows::State;
use crate::equipment::{hooks, skills};
use crate::render::question::plain;
use crate::surroundings::Surroundings;

/// What to do about a part that is not trusted.
const TRUST: &str = "look at it with `mica trust --list`, then run `mica trust`";

/// A row for each kind that there is, and one for each thing that is wrong.
pub async fn findings(values: &Values, surroundings: &Surroundings) -> Vec<Finding> {
    let mut findings = of_hooks(values, surroundings);
    findings.extend(of_extensions(values, surroundings).await);
    findings.extend(of_skills(values, surroundings));
    findings.extend(of_trust(surroundings));
    findings
}

fn of_hooks(values: &Values, surroundings: &Surroundings) -> Vec<Finding> {
    let loaded = hooks::load(surroundings, values);
    let configured = &loaded.configured;
    let mut findings = Vec::new();
    if !configured.hooks.is_empty() {
        let count = counted(configured.hooks.len(), "command", "commands");
        findings.push(Finding::good("hooks", format!("{count} (`mica hooks list` shows them)")));
    }
    let wrong = configured.problems.iter().map(ToString::to_string).chain(loaded.differs);
    findings
        .extend(wrong.map(|problem| Finding::bad("hooks", plain(&problem), "mend the file, or look at it")));
    if !configured.closed.is_empty() {
        let what: Vec<String> = configured.closed.iter().map(|closed| closed.matcher.to_string()).collect();
        let found = format!("calls are closed until a file is mended: {}", plain(&what.join(", ")));
        findings.push(Finding::bad("hooks", found, "mend the file that is named above"));
    }
    findings
}

/// They are loaded in their cages, with nothing around them.
async fn of_extensions(values: &Values, surroundings: &Surroundings) -> Vec<Finding> {
    let shelf =
        Shelf { surroundings: surroundings.clone(), values: values.extensions.clone(), named: Vec::new() };
    let world: Arc<dyn World> = Arc::new(NoWorld);
    let rows: Vec<_> = shelf.load(&world).await.into_iter().map(|(row, _)| row).collect();
    let names = |state: &State| -> Vec<String> {
        rows.iter().filter(|row| row.state == *state).map(|row| plain(&row.name)).collect()
    };
    let mut findings = Vec::new();
    let loaded = names(&State::Loaded);
    if !loaded.is_empty() {
        findings.push(Finding::good("extensions", loaded.join(", ")));
    }
    for row in &rows {
        let name = plain(&row.name);
        match &row.state {
            State::Failed(why) => findings.push(Finding::bad(
                "extensions",
                format!("{name} does not load: {}", plain(why)),
                format!("mend {}, or `mica ext disable {name}`", plain(&row.path.display().to_string())),
            )),
            State::Loaded if !row.missing.is_empty() => findings.push(Finding::bad(
                "extensions",
                format!("{name} is not allowed what it asks for: {}", plain(&row.missing.join(", "))),
                format!("mica ext allow {name}"),
            )),
            State::Loaded | State::Untrusted | State::Disabled => {}
        }
    }
    findings
}

fn of_skills(values: &Values, surroundings: &Surroundings) -> Vec<Finding> {
    let looked = skills::look(values, surroundings);
    let count = looked.chosen.skills.iter().count();
    let mut findings = Vec::new();
    if count > 0 {
        let count = counted(count, "skill", "skills");
        findings.push(Finding::good("skills", format!("{count} (`mica skills list` shows them)")));
    }
    let unusable = looked.found.iter().map(|left| (left.path.display().to_string(), left.reason.clone()));
    let untrustable = looked.chosen.untrusted.iter();
    let untrustable = untrustable.filter_map(|(skill, reason)| Some((skill.place(), reason.clone()?)));
    findings.extend(unusable.chain(untrustable).map(|(place, reason)| {
        let found = format!("{} is not used: {}", plain(&place), plain(&reason));
        Finding::bad("skills", found, "`mica skills check` says what the format wants")
    }));
    findings
}

fn of_trust(surroundings: &Surroundings) -> Vec<Finding> {
    let (parts, problems) = project::all_parts(surroundings, &surroundings.folder);
    let with = |state: project::State| -> Vec<String> {
        let parts = parts.iter().filter(|part| part.state(surroundings) == state);
        parts.map(|part| plain(&part.shown(&surroundings.folder).to_string())).collect()
    };
    let mut findings = Vec::new();
    let (trusted, declined, new) =
        (with(project::State::Trusted), with(project::State::Declined), with(project::State::New));
    if !trusted.is_empty() {
        findings.push(Finding::good("trust", format!("trusted as it is: {}", trusted.join(", "))));
    }
    if !declined.is_empty() {
        findings.push(Finding::good("trust", format!("declined, and not used: {}", declined.join(", "))));
    }
    if !new.is_empty() {
        findings.push(Finding::bad("trust", format!("not trusted, and not used: {}", new.join(", ")), TRUST));
    }
    findings
        .extend(problems.into_iter().map(|problem| Finding::bad("trust", plain(&problem), "mend the file")));
    findings
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
