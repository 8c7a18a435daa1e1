//! The page of bindings: shows what each action is bound to, adds bindings by a press, shows
//! conflicts, resets.

use egui_macroquad::egui::{Button, RichText, Ui};
use macroquad::input::KeyCode;

use super::super::file;
use super::super::model::Settings;
use super::rows::{note, row};
use crate::registry::Views;
use phaselock_ui::actions::{ALL, ALL_GAMES, Action, MENU};
use phaselock_ui::bindings::Binding;
use phaselock_ui::controls::{Bindings, Controls, bindings_of};
use phaselock_ui::palette;
use phaselock_ui::words::{fill, tr};

/// Actions of a game or of all games: name in the file, title, actions.
type Section<'a> = (&'static str, &'a str, &'static [Action]);

/// Section and action that wait for a press.
type Waiting = (&'static str, &'static Action);

/// The page, with the action that waits for a press.
#[derive(Debug, Default)]
pub(super) struct Page {
    waiting: Option<Waiting>,
    /// Whether the click that began the wait is in this frame's input.
    fresh: bool,
}

impl Page {
    /// A page that waits.
    #[cfg(test)]
    pub(super) fn waiting() -> Self {
        Self { waiting: Some((ALL_GAMES, &phaselock_ui::actions::PING)), fresh: false }
    }

    /// Whether it waits for a press; any key may come then.
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
        note(ui, tr("Press +, then a key or a button, to add it; click a binding to remove it."));
        let all = (ALL_GAMES, tr("All games"), ALL);
        let games: Vec<_> = views.actions().collect();
        self.section(ui, settings, all, &games);
        for game in games {
            ui.separator();
            self.section(ui, settings, game, &[all]);
        }
    }

    /// Binds a press to the waiting action. Escape ends the wait, except for the action that it is
    /// meant for.
    fn take_press(&mut self, chosen: &mut Bindings, controls: &Controls) {
        let fresh = std::mem::take(&mut self.fresh);
        let Some(binding) = controls.struck().filter(|_| !fresh) else { return };
        let Some((section, action)) = self.waiting.take() else { return };
        if binding != Binding::Key(KeyCode::Escape) || action.id == MENU.id {
            add(chosen, section, action, binding);
        }
    }

    /// Shows the actions of a section. Those of the other given sections are active at the same
    /// time.
    fn section(
        &mut self,
        ui: &mut Ui,
        settings: &mut Settings,
        own: Section<'_>,
        besides: &[Section<'_>],
    ) {
        let (section, title, actions) = own;
        let chosen = &mut settings.controls;
        ui.horizontal(|ui| {
            ui.label(RichText::new(title).size(17.0));
            if chosen.contains_key(section) && ui.button(tr("Reset")).clicked() {
                chosen.remove(section);
            }
        });
        for action in actions {
            let bindings = bindings_of(section, action, chosen);
            let others = taken(chosen, own, besides, action);
            let conflict = |binding| others.iter().find(|(other, _)| *other == binding);
            row(ui, tr(action.title), |ui| {
                for binding in &bindings {
                    let color = conflict(*binding).map_or(palette::TEXT, |_| palette::BAD);
                    let label = RichText::new(binding.label()).size(14.0).color(color);
                    let button = ui.add(Button::new(label));
                    if button.on_hover_text(tr("removes it")).clicked() {
                        remove(chosen, section, action, *binding);
                    }
                }
                let waits = self.waiting == Some((section, action));
                let label = if waits { tr("press ...   Esc: cancel") } else { "+" };
                let room = bindings.len() < file::BINDINGS_MAX;
                if room && ui.add(Button::new(RichText::new(label).size(14.0))).clicked() {
                    self.waiting = (!waits).then_some((section, action));
                    self.fresh = true;
                }
            });
            for (binding, other) in bindings.iter().filter_map(|it| conflict(*it)) {
                let values = [("key", &*binding.label()), ("action", other)];
                let words = fill("{key} is also used for: {action}", &values);
                ui.label(RichText::new(format!("⚠ {words}")).size(13.0).color(palette::BAD));
            }
        }
    }
}

/// Bindings of other actions that are active at the same time, with these actions in words.
fn taken(
    chosen: &Bindings,
    (section, title, actions): Section<'_>,
    besides: &[Section<'_>],
    except: &Action,
) -> Vec<(Binding, String)> {
    let own = actions.iter().filter(|it| it.id != except.id).map(|it| (section, title, it));
    let of = |(section, title, actions)| {
        let actions: &'static [Action] = actions;
        actions.iter().map(move |action| (section, title, action))
    };
    let all = own.chain(besides.iter().copied().flat_map(of));
    let bound = |(of, title, action): (&'static str, &str, &'static Action)| {
        let words = match of == section {
            true => tr(action.title).to_owned(),
            false => format!("{title}, {}", tr(action.title)),
        };
        let bindings = bindings_of(of, action, chosen).into_iter();
        bindings.map(move |binding| (binding, words.clone()))
    };
    all.flat_map(bound).collect()
}

fn set(chosen: &mut Bindings, section: &str, action: &Action, bindings: &[Binding]) {
    let names: Vec<_> = bindings.iter().map(|binding| binding.name()).collect();
    let own = chosen.entry(section.to_owned()).or_default();
    // Same as the game's default: nothing to store.
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
    use phaselock_ui::controls::Devices;

    const FIRE: Action = Action::new("fire", "fire", &["Space", "Tab"]);
    const TOY: &[Action] = &[FIRE];

    #[test]
    fn escape_ends_the_wait_for_a_press_and_pauses_if_it_is_bound_to_that() {
        let press = |name: &str, action: &'static Action| {
            let mut page = Page { waiting: Some((ALL_GAMES, action)), fresh: false };
            let (mut chosen, mut controls) = (Bindings::new(), Controls::default());
            remove(&mut chosen, ALL_GAMES, &MENU, Binding::Key(KeyCode::Escape));
            let struck = [Binding::parse(name).unwrap()].into();
            controls.handle(Devices { struck, ..Devices::default() });
            page.take_press(&mut chosen, &controls);
            assert!(!page.waits(), "{name}");
            bindings_of(ALL_GAMES, action, &chosen).contains(&Binding::parse(name).unwrap())
        };
        assert!(press("F9", &phaselock_ui::actions::SCORES));
        assert!(!press("Escape", &phaselock_ui::actions::SCORES));
        assert!(press("Escape", &MENU));
    }

    #[test]
    fn bindings_are_added_taken_away_and_come_back() {
        let mut chosen = Bindings::new();
        let key = |name| Binding::parse(name).unwrap();
        remove(&mut chosen, "toy", &FIRE, key("Space"));
        add(&mut chosen, "toy", &FIRE, key("Pad:A"));
        add(&mut chosen, "toy", &FIRE, key("Pad:A"));
        assert_eq!(chosen["toy"]["fire"], ["Tab", "Pad:A"]);
        let all = (ALL_GAMES, "All games", ALL);
        let others = taken(&chosen, ("toy", "Toy", TOY), &[all], &FIRE);
        assert!(others.contains(&(key("Tab"), "All games, scores".to_owned())), "{others:?}");
        // And the other way around.
        let scores = &phaselock_ui::actions::SCORES;
        let others = taken(&chosen, all, &[("toy", "Toy", TOY)], scores);
        assert!(others.contains(&(key("Tab"), "Toy, fire".to_owned())), "{others:?}");
        remove(&mut chosen, "toy", &FIRE, key("Pad:A"));
        remove(&mut chosen, "toy", &FIRE, key("Tab"));
        assert_eq!(chosen["toy"]["fire"], [""; 0], "an action may be unbound");
        add(&mut chosen, "toy", &FIRE, key("Space"));
        add(&mut chosen, "toy", &FIRE, key("Tab"));
        assert_eq!(chosen, Bindings::new(), "nothing of the game's own state is kept");
    }
}
