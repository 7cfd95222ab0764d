//! Days of the ISO calendar and times of a day.

/// The years Java's dates reach, on both sides of zero.
const MAX_YEAR: i64 = 999_999_999;

/// A date of the ISO calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year; 0 is the year before 1.
    pub year: i64,
    /// The month, from 1.
    pub month: u32,
    /// The day of the month, from 1.
    pub day: u32,
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time {
    /// Seconds since midnight.
    pub second_of_day: u32,
    /// Nanoseconds of the second.
    pub nanos: u32,
}

impl Date {
    /// The date with that year, month and day, if there is one.
    #[must_use]
    pub fn new(year: i64, month: u32, day: u32) -> Option<Self> {
        let valid = year.abs() <= MAX_YEAR && day >= 1 && day <= month_length(year, month)?;
        valid.then_some(Self { year, month, day })
    }

    /// The date that many days after 1 January 1970.
    #[must_use]
    pub fn from_epoch_day(day: i64) -> Option<Self> {
        // Days are counted from 1 March of the year 0, in cycles of 400 years, so that the leap day comes last.
        let day = day.checked_add(719_468)?;
        let (cycle, of_cycle) = (day.div_euclid(146_097), day.rem_euclid(146_097));
        let year = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
        let of_year = of_cycle - (365 * year + year / 4 - year / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year + cycle.checked_mul(400)? + i64::from(month <= 2);
        Self::new(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)
    }

    /// Days since 1 January 1970.
    #[must_use]
    pub fn epoch_day(&self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (cycle, of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
        let shifted = i64::from((self.month + 9) % 12);
        let of_year = (153 * shifted + 2) / 5 + i64::from(self.day) - 1;
        cycle * 146_097 + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year - 719_468
    }

    /// The day of the week: 1 is Monday, 7 is Sunday.
    #[must_use]
    pub fn day_of_week(&self) -> u32 {
        u32::try_from((self.epoch_day() + 3).rem_euclid(7) + 1).unwrap_or(1)
    }

    /// The day of the year, from 1.
    #[must_use]
    pub fn day_of_year(&self) -> u32 {
        let before: u32 = (1..self.month).filter_map(|month| month_length(self.year, month)).sum();
        before + self.day
    }

    /// The date on a day of a year.
    #[must_use]
    pub fn of_year_day(year: i64, day: u32) -> Option<Self> {
        let mut rest = day;
        for month in 1..=12 {
            let length = month_length(year, month)?;
            if rest <= length {
                return Self::new(year, month, rest);
            }
            rest -= length;
        }
        None
    }

    /// The next day.
    #[must_use]
    pub fn next(&self) -> Option<Self> {
        Self::from_epoch_day(self.epoch_day() + 1)
    }

    /// The day of a week that starts on Sunday: 1 is Sunday.
    pub(super) fn local_day_of_week(&self) -> u32 {
        self.day_of_week() % 7 + 1
    }

    /// The week of the month, whose first week holds its first day.
    pub(super) fn week_of_month(&self) -> u32 {
        self.week_of(self.day)
    }

    /// The week-based year and its week. The first week holds 1 January.
    pub(super) fn week(&self) -> (i64, u32) {
        let week = self.week_of(self.day_of_year());
        let next = Self { year: self.year + 1, month: 1, day: 1 };
        // The last days of a year belong to the week of the next 1 January.
        let days_left = next.epoch_day() - self.epoch_day();
        if days_left < i64::from(next.local_day_of_week()) { (self.year + 1, 1) } else { (self.year, week) }
    }

    /// The week that a day lies in, counting days from 1 at the start of a month or year.
    fn week_of(&self, day: u32) -> u32 {
        // What day of the week day 1 is, counted from 0 for Sunday.
        let first = (i64::from(self.local_day_of_week()) - i64::from(day)).rem_euclid(7);
        (day + u32::try_from(first).unwrap_or_default()).div_ceil(7)
    }
}

/// How many days a month has.
pub(super) fn month_length(year: i64, month: u32) -> Option<u32> {
    Some(match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) => 29,
        2 => 28,
        _ => return None,
    })
}
