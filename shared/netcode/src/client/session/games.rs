//! The games of a stay: the first one, and the following ones of the rotation.

use super::{GAME_MIN, Session, Step};
use crate::client::common::Common;
use crate::client::footage::GameOrigin;
use crate::client::output::{Notice, State};
use crate::time::LocalTime;
use crate::wire::control::Welcome;
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::snapshot::KindSet;
use crate::wire::text::printable;

impl Session {
    /// Starts a game: the first in answer to a hello, or the next of the rotation.
    pub(super) fn begin(
        &mut self,
        welcome: &Welcome,
        hello_sent: Option<LocalTime>,
        now: LocalTime,
    ) {
        // A spectator may get a seat just as another game begins.
        let [.., oldest] = self.begun;
        if hello_sent.is_none() && now - oldest < GAME_MIN {
            let text = "the server changed its game three times within a second";
            return self.close(now, Disconnect::new(Code::Protocol, text));
        }
        let Ok(entry) = self.config.games.get(&welcome.game).cloned() else {
            let game = printable(&welcome.game);
            let text = format!("the server plays {game}, which your client does not have");
            return self.close(now, Disconnect::new(Code::OtherGame, text));
        };
        self.collect_motion();
        self.cut_footage(now);
        let before = self.client.take();
        let common = match (hello_sent, before) {
            (None, Some(client)) => client.into_common(),
            (sent, _) => Common::new(welcome, sent.unwrap_or(now), now).plain(self.config.plain),
        };
        let mut client = match (entry.client)(welcome, common, now) {
            Ok(client) => client,
            Err(error) => {
                let text =
                    format!("cannot use the server's configuration of {}: {error}", entry.name);
                return self.close(now, Disconnect::new(Code::OtherGame, text));
            }
        };
        client.set_loop_filter(now, self.config.filter);
        client.set_input_delay(self.config.input_delay);
        client.record_motion(self.motion.is_some());
        let origin = GameOrigin { server: welcome.server.clone(), setup: welcome.setup.clone() };
        client.record_footage(self.minutes.is_some().then(|| origin.clone()));
        self.origin = Some(origin);
        self.client = Some(client);
        self.stays += 1;
        self.early_told = (KindSet::NONE, None);
        self.ghosts.restart();
        self.begun.rotate_right(1);
        self.begun[0] = now;
        let (server, resumed) = (welcome.server.clone(), welcome.resumed);
        self.notify(Notice::Game { server, game: entry.name, resumed });
        // From now on the token does what the ticket did.
        (self.token, self.ticket) = (Some(welcome.token), None);
        // A spectator gets nothing until the first states are as old as the delay.
        let patience = welcome.watching.unwrap_or_default();
        (self.heard, self.excused) = (now + patience, false);
        if hello_sent.is_some() {
            self.step = Step::Playing;
            self.joined = now;
            self.enter(State::Connected);
        }
        self.tell_early(now);
    }
}
