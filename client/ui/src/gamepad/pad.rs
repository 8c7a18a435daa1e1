//! The gamepad's core: takes raw events and calibration, and returns deflections of sticks and
//! buttons.
//!
//! Codes are those of Linux's input layer (`input-event-codes.h`); its document "Linux Gamepad
//! Specification" says what they mean.

use std::time::Duration;

use crate::bindings::Pad;
use crate::controls::PadValues;

/// Share of a trigger's travel that is ignored.
const TRIGGER_REST: f32 = 0.06;
/// Maximum number of axes kept per device; the input layer has 64.
const AXES_MAX: usize = 64;

/// A rumble to play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rumble {
    /// Strength from 0 to 1.
    pub strength: f32,
    /// Time for which it is felt.
    pub length: Duration,
}

/// The gamepads of a machine, combined into one.
pub trait Pads {
    /// Takes the deflections of this frame. The dead zone is a share of a stick's travel.
    fn take(&mut self, dead_zone: f32) -> PadValues;
    /// Number of gamepads, and whether there is one that may not be read.
    fn state(&self) -> (usize, bool);
    /// Makes the gamepads rumble.
    fn rumble(&self, rumble: Rumble);
}

/// An event from a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(target_os = "linux", windows)),
    allow(dead_code, reason = "no other system reports them")
)]
pub(crate) enum Raw {
    /// A button, by its code: down or up.
    Button(u16, bool),
    /// An axis, by its code.
    Axis(u16, i32),
}

/// Range and rest position of an axis, as the device reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) min: i32,
    pub(crate) max: i32,
    /// Values this near the middle are noise.
    pub(crate) flat: i32,
    /// Value when the device was opened.
    pub(crate) value: i32,
}

impl Range {
    /// Value as a share of the travel from the middle, -1 to 1.
    fn signed(&self) -> f32 {
        let (min, max) = (f64::from(self.min), f64::from(self.max));
        let half = (max - min) / 2.0;
        if half <= 0.0 {
            return 0.0;
        }
        let off = f64::from(self.value) - (min + max) / 2.0;
        // If the middle is not a whole number, its neighbours are at rest too.
        if off.abs() <= f64::from(self.flat.max(0)).min(half / 2.0).max(0.5) {
            return 0.0;
        }
        (off / half).clamp(-1.0, 1.0) as f32
    }

    /// Value as a share of the travel from one end, 0 to 1.
    fn unsigned(&self) -> f32 {
        let (min, max) = (f64::from(self.min), f64::from(self.max));
        if max <= min {
            return 0.0;
        }
        ((f64::from(self.value) - min) / (max - min)).clamp(0.0, 1.0) as f32
    }
}

/// Description of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) vendor: u16,
    pub(crate) axes: Vec<(u16, Range)>,
}

mod code {
    pub(super) const X: u16 = 0;
    pub(super) const Y: u16 = 1;
    pub(super) const Z: u16 = 2;
    pub(super) const RX: u16 = 3;
    pub(super) const RY: u16 = 4;
    pub(super) const RZ: u16 = 5;
    pub(super) const GAS: u16 = 9;
    pub(super) const BRAKE: u16 = 10;
    pub(super) const HAT_X: u16 = 16;
    pub(super) const HAT_Y: u16 = 17;
}

/// Vendors whose drivers name the upper and the left button by position. Others name them by the
/// letters on an Xbox pad.
const BY_PLACE: [u16; 2] = [0x054c, 0x057e];

/// Parts by the codes from 0x120 on. Joysticks without a driver of their own number their buttons;
/// most such pads use this order.
const NUMBERED: [Pad; 12] = [
    Pad::A,
    Pad::B,
    Pad::X,
    Pad::Y,
    Pad::LeftShoulder,
    Pad::RightShoulder,
    Pad::LeftTrigger,
    Pad::RightTrigger,
    Pad::Back,
    Pad::Start,
    Pad::LeftThumb,
    Pad::RightThumb,
];

/// State of a device.
#[derive(Debug)]
pub(crate) struct State {
    about: About,
    buttons: [bool; Pad::COUNT],
}

impl State {
    pub(crate) fn new(mut about: About) -> Self {
        about.axes.truncate(AXES_MAX);
        Self { about, buttons: [false; Pad::COUNT] }
    }

    /// Takes an event; unknown codes are ignored.
    pub(crate) fn handle(&mut self, event: Raw) {
        match event {
            Raw::Button(code, down) => {
                if let Some(part) = part_of(code, BY_PLACE.contains(&self.about.vendor)) {
                    self.buttons[part as usize] = down;
                }
            }
            Raw::Axis(code, value) => {
                if let Some((_, range)) = self.about.axes.iter_mut().find(|(it, _)| *it == code) {
                    range.value = value;
                }
            }
        }
    }

    fn range(&self, code: u16) -> Option<&Range> {
        self.about.axes.iter().find(|(it, _)| *it == code).map(|(_, range)| range)
    }

    /// Deflections of all parts. `dead_zone` is the share of a stick's travel that is ignored.
    pub(crate) fn values(&self, dead_zone: f32) -> PadValues {
        let mut values: PadValues = self.buttons.map(f32::from);
        let has = |code| self.range(code).is_some();
        let signed = |code| self.range(code).map_or(0.0, Range::signed);
        let mut add = |part: Pad, value: f32| {
            let slot = &mut values[part as usize];
            *slot = slot.max(value);
        };
        // Without axes of its own, the right stick uses those of the triggers.
        let right = if has(code::RX) { (code::RX, code::RY) } else { (code::Z, code::RZ) };
        let sticks = [
            (
                (code::X, code::Y),
                [Pad::LeftStickLeft, Pad::LeftStickRight, Pad::LeftStickUp, Pad::LeftStickDown],
            ),
            (
                right,
                [Pad::RightStickLeft, Pad::RightStickRight, Pad::RightStickUp, Pad::RightStickDown],
            ),
        ];
        for ((x, y), [left, right, up, down]) in sticks {
            let (x, y) = live((signed(x), signed(y)), dead_zone);
            add(left, -x);
            add(right, x);
            add(up, -y);
            add(down, y);
        }
        let (x, y) = (signed(code::HAT_X), signed(code::HAT_Y));
        add(Pad::DPadLeft, -x);
        add(Pad::DPadRight, x);
        add(Pad::DPadUp, -y);
        add(Pad::DPadDown, y);
        let pulls = if has(code::RX) { (code::Z, code::RZ) } else { (code::BRAKE, code::GAS) };
        for (code, part) in [(pulls.0, Pad::LeftTrigger), (pulls.1, Pad::RightTrigger)] {
            let pull = self.range(code).map_or(0.0, Range::unsigned);
            add(part, ((pull - TRIGGER_REST) / (1.0 - TRIGGER_REST)).max(0.0));
        }
        values
    }
}

/// Cuts the dead zone out of a stick's vector: the direction stays, and the length begins at 0.
pub(super) fn live((x, y): (f32, f32), dead_zone: f32) -> (f32, f32) {
    let length = x.hypot(y);
    if length <= dead_zone || length == 0.0 {
        return (0.0, 0.0);
    }
    let wanted = ((length - dead_zone) / (1.0 - dead_zone)).min(1.0);
    (x / length * wanted, y / length * wanted)
}

/// The part that a button code stands for.
fn part_of(code: u16, by_place: bool) -> Option<Pad> {
    Some(match code {
        0x130 => Pad::A,
        0x131 => Pad::B,
        0x133 | 0x134 if by_place == (code == 0x133) => Pad::Y,
        0x133 | 0x134 => Pad::X,
        0x136 => Pad::LeftShoulder,
        0x137 => Pad::RightShoulder,
        0x138 => Pad::LeftTrigger,
        0x139 => Pad::RightTrigger,
        0x13a => Pad::Back,
        0x13b => Pad::Start,
        0x13c => Pad::Guide,
        0x13d => Pad::LeftThumb,
        0x13e => Pad::RightThumb,
        0x220 => Pad::DPadUp,
        0x221 => Pad::DPadDown,
        0x222 => Pad::DPadLeft,
        0x223 => Pad::DPadRight,
        _ => return NUMBERED.get(usize::from(code.checked_sub(0x120)?)).copied(),
    })
}
