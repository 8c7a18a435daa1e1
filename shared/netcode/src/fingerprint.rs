//! Fingerprints of server certificates, by which clients recognise a server.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Start of each written fingerprint; a later hash would use another.
const PREFIX: &str = "sha256:";

/// The SHA-256 digest of a server's end-entity certificate in DER.
///
/// Written as `sha256:` and 64 lowercase hexadecimal digits. Uppercase digits are accepted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub [u8; 32]);

/// The text is not a [`Fingerprint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a fingerprint is \"{PREFIX}\" and 64 hexadecimal digits")]
pub struct ParseFingerprintError;

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).ok_or(ParseFingerprintError)?.as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(ParseFingerprintError);
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| ParseFingerprintError)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| ParseFingerprintError)?;
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
    fn fingerprint_is_spelled_in_lowercase_behind_the_name_of_its_hash() {
        assert_eq!(counting().to_string(), COUNTING);
        assert_eq!(format!("{:?}", counting()), format!("Fingerprint({COUNTING})"));
        assert_eq!(COUNTING.parse(), Ok(counting()));
    }

    #[test]
    fn uppercase_digits_are_taken() {
        let upper = COUNTING.to_uppercase().replace("SHA256", "sha256");
        assert_eq!(upper.parse(), Ok(counting()));
    }

    #[test]
    fn malformed_fingerprints_are_refused() {
        for text in [
            "",
            "00",
            "SHA256:",
            "sha512:00",
            "sha256:",
            &COUNTING[..COUNTING.len() - 1],
            &format!("{COUNTING}0"),
            &format!("{COUNTING} "),
            &format!("{}g", &COUNTING[..COUNTING.len() - 1]),
            &format!("{}+1", &COUNTING[..COUNTING.len() - 2]),
            &format!("{}é", &COUNTING[..COUNTING.len() - 2]),
        ] {
            assert_eq!(text.parse::<Fingerprint>(), Err(ParseFingerprintError), "{text:?}");
        }
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
