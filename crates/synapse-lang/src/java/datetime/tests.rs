//! Patterns, written and read.

use proptest::prelude::{prop_assert_eq, proptest};

use super::{DateError, DateFormat, Moment, format_millis, reformat};

fn check_format(millis: i64, pattern: &str, expect: &str) {
    assert_eq!(format_millis(millis, pattern, 0).as_deref(), Ok(expect), "{pattern}");
}

fn check_reformat(text: &str, from: &str, to: &str, expect: Option<&str>) {
    assert_eq!(reformat(text, from, to).ok().as_deref(), expect, "{text} {from} {to}");
}

#[test]
fn moments_are_written() {
    // A Tuesday: 14 November 2023, 22:13:20.123.
    let millis = 1_700_000_000_123;
    for (pattern, expect) in [
        ("yyyy-MM-dd HH:mm:ss", "2023-11-14 22:13:20"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2023-11-14T22:13:20.123"),
        ("yy u y yyy yyyyy", "23 2023 2023 2023 02023"),
        ("M MM MMM MMMM MMMMM LLL", "11 11 Nov November N Nov"),
        ("d dd D DDD", "14 14 318 318"),
        ("E EEE EEEE EEEEE", "Tue Tue Tuesday T"),
        ("e ee c eee", "3 03 3 Tue"),
        ("h hh K k H a", "10 10 10 22 22 PM"),
        ("S SS SSSSSSSSS n A", "1 12 123000000 123000000 80000123"),
        ("Q QQ QQQ QQQQ q", "4 04 Q4 4th quarter 4"),
        ("w ww W Y YYYY YY", "46 46 3 2023 2023 23"),
        ("G GGGG GGGGG", "AD Anno Domini A"),
        ("'it''s' '' [yyyy][XXX]", "it's ' 2023"),
        ("ppppd|ppd", "  14|14"),
        ("HH'h'", "22h"),
        ("F g", "7 60262"),
    ] {
        check_format(millis, pattern, expect);
    }
    check_format(0, "yyyy-MM-dd", "1970-01-01");
    check_format(-1, "yyyy-MM-dd HH:mm:ss.SSS", "1969-12-31 23:59:59.999");
    check_format(-62_135_596_800_001, "uuuu y G", "0000 1 BC");
    check_format(253_402_300_800_000, "yyyy", "+10000");
    assert_eq!(format_millis(0, "HH:mm", 19_800).as_deref(), Ok("05:30"));
}

#[test]
fn weeks_start_on_sunday_and_the_first_holds_new_year() {
    let day = 86_400_000;
    // 28 to 31 December 2024 are Saturday to Tuesday; 1 January 2025 is a Wednesday.
    for (offset, expect) in [(0, "2024-52"), (1, "2025-01"), (3, "2025-01"), (4, "2025-01"), (8, "2025-02")] {
        check_format(1_735_344_000_000 + offset * day, "YYYY-ww", expect);
    }
}

#[test]
fn bad_patterns_are_told() {
    for pattern in [
        "yyyy-b",
        "ddd",
        "HHH",
        "'x",
        "]",
        "{",
        "#",
        "cc",
        "MMMMMM",
        "SSSSSSSSSS",
        "VVV",
        "OO",
        "p",
        "aa",
        "XXXXXX",
        "T",
    ] {
        let error = format_millis(0, pattern, 0).expect_err(pattern);
        assert!(matches!(error, DateError::Pattern { .. }), "{pattern}: {error}");
    }
    for pattern in ["XXX", "z", "VV", "Z", "O"] {
        let error = format_millis(0, pattern, 0).expect_err(pattern);
        assert!(matches!(error, DateError::Field { .. }), "{pattern}: {error}");
    }
}

#[test]
fn texts_are_read_and_written() {
    for (text, from, to, expect) in [
        ("2024-01-02", "yyyy-MM-dd", "EEE", Some("Tue")),
        ("2024-02-30", "yyyy-MM-dd", "dd", Some("29")),
        ("2023-02-30", "yyyy-MM-dd", "dd", Some("28")),
        ("2024-04-31", "yyyy-MM-dd", "dd", Some("30")),
        ("2024-01-32", "yyyy-MM-dd", "dd", None),
        ("2024-13-01", "yyyy-MM-dd", "dd", None),
        ("10:20:30", "HH:mm:ss", "hh:mm a", Some("10:20 AM")),
        ("2024-01-02", "yyyy-mm-dd", "dd", None),
        ("2024", "yyyy", "yy", None),
        ("29/09/1988", "dd/MM/yyyy", "yyyy-MM-dd", Some("1988-09-29")),
        ("29-09-1988", "dd-MM-yyyy", "yyyy MMM dd", Some("1988 Sep 29")),
        ("11-22-33", "HH-mm-ss", "HH mm ss", Some("11 22 33")),
        ("50-22-33", "HH-mm-ss", "HH mm ss", None),
        ("20240102", "yyyyMMdd", "dd.MM.yy", Some("02.01.24")),
        ("20240102030405", "yyyyMMddHHmmss", "HH:mm:ss", Some("03:04:05")),
        ("20240102030405678", "yyyyMMddHHmmssSSS", "SSS", Some("678")),
        ("240102", "yyMMdd", "yyyy", Some("2024")),
        ("99-1-2", "yy-M-d", "yyyy-MM-dd", Some("2099-01-02")),
        ("2 Jan 2024", "d MMM yyyy", "yyyy-MM-dd", Some("2024-01-02")),
        ("2 jan 2024", "d MMM yyyy", "yyyy-MM-dd", None),
        ("Tuesday, January 2, 2024", "EEEE, MMMM d, yyyy", "yyyy-MM-dd", Some("2024-01-02")),
        ("Monday, January 2, 2024", "EEEE, MMMM d, yyyy", "yyyy-MM-dd", None),
        ("2024-01-02T03:04:05Z", "yyyy-MM-dd'T'HH:mm:ssX", "HH:mm", Some("03:04")),
        ("2024-01-02T03:04:05+05:30", "yyyy-MM-dd'T'HH:mm:ssXXX", "HH:mm", Some("03:04")),
        ("2024-01-02T03:04:05+0530", "yyyy-MM-dd'T'HH:mm:ssZ", "HH:mm", Some("03:04")),
        ("2024-01-02T03:04:05+05", "yyyy-MM-dd'T'HH:mm:ssXXX", "HH:mm", None),
        ("2024-01-02 03:04 UTC", "yyyy-MM-dd HH:mm z", "HH:mm", Some("03:04")),
        ("2024-01-02 03:04 Europe/Paris", "yyyy-MM-dd HH:mm VV", "HH:mm", Some("03:04")),
        ("12:30 AM", "hh:mm a", "HH:mm", Some("00:30")),
        ("12:30 PM", "hh:mm a", "HH:mm", Some("12:30")),
        ("12:30", "hh:mm", "HH:mm", None),
        ("24:00", "HH:mm", "HH:mm", Some("00:00")),
        ("2024-01-02 24:00", "yyyy-MM-dd HH:mm", "yyyy-MM-dd", Some("2024-01-03")),
        ("2024-060", "yyyy-DDD", "MM-dd", Some("02-29")),
        ("2023-366", "yyyy-DDD", "MM-dd", None),
        ("2024-01-02", "yyyy-MM-dd['T'HH:mm]", "MM", Some("01")),
        ("2024-01-02T03:04", "yyyy-MM-dd['T'HH:mm]", "mm", Some("04")),
        ("2024-01-02", "yyyy-MM-dd", "HH", None),
        ("03:04", "HH:mm", "yyyy", None),
        ("2024-01-02 ", "yyyy-MM-dd", "dd", None),
        ("24-01-02", "yyyy-MM-dd", "dd", None),
        ("12024-01-02", "yyyy-MM-dd", "dd", None),
        ("+12024-01-02", "yyyy-MM-dd", "dd", Some("02")),
        ("2024-W01-2", "YYYY-'W'ww-e", "yyyy-MM-dd", Some("2024-01-01")),
        ("  2", "yyyy", "yy", None),
        ("2024-01-02 03:04:05.5", "yyyy-MM-dd HH:mm:ss.SSS", "dd", None),
        ("2024-01-02 03:04:05.500", "yyyy-MM-dd HH:mm:ss.SSS", "SS", Some("50")),
        ("2024-01-02", "yyyy-MM-dd", "b", None),
        ("2024-01-02", "b", "dd", None),
    ] {
        check_reformat(text, from, to, expect);
    }
}

proptest! {
    #[test]
    fn written_moments_read_back(millis in -60_000_000_000_000_i64..250_000_000_000_000) {
        let format = DateFormat::compile("uuuu-MM-dd'T'HH:mm:ss.SSS").expect("valid");
        let moment = Moment::from_epoch_millis(millis, 0).expect("in range");
        let text = format.format(&moment).expect("complete");
        prop_assert_eq!(format.parse(&text), Ok(moment));
    }

    #[test]
    fn no_pattern_and_no_text_panics(pattern in "[yuMLdDHhKkmsSnaEecwWYQqxXZzVOGpAN'\\[\\]0-9 :.-]{0,12}", text in "\\PC{0,16}") {
        let _ = reformat(&text, &pattern, &pattern);
        let _ = format_millis(1_700_000_000_000, &pattern, 0).map(|text| reformat(&text, &pattern, &pattern));
    }
}
