//! The fleet's secret, from a file that is read again when it has changed.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use phaselock_quic::files;
use phaselock_quic::fleet::{FleetKey, SECRET_FILE_BYTES_MAX, secret_in};

/// The file, and the secret that was read last.
#[derive(Debug)]
pub struct SecretFile {
    path: PathBuf,
    /// Hidden, unlike the rest.
    secret: Secret,
}

struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(hidden)")
    }
}

impl SecretFile {
    /// Reads the file. Fails if it has no secret.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self { secret: Secret(secret(path)?), path: path.to_owned() })
    }

    /// Returns the key of the fleet.
    pub fn key(&self) -> FleetKey {
        FleetKey::new(self.secret.0.as_bytes())
    }

    /// Reads the file again. Returns the key if it has changed.
    pub fn reload(&mut self) -> Option<FleetKey> {
        match secret(&self.path) {
            Ok(secret) if secret == self.secret.0 => None,
            Ok(secret) => {
                self.secret = Secret(secret);
                tracing::info!("read the fleet's changed secret");
                Some(self.key())
            }
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "cannot use the fleet's secret; the old one stays in use");
                None
            }
        }
    }
}

/// Returns the secret in a file. The error never quotes it.
fn secret(path: &Path) -> Result<String> {
    let said = || format!("cannot read {}", path.display());
    let bytes = files::read(path, SECRET_FILE_BYTES_MAX)
        .and_then(|bytes| bytes.ok_or_else(|| io::Error::other("there is no such file")));
    let rule = |rule| anyhow!("{} must be {rule}", path.display());
    secret_in(&bytes.with_context(said)?).map_err(rule)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_changed_secret_is_used_and_a_bad_one_is_not() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("secret");
        let error = |path| format!("{:#}", SecretFile::read(path).expect_err("no secret"));
        assert!(error(&path).contains("cannot read"));
        fs::write(&path, "short").expect("a file");
        let short = error(&path);
        assert!(short.contains("at least 32 characters") && !short.contains("short"), "{short}");
        let (one, two) = ("1".repeat(32), "2".repeat(32));
        fs::write(&path, &one).expect("a file");
        let mut file = SecretFile::read(&path).expect("a secret");
        assert!(!format!("{file:?}").contains(&one));
        assert!(file.reload().is_none());
        fs::write(&path, "too short").expect("a file");
        assert!(file.reload().is_none());
        fs::write(&path, format!("{two}\n")).expect("a file");
        assert!(file.reload().is_some() && file.reload().is_none());
    }
}
