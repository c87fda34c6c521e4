//! Pasted text: a position, moves in any notation, a game with variations and comments,
//! or an address that contains one of these.

use std::io::Cursor;
use std::sync::Arc;

use serde::Serialize;
use shakmaty::{Chess, Move};

use super::line;
use super::message::{Message, move_error, translatable};
use super::query::{Query, decode_percent};
use tabia_games::{Game, GameParts, GameResult, GameSource as _, Item, PgnSource, SkipReason};
use tabia_notation::{self as notation, Line, MoveError};

/// Greatest number of moves in a text, variations included.
const MOST_MOVES: usize = 4000;

/// The tree of moves of a text.
#[derive(Debug, Default, Serialize)]
pub(super) struct Pasted {
    /// The first position, if not the standard one.
    fen: Option<String>,
    /// The main line in UCI notation.
    play: Vec<String>,
    /// All moves; each one's parent comes before it, and the first child of
    /// a move is its main line.
    nodes: Vec<PastedMove>,
    /// The comment before the first move.
    comment: String,
    /// Tags of a game, in order.
    tags: Vec<(String, String)>,
    /// What could not be read, in one sentence.
    problem: Option<Message>,
}

/// A move of the tree.
#[derive(Debug, Serialize)]
struct PastedMove {
    /// Index of the previous move; `None` for a first move.
    parent: Option<usize>,
    uci: String,
    san: String,
    nags: Vec<u8>,
    comment: String,
}

/// Reads a text.
///
/// # Errors
///
/// One sentence if no part of it can be read.
pub(super) fn read(text: &str) -> Result<Pasted, Message> {
    let quotes = |c: char| c.is_whitespace() || "\"'`“”„‚‘’«»".contains(c);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let bare = text.trim_matches(quotes);
    if bare.is_empty() {
        return Err(translatable!("there is nothing to read"));
    }
    if let Some((_, rest)) = bare.split_once("://").filter(|(scheme, _)| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    }) {
        return address(rest);
    }
    let is_game = text.starts_with('[') || bare.starts_with("1.");
    let first = bare.split_whitespace().next().unwrap_or_default();
    let says_position = matches!(first, "position" | "fen" | "startpos");
    if !is_game && bare.lines().count() == 1 && (says_position || bare.matches('/').count() >= 7) {
        return pasted_line(&line::read(Some(bare), None)?);
    }
    // In a game the last quotation mark may belong to a tag.
    game(if text.starts_with('[') { text } else { bare })
}

fn pasted_line(line: &Line) -> Result<Pasted, Message> {
    let start = Some(line.start()).filter(|&start| *start != Chess::default());
    let nodes = line
        .steps()
        .enumerate()
        .map(|(index, (position, mv))| PastedMove {
            parent: index.checked_sub(1),
            uci: notation::uci_or_null(mv),
            san: notation::san_or_null(position, mv),
            nags: Vec::new(),
            comment: String::new(),
        });
    Ok(Pasted {
        fen: start.map(notation::fen),
        play: line.uci_words(),
        nodes: nodes.collect(),
        ..Pasted::default()
    })
}

/// Reads an address of this page, or of lichess's analysis board, without fetching it.
fn address(rest: &str) -> Result<Pasted, Message> {
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let query = Query::read(query);
    if query.get("fen").is_some() || query.get("play").is_some() {
        return pasted_line(&query.line()?);
    }
    let path = decode_percent(path).replace('_', " ");
    if let Some((_, moves)) = path.split_once("/analysis/pgn/") {
        return game(&moves.replace(['/', '+'], " "));
    }
    // The eight ranks of a FEN are also separated by slashes.
    let parts: Vec<&str> = path.split('/').collect();
    if let Some(ranks) = parts.len().checked_sub(8).and_then(|at| parts.get(at..))
        && ranks.iter().all(|rank| !rank.is_empty())
        && let Ok(line) = line::read(Some(&ranks.join("/")), None)
    {
        return pasted_line(&line);
    }
    let host = path.split('/').next().unwrap_or_default();
    Err(translatable!(
        "the address names no position, and nothing is fetched from {0}: paste the FEN or the PGN",
        host
    ))
}

/// The first game of a text in PGN, with or without numbers and tags.
fn game(text: &str) -> Result<Pasted, Message> {
    let mut text = text.to_owned();
    if text.rfind('{') > text.rfind('}') {
        // The copied text may end inside a comment.
        text.push('}');
    }
    if !text.contains(['[', '{']) {
        text = text.replace(',', " ");
    }
    let none = |reason: Option<Message>| match reason {
        Some(reason) => translatable!("this is neither a FEN nor a game in PGN: {0}", reason),
        None => translatable!("this is neither a FEN nor a game in PGN"),
    };
    let bytes = Cursor::new(text.clone().into_bytes());
    let mut source = PgnSource::new("", Box::new(bytes), Arc::default());
    let batch = source.next_batch().ok().flatten();
    let mut batch = batch.ok_or_else(|| none(None))?;
    let mut game = Game::default();
    let found = batch.next_game(GameParts::EVERYTHING, &mut game);
    if !found.map_err(|reason| none(Some(reason_of(&reason))))? {
        let word = Line::read("", &text).err().map(Message::from);
        return Err(none(word));
    }
    let mut pasted = Pasted::from_game(&game);
    if pasted.nodes.is_empty() && pasted.fen.is_none() {
        return Err(none(game.cut.as_ref().map(reason_of)));
    }
    let cut = game.cut.as_ref().map(reason_of).or_else(|| {
        let is_full = pasted.nodes.len() >= MOST_MOVES;
        is_full.then(|| translatable!("it has more than {0} moves", MOST_MOVES))
    });
    let mut has_more = || batch.next_game(GameParts::default(), &mut game) != Ok(false);
    pasted.problem = match cut {
        Some(cut) => Some(translatable!("Not all of it could be read: {0}.", cut)),
        None => has_more().then(|| translatable!("Only the first game of the text is shown.")),
    };
    Ok(pasted)
}

/// Why the rest of a game cannot be read.
fn reason_of(reason: &SkipReason) -> Message {
    match reason {
        SkipReason::Move { number, san, .. } => {
            move_error(MoveError::Illegal, format!("{number}{san}"))
        }
        SkipReason::Ambiguous { number, san, .. } => {
            move_error(MoveError::Ambiguous, format!("{number}{san}"))
        }
        SkipReason::Word { number, word, .. } => {
            move_error(MoveError::Syntax, format!("{number}{word}"))
        }
        other => other.to_string().into(),
    }
}

/// A place in the tree: the last move and the position.
#[derive(Clone, Default)]
struct TreePosition {
    node: Option<usize>,
    position: Chess,
}

impl Pasted {
    /// A game as a tree.
    fn from_game(game: &Game) -> Pasted {
        let start = game.positions.first().cloned().unwrap_or_default();
        let clean = |text: &str| text.trim().chars().take(200).collect::<String>();
        let tags = game.tags.iter().take(60);
        let mut pasted = Pasted {
            fen: game.set_up.then(|| notation::fen(&start)),
            tags: tags
                .map(|(name, value)| (clean(name), clean(value)))
                .collect(),
            ..Pasted::default()
        };
        if game.result != GameResult::Unknown {
            let result = game.result.to_pgn().to_owned();
            pasted.tags.push(("Result".to_owned(), result));
        }
        let mut at = TreePosition {
            node: None,
            position: start,
        };
        // The place before the last move, where its variations begin.
        let mut before = at.clone();
        let mut open = Vec::new();
        for item in &game.movetext {
            match item {
                Item::Move(_) | Item::Null => {
                    let mv = match item {
                        Item::Move(mv) => Some(*mv),
                        _ => None,
                    };
                    let Some(next) = pasted.play(&at, mv) else {
                        break;
                    };
                    before = std::mem::replace(&mut at, next);
                    if open.is_empty() {
                        pasted.play.push(notation::uci_or_null(mv));
                    }
                }
                Item::Nag(nag) => {
                    let node = at.node.and_then(|node| pasted.nodes.get_mut(node));
                    if let Some(node) = node.filter(|node| *nag > 0 && !node.nags.contains(nag)) {
                        node.nags.push(*nag);
                    }
                }
                Item::Comment(text) => {
                    let node = at.node.and_then(|node| pasted.nodes.get_mut(node));
                    let comment = node.map_or(&mut pasted.comment, |node| &mut node.comment);
                    for word in text.split_whitespace() {
                        let gap = if comment.is_empty() { "" } else { " " };
                        comment.push_str(gap);
                        comment.push_str(word);
                    }
                }
                Item::Begin => {
                    open.push((std::mem::replace(&mut at, before.clone()), before.clone()))
                }
                Item::End => (at, before) = open.pop().unwrap_or_default(),
            }
        }
        pasted
    }

    /// Adds a move unless it exists; `None` if there are too many.
    fn play(&mut self, at: &TreePosition, mv: Option<Move>) -> Option<TreePosition> {
        let uci = notation::uci_or_null(mv);
        let mut nodes = self.nodes.iter();
        let known = nodes.position(|known| known.parent == at.node && known.uci == uci);
        if known.is_none() {
            if self.nodes.len() >= MOST_MOVES {
                return None;
            }
            self.nodes.push(PastedMove {
                parent: at.node,
                uci,
                san: notation::san_or_null(&at.position, mv),
                nags: Vec::new(),
                comment: String::new(),
            });
        }
        let position = match mv {
            Some(mv) => notation::after(&at.position, mv),
            None => notation::pass(&at.position)?,
        };
        Some(TreePosition {
            node: known.or(Some(self.nodes.len() - 1)),
            position,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(text: &str) -> Result<String, String> {
        let pasted = read(text).map_err(|error| error.to_string())?;
        Ok(pasted.play.join(" "))
    }

    #[test]
    fn reads_what_people_paste() {
        let line = "e2e4 c7c5 g1f3";
        for text in [
            "[Event \"x\"]\n[Result \"*\"]\n\n1. e4 {best} c5 (1... e5) 2. Nf3 *\n",
            "1.e4 c5 2.Nf3",
            "1.e4 c5 2.Sf3",
            "1.e4 c5 2.Cf3",
            "1.e4 c5 2.Кf3",
            "1.e4 c5 2.♘f3",
            "e4 c5 Nf3",
            "e2e4,c7c5,g1f3",
            "position startpos moves e2e4 c7c5 g1f3",
            "http://127.0.0.1:9002/?play=e2e4,c7c5,g1f3&at=2",
            "https://lichess.org/analysis/pgn/e4_c5_Nf3",
            "“1.e4 c5 2.Nf3”",
        ] {
            assert_eq!(played(text).as_deref(), Ok(line), "{text}");
        }
        let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
        for text in [
            fen.to_owned(),
            format!("\"{fen}\""),
            format!("position fen {fen}"),
            format!("https://lichess.org/analysis/{}", fen.replace(' ', "_")),
            format!(
                "https://lichess.org/analysis/standard/{}",
                fen.replace(' ', "%20")
            ),
            format!(
                "https://lichess.org/editor/{}?color=white",
                fen.replace(' ', "_")
            ),
        ] {
            assert_eq!(read(&text).unwrap().fen.as_deref(), Some(fen), "{text}");
        }
        let fen = "fen 8/8/8/8/8/8/8/Kk6 w - - 0 1";
        assert!(played(fen).unwrap_err().contains("not a legal position"));
        let typed = "4k2r/8/8/8/8/8/8/4K3 b k - 3 1 moves 1...0-0 2.Ré";
        assert!(
            played(typed)
                .unwrap_err()
                .contains("move 2 (2.Ré) is not a move")
        );
        let set_up =
            "[Event \"x\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *";
        assert_eq!(played(set_up).unwrap(), "e2e4");
        assert!(
            played("https://lichess.org/abcdefgh")
                .unwrap_err()
                .contains("nothing is fetched")
        );
        for nonsense in ["", "hello", "1. e5 e5", "🦀", "[", "((((", "{", ")"] {
            assert!(played(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn variations_comments_and_annotations_are_kept() {
        let text = "[White \"A\"]\n\n{Start} 1. e4! {King's pawn} (1. d4 d5 (1... Nf6 $5) 2. c4) \
            1... c5 $6 2. Nf3 (2. Nc3) 1-0";
        let pasted = read(text).unwrap();
        let nodes: Vec<(Option<usize>, &str)> = pasted
            .nodes
            .iter()
            .map(|node| (node.parent, node.san.as_str()))
            .collect();
        let expected = [
            (None, "e4"),
            (None, "d4"),
            (Some(1), "d5"),
            (Some(1), "Nf6"),
            (Some(2), "c4"),
            (Some(0), "c5"),
            (Some(5), "Nf3"),
            (Some(5), "Nc3"),
        ];
        assert_eq!(nodes, expected);
        assert_eq!(pasted.nodes[0].nags, [1]);
        assert_eq!(pasted.nodes[3].nags, [5]);
        assert_eq!(pasted.nodes[5].nags, [6]);
        assert_eq!(pasted.nodes[0].comment, "King's pawn");
        assert_eq!(pasted.comment, "Start");
        let tags = [("White", "A"), ("Result", "1-0")];
        assert_eq!(pasted.tags, tags.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(pasted.problem, None);
    }

    #[test]
    fn what_cannot_be_read_is_reported() {
        let two = "[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n";
        for (text, play, problem) in [
            ("1. e4 c5 2. Nf6 d6", "e2e4 c7c5", "2.Nf6 is not legal"),
            (
                "1. e4 (1. d5 d4) c5 2. Nf3",
                "e2e4 c7c5 g1f3",
                "1.d5 is not legal",
            ),
            (two, "e2e4", "first game"),
        ] {
            let pasted = read(text).unwrap();
            assert_eq!(pasted.play.join(" "), play);
            let found = pasted.problem.unwrap().to_string();
            assert!(found.contains(problem), "{found}");
        }
    }
}
