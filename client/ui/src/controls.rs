//! The player's controls: actions, triggered by keys, mouse, gamepad or touch.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use egui_macroquad::egui::Pos2;
use macroquad::input::{
    MouseButton, get_keys_down, get_keys_pressed, is_mouse_button_down, mouse_position, mouse_wheel,
};
use macroquad::miniquad::window::dpi_scale;

pub use super::actions::Action;
use super::actions::{
    ALL, ALL_GAMES, CHAT, CLOCK_LOOP, MENU, READY, SCORES, SKIP_LESSON, VOTE_NO, VOTE_YES,
};
use super::bindings::{Binding, Pad, Turn, labels};
use super::words::{fill, tr};

/// Bindings that the player changed, by game (or [`ALL_GAMES`]) and action.
pub type Bindings = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// Share of its travel from which a trigger or half-axis counts as pressed.
const PRESSED: f32 = 0.5;
/// Mouse motion in points that takes over from the gamepad.
const MOUSE_MOVES: f32 = 4.0;

/// Gamepad parts that get a touch button if the game uses them, those nearest to the thumb first.
pub(crate) const GLASS_PARTS: [Pad; 8] = [
    Pad::A,
    Pad::RightTrigger,
    Pad::B,
    Pad::X,
    Pad::Y,
    Pad::LeftTrigger,
    Pad::RightShoulder,
    Pad::LeftShoulder,
];

/// Deflection of each gamepad part, from 0 to 1, in the order of [`Pad::ALL`].
pub type PadValues = [f32; Pad::COUNT];

/// State of all input devices in a frame.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Keys and mouse buttons that are down.
    pub held: HashSet<Binding>,
    /// Keys and mouse buttons that went down in this frame, however briefly.
    pub struck: HashSet<Binding>,
    /// Notches of the wheel: up minus down.
    pub wheel: i32,
    /// Deflections of the gamepad's parts.
    pub pad: PadValues,
    /// Position of the mouse, in points, once it is known.
    pub pointer: Option<Pos2>,
    /// Bindings of the touch buttons that are being touched.
    pub touched: HashSet<Binding>,
}

/// The actions and their state. An action triggered since the last tick counts as held in the next
/// one, however short the press was.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    /// Position of the mouse, in points. `None` until the mouse has moved, and on touch screens.
    pub pointer: Option<Pos2>,
    /// Whether the mouse has moved; before that, the system reports the corner.
    has_mouse: bool,
    held: HashSet<Binding>,
    /// Presses and notches since the last tick.
    tapped: HashMap<Binding, u32>,
    struck: HashSet<Binding>,
    /// Buttons still held from the press that led here. They are ignored until released.
    stale: HashSet<Binding>,
    pad: PadValues,
    /// Whether the gamepad was used last.
    by_pad: bool,
    /// Whether the player uses a touch screen; texts then name what is shown there.
    by_glass: bool,
    /// Position of the mouse when the gamepad took over.
    pointer_then: Option<Pos2>,
    bound: Option<(&'static str, Bindings)>,
    /// Actions of all games and of this one, with their bindings.
    map: Vec<(&'static Action, Vec<Binding>)>,
}

impl Controls {
    /// Reads this frame's keys and mouse, and takes the state of the gamepad and of touch.
    pub fn gather(&mut self, pixels_per_point: f32, pad: PadValues, touched: HashSet<Binding>) {
        let pointer = self.point(mouse_position().into(), dpi_scale() / pixels_per_point);
        let keys = |keys: HashSet<_>| keys.into_iter().map(Binding::Key);
        let mut held: HashSet<_> = keys(get_keys_down()).collect();
        let mut struck: HashSet<_> = keys(get_keys_pressed()).collect();
        for button in [MouseButton::Left, MouseButton::Right, MouseButton::Middle] {
            held.extend(is_mouse_button_down(button).then_some(Binding::Mouse(button)));
            let pressed = macroquad::input::is_mouse_button_pressed(button);
            struck.extend(pressed.then_some(Binding::Mouse(button)));
        }
        // Platforms disagree about the size of a notch, but not about its direction.
        let (_, turned) = mouse_wheel();
        let wheel = i32::from(turned > 0.0) - i32::from(turned < 0.0);
        self.handle(Devices { held, struck, wheel, pad, pointer, touched });
    }

    /// Position of the mouse in points, from what the system reports. `None` before the mouse has
    /// moved, when it reports the corner, and on touch screens, where it reports the last touch.
    fn point(&mut self, at: Pos2, points: f32) -> Option<Pos2> {
        self.has_mouse |= at != Pos2::ZERO;
        let is_known = self.has_mouse && !self.by_glass;
        is_known.then(|| (at.to_vec2() * points).to_pos2())
    }

    /// Takes a frame's state of all devices.
    pub fn handle(&mut self, devices: Devices) {
        let Devices { mut held, mut struck, wheel, pad, pointer, touched } = devices;
        let moved = pointer
            .is_some_and(|at| self.pointer_then.is_none_or(|then| at.distance(then) > MOUSE_MOVES));
        let hands = moved || wheel != 0 || !struck.is_empty();
        let deflected = Pad::ALL.into_iter().zip(pad).filter(|(_, value)| *value > PRESSED);
        let deflected: HashSet<_> = deflected.map(|(part, _)| Binding::Pad(part)).collect();
        let by_thumbs: HashSet<_> = deflected.union(&touched).copied().collect();
        struck.extend(by_thumbs.difference(&self.held).filter(|it| !self.stale.contains(it)));
        match (deflected.is_empty(), hands) {
            (false, _) => (self.by_pad, self.pointer_then) = (true, pointer),
            (true, true) => self.by_pad = false,
            (true, false) => {}
        }
        held.extend(by_thumbs);
        self.stale.retain(|binding| held.contains(binding));
        held.retain(|binding| !self.stale.contains(binding));
        (self.held, self.struck, self.pad, self.pointer) = (held, struck, pad, pointer);
        let turn = if wheel > 0 { Turn::Up } else { Turn::Down };
        self.struck.extend((wheel != 0).then_some(Binding::Wheel(turn)));
        for binding in &self.struck {
            let presses = if *binding == Binding::Wheel(turn) { wheel.unsigned_abs() } else { 1 };
            *self.tapped.entry(*binding).or_default() += presses;
        }
    }

    /// Binds the actions of all games and of one game, as the player chose or by default.
    pub fn bind(&mut self, game: &'static str, actions: &'static [Action], chosen: &Bindings) {
        if self.bound.as_ref().is_some_and(|(bound, by)| *bound == game && by == chosen) {
            return;
        }
        self.bound = Some((game, chosen.clone()));
        let all = ALL.iter().map(|action| (ALL_GAMES, action));
        let own = actions.iter().map(|action| (game, action));
        let bind = |(section, action): (&str, &'static Action)| {
            (action, bindings_of(section, action, chosen))
        };
        self.map = own.chain(all).map(bind).collect();
    }

    /// Releases everything; held mouse and gamepad buttons count again after the next press.
    pub fn release_all(&mut self) {
        let is_button = |binding: &Binding| !matches!(binding, Binding::Key(_));
        self.stale.extend(self.held.drain().filter(is_button));
        self.tapped.clear();
        self.struck.clear();
        self.pad = PadValues::default();
    }

    /// Ends a tick: presses and notches are used up.
    pub fn ticked(&mut self) {
        self.tapped.clear();
    }

    /// Bindings of an action.
    fn bindings(&self, action: &Action) -> Vec<Binding> {
        match self.map.iter().find(|(it, _)| it.id == action.id) {
            Some((_, bindings)) => bindings.clone(),
            // Not yet bound, or not in the view's table.
            None => action.keys.iter().filter_map(|name| Binding::parse(name)).collect(),
        }
    }

    /// Whether the action is held.
    pub fn held(&self, action: &Action) -> bool {
        self.bindings(action)
            .iter()
            .any(|it| self.held.contains(it) || self.tapped.contains_key(it))
    }

    /// Whether the action began in this frame.
    pub fn pressed(&self, action: &Action) -> bool {
        self.bindings(action).iter().any(|it| self.struck.contains(it))
    }

    /// Press or notch of this frame, for a new binding.
    pub fn struck(&self) -> Option<Binding> {
        self.struck.iter().copied().min_by_key(|binding| binding.name())
    }

    /// Whether this gamepad part was pressed in this frame, whatever it is bound to.
    pub fn pad_pressed(&self, part: Pad) -> bool {
        self.struck.contains(&Binding::Pad(part))
    }

    /// Ends a frame without reading the devices: presses are no longer new.
    pub fn between(&mut self) {
        self.struck.clear();
    }

    /// Number of presses of the action, or notches of the wheel, since the last tick.
    pub fn count(&self, action: &Action) -> u32 {
        self.bindings(action).iter().filter_map(|it| self.tapped.get(it)).sum()
    }

    /// Strength of the action, from 0 to 1. Only triggers and sticks give values in between.
    pub fn strength(&self, action: &Action) -> f32 {
        let strength = |binding: &Binding| match binding {
            Binding::Pad(part) if !self.stale.contains(binding) => self.pad[*part as usize],
            it => f32::from(self.held.contains(it) || self.tapped.contains_key(it)),
        };
        self.bindings(action).iter().map(strength).fold(0.0, f32::max)
    }

    /// Strength of `more` minus that of `less`, from -1 to 1.
    pub fn axis(&self, less: &Action, more: &Action) -> f32 {
        self.strength(more) - self.strength(less)
    }

    /// The axis as -1, 0 or 1, for games that ignore strength.
    pub fn direction(&self, less: &Action, more: &Action) -> i16 {
        let axis = self.axis(less, more);
        i16::from(axis > PRESSED) - i16::from(axis < -PRESSED)
    }

    /// Sets whether texts name what is on the touch screen.
    pub fn set_glass(&mut self, is_used: bool) {
        self.by_glass = is_used;
    }

    /// Whether the player uses touch, whose buttons are in the lower right corner.
    pub fn by_glass(&self) -> bool {
        self.by_glass
    }

    /// Whether the gamepad was used last; hints then name its parts, and it aims.
    pub fn by_pad(&self) -> bool {
        self.by_pad
    }

    /// Lines of hints, as keys and their effect: first the game's actions, then those of all games.
    pub fn hints(&self) -> Vec<(String, String)> {
        self.lines(|action| action.hint)
    }

    /// Lines for the full list of keys: as [`hints`](Self::hints), with the actions that hints
    /// leave out, except for those whose keys are shown where they are used.
    pub fn help(&self) -> Vec<(String, String)> {
        let told = |action: &Action| [VOTE_YES, VOTE_NO, CLOCK_LOOP, SKIP_LESSON].contains(action);
        self.lines(|action| match action.hint {
            "" if !told(action) => action.title,
            hint => hint,
        })
    }

    fn lines(&self, words: impl Fn(&Action) -> &'static str) -> Vec<(String, String)> {
        if self.by_glass {
            // The buttons show it.
            return Vec::new();
        }
        let mut lines: Vec<(Vec<Vec<Binding>>, &'static str)> = Vec::new();
        for (action, bindings) in self.map.iter().filter(|(action, _)| !words(action).is_empty()) {
            let hint = words(action);
            let fits = |binding: &&Binding| binding.is_pad() == self.by_pad;
            let bindings: Vec<_> = bindings.iter().filter(fits).copied().collect();
            match lines.last_mut().filter(|(_, of)| *of == hint) {
                _ if bindings.is_empty() => {}
                Some((line, _)) => line.push(bindings),
                None => lines.push((vec![bindings], hint)),
            }
        }
        lines.into_iter().map(|(line, hint)| (labels(&line), tr(hint).to_owned())).collect()
    }

    /// Keys of related actions in words, such as "W A S D or arrows": of the device that was used
    /// last, or of the other one if it has none.
    pub fn keys(&self, actions: &[&Action]) -> String {
        if self.by_glass {
            return self.touches(actions);
        }
        let of = |by_pad: bool| {
            let line: Vec<_> = actions
                .iter()
                .map(|action| {
                    let mut bindings = self.bindings(action);
                    bindings.retain(|binding| binding.is_pad() == by_pad);
                    bindings
                })
                .filter(|bindings| !bindings.is_empty())
                .collect();
            let labels = labels(&line);
            let words: Vec<_> = labels.split(", ").map(in_sentence).collect();
            words.join(&format!(" {} ", tr("or")))
        };
        let words = of(self.by_pad);
        if words.is_empty() { of(!self.by_pad) } else { words }
    }

    /// Names of what is on the touch screen for related actions: a stick, or their buttons.
    fn touches(&self, actions: &[&Action]) -> String {
        let sticks: Vec<_> = actions.iter().map(|action| self.on_stick(action)).collect();
        if sticks.iter().all(Option::is_some) {
            let line: Vec<_> = sticks.into_iter().flatten().map(|part| vec![part]).collect();
            return in_sentence(&labels(&line)).to_owned();
        }
        let words = actions.iter().filter_map(|action| self.on_glass(action));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The half of a touch stick that triggers an action.
    fn on_stick(&self, action: &Action) -> Option<Binding> {
        let is_stick = |it: &Binding| matches!(it, Binding::Pad(part) if part.is_stick());
        self.bindings(action).into_iter().find(is_stick)
    }

    /// Name of an action's touch button or stick.
    fn on_glass(&self, action: &Action) -> Option<String> {
        let bindings = self.bindings(action);
        let has = |part: Pad| bindings.contains(&Binding::Pad(part));
        let aims = self.map.iter().any(|(_, of)| of.contains(&Binding::Pad(Pad::RightStickLeft)));
        if has(Pad::RightTrigger) && aims {
            return Some(tr("the right stick at its edge").to_owned());
        }
        let common = [MENU, SCORES, CHAT, READY, VOTE_YES, VOTE_NO];
        let is_common = common.iter().any(|it| it.id == action.id);
        let is_there = is_common || GLASS_PARTS.into_iter().any(has);
        let button = [("button", tr(action.on_glass))];
        is_there.then(|| fill("“{button}”", &button))
    }

    /// Bindings of an action in words, such as "R, A".
    pub fn words(&self, action: &Action) -> String {
        if self.by_glass {
            return self.on_glass(action).unwrap_or_else(|| "-".to_owned());
        }
        let bindings = self.bindings(action);
        let fits = |binding: &&Binding| binding.is_pad() == self.by_pad;
        let labels: Vec<_> = bindings.iter().filter(fits).map(|it| it.label()).collect();
        if labels.is_empty() { "-".to_owned() } else { labels.join(", ") }
    }
}

/// A label as part of a sentence, such as after "with".
fn in_sentence(label: &str) -> &str {
    match label {
        _ if label == tr("left stick") => tr("the left stick"),
        _ if label == tr("right stick") => tr("the right stick"),
        other => other,
    }
}

/// Bindings of an action: the player's own if there are any, without unknown names.
pub fn bindings_of(section: &str, action: &Action, chosen: &Bindings) -> Vec<Binding> {
    match chosen.get(section).and_then(|actions| actions.get(action.id)) {
        Some(names) => names.iter().filter_map(|name| Binding::parse(name)).collect(),
        None => action.keys.iter().filter_map(|name| Binding::parse(name)).collect(),
    }
}
