//! What a provider's prompt cache would have read and written, by the rules the providers publish.
//!
//! Three kinds ([`CacheKind`]): Claude's marks, OpenAI's automatic prefixes, and the breakpoints of GPT-5.6 and later. All
//! compare prefixes of a request rendered as an ordered list of blocks (tools, system, messages); they differ in where an
//! entry may end, how an earlier one is found, and what a write costs. Tokens are estimated as a quarter of the bytes:
//! wrong in detail, the same every time.
//!
//! Not simulated: routing that spills to another machine above some requests per minute and key, and tokens of images,
//! which count as the bytes they are sent in.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use mica_ai::Dialect;
use mica_ai::model::{CacheFacts, CacheKind};
use mica_ai::request::CacheTtl;

use crate::ids::fnv;

mod prompt;
mod why;

pub use prompt::{Prompt, PromptBlock, Tier};
use why::Past;
pub use why::Reason;

/// Tokens of so many bytes, by the simulator's estimate.
pub fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// The facts assumed for a model nobody described: those of most models that are reached over the dialect.
pub fn usual(dialect: Dialect) -> CacheFacts {
    match dialect {
        Dialect::Messages => CacheFacts {
            kind: CacheKind::Marks,
            minimum: 1024,
            max_marks: 4,
            lookback: 20,
            ttl_minutes: vec![5, 60],
        },
        Dialect::Responses | Dialect::Chat => CacheFacts {
            kind: CacheKind::Prefix,
            minimum: 1024,
            max_marks: 0,
            lookback: 0,
            ttl_minutes: vec![10],
        },
    }
}

/// What the cache made of one request. `read + written + uncached` is the whole input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheReport {
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written to it and paid for as such. Automatic prefixes are written for nothing and not counted.
    pub written: u64,
    /// The part of `written` that lives for the longer time.
    pub written_long: u64,
    /// Tokens the cache had no part in.
    pub uncached: u64,
    /// Why no more was read.
    pub reason: Reason,
}

impl CacheReport {
    /// All input tokens.
    pub fn input(&self) -> u64 {
        self.read + self.written + self.uncached
    }

    /// The share of the input that was read from the cache, 0 to 1.
    pub fn hit_ratio(&self) -> f64 {
        if self.input() == 0 { 0.0 } else { self.read as f64 / self.input() as f64 }
    }
}

/// What a request will have written once its answer begins to stream.
#[derive(Debug)]
pub struct Ticket {
    writes: Vec<(u64, Duration)>,
    shard: u64,
}

/// The cache of one provider. Time is what the caller says it is.
#[derive(Debug, Default)]
pub struct CacheSim {
    entries: HashMap<u64, Entry>,
    /// Written by requests whose answers have not begun to stream: others cannot read them yet.
    unstarted: HashSet<u64>,
    past: VecDeque<Past>,
    written: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    ttl: Duration,
    expires: Duration,
    shard: u64,
    /// The order of writing, for rules that count back from the newest.
    order: u64,
}

/// How many requests are remembered to explain misses, and how many entries are kept.
const PAST: usize = 64;
const ENTRIES: usize = 1 << 14;
/// How many breakpoints back GPT-5.6 and later look.
const NEWEST_BREAKPOINTS: usize = 80;
/// The steps in which automatic prefixes match, in tokens.
const STEP: u64 = 128;

/// What one kind of cache found and will write.
#[derive(Default)]
struct Found {
    /// Tokens read.
    read: u64,
    /// Paid writes: tokens and whether they live long.
    paid: Vec<(u64, CacheTtl)>,
    writes: Vec<(u64, Duration)>,
    /// The prefix a follow-up would expect to read: tokens, blocks, and its key in the cache.
    covered: Option<Covered>,
}

/// The longest prefix that a request leaves in the cache.
#[derive(Debug, Clone, Copy)]
struct Covered {
    tokens: u64,
    blocks: usize,
    hash: u64,
}

impl CacheSim {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a request reads and writes. What it writes can be read by others after [`streaming`](Self::streaming).
    pub fn ask(&mut self, prompt: &Prompt, facts: &CacheFacts, now: Duration) -> (CacheReport, Ticket) {
        let shape = Shape::new(prompt, facts.kind);
        let found = match facts.kind {
            CacheKind::None => Found::default(),
            CacheKind::Marks => self.marks(prompt, &shape, facts, now),
            CacheKind::Prefix => self.prefix(prompt, &shape, facts, now),
            CacheKind::Breakpoints => self.breakpoints(prompt, &shape, facts, now),
        };
        let reason = self.reason(prompt, &shape, facts, &found, now);
        let written: u64 = found.paid.iter().map(|(tokens, _)| tokens).sum();
        let long =
            found.paid.iter().filter(|(_, ttl)| *ttl == CacheTtl::Long).map(|(tokens, _)| tokens).sum();
        let report = CacheReport {
            read: found.read,
            written,
            written_long: long,
            uncached: shape.total().saturating_sub(found.read + written),
            reason,
        };
        self.unstarted.extend(
            found.writes.iter().map(|(hash, _)| *hash).filter(|hash| !self.entries.contains_key(hash)),
        );
        self.remember(Past::new(prompt, &shape, found.covered));
        (report, Ticket { writes: found.writes, shard: shape.shard })
    }

    /// The answer to a request has begun to stream: its entries exist from now on.
    pub fn streaming(&mut self, ticket: Ticket, now: Duration) {
        if self.entries.len() > ENTRIES {
            self.entries.retain(|_, entry| entry.expires > now);
        }
        for (hash, ttl) in ticket.writes {
            self.unstarted.remove(&hash);
            self.written += 1;
            let order = self.written;
            let entry = self.entries.entry(hash).or_insert(Entry {
                ttl,
                expires: now + ttl,
                shard: ticket.shard,
                order,
            });
            let ttl = if entry.expires > now { ttl.max(entry.ttl) } else { ttl };
            *entry = Entry { ttl, expires: now + ttl, shard: ticket.shard, order };
        }
    }

    /// Asks and streams at once, for callers without concurrency.
    pub fn request(&mut self, prompt: &Prompt, facts: &CacheFacts, now: Duration) -> CacheReport {
        let (report, ticket) = self.ask(prompt, facts, now);
        self.streaming(ticket, now);
        report
    }

    fn is_live(&self, hash: u64, now: Duration) -> bool {
        self.entries.get(&hash).is_some_and(|entry| entry.expires > now)
    }

    fn refresh(&mut self, hash: u64, now: Duration) {
        if let Some(entry) = self.entries.get_mut(&hash).filter(|entry| entry.expires > now) {
            entry.expires = now + entry.ttl;
        }
    }

    /// Claude: an entry ends at a mark; each mark looks back some blocks for an earlier entry.
    fn marks(&mut self, prompt: &Prompt, shape: &Shape, facts: &CacheFacts, now: Duration) -> Found {
        let marks = shape.marks(prompt);
        let lookback = if facts.lookback == 0 { usize::MAX } else { usize::from(facts.lookback) };
        let hit = marks
            .iter()
            .filter_map(|(mark, _)| {
                let first = mark.saturating_sub(lookback - 1);
                (first..=*mark).rev().find(|at| self.is_live(shape.chain[*at], now))
            })
            .max();
        let mut found = Found::default();
        if let Some(hit) = hit {
            found.read = shape.tokens[hit];
            self.refresh(shape.chain[hit], now);
            for (mark, _) in marks.iter().filter(|(mark, _)| *mark < hit) {
                self.refresh(shape.chain[*mark], now);
            }
        }
        found.covered = hit.map(|hit| shape.covered(hit));
        let mut start = found.read;
        for (mark, ttl) in marks.iter().filter(|(mark, _)| hit.is_none_or(|hit| *mark > hit)) {
            if shape.tokens[*mark] < facts.minimum {
                continue;
            }
            found.paid.push((shape.tokens[*mark] - start, *ttl));
            start = shape.tokens[*mark];
            found.writes.push((shape.chain[*mark], lifetime(facts, *ttl)));
            found.covered = Some(shape.covered(*mark));
        }
        found
    }

    /// GPT-5.6 and later: entries end at explicit marks and, unless told otherwise, at the end; any of the newest
    /// breakpoints is found again when the request begins with exactly that prefix.
    fn breakpoints(&mut self, prompt: &Prompt, shape: &Shape, facts: &CacheFacts, now: Duration) -> Found {
        let mut marks = shape.marks(prompt);
        let last = shape.chain.len().checked_sub(1);
        if let Some(last) =
            last.filter(|last| !prompt.explicit_only && marks.last().is_none_or(|(at, _)| at < last))
        {
            marks.push((last, CacheTtl::Short));
        }
        let mut orders: Vec<u64> = self
            .entries
            .values()
            .filter(|entry| entry.shard == shape.shard)
            .map(|entry| entry.order)
            .collect();
        orders.sort_unstable_by(|left, right| right.cmp(left));
        let oldest = orders.get(NEWEST_BREAKPOINTS - 1).copied().unwrap_or(0);
        let is_found = |hash: &u64| {
            self.entries.get(hash).is_some_and(|entry| entry.expires > now && entry.order >= oldest)
        };
        let hit = shape.chain.iter().rposition(is_found);
        let mut found = Found { covered: hit.map(|hit| shape.covered(hit)), ..Found::default() };
        if let Some(hit) = hit {
            found.read = shape.tokens[hit];
            self.refresh(shape.chain[hit], now);
        }
        let mut start = found.read;
        for (mark, _) in marks.iter().filter(|(mark, _)| hit.is_none_or(|hit| *mark > hit)) {
            if shape.tokens[*mark] < facts.minimum {
                continue;
            }
            found.paid.push((shape.tokens[*mark] - start, CacheTtl::Short));
            start = shape.tokens[*mark];
            found.writes.push((shape.chain[*mark], lifetime(facts, CacheTtl::Short)));
            found.covered = Some(shape.covered(*mark));
        }
        found
    }

    /// OpenAI before 5.6: prefixes of the minimum and then of every further step match by themselves, within the
    /// shard that the cache key leads to.
    fn prefix(&mut self, prompt: &Prompt, shape: &Shape, facts: &CacheFacts, now: Duration) -> Found {
        let steps = step_hashes(prompt, shape.seed, facts.minimum);
        let ttl = lifetime(facts, CacheTtl::Short);
        let hit = steps.iter().rposition(|(_, hash)| self.is_live(*hash, now));
        if let Some(hit) = hit {
            for (_, hash) in &steps[..=hit] {
                self.refresh(*hash, now);
            }
        }
        Found {
            read: hit.map_or(0, |hit| steps[hit].0),
            paid: Vec::new(),
            writes: steps.iter().map(|(_, hash)| (*hash, ttl)).collect(),
            covered: steps.last().map(|(tokens, hash)| Covered {
                tokens: *tokens,
                blocks: shape.chain.len(),
                hash: *hash,
            }),
        }
    }

    fn remember(&mut self, past: Past) {
        if self.past.len() >= PAST {
            self.past.pop_front();
        }
        self.past.push_back(past);
    }
}

fn lifetime(facts: &CacheFacts, ttl: CacheTtl) -> Duration {
    let minutes = match ttl {
        CacheTtl::Short => facts.ttl_minutes.first(),
        CacheTtl::Long => facts.ttl_minutes.last(),
    };
    Duration::from_secs(u64::from(minutes.copied().unwrap_or(5)) * 60)
}

/// Hashes of the prefixes of a request that automatic caching can match, shortest first.
fn step_hashes(prompt: &Prompt, seed: u64, minimum: u64) -> Vec<(u64, u64)> {
    let minimum = minimum.max(STEP);
    let (mut steps, mut hash, mut seen, mut next) = (Vec::new(), seed, 0u64, minimum);
    for block in &prompt.blocks {
        let mut rest = block.text.as_bytes();
        while !rest.is_empty() {
            let until = usize::try_from(next * 4 - seen).unwrap_or(usize::MAX).min(rest.len());
            // Hashed in one piece or in several, the result must be the same: byte by byte, without the seed's mixing.
            for byte in &rest[..until] {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            seen += until as u64;
            rest = &rest[until..];
            if seen == next * 4 {
                steps.push((next, hash));
                next += STEP;
            }
        }
    }
    steps
}

/// A request as the cache sees it: a hash and a size for every prefix that ends with a block.
struct Shape {
    seed: u64,
    shard: u64,
    chain: Vec<u64>,
    tokens: Vec<u64>,
    digests: Vec<u64>,
}

impl Shape {
    fn new(prompt: &Prompt, kind: CacheKind) -> Self {
        // Claude has no routing key. Elsewhere another key is another machine.
        let key = if kind == CacheKind::Marks { None } else { prompt.key.as_deref() };
        let seed = fnv(fnv(7, prompt.model.as_bytes()), key.unwrap_or_default().as_bytes());
        let (mut hash, mut bytes) = (seed, 0);
        let (mut chain, mut tokens, mut digests) = (Vec::new(), Vec::new(), Vec::new());
        let mut in_messages = false;
        for block in &prompt.blocks {
            if block.tier == Tier::Message && !in_messages {
                in_messages = true;
                // Changing how tools are chosen or how the model thinks costs the messages, not tools and system.
                hash = fnv(hash, prompt.settings.as_bytes());
            }
            hash = fnv(hash, block.text.as_bytes());
            bytes += block.text.len();
            chain.push(hash);
            tokens.push(self::tokens(bytes));
            digests.push(fnv(block.tier as u64, block.text.as_bytes()));
        }
        Self { seed, shard: seed, chain, tokens, digests }
    }

    fn total(&self) -> u64 {
        self.tokens.last().copied().unwrap_or(0)
    }

    fn marks(&self, prompt: &Prompt) -> Vec<(usize, CacheTtl)> {
        prompt.blocks.iter().enumerate().filter_map(|(at, block)| block.mark.map(|ttl| (at, ttl))).collect()
    }

    fn covered(&self, at: usize) -> Covered {
        Covered { tokens: self.tokens[at], blocks: at + 1, hash: self.chain[at] }
    }
}

#[cfg(test)]
mod tests;
