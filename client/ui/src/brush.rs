//! A brush that paints in world coordinates: positions and lengths in metres.
//!
//! [`Brush::local`] moves and turns the coordinates to those of an object: x ahead, y to its right.
//! Strokes are in points; [`Brush::stroke`] makes one of a width in metres.

use egui_macroquad::egui::epaint::{Mesh, PathStroke};
use egui_macroquad::egui::{self, Color32, Painter, Pos2, Rect, Shape, Stroke};
use glam::Vec2;

use super::camera::Camera;
use super::paint::{self, Circle, Dashes};

/// A painter that sees the world through a camera.
#[derive(Clone, Copy)]
pub struct Brush<'a> {
    /// Painter in points of the window.
    pub painter: &'a Painter,
    /// The camera.
    pub camera: Camera,
    /// Points per metre.
    pub metre: f32,
    origin: Pos2,
    /// The x axis in points per metre; the y axis is a quarter turn clockwise from it.
    x: egui::Vec2,
}

impl<'a> Brush<'a> {
    /// Creates a brush for the world.
    pub fn new(painter: &'a Painter, camera: Camera) -> Self {
        let (metre, origin) = (camera.scale, camera.to_screen(Vec2::ZERO));
        Self { painter, camera, metre, origin, x: egui::vec2(metre, 0.0) }
    }

    /// Creates a brush with its origin at a point and its x axis along a direction, whose length is
    /// the new metre.
    pub fn local(&self, origin: impl Into<Vec2>, along: Vec2) -> Self {
        let origin = self.point(origin);
        let x = self.point(along) - self.point(Vec2::ZERO);
        Self { origin, x, metre: x.length(), ..*self }
    }

    /// Creates a brush above the floor: the higher, the farther from the middle. `height` is a
    /// share of the camera's own height.
    pub fn raised(&self, height: f32) -> Self {
        let middle = self.camera.screen.center();
        let origin = middle + (self.origin - middle) * (1.0 + height);
        Self { origin, x: self.x * (1.0 + height), ..*self }
    }

    /// Position in the window.
    pub fn point(&self, at: impl Into<Vec2>) -> Pos2 {
        let at = at.into();
        self.origin + self.x * at.x + egui::vec2(-self.x.y, self.x.x) * at.y
    }

    fn points(&self, points: impl IntoIterator<Item = impl Into<Vec2>>) -> Vec<Pos2> {
        points.into_iter().map(|at| self.point(at)).collect()
    }

    /// A rectangle between two corners, on a brush whose axes are not turned.
    pub fn rect(&self, a: impl Into<Vec2>, b: impl Into<Vec2>) -> Rect {
        Rect::from_two_pos(self.point(a), self.point(b))
    }

    /// Rectangle in the window that surrounds a disc.
    pub fn around(&self, at: impl Into<Vec2>, radius: f32) -> Rect {
        let at = at.into();
        self.rect(at - radius, at + radius)
    }

    /// A stroke whose width is in metres.
    pub fn stroke(&self, width: f32, color: Color32) -> Stroke {
        Stroke::new(width * self.metre, color)
    }

    /// Paints a round spot that fades towards its rim.
    pub fn glow(&self, at: impl Into<Vec2>, radius: f32, color: Color32) {
        paint::glow(self.painter, self.point(at), radius * self.metre, color);
    }

    /// Paints a filled circle.
    pub fn disc(&self, at: impl Into<Vec2>, radius: f32, color: Color32) {
        self.circle(at, radius, color, Stroke::NONE);
    }

    /// Paints the outline of a circle.
    pub fn ring(&self, at: impl Into<Vec2>, radius: f32, stroke: impl Into<Stroke>) {
        self.circle(at, radius, Color32::TRANSPARENT, stroke);
    }

    /// Paints a filled circle with its outline.
    pub fn circle(&self, at: impl Into<Vec2>, radius: f32, fill: Color32, edge: impl Into<Stroke>) {
        self.painter.circle(self.point(at), radius * self.metre, fill, edge);
    }

    /// Paints a filled ellipse with two radii.
    pub fn ellipse(&self, at: impl Into<Vec2>, radii: egui::Vec2, color: Color32) {
        self.painter.add(Shape::ellipse_filled(self.point(at), radii * self.metre, color));
    }

    /// Paints part of a circle: start and length are in turns, clockwise.
    pub fn arc(
        &self,
        at: impl Into<Vec2>,
        radius: f32,
        (from, turns): (f32, f32),
        stroke: impl Into<Stroke>,
    ) {
        paint::arc(self.painter, self.in_window(at, radius), from, turns, stroke.into());
    }

    /// Paints a ring of dashes, as [`paint::dashes`] does.
    pub fn dashes(
        &self,
        at: impl Into<Vec2>,
        radius: f32,
        dashes: Dashes,
        stroke: impl Into<Stroke>,
    ) {
        paint::dashes(self.painter, self.in_window(at, radius), dashes, stroke.into());
    }

    fn in_window(&self, at: impl Into<Vec2>, radius: f32) -> Circle {
        Circle { middle: self.point(at), radius: radius * self.metre }
    }

    /// Paints a straight line.
    pub fn line<P: Into<Vec2>>(&self, ends: [P; 2], stroke: impl Into<Stroke>) {
        self.painter.line_segment(ends.map(|end| self.point(end)), stroke);
    }

    /// Paints a line through points.
    pub fn path(&self, points: impl IntoIterator<Item = impl Into<Vec2>>, edge: impl Into<Stroke>) {
        self.painter.add(Shape::line(self.points(points), PathStroke::from(edge.into())));
    }

    /// Paints a closed line through points.
    pub fn outline(
        &self,
        points: impl IntoIterator<Item = impl Into<Vec2>>,
        edge: impl Into<Stroke>,
    ) {
        self.painter.add(Shape::closed_line(self.points(points), PathStroke::from(edge.into())));
    }

    /// Paints a convex area with its outline.
    pub fn polygon(
        &self,
        points: impl IntoIterator<Item = impl Into<Vec2>>,
        fill: Color32,
        edge: impl Into<Stroke>,
    ) {
        self.painter.add(Shape::convex_polygon(self.points(points), fill, edge.into()));
    }

    /// Paints a line that is brightest along its middle, with a colour at each end.
    pub fn beam<P: Into<Vec2>>(&self, ends: [(P, Color32); 2], width: f32) {
        let ends = ends.map(|(at, color)| (self.point(at), color));
        paint::beam(self.painter, ends, width * self.metre);
    }

    /// Adds a convex area to a mesh; its corners are in order around it.
    pub fn quad<P: Into<Vec2>>(&self, mesh: &mut Mesh, corners: [P; 4], color: Color32) {
        self.fan(mesh, corners.map(|at| (at, color)));
    }

    /// Adds a convex area to a mesh; its corners are in order around it, with a colour each.
    pub fn fan<P: Into<Vec2>, const N: usize>(&self, mesh: &mut Mesh, corners: [(P, Color32); N]) {
        paint::fan(mesh, corners.map(|(at, color)| (self.point(at), color)));
    }
}
