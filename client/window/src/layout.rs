//! Places of everything that lies over the world, so that nothing overlaps in any window.
//!
//! An item claims its rectangle for a frame, in the order of importance of [`Item`]: the lesser one
//! goes where room is left, and is not shown where none is. A label of a thing in the world is left
//! out while an item covers its place.

use egui_macroquad::egui::{Id, Painter, Rect, vec2};

use super::paint::ground;

/// Least distance of two items, and of an item from the window's edge, in points.
const GAP: f32 = 4.0;
/// Steps on the way to a free place at most: as many as there are items beside each other.
const STEPS_MAX: usize = 64;

/// Something over the world, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A card or a line that has the keyboard or the mouse.
    Panel,
    /// The round's clock.
    Clock,
    /// The connection, in the upper right corner.
    Connection,
    /// Names of the game and of the server, in the upper left corner.
    Title,
    /// The own player's figures along the lower edge.
    Figures,
    /// Sticks and buttons on the glass.
    Glass,
    /// A chart of the world in the lower right corner.
    Chart,
    /// One line that must be read, below the clock.
    Below,
    /// Personal records at a round's end.
    Records,
    /// The table of scores.
    Table,
    /// The bar of one who watches.
    Watching,
    /// A sign or signal in the middle of the picture.
    Sign,
    /// A vote that runs.
    Vote,
    /// Figures for developers.
    Details,
    /// Curves of the connection.
    Graph,
    /// A step of the lesson.
    Lesson,
    /// Further figures of the own player.
    More,
    /// A notice about the own player: a death, a result.
    Notice,
    /// A large announcement.
    Said,
    /// A line about an event between players.
    Feed,
    /// A notice of the program.
    Told,
    /// Talk of people.
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

    /// Something before the item that a rectangle touches; of the item's own only this frame's.
    fn in_the_way(&self, item: Item, rect: Rect) -> Option<Rect> {
        let wide = rect.expand(GAP - 0.1);
        let counts = |it: Item, at: u64| it < item || (it == item && at == self.pass);
        let mut found = self.items.iter().filter(|(it, _, at)| counts(*it, *at));
        found.find(|(_, other, _)| other.intersects(wide)).map(|(_, other, _)| *other)
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

/// Claims the first free place from a rectangle on, in one of these ways; none if there is none in
/// the window.
pub fn find(painter: &Painter, item: Item, rect: Rect, ways: &[Way]) -> Option<Rect> {
    let screen = painter.ctx().screen_rect();
    with(painter, |layout| {
        let mut found = ways.iter().filter_map(|way| layout.find(item, rect, *way, screen));
        let found = found.next()?;
        layout.claim(item, found);
        Some(found)
    })
}

/// The rectangle without the upper and lower parts in which other items stand, as seen from its
/// middle.
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

/// Claims a place for the label of a thing in the world. False where an item covers it: the label
/// is then left out.
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

/// Items of the last frame and labels, for tests.
#[cfg(test)]
pub(crate) fn claimed(context: &egui_macroquad::egui::Context) -> (Vec<(Item, Rect)>, Vec<Rect>) {
    context.data_mut(|data| {
        let layout: &mut Layout = data.get_temp_mut_or_default(Id::new("layout"));
        let now = layout.items.iter().filter(|(_, _, at)| *at == layout.pass);
        (now.map(|(item, rect, _)| (*item, *rect)).collect(), layout.labels.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui_macroquad::egui::pos2;

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
        // What is less important is in nobody's way, neither is the own place of a frame ago.
        layout.claim(Item::Hint, rect(204.0, 10.0));
        assert_eq!(found(&layout, Way::Right), Some(rect(204.0, 10.0)));
        layout.claim(Item::Feed, rect(150.0, 34.0));
        assert_eq!(found(&layout, Way::Down), Some(rect(150.0, 58.0)));
        layout.begin(2);
        assert_eq!(found(&layout, Way::Down), Some(rect(150.0, 34.0)));
        layout.begin(4);
        assert_eq!(found(&layout, Way::Down), Some(rect(150.0, 10.0)), "the clock is gone");
    }
}
