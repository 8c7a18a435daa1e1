//! Addresses of a list, as sorted ranges.

use std::iter;
use std::net::IpAddr;

use phaselock::textfile::{Text, TextError};
use phaselock::wire::text::printable;

use crate::subject::{BadSubject, parse_range};

/// Maximum size of a list's text in bytes.
pub(crate) const LIST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum number of addresses and networks in a list. Arbitrary; large public lists of VPNs have
/// some 10,000. As ranges they take at most 8 bytes each for IPv4 and 32 for IPv6: 8 MB in all.
pub(crate) const ENTRIES_MAX: usize = 250_000;
/// Maximum characters of an unreadable line that are quoted.
const QUOTED_CHARS_MAX: usize = 40;
/// Maximum bad lines of a file that are reported; further ones are only counted. Arbitrary.
pub(crate) const BAD_LINES_MAX: usize = 20;

/// A list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListTextError {
    /// The file is not text, or too large.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Lines that are neither addresses nor networks.
    #[error("{first}{}", more(count - 1).map(|more| format!("; {more}")).unwrap_or_default())]
    Lines {
        /// The first bad line.
        first: BadLine,
        /// The next bad lines, up to [`BAD_LINES_MAX`] in all.
        others: Vec<BadLine>,
        /// Number of all bad lines.
        count: usize,
    },
    /// Too many entries.
    #[error("it has more than {ENTRIES_MAX} addresses and networks, the limit")]
    TooMany,
}

/// A line that is neither an address nor a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} has {text:?}, but {error}")]
pub struct BadLine {
    /// Line number, from 1.
    line: usize,
    /// Beginning of the line.
    text: String,
    /// What is wrong with it.
    error: BadSubject,
}

/// Formats the number of bad lines that are not reported.
fn more(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 more line is invalid".to_owned()),
        _ => Some(format!("{count} more lines are invalid")),
    }
}

impl ListTextError {
    /// Returns a sentence for each reported line, or one for the whole list.
    pub fn problems(&self) -> Vec<String> {
        let Self::Lines { first, others, count } = self else { return vec![self.to_string()] };
        let named = iter::once(first).chain(others).map(BadLine::to_string);
        named.chain(more(count - 1 - others.len())).collect()
    }
}

/// A set of addresses: ranges that are sorted and neither overlap nor touch, so that a binary
/// search finds an address. IPv4-mapped addresses of IPv6 count as those of IPv4.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    v4: Box<[(u32, u32)]>,
    v6: Box<[(u128, u128)]>,
    entries: usize,
}

impl Ranges {
    /// Parses a list: one address or network per line. `#` and `;` begin comments.
    pub fn parse(bytes: &[u8]) -> Result<Self, ListTextError> {
        let text = Text::decode(bytes, LIST_BYTES_MAX)?;
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        let (mut bad, mut count) = (Vec::new(), 0);
        for (line, content) in text.lines() {
            let word = content.split(['#', ';']).next().unwrap_or_default().trim();
            if word.is_empty() {
                continue;
            }
            if v4.len() + v6.len() >= ENTRIES_MAX {
                return Err(ListTextError::TooMany);
            }
            match parse_range(word) {
                Ok((IpAddr::V4(first), IpAddr::V4(last))) => {
                    v4.push((first.to_bits(), last.to_bits()));
                }
                Ok((first, last)) => v6.push((bits(first), bits(last))),
                Err(error) => {
                    count += 1;
                    if count <= BAD_LINES_MAX {
                        let text = printable(word).chars().take(QUOTED_CHARS_MAX).collect();
                        bad.push(BadLine { line, text, error });
                    }
                }
            }
        }
        if !bad.is_empty() {
            let (first, others) = (bad.remove(0), bad);
            return Err(ListTextError::Lines { first, others, count });
        }
        let entries = v4.len() + v6.len();
        let v4 = merged(v4, |last| last.checked_add(1));
        let v6 = merged(v6, |last| last.checked_add(1));
        Ok(Self { v4, v6, entries })
    }

    /// Returns the number of addresses and networks that the list was written with.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Whether an address is in the list.
    pub fn contains(&self, address: IpAddr) -> bool {
        match address.to_canonical() {
            IpAddr::V4(address) => holds(&self.v4, address.to_bits()),
            IpAddr::V6(address) => holds(&self.v6, address.to_bits()),
        }
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Sorts ranges and merges those that overlap or touch. `next` returns the number after one.
fn merged<T: Copy + Ord>(mut ranges: Vec<(T, T)>, next: impl Fn(T) -> Option<T>) -> Box<[(T, T)]> {
    ranges.sort_unstable();
    let mut merged: Vec<(T, T)> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if next(*end).is_none_or(|next| first <= next) => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    merged.into()
}

fn holds<T: Copy + Ord>(ranges: &[(T, T)], it: T) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= it);
    after.checked_sub(1).is_some_and(|at| it <= ranges[at].1)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Ranges, ListTextError> {
        Ranges::parse(text.as_bytes())
    }

    #[test]
    fn comments_and_editor_artifacts_are_accepted() {
        let list = parse(
            "\u{feff}# VPNs\r\n\r\n192.0.2.0/25 ; SBL1\r\n192.0.2.128/25\r\n; more\r\n \
             198.51.100.7 # one\r\n::ffff:203.0.113.0/120\r\n2001:db8::7",
        );
        let list = list.expect("it is a list");
        assert_eq!((list.entries(), list.v4.len(), list.v6.len()), (5, 3, 1), "{list:?}");
        for (address, is_in) in [
            ("192.0.2.255", true),
            ("192.0.3.0", false),
            ("::ffff:198.51.100.7", true),
            ("198.51.100.8", false),
            ("203.0.113.9", true),
            ("2001:db8::1:2:3:4", true),
            ("2001:db8:0:1::", false),
        ] {
            assert_eq!(list.contains(address.parse().expect("an address")), is_in, "{address}");
        }
    }

    #[test]
    fn bad_lines_are_reported_with_their_numbers() {
        let error = |text: &str| parse(text).expect_err("it is refused").to_string();
        let long = format!("192.0.2.1\n\n{}\n", "<html>\u{1b}".repeat(40));
        let told = error(&long);
        assert!(told.starts_with("line 3 has \"<html>") && !told.contains('\u{1b}'), "{told}");
        assert!(told.len() < 200, "{told}");
        assert!(error("0.0.0.0/0").contains("from 3 to 32"));
        let problems = |text: &str| parse(text).expect_err("it is refused").problems();
        let told = problems("192.0.2.1\none\n\ntwo\n192.0.2.2");
        assert!(told.len() == 2 && told[1].starts_with("line 4 has \"two\", but "), "{told:?}");
        let told = problems(&"x\n".repeat(BAD_LINES_MAX));
        assert!(told.len() == BAD_LINES_MAX && told[19].starts_with("line 20 "), "{told:?}");
        let many = "x\n".repeat(BAD_LINES_MAX + 7);
        assert_eq!(problems(&many)[BAD_LINES_MAX..], ["7 more lines are invalid"]);
        assert!(error(&many).ends_with("; 26 more lines are invalid"), "{}", error(&many));
        assert!(error("192.0.2.1 192.0.2.2").starts_with("line 1 has"));
        assert!(error("192.0.2.1\n\0").contains("line 2 has a zero byte"));
        assert_eq!(Ranges::parse(&vec![b'\n'; LIST_BYTES_MAX + 1]), {
            Err(ListTextError::Text(TextError::TooLong(LIST_BYTES_MAX)))
        });
        let many = "192.0.2.1\n".repeat(ENTRIES_MAX);
        assert_eq!(parse(&many).expect("the maximum number of entries").v4.len(), 1);
        assert_eq!(parse(&(many + "192.0.2.1")), Err(ListTextError::TooMany));
    }

    /// Addresses that are close together, so that networks overlap.
    fn near() -> impl Strategy<Value = IpAddr> {
        let v4 = prop_oneof![0u32..600, (u32::MAX - 600)..=u32::MAX];
        let v6 = prop_oneof![0u128..600, (u128::MAX - 600)..=u128::MAX];
        prop_oneof![
            v4.prop_map(|it| IpAddr::from(Ipv4Addr::from_bits(it))),
            // Away from `::ffff:0:0/96`, which is IPv4.
            v6.prop_map(|it| IpAddr::from(Ipv6Addr::from_bits(it))),
        ]
    }

    /// Whether two addresses agree in their first bits, checked bit by bit.
    fn agree(one: IpAddr, other: IpAddr, len: u8) -> bool {
        let digits = |address: IpAddr| match address {
            IpAddr::V4(it) => format!("{:032b}", it.to_bits()),
            IpAddr::V6(it) => format!("{:0128b}", it.to_bits()),
        };
        one.is_ipv4() == other.is_ipv4()
            && digits(one)[..usize::from(len)] == digits(other)[..usize::from(len)]
    }

    proptest! {
        #[test]
        fn ranges_agree_with_a_linear_search(
            networks in prop::collection::vec((near(), 0u8..10), 0..20),
            addresses in prop::collection::vec(near(), 50),
        ) {
            let bits = |address: IpAddr| if address.is_ipv4() { 32 } else { 128 };
            let networks: Vec<_> =
                networks.iter().map(|(it, host)| (*it, bits(*it) - host)).collect();
            let text: String =
                networks.iter().map(|(address, len)| format!("{address}/{len}\n")).collect();
            let list = parse(&text).expect("it is a list");
            prop_assert!(list.v4.windows(2).all(|it| it[0].1 + 1 < it[1].0));
            prop_assert!(list.v6.windows(2).all(|it| it[0].1 + 1 < it[1].0));
            for address in addresses {
                let naive = networks.iter().any(|(it, len)| agree(*it, address, *len));
                prop_assert_eq!(list.contains(address), naive, "{} in {}", address, text);
            }
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = Ranges::parse(&bytes);
        }
    }
}
