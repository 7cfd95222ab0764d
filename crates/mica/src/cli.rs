//! What can be typed: commands, flags, and their help.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mica_ai::Dialect;
use mica_ai::model::Effort;
use mica_policy::Mode;
use mica_policy::rules::Rule;

use crate::equipment::of_commands;

pub mod desk;
pub mod eval;
pub mod ext;
pub mod given;
pub mod knowhow;
pub mod language;
pub mod mcp;
pub mod serve;

/// An agent that works where you are.
#[derive(Debug, Parser)]
#[command(name = "mica", version, about, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 error, 2 wrong usage, 3 a limit was reached, 4 an approval is needed, \
                        130 aborted.\nWith text on standard input, it is added to the prompt."
)]
pub struct Cli {
    /// What to do. Without it: the interactive mode, or one run when -p or --continue is given
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How a run goes.
    #[command(flatten)]
    pub run: RunFlags,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drive an agent over a pipe: JSON lines in, JSON lines out
    Rpc,
    /// Look at, mark, go back in, export, fork and delete sessions
    Sessions {
        /// What to do with them
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// Take back what runs changed in files: of the last run, or of everything since one. Says what it does; `mica redo`
    /// takes it back
    Undo {
        /// Back to before this run: its id, or the beginning or the end of it. --list has them
        run: Option<String>,
        /// Only list the runs that changed files, the newest first
        #[arg(long, conflicts_with_all = ["run", "file", "dry_run", "force", "skip_conflicts"])]
        list: bool,
        /// What is restored, and how
        #[command(flatten)]
        restore: RestoreFlags,
    },
    /// Take back the last undo
    Redo {
        /// What is restored, and how
        #[command(flatten)]
        restore: RestoreFlags,
    },
    /// List the models that are known and where they would be asked
    Models {
        /// Only models whose name contains this
        filter: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Look at the configuration and where each value comes from
    Config {
        /// What to look at
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Trust what a project brings that changes what mica does there, as it is now: settings, extensions and the like
    Trust {
        /// The project; the current folder when absent
        folder: Option<PathBuf>,
        /// What to do
        #[command(flatten)]
        flags: TrustFlags,
    },
    /// Look at the commands that are hooked to events, and try them
    Hooks {
        /// What to do with them
        #[command(subcommand)]
        command: HooksCommand,
    },
    /// Look at skills, check them, and begin new ones
    Skills {
        /// What to do with them
        #[command(subcommand)]
        command: knowhow::SkillsCommand,
    },
    /// Look at what is remembered for later sessions, and change it
    Memory {
        /// What to do with it
        #[command(subcommand)]
        command: knowhow::MemoryCommand,
    },
    /// List, try, begin and allow extensions: files that change what the agent does
    Ext {
        /// What to do with them
        #[command(subcommand)]
        command: ext::ExtCommand,
    },
    /// Read the pages about mica itself
    Docs {
        /// The page; without it, all are listed
        page: Option<String>,
    },
    /// Look at the rules for shell commands, try them, and take back approvals that were remembered
    Rules {
        /// What to do with them
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// Check what is configured and reachable, and say how to mend what is not
    Doctor {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// Ask the model one short question as well
        #[arg(long)]
        ask: bool,
    },
    /// Play cases: what is said and done, what a model answers, and what must come of it
    Eval(eval::EvalFlags),
    /// Work at the help desk: customers, conversations, tasks and articles, with a copilot that asks before it changes things
    Desk(desk::DeskFlags),
    /// Add, look at, try and log in to servers of the Model Context Protocol
    Mcp {
        /// What to do with them
        #[command(subcommand)]
        command: mcp::McpCommand,
    },
    /// Read, check and repair the Synapse language
    #[command(flatten)]
    Language(language::LanguageCommand),
    /// Run a command in the sandbox, or see what the sandbox is here
    Sandbox {
        /// What to do
        #[command(subcommand)]
        command: SandboxCommand,
    },
    /// Write shell completions to standard output
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual page to standard output
    Man,
}

/// What to do about what a project brings.
#[derive(Debug, Clone, Default, Args)]
pub struct TrustFlags {
    /// Take the trust back
    #[arg(long)]
    pub revoke: bool,
    /// Only list what there is, with its content and whether it is trusted
    #[arg(long, conflicts_with = "revoke")]
    pub list: bool,
    /// Only this file or folder of it, as --list names it. Can be given several times
    #[arg(long, value_name = "PATH")]
    pub only: Vec<PathBuf>,
    /// The list for people, or for programs
    #[arg(long, value_enum, default_value_t, requires = "list")]
    pub format: Form,
}

/// What to do with hooks.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// List those that count here, where they come from, and what is wrong with their files
    List {
        /// For whom
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Run the hooks of an event once with a sample, and show what they read, print and decide
    Test {
        /// The event, for example PreToolUse
        event: String,
        /// The tool that is called, by any of its names
        #[arg(long, default_value = "shell")]
        tool: String,
        /// What it is called with, as JSON; a harmless sample when absent
        #[arg(long)]
        input: Option<String>,
    },
}

/// What is restored, and how.
#[derive(Debug, Clone, Default, Args)]
pub struct RestoreFlags {
    /// Only this file, or what is in this folder. Can be given several times
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Also restore files that somebody else changed since. What they are now is kept
    #[arg(long, conflicts_with = "skip_conflicts")]
    pub force: bool,
    /// Leave files alone that somebody else changed since, and restore the others
    #[arg(long)]
    pub skip_conflicts: bool,
    /// For people, or for programs
    #[arg(long, value_enum, default_value_t)]
    pub format: Form,
}

/// What to do with the sandbox.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run a command in it. Ends with the command's code; 124 its time was up, 125 the sandbox could not be set up, 126
    /// the command cannot be run, 127 there is no such command
    Run {
        /// What it may touch
        #[command(flatten)]
        boundary: BoundaryFlags,
        /// Seconds it may take; 600 when absent
        #[arg(long, value_name = "SECONDS")]
        time: Option<u64>,
        /// The command and its arguments
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Show what a command may touch here, how that is enforced, and why not better
    Explain {
        /// What it may touch
        #[command(flatten)]
        boundary: BoundaryFlags,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
}

/// What a command in the sandbox may touch, beside the folder it runs in.
#[derive(Debug, Clone, Args)]
pub struct BoundaryFlags {
    /// How it is enforced: none, landlock or namespaces. The best there is when absent, and nothing runs when it is not
    /// reached
    #[arg(long)]
    pub tier: Option<mica_sandbox::Tier>,
    /// A host it may reach: example.org, *.example.org, example.org:8443. Can be given several times
    #[arg(long, value_name = "HOST")]
    pub net: Vec<mica_sandbox::Host>,
    /// Grant hosts also where the kernel can only check the port
    #[arg(long, requires = "net")]
    pub weak_net: bool,
    /// One more folder or file it may write. Can be given several times
    #[arg(long, value_name = "PATH")]
    pub write: Vec<PathBuf>,
    /// It writes nothing but temporary files
    #[arg(long, conflicts_with = "write")]
    pub read_only: bool,
}

/// What to do with the rules for shell commands.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List what was remembered for this project and its sessions, and the commands that are known
    List {
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Say what would happen with a command, and why. Nothing is run. --mode says in which mode
    Judge {
        /// The command, as one text
        #[arg(allow_hyphen_values = true, required_unless_present = "batch")]
        command: Option<String>,
        /// Judge many: a file with one JSON string in each row; - is standard input. Answers are rows of JSON
        #[arg(long, value_name = "FILE", conflicts_with = "command")]
        batch: Option<PathBuf>,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Take back an approval that was remembered for this project, or for a session
    Forget {
        /// The session that it was remembered for; the project when absent
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// What the list shows: the first words of the commands, for example mvn test
        #[arg(required = true)]
        words: Vec<String>,
    },
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List them, the newest first
    List {
        /// Of all projects, not only this one
        #[arg(long)]
        all: bool,
        /// As JSON: the same as --format json
        #[arg(long)]
        json: bool,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Show one
    Show {
        /// Its id, or the beginning or the end of it
        id: String,
    },
    /// Show the tree of one: what was said, where it forks, and where the conversation stands
    Tree {
        /// Its id, or the beginning or the end of it
        id: String,
        /// With the entries that only the program reads
        #[arg(long)]
        all: bool,
        /// For people, or for programs
        #[arg(long, value_enum, default_value_t)]
        format: Form,
    },
    /// Mark an entry. Sessions with marks are not pruned
    Label {
        /// The session's id, or the beginning or the end of it
        id: String,
        /// The entry: its id, the beginning or the end of it, its label, or `leaf`
        entry: String,
        /// The mark
        #[arg(required_unless_present = "remove")]
        text: Vec<String>,
        /// Take the mark away
        #[arg(long, conflicts_with = "text")]
        remove: bool,
    },
    /// Name one
    Name {
        /// Its id, or the beginning or the end of it
        id: String,
        /// The name
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Go on from another entry. What was said since stays, as a branch
    Goto {
        /// The session's id, or the beginning or the end of it
        id: String,
        /// The entry: its id, the beginning or the end of it, its label, `leaf`, or `start` for before the first
        entry: String,
        /// What the model should know of the branch that is left
        #[arg(long, value_name = "TEXT")]
        summary: Option<String>,
    },
    /// Undo the last compaction: everything is in the window again
    Uncompact {
        /// Its id, or the beginning or the end of it
        id: String,
    },
    /// Delete old sessions of every project. Says what goes and why, and asks; --yes does not ask
    Prune {
        /// Those that did not change for so many days
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// All but the newest so many of each project
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// The oldest of each project, until the rest takes no more than this: 500MB, 2GiB
        #[arg(long, value_name = "SIZE")]
        max_size: Option<String>,
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
    },
    /// Write one as a document to standard output, or to a file
    Export {
        /// Its id, or the beginning or the end of it
        id: String,
        /// The form
        #[arg(long, value_enum, default_value_t = ExportForm::Markdown)]
        form: ExportForm,
        /// Where to; standard output when absent
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Begin a new session with what one said until an entry
    Fork {
        /// Its id, or the beginning or the end of it
        id: String,
        /// The entry: its id, the beginning or the end of it, or its label; the current one when absent
        #[arg(long)]
        at: Option<String>,
    },
    /// Delete sessions
    Rm {
        /// Their ids, or the beginnings or the ends of them
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

/// Who reads it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// People
    #[default]
    Text,
    /// Programs
    Json,
}

/// The form of an exported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// Markdown
    Markdown,
    /// One HTML file that needs no other
    Html,
}

/// What to look at in the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// All values that are set, and where
    List,
    /// One value: what each layer says, and which one counts
    Explain {
        /// For example `model` or `limits.turns`
        key: String,
    },
    /// Where the files are
    Paths,
}

/// How a run goes. These flags win over every configuration file.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Flags of a run")]
pub struct RunFlags {
    /// Run once with this prompt, print the answer, and exit. `-` reads it from standard input
    #[arg(short, long, value_name = "PROMPT")]
    pub prompt: Option<String>,
    /// What is printed
    #[arg(long, value_enum, value_name = "FORM")]
    pub output: Option<Output>,
    /// Show what the model thinks as well, on standard error. The interactive mode does so anyway
    #[arg(long)]
    pub show_thinking: bool,
    /// Go on with the newest session of this folder
    #[arg(long = "continue", short = 'c', conflicts_with = "resume", global = true)]
    pub go_on: bool,
    /// Go on with this session: its id, or the beginning or the end of it
    #[arg(long, value_name = "ID", global = true)]
    pub resume: Option<String>,
    /// Keep no session
    #[arg(long, global = true, conflicts_with_all = ["go_on", "resume"])]
    pub no_session: bool,
    /// The model, as `MODEL` or `ENDPOINT/MODEL`
    #[arg(long, short, value_name = "NAME", global = true)]
    pub model: Option<String>,
    /// The dialect to speak: responses, messages or chat. Chosen by the model when absent
    #[arg(long, value_name = "DIALECT", global = true, value_parser = fits::<Dialect>)]
    pub dialect: Option<String>,
    /// Ask an OpenAI-compatible server at this address
    #[arg(long, value_name = "URL", global = true)]
    pub base_url: Option<String>,
    /// The variable that holds the key for --base-url
    #[arg(long, value_name = "VARIABLE", global = true)]
    pub api_key_env: Option<String>,
    /// How hard to think: none, minimal, low, medium, high, xhigh, max
    #[arg(long, value_name = "LEVEL", global = true, value_parser = fits::<Effort>)]
    pub effort: Option<String>,
    /// Turns of one run at most
    #[arg(long, value_name = "N", global = true)]
    pub max_turns: Option<u32>,
    /// Dollars one run may cost
    #[arg(long, value_name = "USD", global = true)]
    pub max_cost: Option<f64>,
    /// Seconds one run may take, not counting people
    #[arg(long, value_name = "SECONDS", global = true)]
    pub max_time: Option<u64>,
    /// How much it may do: ask, plan or edit
    #[arg(long, value_name = "MODE", global = true, value_parser = fits::<Mode>)]
    pub mode: Option<String>,
    /// The domain pack; found by looking at the folder when absent
    #[arg(long, value_name = "NAME", global = true)]
    pub pack: Option<String>,
    /// Allow calls without asking: a tool, or `tool(glob)`. Can be given several times
    #[arg(long, value_name = "RULE", global = true, value_parser = rule)]
    pub allow: Vec<String>,
    /// Allow every call that the mode allows, without asking
    #[arg(long, short, global = true)]
    pub yes: bool,
    /// The plain interactive mode: rows of text that scroll, no full screen. It is the only one
    #[arg(long)]
    pub plain: bool,
    /// Load this extension as well: a file or a folder. Can be given several times
    #[arg(long, value_name = "FILE", global = true)]
    pub extension: Vec<PathBuf>,
    /// Work in this folder
    #[arg(long, short = 'C', value_name = "FOLDER", global = true)]
    pub directory: Option<PathBuf>,
}

/// A flag whose words are one of few: what is none of them is a wrong flag, and not a failure of the run.
fn fits<T: FromStr<Err: Display>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// A rule. Those about commands are read with the commands.
fn rule(text: &str) -> Result<String, String> {
    if of_commands(text).is_some() { Ok(text.to_owned()) } else { fits::<Rule>(text) }
}

/// What a run prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// The answer as text; what the agent does goes to standard error
    #[default]
    Text,
    /// One JSON object at the end: the answer, the outcome, what it took
    Json,
    /// Every event as a JSON line, as it happens
    StreamJson,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    const PAGE: &str = include_str!("../../../docs/cli.md");

    /// What a command has that the page does not.
    fn missing(command: &clap::Command, path: &str) -> Vec<String> {
        let flags = command.get_arguments().filter_map(|argument| argument.get_long());
        let flags = flags.filter(|flag| !["help", "version"].contains(flag));
        let mut missing: Vec<String> = flags
            .filter(|flag| !PAGE.contains(&format!("`--{flag}`")) && !PAGE.contains(&format!("`--{flag} ")))
            .map(|flag| format!("{path} --{flag}"))
            .collect();
        for inner in command.get_subcommands() {
            let path = format!("{path} {}", inner.get_name());
            if !PAGE.contains(&path) {
                missing.push(path.clone());
            }
            missing.extend(self::missing(inner, &path));
        }
        missing
    }

    #[test]
    fn the_page_has_every_command_and_flag() {
        assert_eq!(missing(&Cli::command(), "mica"), Vec::<String>::new());
        Cli::command().debug_assert();
    }
}
