//! The chunks of a Chat stream, as far as they matter here.
//!
//! Servers take liberties with this wire: members are null, missing or of another type. So scalars are read
//! leniently (what is no text is no text, not an error), and whatever is not listed is skipped. Texts borrow from
//! the event: a delta costs no allocation until it is put into the message.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    /// `error` marks an older kind of error chunk, whose members are those of the error itself.
    #[serde(borrow)]
    pub(super) object: Str<'a>,
    #[serde(borrow)]
    pub(super) choices: First<'a>,
    pub(super) usage: Option<WireUsage>,
    pub(super) error: Option<Value>,
}

/// The only choice of a chunk: more than one is never asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    /// The whole answer at once, from servers that were asked to stream and do not.
    #[serde(borrow)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Str<'a>,
    /// Moonshot counts here instead of beside the choices.
    pub(super) usage: Option<WireUsage>,
}

/// What is new.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Words<'a>,
    #[serde(borrow)]
    pub(super) refusal: Str<'a>,
    #[serde(borrow)]
    pub(super) reasoning_content: Str<'a>,
    #[serde(borrow)]
    pub(super) reasoning: Str<'a>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
    /// The form before there were several calls. Some servers send it beside `tool_calls`.
    #[serde(borrow)]
    pub(super) function_call: Option<Function<'a>>,
}

/// What is new of a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
}

/// The function of a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Str<'a>,
    #[serde(borrow)]
    pub(super) arguments: ArgumentText<'a>,
}

/// The usage. `prompt_tokens` includes what came from the cache.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    pub(super) prompt_tokens: Count,
    pub(super) completion_tokens: Count,
    pub(super) total_tokens: Count,
    pub(super) prompt_tokens_details: Option<PromptDetails>,
    pub(super) completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for what came from the cache.
    pub(super) prompt_cache_hit_tokens: Count,
    /// Moonshot's name for the same.
    pub(super) cached_tokens: Count,
}

/// What the input was made of.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptDetails {
    pub(super) cached_tokens: Count,
    pub(super) cache_write_tokens: Count,
}

/// What the output was made of.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CompletionDetails {
    pub(super) reasoning_tokens: Count,
}

/// A text; empty when the member is missing, null or something else.
///
/// Not an `Option<Cow>`, because serde copies the text into that even when it could be borrowed.
#[derive(Debug, Default)]
pub(super) struct Str<'a>(pub(super) Cow<'a, str>);

impl std::ops::Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A number of tokens, or an index; `None` when the member is missing, null or something else.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Count(pub(super) Option<u64>);

impl Count {
    pub(super) fn or_zero(self) -> u64 {
        self.0.unwrap_or(0)
    }
}

/// The first element of a list, when there is one.
#[derive(Debug, Default)]
pub(super) struct First<'a>(pub(super) Option<Choice<'a>>);

/// Words: a text, or parts of which some may be thoughts (Mistral).
#[derive(Debug)]
pub(super) enum Words<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

impl Default for Words<'_> {
    fn default() -> Self {
        Words::Text(Cow::Borrowed(""))
    }
}

/// A part of an answer's content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Str<'a>,
    #[serde(borrow)]
    pub(super) thinking: Option<Words<'a>>,
}

/// Arguments: JSON text or, from servers that did not write it out, the object.
#[derive(Debug, Default)]
pub(super) struct ArgumentText<'a>(pub(super) Cow<'a, str>);

/// Answers for everything a lenient member may be besides what it should be: nothing.
macro_rules! nothing_else {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        })*

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (seq) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lenient;

        impl<'de> Visitor<'de> for Lenient {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }

            nothing_else!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
            nothing_else!(seq);
            nothing_else!(map);
        }

        deserializer.deserialize_any(Lenient)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lenient;

        impl<'de> Visitor<'de> for Lenient {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }

            fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
                Ok(Count(Some(count)))
            }

            fn visit_f64<E>(self, count: f64) -> Result<Count, E> {
                // `as` saturates, which is what is wanted of a count.
                Ok(Count((count >= 0.0).then_some(count as u64)))
            }

            nothing_else!(visit_bool: bool, visit_i64: i64, visit_str: &str);
            nothing_else!(seq);
            nothing_else!(map);
        }

        deserializer.deserialize_any(Lenient)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for First<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lenient;

        impl<'de> Visitor<'de> for Lenient {
            type Value = First<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<First<'de>, A::Error> {
                let first = items.next_element::<Option<Choice<'de>>>()?.flatten();
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }

            nothing_else!(visit_bool: bool);
        }

        deserializer.deserialize_any(Lenient)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lenient;

        impl<'de> Visitor<'de> for Lenient {
            type Value = Words<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of parts")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Words<'de>, E> {
                Ok(Words::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Words<'de>, E> {
                Ok(Words::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Words<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = items.next_element()? {
                    parts.push(part);
                }
                Ok(Words::Parts(parts))
            }

            nothing_else!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
            nothing_else!(map);
        }

        deserializer.deserialize_any(Lenient)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ArgumentText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lenient;

        impl<'de> Visitor<'de> for Lenient {
            type Value = ArgumentText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON text or an object")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ArgumentText<'de>, E> {
                Ok(ArgumentText(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<ArgumentText<'de>, E> {
                Ok(ArgumentText(Cow::Owned(text.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<ArgumentText<'de>, A::Error> {
                let object = Value::deserialize(MapAccessDeserializer::new(members))?;
                Ok(ArgumentText(Cow::Owned(object.to_string())))
            }

            nothing_else!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
            nothing_else!(seq);
        }

        deserializer.deserialize_any(Lenient)
    }
}
