//! Requests of programs, beyond reading a page: any method, headers and a body, to where pages may be read.
//!
//! Redirects are not followed: whoever asks sees where it leads, and asks again if they may.

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::error::WebError;
use super::http::{Asking, Web, Whose};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebRequest {
    /// The whole address.
    pub address: String,
    /// `GET` and so on.
    pub method: String,
    /// Headers. Those that say where it goes and how long it is are not the asker's.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
}

/// What came back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebAnswer {
    /// The status.
    pub status: u16,
    /// Headers that are text, with names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body, as text.
    pub body: String,
    /// Whether there would be more.
    pub cut: bool,
}

/// Headers that belong to the connection.
const OWN: [&str; 6] =
    ["host", "content-length", "connection", "transfer-encoding", "accept-encoding", "upgrade"];

impl Web {
    /// Asks. An answer that says no is an answer.
    ///
    /// # Errors
    /// [`WebError`], also for hosts on private networks that were not opened.
    pub async fn request(
        &self,
        request: &WebRequest,
        cancel: &CancellationToken,
    ) -> Result<WebAnswer, WebError> {
        let address = Address::parse(&request.address)?;
        let bad = |reason: String| WebError::Address { shown: address.shown(), reason };
        let method = Method::from_bytes(request.method.to_ascii_uppercase().as_bytes())
            .map_err(|_| bad(format!("{:?} is no method", request.method)))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let name: HeaderName =
                name.parse().map_err(|_| bad(format!("{name:?} is no name of a header")))?;
            if OWN.contains(&name.as_str()) {
                return Err(bad(format!("the header {name} is not the asker's to set")));
            }
            let value = HeaderValue::from_str(value);
            headers.append(
                name,
                value.map_err(|_| bad("a header has something in it that is no text".to_owned()))?,
            );
        }
        let host = address.host().to_owned();
        let asking =
            Asking { address: address.clone(), headers, body: request.body.clone(), method: Some(method) };
        let work = async {
            let mut response = self.send(&asking, Whose::Foreign).await?;
            let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
            let headers = response.headers().iter();
            let headers =
                headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?))).collect();
            let answer = self.answer(&mut response, address, self.limits.downloaded).await?;
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            Ok(WebAnswer { status: answer.status.as_u16(), headers, body, cut: answer.cut })
        };
        self.within(&host, cancel, work).await
    }
}

#[cfg(test)]
mod tests;
