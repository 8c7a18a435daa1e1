//! What XInput reports of a gamepad, as events of an Xbox pad.

use super::pad::{About, Range, Raw};

/// Vendor of the Xbox pads, whose layout XInput gives to all pads.
const MICROSOFT: u16 = 0x045e;

/// Bits of XInput's buttons with their codes of Linux's input layer.
const BUTTONS: [(u16, u16); 15] = [
    (0x0001, 0x220), // pad: up, down, left, right
    (0x0002, 0x221),
    (0x0004, 0x222),
    (0x0008, 0x223),
    (0x0010, 0x13b), // start, back
    (0x0020, 0x13a),
    (0x0040, 0x13d), // thumbs
    (0x0080, 0x13e),
    (0x0100, 0x136), // shoulders
    (0x0200, 0x137),
    (0x0400, 0x13c), // guide
    (0x1000, 0x130), // A, B, X, Y
    (0x2000, 0x131),
    (0x4000, 0x133),
    (0x8000, 0x134),
];

/// State of a gamepad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) buttons: u16,
    /// Left and right, 0 to 255.
    pub(super) triggers: [u8; 2],
    /// Left stick to the right and up, then the right one.
    pub(super) sticks: [i16; 4],
}

impl Reading {
    /// Axes in the order of their codes: sticks to the right and down, and triggers.
    fn axes(&self) -> [(u16, i32); 6] {
        let [left_x, left_y, right_x, right_y] = self.sticks;
        let [left, right] = self.triggers;
        // Downwards, as Linux counts it: the complement reaches both ends.
        let down = |value: i16| i32::from(!value);
        let [x, rx] = [left_x, right_x].map(i32::from);
        let [z, rz] = [left, right].map(i32::from);
        [(0, x), (1, down(left_y)), (2, z), (3, rx), (4, down(right_y)), (5, rz)]
    }

    /// The device in this state.
    pub(super) fn about(&self) -> About {
        let range = |(code, value)| {
            let is_trigger = [2, 5].contains(&code);
            let (min, max) = if is_trigger { (0, 255) } else { (-32768, 32767) };
            (code, Range { min, max, flat: 0, value })
        };
        About { vendor: MICROSOFT, axes: self.axes().map(range).into() }
    }

    /// Events that lead from an earlier state to this one.
    pub(super) fn since(&self, before: &Self) -> Vec<Raw> {
        let changed = self.buttons ^ before.buttons;
        let buttons = BUTTONS.into_iter().filter(|(bit, _)| changed & bit != 0);
        let buttons = buttons.map(|(bit, code)| Raw::Button(code, self.buttons & bit != 0));
        let axes = self.axes().into_iter().zip(before.axes()).filter(|(now, then)| now != then);
        buttons.chain(axes.map(|((code, value), _)| Raw::Axis(code, value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::pad::State;
    use super::*;
    use crate::bindings::Pad;

    /// Parts that are deflected in this state, reached from rest, in percent.
    fn deflected(reading: Reading) -> Vec<(Pad, i32)> {
        let rest = Reading::default();
        let mut state = State::new(rest.about());
        reading.since(&rest).into_iter().for_each(|event| state.handle(event));
        // A device that is opened in this state has the same axes.
        let mut opened = State::new(reading.about());
        Reading { sticks: [0; 4], triggers: [0; 2], ..reading }
            .since(&rest)
            .into_iter()
            .for_each(|event| opened.handle(event));
        let values = state.values(0.15);
        assert_eq!(values, opened.values(0.15), "{reading:?}");
        let percent = values.map(|value| (value * 100.0).round() as i32);
        Pad::ALL.into_iter().zip(percent).filter(|(_, percent)| *percent > 0).collect()
    }

    #[test]
    fn every_button_stick_and_trigger_is_its_part() {
        let rest = Reading::default();
        assert_eq!(deflected(rest), []);
        for (bit, part) in [
            (0x0001, Pad::DPadUp),
            (0x0002, Pad::DPadDown),
            (0x0004, Pad::DPadLeft),
            (0x0008, Pad::DPadRight),
            (0x0010, Pad::Start),
            (0x0020, Pad::Back),
            (0x0040, Pad::LeftThumb),
            (0x0080, Pad::RightThumb),
            (0x0100, Pad::LeftShoulder),
            (0x0200, Pad::RightShoulder),
            (0x0400, Pad::Guide),
            (0x1000, Pad::A),
            (0x2000, Pad::B),
            (0x4000, Pad::X),
            (0x8000, Pad::Y),
        ] {
            assert_eq!(deflected(Reading { buttons: bit, ..rest }), [(part, 100)], "{bit:#x}");
        }
        for (at, end, part) in [
            (0, i16::MIN, Pad::LeftStickLeft),
            (0, i16::MAX, Pad::LeftStickRight),
            (1, i16::MIN, Pad::LeftStickDown),
            (1, i16::MAX, Pad::LeftStickUp),
            (2, i16::MIN, Pad::RightStickLeft),
            (2, i16::MAX, Pad::RightStickRight),
            (3, i16::MIN, Pad::RightStickDown),
            (3, i16::MAX, Pad::RightStickUp),
        ] {
            let mut sticks = [0; 4];
            sticks[at] = end;
            assert_eq!(deflected(Reading { sticks, ..rest }), [(part, 100)], "{at}, {end}");
        }
        let pulled = |triggers| deflected(Reading { triggers, ..rest });
        assert_eq!(pulled([255, 0]), [(Pad::LeftTrigger, 100)]);
        assert_eq!(pulled([0, 255]), [(Pad::RightTrigger, 100)]);
        assert_eq!(pulled([10, 10]), [], "a finger that rests on it");
    }

    #[test]
    fn only_changes_are_events() {
        let before = Reading { buttons: 0x1000, triggers: [7, 0], sticks: [5, 0, 0, 0] };
        assert_eq!(before.since(&before), []);
        let now = Reading { buttons: 0x2000, triggers: [7, 1], sticks: [5, 0, 0, 9] };
        let events = [
            Raw::Button(0x130, false),
            Raw::Button(0x131, true),
            Raw::Axis(4, -10),
            Raw::Axis(5, 1),
        ];
        assert_eq!(now.since(&before), events);
    }
}
