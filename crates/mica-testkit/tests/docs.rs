//! What the documentation shows works.

use mica_testkit::{Scenario, Step};

#[test]
fn the_scenario_in_the_documentation_reads() {
    let text = include_str!("../../../docs/testkit.md");
    let start = text.find("```toml\n").unwrap() + "```toml\n".len();
    let end = start + text[start..].find("```").unwrap();
    let scenario = Scenario::from_toml(&text[start..end]).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.turns.len()), ("orders", 3));
    assert_eq!(scenario.otherwise.unwrap().steps, [Step::Text("What?".into())]);
}
