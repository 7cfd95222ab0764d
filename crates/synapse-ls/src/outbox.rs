//! What goes to the client.
//!
//! Messages wait in a bounded channel for the thread that writes. When it is full, whoever sends waits for the client
//! to read; when the client is gone, messages are dropped, and the main loop learns of it from the writer.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde::Serialize;
use serde_json::{Value, json};

use crate::rpc::{self, Refused};

/// How many messages may wait.
const WAITING: usize = 1024;

/// Where messages to the client are put. Clones put them in the same channel.
#[derive(Clone)]
pub(crate) struct Outbox {
    channel: SyncSender<String>,
}

impl Outbox {
    /// An outbox, and where its messages come out.
    pub(crate) fn new() -> (Self, Receiver<String>) {
        let (channel, messages) = sync_channel(WAITING);
        (Self { channel }, messages)
    }

    /// Answers a request.
    pub(crate) fn respond(&self, id: &Value, answer: Result<Value, Refused>) {
        self.send(&rpc::response(id, answer));
    }

    /// Tells the client something.
    pub(crate) fn notify(&self, method: &str, params: impl Serialize) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Asks the client for something. The answer is not waited for.
    pub(crate) fn request(&self, id: &str, method: &str, params: impl Serialize) {
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        // Some clients take a request without parameters only when the field is absent.
        if message.get("params").is_some_and(Value::is_null)
            && let Some(message) = message.as_object_mut()
        {
            message.remove("params");
        }
        self.send(&message);
    }

    fn send(&self, message: &Value) {
        // A failure means that the writer is gone, and with it the client.
        self.channel.send(message.to_string()).ok();
    }
}

/// Writes messages until there are no more, or until the client does not take them. Answers whether it took all.
pub(crate) fn write_all(mut output: impl Write, messages: &Receiver<String>) -> bool {
    for message in messages {
        if rpc::write(&mut output, &message).is_err() {
            return false;
        }
    }
    true
}
