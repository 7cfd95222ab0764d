//! What a name is made of.

/// How a byte takes part in markup.
const NAME: u8 = 1;
const SPACE: u8 = 2;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-' | b'.') || b >= 0x80 {
            classes[byte] = NAME;
        }
        if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            classes[byte] = SPACE;
        }
        byte += 1;
    }
    classes
};

/// Whether a byte can be part of a name; characters beyond ASCII are judged by [`is_name`].
pub(super) fn is_name_byte(byte: u8) -> bool {
    CLASSES.get(byte as usize) == Some(&NAME)
}

/// Whether a byte is white space of XML.
pub(super) fn is_space(byte: u8) -> bool {
    CLASSES.get(byte as usize) == Some(&SPACE)
}

/// Whether a byte may begin a name; characters beyond ASCII are judged by [`is_name`].
pub(super) fn is_name_start_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || byte >= 0x80
}

/// Whether a text is a name with at most one prefix.
pub(super) fn is_name(text: &str) -> bool {
    let mut parts = text.split(':');
    let (first, second) = (parts.next().unwrap_or_default(), parts.next());
    parts.next().is_none() && is_part(first) && second.is_none_or(is_part)
}

/// Whether a text is a name without a prefix.
pub(crate) fn is_part(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(is_start) && characters.all(is_continue)
}

fn is_start(character: char) -> bool {
    matches!(character,
        'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

fn is_continue(character: char) -> bool {
    is_start(character)
        || matches!(character,
            '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}
