//! Parsers of values, and their way back to text. An error is the rule that a value breaks.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use axum::http::uri::Authority;
use phaselock::limits::{GAMES_MAX, TEXT_BYTES_MAX};
use phaselock::motion::SendRule;
use phaselock::textfile::Text;
use phaselock::wire::text::{one_line, printable};
use phaselock_quic::address::{Address, DIRECTORY_PORT};
use phaselock_quic::files;

use super::types::Password;

/// Most addresses to serve on. Arbitrary.
pub const LISTEN_MAX: usize = 8;
/// Most directories to announce a server to. Arbitrary.
pub const DIRECTORIES_MAX: usize = 8;
/// Most pages elsewhere by which browsers may play. Arbitrary.
pub const ORIGINS_MAX: usize = 16;
/// Most bytes of a password. Arbitrary.
pub(super) const PASSWORD_BYTES_MAX: usize = 64;
/// The maximum bytes of a password file, including blanks around the password. Arbitrary.
const PASSWORD_FILE_BYTES_MAX: usize = 4096;
pub(super) const LISTEN_RULE: &str =
    "a port such as 4433, or an IP address and port such as 0.0.0.0:4433 or [::]:4433";

pub(super) fn put<T>(field: &mut T, value: Option<T>, rule: &str) -> Result<(), String> {
    *field = value.ok_or(rule)?;
    Ok(())
}

pub(super) fn number<T>(field: &mut T, text: &OsStr, range: RangeInclusive<T>) -> Result<(), String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.to_str().and_then(|text| text.parse().ok());
    let rule = format!("a whole number from {} to {}", range.start(), range.end());
    put(field, number.filter(|number| range.contains(number)), &rule)
}

pub(super) fn switch(field: &mut bool, text: &OsStr) -> Result<(), String> {
    put(field, text.to_str().and_then(|text| text.parse().ok()), "true or false")
}

/// A path that may not be there yet.
pub(super) fn path(field: &mut Option<PathBuf>, text: &OsStr, noun: &str) -> Result<(), String> {
    let path = Some(text).filter(|path| !path.is_empty());
    put(field, path.map(|path| Some(PathBuf::from(path))), noun)
}

/// A port alone means every address of the machine, of IPv4 and IPv6 alike.
pub(super) fn parse_address(text: &OsStr) -> Option<SocketAddr> {
    let text = text.to_str()?;
    match text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        Ok(port) => Some(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))),
        Err(_) => text.parse().ok(),
    }
}

/// Addresses with commas between, and blanks around the commas if need be; each once.
pub(super) fn parse_listen(text: &OsStr) -> Result<Vec<SocketAddr>, String> {
    let rule = || format!("{LISTEN_RULE}; or up to {LISTEN_MAX} of them with commas between");
    let text = text.to_str().ok_or_else(rule)?;
    let words: Vec<_> = text.split(',').collect();
    let word = |word: &&str| if words.len() > 1 { word.trim() } else { word }.to_owned();
    let addresses = words.iter().map(|it| parse_address(OsStr::new(&word(it))));
    let addresses: Vec<_> = addresses.collect::<Option<_>>().ok_or_else(rule)?;
    let repeated = |(at, address): (usize, &SocketAddr)| {
        address.port() != 0 && addresses[..at].contains(address)
    };
    let is_repeated = addresses.iter().enumerate().any(repeated);
    if addresses.len() > LISTEN_MAX || is_repeated { Err(rule()) } else { Ok(addresses) }
}

/// Another server for players, as sent to clients.
pub(crate) fn parse_redirect(text: &str) -> Result<String, String> {
    let rule = "a name or an IP address, and a port if it is not 4433";
    let address: Address = text.parse().map_err(|_| rule)?;
    if address.host().contains('%') {
        let local = "an address that leads there from players' machines; a link-local one with a \
                     network interface of this machine does not";
        return Err(local.to_owned());
    }
    let address = address.to_string();
    (address.len() <= TEXT_BYTES_MAX).then_some(address).ok_or_else(|| rule.to_owned())
}

/// A line that players are shown.
pub(crate) fn parse_line(text: &str) -> Result<String, String> {
    let line = one_line(text).trim().to_owned();
    let fits = (1..=TEXT_BYTES_MAX).contains(&line.len());
    let rule = || format!("a line of 1 to {TEXT_BYTES_MAX} bytes, of visible characters");
    fits.then_some(line).ok_or_else(rule)
}

/// Whether something can listen on the port of a URL, if it has one.
pub(super) fn has_good_port(authority: &Authority) -> bool {
    let (_, place) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
    place == authority.host() || authority.port_u16().is_some_and(|port| port != 0)
}

/// Origins of pages with commas between, and blanks around them if need be; each once.
pub(super) fn parse_origins(text: &OsStr) -> Result<Vec<String>, String> {
    let rule = || {
        format!(
            "up to {ORIGINS_MAX} schemes and hosts with commas between, such as \
             https://play.example.org or http://localhost:8000"
        )
    };
    let words = text.to_str().ok_or_else(rule)?.split(',');
    let mut origins: Vec<String> = Vec::new();
    for word in words {
        let origin = word.trim().to_ascii_lowercase();
        // Browsers leave out the port that a scheme has by itself.
        let schemes = [("https://", ":443"), ("http://", ":80")];
        let parts = schemes.iter().find_map(|(scheme, port)| {
            let host = origin.strip_prefix(scheme)?;
            Some((scheme, host.strip_suffix(port).unwrap_or(host)))
        });
        let Some((scheme, host)) = parts else { return Err(rule()) };
        let origin = format!("{scheme}{host}");
        let host = host.parse::<Authority>().ok();
        let is_good = host.is_some_and(|host| {
            !host.host().is_empty() && !host.as_str().contains('@') && has_good_port(&host)
        });
        if !is_good || origins.contains(&origin) || origins.len() >= ORIGINS_MAX {
            return Err(rule());
        }
        origins.push(origin);
    }
    Ok(origins)
}

/// Addresses of directories with commas between, and blanks around them if need be; each once.
pub(super) fn parse_directories(text: &OsStr) -> Result<Vec<Address>, String> {
    let rule = || {
        format!(
            "up to {DIRECTORIES_MAX} names or IP addresses with commas between, each with a port \
             if it is not {DIRECTORY_PORT}"
        )
    };
    let words = text.to_str().ok_or_else(rule)?.split(',');
    let mut directories: Vec<Address> = Vec::new();
    for word in words {
        let directory = Address::parse_directory(word).map_err(|_| rule())?;
        if directories.contains(&directory) || directories.len() >= DIRECTORIES_MAX {
            return Err(rule());
        }
        directories.push(directory);
    }
    Ok(directories)
}

/// Names of games with commas between, and blanks around them if need be.
pub(super) fn parse_games(text: &OsStr) -> Option<Vec<String>> {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let names: Vec<_> = text.to_str()?.split(',').map(|name| name.trim().to_owned()).collect();
    let valid = |name: &String| (1..=32).contains(&name.len()) && name.bytes().all(plain);
    (names.len() <= GAMES_MAX && names.iter().all(valid)).then_some(names)
}

/// Kinds of entities with their rules, with commas between, and blanks around them if need be.
pub(super) fn parse_send(text: &OsStr) -> Result<Vec<(String, SendRule)>, String> {
    let shape = "a kind of entity and its rule, such as Rock=predictable or Car=threshold:0.05, \
                 several with commas between";
    let texts = text.to_str().ok_or(shape)?.split(',');
    let rules = texts.map(|text| {
        let (kind, rule) = text.split_once('=').ok_or(shape)?;
        let kind = kind.trim();
        let valid = !kind.is_empty() && kind.chars().all(|it| it.is_alphanumeric() || it == '_');
        let rule: SendRule = rule.trim().parse().map_err(|error| format!("{shape}; {error}"))?;
        valid.then(|| (kind.to_owned(), rule)).ok_or_else(|| shape.to_owned())
    });
    rules.collect()
}

pub(super) fn parse_password(text: &str) -> Result<Password, String> {
    // Others cannot be typed, or look like characters that can.
    let is_plain = |c: char| c == ' ' || !c.is_whitespace();
    let is_good = (1..=PASSWORD_BYTES_MAX).contains(&text.len())
        && printable(text) == text
        && text.chars().all(is_plain)
        && text.trim() == text;
    let rule = || {
        format!(
            "1 to {PASSWORD_BYTES_MAX} bytes, all of them visible characters, with no blanks at \
             the ends"
        )
    };
    is_good.then(|| Password(text.to_owned())).ok_or_else(rule)
}

/// The password in a file of one line.
pub(super) fn password_in(path: &Path) -> Result<Password, String> {
    let bytes = file(path, PASSWORD_FILE_BYTES_MAX, "the password")?;
    let line = Text::decode(&bytes, PASSWORD_FILE_BYTES_MAX).and_then(Text::only_line);
    let line = line.map_err(|error| format!("a file with the password; {error}"))?;
    parse_password(line).map_err(|rule| format!("a file with a password of {rule}"))
}

/// Content of a small file.
pub(super) fn file(path: &Path, bytes_max: usize, noun: &str) -> Result<Vec<u8>, String> {
    let bytes = files::read(path, bytes_max)
        .and_then(|bytes| bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)));
    bytes.map_err(|error| format!("a file with {noun}; {error}"))
}

/// Values with commas between.
pub(super) fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// The value, or the word for its default.
pub(super) fn or<T: ToString>(value: Option<&T>, default: &str) -> String {
    value.map_or_else(|| default.to_owned(), T::to_string)
}

/// The path, or the word for its default.
pub(super) fn path_or(path: Option<&PathBuf>, default: &str) -> String {
    path.map_or_else(|| default.to_owned(), |path| path.display().to_string())
}
