//! Where players reach a server that Agones runs: which of the ports and addresses that Agones
//! reports is the game's. Servers and directories choose by the same rules, since tickets name the
//! address.

use std::net::{IpAddr, SocketAddr};

/// Returns the index of the game's port among ports with these names: the first that is called
/// `game` or, as Agones' examples have it, `default`, then the first for UDP, then any. Agones
/// makes two ports of one for both protocols, and appends `-tcp` and `-udp` to the name.
pub fn game_port<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<usize> {
    let rank = |name: &str| match name {
        "game-udp" => 0,
        "game" => 1,
        "default-udp" => 2,
        "default" => 3,
        other if other.ends_with("-udp") => 4,
        other if other.ends_with("-tcp") => 6,
        _ => 5,
    };
    names.into_iter().enumerate().min_by_key(|(_, name)| rank(name)).map(|(at, _)| at)
}

/// Returns the IP address of a server whose `address` may be a name, if it is among `all` addresses
/// of its node, each with its type as in Kubernetes: `ExternalDNS` is a name of the `ExternalIP`,
/// `InternalDNS` of the `InternalIP`. Within a cloud, such a name may lead to another address than
/// for players. `None` if the name has to be looked up.
pub fn known_ip<'a>(
    address: &str,
    all: impl IntoIterator<Item = (&'a str, &'a str)> + Clone,
) -> Option<IpAddr> {
    if let Ok(ip) = address.parse() {
        return Some(ip);
    }
    let mut own = all.clone().into_iter().filter(|(_, it)| *it == address);
    let kind = own.find_map(|(kind, _)| kind.strip_suffix("DNS"))?;
    let same = all.into_iter().filter(|(it, _)| it.strip_suffix("IP") == Some(kind));
    let found = same.filter_map(|(_, it)| it.parse::<IpAddr>().ok());
    found.min_by_key(|ip| !ip.is_ipv4())
}

/// Returns the address to use of those that a name has: more players reach IPv4 addresses.
pub fn looked_up(found: impl IntoIterator<Item = SocketAddr>) -> Option<SocketAddr> {
    found.into_iter().min_by_key(|address| !address.is_ipv4())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_the_game_is_found_by_its_name() {
        for (names, at) in [
            (&["game"][..], 0),
            (&["admin", "game"], 1),
            (&["game-tcp", "game-udp"], 1),
            (&["metrics", "default"], 1),
            (&["default", "game"], 1),
            (&["query-udp", "game-udp"], 1),
            (&["page-tcp", "page-udp"], 1),
            (&["page-tcp", "play"], 1),
            (&["one", "two"], 0),
            (&[""], 0),
        ] {
            assert_eq!(game_port(names.iter().copied()), Some(at), "{names:?}");
        }
        assert_eq!(game_port([]), None);
    }

    #[test]
    fn the_address_behind_a_name_is_that_of_the_same_kind() {
        let (outside, inside) = ("node-7.example.org", "node-7.internal");
        let all = [
            ("InternalIP", "10.0.0.7"),
            ("ExternalIP", "2001:db8::7"),
            ("ExternalIP", "192.0.2.7"),
            ("ExternalDNS", outside),
            ("InternalDNS", inside),
            ("Hostname", "node-7"),
        ];
        let ip = |text: &str| Some(text.parse::<IpAddr>().expect("an address"));
        assert_eq!(known_ip(outside, all), ip("192.0.2.7"));
        assert_eq!(known_ip(inside, all), ip("10.0.0.7"));
        assert_eq!(known_ip("192.0.2.9", all), ip("192.0.2.9"), "it is no name");
        assert_eq!(known_ip("2001:db8::9", []), ip("2001:db8::9"));
        // A name has to be looked up if nothing says what it stands for.
        assert_eq!(known_ip("node-7", all), None);
        assert_eq!(known_ip("other.example.org", all), None);
        assert_eq!(known_ip(outside, [("ExternalDNS", outside), ("InternalIP", "10.0.0.7")]), None);
        assert_eq!(known_ip("", []), None);
    }
}
