//! Charsets, percent escapes and Base64.

use super::{Charset, TextError, base64_decode, base64_encode, url_decode, url_encode, url_encode_component};

#[test]
fn urls_are_encoded() {
    for (text, charset, plain, component) in [
        ("Hello World", Charset::Utf8, "Hello+World", "Hello%20World"),
        (" *~", Charset::Utf8, "+*%7E", "%20%2A%7E"),
        ("a+b", Charset::Utf8, "a%2Bb", "a%2Bb"),
        ("é€😀", Charset::Utf8, "%C3%A9%E2%82%AC%F0%9F%98%80", "%C3%A9%E2%82%AC%F0%9F%98%80"),
        ("é€", Charset::Latin1, "%E9%3F", "%E9%3F"),
        ("é", Charset::Ascii, "%3F", "%3F"),
        ("éaé", Charset::Utf16, "%FE%FF%00%E9a%FE%FF%00%E9", "%FE%FF%00%E9a%FE%FF%00%E9"),
        ("é", Charset::Utf16Le, "%E9%00", "%E9%00"),
        (".-_9Z", Charset::Utf8, ".-_9Z", ".-_9Z"),
    ] {
        assert_eq!(url_encode(text, charset), plain, "{text}");
        assert_eq!(url_encode_component(text, charset), component, "{text}");
    }
}

#[test]
fn urls_are_decoded() {
    for (text, expect) in [
        ("Hello+World", Ok("Hello World")),
        ("%26", Ok("&")),
        ("%C3%A9é", Ok("éé")),
        ("%E9", Ok("\u{fffd}")),
        ("%+5", Ok("\u{5}")),
        ("", Ok("")),
        ("%", Err(0)),
        ("a%4", Err(1)),
        ("%zz", Err(0)),
        ("%-1", Err(0)),
        ("%é1", Err(0)),
    ] {
        let expect = expect.map(str::to_owned).map_err(|at| TextError::Escape { at });
        assert_eq!(url_decode(text), expect, "{text}");
    }
}

#[test]
fn base64_is_as_strict_as_java() {
    assert_eq!(base64_encode("Hello World".as_bytes()), "SGVsbG8gV29ybGQ=");
    for (text, expect) in [
        ("YWRtaW46YWRtaW4=", Ok(&b"admin:admin"[..])),
        ("abc", Ok(&b"i\xb7"[..])),
        ("YQ", Ok(b"a")),
        ("YQ==", Ok(b"a")),
        ("YR==", Ok(b"a")),
        ("", Ok(b"")),
        ("YQ=", Err(TextError::Base64)),
        ("5", Err(TextError::Base64)),
        ("YQ==x", Err(TextError::Base64)),
        ("YQ==YQ==", Err(TextError::Base64)),
        ("YW\n=", Err(TextError::Base64)),
        ("YW-_", Err(TextError::Base64)),
        ("=", Err(TextError::Base64)),
        ("====", Err(TextError::Base64)),
    ] {
        assert_eq!(base64_decode(text), expect.map(<[u8]>::to_vec), "{text}");
    }
}

#[test]
fn charsets_are_found_by_name() {
    assert_eq!(Charset::for_name("utf8"), Ok(Charset::Utf8));
    assert_eq!(Charset::for_name("Latin1"), Ok(Charset::Latin1));
    assert_eq!(Charset::for_name("UTF-99"), Err(TextError::Charset { name: "UTF-99".into() }));
    for name in ["", "a b", "-x", "é"] {
        assert_eq!(Charset::for_name(name), Err(TextError::CharsetName { name: name.into() }));
    }
}
