//! Who may ask: programs of this user, and no web page.
//!
//! A program of this user shows the token, or shows none and the system says whose its socket is. Where
//! the system does not say, every program of this machine may hand in events, as a hook keeps no
//! secret.
//!
//! A page in a browser can send requests to a loopback port, directly or, after it has pointed a
//! name of its own at 127.0.0.1, under a host name that it controls. Both kinds carry a header that
//! gives them away, so they are refused before anything is routed.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

use crate::daemon::token::Token;
use crate::platform::SocketOwner;

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
    /// The program did not show the token, or another one.
    #[error("the bearer token of the data directory is missing or wrong")]
    Token,
    /// The program is another user's, or gone.
    #[error("programs of other users are not answered")]
    Stranger,
}

/// Whether the daemon is there is for everyone to know.
const HEALTH: &str = "/health";

/// Needs no token where the system can't say whose the caller is.
const HOOKS: &str = "/api/hooks";

/// Checks a request before it is routed. Whose its `caller` is, is asked only where that decides.
pub(super) fn check(
    request: &Parts,
    token: &Token,
    caller: impl FnOnce() -> SocketOwner,
) -> Result<(), Refusal> {
    if comes_from_page(&request.headers) {
        return Err(Refusal::WebPage);
    }
    let named_in_target =
        request.uri.authority().is_none_or(|authority| is_loopback(authority.as_str()));
    let mut hosts = request.headers.get_all(HOST).iter();
    match (hosts.next().and_then(as_text), hosts.next()) {
        (Some(host), None) if is_loopback(host) && named_in_target => {}
        _ => return Err(Refusal::Host),
    }
    let path = request.uri.path();
    if path == HEALTH {
        return Ok(());
    }
    // Who shows a wrong token means another daemon, whoever it is.
    if let Some(shown) = request.headers.get(AUTHORIZATION) {
        return if is_bearer_of(token, shown) { Ok(()) } else { Err(Refusal::Token) };
    }
    match caller() {
        owner if owner.is_trusted() => Ok(()),
        SocketOwner::Untold if path == HOOKS => Ok(()),
        SocketOwner::Untold => Err(Refusal::Token),
        SocketOwner::User(_) | SocketOwner::Nobody => Err(Refusal::Stranger),
    }
}

fn is_bearer_of(token: &Token, shown: &HeaderValue) -> bool {
    as_text(shown).and_then(|value| value.split_once(' ')).is_some_and(|(scheme, shown)| {
        scheme.eq_ignore_ascii_case("bearer") && token.is(shown.as_bytes())
    })
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
    use crate::platform::current_user;
    use hyper::Request;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn verdict(target: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        verdict_on(SocketOwner::Untold, target, headers)
    }

    fn verdict_on(
        caller: SocketOwner,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Result<(), Refusal> {
        let mut request = Request::post(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let token = Token::parse(TOKEN).unwrap();
        check(&request.body(()).unwrap().into_parts().0, &token, || caller)
    }

    #[test]
    fn without_a_token_the_system_says_whose_the_caller_is() {
        let own = SocketOwner::User(current_user());
        let other = SocketOwner::User(current_user() + 1);
        let (ok, token, stranger) = (Ok(()), Err(Refusal::Token), Err(Refusal::Stranger));
        for (caller, health, hooks, status) in [
            (own, ok, ok, ok),
            (SocketOwner::User(0), ok, ok, ok),
            (other, ok, stranger, stranger),
            (SocketOwner::Nobody, ok, stranger, stranger),
            (SocketOwner::Untold, ok, ok, token),
        ] {
            for (target, expected) in
                [("/health", health), ("/api/hooks", hooks), ("/api/status", status)]
            {
                let host = ("host", "localhost");
                assert_eq!(verdict_on(caller, target, &[host]), expected, "{caller:?} {target}");
                // The token makes every caller the user, a wrong one none.
                let right = format!("Bearer {TOKEN}");
                let shown = [host, ("authorization", right.as_str())];
                assert_eq!(verdict_on(caller, target, &shown), ok, "{caller:?} {target}");
                let wrong = [host, ("authorization", "Bearer x")];
                let expected = if target == "/health" { ok } else { token };
                assert_eq!(verdict_on(caller, target, &wrong), expected, "{caller:?} {target}");
            }
        }
    }

    #[test]
    fn what_we_know_is_for_who_shows_the_token() {
        let showing = |authorization: &str| {
            let headers = [("host", "localhost"), ("authorization", authorization)];
            verdict("/api/session-state", &headers)
        };
        for scheme in ["Bearer", "bearer"] {
            assert_eq!(showing(&format!("{scheme} {TOKEN}")), Ok(()));
        }
        for wrong in ["", "Bearer", "Bearer ", TOKEN, "Basic YTpi"] {
            assert_eq!(showing(wrong), Err(Refusal::Token), "{wrong}");
        }
        for target in ["/", "/api/session-state", "/health/", "/api/hooks/x"] {
            assert_eq!(verdict(target, &[("host", "localhost")]), Err(Refusal::Token), "{target}");
        }
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
