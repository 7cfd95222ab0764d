//! How documents are cut into rows, and how limits hold.

use super::*;

const DOCUMENT: &str = "+++\nname = \"a\"\ntitle = \"Arithmetic\"\ndescription = \"What operators do.\"\n\
[[section]]\nname = \"sums\"\ndescription = \"Adding.\"\n\n[[section]]\nname = \"later\"\ndescription = \"Newer things.\"\n\
min_runtime = \"4.4.0\"\n+++\nAn introduction.\n\n## Sums\n\nWhat adding gives.\n\n| operands | `+` |\n|---|---|\n\
| integer with double | double |\n| string with string | string |\n\n- `FORCE_SC_ACCEPTED` answers 202.\n- Another item\n\
  that goes on.\n\n### Below\n\n```context\n{}\n```\n```expr\n# a sum\n1 + 1 -> 2\n'a' + 'b' -> \"ab\"\n```\n```xml\n<log/>\n```\n\n\
## Later\n\nA `scatter-gather` row.\n";

fn library() -> Library {
    let library = Library::read([("a.md", DOCUMENT)]);
    assert_eq!(library.bad(), []);
    library
}

#[test]
fn documents_are_cut_into_rows() {
    let library = library();
    let rows = rows::of(&library.references()[0]);
    let shown: Vec<String> = rows
        .iter()
        .map(|row| format!("{}{}{}", row.section_name(), row.under.join("/"), row.shown().replace('\n', "~")))
        .collect();
    assert_eq!(
        shown,
        [
            "Arithmetic: What operators do.",
            "An introduction.",
            "sumsSums: Adding.",
            "sumsWhat adding gives.",
            "sums| operands | `+` |~|---|---|~| integer with double | double |",
            "sums| operands | `+` |~|---|---|~| string with string | string |",
            "sums- `FORCE_SC_ACCEPTED` answers 202.",
            "sums- Another item~that goes on.",
            "sumsBelow# a sum~1 + 1 -> 2",
            "sumsBelow'a' + 'b' -> \"ab\"",
            "sumsBelow```xml~<log/>~```",
            "laterLater: Newer things.",
            "laterA `scatter-gather` row.",
        ]
    );
}

#[test]
fn the_best_row_is_first() {
    let library = library();
    let index = Index::of(&library);
    let first = |question: &str| {
        let hits = index.search(question, None, SearchLimits::default());
        hits.hits.first().map(|hit| hit.text.lines().last().unwrap_or_default().to_owned())
    };
    assert_eq!(first("integer + double").as_deref(), Some("| integer with double | double |"));
    assert_eq!(first("SC_ACCEPTED").as_deref(), Some("- `FORCE_SC_ACCEPTED` answers 202."));
    assert_eq!(first("Scatter Gather").as_deref(), Some("A `scatter-gather` row."));
    assert_eq!(first("'a' + 'b'").as_deref(), Some("'a' + 'b' -> \"ab\""));
    assert_eq!(first("kubernetes"), None);
    assert_eq!(first(""), None);
}

#[test]
fn limits_and_runtimes_hold() {
    let library = library();
    let index = Index::of(&library);
    let none = SearchLimits { hits: 1, tokens: 1_000, of_one_section: 5 };
    let hits = index.search("string", None, none);
    assert_eq!((hits.hits.len(), hits.more), (1, 0));
    let hits = index.search("integer string", None, none);
    assert_eq!((hits.hits.len(), hits.more), (1, 1));
    let few = SearchLimits { hits: 9, tokens: 1, of_one_section: 5 };
    assert_eq!(index.search("integer string", None, few).hits.len(), 1);
    let one = SearchLimits { hits: 9, tokens: 1_000, of_one_section: 1 };
    assert_eq!(index.search("integer string", None, one).hits.len(), 1);
    let old = index.search("scatter-gather", Some(Version::new(4, 3, 0)), SearchLimits::default());
    assert_eq!((old.hits.len(), old.other_runtimes), (0, 1));
}
