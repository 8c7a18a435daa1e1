//! The secret that the servers of a fleet share, as a setting.

use std::fmt;
use std::path::{Path, PathBuf};

use phaselock_quic::fleet::{FleetKey, SECRET_FILE_BYTES_MAX, secret_in};

use super::values::file;

/// A fleet's secret, which is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct FleetSecret {
    /// The file that it was read from.
    pub path: PathBuf,
    text: String,
}

impl FleetSecret {
    /// Reads the secret from a file with one line. The error is the rule that the file breaks.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let bytes = file(path, SECRET_FILE_BYTES_MAX, "the fleet's secret")?;
        Ok(Self { path: path.to_owned(), text: secret_in(&bytes)? })
    }

    /// Returns the key that signs and checks tickets.
    pub(crate) fn key(&self) -> FleetKey {
        FleetKey::new(self.text.as_bytes())
    }

    /// Whether both are the same secret, wherever it was read from.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for FleetSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetSecret").field("path", &self.path).finish_non_exhaustive()
    }
}
