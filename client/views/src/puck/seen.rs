//! The rink as its player sees it: the player's side is always on the left.
//!
//! A player on the right sees everything turned by half a turn; the mouse is turned as well.

use phaselock_games::puck::motion::TOUCH;
use phaselock_games::puck::rink::{DEPTH, HALF, keep_puck};
use phaselock_games::puck::{Board, Mallet, Puck, ShufflePuck, mallet_of};
use phaselock_ui::prelude::*;

/// Points above and below the rink for text, in letters of the usual size.
const ABOVE: f32 = 74.0;
const BELOW: f32 = 34.0;
/// Width of the rim around the ice, in metres.
pub(super) const RIM: f32 = 0.34;

/// The player's rink, turned as its player sees it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) rink: u8,
    /// -1 if the picture is turned, otherwise 1.
    pub(super) turn: f32,
    /// Whether the player's side is the world's right one.
    pub(super) right: bool,
    pub(super) own: Option<EntityId>,
    pub(super) mallets: Vec<Slot<Mallet>>,
    pub(super) puck: Option<Puck>,
    pub(super) board: Board,
}

impl Seen {
    pub(super) fn new(scene: &Scene<'_, ShufflePuck>) -> Self {
        let entities = &scene.picture.entities;
        let me = mallet_of(entities, scene.player);
        let (rink, right) = me.map_or((0, false), |me| (me.rink, me.right));
        let turn = if right { -1.0 } else { 1.0 };
        let mallets = entities
            .records::<Mallet>()
            .filter(|slot| slot.entity.rink == rink)
            .map(|slot| {
                let Mallet { x, y, vx, vy, .. } = slot.entity;
                let [x, y, vx, vy] = [x, y, vx, vy].map(|part| part * turn);
                Slot { entity: Mallet { x, y, vx, vy, ..slot.entity }, ..slot }
            })
            .collect();
        let puck = ShufflePuck::puck_of(entities, rink).map(|slot| {
            let mut puck = slot.entity;
            if let Some(me) = me.filter(|_| puck.is_in_play()) {
                // A correction slides the picture, but not through the player's mallet.
                let away = puck.position() - me.position();
                if away.length() < TOUCH {
                    let out = me.position() + away.normalize_or(Vec2::new(-me.side(), 0.0)) * TOUCH;
                    (puck.x, puck.y) = keep_puck(out).into();
                }
            }
            let [x, y, vx, vy] = [puck.x, puck.y, puck.vx, puck.vy].map(|part| part * turn);
            Puck { x, y, vx, vy, ..puck }
        });
        let board = ShufflePuck::board_of(entities, rink).unwrap_or_default();
        Self { rink, turn, right, own: scene.picture.own, mallets, puck, board }
    }

    pub(super) fn own_mallet(&self) -> Option<&Mallet> {
        self.mallets.iter().find(|slot| Some(slot.id) == self.own).map(|slot| &slot.entity)
    }

    pub(super) fn is_mate(&self, mallet: &Mallet) -> bool {
        mallet.right == self.right
    }

    /// The goal with the puck in it: true for the player's own.
    pub(super) fn scored_on(&self) -> Option<bool> {
        let scored = self.puck?.scored;
        (scored != 0).then_some((scored == 2) == self.right)
    }

    /// Goals of the player's side, and of the other.
    pub(super) fn goals(&self) -> [u8; 2] {
        [self.board.goals(self.right), self.board.goals(!self.right)]
    }
}

/// The camera that shows the whole rink between the texts above and below it, and below `buttons`,
/// the lower edge of the touch buttons.
pub(super) fn camera(screen: Rect, letters: f32, buttons: Option<f32>) -> Camera {
    let half = HALF + Vec2::new(DEPTH + RIM, RIM);
    let [above, below] = [ABOVE, BELOW].map(|points| points * letters);
    let above = buttons.map_or(above, |buttons| above.max(buttons - screen.top()));
    let room = vec2(screen.width() - 12.0, screen.height() - above - below);
    let scale = (room.x / (2.0 * half.x)).min(room.y / (2.0 * half.y)).max(1.0);
    let lower = (above - below) / 2.0;
    Camera { middle: Vec2::new(0.0, -lower / scale), scale, screen }
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::Pos2;

    use super::*;

    #[test]
    fn the_whole_rink_fits_any_window() {
        let sizes = [(800.0, 600.0), (1280.0, 720.0), (1920.0, 1080.0), (2560.0, 1080.0)];
        let all = sizes.into_iter().flat_map(|size| [(size, 1.0), (size, 1.5)]);
        for ((width, height), letters) in all {
            let screen = Rect::from_min_size(Pos2::ZERO, vec2(width, height));
            let camera = camera(screen, letters, None);
            let [above, below] = [ABOVE, BELOW].map(|points| points * letters);
            let half = HALF + Vec2::new(DEPTH + RIM, RIM);
            let rink = Rect::from_two_pos(camera.to_screen(-half), camera.to_screen(half));
            assert!(screen.contains_rect(rink), "{rink:?} in {screen:?}");
            assert!(rink.top() >= above - 0.1 && rink.bottom() <= height - below + 0.1);
            let share = (rink.width() / width).max(rink.height() / (height - above - below));
            assert!(share > 0.97, "there is space left");
            let lower = super::camera(screen, letters, Some(0.4 * height));
            let top = lower.to_screen(-half).y;
            assert!(top >= 0.4 * height - 0.1, "the buttons cover it: {top}");
        }
    }
}
