//! The room's interface for its driver.

use core::net::SocketAddr;

use super::Room;
use crate::address::{Address, is_same_host};
use crate::game::Game;
use crate::limits::CATCH_UP_TICKS_MAX;
use crate::path::PathWindow;
use crate::replay::Piece;
use crate::rewind::Rewound;
use crate::server::any::{AnyRoom, Secrecy};
use crate::server::control::{Command, CommandError, Event};
use crate::server::draining::Draining;
use crate::server::feed::Leaving;
use crate::server::output::{ClientId, Output};
use crate::server::people::{Pass, PlayerFigures};
use crate::server::rotation::Rotation;
use crate::server::seated::{DatagramError, Seated};
use crate::server::transfer::Transfer;
use crate::time::{LocalTime, Tick};
use crate::wire::control::Status;
use crate::wire::disconnect::{Code, Disconnect};

/// How many snapshots late one may be in a room that does not catch up. Arbitrary.
const SNAPSHOTS_LATE_MAX: u64 = 4;

impl<G: Game> AnyRoom for Room<G> {
    fn game_name(&self) -> &'static str {
        G::NAME
    }

    fn handle_arrival(&mut self, now: LocalTime, client: ClientId, body: &[u8], pass: Pass) {
        if self.seats.member(client).is_none() {
            self.receive(now, client, body, pass);
        }
    }

    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        if self.seats.member(client).is_some_and(|member| member.is_here()) {
            self.handle_request(now, client, body);
        }
    }

    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]) {
        let mut time = self.host.time(now, self.tick());
        if self.seats.watchers().has(client) {
            let gallery = self.broadcast.gallery();
            time.server_time = time.server_time - gallery.delay();
            time.tick = gallery.tick(time.tick);
        }
        let seated = self.seats.seated_mut(client);
        let Some(seated) = seated.filter(|seated| seated.member().is_here()) else { return };
        match seated.handle_datagram(bytes, time) {
            Ok(()) => {}
            Err(DatagramError::NeverSent(error)) => {
                self.close(client, Disconnect::new(Code::Protocol, error.to_string()));
            }
            Err(error) => {
                seated.member_mut().stats_mut().refused += 1;
                tracing::debug!(client = client.0, %error, len = bytes.len(), "datagram refused");
            }
        }
    }

    fn handle_path(&mut self, client: ClientId, bytes_max: usize) {
        if let Some(member) = self.seats.member_mut(client) {
            member.delivery_mut().handle_path(bytes_max);
        }
    }

    fn handle_address(&mut self, client: ClientId, address: SocketAddr) {
        let Some(member) = self.seats.member_mut(client) else { return };
        let person = member.person_mut();
        let (player, is_muted) = (person.player(), person.last_mute().is_some());
        let before = person.relocate(address);
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
            self.host.push_event(Event::Moved { player, address, is_muted });
        }
    }

    fn window(&mut self, now: LocalTime, client: ClientId) -> PathWindow {
        let seated = self.seats.seated_mut(client);
        seated.map_or(PathWindow::Open, |seated: &mut Seated<_>| seated.window(now))
    }

    fn handle_lost(&mut self, now: LocalTime, client: ClientId, reason: &str) {
        self.lose(now, client, reason);
    }

    fn handle_left(&mut self, client: ClientId, reason: &str) {
        self.free(client, Code::Left, reason);
    }

    fn handle_command(&mut self, now: LocalTime, command: Command) -> Result<(), CommandError> {
        self.look_soon(now);
        self.carry_out(now, command)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.host.poll_event()
    }

    fn handle_timeout_of(&mut self, now: LocalTime, ticks_max: u64) {
        if self.sleep_or_wake(now) {
            return;
        }
        let due = self.run_due(now, ticks_max);
        if self.is_deserted() {
            // The snapshots were made with the ticks.
            self.look_after(now);
            return;
        }
        let Some(late) = self.broadcast.lateness(self.tick()) else { return };
        // Overdue ticks take precedence, but not forever.
        let late_max = SNAPSHOTS_LATE_MAX * self.host.rates().ticks_per_snapshot();
        if self.tick() >= due || late >= late_max {
            self.look_after(now);
            self.make_snapshot_if_due();
        }
    }

    fn next_timeout(&self) -> LocalTime {
        let next =
            || if self.is_deserted() { self.turn_when_deserted() } else { self.tick().plus(1) };
        self.next_look().unwrap_or_else(|| self.host.time_of(next()))
    }

    fn send_away(
        &mut self,
        now: LocalTime,
        farewell: &dyn Fn(Option<Transfer>) -> Option<Disconnect>,
    ) {
        for client in self.seats.everybody().map(|(client, _)| client).collect::<Vec<_>>() {
            if let Some(goodbye) = farewell(self.transfer_of(now, client)) {
                self.close(client, goodbye);
            }
        }
    }

    fn drained(&self, now: LocalTime) -> Option<Disconnect> {
        let draining = self.host.draining()?;
        let rounds = self.simulation.rounds_played();
        let is_over = self.seats.players().is_empty() || draining.is_over(now, rounds);
        is_over.then(|| draining.goodbye().clone())
    }

    fn drain_end(&self) -> Option<LocalTime> {
        self.host.draining().map(Draining::end)
    }

    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output> {
        let leaving =
            Leaving { now, server_time: self.host.server_time(now), behind, sent_to_all: None };
        self.pack(leaving);
        // If the last snapshot took longer than the snapshot interval, the next one is already due.
        // Waiting for a tick would skip a snapshot and leave the thread idle.
        if self.host.mailbox().is_empty()
            && now < self.next_timeout()
            && self.make_snapshot_if_due()
        {
            self.pack(leaving);
        }
        let output = self.host.poll_output()?;
        Some(self.broadcast.stamped(&self.host, &self.seats, now, output))
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    fn players(&self, now: LocalTime) -> Vec<PlayerFigures> {
        let server_time = self.host.server_time(now);
        let players = self.seats.players().iter().map(|(_, member)| PlayerFigures {
            scores: self.simulation.scores(member.person().player()),
            ..member.figures(now, server_time)
        });
        let delay = self.broadcast.gallery().delay();
        let watchers = self.seats.watchers().iter().map(|(_, member)| PlayerFigures {
            is_watching: true,
            ..member.figures(now, server_time - delay)
        });
        players.chain(watchers).collect()
    }

    fn checkpoint(&self, now: LocalTime) -> Option<Vec<u8>> {
        Self::checkpoint(self, now)
    }

    fn seats_taken(&self) -> usize {
        self.seats.players().len()
    }

    fn has_seat(&self, client: ClientId) -> bool {
        self.seats.players().has(client)
    }

    fn watchers(&self) -> usize {
        self.seats.watchers().len()
    }

    fn is_asleep(&self) -> bool {
        self.next_look().is_some()
    }

    fn poll_rewound(&mut self) -> Option<Rewound> {
        self.simulation.poll_rewound()
    }

    fn poll_replay(&mut self) -> Option<Piece> {
        self.simulation.recorder_mut()?.poll()
    }

    fn cut_replay(&mut self) {
        self.simulation.cut_recording();
    }

    fn secrecy(&self) -> Secrecy {
        let has_rounds = self.simulation.round_clock().is_some();
        let round = has_rounds.then(|| self.simulation.rounds_played());
        Secrecy { round, watch_delay: self.broadcast.gallery().delay() }
    }

    fn is_over(&self) -> bool {
        let rounds = self.host.settings().rounds;
        self.is_script_over()
            || rounds.is_some_and(|rounds| self.simulation.rounds_played() >= rounds)
    }

    fn is_run_again(&self) -> bool {
        self.is_script_run()
    }

    fn close_game(self: Box<Self>) -> Rotation {
        let Self { host, simulation, seats, conversation, .. } = *self;
        let (host, conversation) = (host.rotate(), conversation.rotate());
        Rotation { host, conversation, tick: simulation.tick(), waiting: seats.close() }
    }
}

impl<G: Game> Room<G> {
    /// Does what is due with each snapshot, besides making it.
    fn look_after(&mut self, now: LocalTime) {
        self.drop_silent(now);
        if self.script.is_none() {
            self.drop_idle(now);
            self.count_down(now);
            self.watch_people(now);
            self.look_for_seats(now);
        }
    }

    /// Runs at most `ticks_max` of the ticks that are due. Returns the last tick that was due.
    pub(super) fn run_due(&mut self, now: LocalTime, ticks_max: u64) -> Tick {
        let behind = self.host.due(now).since(self.tick());
        if behind > CATCH_UP_TICKS_MAX {
            self.lose_time(now, behind - CATCH_UP_TICKS_MAX);
        }
        let due = self.host.due(now);
        let end = due.min(self.tick().plus(ticks_max.min(CATCH_UP_TICKS_MAX)));
        while self.tick() < end && !self.is_script_over() {
            self.step();
            if self.is_deserted() {
                // Spectators who come later see what happened before.
                self.make_snapshot_if_due();
            }
        }
        due
    }

    /// Makes the next snapshot if it is due. Returns whether it was.
    fn make_snapshot_if_due(&mut self) -> bool {
        let Self { host, simulation, seats, broadcast, .. } = self;
        let is_due = broadcast.is_due(simulation.tick(), host);
        if is_due {
            broadcast.make_snapshot(simulation, seats, host.config());
        }
        is_due
    }

    fn pack(&mut self, leaving: Leaving<'_>) {
        let Self { host, simulation, seats, broadcast, .. } = self;
        broadcast.pack(simulation, seats, host, leaving);
    }
}
