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
        let Pass { address, mute, is_staff, transfer } = pass;
        let is_transferred = self.is_transferred || transfer.is_some();
        let (played, brought) = transfer.map_or((Micros::ZERO, None), |it| (it.played, it.mute));
        Self {
            address,
            is_staff,
            is_transferred,
            joined: self.joined - played,
            muted: mute.or(brought).map(|mute| Muted::from(mute, now)),
            ..self
        }
    }

    /// Adds the address of the last connection.
    pub(in crate::server) fn coming_from(self, address: Option<SocketAddr>) -> Self {
        Self { address, ..self }
    }

    /// Takes over token, first hello and mute of an earlier session.
    pub(in crate::server) fn resume(&mut self, before: &Self) {
        (self.token, self.joined) = (before.token, before.joined);
        self.is_transferred |= before.is_transferred;
        if self.muted.is_none() {
            self.muted = before.muted.clone();
        }
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
