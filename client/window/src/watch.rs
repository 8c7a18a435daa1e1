//! Watching: which player the picture follows, and the free camera.

use egui_macroquad::egui::{Align2, Painter, Rect, vec2};
use glam::Vec2;
use phaselock::client::Common;
use phaselock::ids::PlayerId;

use phaselock_ui::actions::Action;
use phaselock_ui::block::text_block;
use phaselock_ui::camera::Camera;
use phaselock_ui::controls::Controls;
use phaselock_ui::layout::{Item, Way};
use phaselock_ui::paint::fade;
use phaselock_ui::palette;
use phaselock_ui::view::{FreeCamera, Watched};
use phaselock_ui::words::{fill, tr};

/// The next player.
const NEXT: Action =
    Action::new("watch_next", "watch the next player", &["E", "Pad:RightShoulder"]);
/// The previous player.
const BEFORE: Action =
    Action::new("watch_before", "watch the previous player", &["Q", "Pad:LeftShoulder"]);
/// Toggles the free camera.
const FREE: Action = Action::new("watch_free", "free camera", &["F", "Pad:Y"]);
/// Takes a seat as soon as one is free.
const PLAY: Action = Action::new("watch_play", "play", &["Space", "Pad:A"]);
/// Moves of the free camera.
const WAYS: [Action; 4] = [
    Action::new("watch_left", "camera to the left", &["A", "Left", "Pad:LeftStickLeft"]),
    Action::new("watch_right", "camera to the right", &["D", "Right", "Pad:LeftStickRight"]),
    Action::new("watch_up", "camera up", &["W", "Up", "Pad:LeftStickUp"]),
    Action::new("watch_down", "camera down", &["S", "Down", "Pad:LeftStickDown"]),
];
/// Drags the free camera along.
const DRAG: Action = Action::new("watch_drag", "drag the camera", &["Mouse:Left", "Mouse:Right"]);
/// Zooms the free camera in.
const NEAR: Action = Action::new("watch_near", "camera nearer", &["Wheel:Up", "Pad:DPadUp"]);
/// Zooms the free camera out.
const FAR: Action =
    Action::new("watch_far", "camera further away", &["Wheel:Down", "Pad:DPadDown"]);

/// Actions that have a touch button.
pub(crate) const TOUCHABLE: &[Action] =
    &[PLAY, NEXT, BEFORE, FREE, WAYS[0], WAYS[1], WAYS[2], WAYS[3]];

/// Likewise in a recording, which has no seats.
pub(crate) const TOUCHABLE_THERE: &[Action] =
    &[NEXT, BEFORE, FREE, WAYS[0], WAYS[1], WAYS[2], WAYS[3]];

/// Share of the visible height that the free camera moves per second.
const SPEED: f32 = 1.2;
/// Maximum distance of the free camera from where it started, in widths of a player's picture: from
/// one end of every world to the other, and back in some seconds.
const REACH: f32 = 12.0;
/// Factor of a step nearer.
const STEP: f32 = 1.15;
/// Visible size in the free camera, as a multiple of a player camera's.
const ZOOM: std::ops::RangeInclusive<f32> = 0.4..=6.0;

/// Seats for a spectator, as last reported by the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) free: u16,
    pub(crate) ahead: Option<u16>,
}

/// What is remembered for a spectator from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct SpectatorCamera {
    watched: Watched,
    /// Whom to follow whenever possible, until the spectator chooses.
    preferred: Option<PlayerId>,
    /// The camera of the last frame.
    camera: Option<Camera>,
    pointer: Option<egui_macroquad::egui::Pos2>,
    /// Where the free camera started.
    start: Vec2,
    /// Maximum distance from there, in metres.
    reach: f32,
}

impl SpectatorCamera {
    /// Follows this player whenever possible, until the spectator chooses another.
    pub(crate) fn prefers(preferred: Option<PlayerId>) -> Self {
        Self { preferred, ..Self::default() }
    }

    pub(crate) fn watched(&self) -> Watched {
        self.watched
    }

    /// Takes the camera that the picture was drawn with.
    pub(crate) fn note_camera(&mut self, camera: Camera) {
        self.camera = Some(camera);
    }

    /// Advances by a frame. `players` can be followed, in this order.
    pub(crate) fn advance(&mut self, controls: &Controls, players: &[PlayerId], secs: f32) {
        let at = self.watched.target.and_then(|target| players.iter().position(|it| *it == target));
        let step = i32::from(controls.pressed(&NEXT)) - i32::from(controls.pressed(&BEFORE));
        if step != 0 {
            (self.watched.free, self.preferred) = (None, None);
        }
        let preferred = self.preferred.filter(|it| players.contains(it));
        self.watched.target = preferred.or_else(|| next(players, at, step));
        if controls.pressed(&FREE) {
            let middle = self.camera.map_or(Vec2::ZERO, |camera| camera.middle);
            let length = self.camera.map_or(0.0, |camera| 2.0 * camera.half().max_element());
            if self.watched.free.is_none() {
                (self.start, self.reach) = (middle, REACH * length);
            }
            let free = FreeCamera { middle, zoom: 1.5 };
            self.watched.free = self.watched.free.is_none().then_some(free);
        }
        let before = std::mem::replace(&mut self.pointer, controls.pointer);
        let dragged = before.zip(controls.pointer).map(|(before, now)| now - before);
        if let Some((free, camera)) = self.watched.free.as_mut().zip(self.camera) {
            let [left, right, up, down] = &WAYS;
            let way = Vec2::new(controls.axis(left, right), controls.axis(up, down));
            free.middle += way * (SPEED * secs * 2.0 * camera.half().y);
            if let Some(by) = dragged.filter(|_| controls.held(&DRAG)) {
                free.middle -= Vec2::new(by.x, by.y) / camera.scale;
            }
            let away = free.middle - self.start;
            free.middle = self.start + away.clamp_length_max(self.reach);
            let steps = controls.count(&FAR) as f32 - controls.count(&NEAR) as f32;
            free.zoom = (free.zoom * STEP.powf(steps)).clamp(*ZOOM.start(), *ZOOM.end());
        }
    }
}

/// The player `step` places after the one at `at`; the first if there is none.
fn next(players: &[PlayerId], at: Option<usize>, step: i32) -> Option<PlayerId> {
    let count = i32::try_from(players.len()).ok().filter(|count| *count > 0)?;
    let at = at.and_then(|at| i32::try_from(at).ok()).map_or(0, |at| at + step);
    usize::try_from(at.rem_euclid(count)).ok().and_then(|at| players.get(at)).copied()
}

/// Whether the player asks for a seat.
pub(crate) fn wishes_to_play(controls: &Controls) -> bool {
    controls.pressed(&PLAY)
}

/// Draws the bar that says who is watched and what the player can do.
pub(crate) fn draw_bar(
    painter: &Painter,
    screen: Rect,
    controls: &Controls,
    common: &Common,
    (watched, places): (Watched, Option<Places>),
) {
    let Some(delay) = common.watching() else { return };
    let name = watched.target.and_then(|player| common.name_of(player));
    let secs = (delay.as_secs().round() as i64).to_string();
    let mut what = match (name, watched.free) {
        (_, Some(_)) => tr("Free camera").to_owned(),
        (Some(name), None) => fill("Watching {name}", &[("name", name)]),
        (None, None) => tr("Watching").to_owned(),
    };
    if delay.as_secs() >= 1.0 {
        what = format!("{what}, {}", fill("{secs} s ago", &[("secs", &secs)]));
    }
    let seat = places.map(|places| match places {
        Places { ahead: Some(ahead), .. } => {
            let ahead = ahead.to_string();
            fill("you get the next free seat; ahead of you: {count}", &[("count", &ahead)])
        }
        Places { free: 0, .. } => {
            let key = controls.words(&PLAY);
            fill("no seat is free; {key}: wait for one", &[("key", &key)])
        }
        _ => fill("a seat is free; {key}: play", &[("key", &controls.words(&PLAY))]),
    });
    let keys = fill(
        "{next}: next, {before}: previous, {free}: free camera",
        &[
            ("next", &controls.words(&NEXT)),
            ("before", &controls.words(&BEFORE)),
            ("free", &controls.words(&FREE)),
        ],
    );
    let mut started = String::new();
    if common.stats().snapshots == 0 {
        let values = [("secs", &*secs)];
        started = fill("You watch with a delay of {secs} s", &values);
    }
    let place = (screen.center_bottom() - vec2(0.0, 10.0), Align2::CENTER_BOTTOM);
    let mut lines = vec![(&*what, 20.0, palette::TEXT), (&*keys, 14.0, palette::TEXT_SOFT)];
    lines.extend(seat.as_deref().map(|seat| (seat, 14.0, palette::TEXT_SOFT)));
    text_block(painter, (Item::Watching, &[Way::Up]), place, &lines);
    if !started.is_empty() {
        let color = fade(palette::TEXT, 0.9);
        let place = (screen.center(), Align2::CENTER_CENTER);
        text_block(painter, (Item::PlayerNotice, &[Way::Down]), place, &[(&*started, 24.0, color)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_player_is_found_around_the_end_and_when_one_has_left() {
        let players = [1, 4, 9].map(PlayerId);
        let found = |at, step| next(&players, at, step).map(|player| player.0);
        assert_eq!(
            [found(Some(0), 1), found(Some(2), 1), found(Some(0), -1)].map(Option::unwrap),
            [4, 1, 9]
        );
        assert_eq!(
            (found(Some(1), 0), found(None, 0), found(None, 1)),
            (Some(4), Some(1), Some(1))
        );
        assert_eq!(next(&[], None, 1), None);
    }

    #[test]
    fn preferred_player_is_followed_whenever_there_until_the_watcher_chooses() {
        use phaselock_ui::bindings::Binding;
        use phaselock_ui::controls::Devices;

        let [one, own, other] = [1, 4, 9].map(PlayerId);
        let mut camera = SpectatorCamera::prefers(Some(own));
        let mut controls = Controls::default();
        let mut follow = |camera: &mut SpectatorCamera, players: &[PlayerId], key: Option<&str>| {
            controls.bind("watch", &[NEXT], &Default::default());
            let struck = key.into_iter().filter_map(Binding::parse).collect();
            controls.handle(Devices { struck, ..Devices::default() });
            camera.advance(&controls, players, 1.0 / 60.0);
            controls.between();
            camera.watched().target
        };
        assert_eq!(follow(&mut camera, &[one, own], None), Some(own));
        assert_eq!(follow(&mut camera, &[one, other], None), Some(one), "it is dead");
        assert_eq!(follow(&mut camera, &[one, own, other], None), Some(own));
        assert_eq!(follow(&mut camera, &[one, own, other], Some("E")), Some(other));
        assert_eq!(follow(&mut camera, &[one, own, other], None), Some(other));
    }

    #[test]
    fn manual_has_the_keys_of_watchers() {
        let Some(page) = crate::manual_tests::page("chat.md") else { return };
        let (_, rows) = page.split_once("\n| key | |\n|---|---|\n").expect("the table");
        let cells = rows.lines().map_while(|row| row.strip_prefix("| ")?.split_once(" |"));
        let stated: Vec<_> = cells.flat_map(|(cell, _)| cell.split(", ")).collect();
        assert_eq!(stated, [NEXT, BEFORE, FREE, PLAY].map(|action| action.keys[0]));
    }

    #[test]
    fn free_camera_goes_no_further_than_a_world() {
        use egui_macroquad::egui::{pos2, vec2};

        use phaselock_ui::bindings::Binding;
        use phaselock_ui::controls::Devices;

        const ACTIONS: &[Action] = &[FREE];
        let mut rig = SpectatorCamera::default();
        let mut controls = Controls::default();
        // The platformer's camera on a wide window; its level is 180 m long.
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(2520.0, 1080.0));
        let begun = Vec2::new(50.0, -20.0);
        rig.note_camera(Camera::new(screen, begun, 24.0, 17.0));
        controls.bind("watch", ACTIONS, &Default::default());
        let struck = [Binding::parse("F").unwrap()].into();
        controls.handle(Devices { struck, ..Devices::default() });
        rig.advance(&controls, &[], 1.0 / 60.0);
        rig.watched.free.as_mut().unwrap().middle.x = 1e9;
        rig.advance(&Controls::default(), &[], 1.0 / 60.0);
        let gone = (rig.watched.free.unwrap().middle - begun).length();
        assert!((180.0..500.0).contains(&gone), "{gone}");
    }
}
