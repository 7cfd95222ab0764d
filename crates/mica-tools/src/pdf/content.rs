//! From the operators of a page to its text: letters in the order they are drawn, with blanks and line ends where the
//! pen was moved.

use std::collections::HashMap;
use std::rc::Rc;

use super::Budget;
use super::document::{Document, Page};
use super::font::Font;
use super::object::{Object, Reader, Table, is_blank};

/// Drawings inside of drawings.
const DEPTH: usize = 6;
/// States that are put aside.
const ASIDE: usize = 64;
/// Operands of one operator.
const OPERANDS: usize = 512;
/// A gap that is wider than this part of the size of a letter is a blank.
const BLANK: f64 = 0.18;
/// A step up or down that is larger than this part of it is a new line.
const LINE: f64 = 0.4;

/// The text of a page.
#[derive(Debug, Default)]
pub(super) struct PageText {
    pub(super) text: String,
    /// Letters that have no meaning.
    pub(super) unknown: usize,
}

/// Text of a page, at most `room` bytes.
pub(super) fn text(
    document: &Document<'_>,
    page: &Page<'_>,
    room: usize,
    budget: &mut Budget<'_>,
) -> PageText {
    let parts: Vec<Object> = match page.table.get("Contents") {
        Some(Object::List(list)) => list.clone(),
        Some(reference @ Object::Reference(_)) => match document.resolved(reference) {
            Object::List(list) => list,
            _ => vec![reference.clone()],
        },
        _ => Vec::new(),
    };
    let mut content = Vec::new();
    for part in parts.iter().take(10_000) {
        if let Some((_, bytes)) = document.stream(part, budget) {
            content.extend_from_slice(&bytes);
            // A word may not go on in the next part.
            content.push(b'\n');
        }
    }
    let mut pen =
        Pen { document, fonts: HashMap::new(), room, page: PageText::default(), last: None, budget };
    let resources = match document.resolved(page.resources) {
        Object::Table(table) => table,
        _ => Table::default(),
    };
    pen.draw(&content, &resources, Matrix::default(), DEPTH);
    pen.page
}

/// Where something is drawn: `[a b c d e f]` of the format.
#[derive(Debug, Clone, Copy)]
struct Matrix([f64; 6]);

impl Default for Matrix {
    fn default() -> Self {
        Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    }
}

impl Matrix {
    /// First this one, then the other.
    fn then(self, other: Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [g, h, i, j, k, l] = other.0;
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    fn moved(self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }

    fn of(operands: &[Object]) -> Option<Self> {
        let mut numbers = [0.0; 6];
        for (slot, operand) in numbers.iter_mut().zip(operands) {
            *slot = operand.number()?;
        }
        (operands.len() == 6).then_some(Self(numbers))
    }
}

/// What `q` puts aside.
#[derive(Clone)]
struct State {
    place: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    spacing: f64,
    words: f64,
    stretch: f64,
    leading: f64,
}

/// Where the last letter ended, and how tall it was.
#[derive(Clone, Copy)]
struct Last {
    x: f64,
    y: f64,
    /// The direction of writing, and the size on the page.
    along: (f64, f64),
    size: f64,
}

struct Pen<'p, 'd, 'b, 'c> {
    document: &'p Document<'d>,
    fonts: HashMap<Vec<u8>, Rc<Font>>,
    room: usize,
    page: PageText,
    last: Option<Last>,
    budget: &'b mut Budget<'c>,
}

impl Pen<'_, '_, '_, '_> {
    fn draw(&mut self, content: &[u8], resources: &Table, place: Matrix, depth: usize) {
        let mut state =
            State { place, font: None, size: 1.0, spacing: 0.0, words: 0.0, stretch: 1.0, leading: 0.0 };
        let mut aside: Vec<State> = Vec::new();
        let (mut matrix, mut line) = (Matrix::default(), Matrix::default());
        let mut operands: Vec<Object> = Vec::new();
        let mut reader = Reader::new(content, 0);
        while let Some(object) = reader.next() {
            if !self.budget.step() || self.page.text.len() >= self.room {
                return;
            }
            let Object::Word(word) = object else {
                if operands.len() < OPERANDS {
                    operands.push(object);
                }
                continue;
            };
            let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0);
            match word.as_slice() {
                b"q" if aside.len() < ASIDE => aside.push(state.clone()),
                b"Q" => state = aside.pop().unwrap_or(state),
                b"cm" => {
                    if let Some(moved) = Matrix::of(&operands) {
                        state.place = moved.then(state.place);
                    }
                }
                b"BT" => (matrix, line) = (Matrix::default(), Matrix::default()),
                b"Tf" => {
                    state.size = number(1);
                    state.font =
                        operands.first().and_then(Object::name).and_then(|name| self.font(name, resources));
                }
                b"Tc" => state.spacing = number(0),
                b"Tw" => state.words = number(0),
                b"Tz" => state.stretch = number(0) / 100.0,
                b"TL" => state.leading = number(0),
                b"Td" | b"TD" => {
                    if word == b"TD" {
                        state.leading = -number(1);
                    }
                    line = line.moved(number(0), number(1));
                    matrix = line;
                }
                b"Tm" => {
                    if let Some(set) = Matrix::of(&operands) {
                        (matrix, line) = (set, set);
                    }
                }
                b"T*" => {
                    line = line.moved(0.0, -state.leading);
                    matrix = line;
                }
                b"Tj" | b"'" | b"\"" | b"TJ" => {
                    if word != b"Tj" && word != b"TJ" {
                        line = line.moved(0.0, -state.leading);
                        matrix = line;
                    }
                    let shown = operands.last().cloned().unwrap_or_default();
                    matrix = self.show(&shown, &state, matrix);
                }
                b"Do" if depth > 0 => {
                    if let Some(name) = operands.first().and_then(Object::name) {
                        self.drawing(name, resources, state.place, depth - 1);
                    }
                }
                // An image in the text of the page: what it is made of is not text.
                b"ID" => reader.at = image_end(content, reader.at),
                _ => {}
            }
            operands.clear();
        }
    }

    /// Draws a drawing that has a name.
    fn drawing(&mut self, name: &[u8], resources: &Table, place: Matrix, depth: usize) {
        if !self.budget.long_step() {
            return;
        }
        let drawings = self.document.table(resources, "XObject");
        let named = drawings.entries().find(|(known, _)| *known == name).map(|(_, object)| object.clone());
        let Some(reference) = named else { return };
        let Object::Table(table) = self.document.resolved(&reference) else { return };
        if !table.is("Subtype", "Form") {
            return;
        }
        let Some((table, content)) = self.document.stream(&reference, self.budget) else { return };
        let own = match self.document.get(&table, "Resources") {
            Object::Table(own) => own,
            _ => resources.clone(),
        };
        let moved = self.document.get(&table, "Matrix").list().and_then(Matrix::of).unwrap_or_default();
        // The names of its fonts are its own.
        let outer = std::mem::take(&mut self.fonts);
        self.draw(&content, &own, moved.then(place), depth);
        self.fonts = outer;
    }

    fn font(&mut self, name: &[u8], resources: &Table) -> Option<Rc<Font>> {
        if let Some(font) = self.fonts.get(name) {
            return Some(Rc::clone(font));
        }
        if !self.budget.long_step() {
            return None;
        }
        let fonts = self.document.table(resources, "Font");
        let named = fonts.entries().find(|(known, _)| *known == name).map(|(_, object)| object);
        let Object::Table(table) = self.document.resolved(named?) else { return None };
        let font = Rc::new(Font::of(self.document, &table, self.budget));
        self.fonts.insert(name.to_vec(), Rc::clone(&font));
        Some(font)
    }

    /// Shows a text, or a list of texts and moves. Where the pen is then.
    fn show(&mut self, shown: &Object, state: &State, mut matrix: Matrix) -> Matrix {
        let one = std::slice::from_ref(shown);
        for item in shown.list().unwrap_or(one) {
            match item {
                Object::Text(text) => matrix = self.letters(text, state, matrix),
                Object::Number(back) => {
                    matrix = matrix.moved(-back / 1_000.0 * state.size * state.stretch, 0.0);
                }
                _ => {}
            }
        }
        matrix
    }

    fn letters(&mut self, text: &[u8], state: &State, mut matrix: Matrix) -> Matrix {
        let Some(font) = &state.font else { return matrix };
        for (letter, width, is_blank) in font.decode(text) {
            if !self.budget.step() || self.page.text.len() >= self.room {
                break;
            }
            self.gap(state, matrix);
            match letter {
                Some(letter) => self.page.text.push_str(letter),
                None => {
                    self.page.unknown += 1;
                    self.page.text.push(char::REPLACEMENT_CHARACTER);
                }
            }
            let extra = state.spacing + if is_blank { state.words } else { 0.0 };
            matrix = matrix.moved((width * state.size + extra) * state.stretch, 0.0);
            self.last = Some(Last::at(state, matrix, extra));
        }
        matrix
    }

    /// A blank or a line end, when the pen was moved since the last letter.
    fn gap(&mut self, state: &State, matrix: Matrix) {
        let here = Last::at(state, matrix, 0.0);
        let Some(last) = self.last else { return };
        let (x, y) = (here.x - last.x, here.y - last.y);
        let (along, across) = (x * last.along.0 + y * last.along.1, x * last.along.1 - y * last.along.0);
        let size = last.size.max(here.size).max(f64::MIN_POSITIVE);
        let text = &mut self.page.text;
        // Numbers that are none compare with nothing, and then there is no gap.
        if across.abs() > LINE * size || along < -2.0 * size {
            if !text.ends_with('\n') {
                text.push('\n');
                if across.abs() > 2.2 * size {
                    text.push('\n');
                }
            }
        } else if along > BLANK * size && !text.ends_with([' ', '\n']) {
            text.push(' ');
        }
    }
}

impl Last {
    fn at(state: &State, matrix: Matrix, extra: f64) -> Self {
        let [a, b, c, d, e, f] = matrix.then(state.place).0;
        let length = (a * a + b * b).sqrt();
        let along = if length > 0.0 { (a / length, b / length) } else { (1.0, 0.0) };
        let back = extra * state.stretch;
        let tall = (c * c + d * d).sqrt();
        Self { x: e - a * back, y: f - b * back, along, size: (state.size * tall).abs() }
    }
}

/// Where an image in the text of a page ends: behind an `EI` that stands alone.
fn image_end(content: &[u8], from: usize) -> usize {
    let rest = content.get(from..).unwrap_or_default();
    let alone = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| rest.get(at)).is_none_or(|byte| is_blank(*byte));
        before && rest.get(at + 2).is_none_or(|byte| is_blank(*byte))
    };
    memchr::memmem::find_iter(rest, b"EI").find(|at| alone(*at)).map_or(content.len(), |at| from + at + 2)
}
