//! Requests to a server on loopback, and those that are never made.

use super::*;
use crate::web::limits::WebLimits;
use crate::web::testing::{Names, Reply, Site, ok};

fn asks(address: &str, method: &str, headers: &[(&str, &str)], body: Option<&str>) -> WebRequest {
    WebRequest {
        address: address.to_owned(),
        method: method.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.map(str::to_owned),
    }
}

#[tokio::test]
async fn a_request_goes_out_as_it_is_and_redirects_are_told() {
    let moved = Reply::Bytes(b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n".to_vec());
    let site = Site::serve(&[("/items", ok("application/json", "[1]")), ("/moved", moved)]).await;
    let web = site.web(WebLimits::default());
    let cancel = CancellationToken::new();
    let request =
        asks(&site.at("/items"), "put", &[("X-Key", "1"), ("content-type", "text/plain")], Some("new"));
    let answer = web.request(&request, &cancel).await.unwrap();
    assert_eq!((answer.status, answer.body.as_str(), answer.cut), (200, "[1]", false));
    assert!(answer.headers.contains(&("content-type".to_owned(), "application/json".to_owned())));
    let sent = site.requests.lock().unwrap()[0].to_lowercase();
    assert!(sent.starts_with("put /items http/1.1\r\n"), "{sent}");
    assert!(sent.contains("x-key: 1\r\n") && sent.contains("content-type: text/plain\r\n"), "{sent}");
    let answer = web.request(&asks(&site.at("/moved"), "GET", &[], None), &cancel).await.unwrap();
    assert_eq!(answer.status, 302);
    assert!(answer.headers.contains(&("location".to_owned(), "/there".to_owned())));
    assert_eq!(site.count(), 2, "nothing is followed");
}

#[tokio::test]
async fn what_is_private_or_no_request_is_never_sent() {
    let site = Site::serve(&[("/", ok("text/plain", "secret"))]).await;
    let web = Web::new(Names::to(&[]));
    let cancel = CancellationToken::new();
    let here = format!("http://127.0.0.1:{}/", site.port);
    for (request, expect) in [
        (asks(&here, "GET", &[], None), "127.0.0.1 leads to 127.0.0.1, which is not on the public internet"),
        (
            asks("https://example.org/", "G T", &[], None),
            "\"https://example.org/\" cannot be fetched: \"G T\" is no method",
        ),
        (
            asks("https://example.org/", "GET", &[("Host", "a")], None),
            "\"https://example.org/\" cannot be fetched: the header host is not the asker's to set",
        ),
        (
            asks("file:///etc/passwd", "GET", &[], None),
            "\"file:///etc/passwd\" cannot be fetched: only http and https are fetched",
        ),
    ] {
        let error = web.request(&request, &cancel).await.unwrap_err().to_string();
        assert_eq!(error, expect);
    }
    assert_eq!(site.count(), 0);
}
