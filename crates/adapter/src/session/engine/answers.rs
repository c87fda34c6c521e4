//! What a `bestmove` line of the engine is worth.
//!
//! A move that is illegal in the position of the search is never passed on. Some engines
//! print each `bestmove` twice: the second one does not count. Any other illegal or
//! unreadable answer may be the engine's last word on this search: it searches again
//! once, and counts as dead if that does not help. Castling in letters and other moves in
//! SAN are converted, and so is castling in the notation that is not in force, for which
//! fastchess has an engine lose the game. `(none)` loses at once in fastchess and cutechess-cli;
//! it counts as illegal where a program needs a move and there are legal ones. In a variant, and
//! in a game that cannot be followed, every answer in the form of UCI is passed on.

use super::super::game::Game;
use shakmaty::{CastlingMode, Chess, Move, Position as _};
use tabia_notation as notation;
use tabia_uci::line::{place, replaced, text, words};
use tabia_uci::{engine, message};

/// A `bestmove` line.
pub(in super::super) enum Answer<'a> {
    /// The line may be passed on.
    Sound(&'a [u8]),
    /// The move is castling in the notation that is not in force: this line is passed on instead.
    Translated(Vec<u8>),
    /// The move is not in the form of UCI: this line is passed on instead.
    Converted(Vec<u8>),
    /// The engine says that it has no move, where there are legal ones.
    NoMove(&'a [u8]),
    /// The move is not legal in the position of the search.
    Illegal,
    /// The line has no move in the form of UCI.
    Unreadable,
}

impl<'a> Answer<'a> {
    /// Reads a `bestmove` line; `word` is the one after `bestmove`.
    pub(in super::super) fn read(line: &'a [u8], word: &[u8], game: &Game) -> Answer<'a> {
        let sound = engine::sound_answer(line);
        let written = match (sound, game.position(), game.judged_position()) {
            (Some(sound), _, None) => return Answer::Sound(sound),
            (Some(sound), _, Some(position)) => {
                if engine::is_no_move(word) {
                    return match is_over(position) || engine::is_resignation(word) {
                        true => Answer::Sound(sound),
                        false => Answer::NoMove(sound),
                    };
                }
                if let Some(mv) = notation::find_uci(position, word) {
                    return match translated(sound, (position, mv), game.castling_mode()) {
                        Some(line) => Answer::Translated(line),
                        None => Answer::Sound(sound),
                    };
                }
                legal_answer(position, word)
            }
            (None, Some(position), _) => notation::read_move(position, &text(word)).ok(),
            (None, None, _) => None,
        };
        match (written, sound) {
            (Some(mv), _) => {
                let mv = mv.to_uci(game.castling_mode());
                Answer::Converted(message::best_move(&mv, None).into_bytes())
            }
            (None, Some(_)) => Answer::Illegal,
            (None, None) => Answer::Unreadable,
        }
    }
}

/// The answer with castling in the notation in force, if it is written otherwise.
fn translated(line: &[u8], (position, mv): (&Chess, Move), mode: CastlingMode) -> Option<Vec<u8>> {
    let mut list = words(line).skip(1);
    let mut changes = Vec::new();
    let mut respell = |word: Option<&[u8]>, mv: Move| {
        let written = mv.to_uci(mode).to_string().into_bytes();
        if let Some(word) = word
            && mv.is_castle()
            && word != written
        {
            changes.push((place(line, word), written));
        }
    };
    respell(list.next(), mv);
    let reply = list.nth(1);
    // A ponder move that is not legal is the program's to refuse.
    let after = notation::after(position, mv);
    if let Some(mv) = reply.and_then(|reply| notation::find_uci(&after, reply)) {
        respell(reply, mv);
    }
    (!changes.is_empty()).then(|| replaced(line, &changes))
}

/// Whether the game is over by the rules, so that no move is needed; a threefold repetition does
/// not show.
fn is_over(position: &Chess) -> bool {
    position.is_game_over() || position.halfmoves() >= 100
}

/// Whether an answer cannot be one in this position. An engine may have no move, as for
/// impossible `searchmoves`, more than once.
pub(super) fn is_foreign(word: &[u8], position: &Chess) -> bool {
    !engine::is_no_move(word) && legal_answer(position, word).is_none()
}

/// The legal move for an answer in the form of UCI: in upper case too, and for a queen if
/// the letter of the promotion is missing.
fn legal_answer(position: &Chess, word: &[u8]) -> Option<shakmaty::Move> {
    let lower = word.to_ascii_lowercase();
    let with_queen = [&lower, &b"q"[..]].concat();
    let mut written = [word, &lower, &with_queen].into_iter();
    written.find_map(|word| notation::find_uci(position, word))
}

/// The message about an answer that is not a move, which programs would take for one.
pub(in super::super) fn unsound(line: &[u8]) -> String {
    format!(
        "the engine's answer is not UCI and is ignored: {}",
        shown(line)
    )
}

/// The beginning of an answer, for messages.
pub(in super::super) fn shown(part: &[u8]) -> String {
    text(part).chars().take(80).collect()
}
