//! Texts that the settings name, from a server on loopback.

use tokio_util::sync::CancellationToken;

use super::*;
use crate::web::testing::{Names, Reply, Site, ok};

#[tokio::test]
async fn the_text_at_an_address_of_the_settings_is_read() {
    let moved = Reply::Bytes(b"HTTP/1.1 302 Found\r\nLocation: /list\r\nContent-Length: 0\r\n\r\n".to_vec());
    let site = Site::serve(&[("/list", ok("application/json", "[1]")), ("/moved", moved)]).await;
    let cancel = CancellationToken::new();
    let at = |path: &str| format!("http://127.0.0.1:{}{path}", site.port);
    let web = Web::new(Names::to(&[]));
    assert_eq!(web.text_at(&at("/list"), &cancel).await.unwrap(), "[1]");
    for (path, status) in [("/gone", 404), ("/moved", 302)] {
        let error = web.text_at(&at(path), &cancel).await.unwrap_err().to_string();
        assert_eq!(error, format!("127.0.0.1 answered {status}: nothing is there"), "{path}");
    }
    let small = web.with_limits(WebLimits { downloaded: 2, ..WebLimits::default() });
    let error = small.text_at(&at("/list"), &cancel).await.unwrap_err().to_string();
    assert_eq!(error, "127.0.0.1 could not be read: it has more than 2 bytes");
    assert!(small.text_at("file:///etc/passwd", &cancel).await.is_err());
}
