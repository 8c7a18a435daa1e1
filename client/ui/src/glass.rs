//! Touch controls: sticks and buttons on the screen that stand for the gamepad parts to which a
//! game's actions are bound. The right stick aims; pushed to its edge, it pulls the right trigger,
//! for which no thumb is free.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use egui_macroquad::egui::{
    Align2, Color32, Context, FontId, Galley, Id, LayerId, Order, Painter, Pos2, Rect, Stroke,
    Vec2, pos2, vec2,
};
use macroquad::input::{
    KeyCode, MouseButton, Touch, TouchPhase, get_keys_pressed, is_mouse_button_pressed,
    simulate_mouse_with_touch, touches,
};
use macroquad::miniquad::window::dpi_scale;

use super::actions::{self, Action};
use super::bindings::{Binding, Pad};
use super::controls::{GLASS_PARTS, PadValues};
use super::gamepad::standard::{Side, deflect};
use super::layout::{self, Item};
use super::paint::{around, dense, fade, text_over};
use super::palette;
use super::words::{fill, tr};

// Lengths are in CSS pixels, which are about as large on every screen, as fingers are.

/// Travel of a stick from its middle to its end.
const REACH: f32 = 52.0;
/// Radius of a button, and of a small one.
const RADIUS: f32 = 30.0;
const SMALL: f32 = 20.0;
/// Radii in a low window, and the height below which a window is low.
const RADIUS_LOW: f32 = 24.0;
const LOW: f32 = 320.0;
/// Distance of buttons from the window's edges.
const MARGIN: f32 = 16.0;
/// Share of a stick's travel that is ignored, and the share from which it is at its edge.
const REST: f32 = 0.12;
const EDGE: f32 = 0.9;
/// Height at which the buttons of every game begin, in points: below the connection's state.
const TOP: f32 = 62.0;
/// Gap between those and a game's own buttons.
const GAP: f32 = 8.0;
/// Size of a button's letters, unless a word does not fit.
const LETTERS: f32 = 11.0;
/// Buttons of every game, starting at the corner.
const COMMON: [(Binding, &Action); 4] = [
    (Binding::Pad(Pad::Start), &actions::MENU),
    (Binding::Pad(Pad::Back), &actions::SCORES),
    (Binding::Key(KeyCode::Enter), &actions::CHAT),
    (Binding::Pad(Pad::LeftThumb), &actions::READY),
];
/// Number of the first of these that recordings have, too.
const ALONE: usize = 2;
/// Buttons added while a vote waits for the player's answer.
const VOICES: [(Binding, &Action); 2] = [
    (Binding::Key(KeyCode::F1), &actions::VOTE_YES),
    (Binding::Key(KeyCode::F2), &actions::VOTE_NO),
];
/// The button added while a replay is shown.
const SKIP: (Binding, &Action) = (Binding::Key(KeyCode::Backspace), &actions::SKIP_LESSON);

/// Events that add touch buttons while they last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// A vote waits for the player's answer.
    pub vote: bool,
    /// A replay is shown, which can be skipped.
    pub replay: bool,
}

/// What the touch controls of a frame are for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touchable {
    /// Actions that have a stick or a button.
    pub actions: &'static [Action],
    /// Events that add buttons.
    pub passing: Passing,
    /// Height of a recording's bar along the lower edge, in points; 0 in a game. Its buttons work
    /// like those of menus. In a recording there is no chat.
    pub bar: f32,
}

/// A finger on a stick.
#[derive(Clone, Copy, Debug)]
struct Thumb {
    finger: u64,
    middle: Pos2,
    at: Pos2,
}

/// A button in a frame.
#[derive(Clone, Copy, Debug)]
struct Button {
    binding: Binding,
    title: &'static str,
    at: Pos2,
    radius: f32,
    is_down: bool,
}

/// The touch controls. Unless they are made for fingers, they appear at the first touch.
#[derive(Debug, Default)]
pub struct Glass {
    is_used: bool,
    /// Points per CSS pixel.
    unit: f32,
    left: Option<Thumb>,
    right: Option<Thumb>,
    has_right: bool,
    /// Action of the right trigger, which the right stick pulls at its edge.
    at_edge: Option<&'static Action>,
    buttons: Vec<Button>,
    /// See [`Touchable::bar`].
    bar: f32,
}

/// Returns the number of points per CSS pixel.
pub fn css_pixel(ctx: &Context) -> f32 {
    dpi_scale() / ctx.pixels_per_point()
}

impl Glass {
    /// Creates controls for fingers, which appear before the first touch; `unit` is the number of
    /// points per CSS pixel.
    pub fn for_fingers(unit: f32) -> Self {
        Self { is_used: true, unit, ..Self::default() }
    }

    /// Whether fingers point: the screen was touched, or is made for that.
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// Reads a frame's touches into gamepad values, and returns the touched buttons. While no game
    /// is played, touches belong to the menus.
    pub fn gather(
        &mut self,
        touchable: Touchable,
        pixels_per_point: f32,
        plays: bool,
        pad: &mut PadValues,
    ) -> HashSet<Binding> {
        simulate_mouse_with_touch(!plays || touchable.bar > 0.0);
        let touches = touches();
        self.is_used |= !touches.is_empty();
        // Keys or mouse take over from touch, also on a touch screen.
        let hands = !get_keys_pressed().is_empty() || is_mouse_button_pressed(MouseButton::Left);
        self.is_used &= !plays || !touches.is_empty() || !hands;
        if !plays || !self.is_used {
            (self.left, self.right) = (None, None);
            self.buttons.clear();
            return HashSet::new();
        }
        self.unit = dpi_scale() / pixels_per_point;
        let (width, height) = macroquad::miniquad::window::screen_size();
        let size = vec2(width, height) / pixels_per_point;
        self.lay_out(touchable, size);
        self.handle(&touches, 1.0 / pixels_per_point, size);
        for (thumb, side) in [(self.left, Side::Left), (self.right, Side::Right)] {
            if let Some(thumb) = thumb {
                let off = (thumb.at - thumb.middle) / (REACH * self.unit);
                let off = off / off.length().max(1.0);
                deflect(pad, (off.x, off.y), REST, side);
                if side == Side::Right && self.at_edge.is_some() && off.length() > EDGE {
                    pad[Pad::RightTrigger as usize] = 1.0;
                }
            }
        }
        let mut keys = HashSet::new();
        for button in self.buttons.iter().filter(|button| button.is_down) {
            match button.binding {
                Binding::Pad(part) => pad[part as usize] = 1.0,
                key => drop(keys.insert(key)),
            }
        }
        keys
    }

    /// Places a button for each part that the game has an action for.
    pub fn lay_out(&mut self, touchable: Touchable, size: Vec2) {
        let Touchable { actions: own, passing, bar } = touchable;
        self.bar = bar;
        let size = size - vec2(0.0, bar);
        let parts_of = |action: &Action| {
            let parts = action.keys.iter().filter_map(|name| match Binding::parse(name)? {
                Binding::Pad(part) => Some(part),
                _ => None,
            });
            parts.collect::<Vec<_>>()
        };
        self.has_right = own.iter().any(|it| parts_of(it).contains(&Pad::RightStickLeft));
        let title = |part: Pad| own.iter().find(|it| parts_of(it).contains(&part));
        self.at_edge = title(Pad::RightTrigger).filter(|_| self.has_right);
        let edge = self.at_edge.map(|action| action.id);
        let shown = GLASS_PARTS.into_iter().filter_map(|part| Some((part, title(part)?)));
        let shown = shown.filter(|(_, action)| Some(action.id) != edge);
        // An action bound to several parts has one button.
        let mut titles = Vec::new();
        self.buttons.clear();
        let height = size.y / self.unit;
        let own_radius = if height < LOW { RADIUS_LOW } else { RADIUS };
        // The lowest of a game's own buttons stay below those of every game.
        let highest = height - (TOP / self.unit + 2.0 * SMALL + GAP + own_radius);
        let mut places = places(self.has_right, own_radius, highest);
        for (part, action) in shown {
            if titles.contains(&action.id) {
                continue;
            }
            titles.push(action.id);
            let Some(place) = places.next() else { break };
            let (at, title) = ((size - place * self.unit).to_pos2(), tr(action.on_glass));
            let (binding, radius) = (Binding::Pad(part), own_radius * self.unit);
            self.buttons.push(Button { binding, title, at, radius, is_down: false });
        }
        let corner = pos2(size.x, TOP) + vec2(-12.0 - SMALL, SMALL) * self.unit;
        let voices = VOICES.into_iter().filter(|_| passing.vote);
        let skip = Some(SKIP).filter(|_| passing.replay);
        let common = COMMON.into_iter().take(if bar > 0.0 { ALONE } else { COMMON.len() });
        let all = common.chain(voices).chain(skip);
        for (number, (binding, action)) in all.enumerate() {
            let at = corner - vec2(number as f32 * (2.0 * SMALL + 8.0) * self.unit, 0.0);
            let (title, radius) = (tr(action.on_glass), SMALL * self.unit);
            self.buttons.push(Button { binding, title, at, radius, is_down: false });
        }
    }

    fn handle(&mut self, touches: &[Touch], scale: f32, size: Vec2) {
        let is_down =
            |touch: &&Touch| !matches!(touch.phase, TouchPhase::Ended | TouchPhase::Cancelled);
        let place = |touch: &Touch| pos2(touch.position.x * scale, touch.position.y * scale);
        for thumb in [&mut self.left, &mut self.right] {
            let Some(held) = thumb else { continue };
            match touches.iter().filter(is_down).find(|touch| touch.id == held.finger) {
                Some(touch) => held.at = place(touch),
                None => *thumb = None,
            }
        }
        for touch in touches.iter().filter(is_down) {
            let (finger, at) = (touch.id, place(touch));
            let holds = |thumb: &Option<Thumb>| thumb.is_some_and(|it| it.finger == finger);
            if holds(&self.left) || holds(&self.right) {
                continue;
            }
            if let Some(button) =
                self.buttons.iter_mut().find(|it| it.at.distance(at) < it.radius * 1.25)
            {
                button.is_down = true;
                continue;
            }
            if at.y > size.y - self.bar {
                continue;
            }
            let thumb = Some(Thumb { finger, middle: at, at });
            if at.x < size.x / 2.0 && self.left.is_none() {
                self.left = thumb;
            } else if at.x >= size.x / 2.0 && self.has_right && self.right.is_none() {
                self.right = thumb;
            }
        }
    }

    /// Draws the sticks and buttons.
    pub fn draw(&self, ctx: &Context) {
        if self.buttons.is_empty() {
            return;
        }
        let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::new("glass")));
        let (screen, reach) = (ctx.screen_rect(), REACH * self.unit);
        let inside = (MARGIN + REACH + 20.0) * self.unit;
        let rest = |x: f32| pos2(x, screen.bottom() - self.bar - inside);
        // A stick that is not held is only a hint and shows what is beneath it.
        let is_shown = |thumb: Option<Thumb>, ring: Rect| {
            thumb.is_some() || !layout::covers_subject(&painter, ring)
        };
        let sticks = [
            (self.left, rest(screen.left() + inside), true),
            (self.right, rest(screen.right() - inside), self.has_right),
        ];
        for (thumb, rest, _) in sticks.iter().filter(|(.., is_there)| *is_there) {
            let middle = thumb.map_or(*rest, |it| it.middle);
            let ring = Rect::from_center_size(middle, Vec2::splat(2.0 * reach));
            if !is_shown(*thumb, ring) {
                continue;
            }
            layout::claim(&painter, Item::Glass, ring);
            let off = thumb.map_or(Vec2::ZERO, |it| it.at - it.middle);
            let off = off / (off.length() / reach).max(1.0);
            painter.circle_stroke(middle, reach, Stroke::new(2.0, fade(palette::TEXT, 0.25)));
            painter.circle_filled(middle + off, reach * 0.42, fade(palette::TEXT, 0.3));
        }
        if let Some(action) = self.at_edge.filter(|_| self.right.is_none()) {
            let words = fill("edge: {action}", &[("action", tr(action.on_glass))]);
            let at = sticks[1].1 + vec2(0.0, reach + 4.0 * self.unit);
            let (size, ink) = (dense(ctx, 12.0 * self.unit), fade(palette::TEXT, 0.8));
            let taken = text_over(&painter, at, Align2::CENTER_TOP, &words, (size, ink));
            layout::claim(&painter, Item::Glass, around(taken));
        }
        for button in &self.buttons {
            let square = Rect::from_center_size(button.at, Vec2::splat(2.0 * button.radius));
            layout::claim(&painter, Item::Glass, square);
            let (fill, ink): (Color32, Color32) = match button.is_down {
                true => (fade(palette::OWN, 0.6), palette::VOID),
                false => (fade(palette::CARD, 0.55), fade(palette::TEXT, 0.85)),
            };
            painter.circle_filled(button.at, button.radius, fill);
            painter.circle_stroke(
                button.at,
                button.radius,
                Stroke::new(1.5, fade(palette::TEXT, 0.35)),
            );
            let galley = fitting(&painter, button, dense(ctx, LETTERS * self.unit), ink);
            let at = Rect::from_center_size(button.at, galley.size()).min;
            painter.galley(at, galley, ink);
        }
    }
}

/// Centres of a game's own buttons, the best place first, starting at the lower right corner: above
/// the right stick if there is one, or to its left on a low screen. They are at most `highest` if
/// the screen has space for a single row.
fn places(has_right: bool, radius: f32, highest: f32) -> impl Iterator<Item = Vec2> {
    let step = 2.4 * radius;
    let edge = Vec2::splat(MARGIN + radius);
    let (above, beside) = (vec2(0.0, 2.6 * REACH), vec2(2.0 * REACH + 28.0, 0.0));
    let aside = vec2(0.6, 4.0 / 3.0) * radius;
    let first = match has_right {
        false => edge,
        // With the second column, whose buttons are higher.
        true if edge.y + above.y + aside.y <= highest => edge + above,
        true => edge + beside,
    };
    let highest = highest.max(first.y);
    let columns = |columns: Range<usize>| {
        (0..GLASS_PARTS.len()).flat_map(move |row| columns.clone().map(move |column| (column, row)))
    };
    let places = columns(0..2).chain(columns(2..GLASS_PARTS.len() + 2));
    let place = move |(column, row): (usize, usize)| {
        let aside = aside * vec2((row % 2) as f32, (column % 2) as f32);
        first + vec2(column as f32, row as f32) * step + aside
    };
    places.map(place).filter(move |it| it.y <= highest)
}

/// A button's title in letters of this size, or smaller if it would not fit within the disc.
fn fitting(painter: &Painter, button: &Button, size: f32, ink: Color32) -> Arc<Galley> {
    let laid = |words: &str, size: f32, room: f32| {
        painter.layout(words.to_owned(), FontId::proportional(size), ink, room)
    };
    let width = |word: &str| laid(word, size, f32::INFINITY).size().x;
    // Letters are placed on whole pixels, so smaller ones can be wider than their share.
    let room = 1.45 * button.radius;
    let widest = button.title.split_whitespace().map(width).fold(room, f32::max);
    let galley = laid(button.title, size * room / widest, 1.1 * room);
    // Several lines are narrower where the disc is.
    let high = galley.size().y / (1.3 * button.radius);
    if high <= 1.0 { galley } else { laid(button.title, size * room / widest / high, 1.1 * room) }
}

#[cfg(test)]
mod tests {
    use macroquad::math::Vec2 as Place;

    use super::*;

    const FIRE: Action = Action::new("fire", "fire", &["Space", "Pad:RightTrigger", "Pad:A"]);
    const SHOOT: Action = Action::new("shoot", "shoot", &["Pad:RightTrigger"]);
    const JUMP: Action = Action::new("jump", "jump", &["Pad:B"]);
    const AIM: Action = Action::new("aim", "aim", &["Pad:RightStickLeft"]);
    const MANY: [Action; 7] = [
        AIM,
        JUMP,
        Action::new("run", "run", &["Pad:X"]),
        Action::new("lift", "lift", &["Pad:Y"]),
        Action::new("guard", "guard", &["Pad:LeftTrigger"]),
        Action::new("next", "next", &["Pad:RightShoulder"]),
        Action::new("previous", "previous", &["Pad:LeftShoulder"]),
    ];
    const SIZE: Vec2 = vec2(800.0, 400.0);
    const NONE: Passing = Passing { vote: false, replay: false };
    const ALL: Passing = Passing { vote: true, replay: true };

    fn of(actions: &'static [Action], passing: Passing) -> Touchable {
        Touchable { actions, passing, bar: 0.0 }
    }

    fn touch(id: u64, at: Pos2, phase: TouchPhase) -> Touch {
        Touch { id, phase, position: Place::new(at.x, at.y) }
    }

    #[test]
    fn each_action_has_one_button_within_the_glass() {
        let mut glass = Glass { unit: 1.0, ..Glass::default() };
        glass.lay_out(of(&[FIRE, JUMP, AIM], NONE), SIZE);
        assert!(glass.has_right);
        let titles: Vec<_> = glass.buttons.iter().map(|button| button.title).collect();
        // What the trigger does, the stick does at its edge.
        assert_eq!(glass.at_edge.map(|action| action.id), Some("fire"));
        assert_eq!(titles, ["jump", "pause", "table", "say", "ready"]);
        glass.lay_out(of(&[SHOOT, JUMP], ALL), SIZE);
        assert_eq!(glass.buttons.len(), 2 + 7, "two more for a vote, one for a replay");
        assert!(!glass.has_right && glass.at_edge.is_none());
        assert_eq!(glass.buttons[0].title, "shoot", "no stick is there for it");
    }

    #[test]
    fn buttons_lie_on_phones_of_any_size_without_touching_each_other() {
        // The last one is a small phone's, in a browser with its toolbars.
        let sizes =
            [(844.0, 390.0), (390.0, 844.0), (640.0, 360.0), (568.0, 256.0)].map(Vec2::from);
        for size in [SIZE].into_iter().chain(sizes) {
            for own in [&MANY[..4], &MANY[..], &MANY[1..3], &MANY[1..]] {
                let mut glass = Glass { unit: 1.0, ..Glass::default() };
                glass.lay_out(of(own, ALL), size);
                let count = own.iter().filter(|it| it.id != "aim").count();
                assert_eq!(glass.buttons.len(), count + 7);
                let inside = Rect::from_min_size(Pos2::ZERO, size);
                for (at, one) in glass.buttons.iter().enumerate() {
                    assert!(inside.shrink(one.radius).contains(one.at), "{size}: {one:?}");
                    for other in &glass.buttons[..at] {
                        let apart = one.at.distance(other.at) - one.radius - other.radius;
                        assert!(apart > 0.0, "{size}: {one:?} {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn fingers_keep_their_sticks_and_buttons_their_fingers() {
        let mut glass = Glass { unit: 1.0, ..Glass::default() };
        let (thumb, fire) = (pos2(100.0, 300.0), |glass: &Glass| glass.buttons[0].at);
        glass.lay_out(of(&[FIRE], NONE), SIZE);
        glass.handle(&[touch(7, thumb, TouchPhase::Started)], 1.0, SIZE);
        glass.lay_out(of(&[FIRE], NONE), SIZE);
        let at = fire(&glass);
        let moved = touch(7, pos2(500.0, 300.0), TouchPhase::Moved);
        glass.handle(&[moved, touch(8, at, TouchPhase::Started)], 1.0, SIZE);
        let left = glass.left.expect("the thumb keeps its place");
        assert_eq!((left.middle, left.at), (thumb, pos2(500.0, 300.0)));
        assert!(glass.right.is_none(), "the game has no use for it");
        assert!(glass.buttons[0].is_down);
        glass.lay_out(of(&[FIRE], NONE), SIZE);
        glass.handle(&[touch(7, thumb, TouchPhase::Ended)], 1.0, SIZE);
        assert!(glass.left.is_none() && !glass.buttons[0].is_down);
    }

    #[test]
    fn bar_of_a_recording_is_left_to_what_is_on_it() {
        let mut glass = Glass { unit: 1.0, ..Glass::default() };
        let recording = Touchable { bar: 80.0, ..of(&[JUMP, FIRE], NONE) };
        glass.lay_out(recording, SIZE);
        let titles: Vec<_> = glass.buttons.iter().map(|button| button.title).collect();
        assert_eq!((titles.len(), &titles[2..]), (4, &["pause", "table"][..]));
        assert!(glass.buttons.iter().all(|it| it.at.y + it.radius < SIZE.y - 80.0));
        glass.handle(&[touch(7, pos2(100.0, 350.0), TouchPhase::Started)], 1.0, SIZE);
        assert!(glass.left.is_none());
        glass.handle(&[touch(8, pos2(100.0, 310.0), TouchPhase::Started)], 1.0, SIZE);
        assert!(glass.left.is_some());
    }
}
