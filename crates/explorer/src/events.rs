//! What pages are told without asking: that a book has changed, and what an
//! engine thinks meanwhile.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Response;
use hyper::body::{Body, Bytes, Frame};
use hyper::header::CONTENT_TYPE;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::reply::EVENTS;

/// How often a page hears that the connection still stands.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Whether a response goes on telling.
fn tells(response: &Response<Bytes>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind == EVENTS)
}

/// A body that never ends by itself: server-sent events.
pub(super) struct Events(mpsc::Receiver<Bytes>);

/// Goes with a response whose body somebody else tells, piece by piece, of
/// which each says all that those before it did: whoever reads slowly misses
/// some, and never the last.
#[derive(Clone)]
pub(super) struct Told(pub(super) watch::Receiver<Bytes>);

/// What a response goes on telling, if it does; others are news of `changes`.
pub(super) fn told(
    response: &mut Response<Bytes>,
    changes: watch::Receiver<u64>,
) -> Option<Events> {
    if let Some(Told(pieces)) = response.extensions_mut().remove() {
        return Some(Events::of(pieces));
    }
    if !tells(response) {
        return None;
    }
    Some(Events::new(std::mem::take(response.body_mut()), changes))
}

impl Events {
    fn of(mut pieces: watch::Receiver<Bytes>) -> Events {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    come = pieces.changed() => if come.is_err() { break },
                    () = sender.closed() => break,
                }
                let piece = pieces.borrow_and_update().clone();
                if sender.send(piece).await.is_err() {
                    break;
                }
            }
        });
        Events(receiver)
    }

    /// Begins with `first`, then tells the number of changes, now and each time
    /// that there is another.
    fn new(first: Bytes, mut changes: watch::Receiver<u64>) -> Events {
        let (sender, receiver) = mpsc::channel(4);
        changes.mark_changed();
        tokio::spawn(async move {
            let mut next = first;
            // Ends when the page has gone.
            while sender.send(next).await.is_ok() {
                next = match timeout(HEARTBEAT, changes.changed()).await {
                    Ok(Ok(())) => {
                        let count = *changes.borrow_and_update();
                        format!("event: change\ndata: {count}\n\n").into()
                    }
                    Ok(Err(_)) => break,
                    Err(_) => Bytes::from_static(b":\n\n"),
                };
            }
        });
        Events(receiver)
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.0.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
