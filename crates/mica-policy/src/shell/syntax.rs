//! The tree of a parsed script: what the shell would read, before anything is expanded.
//!
//! Lists and pipelines are flat, so that a chain of thousands of commands needs no deep stack; what nests is bounded by
//! the parser.

use std::ops::Range;

/// A range of bytes in the command line.
pub type ByteRange = Range<usize>;

/// Commands one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    pub(super) items: Vec<Item>,
}

/// One and-or list, and whether it runs in the background.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Link, Pipeline)>,
    pub(super) background: bool,
}

/// What joins two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    And,
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone)]
pub(super) struct Pipeline {
    pub(super) negated: bool,
    pub(super) commands: Vec<Node>,
}

/// One command.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) redirects: Vec<Redirect>,
    pub(super) at: ByteRange,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Simple { assigns: Vec<Assign>, words: Vec<Word> },
    Group(Sequence),
    Subshell(Sequence),
    If { arms: Vec<(Sequence, Sequence)>, otherwise: Option<Sequence> },
    While { condition: Sequence, body: Sequence },
    For { name: String, words: Option<Vec<Word>>, body: Sequence },
    ForArith { head: Word, body: Sequence },
    Case { word: Word, arms: Vec<(Vec<Word>, Sequence)> },
    Function { name: String, body: Box<Node> },
    Test(Vec<Word>),
    Arith(Word),
    Coproc(Box<Node>),
    Time(Box<Pipeline>),
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value` or `NAME=(…)`.
#[derive(Debug, Clone)]
pub(super) struct Assign {
    pub(super) name: String,
    pub(super) append: bool,
    pub(super) subscript: Option<Word>,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Word(Word),
    Array(Vec<Word>),
}

/// A redirection.
#[derive(Debug, Clone)]
pub(super) struct Redirect {
    pub(super) kind: RedirectKind,
    pub(super) target: Word,
    pub(super) at: ByteRange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `&>`, `&>>`
    Write,
    /// `<>`
    ReadWrite,
    /// `>&`, `<&`: a descriptor, or a file for `>&`.
    Duplicate,
    /// `<<`, `<<<`: the text is the target.
    Here,
}

/// A word before expansion.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    pub(super) at: ByteRange,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Text. Unquoted text may still hold globs, braces and a tilde.
    Text { text: String, quoted: bool },
    /// `$NAME`, `${NAME…}`.
    Parameter { parameter: Parameter, quoted: bool },
    /// `$(…)` and backticks.
    Command { script: Sequence, quoted: bool },
    /// `<(…)`, `>(…)`.
    Process { script: Sequence },
    /// `$((…))`: what stands inside.
    Arith { inside: Word, quoted: bool },
}

/// A parameter expansion.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) subscript: Option<Word>,
    pub(super) change: Change,
    /// Words inside the braces. They are expanded, and may run commands.
    pub(super) words: Vec<Word>,
}

/// What an expansion does with the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing.
    Plain,
    /// `${NAME:-word}` and `${NAME-word}`.
    Default,
    /// `${NAME:=word}` and `${NAME=word}`.
    Assign,
    /// `${#NAME}`.
    Length,
    /// `${NAME:offset:length}`: arithmetic.
    Slice,
    /// `${!NAME}`, `${NAME@P}`: what it runs or names is in the value.
    Indirect,
    /// Patterns, replacements, case.
    Other,
}
