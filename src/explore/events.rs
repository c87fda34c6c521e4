//! What pages are told without asking: that a book has changed.

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
pub(super) fn tells(response: &Response<Bytes>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind == EVENTS)
}

/// A body that never ends by itself: server-sent events.
pub(super) struct Events(mpsc::Receiver<Bytes>);

impl Events {
    /// Begins with `first`, then says each time that `changes` counts on.
    pub(super) fn new(first: Bytes, mut changes: watch::Receiver<u64>) -> Events {
        let (sender, receiver) = mpsc::channel(4);
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
