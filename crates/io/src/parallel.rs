//! Parallel work in order, with clean failure.
//!
//! One thread, the coordinator, sends jobs to workers and receives their results in the
//! order of the jobs. The number of jobs in progress is limited, so memory does not grow
//! with their number. Any failure (in finding a job, doing it, or using its result; an error
//! or a panic) ends all threads at once: no thread waits for another that has ended.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Jobs in progress for each worker: one running, one in the queue, and one finished
/// that waits for earlier results.
const JOBS_EACH: u64 = 3;

/// A worker panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("internal error: {0}")]
pub struct Panicked(String);

/// Runs `worker` in several threads and `coordinator` in this one. A worker does jobs with
/// [`Jobs::each`] and then returns a final result. Returns the result of the coordinator and
/// those of the workers, in no particular order.
///
/// # Errors
///
/// The error of the coordinator or of a worker, or a worker's panic. All threads have ended
/// then.
pub fn run<J: Send, P: Send, H: Send, T, E: From<Panicked> + Send>(
    threads: usize,
    worker: impl Fn(&Jobs<J, P, H, E>) -> Result<H, E> + Sync,
    coordinator: impl FnOnce(&mut Coordinator<'_, J, P, H, E>) -> Result<T, E>,
) -> Result<(T, Vec<H>), E> {
    let threads = threads.max(1);
    let (sender, to_do) = channel();
    let (report, reports) = channel();
    let jobs = Jobs {
        to_do: Mutex::new(to_do),
        report,
        pace: Pace::default(),
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let worked = catch_unwind(AssertUnwindSafe(|| worker(&jobs)));
                let worked =
                    worked.unwrap_or_else(|panic| Err(Panicked(panic_text(&*panic)).into()));
                if worked.is_err() {
                    jobs.pace.end();
                }
                let _ = jobs.report.send(WorkerReport::Ended(worked));
            });
        }
        let mut workers = Coordinator {
            pace: &jobs.pace,
            sender: Some(sender),
            reports,
            working: threads,
            most: JOBS_EACH * threads as u64,
            given: 0,
            taken: 0,
            early: BTreeMap::new(),
            held: Vec::new(),
        };
        let result = coordinator(&mut workers)?;
        workers.dismiss()?;
        Ok((result, std::mem::take(&mut workers.held)))
    })
}

/// Does the jobs 0 to `count` on all processors and passes the results to `take` in
/// order.
///
/// # Errors
///
/// As for [`run`].
pub fn in_order<P: Send, E: From<Panicked> + Send>(
    count: u32,
    work: impl Fn(u32) -> Result<P, E> + Sync,
    take: impl FnMut(P) -> Result<(), E>,
) -> Result<(), E> {
    each_in_order(threads().min(8), 0..count, work, take)
}

/// The number of processors.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does jobs in several threads and passes the results to `take` in order.
///
/// # Errors
///
/// As for [`run`].
pub fn each_in_order<J: Send, P: Send, E: From<Panicked> + Send>(
    threads: usize,
    all: impl IntoIterator<Item = J>,
    work: impl Fn(J) -> Result<P, E> + Sync,
    take: impl FnMut(P) -> Result<(), E>,
) -> Result<(), E> {
    run(
        threads,
        |jobs| jobs.each(|job, _| work(job)),
        |coordinator| coordinator.each(all.into_iter().map(Ok), take),
    )?;
    Ok(())
}

/// The message of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no reason was given".to_owned())
}

/// What a worker reports to the coordinator.
enum WorkerReport<P, H, E> {
    Done(u64, P),
    Ended(Result<H, E>),
}

/// The jobs, as a worker sees them.
pub struct Jobs<J, P, H, E> {
    to_do: Mutex<Receiver<(u64, J)>>,
    report: Sender<WorkerReport<P, H, E>>,
    pace: Pace,
}

/// The order of jobs that must do some step one after the other.
#[derive(Default)]
struct Pace {
    /// Set when a worker failed.
    over: AtomicBool,
    turns: Mutex<Turns>,
    turned: Condvar,
}

#[derive(Default)]
struct Turns {
    next: u64,
    /// Later jobs that do not need their turn any more.
    passed: BTreeSet<u64>,
}

/// Locks a mutex also after a panic of another thread, for values that no panic leaves half
/// changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<J, P, H, E> Jobs<J, P, H, E> {
    /// Does jobs until there are no more.
    ///
    /// # Errors
    ///
    /// The first error of `work`.
    pub fn each(&self, mut work: impl FnMut(J, &Turn<'_>) -> Result<P, E>) -> Result<(), E> {
        loop {
            // Receives with the lock held: the worker that has the lock gets the next
            // job.
            let job = lock(&self.to_do).recv();
            let Ok((number, job)) = job else {
                return Ok(());
            };
            if self.pace.over.load(Relaxed) {
                return Ok(());
            }
            let turn = Turn {
                pace: &self.pace,
                number,
            };
            let piece = work(job, &turn)?;
            turn.pass();
            if self.report.send(WorkerReport::Done(number, piece)).is_err() {
                return Ok(());
            }
        }
    }
}

impl Pace {
    fn end(&self) {
        // Locked first, because another thread may be about to wait.
        let _turns = lock(&self.turns);
        self.over.store(true, Relaxed);
        self.turned.notify_all();
    }
}

/// The position of a job in the order of all jobs.
pub struct Turn<'c> {
    pace: &'c Pace,
    number: u64,
}

impl Turn<'_> {
    /// Number of jobs sent before this one.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits until all earlier jobs are done or have called [pass](Turn::pass). False
    /// if the work is over because a worker failed.
    #[must_use]
    pub fn wait(&self) -> bool {
        let turns = lock(&self.pace.turns);
        let over = || self.pace.over.load(Relaxed);
        let turns = self
            .pace
            .turned
            .wait_while(turns, |turns| turns.next < self.number && !over());
        drop(turns);
        !over()
    }

    /// Lets the next job continue before this one ends.
    pub fn pass(&self) {
        let mut turns = lock(&self.pace.turns);
        if self.number < turns.next {
            return;
        }
        turns.passed.insert(self.number);
        while turns.passed.first() == Some(&turns.next) {
            turns.passed.pop_first();
            turns.next += 1;
        }
        self.pace.turned.notify_all();
    }
}

/// The jobs, as the coordinator sees them.
pub struct Coordinator<'c, J, P, H, E> {
    pace: &'c Pace,
    /// `None` when no more jobs will be sent.
    sender: Option<Sender<(u64, J)>>,
    reports: Receiver<WorkerReport<P, H, E>>,
    /// Number of workers that have not ended.
    working: usize,
    most: u64,
    given: u64,
    taken: u64,
    /// Results that arrived before those of earlier jobs.
    early: BTreeMap<u64, P>,
    /// Final results of the workers that have ended.
    held: Vec<H>,
}

impl<J, P, H, E: From<Panicked>> Coordinator<'_, J, P, H, E> {
    /// Sends all jobs, and passes their results to `take` in order.
    ///
    /// # Errors
    ///
    /// A job cannot be found, a worker failed, or `take` fails.
    pub fn each(
        &mut self,
        all: impl IntoIterator<Item = Result<J, E>>,
        mut take: impl FnMut(P) -> Result<(), E>,
    ) -> Result<(), E> {
        for job in all {
            self.give(job?);
            while let Some(made) = self.ready()? {
                take(made)?;
            }
        }
        while let Some(made) = self.rest()? {
            take(made)?;
        }
        Ok(())
    }

    /// Sends a job. Afterwards call [`Coordinator::ready`] until it returns `None`, to stay
    /// within the limit of jobs in progress.
    pub fn give(&mut self, job: J) {
        if let Some(sender) = &self.sender
            && sender.send((self.given, job)).is_ok()
        {
            self.given += 1;
        }
    }

    /// The next result, if it is available. Waits for it if the limit of jobs in
    /// progress is reached.
    ///
    /// # Errors
    ///
    /// A worker failed.
    pub fn ready(&mut self) -> Result<Option<P>, E> {
        self.next(self.most)
    }

    /// Waits for the next result. `None` when no job is in progress.
    ///
    /// # Errors
    ///
    /// A worker failed.
    pub fn rest(&mut self) -> Result<Option<P>, E> {
        self.next(1)
    }

    /// The next result; waits for it if `most` jobs are in progress.
    fn next(&mut self, most: u64) -> Result<Option<P>, E> {
        loop {
            if let Some(piece) = self.early.remove(&self.taken) {
                self.taken += 1;
                return Ok(Some(piece));
            }
            let report = if self.given - self.taken >= most {
                self.reports.recv().ok()
            } else {
                self.reports.try_recv().ok()
            };
            match report {
                Some(report) => self.receive(report)?,
                None => return Ok(None),
            }
        }
    }

    fn receive(&mut self, report: WorkerReport<P, H, E>) -> Result<(), E> {
        match report {
            WorkerReport::Done(number, piece) => {
                self.early.insert(number, piece);
            }
            WorkerReport::Ended(worked) => {
                self.held.push(worked?);
                self.working -= 1;
                if self.working == 0 && self.given > self.taken + self.early.len() as u64 {
                    return Err(Panicked("some jobs were not done".to_owned()).into());
                }
            }
        }
        Ok(())
    }

    /// Waits for the final results of the workers.
    fn dismiss(&mut self) -> Result<(), E> {
        self.sender = None;
        while self.working > 0
            && let Ok(report) = self.reports.recv()
        {
            self.receive(report)?;
        }
        Ok(())
    }
}

impl<J, P, H, E> Drop for Coordinator<'_, J, P, H, E> {
    fn drop(&mut self) {
        self.pace.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    #[derive(Debug, PartialEq, thiserror::Error)]
    enum Failure {
        #[error("full")]
        Full,
        #[error(transparent)]
        Panicked(#[from] Panicked),
    }

    /// Squares numbers; the arguments decide what fails.
    fn squares(
        count: u64,
        work: impl Fn(u64) -> Result<u64, Failure> + Sync,
        take: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        run(
            4,
            |jobs| {
                jobs.each(|job, turn| {
                    if job % 3 == 0 && !turn.wait() {
                        return Ok(0);
                    }
                    work(job)
                })
            },
            |coordinator| coordinator.each((0..count).map(Ok), take),
        )
        .map(drop)
    }

    #[test]
    fn pieces_come_in_the_order_of_the_jobs() {
        let mut taken = Vec::new();
        // Every third job is done later than the next one.
        let done: Vec<OnceLock<()>> = (0..=500).map(|_| OnceLock::new()).collect();
        let slow = |job: u64| {
            if job % 3 == 1 && job < 499 {
                done[job as usize + 1].wait();
            }
            let _ = done[job as usize].set(());
            Ok(job * job)
        };
        squares(500, slow, |piece| {
            taken.push(piece);
            Ok(())
        })
        .unwrap();
        assert!(taken.into_iter().eq((0..500).map(|job| job * job)));
    }

    /// Also if every worker fails, and if some wait for their turn.
    #[test]
    fn a_failing_worker_ends_the_work() {
        for first in [0, 1, 37, 499] {
            let work = |job| {
                if job >= first {
                    Err(Failure::Full)
                } else {
                    Ok(job)
                }
            };
            let done = squares(500, work, |_| Ok(()));
            assert_eq!(done, Err(Failure::Full), "{first}");
        }
    }

    #[test]
    fn a_panic_ends_the_work_with_its_words() {
        let work = |job| {
            assert_ne!(job, 40, "forty");
            Ok(job)
        };
        let done = squares(500, work, |_| Ok(()));
        let Err(Failure::Panicked(panic)) = done else {
            panic!("{done:?}");
        };
        assert!(panic.to_string().contains("forty"), "{panic}");
    }

    #[test]
    fn a_failing_lead_ends_the_work() {
        let take = |piece| {
            if piece > 100 {
                return Err(Failure::Full);
            }
            Ok(())
        };
        assert_eq!(squares(500, Ok, take), Err(Failure::Full));
    }

    /// The final result of a worker may be an error too.
    #[test]
    fn handing_over_may_fail() {
        let worker = |jobs: &Jobs<u64, (), (), Failure>| {
            jobs.each(|_, _| Ok(()))?;
            Err(Failure::Full)
        };
        let done = run(2, worker, |coordinator| {
            coordinator.give(1);
            coordinator.rest()
        });
        assert_eq!(done, Err(Failure::Full));
    }
}
