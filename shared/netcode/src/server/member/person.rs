//! The person behind a member: identity, appearance, and what the host allows.

use core::net::SocketAddr;

use crate::game::Profile;
use crate::identity::{PublicKey, ResumeToken};
use crate::ids::PlayerId;
use crate::server::mute::Muted;
use crate::server::people::{Pass, Target};
use crate::time::{LocalTime, Micros};
use crate::wire::control::Seat;
use crate::wire::talk::{Look, person};

/// A person in the room, with a checked name and appearance.
#[derive(Clone, Debug)]
pub(in crate::server) struct Person {
    player: PlayerId,
    name: String,
    look: Look,
    key: PublicKey,
    token: ResumeToken,
    /// Time of the first hello.
    joined: LocalTime,
    address: Option<SocketAddr>,
    muted: Option<Muted>,
    /// Whether the person belongs to the host's staff, according to the pass.
    is_staff: bool,
    /// Whether the person came with a ticket of another server.
    is_transferred: bool,
}

/// Returns the mute that ends later.
fn longer(one: Option<Muted>, other: Option<Muted>) -> Option<Muted> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.longer(other)),
        (one, other) => one.or(other),
    }
}

impl Person {
    /// Creates a newcomer with a unique name, about whom the host knows nothing.
    pub(in crate::server) fn new(
        (player, name): (PlayerId, String),
        key: PublicKey,
        look: Look,
        token: ResumeToken,
        joined: LocalTime,
    ) -> Self {
        Self {
            player,
            name,
            look: look.worn_by(person(key)),
            key,
            token,
            joined,
            address: None,
            muted: None,
            is_staff: false,
            is_transferred: false,
        }
    }

    /// Adds what the host knows, as of `now`.
    pub(in crate::server) fn with(self, pass: Pass, now: LocalTime) -> Self {
        let Pass { address, mute, is_staff, transfer, .. } = pass;
        let is_transferred = self.is_transferred || transfer.is_some();
        let muted = |mute| Muted::from(mute, now);
        let (played, brought) = transfer.map_or((Micros::ZERO, None), |it| (it.played, it.mute));
        Self {
            address,
            is_staff,
            is_transferred,
            joined: self.joined - played,
            muted: longer(mute.map(muted), brought.map(muted)),
            ..self
        }
    }

    /// Adds the address of the last connection.
    pub(in crate::server) fn coming_from(self, address: Option<SocketAddr>) -> Self {
        Self { address, ..self }
    }

    /// Takes over token, first hello and mute of an earlier session. Of two mutes, the longer one
    /// stays.
    pub(in crate::server) fn resume(&mut self, before: &Self) {
        (self.token, self.joined) = (before.token, before.joined);
        self.is_transferred |= before.is_transferred;
        self.muted = longer(self.muted.take(), before.muted.clone());
    }

    pub(in crate::server) fn player(&self) -> PlayerId {
        self.player
    }

    pub(in crate::server) fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::server) fn look(&self) -> Look {
        self.look
    }

    pub(in crate::server) fn key(&self) -> PublicKey {
        self.key
    }

    pub(in crate::server) fn token(&self) -> ResumeToken {
        self.token
    }

    /// Returns the time of the first hello.
    pub(in crate::server) fn joined(&self) -> LocalTime {
        self.joined
    }

    pub(in crate::server) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    pub(in crate::server) fn is_staff(&self) -> bool {
        self.is_staff
    }

    /// Whether the person's name is safe from a namesake with a ticket.
    pub(in crate::server) fn keeps_name(&self) -> bool {
        self.is_staff || self.is_transferred
    }

    /// Whether a command for this target is meant for this player.
    pub(in crate::server) fn is(&self, target: Target) -> bool {
        self.player == target.seat && target.key.is_none_or(|key| key == self.key)
    }

    /// Returns the seat as other clients see it.
    pub(in crate::server) fn seat(&self) -> Seat {
        let person = Some(person(self.key));
        Seat { name: self.name.clone(), bot: false, look: self.look, person }
    }

    /// Returns name and key for the rules.
    pub(in crate::server) fn profile(&self) -> Profile {
        Profile { name: self.name.clone(), key: Some(self.key) }
    }

    /// Changes name and appearance. Returns whether either differs from before.
    pub(in crate::server) fn restyle(&mut self, name: String, look: Look) -> bool {
        let look = look.worn_by(person(self.key));
        let differs = self.name != name || self.look != look;
        (self.name, self.look) = (name, look);
        differs
    }

    /// Changes the address. Returns the previous one.
    pub(in crate::server) fn relocate(&mut self, address: SocketAddr) -> Option<SocketAddr> {
        self.address.replace(address)
    }

    /// Mutes the player, or lifts the mute (`None`).
    pub(in crate::server) fn mute(&mut self, muted: Option<Muted>) {
        self.muted = muted;
    }

    /// Returns the last mute, even if it is over.
    pub(in crate::server) fn last_mute(&self) -> Option<&Muted> {
        self.muted.as_ref()
    }

    /// Whether a mute is in force.
    pub(in crate::server) fn is_muted(&self, now: LocalTime) -> bool {
        self.muted.as_ref().is_some_and(|mute| mute.holds(now))
    }

    /// Returns the answer to a message from a muted player; `None` if no mute is in force.
    pub(in crate::server) fn answer_if_muted(&mut self, now: LocalTime) -> Option<String> {
        self.muted.take_if(|mute| !mute.holds(now));
        self.muted.as_ref().map(|mute| mute.answer(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::mute::Mute;
    use crate::server::transfer::Transfer;

    const NOW: LocalTime = LocalTime(1_000_000);

    fn mute(secs: Option<i64>, reason: &str) -> Mute {
        let within = secs.map(|secs| Micros::from_ms(1000 * secs));
        Mute { within, reason: reason.into() }
    }

    /// Returns a person whom the host has muted like this, and another server like that.
    fn person(host: Option<Mute>, brought: Option<Mute>) -> Person {
        let transfer = brought.map(|mute| {
            Box::new(Transfer {
                key: PublicKey([7; 32]),
                name: "Ada".into(),
                game: "chess".into(),
                rules: 1,
                played: Micros::ZERO,
                side: None,
                mute: Some(mute),
                kinds: Vec::new(),
                room: None,
            })
        });
        let ids = (PlayerId(1), "Ada".to_owned());
        Person::new(ids, PublicKey([7; 32]), Look::UNCHOSEN, ResumeToken(1), NOW)
            .with(Pass { mute: host, transfer, ..Pass::default() }, NOW)
    }

    #[test]
    fn of_two_mutes_the_one_that_ends_later_stays() {
        for (secs, other, expected) in [
            (Some(5), Some(900), "other"),
            (Some(900), Some(5), "one"),
            (Some(900), None, "other"),
            (None, Some(900), "one"),
        ] {
            let reason = |person: &Person| person.last_mute().map(|mute| mute.reason.clone());
            let (one, other) = (mute(secs, "one"), mute(other, "other"));
            let came = person(Some(one.clone()), Some(other.clone()));
            assert_eq!(reason(&came).as_deref(), Some(expected), "{secs:?}, with a ticket");
            let mut back = person(Some(one), None);
            back.resume(&person(Some(other), None));
            assert_eq!(reason(&back).as_deref(), Some(expected), "{secs:?}, on a return");
        }
        // One alone stays, wherever it is from.
        let mut back = person(None, None);
        back.resume(&person(None, Some(mute(None, "brought"))));
        assert!(back.is_muted(NOW));
        assert!(person(Some(mute(None, "host")), None).is_muted(NOW));
    }
}
