//! The snapshot packet, from the server to a client: a header, and entities, coded relative to
//! acknowledged states. A snapshot may take several packets; each is useful by itself.

mod change;
mod early;
mod header;
mod progress;
mod reading;
mod references;
mod silence;
#[cfg(test)]
mod tests;
mod writer;

pub use change::{Change, Encoding};
pub use early::{EarlyChange, EarlySteering};
pub use header::{InputReport, Perceived, SnapshotHeader, stamp};
pub(crate) use progress::digest;
pub use progress::{SILENCE_KIND, SNAPSHOT_KIND};
pub(crate) use reading::count_snapshot;
pub use reading::{DecodeContext, EntityUpdate, read_header, read_snapshot};
pub use references::References;
pub use silence::KindSet;
pub(crate) use writer::ReferenceCoding;
pub use writer::SnapshotWriter;
