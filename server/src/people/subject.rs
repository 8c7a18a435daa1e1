//! Subjects of bans and mutes: a key, an address, or a network.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use phaselock::identity::PublicKey;

/// A text is no subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSubject {
    /// Not 64 hexadecimal digits.
    #[error("a key is 64 hexadecimal digits")]
    Key,
    /// Not an address.
    #[error("an address is one such as 192.0.2.7 or 2001:db8::7, without a port")]
    Address,
    /// Not a network.
    #[error("a network is an address and a length, such as 192.0.2.0/24 or 2001:db8::/48")]
    Network,
    /// Too many addresses.
    #[error(
        "a network of IPv4 has a length from 8 to 32 (from 104 to 128 behind ::ffff:), and one of \
         IPv6 from 16 to 128"
    )]
    Length,
    /// The prefix length is too small for a list, or invalid.
    #[error("a network in a list has a length from 3 to 32 (IPv4) or from 8 to 128 (IPv6)")]
    Wide,
}

/// A network: an address of which the first bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    len: u8,
}

/// Bits before an address of IPv4 in the form of IPv6, `::ffff:192.0.2.7` (RFC 4291, 2.5.5.2).
const MAPPED_BITS: u8 = 96;

impl Network {
    /// A network of that length. One of IPv4 in the form of IPv6, in which addresses are never
    /// compared, is that of IPv4.
    fn new(address: IpAddr, len: u8) -> Result<Self, BadSubject> {
        Self::of_length(address, len, [8, 16], BadSubject::Length)
    }

    /// A network with at least these prefix lengths, for IPv4 and IPv6.
    fn of_length(
        address: IpAddr,
        len: u8,
        [of_v4, of_v6]: [u8; 2],
        error: BadSubject,
    ) -> Result<Self, BadSubject> {
        let canonical = address.to_canonical();
        let mapped = if canonical == address { 0 } else { MAPPED_BITS };
        let (address, len) = (canonical, len.checked_sub(mapped).ok_or(error)?);
        let range = match address {
            IpAddr::V4(_) => of_v4..=32,
            IpAddr::V6(_) => of_v6..=128,
        };
        if !range.contains(&len) {
            return Err(error);
        }
        Ok(Self { address: masked(address, len), len })
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

    /// First and last address.
    fn bounds(&self) -> (IpAddr, IpAddr) {
        let len = u32::from(self.len);
        let last = match self.address {
            IpAddr::V4(it) => {
                Ipv4Addr::from_bits(it.to_bits() | u32::MAX.checked_shr(len).unwrap_or(0)).into()
            }
            IpAddr::V6(it) => {
                Ipv6Addr::from_bits(it.to_bits() | u128::MAX.checked_shr(len).unwrap_or(0)).into()
            }
        };
        (self.address, last)
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && masked(address, self.len) == self.address
    }
}

/// The address with all bits after the first so many cleared.
fn masked(address: IpAddr, len: u8) -> IpAddr {
    match address {
        IpAddr::V4(it) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
            Ipv4Addr::from_bits(it.to_bits() & mask).into()
        }
        IpAddr::V6(it) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
            Ipv6Addr::from_bits(it.to_bits() & mask).into()
        }
    }
}

/// A subject of a ban or a mute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A player's key.
    Key(PublicKey),
    /// An address.
    Address(IpAddr),
    /// A network.
    Network(Network),
}

impl Subject {
    /// The word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Address(_) => "address",
            Self::Network(_) => "network",
        }
    }

    /// Reads one of a kind. An address of IPv6 means its /64; a network's address is cut to its
    /// length.
    pub fn parse(kind: &str, text: &str) -> Result<Self, BadSubject> {
        match kind {
            "key" => parse_key(text).map(Self::Key).ok_or(BadSubject::Key),
            "address" => {
                let address = text.parse::<IpAddr>().map_err(|_| BadSubject::Address)?;
                Ok(Self::of_address(address))
            }
            _ => {
                let (address, len) = parts(text)?;
                Network::new(address, len).map(Self::Network)
            }
        }
    }

    /// The subject of whoever comes from an address: of IPv6 its /64, since one customer has all of
    /// its addresses.
    pub fn of_address(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Network::of(address).map_or(Self::Address(address), Self::Network)
    }

    /// True if it is about that player.
    pub fn is_about(&self, key: Option<PublicKey>, address: Option<IpAddr>) -> bool {
        let address = address.map(|it| it.to_canonical());
        match self {
            Self::Key(it) => Some(*it) == key,
            Self::Address(it) => Some(*it) == address,
            Self::Network(it) => address.is_some_and(|address| it.contains(address)),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::Address(address) => address.fmt(f),
            Self::Network(Network { address, len }) => write!(f, "{address}/{len}"),
        }
    }
}

/// Address and length of a network.
fn parts(text: &str) -> Result<(IpAddr, u8), BadSubject> {
    let (address, len) = text.split_once('/').ok_or(BadSubject::Network)?;
    let address = address.parse().map_err(|_| BadSubject::Network)?;
    Ok((address, len.parse().map_err(|_| BadSubject::Network)?))
}

/// Returns the first and last address of a line in a list: an address (for IPv6 its /64, as for
/// bans) or a network. Public lists have wider networks than bans allow, such as 224.0.0.0/3.
pub fn parse_range(text: &str) -> Result<(IpAddr, IpAddr), BadSubject> {
    if text.contains('/') {
        let (address, len) = parts(text)?;
        return Ok(Network::of_length(address, len, [3, 8], BadSubject::Wide)?.bounds());
    }
    let address = text.parse::<IpAddr>().map_err(|_| BadSubject::Address)?.to_canonical();
    Ok(Network::of(address).map_or((address, address), |network| network.bounds()))
}

/// Reads a key's 64 hexadecimal digits.
pub fn parse_key(text: &str) -> Option<PublicKey> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_and_written_back() {
        let key = "0123456789abcdef".repeat(4);
        for (kind, text, back) in [
            ("key", &*key, &*key),
            ("address", "192.0.2.7", "192.0.2.7"),
            ("address", "::ffff:192.0.2.7", "192.0.2.7"),
            ("address", "2001:db8::7", "2001:db8::/64"),
            ("address", "fe80::7", "fe80::7"),
            ("address", "fd91::7", "fd91::7"),
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
            ("address", "192.0.2.7:80", BadSubject::Address),
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
    fn a_network_holds_its_addresses_and_no_others() {
        let about = |subject: &str, address: &str| {
            let subject = Subject::parse("network", subject).expect("it is one");
            subject.is_about(None, address.parse().ok())
        };
        assert!(about("192.0.2.0/24", "192.0.2.255") && about("192.0.2.0/24", "::ffff:192.0.2.1"));
        assert!(about("::ffff:127.0.0.0/104", "127.1.2.3"));
        assert!(!about("192.0.2.0/24", "192.0.3.1") && !about("192.0.2.0/24", "2001:db8::1"));
        assert!(about("2001:db8::/32", "2001:db8:9::1") && !about("2001:db8::/32", "2001:db9::"));
        let home = Subject::of_address("2001:db8::1:2:3:4".parse().expect("an address"));
        assert_eq!(home.to_string(), "2001:db8::/64");
    }
}
