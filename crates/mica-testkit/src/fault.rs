//! The ways in which an answer can be spoiled, each with a name and with what a client should make of it.

use mica_ai::Dialect;
use serde::{Deserialize, Serialize};

use crate::preset::{self, ErrorAnswer};

/// A way to spoil an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// The connection ends too early.
    Cut {
        /// After how much.
        at: At,
        /// Between two events or inside the one at that place.
        place: Where,
        /// In good order or not.
        then: Then,
    },
    /// Nothing more comes, and the connection stays open.
    Stall {
        /// After how much.
        at: At,
    },
    /// Only keep-alive comments come, forever.
    KeepAliveOnly {
        /// Milliseconds between them.
        every_ms: u64,
    },
    /// In the middle only keep-alive comments come, and then nothing.
    KeepAliveThenStall {
        /// How many comments.
        comments: usize,
        /// Milliseconds between them.
        every_ms: u64,
    },
    /// Bytes that are no UTF-8, inside an event's data.
    InvalidUtf8,
    /// An event whose data is no JSON.
    InvalidJson,
    /// A page in HTML where events should be, under status 200.
    Html,
    /// Every multi-byte character comes in two chunks.
    SplitUtf8,
    /// Every byte comes in a chunk of its own.
    ByteByByte,
    /// Lines end in CR LF.
    CrLf,
    /// Lines end in a lone CR.
    Cr,
    /// A comment and a byte order mark come first, and `data:` has no space after it.
    OddFraming,
    /// An event of so many mebibytes that says nothing the client knows.
    HugeEvent {
        /// Its size.
        mib: usize,
    },
    /// The last event comes twice.
    DuplicateTerminal,
    /// What tells that the answer is complete never comes.
    MissingTerminal,
    /// Only the very last event is missing: `[DONE]`, `message_stop`. Some servers leave it out.
    MissingLast,
    /// More output comes after the end.
    AfterTerminal,
    /// An event of an unknown type comes in the middle.
    UnknownEvent,
    /// An HTTP error.
    Http(ErrorAnswer),
    /// An error inside a stream that began with status 200.
    InStream {
        /// Which.
        error: StreamError,
        /// After how much.
        at: At,
    },
    /// Each byte takes its time.
    SlowDrip {
        /// Milliseconds per byte.
        tick_ms: u64,
    },
    /// The status line takes its time.
    SlowHead {
        /// Milliseconds.
        ms: u64,
    },
    /// The unstreamed answer, though a stream was asked for.
    JsonInstead,
    /// Status 200 and nothing else.
    EmptyBody,
    /// The connection is reset before the status line.
    Reset,
    /// Nobody listens. In process this is a refused connection; a server, which must listen to be asked, resets it.
    /// For a real refusal see [`refused_address`](crate::refused_address).
    Refused,
}

/// After how much of an answer a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// Before any event.
    Start,
    /// After the opening events, before the model said anything.
    BeforeOutput,
    /// After half of what the model says.
    Middle,
    /// After all that the model says, before what tells that it is complete.
    BeforeFinish,
    /// After so many events.
    Event(usize),
}

/// Where a cut falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Where {
    /// Between two events.
    Between,
    /// Inside an event.
    Inside,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// As if the body were complete.
    CleanEnd,
    /// As a broken connection.
    Broken,
}

/// An error inside a stream, in the form each dialect has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamError {
    /// Too many requests or tokens.
    RateLimited,
    /// The provider is short of capacity.
    Overloaded,
    /// The provider failed inside.
    ServerError,
    /// The same as `RateLimited`, told on Responses by `response.failed` and not by an `error` event.
    FailedRateLimited,
}

/// What a client should make of a spoiled answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// The answer as if it were not spoiled.
    Done,
    /// An error of one of these `AiError::kind`s. Never a success.
    Error(Vec<&'static str>),
    /// Both are defensible; there is exactly one outcome all the same.
    Either(Vec<&'static str>),
}

impl Expect {
    /// Whether an outcome is as expected: `None` for success, else the error's kind.
    pub fn allows(&self, error_kind: Option<&str>) -> bool {
        match (self, error_kind) {
            (Expect::Done | Expect::Either(_), None) => true,
            (Expect::Done, Some(_)) | (Expect::Error(_), None) => false,
            (Expect::Error(kinds) | Expect::Either(kinds), Some(kind)) => kinds.contains(&kind),
        }
    }
}

/// A fault with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The name, for tables and reports.
    pub name: String,
    /// The fault.
    pub fault: Fault,
}

impl Fault {
    /// Representatives of every kind of fault, for tables of dialects and faults. Not among them: events larger than
    /// a client may take ([`HugeEvent`](Fault::HugeEvent) over 32 MiB), because they cost memory in every cell.
    pub fn all() -> Vec<Named> {
        use At::{BeforeFinish, BeforeOutput, Middle, Start};
        let mut all = Vec::new();
        let mut add = |name: &str, fault| all.push(Named { name: name.to_owned(), fault });
        for (at_name, at) in [("start", Start), ("middle", Middle), ("before_finish", BeforeFinish)] {
            for (place_name, place) in [("between", Where::Between), ("inside", Where::Inside)] {
                for (then_name, then) in [("clean", Then::CleanEnd), ("broken", Then::Broken)] {
                    add(&format!("cut_{at_name}_{place_name}_{then_name}"), Fault::Cut { at, place, then });
                }
            }
        }
        add("stall_start", Fault::Stall { at: Start });
        add("stall_middle", Fault::Stall { at: Middle });
        add("stall_before_finish", Fault::Stall { at: BeforeFinish });
        add("keep_alive_only", Fault::KeepAliveOnly { every_ms: 1000 });
        add("keep_alive_then_stall", Fault::KeepAliveThenStall { comments: 5, every_ms: 1000 });
        add("invalid_utf8", Fault::InvalidUtf8);
        add("invalid_json", Fault::InvalidJson);
        add("html", Fault::Html);
        add("split_utf8", Fault::SplitUtf8);
        add("byte_by_byte", Fault::ByteByByte);
        add("crlf", Fault::CrLf);
        add("cr", Fault::Cr);
        add("odd_framing", Fault::OddFraming);
        add("huge_event", Fault::HugeEvent { mib: 4 });
        add("duplicate_terminal", Fault::DuplicateTerminal);
        add("missing_terminal", Fault::MissingTerminal);
        add("missing_last", Fault::MissingLast);
        add("after_terminal", Fault::AfterTerminal);
        add("unknown_event", Fault::UnknownEvent);
        for (name, error) in [
            ("rate_limited", StreamError::RateLimited),
            ("failed_rate_limited", StreamError::FailedRateLimited),
            ("overloaded", StreamError::Overloaded),
            ("server_error", StreamError::ServerError),
        ] {
            add(&format!("stream_{name}_before_output"), Fault::InStream { error, at: BeforeOutput });
            add(&format!("stream_{name}_middle"), Fault::InStream { error, at: Middle });
        }
        add("slow_drip", Fault::SlowDrip { tick_ms: 1 });
        add("slow_head", Fault::SlowHead { ms: 500 });
        add("json_instead", Fault::JsonInstead);
        add("empty_body", Fault::EmptyBody);
        add("reset", Fault::Reset);
        add("refused", Fault::Refused);
        for name in preset::names() {
            add(&format!("http_{name}"), Fault::Http(name.into()));
        }
        all
    }

    /// What a client of a dialect should make of it.
    pub fn expect(&self, dialect: Dialect) -> Expect {
        match self {
            Fault::Cut { .. } | Fault::MissingTerminal => Expect::Error(vec!["stream_cut"]),
            Fault::Stall { .. } | Fault::KeepAliveOnly { .. } | Fault::KeepAliveThenStall { .. } => {
                Expect::Error(vec!["idle", "deadline"])
            }
            Fault::InvalidUtf8 | Fault::InvalidJson => Expect::Error(vec!["protocol"]),
            Fault::Html | Fault::JsonInstead | Fault::EmptyBody => {
                Expect::Error(vec!["protocol", "stream_cut"])
            }
            Fault::HugeEvent { mib } if *mib > 32 => Expect::Error(vec!["protocol"]),
            Fault::SplitUtf8
            | Fault::ByteByByte
            | Fault::CrLf
            | Fault::Cr
            | Fault::OddFraming
            | Fault::HugeEvent { .. }
            | Fault::DuplicateTerminal
            | Fault::AfterTerminal
            | Fault::UnknownEvent
            | Fault::SlowDrip { .. }
            | Fault::SlowHead { .. } => Expect::Done,
            // The stop reason was told; only the courtesy after it is missing. Responses has nothing but the one
            // terminal event.
            Fault::MissingLast => match dialect {
                Dialect::Responses => Expect::Error(vec!["stream_cut"]),
                Dialect::Messages => Expect::Either(vec!["stream_cut"]),
                Dialect::Chat => Expect::Done,
            },
            Fault::Http(answer) => {
                let kinds = match answer {
                    ErrorAnswer::Named(name) => preset::named(name),
                    ErrorAnswer::Exact(preset) => Some(preset),
                };
                Expect::Error(kinds.map(|preset| known(&preset.kinds)).unwrap_or_default())
            }
            Fault::InStream { error, .. } => Expect::Error(vec![match error {
                StreamError::RateLimited | StreamError::FailedRateLimited => "rate_limited",
                StreamError::Overloaded | StreamError::ServerError => "overloaded",
            }]),
            Fault::Reset | Fault::Refused => Expect::Error(vec!["network"]),
        }
    }
}

/// The kinds by the names `AiError` has for them. A name it does not have is left out.
fn known(kinds: &[String]) -> Vec<&'static str> {
    const KINDS: [&str; 17] = [
        "rate_limited",
        "overloaded",
        "wait_too_long",
        "context_overflow",
        "content_filtered",
        "refused",
        "auth",
        "not_found",
        "stale_reasoning",
        "billing",
        "bad_request",
        "network",
        "stream_cut",
        "idle",
        "deadline",
        "cancelled",
        "protocol",
    ];
    KINDS.into_iter().filter(|kind| kinds.iter().any(|given| given == kind)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_every_fault_expects_something() {
        let all = Fault::all();
        let names: BTreeSet<&str> = all.iter().map(|named| named.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for named in &all {
            for dialect in Dialect::ALL {
                if let Expect::Error(kinds) = named.fault.expect(dialect) {
                    assert!(!kinds.is_empty(), "{}: a kind in the presets is misspelt", named.name);
                }
            }
        }
    }

    #[test]
    fn faults_read_from_toml_as_they_are_written() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Holder {
            fault: Fault,
        }
        for named in Fault::all() {
            let holder = Holder { fault: named.fault };
            let text = serde_json::to_string(&holder).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), holder, "{text}");
        }
        let read: Holder = toml::from_str("fault = { stall = { at = { event = 3 } } }").unwrap();
        assert_eq!(read.fault, Fault::Stall { at: At::Event(3) });
        let read: Holder = toml::from_str("fault = \"cr_lf\"").unwrap();
        assert_eq!(read.fault, Fault::CrLf);
    }
}
