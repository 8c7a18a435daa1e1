//! The last seconds through other eyes: what a client received, shown as another player saw it.
//!
//! That player's client showed its own entities at the present, and other players at its view time.
//! The picture here is made of what this client was sent, so it shows no more than that.

use std::sync::Arc;

use super::game::Client;
use super::picture::Picture;
use super::recollection::{Heard, Recollection};
use crate::fields::{Entity, KindOf};
use crate::game::{Entities, Game, Highlight};
use crate::ids::PlayerId;
use crate::motion::Moment;
use crate::motion::choice::Choice;
use crate::motion::method::Timeline;
use crate::presentation::presenter::{Presenter, StateArrival};
use crate::time::{Micros, Rates, ServerTime};

/// Shows the last seconds as one player saw them.
#[derive(Debug)]
pub struct Hindsight<G: Game> {
    viewer: PlayerId,
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
        let mut own = told();
        own.show_as_it_was();
        Self { viewer, own, others: told(), last: None }
    }

    /// Begins to show a highlight: all entities where they were, instead of where the viewer's
    /// client showed them.
    pub fn again(rates: Rates, highlight: &Highlight) -> Self {
        let mut again = Self::new(rates, highlight.viewer);
        again.others.show_as_it_was();
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
        let viewer = self.viewer;
        let is_own =
            |heard: &Heard| heard.state.as_ref().is_some_and(|state| state.owner == Some(viewer));
        self.own.show(client, (at, at), secs, is_own);
        // A client that showed players in its present has its view time from there.
        let avatar = G::avatar(&self.own.shown, viewer).and_then(|id| self.own.shown.get(id));
        let shows_present = |kind| (G::KIT.presentation)(kind).timeline() == Timeline::Present;
        if avatar.is_some_and(|slot| shows_present(KindOf::new(slot.entity.kind()))) {
            self.others.show_as_it_was();
        }
        self.others.show(client, (at, view), secs, |heard| !is_own(heard));
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

impl<G: Game> Told<G> {
    /// From now on, shows all entities where they were, whatever methods the game chooses.
    fn show_as_it_was(&mut self) {
        for (kind, _) in (0..).zip(G::Entity::kinds()) {
            self.presenter.choose(kind, Choice::Hermite);
        }
    }

    /// Shows, at the time `past`, the entities for whose states `is_shown` returns `true`.
    fn show(
        &mut self,
        client: &Client<G>,
        (at, past): (ServerTime, ServerTime),
        secs: f64,
        is_shown: impl Fn(&Heard) -> bool,
    ) {
        let nothing = Recollection::default();
        let recollection = client.recollection().unwrap_or(&nothing);
        let (game, rates) = (client.game(), client.rates());
        // States are interpolated between, so the next two are needed. Later ones are not: they
        // would be ahead of what was seen.
        let ahead = Micros(2 * rates.snapshot_interval().0);
        let to = rates.tick_at(at.max(past + ahead));
        let Self { presenter, next, shown } = self;
        *next = Some(recollection.since(*next, to, |heard| {
            let state = heard.state.as_ref().filter(|_| is_shown(heard));
            let Heard { index, tick, arrival, .. } = *heard;
            let told = StateArrival { index, tick, arrival, early: &[] };
            match state {
                Some(state) if !heard.said => presenter.handle_unsaid(game, told, state),
                state => presenter.handle(game, told, state),
            }
        }));
        let interval = rates.snapshot_interval().as_secs();
        let moment = Moment { now: at.as_secs(), past: past.as_secs(), interval };
        presenter.show(game, moment, secs, shown);
    }
}
