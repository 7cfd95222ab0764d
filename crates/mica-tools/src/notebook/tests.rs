//! Cells instead of JSON, and edits that keep the JSON whole.

use serde_json::json;

use super::*;
use crate::testing::{Desk, call};
use crate::{FileEdit, FileRead, FileWrite, Sight};

fn notebook() -> Vec<u8> {
    serde_json::to_vec_pretty(&json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "words"]},
            {"cell_type": "code", "execution_count": 3, "metadata": {}, "source": "print(1)\n",
             "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []},
                {"output_type": "stream", "text": "x".repeat(3_000)},
             ]},
            {"cell_type": "code", "source": [], "outputs": "odd"},
        ],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4
    }))
    .unwrap()
}

#[tokio::test]
async fn cells_are_shown() {
    let desk = Desk::with(&[("a.ipynb", &notebook())]);
    let tool = FileRead::new(&desk.workspace, Sight::Blind);
    let long = "x".repeat(2_000);
    assert_eq!(
        call(&tool, json!({"path": "a.ipynb"})).await.unwrap(),
        format!(
            "[a notebook with 3 cells, python3; this is not its text: read it with raw to quote its JSON in an edit]\n\
             --- cell 0 (markdown) ---\n# Title\nwords\n--- cell 1 (code, run 3) ---\nprint(1)\n\
             --- output of cell 1 ---\n1\n--- output of cell 1 ---\n<Figure>\n[and image/png]\n\
             --- output of cell 1 ---\n[image/png]\n--- output of cell 1 ---\nValueError: no\n\
             --- output of cell 1 ---\n{long}\n[… 1000 more bytes of this output are left out …]\n\
             --- cell 2 (code) ---\n"
        )
    );
    let part = call(&tool, json!({"path": "a.ipynb", "offset": 3, "limit": 2})).await.unwrap();
    assert!(part.starts_with("# Title\nwords\n[… lines 5-"), "{part}");
    let raw = call(&tool, json!({"path": "a.ipynb", "raw": true})).await.unwrap();
    assert!(raw.starts_with("{\n  \"cells\": ["), "{raw}");
}

#[tokio::test]
async fn edits_keep_it_whole() {
    let desk = Desk::with(&[("a.ipynb", &notebook())]);
    let edit = FileEdit::new(&desk.workspace);
    let told = call(&edit, json!({"path": "a.ipynb", "old": "\"words\"", "new": "words"})).await.unwrap_err();
    assert_eq!(
        told,
        "a.ipynb is a notebook, and would not be valid JSON after this edit. Quote whole lines of its JSON, with their \
         quotes and commas (read it with raw). Nothing was changed."
    );
    call(&edit, json!({"path": "a.ipynb", "old": "\"words\"", "new": "\"other\""})).await.unwrap();
    assert!(cells(&desk.bytes("a.ipynb")).unwrap().contains("# Title\nother\n"));
    // The cells are not the file: whoever has seen them has not seen it.
    let read = FileRead::new(&desk.workspace, Sight::Blind);
    call(&read, json!({"path": "a.ipynb"})).await.unwrap();
    let write = FileWrite::new(&desk.workspace);
    assert!(call(&write, json!({"path": "a.ipynb", "content": "{}"})).await.is_err());
}

#[test]
fn what_is_no_notebook() {
    for bytes in [&b""[..], b"{}", b"[]", b"{\"cells\": 1}", b"\xFF\xFE", b"{\"cells\": [}"] {
        assert_eq!(cells(bytes), None);
    }
    assert!(cells(b"\xEF\xBB\xBF{\"cells\": [1, null, {}]}").unwrap().contains("--- cell 2 (unknown) ---"));
    let deep = format!("{{\"cells\": {}", "[".repeat(100_000));
    assert_eq!(cells(deep.as_bytes()), None);
    assert!(is_notebook(Path::new("a/B.IPYNB")) && !is_notebook(Path::new("ipynb")));
}
