//! CORS: headers that let pages of other sites read an answer, only on the paths of the
//! opening explorer and only for allowed origins.

use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::reply::reply;

/// Headers that programs in pages may send.
const SENT: &str = "authorization, accept, cache-control, content-type, if-modified-since, \
    x-requested-with";

/// With this header older browsers ask whether a public page may send requests to this
/// machine.
const ASKS_PRIVATE: &str = "access-control-request-private-network";

/// The answer to a CORS preflight request.
pub(super) fn preflight(request_headers: &HeaderMap) -> Response<Bytes> {
    let mut response = reply(StatusCode::NO_CONTENT, "text/plain", Bytes::new());
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    let mut set = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    set(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        "GET, HEAD, POST, OPTIONS",
    );
    set(header::ACCESS_CONTROL_ALLOW_HEADERS, SENT);
    set(header::ACCESS_CONTROL_MAX_AGE, "86400");
    if request_headers
        .get(ASKS_PRIVATE)
        .is_some_and(|value| value == "true")
    {
        let allow = HeaderName::from_static("access-control-allow-private-network");
        set(allow, "true");
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
