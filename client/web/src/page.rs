//! Clock, storage, sound and pads of the page.

use phaselock::time::{LocalTime, Micros};

use crate::imports;

/// Values of a gamepad in the order of the standard mapping: four axes, then seventeen buttons
/// (W3C Gamepad, remapping).
pub const PAD_VALUES: usize = 4 + 17;

/// Counts from the beginning of the page. Copies agree.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock;

impl Clock {
    /// The page's clock.
    pub fn start() -> Self {
        Self
    }

    /// The time now: to 5 µs where the browser tells it so exactly, to 100 µs or 1 ms elsewhere.
    pub fn now(&self) -> LocalTime {
        LocalTime(imports::phaselock_now() as i64)
    }

    /// Unix time of the clock's time 0, in microseconds, by the system's clock when the page began.
    pub fn unix_of_start(&self) -> i64 {
        imports::phaselock_unix_of_start() as i64
    }
}

/// A text that was kept by that name.
pub fn kept(name: &str) -> Option<String> {
    text(&format!("kept:{name}"))
}

/// A text that this tab keeps, also when its page is loaded anew.
pub fn of_tab(name: &str) -> Option<String> {
    text(&format!("tab:{name}"))
}

/// Keeps a text for as long as the tab is there.
pub fn keep_in_tab(name: &str, text: &str) -> bool {
    keep(&format!("tab:{name}"), text)
}

/// A part of the page's address: the value behind `NAME=`.
pub fn linked(name: &str) -> Option<String> {
    text(&format!("link:{name}"))
}

/// All that the page's address says behind `?`.
pub fn link() -> Option<String> {
    text("whole link")
}

/// The browser's language, as in `de-AT`.
pub fn language() -> Option<String> {
    text("language")
}

/// Name that the server gives itself.
pub fn server_name() -> Option<String> {
    text("server:name")
}

/// True if the server needs a password.
pub fn needs_password() -> bool {
    text("server:needs_password").as_deref() == Some("true")
}

/// The longest time for which other work kept the page waiting since the last call; the last frame
/// took `worked` to compute.
pub fn held(worked: Micros) -> Micros {
    Micros::from_f64(imports::phaselock_held(worked.0 as f64))
}

/// Host of the game's server, with a port unless it is the usual one.
pub fn host() -> Option<String> {
    text("host")
}

fn text(name: &str) -> Option<String> {
    let count = imports::phaselock_text_bytes(name.as_ptr(), name.len());
    let mut bytes = vec![0; usize::try_from(count).ok()?];
    imports::phaselock_text(bytes.as_mut_ptr());
    String::from_utf8(bytes).ok()
}

/// Keeps a text for the next visit. False if the browser refuses, as it does in private windows and
/// where there is no room.
pub fn keep(name: &str, text: &str) -> bool {
    imports::phaselock_keep(name.as_ptr(), name.len(), text.as_ptr(), text.len()) == 1
}

/// Tells the page what is played, as JSON, for whoever looks at `phaselock.status` there.
pub fn tell(status: &str) {
    imports::phaselock_tell(status.as_ptr(), status.len());
}

/// Loads the page anew, as the server has it by now. False if that was tried a minute ago.
pub fn reload() -> bool {
    imports::phaselock_reload() == 1
}

/// True while nobody sees the page.
pub fn is_hidden() -> bool {
    imports::phaselock_is_hidden() == 1
}

/// Frames of sound that wait to be heard; none before the first key or click, until which browsers
/// are silent.
pub fn sound_waiting() -> Option<usize> {
    usize::try_from(imports::phaselock_sound_waiting()).ok()
}

/// Hands frames of sound on.
pub fn sound(frames: &[[f32; 2]]) {
    let samples = frames.as_flattened();
    imports::phaselock_sound(samples.as_ptr(), samples.len());
}

/// A field of the client that waits for letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Number by which it is told from others.
    pub number: u32,
    /// Letters at most.
    pub letters_max: u32,
    /// Nobody else may read them.
    pub is_secret: bool,
    /// The player has no keys, and sees the page's field in place of the client's.
    pub is_on_glass: bool,
}

/// Has the page's field stand for one of the client's, or for none. A phone shows its keyboard
/// for a field of theirs alone, and only such a field is told what an input method composes.
pub fn write(field: Option<Field>) {
    let Some(Field { number, letters_max, is_secret, is_on_glass }) = field else {
        return imports::phaselock_write(0, 0, 0, 0);
    };
    let (is_secret, is_on_glass) = (i32::from(is_secret), i32::from(is_on_glass));
    imports::phaselock_write(number.max(1), letters_max, is_secret, is_on_glass);
}

/// Values of the first gamepad, if there is one.
pub fn pad() -> Option<[f32; PAD_VALUES]> {
    let mut values = [0.0; PAD_VALUES];
    (imports::phaselock_pad(values.as_mut_ptr(), PAD_VALUES) > 0).then_some(values)
}

/// Shakes the gamepad, with a strength from 0 to 1.
pub fn shake(strength: f32, millis: f32) {
    imports::phaselock_shake(strength, millis);
}
