//! Which method does what.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gen_lsp_types::{
    CodeActionParams, CompletionParams, DefinitionParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DocumentDiagnosticParams, DocumentFormattingParams, DocumentHighlightParams,
    DocumentRangeFormattingParams, DocumentSymbolParams, FoldingRangeParams, HoverParams,
    LinkedEditingRangeParams, PrepareRenameParams, ReferenceParams, RenameParams, SelectionRangeParams,
    SemanticTokensParams, SemanticTokensRangeParams, SignatureHelpParams, TextDocumentPositionParams, Uri,
    WorkspaceDiagnosticParams, WorkspaceSymbolParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use synapse_lang::check::Memo;

use crate::buffer::{self, Buffer};
use crate::client::Client;
use crate::rpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Refused, SERVER_NOT_INITIALIZED,
};
use crate::server::{Phase, Server};
use crate::view::View;
use crate::worker::{Check, Job};
use crate::{
    actions, capabilities, completion, diagnostics, folder, folding, formatting, hover, navigate, rename,
    selection, signature, symbols, tokens, uri,
};

/// What a handler answers.
pub(crate) type Answer = Result<Value, Refused>;

/// Runs a handler; a panic in it becomes an answer, and the server lives on.
pub(crate) fn guarded<T>(handler: impl FnOnce() -> Result<T, Refused>) -> Result<T, Refused> {
    catch_unwind(AssertUnwindSafe(handler)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        Err(Refused { code: INTERNAL_ERROR, message: format!("the server failed here: {text}") })
    })
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params).map_err(|error| Refused {
        code: INVALID_PARAMS,
        message: format!("the parameters do not fit: {error}"),
    })
}

fn shown(result: impl Serialize) -> Answer {
    serde_json::to_value(result).map_err(|error| Refused { code: INTERNAL_ERROR, message: error.to_string() })
}

impl Server {
    /// Answers a request; nothing when the worker will.
    pub(crate) fn request(&mut self, id: &Value, method: &str, params: Value) -> Option<Answer> {
        match (self.phase, method) {
            (Phase::New, "initialize") => Some(self.initialize(&params)),
            (Phase::New, _) => {
                let message = "the server waits for initialize".to_owned();
                Some(Err(Refused { code: SERVER_NOT_INITIALIZED, message }))
            }
            (Phase::Running, "initialize") | (Phase::Down, _) => {
                let message = format!("{method} is not possible at this point");
                Some(Err(Refused { code: INVALID_REQUEST, message }))
            }
            (Phase::Running, "workspace/diagnostic") => match read(params) {
                Ok(params) => {
                    self.check_workspace(id, params);
                    None
                }
                Err(refused) => Some(Err(refused)),
            },
            (Phase::Running, _) => Some(self.answer(method, params)),
        }
    }

    fn initialize(&mut self, params: &Value) -> Answer {
        self.client = Client::read(params.get("capabilities").unwrap_or(&Value::Null));
        self.parent = params.get("processId").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
        if let Some(version) = params.pointer("/initializationOptions/runtime").and_then(Value::as_str) {
            let wrong = |error: synapse_lang::model::NotAVersion| Refused {
                code: INVALID_PARAMS,
                message: format!("initializationOptions.runtime: {error}"),
            };
            self.options.runtime = Some(version.parse().map_err(wrong)?);
        }
        let folders = params.get("workspaceFolders").and_then(Value::as_array);
        let uris: Vec<&Value> = match folders {
            Some(folders) => folders.iter().filter_map(|folder| folder.get("uri")).collect(),
            None => params.get("rootUri").into_iter().collect(),
        };
        let uris = uris.into_iter().filter_map(Value::as_str).map(|text| Uri(text.to_owned()));
        self.workspace = uris.filter_map(|uri| uri::path(&uri)).collect();
        self.phase = Phase::Running;
        let formats = self.options.formatter.is_some();
        Ok(capabilities::answer(&self.client, formats, &self.options.version))
    }

    fn answer(&mut self, method: &str, params: Value) -> Answer {
        match method {
            "shutdown" => {
                self.phase = Phase::Down;
                Ok(Value::Null)
            }
            "textDocument/diagnostic" => self.diagnostic(read(params)?),
            "textDocument/codeAction" => self.code_action(&read(params)?),
            "codeAction/resolve" => self.resolve_action(params),
            "textDocument/hover" => self.hover(read(params)?),
            "textDocument/completion" => {
                let params: CompletionParams = read(params)?;
                self.at(&params.text_document_position_params, |view, at| {
                    shown(completion::complete(view, at))
                })
            }
            "textDocument/signatureHelp" => {
                let params: SignatureHelpParams = read(params)?;
                self.at(&params.text_document_position_params, |view, at| shown(signature::help(view, at)))
            }
            "textDocument/definition" => {
                let params: DefinitionParams = read(params)?;
                self.at(&params.text_document_position_params, |view, at| {
                    shown(navigate::definition(view, at))
                })
            }
            "textDocument/references" => {
                let params: ReferenceParams = read(params)?;
                let with = params.context.include_declaration;
                self.at(&params.text_document_position_params, |view, at| {
                    shown(navigate::references(view, at, with))
                })
            }
            "textDocument/documentHighlight" => {
                let params: DocumentHighlightParams = read(params)?;
                self.at(&params.text_document_position_params, |view, at| {
                    shown(navigate::highlights(view, at))
                })
            }
            "textDocument/prepareRename" => {
                let params: PrepareRenameParams = read(params)?;
                self.at(&params.text_document_position_params, |view, at| shown(rename::prepare(view, at)?))
            }
            "textDocument/rename" => {
                let params: RenameParams = read(params)?;
                let versions = self.versions();
                let name = params.new_name;
                self.at(&params.text_document_position_params, |view, at| {
                    shown(rename::rename(view, at, &name, &versions)?)
                })
            }
            "textDocument/linkedEditingRange" => {
                let params: LinkedEditingRangeParams = read(params)?;
                self.at(&params.text_document_position_params, |view, at| shown(selection::linked(view, at)))
            }
            "textDocument/documentSymbol" => {
                let params: DocumentSymbolParams = read(params)?;
                self.seen(&params.text_document.uri, symbols::of_document)
            }
            "workspace/symbol" => {
                let params: WorkspaceSymbolParams = read(params)?;
                let unit = self.client.unit;
                let folders = self.folders.iter().map(|(_, folder)| (folder.root.as_path(), &folder.project));
                shown(symbols::of_workspace(folders, &params.query, unit))
            }
            "textDocument/foldingRange" => {
                let params: FoldingRangeParams = read(params)?;
                self.seen(&params.text_document.uri, |view| shown(folding::ranges(view)))
            }
            "textDocument/selectionRange" => {
                let params: SelectionRangeParams = read(params)?;
                self.seen(&params.text_document.uri, |view| shown(selection::ranges(view, &params.positions)))
            }
            "textDocument/semanticTokens/full" => {
                let params: SemanticTokensParams = read(params)?;
                self.seen(&params.text_document.uri, |view| shown(tokens::of(view, None)))
            }
            "textDocument/semanticTokens/range" => {
                let params: SemanticTokensRangeParams = read(params)?;
                self.seen(&params.text_document.uri, |view| shown(tokens::of(view, Some(params.range))))
            }
            "textDocument/formatting" => {
                let params: DocumentFormattingParams = read(params)?;
                self.seen(&params.text_document.uri, |view| {
                    shown(formatting::edits(view, &params.options, None)?)
                })
            }
            "textDocument/rangeFormatting" => {
                let params: DocumentRangeFormattingParams = read(params)?;
                let (range, options) = (Some(params.range), params.options);
                self.seen(&params.text_document.uri, |view| shown(formatting::edits(view, &options, range)?))
            }
            _ => Err(Refused { code: METHOD_NOT_FOUND, message: format!("there is no {method} here") }),
        }
    }

    /// Looks at a document; null for one that is not known.
    fn seen(&self, uri: &Uri, look: impl FnOnce(&View<'_>) -> Answer) -> Answer {
        self.with_view(uri, look).unwrap_or(Ok(Value::Null))
    }

    /// Looks at a place in a document.
    fn at(&self, place: &TextDocumentPositionParams, look: impl FnOnce(&View<'_>, u32) -> Answer) -> Answer {
        self.seen(&place.text_document.uri, |view| look(view, view.offset(place.position)))
    }

    fn versions(&self) -> HashMap<String, i32> {
        let by_uri = self.buffers.iter().map(|(uri, buffer)| (uri.clone(), buffer.version));
        let canonical = self.buffers.iter().filter_map(|(address, buffer)| {
            let path = uri::path(&Uri(address.clone()))?;
            Some((uri::of(&path).0, buffer.version))
        });
        by_uri.chain(canonical).collect()
    }

    fn diagnostic(&mut self, params: DocumentDiagnosticParams) -> Answer {
        let uri = params.text_document.uri;
        let found = self.findings(&uri).unwrap_or_default();
        let sent = self.with_view(&uri, |view| diagnostics::sent(view, &found)).unwrap_or_default();
        Ok(diagnostics::report(&sent, params.previous_result_id.as_deref()))
    }

    fn check_workspace(&mut self, id: &Value, params: WorkspaceDiagnosticParams) {
        let ready = self.folders.iter().filter(|(_, folder)| folder.ready);
        let folders = ready.map(|(_, folder)| (folder.root.clone(), folder.project.clone())).collect();
        let previous = params.previous_result_ids.into_iter().map(|one| (one.uri.0, one.value)).collect();
        let check = Check {
            id: id.clone(),
            folders,
            versions: self.versions(),
            previous,
            partial: params.partial_result_params.partial_result_token.map(|token| json!(token)),
            progress: params.work_done_progress_params.work_done_token.map(|token| json!(token)),
            client: self.client.clone(),
            options: self.options.clone(),
            cancelled: Arc::default(),
        };
        self.enqueue(Job::Check(Box::new(check)));
    }

    fn code_action(&mut self, params: &CodeActionParams) -> Answer {
        if !self.client.literal_actions {
            return Ok(Value::Null);
        }
        let uri = &params.text_document.uri;
        let version = self.buffers.get(uri.as_ref()).map(|buffer| buffer.version);
        let found = self.findings(uri).unwrap_or_default();
        self.seen(uri, |view| shown(actions::actions(view, &found, params, version)))
    }

    /// Adds the edit to an action that was handed out without it.
    fn resolve_action(&self, mut action: Value) -> Answer {
        let uri = action.pointer("/data/uri").and_then(Value::as_str).map(|uri| Uri(uri.to_owned()));
        let Some(uri) = uri else { return Ok(action) };
        let version = self.buffers.get(uri.as_ref()).map(|buffer| buffer.version);
        if action.pointer("/data/version") != Some(&json!(version)) {
            return Err(Refused::failed("the document has changed: ask for its actions again"));
        }
        let edit = self.with_view(&uri, |view| actions::fix_all(view, version));
        if let (Some(edit), Some(action)) = (edit, action.as_object_mut()) {
            action.insert("edit".to_owned(), edit);
        }
        Ok(action)
    }

    fn hover(&mut self, params: HoverParams) -> Answer {
        let place = params.text_document_position_params;
        let found = self.findings(&place.text_document.uri).unwrap_or_default();
        self.at(&place, |view, at| shown(hover::hover(view, at, &found)))
    }

    /// Takes note of something.
    pub(crate) fn notification(&mut self, method: &str, params: Value) -> Result<(), Refused> {
        if self.phase != Phase::Running {
            return Ok(());
        }
        match method {
            "initialized" => {
                if self.client.watches {
                    self.ask("client/registerCapability", capabilities::watchers());
                }
                for folder in std::mem::take(&mut self.workspace) {
                    self.add_folder(&folder);
                }
            }
            "textDocument/didOpen" => self.open(read(params)?),
            "textDocument/didChange" => self.change(read(params)?)?,
            "textDocument/didClose" => {
                let params: DidCloseTextDocumentParams = read(params)?;
                self.close(&params.text_document.uri);
            }
            "workspace/didChangeWatchedFiles" => self.watched(read(params)?),
            "workspace/didChangeWorkspaceFolders" => {
                let params: DidChangeWorkspaceFoldersParams = read(params)?;
                for folder in params.event.removed {
                    if let Some(path) = uri::path(&folder.uri) {
                        self.remove_projects(&path);
                    }
                }
                for folder in params.event.added {
                    if let Some(path) = uri::path(&folder.uri) {
                        self.add_folder(&path);
                    }
                }
            }
            // Buffers win over the disk, so a save changes nothing; what else is sent is optional by the protocol.
            _ => {}
        }
        Ok(())
    }

    fn add_folder(&mut self, folder: &std::path::Path) {
        let roots: Vec<PathBuf> = folder::roots(folder);
        for root in roots {
            self.add_project(root);
        }
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let home = self.home(&document.uri);
        let buffer =
            Buffer { version: document.version, text: document.text.into(), home, memo: Memo::default() };
        self.buffers.insert(document.uri.0.clone(), buffer);
        self.text_changed(document.uri.as_ref(), Duration::ZERO);
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) -> Result<(), Refused> {
        let (uri, version) =
            (params.text_document.text_document_identifier.uri, params.text_document.version);
        let unit = self.client.unit;
        let Some(buffer) = self.buffers.get_mut(uri.as_ref()) else {
            let message = format!("{} is not open", uri.as_ref());
            return Err(Refused { code: INVALID_PARAMS, message });
        };
        buffer.text = buffer::changed(&buffer.text, params.content_changes, unit).into();
        buffer.version = version;
        self.text_changed(uri.as_ref(), self.options.debounce);
        Ok(())
    }

    fn watched(&mut self, params: DidChangeWatchedFilesParams) {
        let mut touched = Vec::new();
        for event in params.changes {
            let Some(path) = uri::path(&event.uri) else { continue };
            touched.extend(self.look_at_disk(&path));
        }
        touched.sort_unstable();
        touched.dedup();
        for id in &touched {
            self.project_changed(*id);
        }
        if !touched.is_empty() {
            self.refresh();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_a_handler_is_an_answer() {
        let answer = guarded::<()>(|| panic!("no such thing"));
        let message = "the server failed here: no such thing".to_owned();
        assert_eq!(answer, Err(Refused { code: INTERNAL_ERROR, message }));
        assert_eq!(guarded(|| Ok(1)), Ok(1));
    }
}
