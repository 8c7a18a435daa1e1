//! `cargo bench -p phaselock-tests --bench presentation`: error, smoothness, missing data and cost
//! of each presentation method, for recorded motions over five networks; a ranking of the methods
//! of the past and of the present; the adaptive method next to the best single one; and the time to
//! replay 15 ticks of the local player among 64. `-- FOLDER` measures the motions of a folder
//! instead, each `NAME.csv` in the laboratory's format. `-- --help` lists the options.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod cost;
mod table;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Parser;
use phaselock::link::Conditions;
use phaselock_lab::Contender;
use phaselock_tests::bench::{Format, files, seconds};
use phaselock_tests::motions::Motion;
use phaselock_tests::showing::{PROFILES, Plan, Subject};

/// Maximum seconds of play in a quick run.
const QUICK_SECS: f64 = 12.0;

#[derive(Debug, Parser)]
#[command(name = "presentation")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Folder with NAME.csv of recorded motions, in the laboratory's format, which are measured
    /// instead of those made here
    folder: Option<PathBuf>,
    /// Measures a tenth of the time, over two networks
    #[arg(long)]
    quick: bool,
    /// Motion made here to measure; repeatable
    #[arg(long, value_name = "NAME")]
    motion: Vec<Motion>,
    /// Network: a profile, or conditions as for `--link`; repeatable
    #[arg(long, value_name = "NETWORK", value_parser = network)]
    profile: Vec<String>,
    /// Method to measure; repeatable
    #[arg(long, value_name = "NAME")]
    method: Vec<Contender>,
    /// Seconds of play, and the most of each file
    #[arg(long, default_value = "120", value_parser = seconds::<10, 3600>)]
    seconds: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn network(text: &str) -> Result<String, String> {
    text.parse::<Conditions>().map(|_| text.into()).map_err(|error| error.to_string())
}

impl Args {
    fn plan(self) -> anyhow::Result<Plan> {
        let Self { folder, quick, mut motion, mut profile, mut method, mut seconds, .. } = self;
        let recorded = folder.map_or(Ok(Vec::new()), |folder| read(&folder))?;
        if motion.is_empty() && recorded.is_empty() {
            motion = Motion::ALL.to_vec();
            motion.extend(Motion::all_played().filter(|_| !quick));
        }
        let motions = motion.into_iter().map(Subject::from).chain(recorded).collect();
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
        Ok(Plan { motions, profiles: profile, contenders: method, seconds, seed: self.seed })
    }
}

/// Reads the motions of a folder.
fn read(folder: &Path) -> anyhow::Result<Vec<Subject>> {
    let paths = files(folder, "csv")?;
    let subject = |path: PathBuf| {
        Subject::read(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    paths.into_iter().map(subject).collect()
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let json = args.format.json;
    let plan = args.plan()?;
    let costs = cost::measure(&plan.contenders);
    let replay = cost::replay();
    if !json {
        table::head(&plan);
    }
    let show = |rows: &[_]| if json { table::json(rows, &costs) } else { table::rows(rows) };
    let rows = plan.run(show).map_err(anyhow::Error::msg)?;
    if json {
        table::adaptive_json(&rows);
        table::replay_json(&replay);
    } else {
        table::rankings(&rows, &plan);
        table::adaptive(&rows);
        table::costs(&costs, &replay);
    }
    Ok(())
}
