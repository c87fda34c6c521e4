//! What people paste: a position, moves as every notation writes them, a game
//! with its variations and comments, or an address that contains one of these.

use serde::Serialize;
use shakmaty::Chess;

use super::line;
use super::message::{Message, message, move_error};
use tabia_notation::{self as notation, Line, LineError};

/// Moves that a text may have, variations included.
const MOST_MOVES: usize = 4000;

/// A tree of moves, as it was read.
#[derive(Debug, Default, Serialize)]
pub(super) struct Pasted {
    /// The first position, if not the usual one.
    fen: Option<String>,
    /// The main line in UCI notation.
    play: Vec<String>,
    /// All moves; each one's parent comes before it, and the first child of
    /// a move is its main line.
    nodes: Vec<PastedMove>,
    /// The comment before the first move.
    comment: String,
    /// Tags of a game, in their order.
    tags: Vec<(String, String)>,
    /// What could not be read, in one sentence.
    problem: Option<Message>,
}

/// A move of the tree.
#[derive(Debug, Serialize)]
struct PastedMove {
    /// Index of the move before; `None` for a first move.
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
/// One sentence: nothing of it can be read.
pub(super) fn read(text: &str) -> Result<Pasted, Message> {
    let quotes = |c: char| c.is_whitespace() || "\"'`“”„‚‘’«»".contains(c);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let bare = text.trim_matches(quotes);
    if bare.is_empty() {
        return Err(message!("there is nothing to read"));
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
        return plain(&line::read(Some(bare), None)?);
    }
    // Of a game the last quotation mark may belong to a tag.
    Reader::new(if text.starts_with('[') { text } else { bare }).read()
}

fn plain(line: &Line) -> Result<Pasted, Message> {
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

/// An address of this page, or one of lichess's analysis board. Nothing is
/// fetched.
fn address(rest: &str) -> Result<Pasted, Message> {
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let query = super::query::Query::read(query);
    if query.get("fen").is_some() || query.get("play").is_some() {
        return plain(&line::read(query.get("fen"), query.get("play"))?);
    }
    let path = super::query::decoded(path).replace('_', " ");
    if let Some((_, moves)) = path.split_once("/analysis/pgn/") {
        return Reader::new(&moves.replace(['/', '+'], " ")).read();
    }
    // The eight ranks of a FEN are themselves divided by slashes.
    let parts: Vec<&str> = path.split('/').collect();
    if let Some(ranks) = parts.len().checked_sub(8).and_then(|at| parts.get(at..))
        && ranks.iter().all(|rank| !rank.is_empty())
        && let Ok(line) = line::read(Some(&ranks.join("/")), None)
    {
        return plain(&line);
    }
    let host = path.split('/').next().unwrap_or_default();
    Err(message!(
        "the address names no position, and nothing is fetched from {0}: paste the FEN or the PGN",
        host
    ))
}

/// A place in the tree: the move before and the position.
#[derive(Clone)]
struct Place {
    node: Option<usize>,
    position: Chess,
    /// Of the move before, where a variation on it begins.
    before: Option<(Option<usize>, Chess)>,
}

struct Reader<'a> {
    rest: &'a str,
    pasted: Pasted,
    /// One for each variation that is open, the innermost last.
    open: Vec<Place>,
    /// A variation with an unreadable move is passed over from there on.
    lost: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Reader<'a> {
        Reader {
            rest: text,
            pasted: Pasted::default(),
            open: Vec::new(),
            lost: None,
        }
    }

    fn read(mut self) -> Result<Pasted, Message> {
        self.tags();
        let tag = |name: &str| {
            let mut tags = self.pasted.tags.iter();
            tags.find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.clone())
        };
        let start = match tag("FEN") {
            None => Chess::default(),
            Some(fen) => notation::position(&fen)?,
        };
        if start != Chess::default() {
            self.pasted.fen = Some(notation::fen(&start));
        }
        self.open.push(Place {
            node: None,
            position: start,
            before: None,
        });
        let mut first_error = None;
        while let Some(word) = self.word() {
            if let Err(error) = self.take(word) {
                first_error.get_or_insert(error);
            }
            if self.open.is_empty() {
                break;
            }
        }
        if self.pasted.nodes.is_empty() && self.pasted.fen.is_none() {
            return Err(match first_error {
                Some(error) if self.pasted.tags.is_empty() => {
                    message!("this is neither a FEN nor a game in PGN: {0}", error)
                }
                _ => message!("this is neither a FEN nor a game in PGN"),
            });
        }
        if let Some(error) = first_error {
            self.pasted.problem = Some(message!("Not all of it could be read: {0}.", error));
        } else if self.rest.contains("[Event ") {
            self.pasted.problem = Some(message!("Only the first game of the text is shown."));
        }
        let nodes = &self.pasted.nodes;
        let mut at = None;
        let child = |at: Option<usize>| nodes.iter().position(|node| node.parent == at);
        while let Some(next) = child(at) {
            let uci = nodes.get(next).map(|node| node.uci.clone());
            self.pasted.play.extend(uci);
            at = Some(next);
        }
        Ok(self.pasted)
    }

    /// Takes the tags off the front.
    fn tags(&mut self) {
        while let Some(rest) = self.rest.trim_start().strip_prefix('[') {
            let (tag, after) = rest.split_once(']').unwrap_or((rest, ""));
            let (name, value) = tag.split_once('"').unwrap_or((tag, ""));
            let value = value.rsplit_once('"').map_or(value, |(value, _)| value);
            let clean = |text: &str| text.trim().chars().take(200).collect::<String>();
            if self.pasted.tags.len() < 60 {
                self.pasted.tags.push((clean(name), clean(value)));
            }
            self.rest = after;
        }
    }

    /// The next word: a comment with its bracket, a bracket, a move.
    fn word(&mut self) -> Option<&'a str> {
        let rest = self
            .rest
            .trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let first = rest.chars().next()?;
        let end = match first {
            '{' => rest.find('}').map_or(rest.len(), |at| at + 1),
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '(' | ')' | '}' => 1,
            // The next game begins.
            '[' => return None,
            _ => {
                let ends = |c: char| c.is_whitespace() || "{};,)".contains(c);
                let mut end = rest.find(ends).unwrap_or(rest.len());
                // "e8(Q)" is one word, "e4(e5" are three.
                if let Some(at) = rest.get(..end).and_then(|word| word.find('(')) {
                    end = match rest.get(at + 2..at + 3) {
                        Some(")") => at + 3,
                        _ => at,
                    };
                }
                end
            }
        };
        let (word, after) = rest.split_at(end);
        self.rest = after;
        Some(word)
    }

    fn take(&mut self, word: &str) -> Result<(), Message> {
        let depth = self.open.len();
        if word == "(" {
            let place = self.open.last().cloned();
            let Some(mut place) = place else {
                return Ok(());
            };
            if let Some((node, position)) = place.before.take() {
                place.node = node;
                place.position = position;
            } else if self.lost.is_none() {
                self.lost = Some(depth + 1);
            }
            self.open.push(place);
            return Ok(());
        }
        if word == ")" {
            if depth > 1 {
                self.open.pop();
                self.lost = self.lost.filter(|lost| *lost < depth);
            }
            return Ok(());
        }
        if self.lost.is_some_and(|lost| depth >= lost) {
            return Ok(());
        }
        if let Some(text) = word.strip_prefix('{').or_else(|| word.strip_prefix(';')) {
            self.comment(text.strip_suffix('}').unwrap_or(text));
            return Ok(());
        }
        if let Some(nag) = word.strip_prefix('$') {
            self.nag(nag.parse().ok().filter(|nag| *nag > 0));
            return Ok(());
        }
        if matches!(word, "*" | "1-0" | "0-1" | "1/2-1/2" | "½-½") {
            if depth == 1 && !self.pasted.nodes.is_empty() {
                self.open.clear();
            }
            return Ok(());
        }
        self.play(word, depth)
    }

    fn node(&mut self) -> Option<&mut PastedMove> {
        let at = self.open.last()?.node?;
        self.pasted.nodes.get_mut(at)
    }

    fn comment(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = match self.node() {
            Some(node) => &mut node.comment,
            None => &mut self.pasted.comment,
        };
        if !place.is_empty() {
            place.push(' ');
        }
        place.push_str(&text);
    }

    fn nag(&mut self, nag: Option<u8>) {
        if let Some(nag) = nag
            && let Some(node) = self.node()
            && !node.nags.contains(&nag)
        {
            node.nags.push(nag);
        }
    }

    fn play(&mut self, word: &str, depth: usize) -> Result<(), Message> {
        let Some(place) = self.open.last() else {
            return Ok(());
        };
        let (node, position) = (place.node, place.position.clone());
        // Numbers and separate signs are no moves.
        let mut line = Line::from_start(position.clone());
        if let Err(error) = line.extend(word) {
            self.lost = Some(depth);
            let shown: String = word.chars().take(20).collect();
            let shown = format!("{}{shown}", notation::number(&position));
            return Err(match error {
                LineError::Move { reason, .. } => move_error(reason, shown),
                other => other.into(),
            });
        }
        let Some((_, mv)) = line.steps().next() else {
            self.nag(notation::nag(word));
            return Ok(());
        };
        if self.pasted.nodes.len() >= MOST_MOVES {
            self.lost = Some(1);
            return Err(message!("it has more than {0} moves", MOST_MOVES));
        }
        let uci = notation::uci_or_null(mv);
        let mut nodes = self.pasted.nodes.iter();
        let known = nodes.position(|known| known.parent == node && known.uci == uci);
        let at = known.unwrap_or(self.pasted.nodes.len());
        if known.is_none() {
            self.pasted.nodes.push(PastedMove {
                parent: node,
                uci,
                san: notation::san_or_null(&position, mv),
                nags: Vec::new(),
                comment: String::new(),
            });
        }
        if let Some(place) = self.open.last_mut() {
            place.before = Some((node, position));
            place.node = Some(at);
            place.position = line.last().clone();
        }
        for nag in notation::signs_behind(word) {
            self.nag(Some(nag));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<String, String> {
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
            assert_eq!(of(text).as_deref(), Ok(line), "{text}");
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
        assert!(of(fen).unwrap_err().contains("no legal position"));
        let typed = "4k2r/8/8/8/8/8/8/4K3 b k - 3 1 moves 1...0-0 2.Ré";
        assert!(of(typed).unwrap_err().contains("move 2 (2.Ré) is no move"));
        let set_up =
            "[Event \"x\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *";
        assert_eq!(of(set_up).unwrap(), "e2e4");
        assert!(
            of("https://lichess.org/abcdefgh")
                .unwrap_err()
                .contains("nothing is fetched")
        );
        for nonsense in ["", "hello", "1. e5 e5", "🦀", "[", "((((", "{", ")"] {
            assert!(of(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn variations_comments_and_signs_are_kept() {
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
        assert_eq!(pasted.tags, [("White".to_owned(), "A".to_owned())]);
        assert_eq!(pasted.problem, None);
    }

    #[test]
    fn what_cannot_be_read_is_reported() {
        let pasted = read("1. e4 c5 2. Nf6 d6").unwrap();
        assert_eq!(pasted.play.join(" "), "e2e4 c7c5");
        assert!(
            pasted
                .problem
                .unwrap()
                .to_string()
                .contains("2.Nf6 is not legal")
        );
        let pasted = read("1. e4 (1. d5 d4) c5 2. Nf3").unwrap();
        assert_eq!(pasted.play.join(" "), "e2e4 c7c5 g1f3");
        assert!(
            pasted
                .problem
                .unwrap()
                .to_string()
                .contains("1.d5 is not legal")
        );
        let two = "[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n";
        assert!(
            read(two)
                .unwrap()
                .problem
                .unwrap()
                .to_string()
                .contains("first game")
        );
    }
}
