//! One server: its rooms, its certificate, the password, and what can be done with it.

use std::path::PathBuf;

use egui_macroquad::egui::{Button, Id, Label, RichText, ScrollArea, Ui};
use phaselock::fingerprint::Fingerprint;
use phaselock::limits::PASSWORD_BYTES_MAX;
use phaselock::wire::query::Info;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::address::Address;
use phaselock_quic::invitation::Invitation;
use phaselock_quic::pins::KnownHosts;
use phaselock_quic::survey::Reply;

use super::list::Row;
use crate::people::title;
use crate::registry::Views;
use phaselock_ui::parts::{action, field};
use phaselock_ui::prelude::*;

/// Height of the list of rooms in points.
const ROOMS_HEIGHT: f32 = 120.0;

/// What the player wants to do with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Join,
    Watch,
    Star,
}

/// Certificate that a server is known by, or why that cannot be determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    No,
    By(Fingerprint),
    /// The list of known servers cannot be read, for this reason.
    Unreadable(String),
}

impl Known {
    /// The certificate to expect. `listed` is a directory's, which counts only for servers that
    /// were never joined.
    pub(super) fn or(&self, listed: Option<Fingerprint>) -> Option<Fingerprint> {
        match self {
            Self::No => listed,
            Self::By(fingerprint) => Some(*fingerprint),
            Self::Unreadable(_) => None,
        }
    }
}

/// What the player entered for the server.
#[derive(Debug)]
pub(super) struct Details {
    of: Option<Address>,
    password: String,
    room: Option<RoomCode>,
    /// Certificate that the server is known by.
    known: Known,
    copied: bool,
    /// Whether the password field gets the keyboard in the next frame.
    pub(super) asks_password: bool,
}

impl Default for Details {
    fn default() -> Self {
        Self {
            of: None,
            password: String::new(),
            room: None,
            known: Known::No,
            copied: false,
            asks_password: false,
        }
    }
}

impl Details {
    fn turn_to(&mut self, row: &Row) {
        if self.of.as_ref() == Some(&row.address) {
            return;
        }
        let known = known(&row.address);
        *self = Self { of: Some(row.address.clone()), known, ..Self::default() };
    }

    /// Selects a server that needs a password, and the field for it.
    pub(super) fn ask_password(&mut self, row: &Row) {
        self.turn_to(row);
        self.asks_password = true;
    }

    /// Password and room that the player entered for this server.
    pub(super) fn entered(&self, row: &Row) -> (Option<String>, Option<RoomCode>) {
        if self.of.as_ref() != Some(&row.address) {
            return (None, None);
        }
        let password = Some(self.password.clone()).filter(|word| !word.is_empty());
        (password, self.room.clone())
    }

    /// Link to send to a friend, with the certificate that the server is known by.
    fn link(&self, row: &Row) -> String {
        let fingerprint = self.known.or(row.fingerprint);
        Invitation { address: row.address.clone(), fingerprint }.to_string()
    }

    /// Shows a server.
    pub(super) fn draw(&mut self, ui: &mut Ui, row: &Row, views: &Views) -> Option<Act> {
        self.turn_to(row);
        let mut act = None;
        ui.spacing_mut().item_spacing = vec2(8.0, 7.0);
        let name = RichText::new(&row.name).size(19.0).color(palette::TEXT);
        ui.add(Label::new(name).truncate());
        ui.add(Label::new(faint(&row.address.to_string())).truncate());
        match &row.reply {
            Reply::Answered(info, took) => self.status(ui, (row, info, took.as_ms()), views),
            Reply::Asking => drop(ui.label(soft(tr("Asking ...")))),
            Reply::Silent => {
                let text = tr("No answer. The server may be off, or its port closed.");
                ui.label(soft(text));
            }
        }
        if let Some(fingerprint) = self.known.or(row.fingerprint) {
            let label = match self.known {
                Known::By(_) => tr("Certificate from your last visit"),
                _ => tr("Certificate reported by others, until you join"),
            };
            ui.label(faint(label));
            ui.label(RichText::new(fingerprint.to_string()).size(10.5).monospace());
        }
        if let Known::Unreadable(why) = &self.known {
            ui.add(Label::new(RichText::new(why).size(12.5).color(palette::WARN)).wrap());
        }
        if row.is_locked() {
            let width = ui.available_width();
            let password = field(&mut self.password, tr("Password"), width, PASSWORD_BYTES_MAX);
            let shown = ui.add(password.password(true));
            if std::mem::take(&mut self.asks_password) {
                shown.request_focus();
            }
        }
        if row.is_full() {
            ui.label(soft(tr("All seats are taken: you watch until one is free.")));
        }
        if action(ui, tr("Join"), true).clicked() {
            act = Some(Act::Join);
        }
        ui.horizontal(|ui| {
            let star = if row.starred { tr("★ Remove") } else { tr("☆ Favourite") };
            if ui.add(Button::new(RichText::new(star).size(14.0))).clicked() {
                act = Some(Act::Star);
            }
            if ui.add(Button::new(RichText::new(tr("Watch")).size(14.0))).clicked() {
                act = Some(Act::Watch);
            }
            let copy = if self.copied { tr("Copied") } else { tr("Copy link") };
            if ui.add(Button::new(RichText::new(copy).size(14.0))).clicked() {
                ui.ctx().copy_text(self.link(row));
                self.copied = true;
            }
        });
        act
    }

    fn status(&mut self, ui: &mut Ui, (row, info, ping_ms): (&Row, &Info, f64), views: &Views) {
        let [players, seats, bots, round] =
            [info.players, info.players_max, info.bots, info.round].map(|it| it.to_string());
        let ping = format!("{ping_ms:.0}");
        let line = fill(
            "{players} of {seats} players, {bots} bots, {ping} ms",
            &[("players", &players), ("seats", &seats), ("bots", &bots), ("ping", &ping)],
        );
        ui.label(soft(&line));
        let titles: Vec<_> = info.games.iter().map(|game| title(game, views)).collect();
        let games = titles.join(", ");
        let now = row.playing().map_or(&*games, |game| title(game, views));
        let line = fill("{games}; rounds played: {round}", &[("games", now), ("round", &round)]);
        ui.add(Label::new(soft(&line)).wrap());
        if titles.len() > 1 {
            let line = fill("In turn: {games}", &[("games", &games)]);
            ui.add(Label::new(faint(&line)).wrap());
        }
        ui.label(faint(&fill("Version {version}", &[("version", &info.version)])));
        if info.rooms.len() < 2 {
            return;
        }
        ui.label(faint(tr("Rooms")));
        let rooms = ScrollArea::vertical().id_salt(Id::new("rooms")).max_height(ROOMS_HEIGHT);
        rooms.show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.selectable_value(&mut self.room, None, tr("The fullest with a free seat"));
            for room in &info.rooms {
                let [players, seats] = [room.players, room.players_max].map(|it| it.to_string());
                let line = fill(
                    "{room}: {game}, {players} of {seats}",
                    &[
                        ("room", room.code.as_str()),
                        ("game", title(&room.game, views)),
                        ("players", &players),
                        ("seats", &seats),
                    ],
                );
                ui.selectable_value(&mut self.room, Some(room.code.clone()), line);
            }
        });
    }
}

/// The certificate that a server is known by.
pub(super) fn known(address: &Address) -> Known {
    KnownHosts::default_path().map_or(Known::No, |path| known_in(path, address))
}

/// Looks the server up in this file of known hosts.
fn known_in(path: PathBuf, address: &Address) -> Known {
    match KnownHosts::open(path) {
        Ok(hosts) => hosts.check(&address.to_string()).map_or(Known::No, Known::By),
        Err(error) => Known::Unreadable(error.to_string()),
    }
}

fn soft(text: &str) -> RichText {
    RichText::new(text).size(14.0).color(palette::TEXT_SOFT)
}

fn faint(text: &str) -> RichText {
    RichText::new(text).size(12.5).color(palette::TEXT_FAINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_cannot_be_read_leaves_no_server_to_the_word_of_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("known_hosts");
        let (server, other) = ("a.example.org".parse().expect("an address"), Fingerprint([7; 32]));
        let known = || known_in(path.clone(), &server);
        assert_eq!((known(), known().or(Some(other))), (Known::No, Some(other)));
        let met = Fingerprint([1; 32]);
        std::fs::write(&path, format!("\u{feff}a.example.org:4433 {met}\r")).expect("written");
        assert_eq!((known(), known().or(Some(other))), (Known::By(met), Some(met)));
        std::fs::write(&path, "a.example.org:4433 sha256:12\n").expect("written");
        let Known::Unreadable(why) = known() else { panic!("it cannot be read") };
        assert!(why.starts_with("line 1 of "), "{why}");
        assert_eq!(known().or(Some(other)), None);
    }

    #[test]
    fn password_and_room_go_to_the_server_that_they_were_entered_for() {
        let row = |name: &str| Row {
            address: name.parse().expect("an address"),
            name: name.to_owned(),
            starred: false,
            fingerprint: None,
            reply: Reply::Asking,
        };
        let (first, other) = (row("a.example.org:4433"), row("b.example.org:4433"));
        let mut details = Details::default();
        details.ask_password(&first);
        details.password = "secret".to_owned();
        details.room = Some("den".parse().expect("a code"));
        assert_eq!(details.entered(&first).0.as_deref(), Some("secret"));
        assert!(details.entered(&first).1.is_some());
        assert_eq!(details.entered(&other), (None, None));
        details.turn_to(&other);
        assert_eq!(details.entered(&other), (None, None));
        assert_eq!(details.entered(&first), (None, None));
    }
}
