//! Asking a person something: the seam to whoever can ask one, the questions, and what comes back.

use async_trait::async_trait;
use mica_ai::id::CallId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Somebody who can be asked.
///
/// Contract: `ask` waits for as long as it takes; nobody counts the time. Dropping it withdraws the question.
#[async_trait]
pub trait Person: Send + Sync {
    /// Asks, and waits for the answer.
    async fn ask(&self, inquiry: Inquiry) -> Reply;
}

/// Nobody: a run that no person watches.
pub struct Nobody;

#[async_trait]
impl Person for Nobody {
    async fn ask(&self, _: Inquiry) -> Reply {
        Reply::Nobody
    }
}

/// Questions that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inquiry {
    /// The call that asks. Answers name it.
    pub call: CallId,
    /// What is asked, in this order.
    pub questions: Vec<Question>,
}

/// One question. It can always be answered in one's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What it is about, in one or two words: "Storage".
    pub header: String,
    /// The question itself, as a whole sentence.
    pub question: String,
    /// What can be chosen, the one you would take first. The person can always answer in their own words, so there is no
    /// need for an option "other".
    #[schemars(length(min = 2, max = 6))]
    pub options: Vec<Choice>,
    /// Whether more than one can be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What it is called, in a few words.
    pub label: String,
    /// What follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Answers, one for each question.
    Answered(Vec<Answer>),
    /// The person does not want to answer.
    Declined {
        /// What they said about it.
        reason: Option<String>,
    },
    /// No person is there.
    Nobody,
}

/// The answer to one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// The labels that were chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// What was said in the person's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Answer {
    /// What was said in the person's own words, when something was.
    pub fn words(&self) -> Option<&str> {
        self.text.as_deref().map(str::trim).filter(|text| !text.is_empty())
    }
}

impl Question {
    /// Why an answer is none to this question.
    ///
    /// # Errors
    /// In words, for whoever answered.
    pub fn check(&self, answer: &Answer) -> Result<(), String> {
        let header = &self.header;
        let labels =
            || self.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>().join(", ");
        let unknown =
            answer.chosen.iter().find(|label| !self.options.iter().any(|option| option.label == **label));
        if let Some(label) = unknown {
            return Err(format!("{header}: there is no choice {label:?}; the choices are {}", labels()));
        }
        if answer.chosen.len() > 1 && !self.multi_select {
            return Err(format!("{header}: only one can be chosen"));
        }
        if answer.chosen.is_empty() && answer.words().is_none() {
            return Err(format!("{header}: choose one of {}, or answer in your own words", labels()));
        }
        Ok(())
    }
}

impl Inquiry {
    /// Why answers do not fit what is asked.
    ///
    /// # Errors
    /// In words, for whoever answered.
    pub fn check(&self, answers: &[Answer]) -> Result<(), String> {
        let (asked, given) = (self.questions.len(), answers.len());
        if asked != given {
            return Err(format!("{asked} questions were asked and {given} answers were given"));
        }
        self.questions.iter().zip(answers).try_for_each(|(question, answer)| question.check(answer))
    }
}
