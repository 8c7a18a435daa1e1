//! What a page shows between two visits: the card from which its server is joined, and the screen
//! on which a directory chooses another one.

use std::path::PathBuf;

use egui_macroquad::egui::Context;
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::disconnect::Code;
use phaselock::wire::text::{clip, read_name};
use phaselock_ui::words::{fill, tr};
use phaselock_web::network::server_of_browsers;
use phaselock_web::page::{self, PageClock};

use super::card::{Card, Wish};
use super::connection;
use super::found::{self, Found};
use super::replays;
use super::seek::PageDirectory;
use crate::online::{Going, Online};
use crate::platform::{Desk, Lobby, Order};
use crate::registry::Views;
use crate::replay::{Loaded, Loading};
use crate::settings::Settings;
use crate::setup::{Setup, Wishes, default_name};
use crate::visit::{End, Visit};

/// The card before and after a game.
pub(super) struct PageLobby {
    setup: Setup,
    /// Name in the field before the game.
    name: String,
    /// Text in the field for the server's password.
    password: String,
    /// Whether the password field gets the keyboard in the next frame.
    asks_password: bool,
    /// Whether the password is being typed.
    is_secret: bool,
    /// Whether the player need not be asked for a name.
    is_ready: bool,
    /// Why the last visit ended.
    error: Option<String>,
    wish: Option<Wish>,
    /// The screen on which a directory chooses the server, and whether it is shown, also for visits
    /// that began there.
    online: Online,
    in_online: bool,
    going: Option<Going>,
    /// A recording that is downloaded, and how that ended.
    loading: Option<Loading>,
    loaded: Option<Loaded>,
}

impl PageLobby {
    pub(super) fn new(settings: &Settings, views: &Views) -> Self {
        let linked = page::linked("name").map(|name| clip(name.trim(), TEXT_BYTES_MAX).to_owned());
        let linked = linked.filter(|name| !name.is_empty());
        let kept = Some(settings.player.name.clone()).filter(|name| !name.is_empty());
        let invited = linked.as_ref().or(kept.as_ref());
        // A name that servers refuse stays in the field, which says why.
        let is_ready = invited.is_some_and(|name| read_name(name).is_ok());
        let (text, mut wishes) = (page::linked("room"), Wishes::default());
        let room = text.as_ref().and_then(|code| code.parse().ok());
        wishes.bad_room = text.filter(|_| room.is_none());
        wishes.game = page::linked("game");
        let watch = page::linked("watch").is_some();
        Self {
            setup: Setup { room, wishes, watch, ..Setup::default() },
            name: linked.or(kept).unwrap_or_else(default_name),
            password: String::new(),
            asks_password: page::needs_password(),
            is_secret: false,
            is_ready,
            error: None,
            wish: None,
            online: Online::new(views.games().names()),
            in_online: page::linked("online").is_some(),
            going: None,
            loading: page::linked("replay").map(replays::download),
            loaded: None,
        }
    }

    /// Returns the player's name.
    fn name(&self, settings: &mut Settings) -> String {
        let written = self.name.trim();
        let name = if written.is_empty() { default_name() } else { written.to_owned() };
        if settings.player.name.is_empty() {
            settings.player.take_name(&name);
        }
        name
    }

    fn join(&mut self, desk: Desk<'_>) -> Option<Order> {
        let name = self.name(desk.settings);
        self.setup.password = Some(self.password.clone()).filter(|word| !word.is_empty());
        let title = page::server_name().unwrap_or_else(|| tr("the server").to_owned());
        self.error = None;
        let visit = connection::join(title, None, desk.visit(name, &self.setup));
        Some(Order::Visit(Box::new(visit)))
    }

    /// Shows the recording that has been downloaded.
    fn watch(&mut self, loaded: Loaded, desk: Desk<'_>) -> Option<Order> {
        let title = self.loading.take()?.title().to_owned();
        let clock = PageClock::start();
        let begun = match loaded {
            Loaded::Bytes(bytes) => {
                let config = desk.visit(default_name(), &self.setup);
                Visit::of_recording(title, bytes, move || clock.now(), config).map(Visit::keepable)
            }
            Loaded::Failed(why) => Err(why),
            Loaded::Cancelled => return None,
        };
        match begun {
            Ok(visit) => Some(Order::Visit(Box::new(visit))),
            Err(why) => {
                self.set_error(Some(why));
                None
            }
        }
    }

    /// Does what the player asked for on the screen on which a directory chooses the server.
    fn go(&mut self, going: Going, desk: Desk<'_>) -> Option<Order> {
        let Going::Join { invitation, room, web, ticket } = going else {
            self.online.close();
            self.in_online = false;
            return None;
        };
        let address = invitation.address;
        let Some(to) = server_of_browsers(&address, &web) else {
            self.online.error = Some(tr("That server admits no browsers.").to_owned());
            return None;
        };
        self.online.error = None;
        Some(self.join_found(&Found { address, room, to }, ticket, desk))
    }

    fn join_found(&mut self, found: &Found, ticket: Option<Vec<u8>>, desk: Desk<'_>) -> Order {
        let name = self.name(desk.settings);
        let setup =
            Setup { room: found.room.clone(), ticket, watch: self.setup.watch, ..Setup::default() };
        let title = found.address.to_string();
        let visit = connection::join(title, Some(found), desk.visit(name, &setup));
        Order::Visit(Box::new(visit))
    }
}

impl Lobby for PageLobby {
    /// Returning players and those invited by name play at once. After a reload, they return to
    /// the server that they were on.
    fn start(&mut self, desk: Desk<'_>) -> Option<Order> {
        if let Some(found) = Found::of_tab().filter(|_| self.is_ready && self.loading.is_none()) {
            // Leaving then leads to the screen of *Play online*.
            self.in_online |= page::directory().is_some();
            return Some(self.join_found(&found, None, desk));
        }
        let is_elsewhere = self.in_online || self.loading.is_some();
        let joins = self.is_ready && !is_elsewhere && !page::needs_password();
        if joins { self.join(desk) } else { None }
    }

    fn draw(&mut self, ctx: &Context, _settings: &mut Settings, _secs: f32, covered: bool) {
        if let Some(loading) = self.loading.as_mut().filter(|_| !covered) {
            self.loaded = loading.draw(ctx);
            return;
        }
        if self.in_online && !covered {
            self.going = self.online.draw(ctx, &PageDirectory::new());
            self.is_secret = false;
            return;
        }
        let mut card = Card {
            server: page::server_name(),
            needs_password: page::needs_password(),
            name: &mut self.name,
            password: &mut self.password,
            asks_password: &mut self.asks_password,
            error: self.error.as_deref(),
        };
        (self.wish, self.is_secret) = card.draw(ctx, covered);
    }

    fn decide(&mut self, desk: Desk<'_>) -> Option<Order> {
        if let Some(loaded) = self.loaded.take() {
            return self.watch(loaded, desk);
        }
        if let Some(going) = self.going.take() {
            return self.go(going, desk);
        }
        match self.wish.take()? {
            Wish::Online => {
                desk.settings.player.take_name(&self.name);
                self.in_online = true;
                None
            }
            Wish::Join => {
                desk.settings.player.take_name(&self.name);
                self.join(desk)
            }
            Wish::Settings => Some(Order::Settings),
        }
    }

    fn take_dropped(&mut self) -> Option<PathBuf> {
        page::take_dropped().map(PathBuf::from)
    }

    fn watch_dropped(&mut self, file: PathBuf, _desk: Desk<'_>) -> Option<Order> {
        // The page has one download at a time, which ends with its object.
        (self.loading, self.loaded) = (None, None);
        self.loading = Some(replays::read_dropped(file.display().to_string()));
        None
    }

    fn ended(&mut self, end: End, _has_begun: bool) {
        found::keep(None);
        if self.in_online {
            self.online.error = match end {
                End::Over(_, reason) => Some(reason),
                End::Left | End::Changed(_) | End::Filmed(_) => None,
            };
            return;
        }
        self.error = match end {
            End::Left | End::Changed(_) | End::Filmed(_) => None,
            // The page has the client of another build: its server has been updated.
            End::Over(Code::OtherWire | Code::OtherGame | Code::OldClient, reason) => {
                Some(reason).filter(|_| !page::reload())
            }
            End::Over(code, reason) => {
                self.asks_password |= code == Code::Password;
                // The next attempt leads to a room of the server's choice.
                let room = self.setup.room.take_if(|_| code == Code::NoRoom);
                Some(room.map_or(reason, |room| {
                    fill(
                        "This server has no room {room} at the moment. Press Play to join another \
                         room.",
                        &[("room", &room.to_string())],
                    )
                }))
            }
        };
    }

    /// Shows an error on the player's current screen.
    fn set_error(&mut self, error: Option<String>) {
        let shown = if self.in_online { &mut self.online.error } else { &mut self.error };
        *shown = error;
    }

    fn error(&self) -> Option<&str> {
        let shown = if self.in_online { &self.online.error } else { &self.error };
        shown.as_deref()
    }

    fn screen(&self) -> Option<&'static str> {
        self.loading.as_ref().map(|_| "download").or(self.in_online.then_some("online"))
    }

    fn is_secret(&self) -> bool {
        self.is_secret
    }
}
