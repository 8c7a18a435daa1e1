//! `phaselock-lab thesis`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use phaselock_lab::Stamps;
use phaselock_lab::thesis::{self, ThesisRuns};

use super::args::ThesisArgs;
use super::files::{self, Pictures};
use super::run::{self, Stop};

pub(crate) fn run(args: ThesisArgs) -> Result<ExitCode> {
    let plots = args.plots.as_deref().map(Pictures::open).transpose()?;
    let stop = Stop::listen().context("cannot listen for Ctrl-C")?;
    let measure = |stamps, what: [&'static str; 2]| {
        let (seed, jobs) = (args.common.seed, args.common.jobs());
        [
            run::measure(&thesis::plan(stamps, seed), jobs, &stop, what[0]),
            run::measure(&thesis::strokes_plan(stamps, seed), jobs, &stop, what[1]),
        ]
    };
    let measured = ThesisRuns {
        arrived: measure(Stamps::Arrived, ["1 of 4, paths", "2 of 4, strokes"]),
        sent: measure(Stamps::Sent, ["3 of 4, paths", "4 of 4, strokes"]),
    };
    if stop.is_requested() {
        // Its means are over a whole sweep; those of a part would differ.
        run::report("stopped; nothing is written, since the evaluation needs all runs");
        return Ok(ExitCode::from(run::INTERRUPTED));
    }
    if let Some(plots) = plots {
        for (name, picture) in thesis::pictures(&measured, args.common.seed) {
            plots.write(&name, &picture)?;
        }
    }
    files::print(&thesis::page(&measured))?;
    Ok(ExitCode::SUCCESS)
}
