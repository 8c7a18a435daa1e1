//! Invitation links that players send each other: a server's address, and optionally the
//! fingerprint of its certificate, so that even a first visit is verified.
//!
//! ```text
//! link = "phaselock://" address [ "/" ] [ "#" fingerprint ]
//! address = name or IPv4 or "[" IPv6 [ "%25" zone ] "]", then optionally ":" port
//! fingerprint = "sha256:" and 64 hexadecimal digits
//! ```
//!
//! The zone of a link-local address is only valid on the machine that made the link. It is written
//! as in RFC 6874; a plain `%` is accepted too.

use std::fmt;
use std::str::FromStr;

use crate::address::{Address, AddressError};
use crate::fingerprint::{Fingerprint, ParseFingerprintError};

/// Start of each link, in either case.
pub const SCHEME: &str = "phaselock://";
/// Separates a link-local address from its zone in a link.
const ZONE_SIGN: &str = "%25";
/// Maximum length of a link in bytes: enough for the longest name.
pub const LINK_BYTES_MAX: usize = 400;

/// A server, and optionally the certificate that it must present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The server.
    pub address: Address,
    /// Fingerprint of its certificate.
    pub fingerprint: Option<Fingerprint>,
}

/// Why a text is not an invitation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    /// The text is longer than [`LINK_BYTES_MAX`].
    #[error("a link has at most {LINK_BYTES_MAX} bytes; copy it again")]
    Long,
    /// The address is invalid.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The fingerprint is invalid.
    #[error(
        "the part after # is not a fingerprint ({0}); copy the whole link, or remove the # and \
         everything after it"
    )]
    Fingerprint(#[from] ParseFingerprintError),
}

impl Invitation {
    /// Whether a text is meant to be a link.
    pub fn is_link(text: &str) -> bool {
        rest_of_link(text.trim()).is_some()
    }
}

fn rest_of_link(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(rest)
}

impl FromStr for Invitation {
    type Err = InvitationError;

    /// Parses a link, or a plain address.
    fn from_str(text: &str) -> Result<Self, InvitationError> {
        let text = text.trim();
        if text.len() > LINK_BYTES_MAX {
            return Err(InvitationError::Long);
        }
        let Some(rest) = rest_of_link(text) else {
            return Ok(Self { address: text.parse()?, fingerprint: None });
        };
        let (address, fingerprint) = match rest.split_once('#') {
            Some((address, fingerprint)) => (address, Some(fingerprint.parse()?)),
            None => (rest, None),
        };
        let address = address.strip_suffix('/').unwrap_or(address);
        let address = address.replacen(ZONE_SIGN, "%", 1).parse()?;
        Ok(Self { address, fingerprint })
    }
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.address.to_string().replace('%', ZONE_SIGN))?;
        self.fingerprint.map_or(Ok(()), |fingerprint| write!(f, "#{fingerprint}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_addresses_are_read() {
        let print = Fingerprint([0xab; 32]);
        for (text, address, fingerprint) in [
            ("example.org".to_owned(), "example.org:4433", None),
            ("phaselock://example.org".to_owned(), "example.org:4433", None),
            ("phaselock://example.org/".to_owned(), "example.org:4433", None),
            (format!(" PhaseLock://[2001:db8::1]:5#{print}\n"), "[2001:db8::1]:5", Some(print)),
            (format!("phaselock://192.0.2.7:4433/#{print}"), "192.0.2.7:4433", Some(print)),
            ("phaselock://[fe80::1%25eth0]:5/".to_owned(), "[fe80::1%eth0]:5", None),
            ("phaselock://[fe80::1%eth0]:5/".to_owned(), "[fe80::1%eth0]:5", None),
            ("[fe80::1%25]:5".to_owned(), "[fe80::1%25]:5", None),
        ] {
            let invitation: Invitation = text.parse().expect(&text);
            assert_eq!(invitation.address.to_string(), address, "{text}");
            assert_eq!(invitation.fingerprint, fingerprint, "{text}");
            assert_eq!(invitation.to_string().parse(), Ok(invitation), "{text}");
        }
    }

    #[test]
    fn hostile_links_are_refused_in_a_sentence() {
        let print = Fingerprint([0xab; 32]).to_string();
        for text in [
            "phaselock://".to_owned(),
            "phaselock://#".to_owned(),
            "phaselock://a#".to_owned(),
            "phaselock://a#sha256:00".to_owned(),
            format!("phaselock://a#{print}#{print}"),
            format!("phaselock://a?x#{print}"),
            format!("a#{print}"),
            "phaselock://user@a".to_owned(),
            "phaselock://a/b".to_owned(),
            "phaselock://a:0".to_owned(),
            "phaselock://--fullscreen x".to_owned(),
            "http://a".to_owned(),
            "é".to_owned(),
            format!("phaselock://{}", "a".repeat(LINK_BYTES_MAX)),
        ] {
            let error = text.parse::<Invitation>().expect_err(&text).to_string();
            assert!(!error.is_empty(), "{text}");
        }
    }
}
