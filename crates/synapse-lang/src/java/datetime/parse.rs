//! Reads a date or time with a format, then makes sense of the fields (Java's smart resolving).

use std::collections::HashMap;

use super::calendar::{Date, Time, month_length};
use super::pattern::{Field, Item, Number, OffsetForm, Sign, Style};
use super::{DateError, Moment, print};

type Fields = HashMap<Field, i64>;

fn unreadable<T>(reason: impl Into<String>) -> Result<T, DateError> {
    Err(DateError::Text { reason: reason.into() })
}

pub(super) fn parse(items: &[Item], text: &str) -> Result<Moment, DateError> {
    let mut reader = Reader { text, at: 0, fields: Fields::new() };
    if !reader.items(items) {
        return unreadable(format!("it does not fit at byte {}", reader.at));
    }
    if reader.at < text.len() {
        return unreadable(format!("something is left at byte {}", reader.at));
    }
    resolve(reader.fields)
}

struct Reader<'text> {
    text: &'text str,
    at: usize,
    fields: Fields,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn items(&mut self, items: &[Item]) -> bool {
        items.iter().all(|item| self.item(item))
    }

    fn item(&mut self, item: &Item) -> bool {
        match item {
            Item::Literal(literal) => self.take(literal),
            Item::Number(number) => self.number(number),
            Item::Fraction { width, number } => self.fraction(*width, number),
            Item::Text(field, style) => self.name(*field, *style),
            Item::Offset(form) => self.offset(*form),
            Item::LocalOffset { full } => self.local_offset(*full),
            Item::Zone => self.zone(),
            Item::Optional(items) => {
                let (at, fields) = (self.at, self.fields.clone());
                if !self.items(items) {
                    self.at = at;
                    self.fields = fields;
                }
                true
            }
            Item::Pad(width, item) => {
                // The part has exactly that width, blanks on its left.
                let Some(end) =
                    self.rest().char_indices().map(|(at, _)| at).chain([self.rest().len()]).nth(*width)
                else {
                    return false;
                };
                let end = self.at + end;
                let part = self.text.get(self.at..end).unwrap_or_default();
                let blanks = part.len() - part.trim_start_matches(' ').len();
                let mut inner = Reader {
                    text: self.text.get(..end).unwrap_or_default(),
                    at: self.at + blanks,
                    fields: std::mem::take(&mut self.fields),
                };
                let fits = inner.item(item) && inner.at == end;
                self.fields = inner.fields;
                self.at = inner.at;
                fits
            }
        }
    }

    fn take(&mut self, literal: &str) -> bool {
        let stands = self.rest().starts_with(literal);
        if stands {
            self.at += literal.len();
        }
        stands
    }

    /// Sets a field; a second value for it must be the same.
    fn set(&mut self, field: Field, value: i64) -> bool {
        *self.fields.entry(field).or_insert(value) == value
    }

    fn number(&mut self, number: &Number) -> bool {
        let (mut negative, mut positive) = (false, false);
        let signed = number.sign != Sign::Never;
        match self.rest().as_bytes().first() {
            Some(b'-') if signed => negative = true,
            Some(b'+') if number.sign == Sign::ExceedsPad => positive = true,
            Some(b'0'..=b'9') => {}
            _ => return false,
        }
        self.at += usize::from(negative || positive);
        let available = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let reserved = number.reserved.unwrap_or_default();
        let mut length = available.min(number.most + reserved);
        if reserved > 0 {
            length = number.least.max(length.saturating_sub(reserved)).min(available);
        }
        if length < number.least {
            return false;
        }
        let digits = self.rest().get(..length).unwrap_or_default();
        let Ok(value) = digits.parse::<i64>() else { return false };
        if negative && value == 0 {
            return false;
        }
        if number.sign == Sign::ExceedsPad
            && !negative
            && (positive && length <= number.least || !positive && length > number.least)
        {
            return false;
        }
        self.at += length;
        let value = if number.reduced { 2000 + value } else { value };
        self.set(number.field, if negative { -value } else { value })
    }

    fn fraction(&mut self, width: u32, number: &Number) -> bool {
        let length = usize::try_from(width).unwrap_or(9);
        let digits = self.rest().get(..length).unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        let Ok(value) = digits.parse::<i64>() else { return false };
        self.at += length;
        self.set(number.field, value * 10_i64.pow(9 - width.min(9)))
    }

    fn name(&mut self, field: Field, style: Style) -> bool {
        let values = match field {
            Field::Era | Field::AmPm => 0..=1,
            Field::Quarter => 1..=4,
            Field::DayOfWeek => 1..=7,
            _ => 1..=12,
        };
        // One letter does not tell months or days apart: there the library reads a number instead.
        if style == Style::Narrow && matches!(field, Field::Month | Field::DayOfWeek) {
            return self.number(&Number {
                field,
                least: 1,
                most: 19,
                sign: Sign::Normal,
                reduced: false,
                reserved: Some(0),
            });
        }
        let mut names: Vec<(String, i64)> =
            values.map(|value| (print::text(field, style, value), value)).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let found = names.into_iter().find(|(name, _)| self.rest().starts_with(name.as_str()));
        let Some((name, value)) = found else { return false };
        self.at += name.len();
        self.set(field, value)
    }

    /// Two digits up to a bound.
    fn two_digits(&mut self, most: u32) -> bool {
        let digits = self.rest().get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let fits = digits.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|value| value <= most);
        self.at += if fits { 2 } else { 0 };
        fits
    }

    fn offset(&mut self, form: OffsetForm) -> bool {
        if self.take(form.zero) {
            return true;
        }
        if !self.take("+") && !self.take("-") {
            return false;
        }
        self.two_digits(18) && (self.offset_part(form.colon) || form.minutes_optional) && {
            if form.seconds {
                self.offset_part(form.colon);
            }
            true
        }
    }

    fn offset_part(&mut self, colon: bool) -> bool {
        let at = self.at;
        if colon && !self.take(":") || !self.two_digits(59) {
            self.at = at;
            return false;
        }
        true
    }

    fn local_offset(&mut self, full: bool) -> bool {
        if !self.take("GMT") {
            return false;
        }
        if !self.take("+") && !self.take("-") {
            return true;
        }
        if full {
            if !(self.two_digits(18) && self.offset_part(true)) {
                return false;
            }
        } else {
            let digits = self.rest().bytes().take(2).take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return false;
            }
            self.at += digits;
            self.offset_part(true);
        }
        self.offset_part(true);
        true
    }

    /// A zone: an offset, `Z`, or a name. Names are taken by their form, since no zone database is at hand.
    fn zone(&mut self) -> bool {
        let form = OffsetForm { colon: true, minutes_optional: true, seconds: true, zero: "Z" };
        if self.rest().starts_with(['+', '-']) {
            return self.offset(form);
        }
        let length = self
            .rest()
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'_'))
            .count();
        let name = self.rest().get(..length).unwrap_or_default();
        let known = name == "Z"
            || name.contains('/')
            || name.len() >= 2 && name.bytes().all(|b| b.is_ascii_uppercase());
        if known {
            self.at += length;
            if self.rest().starts_with(['+', '-']) {
                self.offset(form);
            }
        }
        known
    }
}

/// Takes a field if it is there, and checks its bounds.
fn bounded(fields: &mut Fields, field: Field, least: i64, most: i64) -> Result<Option<i64>, DateError> {
    match fields.remove(&field) {
        Some(value) if value < least || value > most => unreadable(format!("{value} is out of bounds")),
        value => Ok(value),
    }
}

fn resolve(mut fields: Fields) -> Result<Moment, DateError> {
    let date = resolve_date(&mut fields)?;
    let (time, next_day) = resolve_time(&mut fields)?;
    let date = match date {
        Some(date) if next_day => date.next(),
        date => date,
    };
    Ok(Moment { date, time })
}

fn resolve_date(fields: &mut Fields) -> Result<Option<Date>, DateError> {
    let era = fields.remove(&Field::Era);
    let of_era = bounded(fields, Field::YearOfEra, 1, 1_000_000_000)?;
    let mut year = bounded(fields, Field::Year, -999_999_999, 999_999_999)?;
    if let Some(of_era) = of_era {
        let before_christ = era.map_or(year.is_some_and(|year| year <= 0), |era| era == 0);
        let resolved = if before_christ { 1 - of_era } else { of_era };
        if year.is_some_and(|year| year != resolved) {
            return unreadable("the years differ");
        }
        year = Some(resolved);
    }
    let month = bounded(fields, Field::Month, 1, 12)?;
    let day = bounded(fields, Field::DayOfMonth, 1, 31)?;
    let day_of_year = bounded(fields, Field::DayOfYear, 1, 366)?;
    let julian = fields.remove(&Field::ModifiedJulianDay);
    let small = |value: i64| u32::try_from(value).unwrap_or_default();
    let by_day = match (year, month, day) {
        (Some(year), Some(month), Some(day)) => {
            let last = month_length(year, small(month)).unwrap_or(31);
            // A day past the end of a shorter month is its last day.
            Date::new(year, small(month), small(day).min(last))
        }
        _ => None,
    };
    let by_year_day = match (year, day_of_year) {
        (Some(year), Some(day)) => {
            let date = Date::of_year_day(year, small(day));
            Some(date.map_or_else(|| unreadable("the year has no such day"), Ok)?)
        }
        _ => None,
    };
    let by_week = resolve_week(fields)?;
    let by_julian = julian.and_then(|day| Date::from_epoch_day(day.checked_sub(40_587)?));
    let Some(date) = by_julian.or(by_day).or(by_year_day).or(by_week) else { return Ok(None) };
    // Whatever else was read must agree with the date.
    let moment = Moment { date: Some(date), time: None };
    let clamped = by_day.is_some();
    let given = [
        (Field::Year, year),
        (Field::Month, month),
        (Field::DayOfMonth, day.filter(|_| !clamped)),
        (Field::DayOfYear, day_of_year),
    ];
    let left = fields.iter().map(|(field, value)| (*field, Some(*value)));
    for (field, expected) in given.into_iter().chain(left) {
        if let Some(expected) = expected
            && let Ok(actual) = print::value(field, &moment)
            && actual != expected
        {
            return unreadable(format!("{expected} contradicts the date"));
        }
    }
    Ok(Some(date))
}

/// A date by week-based year, week and day of the week.
fn resolve_week(fields: &mut Fields) -> Result<Option<Date>, DateError> {
    let local = bounded(fields, Field::LocalDayOfWeek, 1, 7)?;
    let weekday = fields.get(&Field::DayOfWeek).map(|day| day % 7 + 1);
    if let (Some(local), Some(weekday)) = (local, weekday)
        && local != weekday
    {
        return unreadable("the days of the week differ");
    }
    let (Some(&year), Some(&week), Some(day)) =
        (fields.get(&Field::WeekYear), fields.get(&Field::Week), local.or(weekday))
    else {
        if let Some(local) = local {
            fields.insert(Field::LocalDayOfWeek, local);
        }
        return Ok(None);
    };
    if !(1..=53).contains(&week) || year.abs() > 999_999_999 {
        return unreadable("there is no such week");
    }
    let Some(first) = Date::new(year, 1, 1) else { return unreadable("there is no such year") };
    let sunday = first.epoch_day() - i64::from(first.local_day_of_week()) + 1;
    Ok(Date::from_epoch_day(sunday + (week - 1) * 7 + day - 1))
}

/// The time, and whether it is midnight at the end of the day.
fn resolve_time(fields: &mut Fields) -> Result<(Option<Time>, bool), DateError> {
    let mut hour = fields.remove(&Field::HourOfDay);
    let mut agree = |value: i64| {
        if hour.is_some_and(|hour| hour != value) {
            return unreadable("the hours differ");
        }
        hour = Some(value);
        Ok(())
    };
    if let Some(clock) = bounded(fields, Field::ClockHourOfDay, 0, 24)? {
        agree(clock % 24)?;
    }
    let clock = bounded(fields, Field::ClockHourOfAmPm, 0, 12)?.map(|clock| clock % 12);
    let half = bounded(fields, Field::HourOfAmPm, 0, 11)?;
    if let (Some(clock), Some(half)) = (clock, half)
        && clock != half
    {
        return unreadable("the hours differ");
    }
    let am_pm = fields.remove(&Field::AmPm);
    if let (Some(half), Some(am_pm)) = (clock.or(half), am_pm) {
        agree(am_pm * 12 + half)?;
    }
    let nanos_of_day = bounded(fields, Field::NanoOfDay, 0, 86_399_999_999_999)?;
    let millis = bounded(fields, Field::MilliOfDay, 0, 86_399_999)?.map(|millis| millis * 1_000_000);
    let minute = bounded(fields, Field::Minute, 0, 59)?;
    let second = bounded(fields, Field::Second, 0, 59)?;
    let nano = bounded(fields, Field::Nano, 0, 999_999_999)?;
    let small = |value: i64| u32::try_from(value).unwrap_or_default();
    if let Some(of_day) = nanos_of_day.or(millis) {
        let time =
            Time { second_of_day: small(of_day / 1_000_000_000), nanos: small(of_day % 1_000_000_000) };
        return Ok((Some(time), false));
    }
    let Some(hour) = hour else { return Ok((None, false)) };
    let gap = minute.is_none() && (second.is_some() || nano.is_some())
        || minute.is_some() && second.is_none() && nano.is_some();
    let (minute, second, nano) = (minute.unwrap_or(0), second.unwrap_or(0), nano.unwrap_or(0));
    let next_day = hour == 24 && minute == 0 && second == 0 && nano == 0;
    if !(0..=23).contains(&hour) && !next_day {
        return unreadable(format!("there is no hour {hour}"));
    }
    if gap {
        return Ok((None, false));
    }
    let hour = if next_day { 0 } else { hour };
    let time = Time { second_of_day: small(hour * 3600 + minute * 60 + second), nanos: small(nano) };
    Ok((Some(time), next_day))
}
