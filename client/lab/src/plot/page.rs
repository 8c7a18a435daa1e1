//! The page that a plot's SVG elements are written to, and the parts shared by all plots.

use std::fmt::{self, Write};

use super::axis::{Range, Scale, TICKS, drawable, ticks};
use super::series::Series;
use crate::strokes::{Marker, Stroke};

/// Width of a page in points, like all lengths here.
pub(super) const WIDTH: f64 = 900.0;
pub(super) const MARGIN: f64 = 20.0;
pub(super) const INK: &str = "#1a1d23";
pub(super) const SUBDUED: &str = "#5c6470";
const GRID: &str = "#e4e7eb";
const FRAME: &str = "#9aa1ab";
const LOST: &str = "#c4302b";
const FONTS: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";
const STROKE_WIDTH: f64 = 1.9;
/// Radius of markers at measured values, and along curves without any.
const MARKER: f64 = 4.0;
const MARKER_ALONG: f64 = 3.3;
/// Maximum number of markers along a curve. Arbitrary.
const MARKERS_MAX: usize = 100;
/// Points of a path nearer than this to the last drawn one are left out: the difference is
/// invisible.
const NEAR: f64 = 0.2;
/// Length of a legend's line, which shows any dash once, and of the gap behind it.
const SAMPLE: f64 = 46.0;
const SAMPLE_GAP: f64 = 10.0;
const LEGEND_SIZE: f64 = 12.5;
const LEGEND_LINE: f64 = 16.0;

/// A coordinate, rounded to two decimals.
pub(super) fn px(value: f64) -> String {
    // NaN becomes 0, and too large a number the largest.
    let hundredths = (value * 100.0).round() as i64;
    let size = hundredths.unsigned_abs();
    let text = format!("{}.{:02}", size / 100, size % 100);
    let sign = if hundredths < 0 { "-" } else { "" };
    sign.to_owned() + text.trim_end_matches('0').trim_end_matches('.')
}

/// Escapes text for XML, in an element or an attribute.
fn escaped(text: &str) -> String {
    let escape = |letter| match letter {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '"' => "&quot;".into(),
        '\'' => "&#39;".into(),
        '\t' | '\n' | '\r' => String::from(letter),
        // XML allows no other control characters, not even escaped.
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}".into(),
        _ => letter.into(),
    };
    text.chars().map(escape).collect()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn grown(self, more: f64) -> Self {
        let (width, height) = (self.width + 2.0 * more, self.height + 2.0 * more);
        Self { x: self.x - more, y: self.y - more, width, height }
    }

    fn attributes(self) -> String {
        let [x, y, width, height] = [self.x, self.y, self.width, self.height].map(px);
        format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
    }

    pub(super) fn across(self, range: Range) -> Scale {
        Scale { range, from: self.x, to: self.x + self.width }
    }

    pub(super) fn up(self, range: Range) -> Scale {
        Scale { range, from: self.y + self.height, to: self.y }
    }
}

/// The sign before a legend's text.
pub(super) enum Sample<'a> {
    Stroke(&'a Stroke),
    Truth,
    Update,
    Lost,
}

/// A sample, a name, and a note, which may be empty.
pub(super) type Entry<'a> = (Sample<'a>, &'a str, &'a str);

pub(super) fn entry(series: &Series) -> Entry<'_> {
    (Sample::Stroke(&series.stroke), &series.name, &series.note)
}

/// Which end of a text is at its position.
pub(super) const START: &str = "";
pub(super) const MIDDLE: &str = " text-anchor=\"middle\"";
pub(super) const END: &str = " text-anchor=\"end\"";

/// How a text is written.
#[derive(Clone, Copy)]
struct Writing<'a> {
    /// The end that stands at its position.
    anchor: &'static str,
    size: f64,
    fill: &'static str,
    /// Further attributes.
    more: &'a str,
}

impl Writing<'_> {
    /// The label of an axis.
    const LABEL: Self = Self { anchor: MIDDLE, size: 12.5, fill: INK, more: "" };

    /// A number at an axis.
    const fn number(anchor: &'static str) -> Self {
        Self { anchor, size: 11.5, fill: SUBDUED, more: "" }
    }
}

/// A page being written, from the top.
pub(super) struct Page {
    body: String,
    width: f64,
    /// Lower end of what has been written.
    pub(super) end: f64,
}

impl Page {
    pub(super) fn new(width: f64, title: &str, subtitle: &str) -> Self {
        let mut page = Self { body: String::new(), width, end: 12.0 };
        for (text, size, style) in [(title, 17.0, "font-weight=\"bold\""), (subtitle, 12.5, "")] {
            let fill = if style.is_empty() { SUBDUED } else { INK };
            for line in wrapped(text, width - 2.0 * MARGIN, size) {
                page.end += size * 1.32;
                let writing = Writing { anchor: START, size, fill, more: style };
                page.text([MARGIN, page.end], writing, &line);
            }
        }
        page.end += 18.0;
        page
    }

    pub(super) fn add(&mut self, piece: fmt::Arguments<'_>) {
        self.body.write_fmt(piece).expect("a string takes any text");
        self.body.push('\n');
    }

    fn text(&mut self, [x, y]: [f64; 2], writing: Writing<'_>, text: &str) {
        let Writing { anchor, size, fill, more } = writing;
        let gap = if more.is_empty() { "" } else { " " };
        let (x, y, text) = (px(x), px(y), escaped(text));
        self.add(format_args!(
            "<text x=\"{x}\" y=\"{y}\"{anchor} font-size=\"{size}\" \
             fill=\"{fill}\"{gap}{more}>{text}</text>"
        ));
    }

    /// Draws a vertical axis with its grid.
    pub(super) fn vertical(&mut self, area: Area, scale: Scale, label: Option<&str>) {
        for (value, number) in ticks(scale.range, TICKS) {
            let y = scale.at(value);
            self.rule([area.x, y], [area.x + area.width, y], GRID);
            if label.is_some() {
                self.text([area.x - 7.0, y + 4.0], Writing::number(END), &number);
            }
        }
        if let Some(label) = label {
            let [x, y] = [MARGIN + 8.0, area.y + area.height / 2.0];
            let turned = format!("transform=\"rotate(-90 {} {})\"", px(x), px(y));
            self.text([x, y], Writing { more: &turned, ..Writing::LABEL }, label);
        }
    }

    pub(super) fn horizontal(&mut self, area: Area, scale: Scale, label: &str) {
        for (value, number) in ticks(scale.range, (area.width / 85.0).clamp(2.0, 10.0)) {
            self.tick_across(area, scale.at(value), &number);
        }
        self.label_across(area, label);
    }

    pub(super) fn tick_across(&mut self, area: Area, x: f64, number: &str) {
        let bottom = area.y + area.height;
        self.rule([x, area.y], [x, bottom], GRID);
        self.text([x, bottom + 16.0], Writing::number(MIDDLE), number);
    }

    pub(super) fn label_across(&mut self, area: Area, label: &str) {
        let at = [area.x + area.width / 2.0, area.y + area.height + 36.0];
        self.text(at, Writing::LABEL, label);
    }

    fn rule(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], color: &str) {
        let (x1, y1, x2, y2) = (px(x1), px(y1), px(x2), px(y2));
        self.add(format_args!("<path d=\"M{x1} {y1}L{x2} {y2}\" stroke=\"{color}\"/>"));
    }

    pub(super) fn frame(&mut self, area: Area) {
        let area = area.attributes();
        self.add(format_args!("<rect {area} fill=\"none\" stroke=\"{FRAME}\"/>"));
    }

    /// Cuts off what follows, until [`Self::unclip`], outside of an area.
    pub(super) fn clip(&mut self, area: Area) {
        let view = [area.x, area.y, area.width, area.height].map(px).join(" ");
        // An inner picture clips without an id, which could clash with another picture's on the
        // same web page.
        let area = area.attributes();
        self.add(format_args!("<svg {area} viewBox=\"{view}\" overflow=\"hidden\">"));
    }

    pub(super) fn unclip(&mut self) {
        self.add(format_args!("</svg>"));
    }

    /// Draws a curve in its stroke, with markers along it; if it has few points, at these.
    pub(super) fn curve(&mut self, pieces: &[Vec<[f64; 2]>], stroke: &Stroke, phase: f64) {
        self.path(pieces, &line(stroke));
        let few = pieces.iter().map(Vec::len).sum::<usize>() <= 24;
        let (positions, radius) =
            if few { (pieces.concat(), MARKER) } else { (along(pieces, phase), MARKER_ALONG) };
        self.markers(&positions, stroke, radius);
    }

    /// Draws a line through means, with a marker for each, however many they are.
    pub(super) fn means(&mut self, points: &[[f64; 2]], stroke: &Stroke) {
        let joined = [points.to_vec()];
        // White beneath separates it from the clouds.
        self.path(&joined, "stroke=\"#fff\" stroke-width=\"4.2\" stroke-opacity=\"0.75\"");
        self.path(&joined, &line(stroke));
        self.markers(points, stroke, MARKER);
    }

    /// Draws a line through points of the page for each piece, in the given style.
    pub(super) fn path(&mut self, pieces: &[Vec<[f64; 2]>], style: &str) {
        let mut data = String::new();
        for piece in pieces {
            let mut last = None;
            for (index, point) in piece.iter().enumerate() {
                let letter = match last {
                    None => 'M',
                    Some(last) if distance(last, *point) < NEAR && index + 1 < piece.len() => {
                        continue;
                    }
                    Some(_) => 'L',
                };
                last = Some(*point);
                write!(data, "{letter}{} {}", px(point[0]), px(point[1]))
                    .expect("a string takes any text");
            }
        }
        if !data.is_empty() {
            self.add(format_args!("<path d=\"{data}\" stroke-linejoin=\"round\" {style}/>"));
        }
    }

    /// Draws a stroke's markers, with a white rim that separates them from the lines beneath.
    fn markers(&mut self, positions: &[[f64; 2]], stroke: &Stroke, radius: f64) {
        if positions.is_empty() {
            return;
        }
        let fill = color(stroke.color);
        self.add(format_args!(
            "<g fill=\"{fill}\" stroke=\"#fff\" stroke-width=\"1.8\" paint-order=\"stroke\">"
        ));
        let outline = stroke.marker.outline();
        for [x, y] in positions {
            if stroke.marker == Marker::Circle {
                let (x, y) = (px(*x), px(*y));
                self.add(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
                continue;
            }
            let corner = |corner: &[f32; 2]| {
                let [dx, dy] = corner.map(|part| f64::from(part) * radius * 1.2);
                format!("{} {}", px(x + dx), px(y + dy))
            };
            let data: Vec<String> = outline.iter().map(corner).collect();
            self.add(format_args!("<path d=\"M{}Z\"/>", data.join("L")));
        }
        self.add(format_args!("</g>"));
    }

    /// Draws rings for updates that arrived and crosses for lost ones; the denser they are, the
    /// smaller.
    pub(super) fn updates(&mut self, came: &[[f64; 2]], lost: &[[f64; 2]]) {
        let walked: f64 = came.windows(2).map(|pair| distance(pair[0], pair[1])).sum();
        let apart = if came.len() > 1 { walked / (came.len() - 1) as f64 } else { f64::MAX };
        let radius = (apart * 0.3).clamp(1.6, 3.4);
        for [x, y] in came {
            let (x, y, radius) = (px(*x), px(*y), px(radius));
            self.add(format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" stroke=\"{INK}\"/>"
            ));
        }
        for [x, y] in lost {
            let [left, right] = [px(x - radius), px(x + radius)];
            let [top, bottom] = [px(y - radius), px(y + radius)];
            self.add(format_args!(
                "<path d=\"M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}\" \
                 stroke=\"{LOST}\" stroke-width=\"1.6\"/>"
            ));
        }
    }

    pub(super) fn truth(&mut self, pieces: &[Vec<[f64; 2]>]) {
        let style = "stroke=\"#ccd1d9\" stroke-width=\"7\" stroke-linecap=\"round\"";
        self.path(pieces, style);
    }

    /// Draws the legend in columns of this width, read down column by column. Returns its height.
    pub(super) fn legend(
        &mut self,
        [x, y]: [f64; 2],
        width: f64,
        columns: usize,
        entries: &[Entry<'_>],
    ) -> f64 {
        let room = width - SAMPLE - SAMPLE_GAP - 14.0;
        let rows = entries.len().div_ceil(columns.max(1)).max(1);
        let mut lowest = y;
        for (column, entries) in entries.chunks(rows).enumerate() {
            let x = x + column as f64 * width;
            let mut y = y;
            for (sample, name, note) in entries {
                self.sample([x, y + LEGEND_LINE / 2.0], sample);
                for (text, fill) in [(name, INK), (note, SUBDUED)] {
                    for line in wrapped(text, room, LEGEND_SIZE) {
                        y += LEGEND_LINE;
                        let at = [x + SAMPLE + SAMPLE_GAP, y - 3.6];
                        let size = LEGEND_SIZE;
                        let writing = Writing { anchor: START, size, fill, more: "" };
                        self.text(at, writing, &line);
                    }
                }
                y += 7.0;
            }
            lowest = lowest.max(y);
        }
        lowest - y
    }

    fn sample(&mut self, [x, y]: [f64; 2], sample: &Sample<'_>) {
        let straight = [vec![[x, y], [x + SAMPLE, y]]];
        let middle = [x + SAMPLE / 2.0, y];
        match sample {
            Sample::Stroke(stroke) => {
                self.path(&straight, &line(stroke));
                self.markers(&[middle], stroke, MARKER);
            }
            Sample::Truth => self.truth(&straight),
            Sample::Update => self.updates(&[middle], &[]),
            Sample::Lost => self.updates(&[], &[middle]),
        }
    }

    /// Finishes the picture, with a description for people who cannot see it.
    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let (width, height, body) = (px(self.width), px(self.end + MARGIN / 2.0), self.body);
        let (title, description) = (escaped(title), escaped(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" \
             fill=\"none\">\n<title>{title}</title>\n<desc>{description}</desc>\n<rect \
             width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{body}</svg>\n"
        )
    }
}

pub(super) fn color([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The attributes of a line.
fn line(stroke: &Stroke) -> String {
    let mut style = format!("stroke=\"{}\" stroke-width=\"{STROKE_WIDTH}\"", color(stroke.color));
    if !stroke.dash.is_empty() {
        let lengths: Vec<String> = stroke.dash.iter().map(f32::to_string).collect();
        style += &format!(" stroke-dasharray=\"{}\"", lengths.join(" "));
    }
    style
}

/// The pieces of a curve on the page, broken where it cannot be drawn.
pub(super) fn placed(pieces: &[Vec<[f64; 2]>], x: Scale, y: Scale) -> Vec<Vec<[f64; 2]>> {
    let broken = |point: &[f64; 2]| !drawable(point[0]) || !drawable(point[1]);
    let pieces = pieces.iter().flat_map(|piece| piece.split(broken));
    let pieces = pieces.filter(|piece| !piece.is_empty());
    let at = |point: &[f64; 2]| [x.at(point[0]), y.at(point[1])];
    pieces.map(|piece| piece.iter().map(at).collect()).collect()
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Positions along the visible part of a curve, at even distances of 60 to 200, about twelve of
/// them. The phase, from 0 to 1, shifts them, so that the markers of overlapping curves do not
/// cover each other.
fn along(pieces: &[Vec<[f64; 2]>], phase: f64) -> Vec<[f64; 2]> {
    let on_page = |point: [f64; 2]| point.iter().all(|part| (0.0..=2.0 * WIDTH).contains(part));
    let steps = || {
        let steps = pieces.iter().flat_map(|piece| piece.windows(2)).map(|step| (step[0], step[1]));
        steps.filter(|(from, to)| on_page(*from) && on_page(*to))
    };
    let length: f64 = steps().map(|(from, to)| distance(from, to)).sum();
    let every = (length / 12.0).clamp(60.0, 200.0);
    let (mut next, mut walked) = (every * phase, 0.0);
    let mut positions = Vec::new();
    for (from, to) in steps() {
        let step = distance(from, to);
        while next <= walked + step && step > 0.0 && positions.len() < MARKERS_MAX {
            let share = (next - walked) / step;
            positions
                .push([from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]);
            next += every;
        }
        walked += step;
    }
    positions
}

/// Breaks a text into lines of about this width. Without the font, a letter is assumed to be half
/// as wide as the text is high, which is about Helvetica's mean.
pub(super) fn wrapped(text: &str, width: f64, size: f64) -> Vec<String> {
    let letters = ((width / (size * 0.5)) as usize).max(4);
    let words = text.split_whitespace().map(|word| word.chars().collect::<Vec<_>>());
    let mut lines: Vec<Vec<char>> = Vec::new();
    for word in words {
        // A word that is too long is broken.
        for part in word.chunks(letters) {
            match lines.last_mut().filter(|line| line.len() + 1 + part.len() <= letters) {
                Some(line) => line.extend([' '].iter().chain(part)),
                None => lines.push(part.to_vec()),
            }
        }
    }
    lines.into_iter().map(String::from_iter).collect()
}
