//! Compact printing: no blanks, members in order, nulls kept, and only those characters escaped that the
//! runtime's writer escapes (not `<`, `=`, `'` or anything beyond ASCII but the two line separators).

use std::fmt::{self, Display, Formatter, Write};

use super::{Json, Number};

impl Display for Json {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(truth) => write!(out, "{truth}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::String(text) => quoted(text, out),
            Self::Array(elements) => {
                out.write_char('[')?;
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.write_char(',')?;
                    }
                    write!(out, "{element}")?;
                }
                out.write_char(']')
            }
            Self::Object(object) => {
                out.write_char('{')?;
                for (at, (name, value)) in object.iter().enumerate() {
                    if at > 0 {
                        out.write_char(',')?;
                    }
                    quoted(name, out)?;
                    write!(out, ":{value}")?;
                }
                out.write_char('}')
            }
        }
    }
}

/// A number prints as its Java class prints it; one that is still text prints as written.
impl Display for Number {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lazy(text) | Self::Big(text) => out.write_str(text),
            Self::Int(int) => write!(out, "{int}"),
            Self::Long(long) => write!(out, "{long}"),
            Self::Double(double) => out.write_str(&crate::java::double_to_string(*double)),
        }
    }
}

fn quoted(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    let mut plain_from = 0;
    for (at, character) in text.char_indices() {
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\n' => "\\n",
            '\r' => "\\r",
            '\u{c}' => "\\f",
            '\u{2028}' => "\\u2028",
            '\u{2029}' => "\\u2029",
            '\0'..='\u{1f}' => "",
            _ => continue,
        };
        out.write_str(text.get(plain_from..at).unwrap_or_default())?;
        if short.is_empty() {
            write!(out, "\\u{:04x}", u32::from(character))?;
        } else {
            out.write_str(short)?;
        }
        plain_from = at + character.len_utf8();
    }
    out.write_str(text.get(plain_from..).unwrap_or_default())?;
    out.write_char('"')
}
