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
const FILES: [(&str, &str, &str); 20] = [
    ("style.css", CSS, include_str!("page/style.css")),
    ("main.js", SCRIPT, include_str!("page/main.js")),
    ("address.js", SCRIPT, include_str!("page/address.js")),
    ("api.js", SCRIPT, include_str!("page/api.js")),
    ("arrows.js", SCRIPT, include_str!("page/arrows.js")),
    ("board.js", SCRIPT, include_str!("page/board.js")),
    ("dom.js", SCRIPT, include_str!("page/dom.js")),
    ("edit.js", SCRIPT, include_str!("page/edit.js")),
    ("engine.js", SCRIPT, include_str!("page/engine.js")),
    ("moves.js", SCRIPT, include_str!("page/moves.js")),
    ("plot.js", SCRIPT, include_str!("page/plot.js")),
    ("policy.js", SCRIPT, include_str!("page/policy.js")),
    ("search.js", SCRIPT, include_str!("page/search.js")),
    ("share.js", SCRIPT, include_str!("page/share.js")),
    ("signs.js", SCRIPT, include_str!("page/signs.js")),
    ("store.js", SCRIPT, include_str!("page/store.js")),
    ("table.js", SCRIPT, include_str!("page/table.js")),
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
