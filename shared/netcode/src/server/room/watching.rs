//! Coming to watch, and changing between a seat and a place to watch from.

use super::Room;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::server::bucket::RequestLimit;
use crate::server::control::Event;
use crate::server::gallery::Gallery;
use crate::server::member::{Member, Seated};
use crate::server::naming::free_name;
use crate::server::output::ClientId;
use crate::server::people::Pass;
use crate::server::seating::free_seat;
use crate::time::{LocalTime, Micros};
use crate::wire::control::{Hello, Refusal, ServerMessage};
use crate::wire::disconnect::{Code, Disconnect};

/// Changes between watching and playing: each begins a game for the client. Arbitrary.
const CHANGES: RequestLimit = RequestLimit { burst: 2, interval: Micros::from_ms(3000) };

impl<G: Game> Room<G> {
    /// The client's seat or place to watch from.
    pub(super) fn seated_mut(&mut self, client: ClientId) -> Option<&mut Seated<G::Input>> {
        let watcher = self.gallery.watchers.get_mut(&client);
        watcher.or_else(|| self.members.get_mut(&client))
    }

    /// Everybody who plays or watches.
    pub(super) fn everybody(&self) -> impl Iterator<Item = (ClientId, &Member)> + Clone {
        let everybody = self.members.iter().chain(&self.gallery.watchers);
        everybody.map(|(client, seated)| (*client, &seated.member))
    }

    /// Sends a message to all who watch.
    pub(super) fn tell_watchers(&mut self, message: &ServerMessage) {
        for client in self.gallery.present() {
            self.host.send(client, message.clone());
        }
    }

    /// A number and a name that nobody has; the name is the wanted one if that is free.
    pub(super) fn free_player(&mut self, wanted: String) -> (PlayerId, String) {
        let people = self.members.values().chain(self.gallery.watchers.values());
        let people = people.map(|seated| (seated.member.player, &*seated.member.name));
        let bots = self.bots.iter().map(|(player, seat)| (*player, &*seat.name));
        let taken = people.chain(bots);
        let next = &mut self.host.next_player;
        let player = free_seat(taken.clone().map(|(player, _)| player), next);
        (player, free_name(taken.map(|(_, name)| name), wanted))
    }

    /// Returns the watcher who returns with this hello: the one with its key.
    pub(super) fn watcher_of(&self, hello: &Hello) -> Option<ClientId> {
        let mut watchers = self.gallery.watchers.iter();
        let key = hello.credentials.key;
        let (client, _) = watchers.find(|(_, seated)| seated.member.key == key)?;
        Some(*client)
    }

    /// Removes a watcher who returns.
    pub(super) fn take_watcher(&mut self, client: ClientId) -> Option<Member> {
        let seated = self.gallery.watchers.get(&client)?;
        if seated.member.away_until.is_none() {
            let text = "you joined again from elsewhere";
            self.host.put_out(client, Disconnect::new(Code::Replaced, text));
        }
        self.take_out(client, Code::Replaced, "came again")
    }

    /// Lets a newcomer watch, under the name `wanted` if that is free. There must be a place.
    pub(super) fn watch(
        &mut self,
        now: LocalTime,
        client: ClientId,
        hello: Hello,
        pass: Pass,
        wanted: String,
        before: Option<&Member>,
    ) {
        let (player, name) = self.free_player(wanted);
        let (key, address) = (hello.credentials.key, pass.address);
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
        let mut member = self.member(now, (player, name.clone()), token, hello, pass);
        if let Some(before) = before {
            member.resume(before);
        }
        member.waits = waits.then(|| {
            let kept = before.and_then(|before| before.waits);
            kept.unwrap_or_else(|| self.host.ticket())
        });
        member.set_delay(self.gallery.delay);
        let seat = member.seat();
        self.welcome_watcher(client, &member);
        self.take_place(client, member);
        for message in roster {
            self.host.send(client, message);
        }
        self.tell_all_presence(client);
        self.broadcast(&ServerMessage::Joined(vec![(player, seat)]));
        self.broadcast(&ServerMessage::Watching { players: vec![player], watching: true });
        self.host.tell(Event::Joined { player, name, key, address, is_kept: false });
        self.host.tell(Event::Watching { player, watching: true });
    }

    /// Lets those who watched the game before into this one.
    pub(super) fn open_gallery(
        &mut self,
        watchers: Vec<(ClientId, Member)>,
        lost: &mut Vec<(PlayerId, Disconnect)>,
    ) {
        for (client, mut member) in watchers {
            member.set_delay(self.gallery.delay);
            match self.check_games(&member.games, member.plain) {
                Ok(()) => {
                    self.welcome_watcher(client, &member);
                    self.take_place(client, member);
                }
                Err(goodbye) => {
                    lost.push((member.player, goodbye.clone()));
                    if member.away_until.is_none() {
                        self.host.put_out(client, goodbye);
                    }
                }
            }
        }
    }

    /// Makes sure that there is a place to watch from, if need be that of the watcher who has been
    /// away for longest. The one of `before` counts as free: its watcher comes again.
    pub(super) fn make_place(&mut self, before: Option<ClientId>) -> bool {
        let places = Gallery::<G>::places(self.host.config.watchers_max);
        let is_other = |client: &ClientId| Some(*client) != before;
        if self.gallery.present().filter(is_other).count() >= places {
            return false;
        }
        while self.gallery.watchers.keys().filter(|client| is_other(client)).count() >= places {
            let watchers = self.gallery.watchers.iter().filter(|(client, _)| is_other(client));
            let away = watchers.filter_map(|(client, it)| Some((it.member.away_until?, *client)));
            let Some((_, client)) = away.min() else { break };
            let text = "all places to watch from were taken while the watcher was away";
            self.free(client, Code::Full, text);
        }
        true
    }

    pub(super) fn take_place(&mut self, client: ClientId, member: Member) {
        let number = self.host.number;
        let seated = Seated::new::<G>(member, number, self.host.config.rates).watching();
        self.gallery.watchers.insert(client, seated);
    }

    /// A member wishes to watch from now on, or to play.
    pub(super) fn handle_watch(
        &mut self,
        now: LocalTime,
        client: ClientId,
        on: bool,
    ) -> Result<(), Refusal> {
        let plays = self.members.contains_key(&client);
        let Some(seated) = self.seated_mut(client) else { return Ok(()) };
        let member = &mut seated.member;
        if plays != on {
            // To play on, or to watch on and to wait no more.
            member.waits = None;
            return Ok(());
        }
        if !plays && member.waits.is_some() {
            return Ok(());
        }
        if !member.changes.take(now, CHANGES) {
            return Err(Refusal::TooMany);
        }
        if !plays {
            let ticket = self.host.ticket();
            if let Some(seated) = self.seated_mut(client) {
                seated.member.waits = Some(ticket);
            }
            self.gallery.next_look = self.world.tick;
            return Ok(());
        }
        if !self.make_place(None) {
            return Err(Refusal::Full);
        }
        let Some(mut member) = self.leave_seat(client) else { return Ok(()) };
        let player = member.player;
        member.change_part(now, self.gallery.delay);
        self.welcome_watcher(client, &member);
        self.take_place(client, member);
        self.broadcast(&ServerMessage::Watching { players: vec![player], watching: true });
        self.host.tell(Event::Watching { player, watching: true });
        Ok(())
    }

    /// Takes a player out of the game, who stays in the room.
    fn leave_seat(&mut self, client: ClientId) -> Option<Member> {
        let mut member = self.members.remove(&client)?.into_member();
        self.due.retain(|due| *due != client);
        member.is_ready = false;
        self.assembly.forget(member.player);
        self.game.leave(&mut self.world, member.player);
        self.world.set_profile(member.player, None);
        self.keep_bots();
        Some(member)
    }

    /// Gives seats that are free to those who wait for one, and tells watchers how many there are,
    /// twice a second.
    pub(super) fn look_for_seats(&mut self, now: LocalTime) {
        if self.world.tick < self.gallery.next_look || self.gallery.watchers.is_empty() {
            return;
        }
        self.gallery.next_look =
            self.world.tick.plus(u64::from(self.host.config.rates.tick_hz / 2));
        while self.host.draining.is_none()
            && let Some(client) = self.gallery.first_waiting()
        {
            let is_staff = self.seated_mut(client).is_some_and(|seated| seated.member.is_staff);
            if self.members.len() >= self.seats_for(is_staff) {
                break;
            }
            self.seat_watcher(now, client);
        }
        self.tell_of_places();
    }

    fn seat_watcher(&mut self, now: LocalTime, client: ClientId) {
        let Some(seated) = self.gallery.watchers.remove(&client) else { return };
        self.gallery.due.retain(|due| *due != client);
        let mut member = seated.into_member();
        let player = member.player;
        tracing::info!(
            name: "player_plays",
            client = client.0,
            %player,
            name = member.name,
            "plays"
        );
        member.change_part(now, Micros::ZERO);
        member.waits = None;
        self.make_way();
        self.welcome(client, &member, false);
        self.seat(client, member);
        self.world.snap();
        self.broadcast(&ServerMessage::Watching { players: vec![player], watching: false });
        self.brief(now, client);
        self.host.tell(Event::Watching { player, watching: false });
    }

    fn tell_of_places(&mut self) {
        let free = usize::from(self.seats_max()).saturating_sub(self.members.len());
        let free = u16::try_from(free).unwrap_or(u16::MAX);
        let mut line: Vec<_> =
            self.gallery.watchers.values().filter_map(|seated| seated.member.waits).collect();
        line.sort_unstable();
        for (client, Seated { member, .. }) in &mut self.gallery.watchers {
            let ahead = member.waits.map(|ticket| line.partition_point(|other| *other < ticket));
            let places = (free, ahead.map(|ahead| u16::try_from(ahead).unwrap_or(u16::MAX)));
            if member.away_until.is_none() && member.places_told.replace(places) != Some(places) {
                let (free, ahead) = places;
                self.host.send(*client, ServerMessage::Places { free, ahead });
            }
        }
    }

    /// Sends watchers the events of the game that are old enough.
    pub(super) fn send_late_events(&mut self) {
        while let Some(event) = self.gallery.poll_event(self.world.tick) {
            self.tell_watchers(&ServerMessage::Game(event));
        }
    }
}
