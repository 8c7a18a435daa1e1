//! From joining a server to leaving it, however often it is lost in between.

use std::collections::BTreeMap;
use std::thread::JoinHandle;

use egui_macroquad::egui::{Color32, Context, CursorIcon, LayerId};
use macroquad::input::is_key_pressed;
use phaselock::clock::pll::LoopFilter;
use phaselock::fingerprint::Fingerprint;
use phaselock::motion::choice::Choice;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::Welcome;
use phaselock_lab::record::{MotionFiles, RecordError};
use phaselock_quic::client::pins::KnownHosts;
use phaselock_quic::client::{Address, Clock, Event, Handle, Options, Pins, State};
use phaselock_quic::local::LocalServer;

use super::args::Setup;
use super::graph::{self, NetGraph};
use super::hands::{Hands, KeyCode};
use super::overlay::{self, Status};
use super::play::{Frame, Play};
use super::presentation::{Kind, Panel};
use super::view::From;
use super::{background, developer, palette, view};

/// How long a notice is shown: long enough to read a fingerprint.
const NOTICE_SHOWN: Micros = Micros::from_ms(12_000);

/// A session. Call [`update`](Self::update), then [`draw`](Self::draw), each once a frame.
pub(crate) struct Session {
    clock: Clock,
    /// The server, as the player knows it.
    place: String,
    handle: Handle,
    /// The server inside of this program, if that is where it is.
    server: Option<LocalServer>,
    state: State,
    /// The game, from the first welcome on.
    play: Option<Box<dyn Play>>,
    server_name: String,
    /// Why the last attempt failed, or the game before it.
    lost: Option<String>,
    pinned: Option<(Fingerprint, LocalTime)>,
    paused: bool,
    details: bool,
    /// The bad network that was put in between, as it is shown.
    link: Option<String>,
    /// What keeps the clock in phase, and does after joining again.
    filter: LoopFilter,
    graph: NetGraph,
    panel: Panel,
    /// How others are shown from the start, if not as the games would have it.
    presentation: Option<Choice>,
    /// What was chosen of that in each game.
    chosen: BTreeMap<&'static str, Vec<Kind>>,
    /// When the game began.
    begun: Option<LocalTime>,
}

/// No server goes on to another game sooner than that; one that does would keep the window from drawing.
const GAME_LEAST: Micros = Micros::from_ms(1000);

/// What becomes of a session after a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It goes on.
    Stay,
    /// The player has had enough.
    Leave,
    /// It is over, and why.
    Ended(String),
}

impl Session {
    /// Starts a server in this program, and joins it.
    pub(crate) fn host(
        games: &[String],
        bots: u16,
        name: String,
        clock: Clock,
        setup: &Setup,
    ) -> Result<Self, String> {
        let server = LocalServer::start(games, bots).map_err(|error| error.to_string())?;
        let address = server.address().to_string();
        let address = address.parse().map_err(|error| format!("{error}"))?;
        let pins = Pins::Fixed(server.fingerprint());
        let options = Options::new(address, name, pins);
        Self::start("the server on this computer".into(), options, clock, Some(server), setup)
    }

    /// Joins a server.
    pub(crate) fn join(
        address: Address,
        name: String,
        clock: Clock,
        setup: &Setup,
    ) -> Result<Self, String> {
        let pins = KnownHosts::default_path().map_or(Pins::Memory, Pins::File);
        let place = address.to_string();
        Self::start(place, Options::new(address, name, pins), clock, None, setup)
    }

    fn start(
        place: String,
        mut options: Options,
        clock: Clock,
        server: Option<LocalServer>,
        setup: &Setup,
    ) -> Result<Self, String> {
        options.link = setup.link.clone();
        let handle = Handle::spawn(options, clock)
            .map_err(|error| format!("cannot start the network's thread: {error}"))?;
        Ok(Self {
            clock,
            place,
            handle,
            server,
            state: State::Connecting { attempt: 1 },
            play: None,
            server_name: String::new(),
            lost: None,
            pinned: None,
            paused: false,
            details: false,
            link: setup.link_words(),
            filter: setup.filter,
            graph: NetGraph::new(setup.net_graph),
            panel: Panel::new(setup.marks),
            presentation: setup.presentation,
            chosen: BTreeMap::new(),
            begun: None,
        })
    }

    /// Takes in what has come, commands what is due and sends what is to be sent. The player's motion goes
    /// into the files.
    pub(crate) fn update(
        &mut self,
        hands: &mut Hands,
        mut files: Option<&mut MotionFiles>,
    ) -> Next {
        let mut handled = Ok(());
        while let (Ok(()), Some(event)) = (&handled, self.handle.try_recv()) {
            handled = self.handle_event(event, files.as_deref_mut());
        }
        self.record(files);
        if let Err(reason) = handled {
            return Next::Ended(reason);
        }
        self.handle_keys(hands);
        let connected = self.state == State::Connected;
        if let Some(play) = self.play.as_mut().filter(|_| connected) {
            play.tick(self.clock.now(), hands);
            while let Some(packet) = play.poll_transmit() {
                self.handle.send(packet);
            }
        }
        Next::Stay
    }

    fn record(&mut self, files: Option<&mut MotionFiles>) {
        if let (Some(play), Some(files)) = (&mut self.play, files) {
            warn(play.record(files, self.clock.now()));
        }
    }

    fn handle_event(
        &mut self,
        event: Event,
        mut files: Option<&mut MotionFiles>,
    ) -> Result<(), String> {
        match event {
            Event::State(State::Ended { reason }) => {
                return Err(self.at_place(&reason));
            }
            Event::State(state) => {
                match &state {
                    State::Waiting { reason, .. } => self.lost = Some(reason.clone()),
                    State::Connected => self.lost = None,
                    State::Connecting { .. } | State::Ended { .. } => {}
                }
                self.state = state;
            }
            Event::Pinned(fingerprint) => self.pinned = Some((fingerprint, self.clock.now())),
            Event::Welcome { welcome, hello_sent, at } => {
                self.note_choices();
                self.record(files.as_deref_mut());
                self.begin(welcome, From::Hello(hello_sent), at, files)?;
            }
            Event::Game { welcome, at } => {
                // Without a game before there is no session, and nothing to go on with.
                self.note_choices();
                self.record(files.as_deref_mut());
                let Some(before) = self.play.take() else { return Ok(()) };
                if self.begun.is_some_and(|begun| at - begun < GAME_LEAST) {
                    return Err(format!("{} changes its game all the time", self.place));
                }
                self.begin(welcome, From::Game(Box::new(before.leave_game())), at, files)?;
            }
            Event::Message(message) => {
                if let Some(play) = &mut self.play {
                    play.handle_message(&message);
                }
            }
            Event::Datagram { bytes, arrival } => {
                if let Some(play) = &mut self.play {
                    play.handle_datagram(&bytes, arrival);
                }
            }
        }
        Ok(())
    }

    /// What was chosen lasts, also when the game is joined again, or comes again.
    fn note_choices(&mut self) {
        if let Some(play) = &self.play {
            self.chosen.insert(play.title(), play.kinds());
        }
    }

    fn begin(
        &mut self,
        welcome: Welcome,
        from: From,
        at: LocalTime,
        files: Option<&mut MotionFiles>,
    ) -> Result<(), String> {
        let Some(mut play) = view::start(&welcome, from, at) else {
            let game = &welcome.game;
            return Err(format!("{} plays {game}, which has no picture here", self.place));
        };
        play.set_loop_filter(self.clock.now(), self.filter);
        play.record_motion(begin_file(files));
        match (self.chosen.get(play.title()), self.presentation) {
            (Some(kinds), _) => kinds.iter().for_each(|it| play.choose(it.kind, it.choice)),
            (None, Some(choice)) => {
                let kinds = play.kinds();
                kinds.iter().for_each(|it| play.choose(it.kind, choice));
            }
            (None, None) => {}
        }
        play.set_ghost(self.panel.ghost());
        self.play = Some(play);
        self.begun = Some(at);
        self.server_name = welcome.server;
        Ok(())
    }

    fn handle_keys(&mut self, hands: &mut Hands) {
        if is_key_pressed(KeyCode::Escape) {
            self.paused = !self.paused;
        }
        if is_key_pressed(KeyCode::F3) {
            self.details = !self.details;
        }
        if is_key_pressed(KeyCode::F4) {
            self.graph.shown = !self.graph.shown;
        }
        if is_key_pressed(KeyCode::F5) && self.graph.shown {
            self.filter = graph::other(self.filter);
            if let Some(play) = &mut self.play {
                play.set_loop_filter(self.clock.now(), self.filter);
            }
        }
        if is_key_pressed(KeyCode::F6) {
            self.panel.shown = !self.panel.shown;
        }
        // The world does not wait; the player's hands are off the keys, that is all.
        if self.paused || self.panel.shown || self.state != State::Connected {
            hands.rest();
        }
    }

    /// What is seen where nothing is painted.
    pub(crate) fn backdrop(&self) -> Color32 {
        self.play.as_ref().map_or(palette::VOID, |play| play.backdrop())
    }

    /// Shows it all.
    pub(crate) fn draw(&mut self, ctx: &Context, hands: &mut Hands, secs: f32) -> Next {
        let now = self.clock.now();
        let painter = ctx.layer_painter(LayerId::background());
        let busy = self.paused || self.panel.shown;
        let active = self.state == State::Connected && !busy;
        match &mut self.play {
            Some(play) => {
                let scores = hands.key(&[KeyCode::Tab]) && active;
                let screen = ctx.screen_rect();
                let frame = Frame {
                    screen,
                    pointer: hands.pointer,
                    secs,
                    active,
                    scores,
                    crowded: self.graph.shown || self.panel.shown,
                    marks: self.panel.marks,
                };
                play.draw(now, &frame, &painter);
            }
            None => {
                let screen = ctx.screen_rect();
                let y = screen.top() + screen.height() * 0.2;
                background::draw(&painter, screen, y, ctx.input(|input| input.time));
            }
        }
        if active && self.play.is_some() {
            ctx.set_cursor_icon(CursorIcon::None); // The game draws its own.
        }

        let readings = self.play.as_ref().map(|play| play.readings(now));
        if let Some(readings) = &readings {
            // Hidden or not, so that what happened just before is there to be seen.
            self.graph.observe(now, readings);
            self.graph.draw(&painter, now, readings);
        }
        let pinned = self.pinned.filter(|(_, at)| now - *at < NOTICE_SHOWN);
        overlay::draw(
            &painter,
            &Status {
                place: &self.place,
                server: &self.server_name,
                state: &self.state,
                lost: self.lost.as_deref(),
                now,
                playing: self.play.as_ref().map(|play| play.title()),
                silence: self.play.as_ref().map(|play| play.silence(now)),
                rates: readings.as_ref().map(|readings| readings.rates),
                link: self.link.as_deref(),
                pinned: pinned.map(|(fingerprint, _)| fingerprint),
            },
        );
        if let Some(readings) = readings.filter(|_| self.details) {
            developer::draw(&painter, &readings);
        }
        if let Some(play) = self.play.as_mut().filter(|_| !self.paused) {
            self.panel.draw(ctx, &mut **play);
        }
        if !self.paused {
            return Next::Stay;
        }
        let controls = self.play.as_ref().map_or(&[][..], |play| play.controls());
        match overlay::pause(ctx, &self.place, controls) {
            Some(overlay::Choice::Resume) => {
                self.paused = false;
                hands.rest();
                Next::Stay
            }
            Some(overlay::Choice::Leave) => Next::Leave,
            None => Next::Stay,
        }
    }

    /// Whether the game runs: joined, and heard of since.
    pub(crate) fn is_playing(&self) -> bool {
        let now = self.clock.now();
        let heard = |play: &dyn Play| {
            play.readings(now).stats.snapshots > 0 && play.silence(now) <= overlay::SILENCE_BAD
        };
        self.state == State::Connected && self.play.as_deref().is_some_and(heard)
    }

    /// Why the game does not run.
    pub(crate) fn trouble(&self) -> String {
        match &self.state {
            State::Connecting { attempt } => {
                let lost = self.lost.as_ref().map_or(String::new(), |lost| format!(": {lost}"));
                format!("still connecting to {} (attempt {attempt}){lost}", self.place)
            }
            State::Connected => format!("{} sends no snapshots", self.place),
            State::Waiting { reason, .. } | State::Ended { reason } => self.at_place(reason),
        }
    }

    /// A reason, and the place it is about, unless it says so itself.
    fn at_place(&self, reason: &str) -> String {
        if reason.contains(&self.place) {
            return reason.to_owned();
        }
        format!("{}: {reason}", self.place)
    }

    /// Says goodbye on a thread of its own, because that may take a moment.
    pub(crate) fn close(self, reason: &'static str) -> Option<JoinHandle<()>> {
        let Self { handle, server, .. } = self;
        let goodbye = move || {
            handle.close(reason);
            if let Some(server) = server {
                server.stop(reason);
            }
        };
        // Without a thread both are dropped, which stops them as well.
        std::thread::Builder::new().name("goodbye".into()).spawn(goodbye).ok()
    }
}

/// What is recorded from here on belongs into another file. Returns whether anything is.
pub(crate) fn begin_file(files: Option<&mut MotionFiles>) -> bool {
    let Some(files) = files else { return false };
    warn(files.begin());
    true
}

/// A recording that ends early is no reason to end the game.
fn warn(recorded: Result<(), RecordError>) {
    if let Err(error) = recorded {
        eprintln!("phaselock: {error}");
    }
}
