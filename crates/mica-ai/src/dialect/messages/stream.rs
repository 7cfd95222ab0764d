//! Maps the events of a Messages stream to blocks.

use crate::assemble::Assembler;
use crate::dialect::{Mapper, Progress};
use crate::error::AiError;
use crate::sse::SseEvent;

/// Understands the events of one answer.
#[derive(Debug, Default)]
pub struct MessagesMapper {}

impl Mapper for MessagesMapper {
    fn event(&mut self, _event: &SseEvent, _out: &mut Assembler) -> Result<Progress, AiError> {
        Ok(Progress::More)
    }
}
