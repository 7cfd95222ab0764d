//! Puts the deltas of tool calls together. The wire names a call by its `index`; servers leave it out, use 0 for
//! all, or send a fresh id with every piece, so what begins a call is judged from all that a delta says.

use crate::assemble::{Assembler, BlockIndex};
use crate::error::AiError;

use super::super::wire::CallDelta;
use super::ending::Ending;

/// The slot of the call in the older form, which has no index.
const LEGACY: u64 = u64::MAX;

/// The calls of an answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Calls before this one are open: blocks are opened in the order of the calls.
    opened: usize,
}

/// A call in the making.
#[derive(Debug)]
struct Call {
    slot: u64,
    id: String,
    name: String,
    /// `None` until the name is known to be whole, which is when arguments begin.
    block: Option<BlockIndex>,
    /// Arguments that came before the block was opened.
    early: String,
}

impl Calls {
    /// Whether there is a call in the form of today.
    pub(super) fn has_modern(&self) -> bool {
        self.calls.iter().any(|call| call.slot != LEGACY)
    }

    /// Takes a delta that was at `position` in its chunk.
    pub(super) fn take(&mut self, position: usize, delta: CallDelta<'_>, out: &mut Assembler) {
        let slot = delta.index.0.unwrap_or(position as u64);
        let is_named = |call: &Call| !delta.id.is_empty() && call.id == *delta.id;
        let in_slot = |call: &Call| call.slot == slot;
        // Without an index the id is the better name: a position says nothing about earlier chunks.
        let found = self
            .calls
            .iter()
            .rposition(|call| is_named(call) && (in_slot(call) || delta.index.0.is_none()))
            .or_else(|| self.calls.iter().rposition(in_slot));
        self.put(slot, found, delta, out);
    }

    /// Takes a delta in the older form.
    pub(super) fn take_legacy(&mut self, delta: CallDelta<'_>, out: &mut Assembler) {
        let found = self.calls.iter().rposition(|call| call.slot == LEGACY);
        self.put(LEGACY, found, delta, out);
    }

    /// Adds a delta to the call it was `found` to go on with, or to a new one.
    fn put(&mut self, slot: u64, found: Option<usize>, delta: CallDelta<'_>, out: &mut Assembler) {
        let function = delta.function.unwrap_or_default();
        let (id, name, arguments) = (&*delta.id, &*function.name, &*function.arguments.0);
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return;
        }
        let at = match found.filter(|at| !begins(&self.calls[*at], id, name, arguments, out)) {
            Some(at) => at,
            None => {
                self.calls.push(Call::new(slot));
                self.calls.len() - 1
            }
        };
        // The calls before it have their names by now.
        self.open_until(at, out);
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.block.is_none() {
            call.learn_name(name);
        }
        if arguments.is_empty() {
            return;
        }
        match call.block {
            Some(block) => out.feed(block, arguments),
            None => {
                // They are told at the opening, which waits for the names of this call and of those before it.
                call.early.push_str(arguments);
                self.open_until(at + 1, out);
            }
        }
    }

    /// Opens the calls whose arguments never began: the model is done naming them.
    pub(super) fn open_all(&mut self, out: &mut Assembler) {
        self.open_until(self.calls.len(), out);
    }

    /// Opens the calls before `end` that are not open yet, as far as they have names.
    fn open_until(&mut self, end: usize, out: &mut Assembler) {
        while self.opened < end {
            let Some(call) = self.calls.get_mut(self.opened).filter(|call| !call.name.is_empty()) else {
                return;
            };
            let block = out.open_call(&call.id, &call.name);
            out.feed(block, &std::mem::take(&mut call.early));
            call.block = Some(block);
            self.opened += 1;
        }
    }

    /// The answer is over. Calls without arguments get an empty object, but only when the server says that the
    /// model meant to call: anywhere else nothing may be made up.
    pub(super) fn finish(&mut self, ending: Ending, out: &mut Assembler) -> Result<(), AiError> {
        self.open_all(out);
        if self.opened < self.calls.len() {
            return Err(AiError::Protocol { detail: "a tool call without a name".to_owned() });
        }
        if ending == Ending::Calls {
            for block in self.calls.iter().filter_map(|call| call.block) {
                if out.len(block) == 0 {
                    out.feed(block, "{}");
                }
            }
        }
        Ok(())
    }
}

impl Call {
    fn new(slot: u64) -> Self {
        Self { slot, id: String::new(), name: String::new(), block: None, early: String::new() }
    }

    /// Takes what a delta gives as the name: the name, again the name, or its next piece.
    fn learn_name(&mut self, given: &str) {
        if given.starts_with(self.name.as_str()) {
            given.clone_into(&mut self.name);
        } else {
            self.name.push_str(given);
        }
    }
}

/// Whether a delta in the slot of `call` begins another call.
fn begins(call: &Call, id: &str, name: &str, arguments: &str, out: &Assembler) -> bool {
    if name.is_empty() {
        // Every call brings its name. An id alone begins nothing: some servers send a fresh one with each piece.
        return false;
    }
    if !id.is_empty() && !call.id.is_empty() && id != call.id {
        return true;
    }
    let Some(block) = call.block else { return false };
    if out.len(block) == 0 {
        return false;
    }
    // A name after arguments is a repetition, or the next call of a server that tells its calls apart by nothing.
    name != call.name || (arguments.trim_start().starts_with('{') && is_object(out.arguments(block)))
}

fn is_object(text: &str) -> bool {
    // The last character settles it for nearly all pieces, without reading the rest.
    text.trim_end().ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
