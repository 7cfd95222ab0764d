//! The terms of a text: identifiers whole and in their parts, words without their endings, signs.
//!
//! `FORCE_SC_ACCEPTED` is `force_sc_accepted`, `force`, `sc` and `accept`; `payloadFactory` is `payloadfactory`, `payload`
//! and `factory`; `$ctx` is `$ctx` and `ctx`; `+` is `+`.

/// A term.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Term {
    /// How it is compared.
    pub(super) text: String,
    /// Whether it is an identifier as it stands there: these decide more than words do.
    pub(super) exact: bool,
}

/// Words that every text has and no question is about. `and`, `or`, `not`, `in` and `if` are not among them: they are
/// operators, functions, or what a question is about.
const EMPTY_WORDS: &[&str] = &[
    "a", "an", "the", "of", "to", "is", "are", "be", "how", "do", "does", "i", "what", "which", "when",
    "why", "it", "this", "that", "can", "with", "for", "on", "as", "by", "from", "use", "using", "should",
    "my", "get", "where",
];

/// The terms of a text, in their order.
pub(super) fn terms(text: &str) -> Vec<Term> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut signs = String::new();
    for letter in text.chars() {
        if part_of_word(letter) {
            end_signs(&mut signs, &mut found);
            word.push(letter);
        } else {
            end_word(&mut word, &mut found);
            if is_sign(letter) {
                signs.push(letter);
            } else {
                end_signs(&mut signs, &mut found);
            }
        }
    }
    end_word(&mut word, &mut found);
    end_signs(&mut signs, &mut found);
    found
}

/// The terms of a question: without the words that say nothing, unless there are no others.
pub(super) fn asked(question: &str) -> Vec<Term> {
    let mut all = terms(question);
    let telling = |term: &Term| !EMPTY_WORDS.iter().any(|word| stem(word) == term.text);
    if all.iter().any(telling) {
        all.retain(telling);
    }
    let mut seen: Vec<Term> = Vec::new();
    all.retain(|term| {
        let new = !seen.contains(term);
        if new {
            seen.push(term.clone());
        }
        new
    });
    all
}

fn part_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':' | '$' | '@')
}

fn is_sign(letter: char) -> bool {
    matches!(letter, '+' | '*' | '/' | '%' | '=' | '!' | '<' | '>' | '&' | '?' | '~' | '^')
}

fn end_signs(signs: &mut String, found: &mut Vec<Term>) {
    if !signs.is_empty() {
        found.push(Term { text: std::mem::take(signs), exact: false });
    }
}

fn end_word(word: &mut String, found: &mut Vec<Term>) {
    let taken = std::mem::take(word);
    // A full stop or a colon ends a sentence more often than it belongs to a name.
    let whole = taken.trim_end_matches(['.', ':']).trim_start_matches(['.', ':']);
    if whole.is_empty() {
        return;
    }
    if !whole.chars().any(char::is_alphanumeric) {
        found.push(Term { text: whole.to_owned(), exact: false });
        return;
    }
    let parts = parts(whole);
    let lower = whole.to_lowercase();
    let compound = parts.len() > 1 || lower.chars().any(|letter| !letter.is_alphanumeric());
    if compound {
        // `$ctx:name` is looked for as `$ctx`.
        if let Some((scope, _)) = lower.split_once(':').filter(|(scope, _)| scope.starts_with('$')) {
            found.push(Term { text: scope.to_owned(), exact: true });
        }
        found.push(Term { text: lower, exact: true });
        let squashed: String = parts.concat();
        if parts.len() > 1 && found.last().is_none_or(|last| last.text != squashed) {
            found.push(Term { text: squashed, exact: false });
        }
    }
    for part in parts {
        let stem = stem(&part);
        found.push(Term { text: stem, exact: false });
    }
}

/// The parts of an identifier in lower case, cut at signs and before capitals.
fn parts(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut found: Vec<String> = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            found.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        let hump = letter.is_uppercase()
            && (before.is_some_and(|one| one.is_lowercase() || one.is_ascii_digit())
                || (before.is_some_and(|one| one.is_uppercase())
                    && after.is_some_and(|one| one.is_lowercase())));
        if hump {
            found.push(String::new());
        }
        if let Some(last) = found.last_mut() {
            last.extend(letter.to_lowercase());
        }
    }
    found.retain(|part| !part.is_empty());
    found
}

/// A word without its ending, roughly: enough that `escaping`, `escaped` and `escapes` meet.
fn stem(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let cut = |ending: &str, least: usize| {
        word.strip_suffix(ending)
            .filter(|rest| rest.len() >= least && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']))
    };
    if let Some(rest) = cut("ies", 2) {
        return format!("{rest}y");
    }
    let rest = cut("ations", 4)
        .or_else(|| cut("ation", 4))
        .or_else(|| cut("ating", 4))
        .or_else(|| cut("ated", 4))
        .or_else(|| cut("ates", 4))
        .or_else(|| cut("ate", 5))
        .or_else(|| cut("ing", 4))
        .or_else(|| cut("ed", 3))
        .or_else(|| cut("es", 4))
        .or_else(|| if word.ends_with("ss") { None } else { cut("s", 3) })
        .unwrap_or(word);
    let rest = rest.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(rest);
    let mut out = rest.to_owned();
    let bytes = rest.as_bytes();
    if let [.., one, two] = bytes
        && one == two
        && rest != word
        && !matches!(one, b'l' | b's')
    {
        out.pop();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        terms(text)
            .iter()
            .map(|term| if term.exact { format!("={}", term.text) } else { term.text.clone() })
            .collect()
    }

    #[test]
    fn identifiers_are_kept_and_cut() {
        for (text, expect) in [
            ("FORCE_SC_ACCEPTED", &["=force_sc_accepted", "forcescaccepted", "forc", "sc", "accept"][..]),
            ("payloadFactory args", &["=payloadfactory", "payload", "factory", "arg"]),
            ("`$ctx`", &["=$ctx", "ctx"]),
            ("$ctx:id", &["=$ctx", "=$ctx:id", "ctxid", "ctx", "id"]),
            ("integer + double", &["integer", "+", "doubl"]),
            ("media-type", &["=media-type", "mediatype", "media", "typ"]),
            ("uri.var.id.", &["=uri.var.id", "urivarid", "uri", "var", "id"]),
            ("a >= b", &["a", ">=", "b"]),
            ("x - 1", &["x", "-", "1"]),
            ("formatDateTime", &["=formatdatetime", "format", "dat", "tim"]),
            ("JSONPath", &["=jsonpath", "json", "path"]),
            ("end.", &["end"]),
        ] {
            assert_eq!(shown(text), expect, "{text}");
        }
    }

    #[test]
    fn endings_do_not_matter() {
        for words in [
            &["escape", "escapes", "escaped", "escaping"][..],
            &["mediator", "mediators"],
            &["property", "properties"],
            &["concatenate", "concatenation", "concatenating"],
            &["type", "types", "typed"],
            &["map", "mapped", "maps"],
            &["compare", "compared", "comparing"],
        ] {
            let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|one| Some(one) == stems.first()), "{words:?}: {stems:?}");
        }
        assert_ne!(stem("address"), stem("adding"));
    }

    #[test]
    fn questions_lose_the_words_that_say_nothing() {
        let words = |text: &str| asked(text).into_iter().map(|term| term.text).collect::<Vec<_>>();
        assert_eq!(words("how do I use the log mediator"), ["log", "mediator"]);
        assert_eq!(words("what is this"), ["what", "is", "thi"]);
        assert_eq!(words("log log"), ["log"]);
    }
}
