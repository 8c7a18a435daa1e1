//! The dedicated server's program: its commands.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap_complete::Shell;
use phaselock::games::Games;
use serde_json::json;

use crate::certificate;
use crate::config::{Command, Mistake, Settings, command_line, parse};
use crate::logging::complain;
use crate::serve::serve;
use crate::status;

/// The program's name, for shells.
const PROGRAM: &str = "phaselock-server";

/// Runs the program with these games until it is told to stop.
pub fn run(games: &Games) -> ExitCode {
    // `--check-config` looks at the files, too, that a start reads later.
    let judge = |settings: &Settings, is_check: bool| {
        let of_files = is_check.then(|| certificate::mistake(&settings.config)).flatten();
        check_games(games, settings).into_iter().chain(of_files).collect()
    };
    let command = match parse(std::env::args_os(), &judge) {
        Ok(command) => command,
        Err(error) => return ExitCode::from(error.report()),
    };
    let done = match command {
        Command::Serve(settings) => serve(games, &settings),
        Command::Check(settings) => checked(&settings),
        Command::Show { settings, is_json } => show(&settings, is_json),
        Command::HealthCheck { addr } => status::check_health(addr).map(|()| ExitCode::SUCCESS),
        Command::Query { server, is_json } => {
            status::query(&server, is_json).map(|()| ExitCode::SUCCESS)
        }
        Command::Ctl(ctl) => ctl.run().map(|()| ExitCode::SUCCESS),
        Command::Complete { shell } => complete(shell),
        Command::Describe { game } => describe(games, game),
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            complain(&format!("phaselock-server: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Mistakes in the names of games and kinds of entities.
pub(crate) fn check_games(games: &Games, settings: &Settings) -> Vec<Mistake> {
    let mistake = |flag: &str, name: &str, error: String| Mistake::Game {
        origin: settings.origin(flag),
        name: name.to_owned(),
        error,
    };
    let config = &settings.config;
    let special = config.special.iter().filter(|it| it.room.is_none());
    let special = special.filter_map(|it| {
        let name = it.game.as_deref()?;
        let error = games.get(name).err()?;
        Some(Mistake::Game {
            origin: format!("[per_game.{name}]"),
            name: name.to_owned(),
            error: error.to_string(),
        })
    });
    let unknown = config.games.iter().filter_map(|name| {
        games.get(name).err().map(|error| mistake("game", name, error.to_string()))
    });
    let mut mistakes: Vec<_> = unknown.chain(special).collect();
    if settings.is_sure("game")
        && let Ok(selected) = games.select(&config.game_names(games))
    {
        mistakes.extend(config.send.iter().filter_map(|(kind, _)| {
            let error = selected.check_kind(kind).err()?;
            Some(mistake("send", kind, error.to_string()))
        }));
    }
    mistakes
}

/// Says that the settings are good, and what will be wrong soon.
fn checked(settings: &Settings) -> Result<ExitCode> {
    if let Some(expiry) = certificate::expiry_in(&settings.config) {
        complain(&format!("warning: {}", expiry.text()));
    }
    say("the settings are good")
}

fn say(text: &str) -> Result<ExitCode> {
    writeln!(io::stdout(), "{text}").context("cannot write to the standard output")?;
    Ok(ExitCode::SUCCESS)
}

fn show(settings: &Settings, is_json: bool) -> Result<ExitCode> {
    let list = settings.list();
    if is_json {
        let list = list
            .iter()
            .map(|it| json!({ "setting": it.setting, "value": it.value, "origin": it.origin }));
        let list: Vec<_> = list.collect();
        return say(&serde_json::to_string_pretty(&list).context("cannot write JSON")?);
    }
    let width = |text: fn(&crate::config::SettingValue) -> &str| {
        list.iter().map(|it| text(it).chars().count()).max().unwrap_or_default()
    };
    let (settings, values) = (width(|it| &it.setting), width(|it| &it.value));
    let lines = list
        .iter()
        .map(|it| format!("{:settings$}  {:values$}  {}", it.setting, it.value, it.origin));
    say(&lines.collect::<Vec<_>>().join("\n"))
}

fn complete(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line(), PROGRAM, &mut script);
    let mut script = String::from_utf8(script).context("the script is not text")?;
    if shell == Shell::Bash {
        // clap_complete 4.6 spells a program with a dash in two ways, so that nothing behind a
        // subcommand is completed.
        let [told, meant] = ["__subcmd__", "__"].map(|dash| PROGRAM.replace('-', dash));
        script = script.replace(&told, &meant);
    }
    io::stdout().write_all(script.as_bytes()).context("cannot write to the standard output")?;
    Ok(ExitCode::SUCCESS)
}

fn describe(games: &Games, game: Option<String>) -> Result<ExitCode> {
    let name = game.or_else(|| games.names().next().map(str::to_owned)).unwrap_or_default();
    let description = (games.get(&name)?.describe)();
    say(&serde_json::to_string_pretty(&description).context("cannot write JSON")?)
}
