//! Messages between players and the rules besides snapshots and inputs: reliable, ordered and rare.
//! State that changes all the time belongs in entities, where nothing waits for a lost packet.

use std::collections::VecDeque;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ids::PlayerId;
use crate::limits::{
    GAME_EVENTS_BURST, GAME_EVENTS_PER_SECOND, GAME_MESSAGE_BYTES_MAX, GAME_REPORTS_MAX,
};
use crate::time::Rates;

/// Why a game's message was not sent or not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The message is longer than [`GAME_MESSAGE_BYTES_MAX`] bytes, or postcard cannot encode it.
    #[error("the message takes more than {GAME_MESSAGE_BYTES_MAX} bytes; split it")]
    Long,
    /// There were more than [`GAME_EVENTS_BURST`] events at once, more than
    /// [`GAME_EVENTS_PER_SECOND`] events per second, or more requests than the transport takes.
    #[error("too many messages at once; use entities and inputs for frequent changes")]
    TooMany,
    /// The client is not in the game.
    #[error("not connected; try again when the game continues")]
    NotConnected,
    /// The bytes are not a message of the expected type.
    #[error("the message cannot be read")]
    Unreadable,
}

/// Encodes a message as postcard.
///
/// # Errors
///
/// [`MessageError::Long`] if it exceeds [`GAME_MESSAGE_BYTES_MAX`] or cannot be encoded.
pub fn write_message<M: Serialize>(message: &M) -> Result<Vec<u8>, MessageError> {
    let bytes = postcard::to_stdvec(message).map_err(|_| MessageError::Long)?;
    if bytes.len() > GAME_MESSAGE_BYTES_MAX { Err(MessageError::Long) } else { Ok(bytes) }
}

/// Decodes a message that [`write_message`] wrote.
pub fn read_message<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, MessageError> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        _ => Err(MessageError::Unreadable),
    }
}

/// Cost of one event, in the unit of the allowance.
const EVENT_MICROS: u64 = 1_000_000;

/// A named number for the host, and the player it is about.
pub(crate) type Report = (&'static str, Option<PlayerId>, f64);

/// A game's events that are waiting to be sent.
#[derive(Debug)]
pub(crate) struct Outbox {
    waiting: VecDeque<(Option<PlayerId>, Vec<u8>)>,
    reports: VecDeque<Report>,
    /// Events that may still be emitted, in millionths.
    allowance: u64,
}

impl Default for Outbox {
    fn default() -> Self {
        let allowance = u64::from(GAME_EVENTS_BURST) * EVENT_MICROS;
        Self { waiting: VecDeque::new(), reports: VecDeque::new(), allowance }
    }
}

impl Outbox {
    /// Adds one tick's allowance.
    pub(crate) fn refill(&mut self, rates: Rates) {
        let more = u64::from(GAME_EVENTS_PER_SECOND) * EVENT_MICROS / u64::from(rates.tick_hz);
        self.allowance = (self.allowance + more).min(u64::from(GAME_EVENTS_BURST) * EVENT_MICROS);
    }

    pub(super) fn push<M: Serialize>(
        &mut self,
        to: Option<PlayerId>,
        event: &M,
    ) -> Result<(), MessageError> {
        let bytes = write_message(event)?;
        let rest = self.allowance.checked_sub(EVENT_MICROS).ok_or(MessageError::TooMany)?;
        self.waiting.push_back((to, bytes));
        self.allowance = rest;
        Ok(())
    }

    pub(super) fn report(&mut self, name: &'static str, player: Option<PlayerId>, value: f64) {
        if self.reports.len() >= GAME_REPORTS_MAX {
            self.reports.pop_front();
        }
        self.reports.push_back((name, player, value));
    }

    /// Takes the next report.
    pub(crate) fn pop_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// Takes the next event, with the player it is for. `None` means all players.
    pub(crate) fn pop(&mut self) -> Option<(Option<PlayerId>, Vec<u8>)> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_limited_at_once_and_by_the_second() {
        let mut outbox = Outbox::default();
        let mut sent = 0;
        while outbox.push(None, &7_u8).is_ok() {
            sent += 1;
        }
        assert_eq!(sent, GAME_EVENTS_BURST);
        for _ in 0..60 {
            outbox.refill(Rates { tick_hz: 60, snapshot_hz: 30 });
        }
        while outbox.push(Some(PlayerId(3)), &7_u8).is_ok() {
            sent += 1;
        }
        assert_eq!(
            sent,
            GAME_EVENTS_BURST + GAME_EVENTS_PER_SECOND - 1,
            "rounded down by the tick"
        );
        assert_eq!(outbox.push(None, &0_u8), Err(MessageError::TooMany));
        assert_eq!(outbox.pop(), Some((None, vec![7])));
        let last = std::iter::from_fn(|| outbox.pop()).last();
        assert_eq!(last, Some((Some(PlayerId(3)), vec![7])));
    }

    #[test]
    fn long_messages_and_garbage_are_refused() {
        let long = vec![0_u8; GAME_MESSAGE_BYTES_MAX];
        assert_eq!(write_message(&long), Err(MessageError::Long));
        assert_eq!(write_message(&long[8..].to_vec()).map(|bytes| bytes.len()), Ok(2034));
        assert_eq!(read_message::<(u8, u8)>(&[1]), Err(MessageError::Unreadable));
        assert_eq!(read_message::<u8>(&[1, 2]), Err(MessageError::Unreadable));
        assert_eq!(read_message::<u8>(&[1]), Ok(1));
    }
}
