//! Every reference reads well, and every example in it holds.

use pack_mi::knowledge::prove::prove;
use pack_mi::knowledge::{Library, fences};

#[test]
fn every_document_can_be_read() {
    let bad: Vec<String> = Library::builtin().bad().iter().map(ToString::to_string).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn every_example_holds() {
    let mut failures = Vec::new();
    for (file, text) in Library::sources() {
        failures.extend(prove(file, text).failures.iter().map(ToString::to_string));
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Documents that are part of the program, each with a change that makes an example in it wrong.
const MUTATIONS: &[(&str, &str, &str)] = &[
    ("synapse-expression-spec.md", "payload.n + 1 -> 2\n", "payload.n + 1 -> 3\n"),
    ("synapse-expression-spec.md", "5 -3 !! SYN0304", "5 - 3 !! SYN0304"),
    ("synapse-expression-spec.md", "vars['a.b'] -> crash", "vars[\"a.b\"] -> crash"),
    ("synapse-expression-spec.md", "xml bad=SYN0201", "xml"),
    (
        "synapse-expression-spec.md",
        "<filter xpath=\"${payload.total &gt; 100}\">",
        "<filter xpth=\"${payload.total &gt; 100}\">",
    ),
    ("synapse-variable-resolution.md", "{\"id\": \"${vars.id}\"", "{\"id\": \"${vars.id\""),
    ("synapse-mediator-expression-matrix.md", "xml bad=SYN0701", "xml bad=SYN0702"),
    ("synapse-edge-cases.md", "min_runtime = \"4.4.0\"", "min_runtime = \"4.3.0\""),
    ("synapse-edge-cases.md", "{{finding SYN0401}}", "{{finding SYN0400}}"),
    ("synapse-edge-cases.md", "## Null gotchas", "## Nil gotchas"),
];

#[test]
fn an_example_that_is_made_wrong_is_found() {
    for (file, from, to) in MUTATIONS {
        let text = Library::sources()
            .iter()
            .find(|(name, _)| name == file)
            .map(|(_, text)| *text)
            .unwrap_or_default();
        assert!(text.contains(from), "{file} has no {from:?}");
        assert_ne!(prove(file, &text.replacen(from, to, 1)).failures, [], "{file}: {from:?} -> {to:?}");
    }
}

/// A document with every example made wrong, and the lines on which each of them must then fail.
fn all_wrong(text: &str) -> (String, Vec<std::ops::RangeInclusive<usize>>) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut expected = Vec::new();
    for fence in fences(text) {
        let length = fence.text.lines().count();
        // Lines count from 1, and the block begins with the line behind its opening.
        let (first, last) = (fence.line, fence.line + length - 1);
        match fence.language.as_str() {
            "expr" => {
                for (at, line) in lines.iter_mut().enumerate().take(last + 1).skip(first) {
                    if line.trim().is_empty() || line.starts_with("# ") {
                        continue;
                    }
                    *line = match line.split_once(" -> ") {
                        Some((expression, _)) => format!("{expression} -> \"made wrong\""),
                        None => line.replace("!! SYN", "!! SYN9"),
                    };
                    expected.push(at + 1..=at + 1);
                }
            }
            "xml" if fence.option("bad").is_some() => {
                lines[first - 1] = lines[first - 1].replace("bad=SYN", "bad=SYN9");
                expected.push(first..=first);
            }
            "xml" | "json" => {
                let cut = lines[last].trim_end().len() - 1;
                lines[last].truncate(cut);
                expected.push(first..=last + 1);
            }
            _ => {}
        }
    }
    (lines.join("\n"), expected)
}

#[test]
fn every_single_example_can_fail() {
    let mut silent = Vec::new();
    for (file, text) in Library::sources() {
        let (wrong, expected) = all_wrong(text);
        assert_eq!(expected.len(), prove(file, text).tried, "{file}: not every example was made wrong");
        let failures = prove(file, &wrong).failures;
        for lines in expected {
            if !failures.iter().any(|failure| lines.contains(&failure.line)) {
                silent.push(format!("{file}:{}", lines.start()));
            }
        }
    }
    assert!(silent.is_empty(), "made wrong and not found: {}", silent.join(" "));
}

/// What must not be missing: a tool description and a prompt name these.
const PARTS: &[(&str, &[&str])] = &[
    (
        "synapse-expression-spec",
        &[
            "operators",
            "type_system",
            "type_coercion",
            "null_handling",
            "overflow",
            "literals",
            "identifiers",
            "jsonpath",
            "contexts",
        ],
    ),
    (
        "synapse-function-reference",
        &[
            "general_rules",
            "string",
            "math",
            "encoding",
            "type_check",
            "type_convert",
            "datetime",
            "access",
            "summary",
        ],
    ),
    (
        "synapse-variable-resolution",
        &[
            "overview",
            "payload",
            "variables",
            "headers",
            "properties",
            "parameters",
            "configs",
            "auto_numeric",
            "registry",
        ],
    ),
    (
        "synapse-mediator-expression-matrix",
        &[
            "patterns",
            "variable",
            "payloadfactory",
            "filter",
            "switch_mediator",
            "log",
            "foreach",
            "scatter_gather",
            "enrich",
            "header",
            "throwerror",
            "validate",
            "call",
            "db",
            "payload_state",
            "connectors",
        ],
    ),
    (
        "synapse-edge-cases",
        &[
            "type_gotchas",
            "null_gotchas",
            "xml_escaping",
            "expression_context",
            "payload_factory_gotchas",
            "error_catalog",
            "validated_patterns",
            "expression_v1_v2_coexistence",
            "json_payload_edge_cases",
            "anti_patterns",
        ],
    ),
];

#[test]
fn the_parts_are_there_and_of_a_size_to_load() {
    for (name, sections) in PARTS {
        let reference = Library::builtin().reference(name).unwrap_or_else(|| panic!("no {name}"));
        let there: Vec<&str> = reference.sections.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(there, *sections, "{name}");
    }
    for reference in Library::builtin().references() {
        let tokens = reference.tokens();
        assert!((1_000..=7_500).contains(&tokens), "{} has {tokens} tokens", reference.name);
        assert!(
            reference.markdown().len() < pack_mi::knowledge::MOST_BYTES,
            "{} is given in pieces",
            reference.name
        );
        for section in &reference.sections {
            assert!(
                section.tokens() <= 2_500,
                "{}:{} has {} tokens",
                reference.name,
                section.name,
                section.tokens()
            );
        }
    }
}

#[test]
fn the_index_is_short_enough_for_every_prompt() {
    let index = pack_mi::knowledge::index(None);
    let tokens = mica_context::tokens::of_text(&index);
    let references = Library::builtin().references().len() as u64;
    // 1,600 tokens for the seventeen references there are to be.
    assert!(tokens <= references * 1_600 / 17, "{tokens} tokens for {references} references\n{index}");
    let old = pack_mi::knowledge::index("4.3.0".parse().ok());
    assert!(!old.contains("synapse-expression-spec"), "{old}");
}

#[test]
fn every_name_finds_one_reference() {
    let library = Library::builtin();
    for reference in library.references() {
        for name in std::iter::once(&reference.name).chain(&reference.aliases) {
            let found = library.select(name).map(|one| one.reference.name.clone());
            assert_eq!(found.as_ref(), Ok(&reference.name), "{name}");
        }
        for section in &reference.sections {
            let selector = format!("{}:{}", reference.name, section.name);
            assert_eq!(library.select(&selector).map(|one| one.to_string()).as_ref(), Ok(&selector));
        }
    }
}
