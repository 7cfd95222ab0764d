//! Requests are read whole, in whatever pieces they arrive, and never beyond the limits.

use tokio::io::duplex;

use super::*;

/// Reads the requests of a connection that brings `bytes` in pieces of `size`, until it closes or fails.
async fn read(bytes: &[u8], size: usize, limit: usize) -> Vec<String> {
    let (mut client, mut server) = duplex(1 << 16);
    let bytes = bytes.to_vec();
    let send = async move {
        for piece in bytes.chunks(size) {
            // A server that has read enough hangs up.
            if client.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let _ = client.shutdown().await;
        let mut back = Vec::new();
        client.read_to_end(&mut back).await.unwrap();
        String::from_utf8(back).unwrap()
    };
    let receive = async move {
        let (mut buffer, mut seen) = (BytesMut::new(), Vec::new());
        loop {
            let told = match read_request(&mut server, &mut buffer, limit).await {
                Ok(Read::Request(request)) => {
                    let body = String::from_utf8_lossy(&request.body).into_owned();
                    format!("{} {} {body}", request.method, request.target)
                }
                Ok(Read::Closed) => return seen,
                Ok(Read::TooLarge { target }) => format!("too large {target}"),
                Err(error) => format!("failed {}", error.kind()),
            };
            let is_over = told.starts_with("too large") || told.starts_with("failed");
            seen.push(told);
            if is_over {
                return seen;
            }
        }
    };
    let (back, mut seen) = futures::join!(send, receive);
    if !back.is_empty() {
        seen.push(back);
    }
    seen
}

#[track_caller]
fn check(bytes: &str, expected: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for size in [1, 3, 1000] {
        assert_eq!(runtime.block_on(read(bytes.as_bytes(), size, 10)), expected, "in pieces of {size}");
    }
}

#[test]
fn bodies_come_by_length_or_in_chunks_and_connections_are_reused() {
    check(
        "POST /a?b=c HTTP/1.1\r\ncontent-length: 5\r\n\r\nhelloGET /d HTTP/1.1\r\n\r\n",
        &["POST /a?b=c hello", "GET /d "],
    );
    check(
        "POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        &["POST /a hello"],
    );
}

#[test]
fn who_asks_before_sending_is_told_to_go_on() {
    check(
        "POST /a HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\nhi",
        &["POST /a hi", "HTTP/1.1 100 Continue\r\n\r\n"],
    );
}

#[test]
fn limits_hold_and_cut_requests_fail() {
    check("POST /a HTTP/1.1\r\ncontent-length: 11\r\n\r\nhello world", &["too large /a"]);
    check("POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nb\r\nhello world", &["too large /a"]);
    check("POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhel", &["failed unexpected end of file"]);
    check("no http at all\r\n\r\n", &["failed other error"]);
    check("", &[]);
}
