//! The flags of a run that were given, as they are typed: one list for whoever refuses some of them, and for whoever hands
//! them on to another command.
//!
//! Promise: all flags are in it, so that one that is added is thought about wherever the list is used. What [`typed`] writes,
//! a shell reads as the same words.

use std::ffi::{OsStr, OsString};

use clap::ValueEnum;

use super::{Output, RunFlags};

/// A flag that was given. One that was given several times is several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its long name, with the dashes.
    pub flag: &'static str,
    /// What follows it.
    pub value: Option<OsString>,
}

impl Given {
    /// A flag with something behind it.
    pub fn with(flag: &'static str, value: impl Into<OsString>) -> Self {
        Self { flag, value: Some(value.into()) }
    }

    /// A flag that stands alone.
    pub fn alone(flag: &'static str) -> Self {
        Self { flag, value: None }
    }
}

impl RunFlags {
    /// The flags that were given.
    pub fn given(&self) -> Vec<Given> {
        let Self {
            prompt,
            output,
            show_thinking,
            go_on,
            resume,
            no_session,
            model,
            dialect,
            base_url,
            api_key_env,
            effort,
            max_turns,
            max_cost,
            max_time,
            mode,
            pack,
            allow,
            yes,
            plain,
            extension,
            directory,
        } = self;
        let one = |flag, value: &Option<String>| value.as_ref().map(|value| Given::with(flag, value));
        let alone = |flag, is_given: bool| is_given.then(|| Given::alone(flag));
        let number = |flag, value: Option<String>| value.map(|value| Given::with(flag, value));
        let form = |output: &Output| output.to_possible_value().map(|value| value.get_name().to_owned());
        let mut given: Vec<Given> = [
            one("--prompt", prompt),
            number("--output", output.as_ref().and_then(form)),
            alone("--show-thinking", *show_thinking),
            alone("--continue", *go_on),
            one("--resume", resume),
            alone("--no-session", *no_session),
            one("--model", model),
            one("--dialect", dialect),
            one("--base-url", base_url),
            one("--api-key-env", api_key_env),
            one("--effort", effort),
            number("--max-turns", max_turns.map(|most| most.to_string())),
            number("--max-cost", max_cost.map(|most| most.to_string())),
            number("--max-time", max_time.map(|most| most.to_string())),
            one("--mode", mode),
            one("--pack", pack),
        ]
        .into_iter()
        .flatten()
        .collect();
        given.extend(allow.iter().map(|rule| Given::with("--allow", rule)));
        given.extend([alone("--yes", *yes), alone("--plain", *plain)].into_iter().flatten());
        given.extend(extension.iter().map(|path| Given::with("--extension", path)));
        given.extend(directory.iter().map(|folder| Given::with("--directory", folder)));
        given
    }
}

/// Flags as they are typed, each with a space before it.
pub fn typed<'a>(given: impl IntoIterator<Item = &'a Given>) -> String {
    let one = |given: &Given| match &given.value {
        None => format!(" {}", given.flag),
        // What looks like a flag is none when it is joined to one.
        Some(value) if value.as_encoded_bytes().starts_with(b"-") => {
            format!(" {}={}", given.flag, quoted(value))
        }
        Some(value) => format!(" {} {}", given.flag, quoted(value)),
    };
    given.into_iter().map(one).collect()
}

/// A word as a shell reads it. Whatever a terminal would obey, and would not show, is spelled out.
pub fn quoted(word: &OsStr) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_safe) => text.to_owned(),
        Some(text) if crate::render::question::plain(text) == text => {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
        _ => {
            let one = |byte: &u8| match byte {
                b'\'' => "\\'".to_owned(),
                b'\\' => "\\\\".to_owned(),
                0x20..0x7f => char::from(*byte).to_string(),
                byte => format!("\\x{byte:02x}"),
            };
            // Two digits are one byte: what follows is none of them.
            format!("$'{}'", word.as_encoded_bytes().iter().map(one).collect::<Vec<_>>().join(""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_words() {
        for (word, expect) in [
            ("plain-word_1.2/x:y", "plain-word_1.2/x:y"),
            ("", "''"),
            ("my desk", "'my desk'"),
            ("it's", "'it'\\''s'"),
            ("$(rm -r x) `y`", "'$(rm -r x) `y`'"),
            ("tab\there", "$'tab\\x09here'"),
            ("a\nb'c\\", "$'a\\x0ab\\'c\\\\'"),
            ("\u{202e}x", "$'\\xe2\\x80\\xaex'"),
            ("käse", "'käse'"),
        ] {
            assert_eq!(quoted(OsStr::new(word)), expect, "{word:?}");
        }
    }

    #[test]
    fn flags_are_typed_as_they_were_given() {
        let flags = RunFlags {
            output: Some(Output::StreamJson),
            base_url: Some("http://localhost:1/v1".to_owned()),
            model: Some("my model".to_owned()),
            max_turns: Some(3),
            allow: vec!["shell(git *)".to_owned(), "-x".to_owned()],
            yes: true,
            directory: Some("../there".into()),
            ..RunFlags::default()
        };
        assert_eq!(
            typed(&flags.given()),
            " --output stream-json --model 'my model' --base-url http://localhost:1/v1 --max-turns 3 --allow 'shell(git *)' \
             --allow=-x --yes --directory ../there"
        );
        assert_eq!(typed(&RunFlags::default().given()), "");
    }
}
