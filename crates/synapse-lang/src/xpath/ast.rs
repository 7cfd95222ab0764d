//! The tree of an XPath.

use crate::text::Span;

/// A parsed XPath.
#[derive(Debug, Clone, PartialEq)]
pub struct XPath {
    /// The text; spans count from its start.
    pub source: String,
    /// The whole expression.
    pub root: Expr,
}

/// An expression and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// Two operands and what joins them.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `-x`.
    Negate(Box<Expr>),
    /// `'text'`, without quotes.
    Literal(String),
    /// `1.5`.
    Number(f64),
    /// `$prefix:name`.
    Variable(Name),
    /// `name(arguments)`.
    Call(Name, Vec<Expr>),
    /// A location path from the context node or the root.
    Path {
        /// Whether it starts at the root.
        absolute: bool,
        /// The steps; a lone `/` has none.
        steps: Vec<Step>,
    },
    /// A value that is filtered and stepped on from.
    Filter {
        /// Where it starts.
        primary: Box<Expr>,
        /// Conditions on it.
        predicates: Vec<Expr>,
        /// Steps from it.
        steps: Vec<Step>,
    },
}

/// A name with or without prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Where it stands.
    pub span: Span,
    /// The part before the colon.
    pub prefix: Option<String>,
    /// The name itself.
    pub local: String,
}

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `or`
    Or,
    /// `and`
    And,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `div`
    Divide,
    /// `mod`
    Modulo,
    /// `|`
    Union,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where it stands.
    pub span: Span,
    /// Where it goes.
    pub axis: Axis,
    /// What it keeps.
    pub test: Test,
    /// Conditions.
    pub predicates: Vec<Expr>,
}

/// Where a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// `child`
    Child,
    /// `descendant`
    Descendant,
    /// `parent`
    Parent,
    /// `ancestor`
    Ancestor,
    /// `following-sibling`
    FollowingSibling,
    /// `preceding-sibling`
    PrecedingSibling,
    /// `following`
    Following,
    /// `preceding`
    Preceding,
    /// `attribute`
    Attribute,
    /// `namespace`
    Namespace,
    /// `self`
    Itself,
    /// `descendant-or-self`
    DescendantOrSelf,
    /// `ancestor-or-self`
    AncestorOrSelf,
}

impl Axis {
    /// The axis of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "child" => Self::Child,
            "descendant" => Self::Descendant,
            "parent" => Self::Parent,
            "ancestor" => Self::Ancestor,
            "following-sibling" => Self::FollowingSibling,
            "preceding-sibling" => Self::PrecedingSibling,
            "following" => Self::Following,
            "preceding" => Self::Preceding,
            "attribute" => Self::Attribute,
            "namespace" => Self::Namespace,
            "self" => Self::Itself,
            "descendant-or-self" => Self::DescendantOrSelf,
            "ancestor-or-self" => Self::AncestorOrSelf,
            _ => return None,
        })
    }

    /// Whether positions count backwards along it.
    #[must_use]
    pub const fn is_reverse(self) -> bool {
        matches!(
            self,
            Self::Parent | Self::Ancestor | Self::AncestorOrSelf | Self::Preceding | Self::PrecedingSibling
        )
    }
}

/// What a step keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// `*` or `prefix:*`.
    Any(Option<String>),
    /// `name` or `prefix:name`.
    Name(Name),
    /// `node()`.
    Node,
    /// `text()`.
    Text,
    /// `comment()`.
    Comment,
    /// `processing-instruction()` or with a name.
    Instruction(Option<String>),
}
