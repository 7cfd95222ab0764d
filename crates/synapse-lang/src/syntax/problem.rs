//! What is wrong with a text as XML, where, and the evident repair.

use std::fmt;

use crate::diagnostic::Fix;
use crate::text::Span;

/// How many problems of one text are kept. More help nobody, and garbage would fill the memory with them.
pub const MOST_PROBLEMS: usize = 1000;

/// Something wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub kind: ProblemKind,
    /// Where it is.
    pub span: Span,
    /// The repair, where one is evident.
    pub fix: Option<Fix>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// An element whose end tag is missing.
    UnclosedElement {
        /// Its name.
        name: String,
    },
    /// An end tag that no open element waits for.
    StrayCloseTag {
        /// Its name.
        name: String,
    },
    /// An end tag that evidently closes an element of another name.
    MismatchedCloseTag {
        /// The name of the open element.
        expected: String,
        /// The name in the end tag.
        found: String,
    },
    /// A tag that does not end with `>`.
    UnclosedTag {
        /// Its name.
        name: String,
    },
    /// A `<` with no name after it.
    MissingElementName,
    /// A name with characters that names cannot have.
    BadName {
        /// The name as written.
        name: String,
    },
    /// An attribute with no value.
    AttributeWithoutValue {
        /// Its name.
        name: String,
    },
    /// An attribute with a value but no `=`.
    MissingEquals {
        /// Its name.
        name: String,
    },
    /// A value that is not in quotes.
    UnquotedValue {
        /// The attribute's name.
        name: String,
    },
    /// A value whose closing quote is missing.
    UnclosedValue {
        /// The attribute's name.
        name: String,
    },
    /// A value that contains the quotes it stands in.
    NestedQuotes {
        /// The attribute's name.
        name: String,
        /// The quote.
        quote: char,
    },
    /// Two attributes with nothing between them.
    MissingSpace,
    /// An attribute that the element already has.
    DuplicateAttribute {
        /// Its name.
        name: String,
    },
    /// Something in a tag that is neither a name nor an attribute.
    JunkInTag,
    /// A bare `<` in a value.
    LessInValue,
    /// A bare `<` in text.
    LessInText,
    /// A bare `&`.
    BareAmpersand,
    /// A predefined entity without its semicolon.
    UnfinishedReference {
        /// The reference as written.
        reference: String,
    },
    /// An entity that XML does not define.
    UnknownEntity {
        /// Its name.
        name: String,
    },
    /// An entity that the document itself defines. It is not resolved.
    RefusedEntity {
        /// Its name.
        name: String,
    },
    /// A declaration of an entity in the document type.
    RefusedEntityDeclaration,
    /// A document type that is kept elsewhere.
    RefusedExternalSubset,
    /// A character reference to something that is not a character of XML.
    InvalidCharacterReference {
        /// The reference as written.
        reference: String,
    },
    /// A character that XML does not allow.
    InvalidCharacter {
        /// The character.
        character: char,
    },
    /// `--` in a comment.
    DashesInComment,
    /// A comment without its end.
    UnclosedComment,
    /// A CDATA section without its end.
    UnclosedCData,
    /// A CDATA section outside the document element.
    CDataOutsideRoot,
    /// A processing instruction without its end.
    UnclosedInstruction,
    /// A processing instruction without a name.
    BadInstruction,
    /// A document type without its end.
    UnclosedDoctype,
    /// A document type inside or after the document element, or a second one.
    MisplacedDoctype,
    /// Markup that begins with `<!` and is nothing known.
    UnknownMarkup,
    /// `]]>` in text.
    CDataEndInText,
    /// A second element beside the document element.
    ExtraRoot {
        /// Its name.
        name: String,
    },
    /// Text beside the document element.
    TextOutsideRoot,
    /// There is no element.
    MissingRoot,
    /// A prefix without a namespace.
    UndeclaredPrefix {
        /// The prefix.
        prefix: String,
    },
    /// A prefix that is bound to nothing, or a reserved one that is bound to something else.
    BadNamespace {
        /// The prefix.
        prefix: String,
    },
    /// `<?xml` that is not the very first thing.
    MisplacedDeclaration {
        /// Whether nothing but white space stands before it.
        after_blanks: bool,
    },
    /// The text is too large: it is not read from here on.
    TooLarge,
    /// There are more problems, which were not kept.
    More {
        /// How many.
        left_out: usize,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnclosedElement { name } => write!(f, "<{name}> is not closed: </{name}> is missing"),
            Self::StrayCloseTag { name } => write!(f, "</{name}> closes nothing: no <{name}> is open here"),
            Self::MismatchedCloseTag { expected, found } => {
                write!(f, "</{found}> does not match <{expected}>, which is open here")
            }
            Self::UnclosedTag { name } => write!(f, "the tag of {name:?} does not end: `>` is missing"),
            Self::MissingElementName => f.write_str("an element name is expected after `<`"),
            Self::BadName { name } => {
                write!(f, "{name:?} is not a name: it has characters that XML names cannot have")
            }
            Self::AttributeWithoutValue { name } => write!(f, "the attribute {name:?} has no value"),
            Self::MissingEquals { name } => write!(f, "`=` is missing between {name:?} and its value"),
            Self::UnquotedValue { name } => write!(f, "the value of {name:?} must stand in quotes"),
            Self::UnclosedValue { name } => {
                write!(f, "the value of {name:?} does not end: its closing quote is missing")
            }
            Self::NestedQuotes { name, quote } => write!(
                f,
                "the value of {name:?} is cut short: {quote} stands inside a value that is quoted with {quote}"
            ),
            Self::MissingSpace => f.write_str("a blank is missing between two attributes"),
            Self::DuplicateAttribute { name } => write!(f, "the attribute {name:?} is there twice"),
            Self::JunkInTag => f.write_str("this is not part of an attribute"),
            Self::LessInValue => f.write_str("`<` in an attribute value must be written `&lt;`"),
            Self::LessInText => f.write_str("`<` in text must be written `&lt;`"),
            Self::BareAmpersand => f.write_str("`&` must be written `&amp;`"),
            Self::UnfinishedReference { reference } => write!(f, "`{reference}` lacks its semicolon"),
            Self::UnknownEntity { name } => {
                write!(f, "the entity &{name}; is not defined: XML knows only amp, lt, gt, quot and apos")
            }
            Self::RefusedEntity { name } => {
                write!(f, "the entity &{name}; is defined by the document itself and is not resolved")
            }
            Self::RefusedEntityDeclaration => {
                f.write_str("entity declarations are refused: nothing is resolved with them")
            }
            Self::RefusedExternalSubset => {
                f.write_str("an external document type is refused: nothing is loaded")
            }
            Self::InvalidCharacterReference { reference } => {
                write!(f, "`{reference}` does not name a character that XML allows")
            }
            Self::InvalidCharacter { character } => {
                write!(f, "the character U+{:04X} is not allowed in XML", u32::from(*character))
            }
            Self::DashesInComment => f.write_str("`--` must not stand in a comment"),
            Self::UnclosedComment => f.write_str("the comment does not end: `-->` is missing"),
            Self::UnclosedCData => f.write_str("the CDATA section does not end: `]]>` is missing"),
            Self::CDataOutsideRoot => f.write_str("a CDATA section must stand inside the document element"),
            Self::UnclosedInstruction => {
                f.write_str("the processing instruction does not end: `?>` is missing")
            }
            Self::BadInstruction => f.write_str("a name is expected after `<?`"),
            Self::UnclosedDoctype => f.write_str("the document type does not end: `>` is missing"),
            Self::MisplacedDoctype => {
                f.write_str("a document type must stand once, before the document element")
            }
            Self::UnknownMarkup => {
                f.write_str("`<!` begins neither a comment nor a CDATA section nor a document type")
            }
            Self::CDataEndInText => f.write_str("`]]>` in text must be written `]]&gt;`"),
            Self::ExtraRoot { name } => {
                write!(f, "<{name}> stands beside the document element: there can be only one")
            }
            Self::TextOutsideRoot => f.write_str("text must stand inside the document element"),
            Self::MissingRoot => f.write_str("there is no element"),
            Self::UndeclaredPrefix { prefix } => {
                write!(f, "the prefix {prefix:?} is not declared: xmlns:{prefix}=\"…\" is missing")
            }
            Self::BadNamespace { prefix } => write!(f, "the prefix {prefix:?} cannot be bound like this"),
            Self::MisplacedDeclaration { after_blanks: true } => f.write_str(
                "white space stands before the XML declaration: strict readers refuse such a text",
            ),
            Self::MisplacedDeclaration { after_blanks: false } => {
                f.write_str("the XML declaration must be the very first thing in the text")
            }
            Self::TooLarge => f.write_str("the text is too large and is not read from here on"),
            Self::More { left_out } => write!(f, "{left_out} more problems are not listed"),
        }
    }
}

/// The problems of one text while it is read. It counts what it does not keep.
#[derive(Debug, Default)]
pub(super) struct Problems {
    kept: Vec<Problem>,
    left_out: usize,
}

impl Problems {
    /// Adds a problem without a repair. The kind is made only when it is kept.
    pub(super) fn add(&mut self, span: Span, kind: impl FnOnce() -> ProblemKind) {
        self.add_with(span, || (kind(), None));
    }

    /// Adds a problem with its repair. Both are made only when they are kept.
    pub(super) fn add_with(&mut self, span: Span, make: impl FnOnce() -> (ProblemKind, Option<Fix>)) {
        if self.kept.len() >= MOST_PROBLEMS {
            self.left_out += 1;
            return;
        }
        let (kind, fix) = make();
        self.kept.push(Problem { kind, span, fix });
    }

    /// How many there are so far; for [`Self::forget_since`].
    pub(super) fn mark(&self) -> usize {
        self.kept.len()
    }

    /// Drops the problems since a mark that something later explains better.
    pub(super) fn forget_since(&mut self, mark: usize, explained: impl Fn(&ProblemKind) -> bool) {
        if mark < self.kept.len() {
            let recent = self.kept.split_off(mark);
            self.kept.extend(recent.into_iter().filter(|problem| !explained(&problem.kind)));
        }
    }

    /// Whether no more are kept: then the text is garbage, and careful guesses about it are a waste of time.
    pub(super) fn is_full(&self) -> bool {
        self.kept.len() >= MOST_PROBLEMS
    }

    /// The tag at a place, which does not end, has an end tag after all: it lacks `>` and not `/>`.
    pub(super) fn tag_is_open(&mut self, tag: Span) {
        // Among garbage it was not kept, and looking for it again and again would take its time.
        if self.left_out > 0 {
            return;
        }
        let reported = |problem: &&mut Problem| {
            problem.span == tag && matches!(problem.kind, ProblemKind::UnclosedTag { .. })
        };
        let fix = self.kept.iter_mut().rev().find(reported).and_then(|problem| problem.fix.as_mut());
        if let Some(fix) = fix {
            "Add `>`".clone_into(&mut fix.title);
            for edit in &mut fix.edits {
                ">".clone_into(&mut edit.text);
            }
        }
    }

    /// All of them in the order of the text, with a last one that says how many were left out.
    pub(super) fn finish(mut self, end: u32) -> Vec<Problem> {
        self.kept.sort_by_key(|problem| problem.span);
        if self.left_out > 0 {
            let kind = ProblemKind::More { left_out: self.left_out };
            self.kept.push(Problem { kind, span: Span::at(end), fix: None });
        }
        self.kept
    }
}

#[cfg(test)]
mod tests;
