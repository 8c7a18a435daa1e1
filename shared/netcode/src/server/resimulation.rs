//! Runs a recorded game again from its inputs, and compares every tick with the recording.

use std::fmt;

use super::config::{RoomConfig, RoomSettings};
use super::simulation::{Hidden, Simulation};
use super::transfer::TransferredKind;
use crate::fields::{Entities, Entity, Record, Slot};
use crate::game::{Game, Inputs, Profile, Step, Timed, World};
use crate::identity::PublicKey;
use crate::ids::EntityId;
use crate::motion::interpolate::TickTime;
use crate::replay::{
    Act, Chunk, Damage, Entry, Frame, Header, Player, PlayerSteps, RecordedStep, Replay,
    ReplayError, Tables, checksum, states_of,
};
use crate::rewind::{Rewound, ViewTime};
use crate::snapshot::EntityState;
use crate::time::{Rates, Tick};
use crate::wire::protocol::game_hash;

/// Why a recording cannot be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Another build made it.
    #[error(
        "the recording is of {game} with rules {rules:016x}, and this version has rules \
         {own:016x}; use version {version} of the server"
    )]
    OtherRules {
        /// Name of the game.
        game: String,
        /// Hash of the recording's rules.
        rules: u64,
        /// Hash of this build's rules.
        own: u64,
        /// The version that made the recording.
        version: String,
    },
    /// A client made it.
    #[error(
        "a player's client made this recording, so it has no inputs to verify; verify the server's \
         recording instead"
    )]
    OwnView,
    /// What could be run again is damaged.
    #[error("nothing of the recording can be run again; {0}")]
    Damaged(Damage),
    /// The states against which shots are tested are missing.
    #[error("the recording has no chunk from which it can be run again")]
    NoStart,
}

/// The first difference between a recording and its re-simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The first tick that differs.
    pub tick: Tick,
    /// The tick at which the states were compared: the next one with stored states.
    pub stored: Tick,
    /// What differs.
    pub what: Differing,
}

/// What differs between a recording and its re-simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum Differing {
    /// A field of an entity.
    Field {
        /// Index of the entity.
        entity: u16,
        /// Name of its kind.
        kind: String,
        /// Name of the field.
        field: String,
        /// The recorded value.
        recorded: f64,
        /// The value of the re-simulation.
        simulated: f64,
    },
    /// An entity exists only on one side, or has another owner, kind or generation.
    Entity {
        /// Index of the entity.
        entity: u16,
        /// The recorded kind, if it exists.
        recorded: Option<String>,
        /// The kind in the re-simulation, if it exists.
        simulated: Option<String>,
    },
    /// All entities are equal, but not what only the server knows.
    Hidden,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}: ", self.tick.0)?;
        let kind = |kind: &Option<String>| kind.clone().unwrap_or_else(|| "nothing".to_owned());
        match &self.what {
            Differing::Field { entity, kind, field, recorded, simulated } => write!(
                f,
                "{kind} {entity}: {field} is {recorded} in the recording and {simulated} in the \
                 re-simulation"
            )?,
            Differing::Entity { entity, recorded, simulated } => write!(
                f,
                "entity {entity} is {} in the recording and {} in the re-simulation",
                kind(recorded),
                kind(simulated),
            )?,
            Differing::Hidden => f.write_str(
                "all entities are equal, but the random numbers or the game's memory differ",
            )?,
        }
        match self.stored == self.tick {
            true => Ok(()),
            false => write!(f, " (compared at tick {}, whose states are stored)", self.stored.0),
        }
    }
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Number of ticks that were run again.
    pub ticks: u64,
    /// Number of ticks that could not be run again, because they or something before them is
    /// damaged or missing.
    pub skipped: u64,
    /// The first damaged part, if there is one.
    pub damage: Option<Damage>,
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
}

/// Runs a recording again and compares every tick, up to the first difference. Continues behind
/// damaged parts where it can.
///
/// # Errors
///
/// Nothing of the recording can be run, or it is not of this build's rules.
pub fn verify<G: Game>(replay: &Replay) -> Result<Verdict, VerifyError> {
    check_rules::<G>(replay.header())?;
    let damage = replay.damage().first().cloned();
    let mut verdict = Verdict { ticks: 0, skipped: 0, damage, difference: None };
    let mut world: Option<Resimulation<G>> = None;
    let mut next: Option<Tick> = None;
    for (number, entry) in replay.chunks().iter().enumerate() {
        let first = Tick(entry.first);
        let last = first.plus(entry.ticks.into());
        verdict.skipped += next.map_or(0, |next| first.since(next));
        next = Some(last);
        let running = world.take().filter(|world| world.tick() == first);
        let chunk = match replay.chunk(number) {
            Ok(chunk) => chunk,
            Err(error) => {
                verdict.skipped += u64::from(entry.ticks);
                verdict.damage = verdict.damage.or_else(|| replay.damage_of(number, error));
                continue;
            }
        };
        let mut running = match running {
            Some(running) => running,
            None if chunk.past.is_some() => Resimulation::new(replay.header(), &chunk)?,
            None => {
                verdict.skipped += chunk.ticks.len() as u64;
                continue;
            }
        };
        if let Some(difference) = running.compare(&chunk) {
            verdict.ticks += difference.tick.since(chunk.first);
            verdict.difference = Some(difference);
            return Ok(verdict);
        }
        verdict.ticks += chunk.ticks.len() as u64;
        world = Some(running);
    }
    match verdict {
        Verdict { ticks: 0, damage: Some(damage), .. } => Err(VerifyError::Damaged(damage)),
        Verdict { ticks: 0, .. } => Err(VerifyError::NoStart),
        verdict => Ok(verdict),
    }
}

/// A recorded world that runs again.
#[derive(Debug)]
pub struct Resimulation<G: Game> {
    simulation: Simulation<G>,
    rates: Rates,
}

impl<G: Game> Resimulation<G> {
    /// Creates the world at the key frame of a chunk. If the chunk does not hold the
    /// [past](Chunk::past), shots at the moments before it hit other targets than they did.
    ///
    /// # Errors
    ///
    /// The recording is of other rules, or its key frame is invalid.
    pub fn new(header: &Header, chunk: &Chunk) -> Result<Self, VerifyError> {
        Ok(Self { simulation: simulation_at(header, chunk)?, rates: header.rates })
    }

    /// Returns the world's tick.
    pub fn tick(&self) -> Tick {
        self.simulation.tick()
    }

    /// Returns the world.
    pub fn world(&self) -> &World<G> {
        self.simulation.world()
    }

    /// Has the rules explain every shot from now on, for [`poll_rewound`](Self::poll_rewound).
    pub fn explain_shots(&mut self) {
        self.simulation.explain_shots();
    }

    /// Takes the next shot that was tested against the past in the ticks that ran.
    pub fn poll_rewound(&mut self) -> Option<Rewound> {
        self.simulation.poll_rewound()
    }

    /// Runs the next tick of a chunk. Returns `false` at its end.
    pub fn step(&mut self, chunk: &Chunk) -> bool {
        run_again(&mut self.simulation, self.rates, chunk)
    }

    /// Runs a chunk from its key frame to its end. Returns the first difference.
    pub fn compare(&mut self, chunk: &Chunk) -> Option<Difference> {
        let mut frames = chunk.frames.iter().peekable();
        let mut first = None;
        if self.simulation.world().generations != chunk.key.generations {
            first = Some(chunk.first);
        }
        let memory = postcard::to_stdvec(&self.world().memory).ok();
        if memory.as_ref() != Some(&chunk.key.memory) {
            first = Some(chunk.first);
        }
        loop {
            let tick = self.tick();
            if let Some(frame) = frames.next_if(|frame| frame.tick == tick) {
                let states = states_of(self.simulation.entities());
                let differing = differing::<G>(&frame.states, &states);
                let differing = differing.or_else(|| first.map(|_| Differing::Hidden));
                if let Some(what) = differing {
                    let stored = tick;
                    return Some(Difference { tick: first.unwrap_or(tick), stored, what });
                }
            }
            if !self.step(chunk) {
                break;
            }
            let at = usize::try_from(tick.since(chunk.first)).unwrap_or(usize::MAX);
            let recorded = chunk.ticks.get(at).map(|record| record.checksum);
            if first.is_none() && recorded != Some(checksum(self.world())) {
                first = Some(self.tick());
            }
        }
        let what = Differing::Hidden;
        first.map(|tick| Difference { tick, stored: tick, what })
    }
}

/// Checks that this build can run a recording again.
pub(super) fn check_rules<G: Game>(header: &Header) -> Result<(), VerifyError> {
    if header.viewer.is_some() {
        return Err(VerifyError::OwnView);
    }
    let own = game_hash::<G>();
    let is_own = header.rules_hash == own && header.tables == Tables::of::<G>();
    if header.game == G::NAME && is_own {
        return Ok(());
    }
    let (game, version) = (header.game.clone(), header.version.clone());
    Err(VerifyError::OtherRules { game, rules: header.rules_hash, own, version })
}

/// Returns a recorded world at the key frame of a chunk.
pub(super) fn simulation_at<G: Game>(
    header: &Header,
    chunk: &Chunk,
) -> Result<Simulation<G>, VerifyError> {
    const KEY: ReplayError = ReplayError::Chunk("key frame");
    check_rules::<G>(header)?;
    let key = &chunk.key;
    let settings = RoomSettings { rewind: Some(key.rewind.most), ..RoomSettings::default() };
    let config = RoomConfig {
        settings,
        rates: header.rates,
        seed: header.seed,
        map_seed: header.map_seed,
        ..RoomConfig::default()
    };
    let mut simulation = Simulation::new(&config, 0, chunk.first, &header.setup);
    let memory = postcard::from_bytes(&key.memory).map_err(|_| KEY)?;
    let states = chunk.frames.first().ok_or(KEY)?;
    let hidden =
        Hidden { generations: key.generations.clone(), random: key.random.clone(), memory };
    let slots: Vec<_> = states.states.iter().map(slot).collect();
    let has_generation = |slot: &Slot<G::Entity>| {
        key.generations.get(usize::from(slot.id.index)) == Some(&slot.id.generation)
    };
    if !slots.iter().all(has_generation) {
        return Err(KEY.into());
    }
    simulation.restore(&slots, hidden);
    simulation.set_rewind(header.rates, key.rewind.into());
    for player in &key.players {
        simulation.set_profile(player.player, profile(player));
    }
    let past = chunk.past.iter().flatten();
    simulation.refill_past(past.map(|frame| (frame.tick, entities(frame))));
    Ok(simulation)
}

/// Runs the next tick of a chunk. Returns `false` at its end.
pub(super) fn run_again<G: Game>(
    simulation: &mut Simulation<G>,
    rates: Rates,
    chunk: &Chunk,
) -> bool {
    let number = simulation.tick().since(chunk.first);
    let at = usize::try_from(number).unwrap_or(usize::MAX);
    let Some(record) = chunk.ticks.get(at) else { return false };
    for entry in chunk.entries_at(number) {
        if let Entry::Act(act) = entry {
            make_act(simulation, rates, act);
        }
    }
    let tick = record.tick;
    simulation.step(rates, |_, _, inputs| {
        record.steps.iter().for_each(|steps| give(inputs, steps, rates, tick));
    });
    // What the rules emitted is in the recording.
    while simulation.poll_event().is_some() {}
    while simulation.poll_report().is_some() {}
    true
}

/// Changes the world as something other than a step did then.
fn make_act<G: Game>(simulation: &mut Simulation<G>, rates: Rates, act: &Act) {
    match act {
        Act::Join(player) => simulation.join(player.player, profile(player)),
        Act::Resume(player) => simulation.resume(player.player, profile(player)),
        Act::Leave(player) => simulation.leave(*player),
        Act::Rename(player) => simulation.set_profile(player.player, profile(player)),
        // Refused now as it was then.
        Act::Request(player, bytes) => drop(simulation.request(*player, bytes)),
        Act::TicksLeft(ticks) => simulation.set_ticks_left(*ticks),
        Act::Put(player, side, exchange) => {
            simulation.put(*player, *side, *exchange);
        }
        Act::Draw(end) => drop(simulation.below(*end)),
        Act::Snap => simulation.snap(),
        Act::Bring(player, kinds) => {
            let kind = |(kind, fields): &(u8, Vec<u32>)| TransferredKind {
                kind: *kind,
                fields: fields.clone(),
            };
            simulation.bring(*player, &kinds.iter().map(kind).collect::<Vec<_>>());
        }
        Act::Rewind(policy) => simulation.set_rewind(rates, (*policy).into()),
    }
}

/// Returns the first difference between the states of two worlds.
fn differing<G: Game>(
    recorded: &[(u16, EntityState)],
    simulated: &[(u16, EntityState)],
) -> Option<Differing> {
    let kinds = G::Entity::kinds();
    let name = |state: &EntityState| kinds[usize::from(state.kind)].name.to_owned();
    let find = |states: &[(u16, EntityState)], index: u16| {
        let at = states.binary_search_by_key(&index, |(index, _)| *index);
        at.ok().map(|at| states[at].1)
    };
    let mut indices: Vec<_> = recorded.iter().chain(simulated).map(|(index, _)| *index).collect();
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().find_map(|entity| {
        let (then, now) = (find(recorded, entity), find(simulated, entity));
        let same = then.zip(now).filter(|(then, now)| then.same_entity(now));
        let Some((then, now)) = same else {
            let recorded = then.as_ref().map(name);
            return Some(Differing::Entity { entity, recorded, simulated: now.as_ref().map(name) });
        };
        let fields = kinds[usize::from(then.kind)].fields;
        let at = (0..fields.len()).find(|at| then.packed[*at] != now.packed[*at])?;
        Some(Differing::Field {
            entity,
            kind: name(&then),
            field: fields[at].label().into_owned(),
            recorded: fields[at].unpack(then.packed[at]),
            simulated: fields[at].unpack(now.packed[at]),
        })
    })
}

/// Returns a player's profile with a key of its own, if it had any.
fn profile(player: &Player) -> Profile {
    let mut key = [0; 32];
    key[..2].copy_from_slice(&player.player.0.to_le_bytes());
    Profile { name: player.name.clone(), key: (!player.bot).then_some(PublicKey(key)) }
}

fn slot<E: Entity>((index, state): &(u16, EntityState)) -> Slot<E> {
    let id = EntityId { index: *index, generation: state.generation };
    Slot { id, owner: state.owner, entity: E::unpack(state.kind, &state.packed) }
}

fn entities<E: Entity>(frame: &Frame) -> Entities<E> {
    let mut entities = Entities::default();
    frame.states.iter().for_each(|state| entities.insert(slot(state)));
    entities
}

/// Gives the rules a player's steps as they were given then.
fn give<I: Record>(inputs: &mut Inputs<I>, given: &PlayerSteps, rates: Rates, tick: Tick) {
    let PlayerSteps { player, origin, late, age, steps } = given;
    inputs.set_steps(*player, |to| {
        to.extend(steps.iter().map(|step| {
            let RecordedStep { age, packed, subtick, view } = *step;
            let at = tick.minus(age);
            let view = view.map(|view| ViewTime {
                at: TickTime::at(rates, rates.time_of(at) - view.accepted),
                claimed: view.claimed,
                accepted: view.accepted,
                adjusted: view.adjusted,
            });
            Step::new(age, Timed { input: I::unpack(&packed), subtick }, view)
        }));
        *age
    });
    inputs.note_arrival(*player, *origin, *late);
}
