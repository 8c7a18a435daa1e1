//! A recording that plays in the window: how fast, and from where.

use std::sync::Arc;

use egui_macroquad::egui::Rect;
use phaselock::client::{Session, SessionConfig};
use phaselock::ids::PlayerId;
use phaselock::playback::{Playback, Skipped};
use phaselock::replay::{InputHistory, InputReport, Replay, ReplayError, Sight};
use phaselock::rewind::{Adjusted, Rewound, Ruling};
use phaselock::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use phaselock_ui::actions::Action;
use phaselock_ui::controls::Controls;
use phaselock_ui::words::{fill, tr};
use serde_json::{Value, json};

use super::film::{Cut, Filming};
use crate::eyes::Seen;

const PAUSE: Action = Action::new("replay_pause", "pause", &["Space", "K", "Pad:A"]);
const BACK: Action = Action::new("replay_back", "5 s back", &["J", "Pad:DPadLeft"]);
const ON: Action = Action::new("replay_on", "5 s forward", &["L", "Pad:DPadRight"]);
const STEP_BACK: Action = Action::new("replay_step_back", "one tick back", &["Comma"]);
const STEP_ON: Action = Action::new("replay_step_on", "one tick forward", &["Period"]);
const SLOWER: Action = Action::new("replay_slower", "slower", &["Minus", "Pad:LeftTrigger"]);
const FASTER: Action = Action::new("replay_faster", "faster", &["Equal", "Pad:RightTrigger"]);
const NEXT_MOMENT: Action = Action::new("replay_next", "next marker", &["RightBracket"]);
const CLIP: Action = Action::new("replay_clip", "start a clip, or end and save it", &["C"]);
const EYES: Action = Action::new("replay_eyes", "through the player's eyes", &["X"]);
const LAST_MOMENT: Action = Action::new("replay_before", "previous marker", &["LeftBracket"]);

/// Speeds, as multiples of the recorded one.
const SPEEDS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Words for the speeds.
pub(super) const SPEED_WORDS: [&str; 7] = ["1/8", "1/4", "1/2", "1", "2", "4", "8"];
/// Number of the recorded speed.
pub(super) const NORMAL: usize = 3;
/// Time by which a key moves.
pub(super) const LEAP: Micros = Micros::from_ms(5000);
/// Maximum time that a frame catches up.
const FRAME_MAX: Micros = Micros::from_ms(100);
/// Number of ticks that are searched for moments or shots at once, and the maximum time for this in
/// a frame.
const SEARCH_TICKS: u32 = 4;
const SEARCH_TIME: Micros = Micros::from_ms(4);
/// Time after a part that was skipped for which this is said.
const SKIPPED_SHOWN: Micros = Micros::from_ms(3000);
/// Times before and after a shot in which it is explained.
const SHOT_BEFORE: Micros = Micros::from_ms(1000);
const SHOT_AFTER: Micros = Micros::from_ms(500);
/// A marker counts as reached for this time, so that a key finds the one before it.
const REACHED: Micros = Micros::from_ms(1500);

/// A recording that plays.
pub(crate) struct Player {
    pub(super) playback: Playback,
    clock: Box<dyn Fn() -> LocalTime>,
    last: LocalTime,
    pub(super) speed: usize,
    pub(super) paused: bool,
    is_held: bool,
    /// Where the pointer drags the position to.
    pub(super) dragged: Option<Tick>,
    /// Points per unit of the bar's lengths.
    pub(super) unit: f32,
    /// Where the bar was drawn.
    pub(super) bar: Rect,
    /// Whether the picture is what the followed player saw.
    pub(super) has_eyes: bool,
    /// Why the picture is not what the followed player saw, although it should be.
    blind: Option<String>,
    /// Why the last seek failed.
    pub(super) error: Option<String>,
    /// Whether clips can be saved on this machine.
    pub(super) can_film: bool,
    /// Start of the clip whose end is not chosen yet.
    pub(super) clip: Option<Tick>,
    /// A clip that is to be saved.
    pub(super) cut: Option<Cut>,
    /// The export that is under way.
    pub(super) filming: Option<Filming>,
    inputs: InputHistory,
}

impl Player {
    /// Opens a recording. `clock` is the machine's.
    ///
    /// # Errors
    ///
    /// The bytes cannot be played, in words for the player.
    pub(crate) fn open(
        bytes: Arc<[u8]>,
        config: SessionConfig,
        clock: Box<dyn Fn() -> LocalTime>,
    ) -> Result<Self, String> {
        let words = |why: String| fill("This recording cannot be played: {why}.", &[("why", &why)]);
        let replay = Replay::open(bytes).map_err(|error| words(error.to_string()))?;
        let playback = Playback::open(replay, config).map_err(|error| words(error.to_string()))?;
        let last = clock();
        Ok(Self {
            playback,
            clock,
            last,
            speed: NORMAL,
            paused: false,
            is_held: false,
            dragged: None,
            unit: 1.0,
            bar: Rect::NOTHING,
            has_eyes: false,
            blind: None,
            error: None,
            can_film: false,
            clip: None,
            cut: None,
            filming: None,
            inputs: InputHistory::default(),
        })
    }

    pub(crate) fn session(&self) -> &Session {
        self.playback.session()
    }

    pub(crate) fn session_mut(&mut self) -> &mut Session {
        self.playback.session_mut()
    }

    /// The time in the recording's own clock, which stands still in a pause.
    pub(crate) fn now(&self) -> LocalTime {
        self.playback.now()
    }

    /// The whole file.
    pub(crate) fn file(&self) -> &[u8] {
        self.playback.replay().bytes()
    }

    /// The player whose client made the recording, if it was not the server.
    pub(crate) fn viewer(&self) -> Option<PlayerId> {
        self.playback.header().viewer
    }

    /// Unix time in microseconds at zero of that clock.
    pub(crate) fn unix_of_start(&self) -> i64 {
        self.playback.unix_of_start()
    }

    /// Lets the time since the last frame pass.
    pub(crate) fn advance(&mut self) {
        if let Some(filming) = &mut self.filming {
            let step = filming.step();
            self.playback.advance(step);
        }
        let now = (self.clock)();
        let passed = (now - std::mem::replace(&mut self.last, now)).clamp(Micros::ZERO, FRAME_MAX);
        if !self.paused && !self.is_held && self.filming.is_none() {
            self.playback.advance(Micros((passed.0 as f64 * SPEEDS[self.speed]).round() as i64));
            self.paused = self.playback.is_over();
        }
        let until = (self.clock)() + SEARCH_TIME;
        while self.playback.look_for_damage() && (self.clock)() < until {}
        while self.playback.look_for_moments(SEARCH_TICKS) && (self.clock)() < until {}
        while self.playback.look_for_shots(SEARCH_TICKS) && (self.clock)() < until {}
    }

    /// Returns what the followed player saw if that is to be shown; otherwise notes why it cannot
    /// be.
    pub(crate) fn look_through(&mut self, followed: Option<PlayerId>) -> Option<Seen> {
        self.blind = None;
        if !self.has_eyes {
            return None;
        }
        let seen = self.seen_by(followed);
        seen.map_err(|words| self.blind = Some(words)).ok()
    }

    /// Returns what a player saw, or why that is not known.
    fn seen_by(&mut self, followed: Option<PlayerId>) -> Result<Seen, String> {
        let viewer = followed
            .ok_or_else(|| tr("Follow a player to see what that player saw.").to_owned())?;
        if self.viewer() == Some(viewer) {
            return Err(tr("This is what the player's own client showed.").to_owned());
        }
        let at = self.shown_time();
        let sight = self.inputs.sight(self.playback.replay(), viewer, at);
        let shot = self.shot_of(viewer, at);
        let is_limited = shot.is_some_and(|shot| shot.adjusted == Adjusted::Limit);
        let lag = match sight {
            Sight::Past(lag) if !is_limited => Some(lag),
            Sight::Bot => Some(Micros::ZERO),
            // The hit box was tested there.
            Sight::Past(_) | Sight::Ignored | Sight::Unknown => shot.map(|shot| shot.accepted),
        };
        let seen = lag.map(|lag| Seen { viewer, lag, shot });
        seen.ok_or_else(|| self.blind_words(viewer, sight))
    }

    /// Explains why it is not known what a player saw.
    fn blind_words(&self, viewer: PlayerId, sight: Sight) -> String {
        let client = self.playback.session().client();
        let seat = client.and_then(|client| client.common().roster().get(&viewer));
        let name = [("name", seat.map_or(tr("someone"), |seat| &*seat.name))];
        match sight {
            Sight::Ignored => fill(
                "This game does not rewind shots, so {name}'s view time is not recorded: everyone \
                 is shown at the server's time.",
                &name,
            ),
            _ => fill(
                "{name}'s view time is not recorded here: everyone is shown at the server's time.",
                &name,
            ),
        }
    }

    /// Returns the time at which the picture shows everyone.
    fn shown_time(&self) -> ServerTime {
        let common = self.playback.session().client().map(|client| client.common());
        let shown = common.map(|it| it.server_time(self.now()) - it.delay().delay());
        shown.unwrap_or_else(|| self.rates().time_of(self.playback.tick()))
    }

    /// Returns the first shot of a player from [`SHOT_AFTER`] before this time to [`SHOT_BEFORE`]
    /// after it.
    fn shot_of(&self, player: PlayerId, at: ServerTime) -> Option<Ruling> {
        let shots = self.playback.shots();
        let time = |shot: &Rewound| self.rates().time_of(shot.tick);
        let next = shots.partition_point(|shot| time(shot) < at - SHOT_AFTER);
        let mut near = shots[next..].iter().take_while(|shot| time(shot) <= at + SHOT_BEFORE);
        // A file may claim any times.
        near.find(|it| it.shooter == player).map(Rewound::ruling).filter(Ruling::is_sane)
    }

    pub(crate) fn transmit(&mut self) {
        self.playback.transmit();
    }

    /// Whether the sounds are those that players heard.
    pub(crate) fn has_sound(&self) -> bool {
        !self.paused && !self.is_held && self.speed == NORMAL
    }

    /// Returns the last tick that ran, and what the server made of a player's inputs in this many
    /// ticks up to it.
    pub(crate) fn inputs_of(&mut self, player: PlayerId, count: u64) -> (Tick, Vec<InputReport>) {
        let tick = self.playback.tick();
        (tick, self.inputs.reports(self.playback.replay(), player, (tick, count)))
    }

    pub(crate) fn rates(&self) -> Rates {
        self.playback.header().rates
    }

    /// Position for other programs: ticks, and whether time stands still.
    pub(crate) fn status(&self) -> Value {
        let ((first, last), tick) = (self.playback.span(), self.playback.tick());
        json!({
            "tick": tick.0,
            "first": first.0,
            "last": last.0,
            "is_paused": self.paused,
            "speed": SPEEDS[self.speed],
            "moments": self.playback.moments().len(),
            "damaged": self.playback.damage().len(),
        })
    }

    /// Follows the keys. A pointer on the bar is not one in the world.
    pub(crate) fn handle_keys(&mut self, controls: &mut Controls) {
        let is_on_bar = controls.pointer.is_some_and(|pointer| self.bar.contains(pointer));
        if is_on_bar || self.dragged.is_some() {
            controls.pointer = None;
        }
        if controls.pressed(&PAUSE) {
            self.toggle();
        }
        let count = |action: &Action| i64::from(controls.count(action));
        match count(&ON) - count(&BACK) {
            0 => {}
            leaps => self.move_by(Micros(LEAP.0 * leaps)),
        }
        match count(&STEP_ON) - count(&STEP_BACK) {
            0 => {}
            steps => self.step(steps),
        }
        self.change_speed((count(&FASTER) - count(&SLOWER)) as isize);
        self.has_eyes ^= controls.pressed(&EYES);
        if controls.pressed(&CLIP) {
            self.mark_clip();
        }
        if controls.pressed(&NEXT_MOMENT) {
            self.move_to_moment(true);
        }
        if controls.pressed(&LAST_MOMENT) {
            self.move_to_moment(false);
        }
    }

    /// Stands still while the window's menu is open.
    pub(crate) fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    pub(super) fn toggle(&mut self) {
        if self.playback.is_over() {
            // From the start again.
            let (first, _) = self.playback.span();
            self.move_to(first);
            self.paused = false;
            return;
        }
        self.paused = !self.paused;
    }

    pub(super) fn change_speed(&mut self, by: isize) {
        self.speed = self.speed.saturating_add_signed(by).min(SPEEDS.len() - 1);
    }

    /// Pauses, and moves by some ticks.
    fn step(&mut self, ticks: i64) {
        self.paused = true;
        let step = self.playback.header().rates.step();
        if ticks > 0 {
            return self.playback.advance(Micros(step.0 * ticks));
        }
        self.move_to(self.playback.tick().minus(ticks.unsigned_abs()));
    }

    pub(super) fn move_by(&mut self, by: Micros) {
        let ticks = self.ticks(Micros(by.0.abs()));
        let tick = self.playback.tick();
        self.move_to(if by < Micros::ZERO { tick.minus(ticks) } else { tick.plus(ticks) });
    }

    /// Moves to a tick. If it cannot be read, the position does not change.
    pub(super) fn move_to(&mut self, tick: Tick) {
        let words = |error: ReplayError| {
            fill("Cannot show this moment: {why}.", &[("why", &error.to_string())])
        };
        self.error = self.playback.seek(tick).err().map(words);
        self.last = (self.clock)();
    }

    /// Moves to the next marker, or to the one before.
    fn move_to_moment(&mut self, on: bool) {
        let now = self.playback.tick();
        let reached = now.minus(self.ticks(REACHED));
        let mut ticks = self.playback.moments().iter().map(|moment| moment.tick);
        // A moment is understood from what led to it.
        let before = self.ticks(Micros::from_ms(1000));
        let found = match on {
            true => ticks.find(|tick| tick.minus(before) > now.plus(1)),
            false => ticks.take_while(|tick| *tick < reached).last(),
        };
        if let Some(tick) = found {
            self.move_to(tick.minus(before));
        }
    }

    pub(super) fn ticks(&self, time: Micros) -> u64 {
        self.playback.header().rates.tick_at(ServerTime(time.0)).0
    }

    /// Says that a part was skipped, at that part and some seconds after it.
    fn skipped(&self) -> Option<String> {
        let Skipped { from, to, is_damaged } = self.playback.skipped()?;
        let shown = from..=to.plus(self.ticks(SKIPPED_SHOWN));
        let secs = self.playback.header().rates.time_of(Tick(to.since(from))).as_secs();
        let secs = format!("{secs:.1}");
        let words = match is_damaged {
            true => fill("{seconds} s are damaged and cannot be shown.", &[("seconds", &secs)]),
            false => fill("Nothing was recorded for {seconds} s.", &[("seconds", &secs)]),
        };
        shown.contains(&self.playback.tick()).then_some(words)
    }

    /// What stands in the way of an exact picture, in words.
    pub(super) fn note(&self) -> Option<String> {
        let other = || {
            let version = &self.playback.header().version;
            fill(
                "Recorded by version {version}; motion between stored states is interpolated.",
                &[("version", version)],
            )
        };
        let own = |viewer: PlayerId| {
            let people = &self.playback.header().people;
            let name = people.iter().find(|person| person.player == viewer);
            let name = name.map_or(tr("someone"), |person| &person.name);
            fill("Only what {name}'s client received is shown.", &[("name", name)])
        };
        let cut = || tr("This recording was cut short.").to_owned();
        let stored = || {
            tr("This part cannot be run again: motion between stored states is interpolated.")
                .to_owned()
        };
        let is_cut = !self.playback.replay().is_complete() && self.playback.is_over();
        let exact = self.playback.has_rules();
        let other = || self.viewer().map_or_else(other, own);
        let is_stored = !self.playback.is_run_again() && !self.playback.is_over();
        let inexact = if exact { is_stored.then(stored) } else { Some(other()) };
        let first = self.error.clone().or_else(|| self.skipped()).or(is_cut.then(cut));
        first.or_else(|| self.blind.clone()).or(inexact)
    }
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::pos2;

    use phaselock::link::LinkConfig;
    use phaselock::server::{RecordConfig, RoomConfig};
    use phaselock_testing::{Sim, room_config};

    use super::super::tests::{player, player_for, player_of, run};
    use super::*;

    #[test]
    fn time_passes_at_the_chosen_speed_and_not_in_a_pause_or_a_menu() {
        let (mut player, time) = player();
        let passed = |player: &mut Player, frames| {
            let before = player.playback.tick();
            run(player, &time, frames);
            player.playback.tick().since(before)
        };
        assert!(passed(&mut player, 50).abs_diff(60) <= 1 && player.has_sound());
        player.change_speed(2);
        assert!(passed(&mut player, 50).abs_diff(240) <= 1 && !player.has_sound());
        player.hold(true);
        assert_eq!(passed(&mut player, 50), 0);
        player.hold(false);
        player.toggle();
        assert_eq!(passed(&mut player, 50), 0);
        player.toggle();
        player.change_speed(-9);
        assert!(passed(&mut player, 80).abs_diff(12) <= 1, "an eighth");
    }

    #[test]
    fn at_its_end_a_recording_stops_and_can_begin_again() {
        let (mut player, time) = player();
        player.change_speed(9);
        run(&mut player, &time, 200);
        assert!(player.paused && player.playback.is_over());
        player.toggle();
        assert!(!player.paused && player.playback.tick() < Tick(60));
    }

    #[test]
    fn next_and_previous_mark_are_others_each_time_even_in_a_pause() {
        let (mut player, time) = player();
        run(&mut player, &time, 50);
        player.toggle();
        let there = |player: &mut Player, on| {
            player.move_to_moment(on);
            let tick = player.playback.tick();
            [240, 540, 600].into_iter().find(|mark| tick.0.abs_diff(*mark) < 30)
        };
        let marks = [true, true, true].map(|on| there(&mut player, on));
        assert_eq!(marks, [Some(240), Some(540), Some(600)]);
        assert_eq!([false, false].map(|on| there(&mut player, on)), [Some(240); 2]);
    }

    #[test]
    fn eyes_of_a_bot_see_the_present_and_explain_its_shots() {
        let (mut player, time) = player_of::<phaselock_games::skirmish::Skirmish>(10);
        run(&mut player, &time, 200);
        let shots = player.playback.shots().to_vec();
        assert!(shots.len() > 10, "{} shots", shots.len());
        let viewer = shots[0].shooter;
        assert_eq!(player.look_through(Some(viewer)), None, "nobody asked");
        player.has_eyes = true;
        let mut explained = 0;
        for tick in (100..1100).step_by(10) {
            player.move_to(Tick(tick));
            let seen = player.look_through(Some(viewer)).expect("it is a bot");
            assert_eq!((seen.viewer, seen.lag, player.note()), (viewer, Micros::ZERO, None));
            let at = player.rates().tick_at(player.shown_time());
            let near = at.minus(29)..=at.plus(59);
            let mut of = shots.iter().filter(|shot| shot.shooter == viewer);
            let shot = of.find(|shot| near.contains(&shot.tick));
            if let Some(shot) = shot {
                explained += 1;
                assert_eq!(seen.shot, Some(shot.ruling()));
            }
        }
        assert!((1..100).contains(&explained), "{explained} of 100");
        assert_eq!(player.look_through(Some(PlayerId(999))), None, "no such player");
    }

    #[test]
    fn eyes_that_see_nothing_say_why() {
        let config = room_config(1, 0).with(|it| it.rewind = Some(Micros::ZERO));
        let record = Some(RecordConfig::default());
        let mut sim = Sim::<phaselock_games::race::Race>::with(RoomConfig { record, ..config });
        sim.join_bot(LinkConfig::delayed(50, 0));
        sim.run(10.0);
        let (mut player, time) = player_for(sim.replay());
        run(&mut player, &time, 50);
        let client = player.session().client().expect("it watches");
        let (followed, seat) = client.common().roster().first_key_value().expect("a player");
        let (followed, name) = (Some(*followed), seat.name.clone());
        assert_eq!((player.look_through(followed), player.note()), (None, None));
        player.has_eyes = true;
        assert_eq!(player.look_through(followed), None);
        let note = player.note().expect("nothing is rewound");
        assert!(note.contains(&name) && note.starts_with("This game does not rewind"), "{note}");
        assert_eq!(player.look_through(Some(PlayerId(999))), None);
        assert!(player.note().expect("no such player").contains("not recorded here"));
        assert_eq!(player.look_through(None), None);
        assert!(player.note().expect("nobody is followed").starts_with("Follow"));
    }

    #[test]
    fn eyes_of_a_person_see_the_others_when_the_client_showed_them() {
        let record = Some(RecordConfig::default());
        let config = RoomConfig { record, ..room_config(1, 4) };
        let mut sim = Sim::<phaselock_games::race::Race>::with(config);
        let joined = sim.join_bot(LinkConfig::delayed(80, 0));
        sim.run(10.0);
        let viewer = sim.clients[joined].core().player();
        let (mut player, time) = player_for(sim.replay());
        run(&mut player, &time, 150);
        player.has_eyes = true;
        let seen = player.look_through(Some(viewer)).expect("it is recorded");
        assert!((60.0..200.0).contains(&seen.lag.as_ms()), "{seen:?}");
        assert_eq!((seen.shot, player.note()), (None, None));
    }

    #[test]
    fn a_damaged_part_is_named_when_it_is_passed_and_drawn() {
        let (whole, _) = player();
        let mut bytes = whole.file().to_vec();
        let hole = whole.playback.replay().chunks()[0];
        bytes[hole.at as usize + 100] ^= 1;
        let time = std::rc::Rc::new(std::cell::Cell::new(LocalTime(0)));
        let clock = std::rc::Rc::clone(&time);
        let config = SessionConfig::new(phaselock_games::all(), "Watcher");
        let player = Player::open(bytes.into(), config, Box::new(move || clock.get()));
        let mut player = player.expect("the rest can be played");
        let secs = format!("{:.1} s", f64::from(hole.ticks) / 60.0);
        let note = player.note().expect("something is missing");
        assert!(note.contains(&secs) && note.contains("damaged"), "{note}");
        run(&mut player, &time, 50);
        let [damage] = player.playback.damage() else { panic!("one chunk is damaged") };
        assert_eq!((damage.first, damage.last), (Tick(0), hole.end()));
        run(&mut player, &time, 150);
        assert_eq!(player.note(), None, "it is long past");
    }

    #[test]
    fn pointer_on_the_bar_is_not_in_the_world() {
        let (mut player, _) = player();
        player.bar = Rect::from_min_max(pos2(0.0, 600.0), pos2(800.0, 676.0));
        for (at, is_in_world) in [(pos2(5.0, 610.0), false), (pos2(5.0, 590.0), true)] {
            let mut controls = Controls::default();
            controls.pointer = Some(at);
            player.handle_keys(&mut controls);
            assert_eq!(controls.pointer.is_some(), is_in_world);
        }
    }

    #[test]
    fn manual_has_the_keys_of_the_bar() {
        let Some(page) = crate::manual_tests::page("replays.md") else { return };
        let (_, rows) = page.split_once("\n| key | |\n|---|---|\n").expect("the table");
        let cells = rows.lines().map_while(|row| row.strip_prefix("| ")?.split_once(" |"));
        let stated: Vec<_> = cells.flat_map(|(cell, _)| cell.split(", ")).collect();
        let jumps = [PAUSE, BACK, ON, STEP_BACK, STEP_ON, SLOWER, FASTER, LAST_MOMENT, NEXT_MOMENT];
        let own: Vec<_> = jumps.into_iter().chain([EYES, CLIP]).collect();
        assert!(stated.len() > own.len());
        assert!(stated.iter().zip(&own).all(|(key, action)| *key == action.keys[0]), "{stated:?}");
    }
}
