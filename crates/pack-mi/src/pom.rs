//! Changes to a `pom.xml` that leave everything else of it as it was: its indentation, comments, line ends, blank
//! lines and byte order mark.
//!
//! Texts go in and come out; nothing here touches a disk. A build file that is not well-formed is refused, because
//! nobody can say what an edit of it would mean.
//!
//! Invariant: a dependency that is added and then removed leaves the bytes of before, unless the list of dependencies
//! was there and empty: an empty list is removed with its last entry.
//!
//! ```
//! use pack_mi::pom::{self, Connector};
//!
//! let before = "<project>\n  <artifactId>orders</artifactId>\n</project>\n";
//! let http = Connector::new("org.wso2.integration.connector", "mi-connector-http", "0.1.9");
//! let after = pom::add(before, &http)?.unwrap();
//! assert!(after.contains("\n  <dependencies>\n    <dependency>\n      <groupId>org.wso2.integration.connector</groupId>"));
//! assert_eq!(pom::remove(&after, &http.group, &http.artifact)?.as_deref(), Some(before));
//! # Ok::<(), pack_mi::pom::PomError>(())
//! ```

use std::ops::Range;

use synapse_lang::syntax::{Document, Element, Node, escape_text};

/// A connector as a dependency.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connector {
    /// The group.
    pub group: String,
    /// The artifact id.
    pub artifact: String,
    /// The version.
    pub version: String,
}

impl Connector {
    /// A connector of three coordinates.
    pub fn new(group: impl Into<String>, artifact: impl Into<String>, version: impl Into<String>) -> Self {
        Self { group: group.into(), artifact: artifact.into(), version: version.into() }
    }
}

/// Why a build file is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PomError {
    /// It is no well-formed XML.
    #[error("pom.xml is not well-formed: {problem} (line {line})")]
    NotWellFormed {
        /// What is wrong.
        problem: String,
        /// Where, counted from one.
        line: usize,
    },
    /// It is something else.
    #[error("this is no build file: its root is {found}, not <project>")]
    NotAPom {
        /// What its root is.
        found: String,
    },
    /// The version is said elsewhere.
    #[error(
        "the version of {artifact} is ${{{property}}}, which this pom.xml does not define: change it where it is defined"
    )]
    VersionElsewhere {
        /// The connector.
        artifact: String,
        /// The property.
        property: String,
    },
    /// It has no such dependency.
    #[error("{artifact} is not a dependency of this pom.xml")]
    NoSuchDependency {
        /// The connector.
        artifact: String,
    },
}

impl PomError {
    /// What happened and what to do, for a model.
    pub fn for_model(&self) -> String {
        match self {
            Self::NotWellFormed { .. } => format!("{self}. Repair it first; nothing was changed."),
            _ => format!("{self}. Nothing was changed."),
        }
    }
}

/// Adds a connector. Nothing when a dependency of that group and artifact is there, whatever its version.
///
/// # Errors
/// [`PomError`] when the text is no build file.
pub fn add(text: &str, connector: &Connector) -> Result<Option<String>, PomError> {
    let document = Document::parse(text);
    let root = project(&document)?;
    if found(root, &connector.group, &connector.artifact).next().is_some() {
        return Ok(None);
    }
    let style = Style::of(root);
    if root.is_self_closing() {
        let span = range(root.span());
        let open = text.get(span.clone()).unwrap_or_default().trim_end_matches("/>").trim_end();
        let list = style.list(&style.block(connector, None), None);
        return Ok(Some(splice(text, span, &format!("{open}>{list}</{}>", root.name()))));
    }
    let Some(list) = root.first("dependencies") else {
        let (at, before) = after_head(root);
        let (inner, outer) = match before {
            // A text without lines stays one.
            None => (None, None),
            Some(before) => (Some(format!("{before}{}", style.unit)), Some(before)),
        };
        let block = style.list(&style.block(connector, inner.as_deref()), outer.as_deref());
        return Ok(Some(splice(text, at..at, &style.own_line(&block, outer.as_deref()))));
    };
    let own = list.indentation().map(str::to_owned);
    let first = list.elements().find(|one| one.local() == "dependency");
    let beside = first.and_then(|one| one.indentation()).map(str::to_owned);
    let has_lines = list.content_span().is_some_and(|span| span.of(text).contains('\n'));
    let Some(content) = list.content_span().filter(|_| !list.is_self_closing()) else {
        let block = style.block(connector, own.as_ref().map(|own| format!("{own}{}", style.unit)).as_deref());
        return Ok(Some(splice(text, range(list.span()), &style.list(&block, own.as_deref()))));
    };
    let indent = beside.or_else(|| own.as_ref().map(|own| format!("{own}{}", style.unit)));
    let indent = indent.filter(|_| has_lines || content.is_empty());
    let block = style.own_line(&style.block(connector, indent.as_deref()), indent.as_deref());
    let last = list.children().filter(|one| !is_blank(one)).last();
    let at = last.map_or(content.start, |last| last.span().end) as usize;
    let closing = if content.is_empty() && indent.is_some() {
        style.own_line("", own.as_deref())
    } else {
        String::new()
    };
    Ok(Some(splice(text, at..at, &format!("{block}{closing}"))))
}

/// Removes a connector, whatever its version. Nothing when it is not there.
///
/// # Errors
/// [`PomError`] when the text is no build file.
pub fn remove(text: &str, group: &str, artifact: &str) -> Result<Option<String>, PomError> {
    let document = Document::parse(text);
    let root = project(&document)?;
    let mut gone: Vec<Range<usize>> = found(root, group, artifact).map(|one| with_line(text, one)).collect();
    if gone.is_empty() {
        return Ok(None);
    }
    if let Some(list) = root.first("dependencies") {
        let left = |one: &Node<'_>| {
            let span = range(one.span());
            !is_blank(one) && !gone.iter().any(|gone| gone.start <= span.start && span.end <= gone.end)
        };
        if !list.children().any(|one| left(&one)) {
            gone = vec![with_line(text, list)];
        }
    }
    let mut changed = text.to_owned();
    for range in gone.into_iter().rev() {
        changed = splice(&changed, range, "");
    }
    Ok(Some(changed))
}

/// Gives a connector another version. Nothing when it has that version already.
///
/// A version that is kept in a property of the same file is changed there, when no other dependency uses it;
/// otherwise it is written where it is used.
///
/// # Errors
/// [`PomError`] when the text is no build file, has no such dependency, or its version is said in another file.
pub fn set_version(text: &str, connector: &Connector) -> Result<Option<String>, PomError> {
    let document = Document::parse(text);
    let root = project(&document)?;
    let Connector { group, artifact, version } = connector;
    let dependency = found(root, group, artifact)
        .next()
        .ok_or_else(|| PomError::NoSuchDependency { artifact: artifact.clone() })?;
    let written = escape_text(version).into_owned();
    let Some(element) = dependency.first("version") else {
        let style = Style::of(root);
        let before = dependency.first("artifactId").unwrap_or(dependency);
        let line = style.own_line(&style.element("version", &written), before.indentation());
        let at = before.span().end as usize;
        return Ok(Some(splice(text, at..at, &line)));
    };
    let said = element.text().trim().to_owned();
    if said == *version {
        return Ok(None);
    }
    let property = said.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let target = match property {
        None => element,
        Some(name) => {
            let defined = root.first("properties").and_then(|list| list.first(name));
            let uses = text.matches(said.as_str()).count();
            match defined {
                Some(defined) if defined.text().trim() == version => return Ok(None),
                Some(defined) if uses == 1 => defined,
                Some(_) => element,
                None => {
                    let (artifact, property) = (artifact.clone(), name.to_owned());
                    return Err(PomError::VersionElsewhere { artifact, property });
                }
            }
        }
    };
    let Some(content) = target.content_span() else {
        let style = Style::of(root);
        return Ok(Some(splice(text, range(target.span()), &style.element(target.local(), &written))));
    };
    // White space around the version is the file's own.
    let inner = content.of(text);
    let start = content.start as usize + (inner.len() - inner.trim_start().len());
    let end = (content.end as usize - (inner.len() - inner.trim_end().len())).max(start);
    Ok(Some(splice(text, start..end, &written)))
}

/// The version of a dependency, that of a property of the same file when it names one; empty when it has none.
///
/// # Errors
/// [`PomError`] when the text is no build file.
pub fn version_of(text: &str, group: &str, artifact: &str) -> Result<Option<String>, PomError> {
    let document = Document::parse(text);
    let root = project(&document)?;
    let version = |one: Element<'_>| {
        let said = one.first("version").map(|it| it.text().trim().to_owned())?;
        let property = said.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let defined = property.and_then(|name| root.first("properties")?.first(name));
        Some(defined.map_or(said, |defined| defined.text().trim().to_owned()))
    };
    Ok(found(root, group, artifact).next().map(|one| version(one).unwrap_or_default()))
}

/// The root of a build file that can be edited.
fn project(document: &Document) -> Result<Element<'_>, PomError> {
    if let Some(problem) = document.problems().first() {
        let before = document.source().get(..problem.span.start as usize).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        return Err(PomError::NotWellFormed { problem: problem.to_string(), line });
    }
    match document.root() {
        Some(root) if root.local() == "project" => Ok(root),
        Some(root) => Err(PomError::NotAPom { found: format!("<{}>", root.name()) }),
        None => Err(PomError::NotAPom { found: "nothing".to_owned() }),
    }
}

/// The dependencies of these coordinates.
fn found<'a>(root: Element<'a>, group: &str, artifact: &str) -> impl Iterator<Item = Element<'a>> {
    let (group, artifact) = (group.to_owned(), artifact.to_owned());
    let list = root.first("dependencies").into_iter().flat_map(|list| list.elements());
    list.filter(move |one| {
        let is = |name: &str, text: &str| one.first(name).is_some_and(|it| it.text().trim() == text);
        one.local() == "dependency" && is("groupId", &group) && is("artifactId", &artifact)
    })
}

/// How a file is written.
struct Style {
    end: &'static str,
    unit: String,
    prefix: String,
}

impl Style {
    fn of(root: Element<'_>) -> Self {
        let text = root.document().source();
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let outer = root.indentation().unwrap_or_default();
        let inner = root.elements().find_map(|one| one.indentation());
        let unit = inner.and_then(|inner| inner.strip_prefix(outer)).filter(|unit| !unit.is_empty());
        let prefix = root.prefix().map(|prefix| format!("{prefix}:")).unwrap_or_default();
        Self { end, unit: unit.unwrap_or("    ").to_owned(), prefix }
    }

    fn element(&self, name: &str, content: &str) -> String {
        let prefix = &self.prefix;
        format!("<{prefix}{name}>{content}</{prefix}{name}>")
    }

    /// The element of a connector; on lines of its own when there is an indentation.
    fn block(&self, connector: &Connector, indent: Option<&str>) -> String {
        let leaf = |name: &str, text: &str| self.element(name, &escape_text(text));
        let nest = |name: &str, inner: &[String], depth: usize| {
            let Some(indent) = indent else { return self.element(name, &inner.concat()) };
            let outer = format!("{}{indent}{}", self.end, self.unit.repeat(depth));
            let inner: String =
                inner.iter().map(|one| format!("{outer}{unit}{one}", unit = self.unit)).collect();
            self.element(name, &format!("{inner}{outer}"))
        };
        let everything = [leaf("groupId", "*"), leaf("artifactId", "*")];
        let exclusion = nest("exclusion", &everything, 2);
        let inner = [
            leaf("groupId", &connector.group),
            leaf("artifactId", &connector.artifact),
            leaf("version", &connector.version),
            leaf("type", "zip"),
            nest("exclusions", &[exclusion], 1),
        ];
        nest("dependency", &inner, 0)
    }

    /// The list around one entry.
    fn list(&self, block: &str, indent: Option<&str>) -> String {
        let inner = match indent {
            None => block.to_owned(),
            Some(indent) => {
                let (end, unit) = (self.end, &self.unit);
                format!("{end}{indent}{unit}{block}{end}{indent}")
            }
        };
        self.element("dependencies", &inner)
    }

    /// A text on a line of its own, when there is an indentation.
    fn own_line(&self, text: &str, indent: Option<&str>) -> String {
        indent.map_or_else(|| text.to_owned(), |indent| format!("{}{indent}{text}", self.end))
    }
}

/// Where a list of dependencies belongs in a file that has none, and the indentation there.
fn after_head(root: Element<'_>) -> (usize, Option<String>) {
    const HEAD: [&str; 14] = [
        "modelVersion",
        "parent",
        "groupId",
        "artifactId",
        "version",
        "packaging",
        "name",
        "description",
        "url",
        "licenses",
        "scm",
        "modules",
        "properties",
        "dependencyManagement",
    ];
    let last = root.elements().filter(|one| HEAD.contains(&one.local())).last();
    let start = root.open_span().end as usize;
    let Some(last) = last else {
        let first = root.elements().next().and_then(|one| one.indentation());
        return (start, first.map(str::to_owned));
    };
    // A comment behind it on the same line belongs to it.
    let end = last.span().end;
    let mut at = end;
    for node in root.children().skip_while(|one| one.span().start < end) {
        let same_line = !node.span().of(root.document().source()).contains('\n');
        match node {
            Node::Comment(comment) if same_line => at = comment.span().end,
            Node::Text(piece) if piece.is_blank() && same_line => {}
            _ => break,
        }
    }
    (at as usize, last.indentation().map(str::to_owned))
}

/// The bytes of an element with the line break and the indentation before it; of an element in the middle of a line,
/// its own.
fn with_line(text: &str, element: Element<'_>) -> Range<usize> {
    let span = range(element.span());
    let Some(indent) = element.indentation() else { return span };
    let start = span.start - indent.len();
    let before = text.get(..start).unwrap_or_default();
    let line_end = if before.ends_with("\r\n") { 2 } else { usize::from(before.ends_with('\n')) };
    start - line_end..span.end
}

fn is_blank(node: &Node<'_>) -> bool {
    matches!(node, Node::Text(piece) if piece.is_blank())
}

fn range(span: synapse_lang::text::Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

#[cfg(test)]
mod tests;
