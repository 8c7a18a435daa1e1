//! Many bodies on one screen, to see what showing them costs.

use phaselock_shared::time::Tick;

use super::carried::{moment, secs_of};
use super::screen::Seen;
use super::{Carried, Presenter, Screen};
use crate::motions::{RATES, Recording};

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
        presenter: Presenter,
        bodies: usize,
    ) -> Self {
        let screens = (0..bodies).map(|_| Screen::new(recording.shape, presenter)).collect();
        Self { recording, carried, screens }
    }

    /// Shows all frames. Returns the sum of all coordinates, so that none is left out as useless.
    pub fn run(&mut self) -> f64 {
        let rules = &*self.recording.rules;
        let apart = (Self::APART_SECS * f64::from(RATES.tick_hz)) as usize;
        let mut arrivals = self.carried.arrivals.iter().peekable();
        let mut sum = 0.0;
        for &(now, past) in &self.carried.frames {
            while let Some((arrival, tick)) = arrivals.next_if(|(arrival, _)| *arrival <= now) {
                let times = (secs_of(RATES.time_of(Tick(*tick))), secs_of(*arrival));
                for (body, screen) in self.screens.iter_mut().enumerate() {
                    let at = *tick as usize + body * apart;
                    let Some(state) = self.recording.states.get(at) else { continue };
                    screen.receive(state.course, times, &state.values, rules);
                }
            }
            let at = moment(now, past);
            for screen in &mut self.screens {
                if let Seen::Shown(shown, _) = screen.show(at, rules) {
                    sum += shown.place.iter().sum::<f64>();
                }
            }
        }
        sum
    }
}
