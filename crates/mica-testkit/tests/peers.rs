//! Servers that nobody here wrote, read through mica's whole stack: aimock, a mock of the three wires, and a llama.cpp
//! server with a small model.
//!
//! `cargo xtask test --peers` sets them up and names them in variables. Without those these tests say what is missing
//! and pass. No request leaves this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

mod peers {
    mod aimock;
    mod ask;
    mod llama;
    mod process;

    /// The value of a peer's variable, or `None` after saying what is missing.
    #[allow(
        clippy::disallowed_methods,
        reason = "a test is a binary: it may read what it is configured with"
    )]
    fn variable(name: &str) -> Option<String> {
        if std::env::var_os("MICA_TEST_PEERS").is_none() {
            println!("SKIP: MICA_TEST_PEERS is not set; run `cargo xtask test --peers`");
            return None;
        }
        let value = std::env::var(name).ok().filter(|value| !value.is_empty());
        if value.is_none() {
            println!("SKIP: {name} is not set, because that peer could not be set up");
        }
        value
    }
}
