//! Text with `${…}` in it: where the placeholders are, what goes wrong with them, and what the text becomes.
//!
//! Two places of the runtime look for placeholders in two ways. A log message takes the shortest `${…}` on one line; a
//! payload format takes `"${…}"`, `${…}` and `$1`, with anything but `}` between the braces. Both are cut at the first
//! `}`, even inside a string.

use super::context::Context;
use super::eval::{Mode, value_of};
use super::lexer::{TokenKind, lex};
use super::parser::{SyntaxError, parse};
use super::value::{Failure, Value};
use super::xml_payload;
use crate::json::{self, Json};
use crate::text::Span;
use crate::xpath::Forest;

/// A placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// Where it stands, with the quotes that belong to it.
    pub span: Span,
    /// What it is.
    pub kind: PlaceholderKind,
}

/// What a placeholder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceholderKind {
    /// `${…}`; the span of what is between the braces.
    Plain(Span),
    /// `"${…}"`, in payload formats; the span of what is between the braces.
    Quoted(Span),
    /// `$1`, in payload formats.
    Argument(u32),
}

impl Placeholder {
    /// Where the expression stands.
    #[must_use]
    pub const fn expression(&self) -> Option<Span> {
        match self.kind {
            PlaceholderKind::Plain(span) | PlaceholderKind::Quoted(span) => Some(span),
            PlaceholderKind::Argument(_) => None,
        }
    }
}

/// Something that looks like a placeholder and does not work as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: FindingKind,
}

/// What does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// A line break between the braces: a log message leaves it as text; a payload format evaluates it, unchecked at
    /// deployment.
    LineBreak,
    /// A `}` inside a string ends the placeholder.
    Cut,
    /// There is no `}`.
    Unclosed,
    /// Nothing stands between the braces.
    Empty,
}

/// The placeholders of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// The placeholders in order.
    pub placeholders: Vec<Placeholder>,
    /// What does not work.
    pub findings: Vec<Finding>,
}

/// Which rule finds the placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// `log/message`.
    Message,
    /// `payloadFactory/format`.
    Format,
}

/// Finds the placeholders of a text.
#[must_use]
pub fn scan(text: &str, rule: Rule) -> Template {
    let mut template = Template::default();
    let mut ends = Ends { text, rule, last: text.rfind('}'), next: None };
    let mut at = 0;
    while let Some(dollar) = text.get(at..).and_then(|rest| rest.find('$')).map(|found| at + found) {
        let rest = text.get(dollar + 1..).unwrap_or_default();
        at = if rest.starts_with('{') {
            braces(text, dollar, rule, &mut ends, &mut template)
        } else if rule == Rule::Format && rest.starts_with(|digit: char| digit.is_ascii_digit()) {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number = rest.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX);
            let end = dollar + 1 + digits;
            template
                .placeholders
                .push(Placeholder { span: span(dollar, end), kind: PlaceholderKind::Argument(number) });
            end
        } else {
            dollar + 1
        };
    }
    template
}

/// Where expressions end. A text full of `${` must not be searched to its end for each of them.
struct Ends<'a> {
    text: &'a str,
    rule: Rule,
    /// The last brace of the text.
    last: Option<usize>,
    /// What was found last: nothing that ends an expression stands between where the search began and here.
    next: Option<(usize, usize)>,
}

impl Ends<'_> {
    /// The first brace from a place on or, in a message, the first line break if that comes before; none when there
    /// is no brace any more.
    fn from(&mut self, start: usize) -> Option<usize> {
        self.last.filter(|last| *last >= start)?;
        if let Some((began, found)) = self.next
            && (began..=found).contains(&start)
        {
            return Some(found);
        }
        let rest = self.text.get(start..)?;
        let message = self.rule == Rule::Message;
        let found =
            start + rest.find(|character| character == '}' || (message && is_line_break(character)))?;
        self.next = Some((start, found));
        Some(found)
    }
}

/// Reads `${…}` at a place and says where to go on.
fn braces(text: &str, dollar: usize, rule: Rule, ends: &mut Ends<'_>, template: &mut Template) -> usize {
    let start = dollar + 2;
    // At least one character belongs to the expression, so for a message `${}}` holds a brace.
    let first = text.get(start..).and_then(|inside| inside.chars().next());
    let skipped = match (rule, first) {
        (Rule::Message, Some(first)) if !is_line_break(first) => first.len_utf8(),
        _ => 0,
    };
    let Some(end) = ends.from(start + skipped) else {
        template.findings.push(Finding { span: span(dollar, text.len()), kind: FindingKind::Unclosed });
        return start;
    };
    let length = end - start;
    let whole = span(dollar, end + 1);
    let expression = text.get(start..end).unwrap_or_default();
    let broken = text.get(end..).is_some_and(|rest| rest.starts_with(is_line_break));
    if broken || expression.contains(is_line_break) {
        template.findings.push(Finding { span: whole, kind: FindingKind::LineBreak });
        if rule == Rule::Message {
            return start;
        }
    }
    if length == 0 || (rule == Rule::Message && expression.starts_with('}')) {
        template.findings.push(Finding { span: whole, kind: FindingKind::Empty });
        if length == 0 {
            return start;
        }
    }
    if is_cut(expression, text.get(end..).unwrap_or_default()) {
        template.findings.push(Finding { span: whole, kind: FindingKind::Cut });
    }
    let before = dollar.checked_sub(1).and_then(|before| text.as_bytes().get(before));
    let free = template.placeholders.last().is_none_or(|last| (last.span.end as usize) < dollar);
    let quoted =
        rule == Rule::Format && before == Some(&b'"') && free && text.as_bytes().get(end + 1) == Some(&b'"');
    let expression = span(start, end);
    let (whole, kind, next) = if quoted {
        (span(dollar - 1, end + 2), PlaceholderKind::Quoted(expression), end + 2)
    } else {
        (whole, PlaceholderKind::Plain(expression), end + 1)
    };
    template.placeholders.push(Placeholder { span: whole, kind });
    next
}

/// The characters that a dot does not match in a Java pattern.
const fn is_line_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A string that begins before the brace and would end behind it.
fn is_cut(expression: &str, after: &str) -> bool {
    let lexed = lex(expression);
    let open = lexed.tokens.iter().find(|token| token.kind == TokenKind::Quote);
    let quote = open.and_then(|token| token.span.of(expression).chars().next());
    quote.is_some_and(|quote| after.chars().find(|one| *one == quote || is_line_break(*one)) == Some(quote))
}

fn span(start: usize, end: usize) -> Span {
    let clamp = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Span::new(clamp(start), clamp(end))
}

/// What a payload format makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Media {
    /// `media-type="json"`.
    Json,
    /// `media-type="xml"`.
    Xml,
    /// `media-type="text"`.
    Text,
}

/// Why a template cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A placeholder is no expression.
    #[error("{error}")]
    Syntax {
        /// Where the expression stands in the template.
        at: Span,
        /// What is wrong; its span counts from the start of the expression.
        error: SyntaxError,
    },
    /// An exception that nothing catches.
    #[error("{message}")]
    Crash {
        /// Where the expression stands in the template.
        at: Span,
        /// The exception.
        message: String,
    },
}

/// Fills the placeholders of a log message.
///
/// # Errors
/// A placeholder that is no expression, or that throws what the engine does not catch.
pub fn fill_message(text: &str, context: &Context) -> Result<String, TemplateError> {
    let mut out = String::new();
    let mut done = 0;
    for placeholder in scan(text, Rule::Message).placeholders {
        let Some(at) = placeholder.expression() else { continue };
        out.push_str(text.get(done..placeholder.span.start as usize).unwrap_or_default());
        if let Some(value) = evaluate(text, at, context, Mode::Text)? {
            out.push_str(&print(&value, at)?);
        }
        done = placeholder.span.end as usize;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok(out)
}

/// Fills a payload format. An XML format comes back in the padding element that the runtime puts around it.
///
/// # Errors
/// A placeholder that is no expression, or that throws what the engine does not catch.
pub fn fill_format(
    text: &str,
    media: Media,
    arguments: &[String],
    context: &Context,
) -> Result<String, TemplateError> {
    let mut out = String::new();
    let mut done = 0;
    for placeholder in scan(text, Rule::Format).placeholders {
        let filled = match placeholder.kind {
            PlaceholderKind::Plain(at) => plain(evaluate_in_format(text, at, context)?, at, media)?,
            PlaceholderKind::Quoted(at) => {
                let inside = quoted(evaluate_in_format(text, at, context)?, at, media)?;
                format!("\"{inside}\"")
            }
            PlaceholderKind::Argument(number) => {
                let index = (number as usize).checked_sub(1);
                // Without such an argument the runtime logs an error and copies the rest as it is.
                let Some(argument) = index.and_then(|index| arguments.get(index)) else { break };
                argument.clone()
            }
        };
        out.push_str(text.get(done..placeholder.span.start as usize).unwrap_or_default());
        out.push_str(&filled);
        done = placeholder.span.end as usize;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok(if media == Media::Xml { format!("<pfPadding>{out}</pfPadding>") } else { out })
}

/// Expressions with an XPath in them are asked for a text, all others for an object.
fn evaluate_in_format(text: &str, at: Span, context: &Context) -> Result<Option<Value>, TemplateError> {
    let mode = if at.of(text).contains("xpath(") { Mode::Text } else { Mode::Object };
    evaluate(text, at, context, mode)
}

/// An evaluation error is logged, and the value is nothing.
fn evaluate(text: &str, at: Span, context: &Context, mode: Mode) -> Result<Option<Value>, TemplateError> {
    let expression = parse(at.of(text)).map_err(|error| TemplateError::Syntax { at, error })?;
    match value_of(&expression, context, mode) {
        Ok(value) => Ok(value),
        Err(Failure::Evaluation(_)) => Ok(None),
        Err(Failure::Crash(message)) => Err(TemplateError::Crash { at, message }),
    }
}

fn print(value: &Value, at: Span) -> Result<String, TemplateError> {
    value.print().map_err(|failure| TemplateError::Crash { at, message: failure.to_string() })
}

fn plain(value: Option<Value>, at: Span, media: Media) -> Result<String, TemplateError> {
    let Some(value) = value else { return Ok(String::new()) };
    let text = print(&value, at)?;
    Ok(match (&value, media) {
        (Value::Json(json @ (Json::Object(_) | Json::Array(_))), Media::Xml) => {
            xml_payload::to_elements(json)
        }
        (Value::Json(Json::Object(_) | Json::Array(_)), _)
        | (Value::Xml(_) | Value::Nodes(_), Media::Xml) => text,
        (_, Media::Json) if is_xml(&text) => xml_to_json(&text),
        (Value::Json(_), Media::Json) => escape_json(&text),
        (_, Media::Xml) if !is_xml(&text) => escape_xml(&text),
        _ => text,
    })
}

fn quoted(value: Option<Value>, at: Span, media: Media) -> Result<String, TemplateError> {
    let Some(value) = value else { return Ok(String::new()) };
    let text = print(&value, at)?;
    Ok(match (&value, media) {
        (Value::Json(Json::Object(_) | Json::Array(_)), Media::Xml) => {
            json::parse(&text).map(|json| xml_payload::to_elements(&json)).unwrap_or(text)
        }
        (Value::Json(_), Media::Json) => escape_json(&text),
        (_, Media::Json) if is_xml(&text) => escape_json(&text),
        (_, Media::Xml) if !is_xml(&text) => escape_xml(&text),
        // The runtime hands the text of an expression to the replacement as it is, where a backslash and a dollar
        // sign have a meaning.
        (Value::Text(_), _) => replacement(&text, at)?,
        _ => text,
    })
}

/// What Java makes of a replacement text.
fn replacement(text: &str, at: Span) -> Result<String, TemplateError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some(escaped) => out.push(escaped),
                None => {
                    let message =
                        "java.lang.IllegalArgumentException: character to be escaped is missing".to_owned();
                    return Err(TemplateError::Crash { at, message });
                }
            },
            '$' => {
                let message =
                    "java.lang.IllegalArgumentException: a dollar sign in the text is read as a reference"
                        .to_owned();
                return Err(TemplateError::Crash { at, message });
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

fn is_xml(text: &str) -> bool {
    let trimmed = text.trim();
    trimmed.starts_with('<') && trimmed.ends_with('>') && Forest::default().add(trimmed).is_ok()
}

fn xml_to_json(text: &str) -> String {
    let mut forest = Forest::default();
    let wrapped = format!("<jsonObject>{text}</jsonObject>");
    let root = forest.add(&wrapped).ok().and_then(|root| forest.children(root).first().copied());
    root.map_or_else(|| text.to_owned(), |element| xml_payload::element_to_json(&forest, element).to_string())
}

fn escape_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out
}

fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
