//! A visit to a server: from joining to leaving, through lost connections.

use std::collections::BTreeMap;

use egui_macroquad::egui::Color32;
use phaselock::client::{GhostChoice, Notice, State};
use phaselock::clock::pll::LoopFilter;
use phaselock::fingerprint::Fingerprint;
use phaselock::invitation::Invitation;
use phaselock::motion::choice::Choice;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::disconnect::Code;
use phaselock::wire::talk::Look;
use phaselock_lab::record::MotionFiles;

use self::connection::{Changed, Connection};
use self::motion_files::warn;
use self::wishes::Asked;
use super::eyes;
use super::graph::{self, NetGraph};
use super::people::{self, People};
use super::play::{AnyPlay, Kind, kinds};
use super::presentation::Panel;
use super::records::RecordTracker;
use super::registry::{ViewEntry, Views};
use super::talk::Talk;
use super::watch::{self, Places, SpectatorCamera};
use phaselock_ui::actions;
use phaselock_ui::controls::Controls;
use phaselock_ui::cues::{Cues, common};
use phaselock_ui::lesson::Lessons;
use phaselock_ui::palette;
use phaselock_ui::words::fill;

pub(crate) mod connection;
pub(crate) mod drawing;
mod filming;
pub(crate) mod minutes;
pub(crate) mod motion_files;
pub(crate) mod open;
mod profile;
mod state;
pub(crate) mod status;
mod wishes;

/// Time for which a notice is shown: long enough to read a fingerprint.
const NOTICE_SHOWN: Micros = Micros::from_ms(12_000);

/// Names of panels in the settings.
const DETAILS: &str = "details";
const GRAPH: &str = "graph";

/// A visit to a server. Call [`update`](Self::update), then [`draw`](Self::draw), once per frame.
pub(crate) struct Visit {
    /// The server, as the player knows it.
    title: String,
    connection: Box<dyn Connection>,
    /// Whether a recording is shown in place of a server.
    is_recording: bool,
    /// Whether the visit ends with the export that is under way.
    ends_with_film: bool,
    /// Whether the server is in this program.
    is_here: bool,
    /// Whether the server runs on this machine, in this program or another one.
    without_network: bool,
    views: Views,
    /// View of the game, from the first welcome.
    play: Option<(ViewEntry, Box<dyn AnyPlay>)>,
    server_name: String,
    /// What the player asked for, until the first game begins.
    asked: Option<Asked>,
    people: People,
    /// Rows by which the score table is scrolled.
    scrolled: usize,
    talk: Talk,
    /// Name and looks of the settings, as last asked for, and since when others stand there.
    profile: Option<(String, Look)>,
    changed: Option<LocalTime>,
    /// Input delay in ticks, as last set.
    input_delay: u16,
    ghost: GhostChoice,
    /// Name under which a recording that was downloaded can be kept.
    keepable: Option<String>,
    /// Name of the download that is being written.
    keeping: Option<String>,
    /// Recordings that are to be saved: their names and bytes.
    unsaved: Vec<(String, Vec<u8>)>,
    /// Whether deaths and highlights are shown again.
    replays: bool,
    /// Why the last attempt failed, or why the game before it ended.
    lost: Option<String>,
    pinned: Option<(Fingerprint, LocalTime)>,
    has_arrived: bool,
    /// Links with which friends on the local network join the server in this program.
    shared: Vec<Invitation>,
    paused: bool,
    details: bool,
    /// The simulated network, in words.
    link: Option<String>,
    filter: LoopFilter,
    graph: NetGraph,
    panel: Panel,
    /// Seats, as reported to a spectator.
    places: Places,
    pub(crate) lessons: Lessons,
    pub(crate) records: RecordTracker,
    /// Motion method of others from the start, unless the games' own.
    presentation: Option<Choice>,
    /// Motion methods that the player chose in each game.
    chosen: BTreeMap<&'static str, Vec<Kind>>,
}

/// How a visit goes on after a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Stay,
    /// The player wants to change settings; the visit continues.
    Settings,
    End(End),
}

/// How a visit ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The player leaves.
    Left,
    /// The export that the command line asked for is done: where it is, or why it failed.
    Filmed(Result<String, String>),
    /// The session is over, with code and text of the reason.
    Over(Code, String),
    /// The server's certificate has changed.
    Changed(Changed),
}

impl Visit {
    /// Takes the server's name after the first welcome, once.
    pub(crate) fn take_arrival(&mut self) -> Option<String> {
        let has_arrived = !self.has_arrived && !self.server_name.is_empty();
        self.has_arrived |= has_arrived;
        has_arrived.then(|| self.server_name.clone())
    }

    fn now(&self) -> LocalTime {
        self.connection.now()
    }

    /// Receives packets, sends inputs, and sends packets. The player's motion goes into the files.
    /// `held` is the time for which the machine kept the program waiting since the last update.
    pub(crate) fn update(
        &mut self,
        controls: &mut Controls,
        files: Option<&mut MotionFiles>,
        cues: &Cues,
        held: Micros,
    ) -> Next {
        self.note_choices();
        self.connection.receive();
        let now = self.now();
        if let Some(fingerprint) = self.connection.take_pinned() {
            self.pinned = Some((fingerprint, now));
        }
        let mut next = self.handle_notices(now, cues);
        self.connection.note();
        if let Some(files) = files {
            self.connection.session_mut().record_motion();
            warn(files.take_from(self.connection.session_mut(), now));
        }
        if next == Next::Stay && self.gives_up(controls) {
            next = Next::End(End::Left);
        }
        if next == Next::Stay {
            self.handle_keys(controls);
            let now = self.now();
            self.connection.session_mut().handle_held(now, held);
            self.connection.session_mut().handle_frame(now);
            if let Some((_, play)) = self.play.as_mut() {
                play.press(self.connection.session_mut(), now, controls);
            }
        }
        if next == Next::Stay
            && let Some(end) = self.cancelled()
        {
            next = Next::End(end);
        }
        self.connection.transmit();
        next
    }

    /// Acts on what the session has noticed since the last frame. Returns how the visit goes on.
    fn handle_notices(&mut self, now: LocalTime, cues: &Cues) -> Next {
        let mut next = Next::Stay;
        while let Some(notice) = self.connection.session_mut().poll_notice() {
            match notice {
                Notice::State(State::Ended { reason }) => {
                    let changed = self.connection.take_changed().map(End::Changed);
                    let over = || End::Over(reason.code, self.at_place(&self.words_of(&reason)));
                    next = Next::End(changed.unwrap_or_else(over));
                }
                Notice::State(State::Waiting { reason, .. }) => {
                    // From a server that the player was redirected to, and need not trust.
                    drop(self.connection.take_changed());
                    self.lost = Some(reason.text);
                }
                Notice::State(State::Connected) => self.lost = None,
                Notice::State(State::Connecting { .. }) => {}
                Notice::Game { server, game, resumed } => {
                    self.begin(server, (game, resumed), now);
                }
                Notice::Called { by, motion } => {
                    if let Some(client) = self.connection.session().client() {
                        let what = people::words(&motion, client.common(), &self.views);
                        let values = [("name", &*by), ("what", &*what)];
                        let line = fill("{name} calls a vote: {what}.", &values);
                        self.talk.add_notice(&line, now);
                        cues.play(&common::CHAT);
                    }
                }
                Notice::Voted { motion, outcome } => {
                    if let Some(client) = self.connection.session().client() {
                        let line = people::ended(&motion, outcome, client.common(), &self.views);
                        self.talk.add_notice(&line, now);
                    }
                }
                Notice::Places { free, ahead } => self.places = Places { free, ahead },
                Notice::Event(event) => {
                    if let Some((_, play)) = &mut self.play {
                        play.handle_event(&event);
                    }
                }
                told => {
                    if self.talk.handle(told.clone(), now) {
                        self.connection.session_mut().keep_said(&told);
                        cues.play(&common::CHAT);
                    }
                }
            }
        }
        next
    }

    fn is_connected(&self) -> bool {
        *self.connection.session().state() == State::Connected
    }

    /// Remembers the chosen methods for the next time the game is joined.
    fn note_choices(&mut self) {
        if let Some((client, (entry, _))) =
            self.connection.session().client().zip(self.play.as_ref())
        {
            self.chosen.insert(entry.title, kinds(client));
        }
    }

    fn begin(&mut self, server: String, (game, resumed): (&'static str, bool), now: LocalTime) {
        let Some(entry) = self.views.get(game).copied() else { return };
        self.server_name = server;
        self.places = Places::default();
        self.talk.begin_game();
        self.lessons.begin_game(entry.name, entry.teaches);
        if self.play.as_ref().is_some_and(|(before, _)| before.name != entry.name) {
            self.talk.add_notice(&fill("Now playing: {game}.", &[("game", entry.title)]), now);
        }
        if let Some(asked) = self.asked.take() {
            let unmet = asked.unmet((entry.name, resumed), &self.views);
            unmet.iter().for_each(|line| self.talk.add_notice(line, now));
        }
        let before = self.play.take().filter(|(before, _)| before.name == entry.name);
        let mut play = (entry.begin)(now);
        if let Some(player) = self.connection.recording() {
            play.set_camera(SpectatorCamera::prefers(player.viewer()));
        }
        if let Some((_, mut before)) = before.filter(|_| self.is_recording) {
            // After a seek, the picture follows the same player.
            play.set_camera(before.take_camera());
        }
        self.play = Some((entry, play));
        let session = self.connection.session_mut();
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

    /// Whether the player cancels before there is a game to pause.
    fn gives_up(&self, controls: &Controls) -> bool {
        self.play.is_none() && !self.paused && controls.pressed(&actions::MENU)
    }

    fn handle_keys(&mut self, controls: &mut Controls) {
        if self.talk.is_open() {
            // The keys are used for typing.
            if controls.pressed(&actions::MENU) {
                self.talk.close();
            }
            return controls.release_all();
        }
        if self.is_filming() {
            if controls.pressed(&actions::MENU) {
                self.cancel_film();
            }
            return controls.release_all();
        }
        if !self.paused
            && let Some(player) = self.connection.recording()
        {
            player.handle_keys(controls);
        }
        if !self.is_recording {
            self.people.take_keys(self.connection.session(), controls);
            self.people.send(self.connection.session_mut());
        }
        if self.is_connected() && !self.paused && !self.is_recording {
            let opens = [&actions::CHAT, &actions::SIDE_CHAT].iter().any(|it| controls.pressed(it));
            let has_side = opens && self.has_side();
            self.talk.handle_keys(controls, has_side);
        }
        for (action, shown) in [
            (&actions::MENU, &mut self.paused),
            (&actions::DETAILS, &mut self.details),
            (&actions::GRAPH, &mut self.graph.shown),
            (&actions::OTHERS, &mut self.panel.shown),
        ] {
            *shown ^= controls.pressed(action);
        }
        if let Some(player) = self.connection.recording() {
            player.hold(self.paused);
        }
        if controls.pressed(&actions::SAVE_MINUTES) {
            self.save();
        }
        match &mut self.play {
            _ if self.paused => {}
            Some((_, play)) if play.is_replaying() && eyes::skips(controls) => play.skip_replay(),
            Some((_, play)) if play.is_replaying() => {}
            _ if controls.pressed(&actions::SKIP_LESSON) => self.lessons.end(),
            _ => {}
        }
        if controls.pressed(&actions::CLOCK_LOOP) && self.graph.shown {
            self.filter = graph::other(self.filter);
            let now = self.now();
            self.connection.session_mut().set_loop_filter(now, self.filter);
        }
        let may_play = self.is_watching() && !self.is_recording;
        if may_play && !self.paused && watch::wishes_to_play(controls) {
            self.change_part(false);
        }
        // The world goes on; only the player's controls are released.
        if self.paused || self.panel.shown || !self.is_connected() {
            controls.release_all();
        }
    }

    /// Whether the player is on a side.
    fn has_side(&self) -> bool {
        let sides = self.play.as_ref().map(|(_, play)| play.sides(self.connection.session()));
        sides.is_some_and(|(_, own)| own.is_some())
    }

    fn is_watching(&self) -> bool {
        let common = self.connection.session().client().map(|client| client.common());
        self.is_connected() && common.is_some_and(|common| common.watching().is_some())
    }

    /// Asks to watch, or for a seat.
    fn change_part(&mut self, watch: bool) {
        // Refusals are shown in the chat.
        let _ = self.connection.session_mut().watch(watch);
    }

    /// Colour of the window where nothing is painted.
    pub(crate) fn backdrop(&self) -> Color32 {
        self.play.as_ref().map_or(palette::VOID, |(entry, _)| entry.backdrop)
    }
}
