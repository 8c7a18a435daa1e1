//! Players who go to another server, and who come from one.

use super::Room;
use crate::game::{Game, Place};
use crate::ids::PlayerId;
use crate::server::output::ClientId;
use crate::server::transfer::Transfer;
use crate::time::LocalTime;

impl<G: Game> Room<G> {
    /// Returns what a player who is present takes along to another server.
    pub(super) fn transfer_of(&self, now: LocalTime, client: ClientId) -> Option<Transfer> {
        let member = self.seats.member(client).filter(|member| member.is_here())?;
        if !self.seats.players().has(client) {
            return None;
        }
        let person = member.person();
        let transfer = Transfer {
            key: person.key(),
            name: person.name().to_owned(),
            game: G::NAME.to_owned(),
            rules: self.simulation.hash(),
            played: now - person.joined(),
            side: self.simulation.place_of(person.player()).map(|place| place.side),
            mute: person.last_mute().filter(|mute| mute.holds(now)).map(|mute| mute.rest(now)),
            kinds: self.simulation.transferred(person.player()),
            room: None,
        };
        Some(transfer.clipped())
    }

    /// Gives a player who has just joined what the player brings: side and score, if this is the
    /// game that they are of.
    pub(super) fn bring(&mut self, player: PlayerId, transfer: &Transfer) {
        if transfer.game != G::NAME || transfer.rules != self.simulation.hash() {
            return;
        }
        if let Some(side) = transfer.side.filter(|side| *side < G::KIT.sides.count)
            && let Some(here) = self.simulation.place_of(player)
            && here.side != side
        {
            let (_, bots) = self.on_side(Place { side, ..here });
            // Without a free seat on that side and without a bot there, the player stays.
            let _ = self.simulation.put(player, side, None)
                || bots.last().is_some_and(|bot| self.simulation.put(player, side, Some(*bot)));
        }
        self.simulation.bring(player, &transfer.kinds);
    }

    /// Gives other names to strangers who have the name of a player with a ticket. Those who have
    /// brought their own names keep them, as do staff.
    pub(super) fn rename_strangers(&mut self, wanted: &str) {
        for client in self.seats.namesakes(wanted) {
            let Some(name) = self.seats.other_name(client, wanted) else { continue };
            let Some(member) = self.seats.member_mut(client) else { continue };
            let person = member.person_mut();
            if person.keeps_name() {
                continue;
            }
            let (before, look) = (person.name().to_owned(), person.look());
            person.restyle(name, look);
            self.show_restyled(client, &before);
            let text = format!("a player brought the name {wanted} from another server");
            self.answer(client, &text);
        }
    }
}
