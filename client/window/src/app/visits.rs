//! Begin and end of visits: from the menu, from the list of servers, and back to either.

use phaselock::games::Bots;
use phaselock::invitation::Invitation;
use phaselock::wire::disconnect::Code;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::talk::Look;

use super::App;
use crate::args::Wishes;
use crate::servers::{Answer, Choice, Trust};
use crate::settings::Store;
use crate::settings::screen::Screen;
use crate::visit::{self, Next, Visit};
use phaselock_ui::words::fill;

impl App {
    /// Goes from the list of servers to where the player wants.
    pub(super) fn choose(&mut self, choice: Choice) {
        self.servers.close();
        let Choice::Join { invitation, password, room, watch } = choice else {
            self.in_list = false;
            return;
        };
        self.args.options.setup.password = password;
        self.join_part(invitation, (room, watch));
    }

    /// Joins a room, or else the command line's or the server's choice, to play or to watch.
    fn join_part(&mut self, invitation: Invitation, (room, watch): (Option<RoomCode>, bool)) {
        let setup = &mut self.args.options.setup;
        let before = (setup.room.clone(), setup.watch);
        setup.room = room.clone().or(before.0.clone());
        setup.watch |= watch;
        self.join(invitation, self.menu.name());
        self.part = (room, watch);
        let setup = &mut self.args.options.setup;
        (setup.room, setup.watch) = before;
    }

    /// Shows why a visit ended, or could not begin, where the player then is.
    pub(super) fn set_error(&mut self, error: Option<String>) {
        let (shown, other) = match self.in_list {
            true => (error, None),
            false => (None, error),
        };
        self.servers.error = shown;
        self.menu.set_error(other);
    }

    /// Goes on after the question whether a changed certificate is trusted.
    pub(super) fn answer(&mut self, answer: Answer) {
        let Some(trust) = self.trust.take() else { return };
        if answer == Answer::Refuse {
            let server = trust.changed.host;
            let refused = fill(
                "{server} was not joined: its certificate has changed.",
                &[("server", &server)],
            );
            return self.set_error(Some(refused));
        }
        match trust.accept() {
            Ok(()) => {
                let part = std::mem::take(&mut self.part);
                self.join_part(trust.invitation, part);
            }
            Err(why) => self.set_error(Some(why)),
        }
    }

    pub(super) fn host(&mut self, games: &[String], bots: Bots, open: bool) {
        self.store.settings.last.note_play(games, bots);
        self.args.options.setup.wishes = Wishes::default();
        self.invitation = None;
        let games = self.views.games().select(games).map_err(|error| error.to_string());
        let name = self.menu.name();
        self.begin(games.and_then(|games| Visit::host(games, bots, open, self.setting(name))));
    }

    pub(super) fn join(&mut self, invitation: Invitation, name: String) {
        self.store.settings.last.server = invitation.address.to_string();
        self.invitation = Some(invitation.clone());
        self.part = Default::default();
        self.begin(Visit::join(invitation, self.setting(name)));
    }

    /// Writes a server into the history that has just been joined.
    pub(super) fn note_arrival(&mut self) {
        let arrived = self.visit.as_mut().and_then(Visit::take_arrival);
        if let Some((name, invitation)) = arrived.zip(self.invitation.as_ref()) {
            self.servers.book.change(|pages| pages.visited(&invitation.address, &name));
        }
    }

    /// The looks of the settings.
    pub(super) fn look(&self) -> Look {
        self.store.settings.player.look()
    }

    pub(super) fn setting(&self, name: String) -> visit::VisitConfig<'_> {
        let (views, setup) = (&self.views, &self.args.options.setup);
        let panels = &self.store.settings.last.panels;
        let settings = self.args.options.settings.clone().or_else(Store::default_path);
        let muted = settings.map(|path| path.with_file_name("muted.toml"));
        let look = self.look();
        let (lessons, records) = (&self.store.settings.seen.lessons, &self.store.settings.records);
        let clock = self.clock;
        visit::VisitConfig { name, look, muted, clock, views, setup, panels, lessons, records }
    }

    pub(super) fn begin(&mut self, started: Result<Visit, String>) {
        match started {
            Ok(visit) => {
                self.set_error(None);
                self.visit = Some(visit);
                self.controls.rest();
            }
            Err(reason) => self.set_error(Some(reason)),
        }
    }

    pub(super) fn follow(&mut self, next: Next) {
        match next {
            Next::Stay => {}
            Next::Leave => self.leave(),
            Next::Changed(changed) => {
                self.leave();
                let of = |invitation| Trust { changed, invitation };
                self.trust = self.invitation.take().map(of);
            }
            Next::Settings => self.screen = Some(Screen::default()),
            Next::Ended(code, reason) => {
                self.leave();
                self.set_error(Some(reason));
                if code == Code::Password {
                    self.servers.ask_password();
                    self.menu.ask_password();
                }
            }
        }
    }

    pub(super) fn leave(&mut self) {
        visit::begin_file(self.motion.as_mut());
        self.sounds.hush();
        if let Some(visit) = self.visit.take() {
            if visit.has_begun() {
                self.args.options.setup.wishes = Wishes::default();
            }
            self.closing.extend(visit.close("left"));
        }
        self.closing.retain(|goodbye| !goodbye.is_finished());
    }
}
