//! Tests of what a file says of a skill, and of what departs from the format.

use super::*;

fn read(head: &str, called: &str) -> Result<Skill, String> {
    Skill::read(head, called, Kept::Folder(PathBuf::from("/s").join(called)), Whose::User)
}

fn check(head: &str, called: &str, name: &str, warnings: &[&str]) {
    let skill = read(head, called).unwrap();
    assert_eq!(skill.name, name, "{head:?}");
    assert_eq!(skill.warnings, warnings, "{head:?}");
}

#[test]
fn what_the_format_wants_is_taken_without_a_word() {
    let head = "---\nname: pdf-tools\ndescription: Reads PDFs. Use for forms.\nlicense: MIT\ncompatibility: Needs python3\nmetadata:\n  author: me\n  version: \"1.0\"\nallowed-tools: Bash(python3 *) Read\n---\n# Body";
    let skill = read(head, "pdf-tools").unwrap();
    assert_eq!(skill.warnings, Vec::<String>::new());
    assert_eq!(
        (skill.name.as_str(), skill.description.as_str()),
        ("pdf-tools", "Reads PDFs. Use for forms.")
    );
    assert_eq!(
        (skill.license.as_deref(), skill.compatibility.as_deref()),
        (Some("MIT"), Some("Needs python3"))
    );
    assert_eq!(skill.metadata.get("version").map(String::as_str), Some("1.0"));
    assert_eq!(skill.allowed_tools, ["Bash(python3 *)", "Read"]);
    assert!(!skill.only_people && skill.tools.is_empty());
    assert_eq!(skill.place(), "/s/pdf-tools/SKILL.md");
    // The first seed of the format: tools as a list.
    let old = read("---\nname: data\ndescription: d\ntools:\n  - query\n  - chart\ndisable-model-invocation: true\n---\n", "data").unwrap();
    assert_eq!((old.tools, old.only_people), (vec!["query".to_owned(), "chart".to_owned()], true));
}

#[test]
fn what_departs_from_it_is_told() {
    check(
        "---\nname: other\ndescription: d\n---\n",
        "here",
        "other",
        &["its name is other, and its folder is called \"here\"; they should be the same"],
    );
    check(
        "---\ndescription: d\n---\n",
        "My Skill",
        "my-skill",
        &["it has no name; it is called as its folder is"],
    );
    check(
        "---\nname: My_Skill\ndescription: d\n---\n",
        "x",
        "my-skill",
        &[
            "the name \"My_Skill\" has something else in it than small letters, digits and hyphens; it is called my-skill",
        ],
    );
    check(
        "---\nname: -a\ndescription: d\n---\n",
        "a",
        "a",
        &["the name \"-a\" begins or ends with a hyphen; it is called a"],
    );
    check(
        "---\nname: a--b\ndescription: d\n---\n",
        "a-b",
        "a-b",
        &["the name \"a--b\" has two hyphens in a row; it is called a-b"],
    );
    check(
        "---\nname: 日本\ndescription: d\n---\n",
        "jp",
        "jp",
        &[
            "the name \"日本\" has something else in it than small letters, digits and hyphens; it is called jp",
        ],
    );
    check(
        "---\nname: a\ndescription: d\ncolour: red\n---\n",
        "a",
        "a",
        &["fields that nobody knows: colour"],
    );
    let long = "x".repeat(DESCRIPTION + 1);
    let skill = read(&format!("---\nname: a\ndescription: {long}\n---\n"), "a").unwrap();
    assert_eq!(
        skill.warnings,
        ["the description has 1025 letters; 1024 are the most, and the rest is left out"]
    );
    assert_eq!(skill.description.chars().count(), DESCRIPTION);
}

#[test]
fn without_a_description_it_is_none() {
    for (head, reason) in [
        (
            "# no front matter",
            "it does not begin with front matter: a line `---`, the fields, and a line `---`",
        ),
        ("---\nname: a\n---\n", "it has no description, so nobody would know when to use it"),
        (
            "---\nname: a\ndescription: '  '\n---\n",
            "it has no description, so nobody would know when to use it",
        ),
        ("---\nname: a\0\n---\n", "it is no text"),
        ("---\ndescription: d\n---\n", "neither it nor its folder has a name that can be used"),
    ] {
        assert_eq!(read(head, "??").unwrap_err(), reason, "{head:?}");
    }
}
