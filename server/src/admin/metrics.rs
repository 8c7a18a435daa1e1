//! Metrics for Prometheus, in its text format or OpenMetrics.
//!
//! Labels are bounded: rooms by their maximum number, codes by the list of codes.

mod format;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use phaselock::wire::disconnect::Code;
use phaselock_quic::server::{RoomFigures, TIME_CLASSES, Times, Traffic};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

pub(super) use format::Format;

use crate::host::Host;
use crate::people::Secret;
use crate::store::Health;
use crate::worlds::KeepingHealth;

/// Labels of a value.
type Labels = Vec<(&'static str, String)>;

/// Everything that the metrics show, at one moment.
#[derive(Debug)]
struct Metrics {
    /// Seconds since the start.
    up: f64,
    rooms: Vec<RoomFigures>,
    traffic: Traffic,
    health: Health,
    log: (u64, u64),
    draining: bool,
    ticking: bool,
    joins: u64,
    leaves: u64,
    backups: [u64; 2],
    webhooks: [(&'static str, u64); 3],
    deny_list_refreshes: [(&'static str, u64); 2],
    deny_list_refusals: u64,
    keeping: KeepingHealth,
    certificate_expires: Option<i64>,
    failed_logins: [(Secret, u64); 2],
}

/// Returns all metrics in a format.
pub(super) fn text(host: &Arc<Host>, format: Format) -> Result<String, fmt::Error> {
    let look = Metrics {
        up: host.clocks.now().awake as f64,
        rooms: host.handle.rooms(),
        traffic: host.handle.traffic(),
        health: host.store.health(),
        log: (host.log.written(), host.log.dropped()),
        draining: host.handle.draining().is_some(),
        ticking: host.handle.is_ticking(),
        joins: host.joins.load(Ordering::Relaxed),
        leaves: host.leaves.load(Ordering::Relaxed),
        backups: [0, 1].map(|at| host.backups[at].load(Ordering::Relaxed)),
        webhooks: host.webhooks.counts().get(),
        deny_list_refreshes: host.deny_lists.refreshes(),
        deny_list_refusals: host.deny_lists.refused(),
        keeping: host.worlds.health(),
        certificate_expires: host.reloader.certificate_expires(),
        failed_logins: [Secret::Token, Secret::Password]
            .map(|secret| (secret, host.failed_logins.count(secret))),
    };
    let mut registry = Registry::with_prefix("phaselock");
    registry.register_collector(Box::new(look));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(format.write(text))
}

/// A value of a metric.
enum Value {
    Count(u64),
    Level(f64),
    Times(Times),
}

impl Value {
    fn write(self, to: &mut MetricEncoder<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => to.encode_counter::<NoLabelSet, _, u64>(&count, None),
            Self::Level(level) => to.encode_gauge(&level),
            Self::Times(times) => {
                let ends = TIME_CLASSES.iter().map(|micros| *micros as f64 / 1e6);
                let classes: Vec<_> = ends.chain([f64::INFINITY]).zip(times.counts).collect();
                let sum = times.micros as f64 / 1e6;
                to.encode_histogram::<NoLabelSet>(sum, times.count(), &classes, None)
            }
        }
    }
}

/// Upper bounds of the buckets of round trips and errors, in seconds.
const SECONDS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, f64::INFINITY];

impl Metrics {
    /// Writes a metric with a value for each set of labels.
    fn write_metric(
        to: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Labels, Value)>,
    ) -> fmt::Result {
        let mut values = values.into_iter().peekable();
        let kind = match values.peek() {
            None => return Ok(()),
            Some((_, Value::Count(_))) => MetricType::Counter,
            Some((_, Value::Level(_))) => MetricType::Gauge,
            Some((_, Value::Times(_))) => MetricType::Histogram,
        };
        let mut metric = to.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in values {
            match labels.is_empty() {
                true => value.write(&mut metric)?,
                false => value.write(&mut metric.encode_family(&labels)?)?,
            }
        }
        Ok(())
    }

    fn each_room(&self, value: fn(&RoomFigures) -> Value) -> impl Iterator<Item = (Labels, Value)> {
        let of = move |room: &RoomFigures| {
            (vec![("room", room.status.code.as_str().to_owned())], value(room))
        };
        // Only those who know its code may see a room made on demand, and its label would stay
        // forever.
        self.rooms.iter().filter(|room| room.is_open).map(of)
    }

    /// Writes a histogram of the players by a duration.
    fn spread(
        &self,
        to: &mut DescriptorEncoder<'_>,
        name: &str,
        help: &str,
        micros: fn(&phaselock::server::PlayerFigures) -> Option<i64>,
    ) -> fmt::Result {
        let players = self.rooms.iter().flat_map(|room| &room.measured.players);
        let present = players.filter(|player| !player.is_away);
        let seconds: Vec<_> = present.filter_map(micros).map(|it| it as f64 / 1e6).collect();
        let mut classes: Vec<_> = SECONDS.iter().map(|end| (*end, 0)).collect();
        for value in &seconds {
            let at = SECONDS.partition_point(|end| end < value).min(SECONDS.len() - 1);
            classes[at].1 += 1;
        }
        let mut metric = to.encode_descriptor(name, help, None, MetricType::Histogram)?;
        let (sum, count) = (seconds.iter().sum(), seconds.len() as u64);
        metric.encode_histogram::<NoLabelSet>(sum, count, &classes, None)
    }

    /// Writes the metrics of the server as a whole.
    fn encode_server(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let level = |yes: bool| Value::Level(f64::from(u8::from(yes)));
        let info = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
        Self::write_metric(
            to,
            "build_info",
            "Version of the program",
            [(info, Value::Level(1.0))],
        )?;
        Self::write_metric(
            to,
            "up_seconds",
            "Time since the start",
            [(Labels::new(), Value::Level(self.up))],
        )?;
        let ticking = "1 while all room threads are running; 0 if one is stalled";
        Self::write_metric(to, "ticking", ticking, [(Labels::new(), level(self.ticking))])?;
        let draining = "1 while the server is draining";
        Self::write_metric(to, "draining", draining, [(Labels::new(), level(self.draining))])?;
        let rooms = self.rooms.len() as f64;
        Self::write_metric(to, "rooms", "Rooms", [(Labels::new(), Value::Level(rooms))])?;
        Ok(())
    }

    /// Writes the metrics of each room.
    fn encode_rooms(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let people = self.each_room(|room| Value::Level(room.status.players.into()));
        Self::write_metric(to, "players", "Players, without bots", people)?;
        let seats = self.each_room(|room| Value::Level(room.status.players_max.into()));
        Self::write_metric(to, "seats", "Seats for players", seats)?;
        let bots = self.each_room(|room| Value::Level(room.status.bots.into()));
        Self::write_metric(to, "bots", "Bots in the game", bots)?;
        let ticks = self.each_room(|room| Value::Count(room.measured.ticks.count()));
        let help = "Ticks of the room; several that ran at once count as one, as does each second \
                    asleep";
        Self::write_metric(to, "ticks", help, ticks)?;
        let ticks = self.each_room(|room| Value::Times(room.measured.ticks.clone()));
        Self::write_metric(to, "tick_seconds", "Duration of one or more ticks run at once", ticks)?;
        let sending = self.each_room(|room| Value::Times(room.measured.sending.clone()));
        Self::write_metric(
            to,
            "snapshot_seconds",
            "Duration of packing and sending snapshots after a tick",
            sending,
        )?;
        let panics = self.each_room(|room| Value::Count(room.panics.into()));
        Self::write_metric(to, "panics", "Panics of the game's rules", panics)?;
        let inputs = self.each_room(|room| Value::Count(room.measured.inputs.accepted));
        Self::write_metric(to, "inputs", "Input packets accepted", inputs)?;
        let late = self.each_room(|room| Value::Count(room.measured.inputs.late));
        Self::write_metric(to, "late_inputs", "Inputs that arrived after their tick", late)?;
        let lost = self.each_room(|room| Value::Count(room.measured.inputs.missing));
        Self::write_metric(to, "lost_input_packets", "Input packets that were lost", lost)?;
        Ok(())
    }

    /// Writes the counters since the start.
    fn encode_counts(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let traffic = &self.traffic;
        let counts = [
            ("packets_received", "UDP packets received", traffic.packets_in),
            ("packets_sent", "UDP packets sent", traffic.packets_out),
            ("received_bytes", "Bytes received in UDP packets", traffic.bytes_in),
            ("sent_bytes", "Bytes sent in UDP packets", traffic.bytes_out),
            ("queries", "Status queries answered", traffic.queries),
            ("joins", "Players who took a seat", self.joins),
            ("leaves", "Players who left a seat", self.leaves),
            ("backups", "Scheduled backups that succeeded", self.backups[0]),
            ("backups_failed", "Scheduled backups that failed", self.backups[1]),
            ("deny_list_refusals", "Connections refused by deny lists", self.deny_list_refusals),
            ("log_lines", "Log lines written", self.log.0),
            ("log_dropped", "Log lines dropped", self.log.1),
            ("room_keep_errors", "Failed attempts to save a room", self.keeping.errors),
            ("database_errors", "Failed attempts to write to the database", self.health.errors),
            (
                "database_lost",
                "Changes lost because too many were waiting for the database",
                self.health.lost,
            ),
        ];
        for (name, help, count) in counts {
            Self::write_metric(to, name, help, [(Labels::new(), Value::Count(count))])?;
        }
        Ok(())
    }

    /// Writes the counters by reason or outcome.
    fn encode_reasons(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let traffic = &self.traffic;
        // All of them from the start: an alert on a missing metric would never fire.
        let mut goodbyes: BTreeMap<_, _> = Code::ALL.iter().map(|it| (u16::from(*it), 0)).collect();
        goodbyes.extend(traffic.goodbyes.iter().map(|(code, count)| (u16::from(*code), *count)));
        let goodbyes = goodbyes
            .into_iter()
            .map(|(code, count)| (vec![("code", code.to_string())], Value::Count(count)));
        Self::write_metric(
            to,
            "refusals",
            "Disconnects sent to clients, by code (see WIRE.md)",
            goodbyes,
        )?;
        let dropped = traffic
            .dropped
            .iter()
            .map(|(reason, count)| (vec![("reason", (*reason).to_owned())], Value::Count(*count)));
        Self::write_metric(to, "dropped", "Packets from strangers dropped, by reason", dropped)?;
        let webhooks = self
            .webhooks
            .map(|(outcome, count)| (vec![("outcome", outcome.to_owned())], Value::Count(count)));
        let help = "Webhook messages delivered or dropped, and failed attempts";
        Self::write_metric(to, "webhook_messages", help, webhooks)?;
        let refreshes = self
            .deny_list_refreshes
            .map(|(outcome, count)| (vec![("outcome", outcome.to_owned())], Value::Count(count)));
        let help = "Fetches of deny lists that succeeded or failed";
        Self::write_metric(to, "deny_list_refreshes", help, refreshes)?;
        let transports = traffic.transports;
        let transports = transports
            .map(|(name, count)| (vec![("transport", name.to_owned())], Value::Count(count)));
        let help = "Connections that joined a room, by transport: QUIC or WebTransport";
        Self::write_metric(to, "connections", help, transports)?;
        let failed = self.failed_logins.map(|(secret, count)| {
            (vec![("reason", secret.as_str().to_owned())], Value::Count(count))
        });
        let help = "Failed logins, by the kind of secret";
        Self::write_metric(to, "failed_logins", help, failed)?;
        Ok(())
    }

    /// Writes the metrics of saved rooms, the certificate and the database.
    fn encode_health(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let unkept = [(Labels::new(), Value::Level(self.keeping.unkept as f64))];
        Self::write_metric(
            to,
            "rooms_unkept",
            "Rooms whose latest state could not be saved",
            unkept,
        )?;
        let expires = self.certificate_expires.map(|it| (Labels::new(), Value::Level(it as f64)));
        let help = "Unix time at which the certificate expires";
        Self::write_metric(to, "certificate_expires_seconds", help, expires)?;
        let times = [(Labels::new(), Value::Times(self.health.times.clone()))];
        Self::write_metric(to, "database_seconds", "Duration of a write to the database", times)?;
        let pending = [(Labels::new(), Value::Level(self.health.pending as f64))];
        Self::write_metric(
            to,
            "database_pending",
            "Changes in memory that are not on the disk yet",
            pending,
        )?;
        Ok(())
    }
}

impl Collector for Metrics {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut to;
        self.encode_server(to)?;
        self.encode_rooms(to)?;
        self.encode_counts(to)?;
        self.encode_reasons(to)?;
        self.encode_health(to)?;
        let help = "Round-trip times of the players in the game";
        self.spread(to, "round_trip_seconds", help, |it| it.round_trip.map(|it| it.0))?;
        let help = "Error bounds of the clock offsets of the players in the game";
        self.spread(to, "offset_error_seconds", help, |it| it.error_max.map(|it| it.0))
    }
}
