//! `cargo bench -p phaselock-tests --bench presentation`: how far from the truth each method shows things,
//! how smoothly, how often for want of data, and what it costs.
//!
//! Every method, five recorded motions, five networks; which is best by that, for showing the past and for
//! showing the present; nanoseconds a body and frame; and how long it takes to replay 15 ticks of the own
//! player with 64 players around.
//!
//! `-- --json` prints one JSON object a line; `-- --motion NAME`, `-- --profile NETWORK`, `-- --method NAME`
//! measure that alone (each may be given several times; a network is a profile's name or is written as for
//! `--link`), `-- --seconds N` plays for so long, `-- --seed N` on other dice, and `-- --quick` plays a tenth
//! of the time over two networks.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod cost;
mod table;

use std::process::ExitCode;

use phaselock::link::Conditions;
use phaselock_lab::Contender;
use phaselock_tests::motions::Motion;
use phaselock_tests::showing::{PROFILES, Plan};

/// Seconds of play, unless told.
const SECONDS: f64 = 120.0;

/// What was asked for.
struct Args {
    plan: Plan,
    json: bool,
}

impl Args {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut plan = Plan {
            motions: Vec::new(),
            profiles: Vec::new(),
            contenders: Vec::new(),
            seconds: SECONDS,
            seed: 1,
        };
        let (mut json, mut quick) = (false, false);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} takes a value"));
            match arg.as_str() {
                "--json" => json = true,
                "--quick" => quick = true,
                "--bench" => {} // From cargo.
                "--motion" => plan.motions.push(value()?.parse()?),
                "--profile" => {
                    let profile = value()?;
                    profile.parse::<Conditions>().map_err(|error| error.to_string())?;
                    plan.profiles.push(profile);
                }
                "--method" => {
                    let contender = value()?.parse::<Contender>();
                    plan.contenders.push(contender.map_err(|error| error.to_string())?);
                }
                "--seconds" => match value()?.parse() {
                    Ok(seconds) if (10.0..=3600.0).contains(&seconds) => plan.seconds = seconds,
                    _ => return Err("--seconds takes a number from 10 to 3600".into()),
                },
                "--seed" => {
                    let seed = value()?.parse();
                    plan.seed = seed.map_err(|_| "--seed takes a whole number")?;
                }
                other => {
                    let known = "--json, --quick, --motion NAME, --profile NETWORK, \
                                 --method NAME, --seconds N, --seed N";
                    return Err(format!("'{other}' is none of {known}"));
                }
            }
        }
        if plan.motions.is_empty() {
            plan.motions = Motion::ALL.to_vec();
            plan.motions.extend(Motion::all_played().filter(|_| !quick));
        }
        if plan.profiles.is_empty() {
            let quick_ones: &[&str] = &["cable", "terrible"];
            let wanted = if quick { quick_ones } else { &PROFILES };
            plan.profiles = wanted.iter().map(|profile| (*profile).into()).collect();
        }
        if plan.contenders.is_empty() {
            plan.contenders = Contender::playable().collect();
        }
        if quick {
            plan.seconds = plan.seconds.min(SECONDS / 10.0);
        }
        Ok(Self { plan, json })
    }

    fn run(&self) -> Result<(), String> {
        let costs = cost::measure(&self.plan.contenders);
        let replay = cost::replay();
        if !self.json {
            table::head(&self.plan);
        }
        let show = |rows: &[_]| {
            if self.json {
                table::json(rows, &costs);
            } else {
                table::rows(rows);
            }
        };
        let rows = self.plan.run(show).map_err(|error| error.to_string())?;
        if self.json {
            table::replay_json(&replay);
        } else {
            table::rankings(&rows, &self.plan);
            table::costs(&costs, &replay);
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    match Args::parse(std::env::args().skip(1)).and_then(|args| args.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("presentation: {error}");
            ExitCode::from(2)
        }
    }
}
