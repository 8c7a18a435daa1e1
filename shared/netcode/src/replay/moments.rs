//! Moments of a recording that people look for: scores, rounds, marks, chat, who joined and left.

use std::collections::{BTreeMap, VecDeque};

use super::chunk::Frame;
use super::chunk_reader::ChunkReader;
use super::entries::{Entry, News};
use super::header::Header;
use super::reader::Replay;
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

/// Finds the moments of a game's recording, some ticks at a time.
///
/// A damaged part has no moments.
#[derive(Debug)]
pub struct MomentFinder<G: Game> {
    translation: Translation,
    can_read: bool,
    values: BTreeMap<(PlayerId, usize), f64>,
    searched: Option<Searched>,
    /// Number of the next chunk.
    next: usize,
    game: std::marker::PhantomData<fn() -> G>,
}

/// The chunk that is being searched.
#[derive(Debug)]
struct Searched {
    reader: ChunkReader,
    /// The entries that are still to come, each with the tick before it.
    entries: VecDeque<(Tick, Entry)>,
    names: BTreeMap<PlayerId, String>,
}

impl<G: Game> MomentFinder<G> {
    /// Begins at the start of a recording.
    pub fn new(header: &Header) -> Self {
        Self {
            translation: Translation::new(&header.tables, G::Entity::kinds()),
            can_read: header.layout == LAYOUT,
            values: BTreeMap::new(),
            searched: None,
            next: 0,
            game: std::marker::PhantomData,
        }
    }

    /// Searches up to this number of ticks, and adds their moments, in the order of time. Returns
    /// `false` at the end of the recording.
    pub fn find(&mut self, replay: &Replay, ticks: u32, found: &mut Vec<Moment>) -> bool {
        for _ in 0..ticks {
            let read = self.searched.as_mut().and_then(|searched| searched.reader.read().ok()?);
            let Some((record, frame)) = read else { return self.open_next(replay, found) };
            self.note_news(record.tick, found);
            if let Some(frame) = frame {
                self.note_scores(&frame, false, found);
            }
        }
        true
    }

    /// Goes on with the next chunk. Returns `false` if there is none.
    fn open_next(&mut self, replay: &Replay, found: &mut Vec<Moment>) -> bool {
        self.searched = None;
        if self.next >= replay.chunks().len() {
            return false;
        }
        let opened = replay.read_chunk(self.next);
        self.next += 1;
        let Ok((reader, chunk)) = opened else { return true };
        let at = |(ticks, entry): (u32, Entry)| (chunk.first.plus(ticks.into()), entry);
        let people = chunk.key.people.into_iter().map(|person| (person.player, person.name));
        self.searched = Some(Searched {
            reader,
            entries: chunk.entries.into_iter().map(at).collect(),
            names: people.collect(),
        });
        self.note_news(chunk.first, found);
        chunk.frames.iter().for_each(|frame| self.note_scores(frame, true, found));
        true
    }

    /// Adds the moments that the news up to a tick contain.
    fn note_news(&mut self, until: Tick, found: &mut Vec<Moment>) {
        let Some(Searched { entries, names, .. }) = &mut self.searched else { return };
        while let Some((tick, entry)) = entries.pop_front_if(|(tick, _)| *tick <= until) {
            if let Entry::News(news) = entry {
                let told = told(news, names, self.can_read).into_iter();
                found.extend(told.map(|what| Moment { tick, what }));
            }
        }
    }

    /// Adds a moment for each of the players' figures that has changed.
    fn note_scores(&mut self, frame: &Frame, is_key: bool, found: &mut Vec<Moment>) {
        let Some(Searched { names, .. }) = &self.searched else { return };
        let mut entities = Entities::<G::Entity>::default();
        for (index, state) in &frame.states {
            let entity = self.translation.entity(state.kind, &state.packed);
            let id = EntityId { index: *index, generation: state.generation };
            let slot = entity.map(|entity| Slot { id, owner: state.owner, entity });
            slot.into_iter().for_each(|slot| entities.insert(slot));
        }
        for (player, name) in names {
            for (number, measure) in G::KIT.measures.iter().enumerate() {
                let key = (*player, number);
                let Some(value) = (measure.of)(&entities, *player) else {
                    self.values.remove(&key);
                    continue;
                };
                let before = self.values.insert(key, value);
                // Scores go back to 0 with a new round, which is not a moment.
                let is_first = before.is_none() && is_key;
                if before == Some(value) || value == 0.0 || is_first {
                    continue;
                }
                let (player, name) = (*player, name.clone());
                let what = Happening::Score { player, name, measure: measure.name, value };
                found.push(Moment { tick: frame.tick, what });
            }
        }
    }
}

/// Converts news to moments, and updates `names`.
fn told(news: News, names: &mut BTreeMap<PlayerId, String>, can_read: bool) -> Vec<Happening> {
    match news {
        News::Mark(text) => vec![Happening::Mark(text)],
        News::Round(played) => vec![Happening::Round(played)],
        News::Joined(people) => {
            let new = people
                .into_iter()
                .filter(|person| names.insert(person.player, person.name.clone()).is_none());
            new.map(|person| Happening::Joined(person.name)).collect()
        }
        News::Left(player) => names.remove(&player).map(Happening::Left).into_iter().collect(),
        News::Message(body) if can_read => match ServerMessage::parse(&body) {
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
