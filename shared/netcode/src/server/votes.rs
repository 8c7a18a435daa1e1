//! Votes of players: one at a time, among those who are present.
//!
//! The room decides who may vote and carries out the result; this module only counts.

use std::collections::BTreeMap;

use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::time::{LocalTime, Micros};
use crate::wire::control::Refusal;
use crate::wire::round::{Ballot, Outcome, Poll, Proposal};

/// Duration of a vote: time to notice, read and think. Arbitrary.
const VOTE_TIME: Micros = Micros::from_ms(30_000);
/// How long a player must have been present before calling a vote, unless the player is alone.
/// Arbitrary.
const PRESENT_MIN: Micros = Micros::from_ms(20_000);
/// Time until a player whose vote failed may call another. Arbitrary.
const COOLDOWN: Micros = Micros::from_ms(120_000);
/// How long a player who was voted out stays out. Arbitrary: about a game.
const OUT: Micros = Micros::from_ms(600_000);
/// Maximum number of keys remembered for either; beyond that the first to expire are dropped.
/// Arbitrary.
const KEYS_MAX: usize = 256;
/// Number of players needed to vote one out: two in favour, besides the target.
const KICKERS_MIN: usize = 2;

/// A request for a vote.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) caller: Caller,
    pub(super) motion: Proposal,
    /// Key of the player that it is about.
    pub(super) target: Option<PublicKey>,
}

/// A player who calls a vote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) player: PlayerId,
    pub(super) key: PublicKey,
    /// Time since the player joined.
    pub(super) present: Micros,
    /// Whether no other player is present.
    pub(super) is_alone: bool,
}

/// The current vote.
#[derive(Clone, Debug)]
struct Running {
    by: PlayerId,
    key: PublicKey,
    motion: Proposal,
    /// Key of the player that it is about.
    target: Option<PublicKey>,
    ends: LocalTime,
    ballots: BTreeMap<PlayerId, bool>,
}

/// A finished vote.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(super) motion: Proposal,
    /// Key of the player that it is about.
    pub(super) target: Option<PublicKey>,
    pub(super) outcome: Outcome,
}

/// Votes of a room.
#[derive(Debug, Default)]
pub(super) struct Votes {
    running: Option<Running>,
    /// The chosen game, and when it begins.
    chosen: Option<(String, LocalTime)>,
    /// When players whose votes failed may call another.
    waits: BTreeMap<PublicKey, LocalTime>,
    /// When players who were voted out may return.
    out: BTreeMap<PublicKey, LocalTime>,
}

/// Keeps a key until a time, within the limit.
fn keep(keys: &mut BTreeMap<PublicKey, LocalTime>, key: PublicKey, until: LocalTime) {
    keys.insert(key, until);
    while keys.len() > KEYS_MAX {
        let first = keys.iter().min_by_key(|(_, until)| **until).map(|(key, _)| *key);
        let Some(first) = first else { return };
        keys.remove(&first);
    }
}

impl Running {
    /// Whether this player may vote: all but the target.
    fn asks(&self, player: PlayerId) -> bool {
        self.motion != Proposal::Kick(player)
    }
}

impl Votes {
    /// Starts a vote, with the caller's ballot in favour. `people` are those who are present.
    pub(super) fn call(
        &mut self,
        now: LocalTime,
        call: Call,
        people: &[PlayerId],
    ) -> Result<(), Refusal> {
        let Call { caller, motion, target } = call;
        if self.running.is_some() || self.chosen.is_some() {
            return Err(Refusal::Busy);
        }
        self.waits.retain(|_, until| now < *until);
        let is_new = caller.present < PRESENT_MIN && !caller.is_alone;
        if is_new || self.waits.contains_key(&caller.key) {
            return Err(Refusal::Soon);
        }
        let ballots = BTreeMap::from([(caller.player, true)]);
        let (by, key, ends) = (caller.player, caller.key, now + VOTE_TIME);
        let running = Running { by, key, motion, target, ends, ballots };
        let voters = people.iter().filter(|player| running.asks(**player)).count();
        if target.is_some() && voters < KICKERS_MIN {
            return Err(Refusal::Protected);
        }
        self.running = Some(running);
        Ok(())
    }

    /// Counts a ballot. Returns `false` if it does not count.
    pub(super) fn vote(&mut self, player: PlayerId, ballot: Ballot) -> bool {
        let Some(running) = self.running.as_mut().filter(|it| it.asks(player)) else {
            return false;
        };
        running.ballots.insert(player, ballot == Ballot::Yes);
        true
    }

    /// Returns the state of the vote among those who are present.
    pub(super) fn poll(&self, now: LocalTime, people: &[PlayerId]) -> Option<Poll> {
        let running = self.running.as_ref()?;
        let voters = people.iter().filter(|player| running.asks(**player));
        let given: Vec<_> = voters.clone().filter_map(|it| running.ballots.get(it)).collect();
        let yes = given.iter().filter(|yes| ***yes).count();
        let count = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        Some(Poll {
            by: running.by,
            motion: running.motion.clone(),
            yes: count(yes),
            no: count(given.len() - yes),
            voters: count(voters.count()),
            left_ms: u32::try_from((running.ends - now).0 / 1000).unwrap_or(0),
        })
    }

    /// Ends the vote if it is decided: at once if more than half of all are in favour or at least
    /// half are against, or when the time is up. It then passes if at least half of all have voted
    /// and most of them are in favour.
    pub(super) fn decide(&mut self, now: LocalTime, people: &[PlayerId]) -> Option<Decision> {
        let Poll { yes, no, voters, .. } = self.poll(now, people)?;
        let ends = self.running.as_ref()?.ends;
        let outcome = if yes * 2 > voters {
            Outcome::Passed
        } else if no * 2 >= voters {
            Outcome::Failed
        } else if now < ends {
            return None;
        } else if yes > no && (yes + no) * 2 >= voters {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        self.end(now, outcome)
    }

    /// Ends the vote.
    pub(super) fn end(&mut self, now: LocalTime, outcome: Outcome) -> Option<Decision> {
        let Running { key, motion, target, .. } = self.running.take()?;
        if matches!(outcome, Outcome::Failed | Outcome::Vetoed) {
            keep(&mut self.waits, key, now + COOLDOWN);
        }
        Some(Decision { motion, target, outcome })
    }

    /// Drops the vote and the chosen game because another game begins. Returns the vote's motion.
    pub(super) fn drop(&mut self) -> Option<Proposal> {
        self.chosen = None;
        self.running.take().map(|running| running.motion)
    }

    /// Whether a vote is running.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Schedules the start of the chosen game.
    pub(super) fn choose(&mut self, game: String, at: LocalTime) {
        self.chosen = Some((game, at));
    }

    /// Returns the chosen game.
    pub(super) fn chosen(&self) -> Option<&str> {
        self.chosen.as_ref().map(|(game, _)| game.as_str())
    }

    /// Returns the chosen game if it begins now.
    pub(super) fn poll_chosen(&mut self, now: LocalTime) -> Option<String> {
        self.chosen.take_if(|(_, at)| now >= *at).map(|(game, _)| game)
    }

    /// Keeps a player out for a while. Returns for how long.
    pub(super) fn put_out(&mut self, now: LocalTime, key: PublicKey) -> Micros {
        keep(&mut self.out, key, now + OUT);
        OUT
    }

    /// Returns for how long a player who was voted out must still stay out.
    pub(super) fn is_out(&mut self, now: LocalTime, key: PublicKey) -> Option<Micros> {
        self.out.retain(|_, until| now < *until);
        self.out.get(&key).map(|until| *until - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> LocalTime {
        LocalTime(0) + Micros::from_ms(1000 * secs)
    }

    fn caller(number: u16) -> Caller {
        let key = PublicKey([number as u8; 32]);
        let present = Micros::from_ms(60_000);
        Caller { player: PlayerId(number), key, present, is_alone: false }
    }

    fn call(caller: Caller, motion: Proposal) -> Call {
        Call { caller, motion, target: None }
    }

    fn people(count: u16) -> Vec<PlayerId> {
        (0..count).map(PlayerId).collect()
    }

    fn outcome(decided: Option<Decision>) -> Option<Outcome> {
        decided.map(|decision| decision.outcome)
    }

    #[test]
    fn more_than_half_pass_it_at_once_and_half_fail_it() {
        for (ballot, expected) in [(Ballot::Yes, Outcome::Passed), (Ballot::No, Outcome::Failed)] {
            let (mut votes, people) = (Votes::default(), people(5));
            votes.call(at(0), call(caller(0), Proposal::MoreTime), &people).unwrap();
            assert_eq!(outcome(votes.decide(at(1), &people)), None);
            for voter in 1..if ballot == Ballot::Yes { 3 } else { 4 } {
                assert!(votes.vote(PlayerId(voter), ballot));
            }
            assert_eq!(outcome(votes.decide(at(1), &people)), Some(expected));
            // A player whose vote failed must wait; one whose vote succeeded need not.
            let again = votes.call(at(2), call(caller(0), Proposal::MoreTime), &people);
            assert_eq!(again.is_err(), expected == Outcome::Failed);
        }
    }

    #[test]
    fn when_the_time_is_up_it_takes_half_of_all_to_pass() {
        for (voters, expected) in [(4, Outcome::Passed), (9, Outcome::Failed)] {
            let (mut votes, people) = (Votes::default(), people(voters));
            votes.call(at(0), call(caller(0), Proposal::Shuffle), &people).unwrap();
            votes.vote(PlayerId(1), Ballot::Yes);
            assert_eq!(outcome(votes.decide(at(29), &people)), None);
            assert_eq!(outcome(votes.decide(at(31), &people)), Some(expected));
        }
    }

    #[test]
    fn voices_of_those_who_leave_do_not_count() {
        let mut votes = Votes::default();
        votes.call(at(0), call(caller(0), Proposal::Shuffle), &people(6)).unwrap();
        assert!((1..3).all(|it| votes.vote(PlayerId(it), Ballot::Yes)));
        assert_eq!(outcome(votes.decide(at(1), &people(6))), None);
        // None of the remaining three has voted, so nothing is decided.
        let left = [3, 4, 5].map(PlayerId);
        assert_eq!(votes.poll(at(2), &left).map(|poll| (poll.yes, poll.voters)), Some((0, 3)));
        assert_eq!(outcome(votes.decide(at(2), &left)), None);
        assert_eq!(outcome(votes.decide(at(2), &[])), Some(Outcome::Failed));
    }

    #[test]
    fn a_kick_takes_two_and_its_target_has_no_voice() {
        let target = Some(PublicKey([7; 32]));
        let mut votes = Votes::default();
        let kick = Call { target, ..call(caller(0), Proposal::Kick(PlayerId(1))) };
        let refused = votes.call(at(0), kick.clone(), &people(2));
        assert_eq!(refused, Err(Refusal::Protected));
        votes.call(at(0), kick, &people(3)).unwrap();
        assert!(!votes.vote(PlayerId(1), Ballot::No));
        assert_eq!(outcome(votes.decide(at(1), &people(3))), None);
        assert!(votes.vote(PlayerId(2), Ballot::Yes));
        assert_eq!(outcome(votes.decide(at(1), &people(3))), Some(Outcome::Passed));
    }

    #[test]
    fn newcomers_wait_and_one_vote_runs_at_a_time() {
        let (mut votes, people) = (Votes::default(), people(3));
        let new = Caller { present: Micros::from_ms(100), ..caller(0) };
        let call = |votes: &mut Votes, caller| {
            votes.call(at(0), call(caller, Proposal::MoreTime), &people)
        };
        assert_eq!(call(&mut votes, new), Err(Refusal::Soon));
        assert_eq!(call(&mut votes, Caller { is_alone: true, ..new }), Ok(()));
        assert_eq!(call(&mut votes, caller(1)), Err(Refusal::Busy));
    }

    #[test]
    fn keys_are_forgotten_in_time_and_bounded() {
        let mut votes = Votes::default();
        for number in 0..1000_u32 {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&number.to_le_bytes());
            votes.put_out(at(i64::from(number)), PublicKey(key));
        }
        assert_eq!(votes.out.len(), KEYS_MAX);
        assert_eq!(votes.is_out(at(100_000), PublicKey([0; 32])), None);
        assert!(votes.out.is_empty());
    }
}
