//! What the server can do, as it answers when it is started.

use serde_json::{Value, json};
use synapse_lang::text::Unit;

use crate::client::Client;
use crate::tokens;

/// The kind of the action that applies every safe repair of a document.
pub(crate) const FIX_ALL: &str = "source.fixAll.synapse";

/// The answer to `initialize`.
pub(crate) fn answer(client: &Client, formats: bool, version: &str) -> Value {
    let encoding = match client.unit {
        Unit::Utf8 => "utf-8",
        Unit::Utf16 | Unit::Scalar => "utf-16",
    };
    let mut capabilities = json!({
        "positionEncoding": encoding,
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "completionProvider": { "triggerCharacters": ["<", " ", "\"", "{", ".", "/"] },
        "hoverProvider": true,
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix", FIX_ALL], "resolveProvider": true },
        "renameProvider": { "prepareProvider": true },
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "linkedEditingRangeProvider": true,
        "semanticTokensProvider": {
            "legend": { "tokenTypes": tokens::TYPES, "tokenModifiers": [] },
            "full": true,
            "range": true,
        },
        "diagnosticProvider": {
            "identifier": "synapse",
            "interFileDependencies": true,
            "workspaceDiagnostics": true,
        },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    });
    if formats && let Some(capabilities) = capabilities.as_object_mut() {
        capabilities.insert("documentFormattingProvider".to_owned(), Value::Bool(true));
        capabilities.insert("documentRangeFormattingProvider".to_owned(), Value::Bool(true));
    }
    json!({ "capabilities": capabilities, "serverInfo": { "name": "mica", "version": version } })
}

/// What the client is asked to watch.
pub(crate) fn watchers() -> Value {
    let patterns = ["**/*.xml", "**/*.dbs", "**/pom.xml", "**/config.properties"];
    let watchers: Vec<Value> = patterns.iter().map(|pattern| json!({ "globPattern": pattern })).collect();
    json!({
        "registrations": [{
            "id": "synapse-files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        }],
    })
}
