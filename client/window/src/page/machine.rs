//! The page as a platform: clock, visibility, gamepad, touch and sound.

use std::collections::VecDeque;

use egui_macroquad::egui::Id;
use phaselock::time::{LocalTime, Micros};
use phaselock_sound::output::SoundOutput;
use phaselock_ui::controls::PadValues;
use phaselock_ui::gamepad::{Pads, Rumble, standard};
use phaselock_ui::glass::Glass;
use phaselock_ui::look::Needs;
use phaselock_web::download;
use phaselock_web::page::{self, PageClock, PageField};

use crate::platform::{Platform, Presence};

/// The browser's gamepad.
#[derive(Debug, Default)]
struct PagePads {
    is_there: bool,
}

impl Pads for PagePads {
    fn take(&mut self, dead_zone: f32) -> PadValues {
        let told = page::pad();
        self.is_there = told.is_some();
        told.map_or_else(PadValues::default, |told| standard::values(&told, dead_zone))
    }

    fn state(&self) -> (usize, bool) {
        (usize::from(self.is_there), false)
    }

    fn rumble(&self, Rumble { strength, length }: Rumble) {
        page::shake(strength, length.as_secs_f32() * 1000.0);
    }
}

/// The page around the window.
#[derive(Default)]
pub(super) struct Page {
    clock: PageClock,
    pads: PagePads,
    glass: Glass,
    /// Names of recordings that were handed to the browser.
    saved: VecDeque<String>,
}

impl Page {
    pub(super) fn new() -> Self {
        let glass = if page::is_touched() { Glass::for_fingers(1.0) } else { Glass::default() };
        Self { glass, ..Self::default() }
    }
}

impl Platform for Page {
    fn now(&self) -> LocalTime {
        self.clock.now()
    }

    /// While the page is hidden, its script still runs, but nothing is painted.
    fn presence(&mut self) -> Presence {
        if page::is_hidden() { Presence::Hidden } else { Presence::Foreground }
    }

    /// Before a game, a page can be as small as a phone.
    fn needs(&self) -> Needs {
        Needs::Page
    }

    fn held(&mut self) -> Micros {
        page::held()
    }

    fn pads(&mut self) -> &mut dyn Pads {
        &mut self.pads
    }

    fn glass(&mut self) -> Option<&mut Glass> {
        Some(&mut self.glass)
    }

    fn write(&mut self, field: Option<Id>, letters_max: usize, is_secret: bool) {
        let (letters_max, is_on_glass) = (letters_max as u32, self.glass.is_used());
        page::write(field.map(|id| {
            let number = id.value() as u32;
            PageField { number, letters_max, is_secret, is_on_glass }
        }));
    }

    fn play(&mut self, output: &mut SoundOutput) {
        output.render(page::sound_waiting(), page::sound);
    }

    fn save(&mut self, name: String, bytes: Vec<u8>) {
        download::save(&name, &bytes);
        self.saved.push_back(name);
    }

    /// The browser tells the player if it cannot.
    fn poll_saved(&mut self) -> Option<Result<String, String>> {
        self.saved.pop_front().map(Ok)
    }

    fn reports_status(&self) -> bool {
        true
    }

    fn report_status(&mut self, status: &str) {
        page::publish_status(status);
    }
}
