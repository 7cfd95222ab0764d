//! What people say, and the moment they mean.

use super::*;

/// A Sunday in November, 20:00 in Berlin.
fn check(text: &str, expect: &str) {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let now: Timestamp = "2026-11-15T19:00:00Z".parse().unwrap();
    let said = parse(text, now, &zone).map(|moment| moment.to_zoned(zone).datetime().to_string());
    assert_eq!(said.map_err(|error| error.to_string()), Ok(expect.to_owned()), "{text}");
}

#[test]
fn what_people_say() {
    for (text, expect) in [
        ("tomorrow 5pm", "2026-11-16T17:00:00"),
        ("Tomorrow at 9:30", "2026-11-16T09:30:00"),
        ("next Friday", "2026-11-20T17:00:00"),
        ("Friday noon", "2026-11-20T12:00:00"),
        ("by friday", "2026-11-20T17:00:00"),
        ("next week", "2026-11-16T17:00:00"),
        ("next sunday 10am", "2026-11-22T10:00:00"),
        ("sunday 11pm", "2026-11-15T23:00:00"),
        ("end of the week", "2026-11-20T17:00:00"),
        ("end of month", "2026-11-30T17:00:00"),
        ("in 3 days", "2026-11-18T20:00:00"),
        ("in 3 days at 9am", "2026-11-18T09:00:00"),
        ("in 3 days, 9:30", "2026-11-18T09:30:00"),
        ("in a week by noon", "2026-11-22T12:00:00"),
        ("in two months at 17:00", "2027-01-15T17:00:00"),
        ("in 1 week and 2 days at 8 am", "2026-11-24T08:00:00"),
        ("in 1 hour 30 minutes", "2026-11-15T21:30:00"),
        ("in 3 days at 9am Europe/London", "2026-11-18T10:00:00"),
        ("tomorrow 9am UTC", "2026-11-16T10:00:00"),
        // There it is Monday already.
        ("tomorrow 9am Asia/Tokyo", "2026-11-17T01:00:00"),
        ("in an hour", "2026-11-15T21:00:00"),
        ("in 2 weeks", "2026-11-29T20:00:00"),
        ("today", "2026-11-15T17:00:00"),
        ("9pm", "2026-11-15T21:00:00"),
        ("8am", "2026-11-16T08:00:00"),
        ("12am", "2026-11-16T00:00:00"),
        ("2026-11-20", "2026-11-20T17:00:00"),
        ("2026-11-20 08:15", "2026-11-20T08:15:00"),
        ("2026-11-20T08:15:00Z", "2026-11-20T09:15:00"),
        ("day after tomorrow", "2026-11-17T17:00:00"),
    ] {
        check(text, expect);
    }
}

#[test]
fn the_week_that_follows_begins_on_monday() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    // A Wednesday.
    let now: Timestamp = "2026-11-18T09:00:00Z".parse().unwrap();
    let day = |text: &str| parse(text, now, &zone).unwrap().to_zoned(zone.clone()).date().to_string();
    assert_eq!(day("friday"), "2026-11-20");
    assert_eq!(day("next friday"), "2026-11-27");
    assert_eq!(day("wednesday"), "2026-11-18");
    assert_eq!(day("next wednesday"), "2026-11-25");
}

#[test]
fn what_means_nothing_is_said_so() {
    let zone = TimeZone::UTC;
    for text in [
        "",
        "soon",
        "tomorrow at some point",
        "25:00",
        "13pm",
        "in many days",
        "next year-ish",
        "2026-13-40",
        "in 3 days at some point",
        "in 3 days 9am or so",
        "in 2 hours at 9am",
        "in 0 days",
        "in days",
        "in",
        "tomorrow 9am Europe/Nowhere",
    ] {
        let error = parse(text, Timestamp::UNIX_EPOCH, &zone).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{text:?} is no deadline; say for example")), "{error}");
    }
}

#[test]
fn when_the_clocks_change() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let check = |now: &str, text: &str, expect: &str| {
        let said = parse(text, now.parse().unwrap(), &zone).unwrap();
        assert_eq!(said.to_zoned(zone.clone()).to_string(), expect, "{text}");
    };
    // A Friday; in the night to Sunday it goes from 2:00 to 3:00.
    let spring = "2026-03-27T08:00:00Z";
    check(spring, "in 2 days", "2026-03-29T09:00:00+02:00[Europe/Berlin]");
    check(spring, "in 2 days at 9am", "2026-03-29T09:00:00+02:00[Europe/Berlin]");
    check(spring, "in 48 hours", "2026-03-29T10:00:00+02:00[Europe/Berlin]");
    check(spring, "in 2 days at 2:30", "2026-03-29T03:30:00+02:00[Europe/Berlin]");
    // A Friday; in the night to Sunday it goes from 3:00 to 2:00, and the first 2:30 counts.
    let autumn = "2026-10-23T07:00:00Z";
    check(autumn, "in 3 days at 9am", "2026-10-26T09:00:00+01:00[Europe/Berlin]");
    check(autumn, "in 2 days at 2:30", "2026-10-25T02:30:00+02:00[Europe/Berlin]");
}
