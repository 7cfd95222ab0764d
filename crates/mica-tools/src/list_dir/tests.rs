//! What a list shows.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::limits::Limits;
use crate::testing::{Desk, call};

#[tokio::test]
async fn lists() {
    let desk = Desk::with(&[("b.txt", b"12"), ("a/x", b""), (".hidden", b"1")]);
    symlink("b.txt", desk.path("c")).unwrap();
    let tool = ListDir::new(&desk.workspace);
    assert_eq!(
        call(&tool, json!({})).await.unwrap(),
        "./\n.hidden  (1 bytes)\na/\nb.txt  (2 bytes)\nc -> b.txt"
    );
    assert_eq!(
        call(&tool, json!({"limit": 1})).await.unwrap(),
        "./\n.hidden  (1 bytes)\n[… 3 of 4 names are left out …]"
    );
    assert_eq!(call(&tool, json!({"path": "b.txt"})).await.unwrap_err(), "b.txt is not a folder.");
    std::fs::create_dir(desk.path("e")).unwrap();
    assert_eq!(call(&tool, json!({"path": "e"})).await.unwrap(), "e/\n[the folder is empty]");
    let few = desk.workspace.clone().with_limits(Limits { names: 2, ..Limits::default() });
    let shown = call(&ListDir::new(&few), json!({"limit": 50})).await.unwrap();
    assert_eq!(shown, "./\n.hidden  (1 bytes)\na/\n[… 3 of 5 names are left out …]");
}
