//! Text as providers can take it.

use std::borrow::Cow;

/// Removes what JSON can carry but providers refuse: NUL characters, and the code points that stand where a broken
/// surrogate was (U+FFFE and U+FFFF, which are no characters). Rust text cannot hold the surrogates themselves; text
/// that came in lossily has U+FFFD in their place, which is harmless.
pub fn clean(text: &str) -> Cow<'_, str> {
    let refused = |c: char| matches!(c, '\0' | '\u{FFFE}' | '\u{FFFF}');
    if text.contains(refused) { Cow::Owned(text.replace(refused, "")) } else { Cow::Borrowed(text) }
}
