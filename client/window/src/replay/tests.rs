//! Tests of exports, and the recordings that these and the player's tests play.

use std::cell::Cell;
use std::rc::Rc;

use phaselock::client::SessionConfig;
use phaselock::game::Game;
use phaselock::server::{AnyRoom, Command, RecordConfig, Room, RoomConfig, RoomSettings};
use phaselock::time::{LocalTime, Micros, Tick};
use phaselock_testing::{file_of, record_until};

use super::film::tests::{Counter, Taken, picture};
use super::player::Player;

/// A player of 20 s of a race with bots, with marks after 5, 10 and 11 s, and its clock.
pub(super) fn player() -> (Player, Rc<Cell<LocalTime>>) {
    player_of::<phaselock_games::race::Race>(2)
}

pub(super) fn player_of<G: Game>(bots: u16) -> (Player, Rc<Cell<LocalTime>>) {
    let record = Some(RecordConfig::default());
    let settings = RoomSettings { bots, ..RoomSettings::default() };
    let config = RoomConfig { record, settings, ..RoomConfig::default() };
    let mut room = Room::<G>::new(config);
    let pieces = record_until(&mut room, Tick(1200), |room| {
        if [300, 600, 660].contains(&room.tick().0) {
            let mark = Command::Mark { text: "here".into() };
            room.handle_command(room.next_timeout(), mark).expect("it is recorded");
        }
    });
    player_for(file_of(&pieces))
}

/// A player of a file, and its clock.
pub(super) fn player_for(file: Vec<u8>) -> (Player, Rc<Cell<LocalTime>>) {
    let time = Rc::new(Cell::new(LocalTime(0)));
    let clock = Rc::clone(&time);
    let config = SessionConfig::new(phaselock_games::all(), "Watcher");
    let player = Player::open(file.into(), config, Box::new(move || clock.get()));
    (player.expect("it can be played"), time)
}

/// Lets frames of 20 ms pass.
pub(super) fn run(player: &mut Player, time: &Cell<LocalTime>, frames: u32) {
    for _ in 0..frames {
        time.set(time.get() + Micros::from_ms(20));
        player.advance();
    }
}

#[test]
fn export_takes_every_picture_at_its_own_time_however_slow_the_machine_is() {
    let (mut player, time) = player();
    let cut = player.cut(Some(Micros::from_ms(5000)), Some(Micros::from_ms(7000)), 20);
    let taken = Taken::default();
    let counter = Counter(taken.clone());
    player.begin_film(cut, Box::new(move |_| Ok(Box::new(counter)))).expect("it fits");
    let mut ticks = Vec::new();
    let ended = loop {
        // Frames of any length; some are not painted.
        run(&mut player, &time, 1 + ticks.len() as u32 % 3);
        ticks.push(player.playback.tick().0);
        if let Some(ended) = player.film(picture(), std::iter::empty()) {
            break ended;
        }
    };
    assert_eq!(ended, Ok("memory".to_owned()));
    assert_eq!(*taken.borrow(), (40, 2 * 48_000));
    let from = cut.from.0;
    assert!((0..).zip(&ticks).all(|(n, tick)| tick.abs_diff(from + 3 * n) <= 1), "{ticks:?}");
    assert!(player.film_secs().is_none() && player.paused);
}

#[test]
fn export_of_everything_ends_with_the_recording_and_a_failed_one_changes_nothing() {
    let (mut player, time) = player();
    player.move_to(Tick(600));
    let all = player.cut(None, None, 10);
    let failed = player.begin_film(all, Box::new(|_| Err("the disk is full".into())));
    assert_eq!(failed, Err("the disk is full".to_owned()));
    assert!(player.playback.tick().0.abs_diff(600) <= 1 && player.film_secs().is_none());

    let counter = Counter(Taken::default());
    player.begin_film(all, Box::new(move |_| Ok(Box::new(counter)))).expect("it fits");
    let mut ticks = Vec::new();
    while player.film_secs().is_some() {
        run(&mut player, &time, 1);
        ticks.push(player.playback.tick().0);
        player.film(picture(), std::iter::empty());
    }
    // No picture is shown twice, from a quarter of a second in to the end.
    assert!(ticks.is_sorted_by(|a, b| a < b), "{ticks:?}");
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    assert!(first <= 15 && last >= all.to.0 - 6, "{first} to {last}");
}

#[test]
fn clip_lies_between_two_presses_in_either_order() {
    let (mut player, _) = player();
    player.move_to(Tick(600));
    player.mark_clip();
    assert_eq!(player.clip, None, "no clips on this machine");
    player.allow_films();
    player.mark_clip();
    assert!(player.clip.is_some() && player.take_cut().is_none());
    player.move_to(Tick(300));
    player.mark_clip();
    let cut = player.take_cut().expect("both ends are known");
    assert!(cut.from.0.abs_diff(300) <= 1 && cut.to.0.abs_diff(600) <= 1, "{cut:?}");
    assert_eq!(player.clip, None);
}
