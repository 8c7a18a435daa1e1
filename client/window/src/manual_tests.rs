//! The players' manual against the code.

use std::path::Path;

use phaselock::game::Game as _;
use phaselock_ui::actions::{ALL, Action};
use phaselock_ui::bindings::Binding;
use phaselock_ui::view::{GameView, Register};

/// Returns a page of the players' manual. Returns `None` in the published crate, which does not
/// have it; Cargo adds `Cargo.toml.orig` to every package.
pub(crate) fn page(name: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../docs/playing").join(name);
    let is_published = root.join("Cargo.toml.orig").exists();
    (!is_published).then(|| std::fs::read_to_string(path).expect("a page of the manual"))
}

/// Rows of the table in the reference that has every game's own actions.
#[derive(Default)]
struct Rows(String);

impl Register for Rows {
    fn with<V: GameView>(mut self) -> Self {
        for action in V::ACTIONS {
            let (game, keys) = (V::Game::NAME, action.keys.join("`, `"));
            self.0 += &format!("| `{game}.{}` | {} | `{keys}` |\n", action.id, action.title);
        }
        self
    }
}

#[test]
fn page_for_players_lists_every_action() {
    let Some(page) = page("reference.md") else { return };
    let Rows(rows) = phaselock_views::all(Rows::default());
    let head = "| action of a game | | unless bound otherwise |";
    let table = format!("\n{head}\n|---|---|---|\n{rows}");
    let after = page.split_once(&table).map(|(_, after)| after);
    let is_whole = after.is_some_and(|after| !after.starts_with('|'));
    assert!(is_whole, "the table in docs/playing/reference.md has to be:{table}");
}

#[test]
fn manual_has_the_names_of_all_bindings() {
    let Some(page) = page("controls.md") else { return };
    let (_, rows) = page.split_once("\n| device | names |\n|---|---|\n").expect("the table");
    let rows: Vec<_> = rows.lines().take_while(|line| line.starts_with('|')).collect();
    let stated: Vec<_> = rows.iter().flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    for name in &stated {
        assert!(Binding::parse(name).is_some(), "controls.md has {name}");
    }
    // Of a keyboard and of sticks, it has examples.
    let is_example = |name: &str| name.contains("Stick") || !name.contains(':');
    for name in Binding::all().map(Binding::name).filter(|name| !is_example(name)) {
        assert!(stated.contains(&&*name), "controls.md lacks {name}");
    }
}

#[test]
fn manual_has_the_keys_of_every_game() {
    let Some(page) = page("controls.md") else { return };
    let (_, rows) = page.split_once("\n| key | |\n|---|---|\n").expect("the table");
    let cells = rows.lines().map_while(|row| row.strip_prefix("| ")?.split_once(" |"));
    let stated = cells.flat_map(|(cell, _)| cell.trim_end_matches(" and a number").split(", "));
    // These two are for the open net graph and for lessons.
    let is_shown = |action: &&Action| !["clock_loop", "skip_lesson"].contains(&action.id);
    let keys = ALL.iter().filter(is_shown).map(|it| match it.keys[0] {
        "Mouse:Middle" => "middle mouse button",
        key => key,
    });
    assert_eq!(stated.collect::<Vec<_>>(), keys.collect::<Vec<_>>());
}
