//! What is written is read again.

use super::super::{unescape, unescape_attribute};
use super::*;

#[test]
fn only_what_must_be_escaped_is() {
    assert_eq!(escape_attribute("a \"b\" 'c' <d> & \n", '"'), "a &quot;b&quot; 'c' &lt;d> &amp; &#10;");
    assert_eq!(escape_attribute("a \"b\" 'c'", '\''), "a \"b\" &apos;c&apos;");
    assert_eq!(escape_text("a \"b\" <d> & ]]>\n"), "a \"b\" &lt;d&gt; &amp; ]]&gt;\n");
    assert!(matches!(escape_text("plain \"text\""), Cow::Borrowed(_)));
}

#[test]
fn what_is_written_is_read_again() {
    for text in ["", "a", "<&>\"'\r\n\t", "&amp;", "]]>", "\u{1f600}&\u{e9}"] {
        assert_eq!(unescape(&escape_text(text)).text(), text);
        for quote in ['"', '\''] {
            assert_eq!(unescape_attribute(&escape_attribute(text, quote)).text(), text);
        }
    }
}
