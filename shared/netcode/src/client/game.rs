//! The client of one game on a server: a state machine that takes packets and the time.

use std::sync::Arc;

use super::any::AnyClient;
use super::common::Common;
use super::departures::Departures;
use super::footage::{Footage, GameOrigin};
use super::frame_inputs::{FrameInputs, FrameMoment};
use super::ghosts::FetchedGhost;
use super::input_delay::merged;
use super::news::News;
use super::pace::{Ghost, Pace};
use super::picture::Picture;
use super::prediction::Prediction;
use super::recollection::{Heard, Recollection};
use super::recorder::{Recorded, Recorder};
use super::view_times::ViewTimes;
use crate::clock::pll::LoopFilter;
use crate::fields::{Entity, Kind, Packed, Record, Values, age_of, without_age};
use crate::game::{Entities, Game, Late, MessageError, Subtick, Subticks, Timed};
use crate::ids::EntityId;
use crate::limits::{CATCH_UP_TICKS_MAX, PREDICTION_TICKS_MAX};
use crate::motion::choice::Choice;
use crate::motion::interpolate::TickTime;
use crate::motion::{Moment, Timeline};
use crate::presentation::presenter::{Presenter, StateArrival, Trace};
use crate::replay::Piece;
use crate::snapshot::store::{Received, Store, StoreError};
use crate::time::{LocalTime, Micros, Offset, ServerTime, Tick};
use crate::wire::control::{ServerMessage, Welcome};
use crate::wire::input::{InputPacket, Pressed, write_input};
use crate::wire::snapshot::{InputReport, KindSet, SnapshotHeader};
use crate::wire::state::Codec;
use crate::wire::{Echo, is_of_game, mark_game};

/// An input that was read for a tick, and the time on screen when it was given.
type ReadInput<I> = (Timed<I>, Option<ServerTime>);

/// A client in a game.
#[derive(Debug)]
pub struct Client<G: Game> {
    game: G,
    common: Common,
    store: Store<G>,
    presenter: Presenter<G>,
    prediction: Prediction<G>,
    /// The last picture, its time and its point of prediction time, and the picture before it.
    shown: Arc<Entities<G::Entity>>,
    shown_before: Arc<Entities<G::Entity>>,
    viewed: Option<(LocalTime, Moment)>,
    view_times: ViewTimes,
    frame_inputs: FrameInputs<G::Input>,
    /// What was read while the input delay became shorter, merged: it waits for a tick without an
    /// input.
    waiting: Option<ReadInput<G::Input>>,
    /// The last tick for which an input was requested; `None` before the first.
    ticked: Option<Tick>,
    /// The newest tick whose input the server has acknowledged.
    confirmed: Tick,
    next_seq: u64,
    /// The newest packet, until it is sent.
    transmit: Option<Vec<u8>>,
    /// Inputs of the last packet; kept to reuse the memory.
    pressed: Vec<Pressed<G::Input>>,
    /// Recorder of the local player's motion, if it is recorded.
    recorder: Option<Recorder>,
    /// The run that the player races, and the ghost in the last picture.
    pace: Option<Pace>,
    ghost: Option<Ghost<G::Entity>>,
    /// What was received in the last seconds, if it is remembered.
    recollection: Option<Box<Recollection>>,
    /// Recording of what is received, if it is recorded.
    footage: Option<Box<Footage<G>>>,
}

impl<G: Game> Client<G> {
    /// Creates a client from the server's welcome. `hello_sent` is when the hello that it answers
    /// was sent.
    ///
    /// # Errors
    ///
    /// The game's configuration in the welcome cannot be read.
    pub fn new(
        welcome: &Welcome,
        hello_sent: LocalTime,
        now: LocalTime,
    ) -> Result<Self, MessageError> {
        Self::begin(welcome, Common::new(welcome, hello_sent, now), now)
    }

    /// Continues with another game of the same server, from its welcome.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn follow(
        welcome: &Welcome,
        mut common: Common,
        now: LocalTime,
    ) -> Result<Self, MessageError> {
        common.rotate(welcome, now);
        Self::begin(welcome, common, now)
    }

    fn begin(welcome: &Welcome, common: Common, now: LocalTime) -> Result<Self, MessageError> {
        let rates = common.rates;
        let codec = if common.plain { Codec::plain(rates) } else { Codec::new(rates) };
        Ok(Self {
            game: (G::KIT.configure)(rates, common.seed, &welcome.setup)?,
            store: Store::new(codec, common.player, welcome.tick),
            common,
            presenter: Presenter::new(rates),
            prediction: Prediction::new(now, rates),
            shown: Arc::default(),
            shown_before: Arc::default(),
            viewed: None,
            view_times: ViewTimes::default(),
            frame_inputs: FrameInputs::default(),
            waiting: None,
            ticked: None,
            confirmed: welcome.tick,
            next_seq: 0,
            transmit: None,
            pressed: Vec::new(),
            recorder: None,
            pace: None,
            ghost: None,
            recollection: None,
            footage: None,
        })
    }

    /// Compares the own player with its state at a tick. `assumed` is the newest tick that ran on
    /// an assumed input.
    fn reconcile(&mut self, tick: Tick, assumed: Option<Tick>) {
        let scene = self.store.latest();
        let Some(own) = G::avatar(scene, self.common.player) else {
            let released = self.prediction.forget_own(&self.shown);
            return self.hand_over(&released);
        };
        let state = self.store.version(own.index, tick).and_then(|version| version.state);
        let Some(mut state) = state.filter(|state| state.generation == own.generation) else {
            return;
        };
        // A state in the player's own time belongs to an earlier tick.
        let fields = G::Entity::kinds()[usize::from(state.kind)].fields;
        let tick = tick.minus(age_of(fields, &state.packed));
        state.packed = without_age(fields, &state.packed);
        let assumed = assumed.filter(|at| *at > self.prediction.base());
        if let Some(recorder) = &mut self.recorder {
            // Another input may lead to the same state in the end.
            let sure = assumed.is_none() || G::LATE == Late::Wait;
            let states = self.prediction.confirmed(own, tick, &state.packed);
            let states = states.filter(|(at, _)| sure || *at == tick);
            recorder.confirm::<G::Entity>(self.common.rates, (own, state.kind), states);
        }
        let (store, shown) = (&self.store, &self.shown);
        let news = News { tick, own: (own, state), scene, store, shown, assumed };
        let reconciled = self.prediction.reconcile(&self.game, news);
        if let Some(correction) = reconciled.correction {
            self.common.counter.handle_correction(correction);
        }
        for id in &reconciled.gone {
            self.presenter.forget(*id);
        }
        self.hand_over(&reconciled.released);
    }

    /// Presents these entities like all others from now on.
    fn hand_over(&mut self, released: &[(EntityId, Values)]) {
        for (id, shown) in released {
            self.presenter.hand_over(*id, shown);
        }
    }

    /// The clock was set back: ticks repeat, with new inputs.
    fn restart(&mut self) {
        self.ticked = None;
        self.confirmed = self.store.newest();
        let released = self.prediction.restart(&self.shown);
        self.hand_over(&released);
        self.view_times.restart();
        self.frame_inputs.restart();
        self.waiting = None;
        self.common.input_delay.restart();
        self.common.departures = Departures::new();
    }

    /// Handles what a packet says about the clocks. `news` is whether it is the first of its
    /// snapshot.
    fn handle_times(&mut self, header: &SnapshotHeader, arrival: LocalTime, news: bool) {
        if let Some(perceived) = header.perceived.filter(|_| news) {
            let offset =
                self.common.welcome_offset.0.saturating_add(i64::from(perceived.offset_change));
            let steps = self.common.pll.steps();
            self.common.pll.observe(arrival, Offset(offset));
            if self.common.pll.steps() != steps {
                // The times of departures may be those of a clock that was set.
                self.common.departures = Departures::new();
            }
            self.common.counter.stats.clock_error_max = Micros(i64::from(perceived.error_max));
            if !std::mem::replace(&mut self.common.measured, true) {
                let round_trip = Micros(i64::from(perceived.round_trip));
                self.common.handle_first_measurement(arrival, round_trip);
            }
        }
        if let Some(echo) = header.echo {
            let sent = LocalTime::widen_24(echo.time, arrival);
            let round_trip = (arrival - sent) - Micros(i64::from(echo.held));
            if round_trip >= Micros::ZERO {
                self.common.counter.handle_round_trip(round_trip);
            }
        }
    }

    /// Handles what the snapshot of `tick` says about the times of inputs.
    fn handle_report(&mut self, tick: Tick, report: InputReport, arrival: LocalTime, news: bool) {
        let newest = Tick::widen(report.newest, tick);
        self.confirmed = self.confirmed.max(newest);
        if news {
            let due = self.common.rates.time_of(newest);
            let came = due - Micros(i64::from(report.newest_early));
            self.common.departures.handle_report(arrival, newest, came);
        }
        let early = |micros: i32| Micros(i64::from(micros));
        let worst = newest.minus(u64::from(report.worst_back));
        let inputs = [(worst, report.worst_early), (newest, report.newest_early)];
        for (of, micros) in inputs {
            // The lead is that of undelayed inputs; delayed ones come earlier by their delay.
            let delay = self.common.input_delay.of(of);
            let step = self.common.rates.step();
            let undelayed = early(micros) - Micros(step.0 * delay as i64);
            let cause = self.common.lead.handle_report(arrival, of.minus(delay), undelayed);
            let causes = &mut self.common.counter.stats.late_causes;
            let cause = cause.filter(|_| micros < 0);
            cause.into_iter().for_each(|cause| causes.add(cause, 1));
        }
        self.common.counter.handle_report(&report);
    }

    /// Reports to the delay how old the newest state was when the snapshot of `tick` arrived.
    /// `follows` is whether no packet was lost in between.
    fn handle_age(&mut self, tick: Tick, newest: Tick, arrival: LocalTime, follows: bool) {
        let rates = self.common.rates;
        let mut before = rates.time_of(newest);
        if follows {
            // The server sent nothing in between. If the delay covered more than two intervals of
            // that, it would stay long after the path has recovered.
            let two = Micros(2 * rates.snapshot_interval().0);
            before = before.max(rates.time_of(tick) - two);
        }
        let age = self.common.pll.server_time(arrival) - before;
        self.common.delay.handle_arrival(arrival, age);
    }

    /// Predicts the player's input for a tick from [`poll_tick`](Self::poll_tick), and packs it. A
    /// spectator presses nothing; its packet only has acknowledgements.
    pub fn handle_input(&mut self, now: LocalTime, tick: Tick, input: G::Input) {
        self.frame_inputs.handle_frame(input, None);
        self.run(now, tick, (input.into(), self.view_times.shown()));
    }

    /// Runs all due ticks with the input of a frame that is drawn now. Actions that begin in it
    /// keep their instant; see [`Game::SUBTICKS`]. Returns whether the input was used: briefly
    /// pressed keys must count as held until then.
    pub fn handle_frame_input(&mut self, now: LocalTime, input: G::Input) -> bool {
        self.common.pll.settle(now);
        let lead = self.common.lead.advance(now);
        let (time, step) = (self.common.pll.server_time(now), self.common.rates.step());
        let own = match G::SUBTICKS {
            Subticks::Changes => time + lead,
            Subticks::Off | Subticks::Actions => time + self.common.lead.drawn() - step,
        };
        let moment = FrameMoment { own, view: self.view_times.showing(now) };
        let begins =
            G::SUBTICKS != Subticks::Off && G::begins_action(&self.frame_inputs.held(), &input);
        let begins = begins.then_some(moment);
        if G::SUBTICKS == Subticks::Changes {
            // The due ticks ended before this frame.
            self.run_due(now, moment);
            self.frame_inputs.handle_frame(input, begins);
            return true;
        }
        self.frame_inputs.handle_frame(input, begins);
        self.run_due(now, moment)
    }

    /// Runs all due ticks with the inputs of frames, the newest of which is drawn at `moment`.
    /// Returns whether there were any.
    fn run_due(&mut self, now: LocalTime, moment: FrameMoment) -> bool {
        let mut was_due = false;
        while let Some(tick) = self.poll_tick(now) {
            was_due = true;
            let end = self.common.rates.time_of(tick);
            let (input, begun) = self.frame_inputs.take(end);
            let FrameMoment { own, view } = begun.unwrap_or(moment);
            let instant = Subtick::of(self.common.rates, tick, own);
            let counts = match G::SUBTICKS {
                Subticks::Off => false,
                Subticks::Actions => G::needs_view(&input),
                Subticks::Changes => begun.is_some() && instant.start() > 0,
            };
            let subtick = counts.then_some(instant);
            self.run(now, tick, (Timed { input, subtick }, view));
        }
        was_due
    }

    /// Returns the time at which the player's own entity is drawn, and the point between its
    /// predicted ticks.
    fn drawn_at(&self, server_time: ServerTime) -> (ServerTime, TickTime) {
        let (rates, step) = (self.common.rates, self.common.rates.step());
        let due = server_time + self.common.lead.drawn();
        let own_time = match G::SUBTICKS {
            Subticks::Changes => due,
            Subticks::Off | Subticks::Actions => due - step,
        };
        (own_time, TickTime::at(rates, own_time + step))
    }

    /// Predicts the tick in progress, with the inputs of frames, if it is drawn.
    fn predict_current(&mut self, tick: Tick) {
        if G::SUBTICKS == Subticks::Changes && self.common.watching.is_none() {
            // With an input delay, the tick has its input already.
            let timed = self.prediction.known_input(tick).unwrap_or_else(|| {
                let rates = self.common.rates;
                let (input, begun) = self.frame_inputs.next(rates.time_of(tick));
                let subtick = begun.map(|begun| Subtick::of(rates, tick, begun.own));
                Timed { input, subtick }
            });
            self.prediction.predict_current(&self.game, tick, timed);
        }
    }

    /// Runs a tick with the input that was read for it.
    fn run(&mut self, now: LocalTime, tick: Tick, read: ReadInput<G::Input>) {
        self.ticked = Some(tick);
        if self.common.watching.is_some() {
            self.transmit(now, Tick(0), Vec::new());
            return;
        }
        self.common.counter.stats.ticks += 1;
        self.common.counter.stats.lead_sum += self.common.lead.lead();
        let before = self.common.rates.time_of(tick) - self.common.pll.server_time(now);
        self.common.lead.handle_sent(tick, before);
        let newest = self.schedule(tick, read);
        self.prediction.tick(&self.game, tick, &self.shown);

        // At least the newest input, so that the acknowledgements go out.
        let inputs = self.prediction.inputs_since(self.confirmed.min(newest.minus(1)));
        let mut pressed = std::mem::take(&mut self.pressed);
        pressed.clear();
        pressed.extend(self.view_times.press(newest, inputs));
        self.pressed = self.transmit(now, newest, pressed);
    }

    /// Schedules the input that was read for a tick: for that tick, or as many ticks later as the
    /// player's input delay. It contains what was on screen. Returns the newest tick with an input.
    fn schedule(&mut self, tick: Tick, mut read: ReadInput<G::Input>) -> Tick {
        let at = self.common.input_delay.at(tick);
        if let Some((newest, last)) = self.prediction.newest_input() {
            if let Some(first) = self.waiting.take() {
                read = merge::<G>(&last.input, first, read);
            }
            if newest >= at {
                // The delay has become shorter, and the server may have the inputs of these ticks.
                self.waiting = Some(read);
                return newest;
            }
            // The delay has become longer. Ticks that were skipped after a stall get no input.
            for missed in tick.since(newest).max(1)..at.since(newest) {
                let repeated = G::repeat(&last.input, missed).snapped();
                self.prediction.add_input(newest.plus(missed), repeated.into());
            }
        }
        let (input, shown) = read;
        let matters = G::needs_view(&input.input);
        self.view_times.handle_input(self.common.rates, at, (shown, matters));
        self.prediction.add_input(at, input);
        at
    }

    /// Writes the next packet with these inputs, and returns their list for reuse.
    fn transmit(
        &mut self,
        now: LocalTime,
        tick: Tick,
        inputs: Vec<Pressed<G::Input>>,
    ) -> Vec<Pressed<G::Input>> {
        if self.transmit.is_none() && !self.common.departures.is_due(now) {
            // The next packet repeats these inputs.
            return inputs;
        }
        self.common.departures.handle_sent(now, tick);
        // This packet replaces one that was not fetched, and repeats its inputs: a program that
        // draws slowly sends one packet per frame. It takes over that packet's number, which would
        // otherwise count as lost.
        if self.transmit.is_none() {
            self.next_seq += 1;
        }
        let echo = self.common.heard.and_then(|(sent, arrival)| Echo::new(sent, now - arrival));
        let packet = InputPacket {
            seq: (self.next_seq - 1) as u16,
            ack: self.store.ack(),
            sent: now.low(),
            echo,
            epoch: self.common.epoch,
            tick: tick.low(),
            inputs,
        };
        self.transmit = Some(write_input(&packet));
        packet.inputs
    }

    /// Returns the picture of this moment.
    pub fn picture(&mut self, now: LocalTime) -> Picture<G> {
        self.common.pll.settle(now);
        let server_time = self.common.pll.server_time(now);
        let delay = self.common.delay.advance(now);
        let presentation_time = server_time - delay;
        let moment = Moment {
            now: server_time.as_secs(),
            past: presentation_time.as_secs(),
            interval: self.common.rates.snapshot_interval().as_secs(),
        };
        let passed = self.viewed.map_or(Micros::ZERO, |(viewed, _)| now - viewed);
        self.viewed = Some((now, moment));
        let seen_at = self.targets_seen_at(server_time, presentation_time);
        self.view_times.handle_view(now, seen_at);
        let (own_time, ahead) = self.drawn_at(server_time);
        self.predict_current(ahead.tick);
        std::mem::swap(&mut self.shown, &mut self.shown_before);
        if Arc::get_mut(&mut self.shown).is_none() {
            self.shown = Arc::default();
        }
        let entities = Arc::make_mut(&mut self.shown);
        let starved = self.presenter.show(&self.game, moment, passed.as_secs(), entities);
        self.common.counter.stats.frames += 1;
        self.common.counter.stats.delay_sum += delay;
        self.common.counter.stats.underruns += u64::from(starved > 0);
        for id in self.prediction.co_predicted() {
            entities.remove(id);
        }
        let own = self.prediction.drawn(now, ahead, |slot| entities.insert(slot));
        let pair = self.pace.as_mut().zip(own.and_then(|own| entities.get(own)));
        let rules = (&self.game, self.common.rates);
        self.ghost = pair.and_then(|(pace, slot)| pace.show(rules, slot, own_time));
        let entities = Arc::clone(&self.shown);
        Picture { entities, own, server_time, own_time, presentation_time }
    }

    /// Time at which the local player's kind is shown: the other players, who are the targets.
    fn targets_seen_at(&self, present: ServerTime, past: ServerTime) -> ServerTime {
        let kind = self.prediction.own().map_or(0, |own| own.entity.kind());
        match self.presenter.choice(kind).timeline() {
            Timeline::Past => past,
            Timeline::Present => present,
        }
    }

    /// Compares the last picture with the server's states, for developers.
    pub fn traces(&mut self) -> Vec<Trace<G::Entity>> {
        let Some((_, moment)) = self.viewed else { return Vec::new() };
        self.presenter.traces(&self.game, moment)
    }

    /// Returns all entities as of the newest snapshot, and the predicted own player, independent of
    /// what is shown.
    pub fn newest(&self) -> Entities<G::Entity> {
        let mut entities = self.store.latest().clone();
        if let Some(slot) = self.prediction.own() {
            entities.insert(slot);
        }
        entities
    }
}

/// Merges two inputs that were read for the same tick; `before` is the input before them.
fn merge<G: Game>(
    before: &G::Input,
    (first, first_shown): ReadInput<G::Input>,
    (second, second_shown): ReadInput<G::Input>,
) -> ReadInput<G::Input> {
    let input = merged(before, &first.input, &second.input);
    let shown = if G::needs_view(&first.input) { first_shown } else { second_shown };
    (Timed { input, subtick: first.subtick.or(second.subtick) }, shown)
}

impl<G: Game> AnyClient for Client<G> {
    fn game_name(&self) -> &'static str {
        G::name()
    }

    fn kinds(&self) -> &'static [Kind] {
        G::Entity::kinds()
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn handle_datagram(
        &mut self,
        bytes: &[u8],
        arrival: LocalTime,
    ) -> Result<Received, StoreError> {
        self.common.counter.stats.rx_packets += 1;
        self.common.counter.stats.rx_bytes += bytes.len() as u64;
        if !is_of_game(bytes, self.common.number) {
            self.common.counter.stats.refused += 1;
            return Err(StoreError::OtherGame);
        }
        let newest_before = self.store.newest();
        let is_first = self.common.heard.is_none();
        let received = match self.store.handle_packet(&self.game, bytes) {
            Ok(received) => received,
            Err(error) => {
                self.common.counter.stats.refused += 1;
                return Err(error);
            }
        };
        let follows = self.common.counter.follows(&received);
        self.common.counter.handle_received(&received);
        let came = self.common.pll.server_time(arrival).as_secs();
        let (tick, rates) = (received.tick, self.common.rates);
        let mut remember = |heard: Heard| {
            if let Some(recollection) = &mut self.recollection {
                recollection.push(rates, heard);
            }
        };
        for told in self.store.updates() {
            let (index, state) = (told.index, told.state.as_ref());
            let early = self.store.early(index);
            let heard = StateArrival { index, tick, arrival: came, early };
            self.presenter.handle(&self.game, heard, state);
            if let Some(footage) = &mut self.footage {
                footage.handle(&self.game, heard, state);
            }
            remember(Heard { index, tick, arrival: came, said: true, state: told.state });
        }
        for (index, state) in self.store.unsaid() {
            let heard = StateArrival { index, tick, arrival: came, early: &[] };
            self.presenter.handle_unsaid(&self.game, heard, state);
            if let Some(footage) = &mut self.footage {
                footage.handle_unsaid(&self.game, heard, state);
            }
            remember(Heard { index, tick, arrival: came, said: false, state: Some(*state) });
        }
        if let Some(footage) = &mut self.footage {
            footage.advance(&self.game, &self.common, self.store.newest());
        }
        let header = &received.header;
        // Once per snapshot, however many packets it takes.
        let news = received.tick > newest_before || !self.common.measured;
        self.handle_times(header, arrival, news);
        self.common.departures.handle_arrival();
        if let Some(report) = header.inputs {
            self.handle_report(received.tick, report, arrival, news);
        }
        // Only the newest of reordered packets is echoed and reconciled.
        if self.common.counter.is_newest(&received) {
            self.common.heard = Some((header.sent, arrival));
        }
        // The welcome's transit time is not a snapshot's age.
        if received.tick > newest_before && !is_first {
            self.handle_age(received.tick, newest_before, arrival, follows);
        }
        // Without a report, no input has come.
        let back = header.inputs.map_or(Some(0), |report| report.assumed_back);
        self.reconcile(received.tick, back.map(|back| received.tick.minus(back.into())));
        if !self.common.measured {
            // Gives the server something to measure the clock with.
            self.transmit(arrival, Tick(0), Vec::new());
        }
        Ok(received)
    }

    fn handle_message(&mut self, message: &ServerMessage) {
        if self.common.handle_message(message) {
            self.restart();
        }
    }

    fn handle_frame(&mut self, now: LocalTime) {
        self.common.lead.handle_frame(now);
    }

    fn handle_held(&mut self, now: LocalTime, held: Micros) {
        self.common.lead.handle_held(now, held);
    }

    fn poll_tick(&mut self, now: LocalTime) -> Option<Tick> {
        if !self.common.measured {
            return None;
        }
        self.common.pll.settle(now);
        let lead = self.common.lead.advance(now);
        let due = self.common.rates.tick_at(self.common.pll.server_time(now) + lead);
        // During a long silence there is nothing to base a prediction on. The last input is still
        // sent, because the answers correct the clock.
        let due = due.min(self.store.newest().plus(PREDICTION_TICKS_MAX));
        let last = self.ticked.unwrap_or(due.minus(1));
        if due <= last {
            // The clock was stepped far back: start again from there.
            if last.since(due) > PREDICTION_TICKS_MAX {
                self.restart();
            }
            return None;
        }
        let skipped = due.since(last).saturating_sub(CATCH_UP_TICKS_MAX);
        if skipped > 0 {
            let step = self.common.rates.step();
            let cause = self.common.lead.cause_of_skip(Micros(step.0 * skipped as i64));
            self.common.counter.stats.late_causes.add(cause, skipped);
        }
        self.common.counter.stats.skipped_ticks += skipped;
        Some(last.plus(skipped + 1))
    }

    fn next_timeout(&self, now: LocalTime) -> LocalTime {
        let ahead = self.common.pll.server_time(now) + self.common.lead.lead();
        let reached = self.common.rates.tick_at(ahead);
        // At the limit of prediction, only a new snapshot makes a tick due.
        let waits = |ticked: &Tick| *ticked < self.store.newest().plus(PREDICTION_TICKS_MAX);
        let next = self.ticked.filter(waits).unwrap_or(reached).plus(1);
        now + (self.common.rates.time_of(next) - ahead).max(Micros::ZERO)
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let mut packet = self.transmit.take()?;
        mark_game(&mut packet, self.common.number);
        self.common.counter.stats.tx_packets += 1;
        self.common.counter.stats.tx_bytes += packet.len() as u64;
        Some(packet)
    }

    fn handle_packed_input(&mut self, now: LocalTime, tick: Tick, input: &Packed) {
        self.handle_input(now, tick, <G::Input as Record>::unpack(input));
    }

    fn handle_packed_frame(&mut self, now: LocalTime, input: &Packed) {
        self.handle_frame_input(now, <G::Input as Record>::unpack(input));
    }

    fn handle_picture(&mut self, now: LocalTime) {
        let _ = self.picture(now);
    }

    fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter) {
        self.common.pll.set_filter(now, filter);
    }

    fn set_input_delay(&mut self, ticks: u8) {
        let next = self.ticked.map_or(Tick(0), |ticked| ticked.plus(1));
        self.common.input_delay.set(next, ticks);
    }

    fn choose(&mut self, kind: u8, choice: Choice) {
        self.presenter.choose(kind, choice);
    }

    fn choice(&self, kind: u8) -> Choice {
        self.presenter.choice(kind)
    }

    fn early(&self) -> KindSet {
        // A spectator sees the past.
        match self.common.watching {
            Some(_) => KindSet::NONE,
            None => self.presenter.steered(),
        }
    }

    fn set_ghost(&mut self, ghost: Option<Choice>) {
        self.presenter.set_ghost(ghost);
    }

    fn raced(&self) -> Option<Option<u64>> {
        let races = G::KIT.runs.is_some() && self.common.watching.is_none();
        races.then(|| self.pace.as_ref().map(|pace| pace.hash))
    }

    fn race(&mut self, ghost: Option<&FetchedGhost>) -> bool {
        let rates = self.common.rates;
        let pace = ghost.map(|ghost| Pace::new(&self.game, rates, ghost));
        let is_usable = !matches!(pace, Some(Err(_)));
        self.pace = pace.and_then(Result::ok);
        is_usable
    }

    fn record_motion(&mut self, on: bool) {
        self.recorder = on.then(|| self.recorder.take().unwrap_or_default());
    }

    fn poll_motion(&mut self) -> Option<Recorded> {
        self.recorder.as_mut()?.poll()
    }

    fn record_footage(&mut self, origin: Option<GameOrigin>) {
        let rates = self.common.rates;
        self.footage = origin.map(|origin| Box::new(Footage::new(rates, origin)));
    }

    fn note_footage(&mut self, message: &ServerMessage) {
        if let Some(footage) = &mut self.footage {
            footage.handle_message(self.store.newest(), message);
        }
    }

    fn cut_footage(&mut self) {
        if let Some(footage) = &mut self.footage {
            footage.cut(&self.game);
        }
    }

    fn poll_footage(&mut self) -> Option<Piece> {
        self.footage.as_mut()?.poll()
    }

    fn remember(&mut self) {
        self.remember();
    }

    fn into_common(self: Box<Self>) -> Common {
        self.common
    }
}

mod access;
