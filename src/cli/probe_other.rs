//! What `tabia probe` shows of Polyglot and Arena books, which have other
//! numbers than ChessBase's.

use std::io::{self, Write};

use shakmaty::{Chess, Position as _};

use super::explain::hex;
use super::probe::Answer;
use crate::book::{Book, KeyedEntry, Preference, bin, polyglot};
use crate::notation;
use crate::plain::escape_control;
use crate::policy::Rejection;

pub(super) fn write_table(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", answer.fen())?;
    let Some(here) = &answer.found().here else {
        return writeln!(out, "not in the book");
    };
    let weights = answer.found().moves.iter().map(|mv| mv.preference);
    let total: Option<u64> = weights
        .map(|preference| match preference {
            Preference::Weight(weight) => Some(u64::from(weight)),
            _ => None,
        })
        .sum();
    let moves = answer.found().moves.len();
    let plural = if moves == 1 { "" } else { "s" };
    if let Some(total) = total {
        writeln!(out, "{moves} move{plural}, weights add up to {total}")?;
        write!(out, "\n{:<9}{:>8}{:>8}", "move", "weight", "prob")?;
    } else {
        let games = here.stats.games;
        writeln!(out, "{moves} move{plural}, {games} games")?;
        write!(
            out,
            "\n{:<9}{:>8}{:>8}{:>8}{:>8}{:>7}{:>6}{:>8}",
            "move", "games", "won", "drawn", "lost", "%", "prio", "prob"
        )?;
    }
    writeln!(out)?;
    for (mv, verdict) in answer.rows() {
        let stats = mv.stats();
        write!(out, "{:<9}", answer.san(mv))?;
        match mv.preference {
            Preference::Weight(weight) => write!(out, "{weight:>8}")?,
            Preference::Priority(priority) => write!(
                out,
                "{:>8}{:>8}{:>8}{:>8}{:>7}{priority:>6}",
                stats.games,
                stats.wins,
                stats.draws,
                stats.losses,
                stats
                    .score()
                    .map_or_else(|| "-".to_owned(), |score| format!("{:.1}", 100.0 * score)),
            )?,
            Preference::Statistics => {}
        }
        write!(out, "{:>7.1}%", 100.0 * verdict.probability)?;
        match verdict.rejection.map(Rejection::as_str) {
            Some(reason) => writeln!(out, "  {reason}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// File, key, and every entry with its bytes.
pub(super) fn explain(book: &Book, position: &Chess, out: &mut impl Write) -> anyhow::Result<()> {
    let key = polyglot::key(position);
    writeln!(
        out,
        "\nbook   {}",
        escape_control(&book.path().display().to_string())
    )?;
    writeln!(out, "key    {key:016x}")?;
    let mut show = |entry: &KeyedEntry, bytes: &[u8]| -> io::Result<()> {
        let legal = position.legal_moves();
        let meaning = match entry.mv.find(&legal).and_then(|n| legal.get(n)) {
            Some(mv) => notation::san(position, *mv),
            None => "not a legal move".to_owned(),
        };
        writeln!(
            out,
            "\n  byte {} of the file, {} bytes: {}, {meaning}",
            entry.offset,
            bytes.len(),
            entry.mv
        )?;
        if entry.learn != 0 {
            writeln!(out, "    learn {}", entry.learn)?;
        }
        writeln!(out, "    {}", hex(bytes))
    };
    match book {
        Book::Bin(book) => {
            for entry in book.entries_of(key)? {
                let weight = match entry.preference {
                    Preference::Weight(weight) => u16::try_from(weight).unwrap_or(u16::MAX),
                    _ => 0,
                };
                show(&entry, &bin::encode(key, entry.mv, weight, entry.learn))?;
            }
        }
        Book::Abk(book) => {
            for entry in book.entries_of(key) {
                show(&entry, &book.raw_entry(entry.offset)?)?;
            }
        }
        Book::Ctg(_) => {}
    }
    Ok(())
}
