//! Asking the books, and the lines that a book move is announced with.

use std::fmt::Write as _;

use rand::Rng;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::game::Game;
use super::why::{Said, Silence};
use super::{Outlet, Session, info_string};
use crate::book::{BookMove, Lookup, Probe, Wanted};
use crate::book_set::{BookSet, OpenBook};
use crate::notation;
use crate::policy::{self, Circumstances, Weighed};
use crate::settings::{OptionId, Settings};
use crate::uci::gui::Go;

/// Most moves that an announcement lists.
const LISTED: usize = 12;

/// What is remembered of a game for the book's sake, and buffers.
#[derive(Debug, Default)]
pub(super) struct Librarian {
    misses: u32,
    pub(super) shut: bool,
    /// What kept each book of the book set from answering when they were asked
    /// last.
    pub(super) silences: Vec<Silence>,
    pub(super) said: Said,
    found: Lookup,
    /// What `found` holds: the present position in the book with this index,
    /// asked for so.
    found_in: Option<(usize, Wanted)>,
    verdicts: Vec<Weighed>,
    reply: Lookup,
    reply_verdicts: Vec<Weighed>,
    /// The settings in force for each book of the book set.
    settings: Vec<Settings>,
    /// Paths of the books whose trouble has been told of. Once is enough: a
    /// book that is cut off has another trouble in every other position.
    told: Vec<String>,
}

/// A book's answer to a position.
struct Choice<'a> {
    book: &'a OpenBook,
    mv: Move,
    reply: Option<Move>,
}

impl Librarian {
    pub(super) fn new_game(&mut self) {
        self.misses = 0;
        self.shut = false;
        self.said = Said::default();
    }

    pub(super) fn settings_changed(&mut self) {
        self.settings.clear();
    }

    /// The position has changed, or the books have.
    pub(super) fn forget_position(&mut self) {
        self.found_in = None;
    }

    fn refresh_settings(&mut self, general: &Settings, book_set: &BookSet) {
        if self.settings.len() != book_set.books.len() {
            self.settings = book_set
                .books
                .iter()
                .map(|book| book.spec.settings(general))
                .collect();
        }
    }

    /// True the first time that a book's trouble is to be told.
    fn is_news(&mut self, book: &str) -> bool {
        let news = !self.told.iter().any(|told| told == book);
        if news {
            self.told.push(book.to_owned());
        }
        news
    }

    /// Brings into `found` what a book knows of the present position.
    fn find(
        &mut self,
        (index, book): (usize, &dyn Probe),
        settings: &Settings,
        position: &Chess,
    ) -> Result<(), String> {
        let wanted = if settings.check(OptionId::Transpositions) {
            Wanted::Transpositions
        } else {
            Wanted::Stored
        };
        if self.found_in != Some((index, wanted)) {
            self.found_in = None;
            book.probe(position, wanted, &mut self.found)
                .map_err(|error| error.to_string())?;
            self.found_in = Some((index, wanted));
        }
        Ok(())
    }

    /// Looks a position up in one book and weighs its moves.
    fn look_up(
        &mut self,
        (index, book): (usize, &dyn Probe),
        settings: &Settings,
        game: &Game,
        position: &Chess,
        asked: Option<&[Move]>,
    ) -> Result<(), String> {
        self.find((index, book), settings, position)?;
        let repeats = |next: &Chess| game.repeats(next);
        let circumstances = Circumstances {
            position,
            book,
            asked,
            repeats: settings
                .check(OptionId::AvoidRepetition)
                .then_some(&repeats),
            line_plies: 2 * settings.number(OptionId::LeaveEarly),
        };
        policy::weigh(
            &self.found.moves,
            &settings.policy(),
            |candidate| circumstances.against(candidate),
            &mut self.verdicts,
        );
        Ok(())
    }

    /// The move the opponent would most probably play from the book.
    fn best_reply(&mut self, book: &dyn Probe, settings: &Settings, after: &Chess) -> Option<Move> {
        book.probe(after, Wanted::Stored, &mut self.reply).ok()?;
        policy::weigh(
            &self.reply.moves,
            &settings.policy(),
            |_| None,
            &mut self.reply_verdicts,
        );
        let index = policy::best(&self.reply_verdicts)?;
        self.reply.moves.get(index).map(|reply| reply.mv)
    }
}

impl Session {
    /// Looks the present position up before it is asked for: GUIs send it
    /// some time before the `go` with which the clock begins to run. Only in
    /// the book that is asked first; what is wrong with it shows at the `go`.
    pub(super) fn look_ahead(&mut self, book_set: &BookSet) {
        if !self.settings.check(OptionId::OwnBook)
            || self.librarian.shut
            || self.link.options.analysing()
        {
            return;
        }
        let Some(position) = self.game.position() else {
            return;
        };
        self.librarian.refresh_settings(&self.settings, book_set);
        let own_settings = std::mem::take(&mut self.librarian.settings);
        let first = book_set
            .books
            .iter()
            .zip(&own_settings)
            .enumerate()
            .find(|(_, (book, settings))| answers(book, settings, position));
        if let Some((index, (book, settings))) = first {
            let _ = self
                .librarian
                .find((index, &*book.book), settings, position);
        }
        self.librarian.settings = own_settings;
    }

    /// The book's answer to a `go`: the lines to say, the last of them the
    /// `bestmove`.
    pub(super) fn ask_books(
        &mut self,
        go: &Go,
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) -> Option<Vec<Vec<u8>>> {
        if !self.settings.check(OptionId::OwnBook) || self.librarian.shut {
            return None;
        }
        let position = self.game.position()?.clone();
        self.librarian.refresh_settings(&self.settings, book_set);
        let asked = go.searchmoves.as_ref().map(|moves| legal(moves, &position));
        let mut troubles = Vec::new();
        let choice = self.choose(&position, asked.as_deref(), book_set, &mut troubles);
        for (book, trouble) in troubles {
            if self.librarian.is_news(book) {
                info_string(&trouble, out);
            }
        }
        let Some(choice) = choice else {
            self.count_miss(book_set, out);
            return None;
        };
        let answer = self.announcement(&choice);
        if choice.book.book.side_file().is_some() {
            let mv = choice.mv.to_uci(self.castling_mode()).to_string();
            self.learn_choice(choice.book, mv);
        }
        Some(answer)
    }

    fn choose<'a>(
        &mut self,
        position: &Chess,
        asked: Option<&[Move]>,
        book_set: &'a BookSet,
        troubles: &mut Vec<(&'a str, String)>,
    ) -> Option<Choice<'a>> {
        let own_settings = std::mem::take(&mut self.librarian.settings);
        self.librarian.silences.clear();
        let mut choice = None;
        for (index, (book, settings)) in book_set.books.iter().zip(&own_settings).enumerate() {
            if let Some(silence) = Silence::unasked(book, settings, position) {
                self.librarian.silences.push(silence);
                continue;
            }
            let probe = &*book.book;
            let looked_up =
                self.librarian
                    .look_up((index, probe), settings, &self.game, position, asked);
            if let Err(trouble) = looked_up {
                troubles.push((&book.spec.path, trouble));
                self.librarian.silences.push(Silence::Trouble);
                continue;
            }
            let Librarian {
                found, verdicts, ..
            } = &self.librarian;
            let drawn = pick(verdicts, &mut self.rng).and_then(|index| found.moves.get(index));
            let Some(mv) = drawn.map(|mv| mv.mv) else {
                let silence = Silence::after(found, verdicts);
                self.librarian.silences.push(silence);
                continue;
            };
            let mut reply = None;
            if settings.check(OptionId::Ponder) {
                let mut after = position.clone();
                after.play_unchecked(mv);
                reply = self.librarian.best_reply(probe, settings, &after);
            }
            choice = Some(Choice { book, mv, reply });
            break;
        }
        self.librarian.settings = own_settings;
        choice
    }

    fn count_miss(&mut self, book_set: &BookSet, out: &mut dyn Outlet) {
        let limit = self.settings.number(OptionId::MissLimit);
        self.librarian.misses += 1;
        if limit > 0 && self.librarian.misses >= limit && !book_set.books.is_empty() {
            self.librarian.shut = true;
            info_string(
                &format!("book closed for this game after {limit} misses"),
                out,
            );
        }
    }

    /// The lines that say a book move, in the detail of `Book Info`.
    fn announcement(&self, choice: &Choice<'_>) -> Vec<Vec<u8>> {
        let mode = self.castling_mode();
        let best = choice.mv.to_uci(mode);
        let reply = choice.reply.map(|reply| reply.to_uci(mode));
        let with_reply = |mut line: String, word: &str| {
            if let Some(reply) = &reply {
                let _ = write!(line, "{word}{reply}");
            }
            line.into_bytes()
        };
        let mut lines = Vec::with_capacity(3);
        let detail = self.settings.text(OptionId::Info);
        if detail != "none" {
            let mut line = String::with_capacity(256);
            self.list_moves(&choice.book.name, &mut line);
            lines.push(line.into_bytes());
        }
        if detail == "full" {
            let line = format!(
                "info depth 1 seldepth 1 multipv 1 score cp 0 nodes 1 nps 1 time 0 pv {best}"
            );
            lines.push(with_reply(line, " "));
        }
        lines.push(with_reply(format!("bestmove {best}"), " ponder "));
        lines
    }

    /// "info string book NAME: e2e4 44% (w 33, n 1204, +21) ..."
    fn list_moves(&self, name: &str, line: &mut String) {
        let mode = self.castling_mode();
        let _ = write!(line, "info string book {name}:");
        let librarian = &self.librarian;
        let mut order: Vec<(&BookMove, &Weighed)> = librarian
            .found
            .moves
            .iter()
            .zip(&librarian.verdicts)
            .filter(|(_, verdict)| verdict.probability > 0.0)
            .collect();
        order.sort_by(|a, b| b.1.probability.total_cmp(&a.1.probability));
        for (mv, verdict) in order.iter().take(LISTED) {
            let _ = write!(
                line,
                " {} {}% (w {}, n {}",
                mv.mv.to_uci(mode),
                rounded(verdict.probability * 100.0),
                rounded(verdict.weight),
                mv.stats().games,
            );
            if mv.factor() != 0 {
                let _ = write!(line, ", {:+}", mv.factor());
            }
            line.push(')');
        }
        if order.len() > LISTED {
            let _ = write!(line, " and {} more", order.len() - LISTED);
        }
    }

    /// Shows what the books would play, while the engine analyses.
    pub(super) fn show_books(&mut self, go: &Go, book_set: &BookSet, out: &mut dyn Outlet) {
        let Some(position) = self.game.position().cloned() else {
            return;
        };
        self.librarian.refresh_settings(&self.settings, book_set);
        let asked = go.searchmoves.as_ref().map(|moves| legal(moves, &position));
        let own_settings = std::mem::take(&mut self.librarian.settings);
        for (index, (book, settings)) in book_set.books.iter().zip(&own_settings).enumerate() {
            if !answers(book, settings, &position) {
                continue;
            }
            let looked_up = self.librarian.look_up(
                (index, &*book.book),
                settings,
                &self.game,
                &position,
                asked.as_deref(),
            );
            if looked_up.is_ok() && policy::best(&self.librarian.verdicts).is_some() {
                let mut line = String::new();
                self.list_moves(&book.name, &mut line);
                out.gui(line.as_bytes());
            }
        }
        self.librarian.settings = own_settings;
    }

    fn castling_mode(&self) -> CastlingMode {
        CastlingMode::from_chess960(self.link.options.chess960())
    }

    /// `bestmove` with the first legal move, of those asked for if one of
    /// them is legal; `0000` where there is none.
    pub(super) fn first_legal_move(&self, go: &Go) -> Vec<u8> {
        let mode = self.castling_mode();
        let first = self.game.position().and_then(|position| {
            let asked = go.searchmoves.as_ref().map(|moves| legal(moves, position));
            let asked = asked.and_then(|moves| moves.first().copied());
            asked.or_else(|| position.legal_moves().first().copied())
        });
        first.map_or_else(
            || b"bestmove 0000".to_vec(),
            |mv| format!("bestmove {}", mv.to_uci(mode)).into_bytes(),
        )
    }
}

/// A number for people; formatting floats takes longer than drawing a move.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}

fn pick(verdicts: &[Weighed], rng: &mut dyn Rng) -> Option<usize> {
    // No draw where there is nothing to draw: a miss must not shift the
    // sequence that a seed stands for.
    policy::best(verdicts)?;
    policy::pick(verdicts, rng)
}

/// Whether a book has a say in this position.
fn answers(book: &OpenBook, settings: &Settings, position: &Chess) -> bool {
    Silence::unasked(book, settings, position).is_none()
}

/// The moves of a `searchmoves` list that are legal here.
fn legal(moves: &[String], position: &Chess) -> Vec<Move> {
    moves
        .iter()
        .filter_map(|mv| notation::find_uci(position, mv.as_bytes()))
        .collect()
}
