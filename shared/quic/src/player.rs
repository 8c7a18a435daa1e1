//! The key by which servers recognise a player: created once, stored in a file, proven on each
//! connection.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use phaselock::identity::{BINDING_LABEL, Credentials, Proof, PublicKey, proof_text};
use quinn::Connection;
use quinn::crypto::{ExportKeyingMaterialError, Session};
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData as _, SigningKey as _};
use ring::signature::{ED25519, UnparsedPublicKey};

use crate::identity::{IdentityError, read_pem, write_new};
use crate::private;

/// Where a player's key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerKeys {
    /// A PEM file; if it does not exist, a new key is created in it.
    File(PathBuf),
    /// A new key for each [`Driver`](crate::client::Driver), which keeps it when it joins again.
    /// Two drivers are two players, even with clones of the same options.
    Ephemeral,
}

/// A player's key pair.
pub struct PlayerKey {
    pair: KeyPair,
    public: PublicKey,
}

impl fmt::Debug for PlayerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PlayerKey").field(&self.public).finish()
    }
}

/// Why a player has no key.
#[derive(Debug, thiserror::Error)]
pub enum PlayerKeyError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] IdentityError),
    /// The file does not contain a key.
    #[error(
        "{} holds no Ed25519 key in PEM ({problem}): restore it from a backup, or move it away to \
         get a new key, which no server knows",
        path.display()
    )]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// No key could be generated.
    #[error("cannot make a player's key: {0}")]
    Generate(#[from] rcgen::Error),
}

impl PlayerKey {
    /// Loads or creates the key from this source.
    pub fn load(keys: &PlayerKeys) -> Result<Self, PlayerKeyError> {
        match keys {
            PlayerKeys::Ephemeral => Ok(Self::of(KeyPair::generate_for(&PKCS_ED25519)?)),
            PlayerKeys::File(path) => Self::load_or_create(path),
        }
    }

    /// Returns the default path, next to the known-hosts file.
    pub fn default_path() -> Option<PathBuf> {
        Some(crate::pins::KnownHosts::default_path()?.with_file_name("player.pem"))
    }

    fn load_or_create(path: &Path) -> Result<Self, PlayerKeyError> {
        if let Some(bytes) = Self::read(path)? {
            private::keep_private(path);
            return Self::from_pem(path, &bytes);
        }
        let pair = KeyPair::generate_for(&PKCS_ED25519)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        private::create_dir(folder).map_err(|error| IdentityError::Io {
            action: "create the directory",
            path: folder.to_owned(),
            error,
        })?;
        match write_new(folder, path, &pair.serialize_pem()) {
            Ok(()) => Ok(Self::of(pair)),
            // Another client of the same player was faster.
            Err(IdentityError::Io { error, .. })
                if error.kind() == io::ErrorKind::AlreadyExists =>
            {
                let bytes = Self::read(path)?.ok_or(IdentityError::Io {
                    action: "read",
                    path: path.to_owned(),
                    error,
                })?;
                Self::from_pem(path, &bytes)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the content of the file, if it exists.
    fn read(path: &Path) -> Result<Option<Vec<u8>>, PlayerKeyError> {
        read_pem(path).map_err(|error| match error {
            // The advice for servers is of no use to a player.
            IdentityError::Unusable { path, problem } => {
                PlayerKeyError::Unusable { path, problem: format!("it {problem}") }
            }
            error => error.into(),
        })
    }

    fn from_pem(path: &Path, bytes: &[u8]) -> Result<Self, PlayerKeyError> {
        let unusable =
            |problem: String| PlayerKeyError::Unusable { path: path.to_owned(), problem };
        let text = std::str::from_utf8(bytes).map_err(|error| unusable(error.to_string()))?;
        let pair = KeyPair::from_pem_and_sign_algo(text, &PKCS_ED25519)
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Self::of(pair))
    }

    fn of(pair: KeyPair) -> Self {
        let mut public = PublicKey::default();
        // An Ed25519 key has exactly these 32 bytes.
        public.0.iter_mut().zip(pair.der_bytes()).for_each(|(to, from)| *to = *from);
        Self { pair, public }
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// Returns key and proof for a connection.
    pub fn credentials(&self, connection: &Connection) -> Result<Credentials, PlayerKeyError> {
        self.prove(&binding(|to| connection.export_keying_material(to, BINDING_LABEL, b"")))
    }

    /// Returns key and proof, bound to these bytes.
    pub(crate) fn prove(&self, binding: &[u8; 32]) -> Result<Credentials, PlayerKeyError> {
        self.sign(&proof_text(binding))
    }

    /// Returns the key, and its signature of a text.
    pub fn sign(&self, text: &[u8]) -> Result<Credentials, PlayerKeyError> {
        let signature = self.pair.sign(text)?;
        let mut proof = Proof::default();
        let halves = proof.0.as_flattened_mut().iter_mut();
        halves.zip(signature).for_each(|(to, from)| *to = from);
        Ok(Credentials { key: self.public, proof })
    }
}

/// Whether the owner of the key made the credentials for this connection.
pub(crate) fn is_proven(session: &dyn Session, credentials: &Credentials) -> bool {
    is_bound(&binding(|to| session.export_keying_material(to, BINDING_LABEL, b"")), credentials)
}

/// Encodings of the points of small order, without the sign bit, including those that are not
/// reduced modulo p = 2^255 - 19. With such a key, one proof is valid for many texts (RFC 8032, 8.4
/// and 8.9, does not check this itself). They are 0, 1, the two of order 8, p - 1, p and p + 1.
const SMALL_ORDER: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

fn is_small_order(mut key: PublicKey) -> bool {
    key.0[31] &= 0x7f;
    SMALL_ORDER.contains(&&*key.to_string())
}

/// Whether the owner of the key made the credentials for these bytes.
pub(crate) fn is_bound(binding: &[u8; 32], credentials: &Credentials) -> bool {
    is_signed(&proof_text(binding), credentials)
}

/// Whether the owner of the key signed a text.
pub fn is_signed(text: &[u8], Credentials { key, proof }: &Credentials) -> bool {
    if is_small_order(*key) {
        return false;
    }
    let key = UnparsedPublicKey::new(&ED25519, key.0);
    key.verify(text, proof.0.as_flattened()).is_ok()
}

/// Returns bytes that only the two ends of this connection have, so a proof is worthless on any
/// other connection and at any other time.
fn binding(export: impl FnOnce(&mut [u8]) -> Result<(), ExportKeyingMaterialError>) -> [u8; 32] {
    let mut binding = [0; 32];
    // Fails only for much longer outputs.
    export(&mut binding).expect("32 bytes can be exported");
    binding
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn proof_is_of_one_key_and_one_connection() {
        let [ada, eve] = [0; 2].map(|_| PlayerKey::load(&PlayerKeys::Ephemeral).expect("a key"));
        let credentials = ada.prove(&[7; 32]).expect("a proof");
        assert_eq!(credentials.key, ada.public());
        assert!(is_bound(&[7; 32], &credentials));
        assert!(!is_bound(&[8; 32], &credentials), "replayed on another connection");
        let stolen = Credentials { key: eve.public(), ..credentials };
        assert!(!is_bound(&[7; 32], &stolen), "claimed by another key");
        assert!(!is_bound(&[7; 32], &Credentials::default()));
        for bit in 0..512 {
            let mut forged = credentials;
            forged.proof.0.as_flattened_mut()[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_bound(&[7; 32], &forged), "bit {bit}");
        }
    }

    #[test]
    fn proof_is_that_of_the_test_vectors() {
        // The vectors' key and proof; tests/it compares them with the file.
        const KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        const PROOF: [&str; 2] = [
            "857aa203eae71c508f0b1324a3b8d07348a1b41ef961c81a90ae717a75c68cb2",
            "ca52a64ffe4370e7022560b317981d82f25875038661feb35b1c09ba1c1bd509",
        ];
        // The secret of the test vectors, the first example in RFC 8032.
        let pem = "-----BEGIN PRIVATE KEY-----\n\
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
            -----END PRIVATE KEY-----\n";
        let key = PlayerKey::from_pem(Path::new("player.pem"), pem.as_bytes()).expect("a key");
        let exported = std::array::from_fn(|at| 0xe0 ^ at as u8);
        let credentials = key.prove(&exported).expect("a proof");
        assert!(is_bound(&exported, &credentials));
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(&credentials.key.0), KEY);
        assert_eq!(credentials.proof.0.map(|half| hex(&half)), PROOF);
    }

    #[test]
    fn keys_of_small_order_prove_nothing() {
        for encoding in SMALL_ORDER {
            for sign in [0, 0x80] {
                let mut key = PublicKey::default();
                for (byte, at) in key.0.iter_mut().zip((0..64).step_by(2)) {
                    *byte = u8::from_str_radix(&encoding[at..at + 2], 16).expect("two digits");
                }
                key.0[31] |= sign;
                let mut first = [0; 32];
                first[0] = 1;
                for proof in [Proof::default(), Proof([first, [0; 32]]), Proof([key.0, [0; 32]])] {
                    for binding in 0..50 {
                        assert!(!is_bound(&[binding; 32], &Credentials { key, proof }), "{key}");
                    }
                }
            }
        }
    }

    #[test]
    fn key_file_is_made_once_and_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep").join("player.pem");
        let keys = PlayerKeys::File(path.clone());
        let first = PlayerKey::load(&keys).expect("a new key").public();
        assert_eq!(PlayerKey::load(&keys).expect("the same").public(), first);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(&path, "no key").expect("written");
        let error = PlayerKey::load(&keys).expect_err("it is no key").to_string();
        assert!(error.contains("player.pem holds no Ed25519 key in PEM"), "{error}");
        assert_eq!(fs::read(&path).expect("it is there"), b"no key", "nothing is overwritten");
    }
    #[test]
    fn key_file_that_is_huge_or_none_is_refused_with_advice_for_players() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("player.pem");
        fs::write(&path, "-".repeat(1_000_000)).expect("written");
        let error = |path: PathBuf| {
            PlayerKey::load(&PlayerKeys::File(path)).expect_err("it is no key").to_string()
        };
        let huge = error(path);
        assert!(
            huge.contains("it is not PEM (it is larger than") && huge.contains("move it away"),
            "{huge}"
        );
        let none = error(folder.path().to_owned());
        assert!(none.contains("it is not a file"), "{none}");
        // Reading it would end at once; reading a pipe would not.
        #[cfg(unix)]
        assert!(error("/dev/null".into()).contains("it is not a file"));
    }
}
