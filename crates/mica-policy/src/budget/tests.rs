//! Limits: exact edges, and what holds for all of them.

use mica_ai::usage::Cost;
use proptest::prelude::*;

use super::*;

fn dollars(amount: f64) -> Usd {
    Usd::from_dollars(amount)
}

fn cost(total: f64) -> Usage {
    Usage { cost: Some(Cost { output: dollars(total), ..Cost::default() }), ..Usage::default() }
}

fn check(limits: &Limits, tally: &Tally, expect: Option<(&str, &str, Room)>) {
    let got = judge(limits, tally);
    let got = got.as_ref().map(|it| (it.limit.name.as_str(), it.limit.reached.as_str(), it.room));
    assert_eq!(got, expect, "{tally:?}");
}

#[test]
fn turns() {
    let limits = || Limits { turns: Some(50), ..Limits::NONE };
    check(&limits(), &Tally { turns: 50, ..Tally::default() }, None);
    let expect = Some(("turns", "50 turns", Room::ForClosing));
    check(&limits(), &Tally { turns: 51, ..Tally::default() }, expect);
}

#[test]
fn cached_tokens_weigh_a_tenth() {
    let usage = Usage { input: 1_000, cache_read: 900, cache_write: 50, output: 10, ..Usage::default() };
    assert_eq!(weighed(&usage), 100 + 90 + 10);
    let limits = |most| Limits { tokens: Some(most), ..Limits::NONE };
    check(&limits(201), &Tally { usage, ..Tally::default() }, None);
    let expect = Some(("tokens", "200 tokens of 200, cached ones counted as a tenth", Room::ForClosing));
    check(&limits(200), &Tally { usage, ..Tally::default() }, expect);
}

#[test]
fn the_closing_answer_is_paid_for_out_of_the_cost() {
    let limits = || Limits { cost: Some(dollars(1.0)), ..Limits::NONE };
    // Three turns for 0.60: a fourth would make it 0.80.
    check(&limits(), &Tally { turns: 4, usage: cost(0.6), ..Tally::default() }, None);
    // Three turns for 0.90: a fourth would make it 1.20, so it is the closing one.
    let expect = Some(("cost", "$0.9000 of $1.0000 in 3 turns", Room::ForClosing));
    check(&limits(), &Tally { turns: 4, usage: cost(0.9), ..Tally::default() }, expect);
    let expect = Some(("cost", "$1.0000 of $1.0000 in 3 turns", Room::None));
    check(&limits(), &Tally { turns: 4, usage: cost(1.0), ..Tally::default() }, expect);
}

#[test]
fn time_is_a_promise_too() {
    let limits = || Limits { active: Some(Duration::from_secs(600)), ..Limits::NONE };
    let after = |seconds| Tally { turns: 3, active: Duration::from_secs(seconds), ..Tally::default() };
    check(&limits(), &after(400), None);
    check(&limits(), &after(401), Some(("time", "6 min of 10 min of work in 2 turns", Room::ForClosing)));
    check(&limits(), &after(600), Some(("time", "10 min of 10 min of work in 2 turns", Room::None)));
}

#[test]
fn repeats_and_failures() {
    let tally = Tally { calls: vec![1, 2, 2, 2, 2, 2], failures: 12, ..Tally::default() };
    let limits = Limits { failures: Some(12), ..Limits::NONE };
    check(&limits, &tally, Some(("failures", "12 calls failed in a row", Room::ForClosing)));
    let expect = Some(("repeats", "the same call 5 times in a row", Room::ForClosing));
    check(&Limits { repeats: Some(5), ..Limits::NONE }, &tally, expect);
    check(&Limits { repeats: Some(6), failures: Some(13), ..Limits::NONE }, &tally, None);
}

#[test]
fn approvals() {
    let limits = Limits { approvals: Some(3), ..Limits::NONE };
    let after = |approvals| Tally { turns: 9, approvals, ..Tally::default() };
    check(&limits, &after(2), None);
    check(&limits, &after(3), Some(("approvals", "people were asked 3 times", Room::ForClosing)));
    check(&Limits::default(), &after(1000), None);
}

#[test]
fn the_warning_comes_with_five_turns_left() {
    let at = |turns| warning(&Limits::default(), &Tally { turns, ..Tally::default() });
    assert_eq!(at(44), None);
    assert_eq!(
        at(45).as_deref(),
        Some(
            "[Note from the system, not from the user: 5 of 50 turns are left, then the run ends. Finish what matters \
             most, and leave things in working order.]"
        )
    );
    assert_eq!(at(50), None);
    let short = Limits { turns: Some(10), ..Limits::default() };
    assert_eq!(warning(&short, &Tally { turns: 6, ..Tally::default() }), None);
}

fn tally() -> impl Strategy<Value = Tally> {
    (0_u32..100, 0_u64..4_000_000, 0.0..5.0, 0_u64..8_000, prop::collection::vec(0_u64..3, 0..12), 0_u32..20)
        .prop_map(|(turns, input, spent, seconds, calls, failures)| Tally {
            turns,
            usage: Usage { input, ..cost(spent) },
            active: Duration::from_secs(seconds),
            calls,
            failures,
            ..Tally::default()
        })
}

proptest! {
    #[test]
    fn without_limits_nothing_is_reached(tally in tally()) {
        prop_assert_eq!(judge(&Limits::NONE, &tally), None);
    }

    /// What is beyond a limit stays beyond it, and a promise that is used up leaves no room.
    #[test]
    fn more_is_never_less(tally in tally(), more in 1_u64..1_000) {
        let limits = Limits { cost: Some(dollars(2.0)), ..Limits::default() };
        let mut later = tally.clone();
        later.usage.input += more;
        later.active += Duration::from_secs(more);
        if judge(&limits, &tally).is_some() {
            prop_assert!(judge(&limits, &later).is_some());
        }
        if tally.active >= Duration::from_secs(3_600) {
            prop_assert_eq!(judge(&limits, &tally).map(|reached| reached.room), Some(Room::None));
        }
    }
}
