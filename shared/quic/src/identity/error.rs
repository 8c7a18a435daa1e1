//! Errors of identities, and the names of their files.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// File name of the certificate, in a data directory.
pub const CERTIFICATE_FILE: &str = "cert.pem";
/// File name of its private key, in the same directory.
pub const KEY_FILE: &str = "key.pem";

/// Why a server has no identity.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, Error)]
pub enum IdentityError {
    #[error("cannot {action} {}: {error}", path.display())]
    Io { action: &'static str, path: PathBuf, error: io::Error },
    #[error(
        "{} is there but {} is missing: restore the missing file from a backup, or remove the \
         other one to get a new identity; players are warned about it",
        present.display(), missing.display()
    )]
    Half { present: PathBuf, missing: PathBuf },
    #[error("{} {problem}: restore it from a backup, or move {CERTIFICATE_FILE} and {KEY_FILE} \
         away to get a new identity; players are warned about it", path.display())]
    Unusable { path: PathBuf, problem: String },
    #[error(
        "{} is not the private key of {}: restore the pair from one backup, or move both files \
         away to get a new identity; players are warned about it",
        key.display(), certificate.display()
    )]
    Mismatch { certificate: PathBuf, key: PathBuf },
    #[error("cannot make a certificate: {0}")]
    Generate(#[from] rcgen::Error),
    #[error("cannot use the new key: {0}")]
    Key(#[from] rustls::Error),
}
