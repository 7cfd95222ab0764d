//! What kind of artifact a document is, by its root: the word that people and programs know it by.

use crate::model::Model;
use crate::syntax::Document;

/// A kind of artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactKind(&'static str);

impl ArtifactKind {
    /// The word that stands in output: `api`, `proxy`, `data-service`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        self.0
    }
}

/// Roots whose name is not the word that people use.
const WORDS: &[(&str, &str)] = &[
    ("data", "data-service"),
    ("datasource", "data-source"),
    ("synapse-unit-test", "unit-test"),
    ("artifacts", "artifact-descriptor"),
    ("connector", "connector-descriptor"),
    ("component", "connector-component"),
];

/// The kind of a document; nothing when its root is no artifact. A missing namespace does not matter.
#[must_use]
pub fn of(document: &Document) -> Option<ArtifactKind> {
    let name = Model::get().artifact_named(document.root()?.local())?.name.as_str();
    let word = WORDS.iter().find(|(root, _)| *root == name).map_or(name, |(_, word)| word);
    Some(ArtifactKind(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_decides() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(of(&Document::parse(text)).map(ArtifactKind::word), expected, "{text}");
        };
        check("<api xmlns='http://ws.apache.org/ns/synapse'/>", Some("api"));
        check("<sequence name='a'/>", Some("sequence"));
        check("<data name='d'/>", Some("data-service"));
        check("<unit-test/>", Some("unit-test"));
        check("<html/>", None);
        check("", None);
    }
}
