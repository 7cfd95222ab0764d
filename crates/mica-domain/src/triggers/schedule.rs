//! Times by the clock on a wall somewhere.
//!
//! A time of day that a change of the clocks leaves out comes when the clock goes on; one that it repeats counts the first
//! time. So what should happen every night does so every night, once. A schedule that names no hour (`*` or `*/2`) goes by
//! the time that really passes instead: every half hour is every half hour, also in such a night.

use cronexpr::{Crontab, MakeTimestamp};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// When something happens again and again.
#[derive(Debug, Clone)]
pub struct Schedule {
    zone: TimeZone,
    times: Times,
}

#[derive(Debug, Clone)]
enum Times {
    /// By the hands of the clock: kept as if the clock were in UTC.
    Hands(Box<Crontab>),
    /// By the time that passes.
    Passing(Box<Crontab>),
}

/// Times of one schedule that are looked at before it is given up: those of a year in which every minute counts.
const LONGEST: usize = 366 * 24 * 60;

impl Schedule {
    /// A schedule: five fields of cron, and the name of a time zone, such as `Europe/Berlin`.
    ///
    /// # Errors
    /// In words, what is wrong with which of them.
    pub fn new(cron: &str, zone: &str) -> Result<Self, String> {
        let fields: Vec<&str> = cron.split_whitespace().collect();
        let [_, hour, ..] = fields.as_slice() else {
            return Err(format!("cron {cron:?}: five fields are needed (minute, hour, day, month, weekday)"));
        };
        if fields.len() != 5 {
            let count = fields.len();
            return Err(format!(
                "cron {cron:?}: five fields are needed (minute, hour, day, month, weekday), not {count}; the time zone is \
                 said with `zone`"
            ));
        }
        let tz = TimeZone::get(zone).map_err(|_| {
            format!("zone {zone:?}: there is no such time zone; an example is \"Europe/Berlin\"")
        })?;
        let parse = |zone: &str| {
            cronexpr::parse_crontab(&format!("{} {zone}", fields.join(" ")))
                .map_err(|error| format!("cron {cron:?}: {}", first_line(&error.to_string())))
        };
        let times = if hour.starts_with('*') {
            Times::Passing(Box::new(parse(zone)?))
        } else {
            Times::Hands(Box::new(parse("UTC")?))
        };
        let schedule = Self { zone: tz, times };
        match schedule.next(Timestamp::UNIX_EPOCH) {
            Some(_) => Ok(schedule),
            None => Err(format!("cron {cron:?}: it never happens")),
        }
    }

    /// The first time after a moment. `None` when there is none for years.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let find = |cron: &Crontab, from: Timestamp| {
            cron.find_next(MakeTimestamp(from)).ok().map(|zoned| zoned.timestamp())
        };
        match &self.times {
            Times::Passing(cron) => find(cron, after),
            Times::Hands(cron) => {
                // Hands are kept as a time in UTC. What they stand for never goes back, so the first that is later counts.
                let mut hands = self.hands(after)?;
                for _ in 0..LONGEST {
                    hands = find(cron, hands)?;
                    let at = self.time(hands)?;
                    if at > after {
                        return Some(at);
                    }
                }
                None
            }
        }
    }

    /// The last time after a moment and not after another.
    pub fn last(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        // Looked for in the last hour, day, month, year first: a schedule of minutes that nobody looked at for a year is
        // not counted through.
        let spans = [1, 24, 24 * 32, 24 * 367].map(SignedDuration::from_hours);
        let starts = spans.into_iter().filter_map(|span| until.checked_sub(span).ok());
        for start in starts.filter(|start| *start > after).chain([after]) {
            let mut last = None;
            let mut at = start;
            for _ in 0..LONGEST {
                match self.next(at) {
                    Some(next) if next <= until => (last, at) = (Some(next), next),
                    _ => break,
                }
            }
            if last.is_some() {
                return last;
            }
        }
        None
    }

    /// What the clock on the wall shows at a moment.
    fn hands(&self, at: Timestamp) -> Option<Timestamp> {
        at.to_zoned(self.zone.clone()).datetime().to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    }

    /// When the clock on the wall shows this for the first time; when it never does, when it goes on after the gap.
    fn time(&self, hands: Timestamp) -> Option<Timestamp> {
        let shown = hands.to_zoned(TimeZone::UTC).datetime();
        let ambiguous = self.zone.to_ambiguous_timestamp(shown);
        match ambiguous.offset() {
            AmbiguousOffset::Gap { before, .. } => {
                // With the offset from before the gap the moment lies behind it; the change itself is the last one until then.
                let behind = before.to_timestamp(shown).ok()?;
                self.zone.preceding(later_by_one(behind)?).next().map(|change| change.timestamp())
            }
            _ => ambiguous.earlier().ok(),
        }
    }
}

fn later_by_one(at: Timestamp) -> Option<Timestamp> {
    at.checked_add(SignedDuration::from_secs(1)).ok()
}

fn first_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
