//! Searches the system's fonts for one that has a letter. It may read many files, so it runs on its
//! own thread.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use fontdb::{Database, FaceInfo, ID, Style};
use ttf_parser::Face;

use super::coverage::{Coverage, Prepared};
use super::prepare::{FONT_BYTES_MAX, Line, is_drawn, prepare};

/// Maximum number of fonts used besides egui's own, and their total bytes. Arbitrary: one script
/// seldom needs two, and two collections of ideographs have 40 MB.
const FONTS_MAX: usize = 16;
const BYTES_MAX: usize = 128 * 1024 * 1024;

/// Fonts of the system.
pub(super) struct System {
    faces: Database,
    /// Faces that are in use or cannot be used.
    done: HashSet<ID>,
    /// Letters that no longer need a font.
    base: Coverage,
    line: Line,
    fonts_left: usize,
    bytes_left: usize,
}

impl System {
    /// Fonts that the system has installed.
    pub(super) fn installed(base: Coverage) -> Self {
        let mut faces = Database::new();
        guarded(|| faces.load_system_fonts());
        Self::new(faces, base)
    }

    /// These fonts.
    pub(super) fn new(faces: Database, base: Coverage) -> Self {
        let (fonts_left, bytes_left) = (FONTS_MAX, BYTES_MAX);
        let line = Line::of_egui();
        Self { faces, done: HashSet::new(), base, line, fonts_left, bytes_left }
    }

    /// Finds fonts that have the wanted letters, as far as possible. `language` is the code of the
    /// window's language.
    pub(super) fn find(&mut self, wanted: &[char], language: &str) -> Vec<Prepared> {
        let is_missing = |letter: &char| !self.base.has(*letter);
        let mut left: BTreeSet<char> = wanted.iter().copied().filter(is_missing).collect();
        let mut found = Vec::new();
        while let Some(first) = left.first().copied() {
            let script = script(first);
            let group: Vec<_> =
                left.iter().copied().filter(|it| self::script(*it) == script).collect();
            match self.best(&group, language) {
                Some(font) => {
                    left.retain(|letter| !font.letters.has(*letter));
                    found.push(font);
                }
                None => left.retain(|letter| self::script(*letter) != script),
            }
        }
        found
    }

    /// The best font for letters of one script; it has at least one of them.
    fn best(&mut self, letters: &[char], language: &str) -> Option<Prepared> {
        if self.fonts_left == 0 {
            return None;
        }
        let region = region(letters, language);
        let is_open = |face: &&FaceInfo| !self.done.contains(&face.id);
        let mut faces: Vec<_> = self.faces.faces().filter(is_open).collect();
        faces.retain(|face| !face.families.iter().any(|(name, _)| is_last_resort(name)));
        let ranked = faces.into_iter().map(|face| (self.shown(face, letters), face));
        let mut ranked: Vec<_> = ranked
            .filter(|(shown, _)| *shown > 0)
            .map(|(shown, face)| {
                (Reverse((shown, rank(face, region))), &face.post_script_name, face.id)
            })
            .collect();
        // By name as the last criterion, so that each start makes the same choice.
        ranked.sort();
        let ranked: Vec<_> = ranked.into_iter().map(|(_, _, id)| id).collect();
        for id in ranked {
            let made = guarded(|| {
                self.faces.with_face_data(id, |file, index| {
                    prepare(file, index, self.line, |letter| !self.base.has(letter))
                })
            });
            let made = made.flatten();
            match made {
                Some(Ok(font)) if font.data.len() > self.bytes_left => continue,
                Some(Ok(font)) if letters.iter().any(|letter| font.letters.has(*letter)) => {
                    self.done.insert(id);
                    self.fonts_left -= 1;
                    self.bytes_left -= font.data.len();
                    self.base.extend(&font.letters);
                    return Some(font);
                }
                _ => self.done.insert(id),
            };
        }
        None
    }

    /// Number of these letters that a face draws.
    fn shown(&self, face: &FaceInfo, letters: &[char]) -> usize {
        let count = |file: &[u8], index| {
            // A collection shares its tables, so its size does not bound a face; `prepare` checks
            // again.
            if file.len() > 4 * FONT_BYTES_MAX {
                return 0;
            }
            let Ok(face) = Face::parse(file, index) else { return 0 };
            let is_shown = |letter: &&char| {
                let glyph = face.glyph_index(**letter).filter(|glyph| glyph.0 != 0);
                glyph.is_some_and(|glyph| is_drawn(&face, **letter, glyph))
            };
            letters.iter().filter(is_shown).count()
        };
        guarded(|| self.faces.with_face_data(face.id, count)).flatten().unwrap_or(0)
    }
}

/// Runs code that reads foreign files. In builds with debug assertions, the font readers panic at
/// numbers that no font has; such a file is skipped.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Rank of a face among those that show as many letters; more is better. Plain letters without
/// serifs and of a usual weight resemble egui's own.
fn rank(face: &FaceInfo, region: &str) -> impl Ord + use<> {
    let has = |part: &str| face.families.iter().any(|(name, _)| name.contains(part));
    let is_plain = face.style == Style::Normal;
    let off_weight = face.weight.0.abs_diff(400);
    let is_sans = ["Sans", "Gothic", "Hei", " UI"].into_iter().any(has);
    let is_regional = face.families.iter().any(|(name, _)| name.ends_with(region));
    // Unifont has every letter, in a coarse grid.
    (!has("Unifont"), is_plain, Reverse(off_weight), !face.monospaced, is_sans, is_regional)
}

/// Whether a font family has a box for each letter.
fn is_last_resort(family: &str) -> bool {
    ["LastResort", "Last Resort"].into_iter().any(|it| family.contains(it))
}

/// A number shared by letters that one font should show: those of a script, generally a block of
/// 256 characters.
fn script(letter: char) -> u32 {
    match u32::from(letter) {
        // Arabic with its joined forms, and Hebrew with its points.
        0x0600..=0x06ff | 0x0750..=0x077f | 0xfb50..=0xfdff | 0xfe70..=0xfeff => 0x06,
        0x0590..=0x05ff | 0xfb1d..=0xfb4f => 0x05,
        // Chinese, Japanese and Korean.
        0x1100..=0x11ff
        | 0x2e80..=0x9fff
        | 0xa960..=0xa97f
        | 0xac00..=0xd7ff
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe4f
        | 0xff00..=0xffef
        | 0x2_0000.. => 0x4e,
        0x2600..=0x27bf | 0x1_f000..=0x1_faff => 0x1f6,
        // Half-blocks below, each with an Indic script.
        code @ 0x0900..=0x0dff => 0x1000 + code / 0x80,
        code => code / 0x100,
    }
}

/// Suffix of the font families whose ideographs look as readers of these letters write them.
fn region(letters: &[char], language: &str) -> &'static str {
    let any = |range: std::ops::RangeInclusive<char>| letters.iter().any(|it| range.contains(it));
    match language.split('-').next().unwrap_or_default() {
        _ if any('\u{3040}'..='\u{30ff}') => "JP",
        _ if any('\u{ac00}'..='\u{d7ff}') => "KR",
        _ if any('\u{3100}'..='\u{312f}') => "TC",
        "ja" => "JP",
        "ko" => "KR",
        _ => "SC",
    }
}
