//! Paths of files as URIs, and back.

use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;

/// The path of a `file:` URI; nothing for other schemes, for other hosts, and for bytes that are not UTF-8.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let text = uri.as_ref();
    let scheme = text.get(..5)?;
    let rest = text.get(5..).filter(|_| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = match rest.strip_prefix("//") {
        Some(after) => {
            let slash = after.find('/')?;
            let (host, path) = after.split_at(slash);
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return None;
            }
            path
        }
        None => rest,
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let decoded = decode(rest)?;
    // `/C:/x` is the drive's path on Windows.
    let bytes = decoded.as_bytes();
    let drive = bytes.get(1).is_some_and(u8::is_ascii_alphabetic) && bytes.get(2) == Some(&b':');
    Some(PathBuf::from(if drive { decoded.get(1..).unwrap_or_default() } else { &decoded }))
}

/// The `file:` URI of a path.
pub(crate) fn of(path: &Path) -> Uri {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() };
    let mut uri = String::with_capacity(text.len() + 8);
    uri.push_str("file://");
    if !text.starts_with('/') {
        uri.push('/');
    }
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri(uri)
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_way_there_and_back() {
        for text in ["/a/b.xml", "/with blank/\u{fc}ml\u{e4}ut.xml", "/a%20b/c#d?e.xml", "/a+b:c@d"] {
            assert_eq!(path(&of(Path::new(text))), Some(PathBuf::from(text)), "{text}");
        }
        assert_eq!(of(Path::new("/a b.xml")).as_ref(), "file:///a%20b.xml");
    }

    #[test]
    fn forms_that_clients_send_are_read() {
        for (uri, expected) in [
            ("file:///a/b.xml", Some("/a/b.xml")),
            ("file:/a/b.xml", Some("/a/b.xml")),
            ("file://localhost/a", Some("/a")),
            ("FILE:///a", Some("/a")),
            ("file:///c%3A/x", Some("c:/x")),
            ("untitled:Untitled-1", None),
            ("file://server/share", None),
            ("file:///%zz", None),
            ("file:///%ff", None),
            ("", None),
        ] {
            assert_eq!(path(&Uri(uri.to_owned())), expected.map(PathBuf::from), "{uri}");
        }
    }
}
