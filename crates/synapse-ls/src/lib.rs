//! A language server for Synapse XML: what `synapse-lang` knows, in an editor.
//!
//! [`serve`] speaks the language server protocol (3.18) over a reader and a writer, and answers when the client is
//! done. One thread owns all state; another reads, one writes, and one does what takes long (reading projects,
//! checking whole workspaces). Every channel between them is bounded.
//!
//! The main nouns are the folder (a project that is read), the buffer (a document as it stands in the editor, which
//! wins over the disk) and the view (a document with its surroundings, which every feature reads).
//!
//! It must not know agents, models or terminals, and reads no environment.
//!
//! ```
//! use synapse_ls::{Ended, Options, serve};
//!
//! // A client that goes away at once.
//! let ended = serve(std::io::empty(), std::io::sink(), Options::default());
//! assert_eq!(ended, Ended::ClientGone);
//! ```

mod actions;
mod buffer;
mod capabilities;
mod client;
mod completion;
mod diagnostics;
mod dispatch;
mod folder;
mod folding;
mod formatting;
mod hover;
mod lookups;
mod navigate;
mod outbox;
pub mod parent;
mod places;
mod prose;
mod rename;
mod rpc;
mod selection;
mod server;
mod signature;
mod symbols;
mod target;
mod tokens;
mod uri;
mod view;
mod worker;

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

use synapse_lang::model::Version;

/// Answers whether a process is still there.
pub type IsAlive = Arc<dyn Fn(u32) -> bool + Send + Sync>;

/// Writes a document in the one form: the text, and how many blanks an indentation has.
pub type Formatter = fn(&str, usize) -> String;

/// How a server behaves.
#[derive(Clone)]
pub struct Options {
    /// The version that the server tells clients.
    pub version: String,
    /// How long a document must be left alone before its diagnostics are sent.
    pub debounce: Duration,
    /// The runtime, whatever projects say.
    pub runtime: Option<Version>,
    /// Where the pages of the codes are to be had: `SYN0123.md` is appended.
    pub pages: Option<String>,
    /// Tells whether the process that the client named as its own is still there; without it, only the end of the
    /// input ends the server. See [`parent::is_alive`].
    pub is_alive: Option<IsAlive>,
    /// How documents are formatted; without it, formatting is not offered.
    pub formatter: Option<Formatter>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            debounce: Duration::from_millis(120),
            runtime: None,
            pages: None,
            is_alive: None,
            formatter: None,
        }
    }
}

/// How the conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client asked for the end, in good order or without asking to shut down first.
    Exit {
        /// Whether it asked to shut down first; the process exits with 0 only then.
        in_order: bool,
    },
    /// The input ended, the output broke, or the client's process is gone.
    ClientGone,
}

impl Ended {
    /// The exit code that the protocol asks for.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Exit { in_order: true } => 0,
            Self::Exit { in_order: false } | Self::ClientGone => 1,
        }
    }
}

/// Serves a client until it is done.
///
/// The threads that read and write may outlive the call when the client neither writes nor closes its pipes; they end
/// with the process.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> Ended {
    server::run(input, output, options)
}
