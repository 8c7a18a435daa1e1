//! Clock, storage, sound and gamepads of the page.

use phaselock::time::{LocalTime, Micros};

use crate::imports;

/// Values of a gamepad in the order of the standard mapping: four axes, then seventeen buttons
/// (W3C Gamepad, remapping).
pub const PAD_VALUES: usize = 4 + 17;

/// The page's clock, which counts from the start of the page. All copies agree.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageClock;

impl PageClock {
    /// The page's clock.
    pub fn start() -> Self {
        Self
    }

    /// The current time. Browsers round it to 5 µs, 100 µs or 1 ms.
    pub fn now(&self) -> LocalTime {
        LocalTime(imports::phaselock_now() as i64)
    }

    /// Unix time in microseconds at zero of the clock, by the system clock at the start.
    pub fn unix_of_start(&self) -> i64 {
        imports::phaselock_unix_of_start() as i64
    }
}

/// Returns the text stored under this name.
pub fn load(name: &str) -> Option<String> {
    text(&format!("kept:{name}"))
}

/// Returns a text stored by this tab, which survives a reload.
pub fn of_tab(name: &str) -> Option<String> {
    text(&format!("tab:{name}"))
}

/// Stores a text until the tab is closed.
pub fn keep_in_tab(name: &str, text: &str) -> bool {
    store(&format!("tab:{name}"), text)
}

/// Returns a parameter of the page's address: the value of `NAME=`.
pub fn linked(name: &str) -> Option<String> {
    text(&format!("link:{name}"))
}

/// Returns the query of the page's address, with its `?`.
pub fn link() -> Option<String> {
    text("whole link")
}

/// The browser's language, as in `de-AT`.
pub fn language() -> Option<String> {
    text("language")
}

/// Whether fingers are the main way to point, as on phones.
pub fn is_touched() -> bool {
    text("pointer").as_deref() == Some("coarse")
}

/// Returns the server's name.
pub fn server_name() -> Option<String> {
    text("server:name")
}

/// Whether the server needs a password.
pub fn needs_password() -> bool {
    text("server:needs_password").as_deref() == Some("true")
}

/// Returns the address of the directory that the page asks for a place to play, if the server's
/// host has set one.
pub fn directory() -> Option<String> {
    text("server:directory")
}

/// Returns 64 random bits that no one can predict.
pub(crate) fn random() -> u64 {
    text("random").and_then(|digits| u64::from_str_radix(&digits, 16).ok()).unwrap_or_default()
}

/// Returns the longest time for which other work kept the page waiting since the last call. The
/// last frame's own work does not count.
pub fn held() -> Micros {
    Micros::from_f64(imports::phaselock_held())
}

/// Returns the host of the game's server, with a port unless it is the default.
pub fn host() -> Option<String> {
    text("host")
}

/// Takes the name of a file that was dropped on the page since the last call.
pub fn take_dropped() -> Option<String> {
    text("dropped")
}

/// Returns why the last download failed.
pub(crate) fn download_error() -> Option<String> {
    text("download error")
}

fn text(name: &str) -> Option<String> {
    let count = imports::phaselock_text_bytes(name.as_ptr(), name.len());
    let mut bytes = vec![0; usize::try_from(count).ok()?];
    imports::phaselock_text(bytes.as_mut_ptr());
    String::from_utf8(bytes).ok()
}

/// Stores a text for the next visit. Returns false if the browser refuses, as it may in private
/// windows or when its storage is full.
pub fn store(name: &str, text: &str) -> bool {
    imports::phaselock_keep(name.as_ptr(), name.len(), text.as_ptr(), text.len()) == 1
}

/// Publishes the client's status as JSON: scripts find it in `phaselock.status`.
pub fn publish_status(status: &str) {
    imports::phaselock_publish_status(status.as_ptr(), status.len());
}

/// Reloads the page to get the server's current build. Returns false within a minute of the last
/// attempt.
pub fn reload() -> bool {
    imports::phaselock_reload() == 1
}

/// Whether the page is hidden.
pub fn is_hidden() -> bool {
    imports::phaselock_is_hidden() == 1
}

/// Returns the number of queued frames of sound. `None` before the first key press or click,
/// because browsers are silent until then.
pub fn sound_waiting() -> Option<usize> {
    usize::try_from(imports::phaselock_sound_waiting()).ok()
}

/// Queues frames of sound.
pub fn sound(frames: &[[f32; 2]]) {
    let samples = frames.as_flattened();
    imports::phaselock_sound(samples.as_ptr(), samples.len());
}

/// A text field of the client that has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageField {
    /// Identifies the field.
    pub number: u32,
    /// Maximum number of letters.
    pub letters_max: u32,
    /// Whether the letters are masked.
    pub is_secret: bool,
    /// Whether the player uses a touch screen and sees the page's field instead of the client's.
    pub is_on_glass: bool,
}

/// Lets the page's field stand in for one of the client's, or hides it. Phones show their keyboard
/// only for a field of the page, and only such a field gets the text of input methods.
pub fn write(field: Option<PageField>) {
    let Some(PageField { number, letters_max, is_secret, is_on_glass }) = field else {
        return imports::phaselock_write(0, 0, 0, 0);
    };
    let (is_secret, is_on_glass) = (i32::from(is_secret), i32::from(is_on_glass));
    imports::phaselock_write(number.max(1), letters_max, is_secret, is_on_glass);
}

/// Returns the values of the first gamepad, if there is one.
pub fn pad() -> Option<[f32; PAD_VALUES]> {
    let mut values = [0.0; PAD_VALUES];
    (imports::phaselock_pad(values.as_mut_ptr(), PAD_VALUES) > 0).then_some(values)
}

/// Shakes the gamepad with a strength from 0 to 1.
pub fn shake(strength: f32, millis: f32) {
    imports::phaselock_shake(strength, millis);
}
