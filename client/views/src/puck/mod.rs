//! Shuffle Puck in the window: view and controls.

mod cues;
mod events;
mod ice;
mod lesson;
mod pieces;
mod seen;
mod steer;

use std::cmp::Reverse;

use phaselock::game::RoundPart;
use phaselock_games::puck::seats::sides;
use phaselock_games::puck::{Board as RinkBoard, Command, Mallet, Score, ShufflePuck, rink};
use phaselock_games::rounds::{Phase, Round, round};
use phaselock_ui::prelude::*;

use events::{Effects, TRAIL_SECS};
use pieces::Look;
use seen::Seen;
use steer::Steer;

use super::rounds::{
    Aim, Announcer, Start, draw_clock, draw_hint, draw_table, part, shows_figures,
};

/// Seconds for which the scorer's name is shown.
const SCORER_SECS: f32 = 2.2;

/// The view of Shuffle Puck.
#[derive(Debug, Default)]
pub struct PuckScreen {
    steer: Steer,
    camera_rig: CameraRig,
    effects: Effects,
    announcer: Announcer,
    /// Name of the scorer, and its age in seconds.
    scorer: Option<(String, f32)>,
}

impl GameView for PuckScreen {
    type Game = ShufflePuck;
    const TITLE: &'static str = "Shuffle Puck";
    const ACTIONS: &'static [Action] = steer::ACTIONS;
    const CUES: &'static [&'static Cue] = cues::ALL;
    const LESSON: &'static [LessonStep<ShufflePuck>] = lesson::STEPS;

    fn input(&self, controls: &Controls) -> Command {
        self.steer.command(controls)
    }

    fn measure_words(_name: &'static str) -> &'static str {
        tr("goals")
    }

    fn kind_words(record: &'static str) -> &'static str {
        match record {
            "Mallet" => tr("Mallets"),
            "Puck" => tr("The puck"),
            other => other,
        }
    }

    fn part(&self, scene: &Scene<'_, ShufflePuck>) -> Option<RoundPart> {
        part(scene)
    }

    fn draw(&mut self, scene: &Scene<'_, ShufflePuck>) -> Camera {
        let seen = Seen::new(scene);
        let camera = self.take_note(scene, &seen);
        let brush = Brush::new(scene.painter, camera);
        if let Some(own) = seen.own_mallet() {
            layout::keep_free(scene.painter, brush.around(own.position(), rink::MALLET));
        }
        if let Some(puck) = &seen.puck {
            layout::keep_free(scene.painter, brush.around(puck.position(), rink::PUCK));
        }
        self.draw_world(scene, &seen, &brush);
        self.draw_over(scene, &seen);
        // A negative scale turns the picture back.
        let middle = scene.game.on_rink(seen.rink, camera.middle * seen.turn);
        Camera { middle, scale: camera.scale * seen.turn, ..camera }
    }
}

impl PuckScreen {
    /// Advances everything by a frame; returns the camera to draw with.
    fn take_note(&mut self, scene: &Scene<'_, ShufflePuck>, seen: &Seen) -> Camera {
        let goal = self.effects.observe(seen, &mut self.camera_rig, scene.cues, scene.secs);
        let round = round(&scene.picture.entities);
        if self.announcer.advance(scene, &round, Start::AtOnce) == Some(Phase::Results) {
            let [ours, theirs] = seen.goals();
            Announcer::end(scene.cues, ours > theirs);
        }
        if let Some((_, age)) = &mut self.scorer {
            *age += scene.secs;
        }
        self.scorer.take_if(|(_, age)| *age > SCORER_SECS);
        if let Some(goal) = goal {
            let [ours, theirs] = seen.goals();
            let verb = if goal { tr("GOAL!") } else { tr("They score") };
            self.announcer.say(&format!("{verb}  {ours} : {theirs}"));
            let by = seen.board.scored_by().map(|player| scene.name_of(player).to_owned());
            self.scorer = Some((by.unwrap_or_else(|| tr("Own goal").into()), 0.0));
        }
        let camera = {
            let (painter, buttons) = (scene.painter, layout::below_buttons(scene.painter));
            seen::camera(scene.screen, letters(painter.ctx()), buttons)
        };
        scene.cues.listen(&camera);
        if let Some(own) = seen.own_mallet() {
            self.steer.shown = Some((camera, own.position(), seen.turn));
        }
        self.camera_rig.hold(camera, scene.secs)
    }

    fn draw_world(&self, scene: &Scene<'_, ShufflePuck>, seen: &Seen, brush: &Brush<'_>) {
        ice::draw(brush, self.effects.lit, seen.goals());
        self.effects.particles.draw_below(brush);
        let look = |slot: &Slot<Mallet>| Look {
            mate: seen.is_mate(&slot.entity),
            dress: scene.dress_of(slot.owner),
            own: seen.own == Some(slot.id),
            flash: self.effects.flash_of(slot.id),
        };
        let mut mallets: Vec<_> = seen.mallets.iter().collect();
        mallets.sort_by_key(|slot| (seen.own == Some(slot.id), slot.id));
        for slot in &mallets {
            pieces::draw_beneath(brush, &slot.entity, look(slot));
        }
        if let Some(puck) = &seen.puck {
            let color = mix(palette::WARN, Color32::WHITE, 0.3 + 0.5 * self.effects.heat);
            let width = 2.0 * rink::PUCK * 0.9;
            self.effects.trail.draw(brush, fade(color, 0.55), width, TRAIL_SECS);
            let held = f32::from(puck.wait) * scene.rates.step_secs();
            pieces::draw_puck(brush, puck, self.effects.heat, held);
        }
        for slot in &mallets {
            pieces::draw_mallet(brush, &slot.entity, look(slot));
        }
        self.effects.particles.draw_above(brush);
        for slot in mallets.into_iter().filter(|slot| seen.own != Some(slot.id)) {
            if let Some(tag) = scene.owner_tag(slot.owner) {
                pieces::draw_name(brush, &slot.entity, tag);
            }
        }
        if let Some(pointer) = scene.pointer.filter(|_| scene.active && !self.steer.by_keys()) {
            // The target of the mallet, which may not have reached it yet.
            let soft = Stroke::new(1.5, fade(palette::TEXT, 0.5));
            brush.painter.circle_stroke(pointer, 5.0, soft);
        }
    }

    fn draw_over(&self, scene: &Scene<'_, ShufflePuck>, seen: &Seen) {
        let (screen, entities) = (scene.screen, &scene.picture.entities);
        let round = round(entities);
        let now = scene.rates.tick_at(scene.picture.server_time);
        let [ours, theirs] = seen.goals().map(|goals| goals.to_string());
        let figures = [(ours.as_str(), tr("YOUR SIDE")), (theirs.as_str(), tr("OTHERS"))];
        let words = tr("First side to {limit} goals wins, or the leader at the end.");
        let aim = Aim::first_to(phaselock_games::puck::GOALS_TO_WIN, words);
        let clock = draw_clock(scene, (&round, now), figures, &aim);
        // Players on the rink, next to the clock.
        let count = entities.records::<RinkBoard>().count();
        let [left, right] = sides(entities, seen.rink);
        let (us, them) = if seen.right { (right, left) } else { (left, right) };
        let people = [us, them].map(|it| it.to_string());
        let mut about = fill("{us} against {them}", &[("us", &people[0]), ("them", &people[1])]);
        if count > 1 {
            let [rink, all] = [usize::from(seen.rink) + 1, count].map(|it| it.to_string());
            let values = [("number", &*rink), ("all", &*all), ("about", &*about)];
            about = fill("rink {number} of {all}: {about}", &values);
        }
        let place = (clock.right_center() + vec2(14.0, 0.0), Align2::LEFT_CENTER);
        let line = [(&*about, 13.0, palette::TEXT_SOFT)];
        text_block(scene.painter, (Item::More, &[Way::Right]), place, &line);
        if let Some(words) = self.waits_for(seen, &round, us.min(them) == 0) {
            let place = (screen.center_bottom() - vec2(0.0, 8.0), Align2::CENTER_BOTTOM);
            let line = [(words, 14.0, palette::TEXT_SOFT)];
            text_block(scene.painter, (Item::More, &[Way::Up]), place, &line);
        } else {
            draw_hint(scene, usize::MAX, 8.0);
        }
        if shows_figures(scene, &round) {
            self.announcer.draw(scene);
            if let Some((name, age)) = &self.scorer {
                let left = ((SCORER_SECS - age) * 2.0).clamp(0.0, 1.0);
                let at = screen.center() - vec2(0.0, screen.height() * 0.2 - 46.0);
                let color = fade(palette::TEXT_SOFT, left);
                let place = (at, Align2::CENTER_TOP);
                text_block(
                    scene.painter,
                    (Item::Announcement, &[Way::Down]),
                    place,
                    &[(name, 20.0, color)],
                );
            }
        }
        let board = Self::board(scene, seen.rink);
        draw_table(scene, (&round, now), verdict(seen.goals()), &board);
    }

    /// Why goals do not count.
    fn waits_for(&self, seen: &Seen, round: &Round, alone: bool) -> Option<&'static str> {
        match round.phase() {
            Phase::WarmUp if alone => Some(tr("No one is on the other side yet")),
            Phase::Play if alone => Some(tr("No one is on the other side: goals do not count")),
            Phase::Play if ShufflePuck::won(&seen.board).is_some() => {
                Some(tr("This rink is done: free play until the others finish"))
            }
            _ => None,
        }
    }

    fn board(scene: &Scene<'_, ShufflePuck>, rink: u8) -> Scoreboard {
        let key = |score: &Score| (score.rink != rink, Reverse((score.goals, score.saves)));
        let values = |Score { goals, saves, wins, .. }: &Score| {
            vec![goals.to_string(), saves.to_string(), wins.to_string()]
        };
        Scoreboard::new(scene, &["GOALS", "SAVES", "WINS"], key, values)
    }
}

/// The winning side, in the words that all games use.
fn verdict([ours, theirs]: [u8; 2]) -> &'static str {
    match ours.cmp(&theirs) {
        std::cmp::Ordering::Greater => tr("Your side wins the round"),
        std::cmp::Ordering::Less => tr("The other side wins the round"),
        std::cmp::Ordering::Equal => tr("Draw"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_with_more_goals_has_won() {
        assert_eq!(verdict([7, 3]), "Your side wins the round");
        assert_eq!(verdict([2, 3]), "The other side wins the round");
        assert_eq!(verdict([0, 0]), "Draw");
    }
}
