//! Spectators: joining to watch, and changing between playing and watching.

use super::Room;
use super::reception::{Arrival, REPLACED_TEXT};
use crate::game::Game;
use crate::server::control::Event;
use crate::server::member::Member;
use crate::server::member::allowances::Request;
use crate::server::output::ClientId;
use crate::server::seated::Part;
use crate::time::{LocalTime, Micros};
use crate::wire::control::{Hello, Refusal, ServerMessage};
use crate::wire::disconnect::{Code, Disconnect};

impl<G: Game> Room<G> {
    /// Returns the returning spectator: the one with the hello's key.
    pub(super) fn watcher_of(&self, hello: &Hello) -> Option<ClientId> {
        let mut watchers = self.seats.watchers().iter();
        let key = hello.credentials.key;
        let (client, _) = watchers.find(|(_, member)| member.person().key() == key)?;
        Some(client)
    }

    /// Removes a spectator who returns.
    pub(super) fn take_watcher(&mut self, client: ClientId) -> Option<Member> {
        if self.seats.watchers().get(client)?.is_here() {
            self.host.put_out(client, Disconnect::new(Code::Replaced, REPLACED_TEXT));
        }
        self.take_out(client, Code::Replaced, "rejoined")
    }

    /// Lets a newcomer watch, under the name `wanted` if it is free. There must be a place.
    pub(super) fn watch(&mut self, arrival: Arrival, wanted: String, before: Option<&Member>) {
        let (player, name) = self.free_player(wanted);
        let Arrival { client, hello, pass, .. } = &arrival;
        let (client, key, address) = (*client, hello.credentials.key, pass.address);
        tracing::info!(
            name: "player_watches",
            client = client.0,
            %player,
            name,
            %key,
            version = hello.version,
            "watches"
        );
        let roster = self.roster(None);
        let token = self.host.token();
        let waits = hello.wishes_to_wait();
        let is_expected = pass.expected.as_deref() == Some(G::NAME);
        let mut member = self.member(arrival, (player, name.clone()), token);
        if let Some(before) = before {
            member.resume(before);
        }
        member.attendance_mut().set_ticket(waits.then(|| {
            let kept = before.and_then(|before| before.attendance().ticket());
            kept.filter(|_| !is_expected).unwrap_or_else(|| self.host.ticket(is_expected))
        }));
        member.timing_mut().set_delay(self.broadcast.gallery().delay());
        let seat = member.person().seat();
        self.welcome_watcher(client, &member);
        self.seats.take(&self.host, client, member, Part::Watch);
        for message in roster {
            self.host.send(client, message);
        }
        self.send_all_presence(client);
        self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        self.broadcast(&ServerMessage::Watching { players: vec![player], watching: true });
        self.tell_of_recording(client);
        self.host.push_event(Event::Joined { player, name, key, address, is_kept: false });
        self.host.push_event(Event::Watching { player, watching: true });
    }

    /// Makes sure that there is a place to watch from, if necessary by taking that of the spectator
    /// who has been away longest. The place of `before` counts as free because its spectator
    /// returns.
    pub(super) fn make_place(&mut self, before: Option<ClientId>) -> bool {
        let watchers_max = self.host.settings().watchers_max;
        if !self.seats.has_place(watchers_max, before) {
            return false;
        }
        while let Some(client) = self.seats.place_to_free(watchers_max, before) {
            let text = "all places for watchers were taken while the watcher was away";
            self.free(client, Code::Full, text);
        }
        true
    }

    /// Handles a member's request to watch or to play.
    pub(super) fn handle_watch(
        &mut self,
        now: LocalTime,
        client: ClientId,
        on: bool,
    ) -> Result<(), Refusal> {
        let plays = self.seats.players().has(client);
        let Some(member) = self.seats.member_mut(client) else { return Ok(()) };
        if plays != on {
            // Continue playing, or continue watching without waiting for a seat.
            member.attendance_mut().set_ticket(None);
            return Ok(());
        }
        if !plays && member.attendance().ticket().is_some() {
            return Ok(());
        }
        if !member.may_ask(now, Request::Part) {
            return Err(Refusal::TooMany);
        }
        if !plays {
            member.attendance_mut().set_ticket(Some(self.host.ticket(false)));
            self.seats.look_at(self.simulation.tick());
            return Ok(());
        }
        if !self.make_place(None) {
            return Err(Refusal::Full);
        }
        self.leave_seat(now, client);
        Ok(())
    }

    /// Moves a player from the game to the spectators.
    fn leave_seat(&mut self, now: LocalTime, client: ClientId) {
        let Some((mut member, _)) = self.remove(client) else { return };
        let player = member.person().player();
        member.attendance_mut().set_ready(false);
        self.conversation.assembly_mut().forget(player);
        self.simulation.leave(player);
        self.keep_bots();
        member.change_part(now, self.broadcast.gallery().delay());
        self.welcome_watcher(client, &member);
        self.seats.take(&self.host, client, member, Part::Watch);
        self.broadcast(&ServerMessage::Watching { players: vec![player], watching: true });
        self.host.push_event(Event::Watching { player, watching: true });
    }

    /// Gives free seats to those who wait for one, and sends spectators their number, twice a
    /// second.
    pub(super) fn look_for_seats(&mut self, now: LocalTime) {
        let tick = self.simulation.tick();
        if !self.seats.is_look_due(tick) {
            return;
        }
        self.seats.look_at(tick.plus(u64::from(self.host.rates().tick_hz / 2)));
        while !self.host.is_draining()
            && let Some((_, client)) = self.seats.queue().min()
        {
            let member = self.seats.member(client);
            let is_staff = member.is_some_and(|member| member.person().is_staff());
            if self.seats.players().len() >= self.seats_for(is_staff) {
                break;
            }
            self.seat_watcher(now, client);
        }
        let free = usize::from(self.seats_max()).saturating_sub(self.seats.players().len());
        let free = u16::try_from(free).unwrap_or(u16::MAX);
        for (client, (free, ahead)) in self.seats.news_of_places(free) {
            self.host.send(client, ServerMessage::Places { free, ahead });
        }
    }

    fn seat_watcher(&mut self, now: LocalTime, client: ClientId) {
        let Some((mut member, _)) = self.remove(client) else { return };
        let player = member.person().player();
        tracing::info!(
            name: "player_plays",
            client = client.0,
            %player,
            name = member.person().name(),
            "plays"
        );
        member.change_part(now, Micros::ZERO);
        member.attendance_mut().set_ticket(None);
        self.make_way();
        self.welcome(client, &member, false);
        self.seat(client, member);
        self.simulation.snap();
        self.broadcast(&ServerMessage::Watching { players: vec![player], watching: false });
        self.brief(now, client);
        self.host.push_event(Event::Watching { player, watching: false });
    }
}
