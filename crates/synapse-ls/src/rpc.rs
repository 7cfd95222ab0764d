//! Messages of JSON-RPC and their frames: `Content-Length: n`, a blank line, n bytes of JSON.
//!
//! Invariant: what cannot be read as a message becomes [`Incoming::Malformed`] and the next message is found, as long
//! as the frames can be told apart. Only the end of the input, or a failure to read it, ends the reading.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

/// The code for a text that is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The code for JSON that is no message.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// The code for a method that does not exist.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// The code for parameters that do not fit.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The code for a failure of the server.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// The code for requests before `initialize`.
pub(crate) const SERVER_NOT_INITIALIZED: i32 = -32002;
/// The code for a request that the client took back.
pub(crate) const REQUEST_CANCELLED: i32 = -32800;
/// The code for a request that is in order and cannot be done.
pub(crate) const REQUEST_FAILED: i32 = -32803;

/// The largest message that is read; more than any buffer of an editor.
const MOST_BYTES: u64 = 512 * 1024 * 1024;
/// The longest line of a frame's head.
const LONGEST_LINE: u64 = 8 * 1024;

/// A message from the client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request {
        /// A number or a text.
        id: Value,
        /// What is asked.
        method: String,
        /// With what.
        params: Value,
    },
    /// It wants none.
    Notification {
        /// What happened.
        method: String,
        /// With what.
        params: Value,
    },
    /// The answer to a request of ours.
    Response {
        /// Which.
        id: Value,
        /// Whether it went well.
        failed: bool,
    },
    /// It cannot be understood.
    Malformed {
        /// The code of the answer.
        code: i32,
        /// What is wrong.
        message: String,
        /// The id, when that much could be read.
        id: Value,
    },
}

/// A failure that is answered to a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refused {
    /// The code.
    pub(crate) code: i32,
    /// What is wrong, for people.
    pub(crate) message: String,
}

impl Refused {
    /// The request is in order and cannot be done, for this reason.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { code: REQUEST_FAILED, message: message.into() }
    }
}

/// Reads the next message; nothing at the end of the input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length: Option<u64> = None;
    let mut any = false;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            if any {
                break;
            }
            continue;
        }
        any = true;
        if let Some((name, value)) = text.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let Some(length) = length else {
        return Ok(Some(malformed(PARSE_ERROR, "a message without Content-Length".to_owned())));
    };
    if length > MOST_BYTES {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        let message = format!("a message of {length} bytes; at most {MOST_BYTES} are read");
        return Ok(Some(malformed(INVALID_REQUEST, message)));
    }
    let mut body = Vec::new();
    if input.by_ref().take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(None);
    }
    Ok(Some(understand(&body)))
}

fn malformed(code: i32, message: String) -> Incoming {
    Incoming::Malformed { code, message, id: Value::Null }
}

fn understand(body: &[u8]) -> Incoming {
    let mut value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => return malformed(PARSE_ERROR, format!("the message is not JSON: {error}")),
    };
    let Some(object) = value.as_object_mut() else {
        return malformed(INVALID_REQUEST, "the message is not an object".to_owned());
    };
    let id = object.remove("id").unwrap_or(Value::Null);
    let failed = object.contains_key("error");
    let known_id = id.is_number() || id.is_string();
    let params = object.remove("params").unwrap_or(Value::Null);
    match object.remove("method") {
        Some(Value::String(method)) if known_id => Incoming::Request { id, method, params },
        Some(Value::String(method)) if id.is_null() => Incoming::Notification { method, params },
        None if known_id && (failed || object.contains_key("result")) => Incoming::Response { id, failed },
        _ => {
            let message = "the message is no request, notification or response".to_owned();
            let id = if known_id { id } else { Value::Null };
            Incoming::Malformed { code: INVALID_REQUEST, message, id }
        }
    }
}

/// Writes a message with its frame.
pub(crate) fn write(output: &mut impl Write, message: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n", message.len())?;
    output.write_all(message.as_bytes())?;
    output.flush()
}

/// The answer to a request.
pub(crate) fn response(id: &Value, answer: Result<Value, Refused>) -> Value {
    match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Refused { code, message }) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(bodies: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for body in bodies {
            write(&mut bytes, body).unwrap();
        }
        bytes
    }

    fn all(bytes: &[u8]) -> Vec<Incoming> {
        let mut input = bytes;
        std::iter::from_fn(|| read(&mut input).unwrap()).collect()
    }

    #[test]
    fn messages_are_told_apart() {
        let read = all(&framed(&[
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}"#,
            r#"{"jsonrpc":"2.0","method":"b"}"#,
            r#"{"jsonrpc":"2.0","id":"r","result":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#,
        ]));
        assert_eq!(
            read,
            [
                Incoming::Request { id: json!(1), method: "a".into(), params: json!({"x": 1}) },
                Incoming::Notification { method: "b".into(), params: Value::Null },
                Incoming::Response { id: json!("r"), failed: false },
                Incoming::Response { id: json!(7), failed: true },
            ]
        );
    }

    #[test]
    fn what_is_no_message_is_said_and_skipped() {
        let mut bytes = framed(&["{", "[1]", r#"{"id":3}"#, r#"{"id":{},"method":"m"}"#]);
        bytes.extend(b"garbage\r\n\r\n");
        bytes.extend(b"Content-Length: many\r\n\r\n");
        bytes.extend(b"\r\n");
        bytes.extend(framed(&[r#"{"method":"after"}"#]));
        let codes: Vec<(i32, Value)> = all(&bytes)
            .into_iter()
            .map(|one| match one {
                Incoming::Malformed { code, id, .. } => (code, id),
                Incoming::Notification { method, .. } => (0, json!(method)),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            codes,
            [
                (PARSE_ERROR, Value::Null),
                (INVALID_REQUEST, Value::Null),
                (INVALID_REQUEST, json!(3)),
                (INVALID_REQUEST, Value::Null),
                (PARSE_ERROR, Value::Null),
                (PARSE_ERROR, Value::Null),
                (0, json!("after")),
            ]
        );
    }

    #[test]
    fn an_input_that_ends_in_a_message_ends() {
        let bytes = framed(&[r#"{"method":"a"}"#]);
        for cut in 0..bytes.len() {
            assert_eq!(all(&bytes[..cut]), [], "{cut}");
        }
    }
}
