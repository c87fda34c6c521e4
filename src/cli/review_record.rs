//! Joins the record of adapters (`--games`) with the games in the match manager's file.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::style::counted;
use tabia_adapter::session::{GameRecord, RecordKind};
use tabia_analysis::suite::review::{ReviewedGame, Tally};

/// Data of the record about games that were found in both.
#[derive(Debug, Default, Serialize)]
pub(super) struct Joined {
    /// Number of games in the record.
    games: u64,
    /// Number of these that are among the games played.
    found: u64,
    /// Number of restarts of engines in the record.
    restarts: u64,
    /// Results of the games with restarts, and of those without.
    with_restarts: Tally,
    without_restarts: Tally,
    /// Number of positions that no book knew.
    misses: u64,
    /// Results by the book of the last book move.
    books: BTreeMap<String, Tally>,
}

/// Joins a record with the games.
pub(super) fn join(path: &Path, games: &[ReviewedGame]) -> anyhow::Result<Joined> {
    let text = fs::read(path).with_context(|| path.display().to_string())?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, line)| line) != Some(GameRecord::HEADER) {
        bail!(
            "{}: line 1: this is no record of tabia --games",
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
    Ok(joined(&records, games))
}

fn joined(records: &[GameRecord], games: &[ReviewedGame]) -> Joined {
    let mut order: Vec<(&str, usize)> = games
        .iter()
        .enumerate()
        .map(|(index, game)| (game.moves.as_str(), index))
        .collect();
    order.sort_unstable();
    let mut joined = Joined::default();
    let mut taken = HashSet::new();
    for record in records {
        if record.kind == RecordKind::Restart {
            joined.restarts += 1;
            continue;
        }
        joined.games += 1;
        joined.misses += u64::from(record.misses);
        let moves = record.moves.join(" ");
        let [white, _] = record.has_go;
        let first = order.partition_point(|(known, _)| *known < moves.as_str());
        // The match manager may have one move more: the opponent's last one.
        let mut fitting = order
            .iter()
            .skip(first)
            .take_while(|(known, _)| known.strip_prefix(moves.as_str()).is_some());
        let Some((_, index)) = fitting.find(|(known, index)| {
            let more = known.strip_prefix(moves.as_str()).unwrap_or_default();
            more.split_whitespace().count() <= 1 && taken.insert((*index, white))
        }) else {
            continue;
        };
        joined.found += 1;
        let points = games.get(*index).and_then(|game| game.points);
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
    pub(super) fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(
            out,
            "\nrecord: {} of {} found among these; {} that no book knew",
            self.found,
            counted(self.games, "game"),
            counted(self.misses, "position")
        )?;
        writeln!(
            out,
            "  engine started again {}: in {}",
            counted(self.restarts, "time"),
            self.with_restarts
        )?;
        writeln!(out, "  never started again: {}", self.without_restarts)?;
        for (book, results) in &self.books {
            let name = if book.is_empty() {
                "no book move"
            } else {
                book
            };
            writeln!(out, "  {name}: {results}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_notation::Results;

    fn game(moves: &str, points: u8) -> ReviewedGame {
        ReviewedGame {
            points: Some(points),
            moves: moves.to_owned(),
        }
    }

    fn record(moves: &str, white: bool, restarts: u32) -> GameRecord {
        GameRecord {
            has_go: [white, !white],
            book: "main.ctg".to_owned(),
            restarts,
            moves: moves.split_whitespace().map(str::to_owned).collect(),
            ..GameRecord::default()
        }
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
            GameRecord {
                kind: RecordKind::Restart,
                ..record("e2e4", true, 1)
            },
        ];
        let joined = joined(&records, &games);
        assert_eq!((joined.games, joined.found, joined.restarts), (4, 3, 1));
        let results = |wins, losses| Tally {
            games: wins + losses,
            results: Results::new(wins, 0, losses),
        };
        assert_eq!(joined.with_restarts, results(1, 0));
        assert_eq!(joined.without_restarts, results(0, 2));
        assert_eq!(joined.books["main.ctg"], results(1, 2));
    }
}
