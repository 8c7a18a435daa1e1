//! Names of keys, mouse buttons and gamepad parts, in the settings file and on the screen.

pub use macroquad::input::KeyCode;
use macroquad::input::MouseButton;

use crate::words::tr;

/// A key, button or half-axis that an action can be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// A key, by the letter on it.
    Key(KeyCode),
    /// A mouse button.
    Mouse(MouseButton),
    /// A notch of the mouse wheel.
    Wheel(Turn),
    /// A gamepad button, or half of an axis.
    Pad(Pad),
}

/// Directions of the mouse wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// Away from the player.
    Up,
    /// Towards the player.
    Down,
}

/// Buttons and half-axes of a gamepad, by their position on a standard one.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pad {
    A,
    B,
    X,
    Y,
    LeftShoulder,
    RightShoulder,
    LeftTrigger,
    RightTrigger,
    Back,
    Start,
    Guide,
    LeftThumb,
    RightThumb,
    DPadUp,
    DPadDown,
    DPadLeft,
    DPadRight,
    LeftStickUp,
    LeftStickDown,
    LeftStickLeft,
    LeftStickRight,
    RightStickUp,
    RightStickDown,
    RightStickLeft,
    RightStickRight,
}

impl Pad {
    /// Number of gamepad parts.
    pub const COUNT: usize = Self::ALL.len();

    /// All parts, in the order of their numbers.
    pub const ALL: [Self; 25] = [
        Self::A,
        Self::B,
        Self::X,
        Self::Y,
        Self::LeftShoulder,
        Self::RightShoulder,
        Self::LeftTrigger,
        Self::RightTrigger,
        Self::Back,
        Self::Start,
        Self::Guide,
        Self::LeftThumb,
        Self::RightThumb,
        Self::DPadUp,
        Self::DPadDown,
        Self::DPadLeft,
        Self::DPadRight,
        Self::LeftStickUp,
        Self::LeftStickDown,
        Self::LeftStickLeft,
        Self::LeftStickRight,
        Self::RightStickUp,
        Self::RightStickDown,
        Self::RightStickLeft,
        Self::RightStickRight,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::X => "X",
            Self::Y => "Y",
            Self::LeftShoulder => "LB",
            Self::RightShoulder => "RB",
            Self::LeftTrigger => "LT",
            Self::RightTrigger => "RT",
            Self::Back => "Back",
            Self::Start => "Start",
            Self::Guide => "Guide",
            Self::LeftThumb => tr("left stick pressed"),
            Self::RightThumb => tr("right stick pressed"),
            Self::DPadUp => tr("D-pad up"),
            Self::DPadDown => tr("D-pad down"),
            Self::DPadLeft => tr("D-pad left"),
            Self::DPadRight => tr("D-pad right"),
            Self::LeftStickUp => tr("left stick up"),
            Self::LeftStickDown => tr("left stick down"),
            Self::LeftStickLeft => tr("left stick left"),
            Self::LeftStickRight => tr("left stick right"),
            Self::RightStickUp => tr("right stick up"),
            Self::RightStickDown => tr("right stick down"),
            Self::RightStickLeft => tr("right stick left"),
            Self::RightStickRight => tr("right stick right"),
        }
    }

    /// Whether this is half of a stick's axis.
    pub(crate) fn is_stick(self) -> bool {
        (Self::LeftStickUp..=Self::RightStickRight).contains(&self)
    }

    /// The stick that this half-axis belongs to, or the D-pad.
    fn whole(self) -> Option<&'static str> {
        let name = format!("{self:?}");
        let whole = |part: &str| name.starts_with(part) && name.len() > part.len();
        match () {
            () if whole("LeftStick") => Some(tr("left stick")),
            () if whole("RightStick") => Some(tr("right stick")),
            () if whole("DPad") => Some(tr("D-pad")),
            () => None,
        }
    }
}

/// Keys that can be bound: those that drivers of all keyboards distinguish.
const KEYS: [KeyCode; 98] = {
    use KeyCode::*;
    [
        Space,
        Apostrophe,
        Comma,
        Minus,
        Period,
        Slash,
        Key0,
        Key1,
        Key2,
        Key3,
        Key4,
        Key5,
        Key6,
        Key7,
        Key8,
        Key9,
        Semicolon,
        Equal,
        A,
        B,
        C,
        D,
        E,
        F,
        G,
        H,
        I,
        J,
        K,
        L,
        M,
        N,
        O,
        P,
        Q,
        R,
        S,
        T,
        U,
        V,
        W,
        X,
        Y,
        Z,
        LeftBracket,
        Backslash,
        RightBracket,
        GraveAccent,
        World1,
        World2,
        Escape,
        Enter,
        Tab,
        Backspace,
        Insert,
        Delete,
        Right,
        Left,
        Down,
        Up,
        PageUp,
        PageDown,
        Home,
        End,
        CapsLock,
        Pause,
        F1,
        F2,
        F3,
        F4,
        F5,
        F6,
        F7,
        F8,
        F9,
        F10,
        F11,
        F12,
        Kp0,
        Kp1,
        Kp2,
        Kp3,
        Kp4,
        Kp5,
        Kp6,
        Kp7,
        Kp8,
        Kp9,
        KpDecimal,
        KpDivide,
        KpMultiply,
        KpSubtract,
        KpAdd,
        KpEnter,
        LeftShift,
        RightShift,
        LeftControl,
        RightControl,
    ]
};

const MOUSE: [(MouseButton, &str); 3] = [
    (MouseButton::Left, "Mouse:Left"),
    (MouseButton::Right, "Mouse:Right"),
    (MouseButton::Middle, "Mouse:Middle"),
];
const WHEEL: [(Turn, &str); 2] = [(Turn::Up, "Wheel:Up"), (Turn::Down, "Wheel:Down")];

/// Name of a key in the file: the engine's name, except for digits.
fn key_name(key: KeyCode) -> String {
    let name = format!("{key:?}");
    name.strip_prefix("Key").map_or(name.clone(), str::to_owned)
}

impl Binding {
    /// Returns everything that can be bound.
    pub fn all() -> impl Iterator<Item = Self> {
        let keys = KEYS.into_iter().map(Self::Key);
        let mouse = MOUSE.into_iter().map(|(button, _)| Self::Mouse(button));
        let wheel = WHEEL.into_iter().map(|(turn, _)| Self::Wheel(turn));
        keys.chain(mouse).chain(wheel).chain(Pad::ALL.into_iter().map(Self::Pad))
    }

    /// Parses a name from the settings file, ignoring case.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|binding| binding.name().eq_ignore_ascii_case(name.trim()))
    }

    /// Name in the settings file.
    pub fn name(self) -> String {
        let named = |pairs: &[(_, &str)], it| {
            let found = pairs.iter().find(|(other, _)| *other == it);
            found.map_or(String::new(), |(_, name)| (*name).to_owned())
        };
        match self {
            Self::Key(key) => key_name(key),
            Self::Mouse(button) => named(&MOUSE, button),
            Self::Wheel(Turn::Up) => WHEEL[0].1.into(),
            Self::Wheel(Turn::Down) => WHEEL[1].1.into(),
            Self::Pad(pad) => format!("Pad:{pad:?}"),
        }
    }

    /// Whether this is a part of the gamepad.
    pub fn is_pad(self) -> bool {
        matches!(self, Self::Pad(_))
    }

    /// Short name for the player.
    pub fn label(self) -> String {
        match self {
            Self::Key(key) => key_label(key).map_or_else(|| key_name(key), str::to_owned),
            Self::Mouse(MouseButton::Left) => tr("left button").into(),
            Self::Mouse(MouseButton::Right) => tr("right button").into(),
            Self::Mouse(_) => tr("middle button").into(),
            Self::Wheel(Turn::Up) => tr("wheel up").into(),
            Self::Wheel(Turn::Down) => tr("wheel down").into(),
            Self::Pad(pad) => pad.label().into(),
        }
    }
}

/// Label of a key, if it differs from the key's name.
fn key_label(key: KeyCode) -> Option<&'static str> {
    Some(match key {
        KeyCode::Escape => tr("Esc"),
        KeyCode::Space => tr("Space"),
        KeyCode::Enter => tr("Enter"),
        KeyCode::Backspace => tr("Backspace"),
        KeyCode::Delete => tr("Delete"),
        KeyCode::Up => tr("up"),
        KeyCode::Down => tr("down"),
        KeyCode::Left => tr("left"),
        KeyCode::Right => tr("right"),
        KeyCode::LeftShift => tr("left Shift"),
        KeyCode::RightShift => tr("right Shift"),
        KeyCode::LeftControl => tr("left Ctrl"),
        KeyCode::RightControl => tr("right Ctrl"),
        KeyCode::PageUp => tr("Page up"),
        KeyCode::PageDown => tr("Page down"),
        KeyCode::Apostrophe => "'",
        KeyCode::Comma => ",",
        KeyCode::Minus => "-",
        KeyCode::Period => ".",
        KeyCode::Slash => "/",
        KeyCode::Semicolon => ";",
        KeyCode::Equal => "=",
        KeyCode::LeftBracket => "[",
        KeyCode::RightBracket => "]",
        KeyCode::Backslash => "\\",
        KeyCode::GraveAccent => "`",
        _ => return None,
    })
}

/// Labels for one line of hints; `actions` has the bindings of each action. First bindings come
/// first, then second ones, as in "W A S D, arrows"; a whole stick has one label.
pub fn labels(actions: &[Vec<Binding>]) -> String {
    let most = actions.iter().map(Vec::len).max().unwrap_or(0);
    let mut columns: Vec<String> = Vec::new();
    for n in 0..most {
        let column: Vec<Binding> =
            actions.iter().filter_map(|bindings| bindings.get(n).copied()).collect();
        let whole = |binding: &Binding| match binding {
            Binding::Pad(pad) => pad.whole(),
            Binding::Key(KeyCode::Up | KeyCode::Down | KeyCode::Left | KeyCode::Right) => {
                Some(tr("arrows"))
            }
            _ => None,
        };
        let wholes: Vec<_> = column.iter().map(whole).collect();
        let one = wholes.first().copied().flatten().filter(|_| column.len() > 1);
        let words = match one.filter(|one| wholes.iter().all(|it| *it == Some(*one))) {
            Some(stick) => stick.to_owned(),
            None => column.into_iter().map(Binding::label).collect::<Vec<_>>().join(" "),
        };
        if !columns.contains(&words) {
            columns.push(words);
        }
    }
    columns.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binding_has_a_name_of_its_own_that_is_read_again() {
        let mut names = std::collections::BTreeSet::new();
        for binding in Binding::all() {
            let name = binding.name();
            assert!(!name.is_empty() && !binding.label().is_empty(), "{binding:?}");
            assert_eq!(Binding::parse(&name.to_lowercase()), Some(binding), "{name}");
            assert!(names.insert(name.to_lowercase()), "{name} is listed twice");
        }
        assert_eq!(Binding::parse("1"), Some(Binding::Key(KeyCode::Key1)));
        assert_eq!(Binding::parse("Pad:C"), None);
    }

    #[test]
    fn hints_put_like_bindings_together() {
        let parse = |names: &[&str]| names.iter().filter_map(|it| Binding::parse(it)).collect();
        let actions = [parse(&["W", "Up"]), parse(&["A", "Left"]), parse(&["S"])];
        assert_eq!(labels(&actions), "W A S, arrows");
        let stick = [parse(&["Pad:LeftStickUp", "Pad:DPadUp"]), parse(&["Pad:LeftStickLeft"])];
        assert_eq!(labels(&stick), "left stick, D-pad up");
    }
}
