//! Cron expressions of Quartz: six or seven fields, and exactly one of the two day fields is `?`.

/// The fields: name, smallest and greatest value, and the names that stand for values.
const FIELDS: [(&str, u32, u32, &[&str]); 7] = [
    ("seconds", 0, 59, &[]),
    ("minutes", 0, 59, &[]),
    ("hours", 0, 23, &[]),
    ("day of month", 1, 31, &[]),
    ("month", 1, 12, &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]),
    ("day of week", 1, 7, &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]),
    ("year", 1970, 2199, &[]),
];

const DAY_OF_MONTH: usize = 3;
const DAY_OF_WEEK: usize = 5;

/// Why a text is no cron expression; nothing when it is one.
///
/// It refuses only what Quartz refuses too: rare forms that it does not know are let through.
pub(super) fn problem(text: &str) -> Option<String> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    match fields.len() {
        6 | 7 => {}
        5 => return Some("it has five fields, as on Unix; Quartz begins with the seconds".to_owned()),
        count => return Some(format!("it has {count} fields instead of six or seven")),
    }
    for (at, (field, known)) in fields.iter().zip(FIELDS).enumerate() {
        if let Some(reason) = field.split(',').find_map(|part| part_problem(part, at, known)) {
            return Some(reason);
        }
    }
    let asks = |at: usize| fields.get(at).is_some_and(|field| field.split(',').any(|part| part == "?"));
    match (asks(DAY_OF_MONTH), asks(DAY_OF_WEEK)) {
        (true, true) => Some("one of day of month and day of week must say something else than ?".to_owned()),
        (false, false) => Some("one of day of month and day of week must be ?".to_owned()),
        _ => None,
    }
}

/// How to repair a text that misses only the question mark.
pub(super) fn with_question_mark(text: &str) -> Option<String> {
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() == 5 {
        fields.insert(0, "0");
    }
    let week = fields.get(DAY_OF_WEEK).copied()?;
    let month = fields.get(DAY_OF_MONTH).copied()?;
    if week != "?" && month != "?" {
        let replaced = if week == "*" {
            DAY_OF_WEEK
        } else if month == "*" {
            DAY_OF_MONTH
        } else {
            return None;
        };
        *fields.get_mut(replaced)? = "?";
    }
    let better = fields.join(" ");
    problem(&better).is_none().then_some(better)
}

fn part_problem(part: &str, at: usize, known: (&str, u32, u32, &[&str])) -> Option<String> {
    let (name, min, max, names) = known;
    let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
    if step.is_some_and(|step| step.parse::<u32>().is_err()) {
        return Some(format!("{part:?} is no step of {name}"));
    }
    if range == "*" || (range.is_empty() && step.is_some()) {
        return None;
    }
    if range == "?" {
        let days = at == DAY_OF_MONTH || at == DAY_OF_WEEK;
        return (!days).then(|| format!("? stands only for a day, not for {name}"));
    }
    // Last days, weekdays and the nth day of a month have their own signs.
    let special = (at == DAY_OF_MONTH || at == DAY_OF_WEEK) && range.contains(['L', 'W', '#', 'C']);
    if special && !names.iter().any(|one| one.eq_ignore_ascii_case(range)) {
        return None;
    }
    range.split('-').find_map(|value| {
        let upper = value.to_ascii_uppercase();
        let named = names.iter().any(|one| *one == upper);
        let number = value.parse::<u32>().ok().filter(|number| (min..=max).contains(number));
        (!named && number.is_none()).then(|| format!("{value:?} is no {name} ({min} to {max})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_quartz_takes_has_no_problem() {
        for text in [
            "0 0 12 * * ?",
            "0/5 * * * * ?",
            "0 15 10 ? * MON-FRI",
            "0 0 0 L * ?",
            "0 0 0 LW * ?",
            "0 15 10 ? * 6L",
            "0 15 10 ? * 6#3",
            "0 0 12 1/5 * ? 2030",
            "0 0,30 8-18 ? jan,feb mon",
            "*/10 * * * * ?",
        ] {
            assert_eq!(problem(text), None, "{text}");
        }
    }

    #[test]
    fn what_quartz_refuses_has_one() {
        let check = |text: &str, part: &str| {
            let found = problem(text).unwrap_or_default();
            assert!(found.contains(part), "{text}: {found}");
        };
        check("*/5 * * * *", "five fields");
        check("0 0 12 * * *", "must be ?");
        check("0 0 12 ? * ?", "something else");
        check("0 60 * * * ?", "minutes");
        check("0 0 24 * * ?", "hours");
        check("0 0 12 ? * 8", "day of week");
        check("? 0 12 ? * MON", "not for seconds");
        check("hourly", "1 fields");
    }

    #[test]
    fn the_question_mark_is_put_where_it_belongs() {
        assert_eq!(with_question_mark("*/5 * * * *").as_deref(), Some("0 */5 * * * ?"));
        assert_eq!(with_question_mark("0 0 12 * * *").as_deref(), Some("0 0 12 * * ?"));
        assert_eq!(with_question_mark("0 0 12 * * MON").as_deref(), Some("0 0 12 ? * MON"));
        assert_eq!(with_question_mark("0 0 12 1 * MON"), None);
    }
}
