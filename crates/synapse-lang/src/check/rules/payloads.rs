//! Payloads: the templates of payloadFactory, their arguments, and what enrich may replace.

mod arguments;
mod enrich;
mod format;
mod json_format;
mod kinds;
mod media;
mod paths;

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] =
    &[&media::Media, &json_format::JsonFormat, &arguments::Arguments, &paths::Paths, &enrich::Enrich];
