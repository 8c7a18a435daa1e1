//! A round of each game, drawn without a window and rendered to samples.
//!
//! `PHASELOCK_WAV=folder cargo test -p phaselock-views heard` writes the rounds there, to listen to
//! or to inspect.

use std::collections::BTreeMap;

use egui_macroquad::egui::{Context, LayerId, RawInput};
use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock_games::asteroids::Ship;
use phaselock_games::platformer::Player as Runner;
use phaselock_games::puck::Puck;
use phaselock_games::race::Car;
use phaselock_games::skirmish::Player;
use phaselock_sound::mixer::{Mixer, Order, VOICES_MAX};
use phaselock_sound::patch::{LAYERS_MAX, NOTES_MAX};
use phaselock_sound::{SAMPLE_RATE, Stereo, wav};
use phaselock_testing::{Sim, room_config};
use phaselock_ui::cues::common::OF_ALL;
use phaselock_ui::cues::{Cues, Emitted};
use phaselock_ui::prelude::*;

use super::{asteroids, platformer, puck, race, skirmish};

/// Milliseconds of a frame.
const FRAME_MS: usize = 16;
const SECS: f64 = 50.0;
/// Loudness of every game's round, so that no player reaches for the volume after changing the
/// game.
const LOUDNESS_DB: std::ops::RangeInclusive<f32> = -31.0..=-25.0;
/// Power below which a tenth of a second is silent: -50 dB.
const SILENT: f32 = 1e-5;

/// A count in the server's world that events follow from, and its modulus.
type Count<G> = fn(&Entities<<G as Game>::Entity>, PlayerId) -> Option<(u32, u32)>;

/// A player's ears.
#[derive(Default)]
struct Listening {
    /// Cues, with the frame of each and its volume at the listener.
    cues: Vec<(usize, Emitted, f32)>,
    /// The player's own events, by the cue's rumble.
    felt: Vec<CueRumble>,
    samples: Vec<Stereo>,
    /// Times that the count rose in the server's world.
    truth: u32,
    /// Seconds for which each step of the lesson was done.
    did: Vec<f32>,
}

impl Listening {
    fn count(&self, cues: &[&Cue]) -> u32 {
        let names: Vec<_> = cues.iter().map(|cue| cue.name).collect();
        self.cues.iter().filter(|(_, it, _)| names.contains(&it.cue.name)).count() as u32
    }

    fn count_own(&self, cues: &[&Cue]) -> u32 {
        self.felt.iter().filter(|felt| cues.iter().any(|cue| cue.rumble == **felt)).count() as u32
    }

    /// Asserts that events were heard about as often as they happened.
    fn assert_once(&self, heard: u32) {
        let truth = self.truth;
        assert!(truth >= 3, "too few events to decide: {truth}");
        let (least, most) = (truth - truth / 5 - 1, truth + truth / 20 + 1);
        assert!((least..=most).contains(&heard), "{heard} of {truth} were reported");
    }
}

/// Plays against bots over a bad link, and listens.
fn listen<V: GameView>(seed: u64, count: Count<V::Game>) -> Listening {
    let mut sim = Sim::<V::Game>::with(room_config(seed, 5));
    let link = LinkConfig { loss: 0.05, ..LinkConfig::delayed(60, 15) };
    let number = sim.join_bot(link);
    let (mut seat, mut mixer) = (Seat::<V>::new(number), Mixer::new(1));
    let mut heard = Listening::default();
    let (mut before, mut most_voices) = (None, 0);
    let frames = (SECS * 1000.0) as usize / FRAME_MS;
    for frame in 0..frames {
        sim.run(FRAME_MS as f64 / 1000.0);
        let player = seat.draw(&mut sim, frame);
        heard.felt.extend(seat.cues.take_rumbles());
        let emitted = seat.cues.waiting();
        let mut gains = Vec::new();
        for order in seat.cues.take_orders() {
            if let Order::Play { placed, .. } = order {
                gains.push(placed.gain);
            }
            mixer.handle(order);
        }
        let sounds = emitted.into_iter().filter(|it| it.cue.sound.is_some());
        heard.cues.extend(sounds.zip(gains).map(|(it, gain)| (frame, it, gain)));
        let mut samples = [[0.0; 2]; SAMPLE_RATE as usize * FRAME_MS / 1000];
        mixer.render(&mut samples);
        heard.samples.extend(samples);
        most_voices = most_voices.max(mixer.voices());
        let now = player.and_then(|player| count(&sim.room.world().entities, player));
        if let Some(((before, modulus), (now, _))) = before.zip(now) {
            let more = (now + modulus - before) % modulus;
            heard.truth += if more < modulus / 2 { more } else { 0 };
        }
        before = now;
    }
    heard.did = seat.did;
    check::<V>(&heard, most_voices);
    heard
}

/// A client whose picture is drawn.
struct Seat<V> {
    number: usize,
    view: V,
    cues: Cues,
    context: Context,
    /// Seconds for which each step of the lesson was done.
    did: Vec<f32>,
}

impl<V: GameView> Seat<V> {
    fn new(number: usize) -> Self {
        let (cues, context) = (Cues::default(), Context::default());
        Self { number, view: V::default(), cues, context, did: vec![0.0; V::LESSON.len()] }
    }

    /// Draws a frame; returns the player.
    fn draw(&mut self, sim: &mut Sim<V::Game>, frame: usize) -> Option<PlayerId> {
        let Self { number, ref mut view, ref cues, ref context, ref mut did } = *self;
        let now = sim.clients[number].skew.read(sim.now);
        let session = &mut sim.clients[number].session;
        let picture = session.picture::<V::Game>(now)?;
        let client = session.client_of::<V::Game>()?;
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let _ = context.run(input, |context| {
            let painter = context.layer_painter(LayerId::background());
            let scene = Scene {
                picture: &picture,
                game: client.game(),
                rates: client.rates(),
                player: client.player(),
                roster: client.roster(),
                presence: client.common().presence(),
                house: client.common().house(),
                round_trip_ms: None,
                watched: None,
                ghost: None,
                age_secs: frame as f32 * FRAME_MS as f32 / 1000.0,
                frame: Frame {
                    painter: &painter,
                    screen,
                    pointer: Some(screen.center()),
                    secs: FRAME_MS as f32 / 1000.0,
                    active: true,
                    scores: false,
                    scrolled: 0,
                    crowded: false,
                    marks: false,
                    cues,
                    controls: &Controls::default(),
                },
            };
            view.draw(&scene);
            for (step, did) in V::LESSON.iter().zip(&mut *did) {
                *did += if (step.does)(&scene) { scene.secs } else { 0.0 };
            }
        });
        Some(client.player())
    }
}

/// Mean power of those tenths of a second that are not silent, in dB of full scale.
fn loudness_db(samples: &[Stereo]) -> f32 {
    let blocks = samples.chunks(SAMPLE_RATE as usize / 10);
    let power = |block: &[Stereo]| {
        block.iter().flatten().map(|it| it * it).sum::<f32>() / (2 * block.len()) as f32
    };
    let active: Vec<_> = blocks.map(power).filter(|power| *power > SILENT).collect();
    10.0 * (active.iter().sum::<f32>() / active.len().max(1) as f32).log10()
}

/// Asserts that events are heard when they happen, that games are about equally loud, and that
/// nothing clips.
fn check<V: GameView>(heard: &Listening, most_voices: usize) {
    let name = V::Game::NAME;
    if let Some(folder) = std::env::var_os("PHASELOCK_WAV") {
        let path = std::path::Path::new(&folder).join(format!("{name}.wav"));
        let file = std::fs::File::create(&path).expect("the folder can be written");
        wav::write(std::io::BufWriter::new(file), &heard.samples).expect("the disk has space");
    }
    assert!(heard.samples.iter().flatten().all(|sample| sample.abs() <= 1.0), "{name} clips");
    assert!((1..=VOICES_MAX).contains(&most_voices), "{name}: {most_voices} voices");
    // A bot does what the lesson asks for, except for what bots never do: lift a thing, pull the
    // hand brake, ask to be put back.
    let missing = V::LESSON.iter().zip(&heard.did).filter(|(step, did)| **did <= step.secs);
    assert!(missing.count() <= 2, "{name}: {:?}, {:?}", heard.did, V::LESSON);
    let mut counts = BTreeMap::new();
    for (_, it, _) in &heard.cues {
        *counts.entry(it.cue.name).or_insert(0) += 1;
        let known = V::CUES.iter().chain(&OF_ALL).any(|cue| cue.name == it.cue.name);
        assert!(known, "{name} has no cue {}", it.cue.name);
    }
    assert!(counts.len() >= 4, "{name}: {counts:?}");
    let loud = loudness_db(&heard.samples);
    assert!(LOUDNESS_DB.contains(&loud), "{name}: {loud} dB while it sounds; {counts:?}");
    // A frame's order is heard in that frame and the next two.
    let step = SAMPLE_RATE as usize * FRAME_MS / 1000;
    for (frame, it, gain) in &heard.cues {
        let loud = gain * it.cue.sound.map_or(0.0, |sound| sound.gain);
        let samples = heard.samples.iter().skip(frame * step).take(3 * step).flatten();
        let peak = samples.fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
        let cue = it.cue.name;
        assert!(loud < 0.1 || peak > 0.004, "{name}: {cue} in frame {frame} is not heard");
    }
}

#[test]
fn skirmish_is_heard_and_no_own_shot_twice() {
    let heard = listen::<skirmish::SkirmishScreen>(3, |entities, player| {
        let own: Option<Player> =
            entities.owned_by(player).find_map(|it| it.entity.player().copied());
        Some((u32::from(own?.shots), 256))
    });
    let weapons = ["shot", "rocket", "grenade", "mine"];
    let own = skirmish::SkirmishScreen::CUES.iter().filter(|cue| weapons.contains(&cue.name));
    heard.assert_once(heard.count_own(&own.copied().collect::<Vec<_>>()));
}

#[test]
fn asteroids_are_heard_and_no_own_shot_twice() {
    let heard = listen::<asteroids::AsteroidsScreen>(3, |entities, player| {
        let own = entities.records::<Ship>().find(|slot| slot.owner == Some(player));
        Some((u32::from(own?.entity.shots), 256))
    });
    let own = asteroids::AsteroidsScreen::CUES.iter().filter(|cue| cue.name == "fired");
    heard.assert_once(heard.count_own(&own.copied().collect::<Vec<_>>()));
}

#[test]
fn puck_is_heard_and_no_strike_twice() {
    let heard = listen::<puck::PuckScreen>(3, |entities, _| {
        let puck = entities.records::<Puck>().find(|slot| slot.entity.rink == 0);
        Some((u32::from(puck?.entity.hits), 16))
    });
    let strikes = puck::PuckScreen::CUES.iter().filter(|cue| cue.name == "strike");
    let strikes = heard.count(&strikes.copied().collect::<Vec<_>>());
    // Strikes within an eighth of a second of each other are heard as one.
    assert!((heard.truth / 3..=heard.truth).contains(&strikes), "{strikes} of {}", heard.truth);
}

#[test]
fn race_is_heard_and_no_gate_twice() {
    let heard = listen::<race::RaceScreen>(3, |entities, player| {
        let own = entities.records::<Car>().find(|slot| slot.owner == Some(player));
        Some((u32::from(own?.entity.gates), 1024))
    });
    let gates = race::RaceScreen::CUES.iter().filter(|cue| ["gate", "home"].contains(&cue.name));
    heard.assert_once(heard.count(&gates.copied().collect::<Vec<_>>()));
}

#[test]
fn platformer_is_heard_and_no_coin_twice() {
    let heard = listen::<platformer::PlatformerScreen>(3, |entities, player| {
        let own = entities.records::<Runner>().find(|slot| slot.owner == Some(player));
        Some((own?.entity.coins(), 1024))
    });
    let coins = platformer::PlatformerScreen::CUES.iter().filter(|cue| cue.name == "coin");
    heard.assert_once(heard.count(&coins.copied().collect::<Vec<_>>()));
}

#[test]
fn every_list_of_cues_can_be_played_and_names_each_once() {
    let lists: [&[&Cue]; 5] = [
        skirmish::SkirmishScreen::CUES,
        asteroids::AsteroidsScreen::CUES,
        puck::PuckScreen::CUES,
        race::RaceScreen::CUES,
        platformer::PlatformerScreen::CUES,
    ];
    for list in lists {
        let mut names: Vec<_> = list.iter().chain(&OF_ALL).map(|cue| cue.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.len() + OF_ALL.len(), "{names:?}");
        for cue in list.iter().chain(&OF_ALL) {
            let sound = cue.sound.expect("every such cue has a sound");
            assert!((1..=LAYERS_MAX).contains(&sound.layers.len()), "{}", cue.name);
            assert!(sound.notes.len() <= NOTES_MAX && sound.secs() < 6.0, "{}", cue.name);
            let mut mixer = Mixer::new(1);
            mixer.handle(Order::play(sound, phaselock_sound::place::Placed::MIDDLE));
            let mut samples = vec![[0.0; 2]; SAMPLE_RATE as usize / 2];
            mixer.render(&mut samples);
            let peak = samples.iter().flatten().fold(0.0_f32, |most, it| most.max(it.abs()));
            assert!((0.01..=0.75).contains(&peak), "{} peaks at {peak}", cue.name);
        }
    }
}
