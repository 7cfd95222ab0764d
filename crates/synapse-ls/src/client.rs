//! What the client can do, as it says when it starts.

use serde_json::Value;
use synapse_lang::text::Unit;

/// The abilities of the client that matter here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an ability of its own")]
pub(crate) struct Client {
    /// What its columns count.
    pub(crate) unit: Unit,
    /// Completions may have places to fill in.
    pub(crate) snippets: bool,
    /// Completions may be in Markdown.
    pub(crate) markdown_items: bool,
    /// Hovers may be in Markdown.
    pub(crate) markdown_hovers: bool,
    /// It asks for diagnostics.
    pub(crate) pulls: bool,
    /// It can be told to ask for diagnostics again.
    pub(crate) refreshes: bool,
    /// It shows what else belongs to a finding.
    pub(crate) related: bool,
    /// It shows progress.
    pub(crate) progress: bool,
    /// It can be asked to watch files.
    pub(crate) watches: bool,
    /// Edits may name versions.
    pub(crate) document_changes: bool,
    /// Edits may rename files.
    pub(crate) renames_files: bool,
    /// Actions may be objects with edits.
    pub(crate) literal_actions: bool,
    /// The edits of actions may come later, when one is chosen.
    pub(crate) resolves_actions: bool,
    /// Outlines may be trees.
    pub(crate) symbol_trees: bool,
    /// Only whole lines can be folded.
    pub(crate) folds_lines: bool,
}

impl Client {
    /// Reads `capabilities` of `initialize`.
    pub(crate) fn read(capabilities: &Value) -> Self {
        let is = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
        let has = |pointer: &str| capabilities.pointer(pointer).is_some_and(|value| !value.is_null());
        let lists = |pointer: &str, word: &str| {
            let list = capabilities.pointer(pointer).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|one| one == word))
        };
        Self {
            unit: if lists("/general/positionEncodings", "utf-8") { Unit::Utf8 } else { Unit::Utf16 },
            snippets: is("/textDocument/completion/completionItem/snippetSupport"),
            markdown_items: lists("/textDocument/completion/completionItem/documentationFormat", "markdown"),
            markdown_hovers: lists("/textDocument/hover/contentFormat", "markdown"),
            pulls: has("/textDocument/diagnostic"),
            refreshes: is("/workspace/diagnostics/refreshSupport"),
            related: is("/textDocument/publishDiagnostics/relatedInformation")
                || is("/textDocument/diagnostic/relatedInformation"),
            progress: is("/window/workDoneProgress"),
            watches: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            document_changes: is("/workspace/workspaceEdit/documentChanges"),
            renames_files: is("/workspace/workspaceEdit/documentChanges")
                && lists("/workspace/workspaceEdit/resourceOperations", "rename"),
            literal_actions: has("/textDocument/codeAction/codeActionLiteralSupport"),
            resolves_actions: lists("/textDocument/codeAction/resolveSupport/properties", "edit"),
            symbol_trees: is("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            folds_lines: is("/textDocument/foldingRange/lineFoldingOnly"),
        }
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::read(&Value::Null)
    }
}
