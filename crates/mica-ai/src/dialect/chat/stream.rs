//! Maps the events of a Chat stream to blocks.

use crate::assemble::Assembler;
use crate::dialect::{Mapper, Progress};
use crate::error::AiError;
use crate::sse::SseEvent;

/// Understands the events of one answer.
#[derive(Debug, Default)]
pub struct ChatMapper {}

impl Mapper for ChatMapper {
    fn event(&mut self, _event: &SseEvent, _out: &mut Assembler) -> Result<Progress, AiError> {
        Ok(Progress::More)
    }
}

#[cfg(test)]
mod tests;
