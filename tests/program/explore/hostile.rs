//! Hostile requests: each gets a short refusal and does no harm.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hyper::{Method, StatusCode};
use tabia_explorer::Notify;
use tabia_explorer::{Explorer, Limits, serve};

use super::{ADDRESS, explorer, explorer_at, get, request};

/// Far more than anything takes here, far less than a connection may last.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn no_request_names_a_file() {
    let explorer = explorer();
    for path in [
        "/../Cargo.toml",
        "/page/../../Cargo.toml",
        "/page/..%2f..%2fCargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "/page/main.js%00.css",
        "/books/tabia.ctg",
        "/c:/windows/win.ini",
        "/players",
        "/masters/pgn/..%2f..%2fetc%2fpasswd",
    ] {
        let response = get(&explorer, path);
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        assert!(response.body().len() < 100);
    }
    for books in [
        "/etc/passwd",
        "1",
        "-1",
        "0,0,0,0,0",
        "99999999999999999999",
        "0/../1",
    ] {
        let response = get(&explorer, &format!("/api/position?books={books}"));
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{books}");
    }
    let response = get(
        &explorer,
        "/api/position?Book+File=/etc/passwd&book=/etc/passwd",
    );
    assert_eq!(
        response.status(),
        StatusCode::OK,
        "unknown words mean nothing"
    );
}

#[test]
fn other_hosts_and_pages_are_refused() {
    let explorer = explorer();
    for (name, text) in [
        ("host", "evil.example:8000"),
        ("host", "127.0.0.1:8001"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
    ] {
        for target in ["/api/position", "/masters", "/api/start", "/api/edit"] {
            let method = if target == "/api/edit" {
                Method::POST
            } else {
                Method::GET
            };
            let mut sent = request(method, target, "{}");
            sent.headers_mut().insert(name, text.parse().unwrap());
            let response = explorer.answer(&sent);
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{target} {text}");
            assert!(response.body().len() < 120);
        }
    }
    // A link on another site may open the page, but gets no reference to it.
    for from in [None, Some("cross-site"), Some("same-site"), Some("none")] {
        let mut sent = request(Method::GET, "/?play=e2e4", "");
        if let Some(from) = from {
            let from = from.parse().unwrap();
            sent.headers_mut().insert("sec-fetch-site", from);
        }
        let response = explorer.answer(&sent);
        assert_eq!(response.status(), StatusCode::OK);
        let opener = &response.headers()["cross-origin-opener-policy"];
        assert_eq!(opener, "same-origin", "{from:?}");
    }
}

#[test]
fn post_requests_need_the_token_and_json() {
    let explorer = explorer();
    for target in ["/api/read", "/api/edit", "/api/undo", "/api/redo"] {
        for token in [None, Some(""), Some("0123456789abcdef0123456789abcdee")] {
            let mut sent = request(Method::POST, target, "{\"book\":0}");
            sent.headers_mut().remove("x-tabia-token");
            if let Some(token) = token {
                sent.headers_mut()
                    .insert("x-tabia-token", token.parse().unwrap());
            }
            assert_eq!(
                explorer.answer(&sent).status(),
                StatusCode::FORBIDDEN,
                "{target}"
            );
        }
        let mut sent = request(Method::POST, target, "{\"book\":0}");
        sent.headers_mut()
            .insert("content-type", "text/plain".parse().unwrap());
        let response = explorer.answer(&sent);
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let get = explorer.answer(&request(Method::GET, target, ""));
        assert_eq!(get.status(), StatusCode::METHOD_NOT_ALLOWED);
    }
    for method in [Method::PUT, Method::DELETE, Method::OPTIONS, Method::TRACE] {
        let response = explorer.answer(&request(method, "/api/position", ""));
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "GET, HEAD");
    }
    for (method, target, allowed) in [
        (Method::POST, "/masters", "GET, HEAD"),
        (Method::POST, "/monitor", "GET, HEAD"),
        (Method::GET, "/lichess/batch", "POST"),
        (Method::GET, "/api/edit", "POST"),
        (Method::PUT, "/departures", "GET, HEAD, POST"),
        (Method::DELETE, "/api/work", "GET, HEAD, POST"),
    ] {
        let response = explorer.answer(&request(method, target, ""));
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], allowed, "{target}");
    }
}

#[test]
fn invalid_requests_get_a_short_error() {
    let explorer = explorer();
    let long = "A".repeat(60_000);
    let moves = "g1f3,g8f6,f3g1,f6g8,".repeat(2000);
    for query in [
        format!("fen={long}"),
        format!("play={long}"),
        format!("play={moves}"),
        "fen=8/8/8/8/8/8/8/8+w+-+-+0+1".to_owned(),
        "fen=%00%ff%fe".to_owned(),
        "fen=%F0%9F%A6%80".to_owned(),
        "at=minus".to_owned(),
        "Book+Variety=1e9".to_owned(),
        "Book+Preset=Evil".to_owned(),
    ] {
        let response = get(&explorer, &format!("/api/position?{query}"));
        let start: String = query.chars().take(30).collect();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{start}");
        assert!(response.body().len() < 500, "{start}");
    }
}

/// A server on a free port.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn new(limits: Limits) -> Running {
        Running::with(limits, |address| explorer_at(address, false))
    }

    pub(crate) fn with(limits: Limits, explorer: impl FnOnce(&str) -> Explorer) -> Running {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let explorer = Arc::new(explorer(&address.to_string()));
        let stop = Arc::new(Notify::new());
        let notified = Arc::clone(&stop);
        let thread = std::thread::spawn(move || serve(listener, explorer, limits, notified));
        Running {
            address,
            stop,
            thread: Some(thread),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Sends bytes and returns the answer, as far as it can be read.
    pub(crate) fn ask(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes);
        read_all(&mut stream)
    }

    /// Waits until the server answers; the limit is only for one that never does.
    fn becomes_responsive(&self) {
        let start = Instant::now();
        while !self.works() {
            assert!(start.elapsed() < LIMIT);
        }
    }

    fn works(&self) -> bool {
        let text = format!(
            "GET /api/position?play=e2e4 HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            self.address
        );
        self.ask(text.as_bytes()).starts_with("HTTP/1.1 200 OK\r\n")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.notify_one();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

fn read_all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_server_refuses_invalid_connections_and_continues() {
    let server = Running::new(Limits::default());
    let host = server.address;
    assert!(server.works());
    let long = "8/".repeat(500_000);
    let huge = format!(
        "POST /api/read HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 1000000\r\n\r\n{long}"
    );
    for (bytes, expected) in [
        (
            format!("GET /api/position?fen={long} HTTP/1.1\r\nhost: {host}\r\n\r\n"),
            "HTTP/1.1 4",
        ),
        (
            format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: {long}\r\n\r\n"),
            "HTTP/1.1 431",
        ),
        (huge, "HTTP/1.1 413"),
        (
            "GET / HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(),
            "HTTP/1.1 403",
        ),
        (
            "GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n".to_owned(),
            "HTTP/1.1 403",
        ),
        ("\0\0\0\u{1}nonsense\r\n\r\n".to_owned(), "HTTP/1.1 400"),
        (
            format!(
                "GET http://evil.example/ HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
            ),
            "HTTP/1.1 400",
        ),
    ] {
        // A server may close with unread bytes; then the answer can be lost, which counts
        // as a refusal, too.
        let answer = server.ask(bytes.as_bytes());
        let start: String = bytes.chars().take(40).collect();
        let lost = bytes.len() > 100_000 && answer.is_empty();
        assert!(lost || answer.starts_with(expected), "{start}: {answer}");
        assert!(server.works(), "after {start}");
    }
    assert_ne!(ADDRESS, host.to_string());
}

#[test]
fn a_connection_beyond_the_limit_gets_an_error() {
    let mut limits = Limits::default();
    (limits.connections, limits.refusals) = (3, 2);
    let server = Running::new(limits);
    let held: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    // The three are accepted before the next one, in order.
    let answer = server.ask(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.len() < 300);
    drop(held);
    server.becomes_responsive();
}

#[test]
fn a_slow_client_is_disconnected() {
    let mut limits = Limits::default();
    limits.patience = Duration::from_millis(200);
    let server = Running::new(limits);
    // An endless head, an endless body and silence do not occupy a connection for long.
    let host = server.address;
    for begun in [
        String::new(),
        "GET / HTT".to_owned(),
        format!("GET / HTTP/1.1\r\nhost: {host}\r\nx: y\r\n"),
        format!("POST /api/read HTTP/1.1\r\nhost: {host}\r\ncontent-length: 100\r\n\r\n{{"),
    ] {
        let mut stream = server.connect();
        stream.write_all(begun.as_bytes()).unwrap();
        // The other end closes it; else this side's limit would end the reading.
        let end = stream.read_to_end(&mut Vec::new());
        let is_open = end.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(!is_open, "{begun}");
    }
    // This test may be slow if other programs use the processor.
    server.becomes_responsive();
}

#[test]
fn it_ends_despite_an_idle_connection() {
    let an_hour = Duration::from_secs(3600);
    let mut limits = Limits::default();
    (limits.patience, limits.lifetime) = (an_hour, an_hour);
    let server = Running::new(limits);
    let idle = server.connect();
    drop(server);
    drop(idle);
}
