//! What a client was sent, as a recording: the states of all entities at a steady pace, and news.
//!
//! A snapshot holds only some entities, and may be lost or late. So the recording is half a second
//! behind the newest snapshot, and a presenter finds the states in between, as for a spectator.
//!
//! *Invariant:* it holds nothing but what the server sent to this client.

use std::collections::VecDeque;

use super::common::Common;
use crate::fields::{Entity, without_age};
use crate::game::{Game, Inputs, World};
use crate::limits::{FOOTAGE_NEWS_BYTES_MAX, FOOTAGE_NEWS_MAX};
use crate::motion::choice::Choice;
use crate::motion::{Moment, Timeline};
use crate::presentation::presenter::{Presenter, StateArrival};
use crate::replay::{About, News, Pace, Person, Piece, Recorder};
use crate::snapshot::EntityState;
use crate::time::{Micros, Rates, Tick};
use crate::wire::control::ServerMessage;

/// Time from a recorded tick to the newest snapshot: enough for the next state of most entities,
/// and for packets out of order.
const BEHIND: Micros = Micros::from_ms(500);
/// A gap between snapshots after which the recording continues behind it: what happened meanwhile
/// is not known.
const GAP_MAX: Micros = Micros::from_ms(2_000);
/// No input follows from what a client knows, so more states are stored than by a room.
const PACE: Pace = Pace { states_hz: 30, chunk_secs: 10, past_every: u32::MAX };

/// Facts about the recorded game, from the server's welcome.
#[derive(Clone, Debug)]
pub struct GameOrigin {
    /// Name of the server.
    pub server: String,
    /// Configuration of the rules.
    pub setup: Vec<u8>,
}

/// Records what a client is sent.
#[derive(Debug)]
pub(super) struct Footage<G: Game> {
    origin: GameOrigin,
    rates: Rates,
    presenter: Presenter<G>,
    /// The world as far as it is known, at the last recorded tick.
    world: World<G>,
    /// Ticks of the first snapshot and of the newest one.
    since: Option<Tick>,
    newest: Tick,
    recorder: Option<Recorder<G>>,
    /// News, with the newest tick when they came.
    news: VecDeque<(Tick, News)>,
    news_bytes: usize,
    rounds: u32,
    /// The inputs of every tick: nobody's.
    inputs: Inputs<G::Input>,
}

impl<G: Game> Footage<G> {
    /// Begins to record a game.
    pub(super) fn new(rates: Rates, origin: GameOrigin) -> Self {
        let mut presenter = Presenter::new(rates);
        for kind in 0..G::Entity::kinds().len() as u8 {
            if presenter.choice(kind).timeline() == Timeline::Present {
                presenter.choose(kind, Choice::Linear);
            }
        }
        Self {
            origin,
            rates,
            presenter,
            world: World::new(0),
            since: None,
            newest: Tick(0),
            recorder: None,
            news: VecDeque::new(),
            news_bytes: 0,
            rounds: 0,
            inputs: Inputs::default(),
        }
    }

    /// Handles a state that was received, or the end of an entity.
    pub(super) fn handle(
        &mut self,
        game: &G,
        heard: StateArrival<'_>,
        state: Option<&EntityState>,
    ) {
        self.presenter.handle(game, StateArrival { early: &[], ..heard }, state);
    }

    /// Handles a state that follows from silence.
    pub(super) fn handle_unsaid(&mut self, game: &G, heard: StateArrival<'_>, state: &EntityState) {
        self.presenter.handle_unsaid(game, heard, state);
    }

    /// Handles a message that came when `newest` was the newest tick.
    pub(super) fn handle_message(&mut self, newest: Tick, message: &ServerMessage) {
        let Some(news) = News::of(message).filter(|_| self.recorder.is_some()) else { return };
        let length = length(&news);
        if self.news.len() < FOOTAGE_NEWS_MAX && self.news_bytes + length <= FOOTAGE_NEWS_BYTES_MAX
        {
            self.news_bytes += length;
            self.news.push_back((newest, news));
        }
    }

    /// Records up to half a second before the newest tick.
    pub(super) fn advance(&mut self, game: &G, common: &Common, newest: Tick) {
        self.newest = newest;
        let to = self.rates.tick_at(self.rates.time_of(newest) - BEHIND);
        let since = *self.since.get_or_insert(newest);
        let Some(recorder) = &self.recorder else {
            // Before that, nothing is known.
            if to >= since {
                self.begin(game, common, to);
            }
            return;
        };
        let every = recorder.every();
        if self.rates.time_of(to) - self.rates.time_of(self.world.tick) > GAP_MAX {
            self.tell();
            self.world.tick = to;
            self.show(game);
            self.recorder.iter_mut().for_each(|recorder| recorder.skip(&self.world));
        }
        while self.world.tick < to {
            self.tell();
            self.world.tick = self.world.tick.plus(1);
            if self.world.tick.0.is_multiple_of(every) {
                self.show(game);
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.tick(&self.world, &self.inputs, 0);
            }
        }
    }

    fn begin(&mut self, game: &G, common: &Common, at: Tick) {
        self.world.tick = at;
        self.show(game);
        self.rounds = (G::KIT.rounds_played)(&self.world);
        let GameOrigin { server, setup } = self.origin.clone();
        let about = About {
            server,
            setup,
            map_seed: common.seed(),
            // No client knows it.
            seed: 0,
            unix_micros: common.unix_micros().saturating_add(self.rates.time_of(at).0),
            people: common.roster().iter().chain(common.watchers()).map(Person::of).collect(),
            viewer: Some(common.player()),
        };
        self.recorder = Some(Recorder::new(about, self.rates, PACE, &self.world));
    }

    /// Finds the entities at the present tick.
    fn show(&mut self, game: &G) {
        let at = Moment {
            now: self.rates.time_of(self.newest).as_secs(),
            past: self.rates.time_of(self.world.tick).as_secs(),
            interval: self.rates.snapshot_interval().as_secs(),
        };
        self.presenter.show(game, at, 0.0, &mut self.world.entities);
        for slot in self.world.entities.iter_mut() {
            // A state in its player's own time has been moved back to when it was.
            let packed = without_age(slot.entity.fields(), &slot.entity.pack());
            slot.entity = G::Entity::unpack(slot.entity.kind(), &packed);
        }
    }

    /// Records what was told up to the present tick.
    fn tell(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        while let Some((_, news)) = self.news.pop_front_if(|(tick, _)| *tick <= self.world.tick) {
            self.news_bytes -= length(&news);
            recorder.news(news);
        }
        let rounds = (G::KIT.rounds_played)(&self.world);
        let before = std::mem::replace(&mut self.rounds, rounds);
        // Any other change means that something was not known before.
        if rounds == before.saturating_add(1) {
            recorder.news(News::Round(rounds));
        }
    }

    /// Ends the present chunk, so that all of the recording so far can be fetched.
    pub(super) fn cut(&mut self, game: &G) {
        if self.recorder.is_some() {
            self.show(game);
        }
        self.recorder.iter_mut().for_each(|recorder| recorder.cut(&self.world));
    }

    /// Takes the next piece of the recording.
    pub(super) fn poll(&mut self) -> Option<Piece> {
        self.recorder.as_mut()?.poll()
    }
}

/// Returns about how much memory news takes.
fn length(news: &News) -> usize {
    match news {
        News::Message(body) => body.len(),
        News::Joined(people) => people.len() * size_of::<Person>(),
        _ => 0,
    }
}
