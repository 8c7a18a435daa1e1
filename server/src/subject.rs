//! Subjects of bans and mutes: a key, an address, or a network.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use ipnet::IpNet;
use phaselock::address::{Address, split_port, split_zone};
use phaselock::identity::PublicKey;

use crate::error::ActError;

/// A text that is not a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadSubject {
    /// The text is not 64 hexadecimal digits.
    #[error("a key is 64 hexadecimal digits")]
    Key,
    /// The text is not an address.
    #[error("an address looks like 192.0.2.7 or 2001:db8::7, without a port")]
    Address,
    /// The text is an address with a port.
    #[error("a port is not part of an address: write 192.0.2.7, without :5000")]
    Port,
    /// The zone names no interface of this machine, or the address cannot have one.
    #[error(
        "only a link-local address has a %, followed by the name or number of one of the server's \
         network interfaces, such as fe80::7%eth0"
    )]
    Zone,
    /// The text is not a network.
    #[error(
        "a network is an address and a length, such as 192.0.2.0/24 or 2001:db8::/48, without a %"
    )]
    Network,
    /// The network has too many addresses.
    #[error(
        "an IPv4 network has a length from 8 to 32 (104 to 128 after ::ffff:), and an IPv6 network \
         from 16 to 128"
    )]
    Length,
    /// The prefix length is too small for a list, or invalid.
    #[error("a network in a list has a length from 3 to 32 (IPv4) or from 8 to 128 (IPv6)")]
    Wide,
}

impl From<BadSubject> for ActError {
    fn from(error: BadSubject) -> Self {
        Self::Bad(error.to_string())
    }
}

/// A network: an address, and the number of leading bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network(IpNet);

/// Bits before an IPv4-mapped address, `::ffff:192.0.2.7` (RFC 4291, 2.5.5.2).
const MAPPED_BITS: u8 = 96;

impl Network {
    /// Creates a network of that length. An IPv4-mapped network becomes the IPv4 network, since
    /// mapped addresses are always compared as IPv4.
    fn new(address: IpAddr, len: u8) -> Result<Self, BadSubject> {
        Self::of_length(address, len, [8, 16], BadSubject::Length)
    }

    /// Parses a network with at least these prefix lengths, for IPv4 and IPv6.
    fn of_length(
        address: IpAddr,
        len: u8,
        [of_v4, of_v6]: [u8; 2],
        error: BadSubject,
    ) -> Result<Self, BadSubject> {
        let canonical = address.to_canonical();
        let mapped = if canonical == address { 0 } else { MAPPED_BITS };
        let (address, len) = (canonical, len.checked_sub(mapped).ok_or(error)?);
        let len_min = if address.is_ipv4() { of_v4 } else { of_v6 };
        let network = IpNet::new(address, len).ok().filter(|_| len >= len_min);
        network.map(|network| Self(network.trunc())).ok_or(error)
    }

    /// Returns the network that a ban of an address covers: for IPv6 the customer's /64, or `None`
    /// where neighbours share it.
    fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(ip) if ip.is_unicast_link_local() || ip.is_unique_local() => None,
            IpAddr::V6(_) => Self::new(address, 64).ok(),
        }
    }

    /// Returns the first and last address.
    fn bounds(&self) -> (IpAddr, IpAddr) {
        (self.0.network(), self.0.broadcast())
    }
}

/// A subject of a ban or a mute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A player's key.
    Key(PublicKey),
    /// An address.
    Address {
        /// The address.
        ip: IpAddr,
        /// Number of the interface of a link-local address; 0 for all.
        zone: u32,
    },
    /// A network.
    Network(Network),
}

impl Subject {
    /// Returns the name of its kind.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Address { .. } => "address",
            Self::Network(_) => "network",
        }
    }

    /// Returns the kind of subject that a text shows; `None` for a player's name or seat, or the
    /// beginning of a key.
    pub(crate) fn kind_of(text: &str) -> Option<&'static str> {
        let text = text.trim();
        if parse_key(text).is_some() {
            Some("key")
        } else if text.contains('/') {
            Some("network")
        } else {
            spelled(text).map(|_| "address")
        }
    }

    /// Parses a subject of the kind that a text [shows](Self::kind_of); `None` if it shows none.
    pub(crate) fn read(text: &str) -> Option<Result<Self, BadSubject>> {
        Self::kind_of(text).map(|kind| Self::parse(kind, text))
    }

    /// Parses a subject of a kind. An IPv6 address becomes its /64; a network's address is cut to
    /// its length.
    pub(crate) fn parse(kind: &str, text: &str) -> Result<Self, BadSubject> {
        let text = text.trim();
        match kind {
            "key" => parse_key(text).map(Self::Key).ok_or(BadSubject::Key),
            "address" => {
                let spelled = spelled(text).ok_or(BadSubject::Address)?;
                if spelled.has_port {
                    return Err(BadSubject::Port);
                }
                Ok(Self::of(spelled.ip, spelled.zone_number()?))
            }
            _ => {
                let (address, len) = parts(text)?;
                Network::new(address, len).map(Self::Network)
            }
        }
    }

    /// Returns the subject of a client at an address: for IPv6 its /64, since one customer has all
    /// of its addresses; for a link-local address the address on its link.
    pub(crate) fn of_address(address: SocketAddr) -> Self {
        Self::of(address.ip(), zone_of(address))
    }

    fn of(ip: IpAddr, zone: u32) -> Self {
        let ip = ip.to_canonical();
        Network::of(ip).map_or(Self::Address { ip, zone }, Self::Network)
    }

    /// Whether it applies to the player with that key at that address.
    pub(crate) fn is_about(&self, key: Option<PublicKey>, address: Option<SocketAddr>) -> bool {
        match (self, address) {
            (Self::Key(it), _) => Some(*it) == key,
            (_, None) => false,
            (Self::Address { ip, zone }, Some(address)) => {
                *ip == address.ip().to_canonical() && (*zone == 0 || *zone == zone_of(address))
            }
            (Self::Network(it), Some(address)) => it.0.contains(&address.ip().to_canonical()),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::Address { ip, zone: 0 } => ip.fmt(f),
            Self::Address { ip, zone } => write!(f, "{ip}%{zone}"),
            Self::Network(Network(network)) => network.fmt(f),
        }
    }
}

/// Returns the interface number of a link-local address; 0 for others.
fn zone_of(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V6(it) if it.ip().is_unicast_link_local() => it.scope_id(),
        _ => 0,
    }
}

/// The parts of an address as people write it, or copy it from a list of players.
struct Spelled<'t> {
    ip: IpAddr,
    zone: Option<&'t str>,
    has_port: bool,
}

/// Splits an address into its parts; `None` if the text is not an address.
fn spelled(text: &str) -> Option<Spelled<'_>> {
    let (host, port) = split_port(text);
    let (ip, zone) = split_zone(host);
    Some(Spelled { ip: ip.parse().ok()?, zone, has_port: port.is_some() })
}

impl Spelled<'_> {
    /// Returns the interface number of the zone; 0 without a zone.
    fn zone_number(&self) -> Result<u32, BadSubject> {
        let Self { ip, zone: Some(zone), .. } = self else { return Ok(0) };
        let address: Address = format!("[{ip}%{zone}]").parse().map_err(|_| BadSubject::Zone)?;
        if let Ok(number) = zone.parse::<u32>() {
            return Some(number).filter(|number| *number != 0).ok_or(BadSubject::Zone);
        }
        // The system looks up interface names; a number needs no lookup.
        let mut found = (address.host(), 0).to_socket_addrs().map_err(|_| BadSubject::Zone)?;
        found.next().map(zone_of).filter(|number| *number != 0).ok_or(BadSubject::Zone)
    }
}

/// Parses the address and length of a network.
fn parts(text: &str) -> Result<(IpAddr, u8), BadSubject> {
    let (address, len) = text.split_once('/').ok_or(BadSubject::Network)?;
    let address = address.parse().map_err(|_| BadSubject::Network)?;
    Ok((address, len.parse().map_err(|_| BadSubject::Network)?))
}

/// Returns the first and last address of a line in a list: an address (for IPv6 its /64, as for
/// bans) or a network. Public lists contain wider networks than bans allow, such as 224.0.0.0/3.
pub(crate) fn parse_range(text: &str) -> Result<(IpAddr, IpAddr), BadSubject> {
    if text.contains('/') {
        let (address, len) = parts(text)?;
        return Ok(Network::of_length(address, len, [3, 8], BadSubject::Wide)?.bounds());
    }
    let address = text.parse::<IpAddr>().map_err(|_| BadSubject::Address)?.to_canonical();
    Ok(Network::of(address).map_or((address, address), |network| network.bounds()))
}

/// Parses a key of 64 hexadecimal digits.
pub(crate) fn parse_key(text: &str) -> Option<PublicKey> {
    let mut key = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, at) in key.iter_mut().zip((0..).step_by(2)) {
        let digits = &text[at..at + 2];
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        *byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    }
    Some(PublicKey(key))
}

/// Whether a text is only digits, which hosts use for the number of a ban or mute.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_survive_a_round_trip() {
        let key = "0123456789abcdef".repeat(4);
        for (kind, text, back) in [
            ("key", &*key, &*key),
            ("address", "192.0.2.7", "192.0.2.7"),
            ("address", "::ffff:192.0.2.7", "192.0.2.7"),
            ("address", "2001:db8::7", "2001:db8::/64"),
            ("address", "fe80::7", "fe80::7"),
            ("address", "fe80:0::7%2", "fe80::7%2"),
            ("address", "[fe80::7%2]", "fe80::7%2"),
            ("address", " fd91::7 ", "fd91::7"),
            ("network", "192.0.2.7/24", "192.0.2.0/24"),
            ("network", "::ffff:127.0.0.0/104", "127.0.0.0/8"),
            ("network", "::ffff:192.0.2.7/128", "192.0.2.7/32"),
            ("network", "2001:db8::7/128", "2001:db8::7/128"),
            ("network", "2001:db8:1:2:3::/56", "2001:db8:1::/56"),
        ] {
            let subject = Subject::parse(kind, text).expect("it is one");
            assert_eq!(subject.to_string(), back);
            assert_eq!(subject.kind() == "key", kind == "key");
        }
        for (kind, text, error) in [
            ("key", "xyz", BadSubject::Key),
            ("key", &*"+1".repeat(32), BadSubject::Key),
            ("address", "nobody", BadSubject::Address),
            ("address", "192.0.2.7:80", BadSubject::Port),
            ("address", "[fe80::7%2]:80", BadSubject::Port),
            ("address", "192.0.2.7%2", BadSubject::Zone),
            ("address", "2001:db8::7%2", BadSubject::Zone),
            ("address", "fe80::7%", BadSubject::Zone),
            ("address", "fe80::7%0", BadSubject::Zone),
            ("address", "fe80::7%nowhere-at-all", BadSubject::Zone),
            ("network", "fe80::%2/64", BadSubject::Network),
            ("network", "192.0.2.7", BadSubject::Network),
            ("network", "0.0.0.0/0", BadSubject::Length),
            ("network", "192.0.2.7/33", BadSubject::Length),
            ("network", "::/8", BadSubject::Length),
            ("network", "::ffff:127.0.0.0/103", BadSubject::Length),
            ("network", "::ffff:127.0.0.0/24", BadSubject::Length),
            ("network", "::ffff:127.0.0.0/129", BadSubject::Length),
        ] {
            assert_eq!(Subject::parse(kind, text), Err(error), "{text}");
        }
    }

    #[test]
    fn lines_of_lists_are_ranges() {
        for (text, first, last) in [
            ("192.0.2.7", "192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7"),
            ("192.0.2.7/24", "192.0.2.0", "192.0.2.255"),
            ("::ffff:192.0.2.0/120", "192.0.2.0", "192.0.2.255"),
            ("192.0.2.7/32", "192.0.2.7", "192.0.2.7"),
            ("224.0.0.0/3", "224.0.0.0", "255.255.255.255"),
            ("2001:db8::7", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff"),
            ("2001:db8::7/128", "2001:db8::7", "2001:db8::7"),
        ] {
            let bounds = [first, last].map(|it| it.parse::<IpAddr>().expect("an address"));
            assert_eq!(parse_range(text).map(|(first, last)| [first, last]), Ok(bounds), "{text}");
        }
        for (text, error) in [
            ("0.0.0.0/0", BadSubject::Wide),
            ("::/0", BadSubject::Wide),
            ("::ffff:0.0.0.0/96", BadSubject::Wide),
            ("192.0.2.0/33", BadSubject::Wide),
            ("192.0.2.0/x", BadSubject::Network),
            ("192.0.2.1-192.0.2.9", BadSubject::Address),
            ("example.org", BadSubject::Address),
        ] {
            assert_eq!(parse_range(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_network_contains_only_its_addresses() {
        let about = |subject: &str, address: &str| {
            let subject = Subject::parse("network", subject).expect("it is one");
            let address = address.parse::<IpAddr>().expect("an address");
            subject.is_about(None, Some(SocketAddr::new(address, 5000)))
        };
        assert!(about("192.0.2.0/24", "192.0.2.255") && about("192.0.2.0/24", "::ffff:192.0.2.1"));
        assert!(about("::ffff:127.0.0.0/104", "127.1.2.3"));
        assert!(!about("192.0.2.0/24", "192.0.3.1") && !about("192.0.2.0/24", "2001:db8::1"));
        assert!(about("2001:db8::/32", "2001:db8:9::1") && !about("2001:db8::/32", "2001:db9::"));
        let home = Subject::of_address("[2001:db8::1:2:3:4]:1".parse().expect("an address"));
        assert_eq!(home.to_string(), "2001:db8::/64");
    }

    #[test]
    fn a_link_local_address_belongs_to_its_link() {
        let at = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let here = Subject::of_address(at("[fe80::7%2]:5000"));
        assert_eq!(Subject::parse("address", "fe80::7%2"), Ok(here));
        assert!(here.is_about(None, Some(at("[fe80::7%2]:6000"))));
        assert!(!here.is_about(None, Some(at("[fe80::7%3]:5000"))));
        let everywhere = Subject::parse("address", "fe80::7").expect("an address");
        assert!(everywhere.is_about(None, Some(at("[fe80::7%3]:5000"))));
        // Linux gives the loopback interface the first number.
        #[cfg(target_os = "linux")]
        assert_eq!(Subject::read("[fe80::7%lo]"), Subject::read("fe80::7%1"));
        // Other addresses have no link.
        let unique = Subject::of_address(at("[fd91::7%2]:5000"));
        assert_eq!(unique.to_string(), "fd91::7");
    }

    #[test]
    fn the_kind_of_a_subject_shows_in_its_text() {
        for (text, kind) in [
            (&*"0123456789abcdef".repeat(4), Some("key")),
            (&*"12345678".repeat(8), Some("key")),
            ("192.0.2.7", Some("address")),
            ("192.0.2.7:5000", Some("address")),
            ("::ffff:192.0.2.7", Some("address")),
            ("[fe80::7%eth0]:5000", Some("address")),
            ("fe80::7%eth0", Some("address")),
            ("192.0.2.0/24", Some("network")),
            ("Ada", None),
            ("p3", None),
            ("12345678", None),
            ("Ada:5000", None),
        ] {
            assert_eq!(Subject::kind_of(text), kind, "{text}");
        }
    }
}
