//! Heads are understood or refused, and only listed hosts are reached.

use super::*;

fn parse(head: &str) -> Result<(String, u16, bool, String), &'static str> {
    let request = Request::parse(head.as_bytes(), b"rest".to_vec())?;
    Ok((request.host, request.port, request.tunnel, String::from_utf8(request.onward).unwrap()))
}

#[test]
fn heads() {
    let tunnel = parse("CONNECT example.org:443 HTTP/1.1\r\nHost: other\r\n\r\n");
    assert_eq!(tunnel, Ok(("example.org".to_owned(), 443, true, "rest".to_owned())));
    let plain =
        parse("GET http://example.org/a?b HTTP/1.1\r\nHost: other\r\nProxy-Authorization: x\r\nA: b\r\n\r\n");
    let onward = "GET /a?b HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\nA: b\r\n\r\nrest";
    assert_eq!(plain, Ok(("example.org".to_owned(), 80, false, onward.to_owned())));
    let query = parse("GET http://example.org:8080?b HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!((query.1, query.3.lines().next().unwrap()), (8080, "GET /?b HTTP/1.1"));
    for bad in [
        "CONNECT example.org HTTP/1.1\r\n\r\n",
        "CONNECT a@example.org:443 HTTP/1.1\r\n\r\n",
        "GET /a HTTP/1.1\r\n\r\n",
        "GET http://good@evil/ HTTP/1.1\r\n\r\n",
        "GET https://example.org/ HTTP/1.1\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

/// One exchange with a proxy that allows `hosts`.
async fn ask(hosts: &[String], request: &str) -> (String, Vec<Asked>) {
    let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
    let log = Log::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let cancel = CancellationToken::new();
    let serving = tokio::spawn(Proxy::new(hosts, log.clone()).serve(listener, cancel.clone()));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    cancel.cancel();
    serving.await.unwrap();
    (text, log.take())
}

#[tokio::test]
async fn only_listed_hosts_are_reached() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = server.accept().await {
            let _ = stream.write_all(b"hello").await;
        }
    });
    let listed = [format!("localhost:{port}")];
    let request = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n");
    let (text, log) = ask(&listed, &request).await;
    assert_eq!(text, "HTTP/1.1 200 Connection established\r\n\r\nhello");
    assert_eq!(log, [Asked { host: "localhost".to_owned(), port, refused: None }]);

    let (text, log) = ask(&listed, "CONNECT example.org:443 HTTP/1.1\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{text}");
    assert_eq!(log, [Asked { host: "example.org".to_owned(), port: 443, refused: Some(Refusal::NotListed) }]);

    // The name is on the list, and the number behind it is not.
    let (text, _) = ask(&listed, &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n")).await;
    assert!(text.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{text}");
}
