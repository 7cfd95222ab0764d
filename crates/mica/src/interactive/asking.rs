//! A question that a person is answering, one call after the other.

use mica_agent::{Ask, Decision};

use crate::questions::Question;
use crate::render::question::Length;
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

    /// Takes an answer. `None` when all are given. An empty line is no answer: Enter is hit too easily.
    pub fn answered(mut self, line: &str, printer: &TextPrinter) -> Option<Self> {
        self.given.push(match line.trim().to_lowercase().as_str() {
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
            _ => Decision::Deny { reason: line.trim().to_owned() },
        });
        if self.given.len() == self.question.asks.len() {
            let _ = self.question.reply.send(self.given);
            return None;
        }
        self.ask(printer, Length::Short);
        Some(self)
    }
}
