//! The objects of a document, and its pages.
//!
//! Objects are found by looking for them from the first byte to the last, not by the table at the end: that table is what
//! is broken most often, and what lies about the rest when somebody means harm. Of two with the same number the later
//! one counts, as it does for documents that were saved again.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Budget;
use super::filter;
use super::object::{Object, Reader, Table, is_blank};

/// References that lead to references.
const HOPS: usize = 8;
/// How deep the tree of pages may be.
const DEPTH: usize = 32;
/// Bytes of one object, without its stream.
const OBJECT: usize = 1 << 20;
/// Pages of a document at most.
const PAGES: usize = 50_000;

/// Where an object is.
#[derive(Clone)]
enum Spot {
    /// In the file, behind `obj`.
    File(usize),
    /// In an unpacked stream of objects.
    Packed(Rc<[u8]>, usize),
}

/// A document.
pub(super) struct Document<'a> {
    bytes: &'a [u8],
    spots: HashMap<u32, Spot>,
}

/// A page, while it is looked at: its own table, and the resources it may have from above, which may be a reference. Of the
/// many pages of a document none is kept: a small file can have tens of thousands that all refer to one large table.
pub(super) struct Page<'a> {
    pub(super) table: &'a Table,
    pub(super) resources: &'a Object,
}

/// Looks at a page. `false` ends the walk.
type Look<'a, 'b> = dyn FnMut(&Page<'_>, &mut Budget<'b>) -> bool + 'a;

/// A walk over the tree of pages.
struct Walk<'a, 'b, 'c> {
    seen: HashSet<u32>,
    /// Pages until now.
    pages: usize,
    is_over: bool,
    budget: &'a mut Budget<'b>,
    look: &'a mut Look<'c, 'b>,
}

impl Walk<'_, '_, '_> {
    fn page(&mut self, table: &Table, resources: &Object) {
        self.pages += 1;
        let goes_on = (self.look)(&Page { table, resources }, self.budget);
        self.is_over = self.is_over || !goes_on || self.pages >= PAGES;
    }
}

/// A table, and the bytes behind it when it is that of a stream.
struct Found<'a> {
    object: Object,
    stream: Option<&'a [u8]>,
}

impl<'a> Document<'a> {
    pub(super) fn open(bytes: &'a [u8], budget: &mut Budget<'_>) -> Self {
        let mut document = Self { bytes, spots: HashMap::new() };
        let mut from = 0;
        let finder = memchr::memmem::Finder::new(b"obj");
        while let Some(found) = bytes.get(from..).and_then(|rest| finder.find(rest)) {
            let at = from + found;
            from = at + 3;
            if !budget.step() || document.spots.len() >= budget.bounds.objects {
                break;
            }
            if let Some(number) = bytes.get(..at).and_then(number_before) {
                document.spots.insert(number, Spot::File(from));
            }
        }
        document.open_packed(budget);
        document
    }

    /// Finds the objects that are in streams.
    fn open_packed(&mut self, budget: &mut Budget<'_>) {
        let mut holders: Vec<usize> = self
            .spots
            .values()
            .filter_map(|spot| if let Spot::File(at) = spot { Some(*at) } else { None })
            .filter(|at| {
                let head = self.bytes.get(*at..(*at + 512).min(self.bytes.len())).unwrap_or_default();
                memchr::memmem::find(head, b"/ObjStm").is_some()
            })
            .collect();
        holders.sort_unstable();
        let mut packed: HashMap<u32, Spot> = HashMap::new();
        for at in holders {
            let found = self.at_file(at);
            let (Object::Table(table), Some(raw)) = (&found.object, found.stream) else { continue };
            if !budget.long_step() {
                break;
            }
            if !table.is("Type", "ObjStm") {
                continue;
            }
            let Some(content) = filter::unpack(table, raw, budget.room()) else { continue };
            budget.unpack(content.len());
            let first = table.get("First").and_then(Object::size).unwrap_or(0);
            let count = table.get("N").and_then(Object::size).unwrap_or(0);
            let content: Rc<[u8]> = content.into();
            let mut reader = Reader::new(&content, 0);
            for _ in 0..count {
                if !budget.step() || packed.len() >= budget.bounds.objects {
                    break;
                }
                let (Some(Object::Number(number)), Some(Object::Number(offset))) =
                    (reader.next(), reader.next())
                else {
                    break;
                };
                if number >= 0.0 && offset >= 0.0 {
                    packed.insert(
                        number as u32,
                        Spot::Packed(Rc::clone(&content), first.saturating_add(offset as usize)),
                    );
                }
            }
        }
        for (number, spot) in packed {
            self.spots.entry(number).or_insert(spot);
        }
    }

    /// Whether its texts are encrypted. They are not read then: without the password they mean nothing.
    pub(super) fn is_encrypted(&self) -> bool {
        memchr::memmem::find_iter(self.bytes, b"/Encrypt").any(|at| {
            let start = at + b"/Encrypt".len();
            let value = self.bytes.get(start..(start + 512).min(self.bytes.len())).unwrap_or_default();
            match Reader::new(value, 0).next() {
                Some(Object::Reference(number)) => self.spots.contains_key(&number),
                Some(Object::Table(table)) => table.get("Filter").is_some(),
                _ => false,
            }
        })
    }

    fn at_file(&self, at: usize) -> Found<'a> {
        let mut reader = self.reader(at);
        let object = reader.next().unwrap_or_default();
        let Object::Table(table) = &object else { return Found { object, stream: None } };
        reader.skip_blanks();
        let rest = self.bytes.get(reader.at..).unwrap_or_default();
        let Some(behind) = rest.strip_prefix(b"stream") else { return Found { object, stream: None } };
        let behind = behind.strip_prefix(b"\r\n").or_else(|| behind.strip_prefix(b"\n")).unwrap_or(behind);
        let said = table.get("Length").and_then(|length| self.resolved(length).size());
        // The length is believed when the end is where it says.
        let honest = said.filter(|length| {
            let tail = behind.get(*length..(*length + 20).min(behind.len())).unwrap_or_default();
            memchr::memmem::find(tail, b"endstream").is_some()
        });
        let length = honest.or_else(|| memchr::memmem::find(behind, b"endstream")).unwrap_or(behind.len());
        Found { stream: behind.get(..length), object }
    }

    /// Reads one object; of one that is larger than any should be, the beginning.
    fn reader(&self, at: usize) -> Reader<'a> {
        Reader::new(self.bytes.get(..at.saturating_add(OBJECT)).unwrap_or(self.bytes), at)
    }

    fn spot(&self, number: u32) -> Found<'a> {
        match self.spots.get(&number) {
            None => Found { object: Object::Null, stream: None },
            Some(Spot::File(at)) => self.at_file(*at),
            Some(Spot::Packed(content, at)) => {
                let object = Reader::new(content, *at).next().unwrap_or_default();
                Found { object, stream: None }
            }
        }
    }

    /// An object, or what it refers to.
    pub(super) fn resolved(&self, object: &Object) -> Object {
        let mut object = object.clone();
        for _ in 0..HOPS {
            let Object::Reference(number) = object else { return object };
            // Lengths of streams are numbers: reading one does not read a stream again.
            object = match self.spots.get(&number) {
                Some(Spot::File(at)) => self.reader(*at).next().unwrap_or_default(),
                _ => self.spot(number).object,
            };
        }
        Object::Null
    }

    /// What a name in a table stands for.
    pub(super) fn get(&self, table: &Table, name: &str) -> Object {
        table.get(name).map(|object| self.resolved(object)).unwrap_or_default()
    }

    /// The table that a name stands for; an empty one otherwise.
    pub(super) fn table(&self, table: &Table, name: &str) -> Table {
        match self.get(table, name) {
            Object::Table(table) => table,
            _ => Table::default(),
        }
    }

    /// The table and the content of a stream.
    pub(super) fn stream(&self, object: &Object, budget: &mut Budget<'_>) -> Option<(Table, Vec<u8>)> {
        let Object::Reference(number) = object else { return None };
        let Found { object: Object::Table(table), stream: Some(raw) } = self.spot(*number) else {
            return None;
        };
        if !budget.long_step() || budget.is_over() {
            return None;
        }
        let table = self.with_settings(table);
        let content = filter::unpack(&table, raw, budget.room())?;
        // One byte more, so that reading nothing over and over ends too.
        budget.unpack(content.len() + 1);
        Some((table, content))
    }

    /// A table whose filters are written out rather than referred to.
    fn with_settings(&self, table: Table) -> Table {
        match table.get("Filter") {
            Some(Object::Reference(_)) => {
                let written = self.get(&table, "Filter");
                table.with("Filter", written)
            }
            _ => table,
        }
    }

    /// Looks at the pages, in order, until enough were seen. Answers how many that are.
    pub(super) fn pages<'b>(&self, budget: &mut Budget<'b>, look: &mut Look<'_, 'b>) -> usize {
        let root = self.root(budget);
        let mut walk = Walk { seen: HashSet::new(), pages: 0, is_over: false, budget, look };
        if let Some(top) = root.as_ref().and_then(|root| root.get("Pages")) {
            self.below(top, &Object::Null, DEPTH, &mut walk);
        }
        if walk.pages == 0 {
            // The tree is broken; the pages may be there all the same.
            let mut numbers: Vec<u32> = self.spots.keys().copied().collect();
            numbers.sort_unstable();
            for number in numbers {
                if walk.is_over || !walk.budget.long_step() {
                    break;
                }
                if let Object::Table(table) = self.spot(number).object
                    && table.is("Type", "Page")
                {
                    walk.page(&table, table.get("Resources").unwrap_or(&Object::Null));
                }
            }
        }
        walk.pages
    }

    fn root(&self, budget: &mut Budget<'_>) -> Option<Table> {
        let named = memchr::memmem::rfind_iter(self.bytes, b"/Root").take(16).find_map(|at| {
            let object = self.reader(at + b"/Root".len()).next()?;
            self.resolved(&object).table().filter(|table| table.get("Pages").is_some()).cloned()
        });
        named.or_else(|| {
            let mut numbers: Vec<&u32> = self.spots.keys().collect();
            numbers.sort_unstable();
            numbers.into_iter().rev().take_while(|_| budget.long_step()).find_map(|number| {
                self.spot(*number).object.table().filter(|table| table.is("Type", "Catalog")).cloned()
            })
        })
    }

    fn below(&self, node: &Object, above: &Object, depth: usize, walk: &mut Walk<'_, '_, '_>) {
        if let Object::Reference(number) = node
            && !walk.seen.insert(*number)
        {
            return;
        }
        if depth == 0 || walk.is_over || !walk.budget.long_step() {
            return;
        }
        let Object::Table(table) = self.resolved(node) else { return };
        let resources = table.get("Resources").unwrap_or(above);
        match self.get(&table, "Kids") {
            Object::List(kids) => {
                for kid in &kids {
                    if walk.is_over {
                        return;
                    }
                    self.below(kid, resources, depth - 1, walk);
                }
            }
            _ => walk.page(&table, resources),
        }
    }
}

/// The number of an object whose `obj` is behind these bytes: `12 0 obj`.
fn number_before(bytes: &[u8]) -> Option<u32> {
    let digits_before = |bytes: &'_ [u8]| {
        let blank = bytes.iter().rev().take_while(|byte| is_blank(**byte)).count();
        let end = bytes.len() - blank;
        let digits = bytes.get(..end)?.iter().rev().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        (blank > 0 && digits > 0).then_some((end - digits, end))
    };
    let (generation, _) = digits_before(bytes)?;
    let (start, end) = digits_before(bytes.get(..generation)?)?;
    std::str::from_utf8(bytes.get(start..end)?).ok()?.parse().ok()
}
