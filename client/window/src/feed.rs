//! The feed: lines about events between players, below the connection's corner.

use egui_macroquad::egui::{Align2, Color32, Pos2, vec2};
use phaselock::game::Game;
use phaselock::ids::PlayerId;

use super::paint::{fade, text_over};
use super::palette;
use super::particles::Fading;
use super::view::{Frame, Scene};

/// Most lines at a time.
const LINES_MAX: usize = 5;
const LINE_SECS: f32 = 5.0;

/// Lines that fade after five seconds, the newest on top. `S` is a sign between two names.
#[derive(Debug)]
pub struct Feed<S>(Fading<Line<S>>);

#[derive(Debug)]
struct Line<S> {
    actor: Option<(String, Color32)>,
    sign: S,
    target: (String, Color32),
}

impl<S> Default for Feed<S> {
    fn default() -> Self {
        Self(Fading::default())
    }
}

impl<S> Feed<S> {
    /// Adds a line: nobody or a player did something, as its sign tells, to a player.
    pub fn push<G: Game>(&mut self, scene: &Scene<'_, G>, line: (Option<PlayerId>, S, PlayerId)) {
        let (actor, sign, target) = line;
        let name = |player| {
            let color = if player == scene.player { palette::OWN } else { palette::TEXT };
            (scene.name_of(player).to_owned(), color)
        };
        self.0.push(Line { actor: actor.map(name), sign, target: name(target) }, LINE_SECS);
    }

    /// Advances by `secs` seconds.
    pub fn advance(&mut self, secs: f32) {
        self.0.advance(secs, |_| {});
    }

    /// Paints the lines. `sign` paints a sign with its upper right corner at a point, at a
    /// strength from 0 to 1, and returns its width in points; `nobody` stands for a missing actor.
    pub fn draw(&self, frame: &Frame<'_>, nobody: &str, sign: impl Fn(&S, Pos2, f32) -> f32) {
        for (n, (line, part)) in self.0.iter().rev().take(LINES_MAX).enumerate() {
            let strength = ((1.0 - part) * LINE_SECS / 0.6).min(1.0);
            let at = frame.screen.right_top() + vec2(-18.0, 48.0 + n as f32 * 21.0);
            let write = |at: Pos2, words: &str, color: Color32| {
                let color = fade(color, strength);
                text_over(frame.painter, at, Align2::RIGHT_TOP, words, 14.0, color).width()
            };
            let (target, color) = &line.target;
            let at = at - vec2(write(at, target, *color) + 7.0, 0.0);
            let at = at - vec2(sign(&line.sign, at, strength) + 7.0, 0.0);
            match &line.actor {
                Some((actor, color)) => write(at, actor, *color),
                None => write(at, nobody, palette::TEXT_SOFT),
            };
        }
    }
}
