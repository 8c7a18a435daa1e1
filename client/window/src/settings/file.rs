//! The settings file as text: reads it with all its faults, and writes what has changed.

use std::borrow::Cow;

use phaselock::textfile::{Text, TextError, line_at};
use phaselock::wire::text::{clip, printable};
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike};

use super::keys::{KEYS, list};
use super::model::Settings;
use crate::records::{GAMES_MAX as RECORD_GAMES_MAX, MEASURES_MAX, Records, VALUE_MAX};
use phaselock_ui::actions::{ALL, ALL_GAMES};
use phaselock_ui::bindings::Binding;
use phaselock_ui::controls::Bindings;

/// Maximum size of the file in bytes: twenty times one with every setting. Arbitrary.
pub(crate) const FILE_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of games with bindings, of actions per game, and of bindings per action;
/// arbitrary.
const GAMES_MAX: usize = 64;
const ACTIONS_MAX: usize = 64;
pub(crate) const BINDINGS_MAX: usize = 8;
/// Maximum number of warnings about a file; fix these first to see more.
const PROBLEMS_MAX: usize = 20;

/// Maximum length of a name and of a cause in a warning, in bytes; arbitrary.
const NAME_SHOWN_BYTES_MAX: usize = 40;
const CAUSE_BYTES_MAX: usize = 200;

/// Head of a new file.
const HEAD: &str = "\
# Settings of Phaselock's window. The window saves its changes here; edits in this file take\n\
# effect at its next start. Comments and unknown keys are kept.\n";

/// Comment above the bindings.
const CONTROLS: &str = "
# Bindings that differ from a game's own, by game (or \"all\") and action, as in
#   [controls.race]
#   throttle = [\"W\", \"Up\", \"Pad:RightTrigger\"]
# docs/playing/ lists the actions and the names of keys. An empty list leaves an action unbound.
";

/// Why a file cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FileError {
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("line {line}: {cause}")]
    Toml { line: usize, cause: String },
}

/// Reads a file. An invalid value keeps its default and gets a warning.
pub(crate) fn read(bytes: &[u8]) -> Result<(Settings, Vec<String>), FileError> {
    let text = text(bytes)?;
    let text = &*text;
    let document = Document::parse(text).map_err(|error| toml_error(text, &error))?;
    let line = |item: &Item| item.span().map_or(1, |span| line_at(text.as_bytes(), span.start));
    let mut settings = Settings::default();
    let mut problems = Vec::new();
    for key in KEYS {
        let section = document.get(key.section);
        let Some(item) = section.and_then(|section| section.get(key.name)) else { continue };
        let took = item.as_value().ok_or_else(|| "one value".into());
        if let Err(wanted) = took.and_then(|value| key.take(&mut settings, value)) {
            let (line, section, name) = (line(item), key.section, key.name);
            problems.push(format!(
                "line {line}: {name} in [{section}] must be {wanted}; its default is used."
            ));
        }
    }
    for (name, section) in
        document.iter().filter(|(name, _)| !["controls", "records"].contains(name))
    {
        let known: Vec<_> = KEYS.iter().filter(|key| key.section == name).collect();
        let Some(section) = section.as_table_like().filter(|_| !known.is_empty()) else {
            let name = short(name);
            problems.push(format!("line {}: [{name}] is not known; it stays.", line(section)));
            continue;
        };
        for (name, item) in
            section.iter().filter(|(name, _)| known.iter().all(|it| it.name != *name))
        {
            let name = short(name);
            problems.push(format!("line {}: {name} is not known; it stays.", line(item)));
        }
    }
    if let Some(controls) = document.get("controls") {
        settings.controls = bindings(controls, |item, what| {
            problems.push(format!("line {}: {what}", line(item)));
        });
    }
    if let Some(kept) = document.get("records") {
        settings.records = records(kept, |item, what| {
            problems.push(format!("line {}: {what}; it does not count.", line(item)));
        });
    }
    if problems.len() > PROBLEMS_MAX {
        problems.truncate(PROBLEMS_MAX);
        problems.push("There is more; mend these first.".into());
    }
    Ok((settings, problems))
}

fn bindings(controls: &Item, mut problem: impl FnMut(&Item, String)) -> Bindings {
    let mut bindings = Bindings::new();
    let Some(games) = controls.as_table_like() else {
        let wanted = "controls must be tables as in [controls.all]; the defaults are used.";
        problem(controls, wanted.into());
        return bindings;
    };
    for (game, actions) in games.iter().take(GAMES_MAX) {
        let Some(table) = actions.as_table_like() else {
            let game = short(game);
            let wanted = "must be a table of actions; the defaults are used.";
            problem(actions, format!("controls.{game} {wanted}"));
            continue;
        };
        for (action, item) in table.iter().take(ACTIONS_MAX) {
            if game == ALL_GAMES && ALL.iter().all(|it| it.id != action) {
                problem(item, format!("{} is no action of all games; it stays.", short(action)));
            }
            match item.as_value().and_then(|value| list(value, BINDINGS_MAX)) {
                Some(mut keys) => {
                    let given = keys.len();
                    keys.retain(|key| {
                        let known = Binding::parse(key).is_some();
                        if !known {
                            problem(item, format!("{:?} is no key's name.", short(key)));
                        }
                        known
                    });
                    // A list with only invalid keys is not meant to leave the action without any.
                    if given == 0 || !keys.is_empty() {
                        bindings.entry(game.into()).or_default().insert(action.into(), keys);
                    }
                }
                None => problem(
                    item,
                    format!(
                        "{} must be at most {BINDINGS_MAX} names of keys in brackets; the default \
                         is used.",
                        short(action)
                    ),
                ),
            }
        }
    }
    bindings
}

fn records(kept: &Item, mut problem: impl FnMut(&Item, String)) -> Records {
    let mut records = Records::new();
    let Some(games) = kept.as_table_like() else {
        problem(kept, "records must be tables as in [records.race]".into());
        return records;
    };
    for (game, numbers) in games.iter().take(RECORD_GAMES_MAX) {
        let Some(table) = numbers.as_table_like() else {
            problem(numbers, format!("records.{} must be a table of numbers", short(game)));
            continue;
        };
        for (name, item) in table.iter().take(MEASURES_MAX) {
            let number = item.as_float().or(item.as_integer().map(|it| it as f64));
            match number.filter(|it| it.is_finite() && it.abs() <= VALUE_MAX) {
                Some(number) => {
                    records.entry(game.into()).or_default().insert(name.into(), number);
                }
                None => problem(item, format!("{} must be a number", short(name))),
            }
        }
    }
    records
}

/// Writes into a file's text what differs between `base`, as last read or written, and `now`, and
/// what the file lacks. Changes by another window are kept.
pub(crate) fn write(bytes: &[u8], base: &Settings, now: &Settings) -> Result<String, FileError> {
    let text = text(bytes)?;
    let mut document: DocumentMut = text.parse().map_err(|error| toml_error(&text, &error))?;
    let fresh = text.trim().is_empty();
    let (mut base, mut now) = (base.clone(), now.clone());
    for key in KEYS {
        let value = key.value(&mut now);
        let changed = value.to_string() != key.value(&mut base).to_string();
        let Some(section) = table(document.as_table_mut(), key.section) else { continue };
        match section.get_mut(key.name).and_then(Item::as_value_mut) {
            Some(there) if changed => {
                let decor = there.decor().clone();
                *there = value;
                *there.decor_mut() = decor;
            }
            Some(_) => {}
            None => {
                section.insert(key.name, Item::Value(value));
                if let Some(mut name) = section.key_mut(key.name) {
                    name.leaf_decor_mut().set_prefix(format!("# {}\n", key.about));
                }
            }
        }
    }
    write_bindings(&mut document, &base.controls, &now.controls);
    write_records(&mut document, &base.records, &now.records);
    let head = if fresh { HEAD } else { "" };
    let foot = if text.contains("# Bindings that differ") { "" } else { CONTROLS };
    let written = format!("{head}{document}{foot}");
    // Unknown content of a file could make it so large that the program would refuse its own file.
    if written.len() > FILE_BYTES_MAX {
        Err(TextError::TooLong(FILE_BYTES_MAX).into())
    } else {
        Ok(written)
    }
}

fn write_bindings(document: &mut DocumentMut, base: &Bindings, now: &Bindings) {
    let none = Default::default();
    let games = base.keys().chain(now.keys());
    for game in games {
        let (old, new) = (base.get(game).unwrap_or(&none), now.get(game).unwrap_or(&none));
        for action in old.keys().chain(new.keys()) {
            let (before, after) = (old.get(action), new.get(action));
            if before == after {
                continue;
            }
            let Some(controls) = table(document.as_table_mut(), "controls") else { return };
            let Some(actions) = table(controls, game) else { continue };
            match after {
                Some(keys) => {
                    let keys: Array = keys.iter().map(String::as_str).collect();
                    actions.insert(action, Item::Value(keys.into()));
                }
                None => {
                    actions.remove(action);
                }
            }
        }
    }
}

fn write_records(document: &mut DocumentMut, base: &Records, now: &Records) {
    for (game, numbers) in now {
        let before = base.get(game);
        for (name, number) in numbers {
            if before.and_then(|it| it.get(name)) == Some(number) {
                continue;
            }
            let Some(records) = table(document.as_table_mut(), "records") else { return };
            let Some(game) = table(records, game) else { continue };
            game.insert(name, toml_edit::value(*number));
        }
    }
}

/// A table inside another one, created if missing. `None` if something else has its name.
fn table<'a>(outer: &'a mut dyn TableLike, name: &str) -> Option<&'a mut dyn TableLike> {
    let section = outer.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.decor_mut().set_prefix("\n");
        if ["controls", "records"].contains(&name) {
            table.set_implicit(true);
        }
        Item::Table(table)
    });
    section.as_table_like_mut()
}

fn text(bytes: &[u8]) -> Result<Cow<'_, str>, FileError> {
    Ok(Text::decode(bytes, FILE_BYTES_MAX)?.unix())
}

fn toml_error(text: &str, error: &toml_edit::TomlError) -> FileError {
    let line = error.span().map_or(1, |span| line_at(text.as_bytes(), span.start));
    let cause = printable(&error.message().trim().replace('\n', ", "));
    FileError::Toml { line, cause: clip(&cause, CAUSE_BYTES_MAX).to_owned() }
}

/// A name from the file for use in a sentence, whatever it contains.
fn short(name: &str) -> String {
    let name = printable(name);
    let cut = clip(&name, NAME_SHOWN_BYTES_MAX);
    if cut.len() < name.len() { format!("{cut}...") } else { name }
}
