//! Work in several threads, in order, failing well.
//!
//! One thread, the lead, gives jobs and takes what was made of them, in the order of
//! the jobs; workers do them. So many are under way at most that memory does not grow
//! with their number. Whatever fails (finding a job, doing it, taking its piece; an
//! error or a panic) ends the whole at once: no thread waits for another that has
//! ended.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Jobs under way for each worker: one that it does, one that waits for it, and
/// one that waits for its turn to be taken.
const JOBS_EACH: u64 = 3;

/// A worker panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fault in tabia itself ended the work: {0}")]
pub struct Panicked(String);

/// Runs `worker` in some threads and `lead` in this one. A worker does jobs with
/// [`Jobs::each`], and then returns a last result. The results of the workers come
/// with that of the lead, in no particular order.
///
/// # Errors
///
/// The error of the lead or of a worker, or a worker's panic. All have ended then.
pub fn run<J: Send, P: Send, H: Send, T, E: From<Panicked> + Send>(
    threads: usize,
    worker: impl Fn(&Jobs<J, P, H, E>) -> Result<H, E> + Sync,
    lead: impl FnOnce(&mut Lead<'_, J, P, H, E>) -> Result<T, E>,
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
        let mut workers = Lead {
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
        let led = lead(&mut workers)?;
        workers.dismiss()?;
        Ok((led, std::mem::take(&mut workers.held)))
    })
}

/// Does the pieces 0 to `count` on all processors and hands what each gives to
/// `take`, in their order.
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

/// One for each processor.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does jobs in some threads and hands what each gives to `take`, in their
/// order.
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
        |lead| lead.each(all.into_iter().map(Ok), take),
    )?;
    Ok(())
}

/// The message of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it did not say why".to_owned())
}

/// What a worker reports to the lead.
enum WorkerReport<P, H, E> {
    Done(u64, P),
    Ended(Result<H, E>),
}

/// The workers' side.
pub struct Jobs<J, P, H, E> {
    to_do: Mutex<Receiver<(u64, J)>>,
    report: Sender<WorkerReport<P, H, E>>,
    pace: Pace,
}

/// Whose turn it is, where jobs must do something one after the other.
#[derive(Default)]
struct Pace {
    /// Some worker failed.
    over: AtomicBool,
    turns: Mutex<Turns>,
    turned: Condvar,
}

#[derive(Default)]
struct Turns {
    next: u64,
    /// Later ones that need none any more.
    passed: BTreeSet<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<J, P, H, E> Jobs<J, P, H, E> {
    /// Does jobs as long as there are any.
    ///
    /// # Errors
    ///
    /// The first error of `work`.
    pub fn each(&self, mut work: impl FnMut(J, &Turn<'_>) -> Result<P, E>) -> Result<(), E> {
        loop {
            // Waits with the lock held: the worker that gets the lock gets the next job.
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
        // With the lock, or another thread might just be about to wait.
        let _turns = lock(&self.turns);
        self.over.store(true, Relaxed);
        self.turned.notify_all();
    }
}

/// The place of a job among the others.
pub struct Turn<'c> {
    pace: &'c Pace,
    number: u64,
}

impl Turn<'_> {
    /// How many jobs were given before this one.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits until all jobs before this one are done or have let it
    /// [pass](Turn::pass). False if the work is over: some worker has failed.
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

    /// The next job need not wait for the end of this one.
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

/// The lead's side.
pub struct Lead<'c, J, P, H, E> {
    pace: &'c Pace,
    /// `None` when no more jobs will come.
    sender: Option<Sender<(u64, J)>>,
    reports: Receiver<WorkerReport<P, H, E>>,
    /// Workers that have not ended.
    working: usize,
    most: u64,
    given: u64,
    taken: u64,
    /// Made before those that are before them.
    early: BTreeMap<u64, P>,
    /// What the workers that have ended handed over.
    held: Vec<H>,
}

impl<J, P, H, E: From<Panicked>> Lead<'_, J, P, H, E> {
    /// Gives all jobs, and hands what is made of each to `take`, in their
    /// order.
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

    /// Gives a job. Then take what is [ready](Lead::ready) until there is
    /// nothing: that keeps the number of jobs under way within its limit.
    pub fn give(&mut self, job: J) {
        if let Some(sender) = &self.sender
            && sender.send((self.given, job)).is_ok()
        {
            self.given += 1;
        }
    }

    /// The next piece, if it is made. Waits for it where as many jobs are
    /// under way as may be.
    ///
    /// # Errors
    ///
    /// A worker failed.
    pub fn ready(&mut self) -> Result<Option<P>, E> {
        self.next(self.most)
    }

    /// The next piece; waits for it. `None` when no job is under way.
    ///
    /// # Errors
    ///
    /// A worker failed.
    pub fn rest(&mut self) -> Result<Option<P>, E> {
        self.next(1)
    }

    /// The next piece; waits for it if `most` jobs are under way.
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
                    return Err(Panicked("jobs were left undone".to_owned()).into());
                }
            }
        }
        Ok(())
    }

    /// Waits until the workers have handed over what they hold.
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

impl<J, P, H, E> Drop for Lead<'_, J, P, H, E> {
    fn drop(&mut self) {
        if self.working > 0 {
            self.pace.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
            |lead| lead.each((0..count).map(Ok), take),
        )
        .map(drop)
    }

    #[test]
    fn pieces_come_in_the_order_of_the_jobs() {
        let mut taken = Vec::new();
        let slow = |job: u64| {
            thread::sleep(Duration::from_micros(job * 7919 % 300));
            Ok(job * job)
        };
        squares(500, slow, |piece| {
            taken.push(piece);
            Ok(())
        })
        .unwrap();
        assert!(taken.into_iter().eq((0..500).map(|job| job * job)));
    }

    /// Also where every worker fails, and where some wait for their turn.
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

    /// What a worker holds at the end may fail too.
    #[test]
    fn handing_over_may_fail() {
        let worker = |jobs: &Jobs<u64, (), (), Failure>| {
            jobs.each(|_, _| Ok(()))?;
            Err(Failure::Full)
        };
        let done = run(2, worker, |lead| {
            lead.give(1);
            lead.rest()
        });
        assert_eq!(done, Err(Failure::Full));
    }
}
