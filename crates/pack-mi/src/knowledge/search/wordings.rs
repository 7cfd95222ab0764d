//! Everyday words for what the references say in words of the language.
//!
//! A question with such words is asked a second time in the other words, and the better of both answers counts. So
//! nothing that was found before gets lost, and a row that has the everyday words themselves can still win.

use super::terms::{Term, asked};

/// What people say, and what the references say. One phrase may stand here several times.
const WORDINGS: &[(&str, &str)] = &[
    ("status code", "HTTP_SC"),
    ("http status", "HTTP_SC"),
    ("response status", "HTTP_SC"),
    ("http status code", "HTTP_SC"),
    ("response status code", "HTTP_SC"),
    ("return status", "HTTP_SC respond"),
    ("set status", "HTTP_SC"),
    ("if else", "filter then else"),
    ("if then else", "filter then else"),
    ("conditional", "filter then else"),
    ("branch", "filter switch"),
    ("concatenate", "join text"),
    ("concat", "join text"),
    ("string number", "text to number integer float"),
    ("parse number", "text to number integer float"),
    ("number string", "number to text string"),
    ("substring", "subString"),
    ("catch exception", "onError fault sequence"),
    ("catch error", "onError fault sequence"),
    ("try catch", "onError fault sequence"),
    ("exception handling", "onError fault sequence"),
    ("handle exception", "onError fault sequence"),
    ("call sequence", "named sequence caller"),
    ("invoke sequence", "named sequence caller"),
    ("reuse sequence", "sequence template"),
    ("set variable", "vars.x value type"),
    ("set variable", "variable typed flow vars.x"),
    ("assign variable", "vars.x value type"),
    ("read header", "headers.X reads header"),
    ("add authorization header", "header Authorization scope transport expression"),
    ("set authorization header", "header Authorization scope transport expression"),
    ("bearer token", "Authorization Bearer"),
    ("aggregate responses", "scatter gather parallel joined result"),
    ("merge responses", "scatter gather parallel joined result"),
    ("parallel calls", "scatter-gather"),
];

/// References about a tool of their own, and the words that say it is meant. Its functions are named like those of
/// expressions, which is what a question without these words is about.
const TOOLS: &[(&str, &[&str])] = &[(
    "data-mapper-reference",
    &["dmutils", "data mapper", "datamapper", "mapping", "typescript", "mapped"],
)];

/// A question in other words.
pub(super) struct Wording {
    /// Its terms.
    pub(super) terms: Vec<Term>,
    /// The words that took the place of others.
    pub(super) words: &'static str,
}

/// A question, given by its terms, in all other words there are for it.
pub(super) fn others(question: &[Term]) -> Vec<Wording> {
    WORDINGS
        .iter()
        .filter_map(|(said, words)| {
            let said = asked(said);
            let at = place(question, &said)?;
            let mut terms: Vec<Term> = question.get(..at)?.to_vec();
            terms.extend(asked(words));
            terms.extend_from_slice(question.get(at + said.len()..)?);
            let mut seen: Vec<Term> = Vec::new();
            for term in terms {
                if !seen.contains(&term) {
                    seen.push(term);
                }
            }
            Some(Wording { terms: seen, words })
        })
        .collect()
}

/// Whether a reference is about a tool that the question does not name.
pub(super) fn is_aside(reference: &str, question: &str) -> bool {
    let question = question.to_lowercase();
    TOOLS.iter().any(|(name, words)| *name == reference && !words.iter().any(|word| question.contains(word)))
}

/// Where some terms stand among others, one after the other.
fn place(question: &[Term], said: &[Term]) -> Option<usize> {
    if said.is_empty() {
        return None;
    }
    let same = |window: &[Term]| window.iter().zip(said).all(|(one, two)| one.text == two.text);
    question.windows(said.len()).position(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(question: &str) -> Vec<Vec<String>> {
        let texts = |wording: Wording| wording.terms.into_iter().map(|term| term.text).collect();
        others(&asked(question)).into_iter().map(texts).collect()
    }

    #[test]
    fn words_take_the_place_of_others() {
        assert_eq!(said("concatenate the names"), [["join", "text", "nam"]]);
        assert_eq!(said("how do I set a status"), [["http_sc", "httpsc", "http", "sc"]]);
        assert_eq!(said("string + number"), [[""; 0]; 0]);
        assert_eq!(said(""), [[""; 0]; 0]);
    }

    #[test]
    fn a_tool_is_aside_unless_it_is_named() {
        for (reference, question, expect) in [
            ("data-mapper-reference", "substring", true),
            ("data-mapper-reference", "dmUtils substring", false),
            ("data-mapper-reference", "Data mapper substring", false),
            ("synapse-function-reference", "substring", false),
        ] {
            assert_eq!(is_aside(reference, question), expect, "{question}");
        }
    }
}
