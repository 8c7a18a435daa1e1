//! The feed: lines about events between players, below the connection's corner.

use std::collections::VecDeque;

use egui_macroquad::egui::{Align2, Color32, Painter, Pos2, Rect, vec2};
use phaselock::game::Game;
use phaselock::ids::PlayerId;

use super::paint::{fade, text_over};
use super::palette;
use super::view::Scene;

/// Most lines at a time.
const LINES_MAX: usize = 5;
const LINE_SECS: f32 = 5.0;

/// Lines that fade after five seconds, the newest on top. `S` is a sign between two names.
#[derive(Debug)]
pub struct Feed<S>(VecDeque<Line<S>>);

#[derive(Debug)]
struct Line<S> {
    actor: Option<(String, Color32)>,
    sign: S,
    target: (String, Color32),
    age: f32,
}

impl<S> Default for Feed<S> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<S> Feed<S> {
    /// Adds a line: nobody or a player did something to a player.
    pub fn push<G: Game>(
        &mut self,
        scene: &Scene<'_, G>,
        actor: Option<PlayerId>,
        sign: S,
        target: PlayerId,
    ) {
        let name = |player| {
            let color = if player == scene.player { palette::OWN } else { palette::TEXT };
            (scene.name_of(player).to_owned(), color)
        };
        if self.0.len() == LINES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Line { actor: actor.map(name), sign, target: name(target), age: 0.0 });
    }

    /// Advances by `secs` seconds.
    pub fn advance(&mut self, secs: f32) {
        self.0.retain_mut(|line| {
            line.age += secs;
            line.age < LINE_SECS
        });
    }

    /// Paints the lines. `sign` paints a sign with its upper right corner at a point, at a
    /// strength from 0 to 1, and returns its width in points; `nobody` stands for a missing actor.
    pub fn draw(
        &self,
        painter: &Painter,
        screen: Rect,
        nobody: &str,
        sign: impl Fn(&S, Pos2, f32) -> f32,
    ) {
        for (n, line) in self.0.iter().rev().enumerate() {
            let strength = ((LINE_SECS - line.age) / 0.6).min(1.0);
            let at = screen.right_top() + vec2(-18.0, 48.0 + n as f32 * 21.0);
            let write = |at: Pos2, words: &str, color: Color32| {
                let color = fade(color, strength);
                text_over(painter, at, Align2::RIGHT_TOP, words, 14.0, color).width()
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
