//! The network and the rates that the laboratory's sliders and buttons set.

use crate::{LabNetwork, LabSetup, Recording};
use phaselock::link::{Conditions, PROFILES};
use phaselock::time::Micros;

use phaselock_ui::words::fill;

/// Maxima of the sliders. Arbitrary; the latency is more than twice that between continents.
pub(crate) const LATENCY_MS_MAX: f64 = 500.0;
pub(crate) const JITTER_MS_MAX: f64 = 300.0;
pub(crate) const LOSS_PERCENT_MAX: f64 = 50.0;
pub(crate) const INTERVAL_MS: (f64, f64) = (10.0, 500.0);
pub(crate) const HISTORY_MAX: usize = 16;
pub(crate) const FRAME_HZ: (f64, f64) = (5.0, 240.0);

/// Source of the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Net {
    /// The sliders.
    Own,
    /// A profile, by its index.
    Profile(usize),
    /// The command line.
    Given(Box<Conditions>),
}

/// Settings of the network and the rates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabSettings {
    pub(crate) net: Net,
    /// Minimum latency of an update, for [`Net::Own`].
    pub(crate) latency_ms: f64,
    /// Maximum extra latency.
    pub(crate) jitter_ms: f64,
    pub(crate) loss_percent: f64,
    pub(crate) interval_ms: f64,
    /// Number of past intervals averaged.
    pub(crate) history: usize,
    pub(crate) frame_hz: f64,
    pub(crate) seed: u64,
}

impl Default for LabSettings {
    /// A network as in the thesis's examples (4.3.5): bad enough to show differences between
    /// methods.
    fn default() -> Self {
        Self {
            net: Net::Own,
            latency_ms: 100.0,
            jitter_ms: 50.0,
            loss_percent: 0.0,
            interval_ms: 100.0,
            history: 0,
            frame_hz: 60.0,
            seed: 1,
        }
    }
}

impl LabSettings {
    /// The default settings over another network; the plain name of a profile selects that profile.
    pub(crate) fn over(link: Option<&Conditions>) -> Self {
        let net = link.map_or(Net::Own, |link| {
            let named = |(name, _): &(&str, &str)| *name == link.to_string().trim();
            PROFILES
                .iter()
                .position(named)
                .map_or_else(|| Net::Given(link.clone().into()), Net::Profile)
        });
        Self { net, ..Self::default() }
    }

    pub(crate) fn setup(&self, recording: &Recording, secs_max: f64) -> LabSetup {
        let ms = |ms: f64, most: f64| Micros::from_f64(ms.clamp(0.0, most) * 1e3);
        let own = LabNetwork::Latency {
            latency: ms(self.latency_ms, LATENCY_MS_MAX),
            jitter: ms(self.jitter_ms, JITTER_MS_MAX),
            loss: (self.loss_percent.clamp(0.0, LOSS_PERCENT_MAX) / 100.0) as f32,
        };
        let network = match &self.net {
            Net::Own => own,
            Net::Profile(index) => LabNetwork::profiles().nth(*index).unwrap_or(own),
            Net::Given(conditions) => LabNetwork::Link(conditions.clone()),
        };
        LabSetup {
            interval: self.interval_ms.clamp(INTERVAL_MS.0, INTERVAL_MS.1) / 1e3,
            network,
            history: self.history.min(HISTORY_MAX),
            // As for a client whose frames are independent of the updates.
            phase: 0.5,
            frame: 1.0 / self.frame_hz.clamp(FRAME_HZ.0, FRAME_HZ.1),
            seed: self.seed,
            ..LabSetup::lasting(recording, secs_max)
        }
    }

    /// Latency and jitter in ms and loss in percent, of the network towards the client at its
    /// beginning.
    pub(crate) fn as_sliders(&self) -> [f64; 3] {
        let profile;
        let link = match &self.net {
            Net::Own => return [self.latency_ms, self.jitter_ms, self.loss_percent],
            Net::Profile(index) => {
                profile =
                    PROFILES.get(*index).and_then(|(name, _)| name.parse::<Conditions>().ok());
                profile.as_ref()
            }
            Net::Given(conditions) => Some(&**conditions),
        };
        let Some(link) = link else { return [0.0; 3] };
        let first = link.down.first();
        // Jitter goes either way around the delay, while the sliders have the minimum and what is
        // added.
        let least = (first.delay - first.jitter).as_ms().max(0.0);
        let most = (first.delay + first.jitter).as_ms();
        [
            least.min(LATENCY_MS_MAX),
            (most - least).min(JITTER_MS_MAX),
            f64::from(first.loss * 100.0).min(LOSS_PERCENT_MAX),
        ]
    }

    pub(crate) fn set_sliders(&mut self, [latency_ms, jitter_ms, loss_percent]: [f64; 3]) {
        self.net = Net::Own;
        (self.latency_ms, self.jitter_ms, self.loss_percent) =
            (latency_ms, jitter_ms, loss_percent);
    }

    pub(crate) fn net_words(&self) -> String {
        match &self.net {
            Net::Own => {
                let numbers = [self.latency_ms, self.jitter_ms, self.loss_percent];
                let [ms, more, percent] = numbers.map(|number| format!("{number:.0}"));
                let values = [("ms", &*ms), ("more", &*more), ("percent", &*percent)];
                match self.loss_percent {
                    0.0 => fill("{ms} ms and up to {more} more", &values),
                    _ => fill("{ms} ms and up to {more} more, {percent} % lost", &values),
                }
            }
            Net::Profile(index) => {
                PROFILES.get(*index).map_or(String::new(), |(name, _)| (*name).into())
            }
            Net::Given(conditions) => LabNetwork::Link(conditions.clone()).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::Formula;

    #[test]
    fn what_is_set_is_what_is_simulated() {
        let recording = Formula::Zigzag.record(4.0);
        let mut controls = LabSettings { interval_ms: 50.0, history: 99, ..LabSettings::default() };
        let setup = controls.setup(&recording, 60.0);
        assert_eq!((setup.interval, setup.history, setup.secs), (0.05, HISTORY_MAX, 4.0));
        assert_eq!(setup.warm_up, LabSetup::new(&recording).warm_up);
        assert_eq!(setup.network.latency_jitter_ms(), Some((100.0, 50.0)));
        controls.net = Net::Profile(5);
        let setup = controls.setup(&recording, 2.0);
        assert_eq!((setup.network.to_string(), setup.secs), ("terrible".into(), 2.0));
        // Sliders start with the profile's values: 90 to 210 ms, 15 % lost.
        let sliders = controls.as_sliders();
        assert!((sliders[2] - 15.0).abs() < 1e-4 && sliders[..2] == [90.0, 120.0], "{sliders:?}");
        controls.set_sliders([5.0, 6.0, 7.0]);
        assert_eq!((controls.as_sliders(), controls.net), ([5.0, 6.0, 7.0], Net::Own));
    }

    #[test]
    fn a_network_from_the_command_line_is_chosen() {
        let over = |text: &str| LabSettings::over(Some(&text.parse().expect("a network"))).net;
        assert_eq!(over("mobile"), Net::Profile(3));
        let Net::Given(given) = over("mobile,seed=3") else {
            panic!("it is not the name of a profile")
        };
        assert_eq!(given.to_string(), "mobile,seed=3");
        assert_eq!(LabSettings::over(None).net, Net::Own);
    }
}
