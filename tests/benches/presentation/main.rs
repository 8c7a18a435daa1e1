//! `cargo bench -p phaselock-tests --bench presentation`: error, smoothness, missing data and cost
//! of each presentation method, for recorded motions over five networks; a ranking of the methods
//! of the past and of the present; and the time to replay 15 ticks of the local player among 64.
//! `-- --help` lists the options.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod cost;
mod table;

use clap::Parser;
use phaselock::link::Conditions;
use phaselock_lab::Contender;
use phaselock_tests::bench::{Format, seconds};
use phaselock_tests::motions::Motion;
use phaselock_tests::showing::{PROFILES, Plan};

/// Maximum seconds of play in a quick run.
const QUICK_SECS: f64 = 12.0;

#[derive(Debug, Parser)]
#[command(name = "presentation")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Measures a tenth of the time, over two networks
    #[arg(long)]
    quick: bool,
    /// Motion to measure; repeatable
    #[arg(long, value_name = "NAME")]
    motion: Vec<Motion>,
    /// Network: a profile, or conditions as for `--link`; repeatable
    #[arg(long, value_name = "NETWORK", value_parser = network)]
    profile: Vec<String>,
    /// Method to measure; repeatable
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
