//! What is likely: the frozen tables that snapshots are coded with.

/// Frozen tables.
#[derive(Debug)]
pub struct Tables {}

impl Tables {
    /// Those for games without their own.
    pub fn general() -> &'static Self {
        static GENERAL: Tables = Tables {};
        &GENERAL
    }
}
