//! The recorded answers in `chat/fixtures`.

use crate::dialect::fixtures::check_folder;
use crate::message::Dialect;

#[test]
fn recorded_answers_come_to_what_is_expected() {
    check_folder(Dialect::Chat, "src/dialect/chat/fixtures");
}
