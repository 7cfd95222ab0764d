//! Cards in what agents say, for people: what their ids stand for is looked up on the desk, because the conversation that
//! saw them is not open here.

use std::sync::Arc;

use anyhow::Result;
use mica_domain::Loose;
use mica_domain::cards::{Cards, Known, Segment};
use pack_desk::Office;

use super::places;

/// What an agent said, with its cards as rows.
pub fn for_people(office: &Office, who: &str, text: &str) -> String {
    shown(office, who, text).unwrap_or_else(|_| text.to_owned())
}

fn shown(office: &Office, who: &str, text: &str) -> Result<String> {
    let kinds = office.desk(who)?.cards();
    let cards = Cards::open(kinds, Arc::new(Loose::default()), Arc::clone(&office.means().now))?;
    let mut shown = cards.show_text(text);
    for segment in &mut shown.segments {
        let Segment::Card { card, .. } = segment else { continue };
        for item in card.items.iter_mut().filter(|item| item.state == Known::Unavailable) {
            if let Ok(found) = places::reference(office, &item.id) {
                (item.state, item.line) = (Known::Known, found.label);
            }
        }
    }
    Ok(shown.as_text())
}
