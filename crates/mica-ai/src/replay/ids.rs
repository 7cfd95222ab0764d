//! Call ids as a wire takes them.

use std::borrow::Cow;
use std::collections::HashSet;

use sha2::{Digest, Sha256};

use crate::id::CallId;
use crate::message::Dialect;

/// The longest id every provider takes.
const LONGEST: usize = 64;

/// An id that fits the wire and is not in use. An id that fits already is kept, so that a conversation stays the same
/// bytes when it goes back to where it came from.
pub(super) fn fit<'a>(id: &'a CallId, dialect: Dialect, used: &HashSet<Cow<'a, CallId>>) -> Cow<'a, CallId> {
    let fits = !id.as_str().is_empty()
        && id.as_str().len() <= LONGEST
        && id.as_str().chars().all(|c| allowed(c, dialect));
    let base = if fits { Cow::Borrowed(id) } else { Cow::Owned(rewritten(id, dialect)) };
    if !used.contains(&base) {
        return base;
    }
    // Some servers count their calls from zero in each answer; others refuse to see an id twice.
    (2u32..)
        .map(|number| {
            let suffix = format!("_{number}");
            let kept = &base.as_str()[..base.as_str().len().min(LONGEST - suffix.len())];
            Cow::Owned(CallId::from(format!("{kept}{suffix}")))
        })
        .find(|candidate| !used.contains(candidate))
        .unwrap_or(base)
}

fn allowed(c: char, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Messages => c.is_ascii_alphanumeric() || c == '_' || c == '-',
        // No rule is published for these; what some server made up is taken back as long as it is plain text.
        Dialect::Responses | Dialect::Chat => c.is_ascii_graphic(),
    }
}

/// The readable beginning of the id and a digest of all of it: two ids that differ stay different.
fn rewritten(id: &CallId, dialect: Dialect) -> CallId {
    let digest = Sha256::digest(id.as_str().as_bytes());
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let readable: String = id
        .as_str()
        .chars()
        .filter(|c| allowed(*c, Dialect::Messages) && allowed(*c, dialect))
        .take(40)
        .collect();
    CallId::from(if readable.is_empty() { format!("call_{digest}") } else { format!("{readable}_{digest}") })
}
