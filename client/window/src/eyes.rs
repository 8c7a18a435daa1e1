//! The last seconds instead of the present: a highlight once more, or what a player saw and how the
//! server judged the player's shot.

use egui_macroquad::egui::{Align2, Color32, Stroke, vec2};
use phaselock::client::{Client, Hindsight};
use phaselock::game::{Excerpt, Game, Highlight};
use phaselock::ids::PlayerId;
use phaselock::rewind::{Outcome, Ruling, Tested};
use phaselock::time::{Micros, ServerTime, Tick};

use phaselock_ui::actions;
use phaselock_ui::bindings::{Binding, Pad};
use phaselock_ui::block::text_block;
use phaselock_ui::camera::Camera;
use phaselock_ui::controls::Controls;
use phaselock_ui::cues::Cues;
use phaselock_ui::layout::{Item, Way};
use phaselock_ui::paint::{Circle, Dashes, dashes, fade, readable};
use phaselock_ui::palette;
use phaselock_ui::ruling;
use phaselock_ui::view::{Frame, FreeCamera, GameView, Scene, Watched};
use phaselock_ui::words::{fill, tr};

/// What is shown of a death: the time before the shot. With the time that the news takes, it ends
/// before the player is back.
pub(crate) const DEATH: Excerpt =
    Excerpt { before: Micros::from_ms(1250), after: Micros::ZERO, slowness: 1 };
/// Time around a shot in which its hit box stands out.
const NEAR: Micros = Micros::from_ms(400);

/// What is shown in place of the present.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Past {
    /// The shot that killed the player.
    Death(Ruling),
    /// What a player in a recording saw.
    Seen(Seen),
    /// A moment that the game shows again.
    Highlight(Highlight),
}

/// What a player saw at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    /// The player.
    pub(crate) viewer: PlayerId,
    /// How far in the past the others were shown.
    pub(crate) lag: Micros,
    /// The player's shot at about this moment.
    pub(crate) shot: Option<Ruling>,
}

impl Seen {
    fn of_shot(shot: Ruling) -> Self {
        Self { viewer: shot.shooter, lag: shot.accepted, shot: Some(shot) }
    }
}

impl Past {
    fn viewer(&self) -> PlayerId {
        match self {
            Self::Death(ruling) => ruling.shooter,
            Self::Seen(seen) => seen.viewer,
            Self::Highlight(highlight) => highlight.viewer,
        }
    }

    /// Identifies the eyes: by the viewer, and by the tick of a moment that is shown once. In a
    /// recording, the same eyes follow the viewer from tick to tick.
    fn key(&self) -> (PlayerId, Option<Tick>) {
        let tick = match self {
            Self::Death(ruling) => Some(ruling.tick),
            Self::Seen(_) => None,
            Self::Highlight(highlight) => Some(highlight.tick),
        };
        (self.viewer(), tick)
    }
}

/// A view of its own that shows the past.
pub(crate) struct Eyes<V: GameView> {
    view: V,
    key: (PlayerId, Option<Tick>),
    hindsight: Hindsight<V::Game>,
}

impl<V: GameView> Eyes<V> {
    /// Begins to show the past.
    pub(crate) fn new(client: &Client<V::Game>, past: &Past) -> Self {
        let hindsight = match past {
            Past::Highlight(highlight) => Hindsight::again(client.rates(), highlight),
            Past::Death(_) | Past::Seen(_) => Hindsight::new(client.rates(), past.viewer()),
        };
        Self { view: V::default(), key: past.key(), hindsight }
    }

    /// Whether it can go on with this.
    pub(crate) fn is_of(&self, past: &Past) -> bool {
        self.key == past.key()
    }

    /// Draws the picture of a time in place of the `scene`, which is the present.
    pub(crate) fn draw(
        &mut self,
        client: &Client<V::Game>,
        scene: &Scene<'_, V::Game>,
        (past, at): (Past, ServerTime),
    ) -> Camera {
        let frame = Frame { active: false, scores: false, crowded: true, ..scene.frame };
        let scene = Scene { frame, ..*scene };
        match past {
            Past::Highlight(highlight) => self.draw_again(client, &scene, (highlight, at)),
            Past::Death(ruling) => {
                self.draw_seen(client, &scene, (Seen::of_shot(ruling), at), true)
            }
            Past::Seen(seen) => self.draw_seen(client, &scene, (seen, at), false),
        }
    }

    /// Draws a highlight, without its sounds: they would be too short for it.
    fn draw_again(
        &mut self,
        client: &Client<V::Game>,
        scene: &Scene<'_, V::Game>,
        (highlight, at): (Highlight, ServerTime),
    ) -> Camera {
        let picture = self.hindsight.picture(client, at, Micros::ZERO);
        let silent = Cues::default();
        let frame = Frame { cues: &silent, ..scene.frame };
        let scene = Scene { picture: &picture, ghost: None, frame, ..*scene };
        let camera = self.view.draw(&scene);
        let slowness = highlight.excerpt.slowness.to_string();
        let speed = fill("at 1/{slowness} speed", &[("slowness", &slowness)]);
        let (large, small) =
            (readable(scene.painter.ctx(), 20.0), readable(scene.painter.ctx(), 14.0));
        let lines = [(tr("Replay"), large, palette::TEXT), (&*speed, small, palette::TEXT_SOFT)];
        draw_lines(&scene, &lines, true);
        camera
    }

    /// Draws what a player saw, and how the shot was judged if there was one.
    fn draw_seen(
        &mut self,
        client: &Client<V::Game>,
        scene: &Scene<'_, V::Game>,
        (seen, at): (Seen, ServerTime),
        is_death: bool,
    ) -> Camera {
        let Seen { viewer, lag, shot } = seen;
        let picture = self.hindsight.picture(client, at, lag);
        let tested = shot.and_then(|shot| Some((shot, shot.tested?)));
        // If the shooter was hidden, the place that was hit is all there is to see.
        let place = tested.filter(|_| picture.own.is_none()).map(|(_, tested)| tested.at);
        let free = place.map(|middle| FreeCamera { middle, zoom: 1.0 });
        let target = picture.own.map(|_| viewer);
        let watched = Some(Watched { target, free });
        let scene = Scene { picture: &picture, player: viewer, watched, ..*scene };
        let camera = self.view.draw(&scene);
        if let Some((shot, tested)) = &tested {
            let off = (at - scene.rates.time_of(shot.tick)).0.abs();
            let strength = 1.0 - (off as f32 / NEAR.0 as f32).min(1.0);
            draw_box(&scene, camera, tested, strength);
        }
        draw_words(&scene, &seen, is_death);
        camera
    }
}

/// The gamepad's button that skips a replay. The nearer ones drive, or move a spectator's camera.
const SKIP_PAD: Pad = Pad::LeftThumb;

/// Whether the player skips a replay.
pub(crate) fn skips(controls: &Controls) -> bool {
    controls.pressed(&actions::SKIP_LESSON) || controls.pad_pressed(SKIP_PAD)
}

/// What skips a replay, on the device that was used last.
fn skip_keys(controls: &Controls) -> String {
    match controls.by_pad() {
        true => Binding::Pad(SKIP_PAD).label(),
        false => controls.keys(&[&actions::SKIP_LESSON]),
    }
}

/// Draws the tested hit box, and the line from the shooter to it.
fn draw_box<G: Game>(scene: &Scene<'_, G>, camera: Camera, tested: &Tested, strength: f32) {
    let is_hit = tested.outcome == Outcome::Hit;
    let color = if is_hit { palette::BAD } else { palette::WARN };
    let color = fade(color, 0.35 + 0.65 * strength);
    let middle = camera.to_screen(tested.at);
    let ring = Circle { middle, radius: tested.radius * camera.scale };
    let dash = Dashes { count: 12, from: 0.0, share: 0.6 };
    dashes(scene.painter, ring, dash, Stroke::new(2.5, color));
    let own = scene.picture.own.and_then(|own| scene.picture.entities.get(own));
    let from = own.and_then(|slot| scene.game.position(&slot.entity));
    if let Some(from) = from.filter(|_| strength > 0.0) {
        let line = [camera.to_screen(from), middle];
        scene.painter.line_segment(line, Stroke::new(1.5, fade(color, strength)));
    }
}

/// Says when a player saw the others, and how the shot was judged if there was one.
fn draw_words<G: Game>(scene: &Scene<'_, G>, seen: &Seen, is_death: bool) {
    let ctx = scene.painter.ctx();
    let title = fill("What {name} saw", &[("name", scene.name_of(seen.viewer))]);
    let is_bot = scene.roster.get(&seen.viewer).is_some_and(|seat| seat.bot);
    let ms = format!("{:.0}", seen.lag.as_ms());
    let time = match &seen.shot {
        Some(shot) => ruling::view_time(shot),
        None if is_bot => tr("Server bots see the present.").to_owned(),
        None => fill("The others are shown as they were {ms} ms earlier.", &[("ms", &ms)]),
    };
    let outcome = seen.shot.as_ref().map(ruling::outcome);
    let (large, small) = (readable(ctx, 20.0), readable(ctx, 14.0));
    let mut lines = vec![(&*title, large, palette::TEXT), (&*time, small, palette::TEXT_SOFT)];
    lines.extend(outcome.as_deref().map(|outcome| (outcome, small, palette::TEXT_SOFT)));
    let hidden = tr("The shooter was out of your sight.");
    if is_death && scene.picture.own.is_none() {
        lines.push((hidden, small, palette::TEXT_SOFT));
    }
    draw_lines(scene, &lines, is_death);
}

/// Draws the words of a replay, with the way to skip it if it can be skipped.
fn draw_lines<G: Game>(scene: &Scene<'_, G>, lines: &[(&str, f32, Color32)], can_skip: bool) {
    let skip = fill("{keys} skips this.", &[("keys", &skip_keys(scene.controls))]);
    let mut lines = lines.to_vec();
    // On a touch screen, there is a button.
    if can_skip && !scene.controls.by_glass() {
        lines.push((&skip, readable(scene.painter.ctx(), 14.0), palette::TEXT_FAINT));
    }
    let at = scene.screen.center_top() + vec2(0.0, scene.screen.height() * 0.16);
    let place = (at, Align2::CENTER_TOP);
    text_block(scene.painter, (Item::Replay, &[Way::Down, Way::Up]), place, &lines);
}
