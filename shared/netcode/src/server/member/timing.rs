//! A member's clocks: its offset and round trip, jitter, epoch, and view time.

use super::view::ViewEstimate;
use crate::clock::offset::{Estimate, OffsetEstimator};
use crate::server::clock::RoomTime;
use crate::time::{LocalTime, Micros, Offset, ServerTime};
use crate::wire::Echo;
use crate::wire::snapshot::Perceived;

/// Part of a change by which the jitter follows it: a sixteenth (RFC 3550, 6.4.1).
const JITTER_GAIN: i64 = 16;
/// Changes beyond are those of a clock that was set.
const TRANSIT_CHANGE_MAX: Micros = Micros::from_ms(2000);

/// A member's clocks.
#[derive(Debug)]
pub(in crate::server) struct Timing {
    epoch: u8,
    /// Time by which the server's time, as the client is told it, is set back.
    delay: Micros,
    offset: OffsetEstimator,
    /// Offset in the welcome; snapshots carry changes to it.
    welcome_offset: Offset,
    /// A recent time on the client's clock, to complete the low bits of the next one.
    client_time: LocalTime,
    /// Arrival of the last valid input packet.
    heard_at: LocalTime,
    view: ViewEstimate,
    /// Time that the last input packet took, by the two clocks.
    transit: Option<Micros>,
    /// Jitter in sixteenths of a microsecond.
    jitter: i64,
}

impl Timing {
    /// Of a client that sent its hello at `sent` by its own clock.
    pub(in crate::server) fn new(sent: LocalTime, time: RoomTime, epoch: u8) -> Self {
        Self {
            epoch,
            delay: Micros::ZERO,
            offset: OffsetEstimator::default(),
            welcome_offset: Offset(time.server_time.0.saturating_sub(sent.0)),
            client_time: sent,
            heard_at: time.now,
            view: ViewEstimate::new(time.rates),
            transit: None,
            jitter: 0,
        }
    }

    pub(in crate::server) fn epoch(&self) -> u8 {
        self.epoch
    }

    /// Arrival of the last valid input packet.
    pub(in crate::server) fn heard_at(&self) -> LocalTime {
        self.heard_at
    }

    /// Offset in the welcome.
    pub(in crate::server) fn welcome_offset(&self) -> Offset {
        self.welcome_offset
    }

    /// Sets the server's time, as the client is told it with its next welcome, back by `delay`.
    pub(in crate::server) fn set_delay(&mut self, delay: Micros) {
        if self.delay != delay {
            let by = delay - std::mem::replace(&mut self.delay, delay);
            self.welcome_offset = Offset(self.welcome_offset.0.saturating_sub(by.0));
            self.offset.clear();
        }
    }

    /// Voids what was measured before tick 0 moved.
    pub(in crate::server) fn handle_epoch(&mut self, epoch: u8) {
        self.epoch = epoch;
        self.offset.clear();
        self.view.restart();
    }

    /// Begins another game, in which packets are numbered from 0 again.
    pub(in crate::server) fn restart(&mut self) {
        self.view.restart();
    }

    /// Takes in that a valid packet arrived.
    pub(in crate::server) fn handle_packet(&mut self, now: LocalTime) {
        self.heard_at = now;
    }

    /// Takes in the send time of the newest packet by its low bits, and its time on the way
    /// (RFC 3550, A.8). Returns the send time.
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

    /// Takes in an echo of this epoch in the newest packet, which was sent at `sent`. Returns the
    /// round trip.
    pub(in crate::server) fn handle_echo(
        &mut self,
        echo: Echo,
        sent: LocalTime,
        time: RoomTime,
    ) -> Micros {
        // The echo is of the newest packet acknowledged.
        let echoed = ServerTime::widen(echo.time, time.server_time);
        let held = Micros(i64::from(echo.held));
        self.offset.observe(time.server_time, sent, echoed, held);
        time.server_time - echoed - held
    }

    /// The server's estimate of the client's view time.
    pub(in crate::server) fn view(&self) -> &ViewEstimate {
        &self.view
    }

    pub(in crate::server) fn view_mut(&mut self) -> &mut ViewEstimate {
        &mut self.view
    }

    /// Clock figures for the client, as of `server_time`.
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

    /// Offset and round trip, as far as they are known.
    pub(in crate::server) fn estimate(&self, server_time: ServerTime) -> Option<Estimate> {
        self.offset.estimate(server_time)
    }

    /// Variation of the time that input packets take (RFC 3550, 6.4.1).
    pub(in crate::server) fn jitter(&self) -> Micros {
        Micros(self.jitter / JITTER_GAIN)
    }
}
