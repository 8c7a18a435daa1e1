//! Paints the window: each of egui's triangles with the cheapest shader that can show it.
//!
//! Where the processor stands in for a graphics card, reading a texture is more than half of a
//! pixel's cost, and blending it with what is beneath most of the rest. Few triangles need both:
//! letters have a texture, while bodies, floors and panels have only colours. So a mesh is painted
//! in runs of consecutive triangles of one kind.
//!
//! egui-macroquad reads keys and mouse, and lets this module paint through a callback of its own
//! frame, which shows nothing itself.

mod corners;
mod shader;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use egui_macroquad::egui::epaint::{
    ClippedPrimitive, ClippedShape, ImageDelta, Mesh16, Primitive, WHITE_UV,
};
use egui_macroquad::egui::{
    self, Color32, Context, ImageData, LayerId, PaintCallback, Rect, TextureFilter, TexturesDelta,
    pos2,
};
use egui_miniquad::CallbackFn;
use macroquad::miniquad::window::{dpi_scale, screen_size};
use macroquad::miniquad::{
    Bindings, BlendFactor, BlendState, BlendValue, BufferId, BufferLayout, BufferSource,
    BufferType, BufferUsage, CullFace, Equation, FilterMode, Pipeline, PipelineParams,
    RenderingBackend, ShaderSource, TextureFormat, TextureId, TextureParams, TextureWrap,
    UniformsSource, VertexAttribute, VertexFormat,
};

use super::letters::Letters;
use super::paint::note_css;
use shader::Dialect;

/// Area in square pixels below which a run is painted with its neighbours' shader: another draw
/// call costs llvmpipe as much as this many pixels.
const RUN_AREA_LEAST: f32 = 2048.0;

/// Ways to paint a triangle, the cheapest first. Each kind can also paint the kinds before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Colours that hide what is beneath.
    Opaque,
    /// Translucent colours.
    Plain,
    /// Colours times a texture.
    Textured,
}

/// Consecutive triangles that are painted the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    kind: Kind,
    /// Number of indices.
    len: usize,
    /// Painted area in square points.
    area: f32,
}

/// The window's egui, and the painting of its frames.
pub struct Renderer {
    ctx: Context,
    letters: RefCell<Letters>,
}

/// A frame that is waiting to be painted.
#[derive(Default)]
struct Batch {
    primitives: Vec<ClippedPrimitive>,
    textures: TexturesDelta,
    pixels_per_point: f32,
}

thread_local! {
    // Belongs to the thread that owns the window: its handles are of no use elsewhere.
    static BATCH: RefCell<Batch> = RefCell::default();
    static DEVICE: RefCell<Option<Device>> = const { RefCell::new(None) };
}

impl Renderer {
    /// Creates a renderer whose egui has a style.
    pub fn new(style: impl FnOnce(&Context)) -> Self {
        let ctx = Context::default();
        style(&ctx);
        Self { ctx, letters: RefCell::new(Letters::new()) }
    }

    /// Makes all letters larger by a factor, and prefers fonts for the language with this code.
    pub fn set_letters(&self, scale: f32, language: &str) {
        self.letters.borrow_mut().set(&self.ctx, scale, language);
    }

    /// Runs a frame of the user interface, and paints it over a backdrop.
    pub fn frame(&self, pixels_per_point: f32, backdrop: Color32, mut ui: impl FnMut(&Context)) {
        egui_macroquad::ui(|outer| {
            // Both use the same scale, since one passes its events on to the other.
            outer.set_pixels_per_point(pixels_per_point);
            self.ctx.set_pixels_per_point(pixels_per_point);
            note_css(&self.ctx, dpi_scale() / pixels_per_point);
            let mut input = outer.input(|input| input.raw.clone());
            input.max_texture_side = Some(texture_side(pixels_per_point));
            self.letters.borrow_mut().take(&self.ctx);
            let mut output = self.ctx.run(input, &mut ui);
            self.letters.borrow_mut().follow(&self.ctx, &mut output.shapes);
            outer.set_cursor_icon(output.platform_output.cursor_icon);
            output.platform_output.commands.into_iter().for_each(|it| outer.send_cmd(it));
            let primitives = tessellate(&self.ctx, output.shapes, output.pixels_per_point);
            BATCH.with_borrow_mut(|batch| {
                batch.primitives = primitives;
                batch.pixels_per_point = output.pixels_per_point;
                // The textures of a frame that was never painted go to the next one.
                batch.textures.append(output.textures_delta);
            });
            let callback = Arc::new(CallbackFn::new(move |_, gl| paint(gl, backdrop)));
            let rect = outer.screen_rect();
            outer.layer_painter(LayerId::background()).add(PaintCallback { rect, callback });
        });
        egui_macroquad::draw();
    }
}

/// Triangles of shapes, as the window paints them: round shapes have only as many corners as they
/// need to look round.
pub fn tessellate(
    ctx: &Context,
    mut shapes: Vec<ClippedShape>,
    pixels_per_point: f32,
) -> Vec<ClippedPrimitive> {
    shapes.iter_mut().for_each(|it| corners::simplify(&mut it.shape, pixels_per_point));
    ctx.tessellate(shapes, pixels_per_point)
}

/// Number of draw calls that the window makes for a frame: one per run of triangles of one kind.
pub fn draw_calls(primitives: &[ClippedPrimitive], pixels_per_point: f32) -> usize {
    let calls = primitives.iter().map(|ClippedPrimitive { primitive, .. }| match primitive {
        Primitive::Mesh(mesh) => {
            let parts = mesh.clone().split_to_u16();
            parts.iter().map(|part| runs(part, run_area_least(pixels_per_point)).len()).sum()
        }
        // Not painted here.
        Primitive::Callback(_) => 0_usize,
    });
    calls.sum()
}

/// Area in square points below which a run is painted with its neighbours' shader.
fn run_area_least(pixels_per_point: f32) -> f32 {
    RUN_AREA_LEAST / (pixels_per_point * pixels_per_point)
}

/// Maximum side, in pixels, of the texture with the letters. egui starts it over when it is full,
/// so it holds more than a screen of different ideographs: some 2,000 of usual size, on large
/// displays as well.
fn texture_side(pixels_per_point: f32) -> usize {
    if pixels_per_point > 3.0 { 4096 } else { 2048 }
}

/// Paints the waiting frame.
fn paint(gl: &mut dyn RenderingBackend, backdrop: Color32) {
    let batch = BATCH.take();
    // Clears only colours: depths are not used, and writing them cost llvmpipe a seventh of a frame
    // of Asteroids (`perf record -e cpu-clock`), since they share their words with a stencil.
    let [r, g, b, a] = backdrop.to_array().map(|part| f32::from(part) / 255.0);
    gl.clear(Some((r, g, b, a)), None, None);
    DEVICE.with_borrow_mut(|device| device.get_or_insert_with(|| Device::new(gl)).paint(gl, batch));
}

/// Shaders, buffers and textures of the graphics card.
struct Device {
    /// By [`Kind`].
    pipelines: [Pipeline; 3],
    vertices: BufferId,
    indices: BufferId,
    textures: HashMap<egui::TextureId, TextureId>,
}

#[repr(C)]
struct Uniforms {
    screen_points: [f32; 2],
}

/// The window that is painted into.
struct Target {
    uniforms: Uniforms,
    /// Pixels per point.
    scale: f32,
}

impl Device {
    fn new(gl: &mut dyn RenderingBackend) -> Self {
        let pipelines = [
            pipeline(gl, shader::COLORS, None),
            pipeline(gl, shader::COLORS, Some(over())),
            pipeline(gl, shader::TEXTURE, Some(over())),
        ];
        let stream = BufferUsage::Stream;
        let vertices = BufferSource::empty::<egui::epaint::Vertex>(32 * 1024);
        let vertices = gl.new_buffer(BufferType::VertexBuffer, stream, vertices);
        let indices = BufferSource::empty::<u16>(64 * 1024);
        let indices = gl.new_buffer(BufferType::IndexBuffer, stream, indices);
        Self { pipelines, vertices, indices, textures: HashMap::new() }
    }

    fn paint(&mut self, gl: &mut dyn RenderingBackend, batch: Batch) {
        for (id, delta) in &batch.textures.set {
            self.set_texture(gl, *id, delta);
        }
        let (width, height) = screen_size();
        let scale = batch.pixels_per_point.max(f32::MIN_POSITIVE);
        let screen_points = [width / scale, height / scale];
        let target = Target { uniforms: Uniforms { screen_points }, scale };
        for ClippedPrimitive { clip_rect, primitive } in batch.primitives {
            let Primitive::Mesh(mesh) = primitive else { continue };
            let Some(texture) = self.textures.get(&mesh.texture_id).copied() else { continue };
            let (x, y, w, h) = scissor(clip_rect, scale, (width, height));
            gl.apply_scissor_rect(x, y, w, h);
            for part in mesh.split_to_u16() {
                self.paint_mesh(gl, &part, texture, &target);
            }
        }
        for id in &batch.textures.free {
            if let Some(texture) = self.textures.remove(id) {
                gl.delete_texture(texture);
            }
        }
    }

    fn paint_mesh(
        &mut self,
        gl: &mut dyn RenderingBackend,
        mesh: &Mesh16,
        texture: TextureId,
        target: &Target,
    ) {
        fill(gl, &mut self.vertices, BufferType::VertexBuffer, &mesh.vertices);
        fill(gl, &mut self.indices, BufferType::IndexBuffer, &mesh.indices);
        let bindings = Bindings {
            vertex_buffers: vec![self.vertices],
            index_buffer: self.indices,
            images: vec![texture],
        };
        let mut first = 0;
        for Run { kind, len, .. } in runs(mesh, run_area_least(target.scale)) {
            gl.apply_pipeline(&self.pipelines[kind as usize]);
            gl.apply_bindings(&bindings);
            gl.apply_uniforms(UniformsSource::table(&target.uniforms));
            gl.draw(first as i32, len as i32, 1);
            first += len;
        }
    }

    fn set_texture(
        &mut self,
        gl: &mut dyn RenderingBackend,
        id: egui::TextureId,
        delta: &ImageDelta,
    ) {
        let [width, height] = delta.image.size().map(|size| size as u32);
        let bytes: Vec<u8> = match &delta.image {
            ImageData::Color(image) => image.pixels.iter().flat_map(|it| it.to_array()).collect(),
            ImageData::Font(image) => {
                image.srgba_pixels(None).flat_map(|it| it.to_array()).collect()
            }
        };
        if let Some([x, y]) = delta.pos {
            if let Some(texture) = self.textures.get(&id) {
                let [x, y, width, height] = [x as i32, y as i32, width as i32, height as i32];
                gl.texture_update_part(*texture, x, y, width, height, &bytes);
            }
            return;
        }
        let filter = match delta.options.magnification {
            TextureFilter::Nearest => FilterMode::Nearest,
            TextureFilter::Linear => FilterMode::Linear,
        };
        let params = TextureParams {
            format: TextureFormat::RGBA8,
            wrap: TextureWrap::Clamp,
            min_filter: filter,
            mag_filter: filter,
            width,
            height,
            ..TextureParams::default()
        };
        let texture = gl.new_texture_from_data_and_format(&bytes, params);
        if let Some(before) = self.textures.insert(id, texture) {
            gl.delete_texture(before);
        }
    }
}

/// Puts data into a buffer, or into a larger one if it does not fit.
fn fill<T>(gl: &mut dyn RenderingBackend, buffer: &mut BufferId, kind: BufferType, data: &[T]) {
    if gl.buffer_size(*buffer) < size_of_val(data) {
        gl.delete_buffer(*buffer);
        *buffer = gl.new_buffer(kind, BufferUsage::Stream, BufferSource::empty::<T>(data.len()));
    }
    gl.buffer_update(*buffer, BufferSource::slice(data));
}

/// Blending of premultiplied colours, as egui's are.
fn over() -> BlendState {
    let rest = BlendFactor::OneMinusValue(BlendValue::SourceAlpha);
    BlendState::new(Equation::Add, BlendFactor::One, rest)
}

fn pipeline(
    gl: &mut dyn RenderingBackend,
    fragment: &str,
    color_blend: Option<BlendState>,
) -> Pipeline {
    // The version is a guess from GL_VERSION; the oldest dialect is understood everywhere.
    let dialects = [Dialect::of(&gl.info().glsl_support), Dialect::Everywhere];
    let mut made = dialects.into_iter().map(|dialect| {
        let (vertex, fragment) = (dialect.source(shader::VERTEX), dialect.source(fragment));
        let source = ShaderSource::Glsl { vertex: &vertex, fragment: &fragment };
        gl.new_shader(source, shader::meta())
    });
    let shader = made.find_map(Result::ok).expect("the shaders are constants");
    drop(made);
    let attributes = [
        VertexAttribute::new("a_position", VertexFormat::Float2),
        VertexAttribute::new("a_texel", VertexFormat::Float2),
        VertexAttribute::new("a_color", VertexFormat::Byte4),
    ];
    let params = PipelineParams { color_blend, cull_face: CullFace::Nothing, ..Default::default() };
    gl.new_pipeline(&[BufferLayout::default()], &attributes, shader, params)
}

/// A clip rectangle in pixels from the lower left corner, within the window: position and size.
fn scissor(clip: Rect, scale: f32, (width, height): (f32, f32)) -> (i32, i32, i32, i32) {
    let window = Rect::from_min_max(pos2(0.0, 0.0), pos2(width, height));
    let pixel = |value: f32, end: f32| (value * scale).clamp(0.0, end).round() as i32;
    let (left, right) = (pixel(clip.left(), window.right()), pixel(clip.right(), window.right()));
    let (top, bottom) = (pixel(clip.top(), window.bottom()), pixel(clip.bottom(), window.bottom()));
    (left, height as i32 - bottom, (right - left).max(0), (bottom - top).max(0))
}

/// The runs of a mesh, in its order. Unless it is the only one, each covers at least `least` square
/// points or needs its texture.
fn runs(mesh: &Mesh16, least: f32) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for corners in mesh.indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|n| &mesh.vertices[usize::from(corners[n])]);
        let is_plain = [a, b, c].iter().all(|vertex| vertex.uv == WHITE_UV);
        let is_opaque = [a, b, c].iter().all(|vertex| vertex.color.a() == u8::MAX);
        let kind = match (is_plain, is_opaque) {
            (true, true) => Kind::Opaque,
            (true, false) => Kind::Plain,
            (false, _) => Kind::Textured,
        };
        let (u, v) = (b.pos - a.pos, c.pos - a.pos);
        let area = (u.x * v.y - u.y * v.x).abs() / 2.0;
        match runs.last_mut().filter(|last| last.kind == kind) {
            Some(last) => (last.len, last.area) = (last.len + 3, last.area + area),
            None => runs.push(Run { kind, len: 3, area }),
        }
    }
    // First, small opaque runs become plain; then small plain ones become textured.
    for (small, kind) in [(Kind::Opaque, Kind::Plain), (Kind::Plain, Kind::Textured)] {
        runs = merged(runs, |run| run.kind == small && run.area < least, kind);
    }
    runs
}

/// Turns small runs into the given kind if a neighbour is of that kind, and joins equal neighbours.
fn merged(mut runs: Vec<Run>, is_small: impl Fn(&Run) -> bool, kind: Kind) -> Vec<Run> {
    for at in 0..runs.len() {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let is_beside = beside.filter_map(|it| runs.get(it)).any(|run| run.kind >= kind);
        if is_beside && is_small(&runs[at]) {
            runs[at].kind = kind;
        }
    }
    runs.dedup_by(|next, last| {
        let alike = next.kind == last.kind;
        if alike {
            (last.len, last.area) = (last.len + next.len, last.area + next.area);
        }
        alike
    });
    runs
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::Color32;
    use egui_macroquad::egui::epaint::Vertex;

    use super::*;

    /// A mesh of right-angled triangles, each given by the length of both short sides, the alpha,
    /// and whether it has a texture.
    fn mesh(triangles: &[(f32, u8, bool)]) -> Mesh16 {
        let mut mesh = Mesh16 { indices: vec![], vertices: vec![], texture_id: Default::default() };
        for (side, alpha, textured) in triangles {
            let uv = if *textured { pos2(0.5, 0.5) } else { WHITE_UV };
            let color = Color32::from_black_alpha(*alpha);
            for pos in [pos2(0.0, 0.0), pos2(*side, 0.0), pos2(0.0, *side)] {
                mesh.indices.push(mesh.vertices.len() as u16);
                mesh.vertices.push(Vertex { pos, uv, color });
            }
        }
        mesh
    }

    fn kinds(triangles: &[(f32, u8, bool)]) -> Vec<(Kind, usize)> {
        runs(&mesh(triangles), 100.0).iter().map(|run| (run.kind, run.len / 3)).collect()
    }

    #[test]
    fn triangles_are_painted_in_their_order_with_the_cheapest_shader() {
        let (floor, shade, letter) = ((50.0, 255, false), (50.0, 9, false), (5.0, 255, true));
        use Kind::{Opaque, Plain, Textured};
        assert_eq!(
            kinds(&[floor, floor, shade, letter, letter, shade]),
            [(Opaque, 2), (Plain, 1), (Textured, 2), (Plain, 1)]
        );
        assert_eq!(kinds(&[]), []);
    }

    #[test]
    fn small_runs_join_their_neighbours_where_those_show_them_too() {
        let (floor, dot, haze, letter) =
            ((50.0, 255, false), (2.0, 255, false), (2.0, 9, false), (5.0, 255, true));
        use Kind::{Opaque, Plain, Textured};
        assert_eq!(kinds(&[letter, dot, letter, haze, letter]), [(Textured, 5)]);
        assert_eq!(kinds(&[floor, haze, floor]), [(Opaque, 1), (Plain, 1), (Opaque, 1)]);
        assert_eq!(kinds(&[dot]), [(Opaque, 1)]);
        assert_eq!(kinds(&[haze, dot, haze]), [(Plain, 3)]);
    }

    #[test]
    fn clip_rectangles_stay_within_the_window() {
        let clip = Rect::from_min_max(pos2(-5.0, 10.0), pos2(2000.0, 30.0));
        assert_eq!(scissor(clip, 2.0, (1280.0, 720.0)), (0, 660, 1280, 40));
        let nothing = Rect::from_min_max(pos2(5.0, 5.0), pos2(3.0, 3.0));
        let (_, _, width, height) = scissor(nothing, 1.0, (1280.0, 720.0));
        assert_eq!((width, height), (0, 0));
        assert_eq!(scissor(Rect::EVERYTHING, 1.0, (64.0, 48.0)), (0, 0, 64, 48));
    }
}
