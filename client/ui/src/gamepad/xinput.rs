//! Gamepads on Windows, by XInput, which is loaded at run time.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusty_xinput::XInputHandle;

use super::driver::{Device, Ports};
use super::pad::{About, Raw, Rumble};
use super::xpad::Reading;

/// Number of gamepads that XInput knows.
const SLOTS: u32 = 4;
/// Share of the strength for the motor of fine rumble.
const FINE: f32 = 0.6;

/// XInput's slots; none if the system lacks XInput.
pub(super) struct Slots(Option<Arc<XInputHandle>>);

impl Slots {
    /// Loads XInput.
    pub(super) fn load() -> Self {
        Self(XInputHandle::load_default().ok().map(Arc::new))
    }
}

/// A gamepad in a slot.
pub(super) struct Slot {
    xinput: Arc<XInputHandle>,
    number: u32,
    reading: Reading,
    /// When the playing rumble ends.
    rumbles_until: Option<Instant>,
}

impl Ports for Slots {
    type Device = Slot;

    fn look(&mut self, open: &[PathBuf]) -> (Vec<(PathBuf, Slot)>, bool) {
        let Self(Some(xinput)) = self else { return (Vec::new(), false) };
        let slot = |number| {
            let path = PathBuf::from(format!("xinput/{number}"));
            if open.contains(&path) {
                return None;
            }
            let reading = reading(xinput, number).ok()?;
            Some((path, Slot { xinput: xinput.clone(), number, reading, rumbles_until: None }))
        };
        ((0..SLOTS).filter_map(slot).collect(), false)
    }
}

/// Reads the state of a gamepad; fails if there is none.
fn reading(xinput: &XInputHandle, number: u32) -> io::Result<Reading> {
    // The extended function also reports the guide button, but not every version has it.
    let state = xinput.get_state_ex(number).or_else(|_| xinput.get_state(number));
    let pad = state.map_err(|error| io::Error::other(format!("{error:?}")))?.raw.Gamepad;
    Ok(Reading {
        buttons: pad.wButtons,
        triggers: [pad.bLeftTrigger, pad.bRightTrigger],
        sticks: [pad.sThumbLX, pad.sThumbLY, pad.sThumbRX, pad.sThumbRY],
    })
}

impl Slot {
    fn turn_motors(&self, strength: f32) -> io::Result<()> {
        let speed = |share: f32| (strength.clamp(0.0, 1.0) * share * 65535.0) as u16;
        let turned = self.xinput.set_state(self.number, speed(1.0), speed(FINE));
        turned.map_err(|error| io::Error::other(format!("{error:?}")))
    }
}

impl Device for Slot {
    fn about(&self) -> About {
        self.reading.about()
    }

    fn read(&mut self) -> io::Result<Vec<Raw>> {
        let now = reading(&self.xinput, self.number)?;
        if self.rumbles_until.take_if(|until| *until <= Instant::now()).is_some() {
            self.turn_motors(0.0)?;
        }
        Ok(now.since(&std::mem::replace(&mut self.reading, now)))
    }

    fn rumble(&mut self, Rumble { strength, length }: Rumble) -> io::Result<()> {
        self.turn_motors(strength)?;
        self.rumbles_until = Some(Instant::now() + length.min(Duration::from_secs(1)));
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // XInput would rumble on after the game.
        if self.rumbles_until.is_some() {
            let _ = self.turn_motors(0.0);
        }
    }
}
