//! Long work, watched by somebody who may end it.

use std::sync::atomic::{AtomicBool, Ordering};

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: "reading", "writing", ...
    pub stage: &'static str,
    /// Of what: "pages", "positions" or "games".
    pub unit: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are, if that is known; by a header that may be wrong.
    pub total: Option<u64>,
}

/// Somebody wanted an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted; nothing was changed")]
pub struct Stopped;

/// Who hears how far some long work is, and may end it: nobody, as
/// [`Watch::default`].
#[derive(Default)]
pub struct Watch<'a> {
    progress: Option<&'a mut dyn FnMut(Progress)>,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Watch<'a> {
    /// `progress` hears of the work, some times a second at the most; once
    /// `stop` is true it ends.
    #[must_use]
    pub fn new(progress: &'a mut dyn FnMut(Progress), stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: Some(progress),
            stop: Some(stop),
        }
    }

    /// Once `stop` is true the work ends.
    #[must_use]
    pub fn stopped_by(stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: None,
            stop: Some(stop),
        }
    }

    /// The flag that ends the work, for threads of it.
    #[must_use]
    pub fn flag(&self) -> Option<&'a AtomicBool> {
        self.stop
    }

    /// Whether to go on.
    ///
    /// # Errors
    ///
    /// Somebody wanted an end.
    pub fn go_on(&self) -> Result<(), Stopped> {
        match self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Stopped),
            _ => Ok(()),
        }
    }

    /// Tells how far the work is, and asks whether to go on.
    ///
    /// # Errors
    ///
    /// Somebody wanted an end.
    pub fn step(&mut self, progress: Progress) -> Result<(), Stopped> {
        self.go_on()?;
        if let Some(tell) = &mut self.progress {
            tell(progress);
        }
        Ok(())
    }

    /// As [`Watch::step`] for pages that come one by one: only every 64th is
    /// told.
    ///
    /// # Errors
    ///
    /// Somebody wanted an end.
    pub fn pages(&mut self, stage: &'static str, done: u32, total: u32) -> Result<(), Stopped> {
        if !done.is_multiple_of(64) {
            return Ok(());
        }
        self.step(Progress {
            stage,
            unit: "pages",
            done: done.into(),
            total: Some(total.into()),
        })
    }

    /// As [`Watch::step`] for positions that come one by one: only every
    /// 1024th is told.
    ///
    /// # Errors
    ///
    /// Somebody wanted an end.
    pub fn position(
        &mut self,
        stage: &'static str,
        done: u64,
        total: Option<u64>,
    ) -> Result<(), Stopped> {
        if !done.is_multiple_of(1024) {
            return Ok(());
        }
        self.step(Progress {
            stage,
            unit: "positions",
            done,
            total,
        })
    }
}
