//! Motion on a rink: the one function for both sides.
//!
//! Collisions are swept: within a tick everything moves straight, and the puck goes from one
//! contact to the next, each at its own time, so it passes through nothing. Hands hold the mallets,
//! which absorb the puck's push; only a puck that cannot give way, between mallet and wall or
//! between mallets, stops them.

use glam::Vec2;

use super::entities::{Command, Mallet, Puck};
use super::rink::{
    CIRCLE, Contact, GOAL, HALF, MALLET, PUCK, keep_mallet, keep_puck, meet_circle, meet_wall,
};
use phaselock::time::Rates;

/// A mallet's maximum speed in metres per second: across its half in half a second. Arbitrary.
pub const MALLET_SPEED: f32 = 16.0;
/// Its maximum acceleration, in metres per second squared: full speed in 70 ms, like a hand.
/// Arbitrary.
pub const MALLET_ACCELERATION: f32 = 240.0;
/// Fraction of that when braking; less than 1, so that it never overshoots.
const BRAKING: f32 = 0.6;
/// Speed at which a mallet leaves the circle when the puck is placed there, in metres per second.
const LEAVING_SPEED: f32 = 8.0;
/// The puck's maximum speed in metres per second: from goal to goal in 0.75 s. Arbitrary.
pub const PUCK_SPEED: f32 = 22.0;
/// Fraction of its speed into a wall with which it bounces back: about that of a real cushion.
pub const WALL_RESTITUTION: f32 = 0.88;
/// Fraction of its speed into a mallet with which it bounces back.
pub const MALLET_RESTITUTION: f32 = 0.8;
/// Minimum fraction of its speed with which it leaves a wall; otherwise it would bounce along a
/// corner without end.
const GRAZE: f32 = 0.06;
/// A mallet's mass divided by the puck's, m: a strike gives m/(m + 1) of what an immovable one
/// would.
const MASS_RATIO: f32 = 6.0;
/// Fraction of its speed that the puck loses to the air per second.
const DRAG: f32 = 0.18;
/// Deceleration by the ice, in metres per second squared.
const FRICTION: f32 = 0.25;
/// Maximum number of contacts in one tick; a puck with more is jammed.
const CONTACTS_MAX: u32 = 16;
/// Seconds for which the puck lies in the goal.
const GOAL_SECS: f32 = 1.3;
/// Seconds for which it waits at the centre.
const HELD_SECS: f32 = 1.0;
/// Speed of the puck at a face-off, in metres per second.
const SERVE_SPEED: f32 = 3.5;
/// Speed below which it hardly moves, in metres per second.
const STILL_SPEED: f32 = 0.4;
/// Seconds for which it may hardly move before a face-off.
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
    /// Sign of its half's x: -1 left, 1 right.
    pub side: f32,
    /// Position at the start of the tick.
    pub from: Vec2,
    /// Current position.
    pub position: Vec2,
    /// Velocity in this tick, in metres per second.
    pub velocity: Vec2,
    /// Whether the puck stopped it.
    pub blocked: bool,
}

impl Hand {
    /// Creates a mallet that is assumed to stand still.
    pub fn standing(mallet: &Mallet) -> Self {
        let (side, from) = (mallet.side(), mallet.position());
        Self { side, from, position: from, velocity: Vec2::ZERO, blocked: false }
    }

    /// Moves it to its end in one sum, so that the puck's contacts do not affect its rounding.
    pub fn finish(&mut self, secs: f32) {
        self.position = self.from + self.velocity * secs;
    }

    /// Writes it to the mallet after the tick.
    pub fn hand_on(&self, mallet: &mut Mallet, command: &Command) {
        (mallet.goal_x, mallet.goal_y) = (command.x, command.y);
        (mallet.x, mallet.y) = self.position.into();
        (mallet.vx, mallet.vy) = self.velocity.into();
    }
}

/// What happened on a rink in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlideOutcome {
    /// Index of the mallet that struck the puck last.
    pub struck: Option<usize>,
    /// Velocity of the puck before that.
    pub before: Vec2,
    /// The goal that the puck went into: 0 none, 1 the left one, 2 the right one.
    pub goal: u8,
}

/// Converts seconds to ticks, rounded: 1 or more.
fn ticks(rates: Rates, secs: f32) -> u16 {
    (secs * rates.tick_hz as f32).round().max(1.0) as u16
}

/// Returns the ticks since a puck went into a goal, if it lies in one, and those until its
/// face-off, unless it is in play.
pub(super) fn rest(rates: Rates, puck: &Puck) -> (Option<u64>, Option<u64>) {
    let (lies, held) = (ticks(rates, GOAL_SECS), ticks(rates, HELD_SECS));
    let wait = u64::from(puck.wait);
    match (puck.is_in_play(), puck.scored) {
        (true, _) => (None, None),
        (false, 0) => (None, Some(wait)),
        (false, _) => (Some(u64::from(lies).saturating_sub(wait)), Some(wait + u64::from(held))),
    }
}

/// Runs a tick of a mallet: it moves towards its target within its limits, in its own half, and
/// stays out of the circle while the puck is `held` at the centre.
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
    // A projection onto a convex set makes it no faster.
    let to = keep_mallet(side, from + velocity * secs);
    Hand { side, from, position: from, velocity: (to - from) / secs, blocked: false }
}

/// Runs a tick of a rink: moves the mallets by their hands, and the puck among them; without
/// mallets, an untouched puck.
pub fn slide(rates: Rates, puck: &mut Puck, hands: &mut [Hand]) -> SlideOutcome {
    let secs = rates.step_secs();
    if puck.wait > 0 {
        hands.iter_mut().for_each(|hand| hand.finish(secs));
        wait(rates, puck);
        return SlideOutcome::default();
    }
    let mut body = Body { position: puck.position(), velocity: puck.velocity() };
    let speed = body.velocity.length();
    let slower = (speed * (1.0 - DRAG * secs) - FRICTION * secs).max(0.0);
    body.velocity = if speed > 0.0 { body.velocity * (slower / speed) } else { Vec2::ZERO };
    body.leave(hands);
    let mut outcome = SlideOutcome { before: body.velocity, ..SlideOutcome::default() };
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
    // Several strikes in one tick count as one.
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
        // The side that lets it lie loses it.
        position(rates, puck, if puck.x < 0.0 { 1 } else { -1 });
    }
    outcome
}

/// Runs a tick of a puck that is not in play.
fn wait(rates: Rates, puck: &mut Puck) {
    puck.wait -= 1;
    if puck.scored == 0 {
        (puck.x, puck.y, puck.vx, puck.vy) = (0.0, 0.0, 0.0, 0.0);
        if puck.wait == 0 {
            // Towards one side at a slight angle, which varies but is equal on all machines.
            let aslant = f32::from(i16::from(puck.placed * 7 % 16) - 8) / 16.0;
            puck.vx = f32::from(puck.serve) * SERVE_SPEED;
            puck.vy = aslant * SERVE_SPEED;
        }
        return;
    }
    if puck.wait == 0 {
        // Towards the side that conceded.
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

/// Places the puck at the centre, for a face-off towards a side: -1 left, 1 right.
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

/// Distance between the centres of puck and mallet when they touch, in metres.
pub const TOUCH: f32 = MALLET + PUCK;

/// Distance that a mallet keeps from a jammed puck, in metres: one grid step more.
const BREATH: f32 = TOUCH + 1.0 / 512.0;

impl Body {
    /// Returns its next contact, with a mallet (by index) or with a wall.
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

    /// Moves everything straight ahead for a time without contacts.
    fn pass(&mut self, hands: &mut [Hand], secs: f32) {
        self.position += self.velocity * secs;
        for hand in hands {
            hand.position += hand.velocity * secs;
        }
    }

    /// Bounces off a wall.
    fn bounce(&mut self, normal: Vec2) {
        let (speed, along) = (self.velocity.length(), self.velocity.dot(normal));
        let aside = self.velocity - normal * along;
        let away = (-along * WALL_RESTITUTION).max(speed * GRAZE);
        self.velocity = (aside + normal * away).clamp_length_max(speed);
    }

    /// Bounces off a moving mallet; `normal` points away from it. The impulse is that of two
    /// bodies, one of which is held.
    fn strike(&mut self, normal: Vec2, hand: Vec2) {
        const SHARE: f32 = (1.0 + MALLET_RESTITUTION) * MASS_RATIO / (MASS_RATIO + 1.0);
        const _: () = assert!(SHARE > 1.0, "otherwise the mallet would move on into the puck");
        let along = self.velocity.dot(normal);
        let into = along - hand.dot(normal);
        let away = (along - SHARE * into).clamp(-PUCK_SPEED, PUCK_SPEED);
        // A puck that is too fast loses its sideways speed first: it must get off the mallet.
        let aside = self.velocity - normal * along;
        let most = (PUCK_SPEED * PUCK_SPEED - away * away).max(0.0).sqrt();
        self.velocity = normal * away + aside.clamp_length_max(most);
    }

    /// Moves it out of mallets that overlap it by rounding, as far as walls allow.
    fn leave(&mut self, hands: &[Hand]) {
        for hand in hands {
            let away = self.position - hand.position;
            if away.length_squared() < TOUCH * TOUCH {
                // From an equal position, towards the centre of the rink.
                let inward = Vec2::new(-1.0_f32.copysign(hand.position.x), 0.0);
                self.position = keep_puck(hand.position + away.normalize_or(inward) * TOUCH);
            }
        }
    }

    /// Stops a jammed puck, and the mallets that press on it; they may slide along it.
    fn jam(&self, hands: &mut [Hand], left: f32) {
        for hand in hands {
            let contact = meet_circle(self.position - hand.position, -hand.velocity, TOUCH);
            let Some(contact) = contact.filter(|contact| contact.secs < left) else { continue };
            hand.position += hand.velocity * contact.secs;
            // Along the tangent it moves away, unless a wall is in the way.
            hand.velocity -= contact.normal * hand.velocity.dot(contact.normal);
            let to = keep_mallet(hand.side, hand.position + hand.velocity * (left - contact.secs));
            if to.distance_squared(self.position) >= hand.position.distance_squared(self.position) {
                hand.position = to;
            } else {
                hand.velocity = Vec2::ZERO;
            }
            // At a distance, so that rounding does not let it in; a little in each tick.
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

/// Minimum speed of a shot, in metres per second.
const SHOT_SPEED: f32 = 4.0;
/// Seconds within which a shot would have reached the goal.
const SOON_SECS: f32 = 1.0;

/// Whether a side (-1 left, 1 right) that has just touched the puck saved a shot: with its velocity
/// `before`, the puck would have gone straight into the goal.
pub(super) fn saves(rates: Rates, side: f32, puck: &Puck, before: Vec2) -> bool {
    let towards = before.x * side;
    if before.length() < SHOT_SPEED || towards <= 0.0 || puck.velocity().x * side > 0.0 {
        return false;
    }
    // It was struck within a tick of its current position.
    let secs = (HALF.x - puck.x * side) / towards;
    let y = puck.y + before.y * secs;
    secs < SOON_SECS + rates.step_secs() && y.abs() < GOAL
}
