"""A session as an editor has it: open, edit, findings, completion, a repair applied, a rename.

The client is pytest-lsp, which checks every message against the protocol and has the abilities of real editors.
"""

import asyncio
import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

EDITORS = ["visual-studio-code", "neovim", "emacs"]
NAMESPACE = "http://ws.apache.org/ns/synapse"


def sequence(name, steps):
    return f'<sequence xmlns="{NAMESPACE}" name="{name}">\n{steps}\n</sequence>\n'


@pytest.fixture
def project(tmp_path: pathlib.Path):
    folder = tmp_path / "src/main/wso2mi/artifacts/sequences"
    folder.mkdir(parents=True)
    (tmp_path / "pom.xml").write_text("<project/>")
    (folder / "Audit.xml").write_text(sequence("Audit", "<log/>"))
    (folder / "Main.xml").write_text(sequence("Main", '<sequence key="Audit"/>'))
    return tmp_path


@pytest_lsp.fixture(
    params=EDITORS,
    config=ClientServerConfig(server_command=[os.environ["MICA_TEST_LSP_SERVER"]]),
)
async def client(request, lsp_client: LanguageClient, project: pathlib.Path):
    uri = project.as_uri()
    # Editors watch files when they are asked to; this client has nothing to watch them with.
    lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda *_: None)
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(request.param),
            process_id=os.getpid(),
            workspace_folders=[types.WorkspaceFolder(uri=uri, name="project")],
        )
    )
    yield
    await lsp_client.shutdown_session()


def open_document(client, path, text=None):
    text = path.read_text() if text is None else text
    document = types.TextDocumentItem(uri=path.as_uri(), language_id="xml", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
    return types.TextDocumentIdentifier(uri=document.uri)


async def findings(client, document):
    """Asks for findings, which works whether or not the editor would."""
    report = await client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(text_document=document)
    )
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return report.items


def offset(text, position):
    """Byte columns are character columns here: all texts are ASCII."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: position.line]) + position.character


def applied(text, edits):
    for edit in sorted(edits, key=lambda edit: offset(text, edit.range.start), reverse=True):
        start, end = offset(text, edit.range.start), offset(text, edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


def edits_of(edit: types.WorkspaceEdit, uri):
    if edit.document_changes:
        changes = [one for one in edit.document_changes if isinstance(one, types.TextDocumentEdit)]
        return [e for one in changes if one.text_document.uri == uri for e in one.edits]
    return edit.changes[uri]


@pytest.mark.asyncio
async def test_findings_follow_edits(client: LanguageClient, project):
    path = project / "src/main/wso2mi/artifacts/sequences/Audit.xml"
    document = open_document(client, path)
    assert [one.code for one in await findings(client, document)] == []
    place = types.Position(line=1, character=1)
    change = types.TextDocumentContentChangePartial(
        range=types.Range(start=place, end=types.Position(line=1, character=4)), text="lgo"
    )
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(uri=document.uri, version=2),
            content_changes=[change],
        )
    )
    found = await findings(client, document)
    assert [(one.code, one.range.start) for one in found] == [("SYN0101", place)]
    assert found[0].source == "synapse"


@pytest.mark.asyncio
async def test_completion_offers_names_of_the_project(client: LanguageClient, project):
    path = project / "src/main/wso2mi/artifacts/sequences/Main.xml"
    text = sequence("Main", '<sequence key=""/>')
    document = open_document(client, path, text)
    position = types.Position(line=1, character=len('<sequence key="'))
    # The project is read in the background: the names are there as soon as it is.
    for _ in range(200):
        answer = await client.text_document_completion_async(
            types.CompletionParams(text_document=document, position=position)
        )
        labels = [item.label for item in answer.items]
        if "Audit" in labels:
            break
        await asyncio.sleep(0.05)
    assert labels[:2] == ["Audit", "Main"]
    item = answer.items[0]
    assert applied(text, [item.text_edit]) == sequence("Main", '<sequence key="Audit"/>')


@pytest.mark.asyncio
async def test_a_repair_is_applied(client: LanguageClient, project):
    path = project / "src/main/wso2mi/artifacts/sequences/Audit.xml"
    text = sequence("Audit", '<log level="FULL"/>')
    document = open_document(client, path, text)
    found = await findings(client, document)
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=document,
            range=found[0].range,
            context=types.CodeActionContext(diagnostics=found, only=[types.CodeActionKind.QuickFix]),
        )
    )
    assert [(one.title, one.is_preferred) for one in actions] == [("Change it to full", True)]
    mended = applied(text, edits_of(actions[0].edit, document.uri))
    assert mended == sequence("Audit", '<log level="full"/>')


@pytest.mark.asyncio
async def test_a_rename_reaches_all_files(client: LanguageClient, project):
    folder = project / "src/main/wso2mi/artifacts/sequences"
    document = open_document(client, folder / "Main.xml")
    position = types.Position(line=1, character=len('<sequence key="A'))
    for _ in range(200):
        try:
            edit = await client.text_document_rename_async(
                types.RenameParams(text_document=document, position=position, new_name="Trace")
            )
            break
        except Exception as error:  # noqa: BLE001
            # Until the project is read, the server says so.
            assert "still being read" in str(error)
            await asyncio.sleep(0.05)
    for name, expected in [
        ("Audit.xml", sequence("Trace", "<log/>")),
        ("Main.xml", sequence("Main", '<sequence key="Trace"/>')),
    ]:
        path = folder / name
        assert applied(path.read_text(), edits_of(edit, path.as_uri())) == expected
    renames = [one for one in edit.document_changes or [] if isinstance(one, types.RenameFile)]
    assert [(one.old_uri, one.new_uri) for one in renames] in (
        [((folder / "Audit.xml").as_uri(), (folder / "Trace.xml").as_uri())],
        [],
    )


@pytest.mark.asyncio
async def test_hover_symbols_and_tokens_fit_the_protocol(client: LanguageClient, project):
    path = project / "src/main/wso2mi/artifacts/sequences/Audit.xml"
    text = sequence("Audit", "<log><message>${toUpper(vars.x)}</message></log>")
    document = open_document(client, path, text)
    hover = await client.text_document_hover_async(
        types.HoverParams(text_document=document, position=types.Position(line=1, character=2))
    )
    assert "Writes a line to the log" in hover.contents.value
    symbols = await client.text_document_document_symbol_async(
        types.DocumentSymbolParams(text_document=document)
    )
    assert symbols[0].name == "sequence Audit"
    tokens = await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text_document=document)
    )
    assert len(tokens.data) == 3 * 5
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(text_document=document))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(0, 1)]
    help = await client.text_document_signature_help_async(
        types.SignatureHelpParams(
            text_document=document,
            position=types.Position(line=1, character=len("<log><message>${toUpper(")),
        )
    )
    assert [one.label for one in help.signatures] == ["toUpper(text: scalar) → string"]
    report = await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[]))
    assert isinstance(report, types.WorkspaceDiagnosticReport)
