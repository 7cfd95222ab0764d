//! The layers check, on a small picture and on the real one.

use super::*;

fn small() -> Layers {
    Layers::parse(
        "[below]\ntop = [\"left\", \"right\"]\nleft = [\"base\"]\nright = [\"base\"]\nbase = []\nmica-testkit = [\"base\"]\n",
    )
    .expect("a picture")
}

/// The findings on a manifest of a crate, as `line: what`.
fn check(name: &str, dependencies: &str) -> Vec<String> {
    let text = format!("[package]\nname = \"{name}\"\n{dependencies}");
    let findings = small().check(&format!("crates/{name}/Cargo.toml"), &text);
    findings.iter().map(|finding| format!("{}: {}", finding.line, finding.text)).collect()
}

fn refused(line: usize, from: &str, to: &str) -> Vec<String> {
    vec![format!(
        "{line}: {from} may not depend on {to}, which is not below it in {TABLE}: move the code, or hand in what is needed"
    )]
}

#[test]
fn down_is_fine_directly_and_further() {
    assert!(
        check("top", "[dependencies]\nleft = { path = \"../left\" }\nbase.workspace = true\nserde = \"1\"\n")
            .is_empty()
    );
}

#[test]
fn up_is_found_where_it_stands() {
    assert_eq!(
        check("base", "[dependencies]\nserde = \"1\"\ntop.workspace = true\n"),
        refused(5, "base", "top")
    );
}

#[test]
fn sideways_is_found() {
    assert_eq!(check("left", "[dependencies]\nright.workspace = true\n"), refused(4, "left", "right"));
}

#[test]
fn build_platform_and_renamed_dependencies_count() {
    assert_eq!(check("base", "[build-dependencies]\ntop.workspace = true\n"), refused(4, "base", "top"));
    assert_eq!(
        check("base", "[target.'cfg(unix)'.dependencies]\ntop = { path = \"../top\" }\n"),
        refused(4, "base", "top")
    );
    assert_eq!(
        check("base", "[dependencies]\nother = { package = \"top\", path = \"../top\" }\n"),
        refused(4, "base", "top")
    );
    assert_eq!(check("base", "[dependencies.top]\npath = \"../top\"\n"), refused(3, "base", "top"));
}

#[test]
fn tests_may_use_the_testkit_and_nothing_else_from_above() {
    assert!(check("base", "[dev-dependencies]\nmica-testkit.workspace = true\n").is_empty());
    assert_eq!(
        check("base", "[dependencies]\nmica-testkit.workspace = true\n"),
        refused(4, "base", "mica-testkit")
    );
    assert_eq!(check("base", "[dev-dependencies]\ntop.workspace = true\n"), refused(4, "base", "top"));
}

#[test]
fn a_crate_without_a_layer_is_found() {
    assert_eq!(
        check("stray", ""),
        ["1: the crate stray has no layer: give it an entry in xtask/layers.toml"]
    );
}

#[test]
fn a_crate_is_named_like_its_folder() {
    let findings = small().check("crates/left/Cargo.toml", "[package]\nname = \"right\"\n");
    let texts: Vec<&str> = findings.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(texts, ["the crate right is in the folder left: give both one name"]);
}

#[test]
fn other_manifests_are_not_judged() {
    let text = "[package]\nname = \"any\"\n[dependencies]\ntop = \"1\"\n";
    for path in
        ["Cargo.toml", "fuzz/Cargo.toml", "crates/base/tests/fixtures/x/Cargo.toml", "crates/base/src/lib.rs"]
    {
        assert_eq!(small().check(path, text), [], "{path}");
    }
}

#[test]
fn a_picture_with_a_circle_or_a_gap_is_refused() {
    let refusal = |text: &str| Layers::parse(text).expect_err("a broken picture");
    assert_eq!(refusal("[below]\na = [\"b\"]\nb = [\"a\"]\n"), "a is below itself");
    assert_eq!(refusal("[below]\na = [\"b\"]\n"), "b is below a crate and has no entry");
    assert_eq!(refusal("a = 1\n"), "there is no table [below]");
}

#[test]
fn the_real_picture_keeps_its_promises() {
    let layers = Layers::parse(include_str!("../../../layers.toml")).expect("the picture");
    let may = |from: &str, to: &str| layers.allowed[from].contains(to);
    assert!(layers.allowed["mica-ai"].is_empty());
    assert_eq!(layers.allowed["mica-agent"].iter().collect::<Vec<_>>(), ["mica-ai"]);
    for (name, below) in &layers.allowed {
        // Cases play models by script, and so does a program that has no model yet. Nobody else does but in tests.
        let plays = matches!(name.as_str(), "mica" | "mica-eval" | "mica-testkit");
        assert!(plays || !below.contains("mica-testkit"), "{name} stands on the testkit");
        // Everything in the stack is reached from the binary.
        assert!(
            matches!(name.as_str(), "mica" | "mica-testkit" | "xtask") || may("mica", name),
            "{name} is adrift"
        );
    }
    let packs = ["pack-code", "pack-mi", "pack-desk"];
    for pack in packs {
        assert!(packs.iter().all(|other| !may(pack, other)), "{pack} knows another pack");
        assert!(may(pack, "mica-domain") && may(pack, "mica-ai"), "{pack}");
    }
    for name in ["synapse-lang", "synapse-ls", "mica-script", "mica-index"] {
        assert!(!may(name, "mica-agent"), "{name} knows agents");
    }
}
