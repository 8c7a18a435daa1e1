//! Overlay of every game: state of the connection, notices, and the pause.

use egui_macroquad::egui::{
    Area, Context, FontId, Id, Key, Label, LayerId, Order, RichText, ScrollArea, Ui,
};
use phaselock::client::State;
use phaselock::clock::lateness::LateCause;
use phaselock::fingerprint::Fingerprint;
use phaselock::invitation::Invitation;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::disconnect::{Code, Disconnect};

use super::meter::Figures;
use phaselock_ui::parts::{ACTION_HEIGHT, action, card_frame};
use phaselock_ui::prelude::*;

/// Round trip in milliseconds that warrants a warning: that of another continent.
const ROUND_TRIP_WARN_MS: f64 = 120.0;
const ROUND_TRIP_BAD_MS: f64 = 250.0;
/// Share of lost packets that warrants a warning; arbitrary.
const LOSS_WARN: f64 = 0.02;
const LOSS_BAD: f64 = 0.1;

/// Silence that warrants a warning: longer than the slowest server's snapshot interval, with one
/// snapshot lost.
pub(crate) const SILENCE_WARN: Micros = Micros::from_ms(450);
pub(crate) const SILENCE_BAD: Micros = Micros::from_ms(1000);

/// Distance in points of the texts in the window's upper corners from the clock between them, and
/// from the window's edges.
const CLOCK_MARGIN: f32 = 12.0;
const CORNER: f32 = 18.0;
/// Space in points for the mark before a state's text.
const MARK: f32 = 18.0;

/// Size of the letters below the card of a lost connection, in points.
const HINT: f32 = 14.0;

/// Width of the pause with its frame, in points.
const PAUSE: f32 = 356.0;

/// Height in points of what is around the pause's keys, and of each button below them.
const PAUSE_AROUND: f32 = 190.0;
const PAUSE_BUTTON: f32 = ACTION_HEIGHT + 8.0;

/// Width of the keys in the pause, in points.
const KEYS_WIDTH: f32 = 150.0;

/// State of a session.
#[derive(Debug)]
pub(crate) struct Status<'a> {
    /// The server, as the player knows it.
    pub(crate) title: &'a str,
    /// Name that the server gives itself.
    pub(crate) server: &'a str,
    pub(crate) state: &'a State,
    /// Why the connection was last lost.
    pub(crate) lost: Option<&'a str>,
    pub(crate) now: LocalTime,
    /// Whether a recording is shown in place of a server.
    pub(crate) is_recording: bool,
    /// Title of the current game.
    pub(crate) playing: Option<&'static str>,
    /// Time since the server was last heard from.
    pub(crate) silence: Option<Micros>,
    pub(crate) figures: Option<Figures>,
    /// Whether the server is on this machine and no network is simulated.
    pub(crate) without_network: bool,
    /// The simulated network.
    pub(crate) link: Option<&'a str>,
    /// Fingerprint of a certificate that was seen for the first time just now.
    pub(crate) pinned: Option<Fingerprint>,
    /// Keys for pause and cancel.
    pub(crate) menu_keys: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Resume,
    /// The card of votes, sides and readiness.
    People,
    /// Watch, or play again.
    ChangePart,
    /// Start the game's lesson, or end it.
    Lesson,
    /// Save the last minutes.
    Save,
    Settings,
    Leave,
}

pub(crate) fn draw(painter: &Painter, status: &Status<'_>) {
    let screen = painter.clip_rect();
    if let Some(game) = status.playing {
        let place = (screen.left_top() + vec2(CORNER, 12.0), Align2::LEFT_TOP);
        let lines = [(game, 17.0, palette::TEXT), (status.server, 13.0, palette::TEXT_SOFT)];
        let room = clock_margin(painter) - CORNER;
        // Below, it would cover more valuable figures.
        text_block_within(painter, (Item::Title, &[Way::Right]), place, &lines, room);
    }
    if !status.is_recording {
        corner(painter, status);
    }
    match status.state {
        State::Connected => {}
        State::Connecting { attempt } => {
            let server = [("server", status.title)];
            let what = match status.playing {
                Some(_) => fill("Rejoining {server}", &server),
                None => fill("Connecting to {server}", &server),
            };
            let tried = fill("attempt {attempt}", &[("attempt", &attempt.to_string())]);
            let how = status.lost.map_or(tried.clone(), |lost| format!("{lost}\n{tried}"));
            waiting(painter, status, [&what, &how], palette::OWN);
        }
        State::Waiting { reason, retry_at, attempt } => {
            let secs = (*retry_at - status.now).as_secs().max(0.0);
            let (server, secs) = ([("server", status.title)], format!("{secs:.1}"));
            let secs = [("secs", &*secs)];
            let (what, tried) = match status.playing {
                Some(_) => (
                    fill("Lost connection to {server}", &server),
                    fill("Rejoining in {secs} s", &secs),
                ),
                None => {
                    let tried = fill("Retrying in {secs} s", &secs);
                    (fill("Cannot join {server}", &server), tried)
                }
            };
            let next = (attempt + 1).to_string();
            let times = match attempt {
                0..=1 => String::new(),
                _ => fill(" (attempt {attempt})", &[("attempt", &next)]),
            };
            let how = format!("{}\n{tried}{times}", words_of(reason));
            waiting(painter, status, [&what, &how], palette::WARN);
        }
        State::Ended { reason } => {
            let why = words_of(reason);
            waiting(painter, status, [tr("The session has ended"), &why], palette::BAD);
        }
    }
    if let Some(fingerprint) = status.pinned {
        pinned(painter, screen, status.title, fingerprint);
    }
}

/// Why the server ended the session, for the player: the server's own words, which are English,
/// after a translated beginning if the server or the room is full.
pub(crate) fn words_of(reason: &Disconnect) -> String {
    let own = reason.to_string();
    match reason.code {
        Code::Full => fill("no seat is free: {reason}", &[("reason", &own)]),
        _ => own,
    }
}

/// Width in points of each half of the window beside the clock of a game.
fn clock_margin(painter: &Painter) -> f32 {
    let clock = layout::taken_by(painter, Item::Clock).map_or(0.0, |clock| clock.width());
    (painter.clip_rect().width() - clock) / 2.0 - CLOCK_MARGIN
}

/// Shows round trip and loss in the corner, or the session's state; below that, late inputs and the
/// simulated network.
fn corner(painter: &Painter, status: &Status<'_>) {
    let screen = painter.clip_rect();
    let at = screen.right_top() + vec2(-CORNER, 14.0);
    let silence = status.silence.unwrap_or_default();
    let (words, color) = match (status.state, status.figures) {
        (State::Connected, Some(_)) if silence > SILENCE_WARN => {
            let color = if silence > SILENCE_BAD { palette::BAD } else { palette::WARN };
            let secs = format!("{:.1}", silence.as_secs());
            (fill("no packets for {secs} s", &[("secs", &secs)]), color)
        }
        (State::Connected, Some(Figures { round_trip_ms: Some(ms), loss_down, loss_up, .. })) => {
            let loss = loss_down.max(loss_up);
            let bad = ms >= ROUND_TRIP_BAD_MS || loss >= LOSS_BAD;
            let warn = ms >= ROUND_TRIP_WARN_MS || loss >= LOSS_WARN;
            let color = match (bad, warn) {
                (true, _) => palette::BAD,
                (_, true) => palette::WARN,
                _ => palette::GOOD,
            };
            (format!("{ms:.0} ms    {}", loss_words(loss_down, loss_up)), color)
        }
        (State::Connected, _) => (tr("waiting for snapshots").into(), palette::WARN),
        (State::Connecting { .. }, _) => (tr("connecting").into(), palette::WARN),
        (State::Waiting { .. } | State::Ended { .. }, _) => {
            (tr("not connected").into(), palette::BAD)
        }
    };
    let room = clock_margin(painter) - CORNER - MARK;
    let fits = |size: &f32| {
        let font = FontId::proportional(*size);
        painter.layout_no_wrap(words.clone(), font, color).size().x <= room
    };
    // Smaller letters if that is enough; otherwise several lines.
    let sizes = [14.0, 13.0, 12.0, 11.0].map(|size| readable(painter.ctx(), size));
    let size = sizes.into_iter().find(fits).unwrap_or(sizes[2]);
    let rect = marked(painter, (at, room), (&words, size), color);
    let below = rect.right_bottom() + vec2(0.0, 5.0);
    let late = status.figures.is_some_and(|figures| figures.late_inputs > 0);
    let late = late && *status.state == State::Connected;
    let room = clock_margin(painter) - CORNER;
    let mut below = below;
    if let Some(conditions) = status.link {
        let rect = link(painter, below, room, conditions);
        layout::claim(painter, Item::Connection, around(rect));
        below = rect.right_bottom() + vec2(0.0, 5.0);
    }
    if late {
        // On several lines, it would cover the world below the clock.
        marked(painter, (below, room - MARK), (late_words(status), 12.5), palette::WARN);
    }
}

/// Why inputs are late, and what helps.
fn late_words(status: &Status<'_>) -> &'static str {
    let cause = status.figures.and_then(|figures| figures.late_cause);
    let cause = match (cause, status.without_network) {
        (Some(cause), true) => Some(cause.without_network()),
        (cause, _) => cause,
    };
    match cause {
        None => tr("inputs late"),
        Some(LateCause::Frames) => tr("inputs late: frames are slow; try a smaller window"),
        Some(LateCause::Machine) => tr("inputs late: close other programs"),
        Some(LateCause::Network) if status.link.is_some() => {
            tr("inputs late because of the simulated network")
        }
        Some(LateCause::Network) => tr("inputs late: use a cable, or stop downloads"),
    }
}

/// Paints a text with the mark of a state before it, on one ground and on lines of `room` points.
/// Returns the text's rectangle.
fn marked(
    painter: &Painter,
    (right_top, room): (Pos2, f32),
    (words, size): (&str, f32),
    color: Color32,
) -> Rect {
    let font = FontId::proportional(size);
    let galley = painter.layout(words.to_owned(), font, palette::TEXT, room);
    let rect = Align2::RIGHT_TOP.anchor_size(right_top, galley.size());
    let mut whole = around(rect);
    whole.min.x -= MARK;
    layout::claim(painter, Item::Connection, whole);
    ground(painter, whole, 1.0);
    painter.galley(rect.min, galley, palette::TEXT);
    mark(painter, rect.left_center() - vec2(12.0, 0.0), color);
    rect
}

/// Loss in words, for each direction that has any; down is from the server.
fn loss_words(down: f64, up: f64) -> String {
    let percent = |share: f64| (share * 100.0).round();
    match (percent(down), percent(up)) {
        (0.0, 0.0) => tr("0 % loss").into(),
        (down, up) => fill(
            "loss {down} % down {up} % up",
            &[("down", &down.to_string()), ("up", &up.to_string())],
        ),
    }
}

/// Shows the simulated network, so that it is not mistaken for the real one.
pub(crate) fn link(painter: &Painter, right_top: Pos2, room: f32, conditions: &str) -> Rect {
    let words = fill("link: {conditions}", &[("conditions", conditions)]);
    let lettering = Lettering::new(12.5, palette::WARN).within(room);
    text_over(painter, right_top, Align2::RIGHT_TOP, &words, lettering)
}

/// Paints a spot whose shape matches its colour: round is good, a triangle warns, a square is bad.
fn mark(painter: &Painter, at: Pos2, color: Color32) {
    if color == palette::GOOD {
        painter.circle_filled(at, 4.0, color);
    } else if color == palette::WARN {
        let corners = [(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)];
        polygon(painter, at, &corners, color, Stroke::NONE);
    } else {
        painter.rect_filled(Rect::from_center_size(at, vec2(8.0, 8.0)), 0.0, color);
    }
}

/// Paints a card in the middle, over a world that stands still.
fn waiting(painter: &Painter, status: &Status<'_>, [what, how]: [&str; 2], color: Color32) {
    let screen = painter.clip_rect();
    if status.playing.is_some() {
        painter.rect_filled(screen, 0.0, fade(palette::VOID, 0.6));
    }
    let larger = to_be_read(painter.ctx(), HINT);
    let width = (440.0 * larger).min(screen.width() - 24.0);
    let how = painter.layout(
        how.into(),
        FontId::proportional(15.0 * larger),
        palette::TEXT_SOFT,
        width - 108.0,
    );
    let what = painter.layout(
        what.into(),
        FontId::proportional(19.0 * larger),
        palette::TEXT,
        width - 108.0,
    );
    let height = what.size().y + how.size().y + 48.0;
    let rect = Rect::from_center_size(screen.center(), vec2(width, height));
    let with_hint = Rect::from_min_max(rect.min, rect.max + vec2(0.0, 36.0 * larger));
    layout::claim(painter, Item::Panel, with_hint);
    ground(painter, rect, 1.4);
    panel(painter, rect);
    let spin = (status.now.0 % 1_200_000) as f32 / 1_200_000.0;
    let middle = rect.left_center() + vec2(46.0, 0.0);
    painter.circle_stroke(middle, 16.0, (3.0, fade(color, 0.2)));
    arc(painter, Circle { middle, radius: 16.0 }, spin, 0.3, Stroke::new(3.0, color));
    let at = rect.left_top() + vec2(88.0, 20.0);
    let below = at + vec2(0.0, what.size().y + 8.0);
    painter.galley(at, what, palette::TEXT);
    painter.galley(below, how, palette::TEXT_SOFT);
    let hint = rect.center_bottom() + vec2(0.0, 12.0);
    let keys = [("keys", status.menu_keys)];
    let words = match status.playing {
        Some(_) => fill("{keys}: pause", &keys),
        None => fill("{keys}: stop and go back", &keys),
    };
    text_over(painter, hint, Align2::CENTER_TOP, &words, (HINT * larger, palette::TEXT_SOFT));
}

/// Shows a notice at the bottom: the server's certificate is now remembered.
fn pinned(painter: &Painter, screen: Rect, title: &str, fingerprint: Fingerprint) {
    let words =
        fill("First visit to {server}: its certificate is now remembered.", &[("server", title)]);
    let laid = |words: &str, font: FontId, color: Color32, room: f32| {
        painter.layout(words.to_owned(), font, color, room)
    };
    let print = fingerprint.to_string();
    // A narrow notice fits next to what must be seen, and more easily in letters of the usual size.
    let (wide, narrow) = (screen.width() - 80.0, screen.width() * 0.25);
    let usual = dense(painter.ctx(), 1.0);
    let tries = [(wide, 1.0), (narrow, 1.0), (wide, usual), (narrow, usual)];
    let found = tries.into_iter().find_map(|(room, scale)| {
        let words = laid(&words, FontId::proportional(14.0 * scale), palette::TEXT, room);
        let print = laid(&print, FontId::monospace(11.0 * scale), palette::TEXT_SOFT, room);
        let wide = words.size().x.max(print.size().x);
        let size = vec2(wide + 32.0, words.size().y + print.size().y + 24.0);
        let at = screen.center_bottom() - vec2(0.0, 46.0);
        let rect = Align2::CENTER_BOTTOM.anchor_size(at, size);
        let ways = [Way::Up, Way::Left, Way::Right];
        let rect = layout::find_or_at_side(painter, Item::ProgramNotice, rect, &ways)?;
        Some((rect, words, print))
    });
    let Some((rect, words, print)) = found else { return };
    ground(painter, rect, 1.2);
    let left = rect.left_top() + vec2(16.0, 10.0);
    let words_height = words.size().y;
    painter.galley(left, words, palette::TEXT);
    let below = left + vec2(0.0, words_height + 4.0);
    painter.galley(below, print, palette::TEXT_SOFT);
}

/// The pause menu; the game goes on behind it.
pub(crate) struct PauseMenu<'a> {
    /// The server, as the player knows it.
    pub(crate) title: &'a str,
    /// Keys, and what each does.
    pub(crate) controls: &'a [(String, String)],
    /// Links by which friends on the local network join the server in this program.
    pub(crate) shared: &'a [Invitation],
    /// Label of the button for the lesson, if the game has one.
    pub(crate) lesson: Option<&'a str>,
    pub(crate) is_watching: bool,
    /// Whether a recording is shown in place of a server.
    pub(crate) is_recording: bool,
    /// Whether the last minutes can be saved.
    pub(crate) can_save: bool,
    /// Width of the players' card on the right, in points.
    pub(crate) beside: f32,
}

impl PauseMenu<'_> {
    /// Draws it. Returns what the player chose.
    pub(crate) fn draw(&self, ctx: &Context) -> Option<Choice> {
        let Self { title, controls, shared, lesson, is_watching, is_recording, can_save, beside } =
            *self;
        let mut choice = None;
        let veil = ctx.layer_painter(LayerId::new(Order::Middle, Id::new("veil")));
        veil.rect_filled(ctx.screen_rect(), 0.0, fade(palette::VOID, 0.55));
        let aside = (ctx.screen_rect().width() / 2.0 - beside - PAUSE / 2.0).min(0.0);
        let card = Area::new(Id::new("pause"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_CENTER, vec2(aside, 0.0))
            .show(ctx, |ui| {
                card_frame(0.97, 22).show(ui, |ui| {
                    ui.set_width(300.0);
                    ui.spacing_mut().item_spacing = vec2(10.0, 8.0);
                    ui.label(RichText::new(tr("Pause")).size(24.0));
                    let told = match is_recording {
                        true => tr("The recording is paused."),
                        false => tr("The game goes on without you."),
                    };
                    ui.label(RichText::new(told).size(14.0).color(palette::TEXT_FAINT));
                    ui.add_space(6.0);
                    let buttons = if lesson.is_some() { 6.0 } else { 5.0 } - f32::from(is_watching);
                    let buttons = buttons - f32::from(is_recording) + f32::from(can_save);
                    let room = ctx.screen_rect().height() - PAUSE_AROUND - buttons * PAUSE_BUTTON;
                    ScrollArea::vertical().max_height(room.max(60.0)).show(ui, |ui| {
                        share(ui, shared);
                        for (keys, what) in controls {
                            key_row(ui, keys, what);
                        }
                    });
                    ui.add_space(8.0);
                    if action(ui, tr("Resume"), true).clicked() {
                        choice = Some(Choice::Resume);
                    }
                    if !is_watching && action(ui, tr("Round and votes"), false).clicked() {
                        choice = Some(Choice::People);
                    }
                    let other = if is_watching { tr("Play") } else { tr("Watch") };
                    if !is_recording && action(ui, other, false).clicked() {
                        choice = Some(Choice::ChangePart);
                    }
                    if lesson.is_some_and(|words| action(ui, words, false).clicked()) {
                        choice = Some(Choice::Lesson);
                    }
                    if can_save && action(ui, tr("Save the last ten minutes"), false).clicked() {
                        choice = Some(Choice::Save);
                    }
                    if action(ui, tr("Settings"), false).clicked() {
                        choice = Some(Choice::Settings);
                    }
                    if action(ui, &fill("Leave {server}", &[("server", title)]), false).clicked() {
                        choice = Some(Choice::Leave);
                    }
                });
            });
        layout::claim(&veil, Item::Panel, card.response.rect);
        // A button that has the focus handles the key itself.
        let is_free = ctx.memory(|memory| memory.focused().is_none());
        let enters = is_free && ctx.input(|input| input.key_pressed(Key::Enter));
        choice.or(enters.then_some(Choice::Resume))
    }
}

/// Shows keys and their effect side by side, or below each other if there are many keys.
fn key_row(ui: &mut Ui, keys: &str, what: &str) {
    let keys = RichText::new(keys).size(14.0).color(palette::OWN);
    let what = Label::new(RichText::new(what).size(14.0).color(palette::TEXT_SOFT));
    let mut what = Some(what.truncate());
    ui.horizontal(|ui| {
        let left = ui.cursor().left();
        let after = left + KEYS_WIDTH - ui.label(keys).rect.right();
        if after > 4.0 {
            ui.add_space(left + KEYS_WIDTH - ui.cursor().left());
            what.take().map(|what| ui.add(what));
        }
    });
    if let Some(what) = what {
        ui.horizontal(|ui| {
            ui.add_space(KEYS_WIDTH);
            ui.add(what);
        });
    }
}

/// Shows the addresses to give to friends who want to join the server in this program.
fn share(ui: &mut Ui, shared: &[Invitation]) {
    let Some(first) = shared.first() else { return };
    let words = tr("Friends on your network find this game in their list, or join");
    ui.label(RichText::new(words).size(14.0).color(palette::TEXT_FAINT));
    for invitation in shared {
        let address = RichText::new(invitation.address.to_string()).size(15.0).monospace();
        ui.label(address.color(palette::TEXT));
    }
    if ui.button(RichText::new(tr("Copy link")).size(14.0)).clicked() {
        ui.ctx().copy_text(first.to_string());
    }
    ui.add_space(8.0);
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::{Event, Modifiers, RawInput};

    use super::*;

    /// Choices in the pause as keys are pressed, one per frame.
    fn chosen(keys: &[Key]) -> Vec<Choice> {
        let (context, mut chosen) = (Context::default(), Vec::new());
        for key in [None].into_iter().chain(keys.iter().copied().map(Some)) {
            let press = |key| Event::Key {
                key,
                physical_key: None,
                pressed: true,
                repeat: false,
                modifiers: Modifiers::NONE,
            };
            let events = key.map(press).into_iter().collect();
            let pause = PauseMenu {
                title: "a server",
                controls: &[],
                shared: &[],
                lesson: None,
                is_watching: false,
                is_recording: false,
                can_save: true,
                beside: 0.0,
            };
            let _ = context.run(RawInput { events, ..RawInput::default() }, |ctx| {
                chosen.extend(pause.draw(ctx));
            });
        }
        chosen
    }

    #[test]
    fn enter_resumes_unless_another_button_has_the_focus() {
        assert_eq!(chosen(&[Key::Enter]), [Choice::Resume]);
        assert_eq!(chosen(&[Key::Tab, Key::Tab, Key::Tab, Key::Enter]), [Choice::People]);
        assert_eq!(chosen(&[Key::Space]), []);
    }

    #[test]
    fn late_inputs_name_their_cause() {
        let words = |late_cause, without_network, link| {
            late_words(&Status {
                is_recording: false,
                title: "",
                server: "",
                state: &State::Connected,
                lost: None,
                now: LocalTime(0),
                playing: None,
                silence: None,
                figures: Some(Figures { late_inputs: 3, late_cause, ..Figures::default() }),
                without_network,
                link,
                pinned: None,
                menu_keys: "",
            })
        };
        let network = Some(LateCause::Network);
        assert!(words(network, false, None).contains("cable"));
        let others = [
            words(network, true, None),
            words(network, false, Some("delay 120 ms")),
            words(Some(LateCause::Frames), false, None),
            words(Some(LateCause::Machine), false, None),
            words(None, false, None),
        ];
        assert!(others.iter().all(|words| !words.contains("cable")), "{others:?}");
        assert_eq!(others[0], others[3], "no network is between a server here and its player");
    }

    #[test]
    fn a_full_server_says_so_in_the_players_language() {
        let full = Disconnect::new(Code::Full, "all seats are taken");
        let (_, german) = phaselock_ui::words::INCLUDED[0];
        let german = phaselock_ui::words::Language::parse(german).expect("a language");
        assert_eq!(words_of(&full), "no seat is free: all seats are taken");
        phaselock_ui::words::set_language(Some(Box::leak(Box::new(german))));
        assert_eq!(words_of(&full), "kein Platz ist frei: all seats are taken");
        phaselock_ui::words::set_language(None);
        let lost = Disconnect::new(Code::Lost, "the connection was lost");
        assert_eq!(words_of(&lost), "the connection was lost");
    }

    #[test]
    fn loss_is_told_each_way_where_there_is_any() {
        assert_eq!(loss_words(0.0, 0.004), "0 % loss");
        assert_eq!(loss_words(0.021, 0.0), "loss 2 % down 0 % up");
        assert_eq!(loss_words(1.0, 0.126), "loss 100 % down 13 % up");
    }
}
