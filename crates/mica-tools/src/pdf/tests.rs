//! Documents as programs write them, and documents as nobody should.

use std::io::Write;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{Desk, call};
use crate::{FileRead, Sight};

/// A document of these objects, numbered from 1. The first is the catalogue.
fn document(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (index, object) in objects.iter().enumerate() {
        bytes.extend(format!("{} 0 obj\n", index + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(b"trailer\n<< /Root 1 0 R >>\n%%EOF\n");
    bytes
}

fn stream(table: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = format!("<< {table} /Length {} >>\nstream\n", content.len()).into_bytes();
    bytes.extend(content);
    bytes.extend(b"\nendstream");
    bytes
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(content).unwrap();
    packer.finish().unwrap()
}

/// One page with this content and these fonts.
fn page(content: &[u8], fonts: &str) -> Vec<u8> {
    document(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!("<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << {fonts} >> >> >>")
            .into_bytes(),
        stream("", content),
    ])
}

const HELVETICA: &str =
    "/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

fn all(bytes: &[u8]) -> Result<Pages, PdfError> {
    let cancel = CancellationToken::new();
    read(bytes, 1, usize::MAX, &mut Budget::new(Bounds::default(), &cancel))
}

fn check(content: &[u8], fonts: &str, expected: &str) {
    let pages = all(&page(content, fonts)).unwrap();
    assert_eq!(pages.pages, [(1, expected.to_owned())], "{}", String::from_utf8_lossy(content));
}

/// Many pages with one large table of resources, from above or by reference: it is looked at for the pages that are read.
#[test]
fn one_large_table_for_many_pages_costs_no_more_than_one() {
    const KIDS: usize = 1_000;
    let large: String = (0..40_000).map(|number| format!("/N{number} {number} ")).collect();
    let large = format!("<< /Font << {HELVETICA} >> {large} >>");
    for (above, own) in [(large.as_str(), ""), ("<< >>", "/Resources 4 0 R")] {
        let kids: String = (0..KIDS).map(|kid| format!("{} 0 R ", kid + 5)).collect();
        let mut objects = vec![
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            format!("<< /Type /Pages /Kids [{kids}] /Resources {above} >>").into_bytes(),
            stream("", b"BT /F1 12 Tf 72 700 Td (Hello) Tj ET"),
            large.clone().into_bytes(),
        ];
        objects.resize(KIDS + 4, format!("<< /Type /Page /Contents 3 0 R {own} >>").into_bytes());
        let cancel = CancellationToken::new();
        // It takes a second; looked at for every page it would take a quarter of an hour.
        let bounds = Bounds { time: Duration::from_secs(60), ..Bounds::default() };
        let read = read(&document(&objects), 2, 3, &mut Budget::new(bounds, &cancel)).unwrap();
        let pages = vec![(2, "Hello".to_owned()), (3, "Hello".to_owned())];
        assert_eq!(read, Pages { total: KIDS, pages, unknown: 0, cut: false }, "{own}");
    }
}

#[test]
fn places_in_streams_of_objects_may_be_anywhere() {
    let packed = stream("/Type /ObjStm /N 2 /First 4294967295", b"7 99999999999999999999 8 0 << >>");
    let bytes = document(&[b"<< /Type /Catalog /Pages 7 0 R >>".to_vec(), packed]);
    assert_eq!(all(&bytes), Err(PdfError::NoPages));
}

#[test]
fn lines_and_words() {
    check(
        b"BT /F1 12 Tf 72 700 Td (Hello) Tj ( world) Tj 0 -14 Td (Next \\(line\\)) Tj ET",
        HELVETICA,
        "Hello world\nNext (line)",
    );
    check(
        b"BT /F1 12 Tf 14 TL 72 700 Td [(W) 80 (or) -400 (ds)] TJ T* (two) Tj (three) ' ET",
        HELVETICA,
        "Wor ds\ntwo\nthree",
    );
    check(b"BT /F1 1 Tf 12 0 0 12 72 700 Tm (a) Tj 12 0 0 12 200 700 Tm (b) Tj ET", HELVETICA, "a b");
    check(
        b"q 1 0 0 1 72 700 cm BT /F1 12 Tf (a) Tj ET Q q 1 0 0 1 72 600 cm BT /F1 12 Tf (b) Tj ET Q",
        HELVETICA,
        "a\n\nb",
    );
    check(b"BT /F1 12 Tf <48 69 20 E9 80> Tj ET", HELVETICA, "Hi \u{e9}\u{20ac}");
    check(b"BT /F1 12 Tf (a) Tj BI /W 2 /H 1 ID \x00(junk) Tj EIx EI (b) Tj ET", HELVETICA, "ab");
    check(b"BT /None 12 Tf (a) Tj ET", HELVETICA, "");
}

#[test]
fn fonts_with_their_own_letters() {
    let differences = "/F1 << /Type /Font /Subtype /Type1 /Encoding << /Differences [1 /H /eacute /ffi /uni20AC /g.alt \
                       /nonsense] >> >>";
    let pages = all(&page(b"BT /F1 12 Tf <010203040506> Tj ET", differences)).unwrap();
    assert_eq!(pages.pages, [(1, "H\u{e9}ffi\u{20ac}g\u{FFFD}".to_owned())]);
    assert_eq!(pages.unknown, 1);
    let map = b"/CIDInit /ProcSet findresource begin 1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
                2 beginbfchar <0001> <0041> <0002> <00660069> endbfchar\n\
                2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<0058> <D83DDE00>] endbfrange endcmap";
    let bytes = document(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Resources << /Font 6 0 R >> >>".to_vec(),
        b"<< /Type /Page /Contents [4 0 R 4 0 R] >>".to_vec(),
        stream("/Filter /FlateDecode", &packed(b"BT /F 10 Tf <0001000200100012 00200021> Tj ET")),
        stream("/Filter [/FlateDecode]", &packed(map)),
        b"<< /F 7 0 R >>".to_vec(),
        b"<< /Subtype /Type0 /ToUnicode 5 0 R /DescendantFonts [<< /DW 500 /W [1 [600 600] 16 18 400] >>] >>"
            .to_vec(),
    ]);
    assert_eq!(all(&bytes).unwrap().pages, [(1, "AfiacX\u{1F600}\nAfiacX\u{1F600}".to_owned())]);
}

#[test]
fn objects_in_streams_and_drawings() {
    let inner = "2 0 3 40 5 120 << /Type /Pages /Kids [3 0 R 9 0 R] >>    ";
    let mut held = format!("{inner:<58}");
    held = held[..14].to_owned() + "<< /Type /Pages /Kids [3 0 R 9 0 R] >>";
    let offsets = held.len();
    let second =
        "<< /Type /Page /Contents 6 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 7 0 R >> >> >>";
    let third = "<< /Subtype /Type1 /Encoding /MacRomanEncoding >>";
    let head = format!("2 0 3 {} 5 {} ", 39, 39 + second.len() + 1);
    let body = format!("{} {second} {third}", &held[14..offsets]);
    let content = format!("{head}{body}");
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        stream(
            &format!("/Type /ObjStm /N 3 /First {} /Filter /FlateDecode", head.len()),
            &packed(content.as_bytes()),
        ),
    ];
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (number, object) in [
        (1, objects[0].clone()),
        (4, objects[1].clone()),
        (6, stream("", b"BT /F1 12 Tf (caf\x8E ) Tj ET /X Do")),
        (
            7,
            stream(
                "/Subtype /Form /Resources << /Font << /F1 5 0 R >> /XObject << /X 7 0 R >> >>",
                b"BT /F1 12 Tf 0 -20 Td (inside) Tj ET /X Do",
            ),
        ),
        (9, b"<< /Type /Page >>".to_vec()),
    ] {
        bytes.extend(format!("{number} 0 obj\n").bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(b"trailer << /Root 1 0 R >>");
    let pages = all(&bytes).unwrap();
    assert_eq!(pages.total, 2);
    let first = &pages.pages[0].1;
    assert!(first.starts_with("caf\u{e9}") && first.contains("inside"), "{first:?}");
    assert_eq!(pages.pages[1], (2, String::new()));
}

#[test]
fn packings() {
    let text = b"BT /F1 12 Tf (packed) Tj ET";
    let hex: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
    for (table, content) in [
        ("/Filter /ASCIIHexDecode", format!("{hex}>").into_bytes()),
        ("/Filter [/ASCIIHexDecode /FlateDecode]", {
            let hex: String = packed(text).iter().map(|byte| format!("{byte:02X}")).collect();
            format!("{hex}>").into_bytes()
        }),
        (
            "/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 3 >>",
            packed(
                &text
                    .chunks(3)
                    .scan([0_u8; 3], |above, row| {
                        let line: Vec<u8> = std::iter::once(2)
                            .chain(row.iter().zip(*above).map(|(byte, above)| byte.wrapping_sub(above)))
                            .collect();
                        above[..row.len()].copy_from_slice(row);
                        Some(line)
                    })
                    .flatten()
                    .collect::<Vec<u8>>(),
            ),
        ),
        ("/Filter /ASCII85Decode", base85(text)),
        ("/Filter /LZWDecode", lzw(text)),
    ] {
        let bytes = document(&[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            format!("<< /Kids [3 0 R] /Resources << /Font << {HELVETICA} >> >> >>").into_bytes(),
            b"<< /Type /Page /Contents 4 0 R >>".to_vec(),
            stream(table, &content),
        ]);
        assert_eq!(all(&bytes).unwrap().pages, [(1, "packed".to_owned())], "{table}");
    }
    let picture = document(&[
        b"<< /Pages 2 0 R >>".to_vec(),
        b"<< /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Contents 4 0 R >>".to_vec(),
        stream("/Filter /DCTDecode", b"\xFF\xD8"),
    ]);
    assert_eq!(all(&picture).unwrap().pages, [(1, String::new())]);
}

fn base85(bytes: &[u8]) -> Vec<u8> {
    let mut told = Vec::new();
    for group in bytes.chunks(4) {
        let mut four = [0; 4];
        four[..group.len()].copy_from_slice(group);
        let mut value = u32::from_be_bytes(four);
        let mut five = [0; 5];
        for slot in five.iter_mut().rev() {
            *slot = (value % 85) as u8 + b'!';
            value /= 85;
        }
        told.extend(&five[..=group.len()]);
    }
    told.extend(b"~>");
    told
}

/// Packed without any repetition found, as a lazy program would: a clear mark, letters, an end mark.
fn lzw(bytes: &[u8]) -> Vec<u8> {
    let codes = std::iter::once(256_u32).chain(bytes.iter().map(|byte| u32::from(*byte))).chain([257]);
    let bits: Vec<u8> =
        codes.flat_map(|code| (0..9).rev().map(move |bit| ((code >> bit) & 1) as u8)).collect();
    bits.chunks(8).map(|byte| byte.iter().fold(0, |all, bit| all * 2 + bit) << (8 - byte.len())).collect()
}

#[test]
fn what_cannot_be_read() {
    let mut encrypted = page(b"", HELVETICA);
    encrypted.extend(b"trailer << /Root 1 0 R /Encrypt 4 0 R >>");
    assert_eq!(all(&encrypted), Err(PdfError::Encrypted));
    assert_eq!(all(b"%PDF-1.4 nothing"), Err(PdfError::NoPages));
    assert_eq!(all(b""), Err(PdfError::NoPages));
    // Without a tree, the pages are found all the same.
    let bytes = document(&[b"<< >>".to_vec(), b"<< /Type /Page /Contents 3 0 R >>".to_vec()]);
    assert_eq!(all(&bytes).unwrap().total, 1);
}

#[test]
fn circles_depths_and_bombs_end() {
    let kids = document(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Kids [2 0 R 2 0 R 3 0 R] >>".to_vec(),
        b"<< /Kids [2 0 R << /Kids [3 0 R] >>] >>".to_vec(),
    ]);
    assert_eq!(all(&kids), Err(PdfError::NoPages));
    let references = document(&[b"2 0 R".to_vec(), b"1 0 R".to_vec()]);
    assert_eq!(all(&references), Err(PdfError::NoPages));
    for opening in ["[", "<<", "<< /A ", "(", "[<</A["] {
        let _ = all(&page(opening.repeat(100_000).as_bytes(), HELVETICA));
        let _ = all(&document(&[opening.repeat(100_000).into_bytes()]));
    }
    // 64 MiB of operators in a few kilobytes: unpacked to the limit, and not further.
    let bomb = document(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Contents [4 0 R 4 0 R 4 0 R 4 0 R] >>".to_vec(),
        stream("/Filter /FlateDecode", &packed(&vec![b' '; 64 << 20])),
    ]);
    let cancel = CancellationToken::new();
    let bounds = Bounds { stream: 1 << 20, unpacked: 2 << 20, ..Bounds::default() };
    let mut budget = Budget::new(bounds, &cancel);
    assert!(read(&bomb, 1, 1, &mut budget).unwrap().cut);
    assert_eq!(budget.unpacked, 0);
    let range = "/F1 << /Subtype /Type0 /DescendantFonts [<< /W [0 4000000000 1 0 4000000000 1] >>] >>";
    let bounds = Bounds { steps: 100_000, ..Bounds::default() };
    let mut budget = Budget::new(bounds, &cancel);
    assert!(read(&page(b"BT /F1 1 Tf (ab) Tj ET", range), 1, 1, &mut budget).unwrap().cut);
    let forms = document(&[
        b"<< /Pages 2 0 R >>".to_vec(),
        b"<< /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Contents 4 0 R /Resources << /XObject << /X 4 0 R >> >> >>".to_vec(),
        stream("/Subtype /Form", &b"/X Do ".repeat(1_000)),
    ]);
    let mut budget = Budget::new(Bounds { steps: 100_000, ..Bounds::default() }, &cancel);
    assert!(read(&forms, 1, 1, &mut budget).unwrap().cut);
}

#[test]
fn time_and_people_end_it() {
    let bytes = page(&b"BT /F1 12 Tf (abc) Tj ET ".repeat(20_000), HELVETICA);
    let cancel = CancellationToken::new();
    let mut budget = Budget::new(Bounds { time: Duration::ZERO, ..Bounds::default() }, &cancel);
    assert!(read(&bytes, 1, 1, &mut budget).map_or(true, |pages| pages.cut));
    cancel.cancel();
    let mut budget = Budget::new(Bounds::default(), &cancel);
    assert!(read(&bytes, 1, 1, &mut budget).map_or(true, |pages| pages.cut));
}

#[tokio::test]
async fn as_a_tool() {
    let bytes = document(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Kids [3 0 R 4 0 R 5 0 R] /Resources << /Font << {HELVETICA} >> >> >>").into_bytes(),
        b"<< /Type /Page /Contents 6 0 R >>".to_vec(),
        b"<< /Type /Page /Contents 7 0 R >>".to_vec(),
        b"<< /Type /Page >>".to_vec(),
        stream("", b"BT /F1 12 Tf (one) Tj ET"),
        stream("", b"BT /F1 12 Tf (two) Tj ET"),
    ]);
    let desk = Desk::with(&[("a.pdf", &bytes), ("b.pdf", b"%PDF-1.4\n"), ("c.txt", b"x")]);
    let tool = FileRead::new(&desk.workspace, Sight::Blind);
    for (args, expected) in [
        (
            json!({"path": "a.pdf"}),
            Ok(
                "[a.pdf: text of a PDF document, pages 1-3 of 3]\n--- page 1 ---\none\n--- page 2 ---\ntwo\n--- page 3 \
                ---\n[no text: the page is empty or a picture]\n",
            ),
        ),
        (
            json!({"path": "a.pdf", "pages": "2"}),
            Ok("[a.pdf: text of a PDF document, pages 2-2 of 3]\n--- page 2 ---\ntwo\n"),
        ),
        (
            json!({"path": "b.pdf"}),
            Ok(
                "[b.pdf is a PDF document, 9 bytes, and its text cannot be read: no pages were found in it: it is damaged, or \
                no PDF document]",
            ),
        ),
        (
            json!({"path": "a.pdf", "pages": "7-9"}),
            Err("a.pdf: it has 3 pages, and the pages asked for are behind the last."),
        ),
        (
            json!({"path": "a.pdf", "pages": "0"}),
            Err("\"0\" is no range of pages. Write 3, or 3-7; the first page is 1."),
        ),
        (
            json!({"path": "a.pdf", "pages": "3-2"}),
            Err("\"3-2\" is no range of pages. Write 3, or 3-7; the first page is 1."),
        ),
        (
            json!({"path": "c.txt", "pages": "1"}),
            Err("c.txt is no PDF document, so it has no pages. Use offset and limit for lines."),
        ),
    ] {
        let told = call(&tool, args.clone()).await;
        assert_eq!(told.as_deref().map_err(String::as_str), expected, "{args}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Damage of every kind is answered.
    #[test]
    fn damaged_documents_do_no_harm(cut in 0..2_000_usize, changes in prop::collection::vec((0..2_000_usize, any::<u8>()), 0..20)) {
        let mut bytes = page(b"q BT /F1 12 Tf 1 0 0 1 5 5 Tm [(Hello) -300 <414243>] TJ T* (x) ' ET Q /X Do", HELVETICA);
        bytes.truncate(cut);
        for (at, byte) in changes {
            if let Some(slot) = bytes.get_mut(at) {
                *slot = byte;
            }
        }
        let cancel = CancellationToken::new();
        let bounds = Bounds { steps: 100_000, ..Bounds::default() };
        let _ = read(&bytes, 1, 10, &mut Budget::new(bounds, &cancel));
    }
}
