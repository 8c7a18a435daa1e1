//! Addresses of servers, as people write them.

use core::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Port of servers by default.
pub const DEFAULT_PORT: u16 = 4433;

/// Port of directories by default.
pub const DIRECTORY_PORT: u16 = 4435;

/// Address of a server: a name or an IP address, and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    host: String,
    port: u16,
}

/// A text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no address; write a name or an IP address, and a port if it is not {1}: \
     example.org:5000, 192.0.2.7, [2001:db8::1]:5000"
)]
pub struct AddressError(String, u16);

impl Address {
    /// The name or IP address, the latter without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Address of a directory, whose port is [`DIRECTORY_PORT`] unless it is given.
    pub fn parse_directory(text: &str) -> Result<Self, AddressError> {
        Self::parse(text, DIRECTORY_PORT)
    }

    fn parse(text: &str, default_port: u16) -> Result<Self, AddressError> {
        let text = text.trim();
        let error = || AddressError(text.to_owned(), default_port);
        if let Ok(address) = text.parse::<SocketAddr>() {
            return match address.port() {
                0 => Err(error()),
                port => Ok(Self { host: address.ip().to_string(), port }),
            };
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(ip) = bare.parse::<IpAddr>() {
            return Ok(Self { host: ip.to_string(), port: default_port });
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| error())?),
            None => (text, default_port),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        // A dot at the end is the root's.
        let named =
            host.strip_suffix('.').unwrap_or(host).split('.').all(|label| !label.is_empty());
        if port == 0 || !named || host.len() > 253 || !host.chars().all(plain) {
            return Err(error());
        }
        Ok(Self { host: host.to_lowercase(), port })
    }
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text, DEFAULT_PORT)
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), port: address.port() }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&host_key(&self.host, self.port))
    }
}

/// Spelling of a server by which it is remembered: `example.org:4433`, `[::1]:4433`; lowercase,
/// IPv6 addresses shortest and in brackets, names without the root's dot.
pub fn host_key(host: &str, port: u16) -> String {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match bare.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]:{port}"),
        Err(_) => {
            format!("{}:{port}", host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, shown) in [
            ("example.org", "example.org:4433"),
            ("Example.org:5000", "example.org:5000"),
            ("192.0.2.7", "192.0.2.7:4433"),
            ("192.0.2.7:1", "192.0.2.7:1"),
            ("::1", "[::1]:4433"),
            ("[::1]", "[::1]:4433"),
            (" [2001:db8::1]:5000 ", "[2001:db8::1]:5000"),
            ("game_server-1", "game_server-1:4433"),
        ] {
            assert_eq!(text.parse::<Address>().map(|a| a.to_string()), Ok(shown.into()), "{text}");
        }
        for text in
            ["", ":4433", "a:b", "a:0", "a:70000", "a b", "a/b", "http://a", "[::1", ".", "a..b"]
        {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
