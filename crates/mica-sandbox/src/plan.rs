//! What goes between the program and the stub, over one socket: a plan in, errands in, orders in, reports out.
//!
//! The plan says what boundary to build, the errand what to run in it; they may come at once, or the errand when the
//! boundary has been standing for a while, or has served another one. Each is a length and JSON; an order is a byte; a report is a line of JSON.
//! Descriptors travel beside a byte before the errand and beside the report that announces a listener.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::boundary::{Limits, UnixSockets};
use crate::tier::Tier;

/// The largest plan: arguments and environment have their own limits in the kernel, around a fifth of this.
pub(crate) const LARGEST: u32 = 16 << 20;

/// The byte before an errand, beside which its descriptors travel.
pub(crate) const ERRAND: &[u8] = b"E";

/// The boundary, as the stub builds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) tier: Tier,
    pub(crate) folder: PathBuf,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) frozen: Vec<PathBuf>,
    pub(crate) held: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) shared: Vec<PathBuf>,
    pub(crate) network: Reachable,
    pub(crate) unix_sockets: UnixSockets,
    pub(crate) limits: Limits,
    /// Whether it may serve one command after the other.
    pub(crate) again: bool,
}

/// What is run in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Errand {
    /// Nothing is run when it is empty.
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
}

/// The network as the stub sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reachable {
    Nothing,
    /// A proxy on the host's loopback.
    Port(u16),
    /// A proxy that listens inside: the stub makes the socket and hands it out.
    Inside,
    Everything,
}

/// What the stub is told while the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Ask everything to end.
    Terminate = b'T' as isize,
    /// End everything.
    Kill = b'K' as isize,
}

/// What the stub tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The socket for the proxy comes with this.
    Listener,
    /// The boundary stands, and nothing runs in it yet. These are the folders around what is hidden: what comes to be
    /// in one of them later is out of reach.
    Ready { around: Vec<PathBuf> },
    /// The command runs.
    Started,
    /// Something that is frozen or hidden was replaced from outside, and is frozen or hidden again.
    Replaced { path: PathBuf },
    /// The same, but it could not be. The command is being ended.
    Open { stage: String, reason: String },
    /// Nothing was run.
    Failed { stage: String, reason: String, errno: Option<i32> },
    /// The command ended, and everything it started with it.
    Ended { code: Option<i32>, signal: Option<i32>, usage: Usage },
    /// Nothing is left of the command in the boundary, which waits for another one.
    Again,
}

/// What a command used, with everything it started and waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in its own code, in microseconds.
    pub user_us: u64,
    /// Processor time in the kernel, in microseconds.
    pub system_us: u64,
    /// The most memory that one of its processes held, in bytes.
    pub max_resident: u64,
}

/// The variables that send programs to the proxy.
pub(crate) fn proxy_variables(port: u16) -> Vec<(String, String)> {
    let url = format!("http://127.0.0.1:{port}");
    let both = |name: &str, value: &str| {
        [(name.to_owned(), value.to_owned()), (name.to_ascii_lowercase(), value.to_owned())]
    };
    let mut variables = Vec::new();
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        variables.extend(both(name, &url));
    }
    variables.extend(both("NO_PROXY", "localhost,127.0.0.1,::1"));
    variables
}
