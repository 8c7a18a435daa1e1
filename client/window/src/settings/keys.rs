//! The table of all settings: section, key, documentation, and place in [`Settings`].

use std::ops::RangeInclusive;

use phaselock::limits::{INPUT_DELAY_TICKS_MAX, NAME_BYTES_MAX};
use phaselock::wire::text::{NameError, read_name};
use toml_edit::{Array, Value};

use super::model::Settings;
use super::values::{ITEMS_MAX, Word};
use crate::setup::BOTS_MAX;

/// Maximum length of a string in the file, in bytes; arbitrary, and far above need.
const TEXT_MAX: usize = 300;

/// A setting in the file.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) section: &'static str,
    pub(crate) name: &'static str,
    /// Comment above it in the file: meaning, unit and range, one per line.
    pub(crate) about: &'static str,
    slot: fn(&mut Settings) -> Slot<'_>,
}

/// Place of a setting, with its range.
enum Slot<'a> {
    Switch(&'a mut bool),
    Number(&'a mut u16, RangeInclusive<u16>),
    Factor(&'a mut f64, RangeInclusive<f64>),
    Name(&'a mut String),
    Text(&'a mut String),
    List(&'a mut Vec<String>),
    Word(&'a mut dyn Word),
}

const PERCENT: RangeInclusive<u16> = 0..=100;
/// Maximum input delay in ticks.
pub(super) const INPUT_DELAY_MAX: u16 = INPUT_DELAY_TICKS_MAX as u16;

/// A row of the table.
const fn key(
    section: &'static str,
    name: &'static str,
    about: &'static str,
    slot: fn(&mut Settings) -> Slot<'_>,
) -> Key {
    Key { section, name, about, slot }
}

/// All settings except bindings, section by section.
pub(crate) const KEYS: &[Key] = &[
    key("player", "name", "Name that others see, at most 32 bytes; empty: your user name.", |it| {
        Slot::Name(&mut it.player.name)
    }),
    key("player", "color", "Your colour, 1 to 12; 0: the server picks one.", |it| {
        Slot::Number(&mut it.player.color, 0..=12)
    }),
    key("player", "look", "Your look, 0 to 7.", |it| Slot::Number(&mut it.player.look, 0..=7)),
    key(
        "player",
        "input_delay",
        "Ticks by which your inputs are delayed, 0 to 3; more delay means fewer corrections.",
        |it| Slot::Number(&mut it.player.input_delay, 0..=INPUT_DELAY_MAX),
    ),
    key(
        "player",
        "ghost",
        "Ghost that you race: \"off\", \"own\" (your record), \"best\", or \"of NAME\".",
        |it| Slot::Word(&mut it.player.ghost),
    ),
    key(
        "player",
        "keep_minutes",
        "Keep the last ten minutes of play in memory, to save them.",
        |it| Slot::Switch(&mut it.player.keep_minutes),
    ),
    key("sound", "master", "Master volume, in percent.", |it| {
        Slot::Number(&mut it.sound.master, PERCENT)
    }),
    key("sound", "effects", "Volume of the games' effects, in percent.", |it| {
        Slot::Number(&mut it.sound.effects, PERCENT)
    }),
    key("sound", "music", "Volume of musical cues, in percent.", |it| {
        Slot::Number(&mut it.sound.music, PERCENT)
    }),
    key("sound", "interface", "Volume of menus and notices, in percent.", |it| {
        Slot::Number(&mut it.sound.interface, PERCENT)
    }),
    key("sound", "mute_in_background", "Mute while another window has the keyboard.", |it| {
        Slot::Switch(&mut it.sound.mute_in_background)
    }),
    key("sound", "mute", "Mute everything.", |it| Slot::Switch(&mut it.sound.mute)),
    key(
        "display",
        "frame_cap",
        "Frames per second at most: \"display\" (as many as it shows), \"none\", or 30 to 500.",
        |it| Slot::Word(&mut it.display.frame_cap),
    ),
    key(
        "display",
        "vsync",
        "Wait for the display with each frame to avoid tearing; takes effect at the next start.",
        |it| Slot::Switch(&mut it.display.vsync),
    ),
    key("display", "fullscreen", "Run in full screen.", |it| {
        Slot::Switch(&mut it.display.fullscreen)
    }),
    key("display", "window_size", "Size of the window in pixels, as in \"1280x720\".", |it| {
        Slot::Word(&mut it.display.window_size)
    }),
    key("display", "ui_scale", "Scale of texts and buttons, 0.75 to 2.", |it| {
        Slot::Factor(&mut it.display.ui_scale, 0.75..=2.0)
    }),
    key(
        "display",
        "text_scale",
        "Scale of texts only, 1 to 1.5; panels in games grow with it as far as they fit.",
        |it| Slot::Factor(&mut it.display.text_scale, 1.0..=1.5),
    ),
    key(
        "display",
        "palette",
        "Colours: \"standard\", \"deuteranopia\", \"protanopia\" or \"tritanopia\".",
        |it| Slot::Word(&mut it.display.palette),
    ),
    key("display", "reduced_motion", "No screen shake and no flashes.", |it| {
        Slot::Switch(&mut it.display.reduced_motion)
    }),
    key("display", "replays", "Show instant replays of deaths, goals and finishes.", |it| {
        Slot::Switch(&mut it.display.replays)
    }),
    key(
        "display",
        "language",
        "Language: \"system\", \"en\", \"de\", or the name of a file in phaselock/languages.",
        |it| Slot::Word(&mut it.display.language),
    ),
    key("gamepad", "rumble", "Strength of rumble, in percent.", |it| {
        Slot::Number(&mut it.gamepad.rumble, PERCENT)
    }),
    key("gamepad", "dead_zone", "Part of a stick's travel that is ignored, 0 to 60 %.", |it| {
        Slot::Number(&mut it.gamepad.dead_zone, 0..=60)
    }),
    key("last", "server", "Server that you joined last.", |it| Slot::Text(&mut it.last.server)),
    key("last", "games", "Games that you last played on this computer.", |it| {
        Slot::List(&mut it.last.games)
    }),
    key("last", "bots", "Number of bots in these games, 0 to 15.", |it| {
        Slot::Number(&mut it.last.bots.count, 0..=BOTS_MAX)
    }),
    key("last", "bot_strength", "Their strength: \"easy\", \"normal\" or \"hard\".", |it| {
        Slot::Word(&mut it.last.bots.strength)
    }),
    key("last", "panels", "Open panels: \"details\", \"graph\".", |it| {
        Slot::List(&mut it.last.panels)
    }),
    key("seen", "lessons", "Games whose lessons you have completed, as in [\"race\"].", |it| {
        Slot::List(&mut it.seen.lessons)
    }),
];

impl Key {
    /// Takes the value from the file. The error says what to write.
    pub(crate) fn take(&self, settings: &mut Settings, value: &Value) -> Result<(), String> {
        match (self.slot)(settings) {
            Slot::Switch(it) => *it = value.as_bool().ok_or("true or false")?,
            Slot::Number(it, range) => {
                let number = value.as_integer().and_then(|number| u16::try_from(number).ok());
                let wrong = || format!("a whole number from {} to {}", range.start(), range.end());
                *it = number.filter(|number| range.contains(number)).ok_or_else(wrong)?;
            }
            Slot::Factor(it, range) => {
                let whole = value.as_integer().map(|number| number as f64);
                let number = value.as_float().or(whole).filter(|number| range.contains(number));
                let wrong = || format!("a number from {} to {}", range.start(), range.end());
                *it = number.ok_or_else(wrong)?;
            }
            Slot::Name(it) => {
                let wrong = || {
                    format!("a name of at most {NAME_BYTES_MAX} bytes that can be seen, in quotes")
                };
                *it = match value.as_str().map(read_name) {
                    Some(Ok(name)) => name.to_owned(),
                    Some(Err(NameError::Empty)) => String::new(),
                    Some(Err(_)) | None => return Err(wrong()),
                };
            }
            Slot::Text(it) => *it = text(value).ok_or_else(|| a_text("a text"))?,
            Slot::List(it) => {
                let wrong = || format!("at most {ITEMS_MAX} of {} in brackets", a_text("texts"));
                *it = list(value, ITEMS_MAX).ok_or_else(wrong)?;
            }
            Slot::Word(it) => it.take(value)?,
        }
        Ok(())
    }

    /// The value for the file.
    pub(crate) fn value(&self, settings: &mut Settings) -> Value {
        match (self.slot)(settings) {
            Slot::Switch(it) => (*it).into(),
            Slot::Number(it, _) => i64::from(*it).into(),
            Slot::Factor(it, _) => ((*it * 1000.0).round() / 1000.0).into(),
            Slot::Name(it) | Slot::Text(it) => it.as_str().into(),
            Slot::List(it) => {
                it.iter().take(ITEMS_MAX).map(String::as_str).collect::<Array>().into()
            }
            Slot::Word(it) => it.value(),
        }
    }
}

fn a_text(what: &str) -> String {
    format!("{what} of at most {TEXT_MAX} bytes, in quotes")
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| text.len() <= TEXT_MAX)?;
    (!text.contains(char::is_control)).then(|| text.to_owned())
}

/// A list of strings, or `None` if it is not a list or too long.
pub(crate) fn list(value: &Value, most: usize) -> Option<Vec<String>> {
    let items = value.as_array().filter(|items| items.len() <= most)?;
    items.iter().map(text).collect()
}
