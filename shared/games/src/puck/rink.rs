//! The rink: a rounded rectangle with a goal at each end, and contacts with its walls.
//!
//! All walls are given for the *centre* of the puck: the real ones moved inwards by its radius. So
//! a circle against walls becomes a point against lines and arcs, and the time to each contact
//! needs one division or one square root.

use glam::Vec2;

/// Half the size of the ice, in metres: about the proportions of a table, in a size that fits a
/// window.
pub const HALF: Vec2 = Vec2::new(8.0, 4.2);
/// Radius of the corners. Arbitrary, but more than a mallet's, so that mallets reach everywhere.
pub const CORNER: f32 = 1.5;
/// Half of a goal's width.
pub const GOAL: f32 = 1.6;
/// Depth of a goal.
pub const DEPTH: f32 = 1.0;
/// Radius of the posts: the rounded ends of the walls at the goals.
pub const POST: f32 = 0.15;
/// The puck's radius.
pub const PUCK: f32 = 0.36;
/// A mallet's radius.
pub const MALLET: f32 = 0.6;
/// Radius of the face-off circle, which mallets stay out of while the puck waits at the centre.
pub const CIRCLE: f32 = 1.6;

/// Distance kept from walls: two grid steps, so that rounding never enters a wall.
const SKIN: f32 = 1.0 / 256.0;
/// Overlap of adjacent pieces of the wall, so that nothing slips between them.
const SEAM: f32 = 1e-3;

/// Centre of the post in the quarter with positive coordinates.
pub const POST_AT: Vec2 = Vec2::new(HALF.x + POST, GOAL + POST);

const _: () = {
    assert!(CORNER > MALLET && MALLET > PUCK && GOAL > 2.0 * PUCK);
    assert!(GOAL + POST < HALF.y - CORNER, "the goal is in the straight part of the wall");
    assert!(DEPTH > 2.0 * PUCK, "the puck fits into the goal");
    assert!(HALF.x + DEPTH < 16.0, "positions are sent within 16 m");
};

/// Returns the nearest position at which a mallet of a side (-1 left, 1 right) fits: in its own
/// half, clear of walls. Such positions form a convex set, so a straight path between two of them
/// is clear, too.
pub fn keep_mallet(side: f32, position: Vec2) -> Vec2 {
    let reach = HALF - (MALLET + SKIN);
    let x = (position.x * side).clamp(MALLET + SKIN, reach.x);
    let kept = round_off(Vec2::new(x, position.y.clamp(-reach.y, reach.y)), MALLET + SKIN);
    Vec2::new(kept.x * side, kept.y)
}

/// Moves a point within the rectangle into its rounded corners, minus a rim.
fn round_off(position: Vec2, rim: f32) -> Vec2 {
    let signs = Vec2::new(1.0_f32.copysign(position.x), 1.0_f32.copysign(position.y));
    let over = position * signs - (HALF - CORNER);
    let radius = CORNER - rim;
    if over.x <= 0.0 || over.y <= 0.0 || over.length_squared() <= radius * radius {
        return position;
    }
    (HALF - CORNER + over * (radius / over.length())) * signs
}

/// Returns approximately the nearest position at which the puck overlaps no wall: on the ice or in
/// a goal.
pub fn keep_puck(position: Vec2) -> Vec2 {
    let rim = PUCK + SKIN;
    let signs = Vec2::new(1.0_f32.copysign(position.x), 1.0_f32.copysign(position.y));
    let at = position * signs;
    let in_mouth = at.x > HALF.x - rim && at.y < POST_AT.y;
    if !in_mouth {
        let reach = HALF - rim;
        return round_off(at.min(reach), rim) * signs;
    }
    let kept = if at.x >= POST_AT.x {
        at.min(Vec2::new(HALF.x + DEPTH - rim, GOAL - rim))
    } else {
        let from_post = at - POST_AT;
        let near = POST + rim;
        if from_post.length_squared() < near * near {
            POST_AT + from_post * (near / from_post.length().max(1e-6))
        } else {
            at
        }
    };
    kept * signs
}

/// A contact of a moving puck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Seconds until then, 0 or more.
    pub secs: f32,
    /// Unit vector away from what it meets.
    pub normal: Vec2,
}

/// Returns the earlier of two contacts.
pub fn sooner(a: Option<Contact>, b: Option<Contact>) -> Option<Contact> {
    match (a, b) {
        (Some(a), Some(b)) if b.secs < a.secs => Some(b),
        (a, b) => a.or(b),
    }
}

/// Returns the first contact of a puck with a wall, within `most` seconds.
pub fn meet_wall(from: Vec2, velocity: Vec2, most: f32) -> Option<Contact> {
    let rim = PUCK + SKIN;
    // Far from all walls.
    let reach = from.abs() + velocity.abs() * most;
    if reach.x < HALF.x - CORNER && reach.y < HALF.y - CORNER {
        return None;
    }
    let mut first = None;
    // Relative to its corner, each quarter is alike.
    for signs in QUARTERS {
        let (at, going) = (from * signs, velocity * signs);
        let mut meet = |contact: Option<Contact>| {
            let contact = contact.filter(|contact| contact.secs <= most);
            let turned =
                contact.map(|contact| Contact { normal: contact.normal * signs, ..contact });
            first = sooner(first, turned);
        };
        // The side, the end next to the goal, the goal's side and its back.
        meet(meet_line(at, going, HALF.y - rim, (-SEAM, HALF.x - CORNER + SEAM)));
        let turned = |contact: Option<Contact>| {
            contact.map(|contact| Contact { normal: contact.normal.yx(), ..contact })
        };
        let (at_yx, going_yx) = (at.yx(), going.yx());
        let beside = (POST_AT.y - SEAM, HALF.y - CORNER + SEAM);
        meet(turned(meet_line(at_yx, going_yx, HALF.x - rim, beside)));
        meet(meet_line(at, going, GOAL - rim, (POST_AT.x - SEAM, f32::INFINITY)));
        meet(turned(meet_line(at_yx, going_yx, HALF.x + DEPTH - rim, (-SEAM, GOAL))));
        meet(meet_corner(at, going, CORNER - rim));
        let post = meet_circle(at - POST_AT, going, POST + rim);
        // Its other sides are inside the wall.
        meet(post.filter(|contact| contact.normal.x <= SEAM && contact.normal.y <= SEAM));
    }
    first
}

const QUARTERS: [Vec2; 4] =
    [Vec2::new(1.0, 1.0), Vec2::new(-1.0, 1.0), Vec2::new(1.0, -1.0), Vec2::new(-1.0, -1.0)];

use glam::Vec2Swizzles;

/// Returns the contact with a line across y from below, between two values of x.
fn meet_line(at: Vec2, going: Vec2, y: f32, (from, to): (f32, f32)) -> Option<Contact> {
    // Far behind the line is beyond the wall.
    if going.y <= 0.0 || at.y > y + PUCK {
        return None;
    }
    let secs = ((y - at.y) / going.y).max(0.0);
    let x = at.x + going.x * secs;
    (from <= x && x <= to).then_some(Contact { secs, normal: -Vec2::Y })
}

/// Returns the contact with the corner from the inside.
fn meet_corner(at: Vec2, going: Vec2, radius: f32) -> Option<Contact> {
    let from = at - (HALF - CORNER);
    let speed_squared = going.length_squared();
    if speed_squared == 0.0 {
        return None;
    }
    // The later root of |from + going t| = radius, where it leaves the circle.
    let along = from.dot(going);
    let inside = from.length_squared() - radius * radius;
    let secs = if inside >= 0.0 && from.min_element() > 0.0 && along > 0.0 {
        0.0
    } else {
        // A puck that has just left the wall is at its rim, inside or outside by rounding: its next
        // contact is the other end of the chord.
        let root = along * along - speed_squared * inside;
        if root < 0.0 {
            return None;
        }
        let secs = (root.sqrt() - along) / speed_squared;
        if inside <= 0.0 { secs.max(0.0) } else { secs }
    };
    if secs < 0.0 {
        return None;
    }
    let met = from + going * secs;
    let outward = met.min_element() >= -SEAM && met.dot(going) > 0.0;
    outward.then(|| Contact { secs, normal: -met.normalize_or(Vec2::X) })
}

/// Returns the contact of a point at `from`, relative to the centre of a circle, with that circle
/// from outside: at once, if it is inside and moves further in.
pub fn meet_circle(from: Vec2, going: Vec2, radius: f32) -> Option<Contact> {
    let along = from.dot(going);
    if along >= 0.0 {
        return None;
    }
    let outside = from.length_squared() - radius * radius;
    let secs = if outside <= 0.0 {
        0.0
    } else {
        let speed_squared = going.length_squared();
        let root = along * along - speed_squared * outside;
        if root < 0.0 {
            return None;
        }
        // The usual formula loses all precision on short distances; this is an equivalent root.
        outside / (root.sqrt() - along)
    };
    let met = from + going * secs;
    Some(Contact { secs, normal: met.normalize_or(Vec2::X) })
}
