//! The files of the page, part of the program.

use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use super::reply::reply;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Where the page expects its token.
const TOKEN_PLACE: &str = "{{token}}";

/// Path of the request, type and content. Nothing else is ever served.
const FILES: [(&str, &str, &str); 11] = [
    ("/page/style.css", CSS, include_str!("page/style.css")),
    ("/page/main.js", SCRIPT, include_str!("page/main.js")),
    ("/page/api.js", SCRIPT, include_str!("page/api.js")),
    ("/page/board.js", SCRIPT, include_str!("page/board.js")),
    ("/page/book.js", SCRIPT, include_str!("page/book.js")),
    ("/page/dom.js", SCRIPT, include_str!("page/dom.js")),
    ("/page/edit.js", SCRIPT, include_str!("page/edit.js")),
    ("/page/plot.js", SCRIPT, include_str!("page/plot.js")),
    ("/page/policy.js", SCRIPT, include_str!("page/policy.js")),
    ("/page/pieces.svg", SVG, include_str!("page/pieces.svg")),
    ("/favicon.svg", SVG, include_str!("page/favicon.svg")),
];

/// The page itself, with its token.
pub(super) fn page(token: &str) -> Response<Bytes> {
    let text = include_str!("page/index.html").replace(TOKEN_PLACE, token);
    reply(StatusCode::OK, HTML, text.into())
}

/// The file of a path, if there is one.
pub(super) fn file(path: &str, asked: &HeaderMap) -> Option<Response<Bytes>> {
    let (_, kind, text) = FILES.iter().find(|(known, _, _)| *known == path)?;
    let tag = HeaderValue::from_str(&format!("\"{:016x}\"", digest(text))).ok()?;
    let known = asked.get(header::IF_NONE_MATCH) == Some(&tag);
    let mut response = if known {
        reply(StatusCode::NOT_MODIFIED, kind, Bytes::new())
    } else {
        reply(StatusCode::OK, kind, Bytes::from_static(text.as_bytes()))
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag);
    // Kept by the browser, but asked about each time: a new version of the
    // program may stand behind the same address.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(response)
}

/// FNV-1a: tells versions of a file apart, no more.
const fn digest(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
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
        let none = HeaderMap::new();
        assert!(file("/page/main.js", &none).is_some());
        for path in [
            "/page/",
            "/page/../main.js",
            "/page/%2e%2e/Cargo.toml",
            "/etc/passwd",
            "//page/main.js",
        ] {
            assert!(file(path, &none).is_none(), "{path}");
        }
    }

    #[test]
    fn an_unchanged_file_is_not_sent_twice() {
        let first = file("/page/main.js", &HeaderMap::new()).unwrap();
        let mut asked = HeaderMap::new();
        asked.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        let again = file("/page/main.js", &asked).unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert!(again.body().is_empty());
    }
}
