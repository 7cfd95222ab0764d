//! The code of the guide is the code that is compiled and tested here.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

const GUIDE: &str = include_str!("../../../docs/domain-guide.md");
const SOURCES: [&str; 2] = [include_str!("../src/lib.rs"), include_str!("todo.rs")];

/// The code blocks of the guide.
fn blocks() -> Vec<String> {
    let blocks = GUIDE.split("```rust\n").skip(1);
    blocks.map(|rest| rest.split_once("\n```").unwrap().0.to_owned()).collect()
}

/// Lines without what formatting makes of them.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn every_block_of_the_guide_is_in_the_example() {
    let sources = SOURCES.map(lines);
    let blocks = blocks();
    assert!(blocks.len() >= 8, "{} blocks", blocks.len());
    for block in &blocks {
        // `// …` stands for what the guide leaves out: the parts between are there, in order, in one file.
        let parts: Vec<Vec<&str>> = block.split("// …").map(lines).filter(|part| !part.is_empty()).collect();
        let is_there = |source: &Vec<&str>| {
            let mut from = 0;
            parts.iter().all(|part| {
                let rest = source.get(from..).unwrap_or_default();
                let found = rest.windows(part.len()).position(|lines| lines == part.as_slice());
                from += found.map_or(0, |at| at + part.len());
                found.is_some()
            })
        };
        assert!(
            sources.iter().any(is_there),
            "this block of the guide is in no file of the example:\n{block}"
        );
    }
}

#[test]
fn the_example_is_small() {
    assert!(SOURCES[0].lines().count() < 150);
}
