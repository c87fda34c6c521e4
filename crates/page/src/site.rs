//! The explorer of the page, and its files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::exchange;
use tabia_choice::book_set::Opener;
use tabia_choice::settings::{Options, STARTER};
use tabia_explorer::hyper::body::Bytes;
use tabia_explorer::hyper::{Response, StatusCode};
use tabia_explorer::{Access, Explorer, FileOpener, Games, NoIndex, OpenError, Reports};
use tabia_games::is_game_file;
use tabia_index::IndexJob;
use tabia_io::input::bytes::{FNV_START, fnv1a};
use tabia_io::input::path::{file_name, has_extension, to_text};
use tabia_io::progress::{Progress, Watch};
use tabia_notation::kind::BookKind;

/// The folder of the books that the page has from the beginning, that of the files that the
/// user opens, and that of the indexes that were made: `crates/explorer/offline/worker.js` puts
/// the files there.
pub(crate) const FOLDERS: [&str; 3] = ["/books", "/files", "/made"];

/// The token of the page: nobody else can send a request here.
const TOKEN: &str = "0";

/// Keeps each index under the digest of its games, so that one which another worker has made is
/// opened instead of made again, and says in lines of standard output how far one is.
/// Nobody reads other reports here: notices are part of the answers.
struct Indexes {
    made: PathBuf,
}

impl Reports for Indexes {
    fn index(
        &self,
        job: &IndexJob,
        name: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), OpenError> {
        let made = job.sources.iter().try_fold(FNV_START, digest);
        let made = made.map_err(|error| NoIndex::new(name, error))?;
        let made = self.made.join(format!("{made:016x}.tgx"));
        if !made.exists() {
            let mut report = |state: Progress| {
                say(&state);
                progress(state);
            };
            job.run(&mut Watch::new(&mut report, &AtomicBool::new(false)))
                .map_err(|error| NoIndex::new(name, error))?;
            fs::rename(&job.target, &made).map_err(|error| NoIndex::new(name, error))?;
        }
        fs::hard_link(&made, &job.target).map_err(|error| NoIndex::new(name, error))?;
        Ok(())
    }
}

/// Continues a digest with the bytes of a file.
fn digest(mut digest: u64, path: &PathBuf) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; 1 << 20];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(digest),
            length => digest = fnv1a(digest, bytes.get(..length).unwrap_or_default()),
        }
    }
}

/// Tells the page how far an index is, in the words of `/api/indexing`.
fn say(state: &Progress) {
    let Progress { done, unit, .. } = state;
    let part = state.done_of_whole();
    let line = serde_json::json!({ "done": done, "unit": unit, "part": part });
    // Without a reader nobody waits for it.
    let _ = writeln!(io::stdout(), "{line}");
}

/// An explorer of the books and games of the first folder, or of the starter book, and of the
/// files of both when the page opens them.
pub(crate) struct Site(Result<Explorer, OpenError>);

impl Site {
    pub(crate) fn new(folders: [&Path; 3]) -> Site {
        Site(explorer(folders))
    }

    /// Answers a request of bytes by bytes.
    pub(crate) fn answer(&self, request: Vec<u8>) -> Vec<u8> {
        let answered = exchange::request(request).and_then(|request| match &self.0 {
            Ok(explorer) => Ok(explorer.answer(&request)),
            Err(error) => Err(error.to_string()),
        });
        exchange::response(&answered.unwrap_or_else(|error| {
            let text = serde_json::json!({ "error": error }).to_string();
            let mut response = Response::new(Bytes::from(text));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        }))
    }
}

fn explorer([own, opened, made]: [&Path; 3]) -> Result<Explorer, OpenError> {
    let options = Options::default();
    let made = made.to_owned();
    let opener = FileOpener::new(Opener::here(true), options.clone(), false, Indexes { made });
    let (mut books, mut games) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(own)? {
        let path = entry?.path();
        if BookKind::of_played(&path).is_some() {
            books.push(opener.book(&to_text(&path), file_name(&path).into_owned())?);
        } else if has_extension(&path, "tgx") || is_game_file(&path) {
            games.push(path);
        }
    }
    if books.is_empty() && games.is_empty() {
        books.push(opener.book(STARTER, "Starter book".to_owned())?);
    }
    let indexes = games.iter().map(|path| opener.games(path, &mut |_| {}));
    let indexes = Games::new(indexes.collect::<Result<_, _>>()?, true);
    let names = games.iter().map(|path| file_name(path).into_owned());
    books.extend(indexes.books(names.collect()));
    let access = Access::new(([127, 0, 0, 1], 80).into(), TOKEN.to_owned());
    Ok(Explorer::new(books, access, options, false)
        .with_games(indexes)
        .with_folders([own, opened].map(Path::to_owned).into(), Box::new(opener))
        .with_training_in_pages())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(site: &Site, method: &str, target: &str, body: &str) -> (String, String) {
        let head = format!(
            "{{\"method\":\"{method}\",\"target\":\"{target}\",\"headers\":\
             [[\"x-tabia-token\",\"{TOKEN}\"],[\"content-type\",\"application/json\"]]}}\n"
        );
        let answer = site.answer([head.as_bytes(), body.as_bytes()].concat());
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once('\n').unwrap();
        (head.to_owned(), body.to_owned())
    }

    #[test]
    fn the_page_opens_and_changes_files_of_the_folder() {
        let [books, folder, made] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let site = Site::new([books.path(), folder.path(), made.path()]);
        let (head, start) = ask(&site, "GET", "/api/start?client=a", "");
        assert!(head.starts_with("{\"status\":200,"), "{head}");
        assert!(
            start.contains("\"engine\":null,\"folders\":true"),
            "{start}"
        );
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
        for kind in ["ctg", "cto", "ctb"] {
            let [from, to] = [source.as_ref(), folder.path().join("mine.ctg").as_path()]
                .map(|path: &Path| path.with_extension(kind));
            std::fs::copy(from, to).unwrap();
        }
        let (_, files) = ask(&site, "GET", "/api/files", "");
        let id = files.split("\"id\":\"").nth(1).unwrap();
        let id = &id[..16];
        let (_, opened) = ask(&site, "POST", "/api/open", &format!("{{\"id\":\"{id}\"}}"));
        assert_eq!(opened, "{\"name\":\"mine.ctg\"}");
        let edit =
            "{\"book\":1,\"play\":\"\",\"uci\":\"e2e4\",\"change\":\"mark\",\"value\":\"avoid\"}";
        let (head, edited) = ask(&site, "POST", "/api/edit", edit);
        assert!(head.starts_with("{\"status\":200,"), "{edited}");
        // A page that has a book from the beginning shows it instead of the starter book.
        let own = Site::new([folder.path(), books.path(), made.path()]);
        let (_, start) = ask(&own, "GET", "/api/start?client=a", "");
        assert!(
            start.contains("\"books\":[{\"name\":\"mine.ctg\""),
            "{start}"
        );
        // There is no engine, and the answer says so.
        let (head, none) = ask(&site, "POST", "/api/engine", "{\"play\":\"\",\"lines\":1}");
        assert!(head.starts_with("{\"status\":403,"), "{none}");
        let broken = String::from_utf8(site.answer(b"x".to_vec())).unwrap();
        let text = "{\"error\":\"the request has no line end\"}";
        assert!(
            broken.starts_with("{\"status\":500,") && broken.ends_with(text),
            "{broken}"
        );
    }

    #[test]
    fn an_index_is_made_once_for_all_workers() {
        let [books, folder, made] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sample.pgn");
        fs::copy(games, folder.path().join("games.pgn")).unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            let site = Site::new([books.path(), folder.path(), made.path()]);
            let (_, files) = ask(&site, "GET", "/api/files", "");
            let id = &files.split("\"id\":\"").nth(1).unwrap()[..16];
            let (_, opened) = ask(&site, "POST", "/api/open", &format!("{{\"id\":\"{id}\"}}"));
            assert_eq!(opened, "{\"name\":\"games.pgn\"}");
            let (_, shown) = ask(&site, "GET", "/api/position?books=games.pgn", "");
            assert!(shown.contains("\"uci\":\"e2e4\""), "{shown}");
            let indexes = fs::read_dir(made.path()).unwrap();
            let times = indexes.map(|index| index.unwrap().metadata().unwrap().modified().unwrap());
            seen.push(times.collect::<Vec<_>>());
        }
        // A new one would have another time.
        assert_eq!(seen[0].len(), 1);
        assert_eq!(seen[0], seen[1]);
    }
}
