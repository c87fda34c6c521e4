//! What browsers must be told before pages of other sites may read an answer
//! (CORS): only of the opening explorer's paths, and only for guests.

use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::reply::reply;

/// Headers that programs in pages send.
const SENT: &str = "authorization, accept, cache-control, content-type, if-modified-since, \
    x-requested-with";

/// A question of older browsers before a public page may ask this machine.
const ASKS_PRIVATE: &str = "access-control-request-private-network";

/// The answer to a browser that asks whether a page may ask.
pub(super) fn preflight(asked: &HeaderMap) -> Response<Bytes> {
    let mut response = reply(StatusCode::NO_CONTENT, "text/plain", Bytes::new());
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    let mut say = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    say(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        "GET, HEAD, POST, OPTIONS",
    );
    say(header::ACCESS_CONTROL_ALLOW_HEADERS, SENT);
    say(header::ACCESS_CONTROL_MAX_AGE, "86400");
    if asked.get(ASKS_PRIVATE).is_some_and(|value| value == "true") {
        let allow = HeaderName::from_static("access-control-allow-private-network");
        say(allow, "true");
    }
    response
}

/// Lets pages of an origin, or of any (`*`), read a response.
pub(super) fn admit(origin: &str, response: &mut Response<Bytes>) {
    let Ok(value) = HeaderValue::from_str(origin) else {
        return;
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, value);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(policy, HeaderValue::from_static("cross-origin"));
    let seen = HeaderName::from_static("access-control-expose-headers");
    headers.insert(seen, HeaderValue::from_static("x-tabia-results"));
}
