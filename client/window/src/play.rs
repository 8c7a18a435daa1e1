//! One stay in a game: a headless client, and the view that shows it.

use std::collections::BTreeMap;

use egui_macroquad::egui::{Painter, Pos2, Rect};
use phaselock::client::{AnyClient, Client, Seat, Session, Stats, View};
use phaselock::clock::pll::LoopFilter;
use phaselock::game::{Game, Slot};
use phaselock::ids::PlayerId;
use phaselock::presentation::presenter::{Trace, is_moving};
use phaselock::time::{LocalTime, Micros};

use super::controls::Controls;
use super::meter::{Meter, Rates};
use super::presentation::{self, Kind, Marks};
use super::view::{GameView, Scene};

/// A stay in whatever game: what is drawn of it.
pub(crate) trait Play {
    /// Commands what the controls do in every tick that is due.
    fn press(&mut self, session: &mut Session, now: LocalTime, controls: &mut Controls);
    /// Shows the game.
    fn draw(&mut self, session: &mut Session, now: LocalTime, frame: &Frame, painter: &Painter);
    /// Mean distance between others as drawn and as they were by then, in the game's unit, where the picture
    /// is marked.
    fn shown_error(&self) -> Option<f32>;
    /// How it is going, for developers.
    fn readings(&self, client: &dyn AnyClient, now: LocalTime) -> Readings;
}

/// The kinds of entities that move, and how they are shown.
pub(crate) fn kinds(client: &dyn AnyClient) -> Vec<Kind> {
    let kinds = (0..).zip(client.kinds()).filter(|(_, kind)| is_moving(kind.fields));
    kinds
        .map(|(kind, table)| Kind { kind, name: table.name, choice: client.choice(kind) })
        .collect()
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
pub(crate) struct Playing<V: GameView> {
    view: V,
    meter: Meter,
    began: LocalTime,
    /// By how much others were shown off, evened out over a second.
    shown_error: Option<f32>,
}

impl<V: GameView> Playing<V> {
    /// Begins to show the game.
    pub(crate) fn new(now: LocalTime) -> Self {
        Self { view: V::default(), meter: Meter::default(), began: now, shown_error: None }
    }
}

impl<V: GameView> Play for Playing<V> {
    fn press(&mut self, session: &mut Session, now: LocalTime, controls: &mut Controls) {
        session.press::<V::Game>(now, |_, _| {
            let input = self.view.input(controls);
            controls.ticked();
            input
        });
    }

    fn draw(&mut self, session: &mut Session, now: LocalTime, frame: &Frame, painter: &Painter) {
        let Some(view) = session.view::<V::Game>(now) else { return };
        let traces = if frame.marks { session.traces::<V::Game>() } else { Vec::new() };
        let Some(client) = session.client_of::<V::Game>() else { return };
        self.meter.observe(now, client.stats());
        let scene = Scene {
            view: &view,
            game: client.game(),
            rates: client.rates(),
            player: client.player(),
            roster: client.roster(),
            round_trip_ms: self.meter.rates().round_trip_ms,
            screen: frame.screen,
            pointer: frame.pointer,
            secs: frame.secs,
            age_secs: (now - self.began).as_secs() as f32,
            active: frame.active,
            scores: frame.scores,
            crowded: frame.crowded,
        };
        self.view.draw(&scene, painter);
        if frame.marks {
            self.draw_marks(client, &view, &traces, (frame.secs, painter));
        } else {
            self.shown_error = None;
        }
    }

    fn shown_error(&self) -> Option<f32> {
        self.shown_error
    }

    fn readings(&self, client: &dyn AnyClient, now: LocalTime) -> Readings {
        let common = client.common();
        let (pll, lead) = (common.pll(), common.lead());
        Readings {
            stats: common.stats().clone(),
            rates: self.meter.rates(),
            lead: lead.lead(),
            margin: lead.margin().margin(),
            late_episodes: lead.margin().episodes(),
            delay: common.delay().delay(),
            silence: common.silence(now),
            filter: pll.filter(),
            phase_error: pll.phase_error(),
            rate_ppm: pll.rate_ppm(now),
            skew_ppm: pll.skew_ppm(),
            locked: pll.is_locked(),
            world: common.rates(),
            players: players(common.roster()),
        }
    }
}

impl<V: GameView> Playing<V> {
    /// Marks where snapshots and other methods have what is drawn.
    fn draw_marks(
        &mut self,
        client: &Client<V::Game>,
        view: &View<V::Game>,
        traces: &[Trace<<V::Game as Game>::Entity>],
        (secs, painter): (f32, &Painter),
    ) {
        let Some(camera) = self.view.camera() else { return };
        let game = client.game();
        let place = |slot: &Slot<<V::Game as Game>::Entity>| game.position(&slot.entity);
        let (mut off, mut count) = (0.0, 0_u16);
        for trace in traces {
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
