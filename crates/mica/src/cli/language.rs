//! What can be typed for the Synapse language: commands that read files and ask no model.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What to do with Synapse files.
#[derive(Debug, Subcommand)]
pub enum LanguageCommand {
    /// Check Synapse artifacts: what does not deploy, faults, goes empty or is ignored
    Check(CheckFlags),
    /// Repair what `mica check` finds, where the repair is evident
    Fix(FixFlags),
    /// Evaluate a Synapse expression, with the results of the runtime's own engine
    Expr(ExprFlags),
    /// Explain a finding by its code or its name
    Explain {
        /// For example `SYN0201`, `201` or `bare-expression`
        #[arg(value_name = "CODE", required_unless_present = "list")]
        code: Option<String>,
        /// List all codes
        #[arg(long, conflicts_with = "code")]
        list: bool,
    },
    /// Draw which artifacts of a project call which
    Graph {
        /// The project; the current folder when absent
        path: Option<PathBuf>,
        /// The form
        #[arg(long, value_enum, default_value_t = GraphForm::Mermaid)]
        format: GraphForm,
    },
    /// Indent Synapse files; nothing that the runtime reads changes
    Format(FormatFlags),
    /// Show what is in a file: artifacts, resources, sequences and their steps
    Outline {
        /// The file
        file: PathBuf,
        /// The form
        #[arg(long, value_enum, default_value_t = PlainForm::Text)]
        format: PlainForm,
    },
    /// Read the references on Synapse and Micro Integrator that the agent reads
    Knowledge {
        /// What to do with them
        #[command(subcommand)]
        command: KnowledgeCommand,
    },
    /// Make a new Micro Integrator project, also from an OpenAPI definition
    New(NewFlags),
    /// Serve an editor: the language server protocol on standard input and output
    Lsp,
}

/// What to do with the references.
#[derive(Debug, Subcommand)]
pub enum KnowledgeCommand {
    /// List them with their sections, sizes and runtimes
    List {
        /// Only what is true for this runtime, for example 4.3 or 4.4.0
        #[arg(long, value_name = "VERSION")]
        runtime: Option<String>,
        /// The form
        #[arg(long, value_enum, default_value_t = PlainForm::Text)]
        format: PlainForm,
    },
    /// Show references or sections of them: as Markdown where the output is no terminal
    Show {
        /// Names, each alone or with a section, for example edge-cases or expression-spec:jsonpath
        #[arg(value_name = "NAME[:SECTION]", required = true)]
        names: Vec<String>,
        /// Refuse what is not true for this runtime
        #[arg(long, value_name = "VERSION")]
        runtime: Option<String>,
    },
    /// Find the rows that answer a question: identifiers, operators, messages or words
    Search {
        /// The question. Behind -- when it has words that begin with a hyphen
        #[arg(required = true)]
        query: Vec<String>,
        /// Hits at most
        #[arg(long, value_name = "N", default_value_t = 8)]
        limit: usize,
        /// Only what is true for this runtime
        #[arg(long, value_name = "VERSION")]
        runtime: Option<String>,
        /// The form
        #[arg(long, value_enum, default_value_t = PlainForm::Text)]
        format: PlainForm,
    },
    /// Write them to a folder: llms.txt and one Markdown file each
    Export {
        /// The folder; it is made when it is not there
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Also overwrite files that this command did not write
        #[arg(long)]
        force: bool,
    },
}

/// What a new project is like.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "The project is a folder of that name, which must not be there or be empty; -C says where. It passes \
                        `mica check`.\nExit codes: 0 made, 1 it could not be written, 2 wrong usage."
)]
pub struct NewFlags {
    /// Its name, and that of its folder: letters, digits, - and _
    pub name: String,
    /// The runtime it is built for; the newest when absent
    #[arg(long, value_name = "VERSION")]
    pub runtime: Option<String>,
    /// The Maven group
    #[arg(long, value_name = "GROUP", default_value = "com.example")]
    pub group: String,
    /// Begin with an API: an OpenAPI or Swagger definition in JSON or YAML. A resource for each path and method answers the
    /// definition's example
    #[arg(long, value_name = "FILE")]
    pub openapi: Option<PathBuf>,
    /// The layout of folders
    #[arg(long, value_enum, default_value_t = NewLayout::New)]
    pub layout: NewLayout,
    /// A Maven repository for the build file: one that has WSO2's plugins and connectors. Can be given several times;
    /// without it, Maven's settings have to say
    #[arg(long, value_name = "URL")]
    pub repository: Vec<String>,
    /// Only list what would be written
    #[arg(long)]
    pub dry_run: bool,
}

/// The layout of a new project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NewLayout {
    /// One Maven project with src/main/wso2mi
    New,
}

/// How files are checked.
#[derive(Debug, Clone, Args)]
pub struct CheckFlags {
    /// Files and folders; the current folder when absent
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The runtime the files are meant for, for example 4.3 or 4.4.0. What the project says, else the newest, when absent
    #[arg(long, value_name = "VERSION")]
    pub runtime: Option<String>,
    /// The form
    #[arg(long, value_enum, default_value_t = FindingsForm::Text)]
    pub format: FindingsForm,
    /// The least severity that is shown. Errors alone decide the exit code
    #[arg(long, value_enum, default_value_t = Least::Hint)]
    pub severity: Least,
    /// Look at every file alone, also in a project: what other files define is not looked up
    #[arg(long)]
    pub standalone: bool,
    /// Check the text on standard input
    #[arg(long, conflicts_with = "paths")]
    pub stdin: bool,
    /// The file that the text on standard input is meant for
    #[arg(long, value_name = "FILE", requires = "stdin")]
    pub path: Option<PathBuf>,
}

/// How files are repaired.
#[derive(Debug, Clone, Args)]
pub struct FixFlags {
    /// Files and folders; the current folder when absent
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Apply repairs that change behaviour or are one of several ways, too: look at the result
    #[arg(long = "unsafe")]
    pub everything: bool,
    /// Write nothing, say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Write nothing, print the changes as a unified diff
    #[arg(long)]
    pub diff: bool,
    /// Repair only findings of this code. Can be given several times
    #[arg(long, value_name = "CODE")]
    pub code: Vec<String>,
    /// The runtime the files are meant for
    #[arg(long, value_name = "VERSION")]
    pub runtime: Option<String>,
    /// Look at every file alone, also in a project
    #[arg(long)]
    pub standalone: bool,
}

/// What is evaluated, and against what.
#[derive(Debug, Clone, Args)]
pub struct ExprFlags {
    /// The expression, with or without `${}`
    #[arg(value_name = "EXPR", required_unless_present = "batch", allow_hyphen_values = true)]
    pub expression: Option<String>,
    /// A JSON file with the message: payload, vars, headers and more
    #[arg(long, value_name = "FILE")]
    pub context: Option<PathBuf>,
    /// Do not evaluate: say what is wrong with it whatever the data. With --context, for data of that shape
    #[arg(long)]
    pub check: bool,
    /// Evaluate every line of a file: `{"id":…,"expr":"…"}` or a JSON string. `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["expression", "check", "format"])]
    pub batch: Option<PathBuf>,
    /// The form
    #[arg(long, value_enum, default_value_t = PlainForm::Text)]
    pub format: PlainForm,
}

/// How files are indented.
#[derive(Debug, Clone, Args)]
pub struct FormatFlags {
    /// Files and folders; the current folder when absent
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write nothing; the exit code is 1 when a file would change
    #[arg(long)]
    pub check: bool,
    /// Indent the text on standard input and write it to standard output
    #[arg(long, conflicts_with_all = ["paths", "check"])]
    pub stdin: bool,
}

/// The form of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FindingsForm {
    /// For people: excerpts, reasons and repairs
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Commands of GitHub workflows, which show findings beside the code
    Github,
}

/// The form of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphForm {
    /// A Mermaid flowchart
    Mermaid,
    /// Nodes and edges as JSON
    Json,
    /// A picture that needs no other file
    Svg,
    /// Graphviz
    Dot,
}

/// Text, or JSON for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlainForm {
    /// For people
    Text,
    /// For programs
    Json,
}

/// The least severity that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Least {
    /// Everything
    Hint,
    /// What is worth knowing
    Info,
    /// What is likely not meant
    Warning,
    /// What does not deploy or fails
    Error,
}
