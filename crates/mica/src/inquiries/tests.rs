//! Open questions: answered once, declined, withdrawn with the call that asked.

use mica_tools::person::{Choice, Question};

use super::*;

fn inquiry(call: &str) -> Inquiry {
    let choice = |label: &str| Choice { label: label.to_owned(), description: None };
    let question = Question {
        header: "Storage".to_owned(),
        question: "Where?".to_owned(),
        options: vec![choice("SQLite"), choice("Postgres")],
        multi_select: false,
    };
    Inquiry { call: call.into(), questions: vec![question] }
}

fn chosen(label: &str) -> Vec<Answer> {
    vec![Answer { chosen: vec![label.to_owned()], text: None }]
}

#[tokio::test]
async fn an_answer_reaches_the_call_that_asked() {
    let inquiries = Inquiries::default();
    let answering = async {
        tokio::task::yield_now().await;
        assert_eq!(inquiries.list().len(), 2);
        let error = |result: Result<()>| result.unwrap_err().to_string();
        assert_eq!(error(inquiries.answer("c", chosen("SQLite"))), "the call c asks nothing");
        assert_eq!(
            error(inquiries.answer("a", chosen("Oracle"))),
            "Storage: there is no choice \"Oracle\"; the choices are SQLite, Postgres"
        );
        inquiries.decline("b", Some("later".to_owned())).unwrap();
        inquiries.answer("a", chosen("SQLite")).unwrap();
        assert_eq!(error(inquiries.answer("a", chosen("SQLite"))), "the call a asks nothing");
    };
    let (a, b, ()) = tokio::join!(inquiries.ask(inquiry("a")), inquiries.ask(inquiry("b")), answering);
    assert_eq!(a, Reply::Answered(chosen("SQLite")));
    assert_eq!(b, Reply::Declined { reason: Some("later".to_owned()) });
}

#[tokio::test]
async fn what_is_withdrawn_is_not_open() {
    let inquiries = Inquiries::default();
    tokio::select! {
        biased;
        _ = inquiries.ask(inquiry("a")) => unreachable!("nobody answers"),
        () = async {} => {}
    }
    assert_eq!(inquiries.list(), []);
}

#[tokio::test]
async fn whoever_takes_one_and_goes_has_declined() {
    let inquiries = Inquiries::default();
    let taking = async { drop(inquiries.next().await) };
    let (reply, ()) = tokio::join!(inquiries.ask(inquiry("a")), taking);
    assert_eq!(reply, Reply::Declined { reason: None });
}
