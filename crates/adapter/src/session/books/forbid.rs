//! `Book Forbid`: moves that a book speaks against are not played: no book draws them,
//! `Book Verify` compares nothing with them, and they are kept from the engine where no book
//! answers. And the console command `book`.
//!
//! The first book that has the position decides, as for answers; `Book Depth` limits
//! answers only. If nothing else is legal, nothing is forbidden. The engine gets the other
//! legal moves as `searchmoves`, for this one `go`: also after a restart and after
//! `ponderhit`, which repeat or continue it.

use std::fmt::Write as _;

use shakmaty::{CastlingMode, Chess, Move, Position};

use super::super::game::Game;
use super::super::out::Out;
use super::why::{NoAnswerReason, nothing_to_ask};
use super::{Books, Scene};
use tabia_book::Probe;
use tabia_book::policy::{self, Rejection};
use tabia_choice::settings::Info;
use tabia_notation as notation;
use tabia_uci::gui::Go;

/// What has been forbidden in this game.
#[derive(Debug, Default)]
pub(super) struct Forbidding {
    /// The moves that the present search may not play.
    moves: Vec<Move>,
    /// The position in which moves were last reported, so that a search that begins again
    /// does not report them again.
    reported_at: Option<Chess>,
}

impl Books {
    /// Keeps the moves from the engine that a book forbids here, if there are any; none in
    /// an analysis. Returns the `go` of the engine, if it differs from that of the GUI.
    pub(in super::super) fn forbid(
        &mut self,
        (line, go, analyses): (&[u8], &Go, bool),
        scene: Scene<'_>,
        out: &mut Out<'_>,
    ) -> Option<Vec<u8>> {
        self.forbidding.moves.clear();
        let position = scene.game.position().filter(|_| self.are_asked(scene))?;
        if analyses || go.searchmoves.is_some() {
            return None;
        }
        self.chooser
            .refresh_settings(self.settings.options(), scene.book_set);
        let (name, against) = self.against(position, scene)?;
        let is_news = self.forbidding.reported_at.as_ref() != Some(position);
        let reports = is_news && self.settings.options().info != Info::None;
        let mode = scene.game.castling_mode();
        let mut text = format!("book {name} forbids");
        for (index, (mv, reason)) in against.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(text, "{comma} {} ({reason})", mv.to_uci(mode));
        }
        let narrowed = match without(position, &against) {
            None => {
                text.push_str(": there is no other move, so the engine may play it");
                None
            }
            Some(allowed) => Some(with_searchmoves(line, &allowed, mode)),
        };
        if narrowed.is_some() {
            self.forbidding
                .moves
                .extend(against.iter().map(|(mv, _)| mv));
        }
        self.forbidding.reported_at = Some(position.clone());
        if reports {
            out.info(&text);
        }
        narrowed
    }

    /// The moves that may be played in answer to a `go`, if a book forbids others.
    pub(in super::super) fn allowed(&mut self, go: &Go, scene: Scene<'_>) -> Option<Vec<Move>> {
        let position = scene.game.position()?;
        if go.searchmoves.is_some() {
            return None;
        }
        let (_, against) = self.against(position, scene)?;
        without(position, &against)
    }

    /// The reasons against moves in the first book that has the position, with its name; `None`
    /// if it has none, or does not forbid.
    fn against<'a>(
        &mut self,
        position: &Chess,
        scene: Scene<'a>,
    ) -> Option<(&'a str, Vec<(Move, Rejection)>)> {
        // Usually none does, and the books are not probed a second time.
        if !self.chooser.settings.iter().any(|settings| settings.forbid) {
            return None;
        }
        let own_settings = std::mem::take(&mut self.chooser.settings);
        let mut against = None;
        for (index, (book, settings)) in scene.book_set.books.iter().zip(&own_settings).enumerate()
        {
            if NoAnswerReason::not_for(book, scene.game.conditions(), position).is_some() {
                continue;
            }
            let probe: &dyn Probe = &*book.book;
            // A book that cannot be read has been reported when it was asked for a move.
            if self
                .chooser
                .probe((index, probe), settings, position)
                .is_err()
            {
                continue;
            }
            let (found, _) = self.chooser.found(index);
            if found.moves.is_empty() {
                continue;
            }
            if settings.forbid {
                let moves = found.moves.iter();
                let moves = moves.filter_map(|candidate| {
                    Some((
                        candidate.mv,
                        policy::forbidden(candidate, &settings.policy)?,
                    ))
                });
                against = Some((book.name.as_str(), moves.collect::<Vec<_>>()));
            }
            break;
        }
        self.chooser.settings = own_settings;
        against.filter(|(_, moves)| !moves.is_empty())
    }

    /// Reports an answer that the engine was not to give.
    pub(in super::super) fn disobeyed(&mut self, mv: &[u8], game: &Game, out: &mut Out<'_>) {
        let forbidden = std::mem::take(&mut self.forbidding.moves);
        if forbidden.is_empty() || self.settings.options().info == Info::None {
            return;
        }
        let position = game.position();
        let played = position.and_then(|position| notation::find_uci(position, mv));
        if let Some(played) = played.filter(|played| forbidden.contains(played)) {
            out.info(&format!(
                "the engine plays {}, which the book forbids: it ignores searchmoves",
                played.to_uci(game.castling_mode())
            ));
        }
    }

    /// The moves of all books in the present position, and the reasons against moves and
    /// books: the answer to `book`.
    pub(in super::super) fn report(&mut self, scene: Scene<'_>, out: &mut Out<'_>) {
        let Some(position) = scene
            .game
            .position()
            .filter(|_| nothing_to_ask(scene).is_none())
        else {
            let reason = nothing_to_ask(scene).unwrap_or_default();
            return out.info(&format!("no book move: {reason}"));
        };
        self.chooser
            .refresh_settings(self.settings.options(), scene.book_set);
        let own_settings = std::mem::take(&mut self.chooser.settings);
        let (game, mode) = (scene.game, scene.game.castling_mode());
        for (index, (book, settings)) in scene.book_set.books.iter().zip(&own_settings).enumerate()
        {
            let mut line = format!("info string book {}: ", book.name);
            let reason = NoAnswerReason::not_probed(book, game.conditions(), settings, position);
            if let Some(reason) = reason {
                reason.describe(game.conditions().king_takes_rook(), &mut line);
            } else {
                let of = (index, &*book.book as &dyn Probe);
                match self.chooser.look_up(of, settings, game, position, None) {
                    Err(trouble) => line.push_str(&trouble),
                    Ok(()) => self.report_moves(index, book, mode, &mut line),
                }
            }
            out.gui(line.as_bytes());
        }
        self.chooser.settings = own_settings;
        let is_off = !self.settings.options().own_book;
        let general = match scene.analysis {
            _ if is_off => Some("OwnBook is off"),
            _ if self.chooser.is_shut() => {
                Some("the book is closed for this game (Book Miss Limit)")
            }
            Some(_) => Some("the engine is set to analyse"),
            None => None,
        };
        if let Some(reason) = general {
            out.info(&format!("none of these moves would be played: {reason}"));
        }
    }

    /// Adds the moves of a book, then the moves that it would not play and why.
    fn report_moves(
        &self,
        index: usize,
        book: &tabia_choice::book_set::OpenBook,
        mode: CastlingMode,
        line: &mut String,
    ) {
        let (found, verdicts) = self.chooser.found(index);
        let is_playable = policy::best(verdicts).is_some();
        let reason = NoAnswerReason::after(found, verdicts);
        if is_playable {
            line.clear();
            self.list_moves((index, book), mode, line);
            if !matches!(reason, NoAnswerReason::NoMove(_)) {
                return;
            }
            line.push_str("; not ");
        }
        reason.describe(mode == CastlingMode::Chess960, line);
    }
}

/// The legal moves that nothing is said against; `None` if there are none.
fn without(position: &Chess, against: &[(Move, Rejection)]) -> Option<Vec<Move>> {
    let mut allowed = position.legal_moves();
    allowed.retain(|mv| against.iter().all(|(forbidden, _)| forbidden != mv));
    (!allowed.is_empty()).then(|| allowed.to_vec())
}

/// The line with these moves as the only ones.
fn with_searchmoves(line: &[u8], moves: &[Move], mode: CastlingMode) -> Vec<u8> {
    let mut line = line.trim_ascii_end().to_vec();
    line.extend_from_slice(b" searchmoves");
    for mv in moves {
        line.push(b' ');
        line.extend_from_slice(mv.to_uci(mode).to_string().as_bytes());
    }
    line
}
