//! Players shown at the present: how far off they are, with and without the inputs that the server
//! knows early, and what that costs. Skirmish's bots play in the simulated world, each over its own
//! link, and see each other by [`Choice::RunForward`].

use phaselock::fields::Entity as _;
use phaselock::link::Conditions;
use phaselock::motion::choice::Choice;
use phaselock::time::Rates;
use phaselock_games::skirmish::{Piece, Player, Skirmish};
use phaselock_lab::scores::quantile;
use phaselock_testing::{Sim, Skew, bot};
use serde::Serialize;

/// Seconds that are not measured, until clocks and leads have settled.
const WARM_UP_SECS: f64 = 10.0;
/// Number of players whose picture is measured.
const WATCHED: usize = 4;

/// A run.
#[derive(Clone, Debug)]
pub struct EarlyCourse {
    /// Network of each player.
    pub conditions: Conditions,
    /// Whether clients ask for early inputs.
    pub early: bool,
    /// Input delay of each player in ticks.
    pub input_delay: u8,
    /// Number of players.
    pub players: usize,
    /// Measured seconds.
    pub secs: f64,
    /// Seed of world, bots and links.
    pub seed: u64,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct EarlyFigures {
    /// The network.
    pub network: String,
    /// Whether clients asked for early inputs.
    pub early: bool,
    /// Input delay in ticks.
    pub input_delay: u8,
    /// Mean distance of another player from its true position now, in millimetres.
    pub error_mean: f64,
    /// 99th percentile of that.
    pub error_p99: f64,
    /// Bytes of snapshots to a player, per second.
    pub down: f64,
    /// Mean lead in ticks.
    pub lead: f64,
    /// Corrections of the own player, per player and minute.
    pub corrections: f64,
    /// Ticks without the player's input, per million.
    pub late: f64,
}

/// Returns the number of the players' kind.
pub fn player_kind() -> u8 {
    let kinds = Piece::KINDS.iter().zip(0..);
    let player = kinds.into_iter().find(|(kind, _)| kind.name == "Player");
    player.map_or(0, |(_, number)| number)
}

/// Measures a run.
pub fn measure(course: &EarlyCourse) -> EarlyFigures {
    let mut sim = Sim::<Skirmish>::new(course.seed, 0);
    sim.early = course.early;
    for number in 0..course.players as u64 {
        let press = bot::<Skirmish>(course.seed * 1000 + number);
        let client = sim.join_over(&course.conditions, Skew::default(), press);
        sim.clients[client].session.set_input_delay(course.input_delay);
    }
    sim.run(1.0);
    for client in &mut sim.clients {
        client.session.choose(player_kind(), Choice::RunForward);
    }
    sim.run(WARM_UP_SECS - 1.0);
    let before: Vec<_> = sim.clients.iter().map(|client| client.core().stats().clone()).collect();
    let (mut errors, mut last) = (Vec::new(), None);
    sim.run_each(course.secs, |sim| {
        let (tick, now) = (sim.room.tick(), sim.now);
        // Exactly at a tick, where the truth is known.
        if now.0 != Rates::DEFAULT.time_of(tick).0 || last.replace(tick) == Some(tick) {
            return;
        }
        sim.truth.clear();
        let truth = &sim.room.world().entities;
        for client in sim.clients.iter_mut().take(WATCHED) {
            let local = client.skew.read(now);
            let core = client.core_mut();
            let player = core.player();
            let picture = core.picture(local);
            let others = picture.entities.records::<Player>();
            for slot in others.filter(|slot| slot.owner != Some(player)) {
                let there = truth.record::<Player>(slot.id);
                let there = there.filter(|it| it.health > 0 && it.spawns == slot.entity.spawns);
                let off = there.map(|it| it.position().distance(slot.entity.position()));
                errors.extend(off.map(|off| f64::from(off) * 1e3));
            }
        }
    });
    let total = |of: &dyn Fn(&phaselock::client::Stats) -> f64| {
        let pairs = sim.clients.iter().zip(&before);
        pairs.map(|(client, before)| of(client.core().stats()) - of(before)).sum::<f64>()
    };
    let ticks = total(&|stats| stats.ticks as f64);
    let seconds = course.secs * course.players as f64;
    let tick_hz = f64::from(Rates::DEFAULT.tick_hz);
    EarlyFigures {
        network: course.conditions.to_string(),
        early: course.early,
        input_delay: course.input_delay,
        error_mean: errors.iter().sum::<f64>() / errors.len() as f64,
        error_p99: quantile(&mut errors, 0.99),
        down: total(&|stats| stats.rx_bytes as f64) / seconds,
        lead: total(&|stats| stats.lead_sum.as_secs()) * tick_hz / ticks,
        corrections: total(&|stats| stats.mispredictions as f64) * 60.0 / seconds,
        late: total(&|stats| stats.late_inputs as f64) * 1e6 / ticks,
    }
}
