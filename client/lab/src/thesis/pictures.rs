//! Plots of the thesis's paths and errors.

use phaselock::motion::waypoints::Joining;

use super::plan::{JOININGS, NAMES, PATHS, PRINTED, plan};
use super::sample::ThesisRuns;
use crate::sweep::Measurement;
use crate::{Contender, Stamps, figures};

/// Plots of the paths, and of the errors as in the thesis's figures 17 to 22, by the first reading.
pub fn pictures(measured: &ThesisRuns, seed: u64) -> Vec<(String, String)> {
    let straight = PRINTED.map(|filter| Contender::Waypoints(filter, Joining::Linear));
    let round = Contender::Waypoints(PRINTED[0], Joining::CatmullRom);
    let shown: Vec<_> = straight.into_iter().chain([round]).collect();
    let mut all = figures::of_paths(&plan(Stamps::Arrived, seed), &shown);
    let printed = |row: &Measurement| {
        let (extrapolator, joining) = row.method.waypoints()?;
        let joining = JOININGS.iter().position(|it| *it == joining)?;
        Some((PRINTED.iter().position(|it| *it == extrapolator)?, joining))
    };
    for path in PATHS {
        let rows: Vec<_> =
            measured.arrived[0].iter().filter(|row| row.path == path.name()).collect();
        let mut draw = |what: &str, series: &[&str], of: &dyn Fn(&Measurement) -> Option<usize>| {
            let names: Vec<_> = series.iter().map(ToString::to_string).collect();
            let title = format!("{}: {what}", path.title());
            let picture = figures::scattered(&title, &rows, &names, of);
            all.extend(picture.map(|picture| (format!("{path} {what}"), picture)));
        };
        draw("extrapolators", &NAMES, &|row| Some(printed(row)?.0));
        draw("interpolators", &[NAMES[0], NAMES[3]], &|row| Some(printed(row)?.1));
    }
    all
}
