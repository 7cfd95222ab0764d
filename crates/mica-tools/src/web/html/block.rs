//! Blocks: paragraphs, headings, lists, quotes, code.

use url::Url;

use super::inline::{Page, Words, longest_run};
use super::noise::View;
use super::table;
use super::tree::{Id, Tree};
use super::writer::Writer;

/// Bytes of the name of a language behind a fence.
const LANGUAGE: usize = 24;
/// Words of `class` that look like the name of a language and are none.
const NO_LANGUAGE: &[&str] =
    &["none", "default", "highlight", "source", "code", "wrapper", "tok", "nohighlight"];

/// Writes blocks of a page.
pub(super) struct Blocks<'a> {
    pub(super) page: Page<'a>,
    pub(super) out: Writer,
    /// A link around blocks: the first words in it lead where it does.
    link: Option<Id>,
}

/// The Markdown of what is read of a page.
pub(super) fn render(tree: &Tree, view: &View, base: Option<&Url>, limit: usize) -> String {
    let page = Page { tree, view, base };
    let mut blocks = Blocks { page, out: Writer::new(limit), link: None };
    blocks.children(view.root);
    blocks.out.finish()
}

impl Blocks<'_> {
    /// Everything in an element, one block after the other. Words between blocks are paragraphs.
    pub(super) fn children(&mut self, id: Id) {
        let mut words = Words::default();
        let tree = self.page.tree;
        for child in &tree.node(id).children {
            if self.out.is_full() {
                return;
            }
            if self.page.view.drops(tree, *child) {
                continue;
            }
            let node = tree.node(*child);
            if node.is_block() || node.has_block {
                self.paragraph(&words);
                words = Words::default();
                self.block(*child);
            } else {
                self.page.words(*child, &mut words);
            }
        }
        self.paragraph(&words);
    }

    fn paragraph(&mut self, words: &Words) {
        let lines = words.lines();
        if !lines.is_empty() {
            let text = self.led(lines);
            self.out.block(&text);
        }
    }

    /// Words that lead where the link around them does, if they are its first.
    fn led(&mut self, text: &str) -> String {
        match self.link.take() {
            None => text.to_owned(),
            Some(link) => self.page.linked(link, &text.replace('\n', " ")),
        }
    }

    fn block(&mut self, id: Id) {
        let node = self.page.tree.node(id);
        match node.tag {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = node.tag.get(1..).and_then(|level| level.parse().ok()).unwrap_or(1);
                let words = self.all_words(id);
                if !words.is_empty() {
                    let words = self.led(&words);
                    self.out.block(&format!("{} {words}", "#".repeat(level)));
                }
            }
            "ul" | "ol" | "menu" => self.list(id),
            "dt" | "summary" => {
                let words = self.all_words(id);
                if !words.is_empty() {
                    self.out.block(&format!("**{}**", words.replace("**", "")));
                }
            }
            "dd" => {
                self.out.closely();
                self.inner(id, ": ", "  ");
            }
            "blockquote" => self.inner(id, "> ", "> "),
            "pre" => self.code(id),
            "hr" => self.out.block("---"),
            "table" => table::write(self, id),
            "a" => {
                let before = self.link.replace(id);
                self.children(id);
                self.link = before;
            }
            // An item without a list is one of a list.
            "li" => self.inner(id, "- ", "  "),
            _ => self.children(id),
        }
    }

    /// All words of an element, in one line.
    pub(super) fn all_words(&self, id: Id) -> String {
        let mut words = Words::default();
        for child in &self.page.tree.node(id).children {
            self.page.words(*child, &mut words);
        }
        words.line()
    }

    fn inner(&mut self, id: Id, first: &str, rest: &str) {
        self.out.enter(first, rest);
        self.children(id);
        self.out.leave();
    }

    fn list(&mut self, id: Id) {
        let tree = self.page.tree;
        let node = tree.node(id);
        let mut number = match node.tag {
            "ol" => {
                Some(node.attribute("start").and_then(|start| start.trim().parse::<i64>().ok()).unwrap_or(1))
            }
            _ => None,
        };
        // A list in an item follows its words closely.
        let nested =
            tree.around(id).next().is_some_and(|id| matches!(tree.node(id).tag, "li" | "ul" | "ol" | "dd"));
        let mut first = true;
        for child in &node.children {
            if self.out.is_full() || self.page.view.drops(tree, *child) {
                continue;
            }
            if !first || nested && !self.out.begins_item() {
                self.out.closely();
            }
            let item = tree.node(*child);
            if item.tag == "li" {
                let marker = match &mut number {
                    Some(number) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    None => "- ".to_owned(),
                };
                self.inner(*child, &marker, &" ".repeat(marker.len()));
                first = false;
            } else if item.is_block() || item.has_block {
                self.block(*child);
                first = false;
            } else {
                let mut words = Words::default();
                self.page.words(*child, &mut words);
                if !words.lines().is_empty() {
                    self.paragraph(&words);
                    first = false;
                }
            }
        }
    }

    fn code(&mut self, id: Id) {
        let tree = self.page.tree;
        let mut raw = String::new();
        self.code_text(id, &mut raw);
        let text = raw.strip_prefix('\n').unwrap_or(&raw).trim_end();
        if text.trim().is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        let inner = tree.node(id).children.iter().copied().find(|child| tree.node(*child).tag == "code");
        let around = tree.around(id).take(2);
        let language = inner.into_iter().chain([id]).chain(around).find_map(|id| language(tree, id));
        self.out.block(&format!("{fence}{}\n{text}\n{fence}", language.unwrap_or_default()));
    }

    /// The text of code: as written, without what is left out.
    fn code_text(&self, id: Id, out: &mut String) {
        let tree = self.page.tree;
        if self.page.view.drops(tree, id) {
            return;
        }
        let node = tree.node(id);
        out.push_str(&node.text);
        if node.tag == "br" {
            out.push('\n');
        }
        for child in &node.children {
            self.code_text(*child, out);
        }
        // Some pages make every line of code a block.
        if matches!(node.tag, "div" | "p" | "li" | "tr") && !out.ends_with('\n') {
            out.push('\n');
        }
    }
}

/// The language of code, by the words that highlighters leave in `class`.
fn language(tree: &Tree, id: Id) -> Option<String> {
    let class = tree.node(id).attribute("class")?;
    class.split_ascii_whitespace().find_map(|word| {
        let name = ["language-", "lang-", "highlight-source-", "highlight-", "brush:"]
            .iter()
            .find_map(|prefix| word.strip_prefix(prefix))?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "+-#_.".contains(letter);
        let fits = !name.is_empty() && name.len() <= LANGUAGE && name.chars().all(plain);
        (fits && !NO_LANGUAGE.contains(&name)).then(|| name.to_ascii_lowercase())
    })
}
