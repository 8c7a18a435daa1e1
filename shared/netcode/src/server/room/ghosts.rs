//! Ghosts: requests of players, which the host answers, and runs that are sent part by part.

use std::sync::Arc;

use super::Room;
use crate::game::Game;
use crate::limits::{GHOSTS_MAX, RUN_BYTES_MAX};
use crate::server::control::{CommandError, Event};
use crate::server::member::allowances::Request;
use crate::server::output::ClientId;
use crate::server::people::Target;
use crate::time::LocalTime;
use crate::wire::control::ServerMessage;
use crate::wire::ghost::{GhostNotice, GhostOffer, GhostRequest};

/// Parts of a run that a client is sent in a second: 5 kB, a tenth of what a full snapshot rate
/// takes. Arbitrary.
const PARTS_PER_SECOND: u32 = 5;

impl<G: Game> Room<G> {
    /// Passes a player's request to the host. Clients ask on their own, so a refusal is not shown.
    pub(super) fn handle_ghosts(
        &mut self,
        now: LocalTime,
        client: ClientId,
        request: GhostRequest,
    ) {
        let Some(course) = self.simulation.course() else { return };
        if !self.seats.players().has(client) {
            return;
        }
        let Some(member) = self.seats.member_mut(client) else { return };
        if member.may_ask(now, Request::Ghosts) {
            let player = member.person().player();
            self.host.push_event(Event::GhostsAsked { player, course, request });
        }
    }

    /// Sends a player the list of ghosts.
    pub(super) fn offer_ghosts(
        &mut self,
        player: Target,
        mut ghosts: Vec<GhostOffer>,
    ) -> Result<(), CommandError> {
        let client = self.client_of(player)?;
        ghosts.truncate(GHOSTS_MAX);
        self.host.send(client, ServerMessage::Ghosts(GhostNotice::Offers(ghosts)));
        Ok(())
    }

    /// Begins to send a player a run.
    pub(super) fn send_run(
        &mut self,
        player: Target,
        bytes: Arc<[u8]>,
    ) -> Result<(), CommandError> {
        let client = self.client_of(player)?;
        let member = self.seats.member_mut(client).filter(|_| bytes.len() <= RUN_BYTES_MAX);
        if let Some(member) = member {
            member.delivery_mut().set_run(bytes);
        }
        Ok(())
    }

    /// Sends the next part of each run that is due.
    pub(super) fn send_runs(&mut self) {
        let every = u64::from((self.host.rates().tick_hz / PARTS_PER_SECOND).max(1));
        if !self.simulation.tick().0.is_multiple_of(every) {
            return;
        }
        for (client, member) in self.seats.players_mut().members_mut() {
            if member.is_here()
                && let Some(part) = member.delivery_mut().poll_run()
            {
                self.host.send(client, ServerMessage::Ghosts(part));
            }
        }
    }
}
