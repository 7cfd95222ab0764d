//! The table is in order, and names count however they are spelled.

use super::*;

#[test]
fn the_table_is_in_order() {
    let places = Places::builtin().unwrap();
    let all = [
        &places.secret_names,
        &places.secret_folders,
        &places.not_secret,
        &places.variable_files,
        &places.guarded,
    ];
    for name in all.into_iter().flatten() {
        assert_eq!(fold(name), name.as_str(), "names are written as they are compared");
    }
    for name in &places.variable_files {
        assert!(places.secret_names.contains(name), "{name} lists variables and is no secret");
    }
    for name in places.secret_places.iter().filter(|name| !name.starts_with("~/")) {
        assert!(name.starts_with('/'), "{name} is neither absolute nor below the home folder");
    }
    for name in &places.held {
        assert!(
            places.frozen.contains(name) && name.ends_with('/'),
            "{name} is held and is no frozen folder"
        );
    }
}

#[test]
fn secrets_in_any_spelling() {
    let places = Places::builtin().unwrap();
    for (path, secret) in [
        (".env", true),
        ("a/.env.production", true),
        ("a/staging.env", true),
        (".ENV", true),
        (".Env.Local", true),
        (".env.", true),
        (".env ", true),
        (".env. .", true),
        (".env::$DATA", true),
        (".e\u{200C}nv", true),
        ("\u{FEFF}.env", true),
        ("ENV~1", true),
        ("env~1.loc", true),
        (".\u{17F}\u{17F}h/config", true),
        (".\u{212A}ube/config", true),
        ("SSH~1/config", true),
        ("x/.SSH/config", true),
        (".ssh", true),
        ("id_ed25519", true),
        ("deploy/server.PEM", true),
        (".env~", true),
        (".env-production", true),
        (".env_old", true),
        (".ENV.BAK~", true),
        ("id_rsa~", true),
        ("id_rsa.~12~", true),
        ("#id_rsa#", true),
        ("deploy/x.pem.bak", true),
        ("x.pem.orig", true),
        ("secrets.yml.old", true),
        (".env.example~", false),
        (".env.example.bak", false),
        (".env-example", false),
        ("notes.bak", false),
        ("##", false),
        ("~", false),
        (".env.example", false),
        (".ENV.EXAMPLE", false),
        ("environment.ts", false),
        ("src/env/mod.rs", false),
        ("credentials/mod.rs", false),
        ("a/ssh/config", false),
        ("notes~1", false),
        ("env~", false),
        ("..", false),
        ("", false),
    ] {
        assert_eq!(places.is_secret(path), secret, "{path:?}");
    }
    assert!(places.lists_variables(".env.local") && places.lists_variables("PROD.env"));
    assert!(places.lists_variables(".env~") && places.lists_variables(".env-production"));
    assert!(!places.lists_variables(".env.example") && !places.lists_variables(".envrc"));
    assert!(!places.lists_variables("id_rsa"));
}

#[test]
fn guarded_in_any_spelling() {
    let places = Places::builtin().unwrap();
    for (path, guarded) in [
        (".git/hooks/pre-commit", true),
        ("sub/.git/config", true),
        (".Git/hooks/pre-commit", true),
        (".g\u{200D}it/config", true),
        ("GIT~1/config", true),
        (".git./config", true),
        (".git ", true),
        (".mica/config.toml", true),
        (".MICA", true),
        (".gitignore", false),
        (".github/workflows/a.yml", false),
        ("git/config", false),
        ("a.mica", false),
    ] {
        assert_eq!(places.is_guarded(path), guarded, "{path:?}");
    }
    for path in [".mica/extensions/a.ts", ".Mica/Extensions/a/index.ts"] {
        assert!(places.is_guarded(path) && places.is_taught(path), "{path:?}");
    }
    for path in [".mica", ".mica/config.toml", "extensions/a.ts", ".mica/extensions.toml", ".git/extensions"]
    {
        assert!(!places.is_taught(path), "{path:?}");
    }
    for name in &places.taught {
        assert!(places.is_guarded(name), "{name} is taught and not guarded");
    }
    assert!(places.is_watched("sub/AGENTS.md") && places.is_watched(".VSCode/tasks.json"));
    assert!(!places.is_watched("agents/a.md"));
}

#[test]
fn patterns() {
    for (pattern, text, expected) in [
        (".env", ".env", true),
        (".env", ".env.x", false),
        (".env.*", ".env.x", true),
        ("*.pem", "a.pem.pem", true),
        ("*.pem", "a.pemx", false),
        ("/proc/*/environ", "/proc/self/environ", true),
        ("*TOKEN*", "MY_TOKEN_2", true),
    ] {
        assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
    }
}
