//! One stay in a game: a headless client, and the view that shows it.

use std::collections::BTreeMap;

use egui_macroquad::egui::{Color32, Painter, Pos2, Rect};
use phaselock::client::{Carried, Client, Seat, Stats, View};
use phaselock::clock::pll::LoopFilter;
use phaselock::fields::Entity;
use phaselock::game::Slot;
use phaselock::ids::PlayerId;
use phaselock::motion::choice::Choice;
use phaselock::motion::presenter::is_moving;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ServerMessage, Welcome};
use phaselock_lab::record::{MotionFiles, RecordError};

use super::hands::Hands;
use super::meter::{Meter, Rates};
use super::presentation::{self, Kind, Marks};
use super::view::{From, GameView, Scene};

/// A stay in whatever game.
pub(crate) trait Play {
    /// What to call the game.
    fn title(&self) -> &'static str;
    /// Keys, and what they do.
    fn controls(&self) -> &'static [(&'static str, &'static str)];
    /// What is seen where nothing is painted.
    fn backdrop(&self) -> Color32;
    /// A control message came.
    fn handle_message(&mut self, message: &ServerMessage);
    /// A datagram came.
    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime);
    /// Commands what the hands do in every tick that is due.
    fn tick(&mut self, now: LocalTime, hands: &mut Hands);
    /// The next packet to send.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    /// Shows the game.
    fn draw(&mut self, now: LocalTime, frame: &Frame, painter: &Painter);
    /// For how long nothing was heard of the server.
    fn silence(&self, now: LocalTime) -> Micros;
    /// Chooses what keeps the clock in phase.
    fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter);
    /// The kinds of entities that move, and how they are shown.
    fn kinds(&self) -> Vec<Kind>;
    /// Shows a kind by another method.
    fn choose(&mut self, kind: u8, choice: Choice);
    /// Shows ghosts by another method where the picture is marked.
    fn set_ghost(&mut self, ghost: Option<Choice>);
    /// By how many of the game's units others were lately drawn off where they were by then, where the picture is
    /// marked.
    fn shown_error(&self) -> Option<f32>;
    /// Records the player's motion from now on, or not.
    fn record_motion(&mut self, on: bool);
    /// Writes it down, as far as it is known by now.
    fn record(&mut self, files: &mut MotionFiles, now: LocalTime) -> Result<(), RecordError>;
    /// How it is going.
    fn readings(&self, now: LocalTime) -> Readings;
    /// Leaves the game for the server's next.
    fn leave_game(self: Box<Self>) -> Carried;
}

/// What a frame is drawn with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The window, in points.
    pub(crate) screen: Rect,
    /// Where the mouse is in it.
    pub(crate) pointer: Pos2,
    /// Seconds since the last frame.
    pub(crate) secs: f32,
    /// Whether the player plays, rather than looks at a menu or waits for the server.
    pub(crate) active: bool,
    /// Whether the player wants to see the scores.
    pub(crate) scores: bool,
    /// Whether something lies over the picture where hints would be.
    pub(crate) crowded: bool,
    /// Whether snapshots, errors and ghosts are marked.
    pub(crate) marks: bool,
}

/// What developers want to know of a stay.
#[derive(Clone, Debug)]
pub(crate) struct Readings {
    /// All counters.
    pub(crate) stats: Stats,
    /// How they change.
    pub(crate) rates: Rates,
    /// How far prediction is ahead of the server's time.
    pub(crate) lead: Micros,
    /// How much of that is for what most inputs do not need.
    pub(crate) margin: Micros,
    /// How often inputs came late by the network's doing.
    pub(crate) late_episodes: u64,
    /// How far presentation is behind it.
    pub(crate) delay: Micros,
    /// For how long nothing was heard of the server.
    pub(crate) silence: Micros,
    /// What keeps the clock in phase.
    pub(crate) filter: LoopFilter,
    /// The clock's phase error.
    pub(crate) phase_error: Micros,
    /// The clock's rate against the local one, in parts per million.
    pub(crate) rate_ppm: f64,
    /// The rate that its loop has learnt.
    pub(crate) skew_ppm: f64,
    /// Whether the clock is in phase.
    pub(crate) locked: bool,
    /// The world's rates.
    pub(crate) world: phaselock::time::Rates,
    /// People and bots who play.
    pub(crate) players: (usize, usize),
}

/// A stay in one game.
pub(crate) struct Playing<G: GameView> {
    client: Client<G>,
    screen: G::Screen,
    meter: Meter,
    began: LocalTime,
    /// By how much others were shown off, evened out over a second.
    shown_error: Option<f32>,
}

impl<G: GameView> Playing<G> {
    /// Starts from the server's welcome.
    pub(crate) fn new(welcome: &Welcome, from: From, now: LocalTime) -> Self {
        Self {
            client: match from {
                From::Hello(sent) => Client::new(welcome, sent, now),
                From::Game(carried) => Client::follow(welcome, *carried, now),
            },
            screen: G::Screen::default(),
            meter: Meter::default(),
            began: now,
            shown_error: None,
        }
    }
}

impl<G: GameView> Play for Playing<G> {
    fn title(&self) -> &'static str {
        G::TITLE
    }

    fn controls(&self) -> &'static [(&'static str, &'static str)] {
        G::CONTROLS
    }

    fn backdrop(&self) -> Color32 {
        G::BACKDROP
    }

    fn handle_message(&mut self, message: &ServerMessage) {
        self.client.handle_message(message);
    }

    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime) {
        // A bad one changed nothing, and is counted.
        let _ = self.client.handle_datagram(bytes, arrival);
    }

    fn tick(&mut self, now: LocalTime, hands: &mut Hands) {
        self.client.handle_frame(now);
        while let Some(tick) = self.client.poll_tick(now) {
            let input = G::input(&self.screen, hands);
            self.client.handle_input(now, tick, input);
            hands.ticked();
        }
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.client.poll_transmit()
    }

    fn draw(&mut self, now: LocalTime, frame: &Frame, painter: &Painter) {
        let view = self.client.view(now);
        self.meter.observe(now, self.client.stats());
        let scene = Scene {
            view: &view,
            game: self.client.game(),
            rates: self.client.rates(),
            player: self.client.player(),
            roster: self.client.roster(),
            round_trip_ms: self.meter.rates().round_trip_ms,
            screen: frame.screen,
            pointer: frame.pointer,
            secs: frame.secs,
            age_secs: (now - self.began).as_secs() as f32,
            active: frame.active,
            scores: frame.scores,
            crowded: frame.crowded,
        };
        G::draw(&mut self.screen, &scene, painter);
        if frame.marks {
            self.draw_marks(&view, frame.secs, painter);
        } else {
            self.shown_error = None;
        }
    }

    fn leave_game(self: Box<Self>) -> Carried {
        self.client.leave_game()
    }

    fn silence(&self, now: LocalTime) -> Micros {
        self.client.silence(now)
    }

    fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter) {
        self.client.set_loop_filter(now, filter);
    }

    fn kinds(&self) -> Vec<Kind> {
        let kinds = G::Entity::KINDS.iter().zip(0..);
        let moving = kinds.filter(|(kind, _)| is_moving(kind.fields));
        moving
            .map(|(table, kind)| Kind { kind, name: table.name, choice: self.client.choice(kind) })
            .collect()
    }

    fn choose(&mut self, kind: u8, choice: Choice) {
        self.client.choose(kind, choice);
    }

    fn set_ghost(&mut self, ghost: Option<Choice>) {
        self.client.set_ghost(ghost);
    }

    fn shown_error(&self) -> Option<f32> {
        self.shown_error
    }

    fn record_motion(&mut self, on: bool) {
        self.client.record_motion(on);
    }

    fn record(&mut self, files: &mut MotionFiles, now: LocalTime) -> Result<(), RecordError> {
        files.take_from(&mut self.client, now)
    }

    fn readings(&self, now: LocalTime) -> Readings {
        let (pll, lead) = (self.client.pll(), self.client.lead());
        Readings {
            stats: self.client.stats().clone(),
            rates: self.meter.rates(),
            lead: lead.lead(),
            margin: lead.margin().margin(),
            late_episodes: lead.margin().episodes(),
            delay: self.client.delay().delay(),
            silence: self.client.silence(now),
            filter: pll.filter(),
            phase_error: pll.phase_error(),
            rate_ppm: pll.rate_ppm(now),
            skew_ppm: pll.skew_ppm(),
            locked: pll.is_locked(),
            world: self.client.rates(),
            players: players(self.client.roster()),
        }
    }
}

impl<G: GameView> Playing<G> {
    /// Marks where snapshots and other methods have what is drawn.
    fn draw_marks(&mut self, view: &View<G>, secs: f32, painter: &Painter) {
        let traces = self.client.traces();
        let Some(camera) = G::camera(&self.screen) else { return };
        let game = self.client.game();
        let place = |slot: &Slot<G::Entity>| game.place(&slot.entity);
        let (mut off, mut count) = (0.0, 0_u16);
        for trace in &traces {
            let drawn = view.entities.get(trace.newest.id).and_then(place);
            let (Some(newest), Some(drawn)) = (place(&trace.newest), drawn) else { continue };
            // The own player is drawn ahead of what others would see of it.
            let others = view.own != Some(trace.newest.id);
            let late = trace.late_truth.as_ref().filter(|_| others);
            let error = late.and_then(|(shown, truth)| place(shown).zip(place(truth)));
            if let Some((shown, truth)) = error {
                off += shown.distance(truth);
                count += 1;
            }
            let ghost = trace.ghost.as_ref().filter(|_| others).and_then(place);
            let marks = Marks {
                newest: camera.to_screen(newest),
                drawn: camera.to_screen(drawn),
                ghost: ghost.map(|at| camera.to_screen(at)),
                error: error.map(|(a, b)| (camera.to_screen(a), camera.to_screen(b))),
            };
            presentation::draw_marks(painter, &marks, 0.45 * camera.scale);
        }
        if count > 0 {
            let now = off / f32::from(count);
            let before = self.shown_error.unwrap_or(now);
            self.shown_error = Some(before + (now - before) * (1.0 - (-secs).exp()));
        }
    }
}

fn players(roster: &BTreeMap<PlayerId, Seat>) -> (usize, usize) {
    let bots = roster.values().filter(|seat| seat.bot).count();
    (roster.len() - bots, bots)
}
