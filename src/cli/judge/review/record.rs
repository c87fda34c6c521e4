//! Joins the record of adapters (`--games`) with the games in the match manager's file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::cli::print::report::results;
use crate::cli::print::style::counted;
use shakmaty::ByColor;
use tabia_adapter::session::{GameRecord, RecordKind};
use tabia_analysis::Tally;
use tabia_analysis::review::ReviewedGame;

/// The entries of the record about the reviewed games.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Joined {
    /// Number of games in the record, without games that adapters of other players recorded.
    games: u64,
    /// Number of games that the adapter of another player has recorded; 0 if no player is
    /// named.
    others: u64,
    /// Number of games of the record that are among the reviewed ones.
    found: u64,
    /// Number of restarts of engines in the record; with a player, in the games of that player.
    restarts: u64,
    /// Results of the games with restarts; `without_restarts`: of the others.
    with_restarts: Tally,
    without_restarts: Tally,
    /// Number of positions that no book knew.
    misses: u64,
    /// Results by the book of the last book move.
    books: BTreeMap<String, Tally>,
}

/// Joins a record with the games. With `of_player`, only lines count that the adapter of
/// the reviewed player has written: both adapters of a match may use one file.
pub(crate) fn join(path: &Path, games: &[ReviewedGame], of_player: bool) -> anyhow::Result<Joined> {
    let text = fs::read(path).with_context(|| path.display().to_string())?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, line)| line) != Some(GameRecord::HEADER) {
        bail!(
            "{}: line 1: this is not a record of tabia --games",
            path.display()
        );
    }
    let mut records = Vec::new();
    for (index, line) in lines {
        // A line that a crash has cut short is skipped.
        let Some((_, record)) = GameRecord::read(line) else {
            message!(
                "{}: line {}: skipped, the line is not complete",
                path.display(),
                index + 1
            );
            continue;
        };
        records.push(record);
    }
    Ok(joined(&records, games, of_player))
}

fn joined(records: &[GameRecord], games: &[ReviewedGame], of_player: bool) -> Joined {
    let mut order: Vec<(&str, usize)> = games
        .iter()
        .enumerate()
        .map(|(index, game)| (game.moves.as_str(), index))
        .collect();
    order.sort_unstable();
    // How many lines with these moves are left, of games in which this side was asked.
    let mut lines_left: HashMap<(&[String], [bool; 2]), usize> = HashMap::new();
    for record in records
        .iter()
        .filter(|record| record.kind == RecordKind::Game)
    {
        *lines_left
            .entry((&record.moves, record.has_go))
            .or_default() += 1;
    }
    let mut joined = Joined::default();
    let mut taken = HashSet::new();
    for record in records {
        if record.kind == RecordKind::Restart {
            joined.restarts += u64::from(!of_player);
            continue;
        }
        let moves = record.moves.join(" ");
        let [white, black] = record.has_go;
        let is_his = |index: usize| {
            let side = games.get(index).and_then(|game| game.side);
            side.is_some_and(|side| *ByColor { white, black }.get(side))
        };
        let first = order.partition_point(|(known, _)| *known < moves.as_str());
        let fitting = order
            .iter()
            .skip(first)
            .take_while(|(known, _)| known.starts_with(moves.as_str()))
            .filter(|(_, index)| !taken.contains(&(*index, white)));
        // The match manager may have one move more: the opponent's last one.
        let [mut exact, mut longer] = [Vec::new(), Vec::new()];
        for (known, index) in fitting {
            let more = known.get(moves.len()..).unwrap_or_default();
            match more.split_whitespace().count() {
                0 => exact.push(*index),
                1 => longer.push(*index),
                _ => {}
            }
        }
        longer.sort_unstable();
        let fitting = if exact.is_empty() { longer } else { exact };
        let left = lines_left
            .entry((&record.moves, record.has_go))
            .or_default();
        // Two players may have played the same moves with either colour. If there is a line for
        // each of these games, both players have recorded them: in their order.
        let is_of_both = *left >= fitting.len();
        *left = left.saturating_sub(1);
        let found = match of_player && !is_of_both {
            true => fitting.iter().find(|index| is_his(**index)),
            false => fitting.first(),
        };
        let found = found.copied();
        let is_others = match found {
            None => !fitting.is_empty(),
            Some(index) => of_player && !is_his(index),
        };
        if is_others {
            taken.extend(found.map(|index| (index, white)));
            joined.others += 1;
            continue;
        }
        joined.games += 1;
        joined.misses += u64::from(record.misses);
        if of_player {
            joined.restarts += u64::from(record.restarts);
        }
        let Some(index) = found else {
            continue;
        };
        taken.insert((index, white));
        joined.found += 1;
        let points = games.get(index).and_then(|game| game.points);
        let points = points.map(|points| if white { points } else { 2 - points });
        match record.restarts {
            0 => joined.without_restarts.count(points),
            _ => joined.with_restarts.count(points),
        }
        let book = joined.books.entry(record.book.clone()).or_default();
        book.count(points);
    }
    joined
}

impl Joined {
    pub(crate) fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(
            out,
            "\nrecord: {} of {} found among these; {} that no book knew",
            self.found,
            counted(self.games, "game"),
            counted(self.misses, "position")
        )?;
        if self.others > 0 {
            let others = counted(self.others, "game");
            writeln!(out, "  {others} recorded by other players: left out")?;
        }
        writeln!(
            out,
            "  engine started again {}: in {}",
            counted(self.restarts, "time"),
            results(&self.with_restarts)
        )?;
        writeln!(
            out,
            "  never started again: {}",
            results(&self.without_restarts)
        )?;
        for (book, tally) in &self.books {
            let name = if book.is_empty() {
                "no book move"
            } else {
                book
            };
            writeln!(out, "  {name}: {}", results(tally))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;
    use tabia_notation::Results;

    fn game(moves: &str, points: u8) -> ReviewedGame {
        ReviewedGame {
            points: Some(points),
            moves: moves.to_owned(),
            side: Some(Color::White),
        }
    }

    fn record(moves: &str, white: bool, restarts: u32) -> GameRecord {
        let mut record = GameRecord::default();
        record.has_go = [white, !white];
        record.book = "main.ctg".to_owned();
        record.restarts = restarts;
        record.moves = moves.split_whitespace().map(str::to_owned).collect();
        record
    }

    fn restart(moves: &str, white: bool) -> GameRecord {
        let mut record = record(moves, white, 1);
        record.kind = RecordKind::Restart;
        record
    }

    #[test]
    fn each_game_is_found_once_for_each_colour() {
        let games = [
            game("e2e4 e7e5", 2),
            game("e2e4 e7e5 g1f3", 0),
            game("d2d4", 1),
            game("e2e4 c7c5 g1f3 d7d6", 1),
        ];
        let records = [
            record("e2e4 e7e5", true, 1),
            record("e2e4 e7e5", false, 0),
            // The adapter does not know the opponent's last move.
            record("e2e4 e7e5", true, 0),
            // Another game with the same beginning.
            record("e2e4 c7c5", true, 0),
            restart("e2e4", true),
        ];
        let joined = joined(&records, &games, false);
        assert_eq!((joined.games, joined.found, joined.restarts), (4, 3, 1));
        let results = |wins, losses| Tally {
            games: wins + losses,
            results: Results::new(wins, 0, losses),
        };
        assert_eq!(joined.with_restarts, results(1, 0));
        assert_eq!(joined.without_restarts, results(0, 2));
        assert_eq!(joined.books["main.ctg"], results(1, 2));
    }

    #[test]
    fn of_a_match_between_two_adapters_one_is_counted() {
        let of = |moves, points, side| ReviewedGame {
            side,
            ..game(moves, points)
        };
        let games = [
            of("e2e4 e7e5", 2, Some(Color::White)),
            of("e2e4 e7e5 g1f3", 0, Some(Color::Black)),
            of("d2d4", 2, None),
        ];
        let records = [
            record("e2e4 e7e5", true, 1),
            record("e2e4 e7e5", false, 2),
            record("e2e4 e7e5 g1f3", false, 0),
            record("e2e4 e7e5 g1f3", true, 3),
            // A game of others, and one that is in no file.
            record("d2d4", true, 4),
            record("c2c4", true, 0),
            restart("e2e4", false),
        ];
        let all = joined(&records, &games, false);
        assert_eq!(
            (all.games, all.found, all.restarts, all.others),
            (6, 5, 1, 0)
        );
        let his = joined(&records, &games, true);
        assert_eq!(
            (his.games, his.found, his.restarts, his.others),
            (3, 2, 1, 3)
        );
        assert_eq!(his.books["main.ctg"].games, 2);
        assert_eq!(his.books["main.ctg"].results, Results::new(2, 0, 0));
    }

    /// The other player has White first, then he has, and they play the same moves.
    #[test]
    fn of_equal_games_each_player_has_his_own_restarts() {
        let moves = "e2e4 e7e5 g1f3";
        for known in [moves, "e2e4 e7e5 g1f3 b8c6"] {
            let of = |side| ReviewedGame {
                side: Some(side),
                ..game(known, 1)
            };
            let games = [of(Color::Black), of(Color::White)];
            let records = [
                record(moves, true, 0),
                record(moves, false, 1),
                record(moves, true, 2),
                record(moves, false, 4),
            ];
            let his = joined(&records, &games, true);
            assert_eq!((his.found, his.restarts, his.others), (2, 3, 2));
            // If only he records, each line is of the game with his colour.
            let own = [records[1].clone(), records[2].clone()];
            let his = joined(&own, &games, true);
            assert_eq!((his.found, his.restarts, his.others), (2, 3, 0));
        }
    }
}
