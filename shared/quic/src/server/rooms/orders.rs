//! The host's commands to rooms, and the end of rooms.

use std::sync::Arc;

use phaselock::server::{Command, CommandError, RoomSettings, Transfer};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::disconnect::Disconnect;

use super::{News, Rooms, Running, SEE_OFF_TIMEOUT};
use crate::server::directory::RoomId;
use crate::server::handle::{OrderError, Task};
use crate::server::hosting::{Departure, Leaving, RecordingEnd};

/// The minimum time between games that the host starts: clients leave a server that changes its
/// game more than once a second, and messages may take different times to arrive.
const GAME_MIN: Micros = Micros::from_ms(1500);

impl Rooms {
    /// Carries out a command, delayed if the room waits for its next game. For a room that has
    /// closed, there is nothing left to do.
    pub(in crate::server) fn handle_task(
        &mut self,
        id: RoomId,
        task: Task,
    ) -> Result<(), OrderError> {
        let command = match task {
            Task::Command(Command::Configure(mut changes)) => {
                let game = self.running.get(&id).map_or("", |running| running.game);
                changes.rounds = self.plan.games.rounds(game, changes.rounds);
                changes.games = self.plan.games.names();
                Command::Configure(changes)
            }
            Task::Command(command) => command,
            Task::Configure => {
                let Some(changes) = self.changed(id) else { return Ok(()) };
                Command::Configure(Box::new(changes))
            }
            Task::Play(game) => return Ok(self.play_now(id, game.as_deref())?),
        };
        let Some(running) = self.running.get_mut(&id) else { return Ok(()) };
        match command {
            Command::Drain { .. } => {
                running.is_drained_alone = self.directory.draining().is_none();
            }
            Command::Undrain if !self.directory.is_over() => {
                (running.is_drained_alone, running.leaving_since) = (false, None);
                self.set_over(id, false);
            }
            _ => {}
        }
        if let Some(pause) = self.pause_of(id) {
            pause.keep(News::Order(command));
            return Ok(());
        }
        let now = self.clock.now();
        let carried_out = self.call(id, |room| room.handle_command(now, command));
        Ok(carried_out.ok_or(OrderError::Panicked)??)
    }

    /// Starts the game that players voted for, unless the host has removed it.
    pub(super) fn play_chosen(&mut self, id: RoomId, game: &str) {
        if let Err(error) = self.play_now(id, Some(game)) {
            tracing::info!(
                name: "vote_failed",
                game,
                %error,
                "the game that won the vote cannot begin"
            );
        }
    }

    /// Starts a game at once, or restarts the current one (`None`).
    fn play_now(&mut self, id: RoomId, game: Option<&str>) -> Result<(), CommandError> {
        let Some(running) = self.running.get(&id) else { return Ok(()) };
        let games = &self.plan.games;
        let next = match game {
            // A game that is no longer hosted is followed by the first.
            None => games.named(running.game).or_else(|| games.after(running.game)),
            Some(name) => Some(games.named(name).ok_or_else(|| CommandError::NoGame {
                name: name.to_owned(),
                known: games.names().join(", "),
            })?),
        };
        let is_new = self.clock.now() - running.began < GAME_MIN;
        if is_new
            && running.room.as_ref().is_some_and(|room| room.seats_taken() + room.watchers() > 0)
        {
            return Err(CommandError::TooSoon);
        }
        let waiting = match self.running.get_mut(&id).and_then(|running| running.pause.take()) {
            Some(pause) => Some(pause.waiting),
            None => self.close_game(id),
        };
        self.go_on_with(id, next, waiting);
        Ok(())
    }

    /// Returns the host's settings for a room and its current game.
    fn changed(&self, id: RoomId) -> Option<RoomSettings> {
        let Running { code, game, .. } = self.running.get(&id)?;
        self.plan.changed(code, game)
    }

    /// Applies a new game's own settings: it has begun with the settings and the number of bots of
    /// the previous game.
    pub(super) fn settle(&mut self, id: RoomId) {
        let now = self.clock.now();
        if let Some(changes) = self.changed(id) {
            let command = Command::Configure(Box::new(changes));
            self.call(id, |room| room.handle_command(now, command));
        }
    }

    /// Returns the names of the games that are played in turn.
    pub(in crate::server) fn games(&self) -> Vec<String> {
        self.plan.games.names()
    }

    /// Returns the goodbye with which a drained room ends now.
    pub(in crate::server) fn drained(&mut self, id: RoomId, now: LocalTime) -> Option<Disconnect> {
        self.call(id, |room| room.drained(now)).flatten()
    }

    /// Returns the players whom a drained room may send away: as soon as it is known where they can
    /// go, or when the time of the drain is up.
    pub(in crate::server) fn departure(
        &mut self,
        id: RoomId,
        now: LocalTime,
        goodbye: &Disconnect,
    ) -> Departure {
        let Some(running) = self.running.get_mut(&id) else { return Departure::All };
        let Some(room) = running.room.as_ref() else { return Departure::All };
        let since = *running.leaving_since.get_or_insert(now);
        let until = room.drain_end().unwrap_or(now).max(since + SEE_OFF_TIMEOUT);
        let taken = room.seats_taken();
        if taken == 0 || now >= until {
            return Departure::All;
        }
        let (room, game) = (running.code.clone(), running.game);
        let people = u16::try_from(taken).unwrap_or(u16::MAX);
        let leaving = Leaving { room, game, people, is_redirected: goodbye.redirect.is_some() };
        self.plan.hosting.gate.departure(&leaving)
    }

    /// Says goodbye to players in a room: to all, or to those who are redirected.
    pub(in crate::server) fn shut(&mut self, id: RoomId, goodbye: &Disconnect, is_all: bool) {
        let Some(running) = self.running.get(&id) else { return };
        let (code, now) = (running.code.clone(), self.clock.now());
        let gate = Arc::clone(&self.plan.hosting.gate);
        let farewell = |transfer: Option<Transfer>| {
            // The others keep their seats, and spectators their view of the game.
            let may_go = is_all || transfer.is_some();
            let goodbye = may_go.then(|| gate.see_off(&code, goodbye, transfer))?;
            (is_all || goodbye.redirect.is_some()).then_some(goodbye)
        };
        self.call(id, |room| room.send_away(now, &farewell));
    }

    /// Whether the host has drained this room but not the others.
    pub(in crate::server) fn is_drained_alone(&self, id: RoomId) -> bool {
        self.running.get(&id).is_some_and(|running| running.is_drained_alone)
    }

    /// Sets whether a room has sent all players away because the server is being drained.
    pub(in crate::server) fn set_over(&mut self, id: RoomId, is_over: bool) {
        let Some(running) = self.running.get_mut(&id).filter(|it| it.is_over != is_over) else {
            return;
        };
        running.is_over = is_over;
        // The checkpoint is outdated once the room continues.
        running.is_kept |= !is_over;
        self.directory.set_over(id, is_over);
    }

    /// Removes a room that has said goodbye to all players.
    pub(in crate::server) fn close(&mut self, id: RoomId, goodbye: Disconnect) {
        self.end_recording(id, RecordingEnd::GameOver);
        self.running.remove(&id);
        self.directory.close(id);
        self.closed.keep(id, goodbye);
    }

    /// Closes a room that was created on demand and has been empty for long.
    pub(in crate::server) fn close_if_unused(&mut self, id: RoomId, now: LocalTime) {
        let Some(Running { room: Some(room), empty_since, span, .. }) = self.running.get_mut(&id)
        else {
            return;
        };
        if room.seats_taken() + room.watchers() > 0 {
            *empty_since = None;
            return;
        }
        if now - *empty_since.get_or_insert(now) >= self.plan.empty {
            // If it has to stay, it is not checked again before that time has passed.
            *empty_since = Some(now);
            if self.directory.close_empty(id) {
                span.in_scope(|| {
                    tracing::info!(
                        name: "room_closed_empty",
                        "the room was empty for too long and was closed"
                    )
                });
                self.forget(id);
                self.end_recording(id, RecordingEnd::GameOver);
                self.running.remove(&id);
            }
        }
    }
}
