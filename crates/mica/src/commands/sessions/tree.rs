//! `mica sessions tree`: what was said, where it forks, and where the conversation stands.

use std::fmt::Write as _;

use jiff::Timestamp;
use mica_session::{EntryId, Kind, Row, Session, Summary};
use serde_json::{Value, json};

use super::list::{self, age, clip};

/// Which entries have a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// What was said, what stands for it, and what people marked.
    Spoken,
    /// Everything, also what only the program reads.
    All,
}

/// The tree for people.
pub fn text(session: &Session, which: Rows, columns: usize) -> String {
    let tree = session.tree();
    let rows = tree.rows();
    let shown: Vec<&Row> =
        rows.iter().filter(|row| which == Rows::All || row.label.is_some() || speaks(row.kind)).collect();
    // The leaf is often a mark that a run has ended: then the conversation stands at the last row before it.
    let leaf = shown.iter().rev().find(|row| row.on_branch).map(|row| row.id);
    let live = tree.live(tree.leaf());
    let mut out = String::new();
    let name = session.name().map(|name| format!("  {name}")).unwrap_or_default();
    let _ = writeln!(out, "{}{name}", session.header().id);
    for row in &shown {
        let mark = match row {
            row if Some(row.id) == leaf => '>',
            row if row.on_branch => '*',
            _ => ' ',
        };
        let head =
            format!("{mark} {}  {:indent$}{:<9} ", row.id.short(), "", who(row.kind), indent = row.depth * 2);
        let mut tail = row.label.as_ref().map(|label| format!("  [{label}]")).unwrap_or_default();
        if Some(row.id) == live.compaction {
            tail.push_str("  (in force)");
        }
        let room = columns.saturating_sub(head.chars().count() + tail.chars().count()).max(12);
        let _ = writeln!(out, "{}{tail}", format!("{head}{}", clip(&row.preview, room)).trim_end());
    }
    if tree.is_empty() {
        out.push_str("the session is empty\n");
    } else if leaf.is_none() {
        out.push_str("> the conversation stands before its first entry\n");
    }
    out
}

/// The subagents that a session has sent and that are still kept.
pub fn children(children: &[Summary], now: Timestamp, columns: usize) -> String {
    let mut out = String::new();
    if !children.is_empty() {
        out.push_str("subagents (`mica sessions show ID`):\n");
    }
    for child in children {
        let turns = child.turns.map_or("?".to_owned(), |turns| turns.to_string());
        let head = format!("  {}  {:>6}  {turns:>3} turns  ", child.id.short(), age(now, child.changed));
        let room = columns.saturating_sub(head.chars().count()).max(12);
        let _ = writeln!(out, "{head}{}", clip(child.title(), room));
    }
    out
}

/// The tree for programs: every entry of the conversation, depth first, and the subagents that are still kept.
pub fn value(session: &Session, children: &[Summary]) -> Value {
    let tree = session.tree();
    let live: Vec<EntryId> = tree.live(tree.leaf()).ids().collect();
    let entries: Vec<Value> = tree
        .rows()
        .iter()
        .map(|row| {
            let node = tree.node(row.id);
            json!({
                "id": row.id,
                "parent": node.and_then(|node| node.parent),
                "time": node.map(|node| node.time),
                "kind": row.kind,
                "depth": row.depth,
                "preview": row.preview,
                "label": row.label,
                "on_branch": row.on_branch,
                "live": live.contains(&row.id),
                "leaf": row.is_leaf,
            })
        })
        .collect();
    json!({
        "session": session.header().id,
        "name": session.name(),
        "project": session.header().project,
        "leaf": tree.leaf(),
        "entries": entries,
        "subagents": list::values(children),
    })
}

/// Whether people read such entries.
pub fn speaks(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::User
            | Kind::Assistant
            | Kind::ToolResult
            | Kind::Compaction
            | Kind::BranchSummary
            | Kind::ModelChange
            | Kind::Unknown
            | Kind::Malformed
    )
}

/// Who says an entry, or what it is.
pub fn who(kind: Kind) -> &'static str {
    match kind {
        Kind::User => "you",
        Kind::Assistant => "mica",
        Kind::ToolResult => "tool",
        Kind::ModelChange => "model",
        Kind::ModeChange => "mode",
        Kind::Compaction => "compacted",
        Kind::BranchSummary => "left",
        Kind::Label => "label",
        Kind::Name => "name",
        Kind::Custom => "note",
        Kind::RunStart => "run",
        Kind::RunEnd => "run end",
        Kind::TurnOpen => "turn",
        Kind::Leaf => "leaf",
        Kind::Unknown => "unknown",
        Kind::Malformed => "damaged",
    }
}
