//! A member's clocks: offset, round trip time, jitter, epoch, and view time.

use super::answers::Answers;
use super::view::ViewEstimate;
use crate::clock::offset::{Estimate, OffsetEstimator};
use crate::path::Ways;
use crate::server::clock::RoomTime;
use crate::time::{LocalTime, Micros, Offset, ServerTime, Tick};
use crate::wire::Echo;
use crate::wire::snapshot::Perceived;

/// Fraction of a change by which the jitter follows it: a sixteenth (RFC 3550, 6.4.1).
const JITTER_GAIN: i64 = 16;
/// A larger change means that a clock was set.
const TRANSIT_CHANGE_MAX: Micros = Micros::from_ms(2000);

/// A member's clocks.
#[derive(Debug)]
pub(in crate::server) struct Timing {
    epoch: u8,
    /// How far the server's time that the client sees is set back.
    delay: Micros,
    offset: OffsetEstimator,
    /// Offset in the welcome; snapshots carry differences from it.
    welcome_offset: Offset,
    /// A recent time on the client's clock, which completes the low bits of the next one.
    client_time: LocalTime,
    /// Arrival of the last valid input packet.
    heard_at: LocalTime,
    view: ViewEstimate,
    answers: Answers,
    /// Transit time of the last input packet, by the two clocks.
    transit: Option<Micros>,
    /// Jitter in sixteenths of a microsecond.
    jitter: i64,
}

impl Timing {
    /// Creates the clocks of a client that sent its hello at `sent` on its own clock.
    pub(in crate::server) fn new(sent: LocalTime, time: RoomTime, epoch: u8) -> Self {
        Self {
            epoch,
            delay: Micros::ZERO,
            offset: OffsetEstimator::default(),
            welcome_offset: Offset(time.server_time.0.saturating_sub(sent.0)),
            client_time: sent,
            heard_at: time.now,
            view: ViewEstimate::new(time.rates),
            answers: Answers::default(),
            transit: None,
            jitter: 0,
        }
    }

    pub(in crate::server) fn epoch(&self) -> u8 {
        self.epoch
    }

    /// Returns when the last valid input packet arrived.
    pub(in crate::server) fn heard_at(&self) -> LocalTime {
        self.heard_at
    }

    /// Returns the offset in the welcome.
    pub(in crate::server) fn welcome_offset(&self) -> Offset {
        self.welcome_offset
    }

    /// Sets back the server's time that the client sees from its next welcome on by `delay`.
    pub(in crate::server) fn set_delay(&mut self, delay: Micros) {
        if self.delay != delay {
            let by = delay - std::mem::replace(&mut self.delay, delay);
            self.welcome_offset = Offset(self.welcome_offset.0.saturating_sub(by.0));
            self.offset.clear();
        }
    }

    /// Discards measurements from before tick 0 moved.
    pub(in crate::server) fn handle_epoch(&mut self, epoch: u8) {
        self.epoch = epoch;
        self.offset.clear();
        self.restart();
    }

    /// Starts another game, in which packet numbers start at 0 again.
    pub(in crate::server) fn restart(&mut self) {
        self.view.restart();
        self.answers.restart();
    }

    /// Notes that a valid packet arrived.
    pub(in crate::server) fn handle_packet(&mut self, now: LocalTime) {
        self.heard_at = now;
    }

    /// Handles the send time of the newest packet, given by its low bits, and its transit time (RFC
    /// 3550, A.8). Returns the send time.
    pub(in crate::server) fn handle_sent_time(&mut self, sent: u32, now: LocalTime) -> LocalTime {
        let sent = LocalTime::widen(sent, self.client_time);
        self.client_time = sent;
        let transit = now - sent;
        if let Some(before) = self.transit.replace(transit) {
            let change = (transit - before).0.saturating_abs().min(TRANSIT_CHANGE_MAX.0);
            self.jitter += change - (self.jitter + JITTER_GAIN / 2) / JITTER_GAIN;
        }
        sent
    }

    /// Handles an echo of this epoch in the newest packet, which was sent at `sent`. Returns how
    /// long the two packets took.
    pub(in crate::server) fn handle_echo(
        &mut self,
        echo: Echo,
        sent: LocalTime,
        time: RoomTime,
    ) -> Ways {
        // The echo is that of the newest acknowledged packet.
        let echoed = ServerTime::widen(echo.time, time.server_time);
        let held = Micros(i64::from(echo.held));
        self.offset.observe(time.server_time, sent, echoed, held);
        Ways { round_trip: time.server_time - echoed - held, back: time.now - sent, held }
    }

    /// Notes that the newest input packet acknowledges the snapshot packet of a tick.
    pub(in crate::server) fn handle_answer(&mut self, tick: Tick, time: RoomTime) {
        self.answers.handle_answer(tick, time.server_time - time.rates.time_of(tick));
    }

    /// Returns how long a snapshot takes to the client, by the server's clock alone; `None` before
    /// the first acknowledgement.
    pub(in crate::server) fn way_down(&self) -> Option<Micros> {
        self.answers.way_down()
    }

    /// Returns the server's estimate of the client's view time.
    pub(in crate::server) fn view(&self) -> &ViewEstimate {
        &self.view
    }

    pub(in crate::server) fn view_mut(&mut self) -> &mut ViewEstimate {
        &mut self.view
    }

    /// Returns clock figures for the client, as of `server_time`.
    pub(in crate::server) fn perceived(&self, server_time: ServerTime) -> Option<Perceived> {
        let change = |offset: Offset| {
            let change = offset.0.saturating_sub(self.welcome_offset.0);
            change.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
        };
        let micros = |span: Micros| span.0.clamp(0, i64::from(u32::MAX)) as u32;
        self.estimate(server_time).map(|estimate| Perceived {
            offset_change: change(estimate.offset),
            round_trip: micros(estimate.round_trip),
            error_max: micros(estimate.error_max),
        })
    }

    /// Returns offset and round trip time, if they are known.
    pub(in crate::server) fn estimate(&self, server_time: ServerTime) -> Option<Estimate> {
        self.offset.estimate(server_time)
    }

    /// Returns the variation of the transit time of input packets (RFC 3550, 6.4.1).
    pub(in crate::server) fn jitter(&self) -> Micros {
        Micros(self.jitter / JITTER_GAIN)
    }
}
