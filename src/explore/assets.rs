//! The files of the page, part of the program.

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

use super::reply::reply;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Where the page expects its token.
const TOKEN_PLACE: &str = "{{token}}";

/// The folder of the files, as the page names it.
const FOLDER: &str = "/page/";

/// Name, type and content. Nothing else is ever served.
const FILES: [(&str, &str, &str); 30] = [
    ("style.css", CSS, include_str!("page/style.css")),
    ("main.js", SCRIPT, include_str!("page/main.js")),
    ("address.js", SCRIPT, include_str!("page/address.js")),
    ("api.js", SCRIPT, include_str!("page/api.js")),
    ("arrows.js", SCRIPT, include_str!("page/arrows.js")),
    ("board.js", SCRIPT, include_str!("page/board.js")),
    ("cards.js", SCRIPT, include_str!("page/cards.js")),
    ("dom.js", SCRIPT, include_str!("page/dom.js")),
    ("edit.js", SCRIPT, include_str!("page/edit.js")),
    ("engine.js", SCRIPT, include_str!("page/engine.js")),
    ("games.js", SCRIPT, include_str!("page/games.js")),
    ("lang.js", SCRIPT, include_str!("page/lang.js")),
    ("lang-de.js", SCRIPT, include_str!("page/lang-de.js")),
    ("lang-es.js", SCRIPT, include_str!("page/lang-es.js")),
    ("lang-fr.js", SCRIPT, include_str!("page/lang-fr.js")),
    ("lang-ru.js", SCRIPT, include_str!("page/lang-ru.js")),
    ("moves.js", SCRIPT, include_str!("page/moves.js")),
    ("plot.js", SCRIPT, include_str!("page/plot.js")),
    ("policy.js", SCRIPT, include_str!("page/policy.js")),
    ("search.js", SCRIPT, include_str!("page/search.js")),
    ("settings.js", SCRIPT, include_str!("page/settings.js")),
    ("share.js", SCRIPT, include_str!("page/share.js")),
    ("shelf.js", SCRIPT, include_str!("page/shelf.js")),
    ("signs.js", SCRIPT, include_str!("page/signs.js")),
    ("store.js", SCRIPT, include_str!("page/store.js")),
    ("table.js", SCRIPT, include_str!("page/table.js")),
    ("trainer.js", SCRIPT, include_str!("page/trainer.js")),
    ("tree.js", SCRIPT, include_str!("page/tree.js")),
    ("pieces.svg", SVG, include_str!("page/pieces.svg")),
    ("favicon.svg", SVG, include_str!("page/favicon.svg")),
];

/// Tells versions of the files apart (FNV-1a of all of them).
const VERSION: u64 = {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut file = 0;
    while file < FILES.len() {
        let bytes = FILES[file].2.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        file += 1;
    }
    hash
};

/// The page itself, with its token. The addresses of its files carry the
/// version, so that a browser need never ask whether one has changed.
pub(super) fn page(token: &str) -> Response<Bytes> {
    let text = include_str!("page/index.html")
        .replace(FOLDER, &folder())
        .replace(TOKEN_PLACE, token);
    reply(StatusCode::OK, HTML, text.into())
}

fn folder() -> String {
    format!("{FOLDER}{VERSION:016x}/")
}

/// The file of a path, if there is one.
pub(super) fn file(path: &str) -> Option<Response<Bytes>> {
    let name = match path {
        "/favicon.ico" => "favicon.svg",
        _ => path.strip_prefix(folder().as_str())?,
    };
    let (_, kind, text) = FILES.iter().find(|(known, _, _)| *known == name)?;
    let mut response = reply(StatusCode::OK, kind, Bytes::from_static(text.as_bytes()));
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, forever);
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_nothing_inline_and_asks_nobody_else() {
        let page = String::from_utf8(page("f00").body().to_vec()).unwrap();
        assert!(page.contains("content=\"f00\""));
        for forbidden in ["<style", "style=", "onclick", "javascript:"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        for script in page.split("<script").skip(1) {
            assert!(script.contains("src=\"/page/"), "{script}");
        }
        for (path, _, text) in FILES {
            let text = text.replace("http://www.w3.org/", "");
            for forbidden in ["http://", "https://", "innerHTML", "eval("] {
                assert!(!text.contains(forbidden), "{path}: {forbidden}");
            }
        }
    }

    /// The texts that a table of a language translates.
    fn translated(name: &str) -> Vec<&'static str> {
        let (_, _, text) = FILES.iter().find(|(known, _, _)| *known == name).unwrap();
        let rows = text.lines().filter_map(|line| line.strip_prefix("  \""));
        rows.map(|row| row.split_once("\": \"").unwrap().0)
            .collect()
    }

    #[test]
    fn every_language_says_the_same_and_what_the_page_says() {
        let texts = translated("lang-de.js");
        assert!(texts.len() > 250);
        for other in ["lang-es.js", "lang-fr.js", "lang-ru.js"] {
            assert_eq!(translated(other), texts, "{other}");
        }
        // A text that has been changed in the page is no longer translated.
        let sources: String = FILES
            .iter()
            .filter(|(name, _, _)| !name.starts_with("lang-"))
            .map(|(_, _, text)| *text)
            .chain([include_str!("page/index.html")])
            .collect();
        // Some are put together of words: "white pawn", "Theme: dark".
        let is_word = |word: &str| sources.contains(&format!("\"{word}\""));
        let is_composed = |text: &str| text.trim_start_matches("Theme: ").split(' ').all(is_word);
        for text in texts.into_iter().filter(|text| !is_composed(text)) {
            let mut parts = text.split(|c: char| "{}".contains(c) || c.is_ascii_digit());
            assert!(parts.all(|part| sources.contains(part)), "{text}");
        }
    }

    #[test]
    fn a_page_in_one_language_weighs_little() {
        let weight = |is: fn(&str) -> bool| -> Vec<usize> {
            let files = FILES.iter().filter(|(name, _, _)| is(name));
            files.map(|(_, _, text)| text.len()).collect()
        };
        let page: usize = weight(|name| !name.starts_with("lang-")).iter().sum();
        let language = weight(|name| name.starts_with("lang-"));
        let heaviest = language.into_iter().max().unwrap();
        let all = page + heaviest + include_str!("page/index.html").len();
        assert!(all < 200_000, "{all} bytes");
    }

    #[test]
    fn only_files_of_the_table_are_served() {
        let main = format!("{}main.js", folder());
        assert!(file(&main).is_some());
        for path in [
            "/page/",
            "/page/main.js",
            "/page/../main.js",
            "/page/%2e%2e/Cargo.toml",
            "/etc/passwd",
            "//page/main.js",
        ] {
            assert!(file(path).is_none(), "{path}");
        }
        assert!(file(&format!("{}../../Cargo.toml", folder())).is_none());
    }

    #[test]
    fn the_page_names_files_that_there_are() {
        let page = String::from_utf8(page("x").body().to_vec()).unwrap();
        let named: Vec<&str> = page
            .split('"')
            .filter(|part| part.starts_with(FOLDER))
            .collect();
        assert!(named.len() > 8);
        for path in named {
            assert!(file(path).is_some(), "{path}");
        }
    }
}
