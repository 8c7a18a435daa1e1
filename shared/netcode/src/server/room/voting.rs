//! Votes: who may call one, and what follows from it.

use super::Room;
use super::round::notice;
use crate::game::{Game, RoundPart};
use crate::identity::PublicKey;
use crate::server::control::Event;
use crate::server::output::ClientId;
use crate::server::votes::{Call, Caller, Decision};
use crate::time::{LocalTime, Micros};
use crate::wire::control::Refusal;
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::round::{Outcome, Proposal, RoundNotice};

/// Time that a vote adds to a round.
const MORE_TIME: Micros = Micros::from_ms(180_000);
/// Time from the vote for another game to its start, so that no turn is cut off.
const NEXT_IN: Micros = Micros::from_ms(5000);

impl<G: Game> Room<G> {
    pub(super) fn call_vote(
        &mut self,
        now: LocalTime,
        client: ClientId,
        motion: Proposal,
    ) -> Result<(), Refusal> {
        let target = self.check_motion(client, &motion)?;
        let people = self.people();
        let Some(member) = self.seats.players().get(client) else { return Ok(()) };
        let person = member.person();
        let caller = Caller {
            player: person.player(),
            key: person.key(),
            present: now - person.joined(),
            is_alone: people.len() == 1,
        };
        let call = Call { caller, motion: motion.clone(), target };
        self.conversation.votes_mut().call(now, call, &people)?;
        let name = person.name();
        tracing::info!(
            name: "vote_called",
            player = %caller.player,
            name,
            ?motion,
            "a vote is called"
        );
        self.send_poll(now);
        self.watch_vote(now);
        Ok(())
    }

    /// Checks whether a motion may be voted on. Returns the key of the player that it is about.
    fn check_motion(
        &self,
        client: ClientId,
        motion: &Proposal,
    ) -> Result<Option<PublicKey>, Refusal> {
        let config = self.host.config();
        if !config.settings.votes.allow(motion) || self.host.is_draining() {
            return Err(Refusal::Off);
        }
        let is_possible = match motion {
            Proposal::Game(name) => *name != G::NAME && config.settings.games.contains(name),
            Proposal::MoreTime => {
                let clock = self.simulation.round_clock();
                clock.is_some_and(|clock| clock.part == RoundPart::Play)
            }
            Proposal::Shuffle => G::KIT.sides.count >= 2,
            Proposal::Kick(player) => {
                let mut players = self.seats.players().iter();
                let found = players.find(|(_, member)| member.person().player() == *player);
                let target =
                    found.filter(|(at, member)| *at != client && !member.person().is_staff());
                let (_, member) = target.ok_or(Refusal::Protected)?;
                return Ok(Some(member.person().key()));
            }
        };
        if is_possible { Ok(None) } else { Err(Refusal::Off) }
    }

    pub(super) fn send_poll(&mut self, now: LocalTime) {
        if let Some(poll) = self.conversation.votes().poll(now, &self.people()) {
            self.send_to_players(&notice(RoundNotice::Poll(poll)));
        }
    }

    /// Ends the vote if it is decided, and starts the chosen game.
    pub(super) fn watch_vote(&mut self, now: LocalTime) {
        // Builds no lists without a vote, since this runs in each tick.
        if self.conversation.votes().is_running() {
            let people = self.people();
            if let Some(ended) = self.conversation.votes_mut().decide(now, &people) {
                self.close_vote(now, ended);
            }
        }
        if let Some(game) = self.conversation.votes_mut().poll_chosen(now) {
            self.host.push_event(Event::Chosen { game });
        }
    }

    pub(super) fn close_vote(&mut self, now: LocalTime, decision: Decision) {
        let Decision { motion, target, mut outcome } = decision;
        if outcome == Outcome::Passed && !self.do_as_voted(now, &motion, target) {
            outcome = Outcome::Moot;
        }
        tracing::info!(name: "vote_over", ?motion, ?outcome, "a vote is over");
        self.send_to_players(&notice(RoundNotice::Voted { motion, outcome }));
        if self.conversation.votes().chosen().is_some() {
            self.send_house();
        }
    }

    /// Ends the vote, together with the game in which it was called.
    pub(super) fn drop_vote(&mut self) {
        if let Some(motion) = self.conversation.votes_mut().drop() {
            self.send_to_players(&notice(RoundNotice::Voted { motion, outcome: Outcome::Moot }));
        }
    }

    /// Carries out a motion. Returns `false` if there is nothing left to do.
    fn do_as_voted(
        &mut self,
        now: LocalTime,
        motion: &Proposal,
        target: Option<PublicKey>,
    ) -> bool {
        match motion {
            Proposal::Game(name) => {
                self.conversation.votes_mut().choose(name.clone(), now + NEXT_IN);
            }
            Proposal::Kick(_) => {
                let Some(key) = target else { return false };
                let span = self.conversation.votes_mut().put_out(now, key).in_words();
                let text = format!("the players voted you out; you may come back in {span}");
                // A player who left before the decision stays out as well.
                let found = self.seats.everybody().filter(|(_, it)| it.person().key() == key);
                for client in found.map(|(client, _)| client).collect::<Vec<_>>() {
                    self.close(client, Disconnect::new(Code::Kicked, text.clone()));
                }
            }
            Proposal::MoreTime => {
                let clock = self.simulation.round_clock();
                let Some(clock) = clock.filter(|it| it.part == RoundPart::Play) else {
                    return false;
                };
                self.simulation.set_ticks_left(clock.ticks_left + self.ticks(MORE_TIME));
            }
            Proposal::Shuffle => self.shuffle_sides(),
        }
        true
    }
}
