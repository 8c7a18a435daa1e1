//! Tests of the mixer.

use super::*;
use crate::patch::{Envelope, Layer, Note, Sweep, note};

const TONE: Layer = Layer { hz: Sweep::still(500.0), ..Layer::SINE };
const SHORT: Sound = Sound { layers: &[TONE], at_most: 40, ..Sound::EFFECT };
const RARE: Sound = Sound { layers: &[TONE], at_most: 2, ..Sound::EFFECT };
const TUNE: Sound = Sound {
    layers: &[TONE],
    notes: &[note(0.0, 0.0), note(0.5, 4.0), Note { at: 1.0, semitones: 7.0, gain: 0.5 }],
    ..Sound::CUE
};
const HUM: Sound =
    Sound { layers: &[Layer { envelope: Envelope::steady(0.02), ..TONE }], ..Sound::DRONE };

fn render(mixer: &mut Mixer, secs: f32) -> Vec<Stereo> {
    let mut frames = vec![[9.0; 2]; (secs * SAMPLE_RATE as f32) as usize];
    mixer.render(&mut frames);
    frames
}

fn peak(frames: &[Stereo]) -> f32 {
    frames.iter().flatten().fold(0.0, |peak, sample| peak.max(sample.abs()))
}

/// Largest step from one sample to the next.
fn step(frames: &[Stereo]) -> f32 {
    frames.windows(2).fold(0.0, |most, two| most.max((two[1][0] - two[0][0]).abs()))
}

fn keep(mixer: &mut Mixer, key: u64, gain: f32) {
    let placed = Placed::MIDDLE.times(gain);
    mixer.handle(Order::Keep { key, sound: &HUM, placed, pitch: 1.0 });
}

#[test]
fn sound_is_heard_on_its_side_and_ends() {
    let mut mixer = Mixer::new(1);
    assert_eq!(peak(&render(&mut mixer, 0.1)), 0.0);
    mixer.handle(Order::play(&SHORT, Placed::at([8.0, 0.0], 10.0)));
    let frames = render(&mut mixer, 0.1);
    let ear = |n: usize| frames.iter().fold(0.0_f32, |peak, it| peak.max(it[n].abs()));
    assert!(ear(1) > 0.1 && ear(1) > 3.0 * ear(0) && ear(0) > 0.01, "{} {}", ear(0), ear(1));
    render(&mut mixer, 2.0);
    assert_eq!((mixer.voices(), peak(&render(&mut mixer, 0.1))), (0, 0.0));
}

#[test]
fn voices_are_bounded_and_a_stolen_one_does_not_click() {
    let mut mixer = Mixer::new(1);
    let mut all = Vec::new();
    for _ in 0..90 {
        mixer.handle(Order::play(&SHORT, Placed::MIDDLE));
        all.extend(render(&mut mixer, 0.003));
        assert!(mixer.voices() <= VOICES_MAX);
    }
    assert_eq!(mixer.voices(), VOICES_MAX);
    assert!(peak(&all) <= 1.0 && peak(&all) > 0.6);
    // A sine of 500 Hz at full level moves by 0.065 a sample.
    assert!(step(&all) < 0.16, "{}", step(&all));
}

#[test]
fn important_sounds_are_heard_in_a_crowd() {
    let mut mixer = Mixer::new(1);
    for _ in 0..VOICES_MAX {
        mixer.handle(Order::play(&SHORT, Placed::MIDDLE));
    }
    mixer.handle(Order::play(&TUNE, Placed::MIDDLE));
    let tunes = |mixer: &Mixer| mixer.voices.iter().filter(|slot| slot.is_like(&TUNE)).count();
    assert_eq!(tunes(&mixer), 3);
    for _ in 0..99 {
        mixer.handle(Order::play(&SHORT, Placed::MIDDLE));
    }
    assert_eq!(tunes(&mixer), 3);
}

#[test]
fn same_sound_is_heard_a_few_times_at_once() {
    let mut mixer = Mixer::new(1);
    for _ in 0..9 {
        mixer.handle(Order::play(&RARE, Placed::MIDDLE));
    }
    render(&mut mixer, 0.05);
    assert_eq!(mixer.voices(), 2);
}

#[test]
fn notes_of_a_tune_follow_each_other() {
    let mut mixer = Mixer::new(1);
    mixer.handle(Order::play(&TUNE, Placed::MIDDLE));
    let frames = render(&mut mixer, 2.0);
    let loud = |from: f32| peak(&frames[(from * 48_000.0) as usize..][..4800]);
    assert!(loud(0.0) > 0.2 && loud(0.5) > 0.2 && loud(1.0) > 0.1 && loud(1.0) < 0.7 * loud(0.5));
    assert!(loud(0.4) < 0.02 * loud(0.0) + loud(0.0) * 0.1);
}

#[test]
fn continuous_sound_goes_on_while_it_is_kept_and_fades_after() {
    let mut mixer = Mixer::new(1);
    let mut all = Vec::new();
    for _ in 0..30 {
        keep(&mut mixer, 7, 1.0);
        all.extend(render(&mut mixer, 0.016));
    }
    assert_eq!(mixer.voices(), 1);
    assert!(peak(&all[9600..]) > 0.2 && step(&all) < 0.05);
    let after = render(&mut mixer, 0.4);
    assert!(step(&after) < 0.05 && peak(&after[14_400..]) == 0.0 && mixer.voices() == 0);
}

#[test]
fn loudest_of_too_many_continuous_sounds_are_heard() {
    let mut mixer = Mixer::new(1);
    for key in 0..20 {
        keep(&mut mixer, key, 0.1 + key as f32 * 0.01);
    }
    render(&mut mixer, 0.1);
    let keys: Vec<_> = mixer.voices.iter().filter_map(|slot| slot.key).collect();
    assert_eq!(keys.len(), usize::from(HUM.at_most));
    assert!(keys.iter().all(|key| *key >= 14), "{keys:?}");
}

#[test]
fn volumes_are_by_channel_and_change_without_a_click() {
    let mut mixer = Mixer::new(1);
    for n in 0..20 {
        keep(&mut mixer, 1, 1.0);
        let off = Volumes { channels: [0.0, 1.0, 1.0], ..Volumes::FULL };
        mixer.handle(Order::Volumes(if n < 10 { Volumes::FULL } else { off }));
        let frames = render(&mut mixer, 0.05);
        assert!(step(&frames) < 0.05);
        assert!((10..15).contains(&n) || (peak(&frames) < 0.01) == (n >= 15), "{n}");
    }
    mixer.handle(Order::play(&TUNE, Placed::MIDDLE));
    assert!(peak(&render(&mut mixer, 0.05)) > 0.1);
    mixer.handle(Order::Volumes(Volumes::NONE));
    render(&mut mixer, 0.4);
    assert!(peak(&render(&mut mixer, 0.05)) < 0.001);
}

#[test]
fn hostile_values_do_no_harm() {
    let mut mixer = Mixer::new(1);
    for bad in [f32::NAN, f32::INFINITY, -5.0] {
        let placed = Placed { gain: bad, pan: bad, cut_off: bad };
        mixer.handle(Order::Play { sound: &SHORT, placed, pitch: bad, delay: bad });
        mixer.handle(Order::Keep { key: 1, sound: &HUM, placed, pitch: bad });
        let frames = render(&mut mixer, 0.1);
        assert!(frames.iter().flatten().all(|sample| sample.abs() <= 1.0), "{bad}");
    }
}

#[test]
fn hush_leaves_the_interface() {
    const CLICK: Sound = Sound { layers: &[TONE], ..Sound::INTERFACE };
    let mut mixer = Mixer::new(1);
    for sound in [&SHORT, &TUNE, &CLICK] {
        mixer.handle(Order::play(sound, Placed::MIDDLE));
    }
    keep(&mut mixer, 1, 1.0);
    mixer.handle(Order::Hush);
    render(&mut mixer, 0.15);
    assert!(mixer.voices.iter().filter_map(|slot| slot.sound).all(|sound| *sound == CLICK));
    assert_eq!(mixer.voices(), 1);
}
