//! A book that is walked: a ChessBase book by its graph, others by look-ups.

use shakmaty::{Chess, Color, Position as _};

use super::{Converted, Work};
use crate::ctg::{BookGraph, Contents, CtgBook, EntryNumber, Moves};
use crate::polyglot::indexed::Indexed;
use crate::{Book, Error, Lookup, Probe as _, Wanted};

pub(super) struct Source<'b> {
    book: &'b Book,
    indexed: Option<Indexed<'b>>,
    graph: Option<Graph<'b>>,
}

struct Graph<'b> {
    book: &'b CtgBook,
    graph: BookGraph,
    /// By entry, whether it was probed.
    reached: Vec<bool>,
}

impl<'b> Source<'b> {
    /// Reads a ChessBase book whole, and records what cannot be read.
    pub(super) fn new(
        work: &mut Work<'_, '_>,
        book: &'b Book,
        wanted: Wanted,
        summary: &mut Converted,
    ) -> Result<Source<'b>, Error> {
        let mut made = None;
        if let Book::Ctg(book) = book {
            let needs = |turn| wanted.includes_transpositions(book.only(), turn);
            let contents = Contents {
                records: true,
                transpositions: Color::ALL.into_iter().any(needs),
                ..Contents::default()
            };
            let (graph, salvage) = book.graph(contents, &mut work.watch.part(0, 500))?;
            summary.lose(work.job, salvage)?;
            let reached = vec![false; graph.len()];
            made = Some(Graph {
                book,
                graph,
                reached,
            });
        }
        Ok(Source {
            book,
            indexed: Indexed::read(book)?,
            graph: made,
        })
    }

    /// The entry of the start position, where there is a graph.
    pub(super) fn start(&self) -> Option<EntryNumber> {
        self.graph.as_ref()?.graph.start()
    }

    /// Probes a position; `entry` is its entry, where there is a graph. `to` gets the entries
    /// after the moves.
    pub(super) fn probe(
        &mut self,
        entry: Option<EntryNumber>,
        position: &Chess,
        wanted: Wanted,
        found: &mut Lookup,
        to: &mut Vec<Option<EntryNumber>>,
    ) -> Result<(), Error> {
        let Some(Graph {
            book,
            graph,
            reached,
        }) = &mut self.graph
        else {
            match &self.indexed {
                Some(book) => book.probe(position, wanted, found)?,
                None => self.book.probe(position, wanted, found)?,
            }
            to.clear();
            to.resize(found.moves.len(), None);
            return Ok(());
        };
        let Some(entry) = entry else {
            found.clear();
            to.clear();
            return Ok(());
        };
        let turn = position.turn();
        let transpositions = wanted.includes_transpositions(book.only(), turn);
        let moves = match (book.is_for_opponent_of(turn), transpositions) {
            (false, false) => Moves::Stored,
            (false, true) => Moves::All,
            (true, true) => Moves::AsTranspositions,
            (true, false) => Moves::None,
        };
        graph.probe(entry, position, moves, found, to);
        if let Some(reached) = reached.get_mut(entry as usize) {
            *reached = true;
        }
        Ok(())
    }

    /// The number of entries of a ChessBase book that were not probed.
    pub(super) fn unreached(&self) -> Option<u64> {
        let Graph { graph, reached, .. } = self.graph.as_ref()?;
        let reached = reached.iter().filter(|reached| **reached).count();
        Some(graph.found().saturating_sub(reached as u64))
    }
}
