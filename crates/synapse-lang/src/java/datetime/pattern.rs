//! From the letters of a pattern to what is written and read.

use super::DateError;

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Literal(String),
    Number(Number),
    /// Digits behind the second.
    Fraction {
        width: u32,
        number: Number,
    },
    Text(Field, Style),
    Offset(OffsetForm),
    /// `GMT+1`, in full with `GMT+01:00`.
    LocalOffset {
        full: bool,
    },
    /// A zone id or name.
    Zone,
    /// A part that may be absent.
    Optional(Vec<Item>),
    /// The next item, filled up with blanks on the left.
    Pad(usize, Box<Item>),
}

/// A number with its widths, as Java's number printer-parser holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) field: Field,
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) sign: Sign,
    /// Two digits that stand for a year from 2000 on.
    pub(super) reduced: bool,
    /// How many digits after it belong to following numbers of fixed width; `None` when it is fixed itself.
    pub(super) reserved: Option<usize>,
}

impl Number {
    const fn new(field: Field, least: usize, most: usize, sign: Sign) -> Self {
        Self { field, least, most, sign, reduced: false, reserved: Some(0) }
    }

    const fn fixed(field: Field, width: usize) -> Self {
        Self::new(field, width, width, Sign::Never)
    }

    fn is_fixed(&self) -> bool {
        self.least == self.most && self.sign == Sign::Never
    }
}

/// When a sign is written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// A minus only.
    Normal,
    /// Never; a negative value is an error.
    Never,
    /// A plus when the value has more digits than asked for.
    ExceedsPad,
}

/// How long a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Short,
    Full,
    Narrow,
}

/// What stands in an offset besides the hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetForm {
    pub(super) colon: bool,
    pub(super) minutes_optional: bool,
    pub(super) seconds: bool,
    /// The text for no offset.
    pub(super) zero: &'static str,
}

/// What a letter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Field {
    Era,
    Year,
    YearOfEra,
    WeekYear,
    Week,
    WeekOfMonth,
    Month,
    Quarter,
    DayOfMonth,
    DayOfYear,
    DayOfWeek,
    LocalDayOfWeek,
    AlignedDayOfWeekInMonth,
    ModifiedJulianDay,
    AmPm,
    HourOfDay,
    ClockHourOfDay,
    HourOfAmPm,
    ClockHourOfAmPm,
    Minute,
    Second,
    Nano,
    MilliOfDay,
    NanoOfDay,
}

/// How many parts may be optional inside each other, and how long a pattern may be.
const MAX_NESTING: usize = 32;
const MAX_PATTERN: usize = 4096;

fn bad<T>(reason: impl Into<String>) -> Result<T, DateError> {
    Err(DateError::Pattern { reason: reason.into() })
}

pub(super) fn compile(pattern: &str) -> Result<Vec<Item>, DateError> {
    if pattern.len() > MAX_PATTERN {
        return bad(format!("it is longer than {MAX_PATTERN} bytes"));
    }
    let chars: Vec<char> = pattern.chars().collect();
    let mut builder = Builder { open: vec![Part::default()], pad: None };
    let mut at = 0;
    while let Some(&character) = chars.get(at) {
        match character {
            'a'..='z' | 'A'..='Z' => {
                let count = chars.iter().skip(at).take_while(|c| **c == character).count();
                at += count;
                if character == 'p' {
                    if !chars.get(at).is_some_and(char::is_ascii_alphabetic) || chars.get(at) == Some(&'p') {
                        return bad("'p' must be followed by another letter");
                    }
                    builder.pad = Some(count);
                    continue;
                }
                builder.letters(character, count)?;
                continue;
            }
            '\'' => {
                let mut literal = String::new();
                at += 1;
                loop {
                    match (chars.get(at), chars.get(at + 1)) {
                        (Some('\''), Some('\'')) => {
                            literal.push('\'');
                            at += 2;
                        }
                        (Some('\''), _) => break,
                        (Some(character), _) => {
                            literal.push(*character);
                            at += 1;
                        }
                        (None, _) => return bad("a quoted text does not end"),
                    }
                }
                builder.push(Item::Literal(if literal.is_empty() { "'".to_owned() } else { literal }));
            }
            '[' => {
                if builder.open.len() > MAX_NESTING {
                    return bad("too many optional parts in each other");
                }
                if let Some(part) = builder.open.last_mut() {
                    part.number = None;
                }
                builder.open.push(Part::default());
            }
            ']' => builder.close()?,
            '{' | '}' | '#' => return bad(format!("'{character}' is reserved")),
            literal => {
                builder.push(Item::Literal(literal.to_string()));
            }
        }
        at += 1;
    }
    while builder.open.len() > 1 {
        builder.close()?;
    }
    Ok(builder.open.pop().unwrap_or_default().items)
}

/// The items of the whole, or of an optional part.
#[derive(Default)]
struct Part {
    items: Vec<Item>,
    /// The number that following numbers of fixed width reserve digits from.
    number: Option<usize>,
}

struct Builder {
    open: Vec<Part>,
    pad: Option<usize>,
}

impl Builder {
    fn push(&mut self, item: Item) -> usize {
        let item = match self.pad.take() {
            Some(width) => Item::Pad(width, Box::new(item)),
            None => item,
        };
        match self.open.last_mut() {
            Some(part) => {
                part.number = None;
                part.items.push(item);
                part.items.len() - 1
            }
            None => 0,
        }
    }

    fn close(&mut self) -> Result<(), DateError> {
        if self.open.len() < 2 {
            return bad("']' closes nothing");
        }
        let part = self.open.pop().unwrap_or_default();
        if !part.items.is_empty() {
            self.push(Item::Optional(part.items));
        }
        Ok(())
    }

    /// Adds a number. Numbers of fixed width right behind another number take their digits from its end.
    fn number(&mut self, number: Number) {
        self.adjacent(number, Item::Number);
    }

    fn adjacent(&mut self, mut number: Number, wrap: impl FnOnce(Number) -> Item) {
        let base = self.open.last().and_then(|part| part.number);
        let Some(base) = base else {
            let padded = self.pad.is_some();
            let at = self.push(wrap(number));
            if let Some(part) = self.open.last_mut().filter(|_| !padded) {
                part.number = Some(at);
            }
            return;
        };
        let fixed = number.is_fixed();
        let width = number.most;
        if fixed {
            number.reserved = None;
        }
        let at = self.push(wrap(number));
        let Some(part) = self.open.last_mut() else { return };
        if let Some(Item::Number(known) | Item::Fraction { number: known, .. }) = part.items.get_mut(base) {
            known.reserved = if fixed { known.reserved.map(|reserved| reserved + width) } else { None };
        }
        part.number = Some(if fixed { base } else { at });
    }

    fn letters(&mut self, letter: char, count: usize) -> Result<(), DateError> {
        let too_many = || bad(format!("too many pattern letters: {letter}"));
        let style = match count {
            1..=3 => Style::Short,
            4 => Style::Full,
            _ => Style::Narrow,
        };
        match letter {
            'u' | 'y' | 'Y' => {
                let field = match letter {
                    'u' => Field::Year,
                    'y' => Field::YearOfEra,
                    _ => Field::WeekYear,
                };
                if count > 19 {
                    return too_many();
                }
                let mut number = match count {
                    2 => Number::fixed(field, 2),
                    1 | 3 => Number::new(field, count, 19, Sign::Normal),
                    _ => Number::new(field, count, 19, Sign::ExceedsPad),
                };
                number.reduced = count == 2;
                self.number(number);
            }
            'M' | 'L' | 'Q' | 'q' | 'e' | 'c' => {
                let (field, text) = match letter {
                    'M' | 'L' => (Field::Month, Field::Month),
                    'Q' | 'q' => (Field::Quarter, Field::Quarter),
                    _ => (Field::LocalDayOfWeek, Field::DayOfWeek),
                };
                match count {
                    1 => self.number(Number::new(field, 1, 19, Sign::Normal)),
                    2 if letter == 'c' => return bad("invalid pattern \"cc\""),
                    2 => self.number(Number::fixed(field, 2)),
                    3..=5 => {
                        self.push(Item::Text(text, style));
                    }
                    _ => return too_many(),
                }
            }
            'G' | 'E' => {
                if count > 5 {
                    return too_many();
                }
                self.push(Item::Text(if letter == 'G' { Field::Era } else { Field::DayOfWeek }, style));
            }
            'a' if count == 1 => {
                self.push(Item::Text(Field::AmPm, Style::Short));
            }
            'd' | 'H' | 'h' | 'k' | 'K' | 'm' | 's' | 'w' => {
                let field = match letter {
                    'd' => Field::DayOfMonth,
                    'H' => Field::HourOfDay,
                    'h' => Field::ClockHourOfAmPm,
                    'k' => Field::ClockHourOfDay,
                    'K' => Field::HourOfAmPm,
                    'm' => Field::Minute,
                    's' => Field::Second,
                    _ => Field::Week,
                };
                match count {
                    1 => self.number(Number::new(field, 1, 19, Sign::Normal)),
                    2 => self.number(Number::fixed(field, 2)),
                    _ => return too_many(),
                }
            }
            'D' => match count {
                1 => self.number(Number::new(Field::DayOfYear, 1, 19, Sign::Normal)),
                2 | 3 => self.number(Number::new(Field::DayOfYear, count, 3, Sign::Never)),
                _ => return too_many(),
            },
            'W' | 'F' if count == 1 => {
                let field = if letter == 'W' { Field::WeekOfMonth } else { Field::AlignedDayOfWeekInMonth };
                self.number(Number::new(field, 1, 19, Sign::Normal));
            }
            'g' if count <= 19 => self.number(Number::new(Field::ModifiedJulianDay, count, 19, Sign::Normal)),
            'A' | 'n' | 'N' if count <= 19 => {
                let field = match letter {
                    'A' => Field::MilliOfDay,
                    'n' => Field::Nano,
                    _ => Field::NanoOfDay,
                };
                self.number(Number::new(field, count, 19, Sign::Never));
            }
            'S' => {
                let Some(width) = u32::try_from(count).ok().filter(|width| *width <= 9) else {
                    return too_many();
                };
                let number = Number::fixed(Field::Nano, count);
                self.adjacent(number, |number| Item::Fraction { width, number });
            }
            'X' | 'x' | 'Z' | 'O' | 'z' | 'V' | 'v' => self.zone(letter, count)?,
            'a' | 'W' | 'F' | 'g' | 'A' | 'n' | 'N' => return too_many(),
            _ => return bad(format!("unknown pattern letter: {letter}")),
        }
        Ok(())
    }

    fn zone(&mut self, letter: char, count: usize) -> Result<(), DateError> {
        let item = match (letter, count) {
            ('X' | 'x', 1..=5) => Item::Offset(OffsetForm {
                colon: matches!(count, 3 | 5),
                minutes_optional: count == 1,
                seconds: count >= 4,
                zero: match (letter, count) {
                    ('X', _) => "Z",
                    (_, 1) => "+00",
                    (_, 2 | 4) => "+0000",
                    _ => "+00:00",
                },
            }),
            ('Z', 1..=3) => Item::Offset(OffsetForm {
                colon: false,
                minutes_optional: false,
                seconds: false,
                zero: "+0000",
            }),
            ('Z', 5) => {
                Item::Offset(OffsetForm { colon: true, minutes_optional: false, seconds: true, zero: "Z" })
            }
            ('Z' | 'O', 4) => Item::LocalOffset { full: true },
            ('O', 1) => Item::LocalOffset { full: false },
            ('z', 1..=4) | ('V', 2) | ('v', 1 | 4) => Item::Zone,
            _ => return bad(format!("wrong number of pattern letters: {letter}")),
        };
        self.push(item);
        Ok(())
    }
}
