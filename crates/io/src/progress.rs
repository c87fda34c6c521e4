//! Progress of long work, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done: "reading", "writing", ...
    pub stage: &'static str,
    /// Of what: "pages", "positions" or "games".
    pub unit: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are, if that is known; by a header that may be wrong.
    pub total: Option<u64>,
    /// Where files are read whose units are not counted: the bytes read,
    /// and how many there are, if that is known.
    pub bytes: Option<(u64, Option<u64>)>,
}

impl Progress {
    /// So many of a known or unknown number of pages, positions or games.
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

    /// The same for what is read from files.
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

/// Cancels long work in all its threads; [`Stop::default`] never does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'a>(Option<&'a AtomicBool>);

impl Stop<'_> {
    /// Whether to go on.
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
    /// `progress` is called with the state of the work, some times a second at the most; once
    /// `stop` is true it ends.
    #[must_use]
    pub fn new(progress: &'a mut dyn FnMut(Progress), stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: Some(progress),
            stop: Stop(Some(stop)),
        }
    }

    /// Once `stop` is true the work ends.
    #[must_use]
    pub fn stopped_by(stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: None,
            stop: Stop(Some(stop)),
        }
    }

    /// What ends the work, for threads of it.
    #[must_use]
    pub fn stop(&self) -> Stop<'a> {
        self.stop
    }

    /// Whether to go on.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn go_on(&self) -> Result<(), Stopped> {
        self.stop.go_on()
    }

    /// Reports how far the work is, and asks whether to go on.
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

    /// As [`Watch::step`] for pages that come one by one: only every 64th is
    /// reported.
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

    /// As [`Watch::step`] for positions that come one by one: only every
    /// 1024th is reported.
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
