//! Tyre marks that fade, and the smoke and dust above them.

use std::collections::{BTreeMap, VecDeque};

use macroquad::rand::gen_range;
use phaselock_games::race::Car;
use phaselock_games::race::track::{Ground, Track};
use phaselock_ui::prelude::*;

/// Most pieces of marks; the oldest go first.
const PIECES_MAX: usize = 4000;
/// Seconds until a mark is gone.
const LIFE_SECS: f32 = 22.0;
/// Metres from one piece to the next.
const STEP: f32 = 0.4;
/// Metres in a frame that are a jump.
const CUT: f32 = 4.0;
/// Sideways speed that leaves marks, in metres per second.
pub(super) const SLIDES: f32 = 2.2;
/// Distance of the rear wheels from a car's middle, back and aside, in metres.
const WHEELS: Vec2 = Vec2::new(1.25, 0.9);

#[derive(Debug)]
struct Mark {
    ends: [Vec2; 2],
    color: Color32,
    age: f32,
}

/// Tyre marks and smoke.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pieces: VecDeque<Mark>,
    /// For each car, its rear wheels when they left the last mark, and seconds of smoke due.
    cars: BTreeMap<EntityId, ([Vec2; 2], f32)>,
}

impl Marks {
    pub(super) fn advance<'c>(
        &mut self,
        track: &Track,
        cars: impl Iterator<Item = (EntityId, &'c Car)>,
        particles: &mut Particles,
        secs: f32,
    ) {
        for mark in &mut self.pieces {
            mark.age += secs;
        }
        while self.pieces.front().is_some_and(|mark| mark.age > LIFE_SECS) {
            self.pieces.pop_front();
        }
        let before = std::mem::take(&mut self.cars);
        for (id, car) in cars {
            let back = car.position() - car.nose() * WHEELS.x;
            let right = car.nose().perp() * WHEELS.y;
            let now = [back - right, back + right];
            let slip = car.slip();
            let ground = track.ground(&track.spot(back));
            let grass = ground == Ground::Grass;
            let brakes = car.pedal <= -3 && slip.x > 9.0;
            let slides = slip.y.abs() > SLIDES || (car.hand && slip.x > 4.0);
            let strength = if grass && slip.x.abs() > 3.0 {
                0.4
            } else if slides {
                (slip.y.abs() / 9.0).clamp(0.3, 0.7)
            } else if brakes {
                0.14
            } else {
                0.0
            };
            let (was, owed) = before.get(&id).copied().unwrap_or((now, 0.0));
            let way = was[0].distance(now[0]).max(was[1].distance(now[1]));
            if (STEP..CUT).contains(&way) && strength > 0.0 {
                let color = fade(if grass { palette::EARTH } else { palette::RUBBER }, strength);
                let marks = was.into_iter().zip(now);
                self.pieces.extend(marks.map(|(a, b)| Mark { ends: [a, b], color, age: 0.0 }));
            }
            // Puffs are timed, so that their number does not depend on the frame rate.
            let hot = !grass && slides && slip.length() > 5.0;
            let dusty = grass && slip.length() > 5.0;
            let mut owes = if hot || dusty { owed + secs } else { 0.0 };
            while owes > 0.035 {
                owes -= 0.035;
                let at = now[usize::from(gen_range(0.0, 1.0) < 0.5)];
                let aside = Vec2::new(gen_range(-1.0, 1.0), gen_range(-1.0, 1.0));
                let color = if grass { palette::EARTH } else { palette::STEEL };
                let velocity = car.velocity() * 0.2 + aside;
                let (size, life) = (gen_range(0.5, 0.9), gen_range(0.5, 1.0));
                particles.puff(Mote { at, velocity, size, life, color: fade(color, 0.4) });
            }
            self.cars.insert(id, (if way < STEP { was } else { now }, owes));
        }
        while self.pieces.len() > PIECES_MAX {
            self.pieces.pop_front();
        }
    }

    pub(super) fn draw(&self, brush: &Brush<'_>) {
        let mut mesh = Mesh::default();
        for mark in &self.pieces {
            let [from, to] = mark.ends;
            if !brush.camera.sees(from, 2.0) {
                continue;
            }
            let aside = (to - from).normalize_or_zero().perp() * 0.14;
            let corners = [from - aside, from + aside, to + aside, to - aside];
            let left = ((LIFE_SECS - mark.age) / (0.5 * LIFE_SECS)).min(1.0);
            brush.quad(&mut mesh, corners, fade(mark.color, left));
        }
        brush.painter.add(Shape::mesh(mesh));
    }
}
