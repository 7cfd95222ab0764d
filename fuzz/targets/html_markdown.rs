//! Pages to Markdown: any bytes have one, within its bound, and always the same. How a page is written in bytes makes no
//! difference to that.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mica_tools::web::html::to_markdown;

fuzz_target!(|input: &[u8]| {
    let html = String::from_utf8_lossy(input);
    let address = url::Url::parse("https://example.org/docs/guide/").unwrap();
    let page = to_markdown(&html, Some(&address));
    assert_eq!(page, to_markdown(&html, Some(&address)), "the same page, another Markdown");
    assert!(page.text.len() <= 8 << 20, "{} bytes", page.text.len());
    assert_eq!(page.text.trim_end(), page.text, "it ends where its text does");
    if let Some(title) = page.title {
        assert!(!title.is_empty() && title.len() <= 300 && !title.contains('\n'), "{title:?}");
    }
    // Without an address links stay as they are.
    let _ = to_markdown(&html, None);
});
