//! Reads all games of a file, on several threads and in order.

use std::path::Path;

use shakmaty::Color;

use crate::Error;
use tabia_games::{
    Batches, Game, GameFilter, GameParts, GameReader, GameResult, Sources, Starts, Tally,
};
use tabia_io::progress::Watch;

/// Calls `each` on all games of a file that meet the filter; the results are in their order.
pub(crate) fn each_game<T: Send>(
    path: &Path,
    filter: &GameFilter,
    wanted: GameParts,
    starts: Starts,
    watch: &mut Watch<'_>,
    each: impl Fn(&Game) -> Result<T, Error> + Sync,
) -> Result<(Vec<T>, Tally), Error> {
    let sources = Sources::list([&path.to_owned()])?;
    let reader = GameReader::new(filter).wanted(wanted).starts(starts);
    let worker = |batches: &Batches<'_, Vec<T>, (), Error>| {
        let mut game = Game::default();
        batches.each(|batch| {
            let mut made = Vec::new();
            while batch.next(&mut game) {
                made.push(each(&game)?);
            }
            Ok(made)
        })
    };
    let mut all = Vec::new();
    let take = |made: Vec<T>| {
        all.extend(made);
        Ok(())
    };
    let (tally, _) = reader.read(&sources, worker, take, watch)?;
    Ok((all, tally))
}

/// Points of a side, doubled.
pub(crate) fn points(result: GameResult, side: Color) -> Option<u8> {
    match result {
        GameResult::Won(winner) => Some(if winner == side { 2 } else { 0 }),
        GameResult::Draw => Some(1),
        GameResult::Unknown => None,
    }
}
