//! Deadlines as people say them: `tomorrow 5pm`, `next Friday`, `in 3 days at 9am`, `2026-11-20 17:00`.
//!
//! Promise: what comes out lies in the given zone's calendar, or in that of a zone that is named at the end, and not before
//! the given moment, except for a date that was written out and a day that is over. Every word counts: what cannot be read
//! is an error that says what can. A time that the clocks leave out comes when they go on.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use crate::error::DeskError;
use crate::store::Result;

/// When a day ends at the desk.
const EVENING: Time = Time::constant(17, 0, 0, 0);

/// The moment that a text means.
///
/// # Errors
/// [`DeskError::Invalid`].
pub fn parse(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp> {
    let unread = || {
        DeskError::invalid(format!(
            "{text:?} is no deadline; say for example `tomorrow 5pm`, `next Friday`, `in 3 days` or `2026-11-20 17:00`"
        ))
    };
    let lower = text.trim().to_lowercase().replace(',', " ");
    if let Ok(moment) = text.trim().parse::<Timestamp>() {
        return Ok(moment);
    }
    if let Ok(moment) = text.trim().parse::<DateTime>()
        && text.contains([':', 'T'])
    {
        return within(moment, zone).ok_or_else(unread);
    }
    let words: Vec<&str> = lower
        .split_whitespace()
        .filter(|word| !matches!(*word, "at" | "by" | "on" | "the" | "of" | "until" | "before"))
        .collect();
    let (words, zone) = match words.split_last().and_then(|(last, rest)| Some((rest, named(last)?))) {
        Some((rest, zone)) => (rest, zone),
        None => (words.as_slice(), zone.clone()),
    };
    let (words, zone) = (words, &zone);
    let here = now.to_zoned(zone.clone());
    if let ["in", rest @ ..] = words {
        return later(&here, rest).ok_or_else(unread);
    }
    let (day, rest) = day(words, &here).ok_or_else(unread)?;
    let time = match rest {
        [] => None,
        rest => Some(time(&rest.join(" ")).ok_or_else(unread)?),
    };
    let moment = |day: Date| within(day.to_datetime(time.unwrap_or(EVENING)), zone).ok_or_else(unread);
    match day {
        Day::On(day) => moment(day),
        // A time alone means the next time it comes.
        Day::Soon => {
            let today = moment(here.date())?;
            if today > now { Ok(today) } else { moment(here.date().tomorrow().map_err(|_| unread())?) }
        }
    }
}

enum Day {
    On(Date),
    Soon,
}

fn day<'a>(words: &'a [&'a str], here: &Zoned) -> Option<(Day, &'a [&'a str])> {
    let today = here.date();
    let plus = |days: i32| today.checked_add(Span::new().days(days)).ok();
    let on = |day: Option<Date>, rest: &'a [&'a str]| day.map(|day| (Day::On(day), rest));
    match words {
        [] => None,
        ["today" | "eod", rest @ ..] | ["end", "day", rest @ ..] => on(Some(today), rest),
        ["day", "after", "tomorrow", rest @ ..] => on(plus(2), rest),
        ["tomorrow", rest @ ..] => on(plus(1), rest),
        ["end", "week", rest @ ..] | ["eow", rest @ ..] => on(coming(today, Weekday::Friday, false), rest),
        ["end", "month", rest @ ..] => on(Some(today.last_of_month()), rest),
        ["next", "week", rest @ ..] => on(coming(today, Weekday::Monday, true), rest),
        ["next", "month", rest @ ..] => on(today.checked_add(Span::new().months(1)).ok(), rest),
        ["next", name, rest @ ..] => {
            // The one of the week that follows, as most people mean it.
            let monday = coming(today, Weekday::Monday, true)?;
            on(coming(monday, weekday(name)?, false), rest)
        }
        ["this", name, rest @ ..] => on(coming(today, weekday(name)?, false), rest),
        [first, rest @ ..] => {
            if let Some(weekday) = weekday(first) {
                return on(coming(today, weekday, false), rest);
            }
            if let Ok(date) = first.parse::<Date>() {
                return on(Some(date), rest);
            }
            Some((Day::Soon, words))
        }
    }
}

/// The next day of a name: today counts unless `after`.
fn coming(from: Date, weekday: Weekday, after: bool) -> Option<Date> {
    if !after && from.weekday() == weekday {
        return Some(from);
    }
    from.nth_weekday(1, weekday).ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" | "tues" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" | "thur" | "thurs" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    })
}

/// What `in` is followed by: lengths, and for days and longer a time of the day it comes to.
fn later(here: &Zoned, words: &[&str]) -> Option<Timestamp> {
    let (mut span, mut rest, mut is_exact) = (Span::new(), words, false);
    while let [count, unit, after @ ..] = rest
        && let Some((more, exact)) = length(count, unit)
    {
        span = span.checked_add((more, here)).ok()?;
        is_exact |= exact;
        rest = after.strip_prefix(&["and"]).unwrap_or(after);
    }
    // Lengths are added to the calendar: a day later is the same time of the day, however long that day is.
    let then = if span.is_zero() { return None } else { here.checked_add(span).ok()? };
    match rest {
        [] => Some(then.timestamp()),
        // Hours from now come to a time of their own.
        _ if is_exact => None,
        rest => within(then.date().to_datetime(time(&rest.join(" "))?), here.time_zone()),
    }
}

/// A length of time, and whether it is of hours or less.
fn length(count: &str, unit: &str) -> Option<(Span, bool)> {
    let count: i64 = match count {
        "a" | "an" | "one" => 1,
        "two" => 2,
        "three" => 3,
        count => count.parse().ok().filter(|count| (1..=1000).contains(count))?,
    };
    Some(match unit.trim_end_matches('s') {
        "minute" | "min" => (Span::new().minutes(count), true),
        "hour" | "h" => (Span::new().hours(count), true),
        "day" => (Span::new().days(count), false),
        "week" => (Span::new().weeks(count), false),
        "month" => (Span::new().months(count), false),
        _ => return None,
    })
}

/// A zone that is named: `utc`, or `europe/berlin`. Names without a `/` mean too many things.
fn named(word: &str) -> Option<TimeZone> {
    match word {
        "utc" | "gmt" => Some(TimeZone::UTC),
        word if word.contains('/') => TimeZone::get(word).ok(),
        _ => None,
    }
}

fn time(text: &str) -> Option<Time> {
    match text {
        "noon" | "midday" => return Some(Time::constant(12, 0, 0, 0)),
        "morning" => return Some(Time::constant(9, 0, 0, 0)),
        "afternoon" => return Some(Time::constant(15, 0, 0, 0)),
        "evening" | "eod" | "end day" => return Some(EVENING),
        "midnight" => return Some(Time::constant(23, 59, 0, 0)),
        _ => {}
    }
    let text = text.replace([' ', '.'], "");
    let (digits, half) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(0)),
        (_, Some(digits)) => (digits, Some(12)),
        _ => (text.trim_end_matches("oclock").trim_end_matches('h'), None),
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        None => hour,
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
    };
    Time::new(hour, minute, 0, 0).ok()
}

fn within(moment: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    moment.to_zoned(zone.clone()).ok().map(|moment| moment.timestamp())
}

#[cfg(test)]
mod tests;
