//! The command line, and playing without anyone at the keyboard.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured, save_to_disk};
use phaselock_quic::address::Address;

use crate::Seat;

const USAGE: &str = "usage: tag-bevy [ADDRESS] [--name NAME] [--circle] [--exit-after SECONDS] \
                     [--screenshot FILE.png]";

/// Options on the command line.
#[derive(Resource)]
pub(crate) struct Args {
    pub(crate) address: Address,
    pub(crate) name: String,
    /// Runs in circles, whatever is pressed.
    pub(crate) circle: bool,
    exit_after: Option<Duration>,
    screenshot: Option<PathBuf>,
}

impl Args {
    /// Reads the options, or says what is wrong with them.
    pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let words: Result<Vec<String>, _> = words.map(OsString::into_string).collect();
        let words = words.map_err(|word| format!("{} is not UTF-8", word.display()))?;
        let mut words = words.into_iter();
        let localhost = "localhost".parse().map_err(|_| USAGE)?;
        let mut args = Self {
            address: localhost,
            name: "Runner".to_owned(),
            circle: false,
            exit_after: None,
            screenshot: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value; {USAGE}"));
            match &*word {
                "--name" => args.name = value()?,
                "--circle" => args.circle = true,
                "--screenshot" => args.screenshot = Some(value()?.into()),
                "--exit-after" => {
                    let secs = value()?.parse().ok().filter(|secs| (1..=3600).contains(secs));
                    let secs = secs.ok_or("--exit-after needs 1 to 3600 seconds")?;
                    args.exit_after = Some(Duration::from_secs(secs));
                }
                option if option.starts_with('-') => {
                    return Err(format!("unknown option {option}; {USAGE}"));
                }
                address => {
                    args.address =
                        address.parse().map_err(|error| format!("{address}: {error}"))?;
                }
            }
        }
        Ok(args)
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.add_systems(Update, end);
}

/// When the time is up, prints what was played, takes a picture and exits.
fn end(
    mut commands: Commands<'_, '_>,
    (seat, args, time): (NonSend<'_, Seat>, Res<'_, Args>, Res<'_, Time>),
    mut exit: MessageWriter<'_, AppExit>,
    mut is_over: Local<'_, bool>,
) {
    let is_due = args.exit_after.is_some_and(|after| time.elapsed() >= after);
    if !is_due || std::mem::replace(&mut *is_over, true) {
        return;
    }
    let Some(client) = seat.player.client() else {
        eprintln!("not in the game");
        exit.write(AppExit::error());
        return;
    };
    let shown = seat.picture.as_ref().map_or(0, |picture| picture.entities.iter().count());
    let stats = client.stats();
    // The others are due to inputs that were late, as on a machine that is too busy to draw.
    let (all, unexplained) = (stats.mispredictions, stats.unexplained.count);
    println!(
        "{shown} runners, {} ticks, {all} corrections, {unexplained} unexplained",
        stats.ticks
    );
    match &args.screenshot {
        None => drop(exit.write(AppExit::Success)),
        Some(file) => {
            commands
                .spawn(Screenshot::primary_window())
                .observe(save_to_disk(file.clone()))
                .observe(
                    |_: On<'_, '_, ScreenshotCaptured>, mut exit: MessageWriter<'_, AppExit>| {
                        exit.write(AppExit::Success);
                    },
                );
        }
    }
}
