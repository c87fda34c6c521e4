//! `Book Cover` in a session: played lines are read before the books are asked, and new
//! ones are written afterwards.

use shakmaty::{Chess, Move, Position};

use super::super::Request;
use super::super::game::Game;
use super::super::out::Out;
use super::{Books, Scene};
use crate::cover::{self, Covered, Entry};
use tabia_book::policy::{LineMemory, Weighed};
use tabia_book::{BookMove, Lookup, Wanted};
use tabia_choice::book_set::BookSet;
use tabia_choice::conditions::GameConditions;
use tabia_choice::settings::{self, Options};
use tabia_notation as notation;
use tabia_uci::gui::Go;

/// The played lines that have been read.
#[derive(Debug, Default)]
pub(super) struct Cover {
    covered: Covered,
    state: State,
    /// The entry to add if the ponder move is played.
    guess: Option<Entry>,
    /// The books at the last choice, by their addresses.
    books: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The file has not been read for this position.
    #[default]
    Unread,
    /// The file is being read.
    Asked,
    Read,
    /// The file cannot be read now: moves are drawn.
    Missing,
}

impl Cover {
    pub(super) const fn is_requested(&self) -> bool {
        matches!(self.state, State::Asked)
    }

    /// Whether unplayed lines are preferred in this position.
    pub(super) const fn is_read(&self) -> bool {
        matches!(self.state, State::Read)
    }

    /// Call this for each new position.
    pub(super) fn forget_position(&mut self) {
        self.state = State::Unread;
        self.guess = None;
    }

    /// Call this when the books or their settings have changed.
    pub(super) fn books_changed(&mut self) {
        self.covered.forget_books();
        self.state = State::Unread;
    }

    /// The ponder move was played.
    pub(super) fn guess_came_true(&mut self, out: &mut Out<'_>) {
        if let Some(entry) = self.guess.take() {
            self.add(&entry, out);
        }
    }

    fn add(&mut self, entry: &Entry, out: &mut Out<'_>) {
        self.covered.add(entry);
        out.request(Request::AddCover(entry.to_string()));
    }

    /// Writes an entry, or stores it until the ponder move is played.
    fn note(&mut self, entry: Entry, ponder: bool, out: &mut Out<'_>) {
        match ponder {
            true => self.guess = Some(entry),
            false => self.add(&entry, out),
        }
    }

    /// Handles the played lines, or the reason why they could not be read.
    fn read(&mut self, read: Result<&str, &str>, out: &mut Out<'_>) {
        match read {
            Ok(lines) => {
                for line in lines.lines() {
                    if line == cover::HEADER.trim_end() {
                        // The first line shows that it is another file.
                        self.covered = Covered::default();
                    } else if let Ok(entry) = line.parse() {
                        self.covered.add(&entry);
                    }
                }
                self.state = State::Read;
            }
            Err(reason) => {
                self.state = State::Missing;
                out.info(reason);
            }
        }
    }

    /// The books have no move: records the end of the line that this game has followed.
    pub(super) fn end(&mut self, player: u64, game: &Game, ponder: bool, out: &mut Out<'_>) {
        let Some(colour) = game.position().map(Chess::turn) else {
            return;
        };
        let path = game.keys();
        let covered = &self.covered;
        if covered.continues_last_entry(player, colour, &path) == Some(true) {
            let entry = covered.entry(player, colour, &path, true);
            self.note(entry, ponder, out);
        }
    }

    /// The book move that leads to an unplayed line, if there is one.
    pub(super) fn choose(
        &mut self,
        (player, game): (u64, &Game),
        books: (&BookSet, &[Options], &GameConditions),
        (found, verdicts): (&Lookup, &[Weighed]),
    ) -> Option<Move> {
        let address =
            |book: &tabia_choice::book_set::OpenBook| std::sync::Arc::as_ptr(&book.book).addr();
        let addresses: Vec<usize> = books.0.books.iter().map(address).collect();
        if self.books != addresses {
            self.covered.forget_books();
            self.books = addresses;
        }
        let position = game.position()?;
        let candidates = heaviest_first(&found.moves, verdicts);
        let mut moves = BookMoves::new(position, books);
        self.covered.choose(
            player,
            position,
            &game.keys(),
            &candidates,
            &mut |position, path| moves.at(position, path),
        )
    }
}

/// The playable moves, greatest weight first; at equal weight, more games first.
fn heaviest_first(moves: &[BookMove], verdicts: &[Weighed]) -> Vec<Move> {
    let mut rows: Vec<_> = moves
        .iter()
        .zip(verdicts)
        .filter(|(_, verdict)| verdict.weight > 0.0)
        .collect();
    rows.sort_by(|(a, of_a), (b, of_b)| {
        let by_games = b.stats().games.cmp(&a.stats().games);
        of_b.weight.total_cmp(&of_a.weight).then(by_games)
    });
    rows.into_iter().map(|(entry, _)| entry.mv).collect()
}

/// Looks up playable moves in the positions of a line, by the same rules for both sides.
struct BookMoves<'a> {
    books: (&'a BookSet, &'a [Options], &'a GameConditions),
    /// The side that chooses.
    own: shakmaty::Color,
    found: Lookup,
    verdicts: Vec<Weighed>,
    lines: Vec<LineMemory>,
}

impl<'a> BookMoves<'a> {
    fn new(position: &Chess, books: (&'a BookSet, &'a [Options], &'a GameConditions)) -> Self {
        BookMoves {
            own: position.turn(),
            found: Lookup::default(),
            verdicts: Vec::new(),
            lines: books
                .0
                .books
                .iter()
                .map(|_| LineMemory::default())
                .collect(),
            books,
        }
    }

    fn at(&mut self, position: &Chess, path: &[u64]) -> Vec<Move> {
        let (book_set, settings, conditions) = self.books;
        for ((book, settings), lines) in book_set.books.iter().zip(settings).zip(&self.lines) {
            let of_side = book.spec.colour.is_none_or(|colour| colour == self.own);
            let wanted = match settings.policy.transpositions {
                true => Wanted::Transpositions,
                false => Wanted::Stored,
            };
            if !of_side
                || !book.spec.conditions.hold(conditions)
                || book.book.probe(position, wanted, &mut self.found).is_err()
            {
                continue;
            }
            settings.rules().weigh(
                (&*book.book, lines),
                position,
                &self.found.moves,
                &|next| path.contains(&cover::key(next)),
                &mut self.verdicts,
            );
            let moves = heaviest_first(&self.found.moves, &self.verdicts);
            if !moves.is_empty() {
                return moves;
            }
        }
        Vec::new()
    }
}

impl Books {
    /// Requests the played lines, if this `go` has to wait for them.
    pub(super) fn read_cover(&mut self, go: &Go, scene: Scene<'_>) -> Option<Request> {
        let is_wanted = self.settings.options().cover == settings::Cover::Lines
            && self.cover.state == State::Unread
            && self.may_answer(scene.analysis)
            && !scene.lacks_book_for_rules()
            && !go.infinite
            && !go.engine_only;
        let position = scene.game.position().filter(|_| is_wanted)?;
        let (colour, keys) = (position.turn(), scene.game.keys());
        let covered = &self.cover.covered;
        let over = covered.continues_last_entry(self.entropy, colour, &keys) == Some(false);
        let book = scene.book_set.books.first().filter(|_| !over)?;
        // This is looked up now, so that the file is locked for a shorter time.
        self.chooser
            .refresh_settings(self.settings.options(), scene.book_set);
        let _ = self.choose(position, None, scene, true, &mut Vec::new());
        self.cover.state = State::Asked;
        Some(Request::ReadCover(book.spec.path.clone()))
    }

    /// Handles the played lines, or the reason why they could not be read.
    pub(in super::super) fn cover_read(&mut self, read: Result<&str, &str>, out: &mut Out<'_>) {
        self.cover.read(read, out);
    }

    /// Records a chosen book move.
    pub(super) fn cover_move(
        &mut self,
        position: &Chess,
        mv: Move,
        ponder: bool,
        scene: Scene<'_>,
        out: &mut Out<'_>,
    ) {
        let next = notation::after(position, mv);
        let mut path = scene.game.keys();
        path.push(cover::key(&next));
        let of_game = scene.game.conditions();
        let books = (scene.book_set, &self.chooser.settings[..], of_game);
        let ended = BookMoves::new(position, books).at(&next, &path).is_empty();
        let covered = &self.cover.covered;
        let entry = covered.entry(self.entropy, position.turn(), &path, ended);
        self.cover.note(entry, ponder, out);
    }
}
