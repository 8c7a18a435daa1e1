//! Talk: what others say, who comes and goes, quick messages, marks, and people who are muted.
//!
//! `lines` keeps what is shown, `draft` the line that is written, `muted` the people who are not
//! heard; none of them draws. `drawing`, `pings`, `quick` and `people` do.

mod draft;
mod drawing;
mod lines;
mod muted;
mod people;
mod pings;
mod quick;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use egui_macroquad::egui::Context;
use phaselock::client::{Common, Notice, Session, Speaker};
use phaselock::game::MessageError;
use phaselock::time::LocalTime;
use phaselock::wire::control::Refusal;
use phaselock::wire::disconnect::Code;
use phaselock::wire::talk::{Audience, Mark};

use self::draft::Draft;
use self::lines::{Kind, Lines};
use self::muted::Muted;
use self::pings::Pings;
use phaselock_ui::actions;
use phaselock_ui::controls::Controls;
use phaselock_ui::prelude::*;
use phaselock_ui::words::fill;

/// Kind of the mark that a player sets: "here".
const HERE: u8 = 0;
/// Commands of the window itself; the first one also lists the server's.
const OWN_COMMANDS: [&str; 3] = ["help", "ignore", "unignore"];

/// Form of the talk that has the keyboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    /// A line is being typed. The key that opened it may still be in this frame's input.
    Line { is_fresh: bool },
    /// A quick message is being chosen.
    Quick { is_fresh: bool },
}

/// The chat of a visit.
#[derive(Debug)]
pub(crate) struct Talk {
    lines: Lines,
    draft: Draft,
    muted: Muted,
    pings: Pings,
    open: Open,
    /// The server's commands.
    commands: Vec<String>,
}

impl Talk {
    /// Texts of the shown lines, the newest first.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.lines.shown().take(8).map(|line| line.text.as_str()).collect()
    }

    /// Starts the chat of a new visit, with the muted people from a file.
    pub(crate) fn open(muted: Option<PathBuf>, now: LocalTime) -> Self {
        let (muted, told) = Muted::open(muted);
        let mut talk = Self {
            lines: Lines::default(),
            draft: Draft::default(),
            muted,
            pings: Pings::default(),
            open: Open::Nothing,
            commands: Vec::new(),
        };
        if let Some(told) = told {
            talk.add_notice(&told, now);
        }
        talk
    }

    /// Adds a line from the program.
    pub(crate) fn add_notice(&mut self, text: &str, now: LocalTime) {
        self.lines.add(Kind::System, None, text, now);
    }

    /// Removes all lines.
    pub(crate) fn clear(&mut self) {
        self.lines = Lines::default();
    }

    /// Another game begins.
    pub(crate) fn begin_game(&mut self) {
        self.pings.clear();
    }

    /// Handles what the session reports about others. Returns true if it makes a sound.
    pub(crate) fn handle(&mut self, notice: Notice, now: LocalTime) -> bool {
        match notice {
            Notice::Chat { from: None, text, .. } => {
                self.add_notice(&text, now);
                return true;
            }
            Notice::Chat { from: Some(from), to, text } => {
                return self.show_message(&from, to, &text, now);
            }
            Notice::Quick { from, to, number } => {
                return quick::words(number)
                    .is_some_and(|it| self.show_message(&from, to, it, now));
            }
            Notice::Mark { from, mark, .. } if !self.muted.has(from.seat.person) => {
                self.pings.add((&from.seat.name, from.seat.look.color), mark, now);
                return true;
            }
            Notice::Joined { who } if !who.seat.bot => {
                let text = fill("{name} has joined", &[("name", &who.seat.name)]);
                self.lines.add(Kind::Join, None, &text, now);
            }
            Notice::Left { who, code } if !who.seat.bot => {
                let text = left(&who.seat.name, code);
                self.lines.add(Kind::Leave, None, &text, now);
            }
            Notice::Renamed { before, who } => {
                let names = [("before", &*before), ("name", &*who.seat.name)];
                self.lines.add(Kind::Join, None, &fill("{before} is now {name}", &names), now);
            }
            Notice::Commands(commands) => {
                self.commands = commands.into_iter().map(|it| it.name).collect();
            }
            Notice::Refused { refusal, .. } => self.add_notice(refused(refusal), now),
            _ => {}
        }
        false
    }

    /// Shows what a person says unless that person is muted, and returns whether it was shown.
    fn show_message(&mut self, from: &Speaker, to: Audience, text: &str, now: LocalTime) -> bool {
        if self.muted.has(from.seat.person) {
            return false;
        }
        let kind = match to {
            Audience::All => Kind::All,
            Audience::Side => Kind::Side,
        };
        self.lines.add(kind, Some((&from.seat.name, from.seat.look.color)), text, now);
        true
    }

    /// Whether the chat has the keyboard.
    pub(crate) fn is_open(&self) -> bool {
        self.open != Open::Nothing
    }

    /// Closes the open line or list.
    pub(crate) fn close(&mut self) {
        self.open = Open::Nothing;
        self.lines.show_newest();
    }

    /// Opens what a key asks for. A player without a side talks to all.
    pub(crate) fn handle_keys(&mut self, controls: &Controls, has_side: bool) {
        let is_fresh = true;
        if controls.pressed(&actions::CHAT) {
            self.draft.begin(Audience::All);
            self.open = Open::Line { is_fresh };
        } else if controls.pressed(&actions::SIDE_CHAT) {
            self.draft.begin(nearest(has_side));
            self.open = Open::Line { is_fresh };
        } else if controls.pressed(&actions::QUICK) {
            self.open = Open::Quick { is_fresh };
        }
    }

    /// Sets a mark where the mouse points, for the player's side if there is one.
    pub(crate) fn point(
        session: &mut Session,
        at: Vec2,
        wraps: Option<Vec2>,
        has_side: bool,
    ) -> Result<(), MessageError> {
        let at = wraps.map_or(at, |period| at.rem_euclid(period));
        let Some(mark) = Mark::at(HERE, at) else { return Ok(()) };
        // If the server refuses it as too frequent, the player is told.
        session.mark(nearest(has_side), mark)
    }

    /// Paints the marks over a picture.
    pub(crate) fn draw_marks(
        &mut self,
        painter: &Painter,
        camera: Camera,
        wraps: Option<Vec2>,
        now: LocalTime,
    ) {
        self.pings.draw(painter, camera, wraps, now);
    }

    /// Draws the lines and what is open, and sends what is finished.
    pub(crate) fn draw(
        &mut self,
        ctx: &Context,
        painter: &Painter,
        session: &mut Session,
        now: LocalTime,
    ) {
        drawing::draw_lines(painter, &self.lines, now, matches!(self.open, Open::Line { .. }));
        let sent = match self.open {
            Open::Nothing => Ok(()),
            Open::Line { is_fresh } => {
                self.open = Open::Line { is_fresh: false };
                self.draw_draft(ctx, is_fresh, session, now)
            }
            Open::Quick { is_fresh } => {
                self.open = Open::Quick { is_fresh: false };
                quick::draw(painter, drawing::corner(painter));
                match quick::chosen(ctx).filter(|_| !is_fresh) {
                    Some(number) => {
                        self.close();
                        session.say_quick(Audience::All, number)
                    }
                    None => Ok(()),
                }
            }
        };
        if let Err(error) = sent {
            self.add_notice(&fill("Not sent: {error}.", &[("error", &error.to_string())]), now);
        }
    }

    fn draw_draft(
        &mut self,
        ctx: &Context,
        is_fresh: bool,
        session: &mut Session,
        now: LocalTime,
    ) -> Result<(), MessageError> {
        let roster = session.client().map(|client| client.common().roster().values());
        let names: Vec<_> = roster.into_iter().flatten().map(|seat| &*seat.name).collect();
        let commands = self.commands.iter().map(|it| &**it).chain(OWN_COMMANDS);
        let mut commands: Vec<_> = commands.collect();
        commands.sort_unstable();
        commands.dedup();
        let words = (&*commands, &*names);
        let finished = drawing::draw_draft(ctx, &mut self.draft, &mut self.lines, words);
        if !finished || is_fresh {
            return Ok(());
        }
        let line = self.draft.finish();
        self.close();
        let Some((to, line)) = line else { return Ok(()) };
        let Some(command) = line.strip_prefix('/') else { return session.say(to, &line) };
        match command.split_once(' ').unwrap_or((command, "")) {
            (command @ ("ignore" | "unignore"), name) => {
                let common = session.client().map(|client| client.common());
                self.ignore(common, name.trim_matches([' ', '"']), command == "ignore", now);
                Ok(())
            }
            (command, _) => {
                if command == "help" {
                    self.add_notice(tr("/ignore NAME: mute that person"), now);
                    self.add_notice(tr("/unignore NAME: unmute that person"), now);
                }
                // A server that has commands has listed some; another one would show the line to
                // everyone.
                match (self.commands.is_empty(), command) {
                    (false, _) => session.say(to, &line),
                    (true, "help") => Ok(()),
                    (true, _) => {
                        let told = fill(
                            "There is no command /{command} here; /help lists them all.",
                            &[("command", command)],
                        );
                        self.add_notice(&told, now);
                        Ok(())
                    }
                }
            }
        }
    }

    /// Mutes or unmutes the person with this name.
    fn ignore(&mut self, common: Option<&Common>, name: &str, is_muted: bool, now: LocalTime) {
        let lower = name.to_lowercase();
        let seats = common.into_iter().flat_map(|common| common.roster().values());
        let person = seats.filter(|it| it.name.to_lowercase() == lower).find_map(|it| it.person);
        match person {
            Some(person) => self.mute(person, name, is_muted, now),
            None => self.add_notice(&fill("No one here is called {name}.", &[("name", name)]), now),
        }
    }

    fn mute(&mut self, person: u64, name: &str, is_muted: bool, now: LocalTime) {
        let problem = self.muted.set(person, name, is_muted);
        let done = match is_muted {
            true => fill("You have muted {name}.", &[("name", name)]),
            false => fill("You have unmuted {name}.", &[("name", name)]),
        };
        self.add_notice(&problem.unwrap_or(done), now);
    }

    /// Draws the people next to the pause. Returns the width in points that they take.
    pub(crate) fn draw_people(&mut self, ctx: &Context, common: &Common, now: LocalTime) -> f32 {
        let (width, chosen) = people::draw(ctx, common.roster(), common.player(), &self.muted);
        if let Some((person, name, is_muted)) = chosen {
            self.mute(person, &name, is_muted, now);
        }
        width
    }
}

/// The player's side if there is one, otherwise everyone.
fn nearest(has_side: bool) -> Audience {
    if has_side { Audience::Side } else { Audience::All }
}

/// A line about a player who left.
fn left(name: &str, code: Code) -> String {
    let names = [("name", name)];
    match code {
        Code::Lost | Code::Silent | Code::NotReading => {
            fill("{name} has lost the connection", &names)
        }
        Code::Kicked => fill("{name} was kicked", &names),
        Code::Banned => fill("{name} was banned", &names),
        Code::Idle => fill("{name} was idle for too long", &names),
        Code::Full | Code::OtherGame => fill("{name} cannot play the next game", &names),
        Code::Protocol | Code::Failed => fill("{name} was disconnected by an error", &names),
        _ => fill("{name} has left", &names),
    }
}

/// A sentence about a refusal, for the player.
fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Unknown => tr("The server cannot do that; its version may be older."),
        Refusal::TooMany => tr("Not sent: too many at once. Wait a moment."),
        Refusal::Length => tr("Not sent: the line is empty or too long."),
        Refusal::Game => tr("The game rejected that."),
        Refusal::Off => {
            tr("Not possible: the host has turned it off, or it does not apply right now.")
        }
        Refusal::Soon => tr("Too soon: wait a little before you call another vote."),
        Refusal::Busy => tr("A vote is already in progress. Wait until it ends."),
        Refusal::Uneven => tr("The sides would be uneven. Ask someone to swap with you."),
        Refusal::Protected => tr("That player cannot be voted out."),
        Refusal::Full => tr("There is no space for more spectators. Play on, or try again later."),
        Refusal::NoSide => tr("Not sent: you are on no side here."),
        Refusal::Range => tr("Not sent: the server rejected a value in it."),
    }
}
