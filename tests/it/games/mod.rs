//! Games and scenes that the scenarios play.

pub(crate) mod air;
pub(crate) mod lane;
pub(crate) mod moody;
pub(crate) mod range;
pub(crate) mod runners;
pub(crate) mod tally;
