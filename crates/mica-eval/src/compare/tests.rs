//! Comparing two reports.

use super::*;
use crate::report::Check;

fn case(name: &str, digest: &str, status: Status, failed: &[bool]) -> CaseReport {
    let check = |judged: &bool| Check {
        at: "step 1".to_owned(),
        what: "x".to_owned(),
        passed: false,
        judged: *judged,
        expected: String::new(),
        found: String::new(),
    };
    CaseReport {
        name: name.to_owned(),
        about: String::new(),
        product: "p".to_owned(),
        digest: digest.to_owned(),
        status,
        problem: None,
        seconds: 0.0,
        requests: 0,
        usage: mica_ai::Usage::default(),
        journal: None,
        notes: Vec::new(),
        checks: failed.iter().map(check).collect(),
    }
}

#[test]
fn every_case_is_somewhere_and_judges_are_kept_apart() {
    use Status::{Error, Failed, Passed, Skipped};
    let before = Report::new(vec![
        case("broke", "1", Passed, &[]),
        case("broke by judge", "1", Passed, &[]),
        case("broke off", "1", Passed, &[]),
        case("changed", "1", Passed, &[]),
        case("fine", "1", Passed, &[]),
        case("fixed", "1", Failed, &[false]),
        case("fixed by judge", "1", Failed, &[true]),
        case("gone", "1", Passed, &[]),
        case("left out", "1", Passed, &[]),
        case("still", "1", Failed, &[false]),
    ]);
    let now = Report::new(vec![
        case("broke", "1", Failed, &[true, false]),
        case("broke by judge", "1", Failed, &[true]),
        case("broke off", "1", Error, &[]),
        case("changed", "2", Failed, &[false]),
        case("fine", "1", Passed, &[]),
        case("fixed", "1", Passed, &[]),
        case("fixed by judge", "1", Passed, &[]),
        case("left out", "1", Skipped, &[]),
        case("new", "1", Failed, &[false]),
        case("still", "1", Error, &[]),
    ]);
    let comparison = compare(&before, &now);
    assert!(comparison.has_regressed());
    assert_eq!(
        comparison.text(),
        "3 regressed:\n  broke\n  broke by judge (only what is judged)\n  broke off\n2 fixed:\n  fixed\n  fixed by judge \
         (only what is judged)\n1 still failing:\n  still\n1 new:\n  new (failed)\n1 gone:\n  gone\n2 incomparable: the case \
         was changed, or left out:\n  changed (failed)\n  left out (left out)\n"
    );
    let same = compare(&before, &before);
    assert_eq!((same.has_regressed(), same.of(Change::StillFailing).count()), (false, 3));
}
