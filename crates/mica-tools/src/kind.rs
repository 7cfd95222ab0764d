//! What a file is, by its first bytes.

/// First bytes, where they are, and what they mean.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xFF\xD8\xFF", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "a BMP image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"\0\0\x01\0", "an icon"),
    (4, b"ftypavif", "an AVIF image"),
    (4, b"ftyphei", "a HEIF image"),
    (4, b"ftyp", "a video or sound file (MP4)"),
    (0, b"\x1A\x45\xDF\xA3", "a video file (Matroska or WebM)"),
    (8, b"WAVE", "a sound file (WAVE)"),
    (8, b"AVI ", "a video file (AVI)"),
    (0, b"OggS", "a sound or video file (Ogg)"),
    (0, b"fLaC", "a sound file (FLAC)"),
    (0, b"ID3", "a sound file (MP3)"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"OTTO\0", "a font"),
    (0, b"\0\x01\0\0\0", "a font"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"),
    (0, b"Rar!\x1A\x07", "a RAR archive"),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old office document"),
    (0, b"\xCF\xFA\xED\xFE", "a program or library (Mach-O)"),
    (0, b"!<arch>\n", "a static library or a Debian package"),
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

/// Whether bytes are a PDF document. Some have a few bytes of something else before it.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(64)).unwrap_or_default();
    memchr::memmem::find(head, b"%PDF-")
        .is_some_and(|at| at == 0 || !head.iter().take(at).all(u8::is_ascii_graphic))
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
        assert_eq!(of(b"\0\0\0\x20ftypisom"), Some("a video or sound file (MP4)"));
        assert!(is_pdf(b"%PDF-1.7\n") && is_pdf(b"\xEF\xBB\xBF\n%PDF-1.4") && !is_pdf(b"see%PDF-1.4"));
        assert_eq!(of(b""), None);
        assert_eq!(of(b"plain"), None);
    }
}
