//! `docs/evals.md` has every key and every word that the parser knows: it is asked, so none can be forgotten.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use mica_eval::Holds;
use mica_eval::case::{CaseFile, Expect, Shapes};
use mica_eval::copilot::LOOKS;

fn page(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What stands between marks.
fn between<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(mark).skip(1).step_by(2)
}

/// Words that stand as code on a page: between backticks, or in a block.
fn code(page: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let code = between(page, "`").chain(between(page, "```"));
    let words = code.flat_map(|text| text.split(|c: char| !is_word(c)));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_key_of_a_case_is_on_the_page() {
    let (evals, testkit) = (code(&page("evals.md")), code(&page("testkit.md")));
    let shapes = Shapes::of::<CaseFile>();
    let mut missing = Vec::new();
    let mut asked = 0;
    for (place, shape) in shapes.all() {
        // How an answer is spoiled and what it took is described where scripted models are.
        let elsewhere =
            ["fault", "stop", "usage"].iter().any(|key| place.ends_with(&format!("turn.*.{key}")));
        let words = if elsewhere { &testkit } else { &evals };
        for name in shape.names() {
            asked += 1;
            if !words.iter().any(|word| word == name) {
                missing.push(format!("{place}: {name}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(asked > 150, "only {asked} names are known");
    for place in ["step.*.expect.look.*.near", "judge.turn.*.calls.*", "mock.*.match", "step.*.answer.*"] {
        assert!(shapes.all().any(|(known, _)| known == place), "{place} was not asked");
    }
}

#[test]
fn what_every_domain_shows_is_on_the_page() {
    let page = page("evals.md");
    let row = page.lines().find(|line| line.starts_with("| any `World` |")).unwrap();
    let looks = row.rsplit('|').nth(1).unwrap();
    let looks: Vec<&str> = between(looks, "`").collect();
    assert_eq!(looks, LOOKS);
}

/// The keys in the first column of the table that has a row for one of them.
fn column(page: &str, one: &str) -> Vec<String> {
    let tables = page
        .split("\n\n")
        .map(|block| block.lines().filter(|line| line.starts_with('|')).collect::<Vec<_>>());
    let first = |line: &&str| line.split('|').nth(1).unwrap_or_default().to_owned();
    let has_one = |rows: &Vec<&str>| rows.iter().any(|row| first(row).contains(&format!("`{one}`")));
    let rows = tables.into_iter().find(has_one).unwrap_or_else(|| panic!("no table has `{one}`"));
    let code = rows.iter().flat_map(|row| between(&first(row), "`").map(str::to_owned).collect::<Vec<_>>());
    let mut keys: Vec<String> =
        code.map(|key| key.split([' ', '.']).next().unwrap_or_default().to_owned()).collect();
    keys.sort();
    keys
}

/// Tables of the page are whole, and have nothing that is not there.
#[test]
fn what_must_come_of_it_is_on_the_page() {
    let page = page("evals.md");
    let known = |shapes: Shapes| {
        let (_, shape) = shapes.all().next().unwrap();
        let mut names: Vec<String> = shape.names().iter().map(|name| (*name).to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(column(&page, "outcome"), known(Shapes::of::<Expect>()));
    assert_eq!(column(&page, "equals"), known(Shapes::of::<Holds>()));
}
