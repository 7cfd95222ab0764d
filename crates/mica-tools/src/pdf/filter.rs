//! Unpacks streams, never to more than they may.

use std::io::Read;

use super::object::{Object, Table, digit, is_blank};

/// Filters of one stream at most.
const FILTERS: usize = 4;

/// The content of a stream; `None` when it is packed in a way that is not read here, such as an image.
pub(super) fn unpack(table: &Table, raw: &[u8], limit: usize) -> Option<Vec<u8>> {
    let names: Vec<&[u8]> = match table.get("Filter").or_else(|| table.get("F")) {
        None | Some(Object::Null) => Vec::new(),
        Some(Object::Name(name)) => vec![name],
        Some(Object::List(list)) => list.iter().take(FILTERS).filter_map(Object::name).collect(),
        Some(_) => return None,
    };
    let settings = table.get("DecodeParms").or_else(|| table.get("DP"));
    let mut bytes = raw.get(..raw.len().min(limit)).unwrap_or_default().to_vec();
    for (index, name) in names.into_iter().enumerate() {
        let own = match settings {
            Some(Object::List(list)) => list.get(index).and_then(Object::table),
            Some(Object::Table(table)) if index == 0 => Some(table),
            _ => None,
        };
        bytes = match name {
            b"FlateDecode" | b"Fl" => predicted(inflate(&bytes, limit), own)?,
            b"LZWDecode" | b"LZW" => predicted(lzw(&bytes, limit, own), own)?,
            b"ASCIIHexDecode" | b"AHx" => hex(&bytes),
            b"ASCII85Decode" | b"A85" => base85(&bytes),
            _ => return None,
        };
    }
    Some(bytes)
}

/// What could be unpacked before an error is kept: files are cut off, and half a page is better than none.
fn inflate(bytes: &[u8], limit: usize) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let _ = flate2::read::ZlibDecoder::new(bytes).take(limit as u64).read_to_end(&mut unpacked);
    unpacked
}

/// Undoes the prediction that numbers in tables are packed with.
fn predicted(bytes: Vec<u8>, settings: Option<&Table>) -> Option<Vec<u8>> {
    let setting = |name: &str, default: usize| {
        settings.and_then(|table| table.get(name)).and_then(Object::size).unwrap_or(default)
    };
    let predictor = setting("Predictor", 1);
    if predictor < 10 {
        // The other kind is of images.
        return (predictor == 1).then_some(bytes);
    }
    let bits = setting("Colors", 1)
        .checked_mul(setting("BitsPerComponent", 8))?
        .checked_mul(setting("Columns", 1))?;
    let row = bits.div_ceil(8);
    let step = (setting("Colors", 1).checked_mul(setting("BitsPerComponent", 8))?).div_ceil(8).max(1);
    if row == 0 || row > bytes.len() {
        return None;
    }
    let mut above = vec![0_u8; row];
    let mut plain = Vec::with_capacity(bytes.len());
    for line in bytes.chunks(row + 1) {
        let (kind, packed) = line.split_first()?;
        let mut current = vec![0_u8; row];
        for (index, byte) in packed.iter().enumerate() {
            let at = |line: &[u8], back: usize| {
                index.checked_sub(back).and_then(|index| line.get(index)).copied().unwrap_or(0)
            };
            let (left, up, corner) = (at(&current, step), at(&above, 0), at(&above, step));
            let guess = match kind {
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => paeth(left, up, corner),
                _ => 0,
            };
            if let Some(slot) = current.get_mut(index) {
                *slot = byte.wrapping_add(guess);
            }
        }
        plain.extend_from_slice(current.get(..packed.len()).unwrap_or_default());
        above = current;
    }
    Some(plain)
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let away = |byte: u8| (guess - i16::from(byte)).abs();
    if away(left) <= away(up) && away(left) <= away(corner) {
        left
    } else if away(up) <= away(corner) {
        up
    } else {
        corner
    }
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != b'>').filter_map(digit).collect();
    digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |all, one| all * 16 + one) << (8 - 4 * pair.len()))
        .collect()
}

fn base85(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut group: Vec<u32> = Vec::with_capacity(5);
    let flush = |group: &mut Vec<u32>, plain: &mut Vec<u8>| {
        let count = group.len();
        if count > 1 {
            group.resize(5, 84);
            let value = group.iter().fold(0_u32, |all, one| all.wrapping_mul(85).wrapping_add(*one));
            plain.extend_from_slice(value.to_be_bytes().get(..count - 1).unwrap_or_default());
        }
        group.clear();
    };
    for byte in bytes.iter().copied().filter(|byte| !is_blank(*byte)) {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => plain.extend_from_slice(&[0; 4]),
            b'!'..=b'u' => {
                group.push(u32::from(byte - b'!'));
                if group.len() == 5 {
                    flush(&mut group, &mut plain);
                }
            }
            _ => {}
        }
    }
    flush(&mut group, &mut plain);
    plain
}

fn lzw(bytes: &[u8], limit: usize, settings: Option<&Table>) -> Vec<u8> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let early =
        settings.and_then(|table| table.get("EarlyChange")).and_then(Object::size).unwrap_or(1).min(1);
    let mut plain: Vec<u8> = Vec::new();
    // Each entry is a range of what was written: it was written when it was made.
    let mut entries: Vec<(usize, usize)> = Vec::new();
    let mut last: Option<(usize, usize)> = None;
    let (mut buffer, mut held, mut width) = (0_u32, 0_u32, 9_u32);
    for byte in bytes {
        buffer = (buffer << 8) | u32::from(*byte);
        held += 8;
        if held < width {
            continue;
        }
        let code = ((buffer >> (held - width)) & ((1 << width) - 1)) as usize;
        held -= width;
        buffer &= (1 << held) - 1;
        match code {
            CLEAR => {
                entries.clear();
                last = None;
                width = 9;
                continue;
            }
            END => break,
            _ => {}
        }
        let start = plain.len();
        match (code, last) {
            (0..=255, _) => plain.push(code as u8),
            (code, Some((from, to))) if code - 258 == entries.len() => {
                let again = plain.get(from..to).unwrap_or_default().to_vec();
                let first = again.first().copied();
                plain.extend(again);
                plain.extend(first);
            }
            (code, _) => {
                let Some((from, to)) = entries.get(code - 258).copied() else { break };
                let again = plain.get(from..to).unwrap_or_default().to_vec();
                plain.extend(again);
            }
        }
        if plain.len() > limit {
            plain.truncate(limit);
            break;
        }
        if let Some((from, to)) = last
            && entries.len() < 4_096 - 258
        {
            // The entry before, and the first byte behind it, stand there one after the other.
            entries.push((from, to + 1));
        }
        last = Some((start, plain.len()));
        width = match entries.len() + 258 + early {
            0..=511 => 9,
            512..=1_023 => 10,
            1_024..=2_047 => 11,
            _ => 12,
        };
    }
    plain
}
