//! Many sorted runs as one sequence.

use std::io;
use std::path::{Path, PathBuf};

use super::run::RunReader;
use super::{Record, SortError};

/// A run with the record that it offers.
struct Front<R> {
    record: R,
    reader: RunReader,
}

/// All records of some runs, in order; those of one place joined if they can
/// be.
pub struct Merge<R> {
    /// What comes first is last. With the order of its record, and by pointer: a
    /// record may be large to move.
    fronts: Vec<(u32, Box<Front<R>>)>,
    /// That of the record that is lent.
    current: Option<Box<Front<R>>>,
    folder: PathBuf,
}

impl<R: Record> Merge<R> {
    pub(super) fn new(
        readers: impl Iterator<Item = RunReader>,
        folder: &Path,
    ) -> Result<Merge<R>, SortError> {
        let mut fronts = Vec::new();
        for reader in readers {
            let record = R::default();
            read_on(Box::new(Front { record, reader }), &mut fronts)
                .map_err(|source| SortError::new(folder, source))?;
        }
        Ok(Merge {
            fronts,
            current: None,
            folder: folder.to_owned(),
        })
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// A sort file cannot be read.
    // No `Iterator`: the record is lent.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&R>, SortError> {
        match self.advance() {
            Ok(()) => Ok(self.current.as_ref().map(|front| &front.record)),
            Err(source) => Err(SortError::new(&self.folder, source)),
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        if let Some(front) = self.current.take() {
            read_on(front, &mut self.fronts)?;
        }
        self.current = self.fronts.pop().map(|(_, front)| front);
        let Some(Front { record, .. }) = self.current.as_deref_mut() else {
            return Ok(());
        };
        while let Some((_, other)) = self.fronts.last()
            && record.compare(&other.record).is_eq()
            && record.join(&other.record)
            && let Some((_, other)) = self.fronts.pop()
        {
            read_on(other, &mut self.fronts)?;
        }
        Ok(())
    }
}

/// Reads on in a run, and puts it in its place if it has another record.
fn read_on<R: Record>(
    mut front: Box<Front<R>>,
    fronts: &mut Vec<(u32, Box<Front<R>>)>,
) -> io::Result<()> {
    let Front { record, reader } = &mut *front;
    if reader.next(record)? {
        let order = record.order();
        let at = fronts.partition_point(|(other, front)| {
            *other > order || *other == order && front.record.compare(record).is_gt()
        });
        fronts.insert(at, (order, front));
    }
    Ok(())
}
