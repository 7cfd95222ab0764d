//! The resources: references, pages of findings, and a list of all in the form of llms.txt.
//!
//! All are part of the program, so that they are the same for everybody and stay true as long as it runs.

use pack_mi::knowledge::{Library, LookupError};
use rmcp::model::{CacheScope, ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use synapse_lang::pages::{self, Page};

use crate::commands::explain;
use crate::commands::knowledge::export;
use crate::render::findings::text::at_run_time;

/// The list of all references.
const LLMS: &str = "mica://llms.txt";
/// What comes before the name of a reference.
const REFERENCE: &str = "mica://reference/";
/// What comes before the code of a finding.
const FINDING: &str = "mica://finding/";
const MARKDOWN: &str = "text/markdown";
/// How long a resource stays true: as long as the program is not replaced.
const FRESH_MS: u64 = 60 * 60 * 1000;

/// The forms of addresses, as clients complete them.
pub const TEMPLATES: [(&str, &str, &str, &str); 3] = [
    (
        "mica://reference/{name}",
        "reference",
        "A reference",
        "A reference document on Synapse and Micro Integrator, whole.",
    ),
    (
        "mica://reference/{name}/{section}",
        "reference-section",
        "A section of a reference",
        "One section of a reference document: a few hundred tokens instead of thousands.",
    ),
    (
        "mica://finding/{code}",
        "finding",
        "A finding",
        "What a finding of `check` means, with a bad and a good example.",
    ),
];

/// The address of a page.
pub fn finding_uri(page: &Page) -> String {
    format!("{FINDING}{}", page.code)
}

/// All resources that are listed. Sections are found through a template.
pub fn all() -> Vec<Resource> {
    let list = Resource::new(LLMS, "llms.txt")
        .with_title("All references")
        .with_description("The references on Synapse and Micro Integrator, with what they are about.")
        .with_mime_type(MARKDOWN);
    let references = Library::builtin().references().iter().map(|one| {
        let needs = one.runtimes.words().map_or_else(String::new, |words| format!(" True for MI {words}."));
        Resource::new(format!("{REFERENCE}{}", one.name), one.name.clone())
            .with_title(one.title.clone())
            .with_description(format!("{}{needs} {} tokens.", one.description, one.tokens()))
            .with_mime_type(MARKDOWN)
            .with_size(one.markdown().len() as u64)
    });
    let findings = pages::all().iter().map(|page| {
        Resource::new(finding_uri(page), page.code.to_string())
            .with_title(format!("{} {}", page.code, page.name))
            .with_description(page.title)
            .with_mime_type(MARKDOWN)
            .with_size(finding_page(page).len() as u64)
    });
    std::iter::once(list).chain(references).chain(findings).collect()
}

/// The forms of addresses.
pub fn templates() -> Vec<ResourceTemplate> {
    let made = TEMPLATES.iter().map(|(uri, name, title, description)| {
        ResourceTemplate::new(*uri, *name)
            .with_title(*title)
            .with_description(*description)
            .with_mime_type(MARKDOWN)
    });
    made.collect()
}

/// Reads one.
///
/// # Errors
/// When there is none at that address, with what could be meant.
pub fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = |why: String| ErrorData::resource_not_found(why, Some(json!({ "uri": uri })));
    let text = if uri == LLMS {
        export::list(|one| format!("{REFERENCE}{}", one.name))
    } else if let Some(name) = uri.strip_prefix(REFERENCE) {
        let selector = name.trim_end_matches('/').replacen('/', ":", 1);
        let selected = Library::builtin().select(&selector);
        selected.map_err(|error: LookupError| missing(error.to_string()))?.markdown()
    } else if let Some(code) = uri.strip_prefix(FINDING) {
        let page = pages::find(code);
        let unknown = || explain::unknown(code).to_string().replace(" `mica explain --list` lists all", "");
        finding_page(page.ok_or_else(|| missing(unknown()))?)
    } else {
        return Err(missing(format!(
            "there is no resource {uri}; there are {LLMS}, {REFERENCE}NAME, {REFERENCE}NAME/SECTION and {FINDING}CODE"
        )));
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Public))
}

/// The page of a finding, with what stands above it.
pub fn finding_page(page: &Page) -> String {
    let class = at_run_time(page.class).map_or_else(String::new, |words| format!("At run time: {words}\n"));
    format!("{} {} ({})\n{class}\n{}\n", page.code, page.name, page.severity.word(), page.body.trim())
}
