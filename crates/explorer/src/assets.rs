//! The files of the page, embedded in the program.

use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use super::reply::reply;
use tabia_io::input::bytes::{FNV_START, fnv1a};

const HTML: &str = "text/html; charset=utf-8";

/// The files of `src/page` and `locales`: name and content. The build script lists them.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The placeholders of the page: the token, the answer for its address, the links to its
/// modules, and the pictures of the pieces.
const TOKEN_PLACE: &str = "{{token}}";
const FIRST_PLACE: &str = "{{first}}";
const MODULES_PLACE: &str = "{{modules}}";
const PIECES_PLACE: &str = "{{pieces}}";

/// The path of the files, as the page uses it.
const FOLDER: &str = "/page/";

/// The icon, in the topmost folder, where browsers request it by themselves.
const ICON: &str = "favicon.ico";

/// A file for the page. Nothing else is served.
struct File {
    name: &'static str,
    kind: &'static str,
    text: Bytes,
    /// The compressed file, made at its first request.
    compressed: OnceLock<Bytes>,
}

impl File {
    fn new(name: &'static str, kind: &'static str, text: Bytes) -> File {
        File {
            name,
            kind,
            text,
            compressed: OnceLock::new(),
        }
    }

    fn compressed(&self) -> Bytes {
        let compressed = || compress(&self.text, Compression::best());
        self.compressed.get_or_init(compressed).clone()
    }
}

fn compress(text: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing to memory does not fail.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default().into()
}

/// Whether a client accepts compressed files.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let takes = headers.get(header::ACCEPT_ENCODING);
    let takes = takes.and_then(|takes| takes.to_str().ok());
    takes.is_some_and(|takes| takes.split(',').any(|way| way.trim() == "gzip"))
}

fn set_content_encoding(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let files = EMBEDDED.iter().filter_map(|(name, text)| {
        let (name, kind) = match name.rsplit_once('.')?.1 {
            "js" => (*name, "text/javascript; charset=utf-8"),
            "css" => (*name, "text/css; charset=utf-8"),
            "json" => (*name, "application/json; charset=utf-8"),
            "png" => (ICON, "image/png"),
            _ => return None,
        };
        Some(File::new(name, kind, Bytes::from_static(text)))
    });
    files.collect()
});

/// The text of an embedded file.
fn text(name: &str) -> &'static str {
    let found = EMBEDDED.iter().find(|(known, _)| *known == name);
    found.map_or("", |(_, text)| {
        std::str::from_utf8(text).unwrap_or_default()
    })
}

/// The tables of the other languages, in JSON.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    let names = EMBEDDED.iter().map(|(name, _)| *name);
    names.filter(|name| name.ends_with(".json")).map(text)
}

/// The names of the modules. `theme.js` is none: it runs before the first paint.
fn modules() -> impl Iterator<Item = &'static str> {
    let names = EMBEDDED.iter().map(|(name, _)| *name);
    names.filter(|name| name.ends_with(".js") && *name != "theme.js")
}

/// The folder of the files of this version: the content of an address never changes.
static VERSIONED: LazyLock<String> = LazyLock::new(|| {
    let add = |hash, file: &File| fnv1a(hash, &file.text);
    let version = FILES.iter().fold(FNV_START, add);
    format!("{FOLDER}{version:016x}/")
});

/// The page without token and answer. The addresses of its files contain the version, so
/// that a browser need not ask whether one has changed. It names all modules, so that a
/// browser requests them at once, not each when another one imports it.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let link = |name| format!("<link rel=\"modulepreload\" href=\"{FOLDER}{name}\">\n");
    text("index.html")
        .replace(MODULES_PLACE, &modules().map(link).collect::<String>())
        .replace(FOLDER, &VERSIONED)
        .replace(PIECES_PLACE, text("pieces.svg"))
});

/// The page with its token and its first answer in JSON, which saves a request.
pub(super) fn page(token: &str, first: &str) -> Response<Bytes> {
    // No text in it can end the element that contains it.
    let first = first.replace('<', "\\u003c");
    let text = PAGE
        .replace(TOKEN_PLACE, token)
        .replace(FIRST_PLACE, &first);
    reply(StatusCode::OK, HTML, text.into())
}

/// The page, compressed for clients that accept that.
pub(super) fn compressed_page(page: Response<Bytes>, headers: &HeaderMap) -> Response<Bytes> {
    if !accepts_gzip(headers) {
        return page;
    }
    let mut response = page.map(|text| compress(&text, Compression::fast()));
    set_content_encoding(response.headers_mut());
    response
}

/// The file of a path, if there is one; compressed for clients that accept that.
pub(super) fn file(path: &str, headers: &HeaderMap) -> Option<Response<Bytes>> {
    let versioned = path.strip_prefix(match cfg!(feature = "server") {
        true => VERSIONED.as_str(),
        // The page without a server has its files in a folder of this name.
        false => FOLDER,
    });
    let name = versioned.or(path.strip_prefix('/').filter(|name| *name == ICON))?;
    let file = FILES.iter().find(|file| file.name == name)?;
    let is_compressed = accepts_gzip(headers);
    let body = match is_compressed {
        true => file.compressed(),
        false => file.text.clone(),
    };
    let mut response = reply(StatusCode::OK, file.kind, body);
    let headers = response.headers_mut();
    let lifetime = HeaderValue::from_static(match versioned {
        Some(_) => "public, max-age=31536000, immutable",
        None => "public, max-age=86400",
    });
    headers.insert(header::CACHE_CONTROL, lifetime);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        set_content_encoding(headers);
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nothing_is_inline_and_no_other_site_is_contacted() {
        let hostile = "{\"name\":\"</script><script>{{token}}\"}";
        let response = page("f00", hostile);
        let policy = &response.headers()[header::CONTENT_SECURITY_POLICY];
        let policy = policy.to_str().unwrap();
        assert!(policy.contains("script-src 'self'; style-src 'self';"));
        let page = std::str::from_utf8(response.body()).unwrap();
        assert!(page.contains("content=\"f00\""));
        assert_eq!(page.matches("</script>").count(), 3);
        for forbidden in ["style=", "<style", "onclick", "javascript:"] {
            assert!(!text("index.html").contains(forbidden), "{forbidden}");
        }
        for (name, text) in EMBEDDED {
            // A name of SVG, and the source of a formula: nothing is loaded from there.
            let text = String::from_utf8_lossy(text)
                .replace("http://www.w3.org/", "")
                .replace("https://github.com/open-spaced-repetition/", "");
            for forbidden in ["http://", "https://", "innerHTML", "eval("] {
                assert!(!text.contains(forbidden), "{name}: {forbidden}");
            }
        }
    }

    #[test]
    fn every_imported_module_exists_and_every_module_is_imported() {
        let mut imported = BTreeSet::from(["main.js"]);
        for module in modules() {
            for rest in text(module).split(" from \"./").skip(1) {
                let (name, _) = rest.split_once('"').unwrap();
                assert!(
                    modules().any(|known| known == name),
                    "{module} imports {name}"
                );
                imported.insert(name);
            }
        }
        assert_eq!(imported, modules().collect());
    }

    #[test]
    fn files_are_compressed_for_clients_that_accept_it() {
        use std::io::Read as _;
        let main = format!("{}main.js", *VERSIONED);
        let plain = file(&main, &HeaderMap::new()).unwrap();
        assert_eq!(plain.headers().get(header::CONTENT_ENCODING), None);
        let mut headers = HeaderMap::new();
        let browser = HeaderValue::from_static("br, gzip, deflate");
        headers.insert(header::ACCEPT_ENCODING, browser);
        let sent = file(&main, &headers).unwrap();
        assert_eq!(sent.headers()[header::CONTENT_ENCODING], "gzip");
        let mut text = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(sent.body().as_ref());
        decoder.read_to_end(&mut text).unwrap();
        assert_eq!(text, plain.body().as_ref());
    }

    #[test]
    fn the_page_is_compressed_for_clients_that_accept_it() {
        let sent = |headers: &HeaderMap| compressed_page(page("f00", "{}"), headers);
        let plain = sent(&HeaderMap::new());
        assert_eq!(plain.headers().get(header::CONTENT_ENCODING), None);
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let packed = sent(&headers);
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        assert!(3 * packed.body().len() < plain.body().len());
        let mut text = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(packed.body().as_ref());
        std::io::Read::read_to_end(&mut decoder, &mut text).unwrap();
        assert_eq!(text, plain.body().as_ref());
    }

    #[test]
    fn only_files_of_the_table_are_served() {
        let main = format!("{}main.js", *VERSIONED);
        assert!(file(&main, &HeaderMap::new()).is_some());
        for path in [
            "/page/",
            "/page/main.js",
            "/page/../main.js",
            "/page/%2e%2e/Cargo.toml",
            "/etc/passwd",
            "//page/main.js",
        ] {
            assert!(file(path, &HeaderMap::new()).is_none(), "{path}");
        }
        assert!(
            file(
                &format!("{}../../Cargo.toml", *VERSIONED),
                &HeaderMap::new()
            )
            .is_none()
        );
    }

    #[test]
    fn all_files_that_the_page_names_exist() {
        let page = String::from_utf8(page("x", "").body().to_vec()).unwrap();
        let named: Vec<&str> = page
            .split('"')
            .filter(|part| part.starts_with(FOLDER))
            .collect();
        assert!(named.iter().any(|path| path.ends_with("main.js")));
        for path in named {
            assert!(file(path, &HeaderMap::new()).is_some(), "{path}");
        }
    }
}
