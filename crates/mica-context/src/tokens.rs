//! How many tokens something takes: what the provider counted where it did, an estimate for what is newer.
//!
//! The estimate reads a text once and counts runs: words, numbers, punctuation, space, and characters of scripts that
//! tokenizers cut finely. It needs no vocabulary. A real tokenizer of one vendor would be exact for that vendor only,
//! brings megabytes of tables, and nobody publishes Claude's; so it was used once, to calibrate, and is not shipped.
//!
//! Error, measured against `o200k_base` over the samples in `tokens/samples` (a test holds it there): never below the
//! real count by more than 3 %, above it by up to 45 % (JSON and XML most), and by up to 85 % for scripts other than
//! Latin. Other tokenizers make more of the same text: older ones of other scripts, Claude's of everything. [`Scale`]
//! learns how many more from the first answer on, and until then a third is added for Claude. What decides something near
//! a limit is therefore too careful rather than too late.

use mica_ai::id::MessageId;
use mica_ai::message::{Block, ImageSource, Seal};
use mica_ai::model::Model;
use mica_ai::request::ToolDef;
use mica_ai::{Content, Dialect, Message, StopReason, Usage};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Tokens that frame a message: roles, separators. Providers document three to seven.
const FRAME: u64 = 6;

/// Tokens of a picture whose size is not known: the most that vendors charge at their usual resolution.
const IMAGE: u64 = 1_600;

/// What a text takes.
pub fn of_text(text: &str) -> u64 {
    let mut count = 0;
    let mut run = Run::default();
    let mut dense = Dense::default();
    let mut before = ' ';
    for letter in text.chars() {
        let kind = Kind::of(letter);
        // A capital inside a word begins another word: names are cut there, and base64 nearly everywhere.
        let hump = kind == Kind::Word && letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        if kind != run.kind || hump {
            count += run.tenths();
            dense.tenths += run.tenths();
            run = Run { kind, length: 0, upper: 0 };
        }
        if !dense.goes_on(letter) {
            count += dense.missing();
            dense = Dense::default();
        }
        run.length += 1;
        run.upper += u64::from(letter.is_ascii_uppercase());
        before = letter;
    }
    count += run.tenths();
    dense.tenths += run.tenths();
    count += dense.missing();
    count.div_ceil(10)
}

/// Characters of one kind in a row.
#[derive(Default)]
struct Run {
    kind: Kind,
    length: u64,
    upper: u64,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[default]
    Space,
    Line,
    Word,
    Number,
    Mark,
    /// Alphabets other than plain Latin.
    Letter,
    /// Scripts without spaces between words.
    Sign,
    /// Arrows, quotes, pictures.
    Picture,
}

impl Kind {
    fn of(letter: char) -> Self {
        match letter {
            '\n' | '\r' => Kind::Line,
            ' ' | '\t' => Kind::Space,
            'a'..='z' | 'A'..='Z' => Kind::Word,
            '0'..='9' => Kind::Number,
            '\0'..='\u{7f}' => Kind::Mark,
            '\u{80}'..='\u{6ff}' => Kind::Letter,
            '\u{2000}'..='\u{2bff}' | '\u{fe00}'.. => Kind::Picture,
            _ => Kind::Sign,
        }
    }
}

impl Run {
    /// Tokens in tenths. The numbers are fitted to the samples, rounded up.
    fn tenths(&self) -> u64 {
        match self.kind {
            // One space belongs to the word behind it; an indentation is a token.
            Kind::Space => 10 * u64::from(self.length > 1),
            Kind::Line => 8,
            // Words of everyday length are one token. Long ones and those of capitals are cut.
            Kind::Word if self.upper > 1 && self.upper * 2 > self.length => 10 * self.length.div_ceil(3),
            Kind::Word => 11 + 4 * self.length.saturating_sub(7),
            Kind::Number => 10 * self.length.div_ceil(3),
            Kind::Mark => 10 * self.length.div_ceil(2),
            Kind::Letter => 5 * self.length + 3,
            Kind::Sign => 11 * self.length,
            Kind::Picture => 20 * self.length,
        }
    }
}

/// Text that is no language, such as base64 or a digest: an unbroken row of letters and numbers.
#[derive(Default)]
struct Dense {
    length: u64,
    tenths: u64,
}

impl Dense {
    fn goes_on(&mut self, letter: char) -> bool {
        self.length += 1;
        letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '=' | '_' | '-')
    }

    /// What counting its runs misses. Such text takes seven tokens for ten characters; words of 48 do not occur.
    fn missing(&self) -> u64 {
        if self.length < 48 { 0 } else { (7 * self.length).saturating_sub(self.tenths) }
    }
}

/// What a content takes.
pub fn of_content(content: &Content) -> u64 {
    match content {
        Content::Text { text } => of_text(text),
        Content::Image(image) => of_image(&image.source),
    }
}

/// What a picture takes. Its pixels are in its header, which is read for PNG; others get the usual maximum.
fn of_image(source: &ImageSource) -> u64 {
    let ImageSource::Base64(data) = source else { return IMAGE };
    match png_size(data) {
        // Claude's published rule, width times height over 750, above what OpenAI charges; large ones are scaled down.
        Some((width, height)) => (u64::from(width) * u64::from(height)).div_ceil(750).clamp(85, IMAGE),
        None => IMAGE,
    }
}

/// Width and height of a PNG, from the first 24 bytes of base64.
fn png_size(data: &str) -> Option<(u32, u32)> {
    let mut bytes = [0u8; 24];
    for (quad, out) in data.as_bytes().get(..32)?.chunks(4).zip(bytes.chunks_mut(3)) {
        let mut word = 0u32;
        for letter in quad {
            let six = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            word = word << 6 | u32::from(six);
        }
        out.copy_from_slice(&word.to_be_bytes()[1..]);
    }
    if !bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return None;
    }
    let number = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    Some((number(16)?, number(20)?))
}

/// What a message takes. An answer that failed takes nothing: it is never sent back.
pub fn of_message(message: &Message) -> u64 {
    let inside: u64 = match message {
        Message::User(user) => user.content.iter().map(of_content).sum(),
        Message::ToolResult(result) => result.content.iter().map(of_content).sum::<u64>() + FRAME,
        Message::Assistant(answer) if matches!(answer.stop, StopReason::Error | StopReason::Aborted) => {
            return 0;
        }
        Message::Assistant(answer) => answer.blocks.iter().map(of_block).sum(),
    };
    inside + FRAME
}

fn of_block(block: &Block) -> u64 {
    match block {
        Block::Text(text) => of_text(&text.text),
        Block::Thinking(thinking) => match &thinking.seal {
            // Encrypted reasoning counts as the reasoning it holds: base64 of about four bytes for a token.
            Some(Seal::Encrypted(data) | Seal::Redacted(data)) => {
                (data.len() as u64 * 3 / 16).max(of_text(&thinking.text))
            }
            Some(_) | None => of_text(&thinking.text),
        },
        Block::Image(_) => FRAME,
        Block::ToolCall(call) => of_text(&call.name) + of_text(call.arguments.text()) + FRAME,
    }
}

/// What a tool's definition takes. Providers rewrite schemas into something shorter than the JSON they get.
pub fn of_tool(tool: &ToolDef) -> u64 {
    of_text(&tool.name) + of_text(&tool.description) + of_text(&tool.schema.to_string()) + 2 * FRAME
}

/// What everything before the messages takes.
pub fn of_prefix(system: &[String], tools: &[ToolDef]) -> u64 {
    system.iter().map(|part| of_text(part) + FRAME).sum::<u64>() + tools.iter().map(of_tool).sum::<u64>()
}

/// What messages take.
pub fn of_messages(messages: &[Message]) -> u64 {
    messages.iter().map(of_message).sum()
}

/// How many tokens a model makes of what is estimated as a hundred. Learnt from what providers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale(u64);

impl Scale {
    /// What is assumed until an answer shows better: Claude's tokenizers are a third finer than those the estimate
    /// is calibrated by.
    pub fn assumed(model: &Model) -> Self {
        match model.dialect {
            Dialect::Messages => Self(133),
            Dialect::Responses | Dialect::Chat => Self(100),
        }
    }

    /// What an answer shows: the input that was counted for what was estimated. Small requests show little, and a
    /// count far from any estimate is not about tokens of text, so it is held within a factor.
    #[must_use]
    pub fn learn(self, estimated: u64, counted: u64) -> Self {
        if estimated < 1_000 || counted == 0 {
            return self;
        }
        Self((counted * 100 / estimated).clamp(40, 250))
    }

    /// An estimate in the model's own tokens.
    pub fn apply(self, estimated: u64) -> u64 {
        (estimated * self.0).div_ceil(100)
    }
}

/// What a provider counted: everything up to and with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// How many messages of the window the count covers.
    messages: usize,
    /// The last of them, the answer.
    last: MessageId,
    /// The model that counted, and what stood before the messages.
    before: Digest,
    /// The count.
    tokens: u64,
}

impl Anchor {
    /// The anchor that an answer gives to a request of so many messages, when its provider counted.
    pub fn new(messages: usize, answer: &MessageId, usage: &Usage, before: Digest) -> Option<Self> {
        let tokens = usage.total();
        (usage.input > 0).then(|| Self { messages: messages + 1, last: answer.clone(), before, tokens })
    }

    /// Whether it still holds: the same model and prefix, and the counted messages still begin the window.
    fn holds(&self, messages: &[Message], before: Digest) -> bool {
        self.before == before
            && self
                .messages
                .checked_sub(1)
                .and_then(|at| messages.get(at))
                .is_some_and(|last| *last.id() == self.last)
    }
}

/// How full a window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// Tokens the provider counted.
    pub counted: u64,
    /// Tokens estimated, for what is newer.
    pub estimated: u64,
}

impl Fill {
    /// Both.
    pub fn total(self) -> u64 {
        self.counted + self.estimated
    }
}

/// How full the window is: counted up to the anchor where it holds, estimated behind it.
pub fn fill(
    system: &[String],
    tools: &[ToolDef],
    messages: &[Message],
    before: Digest,
    anchor: Option<&Anchor>,
    scale: Scale,
) -> Fill {
    match anchor.filter(|anchor| anchor.holds(messages, before)) {
        Some(anchor) => Fill {
            counted: anchor.tokens,
            estimated: scale.apply(of_messages(messages.get(anchor.messages..).unwrap_or_default())),
        },
        None => Fill { counted: 0, estimated: scale.apply(of_prefix(system, tools) + of_messages(messages)) },
    }
}

#[cfg(test)]
mod tests;
