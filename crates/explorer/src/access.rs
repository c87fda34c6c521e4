//! Who may ask: the address by which a request comes, and the page it comes
//! from.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderName, ORIGIN};

/// The header that carries the page's token.
pub(super) const TOKEN_HEADER: &str = "x-tabia-token";

/// Who may ask the explorer, and what.
///
/// Any page of any site can make a browser send requests to this machine, and
/// a hostile name server can make its own name mean 127.0.0.1. Both are told
/// by headers that a page cannot forge: `Host` must be an address of this
/// server (no names but `localhost`, so no name server is ever believed), and
/// `Origin`, where there is one, must be the same.
#[derive(Clone, Debug)]
pub struct Access {
    address: SocketAddr,
    token: String,
    /// Pages of other sites that may read what the opening explorer answers.
    guests: Vec<Guest>,
}

/// Pages of another site that may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guest {
    /// Those of one origin, as `https://example.org`.
    Origin(String),
    /// All.
    Any,
}

impl FromStr for Guest {
    type Err = &'static str;

    /// Reads an origin (scheme, host, perhaps port), `null` for pages of files,
    /// or `any`.
    fn from_str(text: &str) -> Result<Guest, &'static str> {
        const WANTED: &str = "expected an origin as https://example.org, or any";
        let text = text.trim().trim_end_matches('/').to_ascii_lowercase();
        if ["any", "*"].contains(&text.as_str()) {
            return Ok(Guest::Any);
        }
        if text == "null" {
            return Ok(Guest::Origin(text));
        }
        let (scheme, host) = text.split_once("://").ok_or(WANTED)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        let is_scheme =
            !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        match is_scheme && !host.is_empty() && host.chars().all(is_plain) {
            true => Ok(Guest::Origin(text)),
            false => Err(WANTED),
        }
    }
}

/// How a request comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// From the page itself, or from a program.
    Own,
    /// From a page of another site that may read: its origin as the answer
    /// names it.
    Guest(String),
}

impl Access {
    /// For a server that listens at `address`; `token` is the secret of its
    /// page.
    #[must_use]
    pub fn new(address: SocketAddr, token: String) -> Access {
        Access {
            address,
            token,
            guests: Vec::new(),
        }
    }

    /// The same for pages of other sites too, as far as they read what the
    /// opening explorer answers.
    #[must_use]
    pub fn with_guests(self, guests: Vec<Guest>) -> Access {
        Access { guests, ..self }
    }

    /// Whether pages of any other site may read.
    #[must_use]
    pub fn is_open_to_any(&self) -> bool {
        self.guests.contains(&Guest::Any)
    }

    /// How a request of the opening explorer comes, which pages of other sites
    /// may make if they are guests: the reason if it is refused.
    pub(super) fn visit(&self, headers: &HeaderMap) -> Result<Visit, &'static str> {
        let Some(refusal) = self.refusal(headers, false) else {
            return Ok(Visit::Own);
        };
        let is_own_host = only(headers, &HOST).is_some_and(|host| self.is_own_host(host));
        let Some(origin) = only(headers, &ORIGIN).filter(|_| is_own_host) else {
            return Err(refusal);
        };
        let named = Guest::Origin(origin.to_ascii_lowercase());
        if self.guests.contains(&named) {
            Ok(Visit::Guest(origin.to_owned()))
        } else if self.is_open_to_any() {
            Ok(Visit::Guest("*".to_owned()))
        } else {
            Err(refusal)
        }
    }

    /// A token that nobody can guess: 128 random bits as hex digits.
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

    /// Whether the request comes the right way: the reason if not.
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
                return Some("the request comes from a page of another site");
            }
        }
        // A link on another site may open the page; nothing else may.
        let site = HeaderName::from_static("sec-fetch-site");
        if !opens_page && only(headers, &site).is_some_and(|site| site == "cross-site") {
            return Some("the request comes from a page of another site");
        }
        None
    }

    /// Whether the request carries the token of the page.
    pub(super) fn has_token(&self, headers: &HeaderMap) -> bool {
        let Some(given) = only(headers, &HeaderName::from_static(TOKEN_HEADER)) else {
            return false;
        };
        // Every byte is looked at, so that time tells nothing.
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

/// The name of this machine; empty where it cannot be told.
#[must_use]
pub fn machine() -> String {
    let of_kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let of_shell = || std::env::var("COMPUTERNAME").or_else(|_| std::env::var("HOSTNAME"));
    let name = of_kernel.or_else(|| of_shell().ok()).unwrap_or_default();
    name.trim().to_owned()
}

/// Whether a host is the machine of that name in its own network. Under the
/// endings of private networks nobody can register a name, so no hostile
/// name server stands behind one.
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

/// The value of a header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Cuts `name:port` and `[::1]:port`; the port of plain HTTP is 80.
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
    fn a_machine_s_own_name_is_no_other_s() {
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
        // Of a server for this machine alone no name is believed.
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
    fn guests_are_let_in_by_name() {
        let visit = |guests: &[&str], headers: &[(&'static str, &str)]| {
            let guests = guests.iter().map(|guest| guest.parse().unwrap()).collect();
            let address = "127.0.0.1:8000".parse().unwrap();
            let access = Access::new(address, "secret".into()).with_guests(guests);
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
        let guest = |name: &str| Ok(Visit::Guest(name.to_owned()));
        assert!(visit(&[], &page).is_err());
        assert_eq!(
            visit(&["https://good.example/"], &page),
            guest("https://good.example")
        );
        assert!(visit(&["https://good.example"], &other).is_err());
        assert_eq!(visit(&["any"], &other), guest("*"));
        assert_eq!(visit(&["any"], &[host]), Ok(Visit::Own));
        // A name of somebody else's is refused all the same.
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
            assert!(bad.parse::<Guest>().is_err(), "{bad}");
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
