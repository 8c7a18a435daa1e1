//! A visit to a server, from joining it to leaving it, however often it is lost in between.

mod beside;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use egui_macroquad::egui::{Color32, Context, CursorIcon, LayerId};
use phaselock::client::{Notice, SessionConfig, State};
use phaselock::clock::pll::LoopFilter;
use phaselock::fingerprint::Fingerprint;
use phaselock::games::Games;
use phaselock::motion::choice::Choice;
use phaselock::time::{LocalTime, Micros};
use phaselock_lab::record::MotionFiles;
use phaselock_quic::client::{Changed, Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::invitation::Invitation;
use phaselock_quic::local::LocalServer;
use phaselock_quic::pins::KnownHosts;
use phaselock_quic::player::{PlayerKey, PlayerKeys};

pub(crate) use self::beside::begin_file;
use self::beside::{invitations, refused, warn};
use super::actions;
use super::args::Setup;
use super::chat::Chat;
use super::controls::{Action, Controls};
use super::cues::{Cues, common};
use super::graph::{self, NetGraph};
use super::overlay::{self, Status};
use super::people::{self, People};
use super::play::{AnyPlay, kinds};
use super::presentation::{Kind, Panel};
use super::settings::folder;
use super::view::{Frame, ViewEntry, Views};
use super::words::{fill, tr};
use super::{background, developer, palette, scoreboard};

/// Time for a notice: long enough to read a fingerprint.
const NOTICE_SHOWN: Micros = Micros::from_ms(12_000);

/// Names of panels in the settings.
const DETAILS: &str = "details";
const GRAPH: &str = "graph";

/// A visit to a server. Call [`update`](Self::update), then [`draw`](Self::draw), once per frame.
pub(crate) struct Visit {
    /// The server, as the player knows it.
    title: String,
    driver: Driver,
    /// The server inside of this program, if this is a visit to it.
    server: Option<LocalServer>,
    views: Views,
    /// View of the game, from the first welcome on.
    play: Option<(ViewEntry, Box<dyn AnyPlay>)>,
    server_name: String,
    chat: Chat,
    people: People,
    /// Rows by which the table of scores is scrolled.
    scrolled: usize,
    /// Reason why the last attempt failed, or the game before it ended.
    lost: Option<String>,
    pinned: Option<(Fingerprint, LocalTime)>,
    has_arrived: bool,
    /// Links by which friends on the local network join the server in this program.
    shared: Vec<Invitation>,
    paused: bool,
    details: bool,
    /// The simulated network, in words.
    link: Option<String>,
    filter: LoopFilter,
    graph: NetGraph,
    panel: Panel,
    /// Motion method of others from the start, if not the games' own.
    presentation: Option<Choice>,
    /// Motion methods that the player chose in each game.
    chosen: BTreeMap<&'static str, Vec<Kind>>,
}

/// Settings of every visit.
pub(crate) struct VisitConfig<'a> {
    /// Name of the player.
    pub(crate) name: String,
    pub(crate) clock: Clock,
    pub(crate) views: &'a Views,
    pub(crate) setup: &'a Setup,
    /// Names of the panels that are open from the start.
    pub(crate) panels: &'a [String],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Stay,
    Leave,
    /// The player wants to change settings; the visit goes on.
    Settings,
    Ended(String),
    /// The server shows another certificate than before.
    Changed(Changed),
}

impl Visit {
    /// Starts a server in this program, for friends on the local network too if it is open, and
    /// joins it.
    pub(crate) fn host(
        games: Games,
        bots: u16,
        open: bool,
        config: VisitConfig<'_>,
    ) -> Result<Self, String> {
        let server = match open {
            false => LocalServer::start(games, bots),
            true => {
                let folder = folder().ok_or_else(|| {
                    tr("There is no folder for the server's key; set HOME or XDG_CONFIG_HOME.")
                        .to_owned()
                })?;
                let name = fill("{name}'s game", &[("name", &config.name)]);
                LocalServer::start_open(games, bots, &name, &folder.join("here"))
            }
        };
        let server = server.map_err(|error| error.to_string())?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.address().port()));
        let options = Options::new(address.into(), Pins::Fixed(server.fingerprint()));
        Self::start("the server on this computer".to_owned(), options, Some(server), config)
    }

    pub(crate) fn join(invitation: Invitation, config: VisitConfig<'_>) -> Result<Self, String> {
        let Invitation { address, fingerprint } = invitation;
        let pins = match (KnownHosts::default_path(), fingerprint) {
            (Some(path), Some(fingerprint)) => Pins::Told(path, fingerprint),
            (Some(path), None) => Pins::File(path),
            (None, Some(fingerprint)) => Pins::Fixed(fingerprint),
            (None, None) => Pins::Memory,
        };
        let keys = PlayerKey::default_path().map_or(PlayerKeys::Ephemeral, PlayerKeys::File);
        let title = address.to_string();
        let options = Options { keys, ..Options::new(address, pins) };
        Self::start(title, options, None, config)
    }

    fn start(
        title: String,
        options: Options,
        server: Option<LocalServer>,
        VisitConfig { name, clock, views, setup, panels }: VisitConfig<'_>,
    ) -> Result<Self, String> {
        let shared = server.as_ref().map(invitations).unwrap_or_default();
        let options = Options { link: setup.link.clone(), ..options };
        let config = SessionConfig {
            filter: setup.filter,
            room: setup.room.clone(),
            password: setup.password.clone(),
            ..SessionConfig::new(views.games().clone(), name)
        };
        let open = |name: &str| panels.iter().any(|it| it == name);
        let driver = Driver::spawn(options, config, clock)
            .map_err(|error| format!("cannot start the network's thread: {error}"))?;
        Ok(Self {
            title,
            driver,
            server,
            views: views.clone(),
            play: None,
            server_name: String::new(),
            lost: None,
            pinned: None,
            has_arrived: false,
            shared,
            paused: false,
            chat: Chat::default(),
            people: People::default(),
            scrolled: 0,
            details: open(DETAILS),
            link: setup.link_words(),
            filter: setup.filter,
            graph: NetGraph::new(setup.net_graph || open(GRAPH)),
            panel: Panel::new(setup.marks),
            presentation: setup.presentation,
            chosen: BTreeMap::new(),
        })
    }

    /// Name that the server gives itself, from the first welcome on; told once.
    pub(crate) fn take_arrival(&mut self) -> Option<String> {
        let has_arrived = !self.has_arrived && !self.server_name.is_empty();
        self.has_arrived |= has_arrived;
        has_arrived.then(|| self.server_name.clone())
    }

    fn now(&self) -> LocalTime {
        self.driver.clock().now()
    }

    /// Receives packets, presses inputs and sends packets. The player's motion goes into the
    /// files.
    pub(crate) fn update(
        &mut self,
        controls: &mut Controls,
        files: Option<&mut MotionFiles>,
        cues: &Cues,
    ) -> Next {
        self.note_choices();
        self.driver.receive();
        let now = self.now();
        if let Some(fingerprint) = self.driver.take_pinned() {
            self.pinned = Some((fingerprint, now));
        }
        let mut next = Next::Stay;
        while let Some(notice) = self.driver.session.poll_notice() {
            match notice {
                Notice::State(State::Ended { reason }) => {
                    next = match self.driver.take_changed() {
                        Some(changed) => Next::Changed(changed),
                        None => Next::Ended(self.at_place(&reason.text)),
                    }
                }
                Notice::State(State::Waiting { reason, .. }) => self.lost = Some(reason.text),
                Notice::State(State::Connected) => self.lost = None,
                Notice::State(State::Connecting { .. }) => {}
                Notice::Game { server, game, .. } => self.begin(server, game, now),
                Notice::Chat { from, text } => {
                    cues.tell(&common::CHAT);
                    self.chat.add(from, text, now);
                }
                Notice::Refused { refusal, .. } => {
                    self.chat.add(None, refused(refusal).into(), now);
                }
                Notice::Called { by, motion } => {
                    if let Some(client) = self.driver.session.client() {
                        let what = people::words(&motion, client.common(), &self.views);
                        let values = [("name", &*by), ("what", &*what)];
                        let line = fill("{name} calls a vote: {what}.", &values);
                        self.chat.add(None, line, now);
                    }
                }
                Notice::Voted { motion, outcome } => {
                    if let Some(client) = self.driver.session.client() {
                        let line = people::ended(&motion, outcome, client.common(), &self.views);
                        self.chat.add(None, line, now);
                    }
                }
                Notice::Event(event) => {
                    if let Some((_, play)) = &mut self.play {
                        play.handle_event(&event);
                    }
                }
            }
        }
        if let Some(files) = files {
            self.driver.session.record_motion();
            warn(files.take_from(&mut self.driver.session, now));
        }
        if next == Next::Stay {
            self.handle_keys(controls);
            let now = self.now();
            self.driver.session.handle_frame(now);
            if let Some((_, play)) = self.play.as_mut() {
                play.press(&mut self.driver.session, now, controls);
            }
        }
        self.driver.transmit();
        next
    }

    fn is_connected(&self) -> bool {
        *self.driver.session.state() == State::Connected
    }

    /// Remembers the chosen methods for when the game is joined again, or comes again.
    fn note_choices(&mut self) {
        if let Some((client, (entry, _))) = self.driver.session.client().zip(self.play.as_ref()) {
            self.chosen.insert(entry.title, kinds(client));
        }
    }

    fn begin(&mut self, server: String, game: &'static str, now: LocalTime) {
        let Some(entry) = self.views.get(game).copied() else { return };
        self.server_name = server;
        self.play = Some((entry, (entry.begin)(now)));
        let session = &mut self.driver.session;
        match (self.chosen.get(entry.title), self.presentation) {
            (Some(kinds), _) => kinds.iter().for_each(|it| session.choose(it.kind, it.choice)),
            (None, Some(choice)) => {
                let kinds = session.client().map(kinds).unwrap_or_default();
                kinds.iter().for_each(|it| session.choose(it.kind, choice));
            }
            (None, None) => {}
        }
        self.panel.compare(session);
    }

    fn handle_keys(&mut self, controls: &mut Controls) {
        if self.chat.is_open() {
            // The keys write.
            if controls.pressed(&actions::MENU) {
                self.chat.close();
            }
            return controls.rest();
        }
        self.people.take_keys(&self.driver.session, controls);
        self.people.send(&mut self.driver.session);
        if controls.pressed(&actions::CHAT) && self.is_connected() && !self.paused {
            self.chat.open();
        }
        for (action, shown) in [
            (&actions::MENU, &mut self.paused),
            (&actions::DETAILS, &mut self.details),
            (&actions::GRAPH, &mut self.graph.shown),
            (&actions::OTHERS, &mut self.panel.shown),
        ] {
            *shown ^= controls.pressed(action);
        }
        if controls.pressed(&actions::CLOCK_LOOP) && self.graph.shown {
            self.filter = graph::other(self.filter);
            self.driver.session.set_loop_filter(self.driver.clock().now(), self.filter);
        }
        // The world goes on; only the player's controls are at rest.
        if self.paused || self.panel.shown || !self.is_connected() {
            controls.rest();
        }
    }

    /// Colour of the window where nothing is painted.
    pub(crate) fn backdrop(&self) -> Color32 {
        self.play.as_ref().map_or(palette::VOID, |(entry, _)| entry.backdrop)
    }

    pub(crate) fn draw(
        &mut self,
        ctx: &Context,
        controls: &mut Controls,
        secs: f32,
        cues: &Cues,
        covered: bool,
    ) -> Next {
        let now = self.now();
        let painter = ctx.layer_painter(LayerId::background());
        let busy = self.paused || self.panel.shown;
        let active = self.is_connected() && !busy;
        let screen = ctx.screen_rect();
        match &mut self.play {
            Some((_, play)) => {
                let scores = controls.held(&actions::SCORES) && active;
                self.scrolled = scoreboard::scroll(ctx, self.scrolled, scores);
                let frame = Frame {
                    painter: &painter,
                    screen,
                    pointer: controls.pointer,
                    secs,
                    active,
                    scores,
                    scrolled: self.scrolled,
                    crowded: self.graph.shown || self.panel.shown,
                    marks: self.panel.marks,
                    cues,
                    controls,
                };
                play.draw(&mut self.driver.session, now, frame);
            }
            None => {
                let y = screen.top() + screen.height() * 0.2;
                background::draw(&painter, screen, y, ctx.input(|input| input.time));
            }
        }
        if active && self.play.is_some() {
            ctx.set_cursor_icon(CursorIcon::None); // The game draws its own.
        }

        let client = self.driver.session.client();
        let playing = self.play.as_ref().zip(client);
        let readings = playing.map(|((_, play), client)| play.readings(client, now));
        if let Some(readings) = &readings {
            // Also while hidden, so that it can show the seconds before.
            self.graph.observe(now, readings);
            self.graph.draw(&painter, now, readings);
        }
        let pinned = self.pinned.filter(|(_, at)| now - *at < NOTICE_SHOWN);
        overlay::draw(
            &painter,
            &Status {
                title: &self.title,
                server: &self.server_name,
                state: self.driver.session.state(),
                lost: self.lost.as_deref(),
                now,
                playing: playing.map(|((entry, _), _)| entry.title),
                silence: playing.map(|(_, client)| client.common().silence(now)),
                figures: readings.as_ref().map(|readings| readings.figures),
                link: self.link.as_deref(),
                pinned: pinned.map(|(fingerprint, _)| fingerprint),
            },
        );
        if let Some(client) = self.driver.session.client().filter(|_| self.play.is_some()) {
            self.people.draw(&painter, client.common(), &self.views, controls, now);
        }
        if let Some(readings) = readings.filter(|_| self.details) {
            developer::draw(&painter, &readings);
        }
        if let Some((_, play)) = self.play.as_ref().filter(|_| !self.paused) {
            self.panel.draw(ctx, &mut self.driver.session, &**play);
        }
        if let Some(line) = self.chat.draw(ctx, &painter, now)
            && let Err(error) = self.driver.session.chat(&line)
        {
            self.chat.add(None, format!("Not sent: {error}."), now);
        }
        self.people.is_open &= self.paused;
        if !self.paused || covered {
            return Next::Stay;
        }
        if self.people.is_open
            && let Some((client, (_, play))) = self.driver.session.client().zip(self.play.as_ref())
        {
            let sides = play.sides(&self.driver.session);
            self.people.card(ctx, client, &self.views, sides);
            return Next::Stay;
        }
        match overlay::pause(ctx, &self.title, &controls.hints(), &self.shared) {
            Some(overlay::Choice::Resume) => {
                self.paused = false;
                controls.rest();
                Next::Stay
            }
            Some(overlay::Choice::People) => {
                self.people.is_open = true;
                Next::Stay
            }
            Some(overlay::Choice::Settings) => Next::Settings,
            Some(overlay::Choice::Leave) => Next::Leave,
            None => Next::Stay,
        }
    }

    /// Names of the open panels, in the order of the settings.
    pub(crate) fn panels(&self) -> Vec<&'static str> {
        let panels = [(self.details, DETAILS), (self.graph.shown, GRAPH)];
        panels.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name).collect()
    }

    /// True while the pause is shown.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Name and actions of the game.
    pub(crate) fn actions(&self) -> Option<(&'static str, &'static [Action])> {
        self.play.as_ref().map(|(entry, _)| (entry.name, entry.actions))
    }

    /// True while the game runs: joined, and heard of since.
    pub(crate) fn is_playing(&self) -> bool {
        let now = self.now();
        let common = self.driver.session.client().map(|client| client.common());
        let heard = common.is_some_and(|common| {
            common.stats().snapshots > 0 && common.silence(now) <= overlay::SILENCE_BAD
        });
        self.is_connected() && heard
    }

    /// Reason why the game does not run.
    pub(crate) fn trouble(&self) -> String {
        match self.driver.session.state() {
            State::Connecting { attempt } => {
                let lost = self.lost.as_ref().map_or(String::new(), |lost| format!(": {lost}"));
                format!("still connecting to {} (attempt {attempt}){lost}", self.title)
            }
            State::Connected => format!("{} sends no snapshots", self.title),
            State::Waiting { reason, .. } | State::Ended { reason } => self.at_place(&reason.text),
        }
    }

    /// A reason with the name of the server, unless it has it.
    fn at_place(&self, reason: &str) -> String {
        if reason.contains(&self.title) {
            return reason.to_owned();
        }
        format!("{}: {reason}", self.title)
    }

    /// Says goodbye on a thread of its own, because that may take a moment.
    pub(crate) fn close(self, reason: &'static str) -> Option<JoinHandle<()>> {
        let Self { driver, server, .. } = self;
        let goodbye = move || {
            driver.close(reason);
            if let Some(server) = server {
                server.stop(reason);
            }
        };
        // Without a thread both are dropped, which stops them as well.
        std::thread::Builder::new().name("goodbye".into()).spawn(goodbye).ok()
    }
}
