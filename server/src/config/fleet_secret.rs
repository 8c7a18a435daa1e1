//! The secret that the servers of a fleet share, as a setting.

use std::fmt;
use std::path::{Path, PathBuf};

use phaselock::textfile::Text;
use phaselock_quic::tickets::{FleetKey, SECRET_BYTES_MIN};

use super::values::file;

/// Maximum bytes of its file, including blanks around the secret. Arbitrary.
const FILE_BYTES_MAX: usize = 4096;

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
        let bytes = file(path, FILE_BYTES_MAX, "the fleet's secret")?;
        let line = Text::decode(&bytes, FILE_BYTES_MAX).and_then(Text::only_line);
        let line = line.map_err(|error| format!("a file with the fleet's secret; {error}"))?;
        let text = line.trim().to_owned();
        if text.len() < SECRET_BYTES_MIN {
            return Err(format!(
                "a file with one line of at least {SECRET_BYTES_MIN} characters, such as the \
                 output of: openssl rand -hex 32"
            ));
        }
        Ok(Self { path: path.to_owned(), text })
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
