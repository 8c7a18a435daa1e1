//! Continuous sounds of cars: engines, tyres, grass; also the local car's gates.

use phaselock_games::race::drive::TOP_SPEED;
use phaselock_games::race::track::Ground;
use phaselock_games::race::{Car, Race};
use phaselock_ui::prelude::*;

use super::cues;
use super::marks::SLIDES;

/// Maximum number of audible cars, the nearest to the local one first.
const CARS_MAX: usize = 5;
/// Gears of the audible engine.
const GEARS: f32 = 4.0;
/// Speed from which tyres are heard, in metres per second.
const SLOW: f32 = 3.0;
/// Seconds for which a passed gate is not heard again: a correction may take it back.
const AGAIN_SECS: f32 = 0.6;

/// The local car's gates, as they were heard.
#[derive(Debug, Default)]
pub(super) struct CarSounds {
    gates: Option<u16>,
    since_gate: f32,
    was_home: bool,
}

impl CarSounds {
    pub(super) fn advance(&mut self, scene: &Scene<'_, Race>, cars: &[Slot<Car>]) {
        let own: Option<Car> = scene.own();
        self.notice_gates(scene, own.as_ref());
        let here = own.map(|car| car.position());
        let far = |slot: &Slot<Car>| {
            here.map_or(0.0, |here| here.distance_squared(slot.entity.position()))
        };
        let mut near: Vec<_> = cars.iter().collect();
        near.sort_by(|a, b| far(a).total_cmp(&far(b)));
        for slot in near.into_iter().take(CARS_MAX) {
            play_engine_and_tyres(scene, slot);
        }
    }

    fn notice_gates(&mut self, scene: &Scene<'_, Race>, own: Option<&Car>) {
        self.since_gate += scene.secs;
        let gates = own.map(|car| car.gates);
        let before = std::mem::replace(&mut self.gates, gates);
        let home = own.is_some_and(Car::has_finished);
        let came_home = home && !std::mem::replace(&mut self.was_home, home);
        let passed = before.zip(gates).is_some_and(|(before, now)| now == before + 1);
        if !passed || self.since_gate < AGAIN_SECS {
            return;
        }
        self.since_gate = 0.0;
        scene.cues.play(if came_home { &cues::HOME } else { &cues::GATE });
    }
}

/// Plays the continuous sounds of a car.
fn play_engine_and_tyres(scene: &Scene<'_, Race>, slot: &Slot<Car>) {
    let (car, at) = (&slot.entity, Some(slot.entity.position()));
    let own = scene.is_own(slot.id);
    let (slip, loud) = (car.slip(), if own { 1.0 } else { 0.6 });
    let key = |kind: u64| u64::from(slot.id.index) << 2 | kind;
    let speed = (slip.x.abs() / TOP_SPEED).clamp(0.0, 1.2);
    let throttle = if car.pedal > 0 { 1.0 } else { 0.55 };
    let (load, pitch) = (0.45 + 0.55 * speed, engine_pitch(speed));
    let engine = ContinuousSound {
        key: key(0),
        sound: &cues::ENGINE,
        at,
        loud: loud * throttle * load,
        pitch,
    };
    scene.cues.sustain(engine);
    let back = car.position() - car.nose() * 1.25;
    let track = scene.game.track;
    let grass = track.ground(&track.spot(back)) == Ground::Grass;
    let slides = slip.y.abs() > SLIDES || (car.hand && slip.x > 4.0);
    if grass && slip.length() > SLOW {
        let loud = loud * (slip.length() / 25.0).min(1.0);
        scene.cues.sustain(ContinuousSound {
            key: key(1),
            sound: &cues::GRASS,
            at,
            loud,
            pitch: 0.8 + 0.4 * speed,
        });
    } else if slides && slip.length() > SLOW {
        let strength = (slip.y.abs() / 9.0).clamp(0.25, 1.0);
        let (loud, pitch) = (loud * strength, 0.9 + 0.25 * strength);
        scene.cues.sustain(ContinuousSound { key: key(2), sound: &cues::SQUEAL, at, loud, pitch });
    }
}

/// Pitch factor of the engine at a share of the top speed: it rises within each gear, and each gear
/// starts a little higher than the last.
fn engine_pitch(speed: f32) -> f32 {
    let gear = (speed * GEARS).floor().min(GEARS - 1.0);
    let within = speed * GEARS - gear;
    let low = if gear == 0.0 { 0.8 } else { 1.25 + 0.18 * gear };
    low + within * (0.75 + 0.1 * gear).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_rises_within_each_gear_and_stays_in_its_range() {
        let pitches: Vec<_> = (0..=120).map(|n| engine_pitch(n as f32 / 100.0)).collect();
        let falls = pitches.windows(2).filter(|two| two[1] < two[0]).count();
        assert_eq!(falls, GEARS as usize - 1, "a fall at each change");
        assert!(pitches.iter().all(|pitch| (0.7..3.8).contains(pitch)), "{pitches:?}");
    }
}
