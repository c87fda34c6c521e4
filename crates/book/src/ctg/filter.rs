//! A Bloom filter of all positions of a book: rejects nearly all others without making
//! their keys and without reading a page.
//!
//! It knows a position by a hash that takes a few operations from the position before a
//! move ([`SideView`]) and has three bits of one word for it, so that a rejection costs
//! one access to the memory. Keys are compared afterwards, so answers stay exact.
//!
//! Measured with random hashes among 2.8 million (a book of 260 MB):
//!
//! | filter | bytes for each | ns to add | ns to ask | others that pass |
//! |---|---|---|---|---|
//! | a bit | 2 | 2 | 1.9 | 6.1 % |
//! | three bits of a word | 2 | 3 | 2.9 | 0.8 % |
//! | `xorf::BinaryFuse8` | 1.1 | 53 | 5.8 | 0.4 % |
//! | `hashbrown::HashTable<u32>` | 7.4 | 41 | 13.2 | 0 % |
//!
//! A position that passes costs some 500 ns, and a probe asks for some thirty.
//!
//! # When the book changes
//!
//! A filter is made of one content of the .ctg, and used only while the file has that
//! content: see [`Stamp`]. After a change the book is read without it.

use shakmaty::{Chess, MoveList};

use super::{
    CanonicalBoard, Error,
    hashes::{SideView, of_board},
    pages::PageFile,
    reader::MoveSet,
};
use tabia_io::input::state::Stamp;
use tabia_io::parallel::in_order;

/// Words for each page, which has some 45 positions: three bytes for each.
const WORDS_OF_A_PAGE: u64 = 16;

/// The most legal moves of a position.
const MOST_MOVES: usize = 218;

/// Pages that one thread reads at a time.
const BLOCK: u32 = 64;

#[derive(Debug)]
pub(super) struct PositionFilter {
    words: Vec<u64>,
    stamp: Stamp,
}

impl PositionFilter {
    /// Reads the book once on all processors. `None` if a page is damaged, because its
    /// positions are unknown then, and if the file cannot be read or has changed since it
    /// was opened.
    pub(super) fn read(book: &PageFile) -> Option<PositionFilter> {
        let stamp = book.file().stamp().ok()??;
        let pages = book.page_count();
        let words = u64::from(pages) * WORDS_OF_A_PAGE;
        let mut filter = PositionFilter {
            words: vec![0; usize::try_from(words).ok()?],
            stamp,
        };
        let read = |block: u32| {
            let mut hashes = Vec::new();
            let mut reader = book.walker();
            let first = block * BLOCK;
            for page in first..first.saturating_add(BLOCK).min(pages) {
                reader.each_entry(page, |entry| {
                    let (_, entry) = entry?;
                    // The key of no position is never asked for.
                    let board = entry.key().map(|key| CanonicalBoard::from_key(&key));
                    hashes.extend(board.and_then(Result::ok).map(|board| of_board(&board)));
                    Ok(())
                })?;
            }
            Ok::<_, Error>(hashes)
        };
        let read = in_order(pages.div_ceil(BLOCK), read, |hashes| {
            hashes.into_iter().for_each(|hash| filter.add(hash));
            Ok(())
        });
        read.ok().map(|()| filter)
    }

    /// The content that it was made of.
    pub(super) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// Whether the position may be in the book; false is certain.
    pub(super) fn may_hold(&self, board: &CanonicalBoard) -> bool {
        self.has(of_board(board))
    }

    /// The legal moves that may lead to positions of the book.
    pub(super) fn likely(&self, position: &Chess, legal: &MoveList) -> MoveSet {
        let here = SideView::before_moves(position);
        // All hashes first, so that the accesses to the memory overlap in time.
        let mut hashes = [0; MOST_MOVES];
        for (hash, mv) in hashes.iter_mut().zip(legal) {
            *hash = here.after(position, *mv);
        }
        let hashes = hashes.iter().take(legal.len());
        hashes.map(|hash| self.has(*hash)).collect()
    }

    fn add(&mut self, hash: u64) {
        let at = self.place(hash);
        if let Some(word) = self.words.get_mut(at) {
            *word |= bits(hash);
        }
    }

    #[inline]
    fn has(&self, hash: u64) -> bool {
        let bits = bits(hash);
        let word = self.words.get(self.place(hash));
        word.is_some_and(|word| word & bits == bits)
    }

    /// The word of a hash, by its upper bits.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.words.len() as u128) >> 64) as usize
    }
}

/// The bits of a hash in its word, by its lower bits.
#[inline]
fn bits(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::io::{Seek as _, SeekFrom, Write as _};
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;
    use shakmaty::{CastlingMode, Color, FromSetup as _, Position as _};

    use super::*;
    use crate::ctg::{CtgBook, OpenOptions, PAGE_BYTES, RewriteOptions, compact, file_offset};
    use crate::{BookEditor, EditOptions, Lookup, Mark, MarkEdit, Probe as _, Wanted};
    use tabia_io::progress::Watch;
    use tabia_notation::{after, position};

    const BOOK: &str = "../../books/tabia.ctg";
    const SIMPLE: &str = "tests/data/ctg/simple.ctg";

    fn open(path: impl AsRef<Path>) -> CtgBook {
        CtgBook::open(path, &OpenOptions::default()).unwrap()
    }

    /// The same book twice, the second with a filter.
    fn both(path: impl AsRef<Path>) -> (CtgBook, CtgBook) {
        let (plain, filtered) = (open(&path), open(&path));
        filtered.reserve(u64::MAX);
        assert!(uses_filter(&filtered));
        (plain, filtered)
    }

    fn uses_filter(book: &CtgBook) -> bool {
        book.reading().unwrap().has_filter()
    }

    fn answers(book: &CtgBook, position: &Chess) -> (bool, Vec<Lookup>) {
        let kinds = [Wanted::Stored, Wanted::Transpositions, Wanted::Lines];
        let lookups = kinds.map(|wanted| {
            let mut found = Lookup::default();
            book.probe(position, wanted, &mut found).unwrap();
            found
        });
        (book.contains(position).unwrap(), lookups.into())
    }

    /// Walks through games of the book's moves and of any others, about half of each.
    fn walk(book: &CtgBook, count: usize, mut each: impl FnMut(&Chess)) {
        let mut state = 7_u64;
        let mut random = move |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below.max(1)
        };
        let mut found = Lookup::default();
        let (mut position, mut plies) = (Chess::default(), 0);
        for _ in 0..count {
            each(&position);
            book.probe(&position, Wanted::Lines, &mut found).unwrap();
            let legal = position.legal_moves();
            let known = found.moves.get(random(found.moves.len()));
            // At the beginning of a game only the book's moves, so that the walk goes far.
            let from_book = plies < 8 || random(2) == 0;
            let mv = known.map(|entry| entry.mv).filter(|_| from_book);
            let mv = mv.or_else(|| legal.get(random(legal.len())).copied());
            plies += 1;
            position = match mv.filter(|_| random(24) != 0) {
                Some(mv) => after(&position, mv),
                None => {
                    plies = 0;
                    Chess::default()
                }
            };
        }
    }

    #[test]
    fn answers_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let one_sided = folder.path().join("white.ctg");
        let options = RewriteOptions::default().only(Some(Color::White));
        compact(BOOK.as_ref(), &one_sided, &options, &mut Watch::default()).unwrap();
        for (path, count) in [
            (Path::new(BOOK), 1500),
            (&one_sided, 700),
            (Path::new(SIMPLE), 100),
        ] {
            let (plain, filtered) = both(path);
            let mut known = 0;
            walk(&plain, count, |position| {
                let answer = answers(&plain, position);
                known += usize::from(answer.0);
                assert_eq!(answer, answers(&filtered, position));
            });
            assert!(known > count / 8, "{known}");
        }
    }

    #[test]
    fn few_probes_are_not_worth_it() {
        let book = open(BOOK);
        let pages = u64::from(book.pages.page_count());
        book.reserve(pages / 3);
        assert!(!uses_filter(&book));
        book.reserve(pages / 3 + 1);
        assert!(uses_filter(&book));
    }

    #[test]
    fn few_others_pass() {
        let book = open(BOOK);
        let filter = PositionFilter::read(&book.pages).unwrap();
        let others = crate::random::games(3, 60, 80).flatten();
        let (mut all, mut passed) = (0, 0);
        for position in others.filter(|position| !book.contains(position).unwrap()) {
            let board = CanonicalBoard::from_position(&position).unwrap();
            all += 1;
            passed += u32::from(filter.may_hold(&board));
        }
        assert!(all > 3000 && passed < all / 50, "{passed} of {all}");
    }

    proptest! {
        /// Positions with castling rights that a book cannot store become ones that it can.
        #[test]
        fn hashes_are_right_after_chess960_castling_rights(
            start in prop::sample::select(vec![
                "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1",
                "1r2kr2/pppp4/8/8/8/8/4PPPP/R3KR2 w FAfb - 0 1",
                "r3k2r/8/8/8/8/8/8/1R2K1R1 w GBkq - 0 1",
                "1rk4r/8/8/8/8/8/8/RK5R w HAhb - 0 1",
            ]),
            choices in prop::collection::vec(any::<usize>(), 1..60),
        ) {
            let mut position = position(start).unwrap();
            for choice in choices {
                let here = SideView::before_moves(&position);
                let legal = position.legal_moves();
                for mv in &legal {
                    if let Some(board) = CanonicalBoard::from_position(&after(&position, *mv)) {
                        let key = CanonicalBoard::from_key(&board.key()).unwrap();
                        prop_assert_eq!(here.after(&position, *mv), of_board(&key));
                    }
                }
                let Some(mv) = legal.get(choice % legal.len().max(1)) else { break };
                position = after(&position, *mv);
            }
        }
    }

    #[test]
    fn a_damaged_page_may_have_held_anything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg");
        let mut bytes = fs::read(BOOK).unwrap();
        // The first entry of the third page gets a key of length 0.
        bytes[3 * PAGE_BYTES + 4] = 0;
        fs::write(&path, bytes).unwrap();
        assert!(PositionFilter::read(&open(&path).pages).is_none());
    }

    /// A copy of the starter book without the entries of one page, the bytes of the page,
    /// and its positions.
    fn without_page(folder: &Path, page: u32) -> (PathBuf, Vec<u8>, Vec<Chess>) {
        let path = folder.join("book.ctg");
        for extension in ["ctg", "cto", "ctb"] {
            let from = Path::new(BOOK).with_extension(extension);
            fs::copy(from, path.with_extension(extension)).unwrap();
        }
        let mut positions = Vec::new();
        let book = open(&path);
        let mut reader = book.pages.walker();
        let usage = reader.each_entry(page, |entry| {
            let board = CanonicalBoard::from_key(&entry?.1.key().unwrap()).unwrap();
            positions.push(Chess::from_setup(board.to_setup(), CastlingMode::Standard).unwrap());
            Ok(())
        });
        usage.unwrap();
        let bytes = reader.bytes(page).unwrap().to_vec();
        overwrite(&path, page, &[0, 0, 0, 4]);
        (path, bytes, positions)
    }

    fn overwrite(path: &Path, page: u32, bytes: &[u8]) {
        let mut file = fs::File::options().write(true).open(path).unwrap();
        let offset = file_offset(page, 0);
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// Another program adds positions while the book is open, at once after the filter was
    /// made, and sets the time of modification back.
    #[test]
    fn what_another_program_adds_is_found_at_once() {
        for mmap in [true, false] {
            for sets_time_back in [false, cfg!(unix)] {
                let folder = tempfile::tempdir().unwrap();
                let (path, bytes, positions) = without_page(folder.path(), 100);
                let book = CtgBook::open(&path, &OpenOptions::default().mmap(mmap)).unwrap();
                book.reserve(u64::MAX);
                assert!(uses_filter(&book));
                let found = |book: &CtgBook| {
                    let there = positions.iter().map(|here| book.contains(here).unwrap());
                    there.filter(|there| *there).count()
                };
                assert_eq!(found(&book), 0);
                let before = fs::metadata(&path).unwrap().modified().unwrap();
                overwrite(&path, 100, &bytes);
                if sets_time_back {
                    let file = fs::File::options().write(true).open(&path).unwrap();
                    file.set_modified(before).unwrap();
                }
                assert!(positions.len() > 20);
                assert_eq!(found(&book), positions.len());
                assert!(!uses_filter(&book));
                for position in &positions {
                    assert_eq!(answers(&book, position), answers(&open(&path), position));
                }
            }
        }
    }

    #[test]
    fn a_book_that_has_changed_gets_no_filter() {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes, positions) = without_page(folder.path(), 100);
        let book = open(&path);
        // So that the time of modification is another one.
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        overwrite(&path, 100, &bytes);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(later).unwrap();
        book.reserve(u64::MAX);
        assert!(!uses_filter(&book));
        assert!(book.contains(&positions[0]).unwrap());
    }

    /// Marks are read as they are now, with a filter or without.
    #[test]
    fn changed_marks_are_read_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (path, ..) = without_page(folder.path(), 100);
        let (plain, filtered) = both(&path);
        let start = Chess::default();
        let before = answers(&filtered, &start);
        let editor = BookEditor::open(&path, &EditOptions::default()).unwrap();
        let edit = MarkEdit {
            recommendation: Some(Mark::Avoid),
            ..MarkEdit::default()
        };
        let mv = before.1[0].moves[0].mv;
        let changes = editor.plan(&start, mv, &edit).unwrap();
        editor.apply(&changes).unwrap();
        let marked = answers(&filtered, &start);
        assert_ne!(marked, before);
        assert_eq!(marked, answers(&plain, &start));
        assert_eq!(marked, answers(&open(&path), &start));
    }
}
