//! Error of each method over time, as curves along the laboratory's time axis.

use crate::scores::quantile;
use egui_macroquad::egui::FontId;

use super::against::{Against, error};
use super::canvas::color;
use super::legend::digits;
use super::model::Model;
use super::track::Track;
use crate::ScoredFrame;
use phaselock_ui::prelude::*;

/// Error curves, kept while nothing changes.
#[derive(Debug, Default)]
pub(super) struct Errors {
    of: Option<(u64, Against, Rect)>,
    curves: Vec<Option<Track>>,
    /// Error at the top, in the path's unit.
    most: f64,
}

/// Error at the top of the curves: the 99th percentile of the worst method.
fn most(model: &Model, against: Against) -> f64 {
    let rows = model.rows.iter().filter(|row| row.on);
    let worst = rows.map(|row| {
        let run = row.run.iter().flatten();
        let mut all: Vec<_> = run.filter_map(|frame| error(model, frame, against)).collect();
        quantile(&mut all, 0.99)
    });
    // Without any error, there is a line at the foot.
    worst.fold(0.0, f64::max).max(1e-9)
}

impl Errors {
    fn refresh(&mut self, model: &Model, against: Against, rect: Rect) {
        let of = Some((model.version, against, rect));
        if self.of == of {
            return;
        }
        self.of = of;
        self.most = most(model, against);
        let secs = model.secs.max(1e-6);
        let curve = |run: &Vec<ScoredFrame>| {
            Track::new(run.iter().map(|frame| {
                let part = (error(model, frame, against)? / self.most).min(1.0) as f32;
                let x = rect.left() + (frame.at.now / secs) as f32 * rect.width();
                Some((pos2(x, rect.bottom() - part * rect.height()), 0))
            }))
        };
        let rows = model.rows.iter();
        self.curves = rows.map(|row| row.run.as_ref().filter(|_| row.on).map(curve)).collect();
    }

    /// Paints the past strongly and the future faintly.
    pub(super) fn draw(
        &mut self,
        painter: &Painter,
        rect: Rect,
        model: &Model,
        (against, pointed): (Against, Option<usize>),
    ) {
        self.refresh(model, against, rect);
        let frames = model.frames();
        for (at, (row, curve)) in model.rows.iter().zip(&self.curves).enumerate() {
            let Some(curve) = curve else { continue };
            let ahead = pointed.is_none_or(|pointed| pointed == at);
            let strength = if ahead { 1.0 } else { 0.15 };
            for (part, strength) in
                [(0..frames, strength), (frames.saturating_sub(1)..usize::MAX, 0.35 * strength)]
            {
                let stroke = Stroke::new(1.3, fade(color(row.look), strength));
                painter.extend(curve.lines(part).into_iter().map(|line| Shape::line(line, stroke)));
            }
        }
        let letters = dense(painter.ctx(), 11.5);
        let words = fill("error, up to {most}", &[("most", &digits(self.most))]);
        let words =
            painter.layout_no_wrap(words, FontId::proportional(letters), palette::TEXT_SOFT);
        let at = Align2::RIGHT_TOP.anchor_size(rect.right_top(), words.size());
        // The curves are behind it.
        painter.rect_filled(at.expand2(vec2(3.0, 1.0)), 3.0, fade(palette::FIELD, 0.8));
        painter.galley(at.min, words, palette::TEXT_SOFT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Point;
    use crate::formulas::Formula;
    use crate::scene::model::Unit;
    use crate::scene::settings::LabSettings;
    use crate::{Contender, Recording};

    #[test]
    fn a_teleport_is_no_error() {
        let mut model =
            Model::new(Formula::Zigzag, LabSettings::default(), Some(&[Contender::Newest]));
        let points = (0..400).map(|step| {
            let (time, segment) = (f64::from(step) / 100.0, u32::from(step >= 200));
            Point { time, x: f64::from(segment) * 1e3 + time, y: 0.0, segment }
        });
        let points: Vec<_> = points.collect();
        let recording = Recording::of_points(&points).expect("a path");
        model.set_file("jump.csv".into(), recording, Unit::Own);
        assert!(model.compute(|_| true));
        for against in [Against::Then, Against::Now] {
            assert!((0.1..1.0).contains(&most(&model, against)), "{}", most(&model, against));
        }
    }

    #[test]
    fn errors_are_those_that_are_scored() {
        let methods = [Contender::Newest];
        let mut model = Model::new(Formula::Zigzag, LabSettings::default(), Some(&methods));
        assert_eq!(most(&model, Against::Then), 1e-9, "nothing is known yet");
        assert!(model.compute(|_| true));
        let row = model.rows.iter().find(|row| row.on).expect("one is active");
        let settled = |frame: &&ScoredFrame| frame.at.now >= model.carried.warm_up;
        let run = row.run.iter().flatten().filter(settled);
        let all: Vec<_> = run.filter_map(|frame| error(&model, frame, Against::Now)).collect();
        let scores = model.scores_of_all(row);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - scores.error_now_mean).abs() < 1e-9);
        let top = most(&model, Against::Now);
        assert!(top > mean && top <= scores.error_now_max, "{top}");
    }
}
