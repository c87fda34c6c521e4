//! What `tabia probe --explain` shows of ChessBase books: the way to each
//! entry and its bytes.

use std::io::{self, Write};
use std::path::Path;

use shakmaty::Chess;

use super::style::{FAINT, HEADING, Painted, wrapped};
use crate::book::ctg::{Explanation, Found, STATISTICS_BYTES, Trace};
use crate::notation;
use crate::plain::escape_control;

pub(super) fn write(
    explanation: &Explanation,
    position: &Chess,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let shown = |path: &Path| escape_control(&path.display().to_string());
    writeln!(out, "\nbook   {}", shown(&explanation.ctg))?;
    match &explanation.cto {
        Some(path) => writeln!(out, "index  {}", shown(path))?,
        None => writeln!(out, "index  made by reading the whole book")?,
    }
    writeln!(out, "\n{}", Painted(HEADING, "the position"))?;
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
    for (mv, trace) in &explanation.children {
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

/// The bytes of an entry by its three parts, and what the last one means.
fn write_entry(found: &Found, out: &mut impl Write) -> io::Result<()> {
    let key = found.bytes.first().map_or(0, |byte| usize::from(byte & 31));
    let statistics = found.bytes.len().saturating_sub(STATISTICS_BYTES).max(key);
    let mut part = |label: &str, bytes: Option<&[u8]>| -> io::Result<()> {
        let mut label = label;
        for row in bytes.unwrap_or_default().chunks(33) {
            writeln!(out, "    {label:<6}{}", hex(row))?;
            label = "";
        }
        Ok(())
    };
    part("key", found.bytes.get(..key))?;
    part("moves", found.bytes.get(key..statistics))?;
    part("stats", found.bytes.get(statistics..))?;
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
            "recommendation {:02x}, factor {}, commentary {}",
            record.recommendation, record.factor, record.commentary
        ),
    ];
    for row in meaning {
        writeln!(out, "          {}", Painted(FAINT, row))?;
    }
    Ok(())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
