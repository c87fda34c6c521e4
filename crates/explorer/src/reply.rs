//! Responses, with the headers that all of them have.

use std::io;

use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use tokio::sync::watch;

use super::content::{NoIndex, OpenError};
use super::message::Message;

/// Allows nothing from other sites, nothing inline, no frames, no forms to other sites.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS_OF_ALL: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    // A page that opens this one gets no reference to it.
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (header::SERVER, "tabia"),
];

/// A refusal: status and one sentence.
pub(super) type Refusal = (StatusCode, Message);

/// What a request gets.
pub(super) type Answer = Result<Response<Bytes>, Refusal>;

/// A refusal because the request is invalid.
pub(super) fn bad(error: impl Into<Message>) -> Refusal {
    (StatusCode::BAD_REQUEST, error.into())
}

/// A file that cannot be read.
pub(super) fn unreadable(error: impl std::fmt::Display) -> Refusal {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string().into())
}

/// A file that a page has sent and that cannot be opened: it is a bad one, unless the system
/// failed.
pub(super) fn not_opened(error: OpenError) -> Refusal {
    let no_index = error.downcast_ref::<NoIndex>();
    let reason = no_index.map_or(&error, |no_index| &no_index.reason);
    let of_index = reason.downcast_ref::<tabia_index::Error>();
    match reason.is::<io::Error>() || of_index.is_some_and(tabia_index::Error::is_of_system) {
        true => unreadable(error),
        false => bad(error.to_string()),
    }
}

/// The type of a body of server-sent events.
pub(super) const EVENTS: &str = "text/event-stream";

/// The type of games.
pub(super) const PGN: &str = "application/x-chess-pgn";

/// A response extension: another thread sends the body in parts. Each part replaces those
/// before it: a slow reader misses some, but never the last one.
#[derive(Clone)]
pub(super) struct Subscription(pub(super) watch::Receiver<Bytes>);

/// A body of a type; caches do not store it.
pub(super) fn reply(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in HEADERS_OF_ALL {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub(super) fn json(value: &impl Serialize) -> Response<Bytes> {
    json_with(StatusCode::OK, value)
}

/// A response with JSON text.
pub(super) fn json_text(text: Bytes) -> Response<Bytes> {
    reply(StatusCode::OK, JSON, text)
}

const JSON: &str = "application/json; charset=utf-8";

fn json_with(status: StatusCode, value: &impl Serialize) -> Response<Bytes> {
    match serde_json::to_vec(value) {
        Ok(text) => reply(status, JSON, text.into()),
        Err(_) => reply(
            StatusCode::INTERNAL_SERVER_ERROR,
            "text/plain; charset=utf-8",
            Bytes::new(),
        ),
    }
}

/// A refusal: one short sentence, in English for programs, and as a message for the page.
pub(super) fn refuse(status: StatusCode, message: impl Into<Message>) -> Response<Bytes> {
    #[derive(Serialize)]
    struct Refused {
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Message>,
    }
    let message = message.into();
    let error = message.to_string();
    let message = Some(message).filter(Message::has_arguments);
    json_with(status, &Refused { error, message })
}

/// The work ended because its client has gone: nobody reads this.
pub(super) fn nobody_waits() -> Refusal {
    (StatusCode::REQUEST_TIMEOUT, "the client has gone".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reply_forbids_access_by_other_sites() {
        let response = refuse(StatusCode::NOT_FOUND, "no");
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        assert!(policy.starts_with("default-src 'none'"));
        assert!(!policy.contains("unsafe"));
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
        assert_eq!(response.body(), r#"{"error":"no"}"#);
    }
}
