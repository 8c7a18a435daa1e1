//! A tick on the rinks, the score, and the course of a round.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::entities::{Board, Command, Mallet, Piece, Puck, Score, mallet_of};
use super::motion::{self, Hand, MALLET_SPEED, SlideOutcome, TOUCH, drive, saves, slide};
use super::rink;
use super::seats::{self, RinkSeat};
use crate::records::owned_mut;
use crate::rounds::{self, Contest, Lengths, Phase, round};
use phaselock::fields::Record;
use phaselock::game::{Ahead, Entities, Excerpt, Highlight, Inputs, Known, Slot, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::{Micros, Rates, Tick};

/// Goals that win.
pub const GOALS_TO_WIN: u8 = 7;
/// Lengths of a round's parts.
pub const LENGTHS: Lengths = Lengths { warm_up: 8.0, play: 180.0, results: 8.0 };
/// Metres between the centres of neighbouring rinks, so that no player sees two.
const RINK_APART: f32 = 64.0;
/// Seconds within which the mallet could reach the puck for the client to predict it. By the time
/// of contact, the change of its presentation has faded to a fiftieth.
const SHARE_SECS: f32 = 0.35;

/// What is shown again of a goal: the last strike, and the puck in the net. After a strike at full
/// speed, the puck crosses the ice in 0.75 s.
pub(super) const GOAL: Excerpt =
    Excerpt { before: Micros::from_ms(600), after: Micros::from_ms(150), slowness: 2 };
/// When it begins, so that players see the goal itself first. It ends 0.3 s before the face-off.
const GOAL_AFTER: Micros = Micros::from_ms(500);

/// The rules of Shuffle Puck.
#[derive(Debug)]
pub struct ShufflePuck {
    pub(super) rates: Rates,
}

/// State that only the server has.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Touches of the puck since its face-off, by rink.
    pub(super) touches: Vec<Touches>,
}

impl phaselock::game::Memory<ShufflePuck, Piece> for Memory {
    /// All of it is saved.
    fn restored(&mut self, _: &ShufflePuck, _: &Entities<Piece>) {}
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Touches {
    /// The last player of the left and the last of the right.
    pub(super) last_of: [Option<PlayerId>; 2],
    /// Whether the right side touched it last.
    last: Option<bool>,
}

/// A rink in a tick: its puck, if it has one, and its mallets.
#[derive(Clone, Copy, Debug)]
struct RinkTick<'a> {
    rink: u8,
    puck: Option<EntityId>,
    mallets: &'a [OnRink],
}

/// A mallet on its rink.
#[derive(Clone, Copy, Debug)]
struct OnRink {
    id: EntityId,
    owner: Option<PlayerId>,
    hand: Hand,
    command: Command,
}

impl ShufflePuck {
    /// Returns the position in the world of a position on a rink.
    pub fn on_rink(&self, rink: u8, position: Vec2) -> Vec2 {
        Vec2::new(f32::from(rink) * RINK_APART, 0.0) + position
    }

    /// Returns the puck of a rink.
    pub fn puck_of(entities: &Entities<Piece>, rink: u8) -> Option<Slot<Puck>> {
        entities.records::<Puck>().find(|slot| slot.entity.rink == rink)
    }

    /// Returns the score of a rink.
    pub fn board_of(entities: &Entities<Piece>, rink: u8) -> Option<Board> {
        entities.records::<Board>().map(|slot| slot.entity).find(|board| board.rink == rink)
    }

    /// Returns the side that has won on a rink by [`GOALS_TO_WIN`]; `true` is the right one.
    pub fn won(board: &Board) -> Option<bool> {
        [false, true].into_iter().find(|right| board.goals(*right) >= GOALS_TO_WIN)
    }

    /// Runs one tick of the authoritative world.
    pub(super) fn advance(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        let mut pucks: Vec<_> = world
            .entities
            .records::<Puck>()
            .map(|slot| (slot.entity.rink, slot.id, slot.entity.is_held()))
            .collect();
        pucks.sort_unstable_by_key(|(rink, id, _)| (*rink, *id));
        let mut mallets: Vec<_> = world
            .entities
            .records::<Mallet>()
            .map(|slot| {
                let (id, owner, mallet) = (slot.id, slot.owner, slot.entity);
                let command = owner.map_or(mallet.command(), |owner| inputs.get(owner));
                let puck = pucks.binary_search_by_key(&mallet.rink, |(rink, ..)| *rink);
                let held = puck.is_ok_and(|at| pucks[at].2);
                let hand = drive(self.rates, &mallet, &command, held);
                (mallet.rink, OnRink { id, owner, hand, command })
            })
            .collect();
        mallets.sort_by_key(|(rink, _)| *rink);
        for here in mallets.chunk_by(|(a, _), (b, _)| a == b) {
            let rink = here[0].0;
            let on_rink: Vec<_> = here.iter().map(|(_, on)| *on).collect();
            let at = pucks.binary_search_by_key(&rink, |(rink, ..)| *rink);
            let puck = at.ok().map(|at| pucks[at].1);
            let here = RinkTick { rink, puck, mallets: &on_rink };
            let outcome = self.tick_rink(&mut world.entities, here, |_| true);
            self.count(world, here, outcome);
        }

        let players = mallets.len();
        let decided = Self::is_decided(&world.entities);
        let (tick, rates) = (world.tick, self.rates);
        match rounds::advance(
            &mut world.entities,
            tick,
            rates,
            LENGTHS,
            Contest { players, decided },
        ) {
            Some(Phase::Play) => self.begin(world),
            Some(Phase::Results) => {
                Self::end(world);
                rounds::report(world);
            }
            Some(Phase::WarmUp) | None => {}
        }
    }

    /// Runs the part of a tick that a client predicts: its player's mallet, and the puck if `ahead`
    /// covers it.
    pub(super) fn ahead(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        let Some(me) = entities.record::<Mallet>(own).copied() else { return };
        let puck = Self::puck_of(entities, me.rink);
        let held = puck.is_some_and(|slot| slot.entity.is_held());
        let hand = drive(self.rates, &me, command, held);
        let on_rink: Vec<_> = entities
            .records::<Mallet>()
            .filter(|slot| slot.entity.rink == me.rink)
            .map(|slot| OnRink {
                id: slot.id,
                owner: slot.owner,
                hand: if slot.id == own { hand } else { Hand::standing(&slot.entity) },
                command: *command,
            })
            .collect();
        let puck = puck.map(|slot| slot.id).filter(|id| ahead.covers(*id));
        let here = RinkTick { rink: me.rink, puck, mallets: &on_rink };
        self.tick_rink(entities, here, |id| id == own);
    }

    /// Runs a tick of one rink: moves its puck, and the mallets that `moves` selects.
    fn tick_rink(
        &self,
        entities: &mut Entities<Piece>,
        rink: RinkTick<'_>,
        moves: impl Fn(EntityId) -> bool,
    ) -> SlideOutcome {
        let RinkTick { puck, mallets, .. } = rink;
        let mut hands: Vec<_> = mallets.iter().map(|on| on.hand).collect();
        let outcome = match puck.and_then(|id| entities.record_mut::<Puck>(id)) {
            Some(puck) => slide(self.rates, puck, &mut hands),
            None => {
                let secs = self.rates.step_secs();
                hands.iter_mut().for_each(|hand| hand.finish(secs));
                SlideOutcome::default()
            }
        };
        for (on, hand) in mallets.iter().zip(&hands).filter(|(on, _)| moves(on.id)) {
            if let Some(mallet) = entities.record_mut::<Mallet>(on.id) {
                hand.hand_on(mallet, &on.command);
            }
        }
        outcome
    }

    /// Counts saves and goals of a tick of a rink.
    fn count(&self, world: &mut World<Self>, rink: RinkTick<'_>, outcome: SlideOutcome) {
        let RinkTick { rink, puck, mallets } = rink;
        let at = usize::from(rink);
        if world.memory.touches.len() <= at {
            world.memory.touches.resize_with(at + 1, Touches::default);
        }
        let counts = round(&world.entities).phase() == Phase::Play;
        let Some(puck) = puck.and_then(|id| world.entities.record::<Puck>(id).copied()) else {
            return;
        };
        if puck.is_held() {
            world.memory.touches[at] = Touches::default();
        }
        let even = sides_of(mallets).into_iter().all(|side| side > 0);
        let open = Self::board_of(&world.entities, rink)
            .is_some_and(|board| counts && even && Self::won(&board).is_none());
        if let Some(struck) = outcome.struck {
            let on = &mallets[struck];
            let right = on.hand.side > 0.0;
            let turned_away = saves(self.rates, on.hand.side, &puck, outcome.before);
            let touches = &mut world.memory.touches[at];
            // A shot is saved only once, however often it is touched.
            let again = touches.last.replace(right) == Some(right);
            touches.last_of[usize::from(right)] = on.owner;
            if let Some(score) = score_of(world, on.owner).filter(|_| open && turned_away && !again)
            {
                score.saves = score.saves.saturating_add(1);
            }
        }
        if outcome.goal == 0 || !open {
            return;
        }
        let by_right = outcome.goal == 1;
        // The last of the scoring side to touch it; none if no one has since the face-off.
        let scorer = world.memory.touches[at].last_of[usize::from(by_right)];
        for (_, _, board) in world.entities.records_mut::<Board>().filter(|(.., b)| b.rink == rink)
        {
            let goals = if by_right { &mut board.right } else { &mut board.left };
            *goals = (*goals + 1).min(GOALS_TO_WIN);
            board.scorer = scorer.map_or(0, |player| player.0.saturating_add(1));
        }
        if let Some(score) = score_of(world, scorer) {
            score.goals = (score.goals + 1).min(31);
        }
    }

    /// Whether all rinks with two sides are won.
    fn is_decided(entities: &Entities<Piece>) -> bool {
        let boards = entities.records::<Board>().map(|slot| slot.entity);
        let played = |board: &Board| !seats::sides(entities, board.rink).contains(&0);
        let mut played = boards.filter(played).peekable();
        played.peek().is_some() && played.all(|board| Self::won(&board).is_some())
    }

    /// Starts the play: reassigns seats, places pucks and mallets, resets scores.
    fn begin(&self, world: &mut World<Self>) {
        let now: Vec<_> = world.entities.records::<Mallet>().collect();
        let seats: Vec<_> = now.iter().map(|slot| RinkSeat::of(&slot.entity)).collect();
        for (slot, seat) in now.into_iter().zip(seats::deal(&seats)) {
            // Players stay where they are if there is no space for another rink.
            if !seats::open(self.rates, world, seat.rink) {
                continue;
            }
            if let Some(mallet) = world.entities.record_mut::<Mallet>(slot.id) {
                seats::put(mallet, seat);
            }
            if let Some(score) = score_of(world, slot.owner) {
                let RinkSeat { rink, right, .. } = seat;
                *score = Score { rink, right, wins: score.wins, ..Score::default() };
            }
        }
        seats::close_empty(world);
        for (_, _, board) in world.entities.records_mut::<Board>() {
            *board = Board { rink: board.rink, ..Board::default() };
        }
        for (_, _, puck) in world.entities.records_mut::<Puck>() {
            motion::position(self.rates, puck, if puck.placed.is_multiple_of(2) { -1 } else { 1 });
        }
        world.memory.touches.clear();
    }

    /// Ends the play and adds a win to each winner.
    fn end(world: &mut World<Self>) {
        let boards: Vec<_> = world.entities.records::<Board>().map(|slot| slot.entity).collect();
        for (_, _, score) in world.entities.records_mut::<Score>() {
            let board = boards.iter().find(|board| board.rink == score.rink);
            if board.is_some_and(|board| board.goals(score.right) > board.goals(!score.right)) {
                score.wins = score.wins.wrapping_add(1);
            }
        }
    }

    /// Implements [`Coding::extrapolate`](phaselock::game::Coding::extrapolate).
    pub(super) fn extrapolate(&self, known: Known<'_, Piece>) -> Option<Piece> {
        let Known { base, steering, ticks } = known;
        match (base, steering) {
            (Piece::Puck(base), _) => {
                let mut puck = *base;
                for _ in 0..ticks {
                    slide(self.rates, &mut puck, &mut []);
                    puck = puck.snapped();
                }
                Some(puck.into())
            }
            (Piece::Mallet(base), Piece::Mallet(now)) => {
                let mut mallet = *base;
                let (from, to) = (base.command().goal(), now.command().goal());
                for tick in 1..=ticks {
                    // A hand moves uniformly.
                    let goal = from + (to - from) * (tick as f32 / ticks as f32);
                    let command = Command::to(goal).snapped();
                    let mut hand = drive(self.rates, &mallet, &command, false);
                    hand.finish(self.rates.step_secs());
                    hand.hand_on(&mut mallet, &command);
                    mallet = mallet.snapped();
                }
                (mallet.goal_x, mallet.goal_y) = (now.goal_x, now.goal_y);
                Some(mallet.into())
            }
            (base, _) => Some(*base),
        }
    }

    /// Implements [`Kit::highlight`](phaselock::game::Kit::highlight): a goal on the player's rink,
    /// while the puck waits.
    pub(super) fn highlight(
        &self,
        entities: &Entities<Piece>,
        (now, viewer): (Tick, PlayerId),
        before: Option<Highlight>,
    ) -> Option<Highlight> {
        // The start of a round does not wait for the goals of the warm-up.
        let counts = round(entities).phase() != Phase::WarmUp;
        // Who follows nobody sees all rinks, and no goal of one of several.
        let rink = match mallet_of(entities, viewer) {
            Some(mallet) => mallet.rink,
            None if Self::puck_of(entities, 1).is_none() => 0,
            None => return None,
        };
        let puck = Self::puck_of(entities, rink).filter(|_| counts)?.entity;
        let (since, until) = motion::rest(self.rates, &puck);
        let goal = since.map(|since| GOAL.of(self.rates, viewer, now.minus(since), GOAL_AFTER));
        goal.or(before).filter(|it| until.is_some_and(|until| it.ends < now.plus(until)))
    }

    /// Whether a mallet at full speed could touch the puck soon.
    pub(super) fn might_touch(mallet: &Mallet, puck: &Puck) -> bool {
        // A puck that is out of play is known exactly.
        if !puck.is_in_play() {
            return true;
        }
        (0..=7).any(|step| {
            let secs = SHARE_SECS * step as f32 / 7.0;
            let position = puck.position() + puck.velocity() * secs;
            let reachable = rink::keep_mallet(mallet.side(), position);
            let near = reachable.distance(position) < TOUCH + 0.3;
            near && mallet.position().distance(position) < TOUCH + 0.3 + MALLET_SPEED * secs
        })
    }
}

/// Returns the number of mallets on each side.
fn sides_of(on_rink: &[OnRink]) -> [usize; 2] {
    let right = on_rink.iter().filter(|on| on.hand.side > 0.0).count();
    [on_rink.len() - right, right]
}

pub(super) fn score_of(
    world: &mut World<ShufflePuck>,
    player: Option<PlayerId>,
) -> Option<&mut Score> {
    owned_mut(&mut world.entities, player?)
}
