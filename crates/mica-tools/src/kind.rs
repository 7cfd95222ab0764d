//! What a file is, by its first bytes.

/// First bytes, where they are, and what they mean.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xFF\xD8\xFF", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PK\x03\x04", "a ZIP archive (or a JAR, CAR or office document)"),
    (0, b"\x1F\x8B", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xFD7zXZ\x00", "xz data"),
    (0, b"\x28\xB5\x2F\xFD", "zstd data"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7FELF", "an ELF program or library"),
    (0, b"MZ", "a Windows program or library"),
    (0, b"\xCA\xFE\xBA\xBE", "a Java class"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"SQLite format 3\0", "a SQLite database"),
];

/// What bytes are, if it is known.
pub(crate) fn of(bytes: &[u8]) -> Option<&'static str> {
    let here = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    MAGIC.iter().find(|(at, magic, _)| here(*at, magic)).map(|(_, _, what)| *what)
}

/// The media type, when bytes are an image that models can see.
pub(crate) fn image(bytes: &[u8]) -> Option<&'static str> {
    of(bytes).filter(|what| what.starts_with("image/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_first_bytes() {
        assert_eq!(image(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
        assert_eq!(image(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(image(b"RIFF\0\0\0\0WAVEfmt "), None);
        assert_eq!(of(b"PK\x03\x04abc"), Some("a ZIP archive (or a JAR, CAR or office document)"));
        assert_eq!(of(b""), None);
        assert_eq!(of(b"plain"), None);
    }
}
