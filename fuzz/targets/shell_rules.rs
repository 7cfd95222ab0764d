//! The judgement of shell commands: it always answers, the strictest part decides, and no mode is laxer than edit mode.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_policy::Mode;
use mica_policy::shell::{Class, ShellFacts, ShellRules, judge};

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(rules) = ShellRules::builtin() else { return };
    let facts = ShellFacts::of_project("/project").with_home("/home/user");
    let edit = judge(text, &facts, &rules, Mode::Edit);
    assert_eq!(edit.parts.iter().map(|part| part.class).max(), Some(edit.class));
    assert!(edit.class == Class::Ask || edit.remember.is_none());
    let plan = judge(text, &facts, &rules, Mode::Plan);
    assert!(plan.class >= edit.class, "plan mode is laxer: {} and {}", plan.class, edit.class);
    let with = judge(&format!("{text}\nsudo ls"), &facts, &rules, Mode::Edit);
    // Unless the text swallows the row (an open quote, a comment, a here-document), it is seen.
    if edit.split.is_plain() && with.split.is_plain() && with.parts.len() > edit.parts.len() {
        assert!(with.class >= edit.class);
    }
});
