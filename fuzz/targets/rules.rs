//! Rules and tables that people write: whatever they are, there is an answer, and a rule that was read is read the same
//! again from how it is shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_policy::shell::ShellRules;
use mica_policy::{Action, Rule, RuleSet, Subjects};
use serde_json::{Map, Value};

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    // A table takes far longer to read than a rule, because all others are read with it.
    if *kind == b't' {
        let _ = ShellRules::with_tables(&[("fuzz.toml", text)]);
        return;
    }
    let (rule, argument) = text.split_once('\n').unwrap_or((text, "src/a.rs"));
    let Ok(read) = rule.parse::<Rule>() else { return };
    let again: Rule = read.to_string().parse().expect("a rule is read again from how it is shown");
    assert_eq!(read.to_string(), again.to_string());
    let subjects = || Subjects::new().path("file_write", "path");
    let args: Map<String, Value> =
        [("path".to_owned(), Value::String(argument.to_owned()))].into_iter().collect();
    let allow = RuleSet::new(subjects()).with(Action::Allow, read.clone());
    let deny = RuleSet::new(subjects()).with(Action::Deny, read.clone());
    let both = allow.clone().with(Action::Deny, read);
    // What may be allowed by a rule is denied by the same rule, and denying wins.
    if allow.judge("file_write", &args).is_some() {
        assert!(deny.judge("file_write", &args).is_some(), "{rule:?} {argument:?}");
        assert_eq!(both.judge("file_write", &args).map(|(action, _)| action), Some(Action::Deny));
    }
    // What cannot be seen counts against the call.
    let none = Map::new();
    assert!(rule.contains('(') <= allow.judge("file_write", &none).is_none());
});
