//! Writes a date or time with a format.

use super::pattern::{Field, Item, Number, Sign, Style};
use super::{DateError, Moment};

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const QUARTERS: [&str; 4] = ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"];

/// How wide a padded part may be.
const MAX_PAD: usize = 4096;

pub(super) fn print(items: &[Item], moment: &Moment) -> Result<String, DateError> {
    let mut out = String::new();
    for item in items {
        out.push_str(&print_item(item, moment)?);
    }
    Ok(out)
}

fn print_item(item: &Item, moment: &Moment) -> Result<String, DateError> {
    Ok(match item {
        Item::Literal(text) => text.clone(),
        Item::Number(number) => print_number(number, value(number.field, moment)?)?,
        Item::Fraction { width, .. } => {
            let nanos = value(Field::Nano, moment)?;
            format!(
                "{:0>width$}",
                nanos / 10_i64.pow(9 - (*width).min(9)),
                width = usize::try_from(*width).unwrap_or(9)
            )
        }
        Item::Text(field, style) => text(*field, *style, value(*field, moment)?),
        // A local date and time has neither offset nor zone.
        Item::Offset(_) | Item::LocalOffset { .. } => return Err(DateError::Field { field: "offset" }),
        Item::Zone => return Err(DateError::Field { field: "time zone" }),
        Item::Optional(items) => match print(items, moment) {
            Err(DateError::Field { .. }) => String::new(),
            printed => printed?,
        },
        Item::Pad(width, item) => {
            let printed = print_item(item, moment)?;
            let length = printed.chars().count();
            if length > *width || *width > MAX_PAD {
                return Err(DateError::Text {
                    reason: format!("'{printed}' does not fit in {width} characters"),
                });
            }
            format!("{}{printed}", " ".repeat(width - length))
        }
    })
}

fn print_number(number: &Number, value: i64) -> Result<String, DateError> {
    let value = if number.reduced { value.abs() % 100 } else { value };
    let digits = value.unsigned_abs().to_string();
    if digits.len() > number.most {
        return Err(DateError::Text { reason: format!("{value} has more than {} digits", number.most) });
    }
    let sign = match number.sign {
        Sign::Never if value < 0 => return Err(DateError::Text { reason: format!("{value} is negative") }),
        _ if value < 0 => "-",
        Sign::ExceedsPad if digits.len() > number.least => "+",
        _ => "",
    };
    Ok(format!("{sign}{digits:0>width$}", width = number.least))
}

/// The value of a field.
pub(super) fn value(field: Field, moment: &Moment) -> Result<i64, DateError> {
    let date = moment.date.ok_or(DateError::Field { field: "date" });
    let time = moment.time.ok_or(DateError::Field { field: "time" });
    Ok(match field {
        Field::Era => i64::from(date?.year > 0),
        Field::Year => date?.year,
        Field::YearOfEra => {
            let year = date?.year;
            if year > 0 { year } else { 1 - year }
        }
        Field::WeekYear => date?.week().0,
        Field::Week => i64::from(date?.week().1),
        Field::WeekOfMonth => i64::from(date?.week_of_month()),
        Field::Month => i64::from(date?.month),
        Field::Quarter => i64::from(date?.month.div_ceil(3)),
        Field::DayOfMonth => i64::from(date?.day),
        Field::DayOfYear => i64::from(date?.day_of_year()),
        Field::DayOfWeek => i64::from(date?.day_of_week()),
        Field::LocalDayOfWeek => i64::from(date?.local_day_of_week()),
        Field::AlignedDayOfWeekInMonth => i64::from((date?.day - 1) % 7 + 1),
        Field::ModifiedJulianDay => date?.epoch_day() + 40_587,
        Field::AmPm => i64::from(time?.second_of_day / 43_200),
        Field::HourOfDay => i64::from(time?.second_of_day / 3600),
        Field::ClockHourOfDay => i64::from((time?.second_of_day / 3600 + 23) % 24 + 1),
        Field::HourOfAmPm => i64::from(time?.second_of_day / 3600 % 12),
        Field::ClockHourOfAmPm => i64::from((time?.second_of_day / 3600 + 11) % 12 + 1),
        Field::Minute => i64::from(time?.second_of_day / 60 % 60),
        Field::Second => i64::from(time?.second_of_day % 60),
        Field::Nano => i64::from(time?.nanos),
        Field::MilliOfDay => {
            time.map(|time| i64::from(time.second_of_day) * 1000 + i64::from(time.nanos / 1_000_000))?
        }
        Field::NanoOfDay => {
            time.map(|time| i64::from(time.second_of_day) * 1_000_000_000 + i64::from(time.nanos))?
        }
    })
}

/// The name of a value.
pub(super) fn text(field: Field, style: Style, value: i64) -> String {
    let place = usize::try_from(value).unwrap_or_default();
    let of = |names: &[&'static str], place: usize| names.get(place).copied().unwrap_or_default();
    let full = match field {
        Field::Era => {
            return match style {
                Style::Short => of(&["BC", "AD"], place),
                Style::Full => of(&["Before Christ", "Anno Domini"], place),
                Style::Narrow => of(&["B", "A"], place),
            }
            .to_owned();
        }
        Field::AmPm => return of(&["AM", "PM"], place).to_owned(),
        Field::Quarter => {
            return match style {
                Style::Short => format!("Q{value}"),
                Style::Full => of(&QUARTERS, place.wrapping_sub(1)).to_owned(),
                Style::Narrow => value.to_string(),
            };
        }
        Field::DayOfWeek => of(&DAYS, place.wrapping_sub(1)),
        _ => of(&MONTHS, place.wrapping_sub(1)),
    };
    let length = match style {
        Style::Short => 3,
        Style::Full => full.len(),
        Style::Narrow => 1,
    };
    full.get(..length).unwrap_or(full).to_owned()
}
