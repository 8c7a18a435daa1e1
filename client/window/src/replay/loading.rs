//! A recording on its way from another machine, and the screen that shows how far it is.

use egui_macroquad::egui::{Area, Context, Id, Key, Label, LayerId, ProgressBar, RichText};
use phaselock_ui::background;
use phaselock_ui::paint::{readable, to_be_read};
use phaselock_ui::parts::{ACTION_LETTERS, PADDING, action_in, card_frame};
use phaselock_ui::prelude::*;

/// Width of the card in points, and the space between it and the window's edge.
const WIDTH: f32 = 460.0;
const MARGIN: f32 = 8.0;
/// Size of letters in points.
const LETTERS: f32 = 14.0;
const TITLE: f32 = 20.0;
/// Time without a byte after which a download is given up, in seconds.
const SILENCE_SECS: f64 = 20.0;
const MIB: f64 = (1 << 20) as f64;

/// A download, which ends when it is dropped.
pub(crate) trait Download {
    /// Returns how far it is; called in each frame.
    fn view(&mut self) -> Progress;
}

/// Progress of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// This many bytes have arrived, of a total if that is known.
    Running {
        received: u64,
        size: Option<u64>,
    },
    Done(Vec<u8>),
    /// Why there will be no recording.
    Failed(String),
}

/// How a download ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    Bytes(Vec<u8>),
    /// Why not, in words for the player.
    Failed(String),
    /// The player has cancelled it.
    Cancelled,
}

/// The screen of a download.
pub(crate) struct Loading {
    url: String,
    download: Box<dyn Download>,
    /// The last number of bytes, and when it changed, on the window's clock.
    heard: Option<(u64, f64)>,
}

impl Loading {
    pub(crate) fn new(url: String, download: Box<dyn Download>) -> Self {
        Self { url, download, heard: None }
    }

    /// Name of the recording, for the player.
    pub(crate) fn title(&self) -> &str {
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&self.url)
    }

    /// Shows the screen; call it once per frame. Returns how the download ended.
    pub(crate) fn draw(&mut self, ctx: &Context) -> Option<Loaded> {
        let now = ctx.input(|input| input.time);
        let (received, size) = match self.download.view() {
            Progress::Running { received, size } => (received, size),
            Progress::Done(bytes) => return Some(Loaded::Bytes(bytes)),
            Progress::Failed(why) => return Some(self.failed(&why)),
        };
        // The first frame may be long after the last one of another screen.
        let heard = self.heard.filter(|(before, _)| *before == received).unwrap_or((received, now));
        self.heard = Some(heard);
        if now - heard.1 > SILENCE_SECS {
            let secs = SILENCE_SECS.to_string();
            return Some(self.failed(&fill("no data for {seconds} s", &[("seconds", &secs)])));
        }
        self.card(ctx, received, size).then_some(Loaded::Cancelled)
    }

    /// Words for a download that failed.
    fn failed(&self, why: &str) -> Loaded {
        let values = [("url", &*self.url), ("why", why)];
        Loaded::Failed(fill("Cannot download {url}: {why}.", &values))
    }

    /// Draws the card. Returns whether the player cancels.
    fn card(&self, ctx: &Context, received: u64, size: Option<u64>) -> bool {
        let screen = ctx.screen_rect();
        let painter = ctx.layer_painter(LayerId::background());
        background::draw(&painter, screen, screen.top() + 60.0, ctx.input(|input| input.time));
        let mut cancels = ctx.input(|input| input.key_pressed(Key::Escape));
        Area::new(Id::new("loading")).anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0)).show(
            ctx,
            |ui| {
                card_frame(1.0, PADDING as i8).show(ui, |ui| {
                    let edges = 2.0 * (PADDING + MARGIN);
                    let width = WIDTH * to_be_read(ctx, LETTERS);
                    ui.set_width((width - edges).min(screen.width() - edges));
                    ui.spacing_mut().item_spacing = vec2(8.0, 10.0);
                    let title = RichText::new(self.title()).size(readable(ctx, TITLE));
                    ui.add(Label::new(title.color(palette::TEXT)).truncate().selectable(false));
                    let told = RichText::new(told(received, size)).size(readable(ctx, LETTERS));
                    ui.add(Label::new(told.color(palette::TEXT_SOFT)).wrap().selectable(false));
                    let part = size.map_or(0.0, |size| received as f32 / size.max(1) as f32);
                    ui.add(ProgressBar::new(part.min(1.0)).desired_height(8.0).fill(palette::OWN));
                    let letters = readable(ctx, ACTION_LETTERS);
                    cancels |= action_in(ui, tr("Cancel"), false, letters).clicked();
                });
            },
        );
        // An answer without a length shows only that it moves.
        ctx.request_repaint();
        cancels
    }
}

/// How much has arrived, in words.
fn told(received: u64, size: Option<u64>) -> String {
    let received = format!("{:.1}", received as f64 / MIB);
    match size {
        Some(size) => {
            let size = format!("{:.1}", size as f64 / MIB);
            let values = [("received", &*received), ("size", &*size)];
            fill("Downloading the recording: {received} of {size} MiB", &values)
        }
        None => fill("Downloading the recording: {received} MiB", &[("received", &received)]),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use egui_macroquad::egui::{Event, Modifiers, RawInput};

    use super::*;

    /// A download whose progress the test sets.
    struct Told(Rc<RefCell<Progress>>);

    impl Download for Told {
        fn view(&mut self) -> Progress {
            self.0.borrow().clone()
        }
    }

    fn loading() -> (Loading, Rc<RefCell<Progress>>) {
        let told = Rc::new(RefCell::new(Progress::Running { received: 0, size: None }));
        let url = "https://a.example/b/match%201.plr?x=/y".to_owned();
        (Loading::new(url, Box::new(Told(told.clone()))), told)
    }

    /// Draws a frame at a time in seconds.
    fn frame(
        loading: &mut Loading,
        ctx: &Context,
        time: f64,
        events: Vec<Event>,
    ) -> Option<Loaded> {
        let mut ended = None;
        let input = RawInput { time: Some(time), events, ..RawInput::default() };
        let _ = ctx.run(input, |ctx| ended = ended.take().or(loading.draw(ctx)));
        ended
    }

    #[test]
    fn download_without_a_byte_for_long_is_given_up_and_a_slow_one_is_not() {
        let (mut loading, told) = loading();
        let ctx = Context::default();
        for second in 0..100_u32 {
            let received = u64::from(second / 15);
            *told.borrow_mut() = Progress::Running { received, size: Some(1 << 20) };
            assert_eq!(frame(&mut loading, &ctx, second.into(), Vec::new()), None, "{second} s");
        }
        let ended = (100..130_u32).find_map(|second| {
            match frame(&mut loading, &ctx, second.into(), Vec::new()) {
                Some(Loaded::Failed(why)) => Some((second, why)),
                other => other.is_some().then(|| panic!("{other:?}")),
            }
        });
        let (second, why) = ended.expect("it is given up");
        assert!((109..=112).contains(&second), "{second} s");
        assert!(why.contains("a.example") && why.contains("no data for 20 s"), "{why}");
    }

    #[test]
    fn download_ends_with_its_bytes_with_its_fault_or_by_escape() {
        let (mut loading, told) = loading();
        assert_eq!(loading.title(), "match%201.plr");
        let ctx = Context::default();
        let escape = Event::Key {
            key: Key::Escape,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::default(),
        };
        assert_eq!(frame(&mut loading, &ctx, 0.0, vec![escape]), Some(Loaded::Cancelled));
        *told.borrow_mut() = Progress::Done(vec![1, 2]);
        assert_eq!(frame(&mut loading, &ctx, 0.1, Vec::new()), Some(Loaded::Bytes(vec![1, 2])));
        *told.borrow_mut() = Progress::Failed("it is too large".to_owned());
        let Some(Loaded::Failed(why)) = frame(&mut loading, &ctx, 0.2, Vec::new()) else {
            panic!("it failed")
        };
        assert!(why.ends_with("?x=/y: it is too large."), "{why}");
    }
}
