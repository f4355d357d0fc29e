//! Under which names the server may be reached, and where a write may come from.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, header};
use url::Url;

/// Under which names the server may be reached.
pub(crate) struct Origins {
    listen: SocketAddr,
    public: Option<Public>,
    trusted_proxies: Vec<IpAddr>,
}

struct Public {
    /// Scheme, host and port as browsers write an origin.
    origin: String,
    /// Host, with the port unless it is the scheme's own.
    authority: String,
    secure: bool,
}

impl Origins {
    pub(crate) fn new(listen: SocketAddr, public_url: Option<&Url>, trusted_proxies: &[IpAddr]) -> Self {
        let public = public_url.map(|url| {
            let origin = url.origin().ascii_serialization();
            let authority = origin.split("://").nth(1).unwrap_or_default().to_owned();
            Public { origin, authority, secure: url.scheme() == "https" }
        });
        let trusted_proxies = trusted_proxies.iter().map(IpAddr::to_canonical).collect();
        Self { listen, public, trusted_proxies }
    }

    /// The origin to show to people.
    pub(crate) fn shown(&self) -> String {
        if let Some(public) = &self.public {
            return public.origin.clone();
        }
        let mut reachable = self.listen;
        // Nobody can open the address that stands for all addresses.
        match reachable.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => reachable.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => reachable.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("http://{reachable}")
    }

    /// Whether people reach the server over TLS, so that cookies must not travel without.
    pub(crate) fn secure(&self) -> bool {
        self.public.as_ref().is_some_and(|public| public.secure)
    }

    /// Whether the request names the server by loopback or by its public name. Any other name may have been made to
    /// point here by somebody else (DNS rebinding).
    pub(crate) fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = single(headers, &header::HOST) else { return false };
        is_loopback(host)
            || self.public.as_ref().is_some_and(|public| public.authority.eq_ignore_ascii_case(host))
    }

    /// Whether a write comes from a page of ours.
    pub(crate) fn is_same_origin(&self, headers: &HeaderMap) -> bool {
        if headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin") {
            return true;
        }
        let (Some(origin), Some(host)) = (single(headers, &header::ORIGIN), single(headers, &header::HOST))
        else {
            return false;
        };
        let ours = match &self.public {
            Some(public) if public.authority.eq_ignore_ascii_case(host) => public.origin.clone(),
            _ => format!("http://{host}"),
        };
        origin.eq_ignore_ascii_case(&ours)
    }

    /// The address that limits count: the peer's, or what a trusted proxy says about it.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        // A socket that takes both kinds of addresses writes IPv4 ones as IPv6.
        let peer = peer.to_canonical();
        if !self.trusted_proxies.contains(&peer) {
            return peer;
        }
        // The nearest address that is no proxy of ours, from the right, where each proxy appends. What stands before
        // it, or before something unreadable, could be made up by the client.
        let mut texts: Vec<&str> = Vec::new();
        for value in headers.get_all("x-forwarded-for") {
            texts.extend(value.to_str().unwrap_or("").split(','));
        }
        for text in texts.into_iter().rev() {
            match text.trim().parse().map(|address: IpAddr| address.to_canonical()) {
                Ok(address) if self.trusted_proxies.contains(&address) => {}
                Ok(address) => return address,
                Err(_) => return peer,
            }
        }
        peer
    }
}

/// The value of a header that is there exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then(|| first.to_str().ok()).flatten()
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::Origins;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn origins(public: Option<&str>) -> Origins {
        let public = public.map(|text| text.parse().unwrap());
        Origins::new("127.0.0.1:7717".parse().unwrap(), public.as_ref(), &["10.0.0.1".parse().unwrap()])
    }

    #[test]
    fn the_address_that_people_are_shown_can_be_opened() {
        for (listen, shown) in [
            ("127.0.0.1:7717", "http://127.0.0.1:7717"),
            ("0.0.0.0:7717", "http://127.0.0.1:7717"),
            ("[::]:7717", "http://[::1]:7717"),
            ("192.0.2.1:80", "http://192.0.2.1:80"),
        ] {
            assert_eq!(Origins::new(listen.parse().unwrap(), None, &[]).shown(), shown);
        }
        assert_eq!(origins(Some("https://tools.example")).shown(), "https://tools.example");
    }

    #[test]
    fn hosts() {
        let public = Some("https://tools.example");
        for (public, host, known) in [
            (None, "127.0.0.1:7717", true),
            (None, "localhost", true),
            (None, "LOCALHOST:80", true),
            (None, "[::1]:7717", true),
            (None, "127.0.0.1.evil.example", false),
            (None, "localhost.evil.example:7717", false),
            (None, "evil.example", false),
            (None, "0.0.0.0:7717", false),
            (None, "", false),
            (public, "tools.example", true),
            (public, "TOOLS.example", true),
            (public, "tools.example:8443", false),
            (public, "other.example", false),
            (public, "127.0.0.1:7717", true),
        ] {
            assert_eq!(origins(public).knows_host(&headers(&[("host", host)])), known, "{public:?} {host}");
        }
        assert!(!origins(None).knows_host(&headers(&[])));
        assert!(!origins(None).knows_host(&headers(&[("host", "localhost"), ("host", "evil.example")])));
    }

    #[test]
    fn writes() {
        let public = Some("https://tools.example");
        for (public, host, sent, same) in [
            (None, "localhost:7717", &[("origin", "http://localhost:7717")][..], true),
            (None, "localhost:7717", &[("origin", "http://localhost:7718")], false),
            (None, "localhost:7717", &[("origin", "https://localhost:7717")], false),
            (None, "localhost:7717", &[("origin", "http://evil.example")], false),
            (None, "localhost:7717", &[("origin", "null")], false),
            (None, "localhost:7717", &[], false),
            (None, "localhost:7717", &[("sec-fetch-site", "same-origin")], true),
            (None, "localhost:7717", &[("sec-fetch-site", "same-site")], false),
            (None, "localhost:7717", &[("sec-fetch-site", "cross-site")], false),
            (public, "tools.example", &[("origin", "https://tools.example")], true),
            (public, "tools.example", &[("origin", "http://tools.example")], false),
        ] {
            let mut all = vec![("host", host)];
            all.extend(sent);
            assert_eq!(origins(public).is_same_origin(&headers(&all)), same, "{public:?} {all:?}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_says_who_the_client_is() {
        let origins = origins(None);
        let sent = headers(&[("x-forwarded-for", "1.1.1.1, 2.2.2.2, 10.0.0.1")]);
        let client = |peer: &str| origins.client(peer.parse().unwrap(), &sent).to_string();
        assert_eq!(client("3.3.3.3"), "3.3.3.3");
        assert_eq!(client("10.0.0.1"), "2.2.2.2");
        assert_eq!(client("::ffff:10.0.0.1"), "2.2.2.2");
        assert_eq!(client("::ffff:3.3.3.3"), "3.3.3.3");
        let mapped = headers(&[("x-forwarded-for", "::ffff:2.2.2.2, ::ffff:10.0.0.1")]);
        assert_eq!(origins.client("10.0.0.1".parse().unwrap(), &mapped).to_string(), "2.2.2.2");
        let proxies = ["::ffff:10.0.0.1".parse().unwrap()];
        let configured = Origins::new("[::]:7717".parse().unwrap(), None, &proxies);
        assert_eq!(configured.client("10.0.0.1".parse().unwrap(), &mapped).to_string(), "2.2.2.2");
        let made_up = headers(&[("x-forwarded-for", "1.1.1.1, unknown, 2.2.2.2")]);
        assert_eq!(origins.client("10.0.0.1".parse().unwrap(), &made_up).to_string(), "2.2.2.2");
        let unreadable = headers(&[("x-forwarded-for", "1.1.1.1, unknown")]);
        assert_eq!(origins.client("10.0.0.1".parse().unwrap(), &unreadable).to_string(), "10.0.0.1");
        assert_eq!(origins.client("10.0.0.1".parse().unwrap(), &headers(&[])).to_string(), "10.0.0.1");
    }
}
