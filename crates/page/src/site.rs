//! The explorer of the page, and its files.

use std::fs;
use std::path::Path;

use crate::exchange;
use tabia_choice::book_set::Opener;
use tabia_choice::settings::{Options, STARTER};
use tabia_explorer::hyper::body::Bytes;
use tabia_explorer::hyper::{Response, StatusCode};
use tabia_explorer::{Access, Explorer, FileOpener, Games, OpenError, Reports};
use tabia_games::is_game_file;
use tabia_io::input::path::{file_name, has_extension, to_text};
use tabia_notation::kind::BookKind;

/// The folder of the books that the page has from the beginning, and that of the files that the
/// user opens: `crates/explorer/offline/worker.js` puts them there.
pub(crate) const FOLDERS: [&str; 2] = ["/books", "/files"];

/// The token of the page: nobody else can send a request here.
const TOKEN: &str = "0";

/// Nobody reads reports here: notices are part of the answers.
struct Silent;

impl Reports for Silent {}

/// An explorer of the books and games of the first folder, or of the starter book, and of the
/// files of both when the page opens them.
pub(crate) struct Site(Result<Explorer, OpenError>);

impl Site {
    pub(crate) fn new(folders: [&Path; 2]) -> Site {
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

fn explorer(folders: [&Path; 2]) -> Result<Explorer, OpenError> {
    let options = Options::default();
    let opener = FileOpener::new(Opener::here(true), options.clone(), false, Silent);
    let (mut books, mut games) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folders[0])? {
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
        .with_folders(folders.map(Path::to_owned).into(), Box::new(opener))
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
        let [books, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let site = Site::new([books.path(), folder.path()]);
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
        let own = Site::new([folder.path(), books.path()]);
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
}
