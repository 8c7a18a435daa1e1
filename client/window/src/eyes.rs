//! The picture through a shooter's eyes: what the shooter saw, and how the server judged the shot.

use egui_macroquad::egui::{Align2, Stroke, vec2};
use phaselock::client::{Client, Hindsight};
use phaselock::game::Game;
use phaselock::rewind::{Outcome, Ruling, Tested};
use phaselock::time::{LocalTime, Micros, ServerTime};

use phaselock_ui::actions;
use phaselock_ui::block::text_block;
use phaselock_ui::camera::Camera;
use phaselock_ui::layout::{Item, Way};
use phaselock_ui::paint::{Circle, Dashes, dashes, fade, readable};
use phaselock_ui::palette;
use phaselock_ui::ruling;
use phaselock_ui::view::{Frame, FreeCamera, GameView, Scene, Watched};
use phaselock_ui::words::{fill, tr};

/// Time before the shot at which a kill replay begins. With the time that the news of the death
/// takes, it ends before the player is back.
const BEFORE: Micros = Micros::from_ms(1250);
/// Time around a shot in which its hit box stands out.
const NEAR: Micros = Micros::from_ms(400);

/// A view of its own that looks through a shooter's eyes.
pub(crate) struct Eyes<V: GameView> {
    view: V,
    ruling: Ruling,
    hindsight: Hindsight<V::Game>,
    began: LocalTime,
}

impl<V: GameView> Eyes<V> {
    /// Begins to show a shot.
    pub(crate) fn new(client: &Client<V::Game>, ruling: Ruling, now: LocalTime) -> Self {
        let hindsight = Hindsight::new(client.rates(), ruling.shooter);
        Self { view: V::default(), ruling, hindsight, began: now }
    }

    /// Whether it can show this shot too.
    pub(crate) fn is_of(&self, ruling: &Ruling, is_death: bool) -> bool {
        self.ruling.shooter == ruling.shooter && (!is_death || self.ruling.tick == ruling.tick)
    }

    /// Returns how the shot that is shown was judged.
    pub(crate) fn ruling(&self) -> &Ruling {
        &self.ruling
    }

    /// Shows another shot of the shooter.
    pub(crate) fn turn_to(&mut self, ruling: Ruling) {
        self.ruling = ruling;
    }

    /// Returns the time at which a kill replay is: it begins some time before the shot, and stands
    /// still at the shot.
    pub(crate) fn replayed(&self, client: &Client<V::Game>, now: LocalTime) -> ServerTime {
        let shot = client.rates().time_of(self.ruling.tick);
        shot.min(shot - BEFORE + (now - self.began))
    }

    /// Draws the picture of a time in place of the `scene`, which is the present: of a death, or of
    /// a shot in a recording.
    pub(crate) fn draw(
        &mut self,
        client: &Client<V::Game>,
        scene: &Scene<'_, V::Game>,
        (at, is_death): (ServerTime, bool),
    ) -> Camera {
        let Ruling { shooter, accepted, tested, .. } = self.ruling;
        let picture = self.hindsight.picture(client, at, accepted);
        // If the shooter was hidden, the place that was hit is all there is to see.
        let place = tested.filter(|_| picture.own.is_none()).map(|tested| tested.at);
        let free = place.map(|middle| FreeCamera { middle, zoom: 1.0 });
        let target = picture.own.map(|_| shooter);
        let frame = Frame { active: false, scores: false, crowded: true, ..scene.frame };
        let scene = Scene {
            picture: &picture,
            player: shooter,
            watched: Some(Watched { target, free }),
            frame,
            ..*scene
        };
        let camera = self.view.draw(&scene);
        let off = (at - scene.rates.time_of(self.ruling.tick)).0.abs();
        let strength = 1.0 - (off as f32 / NEAR.0 as f32).min(1.0);
        if let Some(tested) = &tested {
            draw_box(&scene, camera, tested, strength);
        }
        draw_words(&scene, &self.ruling, is_death);
        camera
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

/// Says how a shot was judged.
fn draw_words<G: Game>(scene: &Scene<'_, G>, ruling: &Ruling, is_death: bool) {
    let ctx = scene.painter.ctx();
    let name = scene.name_of(ruling.shooter);
    let title = fill("What {name} saw", &[("name", name)]);
    let (time, outcome) = (ruling::view_time(ruling), ruling::outcome(ruling));
    let (large, small) = (readable(ctx, 20.0), readable(ctx, 14.0));
    let mut lines = vec![
        (&*title, large, palette::TEXT),
        (&*time, small, palette::TEXT_SOFT),
        (&*outcome, small, palette::TEXT_SOFT),
    ];
    let hidden = tr("The shooter was out of your sight.");
    if is_death && scene.picture.own.is_none() {
        lines.push((hidden, small, palette::TEXT_SOFT));
    }
    let keys = scene.controls.keys(&[&actions::SKIP_LESSON]);
    let skip = fill("{keys} skips this.", &[("keys", &keys)]);
    if is_death && !keys.is_empty() && !scene.controls.by_glass() {
        lines.push((&*skip, small, palette::TEXT_FAINT));
    }
    let at = scene.screen.center_top() + vec2(0.0, scene.screen.height() * 0.16);
    let place = (at, Align2::CENTER_TOP);
    text_block(scene.painter, (Item::PlayerNotice, &[Way::Down, Way::Up]), place, &lines);
}
