//! One-twelfth smoothing: what is shown chases a simulation state, a twelfth of the way each frame.
//!
//! Source: "Let's make a multiplayer game (part 7)", an asteroid shooter. The *simulation state* is the newest
//! state, moved by its velocity over its age. The *display* moves by a velocity of its own and then, 60 times
//! a second, it and that velocity go a twelfth of the way to the simulation's; so after the 0.2 s that the
//! article speaks of a third of a gap is left (`(11/12)^12 = 0.35`). Here the frames' rate does not matter: it
//! is the curve through what 60 frames a second show ([`Curve::Twelfth`](super::ease::Curve)). Position is
//! continuous and the display's own velocity is; what is seen to move changes speed at an arrival.
//!
//! What the article's readers ask: a big change in the middle of a correction starts from what is shown, so
//! nothing snaps; the larger the gap, the faster it closes, the more so the nearer it comes to the field's
//! snap distance; beyond that distance it is shown at once. There is no switch to turn smoothing off: who
//! wants that chooses another method.
//!
//! The article lets rotation stand between states; here what turns goes on turning.

use super::ease::Curve;
use super::eased::{Eased, Reckoned};
use super::method::HORIZON_SECS;

/// See the module.
pub(super) fn one_twelfth() -> Eased<Reckoned> {
    Eased::new(Reckoned { horizon: HORIZON_SECS }, Curve::Twelfth)
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::NoRules;
    use super::super::testing::{Body, X, moment, path_of};

    #[test]
    fn at_sixty_frames_a_second_it_is_the_articles_loop_and_at_others_the_same_curve() {
        let body = |x: f32, vx: f32| Body { vx, ..Body::at(x) };
        // Changes of course, each while the correction before it is under way.
        let states = [(1.0, body(0.0, 6.0)), (1.1, body(1.0, -6.0)), (1.2, body(1.5, 0.0))];
        let at_rate = |hz: u32| {
            let mut method = Choice::OneTwelfth.make();
            let mut path = path_of(&states[..1], 0.0);
            let mut shown = Vec::new();
            for frame in 0..=hz / 4 {
                let now = 1.0 + f64::from(frame) / f64::from(hz);
                for (time, body) in &states[1..] {
                    if *time <= now + 1e-9 && path.push(*time, *time, &body.values()) {
                        method.observe(&path, &NoRules);
                    }
                }
                shown.push(method.show(&path, moment(now), &NoRules).place[X]);
            }
            shown
        };
        // The article's: the simulation moves, the display moves, then goes a twelfth of the way.
        let (mut simulation, mut display) = ((0.0, 6.0), (0.0, 6.0));
        let mut article = vec![0.0];
        for frame in 1..=15 {
            simulation.0 += simulation.1 / 60.0;
            display.0 += display.1 / 60.0;
            display.0 += (simulation.0 - display.0) / 12.0;
            display.1 += (simulation.1 - display.1) / 12.0;
            match frame {
                6 => simulation = (1.0, -6.0),
                12 => simulation = (1.5, 0.0),
                _ => {}
            }
            article.push(display.0);
        }
        let sixty = at_rate(60);
        for (shown, article) in sixty.iter().zip(&article) {
            // What is near to its snap distance closes faster: by 3 per cent at a gap of 1 in 100.
            assert!((shown - article).abs() < 0.02, "{sixty:?}\n{article:?}");
        }
        for (hz, every) in [(120, 2), (240, 4), (30, 1)] {
            let other = at_rate(hz);
            let other: Vec<_> = other.iter().step_by(every).collect();
            let sixty: Vec<_> = sixty.iter().step_by(if hz == 30 { 2 } else { 1 }).collect();
            for (a, b) in other.iter().zip(&sixty) {
                assert!((**a - **b).abs() < 1e-9, "{hz}");
            }
        }
    }
}
