//! The server's settings: flags over environment over a TOML file over defaults.
//!
//! Every setting has one name with three spellings: `tick_hz` in the file, `PHASELOCK_TICK_HZ` in
//! the environment, `--tick-hz` on the command line. A value stays text, with its origin, until the
//! setting's one parser reads it, so a bad value has the same message everywhere. All mistakes are
//! told at once.

mod allow_list;
mod deny_lists;
mod error;
mod hosting;
mod layers;
mod loaded;
mod log;
mod password;
mod play;
mod restarts;
mod rounds;
mod scopes;
mod setting;
mod settings;
mod sources;
#[cfg(test)]
mod tests;
mod types;
mod values;
mod web;
mod webhooks;

pub use self::allow_list::{AllowList, ListError};
pub use self::deny_lists::{DENY_LISTS_MAX, DenyList};
pub use self::error::{ConfigError, Mistake};
pub use self::loaded::{BadOverride, Change, Judge, SettingValue, Settings};
pub(crate) use self::loaded::{SendRules, Sources, setting_key};
pub(crate) use self::log::parse_filter;
pub use self::log::{BadFilter, LogFormat};
pub use self::password::Password;
pub use self::play::NAME_CHARS_MAX;
pub use self::restarts::{RESTARTS_MAX, RestartTime};
pub use self::setting::{ROOM_THREADS_MAX, WORKERS_MAX};
pub(crate) use self::sources::{
    config_option, flags, option_in, options, options_to_find, variables,
};
pub use self::types::{Config, Special};
pub use self::values::{DIRECTORIES_MAX, LISTEN_MAX, ORIGINS_MAX};
pub(crate) use self::values::{parse_line, parse_one_address, parse_redirect};
pub use self::webhooks::{Topic, WEBHOOKS_MAX, Webhook, WebhookFormat};
