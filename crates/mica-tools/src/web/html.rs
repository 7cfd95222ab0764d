//! From a page in HTML to Markdown that a model reads: the content without what is around it.
//!
//! Promises: any bytes have a Markdown, made in time and memory that grow with their length only. Nesting is bounded when
//! the tree is made, so that walking it cannot exhaust the stack; what is deeper is kept, at the deepest level there is.
//! Nothing is run and nothing is fetched: scripts, styles and frames are left out, links and images are named.

mod block;
mod inline;
mod noise;
mod table;
mod tree;
mod writer;

use url::Url;

use noise::View;
use tree::Tree;

/// Bytes of Markdown of one page. Indentation can make many bytes of few; what is beyond is left out.
const MARKDOWN: usize = 8 << 20;

/// Bytes below the limit at which a text is taken for a cut one.
const LINE: usize = 8;

/// A page as a model reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown {
    /// What the page is called.
    pub title: Option<String>,
    /// Its content.
    pub text: String,
    /// Whether there would be more: the page has more parts than are read.
    pub cut: bool,
}

/// Makes Markdown of a page. Links are made absolute by the page's address.
pub fn to_markdown(html: &str, address: Option<&Url>) -> Markdown {
    let tree = Tree::parse(html);
    let base = match (address, tree.base()) {
        (Some(address), Some(base)) => address.join(base).ok(),
        (None, Some(base)) => Url::parse(base).ok(),
        (address, None) => address.cloned(),
    };
    let view = View::of(&tree);
    let text = block::render(&tree, &view, base.as_ref().or(address), MARKDOWN);
    let cut = tree.cut || text.len() + LINE > MARKDOWN;
    Markdown { title: tree.title(), text, cut }
}

#[cfg(test)]
mod tests;
