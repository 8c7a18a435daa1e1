//! Identities stored, found again and damaged in all ways; whatever is wrong, nothing is
//! overwritten.

use std::fs;

use tempfile::{TempDir, tempdir};

use super::*;

fn stored() -> (TempDir, Identity) {
    let dir = tempdir().expect("a temporary directory");
    let identity = Identity::load_or_create(dir.path()).expect("a new identity");
    (dir, identity)
}

/// Returns the error of loading a stored identity after `spoil` has changed its directory. Checks
/// that the error names `file` and that loading changes nothing.
fn spoilt(file: &str, spoil: impl FnOnce(&Path)) -> IdentityError {
    let (dir, _) = stored();
    spoil(dir.path());
    let listing = || {
        let content = |name| fs::read(dir.path().join(name)).ok();
        (
            fs::read_dir(dir.path()).expect("readable").count(),
            content(CERTIFICATE_FILE),
            content(KEY_FILE),
        )
    };
    let before = listing();
    let error = Identity::load_or_create(dir.path()).expect_err("a spoilt identity");
    assert!(error.to_string().contains(&*dir.path().join(file).to_string_lossy()), "{error}");
    assert_eq!(listing(), before);
    error
}

#[test]
fn a_stored_identity_is_found_again() {
    let dir = tempdir().expect("a temporary directory");
    let data = dir.path().join("some/where");
    let made = Identity::load_or_create(&data).expect("a new identity");
    let found = Identity::load_or_create(&data).expect("the stored identity");
    assert_eq!(found.certificate, made.certificate);
    assert_eq!(found.key, made.key);
    assert_eq!(found.fingerprint, made.fingerprint);
    assert_eq!(made.fingerprint, fingerprint_of(&made.certificate));
    assert_eq!(fs::read_dir(&data).expect("readable").count(), 2, "no temporary file stays behind");
}

#[test]
fn digests_are_those_of_sha256() {
    // FIPS 180-4's example, "abc".
    assert_eq!(
        fingerprint_of(&CertificateDer::from(b"abc".as_slice())).to_string(),
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn every_identity_differs() {
    let [one, other] = [(); 2].map(|()| Identity::ephemeral().expect("an identity").fingerprint);
    assert_ne!(one, other);
}

#[test]
fn half_an_identity_is_an_error() {
    for (removed, kept) in [(KEY_FILE, CERTIFICATE_FILE), (CERTIFICATE_FILE, KEY_FILE)] {
        let error = spoilt(removed, |dir| fs::remove_file(dir.join(removed)).expect("removable"));
        assert!(
            matches!(&error, IdentityError::Half { present, .. } if present.ends_with(kept)),
            "{error}"
        );
    }
}

#[test]
fn an_unparsable_file_is_an_error() {
    let big = "-".repeat(PEM_BYTES_MAX + 1);
    let cut = "-----BEGIN CERTIFICATE-----\nAAAA\n";
    let wrong = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for (file, content) in [
        (CERTIFICATE_FILE, ""),
        (CERTIFICATE_FILE, "hello"),
        (CERTIFICATE_FILE, cut),
        (CERTIFICATE_FILE, wrong),
        (CERTIFICATE_FILE, key),
        (CERTIFICATE_FILE, &big),
        (KEY_FILE, ""),
        (KEY_FILE, key),
        (KEY_FILE, wrong),
        (KEY_FILE, "\0\u{ff}"),
    ] {
        let error = spoilt(file, |dir| fs::write(dir.join(file), content).expect("writable"));
        assert!(
            matches!(error, IdentityError::Unusable { .. }),
            "{file} with {content:.40?}: {error}"
        );
    }
}

#[test]
fn traces_of_editors_do_not_matter() {
    let (dir, identity) = stored();
    let (certificate, key) = Identity::paths_in(dir.path());
    let texts = [&certificate, &key].map(|path| fs::read_to_string(path).expect("readable"));
    let marked = |text: &str| format!("\u{feff}{}", text.trim_end());
    let edits: [&dyn Fn(&str) -> String; 4] = [
        &marked,
        &|text| text.replace('\n', "\r"),
        &|text| marked(text).replace('\n', " \r\n"),
        &|text| text.replace('\n', "\n  "),
    ];
    for edit in edits {
        for (path, text) in [&certificate, &key].into_iter().zip(&texts) {
            fs::write(path, edit(text)).expect("writable");
        }
        let found = Identity::load(&certificate, &key).expect("the stored identity");
        assert_eq!(found.fingerprint, identity.fingerprint);
    }
    let commented = [b"# caf\xe9\n", texts[0].as_bytes()].concat();
    fs::write(&certificate, commented).expect("writable");
    Identity::load(&certificate, &key).expect("comments may be in any encoding");
    fs::write(&key, b"\xff\xfe-\0").expect("writable");
    let error = Identity::load(&certificate, &key).expect_err("it is UTF-16").to_string();
    assert!(error.contains("key.pem is not PEM (it is in UTF-16"), "{error}");
}

#[test]
fn a_foreign_key_is_an_error() {
    let error = spoilt(KEY_FILE, |dir| {
        let (other, _) = stored();
        fs::copy(other.path().join(KEY_FILE), dir.join(KEY_FILE)).expect("copied");
    });
    assert!(matches!(error, IdentityError::Mismatch { .. }), "{error}");
}

#[test]
fn a_chain_keeps_its_order() {
    let (dir, identity) = stored();
    let (_, intermediate, _) = Identity::generate().expect("another certificate");
    let path = dir.path().join(CERTIFICATE_FILE);
    let leaf = fs::read_to_string(&path).expect("readable");
    fs::write(&path, leaf + &intermediate).expect("writable");
    let found = Identity::load_or_create(dir.path()).expect("a chain");
    assert_eq!((found.fingerprint, found.presented.get().cert.len()), (identity.fingerprint, 2));
}

#[test]
fn nothing_is_overwritten() {
    let dir = tempdir().expect("a temporary directory");
    let path = dir.path().join(KEY_FILE);
    write_new(dir.path(), &path, "first").expect("written");
    let error = write_new(dir.path(), &path, "second").expect_err("already there");
    assert!(matches!(&error, IdentityError::Io { error, .. }
            if error.kind() == io::ErrorKind::AlreadyExists));
    assert_eq!(fs::read_to_string(&path).expect("readable"), "first");
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_key() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).expect("present").permissions().mode() & 0o777;
    let dir = tempdir().expect("a temporary directory");
    let data = dir.path().join("data");
    Identity::load_or_create(&data).expect("a new identity");
    let key = data.join(KEY_FILE);
    assert_eq!((mode(&data), mode(&key)), (0o700, 0o600));

    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("ours");
    Identity::load_or_create(&data).expect("the stored identity");
    assert_eq!(mode(&key), 0o600);
}

#[test]
fn tls_is_1_3_with_aes_128_first() {
    let identity = Identity::ephemeral().expect("an identity");
    let crypto = identity.server_crypto(b"test").expect("a configuration");
    let suites = &crypto.crypto_provider().cipher_suites;
    assert_eq!(suites[0].suite(), rustls::CipherSuite::TLS13_AES_128_GCM_SHA256);
    assert!(suites.iter().all(|suite| suite.tls13().is_some()));
    assert_eq!(crypto.alpn_protocols, [b"test"]);
    assert_eq!(crypto.max_early_data_size, 0, "early data can be replayed");
}
