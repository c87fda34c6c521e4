//! Output of whole lines to the GUI from several threads.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Writes a line at a time and flushes it.
#[derive(Clone)]
pub(super) struct Output {
    sink: Arc<Mutex<dyn Write + Send>>,
    gone: Arc<AtomicBool>,
}

impl Output {
    pub(super) fn new(sink: impl Write + Send + 'static) -> Self {
        Self {
            sink: Arc::new(Mutex::new(sink)),
            gone: Arc::default(),
        }
    }

    /// Sends one line. It always ends in a bare LF: fastchess on Linux takes a CR for a
    /// part of the move.
    pub(super) fn line(&self, text: &str) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{text}\n");
        if sink
            .write_all(line.as_bytes())
            .and_then(|()| sink.flush())
            .is_err()
        {
            self.gone.store(true, Ordering::Relaxed);
        }
    }

    /// The reader has closed its end.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}
