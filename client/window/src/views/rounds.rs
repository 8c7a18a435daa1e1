//! A round over the picture: its clock, announcements, results.

use phaselock::game::Game;
use phaselock::time::Tick;
use phaselock_client::prelude::*;
use phaselock_games::rounds::{Phase, Round};

use phaselock_client::scoreboard;

const ANNOUNCED_SECS: f32 = 1.6;
const HINT_SECS: f32 = 9.0;

/// Large announcements over the picture. Call [`advance`](Self::advance) once per frame.
#[derive(Debug, Default)]
pub(crate) struct Announcer {
    phase: Option<Phase>,
    said: Option<(String, f32)>,
}

impl Announcer {
    /// Advances by `secs`; returns the phase that has just begun, if one has.
    pub(crate) fn advance(&mut self, round: &Round, secs: f32) -> Option<Phase> {
        if let Some((_, age)) = &mut self.said {
            *age += secs;
        }
        self.said.take_if(|(_, age)| *age > ANNOUNCED_SECS);
        let phase = round.phase();
        let before = self.phase.replace(phase);
        // A player who joins in the middle of a phase is not told that it begins.
        let begun = (before.is_some() && before != Some(phase)).then_some(phase);
        match begun {
            Some(Phase::WarmUp) => self.say("Warm-up"),
            Some(Phase::Play) => self.say("Go!"),
            Some(Phase::Results) | None => {}
        }
        begun
    }

    /// Shows words in place of earlier ones.
    pub(crate) fn say(&mut self, words: &str) {
        self.said = Some((words.to_owned(), 0.0));
    }

    pub(crate) fn draw(&self, frame: &Frame<'_>) {
        let Some((words, age)) = &self.said else { return };
        let part = age / ANNOUNCED_SECS;
        // Large at first, then at rest, then gone.
        let size = 56.0 + 30.0 * (1.0 - age / 0.18).max(0.0);
        let color = fade(palette::TEXT, ((1.0 - part) * 3.0).min(1.0));
        let at = frame.screen.center() - vec2(0.0, frame.screen.height() * 0.2);
        text_over(frame.painter, at, Align2::CENTER_CENTER, words, size, color);
    }
}

/// Paints the panel at the top: the round's clock between two figures; returns its rectangle.
pub(crate) fn draw_clock<G: Game>(
    scene: &Scene<'_, G>,
    (round, now): (&Round, Tick),
    figures: [(&str, &str); 2],
) -> Rect {
    let (screen, rates) = (scene.screen, scene.rates);
    let rect = Rect::from_center_size(screen.center_top() + vec2(0.0, 38.0), vec2(282.0, 48.0));
    panel(scene.painter, rect);
    let secs = round.secs_left(now, rates).ceil() as u32;
    // A phase that was due within the last second is only late in the snapshots.
    let clock = if round.is_waiting(now.minus(u64::from(rates.tick_hz))) {
        "-:--".to_owned()
    } else {
        format!("{}:{:02}", secs / 60, secs % 60)
    };
    let phase = match round.phase() {
        Phase::WarmUp => "WARM-UP",
        Phase::Play => "LEFT",
        Phase::Results => "RESULTS",
    };
    let hurry = round.phase() == Phase::Play && secs <= 10;
    let color = if hurry { palette::WARN } else { palette::TEXT };
    let [left, right] = figures;
    let figures = [
        (0.17, left, palette::TEXT),
        (0.5, (clock.as_str(), phase), color),
        (0.83, right, palette::TEXT),
    ];
    for (share, (value, label), color) in figures {
        let x = rect.left() + rect.width() * share;
        text(scene.painter, pos2(x, rect.top() + 19.0), Align2::CENTER_CENTER, value, 21.0, color);
        let (at, size, soft) = (pos2(x, rect.bottom() - 10.0), (9.0, 1.2), palette::TEXT_SOFT);
        text_spaced(scene.painter, at, Align2::CENTER_CENTER, label, size, soft);
    }
    let (top, bottom) = (rect.top() + 10.0, rect.bottom() - 10.0);
    for share in [0.335, 0.665] {
        let x = rect.left() + rect.width() * share;
        scene.painter.vline(x, top..=bottom, (1.0, palette::EDGE));
    }
    rect
}

/// Paints the results at a round's end: the verdict, the table, and the time until the next round;
/// otherwise the table, while the player wants to see it.
pub(crate) fn draw_table<G: Game>(
    scene: &Scene<'_, G>,
    (round, now): (&Round, Tick),
    verdict: &str,
    board: &Board,
) {
    let screen = scene.screen;
    if round.phase() != Phase::Results {
        if scene.scores {
            scoreboard::draw(scene, board);
        }
        return;
    }
    scene.painter.rect_filled(screen, 0.0, fade(palette::VOID, 0.45));
    let table = scoreboard::draw(scene, board);
    let at = table.center_top() - vec2(0.0, 18.0);
    text_over(scene.painter, at, Align2::CENTER_BOTTOM, verdict, 34.0, palette::TEXT);
    let words = format!("The next round in {:.0} s", round.secs_left(now, scene.rates).ceil());
    let at = table.center_bottom() + vec2(0.0, 14.0);
    text_over(scene.painter, at, Align2::CENTER_TOP, &words, 15.0, palette::TEXT_SOFT);
}

/// Shows the keys to a newcomer for a while, `above` points from the window's lower edge, unless
/// something covers that place.
pub(crate) fn draw_hint<'k, G: Game>(
    scene: &Scene<'_, G>,
    keys: impl Iterator<Item = &'k (&'k str, &'k str)>,
    above: f32,
) {
    let left = ((HINT_SECS - scene.age_secs) / 1.5).clamp(0.0, 1.0);
    if left == 0.0 || scene.crowded {
        return;
    }
    let words: Vec<_> = keys.map(|(keys, what)| format!("{keys}: {what}")).collect();
    let at = scene.screen.center_bottom() - vec2(0.0, above);
    let color = fade(palette::TEXT_SOFT, left);
    text_over(scene.painter, at, Align2::CENTER_BOTTOM, &words.join("     "), 13.0, color);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_is_announced_once_and_not_to_newcomers() {
        let mut announcer = Announcer::default();
        let round = |part| Round { part, until: Tick(60), played: 0 };
        assert_eq!(announcer.advance(&round(1), 0.1), None);
        assert!(announcer.said.is_none());
        assert_eq!(announcer.advance(&round(2), 0.1), Some(Phase::Results));
        assert_eq!(announcer.advance(&round(0), 0.1), Some(Phase::WarmUp));
        assert!(announcer.said.is_some());
        assert_eq!(announcer.advance(&round(0), 2.0), None);
        assert!(announcer.said.is_none());
    }
}
