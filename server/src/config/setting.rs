//! A setting: one declaration with its name, parser, way back to text, and effect.

use std::ffi::OsStr;

use phaselock::limits::RESUME_MAX;

use super::types::Config;
use super::values::Faults;

/// Most threads that pack snapshots; more have nothing to do.
pub const WORKERS_MAX: u16 = 64;
/// Most threads that run rooms. Arbitrary; one for each of many processors.
pub const ROOM_THREADS_MAX: u16 = 64;
/// Longest time for which a seat is kept, or the server drains.
pub(super) const RESUME_SECONDS_MAX: u32 = (RESUME_MAX.0 / 1_000_000) as u32;

/// Cause for which most settings of the start take a restart.
pub(super) const START: Option<&str> = Some("it counts when the server starts");

/// Form of a value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text alone.
    Text,
    /// A number, or text.
    Number,
    /// True or false, or text; on the command line the name alone means true.
    Switch,
    /// Text or a number, or a list of such, which mean the same as one with commas between.
    List,
    /// Tables, or text.
    Tables,
}

impl Kind {
    /// The form, for messages.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Self::Text => "text in quotes",
            Self::Number => "a whole number",
            Self::Switch => "true or false",
            Self::List => "text in quotes, or several in square brackets",
            Self::Tables => "tables, or text in quotes",
        }
    }
}

/// A setting.
pub(super) struct Setting {
    /// Its name on the command line.
    pub(super) flag: &'static str,
    /// Placeholder of its value in the help.
    pub(super) value: &'static str,
    pub(super) help: &'static str,
    /// Its default in words, where it is more than a value.
    pub(super) default: Option<&'static str>,
    pub(super) kind: Kind,
    /// Reads a value; the error is every rule that the value breaks.
    pub(super) read: fn(&mut Config, &OsStr) -> Result<(), Faults>,
    /// The value as text, except for a secret.
    pub(super) show: fn(&Config) -> String,
    /// True if two values differ that are shown alike.
    pub(super) differs: fn(&Config, &Config) -> bool,
    /// Rooms and games may have values of their own.
    pub(super) is_of_room: bool,
    /// The value names files, or addresses that the server sends to, so it cannot be set remotely.
    pub(super) is_local: bool,
    /// The value is not for the eyes of everybody.
    pub(super) is_secret: bool,
    /// Cause for which it takes a restart; none if it takes effect while the server runs.
    pub(super) restart: Option<&'static str>,
}

impl Setting {
    /// Text; the rest is for each setting to say.
    pub(super) const TEXT: Self = Self {
        flag: "",
        value: "",
        help: "",
        default: None,
        kind: Kind::Text,
        read: |_, _| Ok(()),
        show: |_| String::new(),
        differs: |_, _| false,
        is_of_room: false,
        is_local: false,
        is_secret: false,
        restart: None,
    };
    pub(super) const NUMBER: Self = Self { kind: Kind::Number, ..Self::TEXT };
    pub(super) const SWITCH: Self = Self { kind: Kind::Switch, value: "BOOL", ..Self::TEXT };
    pub(super) const LIST: Self = Self { kind: Kind::List, ..Self::TEXT };

    /// Its name in the file.
    pub(super) fn key(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// Its name in the environment.
    pub(super) fn variable(&self) -> String {
        format!("PHASELOCK_{}", self.key().to_uppercase())
    }

    /// Its default, for the help and the manual.
    pub(super) fn default_text(&self) -> String {
        self.default.map_or_else(|| (self.show)(&Config::default()), str::to_owned)
    }

    /// True if two configurations have different values.
    pub(super) fn has_changed(&self, before: &Config, after: &Config) -> bool {
        (self.show)(before) != (self.show)(after) || (self.differs)(before, after)
    }
}
