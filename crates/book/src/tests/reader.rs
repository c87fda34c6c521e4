//! The reader of damaged books, in tests and fuzz targets: uses a book in every way.

use std::path::Path;

use shakmaty::{Chess, Position as _};
use tabia_book::ctg::{CtgBook, verify};
use tabia_book::{Book, Lookup, OpenOptions, Probe as _, Wanted};
use tabia_io::progress::Watch;

/// Asks a book of any format for these positions, and for those to which its own moves
/// lead. It may refuse to answer; a move that it has must be legal.
pub(crate) fn read_all(path: &Path, positions: &[Chess]) {
    for mmap in [true, false] {
        let options = OpenOptions::default().mmap(mmap);
        let Ok(book) = Book::open(path, &options) else {
            continue;
        };
        let mut found = Lookup::default();
        let mut position = Chess::default();
        let ask = |position: &Chess, found: &mut Lookup| {
            let _ = book.contains(position);
            for wanted in [Wanted::Stored, Wanted::Transpositions] {
                if book.probe(position, wanted, found).is_ok() {
                    let legal = position.legal_moves();
                    assert!(found.moves.iter().all(|found| legal.contains(&found.mv)));
                }
            }
        };
        for position in positions {
            ask(position, &mut found);
        }
        for _ in 0..6 {
            ask(&position, &mut found);
            let Some(next) = found.moves.first() else {
                break;
            };
            position.play_unchecked(next.mv);
        }
        drop(book.notices().to_vec());
        let Ok(book) = CtgBook::open(path, &options) else {
            continue;
        };
        for position in positions {
            let _ = book.explain(position);
        }
        let _ = book.info();
        let _ = book.entries().take(10_000).count();
        let _ = verify(path, mmap, &mut Watch::default(), &mut |problem| {
            assert!(!problem.text.is_empty());
        });
    }
}
