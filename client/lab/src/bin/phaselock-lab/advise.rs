//! `phaselock-lab advise`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use phaselock::games::Games;
use phaselock_lab::advise::AdviceQuestion;

use super::args::AdviseArgs;
use super::files::{self, Pictures};
use super::run::{self, Stop};
use super::sweep::SECONDS;

pub(crate) fn run(args: AdviseArgs, games: &Games) -> Result<ExitCode> {
    let subject = files::subject(&args.path, SECONDS, games)?;
    let plots = args.plots.as_deref().map(Pictures::open).transpose()?;
    let stop = Stop::listen().context("cannot listen for Ctrl-C")?;
    let mut rates = args.send_rate;
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let recording = subject.recording.clone();
    let usual = AdviceQuestion::new(subject, args.link);
    let question = AdviceQuestion {
        rates,
        frame_rate: args.frame_rate,
        pixel: args.pixel.unwrap_or(usual.pixel),
        repeats: args.repeats.unwrap_or(usual.repeats),
        seed: args.common.seed,
        ..usual
    };
    let jobs = args.common.jobs();
    let rows = run::measure(&question.plan(), jobs, &stop, "methods");
    let plans = question.delay_plans(&rows);
    let by_delay: Vec<_> =
        plans.iter().map(|plan| run::measure(plan, jobs, &stop, "delays")).collect();
    if stop.is_requested() {
        run::report("stopped; no method is recommended, since that needs all runs");
        return Ok(ExitCode::from(run::INTERRUPTED));
    }
    let advice = question.answer(&rows, &by_delay)?;
    if let Some(plots) = plots {
        plots.write(&format!("{} send rates", advice.path), &advice.picture())?;
    }
    let text = if args.json {
        serde_json::to_string_pretty(&advice).context("cannot write JSON")? + "\n"
    } else {
        advice.markdown(&recording)
    };
    files::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
