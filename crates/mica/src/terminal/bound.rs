//! Keys that extensions bind at the prompt: how they are written, and which there can be.
//!
//! A key that is bound ends the line as it is; whoever waits for a line is told the key, and the next line begins as this one
//! was. What moves, sends or ends a line stays the editor's.

use std::sync::{Arc, Mutex, PoisonError};

use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, KeyCode, KeyEvent, Modifiers, RepeatCount,
};

/// Letters that belong to the editor or the terminal together with Ctrl: to send and end a line, to stop, to go back, to
/// write and to move in it.
const TAKEN: &str = "abcdefhijklmnpqrsuvwyz";

/// A key, as extensions write it: `ctrl+t`, `alt+x`, `f5`.
///
/// # Errors
/// In words, why it cannot be bound.
pub fn read(key: &str) -> Result<KeyEvent, String> {
    let lower = key.trim().to_lowercase();
    let mut modifiers = Modifiers::NONE;
    let mut parts: Vec<&str> = lower.split('+').map(str::trim).collect();
    let last = parts.pop().filter(|last| !last.is_empty()).ok_or("it names no key")?;
    for part in parts {
        modifiers |= match part {
            "ctrl" | "control" => Modifiers::CTRL,
            "alt" | "meta" | "option" => Modifiers::ALT,
            "shift" => Modifiers::SHIFT,
            other => return Err(format!("there is no modifier {other:?}; there are ctrl, alt and shift")),
        };
    }
    let number = last.strip_prefix('f').and_then(|number| number.parse::<u8>().ok());
    let mut letters = last.chars();
    let code = match (letters.next(), letters.next(), number) {
        (_, _, Some(number @ 1..=12)) => KeyCode::F(number),
        (Some(letter), None, _) => return with_letter(letter, modifiers),
        _ => {
            return Err(
                "terminals have letters with ctrl or alt, and f1 to f12, for others to bind".to_owned()
            );
        }
    };
    Ok(KeyEvent(code, modifiers))
}

fn with_letter(letter: char, modifiers: Modifiers) -> Result<KeyEvent, String> {
    if modifiers.contains(Modifiers::SHIFT) {
        return Err("terminals do not tell shift with a letter; use ctrl, alt or a function key".to_owned());
    }
    if modifiers == Modifiers::CTRL {
        if TAKEN.contains(letter) || !letter.is_ascii_alphabetic() {
            return Err("it belongs to the line editor or the terminal".to_owned());
        }
        return Ok(KeyEvent(KeyCode::Char(letter.to_ascii_uppercase()), modifiers));
    }
    if modifiers.contains(Modifiers::ALT) && letter.is_ascii_graphic() {
        return Ok(KeyEvent(KeyCode::Char(letter), modifiers));
    }
    Err("a letter alone is typed; use ctrl, alt or a function key".to_owned())
}

/// The key that ended a line.
#[derive(Clone, Default)]
pub struct Pressed(Arc<Mutex<Option<String>>>);

impl Pressed {
    /// Takes it.
    pub fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What notes one of them.
    pub fn by(&self, key: &str) -> Box<dyn ConditionalEventHandler> {
        Box::new(Notes { key: key.to_owned(), pressed: self.clone() })
    }
}

struct Notes {
    key: String,
    pressed: Pressed,
}

impl ConditionalEventHandler for Notes {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        *self.pressed.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.key.clone());
        Some(Cmd::AcceptLine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_as_extensions_write_them() {
        let letter = |letter: char, modifiers| Ok(KeyEvent(KeyCode::Char(letter), modifiers));
        for (key, expect) in [
            ("ctrl+t", letter('T', Modifiers::CTRL)),
            (" Ctrl + G ", letter('G', Modifiers::CTRL)),
            ("alt+x", letter('x', Modifiers::ALT)),
            ("ctrl+alt+t", letter('t', Modifiers::CTRL | Modifiers::ALT)),
            ("f5", Ok(KeyEvent(KeyCode::F(5), Modifiers::NONE))),
            ("shift+f5", Ok(KeyEvent(KeyCode::F(5), Modifiers::SHIFT))),
            ("ctrl+c", Err("it belongs to the line editor or the terminal")),
            (
                "ctrl+shift+t",
                Err("terminals do not tell shift with a letter; use ctrl, alt or a function key"),
            ),
            ("t", Err("a letter alone is typed; use ctrl, alt or a function key")),
            ("hyper+t", Err("there is no modifier \"hyper\"; there are ctrl, alt and shift")),
            ("ctrl+", Err("it names no key")),
            ("enter", Err("terminals have letters with ctrl or alt, and f1 to f12, for others to bind")),
        ] {
            assert_eq!(read(key), expect.map_err(str::to_owned), "{key}");
        }
    }
}
