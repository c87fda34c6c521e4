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
    /// Total number of units, if known; it may be an estimate, or come from a header that is
    /// wrong.
    pub total: Option<u64>,
    /// Bytes read, and the total if known, for files whose units are not counted.
    pub bytes: Option<(u64, Option<u64>)>,
    /// Which part of the whole work this step is.
    pub part: Part,
}

/// A part of a work, from where to where, in thousandths; [`Part::default`] is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub from: u16,
    /// Where it ends.
    pub to: u16,
}

/// Thousandths of the whole.
const WHOLE: u16 = 1000;

impl Default for Part {
    fn default() -> Part {
        Part { from: 0, to: WHOLE }
    }
}

impl Part {
    /// A part of this part.
    fn part(self, from: u16, to: u16) -> Part {
        let length = u32::from(self.to.saturating_sub(self.from));
        let at = |inside: u16| {
            let inside = u32::from(inside.min(WHOLE)) * length / u32::from(WHOLE);
            self.from + inside as u16
        };
        Part {
            from: at(from),
            to: at(to),
        }
    }
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
            part: Part::default(),
        }
    }

    /// How much of the whole work is done, from 0 to 1; `None` if it is one step whose end
    /// is unknown.
    #[must_use]
    pub fn done_of_whole(&self) -> Option<f64> {
        let (done, total) = self.bytes.unwrap_or((self.done, self.total));
        let of_step = match total {
            Some(total) => (done as f64 / total.max(1) as f64).min(1.0),
            None if self.part == Part::default() => return None,
            None => 0.0,
        };
        let Part { from, to } = self.part;
        Some((f64::from(from) + f64::from(to - from) * of_step) / f64::from(WHOLE))
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
    part: Part,
}

impl<'a> Watch<'a> {
    /// Calls `progress` with the state of the work, at most some times a second;
    /// cancels the work once `stop` is true.
    #[must_use]
    pub fn new(progress: &'a mut dyn FnMut(Progress), stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: Some(progress),
            stop: Stop(Some(stop)),
            part: Part::default(),
        }
    }

    /// Cancels the work once `stop` is true; reports no progress.
    #[must_use]
    pub fn stopped_by(stop: &'a AtomicBool) -> Watch<'a> {
        Watch {
            progress: None,
            stop: Stop(Some(stop)),
            part: Part::default(),
        }
    }

    /// For a step that takes this part of the work, from and to in thousandths: so a work of
    /// several steps has one progress.
    pub fn part(&mut self, from: u16, to: u16) -> Watch<'_> {
        Watch {
            progress: match &mut self.progress {
                Some(progress) => Some(&mut **progress),
                None => None,
            },
            stop: self.stop,
            part: self.part.part(from, to),
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

    /// Reports the progress and checks for cancellation, also by whoever gets the report:
    /// with the last one before a file is complete, it is not made.
    ///
    /// # Errors
    ///
    /// The work was cancelled.
    pub fn step(&mut self, progress: Progress) -> Result<(), Stopped> {
        self.go_on()?;
        if let Some(report) = &mut self.progress {
            report(Progress {
                part: self.part,
                ..progress
            });
        }
        self.go_on()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_positions_and_pages_are_reported() {
        let stop = AtomicBool::new(false);
        let mut seen = Vec::new();
        let mut report = |progress: Progress| seen.push((progress.done, progress.total));
        let mut watch = Watch::new(&mut report, &stop);
        for done in 0..3000 {
            watch.position("reading", done, None).unwrap();
        }
        for done in 0..100 {
            watch.pages("reading", done, 100).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        watch.position("reading", 4096, None).unwrap_err();
        let positions = [0, 1024, 2048].map(|done| (done, None));
        let pages = [0, 64].map(|done| (done, Some(100)));
        assert_eq!(seen, [&positions[..], &pages].concat());
    }

    #[test]
    fn steps_of_steps_make_one_progress() {
        let stop = AtomicBool::new(false);
        let mut seen = Vec::new();
        let mut report = |progress: Progress| seen.push(progress.done_of_whole());
        let mut watch = Watch::new(&mut report, &stop);
        let step = |done, total| Progress::new("writing", "positions", done, total);
        watch.step(step(1, None)).unwrap();
        watch.step(step(1, Some(4))).unwrap();
        watch.part(0, 400).step(step(1, Some(2))).unwrap();
        let mut second = watch.part(400, 1000);
        second.part(0, 500).step(step(9, None)).unwrap();
        second.part(500, 1000).step(step(9, Some(3))).unwrap();
        let expected = [None, Some(0.25), Some(0.2), Some(0.4), Some(1.0)];
        assert_eq!(seen, expected);
    }
}
