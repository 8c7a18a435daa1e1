//! Plays a recording: a room that shows it, and a session that watches, both in virtual time.
//!
//! So a recording is drawn by the views of the game, as for any spectator. The caller decides how
//! fast virtual time runs. To seek, another session joins another room a moment earlier, and both
//! run up to the tick at once.

use crate::client::{Output as SessionOutput, Part, Session, SessionConfig};
use crate::games::{GameEntry, Search, UnknownGame};
use crate::identity::Credentials;
use crate::limits::{MOMENTS_MAX, SHOTS_MAX};
use crate::replay::{ChunkEntry, Damage, Header, Moment, Replay, ReplayError};
use crate::rewind::Rewound;
use crate::server::{AnyRoom, ClientId, Output};
use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use crate::wire::control::frame;

/// Time for which a new session runs before it is shown, so that its clock is steady and it has the
/// whole world.
const LEAD_IN: Micros = Micros::from_ms(1000);
/// The maximum number of damaged parts that are looked for. Arbitrary.
const DAMAGE_MAX: usize = 1000;
/// Lead-in at the start of a recording, where nothing comes before.
const LEAD_IN_MIN: Micros = Micros::from_ms(250);

/// Why a recording cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaybackError {
    /// The file cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// This program does not have the game.
    #[error(transparent)]
    Game(#[from] UnknownGame),
}

/// A part of a recording that is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The tick at which the part was reached.
    pub from: Tick,
    /// The first tick after it.
    pub to: Tick,
    /// Whether it is damaged. Otherwise nothing was recorded there.
    pub is_damaged: bool,
}

/// A recording that plays.
pub struct Playback {
    replay: Replay,
    entry: GameEntry,
    config: SessionConfig,
    room: Box<dyn AnyRoom>,
    session: Session,
    now: LocalTime,
    /// A virtual time, and the server time in the recording then.
    anchor: (LocalTime, ServerTime),
    /// Whether nothing after this can be read.
    is_ended: bool,
    /// The part that was skipped last.
    skipped: Option<Skipped>,
    damage: Vec<Damage>,
    /// The next chunk to check for damage.
    unchecked: usize,
    has_rules: bool,
    moments: Vec<Moment>,
    find_moments: Search<Moment>,
    has_all_moments: bool,
    shots: Vec<Rewound>,
    find_shots: Search<Rewound>,
    has_all_shots: bool,
}

impl std::fmt::Debug for Playback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Playback").field("tick", &self.tick()).finish_non_exhaustive()
    }
}

impl Playback {
    /// Opens a recording and plays its first 250 ms, so that the picture is complete. `config` has
    /// the games that can be played.
    ///
    /// # Errors
    ///
    /// The recording is empty or damaged, or of a game that is not in the list.
    pub fn open(replay: Replay, config: SessionConfig) -> Result<Self, PlaybackError> {
        let entry = config.games.get(&replay.header().game)?.clone();
        let config =
            SessionConfig { part: Part::Watch, room: None, keeps_minutes: false, ..config };
        let now = LocalTime(0);
        let (room, first) = open_from(&entry, &replay, 0, now)?;
        let mut playback = Self {
            moments: Vec::new(),
            find_moments: (entry.moments)(replay.header()),
            has_all_moments: false,
            shots: Vec::new(),
            find_shots: (entry.shots)(),
            has_all_shots: false,
            session: Session::new(config.clone(), now),
            anchor: (now, ServerTime(0)),
            is_ended: false,
            skipped: None,
            damage: replay.damage().to_vec(),
            unchecked: 0,
            has_rules: replay.header().viewer.is_none()
                && replay.header().rules_hash == (entry.hash)(),
            replay,
            entry,
            config,
            room,
            now,
        };
        let (start, _) = playback.span();
        playback.begin(first);
        playback.note_skipped(start, first);
        Ok(playback)
    }

    /// Has a new session join the present room.
    fn join(&mut self) {
        let start = self.room.status().tick;
        self.is_ended = false;
        self.anchor = (self.now, self.rates().time_of(start));
        let session = Session::new(self.config.clone(), self.now);
        let before = std::mem::replace(&mut self.session, session);
        self.exchange();
        if let Some(client) = before.client() {
            // What the player chose outlasts a seek.
            for (kind, _) in (0..).zip(client.kinds()) {
                self.session.choose(kind, client.choice(kind));
            }
        }
    }

    /// Runs a new session in the present room up to a tick.
    fn begin(&mut self, to: Tick) {
        self.join();
        let way = Micros((self.rates().time_of(to) - self.anchor.1).0);
        // Where ticks are missing, the way to the next one may be any length.
        self.advance(way.clamp(LEAD_IN_MIN, LEAD_IN));
        self.session.forget_news();
    }

    /// Moves to a tick, or to the next one that can be read. The picture is complete at once.
    ///
    /// # Errors
    ///
    /// Nothing from there on can be read; the position does not change.
    pub fn seek(&mut self, to: Tick) -> Result<(), ReplayError> {
        let (first, last) = self.replay.span().ok_or(ReplayError::Short)?;
        let asked = to.clamp(first, last);
        let to = self.recorded(asked);
        let lead_in = self.rates().tick_at(ServerTime(LEAD_IN.0)).0;
        let from = to.minus(lead_in).max(first);
        let screen = |at| (self.entry.screen)(self.replay.clone(), at, self.now);
        let found = screen(from).or_else(|_| screen(to)).map(|room| (room, to));
        let next = self.replay.chunk_at(to).map_or(0, |number| number + 1);
        let (room, to) = found.or_else(|_| open_from(&self.entry, &self.replay, next, self.now))?;
        self.room = room;
        // A part may be skipped on the way there.
        self.skipped = None;
        self.begin(to);
        self.skipped = self.skipped.filter(|it| it.to > asked);
        self.note_skipped(asked, to);
        Ok(())
    }

    /// Notes that a part is not shown, if there is one between these ticks.
    fn note_skipped(&mut self, from: Tick, to: Tick) {
        if from >= to {
            return;
        }
        let overlaps = |first: Tick, last: Tick| first < to && last > from;
        let of_chunk = |(_, it): &(usize, &ChunkEntry)| overlaps(Tick(it.first), it.end());
        let chunks = self.replay.chunks().iter().enumerate().filter(of_chunk);
        let found = chunks.filter_map(|(number, chunk)| {
            let damage = self.replay.damage_of(number, ReplayError::Damaged)?;
            let (first, last) = (from.max(Tick(chunk.first)), to.min(chunk.end()));
            Some(Damage { first, last, ..damage })
        });
        for damage in found.collect::<Vec<_>>() {
            self.note_damage(damage);
        }
        let is_damaged = self.damage.iter().any(|it| overlaps(it.first, it.last));
        self.skipped = Some(Skipped { from, to, is_damaged });
    }

    /// Adds damage to what has been found, or extends known damage that it overlaps.
    fn note_damage(&mut self, found: Damage) {
        let overlaps = |it: &Damage| it.first < found.last && it.last > found.first;
        match self.damage.iter().position(overlaps) {
            Some(at) => {
                let known = &mut self.damage[at];
                known.first = known.first.min(found.first);
                known.last = known.last.max(found.last);
            }
            None if self.damage.len() < DAMAGE_MAX => self.damage.push(found),
            None => {}
        }
    }

    /// Returns the tick, or the next one of which there is a recording.
    fn recorded(&self, tick: Tick) -> Tick {
        let chunks = self.replay.chunks();
        let next = chunks.partition_point(|chunk| chunk.first <= tick.0);
        let is_missing = |at: usize| {
            chunks.get(at).is_none_or(|chunk| tick > Tick(chunk.first).plus(chunk.ticks.into()))
        };
        match chunks.get(next).filter(|_| next.checked_sub(1).is_none_or(is_missing)) {
            Some(chunk) => Tick(chunk.first),
            None => tick,
        }
    }

    /// Lets virtual time pass. At the end of the recording it stands still; damaged parts are
    /// skipped.
    pub fn advance(&mut self, by: Micros) {
        let end = self.now + by;
        while self.now < end && !self.is_over() {
            if self.room.is_over() && !self.skip() {
                self.is_ended = true;
                self.note_skipped(self.room.status().tick, self.span().1);
                return;
            }
            self.now = self.room.next_timeout().max(self.now + Micros(1)).min(end);
            self.room.handle_timeout(self.now);
            self.exchange();
            self.session.handle_timeout(self.now);
        }
    }

    /// Goes on with the next part that can be read. Returns `false` if there is none.
    fn skip(&mut self) -> bool {
        let tick = self.room.status().tick;
        let next = self.replay.chunks().partition_point(|chunk| chunk.first <= tick.0);
        let Ok((room, first)) = open_from(&self.entry, &self.replay, next, self.now) else {
            return false;
        };
        self.room = room;
        self.join();
        self.note_skipped(tick, first);
        true
    }

    /// Carries messages and packets between room and session until there are none.
    fn exchange(&mut self) {
        const CLIENT: ClientId = ClientId(0);
        loop {
            let mut is_idle = true;
            while let Some(output) = self.session.poll_output() {
                is_idle = false;
                match output {
                    SessionOutput::Connect { .. } => {
                        self.session.handle_connected(self.now, Credentials::default());
                    }
                    SessionOutput::Control(framed) => {
                        let body = framed.get(2..).unwrap_or_default();
                        match self.room.watchers() == 0 {
                            true => self.room.handle_first(self.now, CLIENT, body),
                            false => self.room.handle_control(self.now, CLIENT, body),
                        }
                    }
                    SessionOutput::Datagram(bytes) => {
                        self.room.handle_datagram(self.now, CLIENT, &bytes);
                    }
                    SessionOutput::Close(_) => self.room.handle_left(CLIENT, "closed"),
                }
            }
            while let Some(output) = self.room.poll_output(self.now) {
                is_idle = false;
                match output {
                    Output::Datagram { bytes, .. } => {
                        self.session.handle_datagram(&bytes, self.now);
                    }
                    Output::Control { message, .. } => {
                        if let Ok(framed) = frame(&message) {
                            self.session.handle_control(&framed[2..], self.now);
                        }
                        // From the start: what a player saw can be shown right after a seek.
                        if let Some(client) = self.session.client_mut() {
                            client.remember();
                        }
                    }
                    Output::Close { goodbye, .. } => {
                        self.room.handle_left(CLIENT, "closed");
                        self.session.handle_lost(self.now, goodbye);
                    }
                }
            }
            if is_idle {
                return;
            }
        }
    }

    /// Returns what the recording is of.
    pub fn header(&self) -> &Header {
        self.replay.header()
    }

    /// Returns the recording.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    fn rates(&self) -> Rates {
        self.replay.header().rates
    }

    /// Returns the first and the last tick.
    pub fn span(&self) -> (Tick, Tick) {
        self.replay.span().unwrap_or_default()
    }

    /// Returns the tick that has run last.
    pub fn tick(&self) -> Tick {
        let (then, time) = self.anchor;
        let (first, last) = self.span();
        self.rates().tick_at(time + (self.now - then)).clamp(first, last)
    }

    /// Whether the last tick has been shown.
    pub fn is_over(&self) -> bool {
        self.is_ended || self.tick() >= self.span().1
    }

    /// Whether this build has the rules that made the recording, and so can run it again.
    pub fn has_rules(&self) -> bool {
        self.has_rules
    }

    /// Whether the present picture follows from the recorded inputs, tick by tick. Otherwise it is
    /// interpolated between stored states.
    pub fn is_run_again(&self) -> bool {
        self.room.is_run_again()
    }

    /// Returns the part that was skipped last since the last [`seek`](Self::seek), in order to show
    /// the present one.
    pub fn skipped(&self) -> Option<Skipped> {
        self.skipped
    }

    /// Returns the damage that has been found so far, in no particular order, including parts that
    /// playing had to skip.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Checks the next chunk for damage. Check a few in each frame, so that no frame takes long.
    /// Returns whether there may be more.
    pub fn look_for_damage(&mut self) -> bool {
        if self.unchecked >= self.replay.chunks().len() || self.damage.len() >= DAMAGE_MAX {
            return false;
        }
        if let Some(damage) = self.replay.damage_to(self.unchecked) {
            self.note_damage(damage);
        }
        self.unchecked += 1;
        true
    }

    /// Returns the virtual time, on the session's clock.
    pub fn now(&self) -> LocalTime {
        self.now
    }

    /// Returns the Unix time in microseconds, on the host's clock, at zero of that clock.
    pub fn unix_of_start(&self) -> i64 {
        let (then, time) = self.anchor;
        let header = self.replay.header();
        let passed = (time - self.rates().time_of(header.first)).0;
        header.unix_micros.saturating_add(passed).saturating_sub(then.0)
    }

    /// Returns the session that watches.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session that watches, mutably.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Carries out what the session asks for.
    pub fn transmit(&mut self) {
        self.exchange();
    }

    /// Returns the moments that have been found so far.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Looks for moments in up to this number of further ticks. Search a few ticks in each frame,
    /// so that no frame takes long. Returns whether there may be more.
    pub fn look_for_moments(&mut self, ticks: u32) -> bool {
        if self.has_all_moments || self.moments.len() >= MOMENTS_MAX {
            return false;
        }
        self.has_all_moments = !(self.find_moments)(&self.replay, ticks, &mut self.moments);
        self.moments.truncate(MOMENTS_MAX);
        !self.has_all_moments
    }

    /// Returns the shots that have been explained so far, in the order of time.
    pub fn shots(&self) -> &[Rewound] {
        &self.shots
    }

    /// Explains the shots of up to this number of further ticks, by running the recording again.
    /// Search a few ticks in each frame, so that no frame takes long. Returns whether there may be
    /// more. Shots of a recording with other rules cannot be explained.
    pub fn look_for_shots(&mut self, ticks: u32) -> bool {
        if self.has_all_shots || !self.has_rules || self.shots.len() >= SHOTS_MAX {
            return false;
        }
        self.has_all_shots = !(self.find_shots)(&self.replay, ticks, &mut self.shots);
        self.shots.truncate(SHOTS_MAX);
        !self.has_all_shots
    }
}

/// Opens a room at the first chunk from number `from` on that can be read.
fn open_from(
    entry: &GameEntry,
    replay: &Replay,
    from: usize,
    now: LocalTime,
) -> Result<(Box<dyn AnyRoom>, Tick), ReplayError> {
    let mut found = Err(ReplayError::Short);
    for chunk in replay.chunks().get(from..).unwrap_or_default() {
        let first = Tick(chunk.first);
        found = (entry.screen)(replay.clone(), first, now).map(|room| (room, first));
        if found.is_ok() {
            break;
        }
    }
    found
}
