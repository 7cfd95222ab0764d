//! Which name was probably meant.

/// The name that is nearest to what was written, when one is near: a slip of a letter or two, other letter case, other
/// separators, a prefix like `functions.`.
pub fn nearest<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(written.rsplit(['.', ':', '/']).next().unwrap_or(written));
    names
        .map(|name| (distance(&wanted, &folded(name)), name))
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn folded(name: &str) -> String {
    // Names are short; what is longer is not a slip, and must not cost a quadratic comparison.
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(128).collect()
}

/// Letters to insert, delete or replace to make one of the other. Costs the product of the lengths.
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expect: Option<&str>) {
        let names = ["edit_file", "list", "read_file", "write_file"];
        assert_eq!(nearest(written, names.into_iter()), expect, "{written:?}");
    }

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        check("read_fil", Some("read_file"));
        check("ReadFile", Some("read_file"));
        check("read-file", Some("read_file"));
        check("functions.read_file", Some("read_file"));
        check("ls", None);
        check("lst", Some("list"));
        check("deploy", None);
        check("", None);
        check(&"x".repeat(100_000), None);
    }
}
