//! The guarded HTTP client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::{Client, Response, StatusCode, redirect};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use toolshelf_runtime::FunctionError;
use url::{Host, Url};

use super::address::is_public;
use super::config::{AllowedHost, WebConfig, WebError};
use super::resolver::{Guard, Lookup, NotPublic, Open, SystemLookup};
use crate::units::bytes;

/// How often a page may send the client elsewhere.
const MAX_REDIRECTS: usize = 5;
/// What kinds of page are wanted, the best first.
const ACCEPTED: &str = "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.1";

/// Fetches pages, and nothing that is not on the public internet unless the configuration says so.
#[derive(Clone)]
pub struct WebClient {
    inner: Arc<Inner>,
}

struct Inner {
    config: WebConfig,
    allowed: Vec<AllowedHost>,
    /// For hosts on the public internet.
    guarded: Client,
    /// For hosts that the configuration allows.
    open: Client,
}

/// A page as it came.
pub(super) struct Page {
    /// Where it came from in the end.
    pub(super) url: Url,
    pub(super) status: StatusCode,
    /// The `Content-Type`, empty if the server gave none.
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    pub(super) redirects: usize,
}

impl WebClient {
    /// Makes a client.
    pub fn new(config: WebConfig) -> Result<Self, WebError> {
        Self::with_lookup(config, Arc::new(SystemLookup))
    }

    pub(super) fn with_lookup(config: WebConfig, lookup: Arc<dyn Lookup>) -> Result<Self, WebError> {
        if config.timeout.is_zero() {
            return Err(WebError::Timeout);
        }
        let allowed =
            config.allowed_hosts.iter().map(|host| AllowedHost::read(host)).collect::<Result<_, _>>()?;
        let tls = tls()?;
        let builder = || {
            Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .user_agent(&config.user_agent)
                // A proxy would look up names itself and connect past the guard.
                .no_proxy()
                // Each step is checked by hand, because the resolver is not asked for literal addresses.
                .redirect(redirect::Policy::none())
                .referer(false)
                // Pages are fetched one at a time; an idle connection would only be one more thing to guard.
                .pool_max_idle_per_host(0)
        };
        let guarded = builder().dns_resolver(Guard { lookup: Arc::clone(&lookup) }).build()?;
        let open = builder().dns_resolver(Open { lookup }).build()?;
        Ok(Self { inner: Arc::new(Inner { config, allowed, guarded, open }) })
    }

    /// How long [`WebClient::get`] may take.
    pub(super) fn timeout(&self) -> Duration {
        self.inner.config.timeout
    }

    /// Fetches a page that `wanted` accepts by its content type.
    pub(super) async fn get(&self, url: &str, wanted: fn(&str) -> bool) -> Result<Page, FunctionError> {
        let url = read_url(url)?;
        let limit = self.inner.config.timeout;
        match tokio::time::timeout(limit, self.follow(url, wanted)).await {
            Ok(result) => result,
            Err(_) => Err(FunctionError::new(format!(
                "The page did not arrive within {} seconds. Try again later, or another address.",
                limit.as_secs_f64()
            ))),
        }
    }

    async fn follow(&self, mut url: Url, wanted: fn(&str) -> bool) -> Result<Page, FunctionError> {
        for redirects in 0..=MAX_REDIRECTS {
            let response = self.send(&url).await?;
            let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
            let Some(location) = location else {
                return self.page(url, response, redirects, wanted).await;
            };
            let next =
                std::str::from_utf8(location.as_bytes()).ok().and_then(|location| url.join(location).ok());
            let Some(next) = next else {
                return Err(FunctionError::new(format!(
                    "{} redirects to an address that is not valid.",
                    shown(&url)
                )));
            };
            url = checked_url(next).map_err(|FunctionError(reason)| {
                FunctionError::new(format!("{} redirects to another address. {reason}", shown(&url)))
            })?;
        }
        Err(FunctionError::new(format!("The address redirects more than {MAX_REDIRECTS} times.")))
    }

    /// Asks for one address and waits for the beginning of the answer.
    async fn send(&self, url: &Url) -> Result<Response, FunctionError> {
        let config = &self.inner.config;
        let is_allowed = config.allow_private || self.inner.allowed.iter().any(|host| host.matches(url));
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) | None => None,
        };
        if !is_allowed && literal.is_some_and(|address| !is_public(address)) {
            return Err(not_public_address(url));
        }
        let client = if is_allowed { &self.inner.open } else { &self.inner.guarded };
        client.get(url.clone()).header(ACCEPT, ACCEPTED).send().await.map_err(|error| {
            if NotPublic::is_cause_of(&error) { not_public_name(url) } else { unreachable(url, &error) }
        })
    }

    /// Reads the body, as far as it is wanted and not too large.
    async fn page(
        &self,
        url: Url,
        mut response: Response,
        redirects: usize,
        wanted: fn(&str) -> bool,
    ) -> Result<Page, FunctionError> {
        let max_bytes = self.inner.config.max_bytes;
        let status = response.status();
        let content_type = header(response.headers(), &CONTENT_TYPE);
        let length = response.content_length();
        if !wanted(&content_type) {
            let size = length.map_or_else(|| "of unknown size".to_owned(), bytes);
            return Err(FunctionError::new(format!(
                "{} is {content_type:?} ({size}), which is neither a page nor text.",
                shown(&url)
            )));
        }
        // What the client decompresses loses this header; what is left was not asked for.
        let encoding = header(response.headers(), &CONTENT_ENCODING);
        if !encoding.is_empty() && encoding != "identity" {
            return Err(FunctionError::new(format!(
                "{} is compressed as {encoding:?}, which was not asked for and cannot be read.",
                shown(&url)
            )));
        }
        let too_large = || {
            FunctionError::new(format!(
                "{} is larger than {}, the most that is fetched.",
                shown(&url),
                bytes(max_bytes as u64)
            ))
        };
        if length.is_some_and(|length| length > max_bytes as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        // Chunks come decompressed in small pieces, so a small body that unpacks to a huge one ends here as well.
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&url, &error))? {
            if body.len() + chunk.len() > max_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Page { url, status, content_type, body, redirects })
    }
}

impl fmt::Debug for WebClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebClient").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

/// Trusts what the machine trusts, so that an intranet's own authority works; a machine that has no certificates,
/// such as a bare container, gets those of Mozilla.
fn tls() -> Result<ClientConfig, WebError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    // The provider is named here and not installed for the process, which is the process's own decision.
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn read_url(text: &str) -> Result<Url, FunctionError> {
    let url = Url::parse(text.trim()).map_err(|error| {
        FunctionError::new(format!(
            "The URL is not valid: {error}. Give a whole one, such as https://example.com/."
        ))
    })?;
    checked_url(url)
}

/// The URL without its fragment, which is not sent, if it is one that may be fetched.
fn checked_url(mut url: Url) -> Result<Url, FunctionError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FunctionError::new(format!("Only http and https are fetched, not {}.", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // They would be sent to the host, and kept in the history of the conversation.
        return Err(FunctionError::new("A URL with a user name or password is not fetched. Remove them."));
    }
    url.set_fragment(None);
    Ok(url)
}

fn header(headers: &HeaderMap, name: &HeaderName) -> String {
    let value = headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    value.map(|value| value.chars().take(200).collect()).unwrap_or_default()
}

/// A URL inside a sentence. The query may be long and may hold secrets.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    let text = url.as_str();
    if text.len() <= 200 { text.to_owned() } else { text.chars().take(200).chain(['…']).collect() }
}

/// One sentence for a name that does not exist and one that is internal, so that nobody can tell which names are.
fn not_public_name(url: &Url) -> FunctionError {
    FunctionError::new(format!(
        "{} is not on the public internet: it does not exist, or its address is private, local or reserved. An \
         administrator can allow hosts in the configuration.",
        url.host_str().unwrap_or_default()
    ))
}

/// An address that is written out tells nothing that the caller does not know.
fn not_public_address(url: &Url) -> FunctionError {
    FunctionError::new(format!(
        "{} is not on the public internet: its address is private, local or reserved. An administrator can allow \
         hosts in the configuration.",
        url.host_str().unwrap_or_default()
    ))
}

/// The innermost cause says what happened; the layers around it only repeat that it did.
fn unreachable(url: &Url, error: &reqwest::Error) -> FunctionError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let host = url.host_str().unwrap_or_default();
    let what = if error.is_connect() { "could not be reached" } else { "did not answer as it should" };
    FunctionError::new(format!("{host} {what}: {cause}. Check the address, or try again later."))
}
