//! Limits of a send rate that change while it runs.

#[cfg(doc)]
use crate::limits::SNAPSHOT_BYTES_MIN;

use super::SendRate;

impl SendRate {
    /// Sets the maximum rate of snapshots in bytes per second; at least [`SNAPSHOT_BYTES_MIN`] per
    /// snapshot.
    pub fn set_most(&mut self, most: u32) {
        self.most = u64::from(most).max(self.least);
        self.rate = self.rate.min(self.most);
    }
}
