//! Writes the five files.

use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;

use super::encode::ScdbRecord;
use super::entry::{ENTRY_BYTES, ScdbEntry};
use super::names::NewNames;
use super::{LETTERS, MAGIC, MAGIC_BYTES, extension};
use tabia_io::atomic::{self, NewFile, Previous, WriteFileError};
use tabia_io::input::path::temporary_folder;

/// Writes a database. Its files appear only when [`ScdbWriter::finish`] has
/// returned.
pub(crate) struct ScdbWriter {
    index: NewFile,
    games: NewFile,
    /// Players, sites, events: the files and their names.
    names: [(NewFile, NewNames); 3],
    /// A file of entries with numbers of names instead of offsets: these are known
    /// only at the end, and the entries may not fit memory.
    entries: io::BufWriter<std::fs::File>,
    /// Offset of the next game.
    end: u64,
    count: u64,
}

impl ScdbWriter {
    /// Starts a database with the path of its index. The other files get the
    /// same name and usual extensions, in lower case.
    ///
    /// # Errors
    ///
    /// The folder is not writable.
    pub(crate) fn create(index: &Path, old: Previous) -> Result<ScdbWriter, WriteFileError> {
        let path = |letter: u8| match letter {
            b'i' => index.to_owned(),
            letter => index.with_extension(extension(letter)),
        };
        let [players, sites, events, games, index_letter] = LETTERS;
        let companions = [players, sites, events, games].map(extension);
        atomic::check(index, &companions.each_ref().map(String::as_str), old)?;
        let create = |letter: u8| {
            let mut beside = NewFile::create(&path(letter), old)?;
            beside.write_bytes(MAGIC)?;
            beside.write_bytes(&[letter])?;
            Ok::<_, WriteFileError>(beside)
        };
        let names = |letter| Ok((create(letter)?, NewNames::default()));
        let entries =
            tempfile::tempfile().map_err(|error| WriteFileError::io(&temporary_folder(), error))?;
        let mut writer = ScdbWriter {
            index: create(index_letter)?,
            games: create(games)?,
            names: [names(players)?, names(sites)?, names(events)?],
            entries: io::BufWriter::new(entries),
            end: MAGIC_BYTES as u64,
            count: 0,
        };
        // Version, and the game to open first: the author's program always
        // writes 0.
        writer.index.write_bytes(&[0; 9])?;
        Ok(writer)
    }

    /// Adds a game.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub(crate) fn push(&mut self, record: &ScdbRecord) -> Result<(), WriteFileError> {
        let [white, black, site, event] = &record.names;
        let [(_, players), (_, sites), (_, events)] = &mut self.names;
        let mut entry = record.entry;
        entry.offset = self.end;
        entry.players.white = players.number(white);
        entry.players.black = players.number(black);
        entry.site = sites.number(site);
        entry.event = events.number(event);
        self.games.write_bytes(&record.bytes)?;
        let written = self.entries.write_all(&entry.encode());
        written.map_err(|error| self.index.failed(error))?;
        self.end += record.bytes.len() as u64;
        self.count += 1;
        Ok(())
    }

    /// Completes the files and moves them into place.
    ///
    /// # Errors
    ///
    /// Writing failed; no file has changed.
    pub(crate) fn finish(self) -> Result<(), WriteFileError> {
        let ScdbWriter {
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
            file.write_bytes(&bytes)?;
            files.push(file);
            places.push(found);
        }
        let written = write_entries(entries, &places, &mut index);
        written.map_err(|error| index.failed(error))?;
        files.push(games);
        index.commit_with(files)?;
        Ok(())
    }
}

/// Copies the entries; numbers of names become offsets.
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
        let Some(mut entry) = ScdbEntry::decode(&bytes, 0) else {
            continue;
        };
        entry.players = entry.players.map(|number| place(0, number));
        entry.site = place(1, entry.site);
        entry.event = place(2, entry.event);
        out.write_all(&entry.encode())?;
    }
}
