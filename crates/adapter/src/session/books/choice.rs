//! Asks the books, and makes the lines that are sent with a book move.

use std::fmt::Write as _;
use std::time::Duration;

use rand::RngExt as _;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::super::out::Out;
use super::why::NoAnswerReason;
use super::{Books, Scene};
use tabia_book::policy::{self, Weighed};
use tabia_book::{BookMove, Probe};
use tabia_choice::book_set::OpenBook;
use tabia_choice::settings::Info;
use tabia_notation::{self as notation, Results};
use tabia_uci::gui::Go;
use tabia_uci::message;

/// Greatest number of moves listed in an announcement.
const LISTED: usize = 12;

/// A book's answer to a position.
#[derive(Clone, Copy)]
pub(in super::super) struct BookChoice {
    /// Index of the book in the book set.
    pub(in super::super) book: usize,
    pub(in super::super) mv: Move,
    reply: Option<Move>,
    /// Random number from 0 to 1 for the random part of `Book Delay`.
    drawn: f64,
}

impl Books {
    /// Draws a move that is not forbidden, without the `vetoed` ones.
    pub(in super::super) fn draw(
        &mut self,
        go: &Go,
        vetoed: &[Move],
        scene: Scene<'_>,
        out: &mut Out<'_>,
    ) -> Option<BookChoice> {
        let position = scene.game.position().filter(|_| self.are_asked(scene))?;
        let book_set = scene.book_set;
        self.chooser
            .refresh_settings(self.settings.options(), book_set);
        let asked = go.searchmoves.as_ref().map(|moves| legal(moves, position));
        let mut searchmoves = asked.or_else(|| self.allowed(go, scene));
        if !vetoed.is_empty() {
            searchmoves
                .get_or_insert_with(|| position.legal_moves().into_iter().collect())
                .retain(|mv| !vetoed.contains(mv));
        }
        let mut troubles = Vec::new();
        let covers = self.cover.is_read();
        let choice = self.choose(
            position,
            searchmoves.as_deref(),
            scene,
            covers,
            &mut troubles,
        );
        self.chooser.count_question();
        for (book, trouble) in troubles {
            if self.chooser.reported.insert(book.to_owned()) {
                out.info(&trouble);
            }
        }
        if let Some(choice) = choice {
            self.chooser.answered_by = Some(choice.book);
        } else if vetoed.is_empty() && !book_set.books.is_empty() {
            if self.chooser.miss(go.ponder) {
                self.count_miss(out);
            }
            if covers {
                (self.cover).end(self.entropy, scene.game, go.ponder, out);
            }
        }
        choice
    }

    /// Reports what the books say about their move, the answer, and returns the lines to send;
    /// the last is the `bestmove`.
    pub(in super::super) fn announce(
        &mut self,
        choice: BookChoice,
        go: &Go,
        scene: Scene<'_>,
        out: &mut Out<'_>,
    ) -> Vec<Vec<u8>> {
        if self.answering().info != Info::None
            && let Some(text) = self.chooser.unreported_settings(choice.book)
        {
            out.info(&format!("settings in force: {text}"));
        }
        if let Some(position) = scene.game.position().filter(|_| self.cover.is_read()) {
            self.cover_move(position, choice.mv, go.ponder, scene, out);
        }
        self.announcement(choice, scene)
    }

    /// How long the answer to this `go` waits before it is sent.
    pub(in super::super) fn delay(
        &self,
        choice: BookChoice,
        go: &Go,
        white_moves: Option<bool>,
    ) -> Duration {
        let left = go.left(white_moves);
        self.answering().delay.wait(choice.drawn, left)
    }

    pub(super) fn choose<'a>(
        &mut self,
        position: &Chess,
        searchmoves: Option<&[Move]>,
        scene: Scene<'a>,
        covers: bool,
        troubles: &mut Vec<(&'a str, String)>,
    ) -> Option<BookChoice> {
        let (game, book_set) = (scene.game, scene.book_set);
        let own_settings = std::mem::take(&mut self.chooser.settings);
        self.chooser.no_answer_reasons.clear();
        let mut chance = self.chooser.chance(self.seed_in_force(), position);
        let mut choice = None;
        for (index, (book, settings)) in book_set.books.iter().zip(&own_settings).enumerate() {
            let of_game = game.conditions();
            if let Some(reason) = NoAnswerReason::not_probed(book, of_game, settings, position) {
                self.chooser.no_answer_reasons.push(reason);
                continue;
            }
            let probe: &dyn Probe = &*book.book;
            let looked_up =
                self.chooser
                    .look_up((index, probe), settings, game, position, searchmoves);
            if let Err(trouble) = looked_up {
                troubles.push((&book.spec.path, trouble));
                self.chooser.no_answer_reasons.push(NoAnswerReason::Trouble);
                continue;
            }
            let (found, verdicts) = self.chooser.found(index);
            let uncovered = match covers {
                true => self.cover.choose(
                    (self.entropy, game),
                    (book_set, &own_settings, game.conditions()),
                    (found, verdicts),
                ),
                false => None,
            };
            let drawn = || {
                policy::pick(verdicts, &mut chance)
                    .and_then(|index| found.moves.get(index))
                    .map(|entry| entry.mv)
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
            choice = Some(BookChoice {
                book: index,
                mv,
                reply,
                drawn: chance.random(),
            });
            break;
        }
        self.chooser.settings = own_settings;
        choice
    }

    /// The lines that announce a book move, as detailed as `Book Info` says.
    fn announcement(&self, choice: BookChoice, scene: Scene<'_>) -> Vec<Vec<u8>> {
        let mode = scene.game.castling_mode();
        let best = choice.mv.to_uci(mode);
        let reply = choice.reply.map(|reply| reply.to_uci(mode));
        let mut lines = Vec::with_capacity(3);
        let detail = self.answering().info;
        if let Some(book) = scene.book_set.books.get(choice.book)
            && detail != Info::None
        {
            let mut line = String::with_capacity(256);
            self.list_moves((choice.book, book), mode, &mut line);
            lines.push(line.into_bytes());
        }
        if detail == Info::Full {
            // Programs show it as if it had been searched, and fastchess warns without a score:
            // so it is 0 where the book has no evaluation.
            let (found, _) = self.chooser.found(choice.book);
            let chosen = found.moves.iter().find(|entry| entry.mv == choice.mv);
            let known = chosen.and_then(|entry| entry.evaluation);
            let (value, depth) = known.map_or((0, 1), |known| (known.value, known.depth.max(1)));
            let wdl = match scene.shows_wdl {
                true => {
                    let results = chosen.map_or_else(Results::default, |mv| mv.stats().results());
                    let [win, draw, loss] = chances(results, value);
                    format!(" wdl {win} {draw} {loss}")
                }
                false => String::new(),
            };
            let mut line = format!(
                "info depth {depth} seldepth {depth} multipv 1 score cp {value}{wdl} nodes 1 \
                 nps 1 time 0 pv {best}"
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
    pub(super) fn list_moves(
        &self,
        (index, book): (usize, &OpenBook),
        mode: CastlingMode,
        line: &mut String,
    ) {
        let _ = write!(line, "info string book {}:", book.name);
        let (found, verdicts) = self.chooser.found(index);
        let mut order: Vec<(&BookMove, &Weighed)> = found
            .moves
            .iter()
            .zip(verdicts)
            .filter(|(_, verdict)| verdict.probability > 0.0)
            .collect();
        order.sort_by(|a, b| b.1.probability.total_cmp(&a.1.probability));
        for (entry, verdict) in order.iter().take(LISTED) {
            let _ = write!(
                line,
                " {} {}% (w {}, n {}",
                entry.mv.to_uci(mode),
                rounded(verdict.probability * 100.0),
                rounded(verdict.weight),
                entry.stats().games,
            );
            if entry.learn_value() != 0 {
                let _ = write!(line, ", {:+}", entry.learn_value());
            }
            if let Some(evaluation) = entry.evaluation {
                let _ = write!(line, ", {:+} cp", evaluation.value);
            }
            line.push(')');
        }
        if order.len() > LISTED {
            let _ = write!(line, " and {} more", order.len() - LISTED);
        }
    }

    /// Shows the moves of the books while the engine analyses.
    pub(in super::super) fn show(&mut self, go: &Go, scene: Scene<'_>, out: &mut Out<'_>) {
        let (game, book_set) = (scene.game, scene.book_set);
        let Some(position) = game.position() else {
            return;
        };
        self.chooser
            .refresh_settings(self.settings.options(), book_set);
        let searchmoves = go.searchmoves.as_ref().map(|moves| legal(moves, position));
        let own_settings = std::mem::take(&mut self.chooser.settings);
        let of_game = game.conditions();
        for (index, (book, settings)) in book_set.books.iter().zip(&own_settings).enumerate() {
            if !settings.in_analysis
                || NoAnswerReason::not_probed(book, of_game, settings, position).is_some()
            {
                continue;
            }
            let looked_up = self.chooser.look_up(
                (index, &*book.book),
                settings,
                game,
                position,
                searchmoves.as_deref(),
            );
            if looked_up.is_ok() && policy::best(self.chooser.found(index).1).is_some() {
                let mut line = String::new();
                self.list_moves((index, book), game.castling_mode(), &mut line);
                out.gui(line.as_bytes());
            }
        }
        self.chooser.settings = own_settings;
    }
}

/// The chances of a win, a draw and a loss per mille, 1000 in all (`UCI_ShowWDL`): by the
/// results of a move; without any, by its value in centipawns, as if each half point were
/// won with the probability of its score.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn chances(results: Results, value: i32) -> [u64; 3] {
    let [wins, _, losses] = results.parts();
    let games: u64 = results.parts().iter().sum();
    let (win, loss) = match games {
        0 => {
            let score = 1.0 / (1.0 + 10_f64.powf(-f64::from(value) / 400.0));
            let per_mille = |half: f64| (half * half * 1000.0).round() as u64;
            (per_mille(score), per_mille(1.0 - score))
        }
        games => {
            let per_mille = |count: u64| ((count as f64 / games as f64) * 1000.0).floor() as u64;
            (per_mille(wins), per_mille(losses))
        }
    };
    [win, 1000 - win - loss, loss]
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chances_are_those_of_the_results_or_of_the_value() {
        let of = |wins, draws, losses, value| chances(Results::new(wins, draws, losses), value);
        assert_eq!(of(1, 1, 2, 900), [250, 250, 500]);
        assert_eq!(of(3, 0, 0, -900), [1000, 0, 0]);
        // Roundings go to the draws.
        assert_eq!(of(1, 1, 1, 0), [333, 334, 333]);
        assert_eq!(of(0, 0, 0, 0), [250, 500, 250]);
        let [win, draw, loss] = of(0, 0, 0, 120);
        assert!(win > loss && draw > 0, "{win} {draw} {loss}");
    }

    proptest! {
        #[test]
        fn chances_are_a_thousand(
            wins in 0_u64..u64::from(u32::MAX),
            draws in 0_u64..u64::from(u32::MAX),
            losses in 0_u64..u64::from(u32::MAX),
            few in 0_u64..4,
            value in -32_000..32_000,
        ) {
            let results = Results::new(wins * few, draws * few, losses * few);
            prop_assert_eq!(chances(results, value).iter().sum::<u64>(), 1000);
        }
    }
}
