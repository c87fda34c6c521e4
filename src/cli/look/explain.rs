//! The output of `tabia probe --explain`: how each entry is found, and its bytes.

use std::io::{self, Write};
use std::path::Path;

use crate::cli::print::columns::Table;
use crate::cli::print::style::{FAINT, HEADING, Painted, wrapped};
use shakmaty::{Chess, Position as _};
use tabia_book::ctg::{Explanation, FoundEntry, STATISTICS_BYTES, Trace};
use tabia_book::{Book, KeyedEntry, bin, polyglot};
use tabia_io::sanitize::escape_control;
use tabia_notation as notation;

/// Writes how each entry of a position is found, and its bytes.
pub(crate) fn write(book: &Book, position: &Chess, out: &mut impl Write) -> anyhow::Result<()> {
    match book.as_ctg() {
        Some(ctg) => write_ctg(&ctg.explain(position)?, position, out),
        None => write_keyed(book, position, out),
    }
}

fn write_ctg(
    explanation: &Explanation,
    position: &Chess,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let shown = |path: &Path| escape_control(&path.display().to_string());
    let index = match &explanation.cto {
        Some(path) => shown(path),
        None => "made by reading the whole book".to_owned(),
    };
    let mut list = Table::list(0, 6);
    list.add("book", shown(&explanation.ctg));
    list.add("index", index);
    writeln!(out, "\n{list}\n{}", Painted(HEADING, "the position"))?;
    write_trace(&explanation.here, out)?;
    for stored in &explanation.stored {
        let meaning = match stored.meaning {
            Ok(mv) => notation::san(position, mv),
            Err(fault) => fault.to_string(),
        };
        writeln!(
            out,
            "  move byte {:02x}, annotation {:02x}: {meaning}",
            stored.byte, stored.annotation.0
        )?;
    }
    for (mv, trace) in &explanation.after {
        if trace.found.is_some() {
            let after = format!("after {}", notation::san(position, *mv));
            writeln!(out, "\n{}", Painted(HEADING, after))?;
            write_trace(trace, out)?;
        }
    }
    Ok(())
}

fn write_trace(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    if let Some((key, hash)) = &trace.key {
        writeln!(out, "  key {}", hex(key.as_bytes()))?;
        write!(out, "  hash {hash:08x}")?;
        if trace.other_en_passant_form {
            write!(out, ", with the other en passant form")?;
        }
        writeln!(out)?;
    } else {
        writeln!(
            out,
            "  the format cannot hold it (castling rights of Chess960)"
        )?;
    }
    let steps: Vec<String> = trace.steps.iter().map(ToString::to_string).collect();
    if !steps.is_empty() {
        for row in wrapped(&steps.join(", "), 78) {
            writeln!(out, "  {row}")?;
        }
    }
    if let Some(found) = &trace.found {
        writeln!(
            out,
            "  page {}, byte {} of it, byte {} of the file, {} bytes:",
            found.place.page,
            found.place.offset,
            found.file_offset,
            found.bytes.len()
        )?;
        write_entry(found, out)?;
    }
    Ok(())
}

/// Writes the bytes of an entry in three parts, and the meaning of the last one.
fn write_entry(found: &FoundEntry, out: &mut impl Write) -> io::Result<()> {
    let key = found.bytes.first().map_or(0, |byte| usize::from(byte & 31));
    let statistics = found.bytes.len().saturating_sub(STATISTICS_BYTES).max(key);
    let mut list = Table::list(4, 5);
    for (label, bytes) in [
        ("key", found.bytes.get(..key)),
        ("moves", found.bytes.get(key..statistics)),
        ("stats", found.bytes.get(statistics..)),
    ] {
        for (index, row) in bytes.unwrap_or_default().chunks(33).enumerate() {
            list.add(if index == 0 { label } else { "" }, hex(row));
        }
    }
    let record = &found.record;
    let stats = &record.stats;
    let meaning = [
        format!(
            "games {}, won {}, lost {}, drawn {}, points {}.{}",
            stats.games,
            stats.wins,
            stats.losses,
            stats.draws,
            record.points / 10,
            record.points % 10
        ),
        format!(
            "own ratings {} (sum {}), other {} (sum {})",
            stats.own_rated, stats.own_rating_sum, stats.other_rated, stats.other_rating_sum
        ),
        format!(
            "stored: recommendation {:02x}, learn value {}, commentary {}",
            record.recommendation, record.learn_value, record.commentary
        ),
    ];
    for row in meaning {
        list.add("", Painted(FAINT, row));
    }
    write!(out, "{list}")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes file, key, and every entry with its bytes.
fn write_keyed(book: &Book, position: &Chess, out: &mut impl Write) -> anyhow::Result<()> {
    let key = polyglot::key(position);
    let mut list = Table::list(0, 6);
    list.add("book", escape_control(&book.path().display().to_string()));
    list.add("key", format_args!("{key:016x}"));
    write!(out, "\n{list}")?;
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
                let weight = entry.preference.weight().unwrap_or(0);
                let weight = u16::try_from(weight).unwrap_or(u16::MAX);
                show(&entry, &bin::encode(key, entry.mv, weight, entry.learn))?;
            }
        }
        Book::Loaded(book) => {
            for entry in book.entries_of(key) {
                show(&entry, &book.raw_entry(entry.offset)?)?;
            }
        }
        Book::Ctg(_) => {}
    }
    Ok(())
}
