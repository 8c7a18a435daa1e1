//! The secret of a fleet, and the keys by which its servers and directories trust each other.
//!
//! Each purpose has its own key, derived from the secret, so what is made for one is worthless
//! for the others.
//!
//! Nothing here reads a clock or makes random numbers.

use std::fmt;

use phaselock::textfile::Text;
use phaselock::wire::directory::play::Play;
use phaselock::wire::directory::{FleetProof, SignedFacts, signed_text};
use ring::hmac;

/// The shortest secret in bytes.
pub const SECRET_BYTES_MIN: usize = 32;
/// Maximum bytes of its file, including blanks around the secret. Arbitrary.
pub const SECRET_FILE_BYTES_MAX: usize = 4096;

/// What the keys are for, in the order of their uses below.
const TRANSFER_CONTEXT: &[u8] = b"phaselock fleet transfer 1";
const SEAT_CONTEXT: &[u8] = b"phaselock fleet seat 1";
const PLACES_CONTEXT: &[u8] = b"phaselock fleet places 1";

/// The keys of a fleet.
#[derive(Clone)]
pub struct FleetKey {
    /// Signs the tickets of players who move from server to server.
    pub(crate) transfer: hmac::Key,
    /// Signs the tickets for seats that directories reserve.
    pub(crate) seat: hmac::Key,
    /// Proves to directories that a server is of the fleet.
    places: hmac::Key,
}

impl fmt::Debug for FleetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetKey(hidden)")
    }
}

impl FleetKey {
    /// Derives the keys from the fleet's secret.
    pub fn new(secret: &[u8]) -> Self {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let derived =
            |context| hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&secret, context).as_ref());
        Self {
            transfer: derived(TRANSFER_CONTEXT),
            seat: derived(SEAT_CONTEXT),
            places: derived(PLACES_CONTEXT),
        }
    }

    /// Proves to a directory that the server with these facts is of the fleet, for one request.
    pub fn prove_places(&self, facts: SignedFacts<'_>, play: &Play) -> FleetProof {
        let code = hmac::sign(&self.places, &places_text(facts, play));
        let mut proof = FleetProof::default();
        proof.iter_mut().zip(code.as_ref()).for_each(|(to, from)| *to = *from);
        proof
    }

    /// Whether a server of the fleet made a proof for these facts and this request.
    pub fn proves_places(&self, facts: SignedFacts<'_>, play: &Play, proof: &FleetProof) -> bool {
        // In constant time.
        hmac::verify(&self.places, &places_text(facts, play), proof).is_ok()
    }
}

/// Returns what a server's proof for a directory covers: the request without its pings, and what
/// its certificate's key signs.
fn places_text(facts: SignedFacts<'_>, play: &Play) -> Vec<u8> {
    let game = play.game.as_bytes();
    let length = u16::try_from(game.len()).unwrap_or(u16::MAX).to_le_bytes();
    let request = [&play.request.0[..], &play.people.to_le_bytes(), &length, game].concat();
    [request, signed_text(facts)].concat()
}

/// Returns the secret in the content of its file. The error is the rule that the file breaks.
pub fn secret_in(bytes: &[u8]) -> Result<String, String> {
    let line = Text::decode(bytes, SECRET_FILE_BYTES_MAX).and_then(Text::only_line);
    let line = line.map_err(|error| format!("a file with the fleet's secret; {error}"))?;
    let text = line.trim();
    if text.len() < SECRET_BYTES_MIN {
        return Err(format!(
            "a file with one line of at least {SECRET_BYTES_MIN} characters, such as the output \
             of: openssl rand -hex 32"
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use phaselock::fingerprint::Fingerprint;
    use phaselock::wire::directory::play::{PartyWish, RequestId};
    use phaselock::wire::directory::{ProofPurpose, Token};

    use super::*;

    const TOKEN: Token = [7; 24];

    fn facts() -> SignedFacts<'static> {
        SignedFacts {
            purpose: ProofPurpose::Places(Some(([203, 0, 113, 7], 7001).into())),
            directory: "directory.example.org:4435",
            token: &TOKEN,
            port: 4433,
            certificate: Fingerprint([1; 32]),
        }
    }

    fn play() -> Play {
        let (game, party) = ("chess".to_owned(), PartyWish::None);
        Play { request: RequestId([1; 8]), game, people: 5, party, pings: Vec::new() }
    }

    #[test]
    fn a_proof_holds_for_one_server_one_directory_one_token_and_one_request() {
        let key = FleetKey::new(&[9; 32]);
        let proof = key.prove_places(facts(), &play());
        assert!(key.proves_places(facts(), &play(), &proof));
        assert!(!FleetKey::new(&[8; 32]).proves_places(facts(), &play(), &proof), "another fleet");
        let others = [
            SignedFacts { purpose: ProofPurpose::Places(None), ..facts() },
            SignedFacts { purpose: ProofPurpose::Announcement, ..facts() },
            SignedFacts { directory: "evil.example.org:4435", ..facts() },
            SignedFacts { token: &[8; 24], ..facts() },
            SignedFacts { port: 4434, ..facts() },
            SignedFacts { certificate: Fingerprint([2; 32]), ..facts() },
        ];
        for other in others {
            assert!(!key.proves_places(other, &play(), &proof), "{other:?}");
        }
        let plays = [
            Play { request: RequestId([2; 8]), ..play() },
            Play { game: "go".into(), ..play() },
            Play { people: 6, ..play() },
        ];
        for other in plays {
            assert!(!key.proves_places(facts(), &other, &proof), "{other:?}");
        }
        for at in 0..proof.len() {
            let mut forged = proof;
            forged[at] ^= 1;
            assert!(!key.proves_places(facts(), &play(), &forged), "{at}");
        }
    }

    #[test]
    fn a_secret_is_one_long_line() {
        let secret = "0123456789abcdef0123456789abcdef";
        for good in [secret.to_owned(), format!("  {secret}\n"), format!("{secret}\r\n")] {
            assert_eq!(secret_in(good.as_bytes()).as_deref(), Ok(secret), "{good:?}");
        }
        for bad in ["", "short", &format!("{secret}\n{secret}"), &"x".repeat(5000)] {
            assert!(secret_in(bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(secret_in(&[0xff; 40]).is_err());
    }
}
