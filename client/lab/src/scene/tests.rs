//! The laboratory's scene, driven by mouse and keys without a window.

use egui_macroquad::egui::{PointerButton, Pos2, RawInput, pos2};

use super::settings::Net;
use super::*;
use crate::track::Fate;

const SIZE: [f32; 2] = [1280.0, 720.0];

/// A scene, and the time in seconds.
struct Stage {
    ctx: Context,
    lab: Lab,
    secs: f64,
}

impl Stage {
    fn new(begin: &Begin, link: Option<&str>) -> Self {
        let link = link.map(|link| link.parse::<Conditions>().expect("a network"));
        Self {
            ctx: Context::default(),
            lab: Lab::new(begin, link.as_ref(), &phaselock_games::all()),
            secs: 0.0,
        }
    }

    /// A frame with some events. Returns whether the scene is left.
    fn frame(&mut self, events: Vec<Event>) -> bool {
        let step = 1.0 / 60.0;
        self.secs += step;
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, SIZE.into()));
        let time = Some(self.secs);
        let input = RawInput { screen_rect, time, events, ..RawInput::default() };
        let mut leaves = false;
        let _ = self.ctx.run(input, |ctx| leaves = self.lab.draw(ctx, step as f32));
        leaves
    }

    fn key(&mut self, key: Key) -> bool {
        let event = |pressed| {
            let modifiers = Modifiers::NONE;
            Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }
        };
        self.frame(vec![event(true)]) | self.frame(vec![event(false)])
    }

    fn button(&mut self, pos: Pos2, pressed: bool) {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        let press = Event::PointerButton { pos, button, pressed, modifiers };
        self.frame(vec![Event::PointerMoved(pos), press]);
    }

    fn click(&mut self, pos: Pos2) {
        // The layout is known from the frame before.
        self.frame(vec![Event::PointerMoved(pos)]);
        self.button(pos, true);
        self.button(pos, false);
    }
}

#[test]
fn a_path_is_drawn_and_played() {
    let mut stage = Stage::new(&Begin::default(), None);
    stage.frame(Vec::new());
    let at = |step: u16| pos2(100.0 + 4.0 * f32::from(step), 200.0 + f32::from(step));
    stage.frame(vec![Event::PointerMoved(at(0))]);
    stage.button(at(0), true);
    assert!(stage.lab.drawing.is_some());
    for step in 1..=60 {
        stage.frame(vec![Event::PointerMoved(at(step))]);
    }
    stage.button(at(60), false);
    let model = &stage.lab.model;
    assert_eq!((&model.path.origin, stage.lab.drawing.is_some()), (&Origin::Drawn, false));
    assert!((model.secs - 61.0 / 60.0).abs() < 0.02, "{}", model.secs);
    let [across, down] = model.path.recording.bounds();
    for (found, right) in across.into_iter().chain(down).zip([100.0, 340.0, 200.0, 260.0]) {
        assert!((found - right).abs() < 0.01, "{found} is not {right}");
    }
    for _ in 0..30 {
        stage.frame(Vec::new());
    }
    let shown = stage.lab.model.rows.iter().filter(|row| row.on);
    assert!(shown.clone().count() == 4 && shown.clone().all(|row| row.scores.frames > 5));
    // A click draws nothing, and says what would.
    stage.click(at(10));
    assert!(stage.lab.notice.as_ref().is_some_and(|notice| notice.words.contains("Hold")));
    assert_eq!(stage.lab.model.path.origin, Origin::Drawn);
}

#[test]
fn what_is_in_the_corner_is_clicked_and_not_drawn_over() {
    let mut stage = Stage::new(&Begin::default(), None);
    stage.frame(Vec::new());
    let mut seen = Vec::new();
    for x in (610..866).step_by(8) {
        stage.click(pos2(x as f32, 26.0));
        assert!(stage.lab.drawing.is_none() && stage.lab.notice.is_none(), "at {x}");
        seen.push((stage.lab.options.whole, stage.lab.options.zoom));
    }
    assert!(seen.iter().any(|(whole, _)| *whole));
    assert!(ZOOMS.iter().all(|(zoom, _)| seen.iter().any(|(_, seen)| seen == zoom)), "{seen:?}");
}

#[test]
fn keys_play_step_and_leave() {
    let mut stage = Stage::new(&Begin::default(), None);
    stage.frame(Vec::new());
    stage.lab.model.seek(2.0);
    stage.key(Key::Space);
    let frames = stage.lab.model.frames();
    assert!(!stage.lab.model.playing && frames > 100, "{frames}");
    for key in [Key::Period, Key::ArrowRight, Key::ArrowRight, Key::Comma, Key::ArrowLeft] {
        stage.key(key);
    }
    assert_eq!(stage.lab.model.frames(), frames + 1);
    stage.key(Key::Num4);
    stage.key(Key::Home);
    assert_eq!((stage.lab.model.head, stage.lab.model.speed), (0.0, 0.1));
    assert!(stage.key(Key::Escape));
    // A drawing is cancelled first.
    stage.frame(vec![Event::PointerMoved(pos2(300.0, 300.0))]);
    stage.button(pos2(300.0, 300.0), true);
    assert!(!stage.key(Key::Escape) && stage.lab.drawing.is_none());
}

#[test]
fn what_is_set_stays_until_it_is_changed() {
    for link in ["terrible", "mobile", "delay=33ms,jitter=7ms,loss=3.3%"] {
        let mut stage = Stage::new(&Begin::default(), Some(link));
        let before = stage.lab.model.controls.clone();
        assert_ne!(before.net, Net::Own);
        for _ in 0..5 {
            stage.frame(vec![Event::PointerMoved(pos2(1000.0, 300.0))]);
        }
        assert_eq!(stage.lab.model.controls, before, "{link}");
    }
    // A long drag over the whole side panel touches many things, and nothing breaks.
    let mut stage = Stage::new(&Begin::default(), None);
    stage.frame(Vec::new());
    for y in (60..720).step_by(9) {
        for x in [920.0, 1000.0, 1060.0, 1200.0] {
            stage.click(pos2(x, y as f32));
        }
    }
    assert_ne!(stage.lab.model.controls, LabSettings::default());
    assert!(stage.lab.model.updates.iter().any(|update| matches!(update.fate, Fate::Arrives(_))));
}

#[test]
fn files_begin_with_their_first_minute() {
    let points = (0..=700).map(|step| {
        let time = f64::from(step) / 10.0;
        crate::file::Point { time, x: time.sin(), y: time.cos(), segment: 0 }
    });
    let motion = MotionFile { points: points.collect(), ..MotionFile::default() };
    let methods = Some(vec![Contender::Newest]);
    let file = Some(("waves.csv".into(), Arc::new(motion)));
    let begin = Begin { file, methods, ..Begin::default() };
    let mut stage = Stage::new(&begin, None);
    stage.frame(Vec::new());
    assert_eq!((stage.lab.model.path.title.as_str(), stage.lab.model.secs), ("waves.csv", 60.0));
    assert!(stage.lab.notice.as_ref().is_some_and(|notice| notice.words.contains("the first of")));
    let on = stage.lab.model.rows.iter().filter(|row| row.on);
    assert_eq!(on.map(|row| row.contender).collect::<Vec<_>>(), [Contender::Newest]);
}

#[test]
fn numbers_are_written_and_the_picture_waits_for_the_frame() {
    let folder = tempfile::tempdir().expect("a folder");
    let export = Some(folder.path().to_owned());
    let mut stage = Stage::new(&Begin { export, ..Begin::default() }, None);
    stage.key(Key::E);
    let names = stage.lab.picture.clone().expect("the picture is to follow");
    assert!(names.of("csv").exists() && names.of("json").exists() && !names.of("png").exists());
    let figure = std::fs::read_to_string(names.of("svg")).expect("a figure");
    assert!(figure.starts_with("<svg") && figure.contains("fir-linear"), "{figure}");
    let export = Some(folder.path().join("missing"));
    let mut stage = Stage::new(&Begin { export, ..Begin::default() }, None);
    stage.key(Key::E);
    assert!(stage.lab.picture.is_none());
    assert!(stage.lab.notice.as_ref().is_some_and(|notice| notice.words.contains("Cannot write")));
}
