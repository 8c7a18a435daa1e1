//! A session of a described game as C sees it: frames, entities, players, events. Does no I/O.
//!
//! All functions must be called in the game's context.

use phaselock::client::{Client, Notice, Session, Speaker, State};
use phaselock::fields::{Entity, Record};
use phaselock::game::MessageError;
use phaselock::ids::EntityId;
use phaselock::limits::FIELDS_MAX;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::Refusal;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::text::clip;

use crate::described::{Command, DescribedGame, Thing};
use crate::error::{Error, ErrorCode};
use crate::layout::*;

/// Reads a program's input.
pub(crate) fn command(input: &[f64]) -> Result<Command, Error> {
    let expected = Command::declared().fields.len();
    if input.len() != expected {
        let detail = format!("an input of this game has {expected} fields, not {}", input.len());
        return Err(Error::argument(detail));
    }
    let mut values = [0.0; FIELDS_MAX];
    values[..expected].copy_from_slice(input);
    Ok(Command { values })
}

/// What the last frame showed and used.
#[derive(Debug, Default)]
pub(crate) struct Play {
    /// The predicted entity in the last picture.
    own: Option<EntityId>,
    was_used: bool,
}

impl Play {
    /// Runs one frame.
    pub(crate) fn frame(&mut self, session: &mut Session, now: LocalTime, input: Command) {
        session.handle_frame(now);
        self.was_used = session.press_frame::<DescribedGame>(now, |_| input);
        self.own = session.picture::<DescribedGame>(now).and_then(|picture| picture.own);
    }

    /// Whether the input of the last frame was used.
    pub(crate) fn was_used(&self) -> bool {
        self.was_used
    }

    /// Iterates over the entities as shown in the last frame.
    pub(crate) fn entities<'a>(
        &self,
        session: &'a Session,
    ) -> impl Iterator<Item = ShownEntity> + use<'a> {
        let (client, predicted) = (client(session), self.own);
        let own = client.map(Client::player);
        let slots = client.into_iter().flat_map(|client| client.shown().iter());
        slots.map(move |slot| {
            let thing: &Thing = &slot.entity;
            let is_own = slot.owner.is_some() && slot.owner == own;
            let is_predicted = predicted == Some(slot.id);
            ShownEntity {
                id: u32::from(slot.id.generation) << 16 | u32::from(slot.id.index),
                owner: slot.owner.map_or(PHASELOCK_NOBODY, |owner| owner.0.into()),
                kind: thing.kind().into(),
                flags: flags(&[(is_own, PHASELOCK_OWN), (is_predicted, PHASELOCK_PREDICTED)]),
                fields: thing.values(),
            }
        })
    }
}

fn client(session: &Session) -> Option<&Client<DescribedGame>> {
    session.client_of()
}

/// Returns the state, as the header numbers it.
pub(crate) fn state(session: &Session) -> i32 {
    let watches = client(session).is_some_and(|client| client.watching().is_some());
    match session.state() {
        State::Connecting { .. } => PHASELOCK_JOINING,
        State::Connected if watches => PHASELOCK_WATCHING,
        State::Connected => PHASELOCK_PLAYING,
        State::Waiting { .. } => PHASELOCK_WAITING,
        State::Ended { .. } => PHASELOCK_ENDED,
    }
}

/// Iterates over players and spectators.
pub(crate) fn players(session: &Session) -> impl Iterator<Item = ListedPlayer> {
    let common = client(session).map(Client::common);
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

/// Returns what is known about the world and the connection.
pub(crate) fn status(session: &Session, now: LocalTime) -> ClientStatus {
    let state = state(session);
    let Some(client) = client(session) else {
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
        server_seconds: common.server_time(now).0 as f64 / 1e6,
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
pub(crate) fn setup(session: &Session) -> Vec<u8> {
    client(session).map(|client| client.game().setup().to_vec()).unwrap_or_default()
}

/// Takes the next event.
pub(crate) fn poll_event(session: &mut Session) -> Option<PolledEvent> {
    loop {
        let notice = session.poll_notice()?;
        let event = match notice {
            Notice::State(state) => event_of_state(&state),
            notice => event_of(notice),
        };
        if event.is_some() {
            return event;
        }
    }
}

fn flags(all: &[(bool, u32)]) -> u32 {
    all.iter().filter(|(is_set, _)| *is_set).fold(0, |sum, (_, flag)| sum | flag)
}

/// Turns an error of a request into one for C.
pub(crate) fn message_error(error: MessageError) -> Error {
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
        Refusal::Full => "there is no space for another spectator",
        Refusal::NoSide => "you are on no side",
        Refusal::Range => "a value in the request is out of range",
    }
}
