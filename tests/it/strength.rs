//! Bots in three strengths: the better ones win, in each game.

use phaselock::fields::{Holds, Record};
use phaselock::game::{Game, Strength};
use phaselock::ids::PlayerId;
use phaselock_games::asteroids::{self, Asteroids};
use phaselock_games::platformer::{self, Platformer};
use phaselock_games::puck::{self, ShufflePuck};
use phaselock_games::race::{self, Race};
use phaselock_games::skirmish::{self, Skirmish};
use phaselock_testing::bots::BotWorld;

/// Total scores of bots of two strengths in a mixed crowd, over some seeds.
fn scored<G: Game, S: Record>(
    [strong, weak]: [Strength; 2],
    players: u16,
    secs: u64,
    score: fn(&S) -> f64,
) -> [f64; 2]
where
    G::Entity: Holds<S>,
{
    let mut sums = [0.0; 2];
    for seed in 1..=3 {
        let mut bots = BotWorld::<G>::new(seed, players, false);
        let is_strong = |player: PlayerId| (u64::from(player.0) + seed).is_multiple_of(2);
        for player in (0..players).map(PlayerId) {
            bots.set_strength(player, if is_strong(player) { strong } else { weak });
        }
        for _ in 0..secs * 60 {
            bots.think();
            bots.step();
        }
        for slot in bots.world.entities.records::<S>() {
            let Some(owner) = slot.owner else { continue };
            sums[usize::from(!is_strong(owner))] += score(&slot.entity);
        }
    }
    sums
}

/// Asserts that hard bots beat normal ones, and normal ones easy ones, by at least a factor.
fn check<G: Game, S: Record>(factor: f64, players: u16, secs: u64, score: fn(&S) -> f64)
where
    G::Entity: Holds<S>,
{
    for pair in [[Strength::Normal, Strength::Easy], [Strength::Hard, Strength::Normal]] {
        let [better, worse] = scored::<G, S>(pair, players, secs, score);
        assert!(better > factor * worse, "{}: {pair:?} score {better} to {worse}", G::NAME);
    }
}

#[test]
#[ignore = "slow: .ci/more runs it"]
fn better_bots_win_skirmishes() {
    check::<Skirmish, skirmish::Score>(1.05, 8, 70, |score| f64::from(score.frags));
}

#[test]
#[ignore = "slow: .ci/more runs it"]
fn better_bots_win_in_asteroids() {
    check::<Asteroids, asteroids::Score>(1.05, 8, 70, |score| f64::from(score.points));
}

#[test]
fn better_bots_win_races() {
    // All cars are equally fast, and a few percent of the way decide.
    check::<Race, race::Score>(1.02, 8, 70, |score| f64::from(score.gates));
}

#[test]
fn better_bots_win_in_puck() {
    // One against one: the first player of a rink is on the left.
    check::<ShufflePuck, puck::Score>(1.05, 2, 100, |score| f64::from(score.goals));
}

#[test]
fn better_bots_win_in_the_platformer() {
    check::<Platformer, platformer::Score>(1.05, 8, 60, |score| f64::from(score.progress));
}
