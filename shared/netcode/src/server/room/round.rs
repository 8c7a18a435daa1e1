//! Players in a round: who is ready, who is on which side, what they vote for.

use std::collections::BTreeSet;

use super::Room;
use crate::game::{Game, Place, RoundPart};
use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::limits::ROSTER_CHUNK;
use crate::server::control::Event;
use crate::server::member::allowances::Request;
use crate::server::output::ClientId;
use crate::server::votes::{Call, Caller, Decision};
use crate::time::{LocalTime, Micros};
use crate::wire::control::{Refusal, ServerMessage};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::round::{
    Ballot, House, Motion, Outcome, Presence, ReadyUp, RoundNotice, RoundRequest,
};

/// Remaining time when all are ready, and when most are.
const ALL_READY: Micros = Micros::from_ms(3000);
const MOST_READY: Micros = Micros::from_ms(10_000);
/// Longest wait for players who do not say that they are ready. Arbitrary.
const READY_WAIT_MAX: Micros = Micros::from_ms(120_000);
/// Time that a vote adds to a round.
const MORE_TIME: Micros = Micros::from_ms(180_000);
/// Time from the vote for another game to its start, so that no turn is cut off.
const NEXT_IN: Micros = Micros::from_ms(5000);

fn notice(notice: RoundNotice) -> ServerMessage {
    ServerMessage::Round(notice)
}

impl<G: Game> Room<G> {
    /// Returns the players who are present.
    fn people(&self) -> Vec<PlayerId> {
        self.seats.players().present().map(|(_, member)| member.person().player()).collect()
    }

    /// Sends a client who begins to play what the others know.
    pub(super) fn brief(&mut self, now: LocalTime, client: ClientId) {
        let house = self.house(client);
        self.host.send(client, notice(RoundNotice::House(house)));
        self.tell_all_presence(client);
        if let Some(poll) = self.conversation.votes().poll(now, &self.people()) {
            self.host.send(client, notice(RoundNotice::Poll(poll)));
        }
    }

    /// Sends a newcomer the presence of all players.
    pub(super) fn tell_all_presence(&mut self, client: ClientId) {
        let told: Vec<_> = self.conversation.assembly().told().collect();
        for some in told.chunks(ROSTER_CHUNK) {
            self.host.send(client, notice(RoundNotice::Presence(some.to_vec())));
        }
    }

    fn house(&self, client: ClientId) -> House {
        let config = self.host.config();
        let player = self.seats.players().get(client);
        House {
            games: config.settings.games.clone(),
            next: self.next_game().map(str::to_owned),
            votes: config.settings.votes,
            ready: config.settings.ready,
            is_staff: player.is_some_and(|member| member.person().is_staff()),
        }
    }

    /// Returns the next game, if it differs from this one.
    fn next_game(&self) -> Option<&str> {
        if let Some(game) = self.conversation.votes().chosen() {
            return Some(game);
        }
        let config = self.host.config();
        let rounds = config.settings.rounds?;
        let is_last = self.simulation.rounds_played().saturating_add(1) >= rounds;
        let at = config.settings.games.iter().position(|game| game == G::NAME)?;
        let next = config.settings.games.get(at + 1).or(config.settings.games.first())?;
        (is_last && next != G::NAME).then_some(next)
    }

    /// Sends the house rules to all.
    pub(super) fn tell_house(&mut self) {
        let next_game = self.next_game().map(str::to_owned);
        self.conversation.assembly_mut().set_next_game(next_game);
        let present = self.seats.players().present();
        for client in present.map(|(client, _)| client).collect::<Vec<_>>() {
            let house = self.house(client);
            self.host.send(client, notice(RoundNotice::House(house)));
        }
    }

    /// Handles a member's request about the round.
    pub(super) fn handle_round(
        &mut self,
        now: LocalTime,
        client: ClientId,
        request: RoundRequest,
    ) -> Result<(), Refusal> {
        let plays = self.seats.players().has(client);
        let Some(member) = self.seats.member_mut(client) else { return Ok(()) };
        if !member.may_ask(now, Request::Round) {
            return Err(Refusal::TooMany);
        }
        if !plays {
            // Only players take part in the round.
            return Err(Refusal::Off);
        }
        member.attendance_mut().note_activity(now);
        let (player, is_staff) = (member.person().player(), member.person().is_staff());
        match request {
            RoundRequest::Ready(is_ready) => self.set_ready(now, client, is_ready),
            RoundRequest::Side(side) => self.choose_side(player, side),
            RoundRequest::Call(motion) => self.call_vote(now, client, motion),
            RoundRequest::Vote(Ballot::Veto) if !is_staff => Err(Refusal::Off),
            RoundRequest::Vote(Ballot::Veto) => {
                let ended = self.conversation.votes_mut().end(now, Outcome::Vetoed);
                ended.map(|ended| self.close_vote(now, ended)).ok_or(Refusal::Off)
            }
            RoundRequest::Vote(ballot) => {
                if !self.conversation.votes_mut().vote(player, ballot) {
                    return Err(Refusal::Off);
                }
                self.tell_poll(now);
                self.watch_vote(now);
                Ok(())
            }
        }
    }

    fn set_ready(
        &mut self,
        now: LocalTime,
        client: ClientId,
        is_ready: bool,
    ) -> Result<(), Refusal> {
        let part = self.simulation.round_clock().map(|clock| clock.part);
        if self.host.settings().ready == ReadyUp::Off || part.is_none() {
            return Err(Refusal::Off);
        }
        if let Some(member) = self.seats.member_mut(client) {
            member.attendance_mut().set_ready(is_ready && part == Some(RoundPart::WarmUp));
        }
        self.tell_presence(now, false);
        Ok(())
    }

    fn choose_side(&mut self, player: PlayerId, side: u8) -> Result<(), Refusal> {
        if side >= G::KIT.sides.count {
            return Err(Refusal::Off);
        }
        let Place { group, side: own } = self.simulation.place_of(player).ok_or(Refusal::Off)?;
        if own == side {
            return Ok(());
        }
        let [(people, bots), (own_people, own_bots)] =
            [side, own].map(|side| self.on_side(Place { group, side }));
        // Only people count; bots make room.
        if people.len() + 1 > own_people.len() {
            return Err(Refusal::Uneven);
        }
        let all = people.len() + bots.len();
        let is_heavy = all + 1 > own_people.len() + own_bots.len();
        let bot = bots.last().copied();
        let simulation = &mut self.simulation;
        let mut put = |exchange| simulation.put(player, side, exchange);
        let done = (!is_heavy && put(None)) || (bot.is_some() && put(bot));
        // Without a bot, one side may have one player more than the other.
        if !(done || people.len() < own_people.len() && put(None)) {
            return Err(Refusal::Uneven);
        }
        simulation.snap();
        Ok(())
    }

    /// Returns people and bots on a side.
    fn on_side(&self, place: Place) -> (Vec<PlayerId>, Vec<PlayerId>) {
        let is_there = |player: &PlayerId| self.simulation.place_of(*player) == Some(place);
        let bots = self.seats.bots().map(|(player, _)| player);
        (self.seats.players().players().filter(is_there).collect(), bots.filter(is_there).collect())
    }

    /// Balances people between sides; bots go the other way.
    fn balance_sides(&mut self) {
        let players = self.seats.players();
        let places = players.players().filter_map(|player| self.simulation.place_of(player));
        let groups: BTreeSet<u16> = places.map(|place| place.group).collect();
        for group in groups {
            // Each move reduces the difference by two, so this ends.
            for _ in 0..self.seats.players().len() {
                let mut all: Vec<_> = (0..G::KIT.sides.count)
                    .map(|side| (side, self.on_side(Place { group, side })))
                    .collect();
                all.sort_by_key(|(_, (people, _))| people.len());
                let (Some((to, (few, bots))), Some((_, (many, _)))) = (all.first(), all.last())
                else {
                    break;
                };
                let Some(mover) = many.last().filter(|_| many.len() > few.len() + 1) else { break };
                if !self.simulation.put(*mover, *to, bots.last().copied()) {
                    break;
                }
            }
        }
        self.simulation.snap();
    }

    /// Shuffles people between sides: each changes places with a random one.
    fn shuffle_sides(&mut self) {
        let mut people = self.people();
        for at in (1..people.len()).rev() {
            let other = self.simulation.below(at as u32 + 1) as usize;
            people.swap(at, other);
        }
        for pair in people.chunks_exact(2) {
            let places = [0, 1].map(|at| self.simulation.place_of(pair[at]));
            if let [Some(a), Some(b)] = places
                && (a.group, a.side) != (b.group, b.side)
            {
                self.simulation.put(pair[0], b.side, Some(pair[1]));
            }
        }
        self.simulation.snap();
    }

    fn call_vote(
        &mut self,
        now: LocalTime,
        client: ClientId,
        motion: Motion,
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
        self.tell_poll(now);
        self.watch_vote(now);
        Ok(())
    }

    /// Checks whether a motion may be voted on. Returns the key of the player that it is about.
    fn check_motion(
        &self,
        client: ClientId,
        motion: &Motion,
    ) -> Result<Option<PublicKey>, Refusal> {
        let config = self.host.config();
        if !config.settings.votes.allow(motion) || self.host.is_draining() {
            return Err(Refusal::Off);
        }
        let is_possible = match motion {
            Motion::Game(name) => *name != G::NAME && config.settings.games.contains(name),
            Motion::MoreTime => {
                let clock = self.simulation.round_clock();
                clock.is_some_and(|clock| clock.part == RoundPart::Play)
            }
            Motion::Shuffle => G::KIT.sides.count >= 2,
            Motion::Kick(player) => {
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

    fn tell_poll(&mut self, now: LocalTime) {
        if let Some(poll) = self.conversation.votes().poll(now, &self.people()) {
            self.tell_players(&notice(RoundNotice::Poll(poll)));
        }
    }

    /// Ends the vote if it is decided, and starts the chosen game.
    fn watch_vote(&mut self, now: LocalTime) {
        // Builds no lists without a vote, since this runs in each tick.
        if self.conversation.votes().is_running() {
            let people = self.people();
            if let Some(ended) = self.conversation.votes_mut().decide(now, &people) {
                self.close_vote(now, ended);
            }
        }
        if let Some(game) = self.conversation.votes_mut().poll_chosen(now) {
            self.host.tell(Event::Chosen { game });
        }
    }

    fn close_vote(&mut self, now: LocalTime, decision: Decision) {
        let Decision { motion, target, mut outcome } = decision;
        if outcome == Outcome::Passed && !self.do_as_voted(now, &motion, target) {
            outcome = Outcome::Moot;
        }
        tracing::info!(name: "vote_over", ?motion, ?outcome, "a vote is over");
        self.tell_players(&notice(RoundNotice::Voted { motion, outcome }));
        if self.conversation.votes().chosen().is_some() {
            self.tell_house();
        }
    }

    /// Ends the vote, together with the game in which it was called.
    pub(super) fn drop_vote(&mut self) {
        if let Some(motion) = self.conversation.votes_mut().drop() {
            self.tell_players(&notice(RoundNotice::Voted { motion, outcome: Outcome::Moot }));
        }
    }

    /// Carries out a motion. Returns `false` if there is nothing left to do.
    fn do_as_voted(&mut self, now: LocalTime, motion: &Motion, target: Option<PublicKey>) -> bool {
        match motion {
            Motion::Game(name) => {
                self.conversation.votes_mut().choose(name.clone(), now + NEXT_IN);
            }
            Motion::Kick(_) => {
                let Some(key) = target else { return false };
                let span = self.conversation.votes_mut().put_out(now, key).in_words();
                let text = format!("the players voted you out; you may come back in {span}");
                // A player who left before the decision stays out as well.
                let found = self.seats.everybody().filter(|(_, it)| it.person().key() == key);
                for client in found.map(|(client, _)| client).collect::<Vec<_>>() {
                    self.close(client, Disconnect::new(Code::Kicked, text.clone()));
                }
            }
            Motion::MoreTime => {
                let clock = self.simulation.round_clock();
                let Some(clock) = clock.filter(|it| it.part == RoundPart::Play) else {
                    return false;
                };
                self.simulation.set_ticks_left(clock.ticks_left + self.ticks(MORE_TIME));
            }
            Motion::Shuffle => self.shuffle_sides(),
        }
        true
    }

    fn ticks(&self, time: Micros) -> u64 {
        let hz = i64::from(self.host.rates().tick_hz);
        u64::try_from(time.0 * hz / 1_000_000).unwrap_or(0).max(1)
    }

    /// Updates round trip times, readiness, votes and sides.
    pub(super) fn watch_people(&mut self, now: LocalTime) {
        self.watch_vote(now);
        self.watch_round(now);
        if self.conversation.assembly_mut().is_look_due(now) {
            self.tell_presence(now, true);
        }
        if self.next_game() != self.conversation.assembly().next_game() {
            self.tell_house();
        }
    }

    /// Ends a warm-up early or delays its end, and balances the sides when play begins.
    fn watch_round(&mut self, now: LocalTime) {
        let Some(clock) = self.simulation.round_clock() else { return };
        let is_new = self.conversation.assembly_mut().handle_part(clock.part);
        if clock.part == RoundPart::WarmUp {
            return self.watch_warm_up(now, clock.ticks_left);
        }
        if is_new {
            for (_, member) in self.seats.players_mut().members_mut() {
                member.attendance_mut().set_ready(false);
            }
            self.tell_presence(now, false);
            if clock.part == RoundPart::Play && G::KIT.sides.count > 1 {
                self.balance_sides();
            }
        }
    }

    /// Shortens or extends a warm-up with `ticks_left` ticks to go, depending on how many are
    /// ready.
    fn watch_warm_up(&mut self, now: LocalTime, ticks_left: u64) {
        let ready = self.host.settings().ready;
        let present = self.seats.players().present();
        let people = present.clone().count();
        if ready == ReadyUp::Off || people == 0 || ticks_left == 0 {
            return;
        }
        let are_ready = present.filter(|(_, member)| member.attendance().is_ready()).count();
        let since = self.conversation.assembly_mut().held_since(now);
        let may_hold = ready == ReadyUp::Wait && now - since < READY_WAIT_MAX;
        let left = match are_ready {
            _ if are_ready == people => ticks_left.min(self.ticks(ALL_READY)),
            _ if may_hold && are_ready * 2 > people => ticks_left.min(self.ticks(MOST_READY)),
            _ if may_hold => ticks_left.max(self.ticks(ALL_READY)),
            _ => ticks_left,
        };
        if left != ticks_left {
            self.simulation.set_ticks_left(left);
        }
    }

    /// Sends changes of players' presence to all; round trip times only every few seconds.
    fn tell_presence(&mut self, now: LocalTime, with_pings: bool) {
        let server_time = self.host.server_time(now);
        let assembly = self.conversation.assembly_mut();
        let mut news = Vec::new();
        for (_, member) in self.seats.players().iter() {
            let player = member.person().player();
            let ping_told = assembly.ping_told(player).filter(|_| !with_pings);
            let ping_ms = ping_told.unwrap_or_else(|| {
                let round_trip = member.round_trip(server_time);
                round_trip.map_or(0, |it| u16::try_from((it.0 / 1000).max(1)).unwrap_or(u16::MAX))
            });
            let attendance = member.attendance();
            let (is_ready, is_away) = (attendance.is_ready(), attendance.is_away());
            let presence = Presence { ping_ms, is_ready, is_away };
            if assembly.is_news(player, presence) {
                news.push((player, presence));
            }
        }
        for some in news.chunks(ROSTER_CHUNK) {
            self.broadcast(&notice(RoundNotice::Presence(some.to_vec())));
        }
    }
}
