//! As much of HTTP/1.1 as the scripted server needs, with every byte of the answer under its control.

use std::io;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::script::Incoming;

const HEAD_LIMIT: usize = 64 << 10;

/// What reading a request came to.
pub(crate) enum Read {
    /// A request.
    Request(Incoming),
    /// The client is gone, in good order.
    Closed,
    /// The body is larger than allowed.
    TooLarge {
        /// Where it was going.
        target: String,
    },
}

/// Reads the next request of a connection. `buffer` keeps what was read beyond it.
pub(crate) async fn read_request<S>(stream: &mut S, buffer: &mut BytesMut, limit: usize) -> io::Result<Read>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(head) = read_head(stream, buffer).await? else {
        return Ok(Read::Closed);
    };
    let value = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Clients that send large bodies ask first, and wait.
    if value("expect").eq_ignore_ascii_case("100-continue") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let body = if value("transfer-encoding").eq_ignore_ascii_case("chunked") {
        read_chunked(stream, buffer, limit).await?
    } else {
        let length: usize = value("content-length").parse().unwrap_or(0);
        if length > limit { None } else { Some(read_exact(stream, buffer, length).await?) }
    };
    Ok(match body {
        Some(body) => {
            Read::Request(Incoming { method: head.method, target: head.target, headers: head.headers, body })
        }
        None => Read::TooLarge { target: head.target },
    })
}

struct RequestHead {
    method: String,
    target: String,
    headers: HeaderMap,
}

async fn read_head<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
) -> io::Result<Option<RequestHead>> {
    loop {
        let mut slots = [httparse::EMPTY_HEADER; 96];
        let mut parsed = httparse::Request::new(&mut slots);
        match parsed.parse(buffer).map_err(io::Error::other)? {
            httparse::Status::Complete(length) => {
                let mut headers = HeaderMap::new();
                for header in parsed.headers.iter() {
                    let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(io::Error::other)?;
                    headers.append(name, HeaderValue::from_bytes(header.value).map_err(io::Error::other)?);
                }
                let head = RequestHead {
                    method: parsed.method.unwrap_or_default().to_owned(),
                    target: parsed.path.unwrap_or_default().to_owned(),
                    headers,
                };
                let _ = buffer.split_to(length);
                return Ok(Some(head));
            }
            httparse::Status::Partial if buffer.len() > HEAD_LIMIT => {
                return Err(io::Error::other("the head of the request is too large"));
            }
            httparse::Status::Partial => {
                if stream.read_buf(buffer).await? == 0 {
                    return Ok(None);
                }
            }
        }
    }
}

async fn read_exact<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
    length: usize,
) -> io::Result<Bytes> {
    while buffer.len() < length {
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(buffer.split_to(length).freeze())
}

async fn read_chunked<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
    limit: usize,
) -> io::Result<Option<Bytes>> {
    let mut body = BytesMut::new();
    loop {
        let size = loop {
            match httparse::parse_chunk_size(buffer).map_err(|_| io::Error::other("not a chunk"))? {
                httparse::Status::Complete((used, size)) => {
                    let _ = buffer.split_to(used);
                    break usize::try_from(size).unwrap_or(usize::MAX);
                }
                httparse::Status::Partial => {
                    if stream.read_buf(buffer).await? == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
            }
        };
        if size.saturating_add(body.len()) > limit {
            return Ok(None);
        }
        let chunk = read_exact(stream, buffer, size + 2).await?;
        if size == 0 {
            return Ok(Some(body.freeze()));
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

/// The head of a chunked answer.
pub(crate) fn head(status: u16, headers: &HeaderMap) -> Vec<u8> {
    let reason = http::StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason());
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason.unwrap_or("Scripted")).into_bytes();
    for (name, value) in headers {
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
    text
}

/// A chunk of a body, ready for the wire.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}

/// What ends a chunked body in good order.
pub(crate) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

#[cfg(test)]
mod tests;
