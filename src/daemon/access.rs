//! Who may ask: programs of this machine, and no web page.
//!
//! A page in a browser can send requests to a loopback port, directly or, after it has pointed a
//! name of its own at 127.0.0.1, under a host name that it controls. Both kinds carry a header that
//! gives them away, so they are refused before anything is routed.

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

/// Set by browsers on every request; a page can't leave it out or change it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The host that was asked for is not this one.
    #[error("the Host header does not name the loopback interface")]
    Host,
    /// A web page asks.
    #[error("requests of web pages are not answered")]
    WebPage,
}

/// Checks a request before it is routed.
pub(super) fn check(request: &Parts) -> Result<(), Refusal> {
    if comes_from_page(&request.headers) {
        return Err(Refusal::WebPage);
    }
    let named_in_target =
        request.uri.authority().is_none_or(|authority| is_loopback(authority.as_str()));
    let mut hosts = request.headers.get_all(HOST).iter();
    match (hosts.next().and_then(as_text), hosts.next()) {
        (Some(host), None) if is_loopback(host) && named_in_target => Ok(()),
        _ => Err(Refusal::Host),
    }
}

/// A user who types the address into a browser is no page: that is `none`.
fn comes_from_page(headers: &HeaderMap) -> bool {
    headers.contains_key(ORIGIN)
        || headers.get_all(FETCH_SITE).iter().any(|site| site.as_bytes() != b"none")
}

fn as_text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

fn is_loopback(host: &str) -> bool {
    host.parse::<Authority>().is_ok_and(|authority| {
        !authority.as_str().contains('@')
            && ["127.0.0.1", "localhost", "[::1]"]
                .iter()
                .any(|name| authority.host().eq_ignore_ascii_case(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn verdict(target: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        let mut request = Request::post(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn programs_of_this_machine_may_ask() {
        for host in ["127.0.0.1:14318", "127.0.0.1", "localhost:14318", "LocalHost", "[::1]:14318"]
        {
            assert_eq!(verdict("/api/hooks", &[("host", host)]), Ok(()), "{host}");
        }
        let typed = [("host", "localhost"), ("sec-fetch-site", "none")];
        assert_eq!(verdict("/health", &typed), Ok(()));
    }

    #[test]
    fn another_host_is_refused() {
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "evil.example:14318",
            "localhost.evil.example",
            "127.0.0.2",
            "evil@localhost",
            "0.0.0.0",
            "",
        ] {
            assert_eq!(verdict("/api/hooks", &[("host", host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(verdict("/api/hooks", &[]), Err(Refusal::Host));
        let two = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(verdict("/api/hooks", &two), Err(Refusal::Host));
        let target = "http://evil.example/api/hooks";
        assert_eq!(verdict(target, &[("host", "localhost")]), Err(Refusal::Host));
    }

    #[test]
    fn a_page_is_refused_whatever_its_host() {
        for (name, value) in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "http://localhost:14318"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-origin"),
        ] {
            let headers = [("host", "localhost"), (name, value)];
            assert_eq!(verdict("/api/hooks", &headers), Err(Refusal::WebPage), "{name}: {value}");
        }
    }
}
