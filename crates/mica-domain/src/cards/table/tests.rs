use serde_json::json;

use super::*;

fn found(thing: &str, id: &str, fields: Value) -> Found {
    let Value::Object(fields) = fields else { panic!("{fields}") };
    Found { thing: thing.to_owned(), id: id.to_owned(), fields }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn learn(table: &mut Table, found: Vec<Found>, standing: Standing, second: i64) -> Vec<Change> {
    let changes = table.changes(found, standing, at(second));
    for change in &changes {
        table.apply(change);
    }
    changes
}

#[test]
fn what_did_not_change_is_not_written_again() {
    let mut table = Table::default();
    let acme = || found("record", "companies:abc", json!({ "name": "ACME" }));
    let first = learn(&mut table, vec![acme()], Standing::Seen, 1);
    assert_eq!(first, [Change::Found { at: at(1), things: vec![acme()], standing: Standing::Seen }]);
    let again = learn(&mut table, vec![acme()], Standing::Seen, 5);
    assert_eq!(
        again,
        [Change::Again { at: at(5), things: vec![("record".to_owned(), "companies:abc".to_owned())] }]
    );
    assert_eq!(learn(&mut table, vec![acme()], Standing::Seen, 5), []);
    assert_eq!(table.find("record", "companies:abc").1.unwrap().at, at(5));
}

#[test]
fn what_was_predicted_never_hides_what_was_seen() {
    let mut table = Table::default();
    let acme = |name: &str| vec![found("record", "companies:abc", json!({ "name": name }))];
    learn(&mut table, acme("ACME"), Standing::Seen, 1);
    assert_eq!(learn(&mut table, acme("Other"), Standing::Provisional, 2), []);
    let task = || vec![found("task", "temp_1", json!({ "title": "Call" }))];
    learn(&mut table, task(), Standing::Provisional, 2);
    assert_eq!(table.find("task", "temp_1").1.unwrap().standing, Standing::Provisional);
    learn(&mut table, task(), Standing::Seen, 3);
    assert_eq!(table.find("task", "temp_1").1.unwrap().standing, Standing::Seen);
}

#[test]
fn what_became_of_it() {
    let mut table = Table::default();
    learn(&mut table, vec![found("task", "temp_1", json!({ "title": "Call" }))], Standing::Provisional, 1);
    table.apply(&Change::Became { from: "temp_1".to_owned(), to: "7".to_owned() });
    let (id, snapshot) = table.find("task", "temp_1");
    assert_eq!((id.as_str(), snapshot.unwrap().standing), ("7", Standing::Provisional));
    learn(&mut table, vec![found("task", "7", json!({ "title": "Call them" }))], Standing::Seen, 2);
    let (id, snapshot) = table.find("task", "temp_1");
    assert_eq!((id.as_str(), &snapshot.unwrap().fields["title"]), ("7", &json!("Call them")));
}

#[test]
fn ids_with_more_before_them_than_they_have() {
    let mut table = Table::default();
    let known = ["companies:abc", "x/y", "7", "a b"].map(|id| found("record", id, json!({ "name": id })));
    learn(&mut table, known.to_vec(), Standing::Seen, 1);
    for (written, id, is_known) in [
        ("companies:abc", "companies:abc", true),
        ("record:companies:abc", "companies:abc", true),
        ("companies:companies:abc", "companies:abc", true),
        ("mica://record/companies:abc", "companies:abc", true),
        ("record/x/y", "x/y", true),
        ("record:7", "7", true),
        ("a%20b", "a b", true),
        ("companies%3Aabc", "companies:abc", true),
        ("100%", "100%", false),
        ("abc", "abc", false),
        ("contacts:abc", "contacts:abc", false),
        ("companies:abcd", "companies:abcd", false),
        ("companies:", "companies:", false),
    ] {
        let (found, snapshot) = table.find("record", written);
        assert_eq!((found.as_str(), snapshot.is_some()), (id, is_known), "{written}");
    }
    assert_eq!(table.find("task", "companies:abc").1, None);
}

#[test]
fn the_oldest_goes_first() {
    let mut table = Table::default();
    let some = |from: usize, to: usize| -> Vec<Found> {
        (from..to).map(|id| found("task", &id.to_string(), json!({ "title": "x" }))).collect()
    };
    learn(&mut table, some(0, MOST), Standing::Seen, 1);
    learn(&mut table, some(0, 1), Standing::Seen, 2);
    learn(&mut table, some(MOST, MOST + 2), Standing::Seen, 3);
    assert_eq!(table.len(), MOST);
    let is_known = |id: usize| table.find("task", &id.to_string()).1.is_some();
    assert_eq!([0, 1, 2, 3, MOST + 1].map(is_known), [true, false, false, true, true]);
}

#[test]
fn changes_are_kept_as_they_are() {
    let changes = [
        Change::Found {
            at: at(1),
            things: vec![found("task", "1", json!({}))],
            standing: Standing::Provisional,
        },
        Change::Again { at: at(1), things: vec![("task".to_owned(), "1".to_owned())] },
        Change::Became { from: "temp_1".to_owned(), to: "1".to_owned() },
    ];
    for change in changes {
        let written = serde_json::to_value(&change).unwrap();
        assert_eq!(serde_json::from_value::<Change>(written).unwrap(), change);
    }
}
