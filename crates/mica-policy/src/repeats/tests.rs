//! Circles: what is noticed, and that nothing else is.

use mica_ai::arguments::Arguments;
use mica_ai::id::CallId;
use mica_ai::message::ToolCall;
use proptest::prelude::*;

use super::*;

/// Calls as letters: lower case looks, upper case changes, `!` behind it failed, `~` behind it polls.
fn facts(text: &str) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for letter in text.chars() {
        match (letter, facts.last_mut()) {
            ('!', Some(last)) => last.failed = true,
            ('~', Some(last)) => last.polls = true,
            _ => facts.push(Fact {
                call: Fingerprint(u64::from(letter)),
                failed: false,
                changes: letter.is_uppercase(),
                polls: false,
            }),
        }
    }
    facts
}

fn judged(text: &str) -> Option<Repetition> {
    let facts = facts(text);
    let (next, past) = facts.split_last().unwrap();
    judge(&Patience::default(), past, next)
}

#[test]
fn patterns() {
    let identical = |times| Some(Repetition::Identical { times });
    let failing = |times| Some(Repetition::Failing { times });
    let circle = |period| Some(Repetition::Circle { period });
    for (calls, expect) in [
        ("a", None),
        ("aa", None),
        ("aaa", identical(2)),
        ("aaaa", identical(3)),
        ("aaba", None),
        ("AAA", identical(2)),
        ("a~a~a~a~a~", None),
        ("a!a", None),
        ("a!a!a", failing(2)),
        ("a!ba!ca", failing(2)),
        ("a!Ba!a", None),
        ("a!B!a!a", failing(2)),
        ("A!A!A", failing(2)),
        ("a~!a~!a~", failing(2)),
        ("abab", None),
        ("ababa", None),
        ("ababab", circle(2)),
        ("xababab", circle(2)),
        ("ABABAB", circle(2)),
        ("abcabcab", None),
        ("abcabcabc", circle(3)),
        ("abacabac", None),
        ("ab~ab~ab~ab~a", None),
        ("abcdabcdabcdabcd", None),
    ] {
        assert_eq!(judged(calls), expect, "{calls}");
    }
}

#[test]
fn a_call_is_known_again_however_it_is_written() {
    let print = |name: &str, text: &str| {
        let arguments = Arguments::from_text(text);
        Fingerprint::of(&ToolCall { id: CallId::from("c"), name: name.to_owned(), arguments })
    };
    let one = print("read", r#"{"a": 1, "b": {"x": [1, 2], "y": null}}"#);
    assert_eq!(one, print("read", r#"{"b":{"y":null,"x":[1,2]},"a":1}"#));
    for (name, text) in [
        ("write", r#"{"a": 1, "b": {"x": [1, 2], "y": null}}"#),
        ("read", r#"{"a": "1", "b": {"x": [1, 2], "y": null}}"#),
        ("read", r#"{"a": 1, "b": {"x": [2, 1], "y": null}}"#),
        ("read", r#"{"a": 1, "b": {"x": [1], "y": null}}"#),
        ("read", r#"{"a": 1, "b": {"x": [1, 2]}}"#),
        ("read", r#"{"a": 1, "#),
    ] {
        assert_ne!(one, print(name, text), "{name} {text}");
    }
}

fn fact() -> impl Strategy<Value = Fact> {
    (0_u64..4, any::<bool>(), any::<bool>()).prop_map(|(call, failed, changes)| Fact {
        call: Fingerprint(call),
        failed,
        changes,
        polls: false,
    })
}

proptest! {
    #[test]
    fn distinct_calls_are_never_denied(mut past in prop::collection::vec(fact(), 0..40)) {
        for (index, fact) in past.iter_mut().enumerate() {
            fact.call = Fingerprint(index as u64);
        }
        let Some((next, past)) = past.split_last() else { return Ok(()) };
        prop_assert_eq!(judge(&Patience::default(), past, next), None);
    }

    #[test]
    fn identical_calls_in_a_row_are_always_denied(
        mut past in prop::collection::vec(fact(), 0..20),
        next in fact(),
        patience in 1_usize..5,
        more in 0_usize..4,
    ) {
        past.extend(std::iter::repeat_n(next, patience + more));
        let patience = Patience { identical: patience, ..Patience::default() };
        prop_assert!(judge(&patience, &past, &next).is_some());
    }

    #[test]
    fn what_polls_and_works_is_never_denied(mut past in prop::collection::vec(fact(), 0..20), mut next in fact()) {
        for fact in &mut past {
            fact.failed = false;
        }
        next.polls = true;
        past.extend(std::iter::repeat_n(next, 10).map(|poll| Fact { failed: false, ..poll }));
        prop_assert_eq!(judge(&Patience::default(), &past, &next), None);
    }

    #[test]
    fn circles_are_always_denied(period in 2_usize..=3, offset in 0_u64..9, before in prop::collection::vec(fact(), 0..9)) {
        let round = (0..period).map(|step| Fact {
            call: Fingerprint(100 + offset + step as u64),
            failed: false,
            changes: true,
            polls: false,
        });
        let mut past = before;
        past.extend(std::iter::repeat_n(round, 3).flatten());
        let next = past.pop().unwrap();
        prop_assert_eq!(judge(&Patience::default(), &past, &next), Some(Repetition::Circle { period }));
    }
}
