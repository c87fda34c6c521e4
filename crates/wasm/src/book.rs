//! The open book of a module: safe functions of Rust values.

use serde::Serialize;

use crate::failure::{Class, Failure};
use crate::options;
use tabia_book::convert::{self, ConvertJob, Converted};
use tabia_book::policy::{LineMemory, Rules, WeighedMoves, chance, choose_knowing};
use tabia_book::progress::Watch;
use tabia_book::view::PositionView;
use tabia_book::{Book, DataFile, Format, Positions, Probe};
use tabia_notation::{self as notation, Line};

/// Bytes that may be used for sorting: nothing can be sorted on disk.
const MEMORY: u64 = 2 << 30;

/// An open book, and how moves are chosen from it.
pub(crate) struct OpenBook {
    /// A module has one book for as long as it lives, so walks may borrow it for ever.
    book: &'static Book,
    rules: Rules,
    walks: Vec<Option<PositionWalk>>,
    /// What the last conversion left out.
    converted: Option<Summary>,
}

/// What is known of a book from its opening.
#[derive(Serialize)]
pub(crate) struct About<'b> {
    format: &'static str,
    title: &'static str,
    notices: &'b [String],
}

/// What a conversion has made, and left out.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    positions: u64,
    moves: u64,
    games: u64,
    bytes: u64,
    unreached: u64,
    notices: Vec<String>,
    notes: Vec<String>,
}

impl From<Converted> for Summary {
    fn from(done: Converted) -> Summary {
        let lost = done.salvage.notes();
        Summary {
            positions: done.positions,
            moves: done.moves,
            games: done.games,
            bytes: done.bytes,
            unreached: done.unreached,
            notices: done.notices,
            notes: lost.into_iter().chain(done.notes).collect(),
        }
    }
}

/// A walk over the positions of a book.
struct PositionWalk {
    positions: Positions<'static>,
    /// The failure to report after the positions that were read before it.
    next: Option<Failure>,
    /// Whether the positions that were left out have been reported.
    ended: bool,
}

impl OpenBook {
    pub(crate) fn open(files: Vec<DataFile>) -> Result<OpenBook, Failure> {
        let book = Box::leak(Box::new(Book::from_files(files)?));
        Ok(OpenBook {
            book,
            rules: Rules::default(),
            walks: Vec::new(),
            converted: None,
        })
    }

    pub(crate) fn about(&self) -> About<'_> {
        let format: Format = self.book.format();
        About {
            format: format.as_str(),
            title: format.title(),
            notices: self.book.notices(),
        }
    }

    /// Sets the options of the choices that follow.
    pub(crate) fn configure(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.rules = options::choice(text)?.options().rules();
        Ok(())
    }

    /// Announces probes: see [`Probe::reserve`].
    pub(crate) fn reserve(&self, probes: u64) {
        self.book.reserve(probes);
    }

    fn look_up(&self, fen: &[u8]) -> Result<(Line, WeighedMoves), Failure> {
        let wrong = |text: String| Failure::new(Class::Position, text);
        let fen = str::from_utf8(fen).map_err(|error| wrong(error.to_string()))?;
        let line = Line::read(fen, "").map_err(|error| wrong(error.to_string()))?;
        // Lines may be of any length and in any order: nothing is kept of them.
        let lines = LineMemory::default();
        let found = choose_knowing(self.book, &lines, line.last(), line.before(), &self.rules)?;
        Ok((line, found))
    }

    /// What the book has in a position: a FEN, perhaps with `moves` and moves after it.
    pub(crate) fn probe(&self, fen: &[u8]) -> Result<PositionView, Failure> {
        let (line, found) = self.look_up(fen)?;
        let view = PositionView::new(line.last(), &found);
        Ok(view.with_games_of(self.book, line.last(), &found)?)
    }

    /// Draws a move; the same seed gives the same move in a position, and the one of `Book
    /// Seed` in an adapter's first game.
    pub(crate) fn choose(&self, fen: &[u8], seed: u64) -> Result<Option<String>, Failure> {
        let (line, found) = self.look_up(fen)?;
        let drawn = found.draw(&mut chance(seed, 0, line.last(), 0));
        Ok(drawn.map(|entry| notation::uci(entry.mv)))
    }

    /// Begins a walk over all positions; returns its number.
    pub(crate) fn walk(&mut self) -> usize {
        let walk = PositionWalk {
            positions: self.book.positions(),
            next: None,
            ended: false,
        };
        let free = self.walks.iter().position(Option::is_none);
        let number = free.unwrap_or(self.walks.len());
        match self.walks.get_mut(number) {
            Some(place) => *place = Some(walk),
            None => self.walks.push(Some(walk)),
        }
        number
    }

    /// Writes the next positions, a line each; none at the end.
    pub(crate) fn step(
        &mut self,
        walk: usize,
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        match self.walks.get_mut(walk) {
            Some(Some(walk)) => walk.step(most, out),
            _ => Ok(()),
        }
    }

    pub(crate) fn end_walk(&mut self, walk: usize) {
        if let Some(place) = self.walks.get_mut(walk) {
            *place = None;
        }
    }

    /// Converts the book to a format, and appends the bytes of the file.
    pub(crate) fn convert(
        &mut self,
        format: &str,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        self.converted = None;
        let source = self.book.path();
        let target = source.with_extension(format);
        let job = ConvertJob::new(source.to_owned(), target).memory(MEMORY);
        let job = options::conversion(job, format, text)?;
        let done = convert::write(self.book, &job, out, &mut Watch::default())
            .map_err(|error| Failure::of_conversion(&error))?;
        self.converted = Some(done.into());
        Ok(())
    }

    /// What the last conversion has made.
    pub(crate) fn converted(&self) -> Option<&Summary> {
        self.converted.as_ref()
    }
}

impl PositionWalk {
    fn step(&mut self, most: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut next = self.next.take();
        let mut given = 0;
        while next.is_none() && given < most {
            match self.positions.next() {
                Some(Ok(here)) => {
                    out.extend_from_slice(notation::fen(&here.position).as_bytes());
                    out.push(b'\n');
                    given += 1;
                }
                Some(Err(error)) => next = Some(Failure::from(error)),
                None => {
                    if !std::mem::replace(&mut self.ended, true) {
                        next = unreached(self.positions.unreached());
                    }
                    break;
                }
            }
        }
        match next {
            Some(failure) if given == 0 => Err(failure),
            next => {
                self.next = next;
                Ok(())
            }
        }
    }
}

/// The error about positions that were left out.
fn unreached(number: u64) -> Option<Failure> {
    let text = match number {
        0 => return None,
        1 => "1 position was left out: no line of moves to it was found".to_owned(),
        _ => format!("{number} positions were left out: no line of moves to them was found"),
    };
    Some(Failure::new(Class::Book, text))
}
