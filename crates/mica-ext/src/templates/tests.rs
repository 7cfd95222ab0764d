//! Tests of templates as files and as commands.

use super::*;

#[allow(clippy::disallowed_methods, reason = "a test makes its files")]
fn put(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

fn names(found: &Found) -> Vec<(&str, &str, &str)> {
    let all = found.templates.iter();
    all.map(|template| (template.name.as_str(), template.description.as_str(), template.text.as_str()))
        .collect()
}

fn reasons(found: &Found) -> Vec<(String, &str)> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    found.left_out.iter().map(|left| (name(&left.path), left.reason.as_str())).collect()
}

#[test]
fn files_become_commands() {
    let (_kept, root) = place();
    put(
        &root,
        "review.md",
        "---\ndescription: Reviews a change: all of it\nargument-hint: \"[branch]\"\n---\nReview $1.\n",
    );
    put(
        &root,
        "plain.md",
        "# Say something that is long enough to be cut somewhere near its very end\n\nMore.",
    );
    put(&root, "notes.txt", "no");
    put(&root, "two words.md", "no");
    put(&root, "empty.md", "---\ndescription: d\n---\n\n");
    put(&root, "binary.md", "a\0b");
    put(&root, "large.md", &"x".repeat(TEXT as usize + 1));
    put(&root.join("folder"), "inner.md", "no");
    fs::create_dir_all(root.join("odd.md")).unwrap();
    let found = read(&root, Whose::User, None);
    assert_eq!(
        names(&found),
        [
            (
                "plain",
                "Say something that is long enough to be cut somewhere …",
                "# Say something that is long enough to be cut somewhere near its very end\n\nMore."
            ),
            ("review", "[branch] Reviews a change: all of it", "Review $1."),
        ]
    );
    assert_eq!(
        reasons(&found),
        [
            ("binary.md".to_owned(), "it is no text"),
            ("empty.md".to_owned(), "it says nothing"),
            ("large.md".to_owned(), "it has 65537 bytes; 65536 are the most"),
            ("odd.md".to_owned(), "it is no file"),
            (
                "two words.md".to_owned(),
                "its name is no command: use letters, digits, hyphens and underscores"
            ),
        ]
    );
    assert_eq!(read(&root.join("none"), Whose::User, None), Found::default());
}

#[test]
fn links_do_not_lead_out_of_a_project_and_names_are_taken_once() {
    let (_kept, root) = place();
    let (project, user) = (root.join("project"), root.join("user"));
    put(&user, "same.md", "user's");
    put(&user, "help.md", "mine");
    put(&project, "same.md", "project's");
    std::os::unix::fs::symlink(user.join("help.md"), project.join("out.md")).unwrap();
    let found = read(&project, Whose::Project, Some(&project));
    assert_eq!(reasons(&found), [("out.md".to_owned(), "it is a link that leads out of the project")]);
    let all = [found.templates, read(&user, Whose::User, None).templates].concat();
    let chosen = choose(all, &|name| name == "help");
    assert_eq!(names(&chosen), [("same", "project's", "project's")]);
    let same = format!("{} is /same already", project.join("same.md").display());
    assert_eq!(
        reasons(&chosen),
        [
            ("help.md".to_owned(), "/help is a command already; give the file another name"),
            ("same.md".to_owned(), same.as_str())
        ]
    );
}

#[tokio::test]
async fn a_command_says_the_text() {
    let (_kept, root) = place();
    put(&root, "fix.md", "Fix $1 by ${2:-tomorrow}.");
    let found = read(&root, Whose::User, None);
    let said = found.templates[0].run("'the door'").await;
    assert_eq!(said, Ok(Typed::Instead("Fix the door by tomorrow.".to_owned())));
}
