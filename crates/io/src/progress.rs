//! Progress of long work, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};

/// The state of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The current step: "reading", "writing", ...
    pub stage: &'static str,
    /// Of what: "pages", "positions" or "games".
    pub unit: &'static str,
    /// Number of units done.
    pub done: u64,
    /// Total number of units, if known; it may come from a header that is wrong.
    pub total: Option<u64>,
    /// Bytes read, and the total if known, for files whose units are not counted.
    pub bytes: Option<(u64, Option<u64>)>,
}

impl Progress {
    /// The progress in pages, positions or games; `total` may be unknown.
    #[must_use]
    pub fn new(stage: &'static str, unit: &'static str, done: u64, total: Option<u64>) -> Progress {
        Progress {
            stage,
            unit,
            done,
            total,
            bytes: None,
        }
    }

    /// The progress of reading files.
    #[must_use]
    pub fn reading(unit: &'static str, done: u64, bytes: u64, of_bytes: Option<u64>) -> Progress {
        Progress {
            bytes: Some((bytes, of_bytes)),
            ..Progress::new("reading", unit, done, None)
        }
    }
}

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted; nothing was changed")]
pub struct Stopped;

/// A flag that cancels long work in all its threads; [`Stop::default`] never does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'a>(Option<&'a AtomicBool>);

impl Stop<'_> {
    /// Checks for cancellation.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn go_on(self) -> Result<(), Stopped> {
        match self.0 {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Stopped),
            _ => Ok(()),
        }
    }
}

/// Receives the progress of long work, and may cancel it; [`Watch::default`] does
/// neither.
#[derive(Default)]
pub struct Watch<'a> {
    progress: Option<&'a mut dyn FnMut(Progress)>,
    stop: Stop<'a>,
}

impl<'a> Watch<'a> {
    /// Calls `progress` with the state of the work, at most some times a second;
    /// cancels the work once `stop` is true.
    #[must_use]
    pub fn new(progress: &'a mut dyn FnMut(Progress), stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: Some(progress),
            stop: Stop(Some(stop)),
        }
    }

    /// Cancels the work once `stop` is true; reports no progress.
    #[must_use]
    pub fn stopped_by(stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: None,
            stop: Stop(Some(stop)),
        }
    }

    /// The cancel flag, for other threads.
    #[must_use]
    pub fn stop(&self) -> Stop<'a> {
        self.stop
    }

    /// Checks for cancellation.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn go_on(&self) -> Result<(), Stopped> {
        self.stop.go_on()
    }

    /// Reports the progress and checks for cancellation.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn step(&mut self, progress: Progress) -> Result<(), Stopped> {
        self.go_on()?;
        if let Some(report) = &mut self.progress {
            report(progress);
        }
        Ok(())
    }

    /// Like [`Watch::step`], to be called for each page: only every 64th is reported.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn pages(&mut self, stage: &'static str, done: u32, total: u32) -> Result<(), Stopped> {
        if !done.is_multiple_of(64) {
            return Ok(());
        }
        let (done, total) = (done.into(), Some(total.into()));
        self.step(Progress::new(stage, "pages", done, total))
    }

    /// Like [`Watch::step`], to be called for each position: only every 1024th is
    /// reported.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn position(
        &mut self,
        stage: &'static str,
        done: u64,
        total: Option<u64>,
    ) -> Result<(), Stopped> {
        if !done.is_multiple_of(1024) {
            return Ok(());
        }
        self.step(Progress::new(stage, "positions", done, total))
    }
}
