//! The cards of a small desk, for tests: written as data, as a product may.

use std::sync::{Arc, LazyLock};

use serde_json::json;

use super::{Cards, Kinds, Ready};
use crate::side::{Loose, Side};

/// Records, threads, tasks and drafts.
pub(crate) fn kinds() -> Kinds {
    serde_json::from_value(json!({
        "things": [
            { "name": "record", "line": { "name": "name", "details": ["stage"] }, "from": ["search_records", "get_record"] },
            { "name": "thread", "line": { "name": "subject", "details": ["sender"] }, "from": ["find_threads"] },
            { "name": "task", "line": { "name": "title", "details": ["due"] } },
            { "name": "draft", "line": { "name": "subject" } },
        ],
        "cards": [
            { "name": "record-card", "payload": { "one": { "of": "record" } }, "about": "one record in full" },
            { "name": "record-list", "payload": { "many": { "of": "record" } }, "about": "records that were found" },
            { "name": "thread-list", "payload": { "many": { "of": "thread" } } },
            { "name": "task-list", "payload": { "many": { "of": "task" } } },
            { "name": "draft-list", "payload": { "many": { "of": "draft" } }, "from": ["list_drafts"] },
            { "name": "table", "payload": { "data": {
                "schema": {
                    "type": "object",
                    "required": ["columns", "rows"],
                    "additionalProperties": false,
                    "properties": {
                        "columns": { "type": "array", "items": { "type": "string" } },
                        "rows": { "type": "array", "maxItems": 20, "items": { "type": "array", "items": { "type": "string" } } },
                    },
                },
                "example": { "columns": ["Name"], "rows": [["ACME"]] },
            } }, "about": "figures to compare" },
        ],
        "probes": [
            {
                "thing": "record", "id": ["recordId", "id"], "id_form": { "pair_of": ["companies", "contacts"] }, "required": ["name"],
                "fields": { "name": ["name"], "stage": ["stage", "fields.stage"], "secret": ["secret"] },
            },
            {
                "thing": "draft", "id": ["id"], "required": ["subject", "to"],
                "values": { "kind": { "one_of": ["reply", "standalone"] }, "to": "list" },
                "fields": { "subject": ["subject"], "to": ["to"] },
            },
            {
                "thing": "thread", "id": ["threadId", "id"], "required": ["subject", "lastMessageAt"],
                "values": { "lastMessageAt": "time" },
                "fields": { "subject": ["subject"], "sender": ["from.name", "from"], "at": ["lastMessageAt"] },
            },
            {
                "thing": "task", "id": ["taskId"], "required": ["title"],
                "fields": { "title": ["title"], "due": ["due"] },
            },
            {
                "thing": "task", "id": ["id"], "under": ["tasks", "task"], "required": ["title", "status"], "forbidden": ["subject", "slug"],
                "values": { "status": { "one_of": ["open", "done"] } },
                "fields": { "title": ["title"], "due": ["due"] },
            },
        ],
    }))
    .unwrap()
}

pub(crate) fn ready() -> Arc<Ready> {
    static READY: LazyLock<Arc<Ready>> = LazyLock::new(|| Arc::new(kinds().ready().unwrap()));
    Arc::clone(&READY)
}

/// The cards of a session that is kept there, at a time that is told in seconds.
pub(crate) fn cards(side: &Arc<dyn Side>, at: i64) -> Cards {
    let now = Arc::new(move || jiff::Timestamp::from_second(at).unwrap());
    Cards::open(kinds(), Arc::clone(side), now).unwrap()
}

pub(crate) fn loose() -> Arc<dyn Side> {
    Arc::new(Loose::default())
}
