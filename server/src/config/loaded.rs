//! Settings with their origins. They can be reloaded, and changed while the server runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::error::Mistake;
use super::layers::{Given, Layers};
use super::scopes::Scopes;
use super::settings::{settings, settle};
use super::sources;
use super::types::Config;
use super::values::parse_send;

/// Sources of settings. A reload reads the file again; the others stay as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sources {
    /// The file's path, and a noun for the place that names it.
    pub(crate) file: Option<(PathBuf, &'static str)>,
    pub(crate) env: Layers,
    pub(crate) flags: Layers,
}

/// Validated settings with their origins.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The values.
    pub config: Config,
    /// Settings from the sources.
    layers: Layers,
    scopes: Scopes,
    /// Settings that were changed while the server runs, which override all others.
    overrides: Layers,
    sources: Sources,
    /// Flags of settings with invalid values. These have their defaults.
    rejected: Vec<&'static str>,
}

/// Returns the mistakes that only the program itself can find, such as unknown games. The flag is
/// true if the settings are only checked, so that nothing else reads the files that they name.
pub type Judge<'a> = &'a dyn Fn(&Settings, bool) -> Vec<Mistake>;

/// A setting could not be changed while the server runs.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, thiserror::Error)]
pub enum BadOverride {
    #[error("{0}")]
    Unknown(Mistake),
    #[error("{name} needs a restart: {why}")]
    Restart { name: String, why: &'static str },
    #[error("{name} names files or addresses; change it in the settings file, and reload")]
    Local { name: String },
    #[error("{name} was not set at run time; `ctl settings` lists what was")]
    NotSet { name: String },
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Mistakes(Vec<Mistake>),
}

/// The kinds of entities in a value of the setting `send`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SendRules {
    /// The origin of the value, as a noun for messages.
    pub(crate) origin: String,
    /// The game that it is limited to, if any.
    pub(crate) game: Option<String>,
    /// Names of the kinds.
    pub(crate) kinds: Vec<String>,
}

/// A setting, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingValue {
    /// Name of the setting in the file, such as `tick_hz`.
    pub setting: String,
    /// Its value, in the form in which it can be set, or a word for a default that depends on the
    /// game or the machine. `(hidden)` for a secret.
    pub value: String,
    /// The source of the value, such as `the flag --tick-hz`, `tick_hz in server.toml:3` or
    /// `default`.
    pub origin: String,
}

/// A setting that differs between two configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the setting in the file.
    pub setting: String,
    /// The value before; `(hidden)` for a secret.
    pub from: String,
    /// The value after.
    pub to: String,
    /// Why it takes effect only after a restart. `None` if it takes effect at once.
    pub restart: Option<&'static str>,
}

impl Settings {
    /// Loads the settings from their sources. The error has all mistakes, after those in
    /// `mistakes`.
    pub(crate) fn load(
        sources: Sources,
        mistakes: Vec<Mistake>,
        judge: impl Fn(&Self) -> Vec<Mistake>,
    ) -> Result<Self, Vec<Mistake>> {
        Self::load_with(sources, Layers::new(), mistakes, judge)
    }

    fn load_with(
        sources: Sources,
        overrides: Layers,
        mut mistakes: Vec<Mistake>,
        judge: impl Fn(&Self) -> Vec<Mistake>,
    ) -> Result<Self, Vec<Mistake>> {
        // The least important layer comes first, and each later one overrides it.
        let (mut layers, mut scopes, mut rejected) = Default::default();
        if let Some((path, origin)) = &sources.file {
            (layers, scopes) = sources::file(path, origin, &mut mistakes, &mut rejected);
        }
        for layer in [&sources.env, &sources.flags] {
            layers.extend(layer.iter().map(|(flag, given)| (*flag, given.clone())));
        }
        // Another layer may have given a valid value.
        rejected.retain(|flag| !layers.contains_key(flag));
        let given =
            Self { config: Config::default(), layers, scopes, overrides, sources, rejected };
        let (settings, wrong) = given.settled();
        mistakes.extend(wrong);
        mistakes.extend(settings.lone_page());
        mistakes.extend(judge(&settings));
        if mistakes.is_empty() { Ok(settings) } else { Err(mistakes) }
    }

    /// Reads the same sources again, and keeps what was changed while the server runs.
    ///
    /// # Errors
    ///
    /// All mistakes.
    pub fn load_again(&self, judge: Judge<'_>) -> Result<Self, Vec<Mistake>> {
        let judge = |settings: &Self| judge(settings, false);
        Self::load_with(self.sources.clone(), self.overrides.clone(), Vec::new(), judge)
    }

    /// Whether the setting with this flag has a valid value. If not, checks that depend on it are
    /// skipped.
    pub fn is_sure(&self, flag: &str) -> bool {
        !self.rejected.contains(&flag)
    }

    /// Returns these settings with another value for one of them; `None` restores the value of its
    /// sources. `by` is the author of the request.
    pub fn with(&self, name: &str, value: Option<&str>, by: &str) -> Result<Self, BadOverride> {
        let key = setting_key(name);
        let Some(setting) = settings().find(|setting| setting.key == key) else {
            let known: Vec<_> = settings().map(|it| it.key.to_owned()).collect();
            let mistake = Mistake::unknown(format!("{name:?}"), &key, &known);
            return Err(BadOverride::Unknown(mistake));
        };
        if setting.is_local {
            return Err(BadOverride::Local { name: key });
        }
        if let Some(why) = setting.restart {
            return Err(BadOverride::Restart { name: key, why });
        }
        let mut next = self.clone();
        match value {
            Some(text) => {
                let origin = format!("{key} set by {by} while the server runs");
                next.overrides.insert(setting.flag, Given { text: text.into(), origin });
            }
            None if next.overrides.remove(setting.flag).is_none() => {
                return Err(BadOverride::NotSet { name: key });
            }
            None => {}
        }
        let (settled, mut mistakes) = next.settled();
        mistakes.extend(settled.lone_page());
        if mistakes.is_empty() { Ok(settled) } else { Err(BadOverride::Mistakes(mistakes)) }
    }

    /// Returns the mistake of a public page without a listener. Settings [in force](Self::in_force)
    /// may have it until a restart opens the listener.
    fn lone_page(&self) -> Option<Mistake> {
        let http = &self.config.http;
        let is_lone = http.public_page && http.web.is_none() && self.is_sure("web");
        is_lone.then(|| Mistake::Lacks { origin: self.origin("public-page"), missing: "web" })
    }

    /// Builds the configuration from the layers. Returns it with all mistakes.
    fn settled(mut self) -> (Self, Vec<Mistake>) {
        let mut all = self.layers.clone();
        all.extend(self.overrides.iter().map(|(flag, given)| (*flag, given.clone())));
        let (config, mut mistakes) = settle(&all, &mut self.rejected);
        let (special, wrong) = self.scopes.settle(&config);
        mistakes.extend(wrong);
        self.config = Config { special, ..config };
        (self, mistakes)
    }

    /// The configuration file.
    pub fn file(&self) -> Option<&Path> {
        self.sources.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// All settings with values and origins.
    pub fn list(&self) -> Vec<SettingValue> {
        let shown = settings().map(|setting| {
            let given = self.given(setting.flag);
            SettingValue {
                setting: setting.key.to_owned(),
                value: (setting.show)(&self.config),
                origin: given.map_or_else(|| "default".to_owned(), |given| given.origin.clone()),
            }
        });
        let scoped = self.scopes.list().into_iter();
        let scoped =
            scoped.map(|(setting, (value, origin))| SettingValue { setting, value, origin });
        shown.chain(scoped).collect()
    }

    /// Returns the text of a setting that is in force, by its flag.
    fn given(&self, flag: &str) -> Option<&Given> {
        self.overrides.get(flag).or_else(|| self.layers.get(flag))
    }

    /// Returns the origin of a setting, by its flag, as a noun for messages.
    pub fn origin(&self, flag: &str) -> String {
        let default = || format!("the default of {}", flag.replace('-', "_"));
        self.given(flag).map_or_else(default, |given| given.origin.clone())
    }

    /// Returns all values of the setting `send`, including those of single games and rooms.
    pub(crate) fn send_rules(&self) -> Vec<SendRules> {
        let of = |game: Option<&String>, layers: &Layers| {
            let given = layers.get("send")?;
            // An invalid value is already a mistake.
            let rules = parse_send(&given.text).ok()?;
            let kinds = rules.into_iter().map(|(kind, _)| kind).collect();
            Some(SendRules { origin: given.origin.clone(), game: game.cloned(), kinds })
        };
        let overall =
            if self.overrides.contains_key("send") { &self.overrides } else { &self.layers };
        let games = self.scopes.games.iter().filter_map(|(game, layers)| of(Some(game), layers));
        let rooms = self.scopes.rooms.values().filter_map(|layers| of(None, layers));
        of(None, overall).into_iter().chain(games).chain(rooms).collect()
    }

    /// Returns the differences between these settings and newer ones.
    pub fn changes(&self, newer: &Self) -> Vec<Change> {
        let (before, after) = (&self.config, &newer.config);
        let changed = settings().filter(|setting| setting.has_changed(before, after));
        let change = |setting: &super::setting::Setting<Config>| Change {
            setting: setting.key.to_owned(),
            from: (setting.show)(before),
            to: (setting.show)(after),
            restart: setting.restart,
        };
        let (scoped, newer) = (self.scopes.list(), newer.scopes.list());
        let names: BTreeSet<_> = scoped.keys().chain(newer.keys()).collect();
        let text = |of: &BTreeMap<String, (String, String)>, name: &String| {
            of.get(name).map_or_else(|| "as elsewhere".to_owned(), |(value, _)| value.clone())
        };
        let scoped = names.into_iter().map(|name| Change {
            setting: name.clone(),
            from: text(&scoped, name),
            to: text(&newer, name),
            restart: None,
        });
        changed.map(change).chain(scoped.filter(|it| it.from != it.to)).collect()
    }

    /// Returns the newer settings, except for those that need a restart, which stay as they are
    /// here.
    ///
    /// # Errors
    ///
    /// If they do not fit together.
    pub fn in_force(&self, newer: &Self) -> Result<Self, Vec<Mistake>> {
        let mut layers = newer.layers.clone();
        for setting in settings().filter(|setting| setting.restart.is_some()) {
            match self.layers.get(setting.flag) {
                Some(given) => drop(layers.insert(setting.flag, given.clone())),
                None => drop(layers.remove(setting.flag)),
            }
        }
        let settings = Self { layers, rejected: Vec::new(), ..newer.clone() };
        let (settings, mistakes) = settings.settled();
        if mistakes.is_empty() { Ok(settings) } else { Err(mistakes) }
    }
}

/// Returns the name of a setting in the file, for any of its spellings.
pub(crate) fn setting_key(name: &str) -> String {
    name.replace('-', "_")
}
