//! What a desktop shows between two visits: the menu, the server list, the search for a server, the
//! laboratory, and the question whether to trust a changed certificate.

use std::path::{Path, PathBuf};

use egui_macroquad::egui::{Context, LayerId};
use phaselock::games::Games;
use phaselock::invitation::Invitation;
use phaselock::wire::disconnect::Code;
use phaselock::wire::rooms::RoomCode;
use phaselock_lab::scene::{Begin, Lab};
use phaselock_quic::clock::Clock;
use phaselock_ui::background;
use phaselock_ui::words::fill;

use super::args::{Args, Export, Source, Start};
use super::connection::{self, LocalGame};
use super::drops::Drops;
use super::menu::{Menu, Wish};
use super::recordings::{Picked, Recordings};
use super::servers::{Answer, Choice, ServerLists, Servers, Trust};
use super::system::recordings_dir;
use super::{film, replays};
use crate::online::{Going, Online};
use crate::platform::{Desk, Lobby, Order};
use crate::registry::Views;
use crate::replay::{Loaded, Loading, OpenFilm};
use crate::settings::Settings;
use crate::setup::Wishes;
use crate::tell::tell;
use crate::visit::{End, Visit};

/// What the player asked for in a frame, by screen.
#[derive(Debug)]
enum Wished {
    Menu(Wish),
    Servers(Choice),
    Online(Going),
    Recordings(Picked),
    Trust(Answer),
    Loaded(Loaded),
}

/// Where to play on a server, as chosen from the list.
#[derive(Debug, Default)]
struct Part {
    /// The room, unless the server chooses.
    room: Option<RoomCode>,
    /// Whether to watch instead of playing.
    watch: bool,
    /// Ticket of a directory for the seat.
    ticket: Option<Vec<u8>>,
}

/// The screens between two visits.
pub(super) struct DesktopLobby {
    args: Args,
    clock: Clock,
    games: Games,
    drops: Drops,
    menu: Menu,
    /// The laboratory, kept as the player left it.
    lab: Option<Lab>,
    in_lab: bool,
    /// The server list, and whether it is shown, also for visits that began there.
    servers: Servers,
    in_list: bool,
    /// The screen on which a directory chooses the server, and whether it is shown, also for visits
    /// that began there.
    online: Online,
    in_online: bool,
    /// The list of recordings, and whether it is shown, also for visits that began there.
    recordings: Recordings,
    in_recordings: bool,
    /// A recording that is downloaded.
    loading: Option<Loading>,
    /// The export that the command line asks for, until it begins, and how it ended.
    export: Option<Export>,
    exported: Option<Result<String, String>>,
    /// The question whether a changed certificate is trusted.
    trust: Option<Trust>,
    /// The server of the visit, unless it is in this program.
    invitation: Option<Invitation>,
    /// What was chosen from the list.
    part: Part,
    wished: Option<Wished>,
}

impl DesktopLobby {
    /// Creates the screens; needs the open window.
    pub(super) fn new(
        args: Args,
        clock: Clock,
        views: &Views,
        book: ServerLists,
        settings: &Settings,
    ) -> Self {
        let servers = Servers::new(book, args.options.directories.clone(), views.clone());
        Self {
            menu: Menu::new(&args, views.games(), settings),
            games: views.games().clone(),
            clock,
            drops: Drops::start(),
            lab: None,
            in_lab: false,
            servers,
            in_list: false,
            online: Online::new(views.games().names()),
            in_online: false,
            recordings: Recordings::new(recordings_dir(&args.options), views.clone()),
            in_recordings: false,
            loading: None,
            export: None,
            exported: None,
            trust: None,
            invitation: None,
            part: Default::default(),
            wished: None,
            args,
        }
    }

    /// Opens the laboratory, as the player left it.
    fn experiment(&mut self, begin: &Begin) {
        let link = self.args.options.setup.link.as_ref();
        self.lab.get_or_insert_with(|| Lab::new(begin, link, &self.games));
        self.in_lab = true;
    }

    /// Starts a server in this program with the games of these names, and joins it.
    fn host(&mut self, game: LocalGame<Vec<String>>, desk: Desk<'_>) -> Option<Order> {
        let LocalGame { games: names, bots, open } = game;
        let last = &mut desk.settings.last;
        (last.games, last.bots) = (names.clone(), bots);
        self.args.options.setup.wishes = Wishes::default();
        self.invitation = None;
        let games = self.games.select(&names).map_err(|error| error.to_string());
        let config = desk.visit(self.menu.name(), &self.args.options.setup);
        let begun = games.and_then(|games| {
            connection::host(LocalGame { games, bots, open }, self.clock, config)
        });
        self.begin(begun)
    }

    fn join(&mut self, invitation: Invitation, desk: Desk<'_>) -> Option<Order> {
        desk.settings.last.server = invitation.address.to_string();
        self.invitation = Some(invitation.clone());
        self.part = Default::default();
        let config = desk.visit(self.menu.name(), &self.args.options.setup);
        let begun = connection::join(invitation, self.clock, config);
        self.begin(begun)
    }

    /// Joins the given room, or one chosen by the command line or the server, to play or to watch.
    fn join_part(&mut self, invitation: Invitation, part: Part, desk: Desk<'_>) -> Option<Order> {
        let setup = &mut self.args.options.setup;
        let before = (setup.room.clone(), setup.watch);
        setup.room = part.room.clone().or(before.0.clone());
        setup.watch |= part.watch;
        setup.ticket.clone_from(&part.ticket);
        let order = self.join(invitation, desk);
        self.part = part;
        let setup = &mut self.args.options.setup;
        (setup.room, setup.watch) = before;
        setup.ticket = None;
        order
    }

    /// Shows a recording that has been downloaded.
    fn watch_loaded(&mut self, loaded: Loaded, desk: Desk<'_>) -> Option<Order> {
        let loading = self.loading.take()?;
        self.invitation = None;
        let begun = match loaded {
            Loaded::Bytes(bytes) => {
                let (clock, title) = (self.clock, loading.title().to_owned());
                let config = desk.visit(self.menu.name(), &self.args.options.setup);
                let visit = Visit::of_recording(title, bytes, move || clock.now(), config);
                self.begin_export(visit.map(Visit::keepable))
            }
            Loaded::Failed(why) => self.begin_export(Err(why)),
            Loaded::Cancelled => {
                let why = fill("{url} was not downloaded.", &[("url", loading.title())]);
                // An export was all that the command line asked for.
                let _ = self.begin_export(Err(why));
                self.set_error(None);
                return None;
            }
        };
        self.begin(begun)
    }

    /// Shows a recording.
    fn watch(&mut self, file: &Path, desk: Desk<'_>) -> Option<Order> {
        self.invitation = None;
        let config = desk.visit(self.menu.name(), &self.args.options.setup);
        let begun = replays::watch(file, self.clock, config);
        let begun = self.begin_export(begun);
        self.begin(begun)
    }

    /// Starts the export of a recording that the command line asked for.
    fn begin_export(&mut self, visit: Result<Visit, String>) -> Result<Visit, String> {
        let Some(Export { path, from, to, fps }) = self.export.take() else { return visit };
        let fps = fps.unwrap_or_else(|| film::fps(&path));
        let begun = visit.and_then(|mut visit| {
            let open: OpenFilm = Box::new(move |format| film::open(&path, format));
            visit.begin_export(|player| player.cut(from, to, fps), open)?;
            Ok(visit)
        });
        self.exported = begun.as_ref().err().cloned().map(Err);
        begun
    }

    fn begin(&mut self, begun: Result<Visit, String>) -> Option<Order> {
        match begun {
            Ok(visit) => {
                self.set_error(None);
                Some(Order::Visit(Box::new(visit)))
            }
            Err(reason) => {
                self.set_error(Some(reason));
                None
            }
        }
    }

    /// Does what the player asked for in the menu.
    fn follow(&mut self, wish: Wish, desk: Desk<'_>) -> Option<Order> {
        match wish {
            Wish::Play(game) => return self.host(game, desk),
            Wish::Join { invitation, password } => {
                self.args.options.setup.password = password;
                return self.join(invitation, desk);
            }
            Wish::Search => self.in_list = true,
            Wish::Online => self.in_online = true,
            Wish::Recordings => self.in_recordings = true,
            Wish::Settings => return Some(Order::Settings),
            Wish::Experiment => self.experiment(&Begin::default()),
            Wish::Quit => return Some(Order::Quit),
        }
        None
    }

    /// Does what the player asked for in the server list.
    fn choose(&mut self, choice: Choice, desk: Desk<'_>) -> Option<Order> {
        self.servers.close();
        let Choice::Join { invitation, password, room, watch } = choice else {
            self.in_list = false;
            return None;
        };
        self.args.options.setup.password = password;
        self.join_part(invitation, Part { room, watch, ticket: None }, desk)
    }

    /// Does what the player asked for on the screen on which a directory chooses the server.
    fn go(&mut self, going: Going, desk: Desk<'_>) -> Option<Order> {
        match going {
            Going::Back => {
                self.online.close();
                self.in_online = false;
                None
            }
            Going::Directories => {
                (self.in_online, self.in_list) = (false, true);
                self.servers.show_directories();
                None
            }
            Going::Join { invitation, room, ticket, .. } => {
                self.args.options.setup.password = None;
                self.join_part(invitation, Part { room, watch: false, ticket }, desk)
            }
        }
    }

    /// Does what the player asked for in the list of recordings.
    fn pick(&mut self, picked: Picked, desk: Desk<'_>) -> Option<Order> {
        self.recordings.close();
        match picked {
            Picked::Back => {
                self.in_recordings = false;
                None
            }
            Picked::Watch(file) => self.watch(&file, desk),
        }
    }

    /// Continues after the question whether a changed certificate is trusted.
    fn answer(&mut self, answer: Answer, desk: Desk<'_>) -> Option<Order> {
        let trust = self.trust.take()?;
        if answer == Answer::Refuse {
            let server = trust.changed.host;
            let refused =
                fill("Did not join {server}: its certificate has changed.", &[("server", &server)]);
            self.set_error(Some(refused));
            return None;
        }
        match trust.accept() {
            Ok(()) => {
                let part = std::mem::take(&mut self.part);
                self.join_part(trust.invitation, part, desk)
            }
            Err(why) => {
                self.set_error(Some(why));
                None
            }
        }
    }
}

impl Lobby for DesktopLobby {
    fn start(&mut self, desk: Desk<'_>) -> Option<Order> {
        match self.args.start.clone() {
            Start::Menu => None,
            Start::Play { games, bots } => self.host(LocalGame { games, bots, open: false }, desk),
            Start::Join { invitation } => self.join(invitation, desk),
            Start::Replay { source, export } => {
                self.export = export;
                match source {
                    Source::File(file) => self.watch(&file, desk),
                    Source::Url(url) => {
                        self.loading = Some(replays::download(url));
                        None
                    }
                }
            }
            Start::Lab(begin) => {
                self.experiment(&begin);
                None
            }
        }
    }

    fn draw(&mut self, ctx: &Context, settings: &mut Settings, secs: f32, covered: bool) {
        let (painter, screen) = (ctx.layer_painter(LayerId::background()), ctx.screen_rect());
        if let Some(lab) = self.lab.as_mut().filter(|_| self.in_lab) {
            self.in_lab = !lab.draw(ctx, secs);
        } else if covered {
            let y = screen.top() + screen.height() * 0.2;
            background::draw(&painter, screen, y, ctx.input(|input| input.time));
        } else if let Some(loading) = &mut self.loading {
            self.wished = loading.draw(ctx).map(Wished::Loaded);
        } else if let Some(trust) = &self.trust {
            background::grid(&painter, screen, background::STEP);
            self.wished = trust.draw(ctx).map(Wished::Trust);
        } else if self.in_list {
            self.wished = self.servers.draw(ctx).map(Wished::Servers);
        } else if self.in_online {
            let directories = self.servers.directories();
            self.wished = self.online.draw(ctx, &directories).map(Wished::Online);
        } else if self.in_recordings {
            self.wished = self.recordings.draw(ctx, settings).map(Wished::Recordings);
        } else {
            self.wished = self.menu.draw(ctx, settings).map(Wished::Menu);
        }
    }

    fn painted(&mut self) {
        if let Some(lab) = &mut self.lab {
            lab.painted();
        }
    }

    fn decide(&mut self, desk: Desk<'_>) -> Option<Order> {
        if self.exported.is_some() {
            return Some(Order::Quit);
        }
        match self.wished.take()? {
            Wished::Menu(wish) => self.follow(wish, desk),
            Wished::Servers(choice) => self.choose(choice, desk),
            Wished::Online(going) => self.go(going, desk),
            Wished::Recordings(picked) => self.pick(picked, desk),
            Wished::Trust(answer) => self.answer(answer, desk),
            Wished::Loaded(loaded) => self.watch_loaded(loaded, desk),
        }
    }

    fn take_dropped(&mut self) -> Option<PathBuf> {
        self.drops.take()
    }

    fn watch_dropped(&mut self, file: PathBuf, desk: Desk<'_>) -> Option<Order> {
        // A download ends with its object.
        (self.loading, self.trust, self.wished) = (None, None, None);
        // Reading a pipe could take forever.
        if file.is_file() {
            return self.watch(&file, desk);
        }
        let file = file.display().to_string();
        self.set_error(Some(fill("{file} is not a file.", &[("file", &file)])));
        None
    }

    fn ended(&mut self, end: End, has_begun: bool) {
        if has_begun {
            self.args.options.setup.wishes = Wishes::default();
        }
        match end {
            End::Left => {}
            End::Filmed(ended) => {
                if let Ok(path) = &ended {
                    tell(format_args!("wrote {path}"));
                }
                self.exported = Some(ended);
            }
            End::Changed(changed) => {
                let of = |invitation| Trust { changed, invitation };
                self.trust = self.invitation.take().map(of);
            }
            End::Over(code, reason) => {
                self.set_error(Some(reason));
                if code == Code::Password {
                    self.servers.ask_password();
                    self.menu.ask_password();
                }
            }
        }
    }

    fn arrived(&mut self, server: &str) {
        if let Some(invitation) = &self.invitation {
            self.servers.book.change(|pages| pages.visited(&invitation.address, server));
        }
    }

    fn settings_closed(&mut self, settings: &Settings) {
        self.menu.take_name(settings);
    }

    /// Shows an error on the player's current screen.
    fn set_error(&mut self, error: Option<String>) {
        (self.servers.error, self.online.error, self.recordings.error) = (None, None, None);
        self.menu.set_error(None);
        match () {
            () if self.in_list => self.servers.error = error,
            () if self.in_online => self.online.error = error,
            () if self.in_recordings => self.recordings.error = error,
            () => self.menu.set_error(error),
        }
    }

    fn error(&self) -> Option<&str> {
        let of_list = self.servers.error.as_deref().or(self.online.error.as_deref());
        of_list.or(self.recordings.error.as_deref()).or(self.menu.error())
    }

    fn screen(&self) -> Option<&'static str> {
        match () {
            () if self.in_lab => Some("laboratory"),
            () if self.loading.is_some() => Some("download"),
            () if self.trust.is_some() => Some("trust"),
            () if self.in_list => Some("servers"),
            () if self.in_online => Some("online"),
            () if self.in_recordings => Some("recordings"),
            () => None,
        }
    }

    fn saved(&mut self) {
        // The folder is read again.
        self.recordings.close();
    }

    fn failure(&self) -> Option<&str> {
        self.exported.as_ref()?.as_ref().err().map(String::as_str)
    }

    fn must_join(&self) -> bool {
        matches!(self.args.start, Start::Play { .. } | Start::Join { .. } | Start::Replay { .. })
    }
}
