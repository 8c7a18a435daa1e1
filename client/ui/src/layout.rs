//! Places for everything that lies over the world, so that nothing overlaps in any window.
//!
//! An item claims its rectangle for a frame. Items are ordered by importance ([`Item`]): less
//! important ones go where there is space, and are not shown if there is none. A label of something
//! in the world is left out while an item covers its place.

use egui_macroquad::egui::{Id, Painter, Rect, pos2, vec2};

use super::paint::ground;

/// Minimum distance between items, and of an item from the window's edge, in points.
const GAP: f32 = 4.0;
/// Distance kept from a subject, in points: it moves until the next frame.
const CLEAR: f32 = 8.0;
/// Seconds for which an item stays where it moved to make space, so that a subject that goes to and
/// fro does not make it jump.
const STAYS: f64 = 1.2;
/// Maximum number of steps to a free place: the number of items side by side.
const STEPS_MAX: usize = 64;

/// Something shown over the world, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A card or a line that has keyboard or mouse focus.
    Panel,
    /// The round's clock.
    Clock,
    /// State of the connection, in the upper right corner.
    Connection,
    /// Names of the game and of the server, in the upper left corner.
    Title,
    /// The player's own figures along the lower edge.
    Figures,
    /// Touch sticks and buttons.
    Glass,
    /// What the player must see of the world: their own entity, the puck, the start. Nothing that
    /// fits elsewhere covers it.
    Subject,
    /// A map of the world in the lower right corner.
    Chart,
    /// One line that must be read, below the clock.
    Below,
    /// Personal records at a round's end.
    Records,
    /// The table of scores.
    Table,
    /// The bar shown to spectators.
    Watching,
    /// A sign or signal in the middle of the picture.
    Sign,
    /// A running vote.
    Vote,
    /// Network details.
    Details,
    /// The net graph.
    Graph,
    /// A step of the lesson.
    Lesson,
    /// Further figures of the player.
    More,
    /// The words over a moment that is shown again.
    Replay,
    /// A notice about the player: a death, a result.
    PlayerNotice,
    /// A large announcement.
    Announcement,
    /// A line about an event between players.
    Feed,
    /// A notice from the program.
    ProgramNotice,
    /// Chat.
    Talk,
    /// Hints for newcomers.
    Hint,
}

/// Direction in which an item looks for a free place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Upwards.
    Up,
    /// Downwards.
    Down,
}

/// Rectangles of the last frame and of this one.
#[derive(Clone, Debug, Default)]
struct Layout {
    pass: u64,
    items: Vec<(Item, Rect, u64)>,
    labels: Vec<Rect>,
    /// Items that moved elsewhere: the place that they want, the place that they have, and until
    /// when.
    moved: Vec<(Item, Rect, Rect, f64)>,
}

impl Layout {
    fn begin(&mut self, pass: u64) {
        if self.pass != pass {
            self.items.retain(|(_, _, at)| at + 1 >= pass);
            self.labels.clear();
            self.pass = pass;
        }
    }

    fn claim(&mut self, item: Item, rect: Rect) {
        let pass = self.pass;
        self.items.retain(|(it, _, at)| *it != item || *at == pass);
        self.items.push((item, rect, pass));
    }

    /// An obstacle that a rectangle touches: a more important item, or the same item in this frame.
    fn in_the_way(&self, item: Item, rect: Rect) -> Option<Rect> {
        let wide = rect.expand(GAP - 0.1);
        // The player asked for these tables, so they cover everything.
        let covers = matches!(item, Item::Table | Item::Records);
        let counts = |it: Item, at: u64| match it {
            Item::Subject if covers => false,
            _ => it < item || (it == item && at == self.pass),
        };
        let mut found = self.items.iter().filter(|(it, _, at)| counts(*it, *at));
        found.find(|(_, other, _)| other.intersects(wide)).map(|(_, other, _)| *other)
    }

    fn covers_subject(&self, rect: Rect) -> bool {
        self.items.iter().any(|(it, at, _)| *it == Item::Subject && at.intersects(rect))
    }

    /// The first free place in one of these directions, or the one that the item moved to lately if
    /// it is still free.
    fn place(
        &mut self,
        (item, rect): (Item, Rect),
        ways: &[Way],
        (screen, now): (Rect, f64),
    ) -> Option<Rect> {
        self.moved.retain(|(.., until)| *until > now);
        let same = |moved: &&(Item, Rect, Rect, f64)| moved.0 == item && moved.1 == rect;
        let lately = self.moved.iter().find(same).map(|(_, _, at, _)| *at);
        let lately = lately.filter(|at| self.in_the_way(item, *at).is_none());
        let found =
            lately.or_else(|| ways.iter().find_map(|way| self.find(item, rect, *way, screen)))?;
        // Lines of the feed follow each other.
        if lately.is_none() && item != Item::Feed && self.covers_subject(rect) {
            self.moved.retain(|(it, wanted, ..)| (*it, *wanted) != (item, rect));
            self.moved.push((item, rect, found, now + STAYS));
        }
        self.claim(item, found);
        Some(found)
    }

    fn find(&self, item: Item, rect: Rect, way: Way, screen: Rect) -> Option<Rect> {
        let mut rect = rect;
        for _ in 0..STEPS_MAX {
            if !screen.shrink(GAP - 0.1).contains_rect(rect) {
                return None;
            }
            let Some(other) = self.in_the_way(item, rect) else { return Some(rect) };
            rect = rect.translate(match way {
                Way::Left => vec2(other.left() - GAP - rect.right(), 0.0),
                Way::Right => vec2(other.right() + GAP - rect.left(), 0.0),
                Way::Up => vec2(0.0, other.top() - GAP - rect.bottom()),
                Way::Down => vec2(0.0, other.bottom() + GAP - rect.top()),
            });
        }
        None
    }
}

fn with<R>(painter: &Painter, work: impl FnOnce(&mut Layout) -> R) -> R {
    let context = painter.ctx();
    let pass = context.cumulative_pass_nr();
    context.data_mut(|data| {
        let layout: &mut Layout = data.get_temp_mut_or_default(Id::new("layout"));
        layout.begin(pass);
        work(layout)
    })
}

/// Claims a rectangle, whatever else is there.
pub fn claim(painter: &Painter, item: Item, rect: Rect) {
    with(painter, |layout| layout.claim(item, rect));
}

/// Claims the first free place from a rectangle on, in one of these directions. `None` if the
/// window has none.
pub fn find(painter: &Painter, item: Item, rect: Rect, ways: &[Way]) -> Option<Rect> {
    let (screen, now) = (painter.ctx().screen_rect(), painter.ctx().input(|input| input.time));
    with(painter, |layout| layout.place((item, rect), ways, (screen, now)))
}

/// Claims a place as [`find`] does; if there is none, the first free one at the window's left or
/// right edge.
pub fn find_or_at_side(painter: &Painter, item: Item, rect: Rect, ways: &[Way]) -> Option<Rect> {
    let sides = || {
        let screen = painter.ctx().screen_rect().shrink(2.0 * GAP);
        let lefts = [screen.left(), screen.right() - rect.width()];
        let top = rect.top().min(screen.bottom() - rect.height());
        let at = |left: f32| Rect::from_min_size(pos2(left, top), rect.size());
        let mut tries = lefts.into_iter().map(at);
        tries.find_map(|rect| find(painter, item, rect, &[Way::Up, Way::Down]))
    };
    find(painter, item, rect, ways).or_else(sides)
}

/// The rectangle around everything that an item has claimed in this frame.
pub fn taken_by(painter: &Painter, item: Item) -> Option<Rect> {
    with(painter, |layout| {
        let here = layout.items.iter().filter(|(it, _, at)| *it == item && *at == layout.pass);
        here.map(|(_, rect, _)| *rect).reduce(Rect::union)
    })
}

/// Keeps a place free that shows what the player must see. Does nothing outside of the window.
pub fn keep_free(painter: &Painter, rect: Rect) {
    let shown = rect.expand(CLEAR).intersect(painter.ctx().screen_rect());
    if shown.is_positive() {
        claim(painter, Item::Subject, shown);
    }
}

/// Whether a rectangle covers what the player must see.
pub fn covers_subject(painter: &Painter, rect: Rect) -> bool {
    with(painter, |layout| layout.covers_subject(rect))
}

/// Lower edge of the touch buttons in the window's upper half, if there are any.
pub fn below_buttons(painter: &Painter) -> Option<f32> {
    let middle = painter.ctx().screen_rect().center().y;
    with(painter, |layout| {
        let glass = layout.items.iter().filter(|(item, ..)| *item == Item::Glass);
        let upper = glass.filter(|(_, rect, _)| rect.center().y < middle);
        upper.map(|(_, rect, _)| rect.bottom()).reduce(f32::max)
    })
}

/// The rectangle without the upper and lower parts that other items take, as seen from its middle.
pub fn between(painter: &Painter, item: Item, rect: Rect) -> Rect {
    with(painter, |layout| {
        let mut rect = rect;
        for _ in 0..STEPS_MAX {
            let Some(other) = layout.in_the_way(item, rect) else { break };
            if other.center().y < rect.center().y {
                rect.min.y = other.bottom() + GAP;
            } else {
                rect.max.y = other.top() - GAP;
            }
        }
        rect
    })
}

/// Claims a place for the label of something in the world. Returns false if an item covers it;
/// leave the label out then.
pub fn label(painter: &Painter, rect: Rect) -> bool {
    with(painter, |layout| {
        let is_free = !layout.items.iter().any(|(_, other, _)| other.intersects(rect));
        if is_free {
            layout.labels.push(rect);
        }
        is_free
    })
}

/// Finds a place as [`find`] does, and paints a ground there.
pub fn grounded(
    painter: &Painter,
    item: Item,
    rect: Rect,
    ways: &[Way],
    strength: f32,
) -> Option<Rect> {
    let found = find(painter, item, rect, ways)?;
    ground(painter, found, strength);
    Some(found)
}

/// Returns this frame's items and labels, for tests that lay out a window.
pub fn claimed(context: &egui_macroquad::egui::Context) -> (Vec<(Item, Rect)>, Vec<Rect>) {
    context.data_mut(|data| {
        let layout: &mut Layout = data.get_temp_mut_or_default(Id::new("layout"));
        let now = layout.items.iter().filter(|(_, _, at)| *at == layout.pass);
        (now.map(|(item, rect, _)| (*item, *rect)).collect(), layout.labels.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: f32, y: f32) -> Rect {
        Rect::from_min_size(pos2(x, y), vec2(100.0, 20.0))
    }

    #[test]
    fn lesser_items_go_where_room_is_left_and_the_important_ones_stay() {
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 100.0));
        let mut layout = Layout::default();
        layout.begin(1);
        layout.claim(Item::Clock, rect(100.0, 10.0));
        let found = |layout: &Layout, way| layout.find(Item::Feed, rect(150.0, 10.0), way, screen);
        assert_eq!(found(&layout, Way::Down), Some(rect(150.0, 34.0)));
        assert_eq!(found(&layout, Way::Right), Some(rect(204.0, 10.0)));
        assert_eq!(found(&layout, Way::Up), None);
        assert_eq!(found(&layout, Way::Left), None, "it would leave the window");
        // Less important items are no obstacle, nor is the item's own place in the last frame.
        layout.claim(Item::Hint, rect(204.0, 10.0));
        assert_eq!(found(&layout, Way::Right), Some(rect(204.0, 10.0)));
        layout.claim(Item::Feed, rect(150.0, 34.0));
        assert_eq!(found(&layout, Way::Down), Some(rect(150.0, 58.0)));
        layout.begin(2);
        assert_eq!(found(&layout, Way::Down), Some(rect(150.0, 34.0)));
        layout.begin(4);
        assert_eq!(found(&layout, Way::Down), Some(rect(150.0, 10.0)), "the clock is gone");
    }

    #[test]
    fn item_that_made_room_stays_for_a_while() {
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0));
        let (mut layout, wanted, ways) = (Layout::default(), rect(100.0, 200.0), [Way::Up]);
        let mut place = |pass: u64, secs: f64, subject: Rect| {
            layout.begin(pass);
            layout.claim(Item::Subject, subject);
            layout.place((Item::Lesson, wanted), &ways, (screen, secs))
        };
        let (far, under) = (rect(100.0, 20.0), rect(150.0, 210.0));
        assert_eq!(place(1, 0.0, far), Some(wanted));
        let above = place(2, 0.1, under);
        assert_eq!(above, Some(rect(100.0, 186.0)));
        assert_eq!(place(3, 0.2, far), above, "it does not jump back and forth");
        let again = place(4, 0.3, rect(100.0, 170.0));
        assert_eq!(again, Some(wanted), "the subject comes first");
        assert_eq!(place(5, 2.0, far), Some(wanted));
    }
}
