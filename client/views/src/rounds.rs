//! A round over the picture: its clock, announcements, results.

use phaselock::fields::Holds;
use phaselock::game::{Game, RoundPart};
use phaselock::time::Tick;
use phaselock_games::rounds::{Phase, Round, round};
use phaselock_ui::cues::{Cues, common};
use phaselock_ui::prelude::*;

use egui_macroquad::egui::FontId;
use phaselock::wire::round::ReadyUp;
use phaselock_ui::{actions, scoreboard};

const ANNOUNCED_SECS: f32 = 1.6;
const HINT_SECS: f32 = 9.0;
/// Width of the announcement below the clock, in points.
const WAIT_WIDTH: f32 = 420.0;
/// Space above and below the results table, in points for letters of the usual size.
const VERDICT: f32 = 58.0;
const NEXT: f32 = 38.0;
/// Distance of the clock from the window's upper edge, height of its design, and minimum width of
/// each of its columns, in points.
const CLOCK_TOP: f32 = 14.0;
const CLOCK_HEIGHT: f32 = 48.0;
const CLOCK_COLUMN: f32 = 96.0;
/// Letters of the clock.
const CLOCK_VALUE: Lettering = Lettering::new(21.0, palette::TEXT);
const CLOCK_LABEL: Lettering = Lettering::new(9.0, palette::TEXT_SOFT).spaced(1.2);

/// Seconds at the end of play, and before a start, that are counted aloud.
const LAST_SECS: u32 = 10;
const COUNT_SECS: u32 = 3;

/// Start of a play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// When the phase begins.
    AtOnce,
    /// Some seconds later, by the game's own signal: see [`Announcer::count`].
    BySignal,
}

/// Large announcements over the picture. Call [`advance`](Self::advance) once per frame.
#[derive(Debug, Default)]
pub(crate) struct Announcer {
    phase: Option<Phase>,
    /// End of the phase in the last frame.
    until: Option<Tick>,
    said: Option<(String, f32)>,
    /// Whole seconds until the start, and until the end, in the last frame.
    seconds: [Option<u32>; 2],
}

impl Announcer {
    /// Advances by a frame. Returns the phase that has just begun, if any.
    pub(crate) fn advance<G: Game>(
        &mut self,
        scene: &Scene<'_, G>,
        round: &Round,
        start: Start,
    ) -> Option<Phase> {
        let begun = self.step(round, scene.secs);
        let left = round.secs_left(scene.own_tick().tick, scene.rates);
        self.announce_change(round, begun.is_some(), left, scene.rates.tick_hz.into());
        match round.phase() {
            Phase::WarmUp if start == Start::AtOnce => self.count(scene.cues, left),
            Phase::Play => {
                let before = self.seconds[1].replace(left.ceil() as u32);
                if ticks(before, left, LAST_SECS) {
                    scene.cues.play(&common::HURRY);
                }
            }
            Phase::WarmUp | Phase::Results => self.seconds[1] = None,
        }
        match begun {
            Some(Phase::WarmUp) => scene.cues.play(&common::WARM_UP),
            Some(Phase::Play) if start == Start::AtOnce => scene.cues.play(&common::GO),
            _ => {}
        }
        begun
    }

    /// Announces that play goes on for longer, or ends sooner, by a vote or by the game's rules.
    fn announce_change(&mut self, round: &Round, has_begun: bool, left: f32, tick_hz: i64) {
        let Some(before) = self.until.replace(round.until) else { return };
        if has_begun || round.phase() != Phase::Play {
            return;
        }
        let time = |secs: i64| format!("{}:{:02}", secs / 60, secs % 60);
        // A change of less than a second is not noticeable.
        let moved = round.until.span_24(before) / tick_hz;
        if moved > 0 {
            self.say(&format!("+{}", time(moved)));
        } else if moved < 0 {
            let left = time(left.ceil().max(0.0) as i64);
            self.say(&fill("{time} left", &[("time", &left)]));
        }
    }

    /// Counts the last three seconds before a start aloud.
    pub(crate) fn count(&mut self, cues: &Cues, left: f32) {
        let before = self.seconds[0].replace(left.ceil() as u32);
        if ticks(before, left, COUNT_SECS) {
            cues.play(&common::COUNT);
        }
    }

    /// Plays the sound for the end of play.
    pub(crate) fn end(cues: &Cues, won: bool) {
        cues.play(if won { &common::WON } else { &common::LOST });
    }

    fn step(&mut self, round: &Round, secs: f32) -> Option<Phase> {
        if let Some((_, age)) = &mut self.said {
            *age += secs;
        }
        self.said.take_if(|(_, age)| *age > ANNOUNCED_SECS);
        let phase = round.phase();
        let before = self.phase.replace(phase);
        // A player who joins in the middle of a phase gets no announcement of it.
        let begun = (before.is_some() && before != Some(phase)).then_some(phase);
        match begun {
            Some(Phase::WarmUp) => self.say(tr("Warm-up")),
            Some(Phase::Play) => self.say(tr("Go!")),
            Some(Phase::Results) | None => {}
        }
        begun
    }

    /// Shows words, replacing earlier ones.
    pub(crate) fn say(&mut self, words: &str) {
        self.said = Some((words.to_owned(), 0.0));
    }

    pub(crate) fn draw(&self, frame: &Frame<'_>) {
        let Some((words, age)) = &self.said else { return };
        let part = age / ANNOUNCED_SECS;
        // Large at first, then at rest, then gone.
        let size = 56.0 + 30.0 * (1.0 - age / 0.18).max(0.0);
        let color = fade(palette::TEXT, ((1.0 - part) * 3.0).min(1.0));
        if words.is_empty() || frame.scores {
            return;
        }
        let at = frame.screen.center() - vec2(0.0, frame.screen.height() * 0.2);
        let place = (Item::Announcement, [Way::Down, Way::Up]);
        // From the first frame, it takes the place of its largest letters.
        let font = FontId::proportional(86.0);
        let largest = frame.painter.layout_no_wrap(words.clone(), font, color).size();
        let largest = largest.min(vec2(frame.screen.width() - 40.0, largest.y));
        let wanted = Rect::from_center_size(at, largest + vec2(12.0, 0.0));
        let Some(rect) = layout::find(frame.painter, place.0, wanted, &place.1) else { return };
        let font = FontId::proportional(size);
        let galley = frame.painter.layout(words.clone(), font, color, largest.x);
        let inside = Align2::CENTER_CENTER.anchor_size(rect.center(), galley.size());
        let strength = f32::from(color.a()) / 255.0;
        ground(frame.painter, around(inside).intersect(rect), strength);
        frame.painter.galley(inside.min, galley, color);
    }
}

/// Whether another of the last seconds begins.
fn ticks(before: Option<u32>, left: f32, last: u32) -> bool {
    let now = left.ceil() as u32;
    (1..=last).contains(&now) && before.is_some_and(|before| before == now + 1)
}

/// Part of the round of a world.
pub(crate) fn part<G: Game<Entity: Holds<Round>>>(scene: &Scene<'_, G>) -> Option<RoundPart> {
    Some(match round(&scene.picture.entities).phase() {
        Phase::WarmUp => RoundPart::WarmUp,
        Phase::Play => RoundPart::Play,
        Phase::Results => RoundPart::Results,
    })
}

/// What ends play besides its time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aim {
    /// The clock's label, such as "FIRST TO 20"; empty if only time counts.
    pub(crate) label: String,
    /// The aim as a sentence, for the warm-up.
    pub(crate) words: String,
}

impl Aim {
    /// The first player with this many of something wins. `words` has a placeholder for the number.
    pub(crate) fn first_to(limit: impl ToString, words: &str) -> Self {
        let limit = limit.to_string();
        let label = fill("FIRST TO {limit}", &[("limit", &limit)]);
        Self { label, words: words.replace("{limit}", &limit) }
    }
}

/// Paints the panel at the top: the round's clock between two figures. Returns its rectangle.
pub(crate) fn draw_clock<G: Game>(
    scene: &Scene<'_, G>,
    (round, now): (&Round, Tick),
    figures: [(&str, &str); 2],
    aim: &Aim,
) -> Rect {
    let rates = scene.rates;
    let secs = round.secs_left(now, rates).ceil() as u32;
    // A phase that was due within the last second is only late in the snapshots.
    let clock = if round.is_waiting(now.minus(u64::from(rates.tick_hz))) {
        "-:--".to_owned()
    } else {
        format!("{}:{:02}", secs / 60, secs % 60)
    };
    let phase = match round.phase() {
        Phase::WarmUp => tr("WARM-UP"),
        Phase::Play if !aim.label.is_empty() => &aim.label,
        Phase::Play => tr("LEFT"),
        Phase::Results => tr("RESULTS"),
    };
    let hurry = round.phase() == Phase::Play && secs <= 10;
    let color = if hurry { palette::WARN } else { palette::TEXT };
    let [left, right] = figures;
    let columns = [(left, palette::TEXT), ((clock.as_str(), phase), color), (right, palette::TEXT)];
    let (inset, column) = clock_inset(scene, columns.map(|(words, _)| words));
    inset.ground();
    for (n, ((value, label), color)) in columns.into_iter().enumerate() {
        let x = column * (n as f32 + 0.5);
        inset.text((x, 19.0), Align2::CENTER_CENTER, value, Lettering { color, ..CLOCK_VALUE });
        let at = (x, CLOCK_HEIGHT - 10.0);
        inset.text(at, Align2::CENTER_CENTER, label, CLOCK_LABEL);
    }
    for x in [column, 2.0 * column] {
        let ends = [inset.at(x, 10.0), inset.at(x, CLOCK_HEIGHT - 10.0)];
        scene.painter.vline(ends[0].x, ends[0].y..=ends[1].y, (1.0, palette::EDGE));
    }
    let rect = inset.rect();
    draw_below_clock(scene, round, (secs, aim), rect.bottom() + 8.0);
    rect
}

/// Distance in points of the clock's lower edge from the window's upper edge.
pub(crate) fn below_clock(painter: &Painter) -> f32 {
    CLOCK_TOP + CLOCK_HEIGHT * letters(painter.ctx())
}

/// The clock's panel, and the width of each of its columns, which fit the widest words.
fn clock_inset<'a, G: Game>(scene: &Scene<'a, G>, columns: [(&str, &str); 3]) -> (Inset<'a>, f32) {
    let width = |words: &str, letters: Lettering| inset::width(scene.painter, words, letters);
    let of_words = columns
        .into_iter()
        .map(|(value, label)| width(value, CLOCK_VALUE).max(width(label, CLOCK_LABEL)) + 10.0);
    // In steps, so that it does not twitch with each figure.
    let column = (of_words.fold(CLOCK_COLUMN, f32::max) / 8.0).ceil() * 8.0;
    let place = (scene.screen.center_top() + vec2(0.0, CLOCK_TOP), Align2::CENTER_TOP);
    let design = vec2(3.0 * column, CLOCK_HEIGHT);
    (Inset::claim(scene.painter, Item::Clock, place, design), column)
}

/// Shows what a warm-up waits for, and that the end of play is near.
fn draw_below_clock<G: Game>(
    scene: &Scene<'_, G>,
    round: &Round,
    (secs, aim): (u32, &Aim),
    y: f32,
) {
    let (words, color) = match round.phase() {
        Phase::WarmUp => (format!("{}\n{}", awaited(scene, secs), aim.words), palette::TEXT),
        Phase::Play => match secs {
            59..=60 => (tr("One minute left").to_owned(), palette::WARN),
            29..=30 => (tr("30 seconds left").to_owned(), palette::WARN),
            1..=10 => (fill("{secs} seconds left", &[("secs", &secs.to_string())]), palette::WARN),
            _ => return,
        },
        Phase::Results => return,
    };
    let at = pos2(scene.screen.center().x, y);
    let line = [(&*words, 14.0, color)];
    let place = (at, Align2::CENTER_TOP);
    text_block_within(scene.painter, (Item::Below, &[Way::Down]), place, &line, WAIT_WIDTH);
}

/// Words for what a warm-up waits for.
fn awaited<G: Game>(scene: &Scene<'_, G>, secs: u32) -> String {
    let people = || scene.roster.iter().filter(|(_, seat)| !seat.bot);
    let is_ready =
        |player: &PlayerId| scene.presence.get(player).is_some_and(|it| it.is_ready || it.is_away);
    let missing: Vec<_> =
        people().filter(|(player, _)| !is_ready(player)).map(|(_, seat)| &*seat.name).collect();
    let is_own = !is_ready(&scene.player) && scene.roster.contains_key(&scene.player);
    let secs = secs.to_string();
    let begins = fill("The round begins in {secs} s.", &[("secs", &secs)]);
    let told = match (scene.house.ready, &*missing) {
        (ReadyUp::Off, _) => return begins,
        (_, []) => return fill("Everyone is ready: {secs} s.", &[("secs", &secs)]),
        (ReadyUp::Wait, names) if names.len() * 2 >= people().count() => fill(
            "The round begins once most are ready; not yet: {names}.",
            &[("names", &some(names))],
        ),
        (_, names) => {
            let values = [("begins", &*begins), ("names", &*some(names))];
            fill("{begins} Not ready yet: {names}.", &values)
        }
    };
    match is_own {
        true => {
            let key = scene.controls.words(&actions::READY);
            format!("{told} {}", fill("{key}: ready", &[("key", &key)]))
        }
        false => told,
    }
}

/// Names separated by commas; beyond a few, their number.
fn some(names: &[&str]) -> String {
    let (first, rest) = names.split_at(names.len().min(3));
    let first = first.join(", ");
    match rest.len() {
        0 => first,
        count => {
            fill("{names} and {count} more", &[("names", &first), ("count", &count.to_string())])
        }
    }
}

/// Whether the figures of a game are shown: they make way for the table.
pub(crate) fn shows_figures(frame: &Frame<'_>, round: &Round) -> bool {
    !frame.scores && round.phase() != Phase::Results
}

/// The winner in words, the same in every game; `winners` are the players who won together, empty
/// if none did.
pub(crate) fn winner<G: Game>(scene: &Scene<'_, G>, winners: &[PlayerId]) -> String {
    match winners {
        [] => tr("No one wins the round").to_owned(),
        [player] if scene.is_me(*player) => tr("You win the round").to_owned(),
        [player] => fill("{name} wins the round", &[("name", scene.name_of(*player))]),
        _ => tr("Draw").to_owned(),
    }
}

/// The winner in words, from a table's first row.
pub(crate) fn winner_of<G: Game>(scene: &Scene<'_, G>, board: &Scoreboard) -> String {
    match board.rows.first() {
        Some(row) if row.own && scene.watched.is_none() => tr("You win the round").to_owned(),
        Some(row) => fill("{name} wins the round", &[("name", &row.name)]),
        None => tr("No one wins the round").to_owned(),
    }
}

/// Paints the results at a round's end: the verdict, the table, and the time until the next round.
/// During a round, paints the table while the player wants to see it.
pub(crate) fn draw_table<G: Game>(
    scene: &Scene<'_, G>,
    (round, now): (&Round, Tick),
    verdict: &str,
    board: &Scoreboard,
) {
    let screen = scene.screen;
    if round.phase() != Phase::Results {
        if scene.scores {
            scoreboard::draw(scene, board);
        }
        return;
    }
    // What the game shows at the edges is only a backdrop now.
    scene.painter.rect_filled(screen, 0.0, fade(palette::VOID, 0.78));
    let grown = letters(scene.painter.ctx());
    let table = scoreboard::draw_results(scene, board, [VERDICT * grown, NEXT * grown]);
    let at = table.center_top() - vec2(0.0, 10.0);
    let shown = Lettering::new(32.0, palette::TEXT);
    let shown = shown.fitted(scene.painter, verdict, table.width());
    text_over(scene.painter, at, Align2::CENTER_BOTTOM, verdict, shown);
    let secs = format!("{:.0}", round.secs_left(now, scene.rates).ceil());
    let words = match &scene.house.next {
        Some(game) => {
            let game = super::title_of(game).unwrap_or(game);
            fill("Next: {game} in {secs} s", &[("game", game), ("secs", &secs)])
        }
        None => fill("Next round in {secs} s", &[("secs", &secs)]),
    };
    let at = table.center_bottom() + vec2(0.0, 10.0);
    text_over(scene.painter, at, Align2::CENTER_TOP, &words, (15.0, palette::TEXT_SOFT));
}

/// Shows the keys to a newcomer for a while, `above` points from the window's lower edge, unless
/// something covers that place.
pub(crate) fn draw_hint<G: Game<Entity: Holds<Round>>>(
    scene: &Scene<'_, G>,
    lines: usize,
    above: f32,
) {
    let left = ((HINT_SECS - scene.age_secs) / 1.5).clamp(0.0, 1.0);
    let covered = scene.crowded || scene.scores || part(scene) == Some(RoundPart::Results);
    if left == 0.0 || covered || scene.watched.is_some() {
        return;
    }
    let hints = scene.controls.hints().into_iter().take(lines);
    let words: Vec<_> = hints.map(|(keys, what)| format!("{keys}: {what}")).collect();
    let at = scene.screen.center_bottom() - vec2(0.0, above);
    let color = fade(palette::TEXT_SOFT, left);
    let (words, place) = (words.join("     "), (at, Align2::CENTER_BOTTOM));
    text_block(scene.painter, (Item::Hint, &[Way::Up]), place, &[(&*words, 13.0, color)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_is_announced_once_and_not_to_newcomers() {
        let mut announcer = Announcer::default();
        let round = |part| Round { part, until: Tick(60), played: 0 };
        assert_eq!(announcer.step(&round(1), 0.1), None);
        assert!(announcer.said.is_none());
        assert_eq!(announcer.step(&round(2), 0.1), Some(Phase::Results));
        assert_eq!(announcer.step(&round(0), 0.1), Some(Phase::WarmUp));
        assert!(announcer.said.is_some());
        assert_eq!(announcer.step(&round(0), 2.0), None);
        assert!(announcer.said.is_none());
    }

    #[test]
    fn change_of_the_clock_is_announced_and_a_new_phase_is_not_one() {
        let mut announcer = Announcer::default();
        let mut said = |part, until, has_begun| {
            announcer.said = None;
            let round = Round { part, until: Tick(until), played: 0 };
            announcer.announce_change(&round, has_begun, 29.5, 60);
            announcer.said.take().map(|(words, _)| words)
        };
        assert_eq!(said(1, 6000, false), None);
        assert_eq!(said(1, 6000, false), None);
        assert_eq!(said(1, 6000 + 180 * 60, false).as_deref(), Some("+3:00"));
        assert_eq!(said(1, 9000, false).as_deref(), Some("0:30 left"));
        assert_eq!(said(1, 9030, false), None);
        assert_eq!(said(2, 20_000, true), None);
        assert_eq!(said(0, 30_000, true), None);
        assert_eq!(said(0, 10_000, false), None);
    }

    #[test]
    fn last_seconds_are_counted_once_each_and_not_to_newcomers() {
        let (mut announcer, cues) = (Announcer::default(), Cues::default());
        for frame in 0..600_i16 {
            announcer.count(&cues, 5.0 - f32::from(frame) / 60.0);
        }
        assert_eq!(cues.take().len(), 3);
        Announcer::default().count(&cues, 2.5);
        assert_eq!(cues.take().len(), 0);
    }
}
