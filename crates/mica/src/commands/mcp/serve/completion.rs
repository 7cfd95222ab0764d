//! What an argument of a prompt or of a resource's address could be.

use pack_mi::knowledge::Library;
use rmcp::model::{CompleteRequestParams, Reference};
use synapse_lang::pages;

use super::site::Site;

/// The values that fit, those that begin with what was typed first.
pub fn complete(site: &Site, request: &CompleteRequestParams) -> Vec<String> {
    let typed = request.argument.value.as_str();
    let of = |name: &str| {
        request.context.as_ref().and_then(|context| context.get_argument(name)).map(String::as_str)
    };
    let all = match (&request.r#ref, request.argument.name.as_str()) {
        (Reference::Resource(template), "name") if template.uri.starts_with("mica://reference/") => {
            Library::builtin().references().iter().map(|one| one.name.clone()).collect()
        }
        (Reference::Resource(template), "section") if template.uri.starts_with("mica://reference/") => {
            sections(of("name"))
        }
        (Reference::Resource(template), "code") if template.uri.starts_with("mica://finding/") => {
            return codes(typed);
        }
        (Reference::Prompt(_), "file" | "path") => files(site),
        _ => Vec::new(),
    };
    fitting(all, typed)
}

/// The sections of a reference; of all when it is not known which.
fn sections(reference: Option<&str>) -> Vec<String> {
    let chosen = reference.and_then(|name| Library::builtin().select(name).ok());
    let references = Library::builtin().references().iter();
    let mut names: Vec<String> = match chosen {
        Some(selected) => selected.reference.sections.iter().map(|one| one.name.clone()).collect(),
        None => references.flat_map(|one| one.sections.iter().map(|one| one.name.clone())).collect(),
    };
    if chosen.is_none() {
        names.sort();
        names.dedup();
    }
    names
}

/// Codes, by their own beginning or by words of their names.
fn codes(typed: &str) -> Vec<String> {
    let lower = typed.to_lowercase();
    let all = pages::all().iter();
    let fits = |page: &&pages::Page| {
        page.code.to_string().to_lowercase().contains(&lower) || page.name.contains(&lower)
    };
    all.filter(fits).map(|page| page.code.to_string()).collect()
}

/// The artifacts of the project.
fn files(site: &Site) -> Vec<String> {
    let Ok(Some(root)) = site.project_root(None) else { return Vec::new() };
    let names =
        site.with_project(|project| project.files().map(|(name, _)| name.to_owned()).collect::<Vec<_>>());
    let mut shown: Vec<String> =
        names.unwrap_or_default().iter().map(|name| site.shown(&root.join(name))).collect();
    shown.sort();
    shown
}

fn fitting(all: Vec<String>, typed: &str) -> Vec<String> {
    let lower = typed.to_lowercase();
    let (mut first, rest): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|one| one.to_lowercase().starts_with(&lower));
    first.extend(rest.into_iter().filter(|one| one.to_lowercase().contains(&lower)));
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_comes_first() {
        let all = || ["beta", "alphabet", "bet", "gamma"].map(str::to_owned).to_vec();
        assert_eq!(fitting(all(), "bet"), ["beta", "bet", "alphabet"]);
        assert_eq!(fitting(all(), "BET"), ["beta", "bet", "alphabet"]);
        assert_eq!(fitting(all(), ""), all());
        assert_eq!(fitting(all(), "x"), Vec::<String>::new());
    }
}
