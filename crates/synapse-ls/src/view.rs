//! A document with its surroundings: what every feature reads.

use std::path::Path;

use gen_lsp_types::{Position, Range, Uri};
use synapse_lang::check::walk::Tree;
use synapse_lang::check::{self, Memo, Setting};
use synapse_lang::diagnostic::Diagnostic;
use synapse_lang::model::{Model, Version};
use synapse_lang::project::{File, Project};
use synapse_lang::syntax::Document;
use synapse_lang::text::Span;

use crate::client::Client;
use crate::{Options, places, uri};

/// A document and what is around it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// The document's address.
    pub(crate) uri: &'a Uri,
    /// Its text as a tree.
    pub(crate) document: &'a Document,
    /// What it defines and names.
    pub(crate) file: &'a File,
    /// The files that it belongs to; at least itself.
    pub(crate) project: &'a Project,
    /// Its path there.
    pub(crate) path: &'a str,
    /// Where the project lies; nothing for a document that stands alone.
    pub(crate) root: Option<&'a Path>,
    /// Whether all of the project is read.
    pub(crate) ready: bool,
    /// What the client can do.
    pub(crate) client: &'a Client,
    /// How the server behaves.
    pub(crate) options: &'a Options,
    /// What was found in it before, while it is open.
    pub(crate) memo: Option<&'a Memo>,
}

impl<'a> View<'a> {
    /// The elements with their places in the model.
    pub(crate) fn tree(&self) -> Tree<'a> {
        Tree::of(self.document, Model::get())
    }

    /// The runtime that the document is meant for.
    pub(crate) fn runtime(&self) -> Version {
        self.options.runtime.or_else(|| self.project.runtime()).unwrap_or(Version::NEWEST)
    }

    /// The client's range of a span.
    pub(crate) fn range(&self, span: Span) -> Range {
        places::range(self.document, span, self.client.unit)
    }

    /// The byte of a client's position.
    pub(crate) fn offset(&self, position: Position) -> u32 {
        places::offset(self.document, position, self.client.unit)
    }

    /// The client's range of a span in a file of the project.
    pub(crate) fn range_in(&self, path: &str, span: Span) -> Range {
        let document = self.project.file(path).map_or(self.document, File::document);
        places::range(document, span, self.client.unit)
    }

    /// The address of a file of the project.
    pub(crate) fn uri_of(&self, path: &str) -> Uri {
        match self.root {
            Some(root) if path != self.path => uri::of(&root.join(path)),
            _ => self.uri.clone(),
        }
    }

    /// What is wrong with the document.
    ///
    /// Nothing is said about documents that are not Synapse: editors send whatever is XML. What lies among the
    /// artifacts of a project is meant to be.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        if self.root.is_none() && !is_synapse(self.document) {
            return Vec::new();
        }
        match self.memo {
            Some(memo) => check::check_again(self.document, self.setting(), memo),
            None => check::check(self.document, self.setting()),
        }
    }

    /// What a check of the document may be told. Until all of a project is read, nothing is said about other files.
    pub(crate) fn setting(&self) -> Setting<'a> {
        let runtime = Some(self.runtime());
        if self.root.is_none() {
            Setting { path: None, runtime, project: None }
        } else {
            Setting { path: Some(self.path), runtime, project: self.ready.then_some(self.project) }
        }
    }
}

fn is_synapse(document: &Document) -> bool {
    let Some(root) = document.root() else { return false };
    let namespace = root.namespace().unwrap_or_default();
    namespace == synapse_lang::model::SYNAPSE_NAMESPACE || Model::get().artifact_named(root.local()).is_some()
}
