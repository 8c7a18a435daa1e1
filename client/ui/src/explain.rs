//! Sentences that explain what panels show, for tooltips and for the chosen entry.

use egui_macroquad::egui::{Align2, FontId, Painter, Pos2, Rect, Stroke, StrokeKind, vec2};
use phaselock::clock::pll::LoopFilter;
use phaselock::motion::choice::Choice;

use super::paint::fade;
use super::palette;
use super::words::tr;

/// Width of a sentence next to a painted panel, in points.
const WIDTH: f32 = 260.0;

/// Explains a presentation method in a sentence.
pub fn method(choice: Choice) -> &'static str {
    match choice {
        Choice::Linear => tr("Linear: straight from state to state, a fraction of a second late."),
        Choice::Hermite => tr("Hermite: smooth, a fraction of a second late."),
        Choice::CatmullRom => {
            tr("Catmull-Rom: a smooth curve through neighbouring states, a fraction of a second \
                late.")
        }
        Choice::Projective => {
            tr("Projective: extrapolates the last two states to now and blends them.")
        }
        Choice::CubicSpline => {
            tr("Cubic spline: a curve to where the next state is expected; can overshoot.")
        }
        Choice::OneTwelfth => {
            tr("One-twelfth: closes a twelfth of the gap 60 times a second; soft, but lags.")
        }
        Choice::RunForward => {
            tr("Run-forward: runs the game's own rules up to now; corrections are curves.")
        }
        Choice::FirLinear => tr("Linear extrapolation: straight on from the last two positions."),
        Choice::FirThesisQuadratic => {
            tr("Quadratic as printed in the thesis: from the last velocity and its change.")
        }
        Choice::FirQuadratic => {
            tr("Quadratic extrapolation: continues a parabola through three positions.")
        }
        Choice::FirCatmullRom => {
            tr("Catmull-Rom extrapolation: continues the end of a smooth curve.")
        }
        Choice::FirRichardsonPrinted => {
            tr("Richardson as printed: velocity from three positions, misprint included.")
        }
        Choice::FirRichardson => {
            tr("Richardson extrapolation: with a velocity estimated from three positions.")
        }
        Choice::Kalman => tr("Kalman: a filter estimates position and velocity and extrapolates \
                              from them."),
        Choice::DeadReckoning => {
            tr("Dead reckoning: continues at the sent velocity; gaps close in a straight line.")
        }
        Choice::Adaptive => tr("Adaptive: blends extrapolations by how well each has done lately."),
    }
}

/// Explains a clock loop in a sentence.
pub fn clock_loop(filter: LoopFilter) -> &'static str {
    match filter {
        LoopFilter::LeakyIntegrator => {
            tr("leaky: corrects part of the clock error each time; simple, but it lags behind a \
             faster clock.")
        }
        LoopFilter::ProportionalIntegral => {
            tr("pll: corrects the clock error and also learns the clock's rate, so that no error \
             remains.")
        }
    }
}

/// Paints a sentence on a painted panel, on the side that has space.
pub fn tip(painter: &Painter, beside: Rect, pointer: Pos2, words: &str) {
    let screen = painter.clip_rect();
    let font = FontId::proportional(13.0);
    let galley = painter.layout(words.to_owned(), font, palette::TEXT, WIDTH);
    let rect = place(screen, beside, pointer, galley.size() + vec2(20.0, 14.0));
    let edge = Stroke::new(1.0, palette::OWN);
    painter.rect(rect, 6.0, fade(palette::VOID, 0.94), edge, StrokeKind::Inside);
    let at = Align2::LEFT_TOP.anchor_size(rect.min + vec2(10.0, 7.0), galley.size()).min;
    painter.galley(at, galley, palette::TEXT);
}

/// Place of a sentence: to the left of its subject, or to the right if there is no space.
fn place(screen: Rect, beside: Rect, pointer: Pos2, size: egui_macroquad::egui::Vec2) -> Rect {
    let left = beside.left() - 8.0 - size.x;
    let x = if left >= screen.left() { left } else { beside.right() + 8.0 };
    let y = (pointer.y - size.y / 2.0).clamp(screen.top() + 4.0, screen.bottom() - size.y - 4.0);
    Rect::from_min_size(Pos2::new(x, y), size)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_method_and_every_loop_has_a_sentence_of_its_own() {
        let methods: BTreeSet<_> = Choice::ALL.iter().map(|choice| method(*choice)).collect();
        assert_eq!(methods.len(), Choice::ALL.len());
        let loops = LoopFilter::NAMES.iter().map(|(name, filter)| (*name, clock_loop(*filter)));
        for (name, words) in loops {
            assert!(words.starts_with(name), "{words}");
        }
        for words in methods {
            assert!(words.ends_with('.') && words.len() < 120, "{words}");
        }
    }

    #[test]
    fn sentence_stands_beside_what_it_is_about_and_within_the_window() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(800.0, 600.0));
        let size = vec2(280.0, 60.0);
        for (left, y) in [(20.0, 0.0), (20.0, 600.0), (480.0, 300.0)] {
            let panel = Rect::from_min_size(Pos2::new(left, 60.0), vec2(300.0, 500.0));
            let rect = place(screen, panel, Pos2::new(left + 10.0, y), size);
            assert!(screen.contains_rect(rect) && !rect.intersects(panel), "{rect:?}");
        }
    }
}
