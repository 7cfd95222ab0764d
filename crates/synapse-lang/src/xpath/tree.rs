//! XML as XPath sees it: nodes in document order, in one or several trees.
//!
//! Text and CDATA that touch are one text node. Namespace declarations are no attributes.

use crate::syntax::{Document, Element, Node};

/// A node in a forest. The order of references is the order of the documents and, in each, document order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeRef {
    tree: u32,
    node: u32,
}

/// Trees that one evaluation can reach.
#[derive(Debug, Clone, Default)]
pub struct Forest {
    trees: Vec<Vec<Data>>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The document.
    Root,
    /// An element.
    Element(QName),
    /// An attribute and its value.
    Attribute(QName, String),
    /// A text.
    Text(String),
    /// A comment.
    Comment(String),
    /// A processing instruction: target and data.
    Instruction(String, String),
}

/// A name with its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QName {
    /// As written before the colon.
    pub prefix: Option<String>,
    /// The name itself.
    pub local: String,
    /// The namespace; none when it is in none.
    pub namespace: Option<String>,
}

impl QName {
    /// The name as written.
    #[must_use]
    pub fn written(&self) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix}:{}", self.local),
            None => self.local.clone(),
        }
    }
}

#[derive(Debug, Clone)]
struct Data {
    kind: Kind,
    parent: Option<u32>,
    /// The first node after this one that is not below it.
    end: u32,
    /// Declarations of namespaces on an element: prefix (empty for the default) and name.
    declared: Vec<(String, String)>,
}

/// Why a text is no tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text is not well-formed XML{0}")]
pub struct NotXml(String);

/// How deep elements may stand inside each other. Serialising and building descend with them.
const MAX_DEPTH: usize = 200;

impl Forest {
    /// Adds a document and hands back its root node.
    ///
    /// # Errors
    /// A text that is not well-formed.
    pub fn add(&mut self, text: &str) -> Result<NodeRef, NotXml> {
        let document = Document::parse(text);
        if let Some(problem) = document.problems().first() {
            return Err(NotXml(format!(": {problem}")));
        }
        let Some(root) = document.root() else { return Err(NotXml(String::new())) };
        let mut builder = Builder { nodes: Vec::new() };
        let top = builder.push(Kind::Root, None);
        for node in document.top_level() {
            match node {
                Node::Element(element) if element.id() != root.id() => {
                    return Err(NotXml(": it has more than one root element".to_owned()));
                }
                Node::Text(_) => {}
                other => builder.node(other, top, 0)?,
            }
        }
        builder.close(top);
        self.trees.push(builder.nodes);
        Ok(NodeRef { tree: u32::try_from(self.trees.len() - 1).unwrap_or(u32::MAX), node: 0 })
    }

    fn data(&self, node: NodeRef) -> Option<&Data> {
        self.trees.get(node.tree as usize).and_then(|tree| tree.get(node.node as usize))
    }

    /// What a node is.
    #[must_use]
    pub fn kind(&self, node: NodeRef) -> Option<&Kind> {
        self.data(node).map(|data| &data.kind)
    }

    /// The parent; attributes have one too.
    #[must_use]
    pub fn parent(&self, node: NodeRef) -> Option<NodeRef> {
        self.data(node).and_then(|data| data.parent).map(|parent| NodeRef { node: parent, ..node })
    }

    /// The root of the tree of a node.
    #[must_use]
    pub const fn root(&self, node: NodeRef) -> NodeRef {
        NodeRef { node: 0, ..node }
    }

    /// How many nodes a node is, with those below it.
    #[must_use]
    pub fn size(&self, node: NodeRef) -> usize {
        self.data(node).map_or(0, |data| data.end.saturating_sub(node.node) as usize)
    }

    /// All nodes below, in order, attributes included.
    fn below(&self, node: NodeRef) -> impl DoubleEndedIterator<Item = NodeRef> + use<> {
        let end = self.data(node).map_or(node.node + 1, |data| data.end);
        (node.node + 1..end).map(move |at| NodeRef { node: at, ..node })
    }

    fn is_attribute(&self, node: NodeRef) -> bool {
        matches!(self.kind(node), Some(Kind::Attribute(..)))
    }

    /// The nodes below without attributes.
    pub fn descendants(&self, node: NodeRef) -> impl Iterator<Item = NodeRef> + use<'_> {
        self.below(node).filter(|below| !self.is_attribute(*below))
    }

    /// The children without attributes.
    #[must_use]
    pub fn children(&self, node: NodeRef) -> Vec<NodeRef> {
        let Some(data) = self.data(node) else { return Vec::new() };
        let mut children = Vec::new();
        let mut at = node.node + 1;
        while at < data.end {
            let child = NodeRef { node: at, ..node };
            if !self.is_attribute(child) {
                children.push(child);
            }
            at = self.data(child).map_or(data.end, |data| data.end.max(at + 1));
        }
        children
    }

    /// The attributes of an element.
    #[must_use]
    pub fn attributes(&self, node: NodeRef) -> Vec<NodeRef> {
        if !matches!(self.kind(node), Some(Kind::Element(_))) {
            return Vec::new();
        }
        self.below(node).take_while(|below| self.is_attribute(*below)).collect()
    }

    /// The nodes after this one that are not below it, without attributes.
    #[must_use]
    pub fn following(&self, node: NodeRef) -> Vec<NodeRef> {
        let start = self.data(node).map_or(node.node + 1, |data| data.end);
        let end = self.trees.get(node.tree as usize).map_or(0, Vec::len);
        let all = (start..u32::try_from(end).unwrap_or(u32::MAX)).map(|at| NodeRef { node: at, ..node });
        all.filter(|after| !self.is_attribute(*after)).collect()
    }

    /// The nodes before this one that are not above it, nearest first, without attributes.
    #[must_use]
    pub fn preceding(&self, node: NodeRef) -> Vec<NodeRef> {
        let all = (1..node.node).rev().map(|at| NodeRef { node: at, ..node });
        all.filter(|before| {
            self.data(*before).is_some_and(|data| data.end <= node.node) && !self.is_attribute(*before)
        })
        .collect()
    }

    /// The text of a node as XPath defines it.
    #[must_use]
    pub fn string(&self, node: NodeRef) -> String {
        match self.kind(node) {
            None => String::new(),
            Some(
                Kind::Attribute(_, text)
                | Kind::Text(text)
                | Kind::Comment(text)
                | Kind::Instruction(_, text),
            ) => text.clone(),
            Some(Kind::Root | Kind::Element(_)) => self
                .below(node)
                .filter_map(|below| match self.kind(below) {
                    Some(Kind::Text(text)) => Some(text.as_str()),
                    _ => None,
                })
                .collect(),
        }
    }

    /// The texts directly in an element.
    #[must_use]
    pub fn own_text(&self, node: NodeRef) -> String {
        let children = self.children(node);
        let texts = children.iter().filter_map(|child| match self.kind(*child) {
            Some(Kind::Text(text)) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The namespace of a prefix at a node.
    fn namespace_at(&self, node: NodeRef, prefix: &str) -> Option<&str> {
        let mut at = Some(node);
        while let Some(node) = at {
            let data = self.data(node)?;
            if let Some((_, name)) = data.declared.iter().find(|(declared, _)| declared == prefix) {
                return Some(name);
            }
            at = self.parent(node);
        }
        None
    }

    /// An element as XML, with the declarations that it needs.
    #[must_use]
    pub fn write(&self, node: NodeRef) -> String {
        let mut out = String::new();
        self.write_into(node, true, &mut out);
        out
    }

    fn write_into(&self, node: NodeRef, top: bool, out: &mut String) {
        match self.kind(node) {
            None => {}
            Some(Kind::Root) => {
                self.children(node).into_iter().for_each(|child| self.write_into(child, true, out));
            }
            Some(Kind::Text(text)) => out.push_str(&escape(text, false)),
            Some(Kind::Comment(text)) => out.extend(["<!--", text, "-->"]),
            Some(Kind::Instruction(target, data)) => out.extend(["<?", target, " ", data, "?>"]),
            Some(Kind::Attribute(_, value)) => out.push_str(value),
            Some(Kind::Element(name)) => {
                let written = name.written();
                out.extend(["<", &written]);
                self.write_declarations(node, name, top, out);
                for attribute in self.attributes(node) {
                    if let Some(Kind::Attribute(name, value)) = self.kind(attribute) {
                        out.extend([" ", &name.written(), "=\"", &escape(value, true), "\""]);
                    }
                }
                let children = self.children(node);
                if children.is_empty() {
                    out.push_str("/>");
                    return;
                }
                out.push('>');
                for child in children {
                    self.write_into(child, false, out);
                }
                out.extend(["</", &written, ">"]);
            }
        }
    }

    fn write_declarations(&self, node: NodeRef, name: &QName, top: bool, out: &mut String) {
        let declared = self.data(node).map(|data| data.declared.as_slice()).unwrap_or_default();
        let mut declare = |prefix: &str, namespace: &str| {
            let colon = if prefix.is_empty() { "" } else { ":" };
            out.extend([" xmlns", colon, prefix, "=\"", &escape(namespace, true), "\""]);
        };
        for (prefix, namespace) in declared {
            declare(prefix, namespace);
        }
        let prefix = name.prefix.as_deref().unwrap_or_default();
        if top
            && !declared.iter().any(|(known, _)| known == prefix)
            && let Some(namespace) = self.namespace_at(node, prefix)
        {
            declare(prefix, namespace);
        }
    }
}

fn escape(text: &str, attribute: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' if !attribute => out.push_str("&gt;"),
            '"' if attribute => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

struct Builder {
    nodes: Vec<Data>,
}

impl Builder {
    fn push(&mut self, kind: Kind, parent: Option<u32>) -> u32 {
        let at = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(Data { kind, parent, end: at + 1, declared: Vec::new() });
        at
    }

    fn close(&mut self, node: u32) {
        let end = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if let Some(data) = self.nodes.get_mut(node as usize) {
            data.end = end;
        }
    }

    fn node(&mut self, node: Node<'_>, parent: u32, depth: usize) -> Result<(), NotXml> {
        match node {
            Node::Element(element) => return self.element(element, parent, depth),
            Node::Text(piece) | Node::CData(piece) => self.text(&piece.text(), parent),
            Node::Comment(piece) => {
                self.push(Kind::Comment(piece.text().into_owned()), Some(parent));
            }
            Node::Instruction(piece) => {
                let raw = piece.raw().trim_start_matches("<?").trim_end_matches("?>");
                let (target, data) = raw.split_once([' ', '\t', '\n', '\r']).unwrap_or((raw, ""));
                if !target.eq_ignore_ascii_case("xml") {
                    self.push(Kind::Instruction(target.to_owned(), data.trim().to_owned()), Some(parent));
                }
            }
            Node::Doctype(_) | Node::Junk(_) => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str, parent: u32) {
        if text.is_empty() {
            return;
        }
        match self.nodes.last_mut() {
            Some(Data { kind: Kind::Text(before), parent: Some(same), .. }) if *same == parent => {
                before.push_str(text);
            }
            _ => {
                self.push(Kind::Text(text.to_owned()), Some(parent));
            }
        }
    }

    fn element(&mut self, element: Element<'_>, parent: u32, depth: usize) -> Result<(), NotXml> {
        if depth >= MAX_DEPTH {
            return Err(NotXml(": its elements are nested too deeply".to_owned()));
        }
        let name = QName {
            prefix: element.prefix().map(str::to_owned),
            local: element.local().to_owned(),
            namespace: element.namespace().filter(|name| !name.is_empty()).map(str::to_owned),
        };
        let at = self.push(Kind::Element(name), Some(parent));
        let mut declared = Vec::new();
        for attribute in element.attributes() {
            if attribute.is_declaration() {
                let prefix = if attribute.prefix().is_some() { attribute.local() } else { "" };
                declared.push((prefix.to_owned(), attribute.value().into_owned()));
                continue;
            }
            let name = QName {
                prefix: attribute.prefix().map(str::to_owned),
                local: attribute.local().to_owned(),
                namespace: attribute.namespace().map(str::to_owned),
            };
            self.push(Kind::Attribute(name, attribute.value().into_owned()), Some(at));
        }
        if let Some(data) = self.nodes.get_mut(at as usize) {
            data.declared = declared;
        }
        for child in element.children() {
            self.node(child, at, depth + 1)?;
        }
        self.close(at);
        Ok(())
    }
}
