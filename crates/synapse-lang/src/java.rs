//! What the Java library does to numbers, texts and dates, exactly: the engine's results are made of it.
//!
//! Nothing here knows expressions or messages, and nothing reads a clock.

pub mod datetime;

mod decimal;
mod double;
mod number;
mod pattern;
mod text;

pub use decimal::Decimal;
pub use double::{double_to_string, round, round_to};
pub use number::{parse_double, parse_int, parse_long};
pub use pattern::{Pattern, PatternError, PatternFlags, split};
pub use text::{
    Charset, TextError, base64_decode, base64_encode, url_decode, url_encode, url_encode_component,
};
