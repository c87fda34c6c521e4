//! Parallel work in order, with clean failure.
//!
//! One thread, the coordinator, sends jobs to workers and receives their results in the
//! order of the jobs. The number of jobs in progress is limited, so memory does not grow
//! with their number. Any failure (in finding a job, doing it, or using its result; an error
//! or a panic) ends all threads at once: no thread waits for another that has ended.
//!
//! Where there are no threads (WebAssembly in browsers) the coordinator does the jobs itself
//! whenever it would wait for one.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Jobs in progress for each worker: one running, one in the queue, and one finished
/// that waits for earlier results.
const JOBS_EACH: u64 = 3;

/// Whether this system has threads.
const HAS_THREADS: bool = cfg!(not(all(
    target_family = "wasm",
    not(target_feature = "atomics")
)));

/// A worker panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("internal error: {0}")]
pub struct Panicked(String);

/// Runs `worker` in so many threads, or in as many as the system starts, and `coordinator` in
/// this one. A worker does jobs with
/// [`Jobs::each`] and then returns a final result. Returns the result of the coordinator and
/// the final results of the workers, in no particular order. Without threads a worker ends when it has
/// done the jobs that wait, and another one begins with the next: there are as many as needed.
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
    match HAS_THREADS {
        true => in_threads(threads.max(1), worker, coordinator),
        false => here(worker, coordinator),
    }
}

fn in_threads<J: Send, P: Send, H: Send, T, E: From<Panicked> + Send>(
    threads: usize,
    worker: impl Fn(&Jobs<J, P, H, E>) -> Result<H, E> + Sync,
    coordinator: impl FnOnce(&mut Coordinator<'_, J, P, H, E>) -> Result<T, E>,
) -> Result<(T, Vec<H>), E> {
    let (sender, jobs, reports) = Jobs::new(true);
    thread::scope(|scope| {
        let work = || {
            let worked = guarded(|| worker(&jobs));
            if worked.is_err() {
                jobs.pace.end();
            }
            let _ = jobs.report.send(WorkerReport::Ended(worked));
        };
        let mut begun = 0;
        while begun < threads {
            // A system has a limit, and other programs have threads, too.
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(_) => begun += 1,
                Err(error) if begun == 0 => {
                    return Err(Panicked(format!("no thread can be started: {error}")).into());
                }
                Err(_) => break,
            }
        }
        let workers = Workers::Threads(begun);
        Coordinator::new(&jobs.pace, sender, reports, workers).lead(coordinator)
    })
}

/// As [`in_threads`], in this thread alone.
fn here<J, P, H, T, E: From<Panicked>>(
    worker: impl Fn(&Jobs<J, P, H, E>) -> Result<H, E>,
    coordinator: impl FnOnce(&mut Coordinator<'_, J, P, H, E>) -> Result<T, E>,
) -> Result<(T, Vec<H>), E> {
    let (sender, jobs, reports) = Jobs::new(false);
    let work = || guarded(|| worker(&jobs));
    Coordinator::new(&jobs.pace, sender, reports, Workers::Here(&work)).lead(coordinator)
}

/// A panic as an error.
fn guarded<H, E: From<Panicked>>(work: impl FnOnce() -> Result<H, E>) -> Result<H, E> {
    let worked = catch_unwind(AssertUnwindSafe(work));
    worked.unwrap_or_else(|panic| Err(Panicked(panic_text(&*panic)).into()))
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
    each_in_order(workers(), 0..count, work, take)
}

/// The number of threads of [`in_order`]: more would need more memory, and wait for the one
/// that takes the results.
pub fn workers() -> usize {
    threads().min(8)
}

/// The greatest number of threads that a user may ask for.
pub const MOST_THREADS: u16 = u16::MAX;

/// The number of processors.
pub fn threads() -> usize {
    // Linux reads several files of the control group for it, which a walk would do at each ply.
    static THREADS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *THREADS
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

fn not_done() -> Panicked {
    Panicked("some jobs were not done".to_owned())
}

/// The message of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no reason was given".to_owned())
}

type Reports<P, H, E> = Receiver<WorkerReport<P, H, E>>;

/// What a worker reports to the coordinator.
enum WorkerReport<P, H, E> {
    Done(u64, P),
    Ended(Result<H, E>),
}

/// The jobs, as a worker sees them.
pub struct Jobs<J, P, H, E> {
    to_do: Mutex<Receiver<(u64, J)>>,
    /// Whether more jobs may come while a worker waits.
    waits: bool,
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
    /// The jobs, where to send them, and where their results come from.
    #[allow(clippy::type_complexity)]
    fn new(waits: bool) -> (Sender<(u64, J)>, Jobs<J, P, H, E>, Reports<P, H, E>) {
        let (sender, to_do) = channel();
        let (report, reports) = channel();
        let jobs = Jobs {
            to_do: Mutex::new(to_do),
            waits,
            report,
            pace: Pace::default(),
        };
        (sender, jobs, reports)
    }

    /// Does jobs until there are no more.
    ///
    /// # Errors
    ///
    /// The first error of `work`.
    pub fn each(&self, mut work: impl FnMut(J, &Turn<'_>) -> Result<P, E>) -> Result<(), E> {
        loop {
            // Receives with the lock held: the worker that has the lock gets the next
            // job.
            let job = match self.waits {
                true => lock(&self.to_do).recv().ok(),
                false => lock(&self.to_do).try_recv().ok(),
            };
            let Some((number, job)) = job else {
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

/// Who does the jobs.
enum Workers<'c, H, E> {
    /// So many threads that have not ended.
    Threads(usize),
    /// This thread, which does all jobs that wait.
    Here(&'c dyn Fn() -> Result<H, E>),
}

/// The jobs, as the coordinator sees them.
pub struct Coordinator<'c, J, P, H, E> {
    pace: &'c Pace,
    /// `None` when no more jobs will be sent.
    sender: Option<Sender<(u64, J)>>,
    reports: Reports<P, H, E>,
    workers: Workers<'c, H, E>,
    most: u64,
    given: u64,
    taken: u64,
    /// Results that arrived before the results of earlier jobs.
    early: BTreeMap<u64, P>,
    /// Final results of the workers that have ended.
    held: Vec<H>,
}

impl<'c, J, P, H, E: From<Panicked>> Coordinator<'c, J, P, H, E> {
    fn new(
        pace: &'c Pace,
        sender: Sender<(u64, J)>,
        reports: Reports<P, H, E>,
        workers: Workers<'c, H, E>,
    ) -> Coordinator<'c, J, P, H, E> {
        let threads = match workers {
            Workers::Threads(threads) => threads,
            Workers::Here(_) => 1,
        };
        Coordinator {
            pace,
            sender: Some(sender),
            reports,
            workers,
            most: JOBS_EACH * threads as u64,
            given: 0,
            taken: 0,
            early: BTreeMap::new(),
            held: Vec::new(),
        }
    }

    fn lead<T>(
        mut self,
        coordinator: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<(T, Vec<H>), E> {
        let result = coordinator(&mut self)?;
        self.dismiss()?;
        Ok((result, std::mem::take(&mut self.held)))
    }

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
            let is_due = self.given - self.taken >= most;
            let report = match self.workers {
                Workers::Threads(_) if is_due => self.reports.recv().ok(),
                Workers::Here(work) if is_due => match self.reports.try_recv() {
                    Ok(report) => Some(report),
                    Err(_) => {
                        self.held.push(work()?);
                        Some(self.reports.try_recv().map_err(|_| not_done())?)
                    }
                },
                _ => self.reports.try_recv().ok(),
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
                if let Workers::Threads(working) = &mut self.workers {
                    *working -= 1;
                    if *working == 0 && self.given > self.taken + self.early.len() as u64 {
                        return Err(not_done().into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits for the final results of the workers.
    fn dismiss(&mut self) -> Result<(), E> {
        self.sender = None;
        if let Workers::Here(work) = self.workers {
            self.held.push(work()?);
        }
        while matches!(self.workers, Workers::Threads(1..))
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

    /// In four threads, and in none.
    const BOTH: [bool; 2] = [true, false];

    /// Squares numbers; the arguments decide what fails.
    fn squares(
        threads: bool,
        count: u64,
        work: impl Fn(u64) -> Result<u64, Failure> + Sync,
        take: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let worker = |jobs: &Jobs<_, _, _, _>| {
            jobs.each(|job, turn| {
                if job % 3 == 0 && !turn.wait() {
                    return Ok(0);
                }
                work(job)
            })
        };
        let coordinator =
            |lead: &mut Coordinator<'_, _, _, _, _>| lead.each((0..count).map(Ok), take);
        match threads {
            true => in_threads(4, worker, coordinator).map(drop),
            false => here(worker, coordinator).map(drop),
        }
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
        let mut take = |piece| {
            taken.push(piece);
            Ok(())
        };
        squares(true, 500, slow, &mut take).unwrap();
        squares(false, 500, |job| Ok(job * job), &mut take).unwrap();
        let expected = (0..500).map(|job| job * job);
        assert!(taken.into_iter().eq(expected.clone().chain(expected)));
    }

    /// A final result each time that the coordinator has to wait, and one at the end.
    #[test]
    fn without_threads_every_job_is_done_once() {
        for count in [0, 1, 2, 3, 4, 10] {
            let worker = |jobs: &Jobs<u64, u64, u64, Failure>| {
                let mut sum = 0;
                jobs.each(|job, _| {
                    sum += job;
                    Ok(job)
                })?;
                Ok(sum)
            };
            let mut taken = 0;
            let (result, held) = here(worker, |lead| {
                (0..count).for_each(|job| lead.give(job));
                while let Some(job) = lead.ready()? {
                    taken += job;
                }
                Ok(taken)
            })
            .unwrap();
            let sum: u64 = (0..count).sum();
            assert_eq!(held.iter().sum::<u64>(), sum, "{count}");
            assert!(result == sum || count < JOBS_EACH, "{count}");
        }
    }

    #[test]
    fn without_threads_a_job_left_is_an_error() {
        let lazy = |_: &Jobs<u64, u64, (), Failure>| Ok(());
        let done = here(lazy, |lead| lead.each((0..9).map(Ok), |_| Ok(())));
        assert!(matches!(done, Err(Failure::Panicked(_))), "{done:?}");
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
            for threads in BOTH {
                let done = squares(threads, 500, work, |_| Ok(()));
                assert_eq!(done, Err(Failure::Full), "{first}");
            }
        }
    }

    #[test]
    fn a_panic_ends_the_work_with_its_words() {
        let work = |job| {
            assert_ne!(job, 40, "forty");
            Ok(job)
        };
        for threads in BOTH {
            let done = squares(threads, 500, work, |_| Ok(()));
            let Err(Failure::Panicked(panic)) = done else {
                panic!("{done:?}");
            };
            assert!(panic.to_string().contains("forty"), "{panic}");
        }
    }

    #[test]
    fn a_failing_lead_ends_the_work() {
        let take = |piece| {
            if piece > 100 {
                return Err(Failure::Full);
            }
            Ok(())
        };
        for threads in BOTH {
            assert_eq!(squares(threads, 500, Ok, take), Err(Failure::Full));
        }
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
