//! What an administrator may decide about fetching pages.

use std::time::Duration;

use url::{Host, Url};

/// How pages are fetched.
#[derive(Clone, Debug)]
pub struct WebConfig {
    /// Whether private and local addresses may be fetched. Whoever may call `web_fetch` then reaches everything
    /// that the server reaches.
    pub allow_private: bool,
    /// Hosts that may be fetched whatever their address: `wiki.intern`, `10.0.0.7`, or with a port `[::1]:8080`.
    pub allowed_hosts: Vec<String>,
    /// The most bytes of a page, after decompression.
    pub max_bytes: usize,
    /// How long fetching may take, redirects and body included.
    pub timeout: Duration,
    /// What the client calls itself.
    pub user_agent: String,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            allow_private: false,
            allowed_hosts: Vec::new(),
            max_bytes: 5_000_000,
            timeout: Duration::from_secs(30),
            user_agent: concat!("Toolshelf/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// Says why no client can be made.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// An entry of the allowed hosts is not a host.
    #[error("{0:?} is not a host with an optional port, such as wiki.intern or 10.0.0.7:8080")]
    Host(String),
    /// The time limit is zero.
    #[error("the time limit for fetching is zero")]
    Timeout,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made")]
    Client(#[from] reqwest::Error),
}

/// A host that may be fetched whatever its address.
pub(super) struct AllowedHost {
    host: Host<String>,
    /// Absent for all ports.
    port: Option<u16>,
}

impl AllowedHost {
    pub(super) fn read(text: &str) -> Result<Self, WebError> {
        let wrong = || WebError::Host(text.to_owned());
        // A scheme that has no default port, or a port that happens to be the default would be dropped. Reading
        // it once with http and once with https tells a given port from none.
        let read = |scheme: &str| Url::parse(&format!("{scheme}://{text}/")).map_err(|_| wrong());
        let (http, https) = (read("http")?, read("https")?);
        let plain = http.username().is_empty()
            && http.password().is_none()
            && http.path() == "/"
            && http.query().is_none()
            && http.fragment().is_none();
        let host = http.host().map(|host| without_dot(&host)).filter(|_| plain).ok_or_else(wrong)?;
        let port = http.port().or(https.port());
        Ok(Self { host, port })
    }

    pub(super) fn matches(&self, url: &Url) -> bool {
        let same_host = url.host().is_some_and(|host| without_dot(&host) == self.host);
        same_host && self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

/// A name with a dot at its end is the same name.
fn without_dot(host: &Host<&str>) -> Host<String> {
    match host {
        Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(name).to_owned()),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::AllowedHost;

    #[test]
    fn hosts_are_read_with_and_without_a_port() {
        for (entry, allowed, refused) in [
            ("wiki.intern", "https://WIKI.intern./x", "https://a.wiki.intern/"),
            ("wiki.intern:80", "http://wiki.intern/", "https://wiki.intern/"),
            ("wiki.intern:443", "https://wiki.intern/", "http://wiki.intern/"),
            ("10.0.0.7:8080", "http://10.0.0.7:8080/", "http://10.0.0.7/"),
            ("127.1", "http://2130706433:99/", "http://127.0.0.2/"),
            ("[::1]:8080", "http://[0::1]:8080/", "http://[::1]/"),
        ] {
            let host = AllowedHost::read(entry).unwrap();
            assert!(host.matches(&allowed.parse().unwrap()), "{entry}: {allowed}");
            assert!(!host.matches(&refused.parse().unwrap()), "{entry}: {refused}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for entry in ["", " ", "http://x", "x/y", "user@x", "x?y", "x#y", "*.x y", "x:99999", "::1"] {
            assert!(AllowedHost::read(entry).is_err(), "{entry:?}");
        }
    }
}
