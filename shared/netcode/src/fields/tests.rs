//! Grids: snapping, wrapping, blending.

use super::*;
use crate::record;
use proptest::prelude::*;

record! {
    /// One field of each sort.
    struct Sample {
        x: f32 = Field::centred(15, 8),
        heading: f32 = Field::angle(10),
        health: u8 = Field::count(7),
        position: f32 = Field::wrapping(13, 6),
        score: i16 = Field::centred(12, 0),
        alive: bool = Field::count(1),
    }
}

proptest! {
    #[test]
    fn snapping_is_idempotent_and_near(x in -63.9_f32..63.9, heading in -3.0_f32..3.0, health: u8) {
        let position = 200.0 * heading;
        let sample = Sample { x, heading, health, position, score: -7, alive: true };
        let snapped = sample.snapped();
        prop_assert_eq!(snapped.snapped(), snapped);
        prop_assert!((snapped.x - x).abs() <= 0.5 / 256.0 + 1e-5);
        prop_assert!(turn_between(snapped.heading, heading).abs() <= 0.5 / 1024.0 + 1e-5);
        prop_assert_eq!(snapped.health, health.min(127));
        prop_assert!((0.0..128.0).contains(&snapped.position));
        prop_assert!(way_around(snapped.position, position, 128.0).abs() <= 0.5 / 64.0 + 1e-4);
        prop_assert_eq!((snapped.score, snapped.alive), (-7, true));
    }

    #[test]
    fn any_float_packs_within_its_bits(bits: u32) {
        let value = f32::from_bits(bits);
        for field in Sample::FIELDS {
            prop_assert!(field.pack(value) <= field.greatest);
            prop_assert_eq!(field.pack(field.unpack(field.pack(value))), field.pack(value));
        }
    }
}

#[test]
fn values_outside_are_clamped_and_angles_wrap() {
    let (x, heading, position, score) = (1e9, 1.25, -1.0, i16::MIN);
    let wild = Sample { x, heading, health: 255, position, score, alive: false };
    let snapped = wild.snapped();
    assert_eq!(snapped.position, 127.0);
    assert_eq!(Sample { position: 128.0, ..wild }.snapped().position, 0.0);
    assert_eq!(snapped.x, 64.0 - 1.0 / 256.0);
    assert_eq!((snapped.heading, snapped.health, snapped.score), (0.25, 127, -2048));
    assert_eq!(Sample { x: f32::NAN, ..wild }.snapped().x, -64.0);
}

#[test]
fn a_blend_turns_the_shorter_way_and_steps_late() {
    let heading = Sample::FIELDS[1];
    assert!((heading.blend(0.95, 0.05, 0.5) % 1.0).abs() < 1e-6);
    let position = Sample::FIELDS[3];
    assert_eq!((position.period(), heading.period()), (Some(128.0), Some(1.0)));
    assert_eq!(Sample::FIELDS[0].period(), None);
    assert_eq!((position.blend(126.0, 2.0, 0.25), position.blend(126.0, 2.0, 0.5)), (127.0, 0.0));
    assert_eq!((position.way(126.0, 2.0), position.way(2.0, 126.0)), (4.0, -4.0));
    assert_eq!((position.way(0.0, 64.0), Sample::FIELDS[0].way(1.0, -3.0)), (64.0, -4.0));
    assert_eq!(wrapped(-1e-9_f32, 128.0), 0.0, "and not the period");
    assert_eq!(wrapped(-1e-18_f64, 128.0), 0.0, "and not the period");
    assert_eq!(Sample::FIELDS[2].blend(1.0, 2.0, 0.99), 1.0);
    assert_eq!(Sample::FIELDS[0].blend(1.0, 2.0, 0.25), 1.25);
}
