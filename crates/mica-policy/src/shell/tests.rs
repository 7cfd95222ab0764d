//! The judgement as a whole: the examples of the tables.

use super::*;

#[test]
fn the_examples_of_the_tables_are_judged_as_they_say() {
    let rules = ShellRules::builtin().unwrap();
    let facts = ShellFacts::of_project("/home/user/project").with_home("/home/user");
    let mut wrong = Vec::new();
    let examples = rules.tables.examples();
    for (command, expected) in &examples {
        let judged = judge(command, &facts, &rules, crate::Mode::Edit);
        if judged.class != *expected {
            wrong.push(format!(
                "{command:?} should be {expected}, is {} by {}: {}",
                judged.class, judged.rule, judged.reason
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), examples.len(), wrong.join("\n"));
    rules.check().unwrap();
}
