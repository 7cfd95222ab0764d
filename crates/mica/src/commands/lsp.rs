//! `mica lsp`: serves an editor over standard input and output.

use std::io::{BufReader, stdin, stdout};
use std::sync::Arc;

use synapse_lang::format::{Style, format};

use super::language::Said;
use crate::exit::Exit;

/// Serves an editor until it says goodbye or goes away.
pub fn run() -> Said {
    let options = synapse_ls::Options {
        is_alive: Some(Arc::new(synapse_ls::parent::is_alive)),
        formatter: Some(|text, indent| format(text, &Style { indent })),
        ..synapse_ls::Options::default()
    };
    let ended = synapse_ls::serve(BufReader::new(stdin()), stdout(), options);
    let exit = if ended.code() == 0 { Exit::Done } else { Exit::Error };
    Said { out: String::new(), err: String::new(), exit }
}
