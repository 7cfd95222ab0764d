//! Serves one client over standard input and output.

use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let options = synapse_ls::Options {
        is_alive: Some(Arc::new(synapse_ls::parent::is_alive)),
        ..synapse_ls::Options::default()
    };
    ExitCode::from(synapse_ls::serve(BufReader::new(stdin()), stdout(), options).code())
}
