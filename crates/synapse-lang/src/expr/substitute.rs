//! Replacing parts of a text the way Java's `replaceFirst` and the order of a `HashMap` do it.

use super::value::{Failure, crash};
use std::collections::HashMap;

/// Replaces the first occurrence of `key`. In the replacement a backslash and a dollar sign have a meaning, which
/// crashes on most texts that hold one.
pub(super) fn replace_first(text: &str, key: &str, replacement: &str) -> Result<String, Failure> {
    let Some((before, after)) = text.split_once(key) else { return Ok(text.to_owned()) };
    let mut out = String::with_capacity(text.len() + replacement.len());
    out.push_str(before);
    let mut rest = replacement.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some(escaped) => out.push(escaped),
                None => {
                    return crash("java.lang.IllegalArgumentException: character to be escaped is missing");
                }
            },
            // Group 0 is the match itself; there are no others.
            '$' => match rest.next() {
                Some('0') => out.push_str(key),
                Some(digit @ '1'..='9') => {
                    return crash(format!("java.lang.IndexOutOfBoundsException: No group {digit}"));
                }
                _ => return crash("java.lang.IllegalArgumentException: Illegal group reference"),
            },
            other => out.push(other),
        }
    }
    out.push_str(after);
    Ok(out)
}

/// The items by key, each key once, in the order of a Java hash map. The last item of a key counts.
pub(super) fn hash_order<'a, T>(
    items: impl Iterator<Item = &'a T>,
    key: impl Fn(&'a T) -> &'a str,
) -> Vec<&'a T> {
    let mut entries: Vec<(u32, &T)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for item in items {
        match places.get(key(item)).and_then(|place| entries.get_mut(*place)) {
            Some(entry) => entry.1 = item,
            None => {
                places.insert(key(item), entries.len());
                entries.push((spread(key(item)), item));
            }
        }
    }
    if let [_] = entries.as_slice() {
        return entries.into_iter().map(|(_, item)| item).collect();
    }
    // The table doubles when it is three quarters full, and splitting a bucket keeps the order in it.
    let mut capacity: u32 = 16;
    while entries.len() > capacity as usize / 4 * 3 {
        capacity = capacity.saturating_mul(2);
    }
    entries.sort_by_key(|(hash, _)| hash & (capacity - 1));
    entries.into_iter().map(|(_, item)| item).collect()
}

/// `String.hashCode` with the upper half mixed into the lower, as `HashMap` does it.
fn spread(text: &str) -> u32 {
    let hash =
        text.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_know_backslashes_and_groups() {
        let table = [
            ("a.b.b", "b", "x", Some("a.x.b")),
            ("a", "z", "$", Some("a")),
            ("a", "a", r"\\n", Some(r"\n")),
            ("a", "a", r"\$1", Some("$1")),
            ("[a]", "a", "<$0>", Some("[<a>]")),
            ("a", "a", "$1", None),
            ("a", "a", "$x", None),
            ("a", "a", "$", None),
            ("a", "a", "\\", None),
        ];
        for (text, key, replacement, expected) in table {
            assert_eq!(
                replace_first(text, key, replacement).ok().as_deref(),
                expected,
                "{text} {key} {replacement}"
            );
        }
    }

    #[test]
    fn the_order_is_that_of_a_hash_map() {
        // "b" hashes to 98, "a" to 97, "0" to 48 (bucket 0), "1" to 49 (bucket 1).
        let keys = ["b", "a", "1", "0", "b"].map(str::to_owned);
        let order = hash_order(keys.iter(), |key| key).into_iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(spread("0") & 15, 0);
        assert_eq!(spread("a") & 15, 1);
        assert_eq!(order, ["0", "a", "1", "b"]);
    }
}
