//! The players of an index.

use rustc_hash::FxHashMap;

use crate::Error;
use crate::GamesIndex;
use crate::posting::plain_name;
use tabia_games::tgx::{GAMES, GameBlock};

/// Names of players with numbers of games, from the newest `most` games or a few
/// more. Names with the same words count as one, spelt as in one of these games.
///
/// # Errors
///
/// The index cannot be read, or is damaged.
///
/// # Examples
///
/// ```
/// use tabia_index::{GamesIndex, players};
///
/// # use tabia_index::{IndexJob, Watch};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("games.tgx");
/// # IndexJob::new(["../../tests/data/chessbase/Capa.cbh"], &path).run(&mut Watch::default())?;
/// let index = GamesIndex::open(&path, true)?;
/// let mut names = players(&index, u64::MAX)?.into_iter();
/// assert_eq!(names.next(), Some(("Capablanca, Jose Raul".to_owned(), 85)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn players(index: &GamesIndex, most: u64) -> Result<Vec<(String, u64)>, Error> {
    let file = index.file();
    let mut names: FxHashMap<String, (String, u64)> = FxHashMap::default();
    let mut buffer = Vec::new();
    let mut read = 0;
    let mut tables: Vec<_> = file.tables(GAMES).map(|(_, directory)| directory).collect();
    tables.reverse();
    for directory in tables {
        for block in (0..directory.len()).rev() {
            if read >= most {
                break;
            }
            let mut games = GameBlock::new(file.block(directory, block, &mut buffer)?);
            while games.has_more() {
                let mut next = || {
                    let head = games.head()?;
                    games.skip_moves()?;
                    Some(head)
                };
                let head = next().ok_or_else(|| file.damaged_block(directory, block))?;
                read += 1;
                for name in head.names {
                    if !matches!(name.as_str(), "" | "?") {
                        let known = names.entry(plain_name(&name)).or_insert((name, 0));
                        known.1 += 1;
                    }
                }
            }
        }
    }
    let mut players: Vec<_> = names.into_values().collect();
    players.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(players)
}
