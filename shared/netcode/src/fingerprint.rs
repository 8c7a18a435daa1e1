//! The name by which a client knows a server again: the SHA-256 digest of its certificate.
//!
//! Only the value and its spelling live here. Hashing needs cryptography, which this crate does
//! without; the server and the client each compute the digest with the library their TLS uses.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// What every spelled fingerprint begins with, so that a later hash can be told from this one.
const PREFIX: &str = "sha256:";

/// The SHA-256 digest of a server's end-entity certificate in DER.
///
/// It is spelled `sha256:` and 64 lowercase hexadecimal digits, both in the log of the server and
/// in the client's file of known servers, so that people can compare the two by eye. Parsing takes
/// uppercase digits too, because other tools print them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

/// Why a text is not a [`Fingerprint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseFingerprintError {
    /// It does not begin with the name of the hash.
    #[error("a fingerprint begins with \"{PREFIX}\"")]
    Prefix,
    /// Not as many characters after the prefix as a digest has digits.
    #[error("a fingerprint has 64 hexadecimal digits after \"{PREFIX}\", not {found}")]
    Length {
        /// How many characters there are.
        found: usize,
    },
    /// A character that is no hexadecimal digit.
    #[error("{found:?} is not a hexadecimal digit")]
    Digit {
        /// The first such character.
        found: char,
    },
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

// Thirty-two decimal numbers help nobody who reads a log or a failed assertion.
impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).ok_or(ParseFingerprintError::Prefix)?;
        let mut bytes = [0; 32];
        let mut count = 0;
        for (index, found) in digits.chars().enumerate() {
            let value = found.to_digit(16).ok_or(ParseFingerprintError::Digit { found })?;
            if let Some(byte) = bytes.get_mut(index / 2) {
                // A hexadecimal digit is below 16, and the second of a pair shifts the first up.
                *byte = *byte << 4 | value as u8;
            }
            count += 1;
        }
        if count != 2 * bytes.len() {
            return Err(ParseFingerprintError::Length { found: count });
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COUNTING: &str =
        "sha256:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn counting() -> Fingerprint {
        Fingerprint(std::array::from_fn(|index| index as u8))
    }

    #[test]
    fn is_spelled_in_lowercase_with_its_hash_named() {
        assert_eq!(counting().to_string(), COUNTING);
        assert_eq!(format!("{:?}", counting()), format!("Fingerprint({COUNTING})"));
        assert_eq!(COUNTING.parse(), Ok(counting()));
    }

    #[test]
    fn takes_uppercase_digits() {
        let upper = COUNTING.to_uppercase().replace("SHA256", "sha256");
        assert_eq!(upper.parse(), Ok(counting()));
    }

    #[test]
    fn says_what_is_wrong() {
        let check =
            |text: &str, error| assert_eq!(text.parse::<Fingerprint>(), Err(error), "{text:?}");
        check("", ParseFingerprintError::Prefix);
        check("00", ParseFingerprintError::Prefix);
        check("SHA256:", ParseFingerprintError::Prefix);
        check("sha512:00", ParseFingerprintError::Prefix);
        check("sha256:", ParseFingerprintError::Length { found: 0 });
        check(&COUNTING[..COUNTING.len() - 1], ParseFingerprintError::Length { found: 63 });
        check(&format!("{COUNTING}0"), ParseFingerprintError::Length { found: 65 });
        check(&format!("{COUNTING} "), ParseFingerprintError::Digit { found: ' ' });
        check("sha256:0g", ParseFingerprintError::Digit { found: 'g' });
        check("sha256:+1", ParseFingerprintError::Digit { found: '+' });
        check("sha256:é", ParseFingerprintError::Digit { found: 'é' });
    }

    proptest! {
        #[test]
        fn every_digest_survives_its_spelling(bytes: [u8; 32]) {
            let fingerprint = Fingerprint(bytes);
            prop_assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        }

        #[test]
        fn no_text_panics(text in "(sha256:)?.{0,80}") {
            if let Ok(fingerprint) = text.parse::<Fingerprint>() {
                prop_assert_eq!(fingerprint.to_string(), text.to_lowercase());
            }
        }
    }
}
