//! The tree as a whole.

use super::*;

#[test]
fn a_small_document_has_its_tree() {
    let document = Document::parse("<a x='1'><b>t</b><!--c--></a>");
    assert_eq!(document.problems(), []);
    let joined: String = document.tokens().map(|token| token.span.of(document.source())).collect();
    assert_eq!(joined, document.source());
}
