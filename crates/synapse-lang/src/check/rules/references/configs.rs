//! Configurables that `config.properties` does not declare.

use crate::check::value::Value;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};
use crate::expr::ast::{self, NodeKind};
use crate::expr::parser;
use crate::model::Place;
use crate::near::nearest;
use crate::text::Span;

const CONFIG: u16 = 911;

/// `configs.x` and `${configs.x}` without a declaration.
pub(super) struct Configs;

impl Rule for Configs {
    fn codes(&self) -> &'static [u16] {
        &[CONFIG]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if !value.text().contains("configs") || subject.project.is_none() {
            return;
        }
        if value.place == Place::Resolved {
            let marker = "${configs.";
            let Some(rest) = value.text().strip_prefix(marker) else { return };
            let Some((name, _)) = rest.split_once('}') else { return };
            // Other names are taken as they are, which another rule tells.
            if name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_') {
                let span = value.source_span(marker.len()..marker.len() + name.len());
                judge(subject, name, span, Class::Deploy, findings);
            }
            return;
        }
        for range in value.expressions() {
            let Ok(expression) = parser::parse(value.text().get(range.clone()).unwrap_or_default()) else {
                continue;
            };
            let guarded = super::super::variables::guarded(&expression);
            expression.root.walk(&mut |node| {
                let NodeKind::Lookup(lookup) = &node.kind else { return };
                let name = &lookup.name;
                if lookup.place == ast::Place::Config && !guarded.contains(&name.value.as_str()) {
                    let start = range.start + name.span.start as usize;
                    let span = value.source_span(start..range.start + name.span.end as usize);
                    judge(subject, &name.value, span, Class::Empty, findings);
                }
            });
        }
    }
}

fn judge(subject: &Subject<'_>, name: &str, span: Span, class: Class, findings: &mut Findings) {
    let Some(project) = subject.project else { return };
    if project.declares_config(name) != Some(false) {
        return;
    }
    let meant = nearest(name, project.config_names());
    let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    let message = format!("config.properties does not declare {name}{hint}");
    let fix = meant.map(|meant| Fix::review(format!("Read {meant}"), vec![Edit::replace(span, meant)]));
    let severity = if class == Class::Deploy { Severity::Error } else { Severity::Warning };
    findings.report(CONFIG, span, message).class(class).severity(severity).fix_if(fix);
}
