//! What Responses events look like, as far as we read them. Everything else in them is skipped unread, so a new
//! field or a field of a new shape cannot break a stream.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Every event, item and part has a type; items have an id.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "text")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) id: Cow<'a, str>,
}

/// A delta for a part of an item. Deltas are the bulk of a stream, so nothing is copied and nothing buffered.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    pub(super) output_index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) item_id: Cow<'a, str>,
    pub(super) content_index: Option<u64>,
    pub(super) summary_index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) delta: Cow<'a, str>,
}

/// The whole text of a part, at its end.
#[derive(Deserialize)]
pub(super) struct Whole<'a> {
    pub(super) output_index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) item_id: Cow<'a, str>,
    pub(super) content_index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) text: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) refusal: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) arguments: Cow<'a, str>,
}

/// Where in the answer something belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) output_index: Option<u64>,
    pub(super) item_id: &'a str,
}

impl<'a> Delta<'a> {
    pub(super) fn at(&'a self) -> Place<'a> {
        Place { output_index: self.output_index, item_id: &self.item_id }
    }
}

impl<'a> Whole<'a> {
    pub(super) fn at(&'a self) -> Place<'a> {
        Place { output_index: self.output_index, item_id: &self.item_id }
    }
}

/// `output_item.added` and `output_item.done`.
#[derive(Deserialize)]
pub(super) struct ItemEvent<'a> {
    pub(super) output_index: Option<u64>,
    #[serde(borrow)]
    pub(super) item: &'a RawValue,
}

/// `content_part.added`.
#[derive(Deserialize)]
pub(super) struct PartEvent<'a> {
    pub(super) output_index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) item_id: Cow<'a, str>,
    pub(super) content_index: Option<u64>,
    #[serde(borrow)]
    pub(super) part: Head<'a>,
}

/// An output item of a kind we read.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Item {
    #[serde(deserialize_with = "or_default")]
    pub(super) call_id: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) arguments: String,
    pub(super) encrypted_content: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) summary: Vec<Part>,
    #[serde(deserialize_with = "or_default")]
    pub(super) content: Vec<Part>,
    pub(super) phase: Option<String>,
    pub(super) result: Option<String>,
    pub(super) output_format: Option<String>,
}

/// A part of an item's content or summary.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) text: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) refusal: String,
}

/// `response.created`, `.completed`, `.incomplete`, `.failed` and the like.
#[derive(Deserialize)]
pub(super) struct ResponseEvent<'a> {
    #[serde(borrow)]
    pub(super) response: Response<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(deserialize_with = "or_default")]
    pub(super) id: String,
    pub(super) status: Option<String>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub(super) output: Vec<&'a RawValue>,
    pub(super) usage: Option<UsageWire>,
    pub(super) error: Option<serde_json::Value>,
    pub(super) incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Incomplete {
    #[serde(deserialize_with = "or_default")]
    pub(super) reason: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct UsageWire {
    #[serde(deserialize_with = "or_default")]
    pub(super) input_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) input_tokens_details: InputDetails,
    #[serde(deserialize_with = "or_default")]
    pub(super) output_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) output_tokens_details: OutputDetails,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct InputDetails {
    #[serde(deserialize_with = "or_default")]
    pub(super) cached_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub(super) cache_write_tokens: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct OutputDetails {
    #[serde(deserialize_with = "or_default")]
    pub(super) reasoning_tokens: u64,
}

/// Text without copying it where it has no escapes; `null` is the empty text.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    #[derive(Deserialize)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(Option::<Borrowed<'de>>::deserialize(deserializer)?.map(|text| text.0).unwrap_or_default())
}

/// Reads `null` as the default: servers write it where they have nothing to say.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
