//! Nights in which the clocks change, and what was missed.

use super::*;

fn check(cron: &str, zone: &str, after: &str, expected: &[&str]) {
    let schedule = Schedule::new(cron, zone).unwrap();
    let mut at: Timestamp = after.parse().unwrap();
    let mut times = Vec::new();
    for _ in expected {
        at = schedule.next(at).unwrap();
        times.push(at.to_zoned(schedule.zone.clone()).strftime("%m-%d %H:%M %Z").to_string());
    }
    assert_eq!(times, expected, "{cron} {zone}");
}

#[test]
fn a_time_that_is_left_out_comes_when_the_clock_goes_on() {
    // On 29 March 2026 it is 3 o'clock in Berlin right after 1:59.
    let after = "2026-03-27T12:00:00Z";
    let night = ["03-28 02:30 CET", "03-29 03:00 CEST", "03-30 02:30 CEST"];
    check("30 2 * * *", "Europe/Berlin", after, &night);
    let several =
        ["03-28 02:00 CET", "03-28 02:30 CET", "03-28 03:00 CET", "03-29 03:00 CEST", "03-30 02:00 CEST"];
    check("0,30 2,3 28-30 3 *", "Europe/Berlin", "2026-03-28T00:00:00Z", &several[..3]);
    check("0,30 2 * * *", "Europe/Berlin", "2026-03-28T02:00:00Z", &several[3..]);
}

#[test]
fn a_time_that_is_repeated_counts_once() {
    // On 25 October 2026 the clocks of Berlin show 2 to 3 twice.
    let nights = ["10-25 02:30 CEST", "10-26 02:30 CET"];
    check("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", &nights);
    // Between the first and the second half past two.
    check("30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", &nights[1..]);
    check("0 3 * * *", "Europe/Berlin", "2026-10-25T01:15:00Z", &["10-25 03:00 CET"]);
}

#[test]
fn what_names_no_hour_goes_by_the_time_that_passes() {
    let gap = ["03-29 01:30 CET", "03-29 03:00 CEST", "03-29 03:30 CEST"];
    check("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", &gap);
    let twice = ["10-25 02:30 CEST", "10-25 02:00 CET", "10-25 02:30 CET", "10-25 03:00 CET"];
    check("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:10:00Z", &twice);
}

#[test]
fn other_places_change_at_other_times() {
    // In Lord Howe the clock changes by half an hour; in Santiago a day begins at one o'clock.
    check(
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T12:00:00Z",
        &["10-04 02:30 +11", "10-05 02:15 +11"],
    );
    check("0 0 6 9 *", "America/Santiago", "2026-09-05T12:00:00Z", &["09-06 01:00 -03"]);
    check("0 9 * * MON", "UTC", "2026-11-15T00:00:00Z", &["11-16 09:00 UTC", "11-23 09:00 UTC"]);
}

#[test]
fn the_last_of_many() {
    let last = |cron: &str, after: &str, until: &str| {
        let schedule = Schedule::new(cron, "UTC").unwrap();
        schedule.last(after.parse().unwrap(), until.parse().unwrap()).map(|at| at.to_string())
    };
    let year = "2025-01-01T00:00:00Z";
    assert_eq!(last("* * * * *", year, "2026-01-01T00:00:30Z").unwrap(), "2026-01-01T00:00:00Z");
    assert_eq!(last("0 2 * * *", year, "2026-01-01T01:00:00Z").unwrap(), "2025-12-31T02:00:00Z");
    assert_eq!(last("0 0 1 3 *", year, "2026-01-01T01:00:00Z").unwrap(), "2025-03-01T00:00:00Z");
    assert_eq!(last("0 2 * * *", "2025-01-01T02:00:00Z", "2025-01-02T01:59:59Z"), None, "after means after");
    assert_eq!(
        last("0 2 * * *", "2025-01-01T02:00:00Z", "2025-01-02T02:00:00Z").unwrap(),
        "2025-01-02T02:00:00Z"
    );
}

#[test]
fn what_is_wrong_is_said() {
    let problem = |cron: &str, zone: &str| Schedule::new(cron, zone).unwrap_err();
    assert_eq!(
        problem("30 2 * *", "UTC"),
        "cron \"30 2 * *\": five fields are needed (minute, hour, day, month, weekday), not 4; the time zone is said with \
         `zone`"
    );
    assert_eq!(
        problem("0 2 * * *", "Europe/Berlinn"),
        "zone \"Europe/Berlinn\": there is no such time zone; an example is \"Europe/Berlin\""
    );
    assert_eq!(problem("0 2 30 2 *", "UTC"), "cron \"0 2 30 2 *\": it never happens");
    assert!(
        problem("61 2 * * *", "UTC").starts_with("cron \"61 2 * * *\": failed to parse crontab"),
        "{}",
        problem("61 2 * * *", "UTC")
    );
    assert!(problem("", "UTC").starts_with("cron \"\": five fields"));
}
