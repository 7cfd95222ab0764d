//! What can be typed to work at the help desk.

use std::path::PathBuf;

use clap::Args;

use super::Form;

/// Who works at the desk, where, and with what.
#[derive(Debug, Clone, Default, Args)]
pub struct DeskFlags {
    /// Say this once, or do this command, print what comes of it, and exit. Can be given several times: one after the other
    #[arg(short = 'p', long = "prompt", value_name = "PROMPT")]
    pub say: Vec<String>,
    /// Say yes to what an earlier run asked, by the name that it was told with, and go on with it. Can be given several times
    #[arg(long, value_name = "NAME")]
    pub approve: Vec<String>,
    /// Say no to it. Can be given several times
    #[arg(long, value_name = "NAME")]
    pub reject: Vec<String>,
    /// Why it is a no: the copilot reads it
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub why: Option<String>,
    /// For people, or for programs: one JSON object at the end, with --prompt, --approve or --reject
    #[arg(long, value_enum, default_value_t)]
    pub format: Form,
    /// Where the desk keeps its data; beside the sessions when absent
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// The member who is there: an id or a name
    #[arg(long = "as", value_name = "MEMBER", default_value = MEMBER)]
    pub member: String,
    /// The page to begin on: inbox, records, tasks, kb, agents, today or runs
    #[arg(long, value_name = "PAGE")]
    pub page: Option<String>,
    /// What is open at the beginning: a thread, article, record, task or agent. Can be given several times
    #[arg(long, value_name = "ID")]
    pub open: Vec<String>,
    /// The conversation to go on with, or to begin
    #[arg(long, value_name = "NAME", default_value = CONVERSATION)]
    pub conversation: String,
    /// Answer with the script that comes along, and ask no model
    #[arg(long)]
    pub scripted: bool,
    /// The zone that deadlines and times are in
    #[arg(long, value_name = "ZONE", default_value = ZONE)]
    pub zone: String,
}

/// Who is there when nobody is named.
pub const MEMBER: &str = "member:maya";
/// The conversation when none is named.
pub const CONVERSATION: &str = "main";
/// The zone when none is named.
pub const ZONE: &str = "Europe/Berlin";

impl DeskFlags {
    /// Whether something is done once, without a person.
    pub fn is_once(&self) -> bool {
        !(self.say.is_empty() && self.approve.is_empty() && self.reject.is_empty())
    }
}
