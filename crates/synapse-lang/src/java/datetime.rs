//! Dates and times by pattern, as `java.time.format.DateTimeFormatter.ofPattern` reads and writes them: English
//! names, weeks that start on Sunday, smart resolving (30 February becomes the last of the month).
//!
//! Nothing here reads a clock or a time zone: callers pass milliseconds and the offset.

mod calendar;
mod parse;
mod pattern;
mod print;

use thiserror::Error;

pub use calendar::{Date, Time};
use pattern::Item;

/// Why a date or time cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DateError {
    /// Java refuses the pattern (`IllegalArgumentException`).
    #[error("invalid date pattern: {reason}")]
    Pattern {
        /// What is wrong with it.
        reason: String,
    },
    /// The text does not fit the pattern, or names no date or time (`DateTimeParseException`).
    #[error("the text cannot be read with this date pattern: {reason}")]
    Text {
        /// What does not fit.
        reason: String,
    },
    /// The pattern asks for something the value does not have (`UnsupportedTemporalTypeException`).
    #[error("the value has no {field}")]
    Field {
        /// What is missing.
        field: &'static str,
    },
}

/// A date, a time, or both: what a pattern is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// The date.
    pub date: Option<Date>,
    /// The time of day.
    pub time: Option<Time>,
}

impl Moment {
    /// The local date and time at milliseconds since 1970 and an offset from UTC. Nothing beyond the years
    /// that Java knows.
    #[must_use]
    pub fn from_epoch_millis(millis: i64, offset_seconds: i32) -> Option<Self> {
        let seconds = millis.div_euclid(1000) + i64::from(offset_seconds);
        let nanos = u32::try_from(millis.rem_euclid(1000)).ok()? * 1_000_000;
        let date = Date::from_epoch_day(seconds.div_euclid(86_400))?;
        let time = Time { second_of_day: u32::try_from(seconds.rem_euclid(86_400)).ok()?, nanos };
        Some(Self { date: Some(date), time: Some(time) })
    }
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct DateFormat {
    items: Vec<Item>,
}

impl DateFormat {
    /// Compiles a pattern such as `yyyy-MM-dd'T'HH:mm:ss`.
    pub fn compile(pattern: &str) -> Result<Self, DateError> {
        pattern::compile(pattern).map(|items| Self { items })
    }

    /// Writes a value.
    pub fn format(&self, moment: &Moment) -> Result<String, DateError> {
        print::print(&self.items, moment)
    }

    /// Reads as much as the text and the pattern tell.
    pub fn parse(&self, text: &str) -> Result<Moment, DateError> {
        parse::parse(&self.items, text)
    }
}

/// Writes milliseconds since 1970 with a pattern, at an offset from UTC.
pub fn format_millis(millis: i64, pattern: &str, offset_seconds: i32) -> Result<String, DateError> {
    let format = DateFormat::compile(pattern)?;
    let moment =
        Moment::from_epoch_millis(millis, offset_seconds).ok_or(DateError::Field { field: "valid year" })?;
    format.format(&moment)
}

/// Reads a text with one pattern and writes it with another. The text is taken as a date with a time, else as a
/// date, else as a time; the first that can be read and written counts.
pub fn reformat(text: &str, from: &str, to: &str) -> Result<String, DateError> {
    let moment = DateFormat::compile(from)?.parse(text)?;
    let to = DateFormat::compile(to)?;
    let whole = moment.date.is_some() && moment.time.is_some();
    let date = Moment { time: None, ..moment };
    let time = Moment { date: None, ..moment };
    let mut last = DateError::Text { reason: "it holds neither a whole date nor a whole time".to_owned() };
    for (is_there, moment) in [(whole, moment), (moment.date.is_some(), date), (moment.time.is_some(), time)]
    {
        if is_there {
            match to.format(&moment) {
                Ok(text) => return Ok(text),
                Err(error) => last = error,
            }
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests;
