//! Tests of fonts that are found, chosen, damaged or missing, and of texts through egui.

use std::sync::Arc;

use egui_macroquad::egui::{self, Color32, FontId, RawInput, pos2};
use fontdb::{Database, FaceInfo, ID, Language, Source, Stretch, Style, Weight};
use ttf_parser::{Face, GlyphId};

use super::prepare::{Line, Unusable, prepare};
use super::*;

/// A font that egui brings along, as a file of the system: its letters are Latin, Greek, Cyrillic,
/// and a few more.
fn file() -> Vec<u8> {
    FontDefinitions::default().font_data["Hack"].font.to_vec()
}

fn prepared(is_wanted: impl Fn(char) -> bool) -> Result<Prepared, Unusable> {
    prepare(&file(), 0, Line::of_egui(), is_wanted)
}

/// Glyph of a letter in a font file.
fn glyph(data: &[u8], letter: char) -> Option<GlyphId> {
    Face::parse(data, 0).unwrap().glyph_index(letter)
}

#[test]
fn a_prepared_font_has_the_wanted_letters_alone_and_egui_s_line() {
    let font = prepared(|letter| ('α'..='ω').contains(&letter)).unwrap();
    assert_eq!(font.letters.len(), 25);
    for (letter, is_there) in [('α', true), ('ω', true), ('Α', false), ('a', false), ('я', false)]
    {
        assert_eq!(font.letters.has(letter), is_there, "{letter}");
        let same = glyph(&font.data, letter) == glyph(&file(), letter);
        assert_eq!(same, is_there, "{letter}");
    }
    let line = |data: &[u8]| {
        let face = Face::parse(data, 0).unwrap();
        let em = f32::from(face.units_per_em());
        [face.ascender(), face.descender(), face.line_gap()].map(|units| f32::from(units) / em)
    };
    let of_egui = &FontDefinitions::default().font_data["Ubuntu-Light"].font;
    let off = |data: &[u8]| {
        let pairs = line(data).into_iter().zip(line(of_egui));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(off(&font.data) < 0.001, "{:?}", line(&font.data));
    assert!(off(&file()) > 0.01, "the file's line is no other");
}

#[test]
fn broken_fonts_are_refused_or_safe_to_draw() {
    let whole = file();
    let check = |bytes: &[u8]| {
        if let Ok(font) = prepare(bytes, 0, Line::of_egui(), |letter| letter < '\u{250}') {
            draw(&font, "ÄéßŁ", 40.0);
        }
    };
    for bytes in [&b""[..], b"\0\x01\0\0", b"ttcf", &[0xff; 4096], &[0; 4096]] {
        let made = prepare(bytes, 0, Line::of_egui(), |_| true);
        assert_eq!(made.unwrap_err(), Unusable::Damaged);
    }
    let made = prepare(&whole, 7, Line::of_egui(), |_| true);
    assert_eq!(made.unwrap_err(), Unusable::Damaged, "the file has one face");
    for share in 1..40 {
        check(&whole[..whole.len() * share / 40]);
    }
    // Bytes changed here and there, mostly in the directory and the small tables.
    let mut chance = 1_u32;
    for round in 0..120 {
        let mut bytes = whole.clone();
        for _ in 0..6 {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let span = if round % 2 == 0 { 400 } else { bytes.len() };
            let at = (chance >> 8) as usize % span;
            bytes[at] = (chance >> 3) as u8;
        }
        check(&bytes);
    }
}

#[test]
fn letters_that_would_burst_egui_s_texture_are_left_out() {
    let mut bytes = file();
    let record = bytes.windows(4).position(|tag| tag == b"head").unwrap();
    let place = u32::from_be_bytes(bytes[record + 8..record + 12].try_into().unwrap()) as usize;
    // An em of 16 units instead of 2,048: each letter is a hundred times as large.
    bytes[place + 18..place + 20].copy_from_slice(&16_u16.to_be_bytes());
    let made = prepare(&bytes, 0, Line::of_egui(), |letter| !letter.is_whitespace());
    assert_eq!(made.unwrap_err(), Unusable::NoLetters);
    bytes[place + 18..place + 20].copy_from_slice(&8_u16.to_be_bytes());
    assert_eq!(prepare(&bytes, 0, Line::of_egui(), |_| true).unwrap_err(), Unusable::Damaged);
}

/// Lays out a text with only this font, and draws it.
fn draw(font: &Prepared, text: &str, size: f32) -> Arc<Galley> {
    let mut fonts = FontDefinitions::default();
    fonts.font_data.insert("it".into(), Arc::new(FontData::from_owned(font.data.clone())));
    fonts.families.insert(FontFamily::Proportional, vec!["it".into()]);
    let ctx = Context::default();
    ctx.set_fonts(fonts);
    let mut galley = None;
    let _ = ctx.run(RawInput::default(), |ctx| {
        let font = FontId::proportional(size);
        galley = Some(ctx.fonts(|it| it.layout_no_wrap(text.into(), font, Color32::WHITE)));
    });
    galley.unwrap()
}

/// A face with a name and letters.
fn face(family: &str, letters: &str, change: impl FnOnce(&mut FaceInfo)) -> FaceInfo {
    let font = prepared(|letter| letters.contains(letter)).unwrap();
    let mut info = FaceInfo {
        id: ID::dummy(),
        source: Source::Binary(Arc::new(font.data)),
        index: 0,
        families: vec![(family.into(), Language::English_UnitedStates)],
        post_script_name: family.into(),
        style: Style::Normal,
        weight: Weight::NORMAL,
        stretch: Stretch::Normal,
        monospaced: false,
    };
    change(&mut info);
    info
}

/// Letters of each font found for the wanted letters, among faces.
fn found(faces: Vec<FaceInfo>, wanted: &str, language: &str) -> Vec<String> {
    let mut database = Database::new();
    for face in faces {
        database.push_face_info(face);
    }
    let mut system = System::new(database, Coverage::default());
    let wanted: Vec<_> = wanted.chars().collect();
    let fonts = system.find(&wanted, language);
    let all = || prepare::all();
    fonts.iter().map(|font| all().filter(|it| font.letters.has(*it)).collect()).collect()
}

#[test]
fn the_font_with_the_most_letters_of_a_script_is_chosen_then_the_plainest() {
    let plain = |_: &mut FaceInfo| {};
    // A second letter of each face shows which one was chosen.
    type Row = (&'static str, &'static str, fn(&mut FaceInfo));
    let faces = |faces: &[Row]| {
        faces.iter().map(|(name, letters, change)| face(name, letters, change)).collect()
    };
    for (among, wanted, chosen) in [
        (faces(&[("A", "αβ", plain), ("B", "αβγ", plain)]), "αβγ", vec!["αβγ"]),
        (faces(&[("A", "αβ", plain), ("B", "αγδ", plain)]), "αβδ", vec!["αβ", "γδ"]),
        (faces(&[("A", "αβ", |it| it.weight = Weight::BOLD), ("B", "αγ", plain)]), "α", vec!["αγ"]),
        (faces(&[("A", "αβ", |it| it.style = Style::Italic), ("B", "αγ", plain)]), "α", vec!["αγ"]),
        (faces(&[("A", "αβ", |it| it.monospaced = true), ("B", "αγ", plain)]), "α", vec!["αγ"]),
        (faces(&[("A Serif", "αβ", plain), ("B Sans", "αγ", plain)]), "α", vec!["αγ"]),
        (faces(&[("Unifont", "αβγ", plain), ("B", "αγ", plain)]), "α", vec!["αγ"]),
        (faces(&[(".LastResort", "αβ", plain)]), "α", vec![]),
        (faces(&[("A", "αβ", plain)]), "ж", vec![]),
        (faces(&[]), "α", vec![]),
    ] {
        assert_eq!(found(among, wanted, "en"), chosen, "{wanted}");
    }
}

#[test]
fn a_letter_that_a_found_font_has_brings_no_second_font() {
    let mut database = Database::new();
    database.push_face_info(face("A", "αβ", |_| {}));
    database.push_face_info(face("B", "αβγ", |it| it.weight = Weight::BOLD));
    let mut system = System::new(database, Coverage::default());
    // Requested before the window knows of the font.
    let found = ["α", "β", "γ"].map(|it| system.find(&it.chars().collect::<Vec<_>>(), "en").len());
    assert_eq!(found, [1, 0, 1]);
}

#[test]
fn ideographs_are_those_of_the_reader_s_country() {
    // No font of ideographs is at hand: letters of one script stand for them.
    let among = || vec![face("CJK JP", "αβ", |_| {}), face("CJK SC", "αγ", |_| {})];
    assert_eq!(found(among(), "α", "ja"), ["αβ"]);
    assert_eq!(found(among(), "α", "en"), ["αγ"]);
}

#[test]
fn a_folder_of_broken_files_hides_no_font() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("a.ttf", b"");
    write("b.otf", b"OTTO and nothing more");
    write("c.ttc", &[b"ttcf\0\x01\0\0\0\0\0\x50".as_slice(), &[0xff; 999]].concat());
    write("d.ttf", &file()[..60_000]);
    write("e.ttf", &[0xa5; 100_000]);
    std::fs::create_dir(dir.path().join("f.ttf")).unwrap();
    let find = || {
        let mut database = Database::new();
        database.load_fonts_dir(dir.path());
        System::new(database, Coverage::default()).find(&['λ'], "en")
    };
    assert!(find().is_empty());
    write("z.ttf", &file());
    assert!(find()[0].letters.has('λ'));
}

/// A window's letters, with a search answered by the test.
struct Window {
    ctx: Context,
    letters: Letters,
    asked: Receiver<Request>,
    give: Sender<Vec<Prepared>>,
}

impl Window {
    fn open() -> Self {
        let (ask, asked) = channel();
        let (give, found) = channel();
        let letters = Letters { search: Some((ask, found)), ..Letters::new() };
        Self { ctx: Context::default(), letters, asked, give }
    }

    /// Shows a text in a frame; returns it as drawn.
    fn show(&mut self, text: &str) -> Arc<Galley> {
        self.letters.take(&self.ctx);
        let mut output = self.ctx.run(RawInput::default(), |ctx| {
            let painter = ctx.layer_painter(egui::LayerId::background());
            let place = (pos2(0.0, 0.0), egui::Align2::LEFT_TOP);
            painter.text(place.0, place.1, text, FontId::proportional(20.0), Color32::WHITE);
        });
        self.letters.follow(&self.ctx, &mut output.shapes);
        let text = output.shapes.iter().find_map(|it| match &it.shape {
            Shape::Text(text) => Some(Arc::clone(&text.galley)),
            _ => None,
        });
        text.unwrap()
    }

    fn asked(&self) -> String {
        self.asked.try_iter().flat_map(|(letters, _)| letters).collect()
    }
}

#[test]
fn letters_without_a_font_are_searched_once_and_shown_when_it_is_found() {
    let mut window = Window::open();
    window.show("Ada Łódź Ωж 🎉");
    assert_eq!(window.asked(), "");
    let text = "ab 日本\u{7}\u{e123}";
    let boxes = window.show(text);
    assert_eq!(window.asked(), "日本");
    for _ in 0..3 {
        window.show(text);
        window.show("本日");
    }
    assert_eq!(window.asked(), "", "searched again");
    // A font with these letters: those of another, under their codes.
    let mut font = prepared(|letter| letter == 'Д').unwrap();
    font.letters = Coverage::default();
    let code = font.data.windows(12).position(|it| it[..4] == it[4..8] && it[3] == 0x14).unwrap();
    font.data[code..code + 8].copy_from_slice(&[0, 0, 0x65, 0xe5, 0, 0, 0x65, 0xe5]);
    assert!(font.letters.insert('日'));
    window.give.send(vec![font]).unwrap();
    let shown = window.show(text);
    let width = |galley: &Galley, at: usize| galley.rows[0].glyphs[at].uv_rect.size;
    assert_ne!(width(&shown, 3), width(&boxes, 3), "still a box");
    assert_eq!(width(&shown, 4), width(&boxes, 4));
    let baseline = |at: usize| shown.rows[0].glyphs[at].pos.y;
    assert_eq!(baseline(0), baseline(3));
    assert_eq!(window.asked(), "");
}

#[test]
fn the_search_is_bounded_and_may_have_ended() {
    let mut window = Window::open();
    let ideographs = ('\u{4e00}'..='\u{9fff}').collect::<String>();
    window.show(&ideographs);
    assert_eq!(window.asked().chars().count(), ASKED_MAX as usize);
    window.show("\u{a000}");
    assert_eq!(window.asked(), "");
    let mut window = Window::open();
    window.asked = channel().1;
    window.give = channel().0;
    window.show("日");
    window.show("本");
}

#[test]
fn texts_in_order_are_laid_out_once() {
    let mut window = Window::open();
    let first = window.show("Ada: אבג");
    let xs = |galley: &Galley| {
        let vertices = galley.rows[0].visuals.mesh.vertices.chunks_exact(4);
        vertices.map(|corners| corners[0].pos.x).collect::<Vec<_>>()
    };
    // Blanks have no corners: five signs from left to right, three letters from right to left.
    let at = xs(&first);
    assert!(at[..4].is_sorted() && at[4..].iter().rev().is_sorted(), "{at:?}");
    let again = window.show("Ada: אבג");
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!(window.letters.ordered.len(), 1);
    window.show("Ada");
    assert_eq!(window.letters.ordered.len(), 0);
}
