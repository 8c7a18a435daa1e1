//! Parts of menus: buttons, cards, headings, fields.

use egui_macroquad::egui::{
    Button, FontId, Frame, Key, Label, Margin, Response, RichText, Stroke, TextEdit, Ui, vec2,
};

use phaselock::limits::{NAME_BYTES_MAX, TEXT_BYTES_MAX};
use phaselock::wire::text::{NameError, read_name};

use super::paint::{fade, readable};
use super::palette;
use super::words::{fill, tr};

/// Height of a button, in points.
pub const ACTION_HEIGHT: f32 = 42.0;
/// Letter size of buttons, in points.
pub const ACTION_LETTERS: f32 = 17.0;
/// Letter size of fields, in points.
pub const FIELD_LETTERS: f32 = 16.0;
/// Letter size of notes on a field, in points.
const NOTE_LETTERS: f32 = 14.0;
/// Maximum number of characters in a name field: as many as a server reads of any text. Names are
/// shorter; the field says so instead of cutting what is pasted.
pub const NAME_CHARS_MAX: usize = TEXT_BYTES_MAX / 4;
/// Space around the content of a card, in points.
pub const PADDING: f32 = 20.0;

/// Adds a button of the full width. A primary button, which Enter presses, stands out.
pub fn action(ui: &mut Ui, label: &str, primary: bool) -> Response {
    action_in(ui, label, primary, ACTION_LETTERS)
}

/// A button as by [`action`], with letters of a size in points.
pub fn action_in(ui: &mut Ui, label: &str, primary: bool, size: f32) -> Response {
    let (fill, ink) =
        if primary { (palette::OWN, palette::VOID) } else { (palette::BUTTON, palette::TEXT) };
    let label = RichText::new(label).size(size).color(ink);
    ui.add_sized(vec2(ui.available_width(), ACTION_HEIGHT), Button::new(label).fill(fill))
}

/// Adds a card of this width in points, which stacks its contents.
pub fn card(ui: &mut Ui, width: f32, contents: impl FnOnce(&mut Ui)) {
    card_frame(1.0, PADDING as i8).show(ui, |ui| {
        ui.set_width(width - 2.0 * PADDING - 2.0);
        ui.spacing_mut().item_spacing = vec2(10.0, 9.0);
        ui.vertical(contents);
    });
}

/// Frame of a card with an opacity from 0 to 1.
pub fn card_frame(strength: f32, margin: i8) -> Frame {
    let frame = Frame::new().fill(fade(palette::CARD, strength)).corner_radius(10);
    frame.stroke(Stroke::new(1.0, palette::EDGE)).inner_margin(Margin::same(margin))
}

/// Adds a heading, with a line below it that explains it.
pub fn heading(ui: &mut Ui, title: &str, what: &str) {
    ui.label(RichText::new(title).size(23.0).color(palette::TEXT));
    ui.add(
        Label::new(RichText::new(what).size(14.0).color(palette::TEXT_FAINT))
            .truncate()
            .selectable(false),
    );
}

/// Creates a field of one line. Its hint is its identity, so it keeps the keyboard focus when
/// something before it appears or disappears.
pub fn field<'a>(text: &'a mut String, hint: &'a str, width: f32, most: usize) -> TextEdit<'a> {
    let margin = Margin::symmetric(10, 7);
    TextEdit::singleline(text)
        .id_salt(hint)
        .font(FontId::proportional(FIELD_LETTERS))
        .hint_text(RichText::new(hint).color(palette::TEXT_FAINT))
        .char_limit(most)
        .margin(margin)
        .desired_width(width - margin.sum().x - 2.0)
}

/// Creates a field for the player's name; [`name_note`] shows what is wrong with it.
pub fn name_field<'a>(name: &'a mut String, hint: &'a str, width: f32) -> TextEdit<'a> {
    field(name, hint, width, NAME_CHARS_MAX)
}

/// Adds a sentence that explains why servers refuse the name, if they do.
pub fn name_note(ui: &mut Ui, name: &str) {
    let problem = match read_name(name) {
        Ok(_) | Err(NameError::Empty) => return,
        Err(NameError::Long(bytes)) => {
            let (most, bytes) = (NAME_BYTES_MAX.to_string(), bytes.to_string());
            let values = [("most", &*most), ("bytes", &*bytes)];
            fill(
                "This name has {bytes} bytes, but {most} is the limit. A letter other than a to z \
                 takes 2 to 4 bytes.",
                &values,
            )
        }
        Err(NameError::Hidden) => tr("This name contains invisible characters.").to_owned(),
        Err(NameError::Baseless) => {
            tr("This name has an accent or other mark without a letter.").to_owned()
        }
    };
    let size = readable(ui.ctx(), NOTE_LETTERS);
    let problem = RichText::new(problem).size(size).color(palette::BAD);
    ui.add(Label::new(problem).wrap().selectable(false));
}

/// Whether Enter ended the typing in a field.
pub fn is_entered(ui: &Ui, field: &Response) -> bool {
    field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}

/// Returns the name with its first letter capitalised.
pub fn title_case(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
