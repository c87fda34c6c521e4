//! Values for positions: out of files, and of engines for those that no file
//! knows.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use shakmaty::Chess;

use super::Error;
use super::worth::{Values, Worth};
use crate::eval::{Evaluation, Value};
use crate::evals::{self, epd};
use crate::evaluate::{Desk, Plan};
use crate::notation;
use crate::watch::Watch;

/// An engine that evaluates.
#[derive(Clone, Debug)]
pub struct EngineJob {
    /// How it is asked.
    pub plan: Plan,
    /// What it finds is added here, and what stands here is not searched again.
    pub save: Option<PathBuf>,
}

/// Reads the values of the positions that are wanted.
pub(super) fn read_file(
    path: &Path,
    values: &mut Values,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Text(format!("{}: {error}", path.display()));
    let text = super::text_of(path)?;
    let mut text = BufReader::with_capacity(1 << 20, text);
    let start = text.fill_buf().map_err(failed)?;
    let first = start
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default()).into_owned();
    if is_table(&first) {
        return read_table(path, text, values, watch);
    }
    let source = path.display().to_string();
    // What is wanted stays as it is while values come.
    let found = RefCell::new(values);
    let mut stopped = None;
    let done = evals::import(
        text,
        &source,
        &|key| found.borrow().wants(key),
        &mut |position, evaluation| {
            let worth = Worth::of(position, &evaluation, None);
            found.borrow_mut().add(position, worth);
            true
        },
        &mut |lines| {
            stopped = watch.position("values", lines, None).err();
            stopped.is_none()
        },
    );
    if let Some(stopped) = stopped {
        return Err(stopped.into());
    }
    let done = done.map_err(failed)?;
    if done.lines > 0 && done.bad_lines == done.lines {
        let why = done.first_bad.unwrap_or_default();
        return Err(Error::Text(format!("{source}: no evaluation in it: {why}")));
    }
    Ok(())
}

/// `FEN,cp`, perhaps below a line with names.
fn is_table(first: &str) -> bool {
    let fields: Vec<&str> = first.split([',', ';', '\t']).map(str::trim).collect();
    match fields.as_slice() {
        [fen, cp, ..] => {
            let is_header = fen.trim_matches('"').eq_ignore_ascii_case("fen");
            let is_row = fen.matches('/').count() == 7 && cp.parse::<f64>().is_ok();
            is_header || is_row
        }
        _ => false,
    }
}

/// Centipawns of the side to move.
fn read_table(
    path: &Path,
    text: impl std::io::Read,
    values: &mut Values,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut any = false;
    for (number, line) in BufReader::new(text).lines().enumerate() {
        let line = line.map_err(|error| Error::Text(format!("{}: {error}", path.display())))?;
        watch.position("values", number as u64, None)?;
        let mut fields = line
            .split([',', ';', '\t'])
            .map(|f| f.trim().trim_matches('"'));
        let (Some(fen), Some(cp)) = (fields.next(), fields.next()) else {
            continue;
        };
        if fen.eq_ignore_ascii_case("fen") {
            continue;
        }
        let bad =
            |what: &str| Error::Text(format!("{}: line {}: {what}", path.display(), number + 1));
        let position = notation::position(fen).map_err(|error| bad(&error.to_string()))?;
        let cp: f64 = cp
            .parse()
            .map_err(|_| bad("no centipawns behind the FEN"))?;
        any = true;
        let worth = Worth {
            value: Value::cp(cp.clamp(-1e6, 1e6).round() as i32),
            depth: 0,
            nodes: 0,
            wdl: None,
        };
        values.add(&position, worth);
    }
    match any {
        true => Ok(()),
        false => Err(Error::Text(format!(
            "{}: no evaluation in it",
            path.display()
        ))),
    }
}

/// What engines found, in a file that grows: EPD, with what they predict as
/// `c9 "wdl 183 806 11"`.
pub(super) struct Saved(Option<(PathBuf, Mutex<File>)>);

impl Saved {
    /// Opens the file and reads what it has.
    pub(super) fn open(path: Option<&Path>, values: &mut Values) -> Result<Saved, Error> {
        let Some(path) = path else {
            return Ok(Saved(None));
        };
        let failed = |error: std::io::Error| Error::Text(format!("{}: {error}", path.display()));
        let open = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path);
        let file = open.map_err(failed)?;
        if file.try_lock().is_err() {
            let path = path.display();
            let text = format!("{path}: another program adds to it; wait for that");
            return Err(Error::Text(text));
        }
        let mut whole = true;
        let mut reader = BufReader::new(&file);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            whole = line.ends_with(b"\n");
            let text = String::from_utf8_lossy(&line);
            // A line that broke off is searched again.
            if whole && let Ok((position, evaluation)) = epd::read(text.trim()) {
                values.add(&position, Worth::of(&position, &evaluation, wdl_of(&text)));
            }
            line.clear();
        }
        if !whole {
            (&file).write_all(b"\n").map_err(failed)?;
        }
        Ok(Saved(Some((path.to_owned(), Mutex::new(file)))))
    }

    fn add(
        &self,
        position: &Chess,
        evaluation: &Evaluation,
        wdl: Option<[u16; 3]>,
    ) -> Result<(), Error> {
        let Some((path, file)) = &self.0 else {
            return Ok(());
        };
        let mut line = String::new();
        epd::write(position, evaluation, &mut line);
        if let Some([won, drawn, lost]) = wdl {
            line.truncate(line.trim_end().len());
            line.push_str(&format!(" c9 \"wdl {won} {drawn} {lost}\";\n"));
        }
        let mut file = file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = file.write_all(line.as_bytes());
        written.map_err(|error| Error::Text(format!("{}: {error}", path.display())))
    }
}

fn wdl_of(line: &str) -> Option<[u16; 3]> {
    let (_, rest) = line.split_once("c9 \"wdl ")?;
    let (numbers, _) = rest.split_once('"')?;
    let mut numbers = numbers.split(' ').map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// One engine, and where what it finds is kept.
pub(super) struct Asked<'a> {
    desk: Desk<'a>,
    saved: &'a Saved,
}

impl<'a> Asked<'a> {
    pub(super) fn new(job: &'a EngineJob, restarts: &'a AtomicU64, saved: &'a Saved) -> Asked<'a> {
        let desk = Desk::new(&job.plan, restarts);
        Asked { desk, saved }
    }

    /// What a position is worth.
    pub(super) fn evaluate(&mut self, position: &Chess) -> Result<Worth, Error> {
        let asked = self.desk.ask(position, &[]);
        let evaluation = asked.map_err(|error| Error::Engine {
            fen: notation::fen(position),
            error,
        })?;
        let wdl = self.desk.wdl();
        self.saved.add(position, &evaluation, wdl)?;
        Ok(Worth::of(position, &evaluation, wdl))
    }
}
