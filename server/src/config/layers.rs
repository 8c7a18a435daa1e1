//! Settings as they were given: text with its origin.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

/// The given settings, by flag.
pub(crate) type Layers = BTreeMap<&'static str, Given>;

/// A setting's text as it was given.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(super) text: OsString,
    /// A noun for messages, such as "the flag --bots".
    pub(super) origin: String,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text may be a secret.
        f.write_str(&self.origin)
    }
}
