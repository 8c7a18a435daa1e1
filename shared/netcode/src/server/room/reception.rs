//! Coming and going: hellos, seats that are kept for lost connections, goodbyes.

use super::Room;
use super::talk::bot_seat;
use crate::address::is_same_host;
use crate::game::{Game, Profile};
use crate::identity::ResumeToken;
use crate::ids::PlayerId;
use crate::limits::{PLAYERS_MAX, ROSTER_CHUNK, STAFF_SEATS_MAX};
use crate::server::control::Event;
use crate::server::member::{Member, Seated};
use crate::server::naming::{checked, free_name};
use crate::server::output::{ClientId, Output};
use crate::server::people::Pass;
use crate::server::rotation::Host;
use crate::time::{LocalTime, Micros, Offset, Tick};
use crate::wire::control::{ClientMessage, Hello, ServerMessage, Welcome};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::protocol::{fields_hash, wire_hash};

impl<G: Game> Room<G> {
    /// Members with a connection.
    pub(super) fn present(&self) -> impl Iterator<Item = (ClientId, &Member)> {
        let members = self.members.iter().map(|(client, seated)| (*client, &seated.member));
        members.filter(|(_, member)| member.away_until.is_none())
    }

    pub(super) fn broadcast(&mut self, message: &ServerMessage) {
        self.tell_players(message);
        self.tell_watchers(message);
    }

    /// Sends a message to all who play.
    pub(super) fn tell_players(&mut self, message: &ServerMessage) {
        for (client, seated) in &self.members {
            if seated.member.away_until.is_none() {
                self.host.send(*client, message.clone());
            }
        }
    }

    /// The first message of a client.
    pub(super) fn receive(&mut self, now: LocalTime, client: ClientId, body: &[u8], pass: Pass) {
        // The builds are compared before anything that another build might not be able to read.
        if let Ok((wire, version)) = ClientMessage::parse_hello_head(body)
            && wire != wire_hash()
        {
            let ours = env!("CARGO_PKG_VERSION");
            let text = format!(
                "your version {version} and the server's version {ours} have different protocols; \
                 use the same version"
            );
            return self.host.put_out(client, Disconnect::new(Code::OtherWire, text));
        }
        match ClientMessage::parse(body) {
            Ok(ClientMessage::Hello(hello)) => self.handle_hello(now, client, hello, pass),
            Ok(ClientMessage::Query) => {
                let status = ServerMessage::Status(self.status());
                self.host.send(client, status);
                let goodbye = Disconnect::new(Code::Left, "answered");
                self.host.outputs.push_back(Output::Close { client, goodbye });
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

    fn handle_hello(&mut self, now: LocalTime, client: ClientId, hello: Hello, pass: Pass) {
        if let Err(goodbye) = self.check_games(&hello.games, hello.wishes_plain()) {
            return self.host.put_out(client, goodbye);
        }
        self.wake(now);
        let player_before = match self.seat_of(&hello) {
            Ok(Some(old)) if !hello.wishes_to_watch() => {
                return self.resume(now, client, old, hello, pass);
            }
            Ok(before) => before,
            Err(goodbye) => return self.host.put_out(client, goodbye),
        };
        if let Some(draining) = &self.host.draining {
            let goodbye = draining.goodbye.clone();
            return self.host.put_out(client, goodbye);
        }
        let key = hello.credentials.key;
        self.host.farewells.retain(|_, (_, until)| now < *until);
        if let Some((goodbye, _)) = self.host.farewells.remove(&key) {
            return self.host.put_out(client, goodbye);
        }
        let is_out = self.host.votes.is_out(now, key).filter(|_| !pass.is_staff);
        if let Some(left) = is_out {
            let text = format!("the players voted you out; come back in {}", left.in_words());
            return self.host.put_out(client, Disconnect::new(Code::Kicked, text));
        }
        let wanted = match checked(&hello.name) {
            Ok(wanted) => wanted,
            Err(bad) => {
                let goodbye = Disconnect::new(Code::BadName, bad.to_string());
                return self.host.put_out(client, goodbye);
            }
        };
        let watcher_before = self.watcher_of(&hello);
        let watches = hello.wishes_to_watch()
            || (hello.wishes_to_wait()
                && self.host.config.watchers_max > 0
                && !self.make_seat(pass.is_staff, watcher_before));
        // A player who is refused keeps the earlier seat or place.
        let has_room = match watches {
            true => self.make_place(watcher_before),
            false => self.make_seat(pass.is_staff, watcher_before),
        };
        if !has_room {
            let text = self.no_room(watches);
            return self.host.put_out(client, Disconnect::new(Code::Full, text));
        }
        if let Some(old) = player_before {
            let text = "you joined again from elsewhere";
            self.close(old, Disconnect::new(Code::Replaced, text));
        }
        let before = watcher_before.and_then(|old| self.take_watcher(old));
        if watches {
            return self.watch(now, client, hello, pass, wanted, before.as_ref());
        }
        self.make_way();
        let (player, name) = self.free_player(wanted);
        tracing::info!(
            name: "player_joined",
            client = client.0,
            %player,
            name,
            %key,
            version = hello.version,
            "joined"
        );
        let roster = self.roster(None);
        let token = self.host.token();
        let address = pass.address;
        let member = self.member(now, (player, name.clone()), token, hello, pass);
        let seat = member.seat();
        self.welcome(client, &member, false);
        self.seat(client, member);
        for message in roster {
            self.host.send(client, message);
        }
        self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        self.brief(now, client);
        self.host.tell(Event::Joined { player, name, key, address, is_kept: false });
        self.world.snap();
    }

    /// Text of the goodbye if there is no place to watch from, or no seat.
    fn no_room(&self, watches: bool) -> String {
        let (seats, places) = (self.seats_max(), self.host.config.watchers_max);
        match places {
            _ if !watches => format!("all seats are taken ({seats} of {seats}); try again later"),
            0 => "nobody may watch on this server".to_owned(),
            _ => format!("all places to watch from are taken ({places}); try again later"),
        }
    }

    /// Seats for people.
    pub(super) fn seats_max(&self) -> u16 {
        self.seats_up_to(self.host.config.players_max)
    }

    /// Seats that somebody may have: some more for the host's people.
    pub(super) fn seats_for(&self, is_staff: bool) -> usize {
        let more = if is_staff { STAFF_SEATS_MAX } else { 0 };
        self.seats_up_to(self.host.config.players_max.saturating_add(more)).into()
    }

    fn seats_up_to(&self, most: u16) -> u16 {
        // Bots make way.
        most.min(PLAYERS_MAX).min(G::SEATS_MAX)
    }

    /// Makes sure that there is a seat for a newcomer, if need be that of the player who has been
    /// away for longest. Returns false if too many are there. `before` is the newcomer's own place
    /// to watch from, if there is one.
    fn make_seat(&mut self, is_staff: bool, before: Option<ClientId>) -> bool {
        if self.present().count() >= self.seats_for(is_staff) {
            return false;
        }
        let waits = !is_staff && self.gallery.waiting().any(|(_, client)| Some(client) != before);
        if waits && self.members.len() >= self.seats_max().into() {
            // Others were here before.
            return false;
        }
        while self.members.len() >= self.seats_max().into() {
            let members = self.members.iter();
            let away = members.filter_map(|(client, it)| Some((it.member.away_until?, *client)));
            let Some((_, client)) = away.min() else { break };
            self.free(client, Code::Lost, "the server was full while the player was away");
        }
        true
    }

    /// Returns the seat that a hello resumes, if any: by its token or its key. The previous
    /// connection may linger, so it does not matter whether the player seems to be there.
    fn seat_of(&self, hello: &Hello) -> Result<Option<ClientId>, Disconnect> {
        let key = hello.credentials.key;
        let mut members = self.members.iter();
        let token = hello.resume;
        match members.find(|(_, seated)| Some(seated.member.token) == token) {
            Some((client, seated)) if seated.member.key == key => Ok(Some(*client)),
            Some(_) => {
                let text = "the session to resume is another player's; join anew";
                Err(Disconnect::new(Code::BadToken, text))
            }
            None => {
                let mut members = self.members.iter();
                let kept = members.find(|(_, seated)| seated.member.key == key);
                Ok(kept.map(|(client, _)| *client))
            }
        }
    }

    /// A player is back over another connection; the one before ends.
    fn resume(
        &mut self,
        now: LocalTime,
        client: ClientId,
        old: ClientId,
        hello: Hello,
        pass: Pass,
    ) {
        let Some(Seated { member, .. }) = self.members.remove(&old) else { return };
        self.due.retain(|due| *due != old);
        if member.away_until.is_none() {
            let text = "you joined again from elsewhere";
            self.host.put_out(old, Disconnect::new(Code::Replaced, text));
        }
        let player = member.player;
        tracing::info!(
            name: "player_resumed",
            client = client.0,
            %player,
            name = member.name,
            "resumed"
        );
        let resumed = member.away_until.is_none() || member.away_in == self.host.number;
        let address = pass.address;
        let is_muted = pass.mute.is_some() || member.muted.as_ref().is_some_and(|it| it.holds(now));
        let name = self.name_of_return(&member, &hello.name, is_muted);
        let mut back = self.member(now, (player, name.clone()), member.token, hello, pass);
        back.resume(&member);
        let (seat, is_muted) = (back.seat(), back.muted.is_some());
        self.welcome(client, &back, resumed);
        self.take_seat(client, back);
        let profile = Profile { name: name.clone(), key: Some(member.key) };
        self.world.set_profile(player, Some(profile));
        self.game.resume(&mut self.world, player);
        self.world.snap();
        for message in self.roster(Some(player)) {
            self.host.send(client, message);
        }
        self.brief(now, client);
        self.host.tell(Event::Resumed { player });
        let before = member.address;
        let is_new = |now: &_| !before.is_some_and(|before| is_same_host(before, *now));
        if let Some(address) = address.filter(is_new) {
            self.host.tell(Event::Moved { player, address, is_muted });
        }
        if seat != member.seat() {
            self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        }
        if name != member.name {
            tracing::info!(name: "player_renamed", %player, before = member.name, name, "renamed");
            self.host.tell(Event::Renamed { player, name });
        }
    }

    /// Returns the name of a returning player: the one in the new hello. The old name stays if the
    /// new one is refused, or if the player is muted and could speak through it.
    fn name_of_return(&self, before: &Member, stated: &str, is_muted: bool) -> String {
        match checked(stated) {
            Ok(wanted) if !is_muted => {
                let people = self.everybody().map(|(_, member)| &*member.name);
                free_name(people.chain(self.bots.values().map(|it| &*it.name)), wanted)
            }
            _ => before.name.clone(),
        }
    }

    /// A member who has just said hello.
    pub(super) fn member(
        &self,
        now: LocalTime,
        seat: (PlayerId, String),
        token: ResumeToken,
        hello: Hello,
        pass: Pass,
    ) -> Member {
        let offset = Offset(self.host.server_time(now).0.saturating_sub(hello.sent.0));
        let Host { epoch_number, ref config, .. } = self.host;
        Member::new(seat, token, hello, now, offset, epoch_number, config).with(pass)
    }

    /// Lets a player into the game.
    pub(super) fn seat(&mut self, client: ClientId, member: Member) {
        let profile = Profile { name: member.name.clone(), key: Some(member.key) };
        let player = member.player;
        self.world.set_profile(player, Some(profile));
        self.take_seat(client, member);
        self.game.join(&mut self.world, player);
    }

    pub(super) fn take_seat(&mut self, client: ClientId, member: Member) {
        let seated = Seated::new::<G>(member, self.host.number, self.host.config.rates);
        self.members.insert(client, seated);
    }

    /// Puts a member out and frees the seat.
    pub(super) fn close(&mut self, client: ClientId, goodbye: Disconnect) {
        let (code, reason) = (goodbye.code, goodbye.text.clone());
        if !self.is_away(client) {
            self.host.put_out(client, goodbye);
        }
        self.free(client, code, &reason);
    }

    /// Frees a member's seat, or a watcher's place.
    pub(super) fn free(&mut self, client: ClientId, code: Code, reason: &str) {
        drop(self.take_out(client, code, reason));
    }

    /// The same; returns who had it.
    pub(super) fn take_out(
        &mut self,
        client: ClientId,
        code: Code,
        reason: &str,
    ) -> Option<Member> {
        let seated = self.members.remove(&client);
        let plays = seated.is_some();
        let seated = seated.or_else(|| self.gallery.watchers.remove(&client))?;
        self.due.retain(|due| *due != client);
        self.gallery.due.retain(|due| *due != client);
        let member = seated.into_member();
        let Member { player, ref name, stats, .. } = member;
        tracing::info!(
            name: "player_left",
            client = client.0,
            %player,
            name,
            reason,
            ?stats,
            "left"
        );
        if plays {
            self.game.leave(&mut self.world, player);
            self.world.set_profile(player, None);
        }
        self.broadcast(&ServerMessage::Left { player, code });
        self.assembly.forget(player);
        self.host.tell(Event::Left { player, code, reason: reason.to_owned() });
        if plays {
            self.keep_bots();
        }
        Some(member)
    }

    /// Tells whether a build with these games can play this one, or the goodbye if it cannot.
    pub(super) fn check_games(
        &self,
        games: &[(String, u64)],
        plain: bool,
    ) -> Result<(), Disconnect> {
        let ours = || if plain { fields_hash::<G>() } else { self.hash };
        let text = match games.iter().find(|(name, _)| name == G::NAME) {
            Some((_, hash)) if *hash == ours() => return Ok(()),
            Some(_) => format!(
                "your client's rules of {} differ from this server's; use the server's version",
                G::NAME
            ),
            None => format!(
                "this server plays {}, which your client does not have; use a client that has it",
                G::NAME
            ),
        };
        Err(Disconnect::new(Code::OtherGame, text))
    }

    pub(super) fn welcome(&mut self, client: ClientId, member: &Member, resumed: bool) {
        self.welcome_to(client, member, resumed, self.world.tick, None);
    }

    /// The same for one who watches.
    pub(super) fn welcome_watcher(&mut self, client: ClientId, member: &Member) {
        let tick = self.gallery.tick(self.world.tick);
        self.welcome_to(client, member, false, tick, Some(self.gallery.delay));
    }

    fn welcome_to(
        &mut self,
        client: ClientId,
        member: &Member,
        resumed: bool,
        tick: Tick,
        watching: Option<Micros>,
    ) {
        if member.away_until.is_some() {
            return;
        }
        let Host { ref config, number, epoch_number, .. } = self.host;
        let welcome = ServerMessage::Welcome(Welcome {
            server: config.name.clone(),
            game: G::NAME.into(),
            number: member.number(number),
            seed: config.map_seed.wrapping_add(u64::from(number)),
            rates: config.rates,
            player: member.player,
            token: member.token,
            resumed,
            tick,
            offset: member.welcome_offset,
            epoch: epoch_number,
            unix_micros: config.unix_micros,
            setup: self.setup.clone(),
            watching,
        });
        self.host.send(client, welcome);
    }

    /// All who play and who watch; the reader last, by whom a client tells who comes later.
    pub(super) fn roster(&self, reader: Option<PlayerId>) -> Vec<ServerMessage> {
        let people = self.everybody().map(|(_, member)| (member.player, member.seat()));
        let bots = self.bots.iter().map(|(player, bot)| (*player, bot_seat(*player, &bot.name)));
        let mut seats: Vec<_> = bots.chain(people).collect();
        seats.sort_by_key(|(player, _)| Some(*player) == reader);
        let chunks = seats.chunks(ROSTER_CHUNK);
        let mut roster: Vec<_> =
            chunks.map(|seats| ServerMessage::Joined(seats.to_vec())).collect();
        let watchers = self.gallery.watchers.values().map(|seated| seated.member.player);
        let players: Vec<_> = watchers.collect();
        if !players.is_empty() {
            // Before the reader's own seat, behind which everything is news.
            let end = roster.len().saturating_sub(1);
            roster.insert(end, ServerMessage::Watching { players, watching: true });
        }
        roster
    }
}
