//! Moments of a recording that people look for: scores, rounds, marks, chat, who joined and left.

use std::collections::BTreeMap;

use super::chunk::Chunk;
use super::entries::{Entry, News};
use super::header::Header;
use super::tables::Translation;
use crate::fields::{Entities, Entity, Slot};
use crate::game::Game;
use crate::ids::{EntityId, PlayerId};
use crate::time::Tick;
use crate::wire::control::ServerMessage;
use crate::wire::protocol::LAYOUT;

/// A moment that people look for.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The tick before the event; for a score, the first stored tick that has it.
    pub tick: Tick,
    /// What happened.
    pub what: Happening,
}

/// What happened at a [`Moment`].
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// The host marked the moment.
    Mark(String),
    /// A round ended. Holds the number of rounds played so far.
    Round(u32),
    /// Someone wrote to all, or the server did.
    Chat(String),
    /// A player's figure changed: a goal, a frag, a lap.
    Score {
        /// Id of the player.
        player: PlayerId,
        /// Name of the player.
        name: String,
        /// Name of the [figure](crate::game::Measure).
        measure: &'static str,
        /// The new value.
        value: f64,
    },
    /// Someone joined.
    Joined(String),
    /// Someone left.
    Left(String),
}

/// Finds the moments of a game's recording. Must be given all chunks in their order.
#[derive(Debug)]
pub struct MomentFinder<G: Game> {
    translation: Translation,
    can_read: bool,
    values: BTreeMap<(PlayerId, usize), f64>,
    game: std::marker::PhantomData<fn() -> G>,
}

impl<G: Game> MomentFinder<G> {
    /// Begins at the start of a recording.
    pub fn new(header: &Header) -> Self {
        Self {
            translation: Translation::new(&header.tables, G::Entity::kinds()),
            can_read: header.layout == LAYOUT,
            values: BTreeMap::new(),
            game: std::marker::PhantomData,
        }
    }

    /// Returns the moments of the next chunk, in the order of time.
    pub fn find(&mut self, chunk: &Chunk) -> Vec<Moment> {
        let people = chunk.key.people.iter().map(|person| (person.player, person.name.clone()));
        let mut names: BTreeMap<_, _> = people.collect();
        let mut found = Vec::new();
        for (ticks, entry) in &chunk.entries {
            if let Entry::News(news) = entry {
                let tick = chunk.first.plus((*ticks).into());
                let told = told(news, &mut names, self.can_read).into_iter();
                found.extend(told.map(|what| Moment { tick, what }));
            }
        }
        for frame in &chunk.frames {
            let mut entities = Entities::<G::Entity>::default();
            for (index, state) in &frame.states {
                let entity = self.translation.entity(state.kind, &state.packed);
                let id = EntityId { index: *index, generation: state.generation };
                let slot = entity.map(|entity| Slot { id, owner: state.owner, entity });
                slot.into_iter().for_each(|slot| entities.insert(slot));
            }
            for player in names.keys().copied() {
                for (number, measure) in G::KIT.measures.iter().enumerate() {
                    let key = (player, number);
                    let Some(value) = (measure.of)(&entities, player) else {
                        self.values.remove(&key);
                        continue;
                    };
                    let before = self.values.insert(key, value);
                    // Scores go back to 0 with a new round, which is not a moment.
                    let is_first = before.is_none() && chunk.frames[0].tick == frame.tick;
                    if before == Some(value) || value == 0.0 || is_first {
                        continue;
                    }
                    let name = names.get(&player).cloned().unwrap_or_default();
                    let what = Happening::Score { player, name, measure: measure.name, value };
                    found.push(Moment { tick: frame.tick, what });
                }
            }
        }
        found.sort_by_key(|moment| moment.tick);
        found
    }
}

/// Converts news to moments, and updates `names`.
fn told(news: &News, names: &mut BTreeMap<PlayerId, String>, can_read: bool) -> Vec<Happening> {
    match news {
        News::Mark(text) => vec![Happening::Mark(text.clone())],
        News::Round(played) => vec![Happening::Round(*played)],
        News::Joined(people) => {
            let new = people
                .iter()
                .filter(|person| names.insert(person.player, person.name.clone()).is_none());
            new.map(|person| Happening::Joined(person.name.clone())).collect()
        }
        News::Left(player) => names.remove(player).map(Happening::Left).into_iter().collect(),
        News::Message(body) if can_read => match ServerMessage::parse(body) {
            Ok(ServerMessage::Chat { from, text, .. }) => {
                let name = from.and_then(|from| names.get(&from));
                let line = name.map_or(text.clone(), |name| format!("{name}: {text}"));
                vec![Happening::Chat(line)]
            }
            _ => Vec::new(),
        },
        News::Message(_) | News::Report(..) => Vec::new(),
    }
}
