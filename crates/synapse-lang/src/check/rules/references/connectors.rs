//! Operations of connectors that the project does not depend on, and misspelt prefixes of those it does.

mod published;

use std::collections::HashSet;

use crate::check::walk::Role;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::near::nearest;
use crate::project::Project;
use crate::syntax::Element;

const CONNECTOR: u16 = 912;

/// Operations without their connector.
pub(super) struct Connectors;

impl Rule for Connectors {
    fn codes(&self) -> &'static [u16] {
        &[CONNECTOR]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let Some(project) = subject.project.filter(|one| one.is_closed()) else { return };
        let mut listed = None;
        let mut told = HashSet::new();
        for placed in subject.tree.placed().iter().filter(|one| one.role == Role::Operation) {
            let element = placed.element;
            let Some((prefix, operation)) = element.local().split_once('.') else { continue };
            if told.contains(prefix)
                || subject.model.mediator(prefix).is_some()
                || project.connector_operations(prefix).is_some()
            {
                continue;
            }
            let listed: &Vec<Listed> = listed.get_or_insert_with(|| Listed::all(project));
            if listed.iter().any(|one| one.fits(prefix)) {
                continue;
            }
            if let Some(meant) = meant(prefix, listed) {
                let message = format!(
                    "pom.xml lists no connector {prefix}; did you mean {meant}? \
                     An operation of an unknown connector does not deploy"
                );
                let fix = rename(element, &format!("{meant}.{operation}"));
                findings.report(CONNECTOR, element.name_span(), message).fix_if(fix);
                continue;
            }
            // One connector is missed once, however many of its operations are used.
            told.insert(prefix);
            let message = format!(
                "<{}> is an operation of a connector that pom.xml does not list; \
                 without it the artifact does not deploy",
                element.name()
            );
            findings.report(CONNECTOR, element.name_span(), message);
        }
    }
}

/// A connector that the project brings.
enum Listed {
    /// A published one: the prefix of its operations is known.
    Published(&'static str),
    /// One whose artifact is named as connectors are, after its prefix or nearly so.
    Named(String),
    /// Any other.
    Other(String),
}

impl Listed {
    fn all(project: &Project) -> Vec<Self> {
        let listed = project.poms().flat_map(|(_, facts)| &facts.connectors).map(|one| one.artifact.as_str());
        let files = project.other_files().filter_map(|path| path.strip_suffix(".zip"));
        let files = files.map(|path| without_version(path.rsplit('/').next().unwrap_or(path)));
        listed.chain(files).map(Self::of).collect()
    }

    fn of(artifact: &str) -> Self {
        let artifact = artifact.to_lowercase();
        let stem = ["mi-connector-", "mi-module-"].iter().find_map(|start| artifact.strip_prefix(start));
        let Some(stem) = stem.or_else(|| artifact.strip_suffix("-connector")) else {
            return Self::Other(artifact);
        };
        published::prefix(&artifact, stem).map_or_else(|| Self::Named(stem.to_owned()), Self::Published)
    }

    /// Whether operations with this prefix may be its own. Names of connectors that are not published and their
    /// prefixes are alike, not equal: beginning alike is enough, as long as it is not a slip.
    fn fits(&self, prefix: &str) -> bool {
        let prefix = prefix.to_lowercase();
        let begins_alike = |name: &str| name.contains(prefix.get(..3).unwrap_or(&prefix));
        match self {
            Self::Published(own) => own.eq_ignore_ascii_case(&prefix),
            Self::Named(stem) => {
                let is_slip = || nearest(&prefix, [stem.as_str()]).is_some();
                stem.contains(&prefix) || prefix.contains(stem) || begins_alike(stem) && !is_slip()
            }
            Self::Other(artifact) => begins_alike(artifact),
        }
    }
}

/// The prefix that was meant. That of another published connector is no slip.
fn meant<'a>(prefix: &str, listed: &'a [Listed]) -> Option<&'a str> {
    if published::is_prefix(prefix) {
        return None;
    }
    let known = listed.iter().filter_map(|one| match one {
        Listed::Published(own) => Some(*own),
        Listed::Named(stem) => Some(stem.as_str()),
        Listed::Other(_) => None,
    });
    let known: Vec<&str> = known.collect();
    let instead = published::instead_of(prefix).filter(|instead| known.contains(instead));
    instead.or_else(|| nearest(prefix, known))
}

/// Another name for an element, in both of its tags.
fn rename(element: Element<'_>, to: &str) -> Option<Fix> {
    let names = [Some(element.name_span()), element.close_name_span()];
    let edits = names.into_iter().flatten().map(|span| Edit::replace(span, to)).collect();
    element.prefix().is_none().then(|| Fix::review(format!("Change it to {to}"), edits))
}

/// The name of an archive without its version: `http-connector` of `http-connector-1.0.0`.
fn without_version(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((before, version)) if version.starts_with(|first: char| first.is_ascii_digit()) => before,
        _ => name,
    }
}
