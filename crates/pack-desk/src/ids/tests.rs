//! Ids as models write them.

use super::*;
use crate::store::tests::filled;

#[test]
fn names_in_ids() {
    for (name, expect) in [
        ("Ana Silva", "ana-silva"),
        ("  Zoë & Söhne GmbH ", "zoe-sohne-gmbh"),
        ("--", ""),
        ("Tyrell (Optics)", "tyrell-optics"),
    ] {
        assert_eq!(slug(name), expect, "{name}");
    }
}

#[test]
fn what_was_put_before_too_often_goes() {
    for (text, expect) in [
        ("contact:ana-silva", "contact:ana-silva"),
        ("contact:contact:ana-silva", "contact:ana-silva"),
        ("contacts:ana-silva", "contact:ana-silva"),
        ("records/contacts/ana-silva", "contact:ana-silva"),
        ("desk://contact/ana-silva", "contact:ana-silva"),
        ("`thread:1001`", "thread:1001"),
        ("ana-silva", "ana-silva"),
        ("", ""),
        (":", ""),
    ] {
        assert_eq!(reduced(text), expect, "{text}");
    }
}

#[test]
fn an_id_of_another_kind_is_refused() {
    assert_eq!(of_kind("1001", "thread").unwrap(), "thread:1001");
    assert_eq!(of_kind("threads:thread:1001", "thread").unwrap(), "thread:1001");
    assert_eq!(
        of_kind("task:003", "thread").unwrap_err().to_string(),
        "task:003 is the id of a task, and a thread is needed"
    );
    assert_eq!(of_kind(" ", "thread").unwrap_err().to_string(), "the id of a thread is missing");
}

#[test]
fn a_name_that_two_records_have_means_neither() {
    let (_folder, store) = filled();
    let record = |text: &str| store.look(|c| record(c, text, None)).map_err(|error| error.to_string());
    assert_eq!(record("Acme Logistics"), Ok("company:acme-logistics".to_owned()));
    assert_eq!(record("acme-logistics"), Ok("company:acme-logistics".to_owned()));
    assert_eq!(record("company:company:Acme-Logistics"), Ok("company:acme-logistics".to_owned()));
    assert_eq!(record("Ana Silva"), Ok("contact:ana-silva".to_owned()));
    assert_eq!(
        record("thread:1001"),
        Err("thread:1001 is the id of a thread, and one of a company or a contact is needed".to_owned())
    );
    assert_eq!(
        record("ana"),
        Err("there is no record \"ana\"; did you mean contact:ana-silva or contact:ana-silva-reyes or contact:benedikt-huber or \
             contact:farid-haddad?"
            .to_owned())
    );
}

#[test]
fn members_by_any_name() {
    let (_folder, store) = filled();
    let actor = |text: &str| store.look(|c| actor(c, text)).map_err(|error| error.to_string());
    for text in ["maya", "Maya Okafor", "member:maya", "@Maya", "maya@labelry.test", "members/maya"] {
        assert_eq!(actor(text), Ok("member:maya".to_owned()), "{text}");
    }
    assert_eq!(actor("Tomás"), Ok("member:tomas".to_owned()));
    assert_eq!(actor("@Triage"), Ok("agent:triage".to_owned()));
    assert_eq!(actor("agent:sweep"), Ok("agent:sweep".to_owned()));
    assert_eq!(
        actor("Bob"),
        Err("there is no member \"Bob\"; did you mean member:jonas or member:maya or member:priya or member:tomas?".to_owned())
    );
}
