//! Sockets around [`Explorer::answer`], with limits on everything that a client can make
//! grow: connections, bytes, and time.
//!
//! One thread waits for sockets; a few others make the answers, which may wait for a
//! disk. A connection above the [`Limits`] gets an error and is closed at once.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

use super::events::{Events, subscription};
use super::explorer::Explorer;
use super::message::translatable;
use super::reply::refuse;
use super::route::Route;
use super::work::{self, Gone, Places};
use tabia_io::parallel::lock;

/// Limits of a server for all its clients together.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Number of connections that are served at once.
    pub connections: usize,
    /// Number of further connections that get an error after they have sent their
    /// request; any above these get it at once and are closed, perhaps before they can
    /// read it.
    pub refusals: usize,
    /// Connections of one other machine. This machine has no such limit.
    pub per_peer: usize,
    /// Bytes of a request's first line and headers.
    pub head_bytes: usize,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of a request body with games that the page sends.
    pub games_bytes: usize,
    /// Time limit for sending a request, and for silence between two.
    pub patience: Duration,
    /// Greatest lifetime of a connection.
    pub lifetime: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        // In total below 1024, the usual limit of open files of a process.
        Limits {
            connections: 256,
            refusals: 256,
            per_peer: 32,
            head_bytes: 16 << 10,
            body_bytes: 256 << 10,
            games_bytes: 64 << 20,
            patience: Duration::from_secs(10),
            lifetime: Duration::from_secs(600),
        }
    }
}

/// How often the files of the books are checked while a page is open.
const CHECK_INTERVAL: Duration = Duration::from_millis(300);

/// The answer to a client over the limit.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
    content-length: 32\r\nretry-after: 1\r\nconnection: close\r\n\r\n\
    {\"error\":\"too many connections\"}";

/// Serves until `stop` is notified, then finishes the current answers.
///
/// ```
/// use std::io::{Read as _, Write as _};
/// use std::net::{TcpListener, TcpStream};
/// use std::sync::Arc;
/// use tabia_explorer::{Access, ExploredBook, Explorer, Limits, Notify, Options, serve};
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let address = listener.local_addr()?;
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
/// let books = vec![ExploredBook::from_file(path.as_ref())?];
/// let access = Access::new(address, Access::random_token());
/// let explorer = Arc::new(Explorer::new(books, access, Options::default(), true));
/// let stop = Arc::new(Notify::new());
/// let stopped = Arc::clone(&stop);
/// let server = std::thread::spawn(move || serve(listener, explorer, Limits::default(), stopped));
///
/// let mut client = TcpStream::connect(address)?;
/// let head = format!("GET /monitor HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
/// client.write_all(head.as_bytes())?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer)?;
/// assert!(answer.starts_with("HTTP/1.1 200 "));
///
/// // It finishes the answers that it has begun.
/// stop.notify_one();
/// server.join().map_err(|_| "the server panicked")??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The runtime cannot be started, or the listener is not usable.
pub fn serve(
    listener: TcpListener,
    explorer: Arc<Explorer>,
    limits: Limits,
    stop: Arc<Notify>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(work::THREADS)
        .build()?;
    listener.set_nonblocking(true)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let open = Listening {
            explorer,
            limits,
            served: Arc::new(Semaphore::new(limits.connections)),
            refused: Arc::new(Semaphore::new(limits.refusals)),
            peers: Peers::default(),
            places: Places::default(),
        };
        tokio::select! {
            () = stop.notified() => {}
            () = open.accept(&listener) => {}
            () = reload_changed_books(&open.explorer) => {}
        }
        Ok(())
    })
    // Dropping the runtime waits for running answers, so that no change to a book is
    // interrupted.
}

/// Reopens books that other programs change, for pages that wait for changes.
async fn reload_changed_books(explorer: &Arc<Explorer>) {
    loop {
        sleep(CHECK_INTERVAL).await;
        if explorer.open.is_watched() {
            let explorer = Arc::clone(explorer);
            // Opening a book may wait for the disk.
            let _ = tokio::task::spawn_blocking(move || explorer.open.reload_changed()).await;
        }
    }
}

struct Listening {
    explorer: Arc<Explorer>,
    limits: Limits,
    served: Arc<Semaphore>,
    refused: Arc<Semaphore>,
    peers: Peers,
    places: Places,
}

/// Numbers of connections by machine.
#[derive(Clone, Default)]
struct Peers(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A counted connection, until it is dropped.
struct Slot {
    peers: Peers,
    peer: IpAddr,
}

impl Peers {
    /// Counts one more connection, unless the machine has too many.
    fn slot(&self, peer: IpAddr, most: usize) -> Option<Slot> {
        let mut peers = lock(&self.0);
        let count = peers.entry(peer).or_default();
        if *count >= most && !peer.to_canonical().is_loopback() {
            return None;
        }
        *count += 1;
        let peers = self.clone();
        Some(Slot { peers, peer })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut peers = lock(&self.peers.0);
        if let Some(count) = peers.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                peers.remove(&self.peer);
            }
        }
    }
}

impl Listening {
    async fn accept(&self, listener: &tokio::net::TcpListener) {
        loop {
            let Ok((stream, peer)) = listener.accept().await else {
                // Probably too many open files: try again a little later.
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let slot = self.peers.slot(peer.ip(), self.limits.per_peer);
            let place = slot.and_then(|slot| {
                let place = Arc::clone(&self.served).try_acquire_owned().ok()?;
                Some((slot, place))
            });
            if let Some(place) = place {
                let explorer = Arc::clone(&self.explorer);
                let (limits, places) = (self.limits, self.places.clone());
                tokio::spawn(async move {
                    serve_connection(stream, explorer, limits, (places, peer.ip())).await;
                    drop(place);
                });
            } else if let Ok(place) = Arc::clone(&self.refused).try_acquire_owned() {
                tokio::spawn(async move {
                    let _ = timeout(Duration::from_secs(2), answer_busy(stream)).await;
                    drop(place);
                });
            } else {
                // No slot to read its request: try to send the error, then close.
                let _ = stream.try_write(BUSY);
            }
        }
    }
}

/// Sends a client the error, then reads what it has sent: closing a socket with unread
/// bytes loses the answer.
async fn answer_busy(mut stream: TcpStream) {
    let _ = stream.write_all(BUSY).await;
    let _ = stream.shutdown().await;
    let mut unread = [0; 1024];
    for _ in 0..64 {
        if matches!(stream.read(&mut unread).await, Ok(0) | Err(_)) {
            break;
        }
    }
}

async fn serve_connection(
    stream: TcpStream,
    explorer: Arc<Explorer>,
    limits: Limits,
    client: (Places, IpAddr),
) {
    let service = service_fn(move |request| {
        let (explorer, client) = (Arc::clone(&explorer), client.clone());
        async move { Ok::<_, Infallible>(answer(request, explorer, limits, client).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.patience)
        .max_buf_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), service);
    // Errors of a client concern only that client.
    let _ = timeout(limits.lifetime, connection).await;
}

async fn answer(
    request: Request<Incoming>,
    explorer: Arc<Explorer>,
    limits: Limits,
    (places, peer): (Places, IpAddr),
) -> Response<Either<Full<Bytes>, Events>> {
    let (mut head, body) = request.into_parts();
    let most = match explorer.receives_games(&head) {
        true => limits.games_bytes,
        false => limits.body_bytes,
    };
    let body = Limited::new(body, most).collect();
    let mut response = match timeout(limits.patience, body).await {
        Err(_) => refuse(
            StatusCode::REQUEST_TIMEOUT,
            translatable!("the request took too long"),
        ),
        Ok(Err(error)) if error.is::<LengthLimitError>() => refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            translatable!("the request is too large"),
        ),
        Ok(Err(_)) => refuse(StatusCode::BAD_REQUEST, "the request is broken"),
        Ok(Ok(body)) => {
            let effort = Route::from_path(head.uri.path()).effort();
            // The connection drops this function when its client has gone.
            let gone = Gone::default();
            let _leaving = gone.when_dropped();
            head.extensions.insert(gone);
            let request = Request::from_parts(head, body.to_bytes());
            let answering = Arc::clone(&explorer);
            // A task of its own: a change that waits for its place is made all the same.
            let work = tokio::spawn(async move {
                let place = places.get(effort, peer).await;
                let work = tokio::task::spawn_blocking(move || {
                    let answer = answering.answer(&request);
                    drop(place);
                    answer
                });
                work.await
            });
            let answer = work.await.and_then(|answer| answer);
            answer.unwrap_or_else(|_| {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                refuse(
                    status,
                    translatable!("internal error: please report the address"),
                )
            })
        }
    };
    match subscription(&mut response, explorer.open.changes()) {
        Some(events) => response.map(|_| Either::Right(events)),
        None => response.map(|body| Either::Left(Full::new(body))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, ExploredBook};
    use tabia_choice::settings::Options;
    use tabia_notation::Line;

    #[test]
    fn one_machine_cannot_use_all_connections() {
        let peers = Peers::default();
        let other: IpAddr = "192.0.2.7".parse().unwrap();
        let held: Vec<_> = (0..3).map(|_| peers.slot(other, 3)).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(peers.slot(other, 3).is_none());
        assert!(peers.slot("192.0.2.8".parse().unwrap(), 3).is_some());
        for local in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let local: IpAddr = local.parse().unwrap();
            let many: Vec<_> = (0..9).map(|_| peers.slot(local, 3)).collect();
            assert!(many.iter().all(Option::is_some));
        }
        drop(held);
        assert!(peers.slot(other, 3).is_some());
        assert!(peers.0.lock().unwrap().is_empty());
    }

    #[test]
    fn the_refusal_is_well_formed() {
        let text = std::str::from_utf8(BUSY).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())));
    }

    #[test]
    fn long_answers_end_when_their_client_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg");
        let lines = [(Line::read("", "e2e4,e7e5").unwrap(), Vec::new())];
        tabia_build::write_lines(&lines, &path, None).unwrap();
        let address = "127.0.0.1:8000";
        let explorer = Explorer::new(
            vec![ExploredBook::from_file(&path).unwrap()],
            Access::new(address.parse().unwrap(), "token".into()),
            Options::default(),
            false,
        );
        let games = "[White \"Me\"]\n[Result \"1-0\"]\n\n1. e4 c5 1-0\n\n".repeat(3);
        for (target, body) in [
            ("/departures?player=Me&color=white", games),
            (
                "/lichess/batch",
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n".repeat(3),
            ),
        ] {
            for is_gone in [false, true] {
                let gone = Gone::default();
                let leaving = (!is_gone).then(|| gone.when_dropped());
                if is_gone {
                    drop(gone.when_dropped());
                }
                let request = Request::post(target)
                    .header("host", address)
                    .extension(gone)
                    .body(body.clone().into_bytes().into());
                let status = explorer.answer(&request.unwrap()).status();
                let expected = match is_gone {
                    true => StatusCode::REQUEST_TIMEOUT,
                    false => StatusCode::OK,
                };
                assert_eq!(status, expected, "{target}");
                drop(leaving);
            }
        }
    }
}
