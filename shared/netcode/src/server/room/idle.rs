//! Idle players: warned, and kicked after a while.

use super::Room;
use crate::game::Game;
use crate::server::output::ClientId;
use crate::time::{LocalTime, Micros};
use crate::wire::control::ServerMessage;
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::talk::Audience;

/// Time from the warning to the kick, or half of the total if that is shorter.
const WARNING: Micros = Micros::from_ms(30_000);

impl<G: Game> Room<G> {
    /// Warns idle players, and eventually kicks them.
    pub(super) fn drop_idle(&mut self, now: LocalTime) {
        let Some(idle) = self.host.settings().idle else { return };
        let warning = WARNING.min(Micros(idle.0 / 2));
        let (mut warned, mut late): (Vec<ClientId>, Vec<ClientId>) = Default::default();
        for (client, member) in self.seats.players_mut().members_mut() {
            let attendance = member.attendance_mut();
            let since = attendance.idle(now);
            if attendance.is_away() {
                continue;
            }
            if since >= idle {
                late.push(client);
            } else if since >= idle - warning && attendance.warn() {
                warned.push(client);
            }
        }
        for client in warned {
            let secs = warning.0 / 1_000_000;
            let text = format!("you are idle and will be kicked in {secs} seconds");
            self.host.send(client, ServerMessage::Chat { from: None, to: Audience::All, text });
        }
        for client in late {
            let text = format!("you were idle for {} seconds", idle.0 / 1_000_000);
            self.host.put_out(client, Disconnect::new(Code::Idle, &text));
            self.free(client, Code::Idle, &text);
        }
    }
}
