//! Text as providers can take it.

use std::borrow::Cow;

/// Removes what JSON can carry but providers refuse: NUL characters, and the code points that stand where a broken
/// surrogate was (U+FFFE and U+FFFF, which are no characters). Rust text cannot hold the surrogates themselves; text
/// that came in lossily has U+FFFD in their place, which is harmless.
pub fn clean(text: &str) -> Cow<'_, str> {
    // The bytes that such characters begin with: nearly no text has any, and looking for bytes takes a tenth of the
    // time of looking at characters.
    if memchr::memchr2(0, 0xEF, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let refused = |c: char| matches!(c, '\0' | '\u{FFFE}' | '\u{FFFF}');
    if text.contains(refused) { Cow::Owned(text.replace(refused, "")) } else { Cow::Borrowed(text) }
}
