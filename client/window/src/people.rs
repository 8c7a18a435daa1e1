//! Votes, sides and readiness: the panel of a vote, its keys, and the card in the pause.

use egui_macroquad::egui::{
    Align2, Area, Context, Id, Order, Painter, RichText, ScrollArea, Ui, pos2, vec2,
};
use phaselock::client::{AnyClient, Common, Session};
use phaselock::time::LocalTime;
use phaselock::wire::round::{Ballot, Outcome, Proposal, ReadyUp, RoundRequest};

use super::play::Sides;
use super::registry::Views;
use phaselock_ui::actions;
use phaselock_ui::controls::Controls;
use phaselock_ui::inset::{self, Inset};
use phaselock_ui::layout::{self, Item, Way};
use phaselock_ui::paint::{Lettering, fade};
use phaselock_ui::palette;
use phaselock_ui::parts::{action, card_frame};
use phaselock_ui::words::{fill, tr};

/// Minimum size of a vote's panel, its maximum width, and the space around its words, in points of
/// its design.
const VOTE: (f32, f32) = (268.0, 96.0);
const VOTE_MOST: f32 = 330.0;
const VOTE_MARGIN: f32 = 14.0;
/// Width of the card in the pause, in points.
const CARD: f32 = 300.0;

/// The player's part in votes and rounds.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// Whether the card in the pause is open.
    pub(crate) is_open: bool,
    /// The player's own ballot in the running vote.
    voice: Option<Ballot>,
    asked: Vec<RoundRequest>,
}

/// A motion in words.
pub(crate) fn words(motion: &Proposal, common: &Common, views: &Views) -> String {
    match motion {
        Proposal::Game(name) => fill("play {game}", &[("game", title(name, views))]),
        Proposal::Kick(player) => {
            let seat = common.roster().get(player);
            let name = seat.map_or(tr("someone"), |seat| &seat.name);
            fill("kick {name}", &[("name", name)])
        }
        Proposal::MoreTime => tr("three more minutes").to_owned(),
        Proposal::Shuffle => tr("shuffle the sides").to_owned(),
    }
}

/// Title of a game, as far as the window knows it.
pub(crate) fn title<'n>(name: &'n str, views: &Views) -> &'n str {
    views.get(name).map_or(name, |entry| entry.title)
}

/// A line about the end of a vote.
pub(crate) fn ended(motion: &Proposal, outcome: Outcome, common: &Common, views: &Views) -> String {
    let what = words(motion, common, views);
    let values = [("what", &*what)];
    match outcome {
        Outcome::Passed => fill("The vote passed: {what}.", &values),
        Outcome::Failed => fill("The vote failed: {what}.", &values),
        Outcome::Vetoed => fill("The host ended the vote: {what}.", &values),
        Outcome::Moot => fill("The vote ended without a decision: {what}.", &values),
    }
}

/// The panel of a running vote.
pub(crate) struct Vote {
    /// Lines with their heights in the panel.
    lines: [(f32, String, Lettering); 4],
    /// Seconds until it ends.
    secs: f32,
}

impl Vote {
    /// Paints its panel.
    pub(crate) fn draw(&self, painter: &Painter) {
        let widths = self.lines.iter().map(|(_, words, lettering)| {
            inset::width(painter, words, *lettering) + 2.0 * VOTE_MARGIN
        });
        let wide = (widths.fold(VOTE.0, f32::max) / 8.0).ceil() * 8.0;
        let screen = painter.clip_rect();
        let at = pos2(screen.left() + 18.0, screen.top() + (screen.height() * 0.2).max(64.0));
        let place = (at, Align2::LEFT_TOP);
        let item = (Item::Vote, &[Way::Down, Way::Right, Way::Up][..]);
        let Some(inset) = Inset::find(painter, item, place, vec2(wide.min(VOTE_MOST), VOTE.1))
        else {
            return;
        };
        inset.ground();
        let room = inset.size().x - 2.0 * VOTE_MARGIN;
        for (y, words, lettering) in &self.lines {
            inset.text((VOTE_MARGIN, *y), Align2::LEFT_TOP, words, lettering.within(room));
        }
        let rect = inset.rect();
        // The remaining time, as a line along the panel's foot.
        let part = (self.secs / 30.0).min(1.0);
        let foot = rect.left()..=rect.left() + rect.width() * part;
        painter.hline(foot, rect.bottom() - 1.0, (2.0, fade(palette::OWN, 0.8)));
    }
}

impl People {
    /// Takes the keys of this frame.
    pub(crate) fn take_keys(&mut self, session: &Session, controls: &Controls) {
        let Some(common) = session.client().map(|client| client.common()) else { return };
        match common.poll() {
            None => self.voice = None,
            Some((poll, _)) => {
                // A player who calls a vote is for it.
                if self.voice.is_none() && poll.by == common.player() {
                    self.voice = Some(Ballot::Yes);
                }
                let voices = [(&actions::VOTE_YES, Ballot::Yes), (&actions::VOTE_NO, Ballot::No)];
                for (action, ballot) in voices {
                    if controls.pressed(action) {
                        self.voice = Some(ballot);
                        self.asked.push(RoundRequest::Vote(ballot));
                    }
                }
            }
        }
        if controls.pressed(&actions::READY) && common.house().ready != ReadyUp::Off {
            self.asked.push(RoundRequest::Ready(!is_ready(common)));
        }
    }

    /// Whether a vote waits for the player's ballot.
    pub(crate) fn is_asked(&self, common: &Common) -> bool {
        self.voice.is_none() && common.poll().is_some()
    }

    /// Sends what the player asked for. The server reports refusals.
    pub(crate) fn send(&mut self, session: &mut Session) {
        for request in self.asked.drain(..) {
            let _ = session.ask_round(request);
        }
    }

    /// The running vote, in words.
    pub(crate) fn vote(
        &self,
        common: &Common,
        views: &Views,
        controls: &Controls,
        now: LocalTime,
    ) -> Option<Vote> {
        let (poll, ends) = common.poll()?;
        let who = common.roster().get(&poll.by).map_or(tr("someone"), |seat| &seat.name);
        let secs = (*ends - now).as_secs().max(0.0).ceil() as f32;
        let counts = fill(
            "{yes} yes, {no} no of {all}, {secs} s",
            &[
                ("yes", &poll.yes.to_string()),
                ("no", &poll.no.to_string()),
                ("all", &poll.voters.to_string()),
                ("secs", &format!("{secs:.0}")),
            ],
        );
        let (answer, color) = match self.voice {
            None => {
                let keys = [&actions::VOTE_YES, &actions::VOTE_NO].map(|it| controls.words(it));
                let values = [("yes", &*keys[0]), ("no", &*keys[1])];
                (fill("{yes}: yes     {no}: no", &values), palette::OWN)
            }
            Some(Ballot::Yes) => (tr("You voted yes").to_owned(), palette::TEXT_FAINT),
            Some(_) => (tr("You voted no").to_owned(), palette::TEXT_FAINT),
        };
        let head = fill("Vote called by {name}:", &[("name", who)]);
        let what = words(&poll.motion, common, views);
        let lines = [
            (12.0, head, Lettering::new(12.5, palette::TEXT_SOFT)),
            (29.0, what, Lettering::new(16.0, palette::TEXT)),
            (54.0, counts, Lettering::new(12.5, palette::TEXT_SOFT)),
            (71.0, answer, Lettering::new(12.5, color)),
        ];
        Some(Vote { lines, secs })
    }

    /// Shows the card: readiness, sides, votes.
    pub(crate) fn card(
        &mut self,
        ctx: &Context,
        client: &dyn AnyClient,
        views: &Views,
        sides: Sides,
    ) {
        let card = Area::new(Id::new("people"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0))
            .show(ctx, |ui| {
                card_frame(0.97, 22).show(ui, |ui| {
                    ui.set_width(CARD);
                    ui.spacing_mut().item_spacing = vec2(10.0, 8.0);
                    ui.label(RichText::new(tr("Round and votes")).size(24.0));
                    let most = (ctx.screen_rect().height() - 190.0).max(80.0);
                    ScrollArea::vertical().max_height(most).show(ui, |ui| {
                        self.offer(ui, client, views, sides);
                    });
                    if action(ui, tr("Back"), true).clicked() {
                        self.is_open = false;
                    }
                });
            });
        layout::claim(&ctx.debug_painter(), Item::Panel, card.response.rect);
    }

    fn offer(&mut self, ui: &mut Ui, client: &dyn AnyClient, views: &Views, (count, own): Sides) {
        let common = client.common();
        let house = common.house();
        if house.ready != ReadyUp::Off {
            let is_ready = is_ready(common);
            let label = if is_ready { tr("Not ready") } else { tr("Ready") };
            self.button(ui, label, RoundRequest::Ready(!is_ready));
        }
        for side in (0..count).filter(|side| own.is_some_and(|own| own != *side)) {
            let number = (side + 1).to_string();
            let label = match count {
                2 => tr("Change sides").to_owned(),
                _ => fill("Change to side {number}", &[("number", &number)]),
            };
            self.button(ui, &label, RoundRequest::Side(side));
        }
        if let Some((poll, _)) = common.poll() {
            let what = words(&poll.motion, common, views);
            small(ui, &fill("Vote in progress: {what}", &[("what", &what)]));
            self.button(ui, tr("Vote yes"), RoundRequest::Vote(Ballot::Yes));
            self.button(ui, tr("Vote no"), RoundRequest::Vote(Ballot::No));
            if house.is_staff {
                self.button(ui, tr("End the vote"), RoundRequest::Vote(Ballot::Veto));
            }
            return;
        }
        let mut motions: Vec<_> = {
            let others = house.games.iter().filter(|game| **game != client.game_name());
            others.cloned().map(Proposal::Game).collect()
        };
        motions.push(Proposal::MoreTime);
        if count > 1 {
            motions.push(Proposal::Shuffle);
        }
        let others =
            common.roster().iter().filter(|(it, seat)| !seat.bot && **it != common.player());
        motions.extend(others.map(|(player, _)| Proposal::Kick(*player)));
        motions.retain(|motion| house.votes.allow(motion));
        if !motions.is_empty() {
            small(ui, tr("Call a vote:"));
        }
        for motion in motions {
            let label = words(&motion, common, views);
            self.button(ui, &label, RoundRequest::Call(motion));
        }
    }

    fn button(&mut self, ui: &mut Ui, label: &str, request: RoundRequest) {
        if action(ui, label, false).clicked() {
            if let RoundRequest::Vote(ballot) = request {
                self.voice = Some(ballot);
            }
            self.asked.push(request);
        }
    }
}

fn small(ui: &mut Ui, words: &str) {
    ui.label(RichText::new(words).size(14.0).color(palette::TEXT_FAINT));
}

fn is_ready(common: &Common) -> bool {
    common.presence().get(&common.player()).is_some_and(|it| it.is_ready)
}
