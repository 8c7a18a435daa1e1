//! Hashes with their texts, and a proof of identity.

use std::borrow::Cow;

use phaselock::fields::Entity;
use phaselock::identity::proof_text;
use phaselock::wire::description::Description;
use phaselock::wire::layout::Layout;
use phaselock::wire::model::Tables;
use phaselock::wire::protocol::game_hash;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::pki_types::PrivatePkcs8KeyDer;

use super::json::{file, hex, lines, object, value};
use super::specimens::{Specimen, Specimens};

/// Texts whose hashes are examples; the empty text has the start value.
const TEXTS: [&str; 5] = ["", "a", "foobar", "Café", "line\nline\n"];

/// Secret of the first example of RFC 8032, section 7.1.
const SECRET: [u8; 32] = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
    0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
];

/// Beginning of a secret of Ed25519 in PKCS #8 (RFC 8410).
const PKCS8_START: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// 64-bit FNV-1a, repeated here because the engine's own is private.
fn fnv1a(bytes: &[u8]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The file of hashes.
///
/// # Panics
///
/// If the hash here differs from the engine's.
pub(super) fn hashes() -> String {
    let all = Description::of::<Specimens>();
    let tables = Layout::new(Cow::Borrowed(Tables::general()), Specimen::KINDS);
    let digest = fnv1a(tables.levels());
    assert_eq!(digest, format!("{:016x}", tables.digest()), "one hash, written twice");
    assert_eq!(fnv1a(all.rules.text.as_bytes()), format!("{:016x}", game_hash::<Specimens>()));
    let hashed =
        |text: &str| object(&[("text", value(text)), ("hash", value(fnv1a(text.as_bytes())))]);
    file(&[
        ("fnv1a", lines(TEXTS.map(hashed))),
        ("wire", value(&all.wire.hashed)),
        ("rules", value(&all.rules)),
        ("fields", value(&all.fields)),
        ("tables", object(&[("levels", value(tables.levels().len())), ("hash", value(digest))])),
    ])
}

/// A key's file, and its proof for one connection.
///
/// # Panics
///
/// If the key cannot sign.
pub(super) fn identity() -> String {
    let der = PrivatePkcs8KeyDer::from([&PKCS8_START[..], &SECRET].concat());
    let pair = any_eddsa_type(&der).expect("it is a key of Ed25519");
    let public = pair.public_key().expect("a key has a public half");
    let public = public.last_chunk::<32>().expect("which has 32 bytes");
    let exported: [u8; 32] = std::array::from_fn(|at| 0xe0 ^ at as u8);
    let text = proof_text(&exported);
    let signer = pair.choose_scheme(&[SignatureScheme::ED25519]).expect("it has this scheme");
    let proof = signer.sign(&text).expect("it can sign");
    file(&[
        ("secret", hex(&SECRET)),
        ("key", hex(public)),
        ("exported", hex(&exported)),
        ("text", hex(&text)),
        ("proof", hex(&proof)),
    ])
}
