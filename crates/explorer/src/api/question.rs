//! The parameters of a request to the opening explorer.
//!
//! Parsing is lenient where that cannot harm a client: unknown parameters are ignored,
//! the last of several is used, an empty one counts as missing, and a year is accepted as
//! a month.

use shakmaty::{Chess, Color};

use super::super::filter::{Shape, color, name_of_player, selection};
use super::super::line;
use super::super::message::Message;
use super::super::query::Query;
use tabia_index::{GameSelection, RECENT_GAMES, TOP_GAMES};

/// A question.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) shape: Shape,
    /// All positions up to the requested one. `None` if the variant is one of [`OTHERS`]:
    /// no book and no index has games of it.
    pub(super) positions: Option<Vec<Chess>>,
    pub(super) selection: GameSelection,
    pub(super) moves: usize,
    pub(super) top_games: usize,
    pub(super) recent_games: usize,
    pub(super) history: bool,
    /// Moves that the adapter would never play are left out.
    pub(super) playable: bool,
    /// It is a position of a batch, for each of which no games are read.
    pub(super) is_one_of_many: bool,
    /// The number of a book to use instead of games.
    pub(super) book: Option<usize>,
}

/// The names of ordinary chess.
const ORDINARY: &str = "standard, chess, fromposition, from position, from_position";

/// Other variants that clients may request. Chess960 is one of them: indexes have no
/// games of it, and games of ordinary chess are not valid for it.
const OTHERS: &str = "chess960, chess 960, fischerandom, antichess, atomic, crazyhouse, horde, \
    kingofthehill, king of the hill, koth, racingkings, racing kings, threecheck, three-check, three check, 3check, 3-check, \
    giveaway";

impl Question {
    /// Reads a request, or one of a batch: `fen` is the position then.
    ///
    /// # Errors
    ///
    /// One sentence about the invalid parameter.
    pub(super) fn read(
        query: &Query,
        shape: Shape,
        fen: Option<&str>,
    ) -> Result<Question, Message> {
        let selection = selection(query, shape)?;
        let history = query.get("history").map(parse_bool).transpose()?;
        let lists = |name, most: usize| {
            let wanted = query.number(name, most)?;
            Ok::<_, Message>(if shape == Shape::History {
                0
            } else {
                wanted.min(most)
            })
        };
        let top = match shape {
            Shape::Masters => TOP_GAMES,
            Shape::Lichess | Shape::History => 4,
            Shape::Player => 0,
        };
        let recent = match shape {
            Shape::Masters => 0,
            _ => RECENT_GAMES,
        };
        Ok(Question {
            shape,
            positions: positions(query, fen)?,
            selection,
            moves: match shape {
                Shape::History => 0,
                Shape::Player => query.number("moves", usize::MAX)?,
                Shape::Masters | Shape::Lichess => query.number("moves", 12)?,
            },
            top_games: lists("topGames", top)?,
            recent_games: lists("recentGames", recent)?,
            history: shape == Shape::History || shape == Shape::Lichess && history == Some(true),
            playable: query.get("playable").map(parse_bool).transpose()? == Some(true),
            is_one_of_many: fen.is_some(),
            book: query.optional_number("book")?,
        })
    }

    /// The requested position.
    pub(super) fn position(&self) -> Option<&Chess> {
        self.positions.as_ref()?.last()
    }
}

fn positions(query: &Query, fen: Option<&str>) -> Result<Option<Vec<Chess>>, Message> {
    let variant = query.get("variant").unwrap_or("standard").to_lowercase();
    let is_among = |names: &str| names.split(", ").any(|name| name == variant);
    if is_among(OTHERS) {
        return Ok(None);
    }
    if !is_among(ORDINARY) {
        let variant: String = variant.chars().take(40).collect();
        return Err(format!("variant: unknown variant \"{variant}\"").into());
    }
    let line = line::read(fen.or_else(|| query.get("fen")), query.get("play"))?;
    // The page passes the turn to ask what the opponent would do; games do not.
    if line.steps().any(|(_, mv)| mv.is_none()) {
        return Err("play: a null move is not a move of a game".into());
    }
    Ok(Some(line.positions().to_vec()))
}

/// Parses the words for yes and no that the lichess service accepts.
fn parse_bool(word: &str) -> Result<bool, Message> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "on" | "1" | "yes" => Ok(true),
        "false" | "off" | "0" | "no" => Ok(false),
        _ => Err("expected true or false".into()),
    }
}

/// The requested player and colour.
pub(super) fn player(query: &Query) -> Result<(&str, Color), Message> {
    let name = query.get("player").ok_or("player: expected a name")?;
    Ok((name_of_player(name)?, required_color(query)?))
}

/// The colour, which a request must contain.
pub(super) fn required_color(query: &Query) -> Result<Color, Message> {
    Ok(color(query)?.ok_or("color: expected white or black")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Question, Message> {
        Question::read(&Query::read(text), Shape::Lichess, None)
    }

    #[test]
    fn parameters_of_clients_are_accepted() {
        for good in [
            "",
            "variant=chess960",
            "variant=King+of+the+Hill&fen=nonsense",
            "fen=rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR_b_KQkq_-",
            "play=e2e4,e7e5",
            "play=",
            "speeds=&ratings=",
            "speeds=ultraBullet,bullet,blitz",
            "ratings=1700,3000",
            "since=2020-01&until=2020-1",
            "since=2020/01&until=2021",
            "history=True&source=whatever&unknown=1",
            "moves=0&topGames=99&recentGames=99",
            "moves=3&moves=4",
            "result=1-0",
            "result=1/2-1/2",
        ] {
            assert!(read(good).is_ok(), "{good}: {:?}", read(good).err());
        }
        assert_eq!(read("moves=3&moves=4").unwrap().moves, 4);
        let cut = read("topGames=99&recentGames=99").unwrap();
        assert_eq!((cut.top_games, cut.recent_games), (4, 8));
        for other in ["atomic", "chess960", "Chess960"] {
            let question = read(&format!("variant={other}")).unwrap();
            assert!(question.positions.is_none(), "{other}");
        }
        for bad in [
            "variant=draughts",
            "fen=nonsense",
            "play=e2e5",
            "play=0000",
            "play=e2e4,--,g1f3",
            "speeds=slow",
            "ratings=abc",
            "since=2020-13",
            "since=soon",
            "moves=-1",
            "moves=abc",
            "history=maybe",
            "result=won",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_player_has_a_name_and_a_colour() {
        let query = Query::read("player=Dr-Who_1&color=white");
        assert_eq!(player(&query), Ok(("Dr-Who_1", Color::White)));
        for bad in ["", "player=x", "player=x&color=red", "color=white"] {
            assert!(player(&Query::read(bad)).is_err(), "{bad}");
        }
    }
}
