//! Polyglot books entry by entry, as python-chess reads them: unsorted books and a header
//! are allowed.

use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use shakmaty::{CastlingMode, Chess, Move, Position as _};
use tabia_book::Error;
use tabia_book::bin::ENTRY_BYTES;
use tabia_book::evals::EvalTable;
use tabia_book::polyglot;
use tabia_io::input::file::{DataFile, FileError, View};

use crate::entry::{self, Entry, Fields, Known, RawMove};
use crate::error;
use crate::policy::Policy;

/// Converts a read error of the file to an exception.
pub(crate) fn unreadable(py: Python<'_>, file: &DataFile, fault: &FileError) -> PyErr {
    let path = Arc::clone(file.path());
    let error = match fault {
        FileError::Io(reason) => Error::Io {
            path,
            reason: Arc::clone(reason),
        },
        FileError::Shrunk { was, now } => Error::Shrunk {
            path,
            was: *was,
            now: *now,
        },
    };
    error::of_book(py, &error)
}

/// A view of the file for one look-up.
pub(crate) fn view<'f>(py: Python<'_>, file: &'f DataFile) -> PyResult<View<'f>> {
    file.view().map_err(|error| unreadable(py, file, &error))
}

/// The sixteen bytes of entry `n`, as one number; `None` after the last.
#[inline]
fn entry_at(view: &View<'_>, n: u64) -> Result<Option<u128>, FileError> {
    let Some(offset) = n.checked_mul(ENTRY_BYTES as u64) else {
        return Ok(None);
    };
    // Without a copy if the file is in memory.
    if let Some((bytes, at)) = view.bytes().zip(usize::try_from(offset).ok()) {
        let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk);
        return Ok(bytes.map(|bytes| u128::from_be_bytes(*bytes)));
    }
    let mut buffer = [0; ENTRY_BYTES];
    let bytes = view.read(offset, &mut buffer)?.first_chunk();
    Ok(bytes.map(|bytes| u128::from_be_bytes(*bytes)))
}

fn key_of(entry: u128) -> u64 {
    (entry >> 64) as u64
}

fn fields_of(entry: u128) -> Fields {
    let raw = (entry >> 48) as u16;
    Fields {
        key: key_of(entry),
        raw,
        weight: u32::from((entry >> 32) as u16),
        learn: entry as u32,
        mv: RawMove::from_bits(raw),
    }
}

/// Entry `n`; `None` after the last.
pub(crate) fn fields_at(view: &View<'_>, n: u64) -> Result<Option<Fields>, FileError> {
    Ok(entry_at(view, n)?.map(fields_of))
}

/// The index of the first entry whose key is not less than `key`.
pub(crate) fn lower_bound(file: &DataFile, view: &View<'_>, key: u64) -> Result<u64, FileError> {
    let (mut low, mut high) = (0, file.len() / ENTRY_BYTES as u64);
    while low < high {
        let middle = low + (high - low) / 2;
        if entry_at(view, middle)?.is_some_and(|entry| key_of(entry) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// The entries with a key, in file order.
pub(crate) fn stored(py: Python<'_>, file: &DataFile, key: Option<u64>) -> PyResult<Vec<Fields>> {
    let Some(key) = key else {
        return Ok(Vec::new());
    };
    let view = view(py, file)?;
    let mut all = Vec::new();
    let mut read = || {
        let mut n = lower_bound(file, &view, key)?;
        while let Some(entry) = fields_at(&view, n)?.filter(|entry| entry.key == key) {
            all.push(entry);
            n += 1;
        }
        Ok(())
    };
    read().map_err(|error| unreadable(py, file, &error))?;
    Ok(all)
}

/// The entries for a position, legal moves only.
pub(crate) fn stored_for(
    py: Python<'_>,
    file: &DataFile,
    position: &Chess,
    mode: CastlingMode,
    policy: Policy,
    evaluations: Option<Arc<EvalTable>>,
) -> PyResult<Vec<Entry>> {
    let mut all = stored(py, file, Some(polyglot::key(position)))?;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let legal = position.legal_moves();
    let kings = entry::kings(position);
    let is_from = |mv: &Move, from| mv.from().is_some_and(|own| own.to_u32() == u32::from(from));
    // Equal moves are merged, and their weights added.
    let mut moves: Vec<(Move, u32)> = Vec::with_capacity(all.len());
    all.retain_mut(|fields| {
        if mode == CastlingMode::Standard {
            fields.mv = fields.mv.castling_by_target(kings);
        }
        let is_meant = |mv: &Move| {
            is_from(mv, fields.mv.from) && RawMove::from_move(*mv, mode) == Some(fields.mv)
        };
        let Some(&mv) = legal.iter().find(|mv| is_meant(mv)) else {
            return false;
        };
        match moves.iter_mut().find(|(known, _)| *known == mv) {
            Some((_, weight)) => *weight += fields.weight,
            None => moves.push((mv, fields.weight)),
        }
        true
    });
    let evaluations = evaluations.map(|table| (position.clone(), table));
    let known = Known::new(position.turn(), mode, moves, evaluations, policy.native());
    let known = Arc::new(known);
    let entry = |fields| Entry::new(fields, Some(Arc::clone(&known)));
    Ok(all.into_iter().map(entry).collect())
}

/// The entries for a board of a variant that only python-chess supports.
pub(crate) fn stored_for_board<'py>(
    py: Python<'py>,
    file: &DataFile,
    board: &Bound<'py, PyAny>,
) -> PyResult<Vec<Entry>> {
    let hash = py.import("chess.polyglot")?.getattr("zobrist_hash")?;
    let key: u64 = hash.call1((board,))?.extract()?;
    let kings: u64 = board.getattr(intern!(py, "kings"))?.extract()?;
    let is_960: bool = board.getattr(intern!(py, "chess960"))?.extract()?;
    let mut legal = Vec::new();
    for mut fields in stored(py, file, Some(key))? {
        if !is_960 {
            fields.mv = fields.mv.castling_by_target(kings);
        }
        let mv = fields.mv.to_python(py)?;
        if board
            .call_method1(intern!(py, "is_legal"), (mv,))?
            .extract()?
        {
            legal.push(Entry::new(fields, None));
        }
    }
    Ok(legal)
}
