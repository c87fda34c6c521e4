//! Which requests are answered at once: a long one never takes the thread of a short one.
//!
//! Short answers have threads that nothing else uses. Long ones (departures of thousands of
//! games) and changes (a deletion in a large book) wait for a place of their kind; another
//! machine gets one place for long answers at a time. A long answer ends when its client has
//! gone; a change that was sent goes on.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use tabia_io::parallel::lock;

/// How long a request may take, and what that may hold up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Some look-ups.
    Short,
    /// Reads many games or many positions; nobody needs it when its client has gone.
    Long,
    /// Changes a book or makes an index, after other changes of that book; it goes on when
    /// its client has gone.
    Change,
}

/// Threads that only short answers use.
const SHORT: usize = 4;

/// Long answers, and changes, that are made at once.
const LONG: usize = 2;
const CHANGES: usize = 2;

/// Threads for answers.
pub(super) const THREADS: usize = SHORT + LONG + CHANGES;

/// Whether the client of a request has gone: a value of the extensions of a request, which
/// long answers look at.
#[derive(Clone, Debug, Default)]
pub(super) struct Gone(Arc<AtomicBool>);

impl Gone {
    pub(super) fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The client has gone, or has its answer, when this is dropped.
    pub(super) fn when_dropped(&self) -> Leaving {
        Leaving(self.clone())
    }
}

pub(super) struct Leaving(Gone);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// The places for long answers and for changes.
#[derive(Clone)]
pub(super) struct Places {
    long: Arc<Semaphore>,
    changes: Arc<Semaphore>,
    /// Places of other machines for long answers, while they have requests.
    machines: Arc<Mutex<HashMap<IpAddr, Arc<Semaphore>>>>,
}

/// What a request holds while it is answered.
#[derive(Default)]
pub(super) struct HeldPlaces {
    _held: Vec<OwnedSemaphorePermit>,
}

impl Default for Places {
    fn default() -> Places {
        Places {
            long: Arc::new(Semaphore::new(LONG)),
            changes: Arc::new(Semaphore::new(CHANGES)),
            machines: Arc::default(),
        }
    }
}

impl Places {
    /// Waits until a request of a machine may be answered.
    pub(super) async fn get(&self, effort: Effort, peer: IpAddr) -> HeldPlaces {
        let wanted = match effort {
            Effort::Short => Vec::new(),
            Effort::Long => self
                .of(peer)
                .into_iter()
                .chain([self.long.clone()])
                .collect(),
            Effort::Change => vec![self.changes.clone()],
        };
        let mut place = HeldPlaces::default();
        for semaphore in wanted {
            // They are never closed.
            place._held.extend(semaphore.acquire_owned().await.ok());
        }
        place
    }

    /// The place of another machine.
    fn of(&self, peer: IpAddr) -> Option<Arc<Semaphore>> {
        if peer.to_canonical().is_loopback() {
            return None;
        }
        let mut machines = lock(&self.machines);
        machines.retain(|_, place| Arc::strong_count(place) > 1);
        let place = machines.entry(peer);
        Some(place.or_insert_with(|| Arc::new(Semaphore::new(1))).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn long_answers_leave_short_ones_their_threads() {
        let places = Places::default();
        let get = |effort, peer: &str| {
            let waiting = pin!(places.get(effort, peer.parse().unwrap()));
            let mut waiting = waiting;
            match waiting
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
            {
                Poll::Ready(place) => Some(place),
                Poll::Pending => None,
            }
        };
        let own = "127.0.0.1";
        let first = get(Effort::Long, "192.0.2.7");
        assert!(first.is_some());
        // One machine gets one place, and nobody more than there are.
        assert!(get(Effort::Long, "192.0.2.7").is_none());
        let second = get(Effort::Long, own);
        assert!(second.is_some() && get(Effort::Long, own).is_none());
        assert!(get(Effort::Long, "192.0.2.8").is_none());
        let short: Vec<_> = (0..100).map(|_| get(Effort::Short, own)).collect();
        assert!(short.iter().all(Option::is_some));
        let changes: Vec<_> = (0..3).map(|_| get(Effort::Change, own).is_some()).collect();
        assert_eq!(changes, [true; 3]);
        drop(first);
        assert!(get(Effort::Long, "192.0.2.7").is_some());
        assert!(get(Effort::Long, own).is_some());
        drop(second);
        assert!(lock(&places.machines).len() <= 2);
    }

    #[test]
    fn a_client_has_gone_when_its_request_is_dropped() {
        let gone = Gone::default();
        let leaving = gone.when_dropped();
        assert!(!gone.is_gone());
        drop(leaving);
        assert!(gone.is_gone());
    }
}
