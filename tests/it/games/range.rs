//! A shooting range: Skirmish in which each player has a fixed start and course, and none dies
//! unless the map is [`FRAIL`].

use std::cell::RefCell;
use std::rc::Rc;

use glam::Vec2;
use phaselock::client::{Client, Picture};
use phaselock::game::{Ahead, Coding, Entities, Game, Inputs, Kit, Subticks, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::physics::turns;
use phaselock::time::{Rates, Tick};
use phaselock_games::skirmish::{Command, HEALTH, Piece, Player, Skirmish, players};

use phaselock_testing::Press;

/// Position of the first player: at the lower end of a free field, with a box to its right.
pub(crate) const STAND: Vec2 = Vec2::new(0.0, 11.5);
/// Start of the second: straight up from there.
pub(crate) const FIELD: Vec2 = Vec2::new(0.0, 7.2);
/// Start of the third: to the right, below the shade of the box.
pub(crate) const CORNER: Vec2 = Vec2::new(11.0, 14.4);

/// Seed of the map on which one hit kills.
pub(crate) const FRAIL: u64 = 0xf4a1;

/// The rules, and the health that players have in each tick.
#[derive(Debug)]
pub(crate) struct Range(Skirmish, u8);

impl Game for Range {
    const NAME: &'static str = "range";
    const RULES_VERSION: u32 = 1;
    const SUBTICKS: Subticks = Skirmish::SUBTICKS;
    const KIT: Kit<Self> = Kit {
        presentation: Skirmish::KIT.presentation,
        coding: Coding { extrapolate: |game, known| game.0.extrapolate(known), ..Coding::GENERAL },
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = <Skirmish as Game>::Memory;

    fn new(rates: Rates, seed: u64) -> Self {
        Self(Skirmish::new(rates, seed), if seed == FRAIL { 1 } else { HEALTH })
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let position = [STAND, FIELD, CORNER][usize::from(player.0) % 3];
        let entity = Player { x: position.x, y: position.y, health: self.1, ..Player::default() };
        world.spawn(Some(player), Piece::Player(entity));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.0.advance(world, inputs);
        for slot in world.entities.iter_mut() {
            if let Piece::Player(player) = &mut slot.entity
                && player.health > 0
            {
                player.health = self.1;
            }
        }
    }

    fn predict(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        self.0.predict(entities, own, command, ahead);
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        Skirmish::repeat(last, missed)
    }

    fn needs_view(command: &Command) -> bool {
        Skirmish::needs_view(command)
    }

    fn begins_action(before: &Command, now: &Command) -> bool {
        Skirmish::begins_action(before, now)
    }
}

/// A client's last frame, for the code that makes its inputs.
pub(crate) type Screen = Rc<RefCell<Option<Picture<Range>>>>;

/// A player on a screen.
pub(crate) fn on_screen(screen: &Screen, of: PlayerId) -> Option<Vec2> {
    let screen = screen.borrow();
    let shown = players(&screen.as_ref()?.entities).find(|slot| slot.owner == Some(of));
    shown.map(|slot| Vec2::new(slot.entity.x, slot.entity.y))
}

/// Stands still, holds the trigger and aims at a player where the screen shows it.
pub(crate) fn perfect_aim(screen: &Screen, at: PlayerId) -> Press<Range> {
    let screen = Rc::clone(screen);
    Box::new(move |_: &Client<Range>, _: Tick| {
        let aim = on_screen(&screen, at).map(|position| turns(position - STAND));
        Command { aim: aim.unwrap_or(0.0), fire: aim.is_some(), ..Command::default() }
    })
}

/// Runs to and fro across the field, half of this many ticks each way.
pub(crate) fn strafe(period: u64) -> Press<Range> {
    Box::new(move |client: &Client<Range>, tick: Tick| {
        // Back towards the middle when it has gone far.
        let own = players(&client.newest()).find(|slot| slot.owner == Some(client.player()));
        let x = own.map_or(0.0, |slot| slot.entity.x);
        let goes_right = if x.abs() > 4.5 { x < 0.0 } else { tick.0 % period < period / 2 };
        Command { right: if goes_right { 1 } else { -1 }, ..Command::default() }
    })
}
