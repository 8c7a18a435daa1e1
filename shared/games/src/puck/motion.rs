//! Motion on a rink: the one function for both sides.
//!
//! Collisions are swept: within a tick everything goes straight on, and the puck goes from one
//! contact to the next, each at its own time. No speed and no tick rate leads it through anything.
//! Mallets are held by hands: they are heavy, what the puck does to them is absorbed; only where
//! it cannot give way, between mallet and wall or between mallets, it stops them.

use glam::Vec2;

use super::entities::{Command, Mallet, Puck};
use super::rink::{
    CIRCLE, Contact, HALF, MALLET, PUCK, keep_mallet, keep_puck, meet_circle, meet_wall,
};
use phaselock::time::Rates;

/// A mallet's greatest speed in metres a second: across its half in half a second. Arbitrary.
pub const MALLET_SPEED: f32 = 16.0;
/// Its greatest acceleration, in metres a second squared: at full speed in 70 ms, as a hand.
/// Arbitrary.
pub const MALLET_ACCELERATION: f32 = 240.0;
/// With how much of that it brakes where it is told to stop; less than all, for it may not
/// overshoot.
const BRAKING: f32 = 0.6;
/// How fast a mallet leaves the circle when the puck is put there.
const LEAVING_SPEED: f32 = 8.0;
/// The puck's greatest speed in metres a second: from goal to goal in 0.75 s. Arbitrary.
pub const PUCK_SPEED: f32 = 22.0;
/// The share of its speed into a wall with which it comes back; about that of a real table's
/// cushion.
pub const WALL_RESTITUTION: f32 = 0.88;
/// The same against mallets.
pub const MALLET_RESTITUTION: f32 = 0.8;
/// With what share of its speed it leaves a wall at least: along a corner it would bounce without
/// end.
const GRAZE: f32 = 0.06;
/// A mallet's mass over the puck's: what a strike hands on is m/(m + 1) of what an unmovable one
/// would.
const MASS_RATIO: f32 = 6.0;
/// Share of its speed that the puck loses in a second: air.
const DRAG: f32 = 0.18;
/// What it loses besides, in metres a second squared: the ice.
const FRICTION: f32 = 0.25;
/// Contacts that are followed in one tick. Where there would be more, the puck is jammed.
const CONTACTS_MAX: u32 = 16;
/// Seconds for which the puck lies in the goal.
const GOAL_SECS: f32 = 1.3;
/// Seconds for which it waits on the middle.
const HELD_SECS: f32 = 1.0;
/// Its speed at a face-off.
const SERVE_SPEED: f32 = 3.5;
/// Below that it hardly moves, in metres a second.
const STILL_SPEED: f32 = 0.4;
/// Seconds for which it may hardly move before there is a face-off.
pub const STILL_SECS: f32 = 3.0;

const _: () = {
    assert!(GOAL_SECS * Rates::TICK_HZ_MAX as f32 <= 255.0, "its field has 8 bits");
    assert!(HELD_SECS * Rates::TICK_HZ_MAX as f32 <= 255.0, "its field has 8 bits");
    assert!(STILL_SECS * Rates::TICK_HZ_MAX as f32 <= 511.0, "its field has 9 bits");
    assert!(MALLET_SPEED < PUCK_SPEED && PUCK_SPEED < 32.0, "speeds are sent below 32 m/s");
};

/// A mallet within a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hand {
    /// The sign of its half's x.
    pub side: f32,
    /// Where it was at the beginning of the tick.
    pub from: Vec2,
    /// Where it is.
    pub position: Vec2,
    /// Velocity in this tick, in metres a second.
    pub velocity: Vec2,
    /// True if the puck stopped it.
    pub blocked: bool,
}

impl Hand {
    /// One that stands, as far as is known.
    pub fn standing(mallet: &Mallet) -> Self {
        let (side, from) = (mallet.side(), mallet.position());
        Self { side, from, position: from, velocity: Vec2::ZERO, blocked: false }
    }

    /// To where nothing stops it, in one sum: how the puck fares may not show in its last digit.
    pub fn finish(&mut self, secs: f32) {
        self.position = self.from + self.velocity * secs;
    }

    /// The mallet as it is after the tick.
    pub fn hand_on(&self, mallet: &mut Mallet, command: &Command) {
        (mallet.goal_x, mallet.goal_y) = (command.x, command.y);
        (mallet.x, mallet.y) = self.position.into();
        (mallet.vx, mallet.vy) = self.velocity.into();
    }
}

/// Events on a rink in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Which of the mallets struck the puck last, if any did.
    pub struck: Option<usize>,
    /// Velocity of the puck before that.
    pub before: Vec2,
    /// True if the puck crossed a goal's line: 1 the left one's, 2 the right one's.
    pub goal: u8,
}

/// A count of ticks for so many seconds.
fn ticks(rates: Rates, secs: f32) -> u16 {
    (secs * rates.tick_hz as f32).round().max(1.0) as u16
}

/// Where a mallet goes in a tick: towards where it is told, within its limits, on its own half.
/// While the puck is `held` on the middle, it keeps out of the circle.
pub fn drive(rates: Rates, mallet: &Mallet, command: &Command, held: bool) -> Hand {
    let secs = rates.step_secs();
    let (side, from) = (mallet.side(), mallet.position());
    let way = keep_mallet(side, command.goal()) - from;
    let far = way.length();
    let braking = (2.0 * BRAKING * MALLET_ACCELERATION * far).sqrt();
    let speed = MALLET_SPEED.min(braking).min(far / secs);
    let wish = if far > 0.0 { way * (speed / far) } else { Vec2::ZERO };
    let change = (wish - mallet.velocity()).clamp_length_max(MALLET_ACCELERATION * secs);
    let mut velocity = (mallet.velocity() + change).clamp_length_max(MALLET_SPEED);
    if held {
        let (inside, outward) = (from.length(), from.normalize_or(Vec2::new(side, 0.0)));
        if inside < CIRCLE {
            velocity = outward * LEAVING_SPEED.min((CIRCLE - inside) / secs);
        } else {
            // No further in than the rim.
            let to = from + velocity * secs;
            let out = to.normalize_or(outward) * CIRCLE.max(to.length());
            velocity = ((out - from) / secs).clamp_length_max(MALLET_SPEED);
        }
    }
    // Not faster than that: what is kept is a projection onto a convex set.
    let to = keep_mallet(side, from + velocity * secs);
    Hand { side, from, position: from, velocity: (to - from) / secs, blocked: false }
}

/// A tick of a rink: the mallets move as their hands say, the puck among them. Without mallets it
/// is what becomes of an untouched puck.
pub fn slide(rates: Rates, puck: &mut Puck, hands: &mut [Hand]) -> Outcome {
    let secs = rates.step_secs();
    if puck.wait > 0 {
        hands.iter_mut().for_each(|hand| hand.finish(secs));
        wait(rates, puck);
        return Outcome::default();
    }
    let mut body = Body { position: puck.position(), velocity: puck.velocity() };
    let speed = body.velocity.length();
    let slower = (speed * (1.0 - DRAG * secs) - FRICTION * secs).max(0.0);
    body.velocity = if speed > 0.0 { body.velocity * (slower / speed) } else { Vec2::ZERO };
    body.leave(hands);
    let mut outcome = Outcome { before: body.velocity, ..Outcome::default() };
    let mut left = secs;
    let mut strikes = 0_u8;
    let mut contacts = 0;
    while contacts < CONTACTS_MAX {
        let Some((by, contact)) = body.next_contact(hands, left) else { break };
        body.pass(hands, contact.secs);
        left -= contact.secs;
        contacts += 1;
        match by {
            Some(by) => {
                body.strike(contact.normal, hands[by].velocity);
                strikes += 1;
                outcome.struck = Some(by);
            }
            None => body.bounce(contact.normal),
        }
    }
    if contacts == CONTACTS_MAX {
        if strikes > 0 {
            body.velocity = Vec2::ZERO;
        }
        body.jam(hands, left);
    } else {
        body.pass(&mut [], left);
    }
    hands.iter_mut().filter(|hand| !hand.blocked).for_each(|hand| hand.finish(secs));
    (puck.x, puck.y) = keep_puck(body.position).into();
    (puck.vx, puck.vy) = body.velocity.into();
    // However often it is struck in one tick, it is one strike.
    puck.hits = (puck.hits + strikes.min(1)) % 16;
    if puck.x.abs() > HALF.x + PUCK {
        puck.scored = if puck.x < 0.0 { 1 } else { 2 };
        puck.wait = ticks(rates, GOAL_SECS) as u8;
        puck.still = 0;
        outcome.goal = puck.scored;
        return outcome;
    }
    puck.still = if body.velocity.length() < STILL_SPEED { puck.still + 1 } else { 0 };
    if puck.still >= ticks(rates, STILL_SECS) {
        // Whoever lets it lie gives it away.
        position(rates, puck, if puck.x < 0.0 { 1 } else { -1 });
    }
    outcome
}

/// A tick of a puck that is not in play.
fn wait(rates: Rates, puck: &mut Puck) {
    puck.wait -= 1;
    if puck.scored == 0 {
        (puck.x, puck.y, puck.vx, puck.vy) = (0.0, 0.0, 0.0, 0.0);
        if puck.wait == 0 {
            // Towards the one side, a little aslant; another way each time, and the same for all.
            let aslant = f32::from(i16::from(puck.placed * 7 % 16) - 8) / 16.0;
            puck.vx = f32::from(puck.serve) * SERVE_SPEED;
            puck.vy = aslant * SERVE_SPEED;
        }
        return;
    }
    if puck.wait == 0 {
        // Who conceded has it.
        position(rates, puck, if puck.scored == 1 { -1 } else { 1 });
        return;
    }
    // It comes to rest in the net.
    let secs = rates.step_secs();
    let mut body = Body { position: puck.position(), velocity: puck.velocity() };
    body.velocity *= (1.0 - 8.0 * secs).max(0.0);
    let inward = if puck.scored == 1 { -1.0 } else { 1.0 };
    let mut left = secs;
    for _ in 0..4 {
        let Some(contact) = meet_wall(body.position, body.velocity, left) else { break };
        body.pass(&mut [], contact.secs);
        left -= contact.secs;
        body.velocity -= contact.normal * body.velocity.dot(contact.normal) * 1.3;
    }
    body.pass(&mut [], left);
    let mut to = keep_puck(body.position);
    if to.x * inward < HALF.x + PUCK {
        to.x = (HALF.x + PUCK) * inward;
        body.velocity.x = 0.0;
    }
    (puck.x, puck.y) = to.into();
    (puck.vx, puck.vy) = body.velocity.into();
}

/// Puts the puck on the middle, for a face-off towards a side: -1 left, 1 right.
pub fn position(rates: Rates, puck: &mut Puck, serve: i16) {
    *puck = Puck {
        rink: puck.rink,
        hits: puck.hits,
        wait: ticks(rates, HELD_SECS) as u8,
        serve,
        placed: (puck.placed + 1) % 16,
        ..Puck::default()
    };
}

/// The puck within a tick.
#[derive(Clone, Copy, Debug)]
struct Body {
    position: Vec2,
    velocity: Vec2,
}

/// How near the middles of puck and mallet are when they touch.
pub const TOUCH: f32 = MALLET + PUCK;

/// How near a mallet that presses on a jammed puck gets: a step of the grid less.
const BREATH: f32 = TOUCH + 1.0 / 512.0;

impl Body {
    /// What it meets next: a mallet, or a wall.
    fn next_contact(&self, hands: &[Hand], most: f32) -> Option<(Option<usize>, Contact)> {
        let wall = meet_wall(self.position, self.velocity, most);
        let mut first = wall.map(|contact| (None, contact));
        for (at, hand) in hands.iter().enumerate() {
            let contact =
                meet_circle(self.position - hand.position, self.velocity - hand.velocity, TOUCH);
            let Some(contact) = contact.filter(|contact| contact.secs <= most) else { continue };
            if first.is_none_or(|(_, sooner)| contact.secs < sooner.secs) {
                first = Some((Some(at), contact));
            }
        }
        first
    }

    /// Lets time pass in which nothing is met.
    fn pass(&mut self, hands: &mut [Hand], secs: f32) {
        self.position += self.velocity * secs;
        for hand in hands {
            hand.position += hand.velocity * secs;
        }
    }

    /// Off a wall.
    fn bounce(&mut self, normal: Vec2) {
        let (speed, along) = (self.velocity.length(), self.velocity.dot(normal));
        let aside = self.velocity - normal * along;
        let away = (-along * WALL_RESTITUTION).max(speed * GRAZE);
        self.velocity = (aside + normal * away).clamp_length_max(speed);
    }

    /// Off a mallet that moves; `normal` is away from it. The impulse of two bodies of which one
    /// is held.
    fn strike(&mut self, normal: Vec2, hand: Vec2) {
        const SHARE: f32 = (1.0 + MALLET_RESTITUTION) * MASS_RATIO / (MASS_RATIO + 1.0);
        const _: () = assert!(SHARE > 1.0, "or the mallet would go on into it");
        let along = self.velocity.dot(normal);
        let into = along - hand.dot(normal);
        let away = (along - SHARE * into).clamp(-PUCK_SPEED, PUCK_SPEED);
        // What is too fast loses what goes aside first: it must get away from the mallet.
        let aside = self.velocity - normal * along;
        let most = (PUCK_SPEED * PUCK_SPEED - away * away).max(0.0).sqrt();
        self.velocity = normal * away + aside.clamp_length_max(most);
    }

    /// Out of mallets that overlap it by rounding, as far as walls let it.
    fn leave(&mut self, hands: &[Hand]) {
        for hand in hands {
            let away = self.position - hand.position;
            if away.length_squared() < TOUCH * TOUCH {
                // Right above each other, towards the middle of the rink.
                let inward = Vec2::new(-1.0_f32.copysign(hand.position.x), 0.0);
                self.position = keep_puck(hand.position + away.normalize_or(inward) * TOUCH);
            }
        }
    }

    /// It cannot give way any more in this tick: it stands, and stops the mallets that press on
    /// it, which may still slide along it.
    fn jam(&self, hands: &mut [Hand], left: f32) {
        for hand in hands {
            let contact = meet_circle(self.position - hand.position, -hand.velocity, TOUCH);
            let Some(contact) = contact.filter(|contact| contact.secs < left) else { continue };
            hand.position += hand.velocity * contact.secs;
            // Along the tangent it only gets further away, unless a wall has it otherwise.
            hand.velocity -= contact.normal * hand.velocity.dot(contact.normal);
            let to = keep_mallet(hand.side, hand.position + hand.velocity * (left - contact.secs));
            if to.distance_squared(self.position) >= hand.position.distance_squared(self.position) {
                hand.position = to;
            } else {
                hand.velocity = Vec2::ZERO;
            }
            // A breath away, or rounding would lead it in, a little in each tick.
            let away = hand.position - self.position;
            if away.length_squared() < BREATH * BREATH {
                let position =
                    self.position + away.normalize_or(Vec2::new(hand.side, 0.0)) * BREATH;
                hand.position = keep_mallet(hand.side, position);
            }
            hand.blocked = true;
        }
    }
}
