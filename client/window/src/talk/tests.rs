//! Tests of a room's chat in virtual time.

use phaselock::client::Notice;
use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock_testing::{Sim, room_config};

use super::Talk;
use phaselock_ui::prelude::*;
use phaselock_ui::view::GameView;
use phaselock_views::{PuckScreen, SkirmishScreen};

/// Marks by the first of four players, as seen by the others: for each, whether it is on the same
/// side, and the number of marks. Also the number of refusals reported to the first player.
fn marks_seen<V: GameView>(has_side: bool) -> (Vec<(bool, usize)>, usize) {
    let mut sim: Sim<V::Game> = Sim::with(room_config(5, 0));
    for _ in 0..4 {
        sim.join_bot(LinkConfig::delayed(20, 2));
    }
    sim.run(2.0);
    let side = |sim: &Sim<V::Game>, client: usize| {
        let own = sim.clients[client].core();
        (V::Game::KIT.sides.of)(&own.newest(), own.common().player())
    };
    let first = side(&sim, 0);
    assert_eq!(first.is_some(), has_side);
    Talk::point(&mut sim.clients[0].session, Vec2::new(3.0, 4.0), None, has_side)
        .expect("it is connected");
    sim.run(1.0);
    let mut count = |client: usize, wanted: fn(&Notice) -> bool| {
        let is_ally = side(&sim, client) == first;
        let notices = std::iter::from_fn(|| sim.clients[client].session.poll_notice());
        (is_ally, notices.filter(wanted).count())
    };
    let mark = |it: &Notice| matches!(it, Notice::Mark { mark, .. } if mark.position().x == 3.0);
    let seen = (1..4).map(|client| count(client, mark)).collect();
    (seen, count(0, |it| matches!(it, Notice::Refused { .. })).1)
}

#[test]
fn marks_are_seen_by_all_where_there_are_no_sides() {
    assert_eq!(marks_seen::<SkirmishScreen>(false), (vec![(true, 1); 3], 0));
}

#[test]
fn marks_of_one_with_a_side_are_for_that_side_alone() {
    let (seen, refused) = marks_seen::<PuckScreen>(true);
    assert_eq!(refused, 0);
    let allies = seen.iter().filter(|(is_ally, _)| *is_ally).count();
    assert!((1..seen.len()).contains(&allies), "{seen:?}");
    for (is_ally, marks) in seen {
        assert_eq!(marks, usize::from(is_ally));
    }
}
