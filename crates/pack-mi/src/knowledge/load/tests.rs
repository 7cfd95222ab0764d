//! What several selectors give, and that it stays bounded.

use super::*;

fn document(name: &str, head: &str, sections: &[(&str, &str, &str)]) -> String {
    let mut out = format!("+++\nname = \"{name}\"\ntitle = \"T {name}\"\ndescription = \"D.\"\n{head}");
    for (section, extra, _) in sections {
        let _ = write!(out, "[[section]]\nname = \"{section}\"\ndescription = \"S.\"\n{extra}");
    }
    out.push_str("+++\n");
    for (section, _, body) in sections {
        let _ = write!(out, "## {section}\n\n{body}\n\n");
    }
    out
}

fn library() -> Library {
    let long = "word ".repeat(3000);
    let files = [
        (
            "a.md",
            document("a", "", &[("one", "", "First."), ("two", "min_runtime = \"4.4.0\"\n", "Second.")]),
        ),
        ("b.md", document("b", "min_runtime = \"4.4.0\"\n", &[("one", "", "Of b.")])),
        ("c.md", document("c", "", &[("one", "", &long), ("two", "", &long), ("three", "", "Short.")])),
    ];
    let library = Library::read(files.iter().map(|(file, text)| (*file, text.as_str())));
    assert_eq!(library.bad(), []);
    library
}

#[track_caller]
fn check(selectors: &[&str], version: Option<&str>, expect: &str) {
    let version = version.map(|text| text.parse().unwrap());
    let text = match library().load(selectors, version) {
        Ok(loaded) => loaded.text,
        Err(errors) => errors.iter().map(|error| format!("error: {error}\n")).collect(),
    };
    assert_eq!(text, expect, "{selectors:?}");
}

#[test]
fn parts_and_wholes_are_given() {
    check(&["a:one"], None, "<reference name=\"a:one\" tokens=\"6\">\n## one\n\nFirst.\n</reference>\n");
    check(
        &["a", "a:one", "A"],
        Some("4.6.0"),
        "<reference name=\"a\" tokens=\"16\">\n# T a\n\n## one\n\nFirst.\n\n## two\n\nSecond.\n\n</reference>\n",
    );
}

#[test]
fn what_is_wrong_stands_beside_what_is_right() {
    check(
        &["a:one", "zebra"],
        None,
        "<reference name=\"a:one\" tokens=\"6\">\n## one\n\nFirst.\n</reference>\n[no reference `zebra`; there are: a, b, c]\n",
    );
    check(
        &["zebra", "a:three"],
        None,
        "error: no reference `zebra`; there are: a, b, c\nerror: `a` has no section `three`; its sections are: one, two\n",
    );
    check(&[], None, "error: nothing was asked for; ask for `name` or `name:section`. There are: a, b, c\n");
}

#[test]
fn runtimes_count() {
    check(&["b"], Some("4.3.0"), "error: `b` needs MI 4.4.0 or later; this project says 4.3.0 in pom.xml\n");
    check(
        &["a:two"],
        Some("4.3.0"),
        "error: `a:two` needs MI 4.4.0 or later; this project says 4.3.0 in pom.xml\n",
    );
    check(
        &["b:one"],
        None,
        "<reference name=\"b:one\" tokens=\"7\">\n[true for MI 4.4.0 or later; which runtime this project has is not known]\n\
         ## one\n\nOf b.\n</reference>\n",
    );
    check(
        &["a"],
        None,
        "<reference name=\"a\" tokens=\"16\">\n# T a\n\n## one\n\nFirst.\n\n\
         [the next section is true for MI 4.4.0 or later]\n## two\n\nSecond.\n\n</reference>\n",
    );
    check(
        &["a"],
        Some("4.3.0"),
        "<reference name=\"a\" tokens=\"16\">\n# T a\n\n## one\n\nFirst.\n\n\
         [the section two is left out: it needs MI 4.4.0 or later]\n\n</reference>\n",
    );
}

#[test]
fn results_are_never_so_long_that_they_are_spilled() {
    let loaded = library().load(&["c", "a:one"], None).unwrap();
    assert!(loaded.text.len() < MOST_BYTES + 1024, "{}", loaded.text.len());
    assert!(MOST_BYTES < mica_context::spill::SpillLimits::default().inline);
    let tail: String =
        loaded.text.lines().skip_while(|line| *line != "## three").collect::<Vec<_>>().join("\n");
    assert_eq!(
        tail,
        "## three\n\nShort.\n\n</reference>\n<reference name=\"a:one\" tokens=\"6\">\n## one\n\nFirst.\n</reference>\n\
         [too long for one answer; ask separately for c:two (3304 tokens)]"
    );
}
