//! The feed: lines about events between players, below the connection state.

use egui_macroquad::egui::text::{LayoutJob, TextWrapping};
use egui_macroquad::egui::{Color32, FontId, Pos2, Rect, pos2, vec2};
use phaselock::game::Game;
use phaselock::ids::PlayerId;

use super::layout::{Item, Way, grounded};
use super::paint::fade;
use super::palette;
use super::particles::Fading;
use super::view::{Frame, Scene};

/// Minimum height of a line, in points.
const LINE_LEAST: f32 = 17.0;
/// Maximum number of lines.
const LINES_MAX: usize = 5;
const LINE_SECS: f32 = 5.0;
/// Width of a sign with the gaps on both sides, and of one gap, in points.
const SIGN: f32 = 34.0;
const SIGN_GAP: f32 = 7.0;
/// Maximum width of a name, as a share of the window's width.
const NAME_PART: f32 = 0.16;

/// Lines that fade after five seconds, the newest on top. `S` is the sign between two names.
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
    /// Adds a line: a player, or no one, did something to another player, as the sign shows.
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

    /// Paints the lines. `sign` paints a sign with its upper right corner at a point, at a strength
    /// from 0 to 1, and returns its width in points. `nobody` stands for a missing actor.
    pub fn draw(&self, frame: &Frame<'_>, nobody: &str, sign: impl Fn(&S, Pos2, f32) -> f32) {
        let painter = frame.painter;
        let room = frame.screen.width() * NAME_PART;
        for (n, (line, part)) in self.0.iter().rev().take(LINES_MAX).enumerate() {
            let strength = ((1.0 - part) * LINE_SECS / 0.6).min(1.0);
            let write = |(words, color): (&str, Color32)| {
                let font = FontId::proportional(14.0);
                let color = fade(color, strength);
                let mut job = LayoutJob::simple_singleline(words.to_owned(), font, color);
                job.wrap = TextWrapping::truncate_at_width(room);
                painter.layout_job(job)
            };
            let (target, color) = &line.target;
            let target = write((target, *color));
            let actor = line
                .actor
                .as_ref()
                .map_or((nobody, palette::TEXT_SOFT), |(name, color)| (name, *color));
            let actor = write(actor);
            let high = target.size().y.max(LINE_LEAST) + 3.0;
            let size = vec2(actor.size().x + target.size().x + SIGN + 12.0, high);
            let above = 46.0 + n as f32 * (high + 4.0);
            let at = frame.screen.right_top() + vec2(-12.0 - size.x, above);
            let wanted = Rect::from_min_size(at, size);
            let Some(rect) = grounded(painter, Item::Feed, wanted, &[Way::Down], strength) else {
                break;
            };
            let top = rect.center().y - target.size().y / 2.0;
            let at = pos2(rect.right() - 6.0 - target.size().x, top);
            painter.galley(at, target, *color);
            let at = at - vec2(SIGN_GAP, 0.0);
            let width = sign(&line.sign, at, strength);
            let at = at - vec2(width.min(SIGN - 2.0 * SIGN_GAP) + SIGN_GAP + actor.size().x, 0.0);
            painter.galley(at, actor, palette::TEXT);
        }
    }
}
