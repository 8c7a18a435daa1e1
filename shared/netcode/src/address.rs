//! Server addresses, as people write them.
//!
//! An IPv4-mapped address (`::ffff:192.0.2.7`) becomes the IPv4 address. A link-local address keeps
//! its zone, which names the network interface (RFC 4007): `fe80::1%eth0`, or `fe80::1%2` by
//! interface number.

use core::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Default port of servers.
pub const DEFAULT_PORT: u16 = 4433;

/// Default port of directories.
pub const DIRECTORY_PORT: u16 = 4435;

/// Maximum length of a zone, in bytes. Interface names have up to 15 bytes on Linux, and a few more
/// elsewhere.
const ZONE_BYTES_MAX: usize = 32;

/// Address of a server: a name or an IP address, and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    host: String,
    port: u16,
}

/// Why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is neither a name nor an IP address, or its port is invalid.
    #[error(
        "'{0}' is not an address; write a name or an IP address, and a port if it is not {1}: \
         example.org:5000, 192.0.2.7, [2001:db8::1]:5000"
    )]
    Unreadable(String, u16),
    /// The text is a link-local address without a zone.
    #[error(
        "'{0}' is a link-local address, which needs a network interface; name the interface: \
         [fe80::1%eth0]:5000"
    )]
    ZoneMissing(String),
    /// The text has a zone that it does not need, or one that no interface can have.
    #[error(
        "'{0}' names a network interface; only a link-local address has one, after a %: \
         [fe80::1%eth0]:5000"
    )]
    ZoneRefused(String),
}

impl Address {
    /// Returns the name or IP address, without brackets and with its zone.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the server runs on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let ip =
            |host: &str| host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
        name == "localhost" || name.ends_with(".localhost") || ip(host)
    }

    /// Parses the address of a directory, whose default port is [`DIRECTORY_PORT`].
    pub fn parse_directory(text: &str) -> Result<Self, AddressError> {
        Self::parse(text, DIRECTORY_PORT)
    }

    fn parse(text: &str, default_port: u16) -> Result<Self, AddressError> {
        let text = text.trim();
        let error = || AddressError::Unreadable(text.to_owned(), default_port);
        let (host, port) = split_port(text);
        let port = match port {
            Some(port) => port.parse().ok().filter(|port| *port != 0).ok_or_else(error)?,
            None => default_port,
        };
        let (ip, zone) = split_zone(host);
        if let Ok(ip) = ip.parse::<IpAddr>() {
            return Ok(Self { host: Self::zoned(text, ip.to_canonical(), zone)?, port });
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        // A final dot stands for the DNS root.
        let named =
            host.strip_suffix('.').unwrap_or(host).split('.').all(|label| !label.is_empty());
        if !named || host.len() > 253 || !host.chars().all(plain) {
            return Err(error());
        }
        Ok(Self { host: host.to_lowercase(), port })
    }

    /// Returns an IP address as a host, with its zone if it needs one.
    fn zoned(text: &str, ip: IpAddr, zone: Option<&str>) -> Result<String, AddressError> {
        let needs_zone = matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
        match zone {
            None if needs_zone => Err(AddressError::ZoneMissing(text.to_owned())),
            None => Ok(ip.to_string()),
            Some(zone) if needs_zone && is_zone(zone) => Ok(format!("{ip}%{zone}")),
            Some(_) => Err(AddressError::ZoneRefused(text.to_owned())),
        }
    }
}

/// Returns the address with an IPv4-mapped IP address (`::ffff:192.0.2.7`) converted to IPv4.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        ip @ IpAddr::V4(_) => SocketAddr::new(ip, address.port()),
        IpAddr::V6(_) => address,
    }
}

/// Returns the address by which limits count the people behind it: for IPv6, the /64 that a
/// household has.
pub fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// Whether two addresses belong to one host: equal IP addresses and, if they are link-local, equal
/// zones.
pub fn is_same_host(one: SocketAddr, other: SocketAddr) -> bool {
    Address::from(one).host() == Address::from(other).host()
}

/// Splits `host:port`, `[host]:port` and `[host]`; a bare IPv6 address has no port.
pub fn split_port(text: &str) -> (&str, Option<&str>) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_ip = split_zone(host).0.parse::<IpAddr>().is_ok();
        return match rest.strip_prefix(':') {
            Some(port) if is_ip => (host, Some(port)),
            None if is_ip && rest.is_empty() => (host, None),
            _ => (text, None),
        };
    }
    match text.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (text, None),
    }
}

/// Splits an IPv6 address from its zone.
pub fn split_zone(host: &str) -> (&str, Option<&str>) {
    host.split_once('%').map_or((host, None), |(ip, zone)| (ip, Some(zone)))
}

/// Whether this can be the name or number of an interface.
fn is_zone(zone: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    !zone.is_empty() && zone.len() <= ZONE_BYTES_MAX && zone.chars().all(plain)
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text, DEFAULT_PORT)
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let host = match address {
            SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() && v6.scope_id() != 0 => {
                format!("{}%{}", v6.ip(), v6.scope_id())
            }
            _ => address.ip().to_canonical().to_string(),
        };
        Self { host, port: address.port() }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&host_key(&self.host, self.port))
    }
}

/// Returns the canonical spelling under which a server is remembered: `example.org:4433`,
/// `[::1]:4433`. Lower case, names without a final dot, IPv6 addresses in brackets, in their
/// shortest form, with the zone if there is one.
pub fn host_key(host: &str, port: u16) -> String {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let (ip, zone) = split_zone(bare);
    match (ip.parse::<IpAddr>().map(|ip| ip.to_canonical()), zone) {
        (Ok(IpAddr::V6(ip)), Some(zone)) => format!("[{ip}%{zone}]:{port}"),
        (Ok(IpAddr::V6(ip)), None) => format!("[{ip}]:{port}"),
        (Ok(IpAddr::V4(ip)), _) => format!("{ip}:{port}"),
        (Err(_), _) => {
            format!("{}:{port}", host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_household_has_one_address_or_a_network_of_64_bits() {
        let of = |text: &str| household(text.parse().expect(text)).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(
            (of("192.0.2.7"), of("::ffff:192.0.2.7")),
            ("192.0.2.7".into(), of("192.0.2.7"))
        );
    }

    #[test]
    fn loopback_addresses_are_recognised_by_name_and_number() {
        let is_loopback = |text: &str| text.parse::<Address>().expect(text).is_loopback();
        for text in ["localhost", "LOCALHOST:5000", "game.localhost", "127.0.0.1", "127.9.9.9:1"] {
            assert!(is_loopback(text), "{text}");
        }
        assert!(is_loopback("::1") && is_loopback("[::ffff:127.0.0.1]:4433"));
        for text in ["example.org", "localhost.example.org", "192.0.2.7", "2001:db8::1"] {
            assert!(!is_loopback(text), "{text}");
        }
    }

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
            ("::ffff:192.0.2.7", "192.0.2.7:4433"),
            ("[::ffff:192.0.2.7]:1", "192.0.2.7:1"),
            ("[::ffff:c000:207]:1", "192.0.2.7:1"),
            ("fe80::1%eth0", "[fe80::1%eth0]:4433"),
            ("[fe80::1%wlp3s0.7]", "[fe80::1%wlp3s0.7]:4433"),
            ("[FE80:0::1%5]:5000", "[fe80::1%5]:5000"),
        ] {
            let address = text.parse::<Address>().expect(text);
            assert_eq!(address.to_string(), shown, "{text}");
            assert_eq!(shown.parse(), Ok(address), "{text}");
        }
        for text in
            ["", ":4433", "a:b", "a:0", "a:70000", "a b", "a/b", "http://a", "[::1", ".", "a..b"]
        {
            let unreadable = AddressError::Unreadable(text.into(), DEFAULT_PORT);
            assert_eq!(text.parse::<Address>(), Err(unreadable), "{text}");
        }
        for text in ["[::1]:0", "[::1]:", "[::1]x", "[a]:1", "::1:x", "eth0%1", "a%b:4433"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn link_local_addresses_keep_their_zone_and_need_one() {
        let missing = |text: &str| AddressError::ZoneMissing(text.into());
        for text in ["fe80::1", "[fe80::1]:5000"] {
            assert_eq!(text.parse::<Address>(), Err(missing(text)));
        }
        let long = format!("fe80::1%{}", "a".repeat(ZONE_BYTES_MAX + 1));
        for text in ["2001:db8::1%eth0", "192.0.2.7%eth0", "fe80::1%", "fe80::1%a b", &long] {
            let error = AddressError::ZoneRefused(text.into());
            assert_eq!(text.parse::<Address>(), Err(error));
        }
        let scoped: SocketAddr = "[fe80::1%5]:4433".parse().expect("an address");
        assert_eq!(Address::from(scoped).to_string(), "[fe80::1%5]:4433");
        let mapped: SocketAddr = "[::ffff:192.0.2.7]:4433".parse().expect("an address");
        assert_eq!(Address::from(mapped).to_string(), "192.0.2.7:4433");
        assert_eq!(canonical(mapped).to_string(), "192.0.2.7:4433");
        assert_eq!(canonical(scoped), scoped);
        let at = |text: &str| text.parse::<SocketAddr>().expect(text);
        assert!(
            is_same_host(scoped, at("[fe80::1%5]:5000")) && is_same_host(mapped, at("192.0.2.7:1"))
        );
        assert!(!is_same_host(scoped, at("[fe80::1%6]:4433")), "another link");
    }
}
