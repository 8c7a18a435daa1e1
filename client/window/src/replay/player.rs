//! A recording that plays in the window: how fast, and from where.

use std::sync::Arc;

use egui_macroquad::egui::Rect;
use phaselock::client::{Session, SessionConfig};
use phaselock::ids::PlayerId;
use phaselock::playback::Playback;
use phaselock::replay::{InputHistory, InputReport, Replay, ReplayError};
use phaselock::rewind::{Rewound, Ruling};
use phaselock::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use phaselock_sound::mixer::Order;
use phaselock_ui::actions::Action;
use phaselock_ui::controls::Controls;
use phaselock_ui::screenshot::Picture;
use phaselock_ui::words::{fill, tr};
use serde_json::{Value, json};

use super::film::{Cut, Filming, OpenFilm};

const PAUSE: Action = Action::new("replay_pause", "pause", &["Space", "K", "Pad:A"]);
const BACK: Action = Action::new("replay_back", "5 s back", &["J", "Pad:DPadLeft"]);
const ON: Action = Action::new("replay_on", "5 s forward", &["L", "Pad:DPadRight"]);
const STEP_BACK: Action = Action::new("replay_step_back", "one tick back", &["Comma"]);
const STEP_ON: Action = Action::new("replay_step_on", "one tick forward", &["Period"]);
const SLOWER: Action = Action::new("replay_slower", "slower", &["Minus", "Pad:LeftTrigger"]);
const FASTER: Action = Action::new("replay_faster", "faster", &["Equal", "Pad:RightTrigger"]);
const NEXT_MOMENT: Action = Action::new("replay_next", "next marker", &["RightBracket"]);
const CLIP: Action = Action::new("replay_clip", "start a clip, or end and save it", &["C"]);
const EYES: Action = Action::new("replay_eyes", "through the shooter's eyes", &["X"]);
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
/// Ticks in which moments or shots are looked for at once, and the part of a frame that this takes.
const SEARCH_TICKS: u32 = 4;
const SEARCH_TIME: Micros = Micros::from_ms(4);
/// Pictures per second of a clip: smooth enough for a chat, and a third of the bytes of 60.
pub(crate) const CLIP_FPS: u32 = 20;
/// Time after a shot for which it is still the one that is explained.
const SHOWN_BEHIND: Micros = Micros::from_ms(500);
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
    /// Where the bar was drawn.
    pub(super) bar: Rect,
    /// Whether the picture is what the followed player saw.
    pub(super) has_eyes: bool,
    /// Why the last seek failed.
    error: Option<String>,
    /// Whether clips can be saved on this machine.
    pub(super) can_film: bool,
    /// Start of the clip whose end is not chosen yet.
    pub(super) clip: Option<Tick>,
    /// A clip that is to be saved.
    cut: Option<Cut>,
    /// The export that is under way.
    filming: Option<Filming>,
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
            bar: Rect::NOTHING,
            has_eyes: false,
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
        while self.playback.look_for_moments(SEARCH_TICKS) && (self.clock)() < until {}
        while self.playback.look_for_shots(SEARCH_TICKS) && (self.clock)() < until {}
    }

    /// Returns the shot of a player that the picture explains: the next one, or the last. `None`
    /// unless the player looks through the shooters' eyes.
    pub(crate) fn shot_of(&self, player: PlayerId) -> Option<Ruling> {
        // The picture is a bit behind.
        let now = self.playback.tick().minus(self.ticks(SHOWN_BEHIND));
        let shots = self.playback.shots();
        let next = shots.partition_point(|shot| shot.tick < now);
        let of = |shot: &&Rewound| shot.shooter == player;
        let found = shots[next..].iter().find(of).or_else(|| shots[..next].iter().rev().find(of));
        // A file may claim any times.
        found.filter(|_| self.has_eyes).map(Rewound::ruling).filter(Ruling::is_sane)
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

    /// Notes that clips can be saved on this machine.
    pub(crate) fn allow_films(&mut self) {
        self.can_film = true;
    }

    /// Begins a clip at this place, or ends it, so that it will be saved.
    pub(super) fn mark_clip(&mut self) {
        if !self.can_film {
            return;
        }
        let now = self.playback.tick();
        match self.clip.take() {
            None => self.clip = Some(now),
            Some(before) => {
                self.cut = Some(Cut { from: before.min(now), to: before.max(now), fps: CLIP_FPS });
            }
        }
    }

    /// Takes the clip that the player wants to save.
    pub(crate) fn take_cut(&mut self) -> Option<Cut> {
        self.cut.take()
    }

    /// Returns the part between two times since the start; without them, from the start or to the
    /// end.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page has no command line"))]
    pub(crate) fn cut(&self, from: Option<Micros>, to: Option<Micros>, fps: u32) -> Cut {
        let (first, last) = self.playback.span();
        let at = |time| first.plus(self.ticks(time)).min(last);
        Cut { from: from.map_or(first, at), to: to.map_or(last, at), fps }
    }

    /// Starts to export a part.
    ///
    /// # Errors
    ///
    /// The part is empty, too long or damaged, or the place for it cannot be opened; in words for
    /// the player.
    pub(crate) fn begin_film(&mut self, cut: Cut, open: OpenFilm) -> Result<(), String> {
        let before = self.playback.tick();
        self.move_to(cut.from);
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        // The first picture may be a bit later, and playback takes no time for what was not
        // recorded.
        let ticks = self.playback.replay().ticks_between(self.playback.tick(), cut.to);
        let length = self.rates().time_of(Tick(ticks));
        let opened = cut.format(Micros(length.0)).and_then(|format| Ok((open(format)?, format)));
        match opened {
            Ok((film, format)) => self.filming = Some(Filming::new(film, format)),
            Err(why) => {
                self.move_to(before);
                return Err(why);
            }
        }
        self.paused = true;
        Ok(())
    }

    /// Returns the seconds that pass per picture while a part is exported.
    pub(crate) fn film_secs(&self) -> Option<f32> {
        self.filming.as_ref().map(Filming::secs)
    }

    /// Takes a picture of the export, and the sounds that begin with it. Returns how the export
    /// ended, if it did.
    pub(crate) fn film(
        &mut self,
        picture: Picture,
        orders: impl Iterator<Item = Order>,
    ) -> Option<Result<String, String>> {
        let added = self.filming.as_mut()?.add(picture, orders);
        match added {
            Ok(false) => None,
            Ok(true) => Some(self.filming.take()?.finish()),
            Err(why) => {
                self.filming = None;
                Some(Err(why))
            }
        }
    }

    /// Gives up the export; what it wrote is removed.
    pub(crate) fn cancel_film(&mut self) {
        self.filming = None;
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
            fill("This place cannot be read: {why}.", &[("why", &error.to_string())])
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

    fn ticks(&self, time: Micros) -> u64 {
        self.playback.header().rates.tick_at(ServerTime(time.0)).0
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
        let is_cut = !self.playback.replay().is_complete() && self.playback.is_over();
        let exact = self.playback.has_rules();
        let other = || self.viewer().map_or_else(other, own);
        self.error.clone().or(is_cut.then(cut)).or((!exact).then(other))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use egui_macroquad::egui::pos2;
    use phaselock::game::Game;
    use phaselock::replay::Assembly;
    use phaselock::server::{AnyRoom, Command, RecordConfig, Room, RoomConfig, RoomSettings};

    use super::super::film::tests::{Counter, Taken, picture};
    use super::*;

    /// A player of 20 s of a race with bots, with marks after 5, 10 and 11 s, and its clock.
    fn player() -> (Player, Rc<Cell<LocalTime>>) {
        player_of::<phaselock_games::race::Race>(2)
    }

    fn player_of<G: Game>(bots: u16) -> (Player, Rc<Cell<LocalTime>>) {
        let record = Some(RecordConfig::default());
        let settings = RoomSettings { bots, ..RoomSettings::default() };
        let config = RoomConfig { record, settings, ..RoomConfig::default() };
        let mut room = Room::<G>::new(config);
        let (mut file, mut assembly) = (Vec::new(), Assembly::default());
        while room.tick() < Tick(1200) {
            let now = room.next_timeout();
            room.handle_timeout(now);
            if [300, 600, 660].contains(&room.tick().0) {
                let mark = Command::Mark { text: "here".into() };
                room.handle_command(now, mark).expect("it is recorded");
            }
        }
        room.cut_replay();
        while let Some(piece) = room.poll_replay() {
            file.extend(assembly.push(&piece).expect("in order"));
        }
        file.extend(assembly.end());
        let time = Rc::new(Cell::new(LocalTime(0)));
        let clock = Rc::clone(&time);
        let config = SessionConfig::new(phaselock_games::all(), "Watcher");
        let player = Player::open(file.into(), config, Box::new(move || clock.get()));
        (player.expect("it can be played"), time)
    }

    /// Lets frames of 20 ms pass.
    fn run(player: &mut Player, time: &Cell<LocalTime>, frames: u32) {
        for _ in 0..frames {
            time.set(time.get() + Micros::from_ms(20));
            player.advance();
        }
    }

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
    fn eyes_are_those_of_the_followed_player_at_the_nearest_shot() {
        let (mut player, time) = player_of::<phaselock_games::skirmish::Skirmish>(10);
        run(&mut player, &time, 200);
        let shots = player.playback.shots().to_vec();
        assert!(shots.len() > 10, "{} shots", shots.len());
        let shooter = shots[0].shooter;
        assert_eq!(player.shot_of(shooter), None, "nobody asked");
        player.has_eyes = true;
        player.move_to(Tick(300));
        let shown = player.shot_of(shooter).expect("it shoots");
        let of = shots.iter().filter(|shot| shot.shooter == shooter).map(|shot| shot.tick);
        let next = of.clone().find(|tick| *tick >= Tick(270));
        assert_eq!(Some(shown.tick), next.or_else(|| of.clone().next_back()));
        assert_eq!(player.shot_of(PlayerId(999)), None);
    }

    #[test]
    fn export_takes_every_picture_at_its_own_time_however_slow_the_machine_is() {
        let (mut player, time) = player();
        let cut = player.cut(Some(Micros::from_ms(5000)), Some(Micros::from_ms(7000)), 20);
        let taken = Taken::default();
        let counter = Counter(taken.clone());
        player.begin_film(cut, Box::new(move |_| Ok(Box::new(counter)))).expect("it fits");
        let mut ticks = Vec::new();
        let ended = loop {
            // Frames of any length; some are not painted.
            run(&mut player, &time, 1 + ticks.len() as u32 % 3);
            ticks.push(player.playback.tick().0);
            if let Some(ended) = player.film(picture(), std::iter::empty()) {
                break ended;
            }
        };
        assert_eq!(ended, Ok("memory".to_owned()));
        assert_eq!(*taken.borrow(), (40, 2 * 48_000));
        let from = cut.from.0;
        assert!((0..).zip(&ticks).all(|(n, tick)| tick.abs_diff(from + 3 * n) <= 1), "{ticks:?}");
        assert!(player.film_secs().is_none() && player.paused);
    }

    #[test]
    fn export_of_everything_ends_with_the_recording_and_a_failed_one_changes_nothing() {
        let (mut player, time) = player();
        player.move_to(Tick(600));
        let all = player.cut(None, None, 10);
        let failed = player.begin_film(all, Box::new(|_| Err("the disk is full".into())));
        assert_eq!(failed, Err("the disk is full".to_owned()));
        assert!(player.playback.tick().0.abs_diff(600) <= 1 && player.film_secs().is_none());

        let counter = Counter(Taken::default());
        player.begin_film(all, Box::new(move |_| Ok(Box::new(counter)))).expect("it fits");
        let mut ticks = Vec::new();
        while player.film_secs().is_some() {
            run(&mut player, &time, 1);
            ticks.push(player.playback.tick().0);
            player.film(picture(), std::iter::empty());
        }
        // No picture is shown twice, from a quarter of a second in to the end.
        assert!(ticks.is_sorted_by(|a, b| a < b), "{ticks:?}");
        let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
        assert!(first <= 15 && last >= all.to.0 - 6, "{first} to {last}");
    }

    #[test]
    fn clip_lies_between_two_presses_in_either_order() {
        let (mut player, _) = player();
        player.move_to(Tick(600));
        player.mark_clip();
        assert_eq!(player.clip, None, "no clips on this machine");
        player.allow_films();
        player.mark_clip();
        assert!(player.clip.is_some() && player.take_cut().is_none());
        player.move_to(Tick(300));
        player.mark_clip();
        let cut = player.take_cut().expect("both ends are known");
        assert!(cut.from.0.abs_diff(300) <= 1 && cut.to.0.abs_diff(600) <= 1, "{cut:?}");
        assert_eq!(player.clip, None);
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
