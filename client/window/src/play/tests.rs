//! What the window shows again: deaths and goals, unless it is a recording or the player skips it.

use egui_macroquad::egui::{Context, LayerId, RawInput, Rect, pos2};
use phaselock::client::{Notice, Part};
use phaselock::link::LinkConfig;
use phaselock_games::skirmish::RESPAWN_SECS;
use phaselock_testing::{Sim, room_config};
use phaselock_ui::controls::{Controls, Devices};
use phaselock_ui::cues::Cues;
use phaselock_ui::look;
use phaselock_ui::view::{Frame, GameView};
use phaselock_views::{PuckScreen, SkirmishScreen};

use super::{AnyPlay, Overlays, Play};
use crate::eyes;
use crate::records::RecordTracker;

const SECS: f32 = 1.0 / 60.0;
const LINK: LinkConfig = LinkConfig::delayed(40, 4);

/// A client's window.
struct Window<V: GameView> {
    client: usize,
    context: Context,
    play: Play<V>,
    records: RecordTracker,
    /// Whether it shows anything again.
    replays: bool,
    /// Seconds for which each replay was shown.
    shown: Vec<f32>,
    is_replaying: bool,
}

impl<V: GameView> Window<V> {
    fn new(sim: &Sim<V::Game>, client: usize, replays: bool) -> Self {
        let context = Context::default();
        look::style(&context);
        Self {
            client,
            context,
            play: Play::new(sim.now),
            records: RecordTracker::default(),
            replays,
            shown: Vec::new(),
            is_replaying: false,
        }
    }

    fn draw(&mut self, sim: &mut Sim<V::Game>) {
        let now = sim.now;
        let screen = Rect::from_min_max(pos2(0.0, 0.0), pos2(1280.0, 720.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let (controls, cues) = (Controls::default(), Cues::default());
        let Self { play, records, replays, .. } = self;
        let session = &mut sim.clients[self.client].session;
        let _ = self.context.run(input, |ctx| {
            let painter = ctx.layer_painter(LayerId::background());
            let frame = Frame {
                painter: &painter,
                screen,
                pointer: None,
                secs: SECS,
                active: true,
                scores: false,
                scrolled: 0,
                crowded: false,
                marks: false,
                cues: &cues,
                controls: &controls,
            };
            let overlays = Overlays { lesson: None, records, replays: *replays };
            play.draw(session, now, frame, overlays).expect("the game is joined");
        });
        let was_replaying = std::mem::replace(&mut self.is_replaying, self.play.is_replaying());
        match (was_replaying, self.is_replaying) {
            (false, true) => self.shown.push(SECS),
            (true, true) => *self.shown.last_mut().expect("it has begun") += SECS,
            (_, false) => {}
        }
    }
}

/// Lets a frame pass. Events of the game go to the windows that they are for.
fn frame<V: GameView>(sim: &mut Sim<V::Game>, windows: &mut [Window<V>]) {
    sim.run(SECS.into());
    for client in 0..sim.clients.len() {
        while let Some(notice) = sim.clients[client].session.poll_notice() {
            let Notice::Event(event) = notice else { continue };
            let of_it = windows.iter_mut().filter(|window| window.client == client);
            of_it.for_each(|window| window.play.handle_event(&event));
        }
    }
    windows.iter_mut().for_each(|window| window.draw(sim));
    let oldest = sim.room.world().tick.minus(60);
    sim.truth.retain(|tick, _| *tick > oldest);
}

#[test]
fn a_goal_is_shown_again_to_players_and_spectators_until_it_is_skipped() {
    let mut sim = Sim::with(room_config(11, 0).with(|it| it.watchers_max = 1));
    sim.join_bot(LINK);
    sim.join_bot(LINK);
    sim.part = Part::Watch;
    sim.join_bot(LINK);
    sim.run(1.0);
    // The last window is as a recording's.
    let windows = [(0, true), (1, true), (2, true), (0, false)];
    let mut windows = windows.map(|(client, on)| Window::<PuckScreen>::new(&sim, client, on));
    for _ in 0..60 * 90 {
        frame(&mut sim, &mut windows);
        if windows[1].shown.len() == 1 && windows[1].shown[0] > 0.4 {
            windows[1].play.skip_replay();
        }
        if windows[0].shown.len() == 2 && !windows[0].is_replaying {
            break;
        }
    }
    let [whole, skipped, watcher, off] = windows.map(|window| window.shown);
    for shown in [&whole, &watcher] {
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown.iter().all(|secs| (1.3..1.6).contains(secs)), "{shown:?}");
    }
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(skipped[0] < 0.5 && skipped[1] > 1.3, "{skipped:?}");
    assert_eq!(off, Vec::<f32>::new());
}

#[test]
fn a_death_is_shown_again_until_the_player_is_back_or_skips_it() {
    let mut sim = Sim::new(8, 7);
    sim.join_bot(LINK);
    sim.run(1.0);
    let mut windows = [true, true, false].map(|on| Window::<SkirmishScreen>::new(&sim, 0, on));
    for _ in 0..60 * 90 {
        frame(&mut sim, &mut windows);
        if windows[1].is_replaying && windows[1].shown[0] > 0.4 {
            windows[1].play.skip_replay();
        }
        if windows[0].shown.len() == 2 && !windows[0].is_replaying {
            break;
        }
    }
    let [whole, skipped, off] = windows.map(|window| window.shown);
    assert_eq!(whole.len(), 2, "{whole:?}");
    assert!(whole.iter().all(|secs| (1.0..RESPAWN_SECS).contains(secs)), "{whole:?}");
    assert!(skipped.len() == 2 && skipped[0] < 0.5, "{skipped:?}");
    assert_eq!(off, Vec::<f32>::new());
}

#[test]
fn the_key_and_the_left_stick_skip() {
    use phaselock_ui::bindings::{Binding, Pad};

    let press = |touched: &[Binding], pad: Option<Pad>| {
        let mut controls = Controls::default();
        let mut devices = Devices::default();
        devices.touched.extend(touched);
        pad.into_iter().for_each(|part| devices.pad[part as usize] = 1.0);
        controls.handle(devices);
        eyes::skips(&controls)
    };
    let key = Binding::parse("Backspace").expect("it is a key");
    assert!(press(&[key], None) && press(&[], Some(Pad::LeftThumb)));
    assert!(!press(&[], None) && !press(&[], Some(Pad::A)));
}
