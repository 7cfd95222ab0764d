//! Questions: what is asked, what comes back in each case, and what is refused before anybody is bothered.

use std::sync::Mutex;

use mica_ai::id::CallId;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::person::{Choice, Nobody};
use crate::testing::{call, call_whole, text};

/// Somebody who answers as the test says, and remembers what was asked.
struct Somebody {
    reply: Option<Reply>,
    asked: Mutex<Vec<Inquiry>>,
}

#[async_trait]
impl Person for Somebody {
    async fn ask(&self, inquiry: Inquiry) -> Reply {
        self.asked.lock().unwrap().push(inquiry);
        match &self.reply {
            Some(reply) => reply.clone(),
            None => std::future::pending().await,
        }
    }
}

fn somebody(reply: Option<Reply>) -> Arc<Somebody> {
    Arc::new(Somebody { reply, asked: Mutex::default() })
}

fn storage() -> Value {
    json!({
        "header": "Storage",
        "question": "Where are orders kept?",
        "options": [{ "label": "SQLite", "description": "one file" }, { "label": "Postgres" }],
    })
}

fn parts() -> Value {
    let options = json!([{ "label": "Orders" }, { "label": "Customers" }, { "label": "Stock" }]);
    json!({ "header": "Parts", "question": "Which parts?", "options": options, "multi_select": true })
}

fn answer(chosen: &[&str], text: Option<&str>) -> Answer {
    Answer { chosen: chosen.iter().map(|label| (*label).to_owned()).collect(), text: text.map(str::to_owned) }
}

#[tokio::test]
async fn answers_are_told_question_by_question() {
    let answers = vec![answer(&["SQLite"], None), answer(&["Orders", "Stock"], Some(" not the old ones "))];
    let person = somebody(Some(Reply::Answered(answers)));
    let tool = AskUserQuestion::new(person.clone());
    let output = call_whole(&tool, json!({ "questions": [storage(), parts()] })).await.unwrap();
    assert_eq!(
        text(&output),
        "The person answered:\n- Where are orders kept? SQLite\n- Which parts? Orders, Stock; and in their own words: not \
         the old ones"
    );
    assert_eq!(output.details.unwrap()["answers"][0]["answer"], json!({ "chosen": ["SQLite"] }));
    let asked = person.asked.lock().unwrap();
    assert_eq!((asked[0].call.as_str(), asked[0].questions.len()), ("call-1", 2));
}

#[tokio::test]
async fn declined_and_nobody_tell_the_model_to_decide() {
    let ask = json!({ "questions": [storage()] });
    let declined = somebody(Some(Reply::Declined { reason: Some("you choose".to_owned()) }));
    assert_eq!(
        call(&AskUserQuestion::new(declined), ask.clone()).await.unwrap(),
        "The person does not want to answer. They said: \"you choose\". Decide yourself, take what can be changed later, \
         and say what you assumed."
    );
    assert_eq!(
        call(&AskUserQuestion::new(Arc::new(Nobody)), ask).await.unwrap_err(),
        "Nobody is there to answer: this run is not watched. Decide yourself, take what can be changed later, and say in \
         your answer what you assumed. Do not ask again in this run."
    );
}

#[tokio::test]
async fn a_question_is_withdrawn_when_the_call_is_stopped() {
    let cancel = CancellationToken::new();
    let cx = ToolCx::new(mica_agent::RunId::fresh(), CallId::from("c"), cancel.clone(), |_| {});
    let tool = AskUserQuestion::new(somebody(None));
    let Value::Object(args) = json!({ "questions": [storage()] }) else { unreachable!() };
    let (asked, ()) = tokio::join!(tool.call(args, &cx), async { cancel.cancel() });
    assert_eq!(asked.unwrap_err().message, "The question was withdrawn before it was answered.");
}

#[tokio::test]
async fn questions_that_make_no_sense_bother_nobody() {
    let person = somebody(None);
    let tool = AskUserQuestion::new(person.clone());
    let with = |key: &str, value: Value| {
        let mut question = storage();
        question[key] = value;
        json!([question])
    };
    for (questions, said) in [
        (json!([]), "0 questions were given; one to four can be asked at once."),
        (json!(vec![storage(); 5]), "5 questions were given; one to four can be asked at once."),
        (with("header", json!(" ")), "A question needs a header and a text."),
        (with("options", json!([{ "label": "a" }])), "\"Storage\" has 1 options; two to six can be given."),
        (
            with("options", json!([{ "label": "a" }, { "label": "A " }])),
            "\"Storage\" has the option \"A\" twice.",
        ),
        (
            with("options", json!([{ "label": "a" }, { "label": "" }])),
            "An option of \"Storage\" has no label.",
        ),
    ] {
        let error = call(&tool, json!({ "questions": questions })).await.unwrap_err();
        assert_eq!(error, format!("{said} Nothing was asked."));
    }
    assert!(person.asked.lock().unwrap().is_empty());
}

#[test]
fn answers_that_do_not_fit_are_told_why() {
    let choice = |label: &str| Choice { label: label.to_owned(), description: None };
    let question = Question {
        header: "Storage".to_owned(),
        question: "Where?".to_owned(),
        options: vec![choice("SQLite"), choice("Postgres")],
        multi_select: false,
    };
    let inquiry = Inquiry { call: CallId::from("c"), questions: vec![question] };
    for (answers, said) in [
        (vec![answer(&["SQLite"], None)], None),
        (vec![answer(&[], Some("a heap of files"))], None),
        (vec![], Some("1 questions were asked and 0 answers were given")),
        (
            vec![answer(&["Oracle"], None)],
            Some("Storage: there is no choice \"Oracle\"; the choices are SQLite, Postgres"),
        ),
        (vec![answer(&["SQLite", "Postgres"], None)], Some("Storage: only one can be chosen")),
        (
            vec![answer(&[], Some(" "))],
            Some("Storage: choose one of SQLite, Postgres, or answer in your own words"),
        ),
    ] {
        assert_eq!(inquiry.check(&answers).err().as_deref(), said);
    }
}
