//! Arrivals and departures: hellos, seats kept for lost connections, goodbyes.
//!
//! Anyone can send a first message. The driver has verified the proof in a hello; everything else
//! in it is checked here, before it takes a seat.

use super::Room;
use crate::address::is_same_host;
use crate::game::Game;
use crate::identity::ResumeToken;
use crate::ids::PlayerId;
use crate::limits::{PLAYERS_MAX, ROSTER_CHUNK, STAFF_SEATS_MAX, WATCHERS_MAX};
use crate::server::control::Event;
use crate::server::member::Member;
use crate::server::member::person::Person;
use crate::server::mismatch::Mismatch;
use crate::server::naming::checked;
use crate::server::output::ClientId;
use crate::server::people::Pass;
use crate::server::seated::Part;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::control::{ClientMessage, Hello, ServerMessage, Welcome};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::protocol::{fields_hash, wire_hash};

/// Text of the goodbye to the earlier connection.
pub(super) const REPLACED_TEXT: &str = "you joined again from elsewhere";

/// A client that said hello, with what the host knows about it.
pub(super) struct Arrival {
    pub(super) now: LocalTime,
    pub(super) client: ClientId,
    pub(super) hello: Hello,
    pub(super) pass: Pass,
}

/// How a client is received.
struct Reception {
    resumed: bool,
    tick: Tick,
    /// The delay, for a spectator.
    watching: Option<Micros>,
}

impl<G: Game> Room<G> {
    /// Handles a client's first message.
    pub(super) fn receive(&mut self, now: LocalTime, client: ClientId, body: &[u8], pass: Pass) {
        // Builds are compared before anything that another build might not be able to decode.
        if let Ok((wire, version)) = ClientMessage::parse_hello_head(body)
            && wire != wire_hash()
        {
            let text = self.mismatch(&version).protocol();
            return self.host.put_out(client, Disconnect::new(Code::OtherWire, text));
        }
        match ClientMessage::parse(body) {
            Ok(ClientMessage::Hello(hello)) => {
                if let Err(goodbye) = self.handle_hello(Arrival { now, client, hello, pass }) {
                    self.host.put_out(client, goodbye);
                }
            }
            Ok(ClientMessage::Query) => {
                let status = ServerMessage::Status(self.status());
                self.host.answer(client, status);
            }
            Ok(_) => {
                let text = "protocol error: the first message must be a hello or a query";
                self.host.put_out(client, Disconnect::new(Code::Protocol, text));
            }
            Err(error) => {
                let text = format!("protocol error: {error}");
                self.host.put_out(client, Disconnect::new(Code::Protocol, text));
            }
        }
    }

    /// Gives a newcomer a seat, or a place to watch from. An error is the goodbye to send instead.
    fn handle_hello(&mut self, arrival: Arrival) -> Result<(), Disconnect> {
        let Arrival { now, hello, pass, .. } = &arrival;
        self.check_build(&hello.games, hello.wishes_plain(), &hello.version)?;
        self.make_ready(*now);
        let player_before = match self.seat_of(hello)? {
            Some(old) if !hello.wishes_to_watch() => {
                self.resume(arrival, old);
                return Ok(());
            }
            before => before,
        };
        let wanted = self.check_newcomer(&arrival)?;
        let watcher_before = self.watcher_of(hello);
        let goes_first = pass.is_staff || pass.transfer.is_some();
        let watches = hello.wishes_to_watch()
            || (hello.wishes_to_wait()
                && self.host.settings().watchers_max > 0
                && !self.make_seat(goes_first, watcher_before));
        // A player who is refused keeps the earlier seat or place.
        let has_room = match watches {
            true => self.make_place(watcher_before),
            false => self.make_seat(goes_first, watcher_before),
        };
        if !has_room {
            return Err(Disconnect::new(Code::Full, self.no_room(watches)));
        }
        if let Some(old) = player_before {
            self.close(old, Disconnect::new(Code::Replaced, REPLACED_TEXT));
        }
        let before = watcher_before.and_then(|old| self.take_watcher(old));
        match watches {
            true => self.watch(arrival, wanted, before.as_ref()),
            false => self.play(arrival, wanted),
        }
        Ok(())
    }

    /// Checks whether someone without a seat may come in. Returns the requested name.
    fn check_newcomer(&mut self, arrival: &Arrival) -> Result<String, Disconnect> {
        let Arrival { now, hello, pass, .. } = arrival;
        if let Some(draining) = self.host.draining() {
            return Err(draining.goodbye().clone());
        }
        let key = hello.credentials.key;
        if let Some(goodbye) = self.host.farewell(*now, key) {
            return Err(goodbye);
        }
        let out_for = self.conversation.votes_mut().is_out(*now, key);
        if let Some(left) = out_for.filter(|_| !pass.is_staff) {
            let text = format!("the players voted you out; come back in {}", left.in_words());
            return Err(Disconnect::new(Code::Kicked, text));
        }
        // Rules for names may differ between two servers.
        let brought = pass.transfer.as_ref().and_then(|it| checked(&it.name).ok());
        brought
            .map_or_else(|| checked(&hello.name), Ok)
            .map_err(|bad| Disconnect::new(Code::BadName, bad.to_string()))
    }

    /// Lets a newcomer play, under the name `wanted` if it is free. There must be a seat.
    fn play(&mut self, arrival: Arrival, wanted: String) {
        let (now, client) = (arrival.now, arrival.client);
        self.make_way();
        let transfer = arrival.pass.transfer.clone();
        if transfer.is_some() {
            self.rename_strangers(&wanted);
        }
        let (player, name) = self.free_player(wanted);
        let (key, version) = (arrival.hello.credentials.key, &arrival.hello.version);
        tracing::info!(
            name: "player_joined",
            client = client.0,
            %player,
            name,
            %key,
            version,
            "joined"
        );
        let roster = self.roster(None);
        let token = self.host.token();
        let address = arrival.pass.address;
        let member = self.member(arrival, (player, name.clone()), token);
        let seat = member.person().seat();
        self.welcome(client, &member, false);
        self.seat(client, member);
        if let Some(transfer) = &transfer {
            self.bring(player, transfer);
        }
        for message in roster {
            self.host.send(client, message);
        }
        self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        self.brief(now, client);
        self.tell_of_recording(client);
        self.host.push_event(Event::Joined { player, name, key, address, is_kept: false });
        self.simulation.snap();
    }

    /// Returns the text of the goodbye if there is no place to watch from, or no seat.
    fn no_room(&self, watches: bool) -> String {
        let (seats, places) = (self.seats_max(), self.host.settings().watchers_max);
        match places {
            _ if !watches => format!("all seats are taken ({seats} of {seats}); try again later"),
            0 => "this server has no places for watchers".to_owned(),
            _ => format!("all places for watchers are taken ({places}); try again later"),
        }
    }

    /// Returns the number of seats for people.
    pub(super) fn seats_max(&self) -> u16 {
        self.seats_up_to(self.host.settings().players_max)
    }

    /// Returns the number of seats available to a person: a few more for staff.
    pub(super) fn seats_for(&self, is_staff: bool) -> usize {
        let more = if is_staff { STAFF_SEATS_MAX } else { 0 };
        self.seats_up_to(self.host.settings().players_max.saturating_add(more)).into()
    }

    fn seats_up_to(&self, most: u16) -> u16 {
        // Bots make way.
        most.min(PLAYERS_MAX).min(G::SEATS_MAX)
    }

    /// Makes sure that there is a seat for a newcomer, if necessary by taking that of the player
    /// who has been away longest. Returns `false` if the room is full. `before` is the newcomer's
    /// own place to watch from, if there is one. Staff and players with a ticket of another server
    /// go first: before the queue, and with seats of their own.
    fn make_seat(&mut self, goes_first: bool, before: Option<ClientId>) -> bool {
        if self.seats.players().present().count() >= self.seats_for(goes_first) {
            return false;
        }
        let seats_max = usize::from(self.seats_max());
        let waits = !goes_first && self.seats.queue().any(|(_, client)| Some(client) != before);
        if waits && self.seats.players().len() >= seats_max {
            // Others were here before.
            return false;
        }
        while self.seats.players().len() >= seats_max {
            let Some(client) = self.seats.longest_away() else { break };
            self.free(client, Code::Lost, "the server was full while the player was away");
        }
        true
    }

    /// Returns the seat that a hello resumes, if any, by its token or its key. The earlier
    /// connection may linger, so it does not matter whether the player seems to be present.
    fn seat_of(&self, hello: &Hello) -> Result<Option<ClientId>, Disconnect> {
        let key = hello.credentials.key;
        let mut by_token = self.seats.players().iter();
        match by_token.find(|(_, member)| Some(member.person().token()) == hello.resume) {
            Some((client, member)) if member.person().key() == key => Ok(Some(client)),
            Some(_) => {
                let text = "the resume token belongs to another player; join without it";
                Err(Disconnect::new(Code::BadToken, text))
            }
            None => {
                let mut by_key = self.seats.players().iter();
                let kept = by_key.find(|(_, member)| member.person().key() == key);
                Ok(kept.map(|(client, _)| client))
            }
        }
    }

    /// Handles a player's return over another connection; the earlier one ends.
    fn resume(&mut self, arrival: Arrival, old: ClientId) {
        let (now, client) = (arrival.now, arrival.client);
        let Some((before, _)) = self.remove(old) else { return };
        if before.is_here() {
            self.host.put_out(old, Disconnect::new(Code::Replaced, REPLACED_TEXT));
        }
        let player = before.person().player();
        tracing::info!(
            name: "player_resumed",
            client = client.0,
            %player,
            name = before.person().name(),
            "resumed"
        );
        let resumed = before.attendance().was_in(self.host.number());
        let is_muted = arrival.pass.mute.is_some() || before.person().is_muted(now);
        let name = self.name_of_return(&before, &arrival.hello.name, is_muted);
        let mut back = self.member(arrival, (player, name), before.person().token());
        back.resume(&before);
        let person = back.person().clone();
        self.welcome(client, &back, resumed);
        self.seats.take(&self.host, client, back, Part::Play);
        self.simulation.resume(player, person.profile());
        self.simulation.snap();
        for message in self.roster(Some(player)) {
            self.host.send(client, message);
        }
        self.brief(now, client);
        self.host.push_event(Event::Resumed { player });
        self.report_changes(before.person(), &person);
    }

    /// Notifies host and players of what has changed about a returning player.
    fn report_changes(&mut self, before: &Person, back: &Person) {
        let player = back.player();
        let is_new = |now: &_| !before.address().is_some_and(|before| is_same_host(before, *now));
        if let Some(address) = back.address().filter(is_new) {
            let is_muted = back.last_mute().is_some();
            self.host.push_event(Event::Moved { player, address, is_muted });
        }
        if back.seat() != before.seat() {
            self.broadcast(&ServerMessage::Joined(vec![(player, back.seat())]));
        }
        if back.name() != before.name() {
            let (name, before) = (back.name(), before.name());
            tracing::info!(name: "player_renamed", %player, before, name, "renamed");
            self.host.push_event(Event::Renamed { player, name: name.to_owned() });
        }
    }

    /// Returns the name of a returning player: the one in the new hello. The old name stays if the
    /// new one is refused, or if the player is muted and could speak through it.
    fn name_of_return(&self, before: &Member, stated: &str, is_muted: bool) -> String {
        match checked(stated) {
            Ok(wanted) if !is_muted => self.seats.free_name(wanted, None),
            _ => before.person().name().to_owned(),
        }
    }

    /// Returns an unused id and a unique name; the wanted name if it is free.
    pub(super) fn free_player(&mut self, wanted: String) -> (PlayerId, String) {
        self.seats.free_player(wanted, self.host.next_player())
    }

    /// Creates the member for a client who has just said hello.
    pub(super) fn member(
        &self,
        arrival: Arrival,
        seat: (PlayerId, String),
        token: ResumeToken,
    ) -> Member {
        let Arrival { now, hello, pass, .. } = arrival;
        let person = Person::new(seat, hello.credentials.key, hello.look, token, now);
        Member::new(person.with(pass, now), hello, self.host.terms(now, self.tick()))
    }

    /// Lets a player into the game.
    pub(super) fn seat(&mut self, client: ClientId, member: Member) {
        let (player, profile) = (member.person().player(), member.person().profile());
        self.seats.take(&self.host, client, member, Part::Play);
        self.simulation.join(player, profile);
    }

    /// Keeps the seat of a client whose connection was lost.
    pub(super) fn lose(&mut self, now: LocalTime, client: ClientId, reason: &str) {
        let mut until = now + self.host.settings().resume;
        if let Some(draining) = self.host.draining() {
            until = until.min(draining.end());
        }
        let Some(member) = self.seats.member_mut(client) else { return };
        // A seat is kept for a player, but not for someone who only connected.
        if until <= now || !member.has_played() {
            return self.free(client, Code::Lost, reason);
        }
        let player = member.person().player();
        if member.attendance_mut().leave(until, self.host.number()) {
            tracing::info!(
                name: "player_away",
                client = client.0,
                %player,
                reason,
                "away"
            );
            self.host.push_event(Event::Away { player });
        }
    }

    /// Disconnects a member and frees the seat.
    pub(super) fn close(&mut self, client: ClientId, goodbye: Disconnect) {
        let (code, reason) = (goodbye.code, goodbye.text.clone());
        if !self.is_away(client) {
            self.host.put_out(client, goodbye);
        }
        self.free(client, code, &reason);
    }

    /// Frees a member's seat, or a spectator's place.
    pub(super) fn free(&mut self, client: ClientId, code: Code, reason: &str) {
        drop(self.take_out(client, code, reason));
    }

    /// Frees a member's seat, or a spectator's place. Returns the member who had it.
    pub(super) fn take_out(
        &mut self,
        client: ClientId,
        code: Code,
        reason: &str,
    ) -> Option<Member> {
        let (member, part) = self.remove(client)?;
        let (player, name, stats) =
            (member.person().player(), member.person().name(), member.stats());
        tracing::info!(
            name: "player_left",
            client = client.0,
            %player,
            name,
            reason,
            ?stats,
            "left"
        );
        if part == Part::Play {
            self.simulation.leave(player);
        }
        self.broadcast(&ServerMessage::Left { player, code });
        self.conversation.assembly_mut().forget(player);
        self.host.push_event(Event::Left { player, code, reason: reason.to_owned() });
        if part == Part::Play {
            self.keep_bots();
        }
        Some(member)
    }

    /// Removes a member from the seat or place, and sends nothing more.
    pub(super) fn remove(&mut self, client: ClientId) -> Option<(Member, Part)> {
        let removed = self.seats.remove(client);
        self.broadcast.forget(client);
        removed
    }

    /// Returns the goodbye if a build of this version, with these games, cannot play this one.
    fn check_build(
        &self,
        games: &[(String, u64)],
        plain: bool,
        version: &str,
    ) -> Result<(), Disconnect> {
        let ours = || if plain { fields_hash::<G>() } else { self.simulation.hash() };
        let text = match games.iter().find(|(name, _)| name == G::NAME) {
            Some((_, hash)) if *hash == ours() => return Ok(()),
            Some(_) => self.mismatch(version).rules(G::NAME),
            None => self.mismatch(version).game(G::NAME),
        };
        Err(Disconnect::new(Code::OtherGame, text))
    }

    /// Returns the mismatch with a client of this version.
    fn mismatch<'a>(&'a self, version: &'a str) -> Mismatch<'a> {
        Mismatch::with_client(version, self.host.config())
    }

    /// Returns the goodbye if a member's build cannot play this game.
    pub(super) fn check_games(&self, member: &Member) -> Result<(), Disconnect> {
        let delivery = member.delivery();
        self.check_build(delivery.games(), delivery.is_plain(), delivery.version())
    }

    /// Welcomes a member who plays.
    pub(super) fn welcome(&mut self, client: ClientId, member: &Member, resumed: bool) {
        let reception = Reception { resumed, tick: self.tick(), watching: None };
        self.welcome_to(client, member, reception);
    }

    /// Welcomes a member who watches.
    pub(super) fn welcome_watcher(&mut self, client: ClientId, member: &Member) {
        let gallery = self.broadcast.gallery();
        let (tick, delay) = (gallery.tick(self.tick()), gallery.delay());
        self.welcome_to(client, member, Reception { resumed: false, tick, watching: Some(delay) });
    }

    fn welcome_to(&mut self, client: ClientId, member: &Member, reception: Reception) {
        if !member.is_here() {
            return;
        }
        let Reception { resumed, tick, watching } = reception;
        let (config, number) = (self.host.config(), self.host.number());
        let welcome = ServerMessage::Welcome(Welcome {
            server: config.settings.name.clone(),
            game: G::NAME.into(),
            number: member.attendance().number(number),
            seed: config.map_seed.wrapping_add(u64::from(number)),
            rates: config.rates,
            player: member.person().player(),
            token: member.person().token(),
            resumed,
            tick,
            offset: member.timing().welcome_offset(),
            epoch: self.host.epoch(),
            unix_micros: config.unix_micros,
            setup: self.simulation.setup().to_vec(),
            watching,
        });
        self.host.send(client, welcome);
    }

    /// Returns all players and spectators. The reader is last, because clients treat all later ones
    /// as newcomers.
    pub(super) fn roster(&self, reader: Option<PlayerId>) -> Vec<ServerMessage> {
        let mut seats = self.seats.roster(reader);
        let own = seats.pop_if(|(player, _)| Some(*player) == reader);
        let spectators: Vec<_> = self.seats.spectators().collect();
        let watching = |players: &[PlayerId]| ServerMessage::Watching {
            players: players.to_vec(),
            watching: true,
        };
        let joined = seats.chunks(ROSTER_CHUNK).map(|some| ServerMessage::Joined(some.to_vec()));
        let watching = spectators.chunks(WATCHERS_MAX.into()).map(watching);
        joined.chain(watching).chain(own.map(|own| ServerMessage::Joined(vec![own]))).collect()
    }
}
