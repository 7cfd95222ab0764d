//! One client over standard input and output: a message on each line, and nothing else on standard output.
//!
//! What cannot be read is answered, and told to whoever watches; the connection goes on.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::offer::Offer;

/// Bytes of one message at most.
pub const LARGEST: usize = 16 << 20;

/// Who is told what went wrong; never on standard output.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// Serves a client until it goes away, or until `stop` fires.
///
/// # Errors
/// When the connection breaks.
pub async fn serve<O: Offer>(
    desk: Desk<O>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    notice: Notice,
    stop: CancellationToken,
) -> Result<(), String> {
    let lines = Lines {
        input: BufReader::new(input),
        line: Vec::new(),
        too_long: false,
        output: Arc::new(Mutex::new(output)),
        notice,
        opened: false,
    };
    let running = match serve_server_with_ct(desk, lines, stop.clone()).await {
        Ok(running) => running,
        // A client that goes away before it asks anything has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(error.to_string()),
        Ok(_) => Ok(()),
    }
}

/// Messages as lines.
struct Lines<R, W> {
    input: BufReader<R>,
    /// What was read of a line. Reading can be given up in the middle, and is taken up here.
    line: Vec<u8>,
    /// The rest of a line is thrown away.
    too_long: bool,
    output: Arc<Mutex<W>>,
    notice: Notice,
    /// Whether a request came. Before that, a client says nothing that matters.
    opened: bool,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// The next whole line, without its end. `None` at the end of everything.
    async fn next(&mut self) -> Option<Result<Vec<u8>, ErrorData>> {
        loop {
            let available = match self.input.fill_buf().await {
                Ok(available) => available,
                Err(error) => {
                    (self.notice)(&format!("standard input cannot be read: {error}"));
                    return None;
                }
            };
            if available.is_empty() {
                // A last message without an end of line is a message.
                let rest = std::mem::take(&mut self.line);
                return (!rest.is_empty() && !self.too_long).then_some(Ok(rest));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.too_long {
                self.line.extend_from_slice(available.get(..end.unwrap_or(taken)).unwrap_or_default());
            }
            self.input.consume(taken);
            if self.line.len() > LARGEST {
                self.line = Vec::new();
                self.too_long = end.is_none();
                let message = format!("the message has more than {LARGEST} bytes");
                return Some(Err(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)));
            }
            if end.is_some() {
                let was_too_long = std::mem::take(&mut self.too_long);
                if !was_too_long {
                    return Some(Ok(std::mem::take(&mut self.line)));
                }
            }
        }
    }

    /// Answers what is no message. In a task of its own: receiving can be given up in the middle, and half a line
    /// would spoil the next.
    fn refuse(&self, error: ErrorData, id: Option<RequestId>) {
        (self.notice)(&error.message);
        let output = Arc::clone(&self.output);
        let answer = ServerJsonRpcMessage::error(error, id);
        // A client that does not read any more has no use for it.
        tokio::spawn(async move { write(&output, &answer).await });
    }
}

/// What a line says.
enum Read {
    Message(Box<ClientJsonRpcMessage>),
    Nothing,
    Wrong(ErrorData, Option<RequestId>),
}

fn read(line: &[u8]) -> Read {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Read::Nothing;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("a line is not JSON: {error}. One message on each line, in UTF-8");
            return Read::Wrong(ErrorData::new(ErrorCode::PARSE_ERROR, message, None), None);
        }
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_notification = value.get("method").is_some() && value.get("id").is_none();
    match serde_json::from_value(value) {
        Ok(message) => Read::Message(Box::new(message)),
        // Nobody waits for an answer to a notification, known or not.
        Err(_) if is_notification => Read::Nothing,
        Err(error) => {
            let message = format!("a message is not one of JSON-RPC 2.0 or MCP: {error}");
            Read::Wrong(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), id)
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = match message {
        // JSON-RPC wants an id in every answer: `null` where nobody could read which. The library leaves it out.
        ServerJsonRpcMessage::Error(error) if error.id.is_none() => {
            let mut value = serde_json::to_value(message)?;
            value["id"] = Value::Null;
            serde_json::to_vec(&value)?
        }
        message => serde_json::to_vec(message)?,
    };
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let read = match self.next().await? {
                Ok(line) => read(&line),
                Err(error) => Read::Wrong(error, None),
            };
            match read {
                Read::Message(message) => {
                    self.opened |= matches!(*message, ClientJsonRpcMessage::Request(_));
                    // A notification before the first request would end the connection.
                    if self.opened {
                        return Some(*message);
                    }
                }
                Read::Nothing => {}
                Read::Wrong(error, id) => self.refuse(error, id),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}
