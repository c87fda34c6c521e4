//! Writing the five files.

use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::encode::Record;
use super::entry::{ENTRY_BYTES, Entry};
use super::names::NewNames;
use super::{LETTERS, MAGIC, MAGIC_BYTES, extension};
use crate::games::place::{self, Beside};

/// Writes a database. Its files are there when [`Writer::finish`] has
/// returned, and not before.
pub struct Writer {
    index: Beside,
    games: Beside,
    /// Players, sites, events: the files, and what is in them.
    names: [(Beside, NewNames); 3],
    /// Entries with the numbers of the names, not their places: these are known
    /// at the end, and there may be more entries than fit memory.
    entries: io::BufWriter<std::fs::File>,
    /// Where the next game goes.
    end: u64,
    count: u64,
}

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Writer {
    /// Begins a database by the name of its index. The other files get the
    /// same name and usual extensions, in lower case.
    ///
    /// # Errors
    ///
    /// There is no writing in the folder.
    pub fn create(index: &Path) -> Result<Writer, WriteError> {
        let path = |letter: u8| match letter {
            b'i' => index.to_owned(),
            letter => index.with_extension(extension(letter)),
        };
        let create = |letter: u8| {
            let path = path(letter);
            let begun = Beside::create(&path).and_then(|mut beside| {
                beside.file.write_all(MAGIC)?;
                beside.file.write_all(&[letter])?;
                Ok(beside)
            });
            begun.map_err(|source| WriteError { path, source })
        };
        let [players, sites, events, games, index_letter] = LETTERS;
        let names = |letter| Ok((create(letter)?, NewNames::default()));
        let entries = tempfile::tempfile().map_err(|source| WriteError {
            path: std::env::temp_dir(),
            source,
        })?;
        let mut writer = Writer {
            index: create(index_letter)?,
            games: create(games)?,
            names: [names(players)?, names(sites)?, names(events)?],
            entries: io::BufWriter::new(entries),
            end: MAGIC_BYTES as u64,
            count: 0,
        };
        // Version, and the game to be opened at first, which the author's
        // program always makes 0.
        let header = writer.index.file.write_all(&[0; 9]);
        header.map_err(|error| failed(&writer.index, error))?;
        Ok(writer)
    }

    /// Adds a game.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        let [white, black, site, event] = &record.names;
        let [(_, players), (_, sites), (_, events)] = &mut self.names;
        let mut entry = record.entry;
        entry.offset = self.end;
        entry.players.white = players.number(white);
        entry.players.black = players.number(black);
        entry.site = sites.number(site);
        entry.event = events.number(event);
        let written = self.games.file.write_all(&record.bytes);
        written.map_err(|error| failed(&self.games, error))?;
        let written = self.entries.write_all(&entry.encode());
        written.map_err(|error| failed(&self.index, error))?;
        self.end += record.bytes.len() as u64;
        self.count += 1;
        Ok(())
    }

    /// Completes the files and puts them in place.
    ///
    /// # Errors
    ///
    /// Writing failed. Then nothing has changed.
    pub fn finish(self) -> Result<(), WriteError> {
        let Writer {
            mut index,
            games,
            names,
            entries,
            ..
        } = self;
        let mut files = Vec::with_capacity(LETTERS.len());
        let mut places = Vec::with_capacity(names.len());
        for (mut file, names) in names {
            let (bytes, found) = names.finish();
            let written = file.file.write_all(&bytes);
            written.map_err(|error| failed(&file, error))?;
            files.push(file);
            places.push(found);
        }
        let written = write_entries(entries, &places, &mut index.file);
        written.map_err(|error| failed(&index, error))?;
        files.push(games);
        files.push(index);
        place::put(files).map_err(|(path, source)| WriteError { path, source })
    }
}

fn failed(file: &Beside, source: io::Error) -> WriteError {
    WriteError {
        path: file.path().to_owned(),
        source,
    }
}

/// Copies the entries, with the places of names instead of their numbers.
fn write_entries(
    entries: io::BufWriter<std::fs::File>,
    places: &[Vec<u32>],
    out: &mut impl Write,
) -> io::Result<()> {
    let mut file = entries
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    let mut file = BufReader::new(file);
    let place = |kind: usize, number: u32| {
        let place = places.get(kind).and_then(|all| all.get(number as usize));
        place.copied().unwrap_or(0)
    };
    let mut bytes = [0; ENTRY_BYTES];
    loop {
        match file.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let Some(mut entry) = Entry::decode(&bytes, 0) else {
            continue;
        };
        entry.players = entry.players.map(|number| place(0, number));
        entry.site = place(1, entry.site);
        entry.event = place(2, entry.event);
        out.write_all(&entry.encode())?;
    }
}
