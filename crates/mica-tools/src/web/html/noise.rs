//! What of a page is its content: where it is, and what around it and in it is left out.

use super::tree::{Id, ROOT, Tree};

/// Elements whose content is no text for readers.
const UNREADABLE: &[&str] = &[
    "head", "title", "script", "style", "template", "noscript", "iframe", "object", "audio", "video",
    "canvas", "svg", "map", "select", "datalist", "textarea", "noembed", "noframes", "rp",
];

/// Elements that lead elsewhere, or do something.
const AROUND: &[&str] = &["nav", "button", "dialog", "footer", "search"];

/// Roles of elements that do so under another name.
const ROLES: &[&str] = &[
    "navigation",
    "banner",
    "contentinfo",
    "search",
    "menu",
    "menubar",
    "toolbar",
    "dialog",
    "alertdialog",
    "tablist",
    "doc-toc",
];

/// Words of `class` and `id` that say so. Whole words only: `nav` is one, `navy` is not.
const LABELS: &[&str] = &[
    "nav",
    "navbar",
    "navigation",
    "sidebar",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
    "toc",
    "table-of-contents",
    "cookie-banner",
    "cookie-consent",
    "cookie-notice",
    "advertisement",
    "ads",
    "skip-link",
    "skip-to-content",
    "skiplink",
    "sr-only",
    "visually-hidden",
    "headerlink",
    "header-anchor",
    "hash-link",
    "anchorjs-link",
    "anchor-link",
    "permalink",
    "share-buttons",
    "social-share",
    "linenos",
    "lineno",
    "line-numbers",
    "gutter",
    "edit-this-page",
    "mw-editsection",
    "mw-jump-link",
    "noprint",
    "newsletter",
    "related-posts",
];

/// Letters below which content is taken for a mistake of this module, when the page has more.
const LITTLE: usize = 120;

/// Which part of a page is read.
#[derive(Debug)]
pub(super) struct View {
    /// Where the content is.
    pub(super) root: Id,
    filter: Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    /// Everything that can be read.
    Readable,
    /// What is content. Before a page has said where its content is, what stands at its head and its side is not.
    Content { root_is_page: bool },
}

impl View {
    /// Finds the content of a page.
    pub(super) fn of(tree: &Tree) -> Self {
        let whole = View { root: ROOT, filter: Filter::Content { root_is_page: true } };
        let all = whole.letters(tree);
        let inside = |root| View { root, filter: Filter::Content { root_is_page: false } };
        let is_main = |id: &Id| {
            let node = tree.node(*id);
            node.tag == "main" || node.attribute("role") == Some("main")
        };
        let main = tree.ids().find(is_main).map(inside).filter(|view| {
            let letters = view.letters(tree);
            letters >= LITTLE || letters * 3 >= all
        });
        let mut articles = tree.ids().filter(|id| tree.node(*id).tag == "article");
        let article = match (articles.next(), articles.next()) {
            (Some(only), None) => Some(inside(only)).filter(|view| view.letters(tree) * 2 >= all),
            _ => None,
        };
        let found = main.or(article).unwrap_or(whole);
        let letters = found.letters(tree);
        if letters < LITTLE {
            let readable = View { root: ROOT, filter: Filter::Readable };
            if readable.letters(tree) > letters * 4 {
                return readable;
            }
        }
        found
    }

    /// Whether an element, with all that is in it, is left out.
    pub(super) fn drops(&self, tree: &Tree, id: Id) -> bool {
        let node = tree.node(id);
        if node.tag.is_empty() || id == self.root {
            return false;
        }
        let hidden = node.attribute("hidden").is_some_and(|value| value != "until-found");
        if UNREADABLE.contains(&node.tag) || hidden {
            return true;
        }
        let Filter::Content { root_is_page } = self.filter else { return false };
        // The whole page is sometimes called by such a name; it is content all the same.
        let outermost = matches!(node.tag, "html" | "body" | "main" | "article");
        AROUND.contains(&node.tag)
            || (root_is_page && matches!(node.tag, "header" | "aside") && outside(tree, id))
            || node.attribute("aria-hidden") == Some("true")
            || node.attribute("style").is_some_and(is_invisible)
            || node.attribute("role").is_some_and(|role| ROLES.contains(&role))
            || (!outermost && node.labels().any(|label| LABELS.contains(&label)))
    }

    /// Letters that a reader would see. Ends early once there are plenty.
    fn letters(&self, tree: &Tree) -> usize {
        fn count(view: &View, tree: &Tree, id: Id) -> usize {
            if view.drops(tree, id) {
                return 0;
            }
            let node = tree.node(id);
            let own: usize = node.text.split_whitespace().map(str::len).sum();
            own + node.children.iter().map(|child| count(view, tree, *child)).sum::<usize>()
        }
        count(self, tree, self.root)
    }
}

/// Whether a style keeps people from seeing an element. What they do not see, they cannot check.
fn is_invisible(style: &str) -> bool {
    style.split(';').any(|rule| match rule.split_once(':') {
        Some((name, value)) => matches!(
            (name.trim().to_ascii_lowercase().as_str(), value.trim().to_ascii_lowercase().as_str()),
            ("display", "none" | "none !important" | "none!important")
                | ("visibility", "hidden" | "collapse")
        ),
        None => false,
    })
}

/// Whether an element is in no article: the head of an article is its title, the head of a page is not.
fn outside(tree: &Tree, id: Id) -> bool {
    !tree.around(id).any(|id| matches!(tree.node(id).tag, "main" | "article" | "section"))
}
