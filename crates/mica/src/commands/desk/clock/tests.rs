//! The clock: how time is written, and who moves it.

use super::*;

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path().join("desk.db")).unwrap()
}

#[test]
fn time_is_written_in_many_ways() {
    let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let hours = |hours: i64| Ok(SignedDuration::from_hours(hours));
    let example = "write for example /clock +2h, /clock +1d 6h, /clock +1 week, /clock tomorrow 9am or /clock 2026-11-20 17:00";
    for (text, expect) in [
        ("+2h", hours(2)),
        ("2h", hours(2)),
        ("+2h 30m", Ok(SignedDuration::from_mins(150))),
        ("+ 90m", Ok(SignedDuration::from_mins(90))),
        ("+1d", hours(24)),
        ("+1d 6h", hours(30)),
        ("1 day", hours(24)),
        ("+2 weeks", hours(14 * 24)),
        ("+1w", hours(7 * 24)),
        ("tomorrow 9am", hours(20)),
        ("in 3 days", hours(3 * 24)),
        ("2026-11-16 13:00", hours(24)),
        ("-2h", Err(format!("time goes forward only; {example}"))),
        ("2026-11-14 13:00", Err(format!("time goes forward only; {example}"))),
        ("+0h", Err(format!("\"+0h\" is no time that could pass; {example}"))),
        ("soon", Err(format!("\"soon\" is no time that could pass; {example}"))),
        ("+5", Err(format!("\"+5\" is no time that could pass; {example}"))),
        (
            "+9223372036854775807s",
            Err(format!("\"+9223372036854775807s\" is no time that could pass; {example}")),
        ),
        (
            "+9000y",
            Err("\"+9000y\" is too far: the desk's clock goes ten years ahead of the true one".to_owned()),
        ),
    ] {
        assert_eq!(passing(text, now, &zone).map_err(|error| error.to_string()), expect, "{text}");
    }
}

#[test]
fn the_clock_does_not_stop_before_the_time_that_was_named() {
    let now: Timestamp = "2026-11-15T12:00:00.250Z".parse().unwrap();
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    for (text, then) in [
        ("tomorrow 10am", "2026-11-16T09:00:00.250Z"),
        ("2026-11-15 13:01", "2026-11-15T12:01:00.250Z"),
        ("+2h", "2026-11-15T14:00:00.250Z"),
    ] {
        assert_eq!(now + passing(text, now, &zone).unwrap(), then.parse().unwrap(), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_desks_move_one_clock() {
    let folder = tempfile::tempdir().unwrap();
    let one = Clock::open(&store(&folder)).await.unwrap();
    let two = Clock::open(&store(&folder)).await.unwrap();
    let hour = SignedDuration::from_hours(1);
    one.advance(hour).await.unwrap();
    // The second did not look yet, and still adds to what the first did.
    two.advance(hour).await.unwrap();
    one.look().await.unwrap();
    for clock in [&one, &two, &Clock::open(&store(&folder)).await.unwrap()] {
        assert_eq!(clock.offset.load(Ordering::SeqCst), 7200);
    }
    let both = futures::future::join_all((0..8).map(|number| {
        let clock = if number % 2 == 0 { one.clone() } else { two.clone() };
        async move { clock.advance(hour).await }
    }));
    for moved in both.await {
        moved.unwrap();
    }
    one.look().await.unwrap();
    assert_eq!(one.offset.load(Ordering::SeqCst), 10 * 3600);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::open(&store(&folder)).await.unwrap();
    clock.advance(SignedDuration::from_hours(48)).await.unwrap();
    for far in [SignedDuration::from_hours(24 * 366 * 10), SignedDuration::MAX] {
        assert_eq!(
            clock.advance(far).await.unwrap_err().to_string(),
            "that is too far: the desk's clock goes ten years ahead of the true one, and is 2 days ahead already"
        );
    }
    assert_eq!(clock.offset.load(Ordering::SeqCst), 48 * 3600);
    // What somebody wrote there by hand breaks nothing.
    let store = store(&folder);
    for (doc, expect) in [(json!(i64::MAX), FARTHEST), (json!(-5), 0), (json!("soon"), 0)] {
        let version = store.get(PLACE.0, PLACE.1).await.unwrap().map(|kept| kept.version);
        store.put(PLACE.0, PLACE.1, &doc, version).await.unwrap();
        assert_eq!(Clock::open(&store).await.unwrap().offset.load(Ordering::SeqCst), expect);
    }
}
