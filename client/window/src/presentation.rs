//! Motion methods of others: the panel for choosing them (F6).

use egui_macroquad::egui::{Area, ComboBox, Context, Id, Order, RichText, ScrollArea, Sense, Ui};
use phaselock::motion::{Timeline, choice::Choice};

use phaselock::client::Session;

use super::marks::{error, ghost, newest, way};
use super::play::{AnyPlay, kinds};
use phaselock_ui::actions;
use phaselock_ui::controls::Controls;
use phaselock_ui::explain;
use phaselock_ui::parts::card_frame;
use phaselock_ui::prelude::*;

/// Height in points above and below the panel, with its own margins.
const AROUND: f32 = 280.0;

#[derive(Debug, Default)]
pub(crate) struct Panel {
    pub(crate) shown: bool,
    pub(crate) marks: bool,
    /// The method before the current one, or another one to compare with.
    ghost: Option<Choice>,
}

impl Panel {
    pub(crate) fn new(marks: bool) -> Self {
        Self { marks, ..Self::default() }
    }

    /// The method to compare with, while markers are shown.
    pub(crate) fn ghost(&self) -> Option<Choice> {
        self.ghost.filter(|_| self.marks)
    }

    /// Hands the method to compare with to a session.
    pub(crate) fn compare(&self, session: &mut Session) {
        if let Some(client) = session.client_mut() {
            client.set_ghost(self.ghost());
        }
    }

    pub(crate) fn draw(
        &mut self,
        ctx: &Context,
        session: &mut Session,
        play: &dyn AnyPlay,
        controls: &Controls,
    ) {
        if !self.shown {
            return;
        }
        let room = (ctx.screen_rect().height() - AROUND).max(120.0);
        let shown = Area::new(Id::new("presentation"))
            .order(Order::Foreground)
            .anchor(Align2::LEFT_BOTTOM, vec2(18.0, -170.0))
            .show(ctx, |ui| {
                let frame = card_frame(0.95, 14).corner_radius(8);
                frame.show(ui, |ui| {
                    ScrollArea::vertical()
                        .max_height(room)
                        .show(ui, |ui| self.contents(ui, session, play, controls));
                });
            });
        layout::claim(&ctx.debug_painter(), Item::Panel, shown.response.rect);
    }

    fn contents(
        &mut self,
        ui: &mut Ui,
        session: &mut Session,
        play: &dyn AnyPlay,
        controls: &Controls,
    ) {
        ui.set_width(290.0);
        ui.spacing_mut().item_spacing = vec2(8.0, 6.0);
        ui.label(RichText::new(tr("How others are shown")).size(16.0));
        for kind in session.client().map(kinds).unwrap_or_default() {
            let words = play.kind_words(kind.name);
            ui.label(RichText::new(words).size(13.0).color(palette::TEXT_SOFT));
            let mut choice = kind.choice;
            let best = play.best(kind.kind);
            methods(ui, kind.name, &mut choice, Some(best));
            let words = explain::method(choice);
            let words =
                if choice == best { format!("{words} {}", best_words()) } else { words.into() };
            ui.label(RichText::new(words).size(12.0).color(palette::TEXT_FAINT))
                .on_hover_text(time_words(choice));
            if choice != kind.choice {
                self.ghost = Some(kind.choice);
                session.choose(kind.kind, choice);
                self.compare(session);
            }
        }
        ui.separator();
        let mut changed = ui
            .checkbox(&mut self.marks, tr("Markers in the picture"))
            .on_hover_text(tr("Shows what was sent, what is drawn, and the error between them."))
            .changed();
        if self.marks {
            let mut compared = self.ghost.is_some();
            if ui
                .checkbox(&mut compared, tr("Compare with another method"))
                .on_hover_text(tr("Draws a ring where another method would show each player."))
                .changed()
            {
                self.ghost = compared.then_some(Choice::Linear);
                changed = true;
            }
            if let Some(ghost) = &mut self.ghost {
                changed |= methods(ui, "ghost", ghost, None);
            }
            legend(ui, self.ghost.is_some());
            let error =
                play.shown_error().map_or(tr("nothing yet").into(), |m| format!("{m:.3} m"));
            let words = fill("Average error of what is drawn: {error}.", &[("error", &error)]);
            ui.label(RichText::new(words).size(13.0).color(palette::TEXT_SOFT));
        }
        if changed {
            self.compare(session);
        }
        let keys = controls.words(&actions::OTHERS);
        let words = fill("{keys} closes this.", &[("keys", &keys)]);
        ui.label(RichText::new(words).size(12.0).color(palette::TEXT_FAINT));
    }
}

/// Shows a list of methods, with a mark at the best one for the game. Returns whether another one
/// was chosen.
fn methods(ui: &mut Ui, id: &str, choice: &mut Choice, best: Option<Choice>) -> bool {
    let before = *choice;
    let title = |choice: Choice| match best == Some(choice) {
        true => format!("{}  ★", choice.title()),
        false => choice.title().to_owned(),
    };
    let list = ComboBox::from_id_salt(id).width(276.0).selected_text(title(*choice));
    let list = list.show_ui(ui, |ui| {
        for other in Choice::ALL {
            let words = explain::method(*other);
            let words = match best == Some(*other) {
                true => format!("{words} {}\n{}", best_words(), other.source()),
                false => format!("{words}\n{}", other.source()),
            };
            ui.selectable_value(choice, *other, title(*other)).on_hover_text(words);
        }
    });
    list.response.on_hover_text(explain::method(*choice));
    *choice != before
}

/// Text for that mark. `tests/it/presentation.rs` compares the games' own methods with the measured
/// tables.
fn best_words() -> &'static str {
    tr("★ Best for this game, as measured.")
}

fn time_words(choice: Choice) -> &'static str {
    match choice.timeline() {
        Timeline::Past => tr("It shows the past, between known states."),
        Timeline::Present => tr("It shows the present, beyond the last known state."),
    }
}

/// Explains the markers, each drawn as in the picture.
fn legend(ui: &mut Ui, ghosts: bool) {
    let mut row = |words: &str, mark: fn(&Painter, Pos2)| {
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(vec2(22.0, 15.0), Sense::hover());
            mark(ui.painter(), rect.center());
            ui.label(RichText::new(words).size(12.5).color(palette::TEXT_SOFT));
        });
    };
    row(tr("the newest snapshot"), newest);
    row(tr("from there to where it is drawn"), |painter, at| {
        way(painter, at - vec2(9.0, 0.0), at + vec2(9.0, 0.0));
    });
    row(tr("where it was drawn, and where it really was"), |painter, at| {
        error(painter, at - vec2(7.0, 0.0), at + vec2(7.0, 0.0));
    });
    if ghosts {
        row(tr("where the other method shows it"), |painter, at| ghost(painter, at, 6.0));
    }
}
