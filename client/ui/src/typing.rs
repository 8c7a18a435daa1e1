//! Cleans what goes into text fields: typed, pasted, or composed by an input method.

use egui_macroquad::egui::{Context, Event, ImeEvent};
use phaselock::wire::text::one_line;

/// Cleans all text of this frame before any field receives it: see [`one_line`].
pub fn clean(ctx: &Context) {
    ctx.input_mut(|input| {
        for event in &mut input.events {
            match event {
                Event::Text(text)
                | Event::Paste(text)
                | Event::Ime(ImeEvent::Preedit(text) | ImeEvent::Commit(text)) => {
                    *text = one_line(text);
                }
                _ => {}
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::{CentralPanel, Id, RawInput, TextEdit};

    use super::*;

    /// Text in a field that has the focus and receives these events.
    fn written(events: &[Event]) -> String {
        let (context, mut text) = (Context::default(), String::new());
        for frame in 0..2 {
            let events = if frame == 1 { events.to_vec() } else { Vec::new() };
            let input = RawInput { events, ..RawInput::default() };
            let _ = context.run(input, |ctx| {
                clean(ctx);
                CentralPanel::default().show(ctx, |ui| {
                    let edit = TextEdit::singleline(&mut text).id(Id::new("field"));
                    ui.add(edit).request_focus();
                });
            });
        }
        text
    }

    #[test]
    fn fields_take_words_apart_and_no_turns_of_direction_however_they_are_written() {
        let (pasted, line) = ("one\ntwo\tthree\u{202e}\n", "one two three");
        let ime = |event| Event::Ime(event);
        let commit = [ime(ImeEvent::Enabled), ime(ImeEvent::Commit(pasted.into()))];
        assert_eq!(written(&[Event::Paste(pasted.into())]), line);
        assert_eq!(written(&[Event::Text(pasted.into())]), line);
        assert_eq!(written(&commit), line);
        let typed = ["a", "\u{202e}", "\u{200f}", "b"].map(|it| Event::Text(it.into()));
        assert_eq!(written(&typed), "ab");
    }
}
