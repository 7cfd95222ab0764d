//! Skills for people: what is there, what is not used, and why.

use std::fmt::Write as _;

use mica_ext::skills::load;
use serde_json::{Value, json};

use super::Looked;
use crate::render::question::plain;

impl Looked {
    /// A line for each skill, and what is not used.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let rows: Vec<_> = self.chosen.skills.iter().collect();
        if rows.is_empty() {
            out.push_str("there are no skills here; `mica skills new NAME` begins one\n");
        }
        let width = rows.iter().map(|skill| skill.name.len()).max().unwrap_or_default();
        for skill in &rows {
            let only = if skill.only_people { " (only by /skill:)" } else { "" };
            let about = plain(&skill.description);
            let _ = writeln!(out, "{:<width$}  {:<8}  {about}{only}", skill.name, skill.whose.name());
            for warning in &skill.warnings {
                let _ = writeln!(out, "{:<width$}  {:<8}  ! {}", "", "", plain(warning));
            }
        }
        for (path, reason) in self.unused() {
            let _ = writeln!(out, "not used: {}: {}", plain(&path), plain(&reason));
        }
        out
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let skills: Vec<Value> = self.chosen.skills.iter().map(load::as_json).collect();
        let unused = self.unused();
        let unused: Vec<Value> =
            unused.into_iter().map(|(place, reason)| json!({ "place": place, "reason": reason })).collect();
        json!({ "skills": skills, "not_used": unused })
    }

    /// What is not used, and why.
    fn unused(&self) -> Vec<(String, String)> {
        let untrusted = self.chosen.untrusted.iter().map(|(skill, reason)| {
            let reason = reason
                .clone()
                .unwrap_or_else(|| "it is not trusted: read it, then run `mica trust`".to_owned());
            (skill.place(), reason)
        });
        let hidden =
            self.chosen.hidden.iter().map(|(skill, by)| (skill.place(), format!("{by} has the same name")));
        let left = self.found.iter().map(|left| (left.path.display().to_string(), left.reason.clone()));
        untrusted.chain(hidden).chain(left).collect()
    }
}
