//! The server's settings: flags over environment over a TOML file over defaults.
//!
//! Every setting has one name with three spellings: `tick_hz` in the file, `PHASELOCK_TICK_HZ` in
//! the environment, `--tick-hz` on the command line. It is declared once, in the file of its
//! section (`play`, `joining`, `operation` or `http`): type, default, parser, help and effect. A
//! value stays text, with its origin, until the setting's one parser reads it, so a bad value has
//! the same message everywhere. All mistakes are reported at once.

mod allow_list;
mod deny_lists;
mod error;
mod fleet_secret;
mod http;
mod joining;
mod layers;
mod loaded;
mod log;
mod operation;
mod password;
mod play;
mod redirect;
mod restarts;
mod scopes;
mod setting;
mod settings;
mod sources;
#[cfg(test)]
mod tests;
mod types;
mod values;
mod webhooks;

pub use self::allow_list::{AllowList, ListError};
pub use self::deny_lists::{DENY_LISTS_MAX, DenyList};
pub use self::error::{ConfigError, Mistake};
pub use self::fleet_secret::FleetSecret;
pub use self::http::Http;
pub use self::joining::Joining;
pub use self::loaded::{BadOverride, Change, Judge, SettingValue, Settings};
pub(crate) use self::loaded::{SendRules, Sources, setting_key};
pub(crate) use self::log::parse_filter;
pub use self::log::{BadFilter, LogFormat};
pub use self::operation::{AgonesMode, Operation, RecordMode};
pub use self::password::Password;
pub use self::play::{NAME_CHARS_MAX, Play, ROOM_THREADS_MAX, WORKERS_MAX};
pub use self::redirect::Redirect;
pub use self::restarts::{RESTARTS_MAX, RestartTime};
pub(crate) use self::sources::{
    config_option, flags, option_in, options, options_to_find, variables,
};
pub use self::types::{Config, Special};
pub use self::values::{DIRECTORIES_MAX, LISTEN_MAX, ORIGINS_MAX};
pub(crate) use self::values::{parse_line, parse_one_address};
pub use self::webhooks::{Topic, WEBHOOKS_MAX, Webhook, WebhookFormat};
