//! Sources of settings: the command line, the environment, and the TOML file. Values are read here,
//! but not checked.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::iter::{once, successors};
use std::ops::Range;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Arg, ArgMatches, value_parser};
use phaselock::textfile::{Text, line_at};
use phaselock::wire::rooms::RoomCode;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Mistake;
use super::layers::{Given, Layers};
use super::scopes::{PER_GAME, PER_ROOM, Scopes};
use super::setting::{Kind, Setting};
use super::settings::settings;
use super::types::Config;
use crate::token::TOKEN_VARIABLE;

/// The environment variable that names the configuration file.
const CONFIG_VARIABLE: &str = "PHASELOCK_CONFIG";

/// Returns an option with a value.
fn option(flag: &'static str, value: &'static str, help: impl Into<StyledStr>) -> Arg {
    let arg = Arg::new(flag).long(flag).value_name(value).help(help);
    arg.value_parser(value_parser!(OsString))
}

/// Returns the option of a setting.
fn option_of(setting: &Setting<Config>) -> Arg {
    let help = format!("{} [default: {}]", setting.help, setting.default_text());
    let arg = option(setting.flag, setting.value, help);
    match setting.kind {
        Kind::Switch => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        // A negative seed is refused later, with the rule.
        _ => arg.allow_hyphen_values(setting.flag == "seed"),
    }
}

/// Returns the option that names the configuration file.
pub(crate) fn config_option() -> Arg {
    option("config", "FILE", "Read settings from this TOML file")
}

/// Returns an option for each setting.
pub(crate) fn options() -> impl Iterator<Item = Arg> {
    settings().map(option_of)
}

/// Returns the options with which a command finds its server.
pub(crate) fn options_to_find(flags: &'static [&'static str]) -> impl Iterator<Item = Arg> {
    let found = settings().filter(|setting| flags.contains(&setting.flag)).map(option_of);
    once(config_option()).chain(found)
}

/// Returns the value of an option, given before or after the subcommands. The last one wins.
pub(crate) fn option_in(matches: &ArgMatches, flag: &str) -> Option<OsString> {
    let levels = successors(Some(matches), |level| level.subcommand().map(|(_, next)| next));
    // A subcommand may have another argument of that name.
    let given = |level: &ArgMatches| level.try_get_one::<OsString>(flag).ok().flatten().cloned();
    levels.filter_map(given).last()
}

/// Returns the settings on a command line.
pub(crate) fn flags(matches: &ArgMatches) -> Layers {
    let given = |flag| {
        let text = option_in(matches, flag)?;
        Some((flag, Given { text, origin: format!("the flag --{flag}") }))
    };
    settings().filter_map(|setting| given(setting.flag)).collect()
}

/// Returns the settings in an environment, and the configuration file that it names.
pub(crate) fn variables(
    env: impl IntoIterator<Item = (OsString, OsString)>,
    mistakes: &mut Vec<Mistake>,
) -> (Layers, Option<OsString>) {
    let mut layer = Layers::new();
    let mut config = None;
    for (name, text) in env {
        let Some(name) = name.to_str().filter(|name| name.starts_with("PHASELOCK_")) else {
            continue;
        };
        let origin = format!("the environment variable {name}");
        // An empty variable counts as unset: `docker compose` makes one of `${SEED:-}`.
        let is_set = !text.is_empty();
        if let Some(setting) = settings().find(|setting| setting.variable() == name) {
            layer.extend(is_set.then_some((setting.flag, Given { text, origin })));
        } else if name == CONFIG_VARIABLE {
            config = is_set.then_some(text);
        } else if !foreign(name, &text) {
            let mut known: Vec<_> = settings().map(Setting::variable).collect();
            known.push(CONFIG_VARIABLE.to_owned());
            mistakes.push(Mistake::unknown(origin, name, &known));
        }
    }
    (layer, config)
}

/// Whether a variable belongs to [`ctl`](crate::ctl), to the tests, or to Kubernetes, which sets
/// some in every container next to a service named "phaselock"
/// (<https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables>).
fn foreign(name: &str, value: &OsStr) -> bool {
    let kubernetes = name.starts_with("PHASELOCK_SERVICE_")
        || name.starts_with("PHASELOCK_PORT_")
        || name == "PHASELOCK_PORT" && value.to_str().is_some_and(|value| value.contains("://"));
    kubernetes || name == TOKEN_VARIABLE || name.starts_with("PHASELOCK_TEST_")
}

/// The parser's message for a duplicate key.
const DOUBLED: &str = "duplicate key";
/// Maximum number of places in a file that are tried in search of the first of two equal keys.
/// Arbitrary.
const TRIES_MAX: usize = 256;

/// Returns the place of the key that an error calls a duplicate.
fn doubled_key(error: &toml::de::Error) -> Option<Range<usize>> {
    error.span().filter(|_| error.message() == DOUBLED)
}

/// Returns the place of the first of two equal keys, in any table. `key` is the second one, and
/// `doubled` has all such keys. The parser does not report it, so this searches for the place whose
/// renaming makes the second key valid. `tries` limits the total number of attempts.
fn first_of(
    text: &str,
    key: &Range<usize>,
    doubled: &[Range<usize>],
    tries: &mut usize,
) -> Option<usize> {
    let name = text.get(key.clone())?.trim_matches(['"', '\'']);
    let rename = |text: &mut String, place: Range<usize>| {
        let other = "_".repeat(place.len());
        text.replace_range(place, &other);
    };
    // A third equal key would be taken for the first.
    let mut text = text.to_owned();
    for other in doubled.iter().filter(|it| *it != key) {
        rename(&mut text, other.clone());
    }
    let places = text[..key.start].rmatch_indices(name).map(|(at, _)| at);
    places.filter(|_| !name.is_empty()).take(*tries).find(|at| {
        *tries -= 1;
        let mut tried = text.clone();
        rename(&mut tried, *at..at + name.len());
        let (_, errors) = DeTable::parse_recoverable(&tried);
        !errors.iter().filter_map(doubled_key).any(|it| it == *key)
    })
}

/// Maximum bytes of the file. All settings take a few KiB; a larger file is something else.
const FILE_BYTES_MAX: usize = 64 * 1024;

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    // The limit also holds for files without a length, such as pipes.
    File::open(path)?.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    let text = Text::decode(&bytes, FILE_BYTES_MAX).map_err(io::Error::other)?;
    Ok(text.unix().into_owned())
}

/// Reads the settings in a TOML file, at the top level and for single games and rooms; `origin`
/// names the file. `rejected` gets the flags of settings with invalid values.
pub(super) fn file(
    path: &Path,
    origin: &str,
    mistakes: &mut Vec<Mistake>,
    rejected: &mut Vec<&'static str>,
) -> (Layers, Scopes) {
    let text = match read(path) {
        Ok(text) => text,
        Err(source) => {
            let (path, origin) = (path.to_owned(), origin.to_owned());
            mistakes.push(Mistake::File { path, origin, source });
            return Default::default();
        }
    };
    let (table, errors) = DeTable::parse_recoverable(&text);
    let doubled: Vec<_> = errors.iter().filter_map(doubled_key).collect();
    let (mut broken, mut tries): (Vec<usize>, _) = (Vec::new(), TRIES_MAX);
    for error in errors {
        let span = error.span().unwrap_or_default();
        let line = line_at(text.as_bytes(), span.start);
        // One mistake may cause several errors.
        if broken.contains(&line) {
            continue;
        }
        let path = path.to_owned();
        let name = text.get(span.clone()).unwrap_or_default();
        let first = doubled_key(&error).and_then(|key| first_of(&text, &key, &doubled, &mut tries));
        mistakes.push(match first {
            Some(at) => {
                let first = line_at(text.as_bytes(), at);
                Mistake::Doubled { name: name.to_owned(), path, line, first }
            }
            None => {
                let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
                let named = if message == DOUBLED { format!(" {name}") } else { String::new() };
                Mistake::Toml { path, line, message: message + &named }
            }
        });
        broken.push(line);
    }
    let mut scopes = Scopes::default();
    let source = Source { path, text: &text, broken: &broken };
    let (tables, top) = table.into_inner().into_iter().partition(|(key, value)| {
        let name = key.get_ref();
        (*name == PER_GAME || *name == PER_ROOM) && matches!(value.get_ref(), DeValue::Table(_))
    });
    let tables: DeTable<'_> = tables;
    for (name, given) in tables {
        let DeValue::Table(parts) = given.into_inner() else { continue };
        source.scopes(name.get_ref(), parts, &mut scopes, mistakes);
    }
    (source.layer(top, None, mistakes, rejected), scopes)
}

/// The file that settings are read from.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
    /// Lines that are not TOML.
    broken: &'a [usize],
}

impl Source<'_> {
    /// Reads the settings of a table, at the top level or of a scope.
    fn layer(
        &self,
        table: DeTable<'_>,
        scope: Option<&str>,
        mistakes: &mut Vec<Mistake>,
        rejected: &mut Vec<&'static str>,
    ) -> Layers {
        let mut layer = Layers::new();
        for (key, value) in table {
            let line = line_at(self.text.as_bytes(), key.span().start);
            let name = key.into_inner();
            if self.broken.contains(&line) {
                continue;
            }
            let within = scope.map_or(String::new(), |scope| format!(" of [{scope}]"));
            let place = format!("{}:{line}", self.path.display());
            let fits = |setting: &&Setting<Config>| scope.is_none() || setting.is_of_room;
            if scope.is_none() && (name == PER_GAME || name == PER_ROOM) {
                let example = if name == PER_GAME { "[per_game.race]" } else { "[per_room.lobby]" };
                let rule = format!("tables such as {example}");
                let origin = format!("{name} in {place}");
                mistakes.push(Mistake::invalid(&origin, self.text[value.span()].as_ref(), rule));
                continue;
            }
            let Some(setting) = settings().filter(fits).find(|it| it.key == &*name) else {
                let mut known: Vec<_> =
                    settings().filter(fits).map(|it| it.key.to_owned()).collect();
                if scope.is_none() {
                    known.extend([PER_GAME, PER_ROOM].map(str::to_owned));
                }
                let told = format!("{:?}{within} in {place}", &*name);
                mistakes.push(Mistake::unknown(told, &name, &known));
                continue;
            };
            let origin = format!("{name}{within} in {place}");
            match value_text(setting.kind, value.get_ref()) {
                Some(given) => {
                    let text = given.into_owned().into();
                    layer.insert(setting.flag, Given { text, origin });
                }
                None => {
                    rejected.push(setting.flag);
                    let text = &self.text[value.span()];
                    let text = if setting.is_secret { "(hidden)" } else { text };
                    mistakes.push(Mistake::invalid(&origin, text.as_ref(), setting.kind.rule()));
                }
            }
        }
        layer
    }

    /// Reads the tables of single games or rooms.
    fn scopes(
        &self,
        kind: &str,
        parts: DeTable<'_>,
        scopes: &mut Scopes,
        mistakes: &mut Vec<Mistake>,
    ) {
        for (key, value) in parts {
            let scope = format!("{kind}.{}", key.get_ref());
            let line = line_at(self.text.as_bytes(), key.span().start);
            let origin = format!("[{scope}] in {}:{line}", self.path.display());
            let span = value.span();
            let DeValue::Table(table) = value.into_inner() else {
                mistakes.push(Mistake::invalid(&origin, self.text[span].as_ref(), "a table"));
                continue;
            };
            let layer = self.layer(table, Some(&scope), mistakes, &mut Vec::new());
            if kind == PER_GAME {
                scopes.games.insert(key.get_ref().to_string(), layer);
                continue;
            }
            match key.get_ref().parse::<RoomCode>() {
                Ok(code) => drop(scopes.rooms.insert(code, layer)),
                Err(error) => mistakes.push(Mistake::invalid(
                    &origin,
                    OsStr::new(&**key.get_ref()),
                    format!("the code of a room; {error}"),
                )),
            }
        }
    }
}

/// Returns a value as it would be written on the command line, or `None` if it has another form
/// than the setting.
fn value_text<'a>(kind: Kind, value: &'a DeValue<'_>) -> Option<Cow<'a, str>> {
    match (kind, value) {
        (_, DeValue::String(text)) => Some(Cow::Borrowed(text)),
        (Kind::Number | Kind::List, DeValue::Integer(number)) => {
            let number = i128::from_str_radix(number.as_str(), number.radix());
            number.ok().map(|number| Cow::Owned(number.to_string()))
        }
        (Kind::Switch, DeValue::Boolean(is_on)) => Some(Cow::Owned(is_on.to_string())),
        (Kind::List, DeValue::Array(values)) => {
            let flat = |value: &Spanned<_>| match value.get_ref() {
                DeValue::Array(_) => None,
                value => value_text(Kind::List, value).map(Cow::into_owned),
            };
            let texts: Option<Vec<_>> = values.iter().map(flat).collect();
            texts.map(|texts| Cow::Owned(texts.join(",")))
        }
        (Kind::Tables, value @ (DeValue::Array(_) | DeValue::Table(_))) => {
            Some(Cow::Owned(json(value)?.to_string()))
        }
        _ => None,
    }
}

/// Converts tables to JSON. Returns `None` if they contain fractions or dates.
fn json(value: &DeValue<'_>) -> Option<serde_json::Value> {
    Some(match value {
        DeValue::String(text) => serde_json::Value::from(&**text),
        DeValue::Boolean(is_on) => (*is_on).into(),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok()?.into()
        }
        DeValue::Array(values) => {
            values.iter().map(|it| json(it.get_ref())).collect::<Option<_>>()?
        }
        DeValue::Table(table) => {
            let members = table
                .iter()
                .map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)));
            serde_json::Value::Object(members.collect::<Option<_>>()?)
        }
        DeValue::Float(_) | DeValue::Datetime(_) => return None,
    })
}
