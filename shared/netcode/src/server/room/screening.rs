//! A room that shows a recording: the world follows it, and everyone who joins is a spectator.

use super::Room;
use super::orders::line;
use crate::game::Game;
use crate::ids::PlayerId;
use crate::limits::{CLIENT_BYTES_MAX, ROSTER_CHUNK, SEATS_MAX, WATCHERS_MAX};
use crate::random::Random;
use crate::replay::{News, Person, Replay, ReplayError};
use crate::server::broadcast::Broadcast;
use crate::server::config::{RoomConfig, RoomSettings};
use crate::server::conversation::Conversation;
use crate::server::host::Host;
use crate::server::script::Script;
use crate::server::seats::Seats;
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::control::{Seat, ServerMessage};
use crate::wire::disconnect::Code;
use crate::wire::protocol::LAYOUT;
use crate::wire::talk::Look;

impl<G: Game> Room<G> {
    /// Opens a room that shows a recording from a tick on, which it reaches at `now`. A tick that
    /// the recording does not have is replaced by the nearest one.
    ///
    /// # Errors
    ///
    /// The recording is of another game, or it is empty or damaged there.
    pub fn screen(replay: Replay, at: Tick, now: LocalTime) -> Result<Self, ReplayError> {
        let header = replay.header();
        if header.game != G::NAME {
            return Err(ReplayError::Header("name of the game"));
        }
        let (rates, first) = (header.rates, Micros(header.rates.time_of(header.first).0));
        let settings = RoomSettings {
            name: header.server.clone(),
            players_max: 0,
            watchers_max: WATCHERS_MAX,
            watch_delay: Some(Micros::ZERO),
            client_bytes_per_second: CLIENT_BYTES_MAX,
            ..RoomSettings::default()
        };
        let mut config = RoomConfig {
            settings,
            rates,
            seed: header.seed,
            map_seed: header.map_seed,
            unix_micros: header.unix_micros.saturating_sub(first.0),
            ..RoomConfig::default()
        };
        let (script, simulation, cast) = Script::open::<G>(replay, at, &config)?;
        config.start = now - Micros(rates.time_of(simulation.tick()).0);
        let mut room = Self {
            seats: Seats::new(Random::new(0)),
            broadcast: Broadcast::new(&config, simulation.tick()),
            conversation: Conversation::default(),
            script: Some(script),
            simulation,
            host: Host::new(config),
        };
        // Recorded ids count from zero.
        *room.host.next_player() = PlayerId(u16::MAX - 1);
        room.seats.set_cast(cast.people.into_values().map(seat).collect(), cast.watching);
        Ok(room)
    }

    /// Whether the room shows a recording that ends here.
    pub(super) fn is_script_over(&self) -> bool {
        self.script.as_ref().is_some_and(Script::is_over)
    }

    /// Whether the world follows from recorded inputs, tick by tick.
    pub(super) fn is_script_run(&self) -> bool {
        self.script.as_ref().is_some_and(Script::is_run)
    }

    /// Shows the next tick of the recording.
    pub(super) fn step_script(&mut self) {
        let Self { script, simulation, .. } = self;
        let Some(script) = script else { return };
        let news = script.step(simulation);
        let can_read = script.layout() == LAYOUT;
        for news in news {
            self.tell_again(news, can_read);
        }
        if !self.is_script_over() {
            self.broadcast.handle_tick();
        }
    }

    /// Tells spectators what everyone was told then.
    fn tell_again(&mut self, news: News, can_read: bool) {
        match news {
            News::Joined(people) => {
                let mut seats: Vec<_> = people.into_iter().map(seat).collect();
                let cast = self.seats.cast_mut();
                seats.retain(|(player, seat)| {
                    let is_full = cast.len() >= usize::from(SEATS_MAX + WATCHERS_MAX);
                    let is_taken = !is_full || cast.contains_key(player);
                    if is_taken {
                        cast.insert(*player, seat.clone());
                    }
                    is_taken
                });
                for some in seats.chunks(ROSTER_CHUNK) {
                    self.broadcast(&ServerMessage::Joined(some.to_vec()));
                }
            }
            News::Left(player) => {
                self.seats.cast_mut().remove(&player);
                self.broadcast(&ServerMessage::Left { player, code: Code::Left });
            }
            // A file may hold any bytes. Only what a room records is passed on.
            News::Message(body) if can_read => {
                let message = ServerMessage::parse(&body).ok().filter(News::repeats);
                message.into_iter().for_each(|message| self.broadcast(&message));
            }
            News::Mark(text) => self.broadcast(&line(text)),
            News::Message(_) | News::Round(_) | News::Report(..) => {}
        }
    }
}

fn seat(person: Person) -> (PlayerId, Seat) {
    let Person { player, name, bot, look } = person;
    let look = if look.is_valid() { look } else { Look::default() };
    (player, Seat { name, bot, look, person: None })
}
