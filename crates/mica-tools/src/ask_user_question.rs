//! `ask_user_question`: asks the person who watches, with choices and room for their own words.
//!
//! A person's time counts against no clock. Where nobody is there, the model is told to decide and to say what it assumed:
//! a run that nobody watches never waits.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::read;
use crate::person::{Answer, Inquiry, Person, Question, Reply};

/// The name models call it by.
pub const NAME: &str = "ask_user_question";

/// Questions at once, and choices of one: what a person can take in.
const QUESTIONS: std::ops::RangeInclusive<usize> = 1..=4;
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=6;

/// What to ask.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskArgs {
    /// One to four questions that belong together.
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<Question>,
}

/// Asks a person.
pub struct AskUserQuestion {
    person: Arc<dyn Person>,
    spec: ToolSpec,
}

impl AskUserQuestion {
    /// A tool that asks this person.
    pub fn new(person: Arc<dyn Person>) -> Self {
        let description = "Asks the person you work for, and waits for the answer. Use it when what they want decides what \
                           you do and cannot be looked up: a choice of design, a missing requirement. Put the choice you \
                           recommend first. Do not ask whether you may go on, or whether something is allowed: calls that \
                           need a yes are asked about by themselves.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<AskArgs>());
        spec.label = "Ask".to_owned();
        Self { person, spec }
    }
}

#[async_trait]
impl Tool for AskUserQuestion {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let AskArgs { questions } = read(args)?;
        if let Some(problem) = problem(&questions) {
            return Err(ToolError::new(format!("{problem} Nothing was asked.")));
        }
        let inquiry = Inquiry { call: cx.call.clone(), questions: questions.clone() };
        let answering = async {
            tokio::select! {
                biased;
                () = cx.cancel.cancelled() => None,
                reply = self.person.ask(inquiry) => Some(reply),
            }
        };
        match cx.person(json!(questions), answering).await {
            None => Err(ToolError::new("The question was withdrawn before it was answered.")),
            Some(Reply::Answered(answers)) => {
                Ok(ToolOutput::text(told(&questions, &answers)).with_details(details(&questions, &answers)))
            }
            Some(Reply::Declined { reason }) => {
                let reason =
                    reason.map(|reason| format!(" They said: {:?}.", reason.trim())).unwrap_or_default();
                let text = format!(
                    "The person does not want to answer.{reason} Decide yourself, take what can be changed later, and say \
                     what you assumed."
                );
                Ok(ToolOutput::text(text).with_details(json!({ "declined": true })))
            }
            Some(Reply::Nobody) => Err(ToolError::new(
                "Nobody is there to answer: this run is not watched. Decide yourself, take what can be changed later, and \
                 say in your answer what you assumed. Do not ask again in this run.",
            )),
        }
    }
}

/// What is wrong with the questions, and what to do.
fn problem(questions: &[Question]) -> Option<String> {
    if !QUESTIONS.contains(&questions.len()) {
        return Some(format!("{} questions were given; one to four can be asked at once.", questions.len()));
    }
    for question in questions {
        let (about, count) = (question.header.trim(), question.options.len());
        if about.is_empty() || question.question.trim().is_empty() {
            return Some("A question needs a header and a text.".to_owned());
        }
        if !OPTIONS.contains(&count) {
            return Some(format!("{about:?} has {count} options; two to six can be given."));
        }
        for (at, option) in question.options.iter().enumerate() {
            let label = option.label.trim();
            if label.is_empty() {
                return Some(format!("An option of {about:?} has no label."));
            }
            if question.options.iter().take(at).any(|other| other.label.trim().eq_ignore_ascii_case(label)) {
                return Some(format!("{about:?} has the option {label:?} twice."));
            }
        }
    }
    None
}

/// The answers as the model reads them.
fn told(questions: &[Question], answers: &[Answer]) -> String {
    let mut text = "The person answered:".to_owned();
    for (question, answer) in questions.iter().zip(answers) {
        let said = match (answer.chosen.join(", "), answer.words()) {
            (chosen, None) => chosen,
            (chosen, Some(words)) if chosen.is_empty() => format!("in their own words: {words}"),
            (chosen, Some(words)) => format!("{chosen}; and in their own words: {words}"),
        };
        text.push_str(&format!("\n- {} {said}", question.question.trim()));
    }
    text
}

fn details(questions: &[Question], answers: &[Answer]) -> serde_json::Value {
    let answers: Vec<_> = questions
        .iter()
        .zip(answers)
        .map(|(question, answer)| {
            json!({ "header": question.header, "question": question.question, "answer": answer })
        })
        .collect();
    json!({ "answers": answers })
}

#[cfg(test)]
mod tests;
