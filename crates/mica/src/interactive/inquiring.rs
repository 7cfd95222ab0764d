//! An inquiry of a running call that a person is answering, one question after the other.

use mica_tools::Reply;
use mica_tools::person::Answer;

use crate::inquiries::Posed;
use crate::render::inquiry::{Typed, question, read};
use crate::render::text::TextPrinter;

/// An inquiry, and the answers so far.
pub struct Inquiring {
    posed: Posed,
    given: Vec<Answer>,
}

impl Inquiring {
    /// An inquiry without answers.
    pub fn new(posed: Posed) -> Self {
        Self { posed, given: Vec::new() }
    }

    /// Asks the next question.
    pub fn ask(&self, printer: &TextPrinter) {
        let (questions, at) = (&self.posed.inquiry.questions, self.given.len());
        if let Some(next) = questions.get(at) {
            printer.inquire(&question(next, at + 1, questions.len()));
        }
    }

    /// Takes an answer. `None` when all are given, or the call that asked waits no more.
    pub fn answered(mut self, line: &str, printer: &TextPrinter) -> Option<Self> {
        if self.posed.reply.is_closed() {
            return None;
        }
        let questions = &self.posed.inquiry.questions;
        match questions.get(self.given.len()).map(|next| read(next, line)) {
            None => {}
            Some(Typed::Again(why)) => {
                if let Some(why) = why {
                    printer.say("✗", &why);
                }
                self.ask(printer);
                return Some(self);
            }
            Some(Typed::Decline) => {
                let _ = self.posed.reply.send(Reply::Declined { reason: None });
                return None;
            }
            Some(Typed::Answer(answer)) => self.given.push(answer),
        }
        if self.given.len() < questions.len() {
            self.ask(printer);
            return Some(self);
        }
        let _ = self.posed.reply.send(Reply::Answered(self.given));
        None
    }
}
