//! Many bodies on one screen, to see what showing them costs.

use phaselock_lab::{Carried, Contender, Recording, Screen, Seen};

/// Bodies that move as one recording does, each at another point of it.
pub struct Crowd<'a> {
    recording: &'a Recording,
    carried: &'a Carried,
    screens: Vec<Screen>,
}

impl<'a> Crowd<'a> {
    /// How far apart in the recording they are.
    pub const APART_SECS: f64 = 0.5;

    /// So many, of whom nothing has come yet.
    pub fn new(
        recording: &'a Recording,
        carried: &'a Carried,
        contender: Contender,
        bodies: usize,
    ) -> Self {
        let screens = (0..bodies).map(|_| Screen::new(recording.shape, contender)).collect();
        Self { recording, carried, screens }
    }

    /// Shows all frames. Returns the sum of all coordinates, so that none is left out as useless.
    pub fn run(&mut self) -> f64 {
        let rules = &*self.recording.rules;
        let mut arrivals = self.carried.arrivals.iter().peekable();
        let mut sum = 0.0;
        for &at in &self.carried.frames {
            while let Some(state) = arrivals.next_if(|state| state.at <= at.now) {
                for (body, screen) in self.screens.iter_mut().enumerate() {
                    let there = state.sent + body as f64 * Self::APART_SECS;
                    let Some((values, course)) = self.recording.state(there) else { continue };
                    screen.receive(course, (state.time, state.at), &values, rules);
                }
            }
            for screen in &mut self.screens {
                if let Seen::Shown(shown, _) = screen.show(at, rules) {
                    sum += shown.place.iter().sum::<f64>();
                }
            }
        }
        sum
    }
}
