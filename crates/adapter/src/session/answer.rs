//! Asks the books, and makes the lines that are sent with a book move.

use std::fmt::Write as _;
use std::time::Duration;

use rand::RngExt as _;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::why::NoAnswerReason;
use super::{Moment, Outlet, Session, info_string};
use crate::book_set::{BookSet, OpenBook};
use crate::settings::{Info, Options};
use tabia_book::policy::{self, Weighed};
use tabia_book::{BookMove, Probe};
use tabia_notation as notation;
use tabia_uci::gui::Go;
use tabia_uci::message;

/// Greatest number of moves listed in an announcement.
const LISTED: usize = 12;

/// A book's answer to a position.
pub(super) struct Choice<'a> {
    /// Index in the book set.
    index: usize,
    book: &'a OpenBook,
    mv: Move,
    reply: Option<Move>,
    /// Random number from 0 to 1 for the random part of `Book Delay`.
    drawn: f64,
}

/// The books' answer to a `go`.
pub(super) struct Answer {
    /// The lines to send, the last of them the `bestmove`.
    pub(super) lines: Vec<Vec<u8>>,
    /// The move.
    pub(super) mv: Move,
    /// How long it waits before it is sent.
    pub(super) delay: Duration,
}

impl Session {
    /// Looks the present position up before the `go`, including the reply to the move
    /// that would be drawn. Call this when all lines have been sent and nothing waits.
    /// Sends nothing, and does not change what will be sent.
    pub fn look_ahead(&mut self, book_set: &BookSet) {
        if self.chooser.is_prepared || self.books.opening || !self.books_may_answer() {
            return;
        }
        self.chooser
            .refresh_settings(self.settings.options(), book_set);
        self.chooser.is_prepared = true;
        // Following lines to their end takes too long before a `go` is certain.
        let follows = |settings: &Options| settings.leave_early > 0;
        if self.chooser.settings.iter().any(follows) {
            return;
        }
        self.has_book_move(book_set);
    }

    /// Whether a book has a playable move here.
    pub(super) fn has_book_move(&mut self, book_set: &BookSet) -> bool {
        let position = self.game.position().filter(|_| self.books_may_answer());
        let Some(position) = position.cloned() else {
            return false;
        };
        self.chooser
            .refresh_settings(self.settings.options(), book_set);
        self.choose(&position, None, book_set, false, &mut Vec::new())
            .is_some()
    }

    /// Whether books may answer in this game now.
    pub(super) fn books_may_answer(&self) -> bool {
        self.settings.options().own_book && !self.chooser.shut && !self.link.options.analysing()
    }

    /// Whether the game has other rules than chess, and no book is for these.
    pub(super) fn lacks_book_for_rules(&self, book_set: &BookSet) -> bool {
        let rules = self.conditions.rules();
        let mut books = book_set.books.iter();
        self.conditions.has_other_rules() && !books.any(|book| book.spec.conditions.hold_in(rules))
    }

    /// The book's answer to a `go`, without the `vetoed` moves.
    pub(super) fn ask_books(
        &mut self,
        go: &Go,
        vetoed: &[Move],
        at: &mut Moment<'_>,
    ) -> Option<Answer> {
        if !self.settings.options().own_book
            || self.chooser.shut
            || self.lacks_book_for_rules(at.book_set)
        {
            return None;
        }
        let position = self.game.position()?.clone();
        self.chooser
            .refresh_settings(self.settings.options(), at.book_set);
        let mut searchmoves = go.searchmoves.as_ref().map(|moves| legal(moves, &position));
        if !vetoed.is_empty() {
            searchmoves
                .get_or_insert_with(|| position.legal_moves().into_iter().collect())
                .retain(|mv| !vetoed.contains(mv));
        }
        let mut troubles = Vec::new();
        let covers = self.covers();
        let searchmoves = searchmoves.as_deref();
        let choice = self.choose(&position, searchmoves, at.book_set, covers, &mut troubles);
        self.chooser.count_question();
        for (book, trouble) in troubles {
            if self.chooser.is_news(book) {
                info_string(&trouble, at.out);
            }
        }
        let Some(choice) = choice else {
            let missed = vetoed.is_empty() && !at.book_set.books.is_empty();
            if missed && self.chooser.miss(go.ponder) {
                self.count_miss(at.out);
            }
            if missed && covers {
                self.cover_end(go.ponder, at.out);
            }
            return None;
        };
        self.chooser.answered_by = Some(choice.index);
        // An `isready` before the `go` is answered before it: the book is ready.
        self.link.answer_ready(at.out);
        if self.answering().info != Info::None
            && let Some(text) = self.chooser.unreported_settings(choice.index)
        {
            info_string(&format!("settings in force: {text}"), at.out);
        }
        if covers {
            self.cover_move(&position, choice.mv, go.ponder, at);
        }
        let lines = self.announcement(&choice);
        let longest = go.longest(Some(position.turn().is_white()));
        let answer = Answer {
            lines,
            mv: choice.mv,
            delay: self.answering().delay.wait(choice.drawn, longest),
        };
        if choice.book.side_file.is_some() || self.recorder.is_some() {
            let mv = choice.mv.to_uci(self.castling_mode()).to_string();
            self.record_book(&choice.book.name, &mv);
            self.learn_choice(choice.book, mv);
        }
        Some(answer)
    }

    /// The settings of the book that has answered last.
    pub(super) fn answering(&self) -> &Options {
        self.chooser.answering().unwrap_or(self.settings.options())
    }

    pub(super) fn choose<'a>(
        &mut self,
        position: &Chess,
        searchmoves: Option<&[Move]>,
        book_set: &'a BookSet,
        covers: bool,
        troubles: &mut Vec<(&'a str, String)>,
    ) -> Option<Choice<'a>> {
        let own_settings = std::mem::take(&mut self.chooser.settings);
        self.chooser.no_answer_reasons.clear();
        let mut chance = self.chooser.chance(self.seed_in_force(), position);
        let mut choice = None;
        for (index, (book, settings)) in book_set.books.iter().zip(&own_settings).enumerate() {
            if let Some(reason) =
                NoAnswerReason::not_probed(book, &self.conditions, settings, position)
            {
                self.chooser.no_answer_reasons.push(reason);
                continue;
            }
            let probe: &dyn Probe = &*book.book;
            let looked_up =
                self.chooser
                    .look_up((index, probe), settings, &self.game, position, searchmoves);
            if let Err(trouble) = looked_up {
                troubles.push((&book.spec.path, trouble));
                self.chooser.no_answer_reasons.push(NoAnswerReason::Trouble);
                continue;
            }
            let (found, verdicts) = self.chooser.found(index);
            let uncovered = match covers {
                true => self.cover.choose(
                    (self.entropy, &self.game),
                    (book_set, &own_settings, &self.conditions),
                    (found, verdicts),
                ),
                false => None,
            };
            let drawn = || {
                policy::pick(verdicts, &mut chance)
                    .and_then(|index| found.moves.get(index))
                    .map(|mv| mv.mv)
            };
            let Some(mv) = uncovered.or_else(drawn) else {
                let reason = NoAnswerReason::after(found, verdicts);
                self.chooser.no_answer_reasons.push(reason);
                continue;
            };
            let reply = match settings.ponder {
                true => {
                    let of = (index, probe);
                    self.chooser.best_reply(of, settings, position, mv)
                }
                false => None,
            };
            choice = Some(Choice {
                index,
                book,
                mv,
                reply,
                drawn: chance.random(),
            });
            break;
        }
        self.chooser.settings = own_settings;
        choice
    }

    /// The ponder move was played: a miss of the books now counts.
    pub(super) fn guess_came_true(&mut self, out: &mut dyn Outlet) {
        if self.chooser.take_missed_guess() {
            self.count_miss(out);
        }
    }

    fn count_miss(&mut self, out: &mut dyn Outlet) {
        let limit = self.settings.options().miss_limit;
        if self.chooser.count_miss(limit) {
            info_string(
                &format!("book closed for this game after {limit} misses"),
                out,
            );
        }
    }

    /// The lines that announce a book move, as detailed as `Book Info` says.
    fn announcement(&self, choice: &Choice<'_>) -> Vec<Vec<u8>> {
        let mode = self.castling_mode();
        let best = choice.mv.to_uci(mode);
        let reply = choice.reply.map(|reply| reply.to_uci(mode));
        let mut lines = Vec::with_capacity(3);
        let detail = self.answering().info;
        if detail != Info::None {
            let mut line = String::with_capacity(256);
            self.list_moves((choice.index, choice.book), &mut line);
            lines.push(line.into_bytes());
        }
        if detail == Info::Full {
            let mut line = format!(
                "info depth 1 seldepth 1 multipv 1 score cp 0 nodes 1 nps 1 time 0 pv {best}"
            );
            if let Some(reply) = &reply {
                let _ = write!(line, " {reply}");
            }
            lines.push(line.into_bytes());
        }
        lines.push(message::best_move(&best, reply.as_ref()).into_bytes());
        lines
    }

    /// "info string book NAME: e2e4 44% (w 33, n 1204, +21) ..."
    fn list_moves(&self, (index, book): (usize, &OpenBook), line: &mut String) {
        let mode = self.castling_mode();
        let _ = write!(line, "info string book {}:", book.name);
        let (found, verdicts) = self.chooser.found(index);
        let mut order: Vec<(&BookMove, &Weighed)> = found
            .moves
            .iter()
            .zip(verdicts)
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
            if mv.learn_value() != 0 {
                let _ = write!(line, ", {:+}", mv.learn_value());
            }
            if let Some(evaluation) = mv.evaluation {
                let _ = write!(line, ", {:+} cp", evaluation.value);
            }
            line.push(')');
        }
        if order.len() > LISTED {
            let _ = write!(line, " and {} more", order.len() - LISTED);
        }
    }

    /// Shows the moves of the books that are shown while the engine analyses.
    pub(super) fn show_books(&mut self, go: &Go, at: &mut Moment<'_>) {
        let Some(position) = self.game.position().cloned() else {
            return;
        };
        self.chooser
            .refresh_settings(self.settings.options(), at.book_set);
        let searchmoves = go.searchmoves.as_ref().map(|moves| legal(moves, &position));
        let own_settings = std::mem::take(&mut self.chooser.settings);
        for (index, (book, settings)) in at.book_set.books.iter().zip(&own_settings).enumerate() {
            if !settings.in_analysis
                || NoAnswerReason::not_probed(book, &self.conditions, settings, &position).is_some()
            {
                continue;
            }
            let looked_up = self.chooser.look_up(
                (index, &*book.book),
                settings,
                &self.game,
                &position,
                searchmoves.as_deref(),
            );
            if looked_up.is_ok() && policy::best(self.chooser.found(index).1).is_some() {
                let mut line = String::new();
                self.list_moves((index, book), &mut line);
                at.out.gui(line.as_bytes());
            }
        }
        self.chooser.settings = own_settings;
    }

    pub(super) fn castling_mode(&self) -> CastlingMode {
        CastlingMode::from_chess960(self.conditions.king_takes_rook())
    }
}

/// A number as text for users; formatting floats takes longer than drawing a move.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}

/// The moves of a `searchmoves` list that are legal here.
fn legal(moves: &[String], position: &Chess) -> Vec<Move> {
    moves
        .iter()
        .filter_map(|mv| notation::find_uci(position, mv.as_bytes()))
        .collect()
}
