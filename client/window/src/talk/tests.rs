//! The talk of a room in virtual time.

use phaselock::client::Notice;
use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock_testing::{Sim, room_config};

use super::Talk;
use crate::prelude::*;
use crate::view::GameView;
use crate::views::{PuckScreen, SkirmishScreen};

/// Marks that the second of two players sees when the first points at a place, and refusals that
/// the first is told of.
fn marks_seen<V: GameView>(has_side: bool) -> (usize, usize) {
    let mut sim: Sim<V::Game> = Sim::with(room_config(5, 0));
    sim.join_bot(LinkConfig::delayed(20, 2));
    sim.join_bot(LinkConfig::delayed(20, 2));
    sim.run(2.0);
    let own = sim.clients[0].core();
    let side = (V::Game::KIT.sides.of)(&own.newest(), own.common().player());
    assert_eq!(side.is_some(), has_side);
    Talk::point(&mut sim.clients[0].session, Vec2::new(3.0, 4.0), None, has_side)
        .expect("it is connected");
    sim.run(1.0);
    let mut count = |client: usize, wanted: fn(&Notice) -> bool| {
        let notices = std::iter::from_fn(|| sim.clients[client].session.poll_notice());
        notices.filter(wanted).count()
    };
    let seen = count(1, |it| matches!(it, Notice::Mark { mark, .. } if mark.position().x == 3.0));
    (seen, count(0, |it| matches!(it, Notice::Refused { .. })))
}

#[test]
fn marks_are_seen_by_all_where_there_are_no_sides() {
    assert_eq!(marks_seen::<SkirmishScreen>(false), (1, 0));
}

#[test]
fn marks_of_one_with_a_side_are_not_refused() {
    assert_eq!(marks_seen::<PuckScreen>(true).1, 0);
}
