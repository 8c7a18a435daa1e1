//! A recording that drives a room's world in place of its players.
//!
//! If this build has the rules that made the recording, the world is run again from the inputs, so
//! every tick is right. Otherwise, and wherever the result differs from the recorded checksum, the
//! stored states are shown instead, interpolated.

use std::collections::{BTreeMap, BTreeSet};

use super::resimulation::{check_rules, run_again, simulation_at};
use super::simulation::Simulation;
use crate::fields::{Entities, Entity};
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{SEATS_MAX, WATCHERS_MAX};
use crate::motion::interpolate::TickTime;
use crate::replay::{
    Cursor, Entry, KeyState, News, Person, Replay, ReplayError, Translation, checksum,
};
use crate::server::config::RoomConfig;
use crate::time::Tick;
use crate::wire::control::ServerMessage;
use crate::wire::protocol::LAYOUT;

/// A position in a recording that moves with the world.
#[derive(Debug)]
pub(super) struct Script {
    cursor: Cursor,
    translation: Translation,
    /// Whether this build has the rules of the recording.
    has_rules: bool,
    /// Whether the world follows from the inputs at present.
    is_run: bool,
    /// Whether nothing more can be shown without a seek.
    is_over: bool,
}

impl Script {
    /// Opens a recording at a tick, or at the first or last one. Returns the world of that tick,
    /// and who was there.
    ///
    /// # Errors
    ///
    /// The recording is empty or damaged there.
    pub(super) fn open<G: Game>(
        replay: Replay,
        at: Tick,
        config: &RoomConfig,
    ) -> Result<(Self, Simulation<G>, Cast), ReplayError> {
        let header = replay.header().clone();
        let translation = Translation::new(&header.tables, G::Entity::kinds());
        let has_rules = check_rules::<G>(&header).is_ok();
        let mut cursor = Cursor::new(replay);
        let at = cursor.seek(at)?;
        let chunk = cursor.chunk().ok_or(ReplayError::Short)?;
        let (first, mut cast) = (chunk.first, Cast::of(&chunk.key, header.viewer.is_some()));
        let mut script = Self { cursor, translation, has_rules, is_run: false, is_over: false };
        script.cursor.seek(first)?;
        let mut simulation = Simulation::new(config, 0, first, &header.setup);
        script.show(&mut simulation, first);
        while simulation.tick() < at && !script.is_over {
            for news in script.step(&mut simulation) {
                cast.note(&news, header.layout == LAYOUT);
            }
        }
        Ok((script, simulation, cast))
    }

    /// Whether nothing more can be shown without a seek: the recording ends here, or the next part
    /// is missing or damaged.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the world follows from the recorded inputs, tick by tick.
    pub(super) fn is_run(&self) -> bool {
        self.is_run
    }

    /// Returns the version of the layout of recorded control messages.
    pub(super) fn layout(&self) -> u32 {
        self.cursor.replay().header().layout
    }

    /// Advances the world by a tick, if the recording has it. Returns the news before it.
    pub(super) fn step<G: Game>(&mut self, simulation: &mut Simulation<G>) -> Vec<News> {
        let tick = simulation.tick();
        let found = self.cursor.seek(tick);
        let Some(chunk) = self.cursor.chunk().filter(|_| found == Ok(tick)) else {
            self.is_over = true;
            return Vec::new();
        };
        let number = tick.since(chunk.first);
        let Some(at) = usize::try_from(number).ok().filter(|at| *at < chunk.ticks.len()) else {
            self.is_over = true;
            return Vec::new();
        };
        let news = chunk.entries_at(number).filter_map(|entry| match entry {
            Entry::News(news) => Some(news.clone()),
            Entry::Act(_) => None,
        });
        let news = news.collect();
        let recorded = chunk.ticks[at].checksum;
        let header = self.cursor.replay().header();
        if self.has_rules && !self.is_run && number == 0 {
            match simulation_at(header, chunk) {
                Ok(found) => (*simulation, self.is_run) = (found, true),
                Err(error) => tracing::debug!(%error, "the recording cannot be run from here"),
            }
        }
        if self.is_run {
            run_again(simulation, header.rates, chunk);
            // Without the past, the first shots of a chunk may hit differently.
            self.is_run = checksum(simulation.world()) == recorded;
        }
        if !self.is_run {
            self.show(simulation, tick.plus(1));
        }
        news
    }

    /// Shows the stored states at a tick of the present chunk.
    fn show<G: Game>(&self, simulation: &mut Simulation<G>, tick: Tick) {
        let at = TickTime { tick, fraction: 0.0 };
        let scene: Entities<G::Entity> = self.cursor.scene(&self.translation, at);
        simulation.show(tick, &scene);
    }
}

/// Those who are in a room at a moment of a recording. A file may name any number of people; only
/// as many as a room has are kept.
#[derive(Debug, Default)]
pub(super) struct Cast {
    pub(super) people: BTreeMap<PlayerId, Person>,
    /// Those of them who do not play.
    pub(super) watching: BTreeSet<PlayerId>,
}

impl Cast {
    /// Returns those who are there at a key frame. People that the rules do not know only watch,
    /// except in a client's own view, which has no rules: there, everyone counts as playing.
    fn of(key: &KeyState, is_own_view: bool) -> Self {
        let mut cast = Self::default();
        cast.join(&key.people);
        if is_own_view {
            return cast;
        }
        let players: BTreeSet<_> = key.players.iter().map(|player| player.player).collect();
        let watching = cast.people.keys().filter(|it| !players.contains(it)).copied().collect();
        Self { watching, ..cast }
    }

    fn join(&mut self, people: &[Person]) {
        for person in people {
            let is_full = self.people.len() >= usize::from(SEATS_MAX + WATCHERS_MAX);
            if !is_full || self.people.contains_key(&person.player) {
                self.people.insert(person.player, person.clone());
            }
        }
    }

    /// Keeps the list up to date. Whether messages can be read depends on their layout.
    fn note(&mut self, news: &News, can_read: bool) {
        match news {
            News::Joined(people) => self.join(people),
            News::Left(player) => {
                self.people.remove(player);
                self.watching.remove(player);
            }
            News::Message(body) if can_read => {
                if let Ok(ServerMessage::Watching { players, watching }) =
                    ServerMessage::parse(body)
                {
                    self.watch(&players, watching);
                }
            }
            News::Message(_) | News::Mark(_) | News::Round(_) | News::Report(..) => {}
        }
    }

    fn watch(&mut self, players: &[PlayerId], watching: bool) {
        for player in players.iter().filter(|player| self.people.contains_key(player)) {
            match watching {
                true => self.watching.insert(*player),
                false => self.watching.remove(player),
            };
        }
    }
}
