//! The last seconds through other eyes: what a client received, shown as another player saw it.
//!
//! That player's client showed its own entities at the present, and all others at its view time.
//! The picture here is made of what this client was sent, so it shows no more than that.

use std::sync::Arc;

use super::game::Client;
use super::picture::Picture;
use super::recollection::{Heard, Recollection};
use crate::fields::Entity;
use crate::game::{Entities, Game, Highlight};
use crate::ids::PlayerId;
use crate::motion::Moment;
use crate::motion::choice::Choice;
use crate::presentation::presenter::{Presenter, StateArrival};
use crate::time::{Micros, Rates, ServerTime};

/// Shows the last seconds as one player saw them.
#[derive(Debug)]
pub struct Hindsight<G: Game> {
    viewer: PlayerId,
    rates: Rates,
    /// The viewer's own entities, at the present.
    own: Told<G>,
    /// All others, at the view time.
    others: Told<G>,
    last: Option<ServerTime>,
}

/// A presenter, and the number of the next state that it must be told.
#[derive(Debug)]
struct Told<G: Game> {
    presenter: Presenter<G>,
    next: Option<u64>,
    shown: Entities<G::Entity>,
}

impl<G: Game> Hindsight<G> {
    /// Begins to look through a player's eyes.
    pub fn new(rates: Rates, viewer: PlayerId) -> Self {
        let told =
            || Told { presenter: Presenter::new(rates), next: None, shown: Entities::default() };
        Self { viewer, rates, own: told(), others: told(), last: None }
    }

    /// Begins to show a highlight: all entities where they were, instead of where the viewer's
    /// client showed them.
    pub fn again(rates: Rates, highlight: &Highlight) -> Self {
        let mut again = Self::new(rates, highlight.viewer);
        for (kind, _) in (0..).zip(G::Entity::kinds()) {
            for told in [&mut again.own, &mut again.others] {
                told.presenter.choose(kind, Choice::Hermite);
            }
        }
        again
    }

    /// Returns the player who looks.
    pub fn viewer(&self) -> PlayerId {
        self.viewer
    }

    /// Returns the picture at a server time: the viewer's entities as they were then, and all
    /// others `lag` earlier. `client` must [remember](Client::remember). If time goes backwards,
    /// create a new `Hindsight`.
    pub fn picture(&mut self, client: &Client<G>, at: ServerTime, lag: Micros) -> Picture<G> {
        let secs = self.last.replace(at).map_or(0.0, |last| (at - last).as_secs().max(0.0));
        let view = at - lag;
        let nothing = Recollection::default();
        let recollection = client.recollection().unwrap_or(&nothing);
        let game = client.game();
        let (viewer, rates) = (self.viewer, self.rates);
        let is_own =
            |heard: &Heard| heard.state.as_ref().is_some_and(|state| state.owner == Some(viewer));
        // States are interpolated between, so the next two are needed. Later ones are not: they
        // would be ahead of what was seen.
        let ahead = Micros(2 * rates.snapshot_interval().0);
        let interval = rates.snapshot_interval().as_secs();
        let moment = |past: ServerTime| {
            let past = past.as_secs();
            Moment { now: at.as_secs(), past, interval }
        };
        for (told, past, owns) in [(&mut self.own, at, true), (&mut self.others, view, false)] {
            let to = rates.tick_at(at.max(past + ahead));
            let Told { presenter, next, shown } = told;
            *next = Some(recollection.since(*next, to, |heard| {
                let state = heard.state.as_ref().filter(|_| is_own(heard) == owns);
                let Heard { index, tick, arrival, .. } = *heard;
                let told = StateArrival { index, tick, arrival, early: &[] };
                match state {
                    Some(state) if !heard.said => presenter.handle_unsaid(game, told, state),
                    state => presenter.handle(game, told, state),
                }
            }));
            presenter.show(game, moment(past), secs, shown);
        }
        let mut entities = self.others.shown.clone();
        self.own.shown.iter().for_each(|slot| entities.insert(*slot));
        Picture {
            own: G::avatar(&entities, viewer),
            entities: Arc::new(entities),
            server_time: at,
            own_time: at,
            presentation_time: view,
        }
    }
}
