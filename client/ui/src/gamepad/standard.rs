//! A gamepad as browsers report it: four axes, then seventeen buttons, in the "standard" mapping
//! (W3C Gamepad, remapping).

use super::pad::live;
use crate::bindings::Pad;
use crate::controls::PadValues;

/// Number of axes before the buttons.
const AXES: usize = 4;
/// Parts in the order of the buttons.
const BUTTONS: [Pad; 17] = [
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
    Pad::DPadUp,
    Pad::DPadDown,
    Pad::DPadLeft,
    Pad::DPadRight,
    Pad::Guide,
];

/// Deflections of all parts. `dead_zone` is the share of a stick's travel that is ignored.
pub fn values(told: &[f32; AXES + BUTTONS.len()], dead_zone: f32) -> PadValues {
    let mut values = PadValues::default();
    for (part, value) in BUTTONS.into_iter().zip(&told[AXES..]) {
        values[part as usize] = value.clamp(0.0, 1.0);
    }
    deflect(&mut values, (told[0], told[1]), dead_zone, Side::Left);
    deflect(&mut values, (told[2], told[3]), dead_zone, Side::Right);
    values
}

/// One of two sticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Deflects a stick, to the right and down.
pub(crate) fn deflect(values: &mut PadValues, at: (f32, f32), dead_zone: f32, side: Side) {
    let [left, right, up, down] = match side {
        Side::Left => {
            [Pad::LeftStickLeft, Pad::LeftStickRight, Pad::LeftStickUp, Pad::LeftStickDown]
        }
        Side::Right => {
            [Pad::RightStickLeft, Pad::RightStickRight, Pad::RightStickUp, Pad::RightStickDown]
        }
    };
    let finite = |it: f32| if it.is_finite() { it.clamp(-1.0, 1.0) } else { 0.0 };
    let (x, y) = live((finite(at.0), finite(at.1)), dead_zone);
    for (part, value) in [(left, -x), (right, x), (up, -y), (down, y)] {
        values[part as usize] = value.max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticks_have_a_dead_zone_and_buttons_their_parts() {
        let mut told = [0.0; AXES + BUTTONS.len()];
        (told[0], told[3]) = (-1.0, f32::NAN);
        (told[AXES], told[AXES + 7], told[AXES + 16]) = (1.0, 0.5, 2.0);
        let values = values(&told, 0.2);
        let of = |part: Pad| values[part as usize];
        assert_eq!([Pad::A, Pad::RightTrigger, Pad::Guide].map(of), [1.0, 0.5, 1.0]);
        assert_eq!([Pad::LeftStickLeft, Pad::LeftStickRight].map(of), [1.0, 0.0]);
        assert!(values.iter().filter(|value| **value > 0.0).count() == 4, "{values:?}");
    }
}
