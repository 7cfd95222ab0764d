//! What the boundary of a project lets through.

use super::*;

fn project(folder: &Path, home: &Path) -> Boundary {
    let around = Around { home: Some(home), environment: &BTreeMap::new(), temporary: Path::new("/tmp") };
    Boundary::project(folder, &around, &Places::builtin().unwrap()).unwrap()
}

#[test]
fn a_project_is_writable_and_secrets_are_not_readable() {
    let temporary = tempfile::tempdir().unwrap();
    let home = temporary.path().canonicalize().unwrap();
    let folder = home.join("project");
    std::fs::create_dir(&folder).unwrap();
    let boundary = project(&folder, &home);
    assert!(boundary.may_write(&folder.join("src/new.rs")));
    assert!(!boundary.may_write(&folder.join(".git/hooks/pre-commit")));
    assert!(!boundary.may_write(&folder.join(".mica/settings.toml")));
    assert!(!boundary.may_write(&home.join("other")));
    assert!(!boundary.may_read(&home.join(".ssh/id_rsa")));
    assert!(boundary.may_read(Path::new("/usr/bin/env")));
    assert!(!boundary.may_write(Path::new("/usr/bin/env")));
    assert!(!boundary.may_read(Path::new("/tmp/of-somebody")));
    assert!(!boundary.clone().read_only().may_write(&folder.join("src/new.rs")));
    assert!(boundary.read_only().may_read(&folder.join("src/new.rs")));
}

#[test]
fn a_secret_place_is_no_project() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    std::fs::create_dir(home.join(".ssh")).unwrap();
    let around = Around { home: Some(&home), environment: &BTreeMap::new(), temporary: Path::new("/tmp") };
    let places = Places::builtin().unwrap();
    for bad in [home.join(".ssh"), PathBuf::from("/"), home.join("missing")] {
        assert!(
            matches!(Boundary::project(&bad, &around, &places), Err(SandboxError::Path { .. })),
            "{bad:?}"
        );
    }
}

/// A file in a project names the folder of its repository. Only git's own answer to that name makes it writable.
#[test]
fn a_linked_work_tree_has_its_repository_and_not_its_hooks() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let (common, tree) = (home.join("main/.git"), home.join("tree"));
    let own = common.join("worktrees/tree");
    for folder in [&own, &common.join("objects"), &tree] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let put = |path: PathBuf, text: String| {
        std::io::Write::write_all(&mut std::fs::File::create(path).unwrap(), text.as_bytes()).unwrap();
    };
    put(common.join("HEAD"), "ref: refs/heads/main".to_owned());
    put(tree.join(".git"), format!("gitdir: {}\n", own.display()));
    put(own.join("commondir"), "../..\n".to_owned());
    put(own.join("gitdir"), "/elsewhere/.git\n".to_owned());
    assert!(
        !project(&tree, &home).may_write(&common.join("objects/aa")),
        "the repository does not know this tree"
    );
    put(own.join("gitdir"), format!("{}\n", tree.join(".git").display()));
    let boundary = project(&tree, &home);
    assert!(boundary.may_write(&common.join("objects/aa")));
    assert!(boundary.may_write(&own.join("index")));
    assert!(!boundary.may_write(&common.join("hooks/pre-commit")));
    assert!(!boundary.may_write(&common.join("config")));
    assert!(!boundary.may_write(&tree.join(".git")));
}
