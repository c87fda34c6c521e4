//! Access control: accepts requests by the host that they name and the page that they
//! come from.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderName, ORIGIN};

/// The header that carries the page's token.
pub(super) const TOKEN_HEADER: &str = "x-tabia-token";

/// The reason to refuse the request of a page.
pub(super) const OTHER_SITE: &str = "the request comes from a page of another site";

/// The origins of programs that show their own pages with Tauri. A web site has none of them:
/// browsers load no page of the scheme `tauri`, and take `tauri.localhost` for this machine.
const LOCAL_PROGRAMS: [&str; 3] = [
    "tauri://localhost",
    "http://tauri.localhost",
    "https://tauri.localhost",
];

/// Which requests the explorer answers.
///
/// Any page of any site can make a browser send requests to this machine, and a hostile
/// name server can resolve its name to 127.0.0.1. Both are detected by headers that a
/// page cannot forge: `Host` must be an address of this server (the only accepted name is
/// `localhost`, so no name server matters), and `Origin`, if present, must be the same.
/// Changes also need the token, which only the page has:
///
/// ```
/// use tabia_explorer::hyper::{Request, body::Bytes};
/// use tabia_explorer::{Access, ExploredBook, Explorer, Options};
///
/// let folder = tempfile::tempdir()?;
/// let copy = folder.path().join("copy.ctg");
/// for kind in ["ctg", "cto", "ctb"] {
///     let book = format!("{}/../../books/tabia.{kind}", env!("CARGO_MANIFEST_DIR"));
///     std::fs::copy(book, copy.with_extension(kind))?;
/// }
/// let host = "127.0.0.1:9002";
/// let token = Access::random_token();
/// let access = Access::new(host.parse()?, token.clone());
/// let books = vec![ExploredBook::from_file(&copy)?];
/// let explorer = Explorer::new(books, access, Options::default(), false);
/// let post = |path: &str, token: &str, body: &'static str| {
///     let request = Request::post(path).header("host", host);
///     let request = request.header("content-type", "application/json");
///     let request = request.header("x-tabia-token", token).body(Bytes::from(body));
///     request.map(|request| explorer.answer(&request).status().as_u16())
/// };
/// let mark = r#"{"book": 0, "client": "a", "uci": "d2d4", "change": "mark", "value": "main"}"#;
/// assert_eq!(post("/api/edit", "guessed", mark)?, 403);
/// assert_eq!(post("/api/edit", &token, mark)?, 200);
/// assert_eq!(post("/api/undo", &token, r#"{"book": 0, "client": "a"}"#)?, 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Access {
    address: SocketAddr,
    token: String,
    /// Other sites whose pages may read the answers of the opening explorer.
    allowed_origins: Vec<AllowedOrigin>,
}

/// Another site whose pages may read the answers of the opening explorer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedOrigin {
    /// One origin, as `https://example.org`.
    Origin(String),
    /// Every origin.
    Any,
}

/// A text that is not an [`AllowedOrigin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an origin as https://example.org, or any")]
pub struct ParseOriginError;

impl FromStr for AllowedOrigin {
    type Err = ParseOriginError;

    /// Parses an origin (scheme, host, optional port), `null` for pages from files, or
    /// `any`.
    fn from_str(text: &str) -> Result<AllowedOrigin, ParseOriginError> {
        let text = text.trim().trim_end_matches('/').to_ascii_lowercase();
        if ["any", "*"].contains(&text.as_str()) {
            return Ok(AllowedOrigin::Any);
        }
        if text == "null" {
            return Ok(AllowedOrigin::Origin(text));
        }
        let (scheme, host) = text.split_once("://").ok_or(ParseOriginError)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        let is_scheme =
            !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        match is_scheme && !host.is_empty() && host.chars().all(is_plain) {
            true => Ok(AllowedOrigin::Origin(text)),
            false => Err(ParseOriginError),
        }
    }
}

/// The source of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// The page itself, or a program.
    Own,
    /// A page of another site that may read the answer: its origin, for the header of the
    /// answer.
    CrossOrigin(String),
}

impl Access {
    /// Access to a server at `address`; `token` is the secret of its page.
    #[must_use]
    pub fn new(address: SocketAddr, token: String) -> Access {
        Access {
            address,
            token,
            allowed_origins: Vec::new(),
        }
    }

    /// Lets pages of these other sites read the answers of the opening explorer.
    #[must_use]
    pub fn with_allowed_origins(self, allowed_origins: Vec<AllowedOrigin>) -> Access {
        Access {
            allowed_origins,
            ..self
        }
    }

    /// Whether pages of all other sites may read the answers.
    #[must_use]
    pub fn is_open_to_any(&self) -> bool {
        self.allowed_origins.contains(&AllowedOrigin::Any)
    }

    /// Finds out where a request to the opening explorer comes from. Pages of allowed
    /// origins may send such requests.
    ///
    /// # Errors
    ///
    /// The reason why the request is refused.
    pub(super) fn visit(&self, headers: &HeaderMap) -> Result<Visit, &'static str> {
        let Some(refusal) = self.refusal(headers, false) else {
            return Ok(Visit::Own);
        };
        let is_own_host = only(headers, &HOST).is_some_and(|host| self.is_own_host(host));
        let Some(origin) = only(headers, &ORIGIN).filter(|_| is_own_host) else {
            return Err(refusal);
        };
        let name = origin.to_ascii_lowercase();
        let is_program = self.is_local() && LOCAL_PROGRAMS.contains(&name.as_str());
        let named = AllowedOrigin::Origin(name);
        if is_program || self.allowed_origins.contains(&named) {
            Ok(Visit::CrossOrigin(origin.to_owned()))
        } else if self.is_open_to_any() {
            Ok(Visit::CrossOrigin("*".to_owned()))
        } else {
            Err(refusal)
        }
    }

    /// An unpredictable token: 128 random bits as hex digits.
    #[must_use]
    pub fn random_token() -> String {
        format!("{:032x}", rand::random::<u128>())
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Whether only programs of this machine can reach the server.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// The reason to refuse a request because of its source, if there is one.
    pub(super) fn refusal(&self, headers: &HeaderMap, opens_page: bool) -> Option<&'static str> {
        let Some(host) = only(headers, &HOST) else {
            return Some("the request names no host");
        };
        if !self.is_own_host(host) {
            return Some("the Host header names another machine");
        }
        if headers.contains_key(ORIGIN) {
            let own = only(headers, &ORIGIN)
                .and_then(|origin| origin.strip_prefix("http://"))
                .is_some_and(|origin| origin.eq_ignore_ascii_case(host));
            if !own {
                return Some(OTHER_SITE);
            }
        }
        // A link on another site may open the page; nothing else may.
        let site = HeaderName::from_static("sec-fetch-site");
        if !opens_page && only(headers, &site).is_some_and(|site| site == "cross-site") {
            return Some(OTHER_SITE);
        }
        None
    }

    /// Whether the request carries the token of the page.
    pub(super) fn has_token(&self, headers: &HeaderMap) -> bool {
        let Some(given) = only(headers, &HeaderName::from_static(TOKEN_HEADER)) else {
            return false;
        };
        // Every byte is compared, so that the time taken reveals nothing.
        given.len() == self.token.len()
            && given
                .bytes()
                .zip(self.token.bytes())
                .fold(0, |seen, (a, b)| seen | (a ^ b))
                == 0
    }

    fn is_own_host(&self, host: &str) -> bool {
        let Some((name, port)) = split_port(host) else {
            return false;
        };
        if port != self.address.port() {
            return false;
        }
        match name.parse::<IpAddr>() {
            Ok(ip) => !self.is_local() || ip.is_loopback(),
            Err(_) => {
                name.eq_ignore_ascii_case("localhost")
                    || (!self.is_local() && is_name_of(name, &machine()))
            }
        }
    }
}

/// The name of this machine; empty if it is unknown.
#[must_use]
pub fn machine() -> String {
    let of_kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let of_shell = || std::env::var("COMPUTERNAME").or_else(|_| std::env::var("HOSTNAME"));
    let name = of_kernel.or_else(|| of_shell().ok()).unwrap_or_default();
    name.trim().to_owned()
}

/// Whether a host is this machine's name in its private network. Names with the endings
/// of private networks cannot be registered, so no hostile name server can answer for
/// them.
fn is_name_of(host: &str, machine: &str) -> bool {
    const PRIVATE: &str = "local lan home home.arpa internal fritz.box localdomain";
    let (label, ending) = host.split_once('.').unwrap_or((host, ""));
    let own = machine.split('.').next().unwrap_or_default();
    !own.is_empty()
        && label.eq_ignore_ascii_case(own)
        && (ending.is_empty()
            || PRIVATE
                .split(' ')
                .any(|known| ending.eq_ignore_ascii_case(known)))
}

/// The value of a header that occurs exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Splits `name:port` and `[::1]:port`; the port of plain HTTP is 80.
fn split_port(host: &str) -> Option<(&str, u16)> {
    if let Some(rest) = host.strip_prefix('[') {
        let (name, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((name, port.parse().ok()?)),
            None => rest.is_empty().then_some((name, 80)),
        };
    }
    match host.split_once(':') {
        Some((name, port)) => Some((name, port.parse().ok()?)),
        None => Some((host, 80)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(listens: &str, headers: &[(&'static str, &str)]) -> Option<&'static str> {
        let access = Access::new(listens.parse().unwrap(), "secret".into());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        access.refusal(&map, false)
    }

    #[test]
    fn only_our_own_addresses_are_hosts() {
        for host in [
            "127.0.0.1:8000",
            "localhost:8000",
            "LOCALHOST:8000",
            "[::1]:8000",
        ] {
            assert_eq!(refusal("127.0.0.1:8000", &[("host", host)]), None, "{host}");
        }
        for host in [
            "evil.example:8000",
            "127.0.0.1.evil.example:8000",
            "localhost.evil.example:8000",
            "127.0.0.1",
            "127.0.0.1:8001",
            "127.0.0.1:8000:8000",
            "192.168.1.5:8000",
            "user@127.0.0.1:8000",
            "[::1",
            "",
        ] {
            assert!(
                refusal("127.0.0.1:8000", &[("host", host)]).is_some(),
                "{host}"
            );
        }
        assert!(refusal("127.0.0.1:8000", &[]).is_some());
        let twice = [("host", "127.0.0.1:8000"), ("host", "evil.example")];
        assert!(refusal("127.0.0.1:8000", &twice).is_some());
    }

    #[test]
    fn a_server_for_others_takes_addresses_but_no_names() {
        assert_eq!(refusal("0.0.0.0:80", &[("host", "192.168.1.5")]), None);
        assert!(refusal("0.0.0.0:80", &[("host", "chess.example")]).is_some());
    }

    #[test]
    fn only_the_name_of_this_machine_is_accepted() {
        for host in [
            "desk",
            "DESK",
            "desk.local",
            "desk.fritz.box",
            "desk.home.arpa",
        ] {
            assert!(is_name_of(host, "desk"), "{host}");
            assert!(is_name_of(host, "desk.example.org"), "{host}");
        }
        for host in [
            "desk.example",
            "evil.local",
            "desk.local.evil.example",
            "",
            ".local",
        ] {
            assert!(!is_name_of(host, "desk"), "{host}");
        }
        assert!(!is_name_of("", "") && !is_name_of("localhost.evil", ""));
        // A server for this machine only accepts no such name.
        let own = format!("{}:8000", machine());
        assert!(machine() == "localhost" || refusal("127.0.0.1:8000", &[("host", &own)]).is_some());
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let host = ("host", "127.0.0.1:8000");
        let from = |origin| refusal("127.0.0.1:8000", &[host, ("origin", origin)]);
        assert_eq!(from("http://127.0.0.1:8000"), None);
        for origin in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:8000",
            "http://localhost:8000",
            "http://127.0.0.1:3000",
        ] {
            assert!(from(origin).is_some(), "{origin}");
        }
        let cross = [host, ("sec-fetch-site", "cross-site")];
        assert!(refusal("127.0.0.1:8000", &cross).is_some());
        let own = [host, ("sec-fetch-site", "same-origin")];
        assert_eq!(refusal("127.0.0.1:8000", &own), None);
    }

    #[test]
    fn allowed_origins_are_admitted_by_name() {
        let visit = |allowed: &[&str], headers: &[(&'static str, &str)]| {
            let allowed = allowed.iter().map(|name| name.parse().unwrap()).collect();
            let address = "127.0.0.1:8000".parse().unwrap();
            let access = Access::new(address, "secret".into()).with_allowed_origins(allowed);
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            access.visit(&map)
        };
        let host = ("host", "127.0.0.1:8000");
        let page = [
            host,
            ("origin", "https://good.example"),
            ("sec-fetch-site", "cross-site"),
        ];
        let other = [host, ("origin", "https://evil.example")];
        let cross_origin = |name: &str| Ok(Visit::CrossOrigin(name.to_owned()));
        assert!(visit(&[], &page).is_err());
        assert_eq!(
            visit(&["https://good.example/"], &page),
            cross_origin("https://good.example")
        );
        assert!(visit(&["https://good.example"], &other).is_err());
        assert_eq!(visit(&["any"], &other), cross_origin("*"));
        assert_eq!(visit(&["any"], &[host]), Ok(Visit::Own));
        // A program of this machine needs no permission, and gives a site none.
        for (origin, is_admitted) in [
            ("tauri://localhost", true),
            ("http://tauri.localhost", true),
            ("https://tauri.localhost", true),
            ("http://tauri.localhost:8080", false),
            ("http://tauri.localhost.evil.example", false),
            ("tauri://evil", false),
            ("null", false),
        ] {
            let from = [host, ("origin", origin), ("sec-fetch-site", "cross-site")];
            assert_eq!(visit(&[], &from).is_ok(), is_admitted, "{origin}");
        }
        // The name of another machine is refused even so.
        let rebound = [
            ("host", "evil.example:8000"),
            ("origin", "https://good.example"),
        ];
        assert!(visit(&["any", "https://good.example"], &rebound).is_err());
        for bad in [
            "",
            "example.org",
            "https://",
            "https://a b",
            "https://x/y",
            "://x",
        ] {
            assert!(bad.parse::<AllowedOrigin>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_token_must_be_exact() {
        let access = Access::new("127.0.0.1:1".parse().unwrap(), "secret".into());
        for (given, right) in [
            ("secret", true),
            ("Secret", false),
            ("secre", false),
            ("", false),
        ] {
            let mut map = HeaderMap::new();
            map.insert(TOKEN_HEADER, given.parse().unwrap());
            assert_eq!(access.has_token(&map), right, "{given}");
        }
        assert!(!access.has_token(&HeaderMap::new()));
        assert_eq!(Access::random_token().len(), 32);
    }
}
