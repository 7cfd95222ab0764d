//! A question that a running call asks, as a person reads it, and what they type as an answer to it.
//!
//! A line is a choice when it has nothing but numbers, or is a label; anything else is the person's own words.

use std::fmt::Write as _;

use mica_tools::person::{Answer, Question};

use super::question::plain;

/// The question, without a line break at its end. `number` is its place among `count`.
pub fn question(question: &Question, number: usize, count: usize) -> String {
    let mut text = plain(question.header.trim());
    if count > 1 {
        let _ = write!(text, " ({number} of {count})");
    }
    let _ = write!(text, ": {}", plain(question.question.trim()));
    for (at, option) in question.options.iter().enumerate() {
        let _ = write!(text, "\n  {}  {}", at + 1, plain(option.label.trim()));
        if let Some(about) = option.description.as_deref().filter(|about| !about.trim().is_empty()) {
            let _ = write!(text, " — {}", plain(about.trim()));
        }
    }
    let answers = match (question.options.is_empty(), question.multi_select) {
        (true, _) => "your words",
        (false, true) => "numbers such as 1 2, your own words",
        (false, false) => "a number, your own words",
    };
    let _ = write!(text, "\n  {answers}, or /decline:");
    text
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// An answer.
    Answer(Answer),
    /// The person does not want to answer.
    Decline,
    /// No answer, and why when that is not plain.
    Again(Option<String>),
}

/// Reads what was typed.
pub fn read(question: &Question, line: &str) -> Typed {
    let line = line.trim();
    if line.is_empty() {
        return Typed::Again(None);
    }
    if line == "/decline" {
        return Typed::Decline;
    }
    let label = |label: &str| Answer { chosen: vec![label.to_owned()], text: None };
    if let Some(option) =
        question.options.iter().find(|option| option.label.trim().eq_ignore_ascii_case(line))
    {
        return Typed::Answer(label(&option.label));
    }
    if question.options.is_empty() {
        return Typed::Answer(Answer { chosen: Vec::new(), text: Some(unquoted(line).to_owned()) });
    }
    let words = line.split([' ', ',', ';']).filter(|word| !word.is_empty());
    let Some(numbers) = words.map(|word| word.parse::<usize>().ok()).collect::<Option<Vec<usize>>>() else {
        return Typed::Answer(Answer { chosen: Vec::new(), text: Some(unquoted(line).to_owned()) });
    };
    let mut answer = Answer::default();
    for number in numbers {
        match number.checked_sub(1).and_then(|at| question.options.get(at)) {
            Some(option) if answer.chosen.contains(&option.label) => {}
            Some(option) => answer.chosen.push(option.label.clone()),
            None => {
                let last = question.options.len();
                return Typed::Again(Some(format!(
                    "there is no choice {number}: 1 to {last}, or \"{line}\" in quotes if it is your own words"
                )));
            }
        }
    }
    if answer.chosen.len() > 1 && !question.multi_select {
        return Typed::Again(Some("only one can be chosen".to_owned()));
    }
    Typed::Answer(answer)
}

/// Words in quotes are words, also when they are a number.
fn unquoted(line: &str) -> &str {
    line.strip_prefix('"')
        .and_then(|line| line.strip_suffix('"'))
        .filter(|words| !words.is_empty())
        .unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use mica_tools::person::Choice;

    use super::*;

    fn storage(multi_select: bool) -> Question {
        let choice = |label: &str, about: Option<&str>| Choice {
            label: label.to_owned(),
            description: about.map(str::to_owned),
        };
        Question {
            header: "Storage".to_owned(),
            question: "Where are orders kept?".to_owned(),
            options: vec![
                choice("SQLite", Some("one file")),
                choice("Postgres", None),
                choice("Files\u{7}", None),
            ],
            multi_select,
        }
    }

    #[test]
    fn a_question_as_it_looks() {
        assert_eq!(
            question(&storage(false), 1, 1),
            "Storage: Where are orders kept?\n  1  SQLite — one file\n  2  Postgres\n  3  Files\\u{7}\n  a number, your own \
             words, or /decline:"
        );
        let second = question(&storage(true), 2, 3);
        assert!(second.starts_with("Storage (2 of 3): Where"), "{second}");
        assert!(second.ends_with("\n  numbers such as 1 2, your own words, or /decline:"), "{second}");
    }

    #[test]
    fn what_is_typed_is_a_choice_or_words() {
        let chosen = |labels: &[&str]| {
            Typed::Answer(Answer {
                chosen: labels.iter().map(|label| (*label).to_owned()).collect(),
                text: None,
            })
        };
        let words = |text: &str| Typed::Answer(Answer { chosen: Vec::new(), text: Some(text.to_owned()) });
        let again = |why: &str| Typed::Again(Some(why.to_owned()));
        for (multi, line, expected) in [
            (false, "2", chosen(&["Postgres"])),
            (false, " sqlite ", chosen(&["SQLite"])),
            (false, "in memory", words("in memory")),
            (false, "2 of them", words("2 of them")),
            (false, "\"7\"", words("7")),
            (false, "", Typed::Again(None)),
            (false, "/decline", Typed::Decline),
            (false, "1 2", again("only one can be chosen")),
            (false, "7", again("there is no choice 7: 1 to 3, or \"7\" in quotes if it is your own words")),
            (false, "0", again("there is no choice 0: 1 to 3, or \"0\" in quotes if it is your own words")),
            (true, "1, 2", chosen(&["SQLite", "Postgres"])),
            (true, "2 2 1", chosen(&["Postgres", "SQLite"])),
        ] {
            assert_eq!(read(&storage(multi), line), expected, "{line}");
        }
    }
}
