//! The dedicated server's program: runs the commands.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::{Context, Result};
use phaselock::games::Games;
use phaselock_cli::Documentation;
use serde_json::json;

use crate::certificate;
use crate::commands::{Command, command_line, parse};
use crate::config::Settings;
use crate::error::complain;
use crate::games::check_games;
use crate::preflight::preflight;
use crate::serve::serve;
use crate::{status, verify};

const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;

/// Runs the program with these games until a signal stops it.
pub fn run(games: &Games) -> ExitCode {
    #[cfg(windows)]
    let status = crate::service::run(games, program);
    #[cfg(not(windows))]
    let status = program(games);
    ExitCode::from(status)
}

/// Carries out the command line. Returns the exit status.
fn program(games: &Games) -> u8 {
    let judge = |settings: &Settings, is_check: bool| {
        let mut mistakes = check_games(games, settings);
        if is_check {
            mistakes.extend(preflight(settings));
            mistakes.extend(certificate::expired(&settings.config));
        }
        mistakes
    };
    let command = match parse(std::env::args_os(), &judge) {
        Ok(command) => command,
        Err(error) => return error.report(),
    };
    let done = match command {
        Command::Serve(settings) => serve(games, &settings),
        Command::Check(settings) => checked(&settings),
        Command::Show { settings, is_json } => show(&settings, is_json),
        Command::HealthCheck { addr } => status::check_health(addr).map(|()| SUCCESS),
        Command::Query { server, is_json } => status::query(&server, is_json).map(|()| SUCCESS),
        Command::Ctl(ctl) => ctl.run().map(|()| SUCCESS),
        Command::Documentation(wanted) => document(&wanted),
        Command::Describe { game } => describe(games, game),
        Command::Verify { files } => verify::run(games, &files),
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            complain(&format!("phaselock-server: {error:#}"));
            FAILURE
        }
    }
}

/// Reports that the settings are valid, with warnings.
fn checked(settings: &Settings) -> Result<u8> {
    if let Some(expiry) = certificate::expiry_in(&settings.config) {
        complain(&format!("warning: {}", expiry.text()));
    }
    say("the settings are valid")
}

fn say(text: &str) -> Result<u8> {
    writeln!(io::stdout(), "{text}").context("cannot write to the standard output")?;
    Ok(SUCCESS)
}

fn show(settings: &Settings, is_json: bool) -> Result<u8> {
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

fn document(wanted: &Documentation) -> Result<u8> {
    wanted.write(command_line()).map_err(anyhow::Error::msg)?;
    Ok(SUCCESS)
}

fn describe(games: &Games, game: Option<String>) -> Result<u8> {
    let name = game.or_else(|| games.names().next().map(str::to_owned)).unwrap_or_default();
    let description = (games.get(&name)?.describe)();
    say(&serde_json::to_string_pretty(&description).context("cannot write JSON")?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commands::parse_from;

    #[test]
    fn manual_has_a_page_for_each_command_with_its_options() {
        let folder = tempfile::tempdir().expect("a folder");
        let pages = folder.path().join("man1");
        document(&Documentation::Man { folder: pages.clone() }).expect("it can be written");
        for (name, word) in [("", "tick-hz"), ("-ctl", "admin-listen"), ("-ctl-drain", "within")] {
            let page = fs::read_to_string(pages.join(format!("phaselock-server{name}.1")));
            let option = format!("--{word}").replace('-', "\\-");
            assert!(page.expect("a page").contains(&option), "{name}: {option}");
        }
    }

    #[test]
    fn kinds_of_entities_are_checked_in_each_scope() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().to_str().expect("text");
        let told = |content: &str| {
            fs::write(path, content).expect("writable");
            let args = ["phaselock-server", "--config", path].map(Into::into);
            let games = phaselock_games::all();
            match parse_from(args, [], &|settings, _| check_games(&games, settings)) {
                Ok(_) => String::new(),
                Err(error) => error.to_string(),
            }
        };
        let unknown = "game = ['nope', 'race']\nsend = 'Nope=every, Rock=every'";
        for (content, problems) in [
            (unknown, &["1 names \"nope\"", "send in"][..]),
            ("game = 'race'\nsend = 'Rock=every'", &["2 names \"Rock\""]),
            ("game = 'asteroids'\nsend = 'rock=every'", &[]),
            ("[per_game.asteroids]\nsend = 'Rock=every'", &[]),
            ("[per_game.race]\nsend = 'Rock=every'", &["send of [per_game.race] in"]),
            ("[per_room.lobby]\nsend = 'Nope=every'", &["2 names \"Nope\""]),
            ("[per_game.nope]\nsend = 'Nope=every'", &["[per_game.nope]", "2 names \"Nope\""]),
        ] {
            let lines = told(content);
            assert_eq!(lines.lines().count(), problems.len(), "{content}: {lines}");
            for (line, problem) in lines.lines().zip(problems) {
                assert!(line.contains(problem), "{content}: {line}");
            }
        }
    }
}
