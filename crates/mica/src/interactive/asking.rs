//! A question that a person is answering, one call after the other.

use mica_agent::{Ask, Decision};

use crate::questions::Question;
use crate::render::question::{self, Length};
use crate::render::text::TextPrinter;

/// A question, and the answers so far.
pub struct Open {
    question: Question,
    given: Vec<Decision>,
}

impl Open {
    /// A question without answers.
    pub fn new(question: Question) -> Self {
        Self { question, given: Vec::new() }
    }

    /// The question, as if nothing was answered.
    pub fn into_question(self) -> Question {
        self.question
    }

    fn current(&self) -> Option<&Ask> {
        self.question.asks.get(self.given.len())
    }

    /// Asks about the next call.
    pub fn ask(&self, printer: &TextPrinter, length: Length) {
        if let Some(ask) = self.current() {
            printer.ask(ask, length);
        }
    }

    /// Takes an answer. `None` when all are given, or when one is to be remembered: the others may be covered by it, and
    /// are asked again if they are not. An empty line is no answer: Enter is hit too easily.
    pub fn answered(mut self, line: &str, printer: &TextPrinter) -> Option<Self> {
        let ask = self.current()?;
        let given = match line.trim().to_lowercase().as_str() {
            "" => {
                self.ask(printer, Length::Short);
                return Some(self);
            }
            "a" | "all" => {
                self.ask(printer, Length::Whole);
                return Some(self);
            }
            "y" | "yes" => Decision::Allow,
            "n" | "no" => Decision::Deny { reason: "no".to_owned() },
            word => match question::picked(ask, word) {
                Some(proposal) => Decision::AllowAndRemember { remember: proposal.clone() },
                // A letter is no reason: it is a choice that this question does not have.
                None if question::is_choice(word) => {
                    printer.say("…", &format!("there is no choice {word} here"));
                    self.ask(printer, Length::Short);
                    return Some(self);
                }
                None => Decision::Deny { reason: line.trim().to_owned() },
            },
        };
        let remembers = given.remembers().is_some();
        self.given.push(given);
        if remembers {
            self.given.resize(self.question.asks.len(), Decision::Later);
        }
        if self.given.len() == self.question.asks.len() {
            let _ = self.question.reply.send(self.given);
            return None;
        }
        self.ask(printer, Length::Short);
        Some(self)
    }
}
