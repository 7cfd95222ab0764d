//! The matcher of edits: never panics, and when it says that it found the place, applying it gives the text with exactly
//! that change. The input is flags, then the text, the quotation and the new text, with NUL between them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_tools::file_edit::edited;

fuzz_target!(|input: &[u8]| {
    let Some((flags, rest)) = input.split_first() else { return };
    let Ok(rest) = std::str::from_utf8(rest) else { return };
    let mut parts = rest.splitn(3, '\0');
    let (Some(text), Some(old), Some(new)) = (parts.next(), parts.next(), parts.next()) else { return };
    let all = flags & 1 == 1;
    let Ok(done) = edited(text, old, new, all) else { return };
    assert!(!done.places.is_empty());
    assert!(all || done.places.len() == 1, "one place was asked for");
    assert!(done.exact || done.places.len() == 1 || all, "what is not exact must be the only one");

    // What is around the places is untouched, and nothing overlaps.
    let mut rest = done.text.as_str();
    let mut at = 0;
    for place in &done.places {
        assert!(at <= place.start && place.start <= place.end, "places overlap");
        let kept = &text[at..place.start];
        assert!(rest.len() >= kept.len());
        if done.places.len() == 1 {
            rest = rest.strip_prefix(kept).expect("what is before the place stays");
        }
        at = place.end;
        let there = &text[place.clone()];
        if done.exact {
            assert_eq!(there, old);
        } else {
            assert_eq!(bare(there), bare(old));
        }
    }
    assert!(done.text.ends_with(&text[at..]), "what is behind the last place stays");
    if let [place] = done.places.as_slice() {
        let middle = rest.strip_suffix(&text[place.end..]).expect("what is behind the place stays");
        assert_eq!(bare(middle), bare(new), "the new text is what was asked for");
        if done.exact {
            assert_eq!(middle.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
        }
    }
});

/// A text without what quotations may differ in.
fn bare(text: &str) -> String {
    let plain = text.chars().map(|sign| match sign {
        '\u{2018}'..='\u{201B}' | '\u{2032}' => '\'',
        '\u{201C}'..='\u{201F}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    });
    plain.filter(|sign| !sign.is_whitespace()).collect()
}
