//! `cargo bench -p phaselock-tests --bench presentation`: how far from the truth each method shows
//! things, how smoothly, how often for want of data, and what it costs.
//!
//! Every method, five recorded motions, five networks; which is best by that, for showing the past
//! and for showing the present; nanoseconds a body and frame; and how long it takes to replay 15
//! ticks of the own player with 64 players around.
//!
//! `-- --json` prints one JSON object a line; `-- --motion NAME`, `-- --profile NETWORK`, `--
//! --method NAME` measure that alone (each may be given several times; a network is a profile's
//! name or is written as for `--link`), `-- --seconds N` plays for so long, `-- --seed N` on other
//! dice, and `-- --quick` plays a tenth of the time over two networks.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod cost;
mod table;

use clap::Parser;
use phaselock::link::Conditions;
use phaselock_lab::Contender;
use phaselock_tests::bench::{Format, seconds};
use phaselock_tests::motions::Motion;
use phaselock_tests::showing::{PROFILES, Plan};

/// Seconds of play of a quick run at most.
const QUICK_SECS: f64 = 12.0;

#[derive(Debug, Parser)]
#[command(name = "presentation")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// A tenth of the time over two networks
    #[arg(long)]
    quick: bool,
    #[arg(long, value_name = "NAME")]
    motion: Vec<Motion>,
    #[arg(long, value_name = "NETWORK", value_parser = network)]
    profile: Vec<String>,
    #[arg(long, value_name = "NAME")]
    method: Vec<Contender>,
    /// Seconds of play
    #[arg(long, default_value = "120", value_parser = seconds::<10, 3600>)]
    seconds: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn network(text: &str) -> Result<String, String> {
    text.parse::<Conditions>().map(|_| text.into()).map_err(|error| error.to_string())
}

impl Args {
    fn plan(self) -> Plan {
        let Self { quick, mut motion, mut profile, mut method, mut seconds, seed, .. } = self;
        if motion.is_empty() {
            motion = Motion::ALL.to_vec();
            motion.extend(Motion::all_played().filter(|_| !quick));
        }
        if profile.is_empty() {
            let wanted: &[&str] = if quick { &["cable", "terrible"] } else { &PROFILES };
            profile = wanted.iter().map(|name| (*name).into()).collect();
        }
        if method.is_empty() {
            method = Contender::playable().collect();
        }
        if quick {
            seconds = seconds.min(QUICK_SECS);
        }
        Plan { motions: motion, profiles: profile, contenders: method, seconds, seed }
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let json = args.format.json;
    let plan = args.plan();
    let costs = cost::measure(&plan.contenders);
    let replay = cost::replay();
    if !json {
        table::head(&plan);
    }
    let show = |rows: &[_]| if json { table::json(rows, &costs) } else { table::rows(rows) };
    let rows = plan.run(show).map_err(anyhow::Error::msg)?;
    if json {
        table::replay_json(&replay);
    } else {
        table::rankings(&rows, &plan);
        table::costs(&costs, &replay);
    }
    Ok(())
}
