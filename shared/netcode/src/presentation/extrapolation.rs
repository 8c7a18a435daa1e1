//! Adapts a game's extrapolation to the rules that presentation methods use to advance a state.

use crate::fields::{Entity, Field, KindOf, Values};
use crate::game::{Game, Known};
use crate::limits::EXTRAPOLATION_TICKS_MAX;
use crate::motion::{Rules, Shape, Start, TickCache};
use crate::time::Rates;

/// The game's rules for one kind of entity, as far as they follow from its state.
#[derive(Debug)]
pub struct Extrapolation<'a, G> {
    game: &'a G,
    rates: Rates,
    kind: u8,
    shape: &'a Shape,
}

impl<G: Game> Rules for Extrapolation<'_, G> {
    fn forward(&self, start: Start<'_>, secs: f64) -> Option<Values> {
        self.between(secs, |ticks| self.steered(start, (0, start.values), ticks))
    }

    fn forward_on(&self, start: Start<'_>, secs: f64, kept: &mut TickCache) -> Option<Values> {
        let goes_on = (G::KIT.coding.goes_on)(KindOf::new(self.kind));
        self.between(secs, |ticks| {
            kept.at(ticks, |before| match before.filter(|_| goes_on) {
                // Beyond the limit the plain rule stands still.
                Some(there) if ticks <= EXTRAPOLATION_TICKS_MAX => {
                    self.steered(start, there, ticks)
                }
                _ => self.steered(start, (0, start.values), ticks),
            })
        })
    }
}

impl<'a, G: Game> Extrapolation<'a, G> {
    /// Creates the rules for one kind of a game's entities, an index into [`Entity::KINDS`], and
    /// its shape.
    pub fn new(game: &'a G, rates: Rates, kind: u8, shape: &'a Shape) -> Self {
        Self { game, rates, kind, shape }
    }

    /// Returns the values after some seconds, given the values `after` whole ticks.
    fn between(&self, secs: f64, mut after: impl FnMut(u64) -> Option<Values>) -> Option<Values> {
        let ticks = secs.max(0.0) * f64::from(self.rates.tick_hz);
        let whole = ticks.floor();
        let part = ticks - whole;
        let before = after(whole as u64)?;
        if part < 1e-4 {
            return Some(before);
        }
        let after = after(whole as u64 + 1)?;
        if self.shape.cut_between(&before, &after) {
            return Some(before);
        }
        Some(self.shape.blend(&before, &after, part))
    }

    /// Returns the values some ticks after a start, given those after the first `run` of them.
    fn steered(
        &self,
        start: Start<'_>,
        (run, there): (u64, &Values),
        ticks: u64,
    ) -> Option<Values> {
        let ticks = ticks.min(EXTRAPOLATION_TICKS_MAX);
        let changes = start.early.iter().filter(move |change| change.after > run);
        let (mut run, mut base, mut steering) = (run, *there, *there);
        for change in changes.take_while(|change| change.after <= ticks) {
            // Of several changes at a tick, the first one counts.
            let Some(before) = (change.after - 1).checked_sub(run) else { continue };
            base = self.after(&base, &steering, before)?;
            steering = base;
            let fields = self.shape.fields().iter().zip(&change.values);
            for ((field, steered), value) in fields.zip(&mut steering) {
                match field.steering {
                    true if field.steers() => *value = *steered,
                    // Counts from the change on.
                    true if field.drift != 0.0 => *value = 0.0,
                    _ => {}
                }
            }
            // The change is complete after one tick, however many follow: a game may spread it over
            // all ticks that it is asked for.
            base = self.after(&base, &steering, 1)?;
            (run, steering) = (change.after, base);
        }
        self.after(&base, &steering, ticks - run)
    }

    /// Returns the values some ticks after `base`, steered differently from the first tick on, so
    /// that the game sees which keys change.
    fn after(&self, base: &Values, steering: &Values, ticks: u64) -> Option<Values> {
        if ticks == 0 {
            return Some(*base);
        }
        let base = G::Entity::from_values(self.kind, base);
        // Keys stay held, so counters of how long they are held continue.
        let secs = ticks as f32 * self.rates.step_secs();
        let mut steering = *steering;
        let fields = self.shape.fields().iter();
        let counts = |field: &Field| field.steering && field.drift != 0.0;
        for (value, field) in steering.iter_mut().zip(fields).filter(|(_, field)| counts(field)) {
            *value = field.unpack(field.pack(*value + f64::from(field.drift * secs)));
        }
        let steered = G::Entity::from_values(self.kind, &steering);
        let ticks = ticks.min(EXTRAPOLATION_TICKS_MAX);
        let known = Known { base: &base, steering: &steered, ticks };
        let mut after = (G::KIT.coding.extrapolate)(self.game, known)?.values();
        let steers = self.shape.fields().iter().map(|field| field.steering);
        for ((value, steered), _) in
            after.iter_mut().zip(&steering).zip(steers).filter(|(_, steers)| *steers)
        {
            *value = *steered;
        }
        Some(after)
    }
}

/// The rules with their own instance of the game, made from the server's welcome.
#[derive(Debug)]
pub struct GameRules<G> {
    game: G,
    rates: Rates,
    kind: u8,
    shape: Shape,
}

impl<G: Game> GameRules<G> {
    /// Creates the rules for a kind, an index into [`Entity::KINDS`].
    pub fn new(rates: Rates, seed: u64, kind: u8) -> Self {
        let shape = Shape::new(G::Entity::kinds()[usize::from(kind)].fields);
        Self { game: G::new(rates, seed), rates, kind, shape }
    }

    fn rules(&self) -> Extrapolation<'_, G> {
        Extrapolation::new(&self.game, self.rates, self.kind, &self.shape)
    }
}

impl<G: Game> Rules for GameRules<G> {
    fn forward(&self, start: Start<'_>, secs: f64) -> Option<Values> {
        self.rules().forward(start, secs)
    }

    fn forward_on(&self, start: Start<'_>, secs: f64, kept: &mut TickCache) -> Option<Values> {
        self.rules().forward_on(start, secs, kept)
    }
}
