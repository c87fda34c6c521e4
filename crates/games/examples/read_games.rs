//! Reads game collections to their end in one thread; prints the counts and the time.
//!
//! ```text
//! read_games [--notes] [--plies N] SOURCE...
//! read_games --damage SEED TRUNCATIONS FLIPS FOLDER SOURCE ENDING...
//! ```
//!
//! The second form copies the database SOURCE (every file of its name) into FOLDER,
//! damages one of its files and reads it, many times: each file with one of the ENDINGs
//! is cut off at TRUNCATIONS places, and single bytes of it are changed FLIPS times.
//! Every variant must be read to its end or be refused, without a panic.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tabia_games::{self as games, Error, Game, GameParts};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        arguments.push(
            concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../tests/data/chessbase/Capa.cbh"
            )
            .to_owned(),
        );
    }
    if let [first, rest @ ..] = arguments.as_slice()
        && first == "--damage"
    {
        return damage(rest);
    }
    let mut wanted = GameParts::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--notes" => wanted.notes = true,
            "--plies" => wanted.plies = arguments.next().ok_or("--plies N")?.parse()?,
            source => {
                let start = Instant::now();
                let read = read(Path::new(source), wanted)?;
                let seconds = start.elapsed().as_secs_f64();
                writeln!(
                    std::io::stdout(),
                    "{source}: {read:?} in {seconds:.3} s, {:.0} games a minute; {} KB at most",
                    read.games as f64 * 60.0 / seconds,
                    peak_kilobytes().unwrap_or(0),
                )?;
            }
        }
    }
    Ok(())
}

/// Counts of what was read from a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(dead_code, reason = "they are printed")]
struct Read {
    games: u64,
    moves: u64,
    skipped: u64,
    left_out: u64,
    cut: u64,
    remarks: usize,
}

fn read(path: &Path, wanted: GameParts) -> Result<Read, Error> {
    let mut source = games::open(path)?;
    let mut read = Read::default();
    let mut game = Game::default();
    while let Some(mut batch) = source.next_batch()? {
        loop {
            match batch.next_game(wanted, &mut game) {
                Ok(false) => break,
                Ok(true) => {
                    read.games += 1;
                    read.moves += game.moves.len() as u64;
                    read.cut += u64::from(game.cut.is_some());
                }
                Err(reason) if reason.is_intended() => read.left_out += 1,
                Err(_) => read.skipped += 1,
            }
        }
    }
    read.remarks = source.remarks().len();
    Ok(read)
}

/// The peak of anonymous resident memory in KiB, on Linux. Pages of the program file
/// are not counted: their number depends on the system's cache.
fn peak_kilobytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let number = |name: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    number("VmHWM:")?.checked_sub(number("RssFile:")?)
}

fn damage(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [seed, truncations, flips, folder, source, endings @ ..] = arguments else {
        return Err("--damage SEED TRUNCATIONS FLIPS FOLDER SOURCE ENDING...".into());
    };
    let mut random = StdRng::seed_from_u64(seed.parse()?);
    let (truncations, flips): (u32, u32) = (truncations.parse()?, flips.parse()?);
    let (source, folder) = (Path::new(source), Path::new(folder));
    let copies = copy(source, folder)?;
    let copied = folder.join(source.file_name().ok_or("no file")?);
    for path in copies {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if !endings
            .iter()
            .any(|wanted| ending.eq_ignore_ascii_case(wanted))
        {
            continue;
        }
        let bytes = fs::read(&path)?;
        if bytes.is_empty() {
            continue;
        }
        let mut wanted = GameParts::EVERYTHING;
        if ["cbp", "cbt", "dcn", "dcs", "dce"]
            .iter()
            .any(|names| ending.eq_ignore_ascii_case(names))
        {
            // The names files do not affect the moves.
            wanted.plies = 0;
        }
        let whole = read(&copied, wanted)?;
        let mut sum = Sum::default();
        let start = Instant::now();
        // Changed in place: writing the whole file anew takes longer than reading a
        // database.
        let mut file = File::options().write(true).open(&path)?;
        for number in 0..truncations + flips {
            let place = random.random_range(0..bytes.len());
            let at = SeekFrom::Start(place as u64);
            let mut lost = &bytes[place..];
            if number < truncations {
                file.set_len(place as u64)?;
            } else {
                lost = &bytes[place..=place];
                file.seek(at)?;
                file.write_all(&[bytes[place] ^ random.random_range(1..=255_u8)])?;
            }
            sum.add(whole, read(&copied, wanted));
            file.seek(at)?;
            file.write_all(lost)?;
        }
        writeln!(
            std::io::stdout(),
            "{}: {sum:?} in {:.1} s; {} KB at most",
            path.display(),
            start.elapsed().as_secs_f64(),
            peak_kilobytes().unwrap_or(0),
        )?;
    }
    Ok(())
}

/// Results for the variants of one file.
#[derive(Clone, Copy, Debug, Default)]
#[allow(dead_code, reason = "they are printed")]
struct Sum {
    variants: u64,
    refused: u64,
    /// Variants with the same counts as the undamaged database.
    same: u64,
    /// Variants with a loss that the reader reported.
    reported: u64,
    /// Variants with other games or moves that the reader did not report.
    unreported: u64,
    games: u64,
}

impl Sum {
    fn add(&mut self, whole: Read, damaged: Result<Read, Error>) {
        self.variants += 1;
        let Ok(damaged) = damaged else {
            self.refused += 1;
            return;
        };
        self.games += damaged.games;
        let losses = |read: Read| (read.skipped, read.left_out, read.cut, read.remarks);
        if damaged == whole {
            self.same += 1;
        } else if losses(damaged) == losses(whole) {
            self.unreported += 1;
        } else {
            self.reported += 1;
        }
    }
}

/// Copies all files of a database.
fn copy(source: &Path, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let from = source.parent().unwrap_or(Path::new("."));
    let mut copies = Vec::new();
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.file_stem() == source.file_stem() && path.is_file() {
            let to = folder.join(path.file_name().unwrap_or_default());
            fs::write(&to, fs::read(&path)?)?;
            copies.push(to);
        }
    }
    copies.sort();
    Ok(copies)
}
