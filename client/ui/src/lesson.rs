//! Lessons: at the first start of a game, the player learns by doing, one step at a time.
//!
//! A view declares its steps ([`GameView::LESSON`]); each step decides in which frames the player
//! does what it asks for. A lesson is a state machine that gets the elapsed time, so it ends by
//! itself whatever the player does.

use egui_macroquad::egui::FontId;
use phaselock::game::RoundPart;

use super::actions;
use super::controls::Controls;
use super::inset::Inset;
use super::layout::{self, Item, Way};
use super::paint::{bar, fade, letters, panel, to_be_read};
use super::palette;
use super::view::{GameView, Scene};
use super::words::{fill, tr};
use egui_macroquad::egui::{Align2, Painter, Rect, vec2};

/// Maximum length of a lesson in seconds; its steps share it equally.
const LESSON_SECS: f32 = 56.0;
/// Seconds for which a completed step shows its tick.
const TICK_SECS: f32 = 0.9;
/// Maximum widths of the panel in points: the one tried first, and the next.
const WIDTHS: [f32; 2] = [400.0, 220.0];
/// Size of the small letters, in points.
const LETTERS: f32 = 14.0;
/// Distance of the panel's lower edge from the window's, in points: above what games show there.
const ABOVE: f32 = 116.0;

/// Progress of a lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// Index of the step.
    step: usize,
    /// Seconds since the lesson began, and since the step began.
    age: f32,
    step_age: f32,
    /// Seconds for which the player has done what the step asks for.
    did: f32,
    /// Seconds since the step was completed.
    ticked: Option<f32>,
    is_over: bool,
}

impl Lesson {
    /// Advances by a frame in which the player does (or does not do) what the step asks for. The
    /// lesson has `count` steps; the current one takes `wanted` seconds.
    fn advance(&mut self, secs: f32, (count, wanted): (usize, f32), does: bool) {
        self.age += secs;
        self.step_age += secs;
        let patience = LESSON_SECS / count.max(1) as f32;
        let is_past = match &mut self.ticked {
            Some(age) => {
                *age += secs;
                *age >= TICK_SECS
            }
            None => {
                self.did += if does { secs } else { 0.0 };
                if does && self.did >= wanted {
                    self.ticked = Some(0.0);
                }
                self.ticked.is_none() && self.step_age >= patience - TICK_SECS
            }
        };
        if is_past {
            let (step, age) = (self.step + 1, self.age);
            *self = Self { step, age, ..Self::default() };
        }
        self.is_over = self.step >= count || self.age >= LESSON_SECS;
    }

    /// Runs the lesson for a frame: checks what the player does, and paints the step.
    pub fn teach<V: GameView>(&mut self, view: &V, scene: &Scene<'_, V::Game>) {
        let there = scene.active && !scene.scores && scene.picture.own.is_some();
        if !there || view.part(scene) == Some(RoundPart::Results) {
            return;
        }
        let Some(step) = V::LESSON.get(self.step) else {
            self.is_over = true;
            return;
        };
        let count = V::LESSON.len();
        let share = if self.ticked.is_some() { 1.0 } else { self.did / step.secs.max(0.1) };
        let shown = Shown {
            words: (step.words)(scene.controls),
            number: (self.step + 1, count),
            share,
            is_done: self.ticked.is_some(),
        };
        shown.draw(scene.painter, scene.screen, scene.controls);
        self.advance(scene.secs, (count, step.secs), (step.does)(scene));
    }
}

/// A step as shown.
struct Shown {
    words: String,
    /// Number of the step, from 1, and the number of steps.
    number: (usize, usize),
    /// Share of the step that is done.
    share: f32,
    is_done: bool,
}

impl Shown {
    fn draw(&self, painter: &Painter, screen: Rect, controls: &Controls) {
        let (number, count) = self.number;
        let (number, count) = (&*number.to_string(), count.to_string());
        let skip = controls.words(&actions::SKIP_LESSON);
        let below = match &*skip {
            // In some games, no gamepad button is left for it.
            _ if controls.by_glass() => {
                let button = controls.words(&actions::MENU);
                let values = [("number", number), ("count", &*count), ("button", &*button)];
                fill("{number} of {count}     To end the lesson, touch {button}.", &values)
            }
            "-" => {
                let key = controls.words(&actions::MENU);
                let values = [("number", number), ("count", &*count), ("key", &*key)];
                fill("{number} of {count}     {key}: pause, to end the lesson", &values)
            }
            key => {
                let values = [("number", number), ("count", &*count), ("key", key)];
                fill("{number} of {count}     {key}: end the lesson", &values)
            }
        };
        // A narrow panel fits next to what must be seen, and a small one into a low window.
        let ways = [Way::Up, Way::Left, Way::Right, Way::Down];
        let large = letters(painter.ctx());
        // The last attempt ignores the setting for larger text.
        let usual = (large > 1.0).then_some(1.0 / large);
        let larger = [to_be_read(painter.ctx(), LETTERS), 1.0].into_iter().chain(usual);
        let mut tries = larger.flat_map(|it| WIDTHS.map(|width| (width, it)));
        let found = tries.find_map(|(width, larger)| {
            let grown = larger * letters(painter.ctx());
            // The ring is next to the words.
            let left = 48.0 * grown;
            let room = (width * larger).min(screen.width() - 80.0 - left);
            let text = |words: &str, size: f32, color| {
                painter.layout(words.to_owned(), FontId::proportional(size), color, room)
            };
            let words = text(&self.words, 16.0 * larger, palette::TEXT);
            let below = text(&below, LETTERS * larger, palette::TEXT_FAINT);
            let wide = words.size().x.max(below.size().x);
            let size = vec2(wide + left + 18.0, words.size().y + below.size().y + 22.0);
            let mut places = places(screen, size).into_iter();
            let rect =
                places.find_map(|it| layout::find_or_at_side(painter, Item::Lesson, it, &ways))?;
            Some((rect, words, below, (grown, left)))
        });
        let Some((rect, words, below, (grown, left))) = found else { return };
        let inset = Inset::within(painter, rect, grown);
        panel(painter, rect);
        let edge = Rect::from_min_size(rect.left_top(), vec2(3.0, rect.height()));
        painter.rect_filled(edge, 2.0, palette::OWN);
        let left = rect.left_top() + vec2(left, 8.0);
        let next = left + vec2(0.0, words.size().y + 3.0);
        tick(painter, inset, number, self.is_done);
        painter.galley(left, words, palette::TEXT);
        painter.galley(next, below, palette::TEXT_FAINT);
        let line = rect.left_bottom() + vec2(10.0, -6.0);
        let line = Rect::from_min_size(line, vec2(rect.width() - 20.0, 3.0));
        bar(painter, line, self.share, palette::GOOD);
    }
}

/// Draws a step as a lesson does, for tests that lay out a window.
pub fn sample(painter: &Painter, screen: Rect, controls: &Controls) {
    let words = fill("Switch weapons with {keys}.", &[("keys", "RB")]);
    Shown { words, number: (2, 4), share: 0.5, is_done: false }.draw(painter, screen, controls);
}

/// Places of the panel, the best first: above the lower edge, then at the sides.
fn places(screen: Rect, size: egui_macroquad::egui::Vec2) -> [Rect; 3] {
    let aside = |share: f32| {
        let middle = screen.left_center() + vec2(screen.width() * share, 0.0);
        Rect::from_center_size(middle, size)
    };
    [place(screen, size), aside(0.25), aside(0.75)]
}

/// Place of the panel in the window.
fn place(screen: Rect, size: egui_macroquad::egui::Vec2) -> Rect {
    let below = screen.center_bottom() - vec2(0.0, ABOVE + size.y / 2.0);
    Rect::from_center_size(below, size)
}

/// Paints a ring with the step's number, or with a tick once the step is done.
fn tick(painter: &Painter, inset: Inset<'_>, number: &str, is_done: bool) {
    let color = if is_done { palette::GOOD } else { fade(palette::TEXT_FAINT, 0.6) };
    let (x, y) = (25.0, inset.size().y / 2.0);
    painter.circle_stroke(inset.at(x, y), 11.0 * inset.zoom(), inset.stroke(2.0, color));
    if is_done {
        let stroke = inset.stroke(3.0, palette::GOOD);
        let ends = [(-5.0, 0.0), (-1.0, 5.0), (6.0, -5.0)];
        let [a, b, c] = ends.map(|(right, down)| inset.at(x + right, y + down));
        painter.line_segment([a, b], stroke);
        painter.line_segment([b, c], stroke);
    } else {
        inset.text((x, y), Align2::CENTER_CENTER, number, (LETTERS, palette::TEXT_SOFT));
    }
}

/// Lessons of a session: the running one, and those that the player has had.
#[derive(Debug, Default)]
pub struct Lessons {
    had: Vec<String>,
    /// The current game, if it has a lesson.
    game: Option<&'static str>,
    running: Option<Lesson>,
    /// Games whose lessons the caller has yet to remember.
    told: Vec<&'static str>,
}

impl Lessons {
    /// Creates the state without a running lesson; `had` are the games whose lessons the player has
    /// had.
    pub fn new(had: &[String]) -> Self {
        Self { had: had.to_vec(), ..Self::default() }
    }

    /// Begins a game, or continues it after a lost connection.
    pub fn begin_game(&mut self, game: &'static str, teaches: bool) {
        let game = teaches.then_some(game);
        if self.game == game && self.running.is_some() {
            return;
        }
        self.game = game;
        let is_new = game.is_some_and(|game| self.had.iter().all(|had| had != game));
        self.running = is_new.then(Lesson::default);
    }

    /// Starts the game's lesson over, or ends the running one.
    pub fn ask(&mut self) {
        match self.running {
            Some(_) => self.end(),
            None => self.running = self.game.map(|_| Lesson::default()),
        }
    }

    /// Label for [`ask`](Self::ask), in a game with a lesson.
    pub fn offer(&self) -> Option<&'static str> {
        self.game?;
        Some(if self.running.is_some() { tr("End the lesson") } else { tr("Show the lesson") })
    }

    /// The running lesson.
    pub fn running(&mut self) -> Option<&mut Lesson> {
        self.running.as_mut()
    }

    /// Whether a lesson is running.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Ends the running lesson.
    pub fn end(&mut self) {
        if self.running.take().is_some() {
            self.remember();
        }
    }

    /// Notes the lesson's progress. A player who leaves after the first step has had the lesson.
    pub fn note(&mut self) {
        match &self.running {
            Some(lesson) if lesson.is_over => self.end(),
            Some(lesson) if lesson.step > 0 => self.remember(),
            _ => {}
        }
    }

    /// Takes a game whose lesson is to be remembered.
    pub fn take_had(&mut self) -> Option<&'static str> {
        self.told.pop()
    }

    fn remember(&mut self) {
        let Some(game) = self.game else { return };
        if self.had.iter().all(|had| had != game) {
            self.had.push(game.to_owned());
            self.told.push(game);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: f32 = 1.0 / 60.0;

    /// Length in seconds of a lesson of four steps of half a second each, for a player who does
    /// `does`.
    fn secs(does: impl Fn(&Lesson) -> bool) -> (f32, Vec<(usize, bool)>) {
        let (mut lesson, mut secs, mut seen) = (Lesson::default(), 0.0, Vec::new());
        while !lesson.is_over && secs < 100.0 {
            let does = does(&lesson);
            lesson.advance(FRAME, (4, 0.5), does);
            secs += FRAME;
            let now = (lesson.step, lesson.ticked.is_some());
            if seen.last() != Some(&now) {
                seen.push(now);
            }
        }
        (secs, seen)
    }

    #[test]
    fn lesson_goes_on_as_the_player_does_what_it_asks_for() {
        let (secs, seen) = secs(|_| true);
        assert!((secs - 4.0 * (0.5 + TICK_SECS)).abs() < 0.3, "{secs} s");
        let ticks = seen.iter().filter(|(_, ticked)| *ticked).map(|(step, _)| *step);
        assert_eq!(ticks.collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn lesson_ends_by_itself_within_a_minute() {
        let (idle, seen) = secs(|_| false);
        assert!((40.0..60.0).contains(&idle), "{idle} s");
        assert!(seen.iter().all(|(_, ticked)| !ticked), "nothing was done");
        // A tick at the last moment of each step.
        let late = |lesson: &Lesson| lesson.step_age > LESSON_SECS / 4.0 - TICK_SECS - 0.6;
        let (late, _) = secs(late);
        assert!(late <= 60.0, "{late} s");
    }

    #[test]
    fn time_that_is_interrupted_counts_on() {
        let mut lesson = Lesson::default();
        for frame in 0..60 {
            lesson.advance(FRAME, (2, 0.4), frame % 2 == 0);
        }
        assert!(lesson.ticked.is_some(), "half of a second in all");
    }

    #[test]
    fn lesson_is_had_once_unless_the_player_asks_for_it() {
        let mut lessons = Lessons::new(&["race".to_owned()]);
        lessons.begin_game("race", true);
        assert!(!lessons.is_running(), "the lesson has been completed");
        assert_eq!(lessons.offer(), Some("Show the lesson"));
        lessons.ask();
        assert_eq!((lessons.is_running(), lessons.offer()), (true, Some("End the lesson")));
        lessons.ask();
        assert_eq!((lessons.is_running(), lessons.take_had()), (false, None));

        lessons.begin_game("puck", true);
        assert!(lessons.is_running());
        lessons.note();
        assert_eq!(lessons.take_had(), None, "it has hardly begun");
        // The game continues after a lost connection.
        lessons.running = Some(Lesson { step: 1, ..Lesson::default() });
        lessons.begin_game("puck", true);
        lessons.note();
        assert_eq!(lessons.running.as_ref().map(|it| it.step), Some(1));
        assert_eq!((lessons.take_had(), lessons.take_had()), (Some("puck"), None));
        lessons.end();
        assert_eq!(lessons.take_had(), None);

        lessons.begin_game("plain", false);
        assert_eq!((lessons.is_running(), lessons.offer()), (false, None));
        lessons.ask();
        assert!(!lessons.is_running());
    }

    #[test]
    fn panel_lies_within_any_window() {
        for size in [(640.0, 480.0), (1280.0, 720.0), (3840.0, 2160.0)] {
            let screen = Rect::from_min_size(egui_macroquad::egui::Pos2::ZERO, size.into());
            let rect = place(screen, vec2(WIDTHS[0].min(size.0 - 80.0) + 66.0, 90.0));
            assert!(screen.contains_rect(rect), "{rect:?} in {screen:?}");
        }
    }
}
