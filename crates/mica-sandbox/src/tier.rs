//! How strong the boundary is here, and what is missing for a stronger one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much the kernel enforces. A higher tier enforces everything that a lower one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Nothing is confined: a clean environment, limits, and an end for every process.
    None,
    /// Landlock and seccomp: files, system calls, sockets, signals.
    Landlock,
    /// The same, in namespaces of its own: mounts, processes, network.
    Namespaces,
}

impl Tier {
    /// All, the weakest first.
    pub const ALL: [Tier; 3] = [Tier::None, Tier::Landlock, Tier::Namespaces];

    /// Its name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Tier::None => "none",
            Tier::Landlock => "landlock",
            Tier::Namespaces => "namespaces",
        }
    }

    /// What it does, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Tier::None => "nothing is confined; limits, a clean environment, and no process is left behind",
            Tier::Landlock => "files, system calls and the network are confined by Landlock and seccomp",
            Tier::Namespaces => {
                "files, system calls and the network are confined by Landlock, seccomp and namespaces of its own"
            }
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" | "0" | "T0" => Ok(Tier::None),
            "landlock" | "1" | "T1" => Ok(Tier::Landlock),
            "namespaces" | "2" | "T2" => Ok(Tier::Namespaces),
            _ => Err(format!("{text:?} is no tier: say none, landlock or namespaces")),
        }
    }
}

/// Something that is not enforced here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why, as the system tells it.
    pub why: String,
}

/// What was found when the tier was negotiated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The tier that is reached.
    pub tier: Tier,
    /// The version of Landlock's interface; 0 when there is none.
    pub landlock_abi: i32,
    /// What is not enforced, and why.
    pub missing: Vec<Missing>,
}

impl Report {
    /// What is missing, in one line.
    pub fn reasons(&self) -> String {
        let reasons = self.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.why));
        reasons.collect::<Vec<_>>().join("; ")
    }
}

/// What versions of Landlock's interface lack, by the version that brought it.
pub(crate) const LANDLOCK: &[(i32, &str, &str)] = &[
    (2, "moving files between folders", "Landlock before Linux 5.19 refuses all of it"),
    (3, "truncating files outside", "Landlock cannot forbid it before Linux 6.2"),
    (
        4,
        "TCP ports",
        "Landlock knows none before Linux 6.7; seccomp forbids all sockets of the internet instead",
    ),
    (5, "commands to devices", "Landlock cannot forbid ioctl before Linux 6.10"),
    (6, "signals to processes outside", "Landlock cannot forbid them before Linux 6.12"),
];
