//! Filters: the games of an index that a request means, and a book of games under them.

use std::sync::{Arc, Mutex};

use shakmaty::Color;

use super::content::{BookCache, Content, Open, OpenError};
use super::message::Message;
use super::query::Query;
use tabia_games::{GameResult, Month, Speed};
use tabia_index::GameSelection;
use tabia_io::parallel::lock;

/// A filter for the games of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GamesFilter {
    pub(super) selection: GameSelection,
    /// Games of a player, with one colour or both; `;` is between the spellings of a name.
    pub(super) player: Option<(String, Option<Color>)>,
}

impl GamesFilter {
    /// Reads the parameters of a request; without any, all games match.
    ///
    /// # Errors
    ///
    /// One sentence about the invalid parameter.
    pub(super) fn read(query: &Query) -> Result<GamesFilter, Message> {
        let player = match query.get("player") {
            None => None,
            Some(name) => Some((name_of_player(name)?.to_owned(), color(query)?)),
        };
        Ok(GamesFilter {
            selection: selection(query, Shape::Lichess)?,
            player,
        })
    }
}

/// The requested database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Masters,
    Lichess,
    /// Like `Lichess`, with months and without lists.
    History,
    Player,
}

/// Returns an index with the games that match a filter, and a message about them.
pub(super) type UnderFilter =
    Box<dyn Fn(&GamesFilter) -> Result<(Open, Option<Message>), OpenError> + Send + Sync>;

/// Greatest number of cached filters of a book.
const MOST_FILTERS: usize = 8;

/// A book of games under the last requested filters.
pub(super) struct Filters {
    make: UnderFilter,
    made: Mutex<Filtered>,
}

/// Contents by filter, the oldest first, all of the same opening of the book.
#[derive(Default)]
struct Filtered {
    opening: u64,
    contents: Vec<(GamesFilter, Content)>,
}

impl Filters {
    pub(super) fn new(make: UnderFilter) -> Filters {
        let made = Mutex::default();
        Filters { make, made }
    }

    /// The games that match a filter, in the book as it was opened the `opening`th time.
    pub(super) fn content(&self, filter: &GamesFilter, opening: u64) -> Result<Content, OpenError> {
        {
            let mut made = lock(&self.made);
            if made.opening != opening {
                let contents = Vec::new();
                *made = Filtered { opening, contents };
            }
            if let Some((_, known)) = made.contents.iter().find(|(known, _)| known == filter) {
                return Ok(known.clone());
            }
        }
        // Nobody else waits for it.
        let (open, notice) = (self.make)(filter)?;
        let cache = BookCache {
            notice,
            ..BookCache::default()
        };
        let content = (open, Arc::new(cache));
        let mut made = lock(&self.made);
        if made.opening == opening {
            if made.contents.len() >= MOST_FILTERS {
                made.contents.remove(0);
            }
            made.contents.push((filter.clone(), content.clone()));
        }
        Ok(content)
    }
}

/// The games that a request to a database means.
pub(super) fn selection(query: &Query, shape: Shape) -> Result<GameSelection, Message> {
    let month = |name: &str| {
        let range = query.get(name).map(Month::range).transpose();
        range.map_err(|error| format!("{name}: {error}"))
    };
    let since = month("since")?.map(|(first, _)| first);
    let until = month("until")?.map(|(_, last)| last);
    let mut selection = GameSelection::between(since, until);
    selection.result = match query.get("result") {
        None => None,
        Some(text) => match GameResult::from_pgn(text.as_bytes()) {
            GameResult::Unknown => return Err("result: expected 1-0, 0-1 or 1/2-1/2".into()),
            known => Some(known),
        },
    };
    if shape == Shape::Masters {
        return Ok(selection);
    }
    if let Some(list) = query.get("speeds") {
        let speeds = list.split(',').map(|word| {
            let speed = word.parse::<Speed>();
            speed.map_err(|error| format!("speeds: {error}"))
        });
        let speeds: Vec<Speed> = speeds.collect::<Result<_, _>>()?;
        selection = selection.with_speeds(&speeds);
    }
    if shape == Shape::Player {
        if let Some(list) = query.get("modes") {
            let (mut rated, mut casual) = (false, false);
            for word in list.split(',') {
                match word.trim() {
                    "rated" => rated = true,
                    "casual" => casual = true,
                    _ => return Err("modes: expected rated or casual".into()),
                }
            }
            selection = selection.with_modes(rated, casual);
        }
    } else if let Some(list) = query.get("ratings") {
        let ratings = list.split(',').map(|word| {
            let number = word.trim().parse::<u16>();
            number.map_err(|_| "ratings: expected whole numbers".to_owned())
        });
        let ratings: Vec<u16> = ratings.collect::<Result<_, _>>()?;
        selection = selection.with_ratings(&ratings);
    }
    Ok(selection)
}

/// A name that may be searched for.
pub(super) fn name_of_player(name: &str) -> Result<&str, Message> {
    match name.len() {
        ..=400 => Ok(name),
        _ => Err("player: the name is too long".into()),
    }
}

/// The requested colour, if any.
pub(super) fn color(query: &Query) -> Result<Option<Color>, Message> {
    match query.get("color").map(str::to_ascii_lowercase).as_deref() {
        None => Ok(None),
        Some("white") => Ok(Some(Color::White)),
        Some("black") => Ok(Some(Color::Black)),
        Some(_) => Err("color: expected white or black".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_filter_is_applied_once_for_each_opening_of_the_book() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let filters = Filters::new(Box::new(move |filter| {
            counted.fetch_add(1, Ordering::Relaxed);
            match &filter.player {
                Some((name, _)) if name == "nobody" => Err("no".into()),
                _ => Ok((Arc::new(tabia_choice::book_set::starter().unwrap()), None)),
            }
        }));
        let made = |player: &str, opening| {
            let filter = GamesFilter::read(&Query::read(&format!("player={player}"))).unwrap();
            let before = count.load(Ordering::Relaxed);
            let is_right = filters.content(&filter, opening).is_ok() == (player != "nobody");
            assert!(is_right, "{player}");
            count.load(Ordering::Relaxed) - before
        };
        for (player, opening, times) in [
            ("a", 0, 1),
            ("a", 0, 0),
            ("b", 0, 1),
            ("a", 0, 0),
            // The book was opened again: nothing of before is used, not even later.
            ("a", 1, 1),
            ("b", 1, 1),
            ("b", 1, 0),
            ("b", 0, 1),
            // An error is not kept.
            ("nobody", 0, 1),
            ("nobody", 0, 1),
        ] {
            assert_eq!(made(player, opening), times, "{player} {opening}");
        }
        // The oldest goes first.
        let many: Vec<String> = (0..=MOST_FILTERS)
            .map(|number| number.to_string())
            .collect();
        assert!(many.iter().all(|player| made(player, 2) == 1));
        assert!(many.iter().skip(1).all(|player| made(player, 2) == 0));
        assert_eq!(made("0", 2), 1);
    }
}
