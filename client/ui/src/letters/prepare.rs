//! Makes a system font safe and fit for egui.
//!
//! egui's font reader trusts fonts: a letter wider than its texture ends the program, and a font
//! with its own heights sets its letters off the line. So egui never sees the file. It gets a new
//! font, made of those tables that draw letters, with the line of egui's own font, and with a map
//! of only those letters that were drawn once here and fit.

use std::borrow::Cow;

use egui_macroquad::egui::{FontDefinitions, FontFamily};
use ttf_parser::{Face, GlyphId, OutlineBuilder, RawFace, Tag};

use super::coverage::{Coverage, END, Prepared};

/// Maximum size of a usable font in bytes. Collections of Chinese, Japanese and Korean letters have
/// 20 to 60 MB.
pub(super) const FONT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum reach of a letter from its origin, and maximum advance, in ems: the largest text of the
/// largest window is 774 pixels high, and egui's texture 2,048 wide.
const REACH_EM_MAX: f32 = 1.25;
const ADVANCE_EM_MAX: f32 = 2.5;
/// Maximum number of lines and curves of a letter; ideographs have some 500. Arbitrary.
const SEGMENTS_MAX: u32 = 8_000;
/// Tables that draw letters, in the order of their tags.
const TABLES: [&[u8; 4]; 8] =
    [b"CFF ", b"CFF2", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp"];

/// Heights above and below the line, and the gap between lines, in ems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    above: f32,
    below: f32,
    gap: f32,
}

/// Why a font cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unusable {
    #[error("the file is not a font, or is damaged")]
    Damaged,
    #[error("the font has more than {FONT_BYTES_MAX} bytes")]
    TooBig,
    #[error("the font has none of the letters")]
    NoLetters,
}

impl Line {
    /// The line of egui's own font.
    pub(super) fn of_egui() -> Self {
        let fonts = FontDefinitions::default();
        let first = fonts.families.get(&FontFamily::Proportional).and_then(|names| names.first());
        let data = first.and_then(|name| fonts.font_data.get(name));
        let line = data.and_then(|data| {
            let face = Face::parse(&data.font, data.index).ok()?;
            let ems = |units: i16| f32::from(units) / f32::from(face.units_per_em());
            let (above, below) = (ems(face.ascender()), ems(face.descender()));
            Some(Self { above, below, gap: ems(face.line_gap()) })
        });
        // Heights of a typical font, in case egui's is missing.
        line.unwrap_or(Self { above: 0.93, below: -0.19, gap: 0.03 })
    }
}

/// Letters for which a system font may be searched: those beyond ASCII that are neither control
/// characters nor for private use.
pub(super) fn all() -> impl Iterator<Item = char> {
    let letters = (0x80..END).filter_map(char::from_u32);
    letters.filter(|letter| !letter.is_control() && !matches!(letter, '\u{e000}'..='\u{f8ff}'))
}

/// Makes a font of the wanted letters of a file.
pub(super) fn prepare(
    file: &[u8],
    index: u32,
    line: Line,
    is_wanted: impl Fn(char) -> bool,
) -> Result<Prepared, Unusable> {
    let raw = RawFace::parse(file, index).map_err(|_| Unusable::Damaged)?;
    let face = Face::parse(file, index).map_err(|_| Unusable::Damaged)?;
    // The range of the standard; outside of it, egui ends the program.
    if !(16..=16_384).contains(&face.units_per_em()) {
        return Err(Unusable::Damaged);
    }
    let mut letters = Coverage::default();
    let mut map = Vec::new();
    for letter in all().filter(|letter| is_wanted(*letter)) {
        let glyph = face.glyph_index(letter).filter(|glyph| glyph.0 != 0);
        if let Some(glyph) = glyph.filter(|glyph| is_drawn(&face, letter, *glyph)) {
            letters.insert(letter);
            map.push((u32::from(letter), glyph.0));
        }
    }
    if map.is_empty() {
        return Err(Unusable::NoLetters);
    }
    let mut tables: Vec<(&[u8; 4], Cow<'_, [u8]>)> = Vec::new();
    for tag in TABLES {
        let Some(table) = raw.table(Tag::from_bytes(tag)) else { continue };
        let mut table = Cow::Borrowed(table);
        if tag == b"hhea" {
            set_line(table.to_mut(), line, face.units_per_em()).ok_or(Unusable::Damaged)?;
        }
        tables.push((tag, table));
    }
    tables.push((b"cmap", character_map(&map).into()));
    tables.sort_by_key(|(tag, _)| *tag);
    let data = font_file(&tables)?;
    // Parsed again, as egui will do.
    let whole = Face::parse(&data, 0).map_err(|_| Unusable::Damaged)?;
    let same = |(code, glyph): &(u32, u16)| {
        char::from_u32(*code).and_then(|it| whole.glyph_index(it)) == Some(GlyphId(*glyph))
    };
    if map.iter().all(same) { Ok(Prepared { data, letters }) } else { Err(Unusable::Damaged) }
}

/// Whether the font draws a letter, within its bounds. A blank needs no outline.
pub(super) fn is_drawn(face: &Face<'_>, letter: char, glyph: GlyphId) -> bool {
    let em = f32::from(face.units_per_em());
    let wide = |advance: u16| f32::from(advance) <= ADVANCE_EM_MAX * em;
    if !face.glyph_hor_advance(glyph).is_some_and(wide) {
        return false;
    }
    let mut segments = Segments(0);
    let fits = |edge: i16| f32::from(edge).abs() <= REACH_EM_MAX * em;
    match face.outline_glyph(glyph, &mut segments) {
        Some(bounds) => {
            // Marks and broad letters may stand beside their origin.
            let broad = bounds.x_min >= 0 && f32::from(bounds.x_max) <= ADVANCE_EM_MAX * em;
            let high = fits(bounds.y_min) && fits(bounds.y_max);
            high && (broad || fits(bounds.x_min) && fits(bounds.x_max))
                && segments.0 <= SEGMENTS_MAX
        }
        None => letter.is_whitespace(),
    }
}

/// Puts the heights of a line into a table of horizontal metrics.
fn set_line(table: &mut [u8], line: Line, units_per_em: u16) -> Option<()> {
    let heights = table.get_mut(4..10)?;
    for (bytes, ems) in heights.chunks_exact_mut(2).zip([line.above, line.below, line.gap]) {
        let units = (ems * f32::from(units_per_em)).round() as i16;
        bytes.copy_from_slice(&units.to_be_bytes());
    }
    Some(())
}

/// A table that maps characters to glyphs, in order: the standard's format 12.
fn character_map(map: &[(u32, u16)]) -> Vec<u8> {
    let mut groups: Vec<(u32, u32, u32)> = Vec::new();
    for (code, glyph) in map.iter().map(|(code, glyph)| (*code, u32::from(*glyph))) {
        match groups.last_mut() {
            Some((first, last, start)) if *last + 1 == code && *start + code - *first == glyph => {
                *last = code;
            }
            _ => groups.push((code, code, glyph)),
        }
    }
    let mut table = Vec::with_capacity(28 + groups.len() * 12);
    // Version, number of subtables; then platform, encoding (all of Unicode), and place.
    [0, 1, 3, 10].iter().for_each(|it: &u16| table.extend(it.to_be_bytes()));
    table.extend(12_u32.to_be_bytes());
    [12, 0].iter().for_each(|it: &u16| table.extend(it.to_be_bytes()));
    let words = [16 + groups.len() as u32 * 12, 0, groups.len() as u32];
    let groups = groups.into_iter().flat_map(|(first, last, start)| [first, last, start]);
    words.into_iter().chain(groups).for_each(|it| table.extend(it.to_be_bytes()));
    table
}

/// A font file of tables, which are in the order of their tags.
fn font_file(tables: &[(&[u8; 4], Cow<'_, [u8]>)]) -> Result<Vec<u8>, Unusable> {
    let directory = 12 + tables.len() * 16;
    let padded = |table: &[u8]| table.len().next_multiple_of(4);
    let size = directory + tables.iter().map(|(_, table)| padded(table)).sum::<usize>();
    if size > FONT_BYTES_MAX {
        return Err(Unusable::TooBig);
    }
    let mut file = Vec::with_capacity(size);
    let has_curves_of_third_order = tables.iter().any(|(tag, _)| tag.starts_with(b"CFF"));
    file.extend(if has_curves_of_third_order { b"OTTO" } else { b"\0\x01\0\0" });
    // The rest of the header only speeds up searching, and is not read.
    [tables.len() as u16, 0, 0, 0].iter().for_each(|it| file.extend(it.to_be_bytes()));
    let mut at = directory;
    for (tag, table) in tables {
        file.extend(*tag);
        [0, at as u32, table.len() as u32].iter().for_each(|it| file.extend(it.to_be_bytes()));
        at += padded(table);
    }
    for (_, table) in tables {
        file.extend(table.iter());
        file.resize(file.len().next_multiple_of(4), 0);
    }
    Ok(file)
}

/// Number of lines and curves of an outline.
struct Segments(u32);

impl OutlineBuilder for Segments {
    fn move_to(&mut self, _: f32, _: f32) {
        self.0 += 1;
    }
    fn line_to(&mut self, _: f32, _: f32) {
        self.0 += 1;
    }
    fn quad_to(&mut self, _: f32, _: f32, _: f32, _: f32) {
        self.0 += 1;
    }
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {
        self.0 += 1;
    }
    fn close(&mut self) {}
}
