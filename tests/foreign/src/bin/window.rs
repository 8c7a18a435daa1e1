//! The window: `cargo run --bin tag-window`.

use std::cmp::Reverse;
use std::process::ExitCode;

use phaselock::game::{read_message, write_message};
use phaselock_client::Views;
use phaselock_ui::prelude::*;
use phaselock_ui::scoreboard;
use tag::{Ask, Event, Role, Run, Runner, Tag, VERSION};

/// Minimum width and height that the window shows, in metres.
const SHOWN: (f32, f32) = (28.0, 21.0);
/// Time for which a line of news stays, in seconds.
const NEWS_SECS: f32 = 2.5;

const UP: Action = Action::new("up", "up", &["W", "Up", "Pad:LeftStickUp"]).hint("run");
const LEFT: Action = Action::new("left", "left", &["A", "Left", "Pad:LeftStickLeft"]).hint("run");
const DOWN: Action = Action::new("down", "down", &["S", "Down", "Pad:LeftStickDown"]).hint("run");
const RIGHT: Action =
    Action::new("right", "right", &["D", "Right", "Pad:LeftStickRight"]).hint("run");
const SHOUT: Action = Action::new("shout", "shout", &["Space", "Pad:A"]);

/// State of the view between frames.
#[derive(Debug, Default)]
struct Field {
    /// The newest line of news, and its age in seconds.
    news: Option<(String, f32)>,
}

impl GameView for Field {
    type Game = Tag;
    const TITLE: &'static str = "Tag";
    const ACTIONS: &'static [Action] = &[UP, LEFT, DOWN, RIGHT, SHOUT];

    fn input(&self, controls: &Controls) -> Run {
        let way = Vec2::new(controls.axis(&LEFT, &RIGHT), controls.axis(&UP, &DOWN));
        Run { way: way.normalize_or_zero() }
    }

    fn handle_event(&mut self, event: &[u8]) {
        let line = match read_message(event) {
            Ok(Event::Tagged { name }) => format!("{name} is it!"),
            Ok(Event::Shout { .. }) => "Ahoy!".into(),
            Err(_) => return,
        };
        self.news = Some((line, 0.0));
    }

    fn poll_request(&mut self, controls: &Controls) -> Option<Vec<u8>> {
        let shouts = controls.pressed(&SHOUT);
        shouts.then(|| write_message(&Ask::Shout).ok()).flatten()
    }

    fn draw(&mut self, scene: &Scene<'_, Tag>) -> Camera {
        let half = Vec2::splat(scene.game.half());
        let middle = scene.own::<Runner>().map_or(Vec2::ZERO, |own| own.position);
        let mut camera = Camera::new(scene.screen, middle, SHOWN.0, SHOWN.1);
        camera.keep_within(ViewBounds::around(half, 2.0));
        let brush = Brush::new(scene.painter, camera);
        scene.painter.rect_filled(brush.rect(-half, half), 6.0, palette::FLOOR);
        for line in (1..(2.0 * half.x) as i32).map(|metre| metre as f32 - half.x) {
            let edge = Stroke::new(1.0, palette::GRID);
            brush.line([Vec2::new(line, -half.y), Vec2::new(line, half.y)], edge);
            brush.line([Vec2::new(-half.x, line), Vec2::new(half.x, line)], edge);
        }
        for slot in scene.picture.entities.iter() {
            self.draw_runner(scene, &brush, slot);
        }
        self.draw_news(scene);
        if scene.scores {
            let free = |runner: &Runner| vec![format!("{}", runner.score / scene.rates.tick_hz)];
            let board = Scoreboard::new(scene, &["FREE, S"], |it: &Runner| Reverse(it.score), free);
            scoreboard::draw(&scene.frame, &board);
        }
        camera
    }
}

impl Field {
    fn draw_runner(&self, scene: &Scene<'_, Tag>, brush: &Brush<'_>, slot: &Slot<Runner>) {
        let Runner { position, velocity, role, daze, .. } = slot.entity;
        let color = if scene.is_own(slot.id) { palette::OWN } else { palette::FOE };
        if role == Role::It {
            brush.glow(position, 1.6, fade(palette::BAD, if daze > 0 { 0.25 } else { 0.7 }));
            brush.ring(position, 0.75, brush.stroke(0.12, palette::BAD));
        }
        brush.disc(position + Vec2::new(0.06, 0.12), 0.5, Color32::from_black_alpha(90));
        brush.circle(position, 0.5, color, brush.stroke(0.06, palette::TEXT));
        // The eyes look in the direction of movement.
        let ahead = velocity.normalize_or(Vec2::Y);
        for side in [-0.4, 0.4] {
            brush.disc(position + Vec2::from_angle(side).rotate(ahead) * 0.28, 0.09, palette::VOID);
        }
        let Some(name) = scene.owner_tag(slot.owner) else { return };
        let at = brush.point(position - Vec2::Y * 1.05);
        name_tag(scene.painter, at, Align2::CENTER_CENTER, name, (14.0, fade(palette::TEXT, 0.9)));
    }

    fn draw_news(&mut self, scene: &Scene<'_, Tag>) {
        let Some((line, age)) = &mut self.news else { return };
        *age += scene.secs;
        let at = pos2(scene.screen.center().x, scene.screen.top() + 60.0);
        let color = fade(palette::TEXT, ((NEWS_SECS - *age) * 2.0).min(1.0));
        text_over(scene.painter, at, Align2::CENTER_CENTER, line, (30.0, color));
        self.news.take_if(|(_, age)| *age > NEWS_SECS);
    }
}

fn main() -> ExitCode {
    phaselock_client::run(&Views::new().of_version(VERSION).with::<Field>())
}
