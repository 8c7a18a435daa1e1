//! Letters of any script: fonts of the system for those that egui's own lack, and the order and
//! the joined forms of those that egui sets one by one.
//!
//! ```text
//! a frame's texts -> Letters::follow --(letters without a font)--> search, on a thread of its own
//!                         |                                           | prepare: safe, and fit
//!        joined (join) and in order (order)     Letters::take <-------+
//! ```
//!
//! Texts are looked at where they are drawn, so that none is missed, wherever it comes from. A
//! letter is searched once: where no font has it, egui's box stays.

mod coverage;
mod join;
mod order;
#[cfg(feature = "system-fonts")]
mod prepare;
#[cfg(feature = "system-fonts")]
mod search;
mod size;
#[cfg(all(test, feature = "system-fonts"))]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
#[cfg(feature = "system-fonts")]
use std::time::Duration;

use egui_macroquad::egui::epaint::{ClippedShape, TextShape};
use egui_macroquad::egui::{Context, FontData, FontDefinitions, FontFamily, Galley, Shape};

use phaselock::wire::text::is_hidden;

use self::coverage::{Coverage, Prepared};
use self::join::join;
#[cfg(feature = "system-fonts")]
use self::search::System;
use self::size::enlarge;
use super::paint::note_letters;
use super::words;

/// Maximum number of letters searched while the program runs: a reader of Chinese knows some 3,000,
/// and one font has them. Players whose names use rare letters cannot cause more searches.
const ASKED_MAX: u32 = 4096;
/// Interval between searches: letters that arrive meanwhile are searched together.
#[cfg(feature = "system-fonts")]
const PAUSE: Duration = Duration::from_millis(300);

/// The window's fonts.
#[derive(Default)]
pub struct Letters {
    /// Scale of all letters.
    scale: f32,
    /// Code of the player's language.
    language: String,
    /// Fonts of the system that are in use.
    fonts: Vec<&'static [u8]>,
    /// Letters that the fonts have.
    covered: Coverage,
    asked: Coverage,
    asked_count: u32,
    /// Letters to search, gathered over a frame.
    wanted: Vec<char>,
    search: Option<(Sender<Request>, Receiver<Vec<Prepared>>)>,
    /// Texts that are not shown as egui sets them, by the address of egui's galley.
    ordered: HashMap<*const Galley, Ordered>,
}

/// Letters to search, for a language.
type Request = (Vec<char>, String);

/// A text as egui sets it, and as it is shown.
struct Ordered {
    // Kept, so that its address is not reused.
    _set: Arc<Galley>,
    shown: Arc<Galley>,
    is_used: bool,
}

impl Letters {
    /// Starts with egui's own fonts.
    pub fn new() -> Self {
        Self { scale: 1.0, covered: Coverage::of_egui(), ..Self::default() }
    }

    /// Makes all letters larger by a factor, and prefers fonts for the language with this code.
    pub fn set(&mut self, ctx: &Context, scale: f32, language: &str) {
        if self.language != language {
            self.language = language.to_owned();
        }
        if self.scale != scale {
            self.scale = scale;
            ctx.set_fonts(self.definitions());
            note_letters(ctx, scale);
        }
    }

    /// Takes over fonts found since the last frame.
    pub(crate) fn take(&mut self, ctx: &Context) {
        let Some((_, found)) = &self.search else { return };
        let before = self.fonts.len();
        for font in found.try_iter().flatten() {
            self.covered.extend(&font.letters);
            // egui copies fonts that it owns whenever a size changes. These stay in use to the end,
            // and the search limits their number.
            self.fonts.push(Box::leak(font.data.into_boxed_slice()));
        }
        if self.fonts.len() > before {
            ctx.set_fonts(self.definitions());
        }
    }

    /// Checks a frame's texts: searches for fonts for missing letters, and reorders letters that
    /// egui leaves in the order of writing.
    pub(crate) fn follow(&mut self, ctx: &Context, shapes: &mut [ClippedShape]) {
        for clipped in shapes {
            self.visit(ctx, &mut clipped.shape);
        }
        self.ordered.retain(|_, text| std::mem::take(&mut text.is_used));
        if !self.wanted.is_empty() {
            let wanted = std::mem::take(&mut self.wanted);
            let language = self.language.clone();
            let (asked, _) = self.search.get_or_insert_with(|| start(self.covered.clone()));
            // A search that has ended finds nothing more: the boxes stay.
            asked.send((wanted, language)).ok();
        }
    }

    fn visit(&mut self, ctx: &Context, shape: &mut Shape) {
        match shape {
            Shape::Vec(shapes) => shapes.iter_mut().for_each(|shape| self.visit(ctx, shape)),
            Shape::Text(text) if !text.galley.job.text.is_ascii() => self.visit_text(ctx, text),
            _ => {}
        }
    }

    fn visit_text(&mut self, ctx: &Context, text: &mut TextShape) {
        let mut is_reordered = false;
        for letter in text.galley.job.text.chars().filter(|letter| !letter.is_ascii()) {
            self.want(letter);
            is_reordered |= order::is_reordered(letter);
        }
        if !is_reordered {
            return;
        }
        let key = Arc::as_ptr(&text.galley);
        if !self.ordered.contains_key(&key) {
            let shown = Arc::new(self.set_in_order(ctx, &text.galley));
            let set = Arc::clone(&text.galley);
            self.ordered.insert(key, Ordered { _set: set, shown, is_used: true });
        }
        if let Some(ordered) = self.ordered.get_mut(&key) {
            ordered.is_used = true;
            text.galley = Arc::clone(&ordered.shown);
        }
    }

    /// A text with its letters joined and in order.
    fn set_in_order(&mut self, ctx: &Context, galley: &Arc<Galley>) -> Galley {
        let joined = join(&galley.job.text, |form| self.want(form));
        let mut shown = match joined {
            Some(joined) => {
                let mut job = (*galley.job).clone();
                for section in &mut job.sections {
                    let range = &section.byte_range;
                    section.byte_range = joined.place(range.start)..joined.place(range.end);
                }
                job.text = joined.text;
                (*ctx.fonts(|fonts| fonts.layout_job(job))).clone()
            }
            None => (**galley).clone(),
        };
        order::reorder(&mut shown, words::is_right_to_left());
        shown
    }

    /// Whether a letter is shown. If it is not, it is searched for, once.
    fn want(&mut self, letter: char) -> bool {
        let is_covered = self.covered.has(letter);
        if !is_covered
            && !is_hidden(letter)
            && self.asked_count < ASKED_MAX
            && self.asked.insert(letter)
        {
            self.asked_count += 1;
            self.wanted.push(letter);
        }
        is_covered
    }

    /// egui's own fonts, and the system's fonts for what they lack.
    fn definitions(&self) -> FontDefinitions {
        let mut all = FontDefinitions::default();
        for font in all.font_data.values_mut() {
            enlarge(Arc::make_mut(font), self.scale);
        }
        for (number, data) in self.fonts.iter().enumerate() {
            let name = format!("system {number}");
            let mut data = FontData::from_static(data);
            // The first font of a family determines the line height.
            data.tweak.scale *= self.scale;
            all.font_data.insert(name.clone(), Arc::new(data));
            for family in [FontFamily::Proportional, FontFamily::Monospace] {
                all.families.entry(family).or_default().push(name.clone());
            }
        }
        all
    }
}

/// Without system fonts, missing letters stay boxes.
#[cfg(not(feature = "system-fonts"))]
fn start(_base: Coverage) -> (Sender<Request>, Receiver<Vec<Prepared>>) {
    (channel().0, channel().1)
}

/// Starts the search: letters go in, fonts come out. It ends with the window.
#[cfg(feature = "system-fonts")]
fn start(base: Coverage) -> (Sender<Request>, Receiver<Vec<Prepared>>) {
    let (ask, asked) = channel::<Request>();
    let (give, found) = channel();
    let work = move || {
        let mut system = System::installed(base);
        while let Ok((mut letters, mut language)) = asked.recv() {
            for (more, newer) in asked.try_iter() {
                letters.extend(more);
                language = newer;
            }
            let fonts = system.find(&letters, &language);
            if !fonts.is_empty() && give.send(fonts).is_err() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    };
    // Without a thread, missing letters stay boxes.
    std::thread::Builder::new().name("fonts".into()).spawn(work).ok();
    (ask, found)
}
