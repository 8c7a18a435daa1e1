//! The picture of a visit: the game, what lies over every game, and the pause.

use egui_macroquad::egui::{Context, CursorIcon, LayerId, Painter, Rect};
use phaselock::time::LocalTime;
use phaselock_ui::controls::Controls;
use phaselock_ui::cues::Cues;
use phaselock_ui::view::Frame;
use phaselock_ui::words::tr;
use phaselock_ui::{actions, background, scoreboard};

use super::{End, NOTICE_SHOWN, Next, Visit};
use crate::graph::{self, Recorded};
use crate::overlay::{self, Choice, PauseMenu, Status};
use crate::play::Overlays;
use crate::talk::Talk;
use crate::{developer, watch};

/// A frame to draw.
pub(crate) struct VisitFrame<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) controls: &'a mut Controls,
    /// Seconds since the last frame.
    pub(crate) secs: f32,
    pub(crate) cues: &'a Cues,
    /// The settings cover it.
    pub(crate) covered: bool,
}

impl Visit {
    /// Draws a frame. Returns what the player chose in the pause.
    pub(crate) fn draw(&mut self, mut drawing: VisitFrame<'_>) -> Next {
        let now = self.now();
        let painter = drawing.ctx.layer_painter(LayerId::background());
        self.draw_game(&painter, now, &drawing);
        if self.is_filming() {
            // The picture is of the game, without the window's own things.
            self.talk.draw(drawing.ctx, &painter, self.connection.session_mut(), now);
            return Next::Stay;
        }
        self.draw_over(&painter, now, &drawing);
        self.people.is_open &= self.paused;
        if !self.paused || drawing.covered {
            return Next::Stay;
        }
        self.draw_pause(now, &mut drawing)
    }

    /// Draws the game with its lesson and the places that players point at; before there is a game,
    /// a ground.
    fn draw_game(&mut self, painter: &Painter, now: LocalTime, drawing: &VisitFrame<'_>) {
        let VisitFrame { ctx, ref controls, secs, cues, .. } = *drawing;
        let screen = self.stage(ctx);
        let active = self.is_connected() && !self.paused && !self.panel.shown;
        let crowded = self.graph.shown || self.panel.shown || self.talk.is_open();
        let teaches = active && !crowded && !self.details;
        let points = active && !self.is_recording && controls.pressed(&actions::PING);
        let has_side = points && self.has_side();
        let hides_cursor = active && !self.is_watching();
        let Some((_, play)) = &mut self.play else {
            let y = screen.top() + screen.height() * 0.2;
            return background::draw(painter, screen, y, ctx.input(|input| input.time));
        };
        let scores = controls.held(&actions::SCORES) && active;
        // Each time it opens, the table starts at its top.
        let before = if controls.pressed(&actions::SCORES) { 0 } else { self.scrolled };
        self.scrolled = scoreboard::scroll(ctx, before, scores);
        let frame = Frame {
            painter,
            screen,
            pointer: controls.pointer,
            secs,
            active,
            scores,
            scrolled: self.scrolled,
            crowded: crowded || self.lessons.is_running(),
            marks: self.panel.marks,
            cues,
            controls,
        };
        if let Some(player) = self.connection.recording() {
            let followed = play.watched();
            let followed = followed.target.filter(|_| followed.free.is_none());
            play.look_through(player.look_through(followed));
        }
        let lesson = self.lessons.running().filter(|_| teaches);
        let beside = Overlays { lesson, records: &mut self.records, replays: self.replays };
        let drawn = play.draw(self.connection.session_mut(), now, frame, beside);
        self.lessons.note();
        if let Some((camera, wraps)) = drawn {
            self.talk.draw_marks(painter, camera, wraps, now);
            if points {
                let at = camera.to_world(controls.pointer.unwrap_or(screen.center()));
                // If it fails, it is lost with the connection.
                let _ = Talk::point(self.connection.session_mut(), at, wraps, has_side);
            }
        }
        if hides_cursor {
            ctx.set_cursor_icon(CursorIcon::None); // The game draws its own.
        }
    }

    /// The part of the window for the game: a recording has a bar below it.
    fn stage(&mut self, ctx: &Context) -> Rect {
        let mut screen = ctx.screen_rect();
        if let Some(player) = self.connection.recording() {
            screen.max.y -= player.bar_height();
        }
        screen
    }

    /// Draws what lies over every game: the state of the connection, panels, the vote, the talk.
    fn draw_over(&mut self, painter: &Painter, now: LocalTime, drawing: &VisitFrame<'_>) {
        let VisitFrame { ctx, ref controls, .. } = *drawing;
        let stage = self.stage(ctx);
        let session = self.connection.session();
        let playing = self.play.as_ref().zip(session.client());
        let readings = playing.map(|((_, play), client)| play.readings(client, now));
        if let Some(readings) = &readings {
            // Also while hidden, so that it can show the seconds before.
            self.graph.observe(now, readings);
            if !self.is_recording {
                self.graph.draw(painter, now, readings, controls);
            }
        }
        if let Some(((_, play), client)) = playing.filter(|_| self.is_watching() && !self.paused) {
            let about = (play.watched(), (!self.is_recording).then_some(self.places));
            watch::draw_bar(painter, stage, controls, client.common(), about);
        }
        let pinned = self.pinned.filter(|(_, at)| now - *at < NOTICE_SHOWN);
        let status = Status {
            title: &self.title,
            is_recording: self.is_recording,
            server: match self.is_here && self.shared.is_empty() {
                true => tr("This computer"),
                false => &self.server_name,
            },
            state: session.state(),
            lost: self.lost.as_deref(),
            now,
            playing: playing.map(|((entry, _), _)| entry.title),
            silence: playing.map(|(_, client)| client.common().silence(now)),
            figures: readings.as_ref().map(|readings| readings.figures),
            without_network: self.without_network && !session.is_redirected(),
            link: self.link.as_deref(),
            pinned: pinned.map(|(fingerprint, _)| fingerprint),
            menu_keys: &controls.words(&actions::MENU),
        };
        overlay::draw(painter, &status);
        // In a recording, the keys of a ballot do nothing.
        if let Some((_, client)) = playing.filter(|_| !self.is_recording)
            && let Some(vote) = self.people.vote(client.common(), &self.views, controls, now)
        {
            vote.draw(painter);
        }
        if let Some(readings) = readings.filter(|_| self.details) {
            developer::draw(painter, &readings, controls.pointer);
        }
        if let Some((_, play)) = self.play.as_ref().filter(|_| !self.paused) {
            self.panel.draw(ctx, self.connection.session_mut(), &**play, controls);
        }
        self.talk.draw(ctx, painter, self.connection.session_mut(), now);
        self.draw_recorded_graph(painter, stage, controls);
        if let Some(player) = self.connection.recording() {
            player.draw(ctx, controls.by_glass());
        }
    }

    /// Draws the net graph of the followed player in a recording.
    fn draw_recorded_graph(&mut self, painter: &Painter, stage: Rect, controls: &Controls) {
        if !self.graph.shown || !self.is_recording {
            return;
        }
        let Some(target) = self.play.as_ref().and_then(|(_, play)| play.watched().target) else {
            return;
        };
        let common = self.connection.session().client().map(|client| client.common());
        let name = common.and_then(|it| it.roster().get(&target)).map(|seat| seat.name.clone());
        let Some(player) = self.connection.recording() else { return };
        let rates = player.rates();
        let (tick, reports) = player.inputs_of(target, graph::ticks_shown(rates));
        let name = name.as_deref().unwrap_or_default();
        let recorded = Recorded { name, reports: &reports, tick, rates, stage };
        recorded.draw(painter, controls.pointer);
    }

    /// Draws the pause, or the card of votes and sides over it. Returns what the player chose.
    fn draw_pause(&mut self, now: LocalTime, drawing: &mut VisitFrame<'_>) -> Next {
        let (ctx, is_watching) = (drawing.ctx, self.is_watching());
        let client = self.connection.session().client();
        if self.people.is_open
            && !is_watching
            && let Some((client, (_, play))) = client.zip(self.play.as_ref())
        {
            let sides = play.sides(self.connection.session());
            self.people.card(ctx, client, &self.views, sides);
            return Next::Stay;
        }
        let beside = client.map_or(0.0, |client| self.talk.draw_people(ctx, client.common(), now));
        let pause = PauseMenu {
            title: &self.title,
            controls: &drawing.controls.help(),
            shared: &self.shared,
            lesson: self.lessons.offer().filter(|_| !is_watching),
            is_watching,
            is_recording: self.is_recording,
            can_save: !self.is_recording && self.connection.session().keeps_minutes(),
            beside,
        };
        match pause.draw(ctx) {
            None => return Next::Stay,
            Some(Choice::People) => {
                self.people.is_open = true;
                return Next::Stay;
            }
            Some(Choice::Settings) => return Next::Settings,
            Some(Choice::Leave) => return Next::End(End::Left),
            Some(Choice::Lesson) => self.lessons.ask(),
            Some(Choice::ChangePart) => self.change_part(!is_watching),
            Some(Choice::Save) => self.save(),
            Some(Choice::Resume) => {}
        }
        self.paused = false;
        drawing.controls.release_all();
        Next::Stay
    }
}
