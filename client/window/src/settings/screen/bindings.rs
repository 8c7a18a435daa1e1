//! The page of bindings: what each action is bound to, new ones by pressing, conflicts, reset.

use egui_macroquad::egui::{Button, RichText, Ui};

use super::super::{Bindings, Settings, file};
use super::{note, row};
use crate::actions::{ALL, ALL_GAMES, Action};
use crate::bindings::Binding;
use crate::controls::{Controls, bindings_of};
use crate::palette;
use crate::view::Views;
use crate::words::{fill, tr};

/// Section and action that wait for a press.
type Waiting = (&'static str, &'static Action);

/// The page, with the action that waits for a press.
#[derive(Debug, Default)]
pub(super) struct Page {
    waiting: Option<Waiting>,
    /// The click that began to wait is in this frame's input.
    fresh: bool,
}

impl Page {
    /// True while a press is waited for; every key may come then.
    pub(super) fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    pub(super) fn draw(
        &mut self,
        ui: &mut Ui,
        settings: &mut Settings,
        views: &Views,
        controls: &Controls,
    ) {
        self.take_press(&mut settings.controls, controls);
        note(ui, tr("Press + and then a key or a button; a click on a binding takes it away."));
        self.section(ui, settings, (ALL_GAMES, tr("All games"), ALL), None);
        for (game, title, actions) in views.actions() {
            ui.separator();
            self.section(ui, settings, (game, title, actions), Some(ALL));
        }
    }

    /// Binds the press that came to the action that waits for it.
    fn take_press(&mut self, chosen: &mut Bindings, controls: &Controls) {
        let fresh = std::mem::take(&mut self.fresh);
        let Some(binding) = controls.struck().filter(|_| !fresh) else { return };
        if let Some((section, action)) = self.waiting.take() {
            add(chosen, section, action, binding);
        }
    }

    fn section(
        &mut self,
        ui: &mut Ui,
        settings: &mut Settings,
        (section, title, actions): (&'static str, &str, &'static [Action]),
        besides: Option<&'static [Action]>,
    ) {
        let chosen = &mut settings.controls;
        ui.horizontal(|ui| {
            ui.label(RichText::new(title).size(17.0));
            if chosen.contains_key(section) && ui.button(tr("Reset")).clicked() {
                chosen.remove(section);
            }
        });
        for action in actions {
            let bindings = bindings_of(section, action, chosen);
            let others = taken(chosen, (section, actions), besides, action);
            row(ui, tr(action.title), |ui| {
                for binding in &bindings {
                    let conflict = others.iter().find(|(other, _)| other == binding);
                    let color = if conflict.is_some() { palette::BAD } else { palette::TEXT };
                    let label = RichText::new(binding.label()).size(14.0).color(color);
                    let button = ui.add(Button::new(label));
                    let told = match conflict {
                        Some((_, it)) => fill("also: {action}", &[("action", tr(it.title))]),
                        None => tr("takes it away").to_owned(),
                    };
                    if button.on_hover_text(told).clicked() {
                        remove(chosen, section, action, *binding);
                    }
                }
                let waits = self.waiting == Some((section, action));
                let label = if waits { tr("press ...") } else { "+" };
                let room = bindings.len() < file::BINDINGS_MAX;
                if room && ui.add(Button::new(RichText::new(label).size(14.0))).clicked() {
                    self.waiting = (!waits).then_some((section, action));
                    self.fresh = true;
                }
            });
        }
    }
}

/// Bindings of other actions that count at the same time.
fn taken(
    chosen: &Bindings,
    (section, actions): (&str, &'static [Action]),
    besides: Option<&'static [Action]>,
    except: &Action,
) -> Vec<(Binding, &'static Action)> {
    let own = actions.iter().filter(|it| it.id != except.id).map(|it| (section, it));
    let all = besides.unwrap_or_default().iter().map(|it| (ALL_GAMES, it));
    let bound = |(section, action): (&str, &'static Action)| {
        bindings_of(section, action, chosen).into_iter().map(move |binding| (binding, action))
    };
    own.chain(all).flat_map(bound).collect()
}

fn set(chosen: &mut Bindings, section: &str, action: &Action, bindings: &[Binding]) {
    let names: Vec<_> = bindings.iter().map(|binding| binding.name()).collect();
    let own = chosen.entry(section.to_owned()).or_default();
    // As the game has it: nothing to keep.
    if bindings == bindings_of(section, action, &Bindings::new()) {
        own.remove(action.id);
    } else {
        own.insert(action.id.to_owned(), names);
    }
    if own.is_empty() {
        chosen.remove(section);
    }
}

fn add(chosen: &mut Bindings, section: &str, action: &Action, binding: Binding) {
    let mut bindings = bindings_of(section, action, chosen);
    if !bindings.contains(&binding) {
        bindings.push(binding);
        set(chosen, section, action, &bindings);
    }
}

fn remove(chosen: &mut Bindings, section: &str, action: &Action, binding: Binding) {
    let mut bindings = bindings_of(section, action, chosen);
    bindings.retain(|it| *it != binding);
    set(chosen, section, action, &bindings);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRE: Action = Action::new("fire", "fire", &["Space", "Tab"]);

    #[test]
    fn bindings_are_added_taken_away_and_come_back() {
        let mut chosen = Bindings::new();
        let key = |name| Binding::parse(name).unwrap();
        remove(&mut chosen, "toy", &FIRE, key("Space"));
        add(&mut chosen, "toy", &FIRE, key("Pad:A"));
        add(&mut chosen, "toy", &FIRE, key("Pad:A"));
        assert_eq!(chosen["toy"]["fire"], ["Tab", "Pad:A"]);
        let others = taken(&chosen, ("toy", &[]), Some(ALL), &FIRE);
        assert!(others.iter().any(|(it, action)| *it == key("Tab") && action.id == "scores"));
        remove(&mut chosen, "toy", &FIRE, key("Pad:A"));
        remove(&mut chosen, "toy", &FIRE, key("Tab"));
        assert_eq!(chosen["toy"]["fire"], [""; 0], "an action may be unbound");
        add(&mut chosen, "toy", &FIRE, key("Space"));
        add(&mut chosen, "toy", &FIRE, key("Tab"));
        assert_eq!(chosen, Bindings::new(), "nothing is kept that is the game's own");
    }
}
