//! Texts that are numbers when they read as one: headers, properties, parameters, configurations, and variables that
//! hold what was read from them.

use crate::expr::ast::{Lookup, Node, NodeKind, Place};

/// Headers that never are a number, so that adding them to a text is safe.
const WORDS: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "authorization",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-type",
    "cookie",
    "date",
    "host",
    "location",
    "origin",
    "referer",
    "set-cookie",
    "soapaction",
    "transfer-encoding",
    "user-agent",
    "www-authenticate",
];

/// Properties of the runtime that are words.
const WORD_PROPERTIES: &[&str] = &[
    "ERROR_MESSAGE",
    "ERROR_DETAIL",
    "ERROR_EXCEPTION",
    "HTTP_METHOD",
    "REST_METHOD",
    "REST_URL_POSTFIX",
    "REST_FULL_REQUEST_PATH",
    "REST_SUB_REQUEST_PATH",
    "REST_API_CONTEXT",
    "messageType",
    "ContentType",
    "TransportInURL",
    "REMOTE_ADDR",
    "REMOTE_HOST",
];

/// Ends of names whose values are words, whatever they are the values of.
const ENDINGS: &[&str] = &[
    "url",
    "uri",
    "host",
    "hostname",
    "path",
    "endpoint",
    "email",
    "message",
    "method",
    "filename",
    "directory",
];

/// How people call a value whose text may read as a number; nothing for other nodes and for those that never do.
pub(super) fn auto_text(node: &Node) -> Option<String> {
    match &node.ungrouped().kind {
        NodeKind::Lookup(lookup) => (!is_words(lookup)).then(|| called(lookup)),
        NodeKind::Variable(variable) if variable.path.is_none() => {
            Some(format!("the variable `{}`", variable.name.value))
        }
        _ => None,
    }
}

/// Whether a look-up gives words, never a number.
fn is_words(lookup: &Lookup) -> bool {
    let name = &lookup.name.value;
    let lower = name.to_ascii_lowercase();
    if ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
        return true;
    }
    match lookup.place {
        Place::Header => WORDS.iter().any(|word| word.eq_ignore_ascii_case(name)),
        Place::Synapse | Place::Axis2 => WORD_PROPERTIES.contains(&name.as_str()),
        _ => false,
    }
}

/// How people call what is looked up.
pub(super) fn called(lookup: &Lookup) -> String {
    let what = match lookup.place {
        Place::Header => "the header",
        Place::Config => "the configuration",
        Place::QueryParam => "the query parameter",
        Place::PathParam => "the path parameter",
        Place::FunctionParam => "the template parameter",
        Place::Synapse | Place::Axis2 => "the property",
    };
    format!("{what} `{}`", lookup.name.value)
}
