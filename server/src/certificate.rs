//! The server's certificate: where it comes from, and a new one while the server runs.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, bail};
use phaselock::fingerprint::Fingerprint;
use phaselock_quic::identity::{Identity, IdentityError};

use crate::config::Config;

/// The identity that the settings name. One that is missing from the data directory is made, unless
/// they require it.
pub(crate) fn identity(config: &Config) -> Result<Identity> {
    if config.cert_file.is_some() {
        return Ok(load(config)?);
    }
    let dir = &config.data_dir;
    let (certificate, key) = Identity::paths_in(dir);
    let is_missing = !certificate.exists() && !key.exists();
    if is_missing && config.require_identity {
        bail!(
            "there is no certificate in {}, and one is required: restore {} and {} from a backup, \
             or start once without --require-identity to have new ones made",
            dir.display(),
            certificate.display(),
            key.display()
        );
    }
    // A directory with other files in it has been used before.
    let was_used = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    let identity = Identity::load_or_create(dir)?;
    if is_missing && was_used {
        tracing::warn!(
            directory = %dir.display(),
            fingerprint = %identity.fingerprint,
            "the data directory has been used, but had no certificate: players who know this \
             server by another one will refuse the new one; restore cert.pem and key.pem from a \
             backup"
        );
    }
    Ok(identity)
}

/// The identity that is there.
fn load(config: &Config) -> Result<Identity, IdentityError> {
    let (certificate, key) = paths(config);
    Identity::load(&certificate, &key)
}

/// Paths of certificate and key.
pub(crate) fn paths(config: &Config) -> (PathBuf, PathBuf) {
    match (&config.cert_file, &config.key_file) {
        (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
        _ => Identity::paths_in(&config.data_dir),
    }
}

/// The certificate of a server that runs. Copies are of the same one.
#[derive(Clone, Debug)]
pub(crate) struct Presented {
    /// The one that the server started with, by which others are presented.
    identity: Arc<Identity>,
    fingerprint: Arc<Mutex<Fingerprint>>,
}

impl Presented {
    pub(crate) fn new(identity: Identity) -> Self {
        let fingerprint = Arc::new(Mutex::new(identity.fingerprint));
        Self { identity: Arc::new(identity), fingerprint }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Fingerprint of the certificate in force.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        *self.fingerprint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The identity that these settings name, if it is not the one in force.
    pub(crate) fn newer(&self, config: &Config) -> Result<Option<Identity>, IdentityError> {
        let identity = load(config)?;
        Ok((identity.fingerprint != self.fingerprint()).then_some(identity))
    }

    /// Presents another one from now on. Returns the fingerprint of the one before.
    pub(crate) fn replace(&self, other: &Identity) -> Fingerprint {
        self.identity.present(other);
        let mut fingerprint = self.fingerprint.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut fingerprint, other.fingerprint)
    }
}
