//! Grids: snapping, wrapping, blending.

use super::*;
use crate::limits::FIELDS_MAX;
use crate::record;
use glam::{Quat, Vec2, Vec3};
use proptest::prelude::*;

record! {
    /// One field of each kind.
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

crate::field_enum! {
    /// Five of them, on a grid of eight points.
    enum Suit { Clubs, Diamonds, Hearts, Spades, Stars }
}

record! {
    /// One field of each larger kind.
    struct Wide {
        position: Vec2 = Field::centred(24, 10).moved_by("velocity"),
        velocity: Vec2 = Field::wrapping(24, 12),
        up: Vec3 = Field::centred(12, 10),
        rotation: Quat = Field::unit(12, 10),
        word: u32 = Field::count(32),
        sum: i32 = Field::centred(32, 0).stepwise(),
        fine: f64 = Field::centred(32, 20),
        turn: f64 = Field::angle(32),
        suit: Suit = Field::variants::<Suit>(),
        loose: Suit = Field::count(3),
        fuel: f32 = Field::range(-20, 100, 2),
        far: f64 = Field::range(1_000_000_000, 1_000_000_003, 8),
        // The only way to the rate of a component from outside of a vector.
        x: f32 = Field::centred(24, 10).moved_by("velocity.x"),
    }
}

/// A field of any width, number of fractional bits, and motion.
fn any_field() -> impl Strategy<Value = Field> {
    (1_u32..=32, 0_u32..=32, 0..6, any::<u32>()).prop_map(|(bits, fraction, sort, part)| {
        let fraction = fraction.min(bits);
        let whole = i64::from(part) & ((1 << (bits - fraction.min(bits - 1))) - 1);
        match sort {
            0 => Field::centred(bits, fraction),
            1 => Field::wrapping(bits, fraction),
            2 => Field::angle(bits),
            3 => Field::count(bits),
            4 => Field::cut(bits),
            _ => Field::range(-5, whole.max(1) - 5, fraction.min(bits - 1)),
        }
    })
}

proptest! {
    #[test]
    fn every_point_of_every_grid_is_held_exactly(field in any_field(), packed: u32, wild: f64) {
        let packed = packed.min(field.greatest);
        prop_assert_eq!(field.pack(field.unpack(packed)), packed, "{:?}", field);
        prop_assert!(field.unpack(packed) <= field.max() && field.unpack(packed) >= field.min);
        prop_assert_eq!(field.unpack(u32::MAX), field.max());
        let near = field.pack(wild);
        prop_assert!(near <= field.greatest);
        prop_assert_eq!(field.pack(field.unpack(near)), near);
        if Exact::SINGLE.holds(&field) {
            let single = field.unpack(packed) as f32;
            prop_assert_eq!(f64::from(single), field.unpack(packed));
            prop_assert_eq!(field.pack(single), packed);
        }
    }

    #[test]
    fn single_precision_decides_wherever_it_always_did(
        bits in 1_u32..=24, part in 0_u32..=24, value: f32, near in -2.0_f32..2.0,
    ) {
        let fraction = part.min(bits);
        let field = Field::centred(bits, fraction);
        let least = -((1_u64 << (bits - 1)) as f32) / (1_u64 << fraction) as f32;
        for value in [value, near * least] {
            let scaled = ((value - least) * (1_u64 << fraction) as f32).round();
            prop_assert_eq!(field.pack(value), (scaled as u32).min((1 << bits) - 1));
        }
    }

    #[test]
    fn whatever_comes_makes_a_record_on_its_grid(words in [any::<u32>(); 20]) {
        let mut packed = [0; FIELDS_MAX];
        for ((to, from), field) in packed.iter_mut().zip(words).zip(Wide::FIELDS) {
            *to = from & field.mask();
        }
        let wide = <Wide as Record>::unpack(&packed);
        prop_assert_eq!(wide.snapped(), wide);
        // All except the loose enum, which has points without a variant, keep their values.
        for ((a, b), field) in Record::pack(&wide).iter().zip(packed).zip(Wide::FIELDS) {
            let last = if field.name == "loose" { 4 } else { field.greatest };
            prop_assert_eq!(*a, b.min(last), "{}", field.label());
        }
        let values = Record::values(&wide);
        prop_assert_eq!(<Wide as Record>::from_values(&values), wide);
        prop_assert_eq!(pack_values(Wide::FIELDS, &values), Record::pack(&wide));
    }
}

#[test]
fn a_vectors_components_move_by_those_of_the_same_name() {
    let of = |label: &str| Wide::FIELDS.iter().position(|field| field.is_labelled(label));
    let mover = |label| of(label).and_then(|at| Wide::FIELDS[at].mover(Wide::FIELDS));
    assert_eq!(Wide::FIELDS.len(), 20);
    assert_eq!(mover("position.x"), of("velocity.x"));
    assert_eq!(mover("position.y"), of("velocity.y"));
    assert_eq!((mover("x"), mover("word")), (of("velocity.x"), None));
    assert_eq!((of("position"), of("position.z"), of("word.x")), (None, None, None));
}

#[test]
fn the_widest_values_and_all_variants_are_their_own() {
    for (word, sum) in [(u32::MAX, i32::MIN), (0, i32::MAX), (1 << 31, -1), ((1 << 24) + 1, 0)] {
        for suit in Suit::VARIANTS {
            let wide = Wide { word, sum, suit: *suit, loose: *suit, ..Wide::default() }.snapped();
            assert_eq!((wide.word, wide.sum, wide.suit, wide.loose), (word, sum, *suit, *suit));
        }
    }
    let wide = Wide { fuel: 1e9, far: f64::NAN, ..Wide::default() }.snapped();
    assert_eq!((wide.fuel, wide.far), (100.0, 1e9));
    assert_eq!(wide.rotation, Quat::IDENTITY);
    assert_eq!(Wide { fuel: -20.3, ..wide }.snapped().fuel, -20.0);
    assert_eq!(Wide { fuel: 12.3, ..wide }.snapped().fuel, 12.25);
}
