//! A setting: one declaration of its name, type, default, parser, help and effect.

use std::ffi::OsStr;

use super::values::Faults;

/// Declares a section of settings: its struct with the defaults, and its table. An entry is a field
/// with its default and the rest of its [`Setting`]. All names of a setting follow from the field's
/// name.
macro_rules! section {
    (
        $(#[$about:meta])*
        $section:ident;
        $(
            $(#[$doc:meta])*
            $key:ident: $type:ty = $default:expr => { $($rest:tt)* }
        )*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $section {
            $( $(#[$doc])* pub $key: $type, )*
        }

        impl Default for $section {
            fn default() -> Self {
                Self { $( $key: $default, )* }
            }
        }

        impl $section {
            /// The table of the section, for the settings that contain it.
            pub(super) const fn table<C>() -> &'static [$crate::config::setting::Setting<C>]
            where
                C: AsRef<Self> + AsMut<Self> + Default + 'static,
            {
                use $crate::config::setting::{Setting, dashed, text};
                const { &[ $( Setting {
                    key: stringify!($key),
                    flag: {
                        const FLAG: [u8; stringify!($key).len()] = dashed(stringify!($key));
                        text(&FLAG)
                    },
                    $($rest)*
                }, )* ] }
            }
        }
    };
}
pub(super) use section;

/// Returns a key with dashes in place of underscores.
pub(super) const fn dashed<const LEN: usize>(key: &str) -> [u8; LEN] {
    let mut flag = [0; LEN];
    let mut at = 0;
    while at < LEN {
        let byte = key.as_bytes()[at];
        flag[at] = if byte == b'_' { b'-' } else { byte };
        at += 1;
    }
    flag
}

/// Returns ASCII bytes as text.
pub(super) const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("the key is not ASCII"),
    }
}

/// Why most settings need a restart.
pub(super) const START: Option<&str> = Some("it takes effect when the server starts");

/// The form of a value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only text.
    Text,
    /// A number, or text.
    Number,
    /// True or false, or text. On the command line, the name alone means true.
    Switch,
    /// Text or a number, or a list of them, which is the same as one text separated by commas.
    List,
    /// Tables, or text.
    Tables,
}

impl Kind {
    /// The form in words, for messages.
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

/// A setting of a configuration.
pub(super) struct Setting<C> {
    /// Name of the setting in the file.
    pub(super) key: &'static str,
    /// Name of the setting on the command line.
    pub(super) flag: &'static str,
    /// Placeholder of its value in the help.
    pub(super) value: &'static str,
    pub(super) help: &'static str,
    /// The default in words, if it is more than a value.
    pub(super) default: Option<&'static str>,
    pub(super) kind: Kind,
    /// Reads a value. The error has every rule that the value breaks.
    pub(super) read: fn(&mut C, &OsStr) -> Result<(), Faults>,
    /// The value as text, except for a secret.
    pub(super) show: fn(&C) -> String,
    /// Whether two values differ that are shown alike.
    pub(super) differs: fn(&C, &C) -> bool,
    /// Whether rooms and games may have values of their own.
    pub(super) is_of_room: bool,
    /// Whether the value names files, or addresses that the server sends to. Such a setting cannot
    /// be changed remotely.
    pub(super) is_local: bool,
    /// Whether the value must not be shown.
    pub(super) is_secret: bool,
    /// Why it needs a restart. `None` if it takes effect while the server runs.
    pub(super) restart: Option<&'static str>,
}

impl<C: Default> Setting<C> {
    /// The defaults of a setting that is text.
    pub(super) const TEXT: Self = Self {
        key: "",
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

    /// Returns the setting's name in the environment.
    pub(super) fn variable(&self) -> String {
        format!("PHASELOCK_{}", self.key.to_uppercase())
    }

    /// Returns the default, for the help and the manual.
    pub(super) fn default_text(&self) -> String {
        self.default.map_or_else(|| (self.show)(&C::default()), str::to_owned)
    }

    /// Whether two configurations have different values.
    pub(super) fn has_changed(&self, before: &C, after: &C) -> bool {
        (self.show)(before) != (self.show)(after) || (self.differs)(before, after)
    }
}
