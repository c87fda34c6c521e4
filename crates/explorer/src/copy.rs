//! A copy of a book to save, in its own format or another one, as `tabia convert` makes it.

use std::fs;
use std::io::{self, Cursor, Write as _};
use std::path::{Path, PathBuf};

use form_urlencoded::byte_serialize;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::books::ExploredBook;
use super::message::translatable;
use super::open_books::OpenBooks;
use super::query::Query;
use super::reply::{Answer, bad, reply, unreadable};
use tabia_book::convert::{self, ConvertJob};
use tabia_choice::book_set::STARTER_FILES;
use tabia_choice::settings::STARTER;
use tabia_io::atomic::TempFolder;
use tabia_io::input::path::{file_name, has_extension, temporary_folder};
use tabia_io::input::sibling::sibling;
use tabia_io::progress::Watch;

/// The formats that `convert` writes. A text of a request never becomes the name of a file.
const FORMATS: [&str; 6] = ["ctg", "bin", "abk", "pgn", "csv", "jsonl"];

/// The header with what the conversion left out: sentences as parts of a form.
const NOTES: HeaderName = HeaderName::from_static("x-tabia-notes");

/// A larger file is not sent: it would be in memory.
const MOST_BYTES: u64 = 1 << 30;

/// Answers with the book as one file: that of a ChessBase book is a `.zip` of its three.
pub(super) fn answer(open: &OpenBooks, query: &Query) -> Answer {
    let book = open.book(query.number("book", 0).map_err(bad)?)?;
    let format = query.get("format").unwrap_or("ctg");
    if !FORMATS.contains(&format) {
        return Err(bad("format: expected ctg, bin, abk, pgn, csv or jsonl"));
    }
    if book.has_games() {
        return Err(bad(translatable!(
            "an index of games is not a book: tabia build makes a book of the games"
        )));
    }
    let before = book.generation();
    let (bytes, notes) = copied(&book, format).map_err(|error| match error {
        Failed::Io(error) => unreadable(error),
        Failed::Convert(error) => bad(error.to_string()),
        Failed::TooLarge => bad(translatable!(
            "the file is too large for the page: tabia convert writes it"
        )),
    })?;
    if book.generation() != before {
        return Err((
            StatusCode::CONFLICT,
            translatable!("the book was changed meanwhile: save it again"),
        ));
    }
    let kind = "application/octet-stream";
    let mut response: Response<Bytes> = reply(StatusCode::OK, kind, bytes.into());
    let notes = notes.iter().map(|note| byte_serialize(note.as_bytes()));
    let notes: Vec<String> = notes.map(Iterator::collect).collect();
    if let Ok(notes) = HeaderValue::from_str(&notes.join("&")) {
        response.headers_mut().insert(NOTES, notes);
    }
    Ok(response)
}

enum Failed {
    Io(io::Error),
    Convert(tabia_book::Error),
    TooLarge,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Io(error)
    }
}

/// The file of the copy, and what it lacks.
fn copied(book: &ExploredBook, format: &str) -> Result<(Vec<u8>, Vec<String>), Failed> {
    let folder = TempFolder::beside(&temporary_folder().join("tabia"))?;
    let own = book.file().filter(|file| *file != Path::new(STARTER));
    let source = match own {
        Some(path) => path.to_owned(),
        None => starter_in(folder.path())?,
    };
    let mut notes = Vec::new();
    let target = match has_extension(&source, format) {
        true => source,
        false => {
            let stem = source.file_stem().unwrap_or_default();
            let target = folder.path().join(stem).with_added_extension(format);
            let job = ConvertJob::new(source, target.clone());
            let done = convert::run(&job, &mut Watch::default()).map_err(Failed::Convert)?;
            notes.extend(done.notices);
            notes.extend(done.salvage.notes());
            notes.extend(done.notes);
            target
        }
    };
    if format != "ctg" {
        return Ok((bytes_of(&target)?, notes));
    }
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644);
    let companions = ["cto", "ctb"].into_iter();
    let companions: Vec<PathBuf> = companions
        .filter_map(|ending| sibling(&target, ending))
        .collect();
    for path in [target].iter().chain(&companions) {
        let entry = archive.start_file(file_name(path), options);
        entry.map_err(io::Error::other)?;
        archive.write_all(&bytes_of(path)?)?;
    }
    let archive = archive.finish().map_err(io::Error::other)?;
    Ok((archive.into_inner(), notes))
}

/// Writes the book within the program into a folder.
fn starter_in(folder: &Path) -> io::Result<PathBuf> {
    for (ending, bytes) in STARTER_FILES {
        fs::write(folder.join("tabia").with_extension(ending), bytes)?;
    }
    Ok(folder.join("tabia.ctg"))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Failed> {
    match path.metadata()?.len() {
        0..=MOST_BYTES => Ok(fs::read(path)?),
        _ => Err(Failed::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn copy(book: ExploredBook, format: &str) -> Answer {
        let open = OpenBooks::new(vec![book], false);
        answer(&open, &Query::read(&format!("book=0&format={format}")))
    }

    fn entries(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
        let entry = |index| {
            let mut entry = archive.by_index(index).unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (entry.name().unwrap().into_owned(), bytes)
        };
        (0..3).map(entry).collect()
    }

    #[test]
    fn a_copy_has_the_bytes_of_the_files_and_of_convert() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.book.ctg");
        for (ending, bytes) in STARTER_FILES {
            fs::write(path.with_extension(ending), bytes).unwrap();
        }
        let book = || ExploredBook::from_file(&path).unwrap();
        let zip = copy(book(), "ctg").unwrap();
        let own =
            STARTER_FILES.map(|(ending, bytes)| (format!("my.book.{ending}"), bytes.to_vec()));
        assert_eq!(entries(zip.body()), own);
        let target = folder.path().join("converted.bin");
        let job = ConvertJob::new(path.clone(), target.clone());
        convert::run(&job, &mut Watch::default()).unwrap();
        let bin = copy(book(), "bin").unwrap();
        assert_eq!(bin.body().as_ref(), fs::read(&target).unwrap());
        // Of another format, and with what it lacks.
        let from_bin = ExploredBook::from_file(&target).unwrap();
        let zip = copy(from_bin, "ctg").unwrap();
        assert_eq!(entries(zip.body())[0].0, "converted.ctg");
        assert!(!zip.headers()[NOTES].is_empty());
        let unknown = copy(book(), "xyz").unwrap_err();
        assert_eq!(unknown.0, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn the_starter_book_is_copied_too() {
        let open = || std::sync::Arc::new(tabia_choice::book_set::starter().unwrap()) as _;
        let book = ExploredBook::new(
            "Starter book".into(),
            Vec::new(),
            open(),
            Box::new(move || Ok(open())),
        );
        let zip = copy(book.with_files(vec![STARTER.into()]), "ctg").unwrap();
        let names: Vec<String> = entries(zip.body())
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["tabia.ctg", "tabia.cto", "tabia.ctb"]);
    }
}
