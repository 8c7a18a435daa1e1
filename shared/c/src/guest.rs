//! A player on a server: frames, entities, players, events.

use std::path::PathBuf;

use phaselock::client::{Client, Notice, Part, SessionConfig, Speaker, State};
use phaselock::game::MessageError;
use phaselock::games::Games;
use phaselock::ids::EntityId;
use phaselock::invitation::Invitation;
use phaselock::limits::FIELDS_MAX;
use phaselock::time::Micros;
use phaselock::wire::control::Refusal;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::text::clip;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::player::PlayerKeys;

use crate::described::{self, Command, Context, DescribedGame, Thing};
use crate::error::{Error, ErrorCode};
use crate::layout::*;

/// How a player wants to join.
#[derive(Debug)]
pub(crate) struct Wish {
    pub(crate) server: String,
    pub(crate) name: String,
    pub(crate) password: Option<String>,
    pub(crate) room: Option<String>,
    pub(crate) known_hosts: Option<PathBuf>,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) watches: bool,
}

/// A player on a server, from the first attempt to join until it is closed.
#[derive(Debug)]
pub(crate) struct Guest {
    context: Context,
    driver: Driver,
    /// The predicted entity in the last picture.
    own: Option<EntityId>,
    was_used: bool,
}

impl Guest {
    /// Starts joining a server, on a thread for the network.
    pub(crate) fn join(context: Context, wish: Wish) -> Result<Self, Error> {
        let invitation: Invitation = wish.server.parse().map_err(Error::argument)?;
        let pins = match (wish.known_hosts, invitation.fingerprint) {
            (Some(file), Some(fingerprint)) => Pins::Given(file, fingerprint),
            (Some(file), None) => Pins::File(file),
            (None, Some(fingerprint)) => Pins::Fixed(fingerprint),
            (None, None) => Pins::Memory,
        };
        let room = wish.room.map(RoomCode::try_from).transpose().map_err(Error::argument)?;
        let mut options = Options::new(invitation.address, pins);
        options.keys = wish.key_file.map_or(PlayerKeys::Ephemeral, PlayerKeys::File);
        let _entered = described::enter(context);
        let config = SessionConfig {
            plain: true,
            room,
            password: wish.password,
            part: if wish.watches { Part::Watch } else { Part::Play },
            ..SessionConfig::new(Games::new().with::<DescribedGame>(), wish.name)
        };
        let driver = Driver::spawn(options, config, Clock::start())
            .map_err(|error| Error::new(ErrorCode::System, error))?;
        Ok(Self { context, driver, own: None, was_used: false })
    }

    /// Returns the context in which all other methods must be called.
    pub(crate) fn context(&self) -> Context {
        self.context
    }

    /// Runs one frame. Returns the state.
    pub(crate) fn frame(&mut self, input: &[f64]) -> Result<i32, Error> {
        let expected = self.context.tables.input.fields.len();
        if input.len() != expected {
            let detail =
                format!("an input of this game has {expected} fields, not {}", input.len());
            return Err(Error::argument(detail));
        }
        let mut values = [0.0; FIELDS_MAX];
        values[..expected].copy_from_slice(input);
        self.driver.receive();
        let now = self.driver.clock().now();
        let session = &mut self.driver.session;
        session.handle_frame(now);
        self.was_used = session.press_frame::<DescribedGame>(now, |_| Command { values });
        self.own = session.picture::<DescribedGame>(now).and_then(|picture| picture.own);
        self.driver.transmit();
        Ok(self.state())
    }

    /// Whether the input of the last frame was used.
    pub(crate) fn was_used(&self) -> bool {
        self.was_used
    }

    fn client(&self) -> Option<&Client<DescribedGame>> {
        self.driver.session.client_of()
    }

    fn state(&self) -> i32 {
        let watches = self.client().is_some_and(|client| client.watching().is_some());
        match self.driver.session.state() {
            State::Connecting { .. } => PHASELOCK_JOINING,
            State::Connected if watches => PHASELOCK_WATCHING,
            State::Connected => PHASELOCK_PLAYING,
            State::Waiting { .. } => PHASELOCK_WAITING,
            State::Ended { .. } => PHASELOCK_ENDED,
        }
    }

    /// Iterates over the entities as shown in the last frame.
    pub(crate) fn entities(&self) -> impl Iterator<Item = ShownEntity> {
        let client = self.client();
        let own = client.map(Client::player);
        let slots = client.into_iter().flat_map(|client| client.shown().iter());
        slots.map(move |slot| {
            use phaselock::fields::Entity;
            let thing: &Thing = &slot.entity;
            let is_own = slot.owner.is_some() && slot.owner == own;
            let is_predicted = self.own == Some(slot.id);
            ShownEntity {
                id: u32::from(slot.id.generation) << 16 | u32::from(slot.id.index),
                owner: slot.owner.map_or(PHASELOCK_NOBODY, |owner| owner.0.into()),
                kind: thing.kind().into(),
                flags: flags(&[(is_own, PHASELOCK_OWN), (is_predicted, PHASELOCK_PREDICTED)]),
                fields: thing.values(),
            }
        })
    }

    /// Iterates over players and spectators.
    pub(crate) fn players(&self) -> impl Iterator<Item = ListedPlayer> {
        let common = self.client().map(Client::common);
        let own = common.map(|common| common.player());
        let players = common.into_iter().flat_map(|it| it.roster()).map(|it| (it, false));
        let watchers = common.into_iter().flat_map(|it| it.watchers()).map(|it| (it, true));
        players.chain(watchers).map(move |((id, seat), watches)| {
            let mut name = [0; PHASELOCK_NAME_BYTES];
            // Each name has room for a zero byte after it.
            let bytes = clip(&seat.name, PHASELOCK_NAME_BYTES - 1).as_bytes();
            name[..bytes.len()].copy_from_slice(bytes);
            let all = [
                (Some(*id) == own, PHASELOCK_SELF),
                (seat.bot, PHASELOCK_BOT),
                (watches, PHASELOCK_SPECTATOR),
            ];
            ListedPlayer { id: id.0.into(), flags: flags(&all), name }
        })
    }

    /// Returns what is known of the world and of the connection.
    pub(crate) fn status(&self) -> ClientStatus {
        let state = self.state();
        let Some(client) = self.client() else {
            return ClientStatus { state, player: PHASELOCK_NOBODY, ..ClientStatus::default() };
        };
        let (common, stats) = (client.common(), client.stats());
        let ms = |time: Micros| time.0 as f64 / 1000.0;
        ClientStatus {
            state,
            player: common.player().0.into(),
            tick_hz: common.rates().tick_hz,
            snapshot_hz: common.rates().snapshot_hz,
            seed: common.seed(),
            server_seconds: common.server_time(self.driver.clock().now()).0 as f64 / 1e6,
            round_trip_ms: ms(stats.round_trip),
            lead_ms: ms(client.lead().lead()),
            delay_ms: ms(client.delay().delay()),
            loss: stats.loss(),
            frames: stats.frames,
            ticks: stats.ticks,
            snapshots: stats.snapshots,
            late_inputs: stats.late_inputs,
            mispredictions: stats.mispredictions,
            unexplained: stats.unexplained.count,
        }
    }

    /// Returns the server's configuration of the rules, in the game's format.
    pub(crate) fn setup(&self) -> Vec<u8> {
        self.client().map(|client| client.game().setup().to_vec()).unwrap_or_default()
    }

    /// Takes the next event.
    pub(crate) fn poll_event(&mut self) -> Option<PolledEvent> {
        loop {
            let notice = self.driver.session.poll_notice()?;
            let event = match notice {
                Notice::State(state) => event_of_state(&state),
                notice => event_of(notice),
            };
            if event.is_some() {
                return event;
            }
        }
    }

    /// Sends a chat line to all.
    pub(crate) fn say(&mut self, text: &str) -> Result<i32, Error> {
        let sent = self.driver.session.chat(text);
        self.driver.transmit();
        sent.map(|()| 0).map_err(message_error)
    }

    /// Sends a request to the rules, in the game's format.
    pub(crate) fn request(&mut self, bytes: Vec<u8>) -> Result<i32, Error> {
        let sent = self.driver.session.request_bytes(bytes);
        self.driver.transmit();
        sent.map(|()| 0).map_err(message_error)
    }

    /// Leaves the server, and waits for at most a second until the goodbye is sent.
    pub(crate) fn close(self, reason: &str) {
        let _entered = described::enter(self.context);
        self.driver.close(reason);
    }
}

fn flags(all: &[(bool, u32)]) -> u32 {
    all.iter().filter(|(is_set, _)| *is_set).fold(0, |sum, (_, flag)| sum | flag)
}

fn message_error(error: MessageError) -> Error {
    let code = match error {
        MessageError::NotConnected => ErrorCode::NotPlaying,
        MessageError::TooMany => ErrorCode::TooMany,
        MessageError::Long | MessageError::Unreadable => ErrorCode::BadArgument,
    };
    Error::new(code, error)
}

/// Creates an event. Bytes that do not fit are clipped, which no message of a server needs.
fn event(kind: u32, player: i32, code: i32, bytes: &[u8]) -> PolledEvent {
    let mut text = [0; PHASELOCK_TEXT_BYTES];
    let length = bytes.len().min(PHASELOCK_TEXT_BYTES - 1);
    text[..length].copy_from_slice(&bytes[..length]);
    PolledEvent { kind, player, code, length: length as u32, text }
}

fn about(kind: u32, who: &Speaker, code: i32, text: &str) -> PolledEvent {
    event(kind, who.player.0.into(), code, text.as_bytes())
}

fn number(code: Code) -> i32 {
    u16::from(code).into()
}

fn event_of_state(state: &State) -> Option<PolledEvent> {
    let for_reason = |kind, reason: &Disconnect| {
        event(kind, PHASELOCK_NOBODY, number(reason.code), reason.text.as_bytes())
    };
    Some(match state {
        State::Connecting { attempt } => {
            let attempt = i32::try_from(*attempt).unwrap_or(i32::MAX);
            event(PHASELOCK_EVENT_JOINING, PHASELOCK_NOBODY, attempt, &[])
        }
        State::Connected => event(PHASELOCK_EVENT_JOINED, PHASELOCK_NOBODY, 0, &[]),
        State::Waiting { reason, .. } => for_reason(PHASELOCK_EVENT_LOST, reason),
        State::Ended { reason } => for_reason(PHASELOCK_EVENT_ENDED, reason),
    })
}

fn event_of(notice: Notice) -> Option<PolledEvent> {
    Some(match notice {
        Notice::Game { server, resumed, .. } => {
            event(PHASELOCK_EVENT_GAME, PHASELOCK_NOBODY, resumed.into(), server.as_bytes())
        }
        Notice::Event(bytes) => event(PHASELOCK_EVENT_MESSAGE, PHASELOCK_NOBODY, 0, &bytes),
        Notice::Chat { from, text, .. } => {
            let from = from.map_or(PHASELOCK_NOBODY, |from| from.player.0.into());
            event(PHASELOCK_EVENT_CHAT, from, 0, text.as_bytes())
        }
        Notice::Joined { who } => about(PHASELOCK_EVENT_PLAYER_JOINED, &who, 0, &who.seat.name),
        Notice::Left { who, code } => {
            about(PHASELOCK_EVENT_PLAYER_LEFT, &who, number(code), &who.seat.name)
        }
        Notice::Renamed { who, .. } => {
            about(PHASELOCK_EVENT_PLAYER_RENAMED, &who, 0, &who.seat.name)
        }
        Notice::Refused { request, refusal } => {
            let request = i32::try_from(request).unwrap_or(i32::MAX);
            let text = refusal_text(refusal).as_bytes();
            event(PHASELOCK_EVENT_REFUSED, PHASELOCK_NOBODY, request, text)
        }
        // Not exposed to C: votes, quick messages, marks, commands, free seats.
        _ => return None,
    })
}

/// Why the server refused a request, in a sentence.
fn refusal_text(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Unknown => "the server does not know this request",
        Refusal::TooMany => "too many requests",
        Refusal::Length => "the request is too long or empty",
        Refusal::Game => "the game does not understand the request",
        Refusal::Off => "the host has disabled this, or the game does not have it",
        Refusal::Soon => "it is too soon; try again later",
        Refusal::Busy => "a vote is already running",
        Refusal::Uneven => "the sides would be uneven",
        Refusal::Protected => "the target is absent or protected",
        Refusal::Full => "there is no place for another spectator",
        Refusal::NoSide => "you are on no side",
        Refusal::Range => "a number in the request is out of range",
    }
}
