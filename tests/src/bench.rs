//! Command lines and tables of the benches, and the common part of those that play the games with
//! bots.

#![allow(clippy::print_stdout, reason = "benches print their figures")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use anyhow::Context as _;
use serde::Serialize;

/// Options of every bench.
#[derive(Debug, clap::Args)]
pub struct Format {
    /// Prints one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Passed by cargo; ignored
    #[arg(long, hide = true)]
    bench: bool,
}

/// A number of seconds on the command line, from `MIN` to `MAX`.
pub fn seconds<const MIN: u32, const MAX: u32>(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (f64::from(MIN)..=f64::from(MAX)).contains(&seconds) => Ok(seconds),
        _ => Err(format!("not a number from {MIN} to {MAX}")),
    }
}

/// A column of a table: its heading, and the text of its cell in a row.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// Prints the headings of a Markdown table, whose first column is left-aligned.
pub fn head<R>(columns: &[Column<R>]) {
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    println!("\n| {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(columns.len() - 1));
}

/// Prints a row of a Markdown table.
pub fn row<R>(columns: &[Column<R>], row: &R) {
    let cells: Vec<_> = columns.iter().map(|(_, cell)| cell(row)).collect();
    println!("| {} |", cells.join(" | "));
}

/// Prints a row as a JSON object.
pub fn json(row: &impl Serialize) {
    println!("{}", serde_json::to_string(row).expect("figures are plain numbers"));
}

/// A number with this many decimals, or a dash.
pub fn number(value: impl Into<Option<f64>>, digits: usize) -> String {
    value.into().map_or_else(|| "-".into(), |value| format!("{value:.digits$}"))
}

/// Returns the files of a folder with this extension, by name. Fails if there are none, and says
/// so if they are still packed.
pub fn files(folder: &Path, extension: &str) -> anyhow::Result<BTreeSet<PathBuf>> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
    let (mut all, mut is_packed) = (BTreeSet::new(), false);
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == extension) {
            all.insert(path);
        } else {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            is_packed |= name.ends_with(&format!(".{extension}.xz"));
        }
    }
    let folder = folder.display();
    anyhow::ensure!(
        !(all.is_empty() && is_packed),
        "{folder} has only packed files; unpack them with: xz -dk {folder}/*.xz"
    );
    anyhow::ensure!(!all.is_empty(), "{folder} has no file NAME.{extension}");
    Ok(all)
}

/// Measures all runs, on all cores. Returns the results in the order of the runs.
pub fn in_parallel<R: Sync, F: Send + Sync>(
    runs: &[R],
    measure: impl Fn(&R) -> F + Sync,
) -> Vec<F> {
    let done: Vec<OnceLock<F>> = runs.iter().map(|_| OnceLock::new()).collect();
    let left = Mutex::new(runs.iter().zip(&done));
    let take = || left.lock().expect("no run panics").next();
    let work = || {
        while let Some((run, done)) = take() {
            done.get_or_init(|| measure(run));
        }
    };
    std::thread::scope(|scope| (0..cores()).for_each(|_| drop(scope.spawn(work))));
    done.into_iter().map(|run| run.into_inner().expect("every run is measured")).collect()
}

/// Returns the number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Numbers of players with which games are measured.
const PLAYERS: [u16; 3] = [8, 64, 256];
/// Ticks before measuring: past the warm-up of every game, into its play.
pub const BEFORE: u64 = 720;

/// Options of a bench that plays the games with bots.
#[derive(Debug, clap::Args)]
pub struct Played {
    #[command(flatten)]
    format: Format,
    /// Plays only for a moment
    #[arg(long)]
    quick: bool,
    /// Measures only this game
    #[arg(long, value_name = "NAME", value_parser = names())]
    game: Option<String>,
    /// Measures only this number of players
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    players: Option<u16>,
}

fn names() -> Vec<&'static str> {
    phaselock_games::all().names().collect()
}

/// A game's name, and the function that measures it with a number of players for a number of ticks.
pub type Measure<R> = (&'static str, fn(u16, u64) -> R);

impl Played {
    /// Measures each game with each number of players for a number of ticks, and prints a table.
    /// `said` makes the line above it, from the number of ticks.
    pub fn measure<R: Serialize>(
        &self,
        ticks: u64,
        columns: &[Column<R>],
        games: &[Measure<R>],
        said: impl FnOnce(u64) -> String,
    ) {
        let ticks = if self.quick { 60 } else { ticks };
        if !self.format.json {
            println!("{}", said(ticks));
            head(columns);
        }
        let wanted = |game: &str| self.game.as_deref().is_none_or(|only| only == game);
        let counts = self.players.map_or(PLAYERS.to_vec(), |only| vec![only]);
        for (_, measure) in games.iter().filter(|(game, _)| wanted(game)) {
            for players in &counts {
                let figures = measure(*players, ticks);
                if self.format.json { json(&figures) } else { row(columns, &figures) }
            }
        }
    }
}

/// The games with a generic function that measures one, as [`Measure`]s.
#[macro_export]
macro_rules! each_game {
    ($measure:ident) => {{
        use phaselock::game::Game;
        use phaselock_games::{
            asteroids::Asteroids, platformer::Platformer, puck::ShufflePuck, race::Race,
            skirmish::Skirmish,
        };
        [
            (Skirmish::NAME, $measure::<Skirmish> as fn(_, _) -> _),
            (ShufflePuck::NAME, $measure::<ShufflePuck>),
            (Asteroids::NAME, $measure::<Asteroids>),
            (Race::NAME, $measure::<Race>),
            (Platformer::NAME, $measure::<Platformer>),
        ]
    }};
}
