//! Where the member is, what is in front of them, and what the copilot can do there.

use anyhow::Result;
use mica_agent::ToolSpec;
use mica_domain::refs::Ref;
use mica_domain::resolve;
use pack_desk::Desk;

use super::super::places;
use super::super::room::Room;
use super::super::screen::row;

/// Goes to a page, or says which one it is.
pub fn page(room: &mut Room, name: &str) -> Result<String> {
    match name {
        "" => {}
        "none" => (room.page, room.opened) = (None, Vec::new()),
        name => {
            let page = places::page(name)?;
            if room.page.as_deref() != Some(page) {
                room.opened.clear();
            }
            room.page = Some(page.to_owned());
        }
    }
    Ok(place(room))
}

/// Where somebody is, in a line.
pub fn place(room: &Room) -> String {
    let open: Vec<String> = room.opened.iter().map(named).collect();
    let open = if open.is_empty() { String::new() } else { format!(", open: {}", open.join(", ")) };
    format!(
        "on {}{open}",
        room.page.as_deref().map_or("no page".to_owned(), |page| format!("the page {page}"))
    )
}

fn named(one: &Ref) -> String {
    format!("{} {}", row(&one.id), row(one.label.as_deref().unwrap_or_default())).trim_end().to_owned()
}

/// Opens something on the page.
pub fn open(room: &mut Room, text: &str) -> Result<String> {
    let one = places::reference(&room.office, text)?;
    let said = format!("open: {}", named(&one));
    room.open(one);
    Ok(said)
}

/// Closes everything.
pub fn close(room: &mut Room) -> String {
    room.opened.clear();
    "nothing is open".to_owned()
}

/// Mentions something in the next line.
pub fn mention(room: &mut Room, text: &str) -> Result<String> {
    let one = places::reference(&room.office, text)?;
    let mut mentioned = Ref::mentioned(one.kind, one.id);
    mentioned.label = one.label;
    let said = format!("the next line mentions {}", named(&mentioned));
    room.mentioned.push(mentioned);
    Ok(said)
}

/// What the copilot will have with the next line: the tools of this page that this member has a right to.
pub fn tools(room: &Room) -> Result<String> {
    let rights = room.person()?.rights;
    let acts = Desk::acts();
    let may = |spec: &ToolSpec| {
        let needs = acts.iter().find(|act| act.tool == spec.name).and_then(|act| act.needs.as_deref());
        needs.is_none_or(|right| rights.allow(right))
    };
    let resolved = resolve(&room.copilot.domain().capabilities(), room.page.as_deref(), &may)?;
    let mut out = format!("{}:\n", place(room));
    let widest = resolved.tools.iter().map(|tool| tool.spec().name.len()).max().unwrap_or_default();
    for tool in resolved.tools.iter() {
        let spec = tool.spec();
        let first = spec.description.split(". ").next().unwrap_or_default().trim_end_matches('.');
        out.push_str(&format!("  {:widest$}  {}\n", spec.name, row(first)));
    }
    Ok(out)
}
