//! Players in a round: what they ask for, who is ready, and what they know of each other.

use super::Room;
use crate::game::{Game, RoundPart};
use crate::ids::PlayerId;
use crate::limits::ROSTER_CHUNK;
use crate::server::member::allowances::Request;
use crate::server::output::ClientId;
use crate::time::{LocalTime, Micros};
use crate::wire::control::{Refusal, ServerMessage};
use crate::wire::round::{Ballot, House, Outcome, Presence, ReadyUp, RoundNotice, RoundRequest};

/// Remaining time when all are ready, and when most are.
const ALL_READY: Micros = Micros::from_ms(3000);
const MOST_READY: Micros = Micros::from_ms(10_000);
/// Longest wait for players who do not say that they are ready. Arbitrary.
const READY_WAIT_MAX: Micros = Micros::from_ms(120_000);

pub(super) fn notice(notice: RoundNotice) -> ServerMessage {
    ServerMessage::Round(notice)
}

impl<G: Game> Room<G> {
    /// Returns the players who are present.
    pub(super) fn people(&self) -> Vec<PlayerId> {
        self.seats.players().present().map(|(_, member)| member.person().player()).collect()
    }

    /// Sends a client who begins to play what the others know.
    pub(super) fn brief(&mut self, now: LocalTime, client: ClientId) {
        let house = self.house(client);
        self.host.send(client, notice(RoundNotice::House(house)));
        self.send_all_presence(client);
        if let Some(poll) = self.conversation.votes().poll(now, &self.people()) {
            self.host.send(client, notice(RoundNotice::Poll(poll)));
        }
    }

    /// Sends a newcomer the presence of all players.
    pub(super) fn send_all_presence(&mut self, client: ClientId) {
        let sent: Vec<_> = self.conversation.assembly().sent().collect();
        for some in sent.chunks(ROSTER_CHUNK) {
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
    pub(super) fn send_house(&mut self) {
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
                self.send_poll(now);
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
        self.send_presence(now, false);
        Ok(())
    }

    pub(super) fn ticks(&self, time: Micros) -> u64 {
        let hz = i64::from(self.host.rates().tick_hz);
        u64::try_from(time.0 * hz / 1_000_000).unwrap_or(0).max(1)
    }

    /// Updates round trip times, readiness, votes and sides.
    pub(super) fn watch_people(&mut self, now: LocalTime) {
        self.watch_vote(now);
        self.watch_round(now);
        if self.conversation.assembly_mut().is_look_due(now) {
            self.send_presence(now, true);
        }
        if self.next_game() != self.conversation.assembly().next_game() {
            self.send_house();
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
            self.send_presence(now, false);
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
    fn send_presence(&mut self, now: LocalTime, with_pings: bool) {
        let server_time = self.host.server_time(now);
        let assembly = self.conversation.assembly_mut();
        let mut news = Vec::new();
        for (_, member) in self.seats.players().iter() {
            let player = member.person().player();
            let sent_ping = assembly.sent_ping(player).filter(|_| !with_pings);
            let ping_ms = sent_ping.unwrap_or_else(|| {
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
