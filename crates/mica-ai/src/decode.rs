//! From bytes to events to a message, without any input or output: what the network driver, the property tests and
//! the fuzzers all run.

use std::sync::Arc;

use crate::assemble::Assembler;
use crate::dialect::{self, Mapper, Progress};
use crate::error::{AiError, CutPoint};
use crate::event::StreamEvent;
use crate::message::{Assistant, Dialect};
use crate::model::Model;
use crate::sse::{SseError, SseReader};
use crate::stream::Outcome;

/// Decodes the body of one streamed answer.
pub struct Decoder {
    sse: SseReader,
    mapper: Box<dyn Mapper>,
    out: Assembler,
    end: Option<Result<(), AiError>>,
    heard: bool,
}

impl Decoder {
    /// A decoder for a dialect, building onto an empty message.
    pub fn new(dialect: Dialect, message: Assistant, model: Arc<Model>) -> Self {
        Self {
            sse: SseReader::default(),
            mapper: dialect::mapper(dialect),
            out: Assembler::new(message, model),
            end: None,
            heard: false,
        }
    }

    /// Takes bytes. Answers whether the answer has ended; what follows is ignored.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        if self.end.is_none() {
            self.sse.push(bytes);
            self.end = self.drain();
        }
        self.end.is_some()
    }

    /// The events since the last time this was asked.
    pub fn events(&mut self) -> &mut Vec<StreamEvent> {
        self.out.events()
    }

    /// The connection is over: in good order, or with an error. Answers the outcome.
    ///
    /// Closing events of blocks may have been added: take [`events`](Self::events) first by passing `last`.
    pub fn finish(mut self, connection: Option<AiError>, last: &mut Vec<StreamEvent>) -> Outcome {
        if self.end.is_none() {
            self.end = Some(self.at_connection_end(connection));
        }
        if matches!(self.end, Some(Ok(()))) {
            self.out.close_all();
        }
        last.append(self.out.events());
        let message = self.out.finish();
        match self.end {
            Some(Err(error)) => Outcome::Failed { partial: message, error },
            Some(Ok(())) | None => Outcome::Done(message),
        }
    }

    fn drain(&mut self) -> Option<Result<(), AiError>> {
        loop {
            match self.sse.next_event() {
                Ok(None) => return None,
                Ok(Some(event)) => {
                    self.heard = true;
                    match self.mapper.event(event, &mut self.out) {
                        Ok(Progress::More) => {}
                        Ok(Progress::Finished) => return Some(Ok(())),
                        Err(error) => return Some(Err(error)),
                    }
                }
                Err(error @ (SseError::TooLarge { .. } | SseError::NotText)) => {
                    return Some(Err(AiError::Protocol { detail: error.to_string() }));
                }
            }
        }
    }

    fn at_connection_end(&mut self, connection: Option<AiError>) -> Result<(), AiError> {
        let when = if self.sse.is_inside_event() {
            CutPoint::InsideEvent
        } else if self.heard {
            CutPoint::BetweenEvents
        } else {
            CutPoint::BeforeAnyEvent
        };
        match connection {
            Some(AiError::StreamCut { source, .. }) => return Err(AiError::StreamCut { when, source }),
            Some(other) => return Err(other),
            None => {}
        }
        if when == CutPoint::InsideEvent {
            // Some servers leave out the blank line after their last event. A cut event does not parse.
            self.sse.push(b"\n\n");
            match self.drain() {
                Some(Err(AiError::Protocol { .. })) | None => {}
                Some(end) => return end,
            }
        }
        match self.mapper.connection_ended(&mut self.out) {
            Progress::Finished => Ok(()),
            Progress::More => Err(AiError::StreamCut { when, source: None }),
        }
    }
}

#[cfg(test)]
mod tests;
