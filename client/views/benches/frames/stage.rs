//! A game played in virtual time and drawn without a window: shapes instead of pixels.

use std::cell::RefCell;
use std::rc::Rc;

use egui_macroquad::egui::epaint::{ClippedPrimitive, Primitive};
use egui_macroquad::egui::{Context, FullOutput, LayerId, Pos2, RawInput, Rect, pos2, vec2};
use phaselock::client::Picture;
use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock_testing::Sim;
use phaselock_ui::camera::Camera;
use phaselock_ui::controls::Controls;
use phaselock_ui::cues::Cues;
use phaselock_ui::view::{Frame, GameView, Scene};

/// Time between two frames, in seconds.
pub(crate) const FRAME_SECS: f32 = 1.0 / 60.0;

/// Steps while waiting for the next frame, and their length in seconds: far shorter than a frame,
/// and long enough together.
const STEPS_OF_FRAME: u32 = 60;
const STEP_SECS: f64 = 0.001;

/// A frame as it was drawn.
#[allow(dead_code, reason = "one bench of two needs it")]
pub(crate) struct Drawn<G: Game> {
    pub(crate) output: FullOutput,
    pub(crate) camera: Camera,
    pub(crate) picture: Picture<G>,
}

/// A room with bots, a bot at this client, and the view of the game.
pub(crate) struct Stage<V: GameView> {
    pub(crate) sim: Sim<V::Game>,
    client: usize,
    picture: Rc<RefCell<Option<Picture<V::Game>>>>,
    view: V,
    controls: Controls,
    ctx: Context,
    /// Size of the window in points.
    size: (f32, f32),
    age_secs: f32,
}

impl<V: GameView> Stage<V> {
    /// Creates a game with this many bots besides the client's own, seen through a link in a window
    /// of a size.
    pub(crate) fn new(seed: u64, bots: u16, link: LinkConfig, size: (f32, f32)) -> Self {
        let mut sim = Sim::new(seed, bots);
        let client = sim.join_bot(link);
        Self::watch(seed, sim, client, size)
    }

    /// The screen of a client of a simulation.
    pub(crate) fn watch(seed: u64, mut sim: Sim<V::Game>, client: usize, size: (f32, f32)) -> Self {
        // Random scatter comes from one global generator.
        macroquad::rand::srand(seed);
        let picture = Rc::new(RefCell::new(None));
        sim.clients[client].screen = Some(picture.clone());
        let ctx = Context::default();
        let (view, controls) = (V::default(), Controls::default());
        Self { sim, client, picture, view, controls, ctx, size, age_secs: 0.0 }
    }

    /// Lets the client draw its next frame. `None` before the game is joined.
    #[allow(dead_code, reason = "one bench of two needs it")]
    pub(crate) fn next_frame(&mut self) -> Option<Drawn<V::Game>> {
        *self.picture.borrow_mut() = None;
        for _ in 0..STEPS_OF_FRAME {
            self.sim.run(STEP_SECS);
            if self.picture.borrow().is_some() {
                break;
            }
        }
        self.age_secs += self.sim.frame.as_secs() as f32;
        let (output, camera) = self.draw()?;
        let picture = self.picture.borrow_mut().take()?;
        Some(Drawn { output, camera, picture })
    }

    /// Lets a frame's time pass, on the server too.
    pub(crate) fn advance(&mut self) {
        self.sim.run(f64::from(FRAME_SECS));
        self.age_secs += FRAME_SECS;
    }

    /// Draws what is shown now. `None` before the game is joined.
    pub(crate) fn frame(&mut self) -> Option<FullOutput> {
        self.draw().map(|(output, _)| output)
    }

    fn draw(&mut self) -> Option<(FullOutput, Camera)> {
        let picture = self.picture.borrow();
        let picture = picture.as_ref()?;
        let core = self.sim.clients[self.client].core();
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(self.size.0, self.size.1));
        let input = RawInput {
            screen_rect: Some(screen),
            time: Some(f64::from(self.age_secs)),
            ..RawInput::default()
        };
        let (view, mut camera) = (&mut self.view, None);
        let output = self.ctx.run(input, |ctx| {
            let painter = ctx.layer_painter(LayerId::background());
            let frame = Frame {
                painter: &painter,
                screen,
                pointer: Some(pos2(self.size.0 * 0.7, self.size.1 * 0.4)),
                secs: FRAME_SECS,
                active: true,
                scores: false,
                scrolled: 0,
                crowded: false,
                marks: false,
                controls: &self.controls,
                // Cues go nowhere.
                cues: &Cues::default(),
            };
            camera = Some(view.draw(&Scene {
                picture,
                game: core.game(),
                rates: core.rates(),
                player: core.player(),
                roster: core.roster(),
                presence: core.common().presence(),
                house: core.common().house(),
                round_trip_ms: Some(20.0),
                age_secs: self.age_secs,
                watched: None,
                ghost: None,
                frame,
            }));
        });
        Some((output, camera?))
    }

    /// Shapes that the window would hand to the graphics card for a frame.
    pub(crate) fn tessellate(&self, output: FullOutput) -> Vec<ClippedPrimitive> {
        phaselock_ui::renderer::tessellate(&self.ctx, output.shapes, output.pixels_per_point)
    }
}

/// Work of a frame for the graphics card, or for the processor in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Work {
    pub(crate) draw_calls: u64,
    pub(crate) vertices: u64,
    pub(crate) triangles: u64,
    /// Painted area, counting overlaps each time, as a share of the window's.
    pub(crate) layers: f64,
}

impl Work {
    /// Work of painting primitives in a window of an area in square points.
    pub(crate) fn of(primitives: &[ClippedPrimitive], area: f64) -> Self {
        let calls = phaselock_ui::renderer::draw_calls(primitives, 1.0) as u64;
        let mut work = Self { draw_calls: calls, ..Self::default() };
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            let Primitive::Mesh(mesh) = primitive else { continue };
            work.vertices += mesh.vertices.len() as u64;
            work.triangles += mesh.indices.len() as u64 / 3;
            for corners in mesh.indices.chunks_exact(3) {
                let corner = |n: usize| mesh.vertices[corners[n] as usize].pos;
                work.layers += visible_area([corner(0), corner(1), corner(2)], *clip_rect) / area;
            }
        }
        work
    }

    /// Adds the work of another frame.
    pub(crate) fn add(&mut self, other: Self) {
        self.draw_calls += other.draw_calls;
        self.vertices += other.vertices;
        self.triangles += other.triangles;
        self.layers += other.layers;
    }
}

/// Area of the part of a triangle that is inside a rectangle, in square points.
fn visible_area(corners: [Pos2; 3], clip: Rect) -> f64 {
    let mut polygon = corners.to_vec();
    // Each side of the rectangle cuts off what lies beyond it (Sutherland and Hodgman, 1974).
    let sides: [fn(Pos2, Rect) -> f32; 4] = [
        |at, clip| at.x - clip.left(),
        |at, clip| clip.right() - at.x,
        |at, clip| at.y - clip.top(),
        |at, clip| clip.bottom() - at.y,
    ];
    for inside in sides {
        let mut kept = Vec::with_capacity(8);
        for (n, to) in polygon.iter().enumerate() {
            let from = polygon[(n + polygon.len() - 1) % polygon.len()];
            let (a, b) = (inside(from, clip), inside(*to, clip));
            if (a < 0.0) != (b < 0.0) {
                kept.push(from + (*to - from) * (a / (a - b)));
            }
            if b >= 0.0 {
                kept.push(*to);
            }
        }
        polygon = kept;
    }
    let twice = (0..polygon.len()).map(|n| {
        let (a, b) = (polygon[n], polygon[(n + 1) % polygon.len()]);
        f64::from(a.x) * f64::from(b.y) - f64::from(b.x) * f64::from(a.y)
    });
    (twice.sum::<f64>() / 2.0).abs()
}
