//! Requests and responses as bytes: a line of JSON, and the body.

use serde::{Deserialize, Serialize};
use tabia_explorer::hyper::body::Bytes;
use tabia_explorer::hyper::{Request, Response};

/// What the explorer asks of a request's source, which is always the page.
const HOST: &str = "localhost";

/// All of a request but its body.
#[derive(Deserialize)]
struct Asked {
    method: String,
    /// Path and query.
    target: String,
    headers: Vec<(String, String)>,
}

/// All of a response but its body.
#[derive(Serialize)]
struct Answered<'r> {
    status: u16,
    headers: Vec<(&'r str, &'r str)>,
}

/// Reads a request. The error is for whoever writes the caller.
pub(crate) fn request(bytes: Vec<u8>) -> Result<Request<Bytes>, String> {
    let bytes = Bytes::from(bytes);
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or("the request has no line end")?;
    let asked: Asked = bytes
        .get(..end)
        .and_then(|head| serde_json::from_slice(head).ok())
        .ok_or("the request does not begin with JSON")?;
    let mut request = Request::builder()
        .method(asked.method.as_str())
        .uri(asked.target)
        .header("host", HOST);
    for (name, value) in asked.headers {
        request = request.header(name, value);
    }
    request
        .body(bytes.slice(end + 1..))
        .map_err(|error| error.to_string())
}

/// Writes a response.
pub(crate) fn response(response: &Response<Bytes>) -> Vec<u8> {
    let headers = response.headers().iter();
    let head = Answered {
        status: response.status().as_u16(),
        headers: headers
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect(),
    };
    // Texts and numbers are always JSON.
    let mut out = serde_json::to_vec(&head).unwrap_or_default();
    out.push(b'\n');
    out.extend_from_slice(response.body());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_any_bytes() {
        let text =
            b"{\"method\":\"POST\",\"target\":\"/api/index?name=a\",\"headers\":[[\"x\",\"y\"]]}\n\n\xff";
        let read = request(text.to_vec()).unwrap();
        assert_eq!(read.uri().query(), Some("name=a"));
        assert_eq!(read.headers()["x"], "y");
        assert_eq!(read.body().as_ref(), b"\n\xff");
        let mut sent = Response::new(Bytes::from_static(b"\n\xff"));
        sent.headers_mut().insert("x", "y".parse().unwrap());
        let sent = response(&sent);
        assert_eq!(
            sent,
            b"{\"status\":200,\"headers\":[[\"x\",\"y\"]]}\n\n\xff"
        );
    }

    #[test]
    fn a_broken_request_is_an_error() {
        for bytes in [
            &b""[..],
            b"{}",
            b"{}\n",
            b"x\n",
            b"{\"method\":\"GET\",\"target\":\"a b\",\"headers\":[]}\n",
        ] {
            assert!(request(bytes.to_vec()).is_err(), "{bytes:?}");
        }
    }
}
