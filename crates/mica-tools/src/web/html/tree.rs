//! A tree of a page's elements, made from the tokens of the standard's own tokenizer.
//!
//! The standard's way of building trees repairs more than a reader needs, and some of its repairs cost more than linear
//! time. Here are those that pages rely on: elements that end by the start of others, ends without a start, cells that
//! keep to their table. Elements that mean nothing to a reader are not in the tree; what is in them is.

use std::collections::HashMap;
use std::sync::LazyLock;

use html5gum::{DefaultEmitter, EndTag, StartTag, Token, Tokenizer};

/// Open elements at a time. Pages have fifty; what is nested deeper hangs on the last one.
const DEPTH: usize = 120;
/// Elements and texts of a page. More are left out.
const NODES: usize = 400_000;

/// A place in the tree.
pub(super) type Id = usize;

/// The place of the whole page.
pub(super) const ROOT: Id = 0;

/// An element, or a text.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The element's name; empty for a text.
    pub(super) tag: &'static str,
    /// The text, as written.
    pub(super) text: String,
    attributes: Vec<(&'static str, String)>,
    pub(super) children: Vec<Id>,
    pub(super) parent: Id,
    /// Whether it begins on a line of its own.
    block: bool,
    /// Whether a block is somewhere inside.
    pub(super) has_block: bool,
}

impl Node {
    /// An attribute, when it is one that is read.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The words of `class` and `id`.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        let of = |name| self.attribute(name).into_iter().flat_map(str::split_ascii_whitespace);
        of("class").chain(of("id"))
    }

    pub(super) fn is_block(&self) -> bool {
        self.block
    }
}

/// A page.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Whether there was more than is kept.
    pub(super) cut: bool,
    title: String,
    base: Option<String>,
}

/// Elements that begin on a line of their own. Sorted by kind, not by name: the list is short.
const BLOCKS: &[&str] = &[
    "html",
    "body",
    "main",
    "article",
    "section",
    "div",
    "header",
    "footer",
    "nav",
    "aside",
    "form",
    "fieldset",
    "address",
    "center",
    "hgroup",
    "search",
    "dialog",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "pre",
    "ul",
    "ol",
    "menu",
    "li",
    "dl",
    "dt",
    "dd",
    "figure",
    "figcaption",
    "details",
    "summary",
    "hr",
    "table",
    "caption",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "td",
    "th",
];

/// Other elements that mean something to a reader, or whose content does not.
const OTHERS: &[&str] = &[
    "head", "title", "a", "b", "strong", "i", "em", "cite", "dfn", "s", "del", "strike", "code", "kbd",
    "samp", "tt", "q", "sup", "sub", "span", "br", "img", "input", "base", "script", "style", "template",
    "noscript", "iframe", "object", "audio", "video", "canvas", "svg", "map", "select", "datalist", "button",
    "textarea", "noembed", "noframes", "rp",
];

/// Elements without content.
const VOID: &[&str] = &["br", "hr", "img", "input", "base"];

/// Attributes that are read.
const ATTRIBUTES: &[&str] = &[
    "href",
    "src",
    "data-src",
    "alt",
    "class",
    "id",
    "role",
    "hidden",
    "style",
    "aria-hidden",
    "colspan",
    "rowspan",
    "start",
    "type",
    "checked",
];

/// Where looking for an element that is to end stops.
const CELLS: &[&str] = &["table", "td", "th", "caption"];
const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6"];
const TABLE_PARTS: &[&str] = &["caption", "thead", "tbody", "tfoot", "tr", "td", "th"];

const BETWEEN_CELLS: &[&str] = &["table", "thead", "tbody", "tfoot", "tr"];

fn known(name: &[u8]) -> Option<&'static str> {
    static KNOWN: LazyLock<HashMap<&[u8], &'static str>> =
        LazyLock::new(|| BLOCKS.iter().chain(OTHERS).map(|tag| (tag.as_bytes(), *tag)).collect());
    KNOWN.get(name).copied()
}

/// A tree on its way.
struct Builder {
    tree: Tree,
    /// Open elements, the page first.
    open: Vec<Id>,
    /// Elements that were not opened, because too many were open: their ends end nothing.
    flattened: Vec<&'static str>,
}

impl Tree {
    /// Reads a page.
    pub(super) fn parse(html: &str) -> Self {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let tree = Tree { nodes: vec![Node::default()], cut: false, title: String::new(), base: None };
        let mut builder = Builder { tree, open: vec![ROOT], flattened: Vec::new() };
        for token in Tokenizer::new_with_emitter(html, emitter) {
            if builder.tree.nodes.len() >= NODES {
                builder.tree.cut = true;
                break;
            }
            match token {
                Ok(Token::StartTag(tag)) => builder.start(&tag),
                Ok(Token::EndTag(tag)) => builder.end(&tag),
                Ok(Token::String(text)) => builder.text(&text),
                Ok(_) => {}
            }
        }
        let mut tree = builder.tree;
        // Children come behind their parents, so that one way back is enough.
        for id in (1..tree.nodes.len()).rev() {
            let Some(node) = tree.nodes.get(id) else { continue };
            let (parent, block) = (node.parent, node.is_block() || node.has_block);
            if let Some(parent) = tree.nodes.get_mut(parent) {
                parent.has_block |= block;
            }
        }
        tree
    }

    /// What the page is called.
    pub(super) fn title(&self) -> Option<String> {
        let words: Vec<&str> = self.title.split_whitespace().collect();
        let title = words.join(" ");
        let end = title.floor_char_boundary(TITLE);
        (!title.is_empty()).then(|| title.get(..end).unwrap_or_default().to_owned())
    }

    /// What relative links are relative to, when the page says so.
    pub(super) fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// A node. A place that is not there is an empty text.
    pub(super) fn node(&self, id: Id) -> &Node {
        static NOTHING: Node = Node {
            tag: "",
            text: String::new(),
            attributes: Vec::new(),
            children: Vec::new(),
            parent: ROOT,
            block: false,
            has_block: false,
        };
        self.nodes.get(id).unwrap_or(&NOTHING)
    }

    /// All places, in the order of the page.
    pub(super) fn ids(&self) -> std::ops::Range<Id> {
        ROOT..self.nodes.len()
    }

    /// The elements around a place, the nearest first, without the page itself.
    pub(super) fn around(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(self.node(id).parent), |id| Some(self.node(*id).parent))
            .take_while(|id| *id != ROOT)
    }

    /// The text inside, as written.
    pub(super) fn text_of(&self, id: Id, out: &mut String) {
        let node = self.node(id);
        out.push_str(&node.text);
        if node.tag == "br" {
            out.push('\n');
        }
        for child in &node.children {
            self.text_of(*child, out);
        }
    }
}

/// Bytes of a title.
const TITLE: usize = 300;

impl Builder {
    fn tag(&self, position: usize) -> &'static str {
        self.open.get(position).map_or("", |id| self.tree.node(*id).tag)
    }

    /// Where the nearest open element of these is, looking no further than one of those.
    fn nearest(&self, wanted: &[&str], barrier: &[&str]) -> Option<usize> {
        for position in (1..self.open.len()).rev() {
            let tag = self.tag(position);
            if wanted.contains(&tag) {
                return Some(position);
            }
            if barrier.contains(&tag) {
                return None;
            }
        }
        None
    }

    fn close(&mut self, wanted: &[&str], barrier: &[&str]) {
        if let Some(position) = self.nearest(wanted, barrier) {
            self.open.truncate(position);
            self.flattened.clear();
        }
    }

    /// Ends what the start of an element ends.
    fn make_way(&mut self, tag: &str) {
        match tag {
            "li" => self.close(&["li"], &["ul", "ol", "menu", "table", "td", "th", "caption"]),
            "dt" | "dd" => self.close(&["dt", "dd"], &["dl", "table", "td", "th", "caption"]),
            "tr" => self.close(&["tr", "caption"], &["table"]),
            "td" | "th" => self.close(&["td", "th", "caption"], &["tr", "table"]),
            "thead" | "tbody" | "tfoot" | "caption" => {
                self.close(&["thead", "tbody", "tfoot", "caption"], &["table"]);
            }
            "table" if BETWEEN_CELLS.contains(&self.tag(self.open.len().saturating_sub(1))) => {
                self.close(&["table"], &[]);
            }
            "a" => self.close(&["a"], CELLS),
            heading if HEADINGS.contains(&heading) => {
                self.close(&["p"], CELLS);
                if HEADINGS.contains(&self.tag(self.open.len().saturating_sub(1))) {
                    self.open.pop();
                }
            }
            block if BLOCKS.contains(&block) => self.close(&["p"], CELLS),
            _ => {}
        }
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let Some(name) = known(&tag.name) else { return };
        if TABLE_PARTS.contains(&name) && self.nearest(&["table"], &[]).is_none() {
            return;
        }
        self.make_way(name);
        if matches!(name, "td" | "th") && self.nearest(&["tr"], &["table"]).is_none() {
            // A cell has a row, also when the page forgot it.
            let row = self.add(Node { tag: "tr", block: true, ..Node::default() });
            self.enter(row, "tr");
        }
        let mut attributes = Vec::new();
        for (key, value) in &tag.attributes {
            if let Some(known) = ATTRIBUTES.iter().find(|known| known.as_bytes() == key.as_slice()) {
                attributes.push((*known, String::from_utf8_lossy(value).into_owned()));
            }
        }
        if name == "base" {
            let href = attributes.iter().find(|(key, _)| *key == "href");
            self.tree.base = self.tree.base.take().or_else(|| href.map(|(_, value)| value.clone()));
            return;
        }
        let block = BLOCKS.contains(&name);
        let id = self.add(Node { tag: name, attributes, block, ..Node::default() });
        // Drawings are of another language, in which elements may end where they begin.
        let drawn = name == "svg" && tag.self_closing;
        if VOID.contains(&name) || drawn {
            return;
        }
        self.enter(id, name);
    }

    fn enter(&mut self, id: Id, name: &'static str) {
        if self.open.len() >= DEPTH {
            self.flattened.push(name);
        } else {
            self.open.push(id);
        }
    }

    fn end(&mut self, tag: &EndTag<()>) {
        let Some(name) = known(&tag.name) else { return };
        if self.flattened.last() == Some(&name) {
            self.flattened.pop();
            return;
        }
        let barrier: &[&str] = match name {
            "table" => &[],
            name if TABLE_PARTS.contains(&name) => &["table"],
            name if BLOCKS.contains(&name) => CELLS,
            // What is around a block does not end inside of it: it ends with it.
            name => {
                let inner = self.open.iter().rposition(|id| self.tree.node(*id).block).unwrap_or(0);
                if let Some(position) = self.nearest(&[name], &[]).filter(|position| *position > inner) {
                    self.open.truncate(position);
                }
                return;
            }
        };
        match name {
            heading if HEADINGS.contains(&heading) => self.close(HEADINGS, barrier),
            name => self.close(&[name], barrier),
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let top = self.tag(self.open.len().saturating_sub(1));
        if top == "title" {
            // A drawing has titles, too, and they come later.
            if self.tree.title.len() < TITLE && self.nearest(&["svg"], &[]).is_none() {
                self.tree.title.push_str(&text);
            }
            return;
        }
        let between_cells = !top.is_empty() && BETWEEN_CELLS.contains(&top);
        if !(between_cells && text.trim().is_empty()) {
            self.add(Node { text: text.into_owned(), ..Node::default() });
        }
    }

    fn add(&mut self, mut node: Node) -> Id {
        let id = self.tree.nodes.len();
        let top = self.open.last().copied().unwrap_or(ROOT);
        let misplaced = BETWEEN_CELLS.contains(&self.tree.node(top).tag) && !TABLE_PARTS.contains(&node.tag);
        // What stands in a table and in no cell stands beside the table.
        let holds = |id: &&Id| !BETWEEN_CELLS.contains(&self.tree.node(**id).tag);
        let beside = if misplaced { self.open.iter().rev().find(holds).copied() } else { None };
        let parent = beside.unwrap_or(top);
        node.parent = parent;
        self.tree.nodes.push(node);
        if let Some(parent) = self.tree.nodes.get_mut(parent) {
            parent.children.push(id);
        }
        id
    }
}
