//! Going from a name to what it means, and back.

use gen_lsp_types::{DocumentHighlight, DocumentHighlightKind, Location};

use crate::target::{self, Target};
use crate::view::View;

/// Where what a place names is defined. A variable is defined wherever it is written.
pub(crate) fn definition(view: &View<'_>, offset: u32) -> Vec<Location> {
    let Some((target, _)) = target::at(view, offset) else { return Vec::new() };
    if let Target::File(path) = &target {
        return target::start_of(view, path).into_iter().collect();
    }
    if matches!(target, Target::Foreign(..)) {
        return Vec::new();
    }
    let sites = target::sites(view, &target);
    sites.iter().filter(|site| site.write).map(|site| site.location(view)).collect()
}

/// All places that name what a place names.
pub(crate) fn references(view: &View<'_>, offset: u32, with_definition: bool) -> Vec<Location> {
    let Some((target, _)) = target::at(view, offset) else { return Vec::new() };
    let sites = target::sites(view, &target);
    // A variable is written in many places, none of which is its declaration.
    let counts = |write: bool| !write || with_definition || matches!(target, Target::Variable(_));
    sites.iter().filter(|site| counts(site.write)).map(|site| site.location(view)).collect()
}

/// The places in the same document.
pub(crate) fn highlights(view: &View<'_>, offset: u32) -> Vec<DocumentHighlight> {
    let Some((target, _)) = target::at(view, offset) else { return Vec::new() };
    let sites = target::sites(view, &target);
    let here = sites.iter().filter(|site| site.path == view.path);
    here.map(|site| DocumentHighlight {
        range: view.range(site.span),
        kind: Some(if site.write { DocumentHighlightKind::Write } else { DocumentHighlightKind::Read }),
    })
    .collect()
}
