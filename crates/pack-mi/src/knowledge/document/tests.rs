//! Documents are read, and what is wrong with one is told with its line.

use super::*;

const GOOD: &str = "+++\nname = \"a\"\ntitle = \"The A\"\ndescription = \"What A is.\"\naliases = [\"b\"]\n\
min_runtime = \"4.4.0\"\n\n[[section]]\nname = \"first_part\"\ndescription = \"One.\"\n\n[[section]]\n\
name = \"second\"\ndescription = \"Two.\"\nmax_runtime = \"4.5.0\"\n+++\nHello.\n\n## First part\n\nText.\n\n\
```text\n## no heading\n```\n\n## Second\n\n### Below\n\n{{finding SYN0101}}\n";

/// What is wrong with the good document after a change.
fn check(from: &str, to: &str, expect: &[&str]) {
    assert!(GOOD.contains(from), "{from}");
    let (_, bad) = read("a.md", &GOOD.replacen(from, to, 1));
    let shown: Vec<String> = bad.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expect, "{from} -> {to}");
}

#[test]
fn a_document_is_read() {
    let (reference, bad) = read("x/a.md", GOOD);
    assert_eq!(bad, []);
    let reference = reference.unwrap();
    assert_eq!((reference.name.as_str(), reference.introduction.as_str()), ("a", "Hello."));
    let names: Vec<&str> = reference.sections.iter().map(|section| section.name.as_str()).collect();
    assert_eq!(names, ["first_part", "second"]);
    assert_eq!(reference.sections[0].body, "Text.\n\n```text\n## no heading\n```");
    assert!(reference.sections[1].body.starts_with("### Below\n\n- **SYN0101** `"));
    assert_eq!(reference.sections[1].runtimes.words().as_deref(), Some("4.4.0 to 4.5.0"));
    assert!(reference.markdown().starts_with("# The A\n\nHello.\n\n## First part\n\nText."));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    check("Hello", "Bye", &[]);
    check(
        "+++\nname",
        "---\nname",
        &["a.md:1: the file does not begin with a line of three plus signs (+++)"],
    );
    check("+++\nHello", "Hello", &["a.md:1: the head has no end: a second line of three plus signs (+++)"]);
    check("name = \"a\"", "name = \"c\"", &["a.md:2: the head says the name is `c`; the file must be c.md"]);
    check(
        "title",
        "titel",
        &[
            "a.md:3: the head cannot be read: unknown field `titel`, expected one of `name`, `title`, `description`, `aliases`, `min_runtime`, `max_runtime`, `section`",
        ],
    );
    check("[\"b\"]", "[\"B b\"]", &["a.md:5: `B b` is no name: names are lower case with hyphens"]);
    check(
        "4.4.0",
        "later",
        &["a.md:6: the head cannot be read: \"later\" is not a version: versions look like 4.4.0"],
    );
    check(
        "## First part",
        "## First",
        &[
            "a.md:19: the heading `First` spells the section `first`, which the head does not declare",
            "a.md:1: the section `first_part` is declared in the head and has no heading",
        ],
    );
    check(
        "## Second",
        "## First part",
        &[
            "a.md:27: the section `first_part` is there twice",
            "a.md:1: the section `second` is declared in the head and has no heading",
        ],
    );
    check(
        "Text.",
        "# Text",
        &["a.md:21: the title stands in the head; sections have ## and parts of sections ###"],
    );
    check(
        "heading\n```",
        "heading\n",
        &[
            "a.md:23: the block has no end: a line of backticks",
            "a.md:1: the section `second` is declared in the head and has no heading",
        ],
    );
    check("SYN0101", "SYN9999", &["a.md:31: `finding` knows no `SYN9999`"]);
}

#[test]
fn sections_stand_in_their_order() {
    let swapped = GOOD
        .replace("## First part", "## X")
        .replace("## Second", "## First part")
        .replace("## X", "## Second");
    let (_, bad) = read("a.md", &swapped);
    assert_eq!(
        bad[0].to_string(),
        "a.md:19: the section `second` stands where the head declares `first_part`"
    );
}

#[test]
fn names_are_spelled_alike() {
    for (text, expect) in
        [("Type coercion", "type_coercion"), ("`and`/`or` — rank!", "and_or_rank"), ("x", "x"), ("", "")]
    {
        assert_eq!(spelled(text, '_'), expect);
    }
}
