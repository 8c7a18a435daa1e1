//! The room as its driver calls it.

use core::net::SocketAddr;

use crate::address::{Address, is_same_host};
use crate::game::{Game, Measure};
use crate::limits::{CATCH_UP_TICKS_MAX, DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN};
use crate::path::PathWindow;
use crate::rewind::Rewound;
use crate::time::{LocalTime, Micros};
use crate::wire::control::Status;
use crate::wire::disconnect::{Code, Disconnect};

use super::Room;
use crate::server::any::AnyRoom;
use crate::server::control::{Command, CommandError, Event};
use crate::server::member::DatagramError;
use crate::server::output::{ClientId, Output};
use crate::server::people::{Pass, PlayerFigures};
use crate::server::rotation::{Host, Rotation};

/// Snapshots by which one may be late in a room that does not catch up. Arbitrary.
const SNAPSHOTS_LATE_MAX: u64 = 4;

impl<G: Game> AnyRoom for Room<G> {
    fn game_name(&self) -> &'static str {
        G::NAME
    }

    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        if self.seated_mut(client).is_some_and(|seated| seated.member.away_until.is_none()) {
            self.handle_request(now, client, body);
        }
    }

    fn handle_arrival(&mut self, now: LocalTime, client: ClientId, body: &[u8], pass: Pass) {
        if self.seated_mut(client).is_none() {
            self.receive(now, client, body, pass);
        }
    }

    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]) {
        let mut server_time = self.host.server_time(now);
        let (mut tick, rates) = (self.world.tick, self.host.config.rates);
        if self.gallery.watchers.contains_key(&client) {
            (server_time, tick) = (server_time - self.gallery.delay, self.gallery.tick(tick));
        }
        let Some(seated) = self.seated_mut(client).filter(|it| it.member.away_until.is_none())
        else {
            return;
        };
        match seated.handle_datagram(bytes, now, server_time, tick, rates) {
            Ok(()) => {}
            Err(DatagramError::NeverSent(error)) => {
                self.close(client, Disconnect::new(Code::Protocol, error.to_string()));
            }
            Err(error) => {
                seated.member.stats.refused += 1;
                tracing::debug!(client = client.0, %error, len = bytes.len(), "datagram refused");
            }
        }
    }

    fn handle_path(&mut self, client: ClientId, bytes_max: usize) {
        if let Some(seated) = self.seated_mut(client) {
            seated.member.datagram_bytes = bytes_max.clamp(DATAGRAM_BYTES_MIN, DATAGRAM_BYTES_MAX);
        }
    }

    fn handle_address(&mut self, client: ClientId, address: SocketAddr) {
        let Some(seated) = self.seated_mut(client) else { return };
        let member = &mut seated.member;
        let (player, is_muted) = (member.player, member.muted.is_some());
        let before = member.address.replace(address);
        if !before.is_some_and(|before| is_same_host(before, address)) {
            let before = before.map(|before| tracing::field::display(Address::from(before)));
            let shown = Address::from(address);
            tracing::info!(
                name: "player_moved",
                client = client.0,
                %player,
                before,
                address = %shown,
                "moved"
            );
            self.host.tell(Event::Moved { player, address, is_muted });
        }
    }

    fn window(&mut self, now: LocalTime, client: ClientId) -> PathWindow {
        self.seated_mut(client).map_or(PathWindow::Open, |seated| seated.window(now))
    }

    fn handle_lost(&mut self, now: LocalTime, client: ClientId, reason: &str) {
        let number = self.host.number;
        let mut until = now + self.host.config.resume;
        if let Some(draining) = &self.host.draining {
            until = until.min(draining.end);
        }
        let Some(seated) = self.seated_mut(client) else { return };
        let member = &mut seated.member;
        // A seat is kept for a player, and not for whoever only knocked.
        if until <= now || member.stats.accepted == 0 {
            return self.free(client, Code::Lost, reason);
        }
        if member.away_until.is_none() {
            tracing::info!(
                name: "player_away",
                client = client.0,
                player = %member.player,
                reason,
                "away"
            );
            member.away_until = Some(until);
            member.away_in = number;
            let player = member.player;
            self.host.tell(Event::Away { player });
        }
    }

    fn handle_left(&mut self, client: ClientId, reason: &str) {
        self.free(client, Code::Left, reason);
    }

    fn handle_command(&mut self, now: LocalTime, command: Command) -> Result<(), CommandError> {
        self.look_soon(now);
        self.carry_out(now, command)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.host.events.pop_front()
    }

    fn handle_timeout_of(&mut self, now: LocalTime, ticks_max: u64) {
        if self.sleep_or_wake(now) {
            return;
        }
        let rates = self.host.config.rates;
        let due = rates.tick_at(self.host.server_time(now));
        let behind = due.since(self.world.tick);
        if behind > CATCH_UP_TICKS_MAX {
            self.lose_time(now, behind - CATCH_UP_TICKS_MAX);
        }
        let due = rates.tick_at(self.host.server_time(now));
        let end = due.min(self.world.tick.plus(ticks_max.min(CATCH_UP_TICKS_MAX)));
        while self.world.tick < end {
            let played = (G::KIT.rounds_played)(&self.world);
            self.step();
            self.send_events();
            self.send_late_events();
            self.tell_of_rounds(played);
            self.has_packed = false;
        }
        // What is still due goes first, but not for ever.
        let late = self.world.tick.since(self.next_snapshot);
        let goes_first =
            self.world.tick < due && late < SNAPSHOTS_LATE_MAX * rates.ticks_per_snapshot();
        if self.world.tick >= self.next_snapshot && !goes_first {
            self.drop_silent(now);
            self.drop_idle(now);
            self.count_down(now);
            self.watch_people(now);
            self.look_for_seats(now);
            if self.is_snapshot_due() {
                self.make_snapshot();
            }
        }
    }

    fn next_timeout(&self) -> LocalTime {
        if let Some(look_at) = self.next_look() {
            return look_at;
        }
        let due = self.host.config.rates.time_of(self.world.tick.plus(1));
        self.host.epoch + Micros(due.0)
    }

    fn shutdown(&mut self, goodbye: &Disconnect) {
        for client in self.everybody().map(|(client, _)| client).collect::<Vec<_>>() {
            self.close(client, goodbye.clone());
        }
    }

    fn drained(&self, now: LocalTime) -> Option<Disconnect> {
        let draining = self.host.draining.as_ref()?;
        let rounds = (G::KIT.rounds_played)(&self.world);
        let is_over = self.members.is_empty() || now >= draining.end || rounds > draining.rounds;
        is_over.then(|| draining.goodbye.clone())
    }

    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output> {
        self.pack(now, behind);
        // If the last snapshot took longer than the time between two, the next one is already due.
        // Waiting for a tick would cost a snapshot and leave the thread idle.
        if self.host.outputs.is_empty() && now < self.next_timeout() && self.is_snapshot_due() {
            self.make_snapshot();
            self.pack(now, behind);
        }
        let output = self.host.outputs.pop_front()?;
        Some(self.stamped(now, output))
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    fn players(&self, now: LocalTime) -> Vec<PlayerFigures> {
        let server_time = self.host.server_time(now);
        let scores = |player| {
            let number = |measure: &Measure<G>| {
                let value = (measure.of)(&self.world.entities, player)?;
                value.is_finite().then_some((measure.name, value))
            };
            G::KIT.measures.iter().filter_map(number).collect()
        };
        let players = self.members.values().map(|it| PlayerFigures {
            scores: scores(it.member.player),
            ..it.member.figures(now, server_time)
        });
        let watchers = self.gallery.watchers.values().map(|it| PlayerFigures {
            is_watching: true,
            ..it.member.figures(now, server_time - self.gallery.delay)
        });
        players.chain(watchers).collect()
    }

    fn checkpoint(&self, now: LocalTime) -> Option<Vec<u8>> {
        Self::checkpoint(self, now)
    }

    fn seats_taken(&self) -> usize {
        self.members.len()
    }

    fn watchers(&self) -> usize {
        self.gallery.watchers.len()
    }

    fn is_asleep(&self) -> bool {
        self.next_look().is_some()
    }

    fn poll_rewound(&mut self) -> Option<Rewound> {
        self.world.past.poll_rewound()
    }

    fn is_over(&self) -> bool {
        let rounds = self.host.config.rounds;
        rounds.is_some_and(|rounds| (G::KIT.rounds_played)(&self.world) >= rounds)
    }

    fn close_game(self: Box<Self>) -> Rotation {
        let Self { host, world, members, gallery, bots, .. } = *self;
        let members = members.into_iter().map(|(client, seated)| (client, seated.into_member()));
        Rotation {
            host: Host { number: host.number.wrapping_add(1), ..host },
            tick: world.tick,
            members: members.collect(),
            watchers: gallery.close(),
            bots: bots.into_iter().map(|(player, seat)| (player, seat.name)).collect(),
        }
    }
}
