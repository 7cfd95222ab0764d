//! Tables: those of data become tables of Markdown, those that only place things are read cell by cell.

use super::block::Blocks;
use super::tree::{Id, Tree};

/// Columns and rows that a cell may span. More is a mistake, or meant to be one.
const SPAN: usize = 24;
/// Columns of a table.
const COLUMNS: usize = 64;

struct Row {
    cells: Vec<Id>,
    /// Whether it names the columns.
    head: bool,
}

/// Writes a table.
pub(super) fn write(blocks: &mut Blocks<'_>, id: Id) {
    let tree = blocks.page.tree;
    let mut rows = Vec::new();
    let mut captions = Vec::new();
    collect(blocks, id, false, &mut rows, &mut captions);
    for caption in captions {
        blocks.children(caption);
    }
    let role = tree.node(id).attribute("role");
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let places = matches!(role, Some("presentation" | "none"))
        || columns < 2
        || rows.iter().flat_map(|row| &row.cells).any(|cell| holds_page(tree, *cell))
        || (rows.len() == 1 && !rows.iter().any(|row| row.head));
    if places {
        for cell in rows.iter().flat_map(|row| &row.cells) {
            blocks.children(*cell);
        }
        return;
    }
    let mut lines = Vec::new();
    let mut spans = Spans::default();
    let mut widest = 0;
    let mut head = 0;
    let mut bytes = 0;
    for (position, row) in rows.iter().enumerate() {
        let cells = spans.row(row.cells.iter().map(|cell| {
            let number = |name| tree.node(*cell).attribute(name).and_then(|text| text.trim().parse().ok());
            (
                blocks.all_words(*cell).replace('|', "\\|"),
                number("colspan").unwrap_or(1),
                number("rowspan").unwrap_or(1),
            )
        }));
        widest = widest.max(cells.len());
        if position == 0 && row.head {
            head = 1;
        }
        let line = format!("| {} |", cells.join(" | "));
        bytes += line.len();
        lines.push(line);
        if bytes > TABLE {
            break;
        }
    }
    if head == 0 {
        lines.insert(0, format!("|{}", "  |".repeat(widest)));
    }
    lines.insert(1.min(lines.len()), format!("|{}", " --- |".repeat(widest)));
    blocks.out.block(&lines.join("\n"));
}

/// Bytes of one table: more than a page ever shows at once.
const TABLE: usize = 2 << 20;

/// The rows of a table, and not those of tables inside of it.
fn collect(blocks: &Blocks<'_>, id: Id, in_head: bool, rows: &mut Vec<Row>, captions: &mut Vec<Id>) {
    let tree = blocks.page.tree;
    for child in &tree.node(id).children {
        if blocks.page.view.drops(tree, *child) {
            continue;
        }
        match tree.node(*child).tag {
            "caption" => captions.push(*child),
            "tr" => {
                let is_cell =
                    |id: &Id| matches!(tree.node(*id).tag, "td" | "th") && !blocks.page.view.drops(tree, *id);
                let cells: Vec<Id> = tree.node(*child).children.iter().copied().filter(is_cell).collect();
                let names = !cells.is_empty() && cells.iter().all(|cell| tree.node(*cell).tag == "th");
                if !cells.is_empty() {
                    rows.push(Row { head: in_head || names, cells });
                }
            }
            "thead" => collect(blocks, *child, true, rows, captions),
            "tbody" | "tfoot" => collect(blocks, *child, false, rows, captions),
            _ => {}
        }
    }
}

/// Whether a cell holds what no line of a table can.
fn holds_page(tree: &Tree, id: Id) -> bool {
    let node = tree.node(id);
    matches!(node.tag, "table" | "pre" | "h1" | "h2" | "h3" | "blockquote" | "article")
        || (node.has_block && node.children.iter().any(|child| holds_page(tree, *child)))
}

/// Cells that reach into the rows below.
#[derive(Default)]
struct Spans {
    /// For each column, the rows that are still covered, and by what.
    below: Vec<(usize, String)>,
}

impl Spans {
    /// The texts of a row, with what reaches into it from above. A text that spans is said in each of its rows, and in the
    /// first of its columns.
    fn row(&mut self, cells: impl Iterator<Item = (String, usize, usize)>) -> Vec<String> {
        let mut texts = Vec::new();
        for (text, columns, rows) in cells {
            self.covered(&mut texts);
            let rows = rows.clamp(1, SPAN) - 1;
            for column in 0..columns.clamp(1, SPAN) {
                if texts.len() >= COLUMNS {
                    return texts;
                }
                let said = if column == 0 { text.as_str() } else { "" };
                let at = texts.len();
                if rows > 0 {
                    if self.below.len() <= at {
                        self.below.resize(at + 1, (0, String::new()));
                    }
                    if let Some(below) = self.below.get_mut(at) {
                        *below = (rows, said.to_owned());
                    }
                }
                texts.push(said.to_owned());
            }
        }
        self.covered(&mut texts);
        texts
    }

    /// Takes the columns that come next and are covered from above.
    fn covered(&mut self, texts: &mut Vec<String>) {
        while let Some((left, text)) = self.below.get_mut(texts.len()).filter(|(left, _)| *left > 0) {
            *left -= 1;
            texts.push(text.clone());
        }
    }
}
