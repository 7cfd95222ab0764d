//! Rules about commands that people gave beforehand: `shell(mvn test)`, in settings and as flags.
//!
//! What is allowed is compared with commands as they were read, never with the text by a pattern: `git *` as a pattern of
//! text would let `git status; rm -r .` through. What is denied is looked for in every command of the line, and rather
//! found once too often.
//!
//! Invariant: nothing here lifts what is blocked.

use super::{Judgement, Prefix, Remembered, Scope, ShellRules};

/// What people gave beforehand.
#[derive(Debug, Clone, Default)]
pub struct Given {
    everything: bool,
    lines: Vec<String>,
    prefixes: Vec<Prefix>,
    denied: Vec<(String, Vec<String>)>,
}

impl Given {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows everything that would be asked about.
    #[must_use]
    pub fn allow_everything(mut self) -> Self {
        self.everything = true;
        self
    }

    /// Allows the command line that is exactly this, and commands that begin with these words where an approval could be
    /// remembered by them. A `*` behind the words says the same, without the exact line; alone it allows everything.
    #[must_use]
    pub fn allow(mut self, text: &str) -> Self {
        let text = text.trim();
        match beginning(text) {
            Some(words) if words.is_empty() => self.everything = true,
            Some(words) => self.prefixes.push(Prefix { words }),
            None => {
                self.lines.push(text.to_owned());
                self.prefixes.push(Prefix { words: words(text) });
            }
        }
        self
    }

    /// Denies every line with a command that has these words in it, in this order. A `*` behind them changes nothing;
    /// alone it denies everything.
    #[must_use]
    pub fn deny(mut self, text: &str) -> Self {
        let text = text.trim();
        self.denied.push((text.to_owned(), beginning(text).unwrap_or_else(|| words(text))));
        self
    }

    /// Adds what can be decided by first words to rules, where it counts as what was remembered does.
    pub(super) fn remember_in(&self, rules: &mut ShellRules) {
        for prefix in &self.prefixes {
            rules.remember(Remembered { prefix: prefix.clone(), scope: Scope::Session });
        }
    }

    /// Whether everything that would be asked about is allowed.
    pub fn allows_everything(&self) -> bool {
        self.everything
    }

    /// The rule that denies a command.
    pub fn denies(&self, judged: &Judgement) -> Option<&str> {
        let fits = |wanted: &[String]| judged.parts.iter().any(|part| has(&words(&part.command), wanted));
        self.denied.iter().find(|(_, words)| fits(words)).map(|(text, _)| text.as_str())
    }

    /// Whether a command that would be asked about is allowed. What cannot be seen through may be what is denied.
    pub(super) fn allows(&self, command: &str, judged: &Judgement, rules: &ShellRules) -> bool {
        self.lines.iter().any(|line| line == command.trim())
            || (self.everything && (self.denied.is_empty() || self.is_seen(judged, rules)))
    }

    /// Whether every word that could make a command one that is denied is known.
    fn is_seen(&self, judged: &Judgement, rules: &ShellRules) -> bool {
        let could = |command: &str| {
            let words = words(command);
            self.denied.iter().any(|(_, wanted)| could_have(&words, wanted, rules))
        };
        judged.split.is_plain()
            && judged.parts.iter().all(|part| part.rule != "opaque" && !could(&part.command))
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The words before a `*` that says "and whatever follows": `git *`, `git:*`, `*`.
fn beginning(text: &str) -> Option<Vec<String>> {
    let before = text.strip_suffix('*')?;
    let before = before.strip_suffix(':').unwrap_or(before);
    // `src/*` and `a*` are names of files and none of ours.
    let is_word_of_its_own = before.is_empty() || before.ends_with(' ') || before.len() + 2 == text.len();
    is_word_of_its_own.then(|| words(before))
}

/// Whether words occur in a command in their order, options and wrappers in between or not. The program may be named by
/// its path.
fn has(command: &[String], wanted: &[String]) -> bool {
    let mut wanted = wanted.iter();
    let mut next = wanted.next();
    let mut is_first = true;
    for word in command {
        let Some(want) = next else { return true };
        let name = if is_first { word.rsplit('/').next().unwrap_or(word) } else { word };
        if name == want || word == want {
            is_first = false;
            next = wanted.next();
        }
    }
    next.is_none()
}

/// Whether a command could turn out to have the wanted words in it when those of its words are known that are not known
/// yet. Before the first of them such a word counts where a command may begin; behind it, where the next word that is no
/// option stands: `git commit -m "$X"` is not `git push`.
fn could_have(command: &[String], wanted: &[String], rules: &ShellRules) -> bool {
    let Some(name) = command.first() else { return false };
    let starts_others = is_dynamic(name) || rules.starts_others(name);
    // What these read becomes words at the end.
    let fed = command.iter().any(|word| matches!(word.rsplit('/').next(), Some("xargs" | "parallel")));
    let more = fed.then(|| "\u{2026}".to_owned());
    let mut wanted = wanted.iter();
    let mut next = wanted.next();
    let (mut begun, mut passed, mut behind_option) = (false, false, false);
    for (index, word) in command.iter().chain(&more).enumerate() {
        let Some(want) = next else { return true };
        let is_option = word.starts_with('-');
        let base = word.rsplit('/').next().unwrap_or(word);
        let may_be = if begun { !passed } else { index == 0 || starts_others };
        if word == want || (!begun && base == want) {
            next = wanted.next();
            (begun, passed) = (true, false);
        } else if may_be && is_dynamic(word) && could_be(word, want) {
            if could_be(word, "") {
                // All of it may be any number of words.
                return true;
            }
            next = wanted.next();
            (begun, passed) = (true, false);
        } else if begun && !is_option && !behind_option {
            passed = true;
        }
        behind_option = is_option;
    }
    next.is_none()
}

/// Whether a word, as it is shown, has something in it that is known only when it runs.
fn is_dynamic(word: &str) -> bool {
    word.contains(DYNAMIC) || word.contains("{}")
}

/// The signs of variables, substitutions and patterns.
const DYNAMIC: [char; 5] = ['$', '\u{2026}', '*', '?', '['];

/// Whether a word whose middle is not known could be another. What follows the name of a variable is not told apart from
/// the name.
fn could_be(word: &str, want: &str) -> bool {
    let start = word.find(DYNAMIC).or_else(|| word.find("{}")).unwrap_or(0);
    let named = word.contains('$') || word.contains("{}") || word.contains('[');
    let end =
        word.rfind(DYNAMIC).map_or(word.len(), |at| word.get(at..).map_or(at, |rest| at + first_len(rest)));
    let before = word.get(..start).unwrap_or("");
    let after = if named { "" } else { word.get(end..).unwrap_or("") };
    want.len() >= before.len() + after.len() && want.starts_with(before) && want.ends_with(after)
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests;
