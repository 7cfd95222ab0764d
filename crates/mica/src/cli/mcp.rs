//! What can be typed about servers of the Model Context Protocol.

use clap::Subcommand;

use super::Form;
use super::serve::ServeFlags;

/// What to do with MCP servers.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// List the servers that are configured, and what is known of their tools. Starts none unless --check is given
    List {
        /// Start each of them and say what it is: its state, its version of the protocol, its tools
        #[arg(long)]
        check: bool,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Add a server to your own mcp.json: a command behind --, or the address of one that is reached over HTTP
    Add {
        /// What it is called: letters, digits, - and _
        name: String,
        /// A variable for the command, as NAME=VALUE. Can be given several times
        #[arg(long, value_name = "NAME=VALUE")]
        env: Vec<String>,
        /// A header for the address, as NAME: VALUE. Can be given several times
        #[arg(long, value_name = "NAME: VALUE")]
        header: Vec<String>,
        /// Confine the command like commands of the model: it writes the project only, and reaches no network
        #[arg(long)]
        sandbox: bool,
        /// Put it in place of one of the same name
        #[arg(long)]
        replace: bool,
        /// The address, or the command and its arguments
        #[arg(
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "URL | COMMAND"
        )]
        target: Vec<String>,
    },
    /// Take a server out of your own mcp.json, with what is kept of it
    Remove {
        /// What it is called
        name: String,
    },
    /// List the tools of a server, by the names that rules and models use. Starts it when they are not known
    Tools {
        /// What it is called
        name: String,
        /// Ask the server, also when they are known
        #[arg(long)]
        refresh: bool,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Call a tool of a server and print what it gives
    Call {
        /// What the server is called
        name: String,
        /// The tool, by its own name or by the one that models use
        tool: String,
        /// Its arguments, as a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Show what a server printed to standard error, and what happened to it
    Log {
        /// What it is called
        name: String,
    },
    /// Log in to a server that is reached over HTTP: prints an address to open, and waits for the browser to come back
    Login {
        /// What it is called
        name: String,
        /// Seconds to wait for the browser
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        wait: u64,
    },
    /// Forget the tokens of a server
    Logout {
        /// What it is called
        name: String,
    },
    /// Serve mica's Synapse knowledge and tools to other agents, over standard input and output or over HTTP
    Serve(Box<ServeFlags>),
}
