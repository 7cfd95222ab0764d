//! Two opinions as one: what the other server says that was not said already.

use std::collections::BTreeSet;

use super::Foreign;

/// How many words two messages must share to say the same, out of 1.
const SHARED: f64 = 0.5;
/// How alike two messages must be letter by letter, out of 1.
const ALIKE: f64 = 0.7;

/// Something that was found here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ours<'a> {
    /// Its line, from 1.
    pub line: u32,
    /// What it says.
    pub message: &'a str,
}

/// What the other server found and nobody said yet: neither we in the same line, nor it itself twice.
pub fn merged<'a>(ours: &[Ours<'_>], theirs: &'a [Foreign]) -> Vec<&'a Foreign> {
    let mut kept: Vec<&Foreign> = Vec::new();
    for one in theirs {
        let known = ours.iter().any(|our| our.line == one.line && says_the_same(our.message, &one.message))
            || kept
                .iter()
                .any(|before| before.line == one.line && says_the_same(&before.message, &one.message));
        if !known {
            kept.push(one);
        }
    }
    kept.sort_by_key(|one| (one.line, one.column));
    kept
}

/// Whether two messages say the same in other words.
fn says_the_same(one: &str, two: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .map(str::to_lowercase)
            .collect()
    };
    let (first, second) = (words(one), words(two));
    let fewer = first.len().min(second.len());
    #[allow(clippy::cast_precision_loss, reason = "words of a message are few")]
    let shared = if fewer == 0 { 0.0 } else { first.intersection(&second).count() as f64 / fewer as f64 };
    shared >= SHARED || strsim::sorensen_dice(one, two) >= ALIKE
}

#[cfg(test)]
mod tests {
    use synapse_lang::diagnostic::Severity;

    use super::*;

    fn foreign(line: u32, message: &str) -> Foreign {
        let (message, source) = (message.to_owned(), "other".to_owned());
        Foreign { line, column: 1, severity: Severity::Error, message, code: None, source }
    }

    #[test]
    fn what_was_said_is_not_said_again() {
        let ours = [
            Ours { line: 3, message: "There is no mediator logg; did you mean log?" },
            Ours { line: 9, message: "The attribute name is missing" },
        ];
        let theirs = [
            foreign(9, "cvc-datatype-valid.1: 'abc' is no integer"),
            foreign(9, "Attribute name is missing on this element"),
            foreign(3, "No such mediator: logg"),
            foreign(4, "There is no mediator logg; did you mean log?"),
            foreign(4, "There is no mediator logg, did you mean log"),
        ];
        let kept: Vec<String> = merged(&ours, &theirs).iter().map(ToString::to_string).collect();
        assert_eq!(
            kept,
            [
                "4:1: error: There is no mediator logg; did you mean log? [other]",
                "9:1: error: cvc-datatype-valid.1: 'abc' is no integer [other]",
            ]
        );
    }
}
