//! Pieces of work on all processors, taken in order.

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Does the pieces 0 to `count` on all processors and hands what each gives
/// to `take`, in their order. No piece is begun that is far ahead of the one
/// that is taken, so that memory stays bounded.
///
/// # Errors
///
/// The first of any piece, in their order, or of `take`; nothing new is begun
/// then.
///
/// # Panics
///
/// Where a piece does: nothing new is begun, and all come to an end.
pub(crate) fn in_order<T: Send, E: Send>(
    count: u32,
    work: impl Fn(u32) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, |n| n.get().min(8)) as u32;
    let queue = Queue {
        state: Mutex::new((0, 0)),
        moved: Condvar::new(),
        count,
        ahead: 4 * threads,
    };
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(threads as usize);
        for _ in 0..threads.min(count) {
            let sender = sender.clone();
            let (queue, work) = (&queue, &work);
            scope.spawn(move || {
                let _end = EndOnPanic(queue);
                while let Some(piece) = queue.next() {
                    if sender.send((piece, work(piece))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (piece, done) in receiver {
            waiting.insert(piece, done);
            while let Some(done) = waiting.remove(&due) {
                if let Err(error) = done.and_then(&mut take) {
                    queue.end();
                    return Err(error);
                }
                due += 1;
                queue.taken(due);
            }
        }
        Ok(())
    })
}

/// Which piece comes next.
struct Queue {
    /// The next one to begin, and the next one to be taken.
    state: Mutex<(u32, u32)>,
    moved: Condvar,
    count: u32,
    /// How far the first may be ahead of the second.
    ahead: u32,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, (u32, u32)> {
        // Two numbers cannot be half-written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<u32> {
        let far = |state: &mut (u32, u32)| state.0 < self.count && state.0 >= state.1 + self.ahead;
        let waited = self.moved.wait_while(self.lock(), far);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let piece = state.0;
        (piece < self.count).then(|| {
            state.0 += 1;
            piece
        })
    }

    fn taken(&self, due: u32) {
        self.lock().1 = due;
        self.moved.notify_all();
    }

    fn end(&self) {
        self.lock().0 = self.count;
        self.moved.notify_all();
    }
}

struct EndOnPanic<'q>(&'q Queue);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn pieces_are_taken_in_order_and_not_begun_far_ahead() {
        let (taken, ahead) = (AtomicU32::new(0), AtomicU32::new(0));
        let mut all = Vec::new();
        let done: Result<(), ()> = in_order(
            500,
            |piece| {
                ahead.fetch_max(piece - taken.load(Ordering::Relaxed), Ordering::Relaxed);
                if piece % 50 == 0 {
                    thread::sleep(std::time::Duration::from_millis(5));
                }
                Ok(piece)
            },
            |piece| {
                taken.fetch_add(1, Ordering::Relaxed);
                all.push(piece);
                Ok(())
            },
        );
        assert!(done.is_ok() && all.into_iter().eq(0..500));
        assert!(ahead.into_inner() <= 4 * 8 + 1);
    }

    #[test]
    fn the_first_error_in_order_ends_it() {
        let mut all = Vec::new();
        let done = in_order(
            1000,
            |piece| if piece >= 20 { Err(piece) } else { Ok(piece) },
            |piece| {
                all.push(piece);
                Ok(())
            },
        );
        assert_eq!((done, all.len()), (Err(20), 20));
        assert_eq!(in_order(1000, Ok, |_| Err("full")), Err("full"));
    }

    #[test]
    fn a_panic_ends_it() {
        let done = std::panic::catch_unwind(|| {
            in_order::<_, ()>(
                100_000,
                |piece| {
                    assert_ne!(piece, 10);
                    Ok(())
                },
                |()| Ok(()),
            )
        });
        assert!(done.is_err());
    }
}
