//! Server-sent events: notifications about changed books, and the reports of the engine.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Response;
use hyper::body::{Body, Bytes, Frame};
use hyper::header::CONTENT_TYPE;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::reply::{EVENTS, Subscription};

/// How often an empty event is sent to keep the connection open.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A response body without end: server-sent events.
pub(super) struct Events(mpsc::Receiver<Bytes>);

/// The events of a response, if it is a stream of events: those of its
/// [`Subscription`], else the numbers of `changes`.
pub(super) fn subscription(
    response: &mut Response<Bytes>,
    changes: watch::Receiver<u64>,
) -> Option<Events> {
    if let Some(Subscription(pieces)) = response.extensions_mut().remove() {
        return Some(Events::from_pieces(pieces));
    }
    let kind = response.headers().get(CONTENT_TYPE);
    kind.filter(|kind| *kind == EVENTS)?;
    Some(Events::new(std::mem::take(response.body_mut()), changes))
}

impl Events {
    fn from_pieces(mut pieces: watch::Receiver<Bytes>) -> Events {
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

    /// Sends `first`, then the number of changes, now and whenever it changes.
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
