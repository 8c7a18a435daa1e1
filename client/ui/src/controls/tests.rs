//! Tests of the controls: bindings, short presses, analogue values, hints.

use macroquad::input::{KeyCode, MouseButton};

use super::*;

const LEFT: Action = Action::new("left", "left", &["A", "Left", "Pad:LeftStickLeft"]).hint("move");
const RIGHT: Action =
    Action::new("right", "right", &["D", "Right", "Pad:LeftStickRight"]).hint("move");
const FIRE: Action = Action::new("fire", "fire", &["Mouse:Left", "Space", "Pad:RightTrigger"]);
const NEXT: Action = Action::new("next", "next", &["Wheel:Down"]).hint("");
const ACTIONS: &[Action] = &[LEFT, RIGHT, FIRE, NEXT];

fn controls(chosen: &Bindings) -> Controls {
    let mut controls = Controls::default();
    controls.bind("toy", ACTIONS, chosen);
    controls
}

/// Devices with these keys and buttons down, which went down in this frame if `fresh`.
fn devices(names: &[&str], fresh: bool) -> Devices {
    let held: HashSet<_> = names.iter().map(|name| Binding::parse(name).unwrap()).collect();
    let struck = if fresh { held.clone() } else { HashSet::new() };
    Devices { held, struck, ..Devices::default() }
}

fn pad(parts: &[(Pad, f32)]) -> Devices {
    let mut devices = Devices::default();
    parts.iter().for_each(|(part, value)| devices.pad[*part as usize] = *value);
    devices
}

#[test]
fn actions_follow_their_bindings_and_short_presses_reach_the_next_tick() {
    let mut controls = controls(&Bindings::new());
    controls.handle(devices(&["A", "Space"], true));
    assert!(controls.held(&LEFT) && controls.pressed(&FIRE) && !controls.held(&RIGHT));
    controls.handle(Devices::default());
    assert!(controls.held(&LEFT) && !controls.pressed(&LEFT), "no tick has seen it");
    assert_eq!(controls.direction(&LEFT, &RIGHT), -1);
    controls.ticked();
    assert!(!controls.held(&LEFT));
    controls.handle(Devices { wheel: -2, ..Devices::default() });
    controls.handle(Devices { wheel: -1, ..Devices::default() });
    assert_eq!(controls.count(&NEXT), 3);
}

#[test]
fn sticks_and_triggers_have_strength() {
    let mut controls = controls(&Bindings::new());
    controls.handle(pad(&[(Pad::LeftStickRight, 0.3), (Pad::RightTrigger, 0.9)]));
    assert_eq!(controls.axis(&LEFT, &RIGHT), 0.3);
    assert_eq!(controls.direction(&LEFT, &RIGHT), 0);
    assert!(controls.held(&FIRE) && controls.pressed(&FIRE) && controls.by_pad());
    controls.handle(pad(&[(Pad::RightTrigger, 0.9)]));
    assert!(controls.held(&FIRE) && !controls.pressed(&FIRE));
}

#[test]
fn press_that_led_here_is_not_meant_for_the_game() {
    let mut controls = controls(&Bindings::new());
    controls.handle(devices(&["Mouse:Left", "A"], true));
    controls.release_all();
    controls.handle(devices(&["Mouse:Left", "A"], false));
    assert!(!controls.held(&FIRE) && controls.held(&LEFT));
    controls.handle(devices(&[], false));
    controls.handle(devices(&["Mouse:Left"], true));
    assert!(controls.held(&FIRE));
    let press = [(Pad::RightTrigger, 1.0)];
    controls.handle(pad(&press));
    controls.release_all();
    controls.handle(pad(&press));
    assert!(!controls.held(&FIRE) && !controls.pressed(&FIRE));
    assert_eq!(controls.strength(&FIRE), 0.0);
}

#[test]
fn player_s_bindings_replace_the_game_s_and_hints_tell_them() {
    let mut chosen = Bindings::new();
    let toy = chosen.entry("toy".into()).or_default();
    toy.insert("fire".into(), vec!["Mouse:Right".into(), "nonsense".into()]);
    toy.insert("left".into(), vec![]);
    let mut controls = controls(&chosen);
    controls.handle(devices(&["Space", "A", "D"], true));
    assert!(!controls.held(&FIRE) && !controls.held(&LEFT) && controls.held(&RIGHT));
    controls.handle(devices(&["Mouse:Right"], true));
    assert!(controls.held(&FIRE));
    let hints = controls.hints();
    assert_eq!(hints[0], ("D, right".into(), "move".into()));
    assert_eq!(hints[1], ("right button".into(), "fire".into()));
    controls.handle(pad(&[(Pad::A, 1.0)]));
    assert_eq!(controls.hints()[0], ("left stick right".into(), "move".into()));
}

#[test]
fn default_bindings_have_names_and_no_game_takes_those_of_all() {
    let bound = |action: &Action| bindings_of(ALL_GAMES, action, &Bindings::new());
    let mut taken = HashSet::new();
    for action in ALL {
        let bindings = bound(action);
        assert_eq!(bindings.len(), action.keys.len(), "{}", action.id);
        assert!(bindings.into_iter().all(|it| taken.insert(it)), "{} conflicts", action.id);
    }
    assert!(taken.contains(&Binding::Key(KeyCode::Escape)));
    assert!(taken.contains(&Binding::Mouse(MouseButton::Middle)));
}

#[test]
fn words_name_what_is_on_the_glass() {
    const AIM: [Action; 2] = [
        Action::new("aim_up", "aim up", &["Pad:RightStickUp"]),
        Action::new("aim_left", "aim left", &["Pad:RightStickLeft"]),
    ];
    const SHOOT: Action = Action::new("shoot", "shoot", &["Space", "Pad:RightTrigger"]);
    const DUCK: Action = Action::new("duck", "duck and roll", &["C", "Pad:B"]).on_glass("duck");
    const NINE: Action = Action::new("nine", "ninth weapon", &["9", "Pad:DPadUp"]);
    const ALONE: &[Action] = &[SHOOT, DUCK, NINE];
    const AIMED: &[Action] = &[AIM[0], AIM[1], SHOOT, DUCK, NINE];
    let mut controls = Controls::default();
    controls.set_glass(true);
    controls.bind("alone", ALONE, &Bindings::default());
    assert_eq!(controls.words(&SHOOT), "\u{201c}shoot\u{201d}");
    controls.bind("aimed", AIMED, &Bindings::default());
    assert_eq!(controls.words(&SHOOT), "the right stick at its edge");
    assert_eq!(controls.keys(&[&SHOOT, &DUCK]), "the right stick at its edge \u{201c}duck\u{201d}");
    assert_eq!(controls.keys(&AIM.each_ref()), "the right stick");
    assert_eq!(controls.keys(&[&NINE]), "", "there is no button for it");
    assert_eq!(
        (controls.words(&NINE), controls.words(&MENU)),
        ("-".into(), "\u{201c}pause\u{201d}".into())
    );
    assert!(controls.hints().is_empty() && controls.help().is_empty());

    // A touch counts like a key, once, and leaves the aim to the sticks.
    let chat = Binding::parse("Enter").expect("a key");
    let touch = || Devices { touched: HashSet::from([chat]), ..pad(&[(Pad::LeftStickUp, 1.0)]) };
    controls.handle(touch());
    assert!(controls.pressed(&CHAT) && controls.by_pad());
    controls.handle(touch());
    assert!(!controls.pressed(&CHAT) && controls.held(&CHAT) && controls.by_pad());
}

#[test]
fn mouse_points_nowhere_before_it_has_moved_and_on_glass() {
    let mut controls = controls(&Bindings::new());
    assert_eq!(controls.point(Pos2::ZERO, 0.5), None, "the corner is where it begins");
    assert_eq!(controls.point(Pos2::new(40.0, 20.0), 0.5), Some(Pos2::new(20.0, 10.0)));
    assert_eq!(controls.point(Pos2::ZERO, 0.5), Some(Pos2::ZERO), "it went there");
    controls.set_glass(true);
    assert_eq!(controls.point(Pos2::new(40.0, 20.0), 0.5), None, "a menu was touched there");
    // Using the mouse for the first time takes over from the gamepad.
    controls.handle(pad(&[(Pad::LeftStickRight, 1.0)]));
    controls.handle(Devices::default());
    assert!(controls.by_pad());
    controls.handle(Devices { pointer: Some(Pos2::new(9.0, 9.0)), ..Devices::default() });
    assert!(!controls.by_pad());
}
