//! The known name that an unknown one was probably meant to be. For suggestions only: nothing is renamed.

use mica_agent::nearest::distance;

/// The nearest of the known names, if one is near enough to be worth saying.
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A distance costs the product of the lengths, and no honest name is longer than this.
    if given.chars().count() > 64 {
        return None;
    }
    let plain_given = plain(given);
    known
        .into_iter()
        .filter_map(|name| {
            let name_plain = plain(name);
            let far = distance(&plain_given, &name_plain);
            // `path` for `file_path` is far by letters and yet the likeliest slip.
            let part = name_plain.len() >= 3
                && plain_given.len() >= 3
                && (name_plain.contains(&plain_given) || plain_given.contains(&name_plain));
            // One letter in three: `color` for `colour`, but not `b` for `a`.
            let near = far <= name_plain.chars().count() / 3;
            (near || part).then_some((far, name))
        })
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// Without what differs between `filePath`, `file_path` and `file-path`.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, expect: Option<&str>) {
        assert_eq!(nearest(given, ["file_path", "content", "limit"]), expect, "{given:?}");
    }

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        check("filePath", Some("file_path"));
        check("file-path", Some("file_path"));
        check("path", Some("file_path"));
        check("contents", Some("content"));
        check("cotnent", Some("content"));
        check("limits", Some("limit"));
        check("offset", None);
        check("x", None);
        check("", None);
        check(&"a".repeat(10_000), None);
    }

    #[test]
    fn distances() {
        for (one, other, expect) in
            [("", "", 0), ("a", "", 1), ("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0)]
        {
            assert_eq!(distance(one, other), expect, "{one} {other}");
        }
    }
}
