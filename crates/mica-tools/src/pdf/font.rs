//! What the codes of a font mean, and how wide they are.

use std::collections::HashMap;

use super::Budget;
use super::document::Document;
use super::object::{Object, Reader, Table};

/// Letters by the names that fonts give them.
const GLYPHS: &str = include_str!("glyphs.txt");

/// Entries of the table from codes to letters at most.
const MAPPED: usize = 100_000;

/// A font, as far as text needs it.
#[derive(Debug, Default)]
pub(super) struct Font {
    /// Bytes of a code: one, or two.
    wide: bool,
    /// What codes mean, where the document says so.
    unicode: HashMap<u32, String>,
    /// What codes mean by the encoding of the font.
    letters: HashMap<u32, String>,
    widths: HashMap<u32, f64>,
    usual_width: f64,
}

impl Font {
    pub(super) fn of(document: &Document<'_>, table: &Table, budget: &mut Budget<'_>) -> Self {
        let wide = table.is("Subtype", "Type0");
        let mut font = Self { wide, usual_width: if wide { 1.0 } else { 0.5 }, ..Self::default() };
        if let Some(map) = table.get("ToUnicode")
            && let Some((_, content)) = document.stream(map, budget)
        {
            font.read_map(&content, budget);
        }
        if wide {
            font.read_wide(document, table, budget);
        } else {
            font.read_simple(document, table, budget);
        }
        font
    }

    /// The codes of a text, what they mean, and how wide each is in parts of the font's size.
    pub(super) fn decode<'t>(
        &'t self,
        text: &'t [u8],
    ) -> impl Iterator<Item = (Option<&'t str>, f64, bool)> + 't {
        let step = if self.wide { 2 } else { 1 };
        text.chunks(step).map(move |code| {
            let code = code.iter().fold(0_u32, |all, byte| all * 256 + u32::from(*byte));
            let width = self.widths.get(&code).copied().unwrap_or(self.usual_width);
            let letter = self.unicode.get(&code).or_else(|| self.letters.get(&code)).map(String::as_str);
            (letter, width, !self.wide && code == 32)
        })
    }

    fn read_simple(&mut self, document: &Document<'_>, table: &Table, budget: &mut Budget<'_>) {
        let encoding = document.get(table, "Encoding");
        let base = match &encoding {
            Object::Name(name) => name.clone(),
            Object::Table(encoding) => {
                document.get(encoding, "BaseEncoding").name().map(<[u8]>::to_vec).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let codes: Vec<u8> = (32..=255).collect();
        let (letters, _) = if base == b"MacRomanEncoding" {
            encoding_rs::MACINTOSH.decode_without_bom_handling(&codes)
        } else {
            encoding_rs::WINDOWS_1252.decode_without_bom_handling(&codes)
        };
        for (code, letter) in codes.iter().zip(letters.chars()).filter(|(_, letter)| !letter.is_control()) {
            self.letters.insert(u32::from(*code), letter.to_string());
        }
        if let Object::Table(encoding) = &encoding
            && let Object::List(differences) = document.get(encoding, "Differences")
        {
            let mut code = 0_u32;
            for item in differences.iter().take_while(|_| budget.step()) {
                match item {
                    Object::Number(number) => code = *number as u32,
                    Object::Name(name) => {
                        match glyph(name) {
                            Some(letter) => self.letters.insert(code, letter),
                            None => self.letters.remove(&code),
                        };
                        code = code.saturating_add(1);
                    }
                    _ => {}
                }
            }
        }
        let first = document.get(table, "FirstChar").size().unwrap_or(0) as u32;
        // Widths of a font that is drawn by the document are in its own measure.
        let scale = if table.is("Subtype", "Type3") { None } else { Some(0.001) };
        if let (Object::List(widths), Some(scale)) = (document.get(table, "Widths"), scale) {
            for (code, width) in (first..).zip(&widths).take(256) {
                if let Some(width) = document.resolved(width).number() {
                    self.widths.insert(code, width * scale);
                }
            }
        }
    }

    fn read_wide(&mut self, document: &Document<'_>, table: &Table, budget: &mut Budget<'_>) {
        let Object::List(below) = document.get(table, "DescendantFonts") else { return };
        let Some(Object::Table(below)) = below.first().map(|below| document.resolved(below)) else { return };
        if let Some(usual) = document.get(&below, "DW").number() {
            self.usual_width = usual * 0.001;
        }
        let Object::List(widths) = document.get(&below, "W") else { return };
        let mut items = widths.iter();
        // `first [w w w]` or `first last w`.
        while let (Some(first), Some(second)) = (items.next().and_then(Object::size), items.next()) {
            if !budget.step() {
                return;
            }
            match document.resolved(second) {
                Object::List(list) => {
                    for (code, width) in (first as u32..).zip(&list).take_while(|_| budget.step()) {
                        self.widths.insert(code, width.number().unwrap_or(0.0) * 0.001);
                    }
                }
                last => {
                    let (Some(last), Some(width)) = (last.size(), items.next().and_then(Object::number))
                    else {
                        return;
                    };
                    for code in (first..=last).take(65_536).take_while(|_| budget.step()) {
                        self.widths.insert(code as u32, width * 0.001);
                    }
                }
            }
        }
    }

    /// Reads a table from codes to letters.
    fn read_map(&mut self, content: &[u8], budget: &mut Budget<'_>) {
        let mut reader = Reader::new(content, 0);
        let mut before: Vec<Object> = Vec::new();
        while let Some(object) = reader.next() {
            if !budget.step() || self.unicode.len() > MAPPED {
                return;
            }
            let Object::Word(word) = &object else {
                before.push(object);
                continue;
            };
            match word.as_slice() {
                b"endbfchar" => {
                    for pair in before.chunks_exact(2) {
                        if let [Object::Text(code), Object::Text(letters)] = pair {
                            self.unicode.insert(code_of(code), utf16(letters));
                        }
                    }
                }
                b"endbfrange" => {
                    for range in before.chunks_exact(3) {
                        self.read_range(range, budget);
                    }
                }
                _ => {}
            }
            before.clear();
        }
    }

    fn read_range(&mut self, range: &[Object], budget: &mut Budget<'_>) {
        let [Object::Text(first), Object::Text(last), to] = range else { return };
        let (first, last) = (code_of(first), code_of(last));
        for (offset, code) in (first..=last).enumerate() {
            if !budget.step() || self.unicode.len() > MAPPED {
                return;
            }
            let letters = match to {
                Object::List(list) => match list.get(offset) {
                    Some(Object::Text(letters)) => utf16(letters),
                    _ => return,
                },
                Object::Text(letters) => {
                    let mut letters = utf16(letters);
                    let Some(last) = letters.pop() else { return };
                    let moved = u32::from(last).checked_add(offset as u32).and_then(char::from_u32);
                    let Some(moved) = moved else { return };
                    letters.push(moved);
                    letters
                }
                _ => return,
            };
            self.unicode.insert(code, letters);
        }
    }
}

fn code_of(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |all, byte| (all << 8) | u32::from(*byte))
}

fn utf16(bytes: &[u8]) -> String {
    let units =
        bytes.chunks(2).map(|pair| pair.iter().fold(0_u16, |all, byte| (all << 8) | u16::from(*byte)));
    char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).take(64).collect()
}

/// The letter that a name stands for.
fn glyph(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    // `a.alt` is a form of `a`.
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return Some(letter.to_string());
    }
    if matches!(name, "space" | "nbspace") {
        return Some(" ".to_owned());
    }
    let known = GLYPHS.lines().find_map(|line| line.split_once(' ').filter(|(known, _)| *known == name));
    if let Some((_, letter)) = known {
        return Some(letter.to_owned());
    }
    let digits = name.strip_prefix("uni").or_else(|| name.strip_prefix('u'))?;
    let code = digits.get(..digits.len().min(6)).filter(|_| digits.len() >= 4)?;
    let code = if name.starts_with("uni") { digits.get(..4)? } else { code };
    u32::from_str_radix(code, 16).ok().and_then(char::from_u32).map(String::from)
}
