//! The files of the page, embedded in the program.

use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use super::bundle;
use super::reply::{reply, with_nonce};
use tabia_io::input::bytes::{FNV_START, fnv1a};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PNG: &str = "image/png";
const JSON: &str = "application/json; charset=utf-8";

/// The HTML that is shown first; after each mark, HTML that is loaded later, and the name
/// of its file.
const PAGE_HTML: &str = include_str!("page/index.html");
const LATER: [(&str, &str); 2] = [
    (
        "<!-- Panels behind tabs, and dialogs: they come after the first paint. -->",
        "later.html",
    ),
    (
        "<!-- Training: it comes with its tab, or when something is due. -->",
        "training.html",
    ),
];

/// The placeholder of the token.
const TOKEN_PLACE: &str = "{{token}}";

/// The placeholder of the answer for the page's address.
const FIRST_PLACE: &str = "{{first}}";

/// The placeholder of the nonce that marks the page's own scripts and styles.
const NONCE_PLACE: &str = "{{nonce}}";

/// The placeholders of the style sheet and of the first script: they are part of the
/// page, so that it need not wait for them. What is not seen first has a style sheet that
/// comes with them.
const STYLE_PLACE: &str = "{{style}}";
const STYLE: &str = include_str!("page/style.css");
const LATER_STYLE_PLACE: &str = "{{later-style}}";
const LATER_STYLE: &str = include_str!("page/later.css");
const FACE_PLACE: &str = "{{face}}";

/// The placeholder of the pictures of the pieces for the board.
const PIECES_PLACE: &str = "{{pieces}}";
const PIECES: &str = include_str!("page/pieces.svg");

/// The path of the files, as the page uses it.
const FOLDER: &str = "/page/";

/// The scripts: what is seen first, which is within the page; the rest, which the page
/// loads; training, the file picker, saving of files and the dialogs that change a book,
/// each loaded when needed. Each has the modules that it imports, except those of an
/// earlier script.
const SCRIPT_MAINS: [&str; 6] = [
    "face.js",
    "main.js",
    "trainer.js",
    "files.js",
    "share.js",
    "edit.js",
];

/// The modules of the page.
const MODULES: &[(&str, &str)] = &[
    ("address.js", include_str!("page/address.js")),
    ("api.js", include_str!("page/api.js")),
    ("arrows.js", include_str!("page/arrows.js")),
    ("board-input.js", include_str!("page/board-input.js")),
    ("board.js", include_str!("page/board.js")),
    ("books.js", include_str!("page/books.js")),
    ("cards.js", include_str!("page/cards.js")),
    ("changes.js", include_str!("page/changes.js")),
    ("chapters.js", include_str!("page/chapters.js")),
    ("columns.js", include_str!("page/columns.js")),
    ("context.js", include_str!("page/context.js")),
    ("controls.js", include_str!("page/controls.js")),
    ("coverage.js", include_str!("page/coverage.js")),
    ("departures.js", include_str!("page/departures.js")),
    ("dom.js", include_str!("page/dom.js")),
    ("early.js", include_str!("page/early.js")),
    ("edit.js", include_str!("page/edit.js")),
    ("engine.js", include_str!("page/engine.js")),
    ("face.js", include_str!("page/face.js")),
    ("files.js", include_str!("page/files.js")),
    ("games.js", include_str!("page/games.js")),
    ("lang.js", include_str!("page/lang.js")),
    ("lesson.js", include_str!("page/lesson.js")),
    ("main.js", include_str!("page/main.js")),
    ("moves.js", include_str!("page/moves.js")),
    ("pgn.js", include_str!("page/pgn.js")),
    ("plot.js", include_str!("page/plot.js")),
    ("policy.js", include_str!("page/policy.js")),
    ("say.js", include_str!("page/say.js")),
    ("search.js", include_str!("page/search.js")),
    ("settings.js", include_str!("page/settings.js")),
    ("share.js", include_str!("page/share.js")),
    ("signs.js", include_str!("page/signs.js")),
    ("steps.js", include_str!("page/steps.js")),
    ("store.js", include_str!("page/store.js")),
    ("table-input.js", include_str!("page/table-input.js")),
    ("table.js", include_str!("page/table.js")),
    ("tabs.js", include_str!("page/tabs.js")),
    ("trainer.js", include_str!("page/trainer.js")),
    ("training.js", include_str!("page/training.js")),
    ("tree.js", include_str!("page/tree.js")),
];

/// The name of the icon. Browsers request it by themselves, in the topmost folder: a link
/// to it in the page would delay the first paint in Firefox.
const ICON: &str = "favicon.ico";

/// Other files: name, type and content.
const OTHERS: &[(&str, &str, &[u8])] = &[
    (ICON, PNG, include_bytes!("page/favicon.png")),
    ("de.json", JSON, include_bytes!("../locales/de.json")),
    ("es.json", JSON, include_bytes!("../locales/es.json")),
    ("fr.json", JSON, include_bytes!("../locales/fr.json")),
    ("ru.json", JSON, include_bytes!("../locales/ru.json")),
];

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

static SCRIPTS: LazyLock<[String; SCRIPT_MAINS.len()]> =
    LazyLock::new(|| bundle::join_modules(SCRIPT_MAINS, module));

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let others = OTHERS
        .iter()
        .map(|(name, kind, text)| File::new(name, kind, (*text).into()));
    let loaded = SCRIPT_MAINS.iter().zip(SCRIPTS.iter()).skip(1);
    let scripts = loaded.map(|(name, text)| File::new(name, SCRIPT, text.clone().into()));
    let parts = parts();
    let later = LATER.iter().zip(parts.into_iter().skip(1));
    let style = shortened_style(LATER_STYLE);
    let later = later.map(|((_, name), part)| {
        let part = part.replace(LATER_STYLE_PLACE, &style);
        let text = format!("<!doctype html>\n<body>\n{part}");
        File::new(name, HTML, text.into())
    });
    scripts.chain(later).chain(others).collect()
});

/// The text of a module.
fn module(name: &str) -> Option<&'static str> {
    let found = MODULES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// The page, and the parts that are loaded later.
fn parts() -> Vec<&'static str> {
    let mut parts = vec![PAGE_HTML];
    for (mark, _) in LATER {
        let last = parts.pop().unwrap_or_default();
        let (before, after) = last.split_once(mark).unwrap_or((last, ""));
        parts.extend([before, after]);
    }
    parts
}

/// The folder of the files of this version: the content of an address never changes.
static VERSIONED: LazyLock<String> = LazyLock::new(|| {
    let add = |hash, file: &File| fnv1a(hash, &file.text);
    let version = FILES.iter().fold(FNV_START, add);
    format!("{FOLDER}{version:016x}/")
});

/// The page without token and answer. The addresses of its files contain the version, so
/// that a browser need not ask whether one has changed.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let face = format!("\"use strict\";\n{}", SCRIPTS[0]);
    stripped(parts().first().copied().unwrap_or_default())
        .replace(STYLE_PLACE, &shortened_style(STYLE))
        .replace(FACE_PLACE, &face)
        .replace(FOLDER, &VERSIONED)
        .replace(PIECES_PLACE, PIECES)
});

fn stripped(text: &str) -> String {
    bundle::strip_comments(text).collect::<Vec<_>>().join("\n")
}

fn shortened_style(style: &str) -> String {
    // No text in the style has these characters before or after a blank or line end.
    let shortened = [
        ": ", "; ", ", ", "{ ", " {", " }", " > ", "}\n", ";\n", "{\n",
    ];
    let style = shortened.into_iter().fold(stripped(style), |style, text| {
        style.replace(text, text.trim())
    });
    // The last semicolon of a rule and a zero before a decimal point are not needed.
    let style = style.replace(";}", "}").replace(":0.", ":.");
    style.replace(" 0.", " .").replace("(0.", "(.")
}

/// The page with its token and its first answer in JSON, which saves a request. `nonce`
/// is unpredictable: only scripts with it run within the page.
pub(super) fn page(token: &str, nonce: &str, first: &str) -> Response<Bytes> {
    // No text in it can end the element that contains it.
    let first = first.replace('<', "\\u003c");
    let text = PAGE
        .replace(TOKEN_PLACE, token)
        .replace(NONCE_PLACE, nonce)
        .replace(FIRST_PLACE, &first);
    with_nonce(nonce, reply(StatusCode::OK, HTML, text.into()))
}

/// The compressed page, for another machine. On this machine sending is faster than
/// compressing.
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
    let versioned = path.strip_prefix(VERSIONED.as_str());
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
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn only_scripts_with_the_nonce_run_and_no_other_site_is_contacted() {
        let hostile = "{\"name\":\"</script><script>{{nonce}}\"}";
        let response = page("f00", "abc123", hostile);
        let policy = &response.headers()[header::CONTENT_SECURITY_POLICY];
        let policy = policy.to_str().unwrap();
        assert!(policy.contains("script-src 'self' 'nonce-abc123';"));
        assert!(policy.contains("style-src 'nonce-abc123';"));
        assert!(!policy.contains("unsafe"));
        let page = String::from_utf8(response.body().to_vec()).unwrap();
        assert!(page.contains("content=\"f00\""));
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(page.matches(" nonce=\"abc123\">").count(), 2);
        assert!(!page.contains("<dialog"), "dialogs come later");
        assert!(parts()[1].contains("<dialog"));
        let html = PAGE_HTML;
        assert_eq!(html.matches("<style").count(), 1);
        assert_eq!(html.matches("<script").count(), 3);
        for forbidden in ["style=", "onclick", "javascript:"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        for placed in [STYLE, LATER_STYLE, &SCRIPTS[0]] {
            assert!(!placed.contains("</"), "it ends within itself");
        }
        for file in FILES.iter() {
            let path = file.name;
            let text = text_of(file).replace("http://www.w3.org/", "");
            for forbidden in ["http://", "https://", "innerHTML", "eval("] {
                assert!(!text.contains(forbidden), "{path}: {forbidden}");
            }
        }
    }

    fn text_of(file: &File) -> Cow<'_, str> {
        String::from_utf8_lossy(&file.text)
    }

    #[test]
    fn every_module_is_in_a_script_without_import_and_export() {
        let script = SCRIPTS.concat();
        for (name, text) in MODULES {
            let known = format!("const {} = ", bundle::name_of(name));
            assert_eq!(script.matches(&known).count(), 1, "{name}");
            let last = text.lines().last().unwrap().trim_start_matches("export ");
            assert!(script.contains(last), "{name}: {last}");
            for line in bundle::strip_comments(text) {
                let is_whole = line.matches('`').count() % 2 == 0;
                assert!(is_whole, "{name}: a text over several lines: {line}");
            }
        }
        for line in script.lines() {
            let is_own = line.starts_with("import { $")
                || line.starts_with("export { $")
                || line.starts_with("export const { ");
            let rest = !is_own && (line.starts_with("import ") || line.starts_with("export "));
            assert!(!rest, "{line}");
        }
    }

    #[test]
    fn a_page_in_another_language_is_small() {
        for code in ["de", "es", "fr", "ru"] {
            let locale = format!("{code}.json");
            let is_first = |name| ["main.js", "later.html", &locale].contains(&name);
            let files = FILES.iter().filter(|file| is_first(file.name));
            let page = compress(PAGE.as_bytes(), Compression::fast()).len();
            let sent = page + files.map(|file| file.compressed().len()).sum::<usize>();
            assert!(sent < 100_000, "{code}: {sent} bytes");
        }
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
        let page = String::from_utf8(page("x", "1", "").body().to_vec()).unwrap();
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
