//! Requests: one connection for each, to an address that was judged, within limits.

use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, StatusCode};
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::error::WebError;
use super::limits::WebLimits;
use super::proxies::Proxies;
use super::reach::{Reach, Resolver};

/// What pages are asked for: those that are written for readers first.
const ACCEPTED: &str = "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.5";

/// The way to the web. Cheap to clone, and nothing is set up before the first request.
#[derive(Clone)]
pub struct Web {
    pub(super) limits: Arc<WebLimits>,
    pub(super) reach: Reach,
    proxies: Arc<Proxies>,
}

/// What a server answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// The address that answered, behind all redirects.
    pub(super) address: Address,
    pub(super) media_type: String,
    pub(super) body: Vec<u8>,
    /// Whether there would be more.
    pub(super) cut: bool,
}

/// How a request for a page ended.
pub(super) enum Fetched {
    Answer(Answer),
    /// The page is at another host, and nobody has allowed that one yet.
    Elsewhere(Address),
}

/// A request of a service that the settings name.
pub(super) struct Asking {
    pub(super) address: Address,
    pub(super) headers: HeaderMap,
    /// A body makes it a POST.
    pub(super) body: Option<String>,
    /// Another method.
    pub(super) method: Option<Method>,
}

/// Whose word an address is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// A model's, or a page's: where it leads is judged.
    Foreign,
    /// The settings': it may be anywhere.
    Own,
}

impl Web {
    /// A way to the web with usual limits.
    pub fn new(resolver: Arc<dyn Resolver>) -> Self {
        let reach = Reach { resolver, private: Arc::new([]) };
        Self { limits: Arc::default(), reach, proxies: Arc::default() }
    }

    /// Opens private hosts.
    #[must_use]
    pub fn with_private_hosts(mut self, hosts: impl IntoIterator<Item = mica_sandbox::Host>) -> Self {
        self.reach.private = hosts.into_iter().collect();
        self
    }

    /// Goes through proxies.
    #[must_use]
    pub fn with_proxies(mut self, proxies: Proxies) -> Self {
        self.proxies = Arc::new(proxies);
        self
    }

    /// Sets other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: WebLimits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// Fetches a page, following redirects at the same place.
    pub(super) async fn fetch(
        &self,
        address: Address,
        cancel: &CancellationToken,
    ) -> Result<Fetched, WebError> {
        let host = address.host().to_owned();
        self.within(&host, cancel, self.follow(address)).await
    }

    /// Asks a service of the settings. Redirects are not followed: they would carry the key away.
    pub(super) async fn ask(&self, asking: Asking, cancel: &CancellationToken) -> Result<Answer, WebError> {
        let host = asking.address.host().to_owned();
        let work = async {
            let mut response = self.send(&asking, Whose::Own).await?;
            self.answer(&mut response, asking.address.clone(), self.limits.downloaded).await
        };
        self.within(&host, cancel, work).await
    }

    /// The text at an address that the settings name, which may be anywhere. Redirects are not followed.
    ///
    /// # Errors
    /// [`WebError`] when there is none, or more of it than is taken.
    pub async fn text_at(&self, address: &str, cancel: &CancellationToken) -> Result<String, WebError> {
        let address = Address::parse(address)?;
        let host = address.host().to_owned();
        let answer =
            self.ask(Asking { address, headers: HeaderMap::new(), body: None, method: None }, cancel).await?;
        if !answer.status.is_success() {
            let reason = "nothing is there".to_owned();
            return Err(WebError::Refused { service: host, status: answer.status.as_u16(), reason });
        }
        if answer.cut {
            let reason = format!("it has more than {} bytes", self.limits.downloaded);
            return Err(WebError::Broken { host, reason });
        }
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    pub(super) async fn within<T>(
        &self,
        host: &str,
        cancel: &CancellationToken,
        work: impl Future<Output = Result<T, WebError>>,
    ) -> Result<T, WebError> {
        let after = self.limits.deadline;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(WebError::Cancelled),
            done = work => done,
            () = tokio::time::sleep(after) => Err(WebError::Late { host: host.to_owned(), after }),
        }
    }

    async fn follow(&self, mut address: Address) -> Result<Fetched, WebError> {
        for _ in 0..=self.limits.redirects {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, reqwest::header::HeaderValue::from_static(ACCEPTED));
            let asking = Asking { address: address.clone(), headers, body: None, method: None };
            let mut response = self.send(&asking, Whose::Foreign).await?;
            let Some(there) = redirect(&response, &address)? else {
                let most = if response.status().is_success() {
                    self.limits.downloaded
                } else {
                    self.limits.error * 16
                };
                return Ok(Fetched::Answer(self.answer(&mut response, address, most).await?));
            };
            if !address.may_lead_to(&there) {
                return Ok(Fetched::Elsewhere(there));
            }
            address = there;
        }
        Err(WebError::Circle { host: address.host().to_owned(), most: self.limits.redirects })
    }

    pub(super) async fn send(&self, asking: &Asking, whose: Whose) -> Result<reqwest::Response, WebError> {
        let Asking { address, headers, body, method } = asking;
        let host = address.host();
        let proxy = self.proxies.of(address);
        let pinned = match (whose, proxy) {
            (Whose::Own, _) => None,
            (Whose::Foreign, None) => Some(self.reach.addresses(address).await?),
            // Behind a proxy, names of the internet may not be known here at all. Those that are known are judged.
            (Whose::Foreign, Some(_)) => match self.reach.addresses(address).await {
                Ok(_) | Err(WebError::Unknown { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        tracing::debug!(address = %address.shown(), ?pinned, "asking");
        let client = client(proxy, pinned.clone()).map_err(|error| broken(host, &error))?;
        let usual = if body.is_some() { Method::POST } else { Method::GET };
        let method = method.clone().unwrap_or(usual);
        let mut request = client.request(method, address.url().clone());
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let request = request.headers(headers.clone()).header(ACCEPT_ENCODING, "gzip");
        let response = request.send().await.map_err(|error| broken(host, &error))?;
        if let (Some(pinned), Some(peer)) = (&pinned, response.remote_addr())
            && !pinned.contains(&peer)
        {
            // The client was given nothing else to connect to. Should that ever change, nothing is read.
            return Err(WebError::Private { host: host.to_owned(), address: peer.ip() });
        }
        Ok(response)
    }

    pub(super) async fn answer(
        &self,
        response: &mut reqwest::Response,
        address: Address,
        most: usize,
    ) -> Result<Answer, WebError> {
        let host = address.host().to_owned();
        let header =
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = header(CONTENT_TYPE).trim().to_owned();
        let encoding = header(CONTENT_ENCODING).trim().to_ascii_lowercase();
        let status = response.status();
        let mut packed = Vec::new();
        let mut cut = false;
        while let Some(piece) = response.chunk().await.map_err(|error| broken(&host, &error))? {
            let room = most - packed.len();
            packed.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
            if piece.len() > room || packed.len() >= most {
                cut = true;
                break;
            }
        }
        let body = match encoding.as_str() {
            "" | "identity" => packed,
            "gzip" | "x-gzip" => {
                let limit = self.limits.unpacked;
                let (body, more) = unpack(packed, cut, limit).await.map_err(|error| WebError::Broken {
                    host,
                    reason: format!("its gzip is damaged: {error}"),
                })?;
                cut |= more;
                body
            }
            _ => return Err(WebError::Packed { host, encoding: shortened(&encoding) }),
        };
        Ok(Answer { status, address, media_type, body, cut })
    }
}

/// Unpacks gzip up to a limit. The second answer is whether there would be more.
async fn unpack(packed: Vec<u8>, cut: bool, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let work = tokio::task::spawn_blocking(move || {
        let mut body = Vec::new();
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        match MultiGzDecoder::new(packed.as_slice()).take(most).read_to_end(&mut body) {
            Ok(_) => {}
            // What was left out of the download cannot be unpacked; what came before it was.
            Err(_) if cut => {}
            Err(error) => return Err(error),
        }
        let more = body.len() > limit;
        body.truncate(limit);
        Ok((body, more))
    });
    work.await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Where an answer leads, if it leads elsewhere.
fn redirect(response: &reqwest::Response, from: &Address) -> Result<Option<Address>, WebError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let astray = |reason: String| WebError::Astray { host: from.host().to_owned(), reason };
    let text = String::from_utf8_lossy(location.as_bytes());
    let url = from.url().join(text.trim()).map_err(|error| astray(error.to_string()))?;
    Address::of(url).map(Some).map_err(|error| astray(error.to_string()))
}

/// Answers every question with the addresses that were judged.
struct Pinned(Vec<SocketAddr>);

impl reqwest::dns::Resolve for Pinned {
    fn resolve(&self, _: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let addresses: reqwest::dns::Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// A client for one request: connections that others left open are at addresses that were judged for others.
fn client(proxy: Option<&url::Url>, pinned: Option<Vec<SocketAddr>>) -> reqwest::Result<reqwest::Client> {
    // One may be installed already, by whoever asks models: it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("mica/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        // Unpacking is done where both its sides are counted.
        .no_gzip()
        .no_proxy();
    if let Some(proxy) = proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy.clone())?);
    }
    if let Some(pinned) = pinned {
        builder = builder.dns_resolver(Pinned(pinned));
    }
    builder.build()
}

/// What broke in the end, without the address and without the layers that passed it on.
fn broken(host: &str, error: &reqwest::Error) -> WebError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    // The outermost one says the whole address.
    let reason = if error.is_builder() || std::error::Error::source(error).is_none() {
        "the request failed".to_owned()
    } else {
        shortened(&cause.to_string())
    };
    WebError::Broken { host: host.to_owned(), reason }
}

fn shortened(text: &str) -> String {
    text.get(..text.floor_char_boundary(200)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
