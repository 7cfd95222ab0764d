//! The message that a compaction leaves at the beginning of the window, and reading it back.
//!
//! It is told apart by its id, which nobody can type; so a summary is found again after a restart, and the next one
//! updates it instead of summarising a summary.

use mica_ai::id::MessageId;
use mica_ai::{Content, Message, User};

use super::ledger::FileLedger;
use super::summary::Summary;

const ID: &str = "compaction/";
const OPEN: &str = "<summary note=\"from the system: what was said before this point, summarised\">";
const CLOSE: &str = "</summary>";

/// A summary and a ledger as a message.
pub fn write(summary: &Summary, ledger: &FileLedger) -> User {
    let words = summary.render().replace(CLOSE, "&lt;/summary>");
    let mut content = vec![Content::text(format!("{OPEN}\n{words}\n{CLOSE}"))];
    if !ledger.is_empty() {
        content.push(Content::text(ledger.render()));
    }
    User { id: MessageId::from(format!("{ID}{}", MessageId::fresh())), content }
}

/// Whether a message is one of these.
pub fn is_checkpoint(message: &Message) -> bool {
    matches!(message, Message::User(_)) && message.id().as_str().starts_with(ID)
}

/// The summary and the ledger of such a message.
pub fn read(message: &Message) -> Option<(Summary, FileLedger)> {
    let Message::User(user) = message else { return None };
    if !is_checkpoint(message) {
        return None;
    }
    let text = |index: usize| match user.content.get(index) {
        Some(Content::Text { text }) => text.as_str(),
        Some(Content::Image(_)) | None => "",
    };
    let words = text(0).strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
    Some((Summary::parse(words).unwrap_or_default(), FileLedger::parse(text(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let summary =
            Summary { goal: "Ship </summary> it.".into(), done: "- a".into(), ..Summary::default() };
        let ledger = FileLedger { read: vec!["b".into()], changed: vec!["a.xml".into()] };
        let message: Message = write(&summary, &ledger).into();
        let (read_summary, read_ledger) = read(&message).unwrap();
        assert_eq!(read_summary.goal, "Ship &lt;/summary> it.", "it cannot leave its fence");
        assert_eq!((read_summary.done.as_str(), read_ledger), ("- a", ledger));
        let Message::User(mut typed) = message else { panic!() };
        typed.id = "typed".into();
        assert_eq!(read(&typed.into()), None, "what somebody types is not a summary");
    }
}
