//! The tree of an expression. Every node knows its place in the text.
//!
//! Paths keep the text that the runtime sees (without blanks and without dropped characters), because the runtime
//! builds its JSONPath from that text and not from a tree.

use crate::text::Span;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The text it was parsed from; spans count from its start.
    pub source: String,
    /// The whole expression.
    pub root: Node,
    /// Characters that the runtime drops without a word.
    pub dropped: Vec<Span>,
}

/// A node and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
    /// How many nodes deep it is; the parser bounds it.
    pub depth: u16,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number as written.
    Number(String),
    /// A string as written, with its quotes. Escapes are not translated by the runtime.
    Text(String),
    /// `[a, b]`.
    Array(Vec<Node>),
    /// Two operands and what joins them.
    Binary {
        /// The operator.
        operator: Operator,
        /// Where the operator stands.
        at: Span,
        /// The left operand.
        left: Box<Node>,
        /// The right operand.
        right: Box<Node>,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// The condition.
        condition: Box<Node>,
        /// Evaluated when it is true.
        then: Box<Node>,
        /// Evaluated when it is false.
        otherwise: Box<Node>,
    },
    /// `(inner)`.
    Group(Box<Node>),
    /// A call of a function.
    Call(Call),
    /// `payload` or `$` and a path.
    Payload(Access),
    /// `vars`, a name and a path.
    Variable(Variable),
    /// `headers.x`, `configs.x`, `params.….x`, `props.….x`.
    Lookup(Lookup),
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `==`
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
    /// `and`, `&&`
    And,
    /// `or`, `||`
    Or,
}

impl Operator {
    /// The sign or word.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::And => "and",
            Self::Or => "or",
        }
    }

    /// The word that stands in the runtime's messages.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Add => "ADD",
            Self::Subtract => "SUBTRACT",
            Self::Multiply => "MULTIPLY",
            Self::Divide => "DIVIDE",
            Self::Modulo => "MODULO",
            Self::Equal => "EQUALS",
            Self::NotEqual => "NOT_EQUALS",
            Self::Less => "LESS_THAN",
            Self::LessEqual => "LESS_THAN_OR_EQUAL",
            Self::Greater => "GREATER_THAN",
            Self::GreaterEqual => "GREATER_THAN_OR_EQUAL",
            Self::And => "AND",
            Self::Or => "OR",
        }
    }

    /// Whether it compares.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal | Self::NotEqual | Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual
        )
    }

    /// Whether it joins booleans.
    #[must_use]
    pub const fn is_logical(self) -> bool {
        matches!(self, Self::And | Self::Or)
    }
}

/// A call: `name(arguments)` and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The name of the function, which exists.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The arguments.
    pub arguments: Vec<Node>,
    /// What follows the call.
    pub suffix: Option<Suffix>,
}

/// What follows a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Suffix {
    /// `.property(arguments)`.
    Property {
        /// Where it stands, with its dot.
        span: Span,
        /// The arguments; the runtime looks at the first.
        arguments: Vec<Node>,
    },
    /// A path.
    Path(Path),
}

/// `payload` or `$`, with or without a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// The whole text as the runtime sees it.
    pub text: String,
    /// The path, when there is one.
    pub path: Option<Path>,
}

/// `vars.name` with or without a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The whole text as the runtime sees it.
    pub text: String,
    /// The name.
    pub name: Name,
    /// The path, when there is one.
    pub path: Option<Path>,
}

/// A look-up of a named text.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// Where it looks.
    pub place: Place,
    /// The name it looks for.
    pub name: Name,
}

/// Where a look-up looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// `headers`.
    Header,
    /// `configs`.
    Config,
    /// `params.queryParams`.
    QueryParam,
    /// `params.pathParams`.
    PathParam,
    /// `params.functionParams`.
    FunctionParam,
    /// `props.synapse`.
    Synapse,
    /// `props.axis2`.
    Axis2,
}

/// A name after a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name itself, without quotes.
    pub value: String,
    /// Where the name stands, with quotes and without dot or brackets.
    pub span: Span,
    /// How it is written.
    pub form: NameForm,
}

/// How a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameForm {
    /// `.name`.
    Dot,
    /// `."name"`, possible only after `vars`, where the quotes become part of the name.
    DotText,
    /// `["name"]` or `.["name"]`.
    DoubleQuoted,
    /// `['name']` or `.['name']`; after `vars` the runtime crashes on it.
    SingleQuoted,
}

/// A path into JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Where it stands, from its first dot or bracket.
    pub span: Span,
    /// Its text as the runtime sees it.
    pub text: String,
    /// The steps, at least one.
    pub steps: Vec<Step>,
}

/// A step and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where it stands, with its dot or brackets.
    pub span: Span,
    /// What it is.
    pub kind: StepKind,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// `.name`.
    Field(String),
    /// `..name`.
    Descend(String),
    /// `..*`.
    DescendAll,
    /// `.*`.
    All,
    /// `.sum()` and the like, with the parentheses.
    Aggregate(String),
    /// `[…]`.
    Index(Index),
}

/// What stands in brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// Where the inside stands.
    pub span: Span,
    /// The inside as the runtime sees it.
    pub text: String,
    /// What it is.
    pub kind: IndexKind,
}

/// The forms of an index.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexKind {
    /// `[0]`.
    Number(String),
    /// `["name"]`, with its quotes.
    Text(String),
    /// `[vars.i + 1]`.
    Computed(Box<Node>),
    /// `[0, 2]`.
    List(Vec<Node>),
    /// `[from:to:step]`.
    Slice(Vec<SlicePart>),
    /// `[*]`.
    All,
    /// `[?(…)]` or `[(…)]`.
    Filter(Filter),
}

/// A piece of a slice.
#[derive(Debug, Clone, PartialEq)]
pub enum SlicePart {
    /// `:`.
    Colon,
    /// A bound.
    Bound(Node),
    /// A bound after a minus that is not part of a number.
    Negated(Node),
}

/// A filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Whether the question mark is written; the runtime adds it when it is not.
    pub question: bool,
    /// What stands in the parentheses, as the runtime sees it.
    pub text: String,
    /// Where that stands.
    pub span: Span,
    /// Its pieces in order.
    pub parts: Vec<FilterPart>,
}

/// A piece of a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterPart {
    /// Where it stands.
    pub span: Span,
    /// Its text as the runtime sees it.
    pub text: String,
    /// The value to put in its place, for values from outside the filter.
    pub value: Option<Node>,
}

impl Node {
    /// The node inside any number of parentheses.
    #[must_use]
    pub fn ungrouped(&self) -> &Self {
        let mut node = self;
        while let NodeKind::Group(inner) = &node.kind {
            node = inner;
        }
        node
    }

    /// The nodes directly below, indices and filters of paths included.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match &self.kind {
            NodeKind::Null
            | NodeKind::Boolean(_)
            | NodeKind::Number(_)
            | NodeKind::Text(_)
            | NodeKind::Lookup(_) => Vec::new(),
            NodeKind::Array(items) => items.iter().collect(),
            NodeKind::Binary { left, right, .. } => vec![left, right],
            NodeKind::Conditional { condition, then, otherwise } => vec![condition, then, otherwise],
            NodeKind::Group(inner) => vec![inner],
            NodeKind::Payload(access) => access.path.iter().flat_map(Path::nodes).collect(),
            NodeKind::Variable(variable) => variable.path.iter().flat_map(Path::nodes).collect(),
            NodeKind::Call(call) => {
                let mut nodes = call.arguments.iter().collect::<Vec<_>>();
                match &call.suffix {
                    Some(Suffix::Property { arguments, .. }) => nodes.extend(arguments),
                    Some(Suffix::Path(path)) => nodes.extend(path.nodes()),
                    None => {}
                }
                nodes
            }
        }
    }

    /// Visits this node and all below it, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}

impl Path {
    /// The nodes inside its indices and filters.
    #[must_use]
    pub fn nodes(&self) -> Vec<&Node> {
        let mut nodes = Vec::new();
        for step in &self.steps {
            let StepKind::Index(index) = &step.kind else { continue };
            match &index.kind {
                IndexKind::Number(_) | IndexKind::Text(_) | IndexKind::All => {}
                IndexKind::Computed(node) => nodes.push(&**node),
                IndexKind::List(list) => nodes.extend(list),
                IndexKind::Slice(parts) => nodes.extend(parts.iter().filter_map(|part| match part {
                    SlicePart::Colon => None,
                    SlicePart::Bound(node) | SlicePart::Negated(node) => Some(node),
                })),
                IndexKind::Filter(filter) => {
                    nodes.extend(filter.parts.iter().filter_map(|part| part.value.as_ref()));
                }
            }
        }
        nodes
    }
}
