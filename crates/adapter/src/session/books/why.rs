//! Reasons why a book does not answer a `go`.
//!
//! "Why does it not use my book?" is the question asked most often about programs like
//! this one. Each reason has a sentence here. An unexpected reason is reported when it
//! happens: once in a game, or each time if it differs from position to position. The
//! other reasons (the book is off, an analysis, no book is named) are reported after
//! `debug on`, with every `go`.

use std::fmt::Write as _;

use shakmaty::{CastlingMode, Chess, Color, Move, Position};

use super::super::Analysis;
use super::super::out::Out;
use super::{Books, Scene};
use tabia_book::Lookup;
use tabia_book::policy::{Rejection, Weighed};
use tabia_choice::book_set::OpenBook;
use tabia_choice::conditions::{GameConditions, Variant};
use tabia_choice::settings::{Info, Options};
use tabia_uci::gui::Go;

/// Greatest number of moves that are listed with the reasons against them.
const LISTED: usize = 6;

/// The reason why one book does not answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NoAnswerReason {
    /// The book is for games with other opponents or clocks.
    OtherGames,
    /// The book is for games with other rules.
    Rules(Vec<Variant>),
    /// The book is for the other colour.
    Colour(Color),
    /// The game is beyond the `Book Depth` of the book.
    PastDepth(u32),
    /// The book does not have the position.
    NotHere,
    /// The book has the position, but no move that may be played: the reason for each.
    NoMove(Vec<(Move, Rejection)>),
    /// The value of the position is too low or too high for the options of the book.
    Exit(Rejection),
    /// The book cannot be read in this position.
    Trouble,
}

impl NoAnswerReason {
    /// The reason of a book that is not asked in this position.
    pub(super) fn not_probed(
        book: &OpenBook,
        game: &GameConditions,
        settings: &Options,
        position: &Chess,
    ) -> Option<NoAnswerReason> {
        let depth = settings.depth;
        NoAnswerReason::not_for(book, game, position).or_else(|| {
            let is_past = position.fullmoves().get() > depth;
            is_past.then_some(NoAnswerReason::PastDepth(depth))
        })
    }

    /// The reason of a book that is for other games, or for the other side.
    pub(super) fn not_for(
        book: &OpenBook,
        game: &GameConditions,
        position: &Chess,
    ) -> Option<NoAnswerReason> {
        let conditions = &book.spec.conditions;
        if !conditions.hold_in(game.rules()) {
            return Some(NoAnswerReason::Rules(conditions.variants.clone()));
        }
        if !conditions.hold(game) {
            return Some(NoAnswerReason::OtherGames);
        }
        let colour = book.spec.colour?;
        (colour != position.turn()).then_some(NoAnswerReason::Colour(colour))
    }

    /// The reason of a book that was asked and has no move.
    pub(super) fn after(found: &Lookup, verdicts: &[Weighed]) -> NoAnswerReason {
        let against: Vec<(Move, Rejection)> = found
            .moves
            .iter()
            .zip(verdicts)
            .filter_map(|(entry, verdict)| Some((entry.mv, verdict.rejection?)))
            .collect();
        if against.is_empty() {
            NoAnswerReason::NotHere
        } else if let [(_, exit @ Rejection::Exit { .. }), ..] = against[..] {
            NoAnswerReason::Exit(exit)
        } else {
            NoAnswerReason::NoMove(against)
        }
    }

    pub(super) fn describe(&self, chess960: bool, text: &mut String) {
        let _ = match self {
            NoAnswerReason::OtherGames => write!(text, "it is for other opponents or clocks"),
            NoAnswerReason::Rules(rules) => match &rules[..] {
                [] => write!(text, "it is for {}", Variant::Chess),
                [first, others @ ..] => {
                    let _ = write!(text, "it is for {first}");
                    others
                        .iter()
                        .try_for_each(|other| write!(text, " or {other}"))
                }
            },
            NoAnswerReason::Colour(Color::White) => write!(text, "it is for White"),
            NoAnswerReason::Colour(Color::Black) => write!(text, "it is for Black"),
            NoAnswerReason::PastDepth(depth) => write!(text, "past Book Depth {depth}"),
            NoAnswerReason::NotHere => write!(text, "the position is not in it"),
            NoAnswerReason::Exit(reason) => write!(text, "{reason}"),
            NoAnswerReason::Trouble => write!(text, "it cannot be read here"),
            NoAnswerReason::NoMove(against) => {
                let mode = CastlingMode::from_chess960(chess960);
                for (index, (mv, reason)) in against.iter().take(LISTED).enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    let _ = write!(text, "{comma}{} {reason}", mv.to_uci(mode));
                }
                match against.len().saturating_sub(LISTED) {
                    0 => Ok(()),
                    more => write!(text, " and {more} more"),
                }
            }
        };
    }
}

/// Messages that are sent once in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ReportOnce {
    /// Which books are for it.
    Books,
    Analysis,
    NoClock,
    OutOfBook,
    PastDepth,
    Chess960,
    Variant,
}

impl Books {
    /// Tells why this `go` goes to the engine, if the reason is unexpected, or if `all` reasons
    /// are reported.
    pub(in super::super) fn say_why(
        &mut self,
        go: &Go,
        all: bool,
        scene: Scene<'_>,
        out: &mut Out<'_>,
    ) {
        let wanted = self.settings.options().info != Info::None;
        let reason = self.reason_of_all(go, scene);
        if let Some((text, news)) = reason.or_else(|| self.reason_of_books(scene))
            && ((news && wanted) || all)
        {
            out.info(&format!("no book move: {text}"));
        }
    }

    /// Reports once that the engine's own book is not switched off: its moves come where
    /// the books of Tabia end. `switch` is the name of its option.
    pub(in super::super) fn warn_of_own_book(&mut self, switch: &str, out: &mut Out<'_>) {
        let text = format!(
            "the engine may play from a book of its own where Tabia's books end: \
             set \"{switch}\" to false to have it think"
        );
        if self.settings.options().own_book && self.chooser.reported.insert(text.clone()) {
            out.info(&text);
        }
    }

    /// The reason why no book answers, and whether it has not been reported yet.
    fn reason_of_all(&mut self, go: &Go, scene: Scene<'_>) -> Option<(String, bool)> {
        let game = scene.game;
        let text = if !self.settings.options().own_book {
            "OwnBook is off"
        } else if go.infinite {
            "the engine answers in analysis (go infinite)"
        } else if go.engine_only {
            "only the engine can answer this go"
        } else if let Some(analysis) = scene.analysis {
            let news = self.reported.insert(ReportOnce::Analysis);
            return Some((analysis_text(analysis).to_owned(), news));
        } else if self.settings.options().clock_only && !go.has_clock() {
            let news = self.reported.insert(ReportOnce::NoClock);
            let text = "this go has no clock: the engine answers (Book Clock Only)";
            return Some((text.to_owned(), news));
        } else if self.chooser.is_shut() {
            "the book is closed for this game (Book Miss Limit)"
        } else if scene.lacks_book_for_rules() {
            let rules = game.rules();
            let news = self.reported.insert(ReportOnce::Variant);
            return Some((
                format!("this game is {rules}, and there is no book for it"),
                news,
            ));
        } else {
            nothing_to_ask(scene)?
        };
        Some((text.to_owned(), false))
    }

    /// The reason why each book does not answer, and whether it has not been reported
    /// yet.
    fn reason_of_books(&mut self, scene: Scene<'_>) -> Option<(String, bool)> {
        let (game, book_set) = (scene.game, scene.book_set);
        let position = game.position()?;
        let reported = &mut self.reported;
        let chess960 = game.conditions().king_takes_rook();
        let no_answer_reasons = &self.chooser.no_answer_reasons;
        let has = |wanted: fn(&NoAnswerReason) -> bool| no_answer_reasons.iter().any(wanted);
        let mut text = String::new();
        // No book has games of Chess960; the castling rights make the positions
        // different, as long as there are any.
        if chess960 && !is_ordinary(position) {
            text.push_str("books have only positions of standard chess, and this is Chess960");
            return Some((text, reported.insert(ReportOnce::Chess960)));
        }
        for (book, reason) in book_set.books.iter().zip(no_answer_reasons) {
            if !text.is_empty() {
                text.push_str("; ");
            }
            let _ = write!(text, "{}: ", book.name);
            reason.describe(chess960, &mut text);
        }
        let news = if has(|reason| {
            matches!(reason, NoAnswerReason::NoMove(_) | NoAnswerReason::Exit(_))
        }) {
            true
        } else if has(|reason| matches!(reason, NoAnswerReason::PastDepth(_))) {
            reported.insert(ReportOnce::PastDepth)
        } else {
            // A book with an error has been reported already.
            let sound = book_set.books.iter().all(|book| book.notices.is_empty())
                && !has(|reason| matches!(reason, NoAnswerReason::Trouble));
            reported.insert(ReportOnce::OutOfBook) && sound
        };
        Some((text, news))
    }
}

/// Why no book can be asked about this position.
pub(super) fn nothing_to_ask(scene: Scene<'_>) -> Option<&'static str> {
    if scene.game.position().is_none() {
        return Some(match scene.game.has_other_rules() {
            true => "the game cannot be followed by the rules of chess",
            false => "the position line is not legal",
        });
    }
    let no_book = scene.book_set.books.is_empty();
    no_book.then_some("no book is open (see Book File)")
}

const fn analysis_text(analysis: Analysis) -> &'static str {
    match analysis {
        Analysis::MultiPv => "MultiPV is above 1: the engine answers in analysis",
        Analysis::Mode => "UCI_AnalyseMode is on: the engine answers in analysis",
    }
}

/// Whether all kings and rooks that may castle are on the squares of ordinary chess.
fn is_ordinary(position: &Chess) -> bool {
    use shakmaty::Square;
    let corners = [Square::A1, Square::H1, Square::A8, Square::H8];
    let kings = [(Color::White, Square::E1), (Color::Black, Square::E8)];
    let rights = position.castles().castling_rights();
    rights.into_iter().all(|rook| corners.contains(&rook))
        && kings.into_iter().all(|(colour, home)| {
            !position.castles().has_color(colour) || position.board().king_of(colour) == Some(home)
        })
}
