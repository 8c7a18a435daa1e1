//! A server's certificate has changed: explains what that can mean, and asks the player.

use crate::visit::connection::Changed;
use egui_macroquad::egui::{Area, Context, Id, RichText, ScrollArea, Ui};
use phaselock::fingerprint::Fingerprint;
use phaselock_quic::invitation::Invitation;
use phaselock_quic::pins::KnownHosts;

use phaselock_ui::parts::{ACTION_HEIGHT, action, card_frame};
use phaselock_ui::prelude::*;

/// Width of the card in points.
const WIDTH: f32 = 640.0;
/// Height of the card's frame and buttons, and of a gap around it, in points.
const AROUND: f32 = 2.0 * (24.0 + ACTION_HEIGHT + 10.0) + 40.0;

/// The question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trust {
    pub(crate) changed: Changed,
    /// The server that the player wanted to join.
    pub(crate) invitation: Invitation,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The player trusts the changed certificate.
    Accept,
    Refuse,
}

impl Trust {
    /// Remembers the new certificate. The error is shown to the player.
    pub(crate) fn accept(&self) -> Result<(), String> {
        let path = KnownHosts::default_path().ok_or_else(|| {
            tr("There is no folder to remember the server in; set HOME or XDG_CONFIG_HOME.")
                .to_owned()
        })?;
        self.accept_in(path)
    }

    /// Remembers the new certificate in this file.
    pub(super) fn accept_in(&self, path: std::path::PathBuf) -> Result<(), String> {
        let Changed { host, expected, found } = &self.changed;
        let accepted =
            KnownHosts::open(path).and_then(|mut known| known.accept(host, *expected, *found));
        accepted.map_err(|error| error.to_string())
    }

    /// Shows the question until it is answered.
    pub(crate) fn draw(&self, ctx: &Context) -> Option<Answer> {
        let mut answer = None;
        let width = WIDTH.min(ctx.screen_rect().width() - 40.0);
        Area::new(Id::new("trust")).anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0)).show(ctx, |ui| {
            card_frame(0.98, 24).show(ui, |ui| {
                ui.set_width(width - 50.0);
                ui.spacing_mut().item_spacing = vec2(10.0, 10.0);
                let room = (ctx.screen_rect().height() - AROUND).max(80.0);
                ScrollArea::vertical().max_height(room).show(ui, |ui| {
                    let title = fill(
                        "The certificate of {server} has changed",
                        &[("server", &self.changed.host)],
                    );
                    ui.label(RichText::new(title).size(21.0).color(palette::WARN));
                    for text in explanation() {
                        ui.label(RichText::new(text).size(15.0).color(palette::TEXT_SOFT));
                    }
                    print(ui, tr("Before"), self.changed.expected);
                    print(ui, tr("Now"), self.changed.found);
                });
                ui.add_space(6.0);
                if action(ui, tr("Do not join"), true).clicked() {
                    answer = Some(Answer::Refuse);
                }
                if action(ui, tr("The host confirmed it: trust it and join"), false).clicked() {
                    answer = Some(Answer::Accept);
                }
            });
        });
        let escaped = ctx.input(|input| input.key_pressed(egui_macroquad::egui::Key::Escape));
        if escaped { Some(Answer::Refuse) } else { answer }
    }
}

fn explanation() -> [&'static str; 3] {
    [
        tr("A server proves by its certificate that it is the one you joined before. This one \
            cannot."),
        tr("Either the host reinstalled it or moved it without its data, and knows of this. Or \
            someone else answers in its place and would see what you write there."),
        tr("Ask the host whether the new fingerprint is right, but not through this server. If \
            you cannot ask, do not join."),
    ]
}

fn print(ui: &mut Ui, label: &str, fingerprint: Fingerprint) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.label(RichText::new(label).size(13.0).color(palette::TEXT_FAINT));
        let words = RichText::new(fingerprint.to_string()).size(12.0).monospace();
        ui.label(words.color(palette::TEXT));
    });
}
