//! All settings, as a plain value.

use phaselock::client::GhostChoice;
use phaselock::games::Bots;
use phaselock::wire::talk::Look;
use phaselock::wire::text::{NameError, read_name};
use phaselock_ui::actions::{ALL_GAMES, SAVE_MINUTES};
use phaselock_ui::bindings::Binding;
use phaselock_ui::color_vision::Palette;
use phaselock_ui::controls::{Bindings, bindings_of};
use phaselock_ui::words::tr;

use super::values::{FrameCap, ITEMS_MAX, Language, WindowSize};
use crate::records::{GAMES_MAX, New, Records};

/// All settings of a player.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) player: Player,
    pub(crate) sound: Sound,
    pub(crate) display: Display,
    pub(crate) gamepad: Gamepad,
    pub(crate) last: Last,
    pub(crate) seen: Seen,
    /// Bindings that differ from the games' defaults.
    pub(crate) controls: Bindings,
    /// Personal records.
    pub(crate) records: Records,
}

impl Settings {
    /// Notes a record. A game beyond the file's limit is not noted.
    pub(crate) fn note_record(&mut self, New { game, name, value }: New) {
        if self.records.contains_key(game) || self.records.len() < GAMES_MAX {
            self.records.entry(game.to_owned()).or_default().insert(name.to_owned(), value);
        }
    }

    /// What saves the last minutes, in words: keys such as "F8", or the pause menu if no key does.
    pub(crate) fn minutes_saver(&self) -> String {
        let keys = bindings_of(ALL_GAMES, &SAVE_MINUTES, &self.controls);
        let keys: Vec<_> = keys.into_iter().map(Binding::label).collect();
        if keys.is_empty() { tr("the pause menu").to_owned() } else { keys.join(", ") }
    }
}

/// The player, as others see it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Player {
    /// Empty: the name of the system's user.
    pub(crate) name: String,
    /// One of twelve colours.
    pub(crate) color: u16,
    /// One of eight looks.
    pub(crate) look: u16,
    /// Ticks by which inputs are delayed.
    pub(crate) input_delay: u16,
    /// The ghost to race.
    pub(crate) ghost: GhostChoice,
    /// Whether the last minutes are kept, to save them.
    pub(crate) keep_minutes: bool,
}

impl Player {
    /// Stores a name that is being typed, once servers would accept it.
    pub(crate) fn take_name(&mut self, written: &str) {
        match read_name(written) {
            Ok(name) => name.clone_into(&mut self.name),
            Err(NameError::Empty) => self.name.clear(),
            Err(_) => {}
        }
    }

    /// The look that others are asked to show.
    pub(crate) fn look(&self) -> Look {
        let part = |number: u16| u8::try_from(number).unwrap_or_default();
        // Colours in the settings count from 1; 0 is none.
        let color = self.color.checked_sub(1).map_or(Look::UNCHOSEN.color, part);
        let look = Look { color, pattern: part(self.look) };
        if look.is_wish() { look } else { Look::UNCHOSEN }
    }
}

/// Volumes in percent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sound {
    pub(crate) master: u16,
    pub(crate) effects: u16,
    pub(crate) music: u16,
    pub(crate) interface: u16,
    pub(crate) mute_in_background: bool,
    pub(crate) mute: bool,
}

/// The picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Display {
    pub(crate) frame_cap: FrameCap,
    pub(crate) vsync: bool,
    pub(crate) fullscreen: bool,
    pub(crate) window_size: WindowSize,
    /// Scale of everything.
    pub(crate) ui_scale: f64,
    /// Scale of text.
    pub(crate) text_scale: f64,
    pub(crate) palette: Palette,
    pub(crate) reduced_motion: bool,
    /// Whether deaths, goals and finishes are shown again.
    pub(crate) replays: bool,
    pub(crate) language: Language,
}

/// The gamepad.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gamepad {
    /// Strength in percent.
    pub(crate) rumble: u16,
    /// Share of a stick's travel that is ignored, in percent.
    pub(crate) dead_zone: u16,
}

/// The last choices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Last {
    pub(crate) server: String,
    pub(crate) games: Vec<String>,
    pub(crate) bots: Bots,
    /// Names of the open panels.
    pub(crate) panels: Vec<String>,
}

/// What has been shown once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// Names of the games whose lessons the player has had.
    pub(crate) lessons: Vec<String>,
}

impl Seen {
    /// Notes a game's lesson. Beyond the file's limit, the oldest is forgotten.
    pub(crate) fn note(&mut self, game: &str) {
        self.lessons.retain(|had| had != game);
        self.lessons.push(game.to_owned());
        let over = self.lessons.len().saturating_sub(ITEMS_MAX);
        self.lessons.drain(..over);
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            player: Player {
                name: String::new(),
                color: 0,
                look: 0,
                input_delay: 0,
                ghost: GhostChoice::Own,
                keep_minutes: true,
            },
            sound: Sound {
                master: 80,
                effects: 80,
                music: 60,
                interface: 60,
                mute_in_background: true,
                mute: false,
            },
            display: Display {
                frame_cap: FrameCap::Display,
                vsync: true,
                fullscreen: false,
                window_size: WindowSize { width: 1280, height: 720 },
                ui_scale: 1.0,
                text_scale: 1.0,
                palette: Palette::Standard,
                reduced_motion: false,
                replays: true,
                language: Language::System,
            },
            gamepad: Gamepad { rumble: 60, dead_zone: 15 },
            last: Last {
                server: String::new(),
                games: Vec::new(),
                bots: crate::setup::BOTS_DEFAULT.into(),
                panels: Vec::new(),
            },
            seen: Seen { lessons: Vec::new() },
            controls: Bindings::new(),
            records: Records::new(),
        }
    }
}
