//! Names made of parts, from which no two different lists of parts make the same.

/// Parts as one name. What would be taken for a boundary inside a part is written otherwise.
pub fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let parts = parts.into_iter().map(|part| part.replace('%', "%25").replace('/', "%2F"));
    parts.collect::<Vec<_>>().join("/")
}

/// The parts of a name.
pub fn parts(key: &str) -> Vec<String> {
    key.split('/').map(|part| part.replace("%2F", "/").replace("%25", "%")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_apart_stays_apart() {
        for list in [&["a", "b"][..], &["a/b"], &["a%2Fb", ""], &["%", "/%25"], &[""]] {
            assert_eq!(parts(&key(list.iter().copied())), list);
        }
        assert_ne!(key(["a", "b"]), key(["a/b"]));
    }
}
