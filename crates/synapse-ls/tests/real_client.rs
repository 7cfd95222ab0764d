//! A foreign client with the abilities of real editors talks to the server as a process of its own.
//!
//! Needs a Python with `pytest-lsp`, named by `MICA_TEST_LSP_PYTHON`; without it this test says so and passes. The
//! server is the example `synapse_ls_stdio`, or what `MICA_TEST_LSP_SERVER` names.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test is a binary, and this one is about other processes"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The example beside this test: cargo builds both.
fn server() -> PathBuf {
    if let Ok(path) = std::env::var("MICA_TEST_LSP_SERVER") {
        return PathBuf::from(path);
    }
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().and_then(Path::parent).unwrap();
    folder.join("examples").join(format!("synapse_ls_stdio{}", std::env::consts::EXE_SUFFIX))
}

#[test]
fn an_independent_client_works_with_it() {
    let Ok(python) = std::env::var("MICA_TEST_LSP_PYTHON") else {
        println!("SKIP: MICA_TEST_LSP_PYTHON names no Python with the pytest-lsp package");
        return;
    };
    let server = server();
    assert!(
        server.is_file(),
        "{} is not built: cargo build -p synapse-ls --example synapse_ls_stdio",
        server.display()
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pytest_lsp");
    let output = Command::new(python)
        .args(["-B", "-m", "pytest", "."])
        .current_dir(folder)
        .env("MICA_TEST_LSP_SERVER", server)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
