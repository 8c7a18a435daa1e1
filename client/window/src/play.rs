//! Draws a running game: its view, fed by the session.

use std::collections::{BTreeMap, BTreeSet};

use phaselock::client::{AnyClient, Client, Highlights, Seat, Session, Stats};
use phaselock::clock::pll::LoopFilter;
use phaselock::fields::KindOf;
use phaselock::game::{Game, Highlight, Slot};
use phaselock::ids::PlayerId;
use phaselock::motion::choice::Choice;
use phaselock::presentation::presenter::{Trace, is_moving};
use phaselock::rewind::Ruling;
use phaselock::time::{LocalTime, Micros, Rates, ServerTime};

use glam::Vec2;

use super::eyes::{DEATH, Eyes, Past, Seen};
use super::marks::EntityMarks;
use super::meter::{Figures, Meter};
use super::records::{Reached, RecordTracker};
use super::watch::SpectatorCamera;
use phaselock_ui::camera::Camera;
use phaselock_ui::controls::Controls;
use phaselock_ui::cues::common;
use phaselock_ui::lesson::Lesson;
use phaselock_ui::paint::Circle;
use phaselock_ui::view::{Frame, GameView, Scene, Watched};

/// Number of sides of the game, and the player's own.
pub(crate) type Sides = (u8, Option<u8>);

/// A running game of any type.
pub(crate) trait AnyPlay {
    /// Takes the controls' input of this frame, and sends it for every tick that is due.
    fn press(&mut self, session: &mut Session, now: LocalTime, controls: &mut Controls);
    /// Draws the view, with the running lesson and the records over it. Returns its camera, and the
    /// world's period if it wraps.
    fn draw(
        &mut self,
        session: &mut Session,
        now: LocalTime,
        frame: Frame<'_>,
        overlays: Overlays<'_>,
    ) -> Option<(Camera, Option<Vec2>)>;
    fn handle_event(&mut self, event: &[u8]);
    /// Whether a replay is shown, which can be skipped.
    fn is_replaying(&self) -> bool;
    /// Skips the replay that is shown.
    fn skip_replay(&mut self);
    /// Shows a recording as one of its players saw it.
    fn look_through(&mut self, seen: Option<Seen>);
    /// What a spectator looks at.
    fn watched(&self) -> Watched;
    /// Takes a spectator's camera, for another view of the game.
    fn take_camera(&mut self) -> SpectatorCamera;
    fn set_camera(&mut self, camera: SpectatorCamera);
    /// Mean error of the shown positions of others in the game's unit, while markers are shown.
    fn shown_error(&self) -> Option<f32>;
    fn readings(&self, client: &dyn AnyClient, now: LocalTime) -> Readings;
    /// Words for a kind, by the name of its record.
    fn kind_words(&self, record: &'static str) -> &'static str;
    /// The game's own method for a kind, which is the best in the measured tables.
    fn best(&self, kind: u8) -> Choice;
    /// Number of sides of the game, and the player's own.
    fn sides(&self, session: &Session) -> Sides;
}

/// A kind of moving entity and its motion method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) kind: u8,
    pub(crate) name: &'static str,
    pub(crate) choice: Choice,
}

/// Kinds of moving entities, with their motion methods.
pub(crate) fn kinds(client: &dyn AnyClient) -> Vec<Kind> {
    let kinds = (0..).zip(client.kinds()).filter(|(_, kind)| is_moving(kind.fields));
    kinds
        .map(|(kind, table)| Kind { kind, name: table.name, choice: client.choice(kind) })
        .collect()
}

/// Figures of a session for the developers' panels.
#[derive(Clone, Debug)]
pub(crate) struct Readings {
    pub(crate) stats: Stats,
    pub(crate) figures: Figures,
    pub(crate) lead: Micros,
    pub(crate) margin: Micros,
    pub(crate) late_episodes: u64,
    pub(crate) delay: Micros,
    pub(crate) silence: Micros,
    pub(crate) filter: LoopFilter,
    pub(crate) phase_error: Micros,
    pub(crate) rate_ppm: f64,
    /// Rate learnt by the clock loop, in parts per million.
    pub(crate) skew_ppm: f64,
    pub(crate) locked: bool,
    pub(crate) world: Rates,
    /// Number of people and of bots.
    pub(crate) players: (usize, usize),
}

/// What is drawn besides the game, and outlasts a single one.
#[derive(Debug)]
pub(crate) struct Overlays<'a> {
    /// The running lesson.
    pub(crate) lesson: Option<&'a mut Lesson>,
    pub(crate) records: &'a mut RecordTracker,
    /// Whether deaths and highlights are shown again.
    pub(crate) replays: bool,
}

pub(crate) struct Play<V: GameView> {
    view: V,
    meter: Meter,
    began: LocalTime,
    /// Players in the last frame.
    present: BTreeSet<PlayerId>,
    /// Mean error of the shown positions of others, smoothed over a second.
    shown_error: Option<f32>,
    watch: SpectatorCamera,
    /// Length of the last frame in seconds.
    secs: f32,
    /// The picture of the past, while it is shown.
    eyes: Option<Eyes<V>>,
    highlights: Highlights,
    /// The player's last death, as a highlight.
    death: Option<Highlight>,
    /// What a player in a recording saw, if that is shown.
    seen: Option<Seen>,
}

impl<V: GameView> Play<V> {
    pub(crate) fn new(now: LocalTime) -> Self {
        Self {
            view: V::default(),
            meter: Meter::default(),
            began: now,
            present: BTreeSet::new(),
            shown_error: None,
            watch: SpectatorCamera::default(),
            secs: 0.0,
            eyes: None,
            highlights: Highlights::default(),
            death: None,
            seen: None,
        }
    }
}

impl<V: GameView> AnyPlay for Play<V> {
    fn press(&mut self, session: &mut Session, now: LocalTime, controls: &mut Controls) {
        if let Some(client) = session.client_of::<V::Game>()
            && client.watching().is_some()
        {
            let entities = client.shown();
            let there = |player: &&PlayerId| V::Game::avatar(entities, **player).is_some();
            let players: Vec<_> = client.roster().keys().filter(there).copied().collect();
            self.watch.advance(controls, &players, self.secs);
            controls.ticked();
            // Packets have only acknowledgements.
            session.press_frame::<V::Game>(now, |_| Default::default());
            return;
        }
        if let Some(request) = self.view.poll_request(controls) {
            // If the server refuses it as too frequent, the player is told.
            let _ = session.request_bytes(request);
        }
        if session.press_frame::<V::Game>(now, |_| self.view.input(controls)) {
            controls.ticked();
        }
    }

    fn handle_event(&mut self, event: &[u8]) {
        self.view.handle_event(event);
    }

    fn is_replaying(&self) -> bool {
        self.highlights.is_shown()
    }

    fn skip_replay(&mut self) {
        self.highlights.skip();
    }

    fn look_through(&mut self, seen: Option<Seen>) {
        self.seen = seen;
    }

    fn draw(
        &mut self,
        session: &mut Session,
        now: LocalTime,
        frame: Frame<'_>,
        overlays: Overlays<'_>,
    ) -> Option<(Camera, Option<Vec2>)> {
        self.secs = frame.secs;
        let mut picture = session.picture::<V::Game>(now)?;
        let client = session.client_of_mut::<V::Game>()?;
        if V::EXPLAINS || V::Game::KIT.highlight.is_some() {
            client.remember();
        }
        let traces = if frame.marks { client.traces() } else { Vec::new() };
        self.meter.observe(now, client.stats());
        let watched = client.watching().map(|_| self.watch.watched());
        let mut player = client.player();
        if let Some(watched) = watched {
            // The picture is that of the followed player.
            let followed = watched.target.filter(|_| watched.free.is_none());
            player = followed.unwrap_or(PlayerId::NOBODY);
            picture.own = followed.and_then(|it| V::Game::avatar(&picture.entities, it));
        }
        let frame = Frame { active: frame.active && watched.is_none(), ..frame };
        let scene = Scene {
            picture: &picture,
            game: client.game(),
            rates: client.rates(),
            player,
            roster: client.roster(),
            presence: client.common().presence(),
            house: client.common().house(),
            round_trip_ms: self.meter.figures().round_trip_ms,
            age_secs: (now - self.began).as_secs() as f32,
            watched,
            ghost: client.ghost().filter(|_| watched.is_none()),
            frame,
        };
        let roster = scene.roster;
        let Overlays { lesson, records, replays } = overlays;
        if let Some(camera) = self.draw_eyes(client, &scene, replays) {
            notice_comings(&mut self.present, roster, frame);
            return Some((camera, client.game().wraps()));
        }
        let camera = self.view.draw(&scene);
        if let Some(lesson) = lesson.filter(|_| watched.is_none()) {
            lesson.teach(&self.view, &scene);
        }
        let takes_part = watched.is_none() && roster.contains_key(&player);
        if records.advance(self.view.part(&scene), takes_part) {
            records.reach(V::Game::NAME, &reached::<V>(&scene));
        }
        records.draw(frame.painter, frame.screen);
        notice_comings(&mut self.present, roster, frame);
        self.watch.note_camera(camera);
        if frame.marks {
            self.draw_marks(&scene, camera, &traces);
        } else {
            self.shown_error = None;
        }
        Some((camera, client.game().wraps()))
    }

    fn watched(&self) -> Watched {
        self.watch.watched()
    }

    fn take_camera(&mut self) -> SpectatorCamera {
        std::mem::take(&mut self.watch)
    }

    fn set_camera(&mut self, camera: SpectatorCamera) {
        self.watch = camera;
    }

    fn shown_error(&self) -> Option<f32> {
        self.shown_error
    }

    fn kind_words(&self, record: &'static str) -> &'static str {
        V::kind_words(record)
    }

    fn best(&self, kind: u8) -> Choice {
        (V::Game::KIT.presentation)(KindOf::new(kind))
    }

    fn sides(&self, session: &Session) -> Sides {
        let sides = V::Game::KIT.sides;
        let client = session.client_of::<V::Game>().filter(|_| sides.count > 0);
        let place = client.and_then(|client| (sides.of)(&client.newest(), client.player()));
        (sides.count, place.map(|place| place.side))
    }

    fn readings(&self, client: &dyn AnyClient, now: LocalTime) -> Readings {
        let common = client.common();
        let (pll, lead, roster) = (common.pll(), common.lead(), common.roster());
        let bots = roster.values().filter(|seat| seat.bot).count();
        Readings {
            stats: common.stats().clone(),
            figures: self.meter.figures(),
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
            players: (roster.len() - bots, bots),
        }
    }
}

/// The player's values, as the game measures them.
fn reached<V: GameView>(scene: &Scene<'_, V::Game>) -> Vec<Reached> {
    let measured = V::Game::KIT.measures.iter().map(|it| {
        let value = (it.of)(&scene.picture.entities, scene.player)?;
        let words = V::measure_words(it.name);
        Some(Reached { name: it.name, words, best: it.best, unit: it.unit, value })
    });
    measured.flatten().collect()
}

/// Plays a sound when a player joins or leaves.
fn notice_comings(
    present: &mut BTreeSet<PlayerId>,
    roster: &BTreeMap<PlayerId, Seat>,
    frame: Frame<'_>,
) {
    // The first roster is not news.
    if !present.is_empty() {
        if roster.keys().any(|player| !present.contains(player)) {
            frame.cues.play(&common::JOINED);
        }
        if present.iter().any(|player| !roster.contains_key(player)) {
            frame.cues.play(&common::LEFT);
        }
    }
    if !present.iter().eq(roster.keys()) {
        *present = roster.keys().copied().collect();
    }
}

impl<V: GameView> Play<V> {
    /// Draws the past in place of the scene, if it is shown. Returns the camera.
    fn draw_eyes(
        &mut self,
        client: &Client<V::Game>,
        scene: &Scene<'_, V::Game>,
        replays: bool,
    ) -> Option<Camera> {
        let Some(shown) = self.past(client, scene, replays) else {
            self.eyes = None;
            return None;
        };
        let before = self.eyes.take().filter(|eyes| eyes.is_of(&shown.0));
        let eyes = self.eyes.insert(before.unwrap_or_else(|| Eyes::new(client, &shown.0)));
        Some(eyes.draw(client, scene, shown))
    }

    /// What is shown in place of the present, and its time.
    fn past(
        &mut self,
        client: &Client<V::Game>,
        scene: &Scene<'_, V::Game>,
        replays: bool,
    ) -> Option<(Past, ServerTime)> {
        let (picture, is_watching) = (scene.picture, scene.watched.is_some());
        if let Some(seen) = self.seen.filter(|_| is_watching) {
            return Some((Past::Seen(seen), picture.presentation_time));
        }
        if !replays {
            self.highlights.skip();
            return None;
        }
        let ruling = self.view.death(scene).filter(|_| !is_watching);
        let now = picture.viewer_time(is_watching);
        let death = ruling.map(|ruling| self.death_of(&ruling, (scene.rates, now)));
        let (shown, time) = self.highlights.poll(client, picture, (scene.player, death))?;
        Some((ruling.map_or(Past::Highlight(shown), Past::Death), time))
    }

    /// A death as a highlight, from the moment on at which the player learns of it. The view knows
    /// when the player is back.
    fn death_of(&mut self, ruling: &Ruling, (rates, now): (Rates, ServerTime)) -> Highlight {
        let (viewer, tick) = (ruling.shooter, ruling.tick);
        let starts = rates.tick_at(now);
        let ends = starts.plus(60 * u64::from(rates.tick_hz));
        let death = Highlight { viewer, tick, excerpt: DEATH, starts, ends };
        let known = self.death.filter(|known| (known.viewer, known.tick) == (viewer, tick));
        *self.death.insert(known.unwrap_or(death))
    }

    /// Marks positions from snapshots and from other methods.
    fn draw_marks(
        &mut self,
        scene: &Scene<'_, V::Game>,
        camera: Camera,
        traces: &[Trace<<V::Game as Game>::Entity>],
    ) {
        let (picture, game) = (scene.picture, scene.game);
        let position = |slot: &Slot<<V::Game as Game>::Entity>| game.position(&slot.entity);
        let (mut off, mut count) = (0.0, 0_u16);
        for trace in traces {
            let drawn = picture.entities.get(trace.newest.id).and_then(position);
            let (Some(newest), Some(drawn)) = (position(&trace.newest), drawn) else { continue };
            // The local player is predicted; others see it later.
            let others = picture.own != Some(trace.newest.id);
            let late = trace.late_truth.as_ref().filter(|_| others);
            let error = late.and_then(|(shown, truth)| position(shown).zip(position(truth)));
            if let Some((shown, truth)) = error {
                off += shown.distance(truth);
                count += 1;
            }
            let ghost = trace.ghost.as_ref().filter(|_| others).and_then(position);
            let on_screen = |at| camera.to_screen(at);
            let marks = EntityMarks {
                newest: on_screen(newest),
                drawn: on_screen(drawn),
                ghost: ghost
                    .map(|at| Circle { middle: on_screen(at), radius: 0.45 * camera.scale }),
                error: error.map(|(shown, truth)| [on_screen(shown), on_screen(truth)]),
            };
            marks.draw(scene.painter);
        }
        if count > 0 {
            let now = off / f32::from(count);
            let before = self.shown_error.unwrap_or(now);
            self.shown_error = Some(before + (now - before) * (1.0 - (-scene.secs).exp()));
        }
    }
}

#[cfg(test)]
mod tests;
