//! Tests of where skills are looked for and what counts as one.

use std::os::unix::fs::symlink;

use super::*;

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    #[allow(clippy::disallowed_methods, reason = "a test makes its files")]
    fs::write(path, text).unwrap();
}

fn skill(root: &Path, folder: &str, name: &str) {
    put(
        root,
        &format!("{folder}/SKILL.md"),
        &format!("---\nname: {name}\ndescription: about {name}\n---\nBody of {name}\n"),
    );
}

/// Names and places of what is found, below the folder, and what is left out.
fn check(root: &Path, roots: &[Root], skills: &[(&str, &str)], left_out: &[(&str, &str)]) {
    let found = find(roots);
    let below = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let names: Vec<(String, String)> =
        found.skills.iter().map(|skill| (skill.name.clone(), below(&skill.file().unwrap()))).collect();
    let names: Vec<(&str, &str)> =
        names.iter().map(|(name, place)| (name.as_str(), place.as_str())).collect();
    assert_eq!(names, skills);
    let left: Vec<(String, String)> =
        found.left_out.iter().map(|left| (below(&left.path), left.reason.clone())).collect();
    let left: Vec<(&str, &str)> =
        left.iter().map(|(path, reason)| (path.as_str(), reason.as_str())).collect();
    assert_eq!(left, left_out);
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

#[test]
fn a_project_is_looked_at_from_the_folder_up_to_its_root() {
    let (_kept, top) = folder();
    let repository = top.join("outer/repository");
    fs::create_dir_all(repository.join(".git")).unwrap();
    skill(&top, "outer/.agents/skills/outside", "outside");
    skill(&repository, ".agents/skills/far", "far");
    skill(&repository, "a/b/.claude/skills/near", "near");
    skill(&repository, "a/b/.mica/skills/nearest", "nearest");
    check(
        &repository,
        &of_project(&repository.join("a/b")),
        &[
            ("nearest", "a/b/.mica/skills/nearest/SKILL.md"),
            ("near", "a/b/.claude/skills/near/SKILL.md"),
            ("far", ".agents/skills/far/SKILL.md"),
        ],
        &[],
    );
    // Without a repository nothing above is looked at.
    let roots = of_project(&top.join("outer"));
    assert_eq!(
        roots.iter().map(|root| root.path.clone()).collect::<Vec<_>>(),
        OF_PROJECTS.map(|name| top.join("outer").join(name))
    );
}

#[test]
fn folders_that_are_skills_and_those_that_are_not() {
    let (_kept, config) = folder();
    skill(&config, "skills/one", "one");
    skill(&config, "skills/one/references/inner", "inner");
    skill(&config, "skills/group/two", "two");
    skill(&config, "skills/a/b/c/d/deep", "deep");
    skill(&config, "skills/.hidden/x", "x");
    skill(&config, "skills/node_modules/y", "y");
    put(&config, "skills/SKILL.md", "---\nname: root\ndescription: no\n---\n");
    put(&config, "skills/README.md", "no skill");
    put(&config, "skills/data.skill.md", "---\nname: data\ndescription: d\n---\n");
    put(&config, "skills/bad/SKILL.md", "no front matter");
    put(&config, "skills/binary/SKILL.md", "\0\u{1}");
    put(&config, "skills/large/SKILL.md", &"x".repeat(TEXT as usize + 1));
    fs::create_dir_all(config.join("skills/odd/SKILL.md")).unwrap();
    check(
        &config,
        &of_user(&config, None),
        &[
            ("data", "skills/data.skill.md"),
            ("two", "skills/group/two/SKILL.md"),
            ("one", "skills/one/SKILL.md"),
        ],
        &[
            (
                "skills/bad/SKILL.md",
                "it does not begin with front matter: a line `---`, the fields, and a line `---`",
            ),
            ("skills/binary/SKILL.md", "it is no text"),
            ("skills/large/SKILL.md", "it has 262145 bytes; 262144 are the most"),
            ("skills/odd/SKILL.md", "it is no file"),
        ],
    );
    assert_eq!(find(&of_user(&config.join("none"), Some(&config.join("none")))), Found::default());
}

#[test]
fn links_are_followed_once_and_not_out_of_a_project() {
    let (_kept, top) = folder();
    let (home, project) = (top.join("home"), top.join("project"));
    skill(&top, "elsewhere/shared", "shared");
    fs::create_dir_all(home.join(".agents/skills")).unwrap();
    fs::create_dir_all(project.join(".agents/skills")).unwrap();
    symlink(top.join("elsewhere/shared"), home.join(".agents/skills/shared")).unwrap();
    symlink(top.join("elsewhere/shared"), home.join(".agents/skills/shared-again")).unwrap();
    symlink(home.join(".agents/skills"), home.join(".agents/skills/loop")).unwrap();
    symlink("nowhere", home.join(".agents/skills/broken")).unwrap();
    check(&top, &of_user(&top.join("config"), Some(&home)), &[("shared", "elsewhere/shared/SKILL.md")], &[]);

    symlink(top.join("elsewhere/shared"), project.join(".agents/skills/out")).unwrap();
    fs::create_dir_all(project.join(".agents/skills/file")).unwrap();
    symlink(top.join("elsewhere/shared/SKILL.md"), project.join(".agents/skills/file/SKILL.md")).unwrap();
    skill(&project, "inside/kept", "kept");
    symlink(project.join("inside/kept"), project.join(".agents/skills/kept")).unwrap();
    check(
        &project,
        &of_project(&project),
        &[("kept", "inside/kept/SKILL.md")],
        &[
            (".agents/skills/file/SKILL.md", "it is a link that leads out of the project"),
            (".agents/skills/out", "it is a link that leads out of the project"),
        ],
    );
}

#[test]
fn a_head_may_end_in_the_middle_of_a_letter() {
    let (_kept, config) = folder();
    // The cut falls into an é, wherever it is.
    for more in 0..2 {
        let text = format!("---\nname: a\ndescription: d\n---\n{}{}", "x".repeat(more), "é".repeat(20_000));
        put(&config, "skills/a/SKILL.md", &text);
        check(&config, &of_user(&config, None), &[("a", "skills/a/SKILL.md")], &[]);
    }
}

#[test]
fn a_pipe_in_the_place_of_a_skill_holds_nobody_up() {
    let (_kept, top) = folder();
    skill(&top, "skills/good", "good");
    for place in ["skills/pipe", "p/.mica/skills/pipe"] {
        let folder = top.join(place);
        fs::create_dir_all(&folder).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, folder.join(FILE), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
    let gone = top.join("skills/gone");
    fs::create_dir_all(&gone).unwrap();
    symlink(top.join("nowhere"), gone.join(FILE)).unwrap();
    check(
        &top,
        &of_user(&top, None),
        &[("good", "skills/good/SKILL.md")],
        &[("skills/gone/SKILL.md", "it cannot be read"), ("skills/pipe/SKILL.md", "it is no file")],
    );
    check(&top, &of_project(&top.join("p")), &[], &[("p/.mica/skills/pipe/SKILL.md", "it is no file")]);
}
