//! The bot.

use glam::Vec2;
use phaselock::game::Entities;
use phaselock::ids::PlayerId;
use phaselock::random::Random;
use phaselock::time::Tick;

use crate::{Role, Run, Runner, Tag};

/// Chases the nearest runner, or runs away from the one who is it.
#[derive(Debug)]
pub(crate) struct Bot;

impl phaselock::game::Bot<Tag> for Bot {
    fn input(
        &mut self,
        game: &Tag,
        _tick: Tick,
        seen: &Entities<Runner>,
        player: PlayerId,
        random: &mut Random,
    ) -> Run {
        let Some(own) = seen.owned_by(player).next() else { return Run::default() };
        let me = own.entity;
        let others = seen.iter().filter(|slot| slot.id != own.id).map(|slot| slot.entity);
        let distance = |other: &Runner| other.position.distance_squared(me.position);
        let way = if me.role == Role::It {
            let prey = others.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            prey.map_or(Vec2::ZERO, |prey| prey.position - me.position)
        } else {
            let hunter =
                others.filter(|other| other.role == Role::It).find(|it| distance(it) < 64.0);
            // Away from the hunter and the edges; wandering if there is no danger.
            let about = Vec2::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0)) + me.velocity;
            let away = hunter.map_or(about, |hunter| me.position - hunter.position);
            away.normalize_or_zero() - me.position / game.half() * 0.8
        };
        Run { way: way.normalize_or_zero() }
    }
}
