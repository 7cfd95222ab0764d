//! What can be typed about serving mica's knowledge and tools to other agents.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Where the HTTP server listens when no address is given.
const ADDRESS: &str = "127.0.0.1:8931";

/// How to add it to other agents.
const HELP: &str = "\
How to add it to other agents: most read an entry like this one, from .mcp.json, .vscode/mcp.json (there below \"servers\") or
their settings:

  { \"mcpServers\": { \"mica\": { \"command\": \"mica\", \"args\": [\"mcp\", \"serve\", \"--root\", \"/path/of/project\"] } } }

  Claude Code   claude mcp add mica -- mica mcp serve
  Codex         codex mcp add mica -- mica mcp serve
  VS Code       code --add-mcp '{\"name\":\"mica\",\"command\":\"mica\",\"args\":[\"mcp\",\"serve\"]}'

docs/mcp-server.md has more, and what the tools, resources and prompts are.";

/// How mica is served to other agents.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct ServeFlags {
    /// A folder whose files may be read; the current folder when absent. Can be given several times. Nothing outside is
    /// touched, and files that hold secrets are not read
    #[arg(long, value_name = "FOLDER")]
    pub root: Vec<PathBuf>,
    /// Let the tool `fix` write repaired files. Without it, nothing is ever written
    #[arg(long)]
    pub write: bool,
    /// Serve over HTTP instead of standard input and output. Port 0 is any free one; the address is printed
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = ADDRESS)]
    pub http: Option<SocketAddr>,
    /// Allow an address that other machines can reach. Needs a token
    #[arg(long, requires = "http")]
    pub allow_remote: bool,
    /// Ask for the token that is in this file: `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "generate_token")]
    pub token_file: Option<PathBuf>,
    /// Ask for a token that is made now, and print it
    #[arg(long, requires = "http")]
    pub generate_token: bool,
    /// A name by which the server may be asked besides those of this machine. Can be given several times
    #[arg(long, value_name = "NAME", requires = "http")]
    pub allow_host: Vec<String>,
    /// A web page that may ask, for example https://example.org:443. Can be given several times
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub allow_origin: Vec<String>,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub time: u64,
}
