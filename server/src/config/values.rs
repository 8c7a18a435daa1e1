//! Parsers of values, and their conversion back to text. Errors are the rules that a value breaks.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use axum::http::Uri;
use axum::http::uri::Authority;
use phaselock::limits::{GAMES_MAX, REGION_BYTES_MAX, TEXT_BYTES_MAX};
use phaselock::motion::SendRule;
use phaselock::wire::text::one_line;
use phaselock_quic::address::{Address, AddressError, DIRECTORY_PORT};
use phaselock_quic::files;
use semver::Version;

use super::error::Mistake;

/// Maximum number of addresses to serve on. Arbitrary.
pub const LISTEN_MAX: usize = 8;
/// Maximum number of directories that list a server. Arbitrary.
pub const DIRECTORIES_MAX: usize = 8;
/// Maximum number of pages on other hosts whose players may join. Arbitrary.
pub const ORIGINS_MAX: usize = 16;
/// Maximum bytes of the oldest version of clients, and of the page with downloads: a goodbye names
/// both, in [`TEXT_BYTES_MAX`] bytes.
const VERSION_BYTES_MAX: usize = 48;
const DOWNLOAD_BYTES_MAX: usize = 96;
/// Maximum number of kinds of entities with a send rule. Arbitrary.
const SEND_MAX: usize = 256;
pub(super) const LISTEN_RULE: &str =
    "a port such as 4433, or an IP address and port such as 0.0.0.0:4433 or [::]:4433";

/// The rules that a value breaks; at least one.
#[derive(Debug)]
pub(super) struct Faults(pub(super) Vec<String>);

impl From<String> for Faults {
    fn from(rule: String) -> Self {
        Self(vec![rule])
    }
}

impl From<&str> for Faults {
    fn from(rule: &str) -> Self {
        Self(vec![rule.to_owned()])
    }
}

impl Faults {
    /// Returns a mistake for each fault of the value `text`.
    pub(super) fn mistakes(self, origin: &str, text: &OsStr) -> Vec<Mistake> {
        self.0.into_iter().map(|rule| Mistake::invalid(origin, text, rule)).collect()
    }
}

/// The rule of a list: values separated by commas, optionally with blanks around them.
pub(super) struct ListRule<'a> {
    /// The rule in words.
    pub(super) text: &'a str,
    /// The maximum number of values.
    pub(super) max: usize,
    /// Whether each value may occur only once.
    pub(super) is_distinct: bool,
}

impl ListRule<'_> {
    /// Parses a list, or returns the faults of all its values. `parse` says what is wrong with a
    /// value, as a predicate such as "is empty"; with `None`, the value itself is shown.
    pub(super) fn parse<T: PartialEq>(
        &self,
        text: &OsStr,
        parse: impl Fn(&str) -> Result<T, Option<String>>,
    ) -> Result<Vec<T>, Faults> {
        self.parse_all(text, |word| parse(word).map_err(|problem| problem.map(|it| vec![it])))
    }

    /// Like [`parse`](Self::parse), for values with which several things may be wrong.
    pub(super) fn parse_all<T: PartialEq>(
        &self,
        text: &OsStr,
        parse: impl Fn(&str) -> Result<T, Option<Vec<String>>>,
    ) -> Result<Vec<T>, Faults> {
        let Some(text) = text.to_str() else {
            return Err(format!("{}; this is not UTF-8", self.text).into());
        };
        let words: Vec<_> = text.split(',').map(str::trim).collect();
        let mut faults = Vec::new();
        if words.len() > self.max {
            faults.push(format!("{}; there are {}", self.text, words.len()));
        }
        let mut values: Vec<(usize, T)> = Vec::new();
        for (number, word) in (1..=self.max).zip(&words) {
            match (parse(word), words.len()) {
                (Ok(value), _) => match values.iter().find(|(_, it)| *it == value) {
                    Some((first, _)) if self.is_distinct => {
                        faults.push(format!("{}; number {number} repeats {first}", self.text));
                    }
                    _ => values.push((number, value)),
                },
                (Err(None), 1) => faults.push(self.text.to_owned()),
                (Err(Some(problems)), 1) => {
                    faults.extend(problems.iter().map(|it| format!("{}; it {it}", self.text)));
                }
                (Err(problems), _) => {
                    let problems = problems.unwrap_or_else(|| vec![format!("is {word:?}")]);
                    let fault = |it: &String| format!("{}; number {number} {it}", self.text);
                    faults.extend(problems.iter().map(fault));
                }
            }
        }
        let values = values.into_iter().map(|(_, value)| value).collect();
        if faults.is_empty() { Ok(values) } else { Err(Faults(faults)) }
    }
}

pub(super) fn put<T>(field: &mut T, value: Option<T>, rule: &str) -> Result<(), Faults> {
    *field = value.ok_or(rule)?;
    Ok(())
}

pub(super) fn number<T>(field: &mut T, text: &OsStr, range: RangeInclusive<T>) -> Result<(), Faults>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.to_str().and_then(|text| text.parse().ok());
    let rule = format!("a whole number from {} to {}", range.start(), range.end());
    put(field, number.filter(|number| range.contains(number)), &rule)
}

pub(super) fn switch(field: &mut bool, text: &OsStr) -> Result<(), Faults> {
    put(field, text.to_str().and_then(|text| text.parse().ok()), "true or false")
}

/// Parses a path, which need not exist.
pub(super) fn path(field: &mut Option<PathBuf>, text: &OsStr, noun: &str) -> Result<(), Faults> {
    let path = Some(text).filter(|path| !path.is_empty());
    put(field, path.map(|path| Some(PathBuf::from(path))), noun)
}

/// Parses an address. A bare port means every address of the machine, IPv4 and IPv6. The error is
/// the problem, unless it is only that the text is not an address.
fn parse_address(text: &OsStr) -> Result<SocketAddr, Option<String>> {
    let text = text.to_str().ok_or(None)?;
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)));
    }
    let is_local = |address: &SocketAddr| match address {
        SocketAddr::V6(v6) => v6.ip().is_unicast_link_local() && v6.scope_id() == 0,
        SocketAddr::V4(_) => false,
    };
    if let Ok(address) = text.parse()
        && !is_local(&address)
    {
        return Ok(address);
    }
    // A zone may be the name of an interface. A link-local address needs a zone.
    let (host, port) = text.rsplit_once(':').ok_or(None)?;
    let port = port.parse::<u16>().ok().filter(|_| host.starts_with('[')).ok_or(None)?;
    let address: Address = match host.parse() {
        Err(AddressError::Unreadable(..)) => return Err(None),
        address => address.map_err(|error| Some(format!("is wrong: {error}")))?,
    };
    let Some((_, zone)) = address.host().split_once('%') else { return Err(None) };
    let found = (address.host(), port).to_socket_addrs().ok();
    let missing =
        || Some(format!("names {zone}, which is not a network interface of this machine"));
    found.and_then(|mut found| found.next()).ok_or_else(missing)
}

/// Parses an address to serve on or to query. The error is the rule that it breaks.
pub(crate) fn parse_one_address(text: &OsStr) -> Result<SocketAddr, String> {
    parse_address(text).map_err(|problem| match problem {
        Some(problem) => format!("{LISTEN_RULE}; it {problem}"),
        None => LISTEN_RULE.to_owned(),
    })
}

/// Parses an address, or off.
pub(super) fn parse_optional_address(text: &OsStr) -> Result<Option<SocketAddr>, Faults> {
    if text == "off" {
        return Ok(None);
    }
    Ok(Some(parse_one_address(text).map_err(|rule| format!("off, or {rule}"))?))
}

/// Parses addresses to serve on. [`settle`](super::settings::settle) checks for conflicts.
pub(super) fn parse_listen(text: &OsStr) -> Result<Vec<SocketAddr>, Faults> {
    let rule = format!("{LISTEN_RULE}; or up to {LISTEN_MAX} of them, separated by commas");
    let rule = ListRule { text: &rule, max: LISTEN_MAX, is_distinct: false };
    rule.parse(text, |word| parse_address(word.as_ref()))
}

/// Parses a line for players.
pub(crate) fn parse_line(text: &str) -> Result<String, String> {
    let line = one_line(text).trim().to_owned();
    let fits = (1..=TEXT_BYTES_MAX).contains(&line.len());
    let rule = || format!("a line of 1 to {TEXT_BYTES_MAX} bytes, of visible characters");
    fits.then_some(line).ok_or_else(rule)
}

/// Parses the oldest version of clients; `none` for none.
pub(super) fn parse_version(text: &OsStr) -> Result<Option<Version>, Faults> {
    let text = text.to_str().unwrap_or_default().trim();
    if text.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    let version = text.strip_prefix('v').unwrap_or(text).parse().ok();
    let version = version.filter(|_| text.len() <= VERSION_BYTES_MAX);
    version.map(Some).ok_or_else(|| "a version of three numbers, such as 0.1.2, or none".into())
}

/// Parses the page with downloads for players.
pub(super) fn parse_download(text: &OsStr) -> Result<String, Faults> {
    let url = text.to_str().unwrap_or_default().trim();
    let is_good = parse_url(url, DOWNLOAD_BYTES_MAX).is_some();
    let rule = || {
        format!(
            "a URL of at most {DOWNLOAD_BYTES_MAX} bytes, such as https://play.example.org/download"
        )
    };
    is_good.then(|| url.to_owned()).ok_or_else(|| rule().into())
}

/// Parses the name of a region.
pub(super) fn parse_region(text: &str) -> Result<String, String> {
    let name = one_line(text).trim().to_owned();
    let fits = (1..=REGION_BYTES_MAX).contains(&name.len());
    let rule = || format!("a name of 1 to {REGION_BYTES_MAX} bytes, of visible characters");
    fits.then_some(name).ok_or_else(rule)
}

/// Parses an HTTP URL without a user name and password, of at most this many bytes.
pub(super) fn parse_url(url: &str, bytes_max: usize) -> Option<Uri> {
    let uri = url.parse::<Uri>().ok()?;
    let has_scheme = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority()?;
    let has_host = !authority.host().is_empty() && !authority.as_str().contains('@');
    let is_good = has_scheme && has_host && has_good_port(authority) && url.len() <= bytes_max;
    is_good.then_some(uri)
}

/// Whether something can listen on the port of a URL, if it has one.
fn has_good_port(authority: &Authority) -> bool {
    let (_, place) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
    place == authority.host() || authority.port_u16().is_some_and(|port| port != 0)
}

/// Parses origins of pages.
pub(super) fn parse_origins(text: &OsStr) -> Result<Vec<String>, Faults> {
    let rule = format!(
        "up to {ORIGINS_MAX} schemes and hosts, separated by commas, such as \
         https://play.example.org or http://localhost:8000"
    );
    let rule = ListRule { text: &rule, max: ORIGINS_MAX, is_distinct: true };
    rule.parse(text, |word| origin(&word.to_ascii_lowercase()).ok_or(None))
}

/// Parses the address at which browsers ask a directory; `none` for none.
pub(super) fn parse_web_directory(text: &OsStr) -> Result<Option<String>, Faults> {
    let given = text.to_str().unwrap_or_default().to_ascii_lowercase();
    if given == "none" {
        return Ok(None);
    }
    let given = given.strip_suffix('/').unwrap_or(&given);
    // The page's policy forbids plain HTTP.
    let found = origin(given).filter(|origin| origin.starts_with("https://"));
    let rule = "the HTTPS address of a directory, such as https://directory.example.org:8443, \
                or none";
    found.map(Some).ok_or_else(|| rule.into())
}

fn origin(text: &str) -> Option<String> {
    // Browsers omit a scheme's default port.
    let schemes = [("https://", ":443"), ("http://", ":80")];
    let (scheme, host) = schemes.iter().find_map(|(scheme, port)| {
        let host = text.strip_prefix(scheme)?;
        Some((scheme, host.strip_suffix(port).unwrap_or(host)))
    })?;
    let authority = host.parse::<Authority>().ok()?;
    let has_user = authority.as_str().contains('@');
    let is_good = !authority.host().is_empty() && !has_user && has_good_port(&authority);
    is_good.then(|| format!("{scheme}{host}"))
}

/// Parses addresses of directories.
pub(super) fn parse_directories(text: &OsStr) -> Result<Vec<Address>, Faults> {
    let rule = format!(
        "up to {DIRECTORIES_MAX} names or IP addresses, separated by commas, each with a port if \
         it is not {DIRECTORY_PORT}"
    );
    let rule = ListRule { text: &rule, max: DIRECTORIES_MAX, is_distinct: true };
    rule.parse(text, |word| Address::parse_directory(word).map_err(|_| None))
}

/// Parses names of games.
pub(super) fn parse_games(text: &OsStr) -> Result<Vec<String>, Faults> {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let valid = |name: &str| (1..=32).contains(&name.len()) && name.bytes().all(plain);
    let rule = format!(
        "1 to {GAMES_MAX} names of 1 to 32 lowercase letters, digits, - or _, separated by commas"
    );
    let rule = ListRule { text: &rule, max: GAMES_MAX, is_distinct: false };
    rule.parse(text, |word| valid(word).then(|| word.to_owned()).ok_or(None))
}

/// Parses kinds of entities with their rules.
pub(super) fn parse_send(text: &OsStr) -> Result<Vec<(String, SendRule)>, Faults> {
    let rule = "a kind of entity and its rule, such as Rock=predictable or Car=threshold:0.05, \
                several separated by commas";
    let rule = ListRule { text: rule, max: SEND_MAX, is_distinct: false };
    rule.parse(text, |word| {
        let (kind, rule) = word.split_once('=').ok_or(None)?;
        let kind = kind.trim();
        let valid = !kind.is_empty() && kind.chars().all(|it| it.is_alphanumeric() || it == '_');
        let rule = rule.trim().parse::<SendRule>();
        let rule = rule.map_err(|error| Some(format!("is {word:?}: {error}")))?;
        valid.then(|| (kind.to_owned(), rule)).ok_or(None)
    })
}

/// Reads a small file.
pub(super) fn file(path: &Path, bytes_max: usize, noun: &str) -> Result<Vec<u8>, String> {
    let bytes = files::read(path, bytes_max)
        .and_then(|bytes| bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)));
    bytes.map_err(|error| format!("a file with {noun}; {error}"))
}

/// Joins values with commas.
pub(super) fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// Returns the value, or the word for its default.
pub(super) fn or<T: ToString>(value: Option<&T>, default: &str) -> String {
    value.map_or_else(|| default.to_owned(), T::to_string)
}

/// Returns the path, or the word for its default.
pub(super) fn path_or(path: Option<&PathBuf>, default: &str) -> String {
    path.map_or_else(|| default.to_owned(), |path| path.display().to_string())
}

/// The text in place of a secret.
const HIDDEN: &str = "(hidden)";

/// Returns the text for a secret that is set or not.
pub(super) fn hidden(is_set: bool) -> String {
    if is_set { HIDDEN } else { "none" }.to_owned()
}
